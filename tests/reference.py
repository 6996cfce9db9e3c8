"""Brute-force definitions in NumPy, written to be read, not to be fast.

Tests compare the native core with them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from itertools import pairwise

import numpy as np
from scipy import sparse
from scipy.special import xlogy

from sketchforest._trees.owned_arrays import OwnedArrays

# ---- splits


@dataclass(frozen=True)
class Split:
    """One way to send the rows of a node left or right."""

    feature: int
    left: np.ndarray  # of each row: does it go left?
    score: float


def impurity(y, weights, criterion) -> float:
    """Impurity of one output: entropy of classes in bits, or of numbers the mean distance from
    their median, or half the Poisson deviance from their mean."""
    total = weights.sum()
    if criterion == "entropy":
        shares = np.array([weights[y == each].sum() for each in np.unique(y)]) / total
        return float(-(shares @ np.log2(shares)))
    if criterion == "absolute_error":  # of all values, a median is nearest
        return float(min(weights @ np.abs(y - median) for median in np.unique(y)) / total)
    assert criterion == "poisson"
    mean = weights @ y / total
    return float(weights @ xlogy(y, y / mean) / total) if y.any() else np.inf


def node_score(Z, weights, criterion="variance") -> float:
    """|S|^2 / w, where S is the weighted sum of the outputs and w the sum of the weights; for other
    criteria than variance, minus w times the impurity, summed over the outputs."""
    if criterion != "variance":
        return -weights.sum() * sum(impurity(z, weights, criterion) for z in Z.T)
    S = weights @ Z
    return float(S @ S / weights.sum())


def split_score(Z, weights, left, criterion="variance") -> float:
    """|S_L|^2 / w_L + |S_R|^2 / w_R, largest for the smallest variance (or impurity) within the
    two sides."""
    sides = (left, ~left)
    return sum(node_score(Z[side], weights[side], criterion) for side in sides)


def every_split(X, Z, weights, min_rows=1, min_weight=0.0, criterion="variance") -> Iterator[Split]:
    """All splits of the rows of X: for each feature, each threshold between two values, with
    missing values on either side. Sides of infinite impurity are left out."""
    for feature in range(X.shape[1]):
        x = X[:, feature]
        is_missing = np.isnan(x)
        for value in np.unique(x[~is_missing]):
            for missing_left in (False, True) if is_missing.any() else (False,):
                left = np.where(is_missing, missing_left, x <= value)
                sides = (left, ~left)
                if min(side.sum() for side in sides) < max(min_rows, 1):
                    continue
                if min(weights[side].sum() for side in sides) < min_weight:
                    continue
                score = split_score(Z, weights, left, criterion)
                if score > -np.inf:
                    yield Split(feature, left, score)


def best_split(X, Z, weights, min_rows=1, min_weight=0.0, criterion="variance") -> Split | None:
    """The split of largest score, or None if there is no split."""
    splits = every_split(X, Z, weights, min_rows, min_weight, criterion)
    return max(splits, key=lambda split: split.score, default=None)


# ---- trees, read from their flat arrays

MISSING_LEFT = 1 << 31


@dataclass(frozen=True)
class InnerNode:
    feature: int
    threshold: float
    missing_left: bool
    left: int  # a child below zero is leaf number -1 - child
    right: int

    def goes_left(self, x) -> bool:
        """Whether the features x go to the left child."""
        value = float(x[self.feature])
        return self.missing_left if np.isnan(value) else value <= self.threshold


def inner_node(tree, index) -> InnerNode:
    feature, threshold, left, right = tree.nodes[index]
    bits = int(feature) & 0xFFFFFFFF
    narrow = float(np.int32(threshold).view(np.float32))
    return InnerNode(
        feature=bits & ~MISSING_LEFT,
        threshold=narrow if tree.thresholds is None else float(tree.thresholds[index]),
        missing_left=bool(bits & MISSING_LEFT),
        left=int(left),
        right=int(right),
    )


def leaf_of(tree, x) -> int:
    """Number of the leaf that the features x fall into."""
    at = 0 if len(tree.nodes) else -1
    while at >= 0:
        node = inner_node(tree, at)
        at = node.left if node.goes_left(x) else node.right
    return -1 - at


def leaf_rows(tree, leaf) -> tuple[np.ndarray, np.ndarray]:
    """Training rows of a leaf, and their weights."""
    members = slice(tree.member_start[leaf], tree.member_start[leaf + 1])
    rows = tree.members[members]
    weights = np.ones(len(rows)) if tree.weights is None else tree.weights[members].astype(float)
    return rows, weights


def rows_below(tree, child) -> np.ndarray:
    """Sorted training rows of all leaves below a child."""
    leaves, waiting = [], [child]
    while waiting:
        at = waiting.pop()
        if at < 0:
            leaves.append(-1 - at)
        else:
            node = inner_node(tree, at)
            waiting += [node.left, node.right]
    return np.sort(np.concatenate([leaf_rows(tree, leaf)[0] for leaf in leaves]))


def leaf_mean(tree, leaf, Y) -> np.ndarray:
    """Weighted mean of the original outputs over the training rows of a leaf."""
    rows, weights = leaf_rows(tree, leaf)
    return weights @ dense(Y)[rows] / weights.sum()


def predict(forest, X, Y) -> np.ndarray:
    """Mean of the leaf means over the trees."""
    trees = forest.trees()
    return np.array(
        [np.mean([leaf_mean(tree, leaf_of(tree, x), Y) for tree in trees], axis=0) for x in X]
    )


def shape_of(tree) -> list[tuple]:
    """Nodes in preorder, to compare trees: (feature, threshold, missing_left); None for leaves."""
    shape, waiting = [], [0 if len(tree.nodes) else -1]
    while waiting:
        at = waiting.pop()
        if at < 0:
            shape.append(None)
        else:
            node = inner_node(tree, at)
            shape.append((node.feature, node.threshold, node.missing_left))
            waiting += [node.right, node.left]
    return shape


def assert_same_forest(ours, theirs):
    """Assert that two fitted estimators have the same trees, bit for bit."""
    assert_same_arrays(ours.fitted_.forest, theirs.fitted_.forest)


def assert_rows_reach_their_leaves(tree, found):
    """Assert that `found` gives the rows of each leaf one value, different from other leaves."""
    leaves = np.split(tree.members, tree.member_start[1:-1])
    places = [np.unique(found[rows]) for rows in leaves]
    assert all(len(of_leaf) == 1 for of_leaf in places)
    assert len(np.unique(np.concatenate(places))) == tree.n_leaves


def assert_same_arrays(ours, theirs):
    """Assert that two dataclasses or native objects hold the same arrays, bit for bit."""
    assert type(ours) is type(theirs)
    names = ours.FIELDS if isinstance(ours, OwnedArrays) else [field.name for field in fields(ours)]
    for name in names:
        our, their = getattr(ours, name), getattr(theirs, name)
        if our is None or their is None or isinstance(our, int):
            assert our == their, name
        elif is_dataclass(our):
            assert_same_arrays(our, their)
        else:
            assert our.dtype == their.dtype, name
            np.testing.assert_array_equal(our, their, err_msg=name)


# ---- what a tree draws


MASK, GOLDEN = 2**64 - 1, 0x9E3779B97F4A7C15


def mix(n):
    """The finaliser of SplitMix64."""
    n = (n ^ (n >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    n = (n ^ (n >> 27)) * 0x94D049BB133111EB & MASK
    return n ^ (n >> 31)


def core_stream(key, n_numbers) -> list[int]:
    """First 64-bit numbers of the core's random stream: a hash of the key and a counter."""
    return [mix(mix(key) + GOLDEN * (i + 1) & MASK) for i in range(n_numbers)]


def bootstrap_counts(seed, tree, n_rows, n_draws, weights=None) -> np.ndarray:
    """How often a tree draws each row, in `n_draws` draws with replacement.

    Without weights, the draws come from the core's stream of (seed, tree, purpose 0); with
    weights, from NumPy's.
    """
    address = np.random.SeedSequence([seed, tree, 0])
    if weights is None:
        key = int(address.generate_state(1, np.uint64)[0])
        drawn = [number * n_rows >> 64 for number in core_stream(key, n_draws)]
    else:
        rng = np.random.Generator(np.random.Philox(address))
        drawn = np.searchsorted(np.cumsum(weights) / np.sum(weights), rng.random(n_draws), "right")
    counts = np.zeros(n_rows, int)
    for row in drawn:
        counts[row] += 1
    return counts


# ---- projections


def dense(A) -> np.ndarray:
    return A.toarray() if sparse.issparse(A) else np.asarray(A)


def project(Y, P) -> np.ndarray:
    """Z = Y P."""
    return dense(Y).astype(float) @ dense(P).astype(float)


def leading_direction(z, weights, start, n_power_steps):
    """Approximate first principal direction of the outputs, by power iteration from `start`."""
    z = z - np.average(z, axis=0, weights=weights)
    leading = start
    for _ in range(n_power_steps):
        leading = z.T @ (weights * (z @ leading))
        leading = leading / np.linalg.norm(leading)
    return leading


def oblique_direction(x, z, weights, aim, *, ridge, n_steps):
    """Ridge regression of the outputs along `aim` on X, before weights are dropped."""
    target = (z - np.average(z, axis=0, weights=weights)) @ aim
    centred = x - np.average(x, axis=0, weights=weights)
    weighted = centred * weights[:, None]
    penalty = ridge * (weighted * centred).sum() / weights.sum()
    # Conjugate gradients for (X' W X + penalty) w = X' W target, from w = 0.
    matrix = weighted.T @ centred + penalty * np.eye(x.shape[1])
    w = np.zeros(x.shape[1])
    residual = weighted.T @ target
    step = residual
    for _ in range(n_steps):
        length = (residual @ residual) / (step @ matrix @ step)
        w = w + length * step
        new = residual - length * matrix @ step
        step = new + (new @ new) / (residual @ residual) * step
        residual = new
    return w


def strongest_weights(x, w, weights, n_kept):
    """Keep the `n_kept` weights of largest effect w_j^2 var_j, and set the others to zero."""
    centred = x - np.average(x, axis=0, weights=weights)
    effect = w**2 * (weights[:, None] * centred**2).sum(axis=0)
    kept = np.argsort(-effect, kind="stable")[:n_kept]
    pruned = np.zeros_like(w)
    pruned[kept] = w[kept]
    return pruned


def oblique_cut(projected, z, weights, min_rows):
    """(gain, threshold) of the split of the projected rows with least variance of z."""
    z = z - np.average(z, axis=0, weights=weights)
    best = (-np.inf, None)
    for low, high in pairwise(np.unique(projected)):
        left = projected <= low
        if min(left.sum(), (~left).sum()) < min_rows:
            continue
        sums = [(weights[side, None] * z[side]).sum(axis=0) for side in (left, ~left)]
        sides = [weights[side].sum() for side in (left, ~left)]
        gain = sum((s @ s) / w for s, w in zip(sums, sides, strict=True))
        if gain > best[0]:
            best = (gain, (low + high) / 2)
    return best


def direction_between_sides(projected, z, weights, threshold):
    """Unit vector from the mean of all outputs to the mean right of the threshold."""
    right = projected > threshold
    z = z - np.average(z, axis=0, weights=weights)
    between = (weights[right, None] * z[right]).sum(axis=0)
    return between / np.linalg.norm(between)


def oblique_split(x, z, weights, start, *, ridge, n_steps, n_power_steps, n_refinements, min_side):
    """Which rows of a node are left of its split; None where there is no split."""
    least = max(1, np.ceil(min_side * len(x)))
    aim, best = leading_direction(z, weights, start, n_power_steps), -np.inf
    for _ in range(n_refinements):  # by cuts of a direction of one step
        w = oblique_direction(x, z, weights, aim, ridge=ridge, n_steps=1)
        gain, threshold = oblique_cut(x @ w, z, weights, least)
        if gain <= best:
            break
        best, aim = gain, direction_between_sides(x @ w, z, weights, threshold)
    w = oblique_direction(x, z, weights, aim, ridge=ridge, n_steps=n_steps)
    w = strongest_weights(x, w, weights, 1 + len(x))
    w = upper_half(w)
    _, threshold = oblique_cut(x @ w, z, weights, least)
    return x @ w <= threshold


def upper_half(w):
    """Rounded to the 16 bits of a float that a model keeps."""
    bits = w.astype(np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32).view(np.float32)


def level_wise_leaves(x, z, weights, key, min_samples_split, **settings) -> list[np.ndarray]:
    """The rows of the leaves of an oblique tree, whose nodes are split level by level.

    Each node has a stream of its own, which follows from that of its parent, so that it does not
    matter in which order the nodes of a level are split.
    """
    leaves, level = [], [(np.arange(len(x)), key)]
    while level:
        below = []
        for rows, own in level:
            if len(rows) < min_samples_split:
                leaves.append(rows)
                continue
            start = [2 * (n >> 11) * 2.0**-53 - 1 for n in core_stream(own, z.shape[1])]
            node = x[rows].astype(float), z[rows].astype(float), weights[rows]
            left = oblique_split(*node, np.array(start), **settings)
            first, second = child_keys(own)
            below += [(rows[left], first), (rows[~left], second)]
        level = below
    return leaves


def child_keys(key) -> tuple[int, int]:
    """Of the streams of the left and the right child of a node."""
    return mix(key + GOLDEN & MASK), mix(key + 2 * GOLDEN & MASK)


def ridge(Z, Y, weights) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients and intercepts that minimize the weighted squared error, plus the squared
    coefficients times the mean squared norm of the centred rows."""
    weights = np.asarray(weights, float) / np.mean(weights)
    mean, mean_output = (np.average(A, axis=0, weights=weights) for A in (Z, Y))
    centred, root = Z - mean, np.sqrt(weights)[:, None]
    penalty = np.average((centred**2).sum(axis=1), weights=weights)
    rows = np.vstack([root * centred, np.sqrt(penalty) * np.eye(Z.shape[1])])
    outputs = np.vstack([root * (Y - mean_output), np.zeros((Z.shape[1], Y.shape[1]))])
    coefficients = np.linalg.lstsq(rows, outputs, rcond=None)[0]
    return coefficients, mean_output - mean @ coefficients


def corrections(one, other, truth, noise, penalty) -> np.ndarray:
    """(n_labels, n_labels) by how much the score of label j, times an entry of row l, corrects that
    of label l: see `sketchforest._selection.blending`."""
    trees, n_labels = (one + other) / 2, truth.shape[1]
    products = np.zeros((n_labels, n_labels))
    for j in range(n_labels):
        for k in range(n_labels):
            products[j, k] = (one[:, j] @ other[:, k] + one[:, k] @ other[:, j]) / 2
        products[j, j] += noise * (trees[:, j] @ trees[:, j] - products[j, j])
    with_truth = trees.T @ truth
    level = np.trace(with_truth) / np.trace(products)
    added = with_truth / level - products
    factors = np.linalg.solve(products + penalty * np.eye(n_labels), added).T
    return factors * len(truth) / (len(truth) + 2 * n_labels)
