"""The kernels of a level in NumPy: what those of the GPU compute, as plainly as it can be said.

Matrices have rows of float32. `rows` and `node` are the row and the node of each place; sums are
over the places of a node.
"""

from typing import Any

import numpy as np

from sketchforest._trees.levels.nodes import Nodes


class NumpyKernels:
    """The kernels without a GPU."""

    xp: Any = np

    def upload(self, values: np.ndarray) -> np.ndarray:
        return values

    def download(self, values: np.ndarray) -> np.ndarray:
        return values

    def free_bytes(self) -> int:
        """Free memory of the device in bytes."""
        return 1 << 32

    def free_memory(self) -> None:
        """Release unused memory."""

    def centre(
        self, m: np.ndarray, rows: np.ndarray, node: np.ndarray, mean: np.ndarray
    ) -> np.ndarray:
        """Rows of m, less the mean of their node."""
        return m[rows] - mean[node]

    def dot(self, m: np.ndarray, rows: np.ndarray, node: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Rows of m times the vector of their node."""
        return np.einsum("ij,ij->i", m[rows], w[node])

    def dot_in_order(
        self, m: np.ndarray, rows: np.ndarray, node: np.ndarray, w: np.ndarray
    ) -> np.ndarray:
        """The same, to the last bit as a prediction has it: column by column."""
        total = np.zeros(len(rows), np.float32)
        for column in range(m.shape[1]):
            total += m[rows, column] * w[node, column]
        return total

    def row_dots(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Each row of a times that of b, in doubles."""
        return np.einsum("ij,ij->i", a.astype(np.float64), b.astype(np.float64))

    def add_up(self, m: np.ndarray, rows: np.ndarray, v: np.ndarray, nodes: Nodes) -> np.ndarray:
        """Of each node, the sum of v times the rows of m."""
        return _sums(v[:, None] * m[rows], nodes)

    def moments(
        self, m: np.ndarray, rows: np.ndarray, weights: np.ndarray, v: np.ndarray, nodes: Nodes
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of each node, weighted sums of rows and of their squares, and what add_up gives of v."""
        x = m[rows]
        w = weights[:, None]
        return _sums(w * x, nodes), _sums(w * x**2, nodes), _sums(v[:, None] * x, nodes)

    def sum_products(self, a: np.ndarray, b: np.ndarray, nodes: Nodes) -> np.ndarray:
        """Of each node, the sum of a times b, in doubles."""
        return np.add.reduceat(a.astype(np.float64) * b, nodes.start[:-1])

    def best_cuts(
        self,
        z: np.ndarray,
        weights: np.ndarray,
        order: np.ndarray,
        codes: np.ndarray,
        nodes: Nodes,
        wanted: np.ndarray,
        least: int,
        min_weight: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Of each node, the score of the best cut of its rows, and how many are left of it.

        Within their nodes, rows are in the order of `codes`, and `order` says where they are; no
        cut parts equal codes. Each side has at least the wanted rows of its node or, where there
        is no such cut, the least number. A node without a cut has none of its rows on the left.
        """
        weight = weights[order].astype(np.float64)
        sums = np.column_stack([z[order] * weight[:, None], weight]).astype(np.float64)
        total = np.add.reduceat(sums, nodes.start[:-1])
        score, n_left = np.full(nodes.n_nodes, -1.0), np.zeros(nodes.n_nodes, np.int32)
        for k, (begin, end) in enumerate(zip(nodes.start[:-1], nodes.start[1:], strict=True)):
            left = np.cumsum(sums[begin : end - 1], axis=0)
            right = total[k] - left
            n_rows = np.arange(1, end - begin)
            with np.errstate(invalid="ignore", divide="ignore"):
                found = sum((s[:, :-1] ** 2).sum(axis=1) / s[:, -1] for s in (left, right))
            is_cut = codes[begin : end - 1] != codes[begin + 1 : end]
            is_cut &= (left[:, -1] >= min_weight[k]) & (right[:, -1] >= min_weight[k])
            for min_rows in (wanted[k], least):
                is_good = is_cut & (n_rows >= min_rows) & (n_rows[::-1] >= min_rows)
                if is_good.any():
                    best = np.argmax(np.where(is_good, found, -1))
                    score[k], n_left[k] = found[best], best + 1
                    break
        return score, n_left

    def mark_largest(self, bits: np.ndarray, most: np.ndarray) -> np.ndarray:
        """Marks the `most` largest numbers of each row, and the first of equal ones, but no zero.

        `bits` are of floats that are not negative: they are in the same order."""
        ranked = np.argsort(~bits, axis=1, kind="stable")
        rank = np.empty_like(ranked)
        np.put_along_axis(rank, ranked, np.arange(bits.shape[1])[None, :], axis=1)
        return (rank < most[:, None]) & (bits > 0)


def _sums(values: np.ndarray, nodes: Nodes) -> np.ndarray:
    wide = np.add.reduceat(values.astype(np.float64), nodes.start[:-1], axis=0)
    return wide.astype(np.float32)
