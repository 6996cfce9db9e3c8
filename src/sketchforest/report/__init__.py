"""Report on a model and its scores, as an HTML page or a model card."""

from sketchforest._utils.warning import deprecated_names
from sketchforest.report.report import Report, make_report

__all__ = ["Report", "make_report"]
__getattr__ = deprecated_names(
    "sketchforest.report.report",
    {"report_of": "make_report", "is_markdown": "the suffix of the path"},
)
