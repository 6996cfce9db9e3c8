"""Conversion to fitted scikit-learn estimators.

Only this module uses a private part of scikit-learn: the state of its `Tree`.
"""

from typing import TYPE_CHECKING

import numpy as np
import sklearn
from sklearn import ensemble, tree
from sklearn.base import BaseEstimator
from sklearn.tree._tree import Tree as SklearnTree
from sklearn.utils.validation import check_is_fitted

from sketchforest._estimators.parameters import uses_tree_type_default
from sketchforest._estimators.predicting.decisions import DEFAULT
from sketchforest._trees.memory import check_fits
from sketchforest._trees.model import Forest
from sketchforest._trees.structure import TreeStructure

if TYPE_CHECKING:
    from sketchforest._estimators.base import TreesEstimator
    from sketchforest._estimators.estimator import Estimator

# The fields of a scikit-learn node, and our names for them.
FIELDS = {
    "left_child": "children_left",
    "right_child": "children_right",
    **{name: name for name in ("feature", "threshold", "impurity", "missing_go_to_left")},
    **{name: name for name in ("n_node_samples", "weighted_n_node_samples")},
}


def to_sklearn(estimator: "TreesEstimator") -> BaseEstimator:
    """The scikit-learn estimator of the same kind, with the same trees."""
    check_is_fitted(estimator)
    check_readable_elsewhere(estimator, "to_sklearn")
    forest, targets = estimator.fitted_.forest, estimator.fitted_.targets
    n_nodes = 2 * forest.n_leaves - forest.n_trees
    what = (
        "to_sklearn writes the outputs of every node into dense tables, which must fit in "
        f"memory; for {n_nodes} nodes and {targets.n_outputs} outputs they take"
    )
    n_bytes = 8 * n_nodes * int(targets.n_outputs * targets.classes_per_output.max())
    check_fits(n_bytes, what, "Use fewer or smaller trees.")
    # A sketch forest without oblique trees becomes extra-trees.
    name = type(estimator).__name__.replace("SketchForest", "ExtraTrees")
    converted = (getattr(ensemble, name, None) or getattr(tree, name))()
    converted.set_params(**_common_params(estimator, converted))
    classes = targets.classes_by_output
    if estimator.fitted_.feature_names is not None:
        converted.feature_names_in_ = estimator.fitted_.feature_names
    if "n_estimators" not in converted.get_params(deep=False):
        return _with_tree(converted, estimator, forest, classes)
    # scikit-learn's forests encode classes as 0, 1, ... for their trees.
    encoded = [np.arange(len(values), dtype=float) for values in classes]
    converted.estimator_ = converted.estimator
    converted.estimators_ = []
    for number in range(forest.n_trees):
        member = type(converted.estimator)()
        member.set_params(**_common_params(estimator, member))
        converted.estimators_.append(_with_tree(member, estimator, forest.only(number), encoded))
    return _with_fitted_attributes(converted, estimator, classes)


def check_readable_elsewhere(estimator: "Estimator", what: str) -> None:
    """Raise for trees that other programs cannot represent. `what` is the method called."""
    forest = estimator.fitted_.forest
    if forest.directions is not None:
        raise ValueError(
            f"{what} needs trees that split by one feature at a time; "
            f"{int(forest.directions.is_oblique.sum())} of {forest.n_trees} are oblique. "
            "Use an estimator without oblique trees."
        )
    if estimator.fitted_.calibration is not None:
        raise ValueError(
            f"{what} needs scores that are averages of trees; these are calibrated. Fit with "
            "calibrate=None."
        )
    if estimator.fitted_.blend is not None:
        raise ValueError(
            f"{what} needs a model of trees alone; this one has a linear part, or corrects labels "
            "by others. Fit with linear=0 and, for labels or classes, label_correlations=False."
        )
    if forest.thresholds is not None:
        raise ValueError(
            f"{what} reads X as float32, but these trees split between values that are equal in "
            "float32. Fit on X.astype('float32')."
        )
    if estimator.fitted_.targets.is_balanced:
        raise ValueError(
            f"class_weight must be None for {what} with many labels; got "
            f"{estimator.class_weight!r}, which reweights predictions."
        )
    threshold = getattr(estimator, "threshold", DEFAULT)
    if estimator.fitted_.targets.is_indicator and not np.array_equal(threshold, DEFAULT):
        raise ValueError(
            f"threshold must be {DEFAULT} for {what}; got {threshold!r}. "
            f"Use set_params(threshold={DEFAULT}), which does not change probabilities."
        )


def _common_params(estimator: "TreesEstimator", converted: BaseEstimator) -> dict[str, object]:
    """The parameters that both have, as values that scikit-learn accepts."""
    names = converted.get_params(deep=False)
    params = {name: v for name, v in estimator.get_params(deep=False).items() if name in names}
    if "n_estimators" in params:
        params["n_estimators"] = estimator.fitted_.forest.n_trees
    if params["max_features"] in ("auto", "4sqrt"):
        params["max_features"] = estimator.max_features_
    if isinstance(params.get("oob_score"), str):
        params["oob_score"] = True
    return {name: v for name, v in params.items() if not uses_tree_type_default(name, v)}


def _with_tree(
    converted: BaseEstimator, estimator: "TreesEstimator", single: Forest, classes: list[np.ndarray]
) -> BaseEstimator:
    structure = TreeStructure(single, estimator.fitted_.targets, estimator.fitted_.n_features)
    converted.max_features_ = estimator.max_features_
    converted.tree_ = _sklearn_tree(structure)
    return _with_fitted_attributes(converted, estimator, classes)


def _with_fitted_attributes(
    converted: BaseEstimator, estimator: "TreesEstimator", classes: list[np.ndarray]
) -> BaseEstimator:
    converted.n_features_in_ = estimator.fitted_.n_features
    converted.n_outputs_ = estimator.n_outputs_
    if classes:
        n_classes = [len(values) for values in classes]
        is_one = len(classes) == 1
        converted.classes_ = classes[0] if is_one else classes
        converted.n_classes_ = n_classes[0] if is_one else n_classes
    return converted


def _sklearn_tree(structure: TreeStructure) -> SklearnTree:
    made = SklearnTree(structure.n_features, structure.n_classes, structure.n_outputs)
    dtype = made.__getstate__()["nodes"].dtype
    if set(dtype.names) != set(FIELDS):
        raise NotImplementedError(
            f"to_sklearn does not support scikit-learn {sklearn.__version__}, whose nodes have the "
            f"fields {', '.join(dtype.names)}. Use an older version of scikit-learn."
        )
    nodes = np.zeros(structure.node_count, dtype)
    for theirs, ours in FIELDS.items():
        nodes[theirs] = getattr(structure, ours)
    state = {"max_depth": structure.max_depth, "node_count": structure.node_count}
    values = np.ascontiguousarray(structure.value)
    made.__setstate__(state | {"nodes": nodes, "values": values})
    return made
