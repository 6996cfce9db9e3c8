"""Trees that are added to those of an earlier fit: from where, and whether they may be."""

from sketchforest._estimators.parameters import Parameters
from sketchforest._estimators.predicting.thresholds import f1_kind
from sketchforest._trees.fitted import Fitted
from sketchforest._trees.targets import Targets
from sketchforest._warning import warn


def changes_nothing(params: Parameters, earlier: Fitted) -> bool:
    """Whether there are no trees to add, and what rows say that trees did not see is known. As in
    scikit-learn, the fit then only warns, and does not look at what it is given."""
    lacks_score = bool(params.oob_score) and "oob_score_" not in earlier.out_of_bag
    lacks_thresholds = f1_kind(params.threshold) is not None and earlier.f1_thresholds is None
    has_all_trees = params.n_estimators == earlier.forest.n_trees
    return has_all_trees and not lacks_score and not lacks_thresholds


def warn_of_no_new_trees() -> None:
    warn("Warm-start fitting without increasing n_estimators does not fit new trees.")


def check_warm_start(
    params: Parameters, targets: Targets, rows_seen: str | None, earlier: Fitted
) -> None:
    """Raises unless the rows, labels, weights and criterion are those of the earlier fit."""
    (n_rows, n_labels), shape = earlier.targets.labels.shape, targets.labels.shape
    if shape != (n_rows, n_labels):
        raise ValueError(
            f"X and Y must be those of the first fit where warm_start=True, of {n_rows} rows and "
            f"{n_labels} outputs or classes; got {shape[0]} and {shape[1]}. Use warm_start=False "
            "to fit anew."
        )
    if earlier.fingerprint is None:
        raise ValueError(
            "warm_start must be False for a model from a file of an older version, which does not "
            "say what rows its leaves hold; got True. Fit anew."
        )
    # Leaves hold numbers of rows: other labels, or rows in another order, would change old trees.
    is_other = [
        name
        for name, is_same in (
            ("X or sample_weight", rows_seen == earlier.fingerprint),
            ("Y", targets.equals(earlier.targets)),
        )
        if not is_same
    ]
    if is_other:
        raise ValueError(
            "X, Y and sample_weight must be those of the first fit where warm_start=True, row by "
            f"row; got another {' and another '.join(is_other)}. Use warm_start=False to fit anew."
        )
    if targets.impurity is not earlier.targets.impurity:
        raise ValueError(
            "criterion must be that of the first fit where warm_start=True, since leaves predict "
            f"by it; got {params.criterion!r}. Use warm_start=False to fit anew."
        )
    if params.n_estimators == "auto":
        return
    n_trees = earlier.forest.n_trees
    if params.n_estimators < n_trees:
        raise ValueError(
            f"n_estimators must be at least the {n_trees} trees already grown where "
            f"warm_start=True; got {params.n_estimators}. Use warm_start=False to fit anew."
        )
    if params.n_estimators == n_trees:
        warn_of_no_new_trees()
