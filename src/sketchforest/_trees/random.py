"""Random streams by address.

A stream belongs to (seed, tree, purpose), so that what a tree draws does not depend on threads, on
order, or on the other trees, and a forest grown in steps is the forest grown at once.
"""

from enum import IntEnum

import numpy as np

SHARED = 2**32 - 1  # the "tree" of what all trees share


class Purpose(IntEnum):
    BOOTSTRAP = 0
    PROJECTION = 1
    SPLITS = 2
    SCORED_ROWS = 3


class TreeSeed(int):
    """The random_state of one tree of a forest: an integer like another, which knows the streams
    that the tree was grown from. So a clone of it, fitted to the rows of its bag, is the same tree.
    """

    seed: int
    tree: int

    @classmethod
    def of(cls, seed: int, tree: int) -> "TreeSeed":
        # An integer of its own for each tree, for whoever sees no more than that.
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
    """The key of a part of what has a key."""
    return _hashed(of_whole, part)


def _hashed(*words: int) -> int:
    return int(np.random.SeedSequence(words).generate_state(1, np.uint64)[0])
