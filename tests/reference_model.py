"""Definition in NumPy of the arrays that form a forest; the native check must agree."""

from types import SimpleNamespace

import numpy as np

from sketchforest._trees.model import MISSING_LEFT


def is_forest(forest, labels, n_features) -> bool:
    """Whether every path down a tree ends in a leaf, and every leaf holds labeled rows."""
    n_train = len(labels) if isinstance(labels, np.ndarray) else len(labels.indptr) - 1
    return (
        are_starts(forest.node_start, len(forest.nodes))
        and are_starts(forest.leaf_start, len(forest.member_start))
        and are_starts(forest.tree_members, len(forest.members))
        and are_in_range(forest.members, n_train)
        and all(is_tree(tree_of(forest, i), n_features) for i in range(len(forest.depths)))
        and (forest.thresholds is None or not np.isnan(forest.thresholds).any())
        and (forest.gains is None or not np.isnan(forest.gains).any())
        and (forest.weights is None or bool(((forest.weights > 0) & finite(forest.weights)).all()))
        and are_labels(labels)
    )


def tree_of(forest, number) -> SimpleNamespace:
    def part(values, starts):
        return values[slice(*starts[number : number + 2])]

    return SimpleNamespace(
        nodes=part(forest.nodes, forest.node_start),
        member_start=part(forest.member_start, forest.leaf_start),
        members=part(forest.members, forest.tree_members),
        depth=forest.depths[number],
    )


def is_tree(tree, n_features) -> bool:
    n_nodes = len(tree.nodes)
    if len(tree.member_start) != n_nodes + 2:
        return False
    features = tree.nodes[:, 0].view(np.uint32) & ~MISSING_LEFT
    own = np.arange(n_nodes)
    for child in tree.nodes[:, 2:].astype(np.int64).T:
        is_node = (child > own) & (child < n_nodes)  # after its parent: no walk goes in a circle
        is_leaf = (child < 0) & (-1 - child <= n_nodes)
        if not (is_node | is_leaf).all():
            return False
    if depth_of(tree) != tree.depth or np.isnan(tree.nodes[:, 1].copy().view(np.float32)).any():
        return False
    starts = tree.member_start.astype(np.int64)
    is_full = starts[0] == 0 and starts[-1] == len(tree.members) and (np.diff(starts) > 0).all()
    return bool((features < n_features).all() and is_full)


def depth_of(tree) -> int | None:
    """Depth of a tree, or None if a node or a leaf is reached twice or never."""
    met, waiting, deepest = set(), [(0 if len(tree.nodes) else -1, 0)], 0
    while waiting:
        at, depth = waiting.pop()
        if at in met:
            return None
        met.add(at)
        deepest = max(deepest, depth)
        if at >= 0:
            waiting += [(int(child), depth + 1) for child in tree.nodes[at, 2:]]
    return deepest if len(met) == 2 * len(tree.nodes) + 1 else None


def are_labels(labels) -> bool:
    if isinstance(labels, np.ndarray):
        return bool(finite(labels).all())
    return (
        are_starts(labels.indptr, len(labels.indices))
        and are_in_range(labels.indices, labels.n_columns)
        and all(
            (np.diff(labels.indices[a:b]) > 0).all()
            for a, b in zip(labels.indptr, labels.indptr[1:], strict=False)
        )
        and (labels.data is None or bool(finite(labels.data).all()))
    )


def are_starts(starts, end) -> bool:
    return bool(starts[0] == 0 and starts[-1] == end and (np.diff(starts) >= 0).all())


def are_in_range(indices, end) -> bool:
    return bool(((indices >= 0) & (indices < end)).all())


def finite(values):
    return np.isfinite(values.astype(float))
