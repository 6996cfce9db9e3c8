"""Splitting all nodes of a level at once, as `ObliqueGrower` of the core splits one.

Everything is a sum within nodes, a product with rows, or a number for each node, so that the same
lines run on a GPU and on NumPy.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sketchforest import _core
from sketchforest._trees.levels.bits import HALF_OF_ONE, from_halves, numbers_of, to_halves
from sketchforest._trees.levels.cuda_kernels import CudaKernels
from sketchforest._trees.levels.nodes import Array, Nodes, starts
from sketchforest._trees.levels.numpy_kernels import NumpyKernels

Kernels = NumpyKernels | CudaKernels

# As in the core, which gives the reasons.
NO_VARIANCE = 1e-10
AIMING_ROWS = 128
LEAST_SQUARES = 1e-30
# Effects whose bits are less are as good as zero.
IGNORED_BITS = 20
SINGLE_SHARE = 0.9


@dataclass(frozen=True)
class Bags:
    """The rows that some trees are grown on, one tree after the other."""

    x_row: Array  # (n,) int32 row of X
    z: Array  # (n, width) outputs
    weight: Array  # (n,) float32


@dataclass(frozen=True)
class Splits:
    """How the nodes of a level are split; arrays of the device."""

    is_split: Array  # (n_nodes,) the others are leaves
    n_left: Array
    threshold: Array
    gain: Array
    feature: Array  # of the largest effect
    is_kept: Array  # (n_nodes, width of X): the weights of its direction that a node keeps
    weights: Array  # (n_nodes, width of X), upper halves of floats: zeros elsewhere
    members: Array  # rows of the bags: those of a node stay together, left ones first


@dataclass(frozen=True)
class _Columns:
    """What is known of the columns of X in each node, whatever is aimed at."""

    sums: Array
    variances: Array
    penalty: Array  # (n_nodes,)
    varies: Array  # (n_nodes,)


@dataclass(frozen=True)
class _Rows:
    """The rows of some nodes, with their outputs centred."""

    nodes: Nodes
    x_row: Array
    z: Array
    place: Array  # 0, 1, 2, ...: of the rows of z
    w: Array
    weight: Array  # (n_nodes,) doubles
    is_mixed: Array  # (n_nodes,) whether the outputs vary


@dataclass(frozen=True)
class _Cuts:
    """The best cut of each node, with no rows on the left where there is none."""

    score: Array
    n_left: Array
    threshold: Array
    positions: Array  # (n_rows,) a row is on the left if its position does not exceed the threshold

    def where(self, xp: Any, is_allowed: Array) -> "_Cuts":
        """Drop the cuts of other nodes."""
        return replace(self, n_left=xp.where(is_allowed, self.n_left, 0).astype(np.int32))

    def or_else(self, xp: Any, is_own: Array, other: "_Cuts", node: Array) -> "_Cuts":
        """These cuts in some nodes, and the others elsewhere."""
        return _Cuts(
            xp.where(is_own, self.score, other.score),
            xp.where(is_own, self.n_left, other.n_left),
            xp.where(is_own, self.threshold, other.threshold),
            xp.where(is_own[node], self.positions, other.positions),
        )


class LevelSplitter:
    """Splits nodes of trees with these parameters, of rows of X on the device."""

    def __init__(
        self,
        kernels: Kernels,
        X: Array,
        n_features: int,
        bags: Bags,
        params: _core.ObliqueParams,
    ) -> None:
        self._kernels, self._xp = kernels, kernels.xp
        self._X, self._n_features = X, n_features
        self._bags, self._params = bags, params

    def split(self, members: Array, nodes: Nodes, key: Array, min_weight: Array) -> Splits:
        """`members` are the rows of the bags in the order of the nodes, and `key` is that of the
        stream of each node."""
        xp, params = self._xp, self._params
        if bool((nodes.size > 2 * AIMING_ROWS).any()):
            aim, is_aimed = self._aim_by_sample(members, nodes, key, min_weight)
            rows = self._open(members, nodes)
            columns = None
        else:
            rows = self._open(members, nodes)
            aim, is_aimed, columns = self._aim(rows, self._start(key, 0), min_weight)
        w, _, columns, is_found = self._find(rows, aim, params.n_steps, columns)
        is_found = is_found & is_aimed & rows.is_mixed
        effects = (w * w * columns.variances).view(np.uint32)
        effects = xp.where(effects >> np.uint32(IGNORED_BITS), effects, np.uint32(0))
        most = 1 + params.weights_per_row * nodes.size.astype(np.float64)
        most = xp.minimum(most, 1.0 + self._n_features).astype(np.int32)
        is_kept = self._kernels.mark_largest(effects, most)
        halves = xp.where(is_kept, to_halves(w), np.uint16(0))
        projected = self._kernels.dot_in_order(self._X, rows.x_row, nodes.node, from_halves(halves))
        cut = self._cut(rows, projected, min_weight, params.min_side)
        cut = cut.where(xp, is_found & is_kept.any(axis=1))
        feature = xp.argmax(effects, axis=1).astype(np.int32)
        if params.n_single_features > 0:
            cut = cut.where(xp, nodes.size >= params.min_direction_rows)
            cut, single = self._cut_single_features(rows, key, min_weight, columns, cut)
            is_single = single >= 0
            feature = xp.where(is_single, single, feature)
            is_feature = xp.arange(self._X.shape[1]) == single[:, None]
            is_kept = xp.where(is_single[:, None], is_feature, is_kept)
            halves = xp.where(is_single[:, None], is_feature * HALF_OF_ONE, halves)
        return Splits(
            is_split=cut.n_left > 0,
            n_left=cut.n_left,
            threshold=cut.threshold,
            gain=cut.score,
            feature=feature,
            is_kept=is_kept,
            weights=halves,
            members=self._partition(members, nodes, cut),
        )

    def _cut_single_features(
        self, rows: _Rows, key: Array, min_weight: Array, columns: _Columns, cut: _Cuts
    ) -> tuple[_Cuts, Array]:
        """The best cuts, of single features or those that were given, and the features: below 0
        where the one that was given is the best.

        So many features are drawn in each node or, where none of them can be cut, the first one
        after them that varies.
        """
        xp, node, n_drawn = self._xp, rows.nodes.node, self._params.n_single_features
        best = xp.where(cut.n_left > 0, SINGLE_SHARE * cut.score, -np.inf)
        found = xp.full(len(best), -1, np.int32)
        drawn = xp.argsort(self._bits(key, 2 * self._bags.z.shape[1], self._n_features), axis=1)
        for draw in range(min(n_drawn + 1, self._n_features)):
            feature, may = drawn[:, draw], rows.is_mixed
            if draw == n_drawn:
                may = may & (cut.n_left == 0)
                if not bool(may.any()):
                    break
                after = drawn[:, n_drawn:]
                varies = xp.take_along_axis(columns.variances, after, axis=1) > 0
                first = xp.argmax(varies, axis=1)[:, None]
                feature = xp.take_along_axis(after, first, axis=1)[:, 0]
            values = self._X[rows.x_row, feature[node]]
            single = self._cut(rows, values, min_weight, 0.0)
            is_better = may & (single.n_left > 0) & (single.score > best)
            best = xp.where(is_better, single.score, best)
            found = xp.where(is_better, feature.astype(np.int32), found)
            cut = single.or_else(xp, is_better, cut, node)
        return cut, found

    def _aim_by_sample(
        self, members: Array, nodes: Nodes, key: Array, min_weight: Array
    ) -> tuple[Array, Array]:
        """Where large nodes aim at is known well enough from some of their rows, spread evenly. A
        sample may miss the few rows that are not like the others: then all of them aim."""
        xp = self._xp
        is_large = nodes.size > 2 * AIMING_ROWS
        sampled = Nodes.of_sizes(xp, xp.where(is_large, AIMING_ROWS, nodes.size).astype(np.int32))
        place = xp.arange(len(sampled.node)) - sampled.start[sampled.node]
        spread = place * nodes.size[sampled.node] // AIMING_ROWS
        place = xp.where(is_large[sampled.node], spread, place) + nodes.start[sampled.node]
        rows = self._open(members[place], sampled)
        aim, is_aimed, _ = self._aim(rows, self._start(key, 0), min_weight)
        missed = xp.flatnonzero(is_large & ~is_aimed)
        if len(missed):
            at = xp.flatnonzero((is_large & ~is_aimed)[nodes.node])
            of_missed = Nodes.of_sizes(xp, nodes.size[missed])
            rows = self._open(members[at], of_missed)
            start = self._start(key[missed], self._bags.z.shape[1])
            aim[missed], is_aimed[missed], _ = self._aim(rows, start, min_weight[missed])
        return aim, is_aimed

    def _start(self, key: Array, first: int) -> Array:
        """The first numbers of the stream of each node, or those after the first ones: uniform in
        [-1, 1)."""
        bits = self._bits(key, first, self._bags.z.shape[1]) >> np.uint64(11)
        return (2 * (bits.astype(np.float64) * 2.0**-53) - 1).astype(np.float32)

    def _bits(self, key: Array, first: int, n: int) -> Array:
        """(n_nodes, n) numbers of the streams after the first ones."""
        place = self._xp.arange(first + 1, first + 1 + n, dtype=np.uint64)
        return numbers_of(key, place)

    def _open(self, members: Array, nodes: Nodes) -> _Rows:
        kernels, bags, xp = self._kernels, self._bags, self._xp
        w = bags.weight[members]
        weight = kernels.sum_products(w, xp.ones_like(w), nodes)
        total = kernels.add_up(bags.z, members, w, nodes)
        mean = (total / weight[:, None]).astype(np.float32)
        z = kernels.centre(bags.z, members, nodes.node, mean)
        left = kernels.sum_products(w, kernels.row_dots(z, z).astype(np.float32), nodes)
        squares = kernels.row_dots(total, total) / weight
        return _Rows(
            nodes=nodes,
            x_row=bags.x_row[members],
            z=z,
            place=xp.arange(len(w), dtype=np.int32),
            w=w,
            weight=weight,
            is_mixed=left > NO_VARIANCE * (left + squares),
        )

    def _aim(
        self, rows: _Rows, start: Array, min_weight: Array
    ) -> tuple[Array, Array, _Columns | None]:
        """The direction of the outputs to aim at: the leading one first, then that between the
        sides of a cut, as long as cuts become better; and where there is one."""
        kernels, xp, nodes = self._kernels, self._xp, rows.nodes
        aim, is_aimed = start, rows.is_mixed
        for _ in range(self._params.n_power_steps):
            along = kernels.dot(rows.z, rows.place, nodes.node, aim)
            aim, is_direction = self._unit(
                kernels.add_up(rows.z, rows.place, rows.w * along, nodes)
            )
            is_aimed = is_aimed & is_direction
        best = xp.full(nodes.n_nodes, -np.inf)
        improves, columns = is_aimed, None
        for _ in range(self._params.n_refinements):
            _, projected, columns, is_found = self._find(rows, aim, 1, columns)
            cut = self._cut(rows, projected, min_weight, self._params.min_side)
            is_cut = is_found & (cut.n_left > 0)
            is_aimed = is_aimed & (is_cut | ~improves)
            improves = improves & is_cut & (cut.score > best)
            best = xp.where(improves, cut.score, best)
            is_right = ~(projected <= cut.threshold[nodes.node])
            weights = xp.where(is_right, rows.w, np.float32(0))
            between, is_direction = self._unit(kernels.add_up(rows.z, rows.place, weights, nodes))
            improves = improves & is_direction
            aim = xp.where(improves[:, None], between, aim)
        return aim, is_aimed, columns

    def _unit(self, v: Array) -> tuple[Array, Array]:
        """Vectors of length 1, and whether there is one."""
        squares = self._kernels.row_dots(v, v)
        is_direction = squares > LEAST_SQUARES
        scale = self._xp.where(is_direction, squares, 1.0) ** -0.5
        return v * scale.astype(np.float32)[:, None], is_direction

    def _find(
        self, rows: _Rows, aim: Array, n_steps: int, columns: _Columns | None
    ) -> tuple[Array, Array, _Columns, Array]:
        """The direction in X that predicts the outputs along the aim, by so many steps of conjugate
        gradients; about where the rows lie along it; what is known of the columns; and where there
        is a direction."""
        kernels, xp, nodes, node = self._kernels, self._xp, rows.nodes, rows.nodes.node
        target = kernels.dot(rows.z, rows.place, node, aim)
        scaled = rows.w * target
        if columns is None:
            columns, gradient = self._know_columns(rows, scaled)
        else:
            gradient = kernels.add_up(self._X, rows.x_row, scaled, nodes)
        step, w = gradient, xp.zeros_like(gradient)
        projected = xp.zeros_like(target)
        squares = kernels.row_dots(gradient, gradient)
        for number in range(n_steps):
            moved = kernels.dot(self._X, rows.x_row, node, step)
            if number + 1 < n_steps:
                back = kernels.add_up(self._X, rows.x_row, rows.w * moved, nodes)
            mean = kernels.sum_products(rows.w, moved, nodes) / rows.weight
            mean = mean.astype(np.float32)
            moved = moved - mean[node]
            of_rows = kernels.sum_products(rows.w * moved, moved, nodes)
            curvature = columns.penalty * kernels.row_dots(step, step) + of_rows
            moves = (curvature > 0) & (squares > 0)
            length = xp.where(moves, squares / xp.where(moves, curvature, 1.0), 0.0)
            length = length.astype(np.float32)
            projected += length[node] * moved
            w += length[:, None] * step
            if number + 1 < n_steps:
                penalty = columns.penalty.astype(np.float32)[:, None]
                back += penalty * step - mean[:, None] * columns.sums
                gradient = gradient - length[:, None] * back
                earlier = xp.where(squares > 0, squares, 1.0)
                squares = kernels.row_dots(gradient, gradient)
                step = gradient + (squares / earlier).astype(np.float32)[:, None] * step
        lengths = kernels.row_dots(w, w)
        is_found = columns.varies & (lengths > 0) & (lengths <= np.finfo(np.float32).max)
        return w, projected, columns, is_found

    def _know_columns(self, rows: _Rows, scaled: Array) -> tuple[_Columns, Array]:
        """And what add_up gives of `scaled`, in the same pass over X."""
        xp, nodes = self._xp, rows.nodes
        sums, squares, products = self._kernels.moments(self._X, rows.x_row, rows.w, scaled, nodes)
        # Of a constant column: sums of floats are off by more, the more of them there are.
        rounding = 2e-6 + 2e-7 * xp.sqrt(nodes.size.astype(np.float64))[:, None]
        left = squares - (sums.astype(np.float64) ** 2) / rows.weight[:, None]
        variances = xp.where(left > rounding * squares, left, 0.0).astype(np.float32)
        lengths = self._kernels.row_dots(variances, xp.ones_like(variances))
        penalty = self._params.ridge * lengths / rows.weight
        return _Columns(sums, variances, penalty, lengths > 0), products

    def _cut(self, rows: _Rows, positions: Array, min_weight: Array, min_side: float) -> "_Cuts":
        """The best cut of each node along the positions of its rows."""
        xp, nodes = self._xp, rows.nodes
        bits = (positions + np.float32(0)).view(np.uint32)  # zero has one sign
        codes = xp.where(bits >> np.uint32(31), ~bits, bits | np.uint32(1 << 31))
        key = nodes.node.astype(np.uint64) << np.uint64(32) | codes.astype(np.uint64)
        order = xp.argsort(key, kind="stable").astype(np.int32)
        least = max(self._params.min_samples_leaf, 1)
        share = xp.ceil(min_side * nodes.size.astype(np.float64)).astype(np.int32)
        score, n_left = self._kernels.best_cuts(
            rows.z,
            rows.w,
            order,
            codes[order],
            nodes,
            xp.maximum(share, least).astype(np.int32),
            least,
            min_weight,
        )
        # Where a sum overflowed, the rows have no order.
        lost = (~xp.isfinite(positions)).astype(np.float32)
        n_left = xp.where(self._kernels.sum_products(lost, lost, nodes) == 0, n_left, 0)
        threshold = self._threshold_after(nodes, positions, order, n_left)
        return _Cuts(score, n_left.astype(np.int32), threshold, positions)

    def _threshold_after(
        self, nodes: Nodes, positions: Array, order: Array, n_left: Array
    ) -> Array:
        """Between the last row on the left and the first one on the right."""
        xp = self._xp
        last = nodes.start[:-1] + xp.maximum(n_left, 1) - 1
        first = xp.minimum(last + 1, len(order) - 1)
        low, high = positions[order[last]], positions[order[first]]
        wide = low.astype(np.float64) / 2 + high.astype(np.float64) / 2
        middle = wide.astype(np.float32)
        below = xp.nextafter(middle, np.float32(-np.inf))
        middle = xp.where(middle.astype(np.float64) > wide, below, middle)
        return xp.where((low <= middle) & (middle < high), middle, low)

    def _partition(self, members: Array, nodes: Nodes, cut: "_Cuts") -> Array:
        """Left rows of split nodes first, both sides in their old order."""
        xp, node = self._xp, nodes.node
        is_left = (cut.positions <= cut.threshold[node]) | (cut.n_left == 0)[node]
        n_before = starts(xp, is_left)
        start = nodes.start[:-1]
        left = n_before[:-1] - n_before[start][node]  # rows on the left before it, in its node
        n_left = n_before[nodes.start[1:]] - n_before[start]
        place = xp.arange(len(node), dtype=np.int32)
        right = place - start[node] - left
        to = start[node] + xp.where(is_left, left, n_left[node] + right)
        parted = xp.empty_like(members)
        parted[to] = members
        return parted
