"""Random streams by address.

Each stream belongs to (seed, tree, purpose). So a tree does not depend on threads, order or other
trees, and a forest grown in steps equals one grown at once.
"""

from enum import IntEnum

import numpy as np

SHARED = 2**32 - 1  # the tree number of streams that all trees share


class Purpose(IntEnum):
    BOOTSTRAP = 0
    PROJECTION = 1
    SPLITS = 2
    SCORED_ROWS = 3
    FOLDS = 4
    LINEAR = 5


class TreeSeed(int):
    """The random_state of one tree of a forest: an int that remembers the tree's random streams.

    So a clone of the tree, fitted to the rows of its bag, is the same tree.
    """

    seed: int
    tree: int

    @classmethod
    def of(cls, seed: int, tree: int) -> "TreeSeed":
        # A different int for each tree, for code that only sees the int.
        made = cls(key(seed, tree, Purpose.SPLITS) >> 33)
        made.seed, made.tree = seed, tree
        return made


def generator(seed: int, tree: int, purpose: Purpose) -> np.random.Generator:
    """The stream as a numpy generator."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, tree, purpose])))


def key(seed: int, tree: int, purpose: Purpose) -> int:
    """The stream's 64-bit key, for the native core's own counter-based generator."""
    return _hashed(seed, tree, purpose)


def part_key(of_whole: int, part: int) -> int:
    """The key of a part of a tree or part."""
    return _hashed(of_whole, part)


def _hashed(*words: int) -> int:
    return int(np.random.SeedSequence(words).generate_state(1, np.uint64)[0])
