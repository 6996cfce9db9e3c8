"""The kernels of a level on a GPU, through CuPy."""

from collections.abc import Callable
from importlib import resources
from typing import Any

import numpy as np

from sketchforest._trees.levels.nodes import Array, Nodes

WARP = 32
BLOCK = 128

# Called with the name of a kernel, numbers of blocks and of threads in each, bytes of shared memory
# and arguments.
Launch = Callable[[str, int, int, int, tuple[Any, ...]], None]


class CudaMemory:
    """Arrays on the current device."""

    xp: Any

    def upload(self, values: np.ndarray) -> Array:
        return self.xp.asarray(values)

    def download(self, values: Array) -> np.ndarray:
        return np.asarray(self.xp.asnumpy(values))

    def free_bytes(self) -> int:
        self.free_memory()
        return int(self.xp.cuda.runtime.memGetInfo()[0])

    def free_memory(self) -> None:
        self.xp.get_default_memory_pool().free_all_blocks()


class CudaKernels(CudaMemory):
    """What `NumpyKernels` says, computed by kernels.cu. `launch` runs one of its kernels."""

    def __init__(self, xp: Any, launch: Launch) -> None:
        self.xp = xp
        self._launch = launch

    @classmethod
    def on_device(cls) -> "CudaKernels":
        """Kernels on the current device; CuPy compiles them when they are first used."""
        import cupy

        source = resources.files(__package__).joinpath("kernels.cu").read_text(encoding="utf-8")
        # No contraction: products are rounded before they are added, as on the CPU.
        module = cupy.RawModule(code=source, options=("--std=c++17", "--fmad=false"))

        def launch(
            name: str, n_blocks: int, n_threads: int, shared: int, args: tuple[Any, ...]
        ) -> None:
            module.get_function(name)((n_blocks,), (n_threads,), args, shared_mem=shared)

        return cls(cupy, launch)

    def centre(self, m: Array, rows: Array, node: Array, mean: Array) -> Array:
        out = self.xp.empty((len(rows), m.shape[1]), np.float32)
        n = out.size // 4
        self._each("centre", n, (m, _fours(m), rows, node, mean, out, np.int64(n)))
        return out

    def dot(self, m: Array, rows: Array, node: Array, w: Array) -> Array:
        n = len(rows)
        out = self.xp.empty(n, np.float32)
        self._each("dot", n * WARP, (m, _fours(m), rows, node, w, out, np.int32(n)))
        return out

    def dot_in_order(self, m: Array, rows: Array, node: Array, w: Array) -> Array:
        n = len(rows)
        out = self.xp.empty(n, np.float32)
        self._each("dot_in_order", n, (m, _fours(m), rows, node, w, out, np.int32(n)))
        return out

    def row_dots(self, a: Array, b: Array) -> Array:
        n, width = a.shape
        out = self.xp.empty(n, np.float64)
        self._each("row_dots", n * WARP, (a, b, np.int32(width), out, np.int32(n)))
        return out

    def add_up(self, m: Array, rows: Array, v: Array, nodes: Nodes) -> Array:
        (parts,) = self._new_parts(m, nodes, 1)
        chunks = nodes.chunk_begin, nodes.chunk_end
        self._each_chunk("add_up", m, nodes, (m, _fours(m), rows, v, *chunks, parts))
        return self._joined(parts, nodes)

    def moments(
        self, m: Array, rows: Array, weights: Array, v: Array, nodes: Nodes
    ) -> tuple[Array, Array, Array]:
        sums, squares, products = self._new_parts(m, nodes, 3)
        chunks = nodes.chunk_begin, nodes.chunk_end
        args = (m, _fours(m), rows, weights, v, *chunks, sums, squares, products)
        self._each_chunk("moments", m, nodes, args)
        joined = self._joined
        return joined(sums, nodes), joined(squares, nodes), joined(products, nodes)

    def sum_products(self, a: Array, b: Array, nodes: Nodes) -> Array:
        n_chunks = len(nodes.chunk_node)
        parts = self.xp.empty((n_chunks, 1), np.float64)
        args = (a, b, nodes.chunk_begin, nodes.chunk_end, parts, np.int32(n_chunks))
        self._each("sum_products", n_chunks * WARP, args)
        return self._joined(parts, nodes)[:, 0]

    def best_cuts(
        self,
        z: Array,
        weights: Array,
        order: Array,
        codes: Array,
        nodes: Nodes,
        wanted: Array,
        least: int,
        min_weight: Array,
    ) -> tuple[Array, Array]:
        xp, width, n_nodes = self.xp, z.shape[1], nodes.n_nodes
        n_chunks = len(nodes.chunk_node)
        chunks = nodes.chunk_begin, nodes.chunk_end
        before = xp.empty((n_chunks, width + 1), np.float64)
        total = xp.empty((n_nodes, width + 1), np.float64)
        args: tuple[Any, ...] = (z, np.int32(width), weights, order, *chunks, before)
        self._launch("chunk_totals", n_chunks, BLOCK // 2, 0, args)
        count = np.int64(total.size)
        args = (before, nodes.first_chunk, np.int32(width + 1), total, count)
        self._each("totals_before", total.size, args)
        scores, taken = xp.empty((n_chunks, 2), np.float64), xp.empty((n_chunks, 2), np.int32)
        args = (
            *(z, np.int32(width), weights, order, codes, nodes.chunk_node, *chunks),
            *(nodes.start, before, total, wanted, np.int32(least), min_weight),
            *(scores, taken),
        )
        self._launch("best_in_chunk", n_chunks, WARP, 8 * width, args)
        best, n_left = xp.empty(n_nodes, np.float64), xp.empty(n_nodes, np.int32)
        args = (scores, taken, nodes.first_chunk, best, n_left, np.int32(n_nodes))
        self._each("best_of_chunks", n_nodes, args)
        return best, n_left

    def mark_largest(self, bits: Array, most: Array) -> Array:
        n, width = bits.shape
        marks = self.xp.empty((n, width), np.uint8)
        self._launch("mark_largest", n, BLOCK, 0, (bits, np.int32(width), most, marks))
        return marks.view(np.bool_)

    def _each(self, name: str, n_threads: int, args: tuple[Any, ...]) -> None:
        """Run a kernel with one thread per item."""
        self._launch(name, -(-n_threads // BLOCK), BLOCK, 0, args)

    def _each_chunk(self, name: str, m: Array, nodes: Nodes, args: tuple[Any, ...]) -> None:
        n_threads = min(BLOCK, -(-int(_fours(m)) // WARP) * WARP)
        self._launch(name, len(nodes.chunk_node), n_threads, 0, args)

    def _new_parts(self, m: Array, nodes: Nodes, n: int) -> list[Array]:
        shape = len(nodes.chunk_node), m.shape[1]
        return [self.xp.empty(shape, np.float32) for _ in range(n)]

    def _joined(self, parts: Array, nodes: Nodes) -> Array:
        """Sums of nodes from those of their chunks."""
        if len(parts) == nodes.n_nodes:
            return parts
        out = self.xp.empty((nodes.n_nodes, parts.shape[1]), parts.dtype)
        name = "join_floats" if parts.dtype == np.float32 else "join_doubles"
        width, count = np.int32(parts.shape[1]), np.int64(out.size)
        self._each(name, out.size, (parts, nodes.first_chunk, width, out, count))
        return out


def _fours(m: Array) -> np.int32:
    """Width in vectors of four floats."""
    return np.int32(m.shape[1] // 4)
