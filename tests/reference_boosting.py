"""Gradient boosting as it is defined, in NumPy. Tests compare the native core with it."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import expit, logsumexp, softmax

# ---- losses


def gradients(scores, Y, loss, groups=None):
    """First and second derivatives of the loss of each row and output."""
    if loss == "squared_error":
        return scores - Y, np.ones_like(scores)
    if loss == "cross_entropy":
        p = expit(scores)
        return p - Y, p * (1 - p)
    columns = list(pairwise(groups))
    p = np.hstack([softmax(scores[:, first:end], axis=1) for first, end in columns])
    sizes = np.concatenate([np.full(end - first, end - first) for first, end in columns])
    return p - Y, p * (1 - p) * np.where(sizes > 1, sizes / np.maximum(sizes - 1, 1), 1)


def losses(scores, Y, loss, groups=None):
    """(n_rows,) the loss of each row: squares of residuals, or logarithms of probabilities."""
    if loss == "squared_error":
        return ((scores - Y) ** 2).sum(axis=1)
    if loss == "cross_entropy":
        return (np.logaddexp(0, scores) - Y * scores).sum(axis=1)
    columns = pairwise(groups)
    of_columns = [
        logsumexp(scores[:, first:end], axis=1) - (Y * scores)[:, first:end].sum(axis=1)
        for first, end in columns
    ]
    return np.sum(of_columns, axis=0)


# ---- trees


@dataclass(frozen=True)
class Cut:
    feature: int
    bin: int
    missing_left: bool
    gain: float
    left: np.ndarray  # of each row of the node: does it go left?


def side_score(Z, weights, side, l2):
    """|S|^2 / (w + l2) of the rows on one side, where S is the sum of their gradients."""
    S = Z[side].sum(axis=0)
    return S @ S / (weights[side].sum() + l2)


def best_cut(codes, n_known, Z, weights, min_rows=1, l2=0.0):
    """The cut of largest gain between two bins, the first one of several; None if none gains.

    Codes equal to the number of known bins are missing values, and go to either side.
    """
    every, best = np.ones(len(codes), bool), None
    for feature in range(codes.shape[1]):
        code, n = codes[:, feature], n_known[feature]
        for missing_left in (False, True) if (code == n).any() else (False,):
            for b in range(n):
                left = (code <= b) & (code < n) | missing_left & (code == n)
                if min(left.sum(), (~left).sum()) < min_rows:
                    continue
                score = side_score(Z, weights, left, l2) + side_score(Z, weights, ~left, l2)
                gain = score - side_score(Z, weights, every, l2)
                if gain > max(1e-9, 0 if best is None else best.gain):
                    best = Cut(feature, b, missing_left, gain, left)
    return best


def grow(codes, n_known, Z, weights, rows, max_leaf_nodes=None, max_depth=None, **limits):
    """The leaf of each row in a tree grown best first, and its cuts in the order of their making.

    The left side of a cut keeps the number of the leaf, the right side is a new one. Rows that are
    not in `rows` fall into leaves, but do not choose cuts.
    """
    leaf_of, depth, cuts = np.zeros(len(codes), int), [0], []
    in_bag = np.isin(np.arange(len(codes)), rows)

    def search(leaf):
        at = np.flatnonzero((leaf_of == leaf) & in_bag)
        if max_depth is not None and depth[leaf] == max_depth:
            return None
        return best_cut(codes[at], n_known, Z[at], weights[at], **limits)

    found = [search(0)]
    while max_leaf_nodes is None or len(found) < max_leaf_nodes:
        gains = [-np.inf if cut is None else cut.gain for cut in found]
        leaf = int(np.argmax(gains))
        if gains[leaf] == -np.inf:
            break
        cut = found[leaf]
        code, n = codes[:, cut.feature], n_known[cut.feature]
        left = np.where(code == n, cut.missing_left, code <= cut.bin)
        leaf_of[(leaf_of == leaf) & ~left] = len(found)
        depth[leaf] += 1
        depth.append(depth[leaf])
        cuts.append(cut)
        found[leaf] = None
        found += [None]
        found[leaf], found[-1] = search(leaf), search(len(found) - 1)
    return leaf_of, cuts


# ---- the algorithm


def boost(
    codes, n_known, Y, loss, start, n_trees, draw, learning_rate=0.1, l2=1.0, groups=None, **limits
):
    """Scores of all rows after `n_trees` trees: each is grown on the gradients times a matrix
    `draw(number)`, or on the gradients if that is None, and its leaves take a Newton step for each
    output."""
    weights, rows = np.ones(len(Y)), np.arange(len(Y))
    scores = np.broadcast_to(start, Y.shape).astype(float)
    for number in range(n_trees):
        g, h = gradients(scores, Y, loss, groups)
        P = draw(number)
        leaf_of, _ = grow(codes, n_known, g if P is None else g @ P, weights, rows, l2=l2, **limits)
        for leaf in np.unique(leaf_of):
            inside = leaf_of == leaf
            scores[inside] -= learning_rate * g[inside].sum(axis=0) / (h[inside].sum(axis=0) + l2)
    return scores
