"""Why a forest predicts what it predicts: the training rows and the features that count for a row.

On its way down a tree a row meets nodes whose training rows have a label more and more often, or
less and less. Each step belongs to the feature that was asked for there, so that the steps of all
trees add up from the label's share in the whole training set to its probability.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from sketchforest._trees.encoding import float_type
from sketchforest._trees.model import MISSING_LEFT, Forest, ForestDirections
from sketchforest._typing import Matrix, MatrixLike

if TYPE_CHECKING:
    from sketchforest._estimators.classifier import TreesClassifier


class Explanation(NamedTuple):
    """Of one row and its k most probable labels."""

    labels: np.ndarray  # (k,) column numbers of Y, best first
    scores: np.ndarray  # (k,) probabilities
    base: np.ndarray  # (k,) what is predicted before any feature is asked for
    features: np.ndarray  # (f,) those asked for on the row's way
    contributions: np.ndarray  # (f, k) what each of them adds to the probability
    rows: np.ndarray  # (r,) training rows in the row's leaves, the heaviest first
    weights: np.ndarray  # (r,) their shares in the prediction, which sum to 1
    has_label: np.ndarray  # (r, k) whether they have the labels


def explain(model: "TreesClassifier", x: MatrixLike, k: int = 3) -> Explanation:
    """What counts for the k most probable labels of the one row x, (1, n_features).

    ``base + contributions.sum(axis=0)`` is ``scores``, and ``weights @ has_label`` is, too.

    Examples
    --------
    >>> from sketchforest import RandomForestClassifier
    >>> from sketchforest.datasets import make_multilabel
    >>> data = make_multilabel(200, 30, 50, labels_per_row=4, features_per_row=8)
    >>> forest = RandomForestClassifier(10, random_state=0).fit(data.X, data.Y)
    >>> found = explain(forest, data.X[:1], k=1)
    >>> bool(abs(found.base + found.contributions.sum(axis=0) - found.scores).max() < 1e-6)
    True
    """
    x = model._check_new(x)
    if x.shape[0] != 1:
        raise ValueError(f"x must be one row; got {x.shape[0]}. Use X[[i]] for row i.")
    if not hasattr(model, "predict_topk"):
        raise ValueError("model must be a classifier; got a regressor, which has no best labels.")
    forest, n_labels = model._forest, model._labels.shape[1]
    labels = model.predict_topk(x, min(k, n_labels))[0].ravel()
    if model._classes is not None:
        labels = np.searchsorted(model._classes, labels)
    Y = model._targets.class_labels.to_csr(np.float64)[:, labels].toarray()
    path = _paths(forest, x)
    means = _means_of(forest, Y)
    steps = means[path.to] - means[path.at]
    asked = _asked_features(forest, path, x)
    features, place = np.unique(asked.feature, return_inverse=True)
    contributions = np.zeros((len(features), len(labels)))
    shares = asked.share[:, None] * steps[asked.step]
    np.add.at(contributions, place, shares / forest.n_trees)
    weights = model.leaf_weights(x)
    order = np.argsort(-weights.data, kind="stable")
    rows = weights.indices[order]
    return Explanation(
        labels=labels,
        scores=means[path.ends].mean(axis=0),
        base=means[path.roots].mean(axis=0),
        features=features,
        contributions=contributions,
        rows=rows,
        weights=weights.data[order],
        has_label=Y[rows] > 0,
    )


class _Paths(NamedTuple):
    """The steps of one row down all trees. Nodes of all trees are numbered on, then leaves."""

    at: np.ndarray
    to: np.ndarray
    feature: np.ndarray
    roots: np.ndarray
    ends: np.ndarray


def _paths(forest: Forest, x: Matrix) -> _Paths:
    values = x.ravel() if isinstance(x, np.ndarray) else x.toarray().ravel()
    values = values.astype(float_type(values.dtype), copy=False)
    seen = _seen_by_oblique_trees(forest, x)
    first_node, first_leaf = forest.node_start[:-1], forest.first_leaves
    roots = forest.hierarchy.roots
    at = roots.copy()
    steps = []
    while len(moving := np.flatnonzero(at < len(forest.nodes))):
        node = at[moving]
        feature = forest.nodes[node, 0].view(np.uint32)
        value = values[feature & ~MISSING_LEFT]
        if forest.thresholds is None:
            goes_left = value <= np.ascontiguousarray(forest.nodes[node, 1]).view(np.float32)
        else:
            goes_left = value <= forest.thresholds[node]
        goes_left |= np.isnan(value) & (feature >= MISSING_LEFT)
        if forest.directions is not None:
            for i in np.flatnonzero(forest.directions.is_oblique[moving]):
                # In floats, one after the other, as a prediction adds them up.
                total = np.add.accumulate(_terms(forest.directions, node[i], seen)[1])[-1]
                goes_left[i] = total <= forest.nodes[node[i], 1:2].view(np.float32)[0]
        child = np.where(goes_left, forest.nodes[node, 2], forest.nodes[node, 3]).astype(np.int64)
        to = np.where(
            child >= 0,
            first_node[moving] + child,
            len(forest.nodes) + first_leaf[moving] - 1 - child,
        )
        steps.append((node, to, (feature & ~MISSING_LEFT).astype(np.int64)))
        at[moving] = to
    empty = np.zeros(0, np.int64)
    joined = [np.concatenate(part) for part in zip(*steps, strict=True)] or [empty] * 3
    from_nodes, to_nodes, features = joined
    return _Paths(from_nodes, to_nodes, features, roots, at)


class _AskedFeatures(NamedTuple):
    """The features that each step depends on, and their shares in it."""

    step: np.ndarray
    feature: np.ndarray
    share: np.ndarray


def _asked_features(forest: Forest, path: _Paths, x: Matrix) -> _AskedFeatures:
    """One feature a step; in an oblique node all that the row has, by how far each moves it."""
    every = np.arange(len(path.at))
    if forest.directions is None:
        return _AskedFeatures(every, path.feature, np.ones(len(every)))
    seen = _seen_by_oblique_trees(forest, x)
    found = []
    for step in every:
        columns, terms = _terms(forest.directions, path.at[step], seen)
        moves = np.abs(terms)
        if not moves.any():  # one feature, or none of those that count here
            columns, moves = path.feature[step : step + 1], np.ones(1)
        found.append((np.full(len(columns), step), columns, moves / moves.sum()))
    parts = [np.concatenate(part) for part in zip(*found, strict=True)] or [every, every, every]
    return _AskedFeatures(*parts)


def _seen_by_oblique_trees(forest: Forest, x: Matrix) -> np.ndarray:
    """(n_features,) the row x as oblique trees see it."""
    if forest.directions is None:
        return np.zeros(0, np.float32)
    row = forest.directions.feature_map.transform(x)
    if row.columns is None:
        return row.values[0, : row.n_features]
    seen = np.zeros(row.n_features, np.float32)
    seen[row.columns] = row.values
    return seen


def _terms(
    directions: ForestDirections, node: int, seen: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The columns of a node's direction, and what each of them adds for the row; (0,) and (0,) in
    a node that is split by one feature."""
    entries = slice(directions.start[node], directions.start[node + 1])
    columns = directions.columns[entries]
    weights = (directions.weights[entries].astype(np.uint32) << 16).view(np.float32)
    return columns, seen[columns] * weights


def _means_of(forest: Forest, Y: np.ndarray) -> np.ndarray:
    """(nodes and leaves, n_outputs) weighted means of the training rows below each."""
    weights = np.ones(len(forest.members)) if forest.weights is None else forest.weights
    entries = (weights.astype(float), forest.members, forest.leaf_bounds())
    of_leaf = sparse.csr_array(entries, shape=(forest.n_leaves, len(Y)))
    sums = forest.hierarchy.add_up(of_leaf @ np.column_stack([Y, np.ones(len(Y))]))
    return sums[:, :-1] / sums[:, -1:]
