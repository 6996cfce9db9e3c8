"""A fitted estimator as a genuine one of scikit-learn, with the same trees.

The one place that uses something private of scikit-learn: the state of its `Tree`.
"""

from typing import TYPE_CHECKING

import numpy as np
import sklearn
from sklearn import ensemble, tree
from sklearn.base import BaseEstimator
from sklearn.tree._tree import Tree as SklearnTree
from sklearn.utils.validation import check_is_fitted

from sketchforest._estimators.predicting.thresholds import DEFAULT
from sketchforest._trees.memory import check_fits
from sketchforest._trees.model import Forest
from sketchforest._trees.structure import TreeStructure
from sketchforest._trees.targets import Targets

if TYPE_CHECKING:
    from sketchforest._estimators.base import TreesEstimator

# The fields of a node in scikit-learn, and our names of them.
FIELDS = {
    "left_child": "children_left",
    "right_child": "children_right",
    **{name: name for name in ("feature", "threshold", "impurity", "missing_go_to_left")},
    **{name: name for name in ("n_node_samples", "weighted_n_node_samples")},
}


def sklearn_twin(estimator: "TreesEstimator") -> BaseEstimator:
    """scikit-learn's estimator of the same kind, fitted with the trees of ours."""
    check_is_fitted(estimator)
    check_readable_elsewhere(estimator, "to_sklearn")
    _check_fits_memory(estimator.fitted_.forest, estimator.fitted_.targets)
    twin = _twin_class(estimator)()
    twin.set_params(**_common_params(estimator, twin))
    classes = estimator.fitted_.targets.classes_by_output
    if hasattr(estimator, "feature_names_in_"):
        twin.feature_names_in_ = estimator.feature_names_in_
    if "n_estimators" not in twin.get_params(deep=False):
        return _with_tree(twin, estimator, estimator.fitted_.forest, classes)
    # Its forests hand codes of classes to their trees.
    codes = [np.arange(len(values), dtype=float) for values in classes]
    twin.estimator_ = twin.estimator
    twin.estimators_ = []
    for number in range(estimator.fitted_.forest.n_trees):
        member = type(twin.estimator)()
        member.set_params(**_common_params(estimator, member))
        twin.estimators_.append(
            _with_tree(member, estimator, estimator.fitted_.forest.only(number), codes)
        )
    return _described(twin, estimator, classes)


def check_readable_elsewhere(estimator: "TreesEstimator", what: str) -> None:
    """Refuses what other programs' trees cannot hold. `what` is the name that users called."""
    forest = estimator.fitted_.forest
    if forest.directions is not None:
        raise ValueError(
            f"{what} is for trees that split by one feature at a node; "
            f"{int(forest.directions.is_oblique.sum())} of {forest.n_trees} are oblique. "
            "Use an estimator without oblique trees."
        )
    if forest.thresholds is not None:
        raise ValueError(
            f"{what} is for features that float32 tells apart, as which X will be read; these "
            "trees split between values that it does not. Fit on X.astype('float32')."
        )
    threshold = getattr(estimator, "threshold", DEFAULT)
    if estimator.fitted_.targets.is_indicator and not np.array_equal(threshold, DEFAULT):
        raise ValueError(
            f"threshold must be {DEFAULT} for {what}; got {threshold!r}. "
            f"Use set_params(threshold={DEFAULT}): probabilities stay the same."
        )


def _check_fits_memory(forest: Forest, targets: Targets) -> None:
    n_nodes = 2 * forest.n_leaves - forest.n_trees
    needed = n_nodes * int(targets.n_outputs * targets.classes_per_output.max()) * 8
    what = (
        "to_sklearn writes the outputs of every node into dense tables, which must fit into "
        f"memory; those of {n_nodes} nodes and {targets.n_outputs} outputs take"
    )
    check_fits(needed, what, "Use fewer or smaller trees.")


def _twin_class(estimator: "TreesEstimator") -> type[BaseEstimator]:
    """Of the same name; a sketch forest without oblique trees is a forest of extra-trees."""
    name = type(estimator).__name__.replace("SketchForest", "ExtraTrees")
    found: type[BaseEstimator] = getattr(ensemble, name, None) or getattr(tree, name)
    return found


def _common_params(estimator: "TreesEstimator", twin: BaseEstimator) -> dict[str, object]:
    """The parameters that both have, with values that scikit-learn knows, too."""
    names = twin.get_params(deep=False)
    params = {name: v for name, v in estimator.get_params(deep=False).items() if name in names}
    if "n_estimators" in params:
        params["n_estimators"] = estimator.fitted_.forest.n_trees
    if params["max_features"] in ("auto", "4sqrt"):
        params["max_features"] = estimator.max_features_
    if isinstance(params.get("oob_score"), str):
        params["oob_score"] = True
    by_kind = ("min_samples_split", "min_samples_leaf")  # None: as is best for a kind of trees
    return {name: v for name, v in params.items() if not (name in by_kind and v is None)}


def _with_tree(
    twin: BaseEstimator, estimator: "TreesEstimator", single: Forest, classes: list[np.ndarray]
) -> BaseEstimator:
    structure = TreeStructure(single, estimator.fitted_.targets, estimator.n_features_in_)
    twin.max_features_ = estimator.max_features_
    twin.tree_ = _sklearn_tree(structure)
    return _described(twin, estimator, classes)


def _described(
    twin: BaseEstimator, estimator: "TreesEstimator", classes: list[np.ndarray]
) -> BaseEstimator:
    """With what a fit says of X and Y."""
    twin.n_features_in_ = estimator.n_features_in_
    twin.n_outputs_ = estimator.n_outputs_
    if classes:
        n_classes = [len(values) for values in classes]
        is_one = len(classes) == 1
        twin.classes_ = classes[0] if is_one else classes
        twin.n_classes_ = n_classes[0] if is_one else n_classes
    return twin


def _sklearn_tree(structure: TreeStructure) -> SklearnTree:
    made = SklearnTree(structure.n_features, structure.n_classes, structure.n_outputs)
    dtype = made.__getstate__()["nodes"].dtype
    if set(dtype.names) != set(FIELDS):
        raise NotImplementedError(
            f"to_sklearn does not know the nodes of scikit-learn {sklearn.__version__}: they have "
            f"the fields {', '.join(dtype.names)}. Use a version that this one was tested with."
        )
    nodes = np.zeros(structure.node_count, dtype)
    for theirs, ours in FIELDS.items():
        nodes[theirs] = getattr(structure, ours)
    made.__setstate__(
        {
            "max_depth": structure.max_depth,
            "node_count": structure.node_count,
            "nodes": nodes,
            "values": np.ascontiguousarray(structure.value),
        }
    )
    return made
