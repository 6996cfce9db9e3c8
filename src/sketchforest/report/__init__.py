"""Report on a model and its scores, as an HTML page or a model card."""

from sketchforest.report.report import Report, is_markdown, make_report, report_of

__all__ = ["Report", "is_markdown", "make_report", "report_of"]
