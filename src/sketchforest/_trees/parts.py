"""Large trees are grown in parts, by several threads.

A part is a node with everything below it, grown as a tree from its own random stream. So it is the
same whichever thread grows it, and when. Parts begin where the core would renumber the rows of a
node anyway, so they cost next to nothing.

The largest nodes are worked on by all threads, one after the other. Those of an oblique tree share
products with all rows of a node, so its parts are smaller; those of other trees share features, or
the rows where all features are searched at once.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from sketchforest import _core
from sketchforest._trees.encoding import MOST_FEATURES
from sketchforest._trees.model import Forest, Tree
from sketchforest._trees.parallel import run_blocks
from sketchforest._trees.random import part_key

# Trees and parts of up to this many rows are grown as a whole.
WHOLE_TREE_ROWS = 1 << 16
WHOLE_PART_ROWS = 1 << 14
# A part has at most this share of the rows of the part above it; nodes of few rows stay in it.
LARGEST_SHARE = 1 / 4
LARGEST_OBLIQUE_SHARE = 1 / 16
LEAST_ROWS = 1 << 10
# Rows of a node that a thread takes at a time.
PIECE_ROWS = 1 << 12
# A node of fewer rows is searched by one thread: others would take as long to wake up.
SHARED_ROWS = 1 << 12


@dataclass(frozen=True)
class Part:
    """A node to grow. `positions` are those of its rows in the bag; None means all."""

    positions: np.ndarray | None
    n_rows: int
    key: int  # of its random stream
    depth: int = 0
    is_shared: bool = False  # by threads, in all of its largest nodes

    @property
    def is_large(self) -> bool:
        return self.n_rows > (WHOLE_PART_ROWS if self.depth else WHOLE_TREE_ROWS)

    @property
    def sizes_below(self) -> _core.PartSizes:
        """The sizes of nodes that are left as leaves, to become parts."""
        share = LARGEST_OBLIQUE_SHARE if self.is_shared else LARGEST_SHARE
        return _core.PartSizes(LEAST_ROWS, int(self.n_rows * share) if self.is_large else 0)

    @property
    def piece_rows(self) -> int:
        return PIECE_ROWS if self.is_large else 0

    @property
    def shared_rows(self) -> int:
        return SHARED_ROWS


# Grows a part on some threads. Returns its tree, whose members are positions among the part's rows,
# and (leaf, depth) of each leaf that is a part in turn.
GrowPart: TypeAlias = Callable[..., tuple[Tree, np.ndarray]]  # grow(part, n_threads=...)


def grow_in_parts(
    grow: GrowPart, root: Part, n_threads: int, on_abort: Callable[[], None] = lambda: None
) -> Tree:
    """Grow the whole tree; its members are positions in the bag."""
    parts, trees, leaves = [root], list[Tree](), list[tuple[int, int]]()
    while len(trees) < len(parts):
        waiting = parts[len(trees) :]
        if len(waiting) == 1:  # most trees have one part
            grown = [grow(waiting[0], n_threads=n_threads)]
        else:
            grown = _largest_first(grow, waiting, n_threads, on_abort)
        for part, (grown_tree, below) in zip(waiting, grown, strict=True):
            tree = grown_tree
            if part.positions is not None:  # members become positions in the bag
                tree = replace(tree, members=part.positions[tree.members])
            parts.extend(_parts_below(part, tree, below))
            leaves.extend((len(trees), leaf) for leaf in below[:, 0].tolist())
            trees.append(tree)
    return _joined(parts, trees, np.array(leaves)) if leaves else trees[0]


def _parts_below(part: Part, tree: Tree, leaves: np.ndarray) -> Iterator[Part]:
    for number, (leaf, depth) in enumerate(leaves.tolist()):
        begin, end = tree.member_start[leaf : leaf + 2].tolist()
        key = part_key(part.key, number)
        yield Part(tree.members[begin:end], end - begin, key, part.depth + depth)


def _largest_first(
    grow: GrowPart, parts: list[Part], n_threads: int, on_abort: Callable[[], None]
) -> list[tuple[Tree, np.ndarray]]:
    """Grow the largest parts first, so that none is waited for at the end; keep their order."""
    order = np.argsort([-part.n_rows for part in parts], kind="stable")
    tasks = [parts[place] for place in order]
    n_rows = sum(part.n_rows for part in parts)

    def grow_one(part: Part) -> tuple[Tree, np.ndarray]:
        return grow(part, n_threads=max(1, n_threads * part.n_rows // n_rows))

    grown = run_blocks(grow_one, tasks, n_jobs=n_threads, on_abort=on_abort)
    return [grown[place] for place in np.argsort(order)]


def _joined(parts: list[Part], trees: list[Tree], leaves: np.ndarray) -> Tree:
    """Join trees into one: number j of `leaves`, a pair (tree, leaf), becomes tree j + 1."""
    # Gains stay float64 until they are shares of the total.
    bare = [replace(tree, gains=None) for tree in trees]
    forest = Forest.from_trees(bare, MOST_FEATURES, parts[0].n_rows)
    nodes, member_start, members = _core.join_parts(forest, leaves)
    directions = forest.directions
    return Tree(
        nodes=nodes,
        thresholds=forest.thresholds,
        gains=np.concatenate([tree.gains for tree in trees]),
        member_start=member_start,
        members=members,
        weights=None,
        depth=max(part.depth + tree.depth for part, tree in zip(parts, trees, strict=True)),
        directions=None if directions is None else directions.between(0, len(nodes)),
    )
