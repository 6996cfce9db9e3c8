"""The nodes of a level: rows in their order, in chunks that sums are made of."""

from dataclasses import dataclass
from typing import Any

Array = Any  # of NumPy or of CuPy

# Rows of a chunk, at most: enough to be worth a sum of its own, and few, so that there are many.
CHUNK_ROWS = 128


@dataclass(frozen=True)
class Nodes:
    """Node k has the rows [start[k], start[k + 1]), at least one."""

    start: Array  # (n_nodes + 1,) int32
    node: Array  # (n_rows,) int32
    chunk_node: Array  # (n_chunks,) int32
    chunk_begin: Array
    chunk_end: Array
    first_chunk: Array  # (n_nodes + 1,) int32

    @classmethod
    def of_sizes(cls, xp: Any, size: Array, chunk_rows: int = CHUNK_ROWS) -> "Nodes":
        start = starts(xp, size)
        n_chunks = (size + chunk_rows - 1) // chunk_rows
        first_chunk = starts(xp, n_chunks)
        chunk_node = owners(xp, first_chunk)
        place = xp.arange(len(chunk_node), dtype=xp.int32) - first_chunk[chunk_node]
        begin = start[chunk_node] + chunk_rows * place
        return cls(
            start=start,
            node=owners(xp, start),
            chunk_node=chunk_node,
            chunk_begin=begin,
            chunk_end=xp.minimum(begin + chunk_rows, start[chunk_node + 1]),
            first_chunk=first_chunk,
        )

    @property
    def n_nodes(self) -> int:
        return len(self.start) - 1

    @property
    def size(self) -> Array:
        return self.start[1:] - self.start[:-1]


def starts(xp: Any, sizes: Array) -> Array:
    """The first place of each node, and the end of the last."""
    found = xp.zeros(len(sizes) + 1, xp.int32)
    found[1:] = xp.cumsum(sizes, dtype=xp.int32)
    return found


def owners(xp: Any, start: Array) -> Array:
    """The node of each place; every node must have at least one."""
    marks = xp.zeros(int(start[-1]), xp.int32)
    marks[start[1:-1]] = 1
    return xp.cumsum(marks, dtype=xp.int32)
