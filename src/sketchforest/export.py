"""Export of models to other programs."""

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from sketchforest._boosting.model import BoostedFitted
from sketchforest._estimators.inspection.to_sklearn import check_readable_elsewhere
from sketchforest._trees.fitted import Fitted
from sketchforest._trees.node_means import NodeMeans
from sketchforest._trees.structure import TreeStructure
from sketchforest._trees.targets import Targets

if TYPE_CHECKING:
    from onnx import ModelProto

    from sketchforest._estimators.estimator import Estimator

__all__ = ["to_onnx"]

# Old enough for programs of a few years ago.
OPSET, TREE_OPSET, IR_VERSION = 17, 3, 8


def to_onnx(model: "Estimator") -> "ModelProto":
    """Convert a fitted forest, tree or boosting to the ONNX format.

    The input is `X`, float32 of shape (n_samples, n_features), with NaN for missing values. A
    regressor has the output `variable`, (n_samples, n_outputs). A classifier has `label` and
    `probabilities`, with the shapes of `predict` and `predict_proba`; labels are predicted if their
    probability is above 0.5. Sums are computed in float32.

    Leaves store non-zeros only, so models may have very many labels. Oblique trees are not
    supported. Requires ``pip install 'sketchforest[onnx]'``.

    Parameters
    ----------
    model : fitted estimator

    Returns
    -------
    onnx.ModelProto
        ``onnx.save(model, path)`` writes it to a file.

    Examples
    --------
    >>> from sketchforest import RandomForestRegressor
    >>> from sketchforest.export import to_onnx
    >>> forest = RandomForestRegressor(5, random_state=0).fit([[0.0], [1.0]], [3.0, 4.0])
    >>> to_onnx(forest).graph.input[0].name
    'X'
    """
    try:
        import onnx
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "to_onnx needs onnx. Install it with: pip install 'sketchforest[onnx]'"
        ) from error
    check_is_fitted(model)
    model = copy(model)  # a concurrent fit must not change it
    check_readable_elsewhere(model, "to_onnx")
    helper, number = onnx.helper, onnx.TensorProto.FLOAT
    fitted = model.fitted_
    targets = fitted.targets
    if targets.column_classes is not None:
        raise ValueError(
            "to_onnx is for labels, one class per row or real outputs; this model was fitted on "
            f"{targets.n_outputs} columns of classes. Fit one model per column."
        )
    n_columns = targets.labels.shape[1]
    name = "probabilities" if targets.is_classification else "variable"
    attributes = {
        "aggregate_function": "AVERAGE",
        "n_targets": n_columns,
        **_tree_attributes(fitted),
    }
    sums, links = name, []
    if isinstance(fitted, BoostedFitted):
        baseline = fitted.boosted.output.baseline
        attributes |= {"aggregate_function": "SUM", "base_values": baseline.tolist()}
        if targets.is_classification:
            sums = "scores"
            link = ("Sigmoid", {}) if targets.classes is None else ("Softmax", {"axis": 1})
            links = [helper.make_node(link[0], [sums], [name], **link[1])]
    kind, domain = "TreeEnsembleRegressor", "ai.onnx.ml"
    nodes = [helper.make_node(kind, ["X"], [sums], domain=domain, **attributes), *links]
    outputs = [helper.make_tensor_value_info(name, number, ["n_samples", n_columns])]
    constants = []
    if targets.is_classification:
        decision, constant, label = _decision(targets)
        nodes += decision
        constants.append(constant)
        outputs.insert(0, label)
    X = helper.make_tensor_value_info("X", number, ["n_samples", model.fitted_.n_features])
    graph = helper.make_graph(nodes, type(model).__name__, [X], outputs, constants)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", TREE_OPSET)]
    return helper.make_model(
        graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="sketchforest"
    )


def _decision(targets: Targets) -> tuple[list[Any], Any, Any]:
    """The nodes that turn `probabilities` into `label`, their constant, and the output."""
    from onnx import TensorProto, helper, numpy_helper

    if targets.classes is None:
        half = numpy_helper.from_array(np.array(0.5, np.float32), "half")
        nodes = [
            helper.make_node("Greater", ["probabilities", "half"], ["is_above"]),
            helper.make_node("Cast", ["is_above"], ["label"], to=TensorProto.INT64),
        ]
        shape = ["n_samples", targets.labels.shape[1]]
        return nodes, half, helper.make_tensor_value_info("label", TensorProto.INT64, shape)
    classes = targets.classes
    if classes.dtype.kind not in "biuf":
        classes = np.array([str(name) for name in classes], dtype=object)
    constant = numpy_helper.from_array(classes, "classes")
    nodes = [
        helper.make_node("ArgMax", ["probabilities"], ["largest"], axis=1, keepdims=0),
        helper.make_node("Gather", ["classes", "largest"], ["label"], axis=0),
    ]
    label = helper.make_tensor_value_info("label", constant.data_type, ["n_samples"])
    return nodes, constant, label


def _tree_attributes(fitted: Fitted) -> dict[str, Any]:
    """The nodes and leaf values of all trees, one after the other."""
    joined: dict[str, list[np.ndarray]] = {}
    targets = fitted.targets
    if isinstance(fitted, BoostedFitted):  # leaves hold rows of a table of values
        values = fitted.boosted.output.scale * fitted.boosted.leaf_values
        targets = replace(targets, labels=values)
    for number in range(fitted.forest.n_trees):
        single = fitted.forest.only(number)
        structure = TreeStructure(single, targets, fitted.n_features)
        for name, values in _nodes(structure).items():
            joined.setdefault(f"nodes_{name}", []).append(values)
        joined.setdefault("nodes_treeids", []).append(np.full(structure.node_count, number))
        means = _at_least_one_entry(NodeMeans(single, targets).of_leaves())
        leaves = single.hierarchy.numbers[single.hierarchy.n_inner :]
        joined.setdefault("target_treeids", []).append(np.full(means.nnz, number))
        joined.setdefault("target_nodeids", []).append(np.repeat(leaves, np.diff(means.indptr)))
        joined.setdefault("target_ids", []).append(means.indices)
        joined.setdefault("target_weights", []).append(means.data.astype(np.float32))
    return {name: np.concatenate(parts).tolist() for name, parts in joined.items()}


def _nodes(structure: TreeStructure) -> dict[str, np.ndarray]:
    is_leaf = structure.children_left < 0
    return {
        "nodeids": np.arange(structure.node_count),
        "modes": np.where(is_leaf, "LEAF", "BRANCH_LEQ"),
        "featureids": np.where(is_leaf, 0, structure.feature),
        "values": np.where(is_leaf, 0, structure.threshold).astype(np.float32),
        "truenodeids": np.where(is_leaf, 0, structure.children_left),
        "falsenodeids": np.where(is_leaf, 0, structure.children_right),
        "missing_value_tracks_true": structure.missing_go_to_left,
    }


def _at_least_one_entry(means: sparse.csr_array) -> sparse.csr_array:
    """Store an explicit zero in each empty row: the format needs a value per leaf."""
    is_empty = np.flatnonzero(np.diff(means.indptr) == 0)
    if not len(is_empty):
        return means
    rows, columns = means.nonzero()
    entries = (
        np.append(means.data, np.zeros(len(is_empty))),
        (np.append(rows, is_empty), np.append(columns, np.zeros(len(is_empty), np.int64))),
    )
    return sparse.csr_array(sparse.coo_array(entries, shape=means.shape))
