"""Parameters that metrics share, described once."""

from collections.abc import Callable
from typing import Any, TypeVar

from sketchforest._utils.docs import Described, fill

Function = TypeVar("Function", bound=Callable[..., Any])

_PARAMETERS = {
    "Y_true": Described(
        "(n_samples, n_labels) array or scipy sparse matrix", "Truth: zeros and ones."
    ),
    "Y_score": Described(
        "(n_samples, n_labels) array or scipy sparse matrix",
        "The higher the more likely; what is not stored is 0.",
    ),
    "k": Described("int", "How many of the best-scored labels count."),
    "sample_weight": Described("(n_samples,) array or None", "Weights of rows, all alike if None."),
    "Y_train": Described(
        "(n_samples, n_labels) array or scipy sparse matrix", "Labels of the training rows."
    ),
    "A": Described("float", "By how much rarer labels are less often observed."),
    "B": Described("float", "Rows added to those of each label."),
    "name_or_callable": Described(
        "str or callable",
        '"lrap", "coverage_error", "label_ranking_loss", "precision_at_K", "ndcg_at_K", or a '
        "function (Y_true, Y_score) -> float.",
    ),
}


def described(function: Function) -> Function:
    """Fills in the docstring of a metric; as a decorator."""
    return fill(function, {"Parameters": _PARAMETERS})
