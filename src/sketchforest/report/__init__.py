"""One page about a model and how good it is, for a browser or as a model card."""

from sketchforest.report.report import Report, is_markdown, make_report, report_of

__all__ = ["Report", "is_markdown", "make_report", "report_of"]
