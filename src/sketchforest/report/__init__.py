"""Report on a model and its scores, as an HTML page or a model card."""

from sketchforest.report.report import Report, make_report

__all__ = ["Report", "make_report"]
