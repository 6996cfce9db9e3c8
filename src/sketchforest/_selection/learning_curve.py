"""Learning curves over the number of trees, extrapolated from small forests to large ones.

Trees of a setting are independent, so the expected squared error of t trees is exactly a + b / t.
Ranking scores are different, as most labels are tied with a handful of trees. From two trees on,
they closely follow a - b / (t + offset).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sketchforest._utils.lazy import locked_property

# Error of the hyperbola, as a share of the gain that it predicts.
MODEL_ERROR = 0.08
# On 14 sets, the offset of LRAP was about this number (by min_samples_leaf) divided by the score of
# a forest of two trees: if two trees rank little, it takes many to rank anything.
USUAL_OFFSETS, USUAL_OFFSET_OF_LARGE_LEAVES = {1: 0.65, 2: 0.3}, 0.2
LOWEST_SCORE = 0.05
# Relative deviation of offsets from this on another problem, and between settings of one problem;
# and the smallest absolute one.
SPREAD_OF_PROBLEMS, SPREAD_OF_SETTINGS = 1.0, 0.3
LEAST_SPREAD = 0.5


@dataclass(frozen=True)
class LearningCurve:
    """Scores of forests of three sizes and of all trees, as sums and counts per group of rows."""

    sizes: np.ndarray  # (3,) ascending
    points: np.ndarray  # (3, 2, n_groups) of rows with enough trees for all sizes
    blocks: np.ndarray  # scores of disjoint forests of the smallest size
    whole: np.ndarray  # (2, n_groups) of all trees that did not see each row
    n_trees_of_row: np.ndarray

    @locked_property
    def offset(self) -> tuple[float, float]:
        """The offset of the hyperbola through the three sizes, and its standard error."""
        offsets = _offsets(self.sizes, without_groups(self.points))
        lowest, highest = _offset_limits(self.sizes)
        if not lowest < offsets[-1] < highest:
            return float(offsets[-1]), np.inf  # too noisy
        return float(offsets[-1]), float(np.sqrt(_jackknife(offsets[:-1])))


def _offsets(sizes: np.ndarray, scores: np.ndarray) -> np.ndarray:
    small, middle, large = sizes
    lowest, highest = _offset_limits(sizes)
    first, second = np.diff(scores, axis=0)
    with np.errstate(all="ignore"):
        ratio = second / first * (middle - small) / (large - middle)
        offsets = (ratio * large - small) / (1 - ratio)
    # With a ratio of 1 or more, the curve does not flatten yet.
    offsets = np.where(ratio >= 1, highest, offsets)
    return np.clip(np.nan_to_num(offsets, nan=0.0), lowest, highest)


def _offset_limits(sizes: np.ndarray) -> tuple[float, float]:
    return -0.8 * sizes[0], 2.0 * sizes[-1]


def usual_offset(
    curve: LearningCurve, alike: Sequence[LearningCurve], min_samples_leaf: int
) -> tuple[float, float]:
    """The offset to expect from similar curves, with its standard error.

    One noisy curve says little about its offset, so settings with the same min_samples_leaf share
    an estimate, which starts from that of other problems.
    """
    factor = USUAL_OFFSETS.get(min_samples_leaf, USUAL_OFFSET_OF_LARGE_LEAVES)
    ratios = [other.offset[0] / _offset_of_kind(other, factor) for other in alike]
    usual = float(np.median([1, 1, *ratios])) * _offset_of_kind(curve, factor)
    spread = max(LEAST_SPREAD, SPREAD_OF_PROBLEMS * abs(usual))
    return usual, spread / float(np.sqrt(len(alike)))


def _offset_of_kind(curve: LearningCurve, factor: float) -> float:
    sums, counts = curve.points[0]
    return factor / float(np.clip(sums.sum() / counts.sum(), LOWEST_SCORE, 1))


@dataclass(frozen=True)
class PredictedScore:
    score: float
    current: float  # of the existing trees
    without_group: np.ndarray  # the score without each group of rows
    blocks: np.ndarray
    block_size: float
    own_variance: float  # from the setting's own offset
    common_variance: float  # from the offset shared by similar settings
    is_exact: bool

    @property
    def gain(self) -> float:
        return self.score - self.current

    @property
    def se(self) -> float:
        variance = _jackknife(self.without_group) + _mean_variance(self.blocks)
        variance += self.own_variance + self.common_variance
        return float(np.sqrt(variance + self._unexplained(self.gain)))

    def lead_over(self, other: "PredictedScore") -> tuple[float, float]:
        """The difference in score, and its standard error from paired rows."""
        variance = _jackknife(self.without_group - other.without_group)
        if self.block_size == other.block_size and len(self.blocks) == len(other.blocks):
            variance += _mean_variance(self.blocks - other.blocks)
        else:
            variance += _mean_variance(self.blocks) + _mean_variance(other.blocks)
        variance += self.own_variance + other.own_variance
        variance += self._unexplained(self.gain - other.gain)
        return self.score - other.score, float(np.sqrt(variance))

    def shifted(self, gain: float, se: float) -> "PredictedScore":
        """The score of a forest that is expected to be better by `gain` but has no trees yet."""
        return replace(
            self,
            score=self.score + gain,
            current=self.current + gain,
            without_group=self.without_group + gain,
            own_variance=self.own_variance + se**2,
        )

    def _unexplained(self, gain: float) -> float:
        return 0.0 if self.is_exact else (MODEL_ERROR * gain) ** 2


def predict_score(
    curve: LearningCurve, n_trees: int, common: tuple[float, float], is_exact: bool
) -> PredictedScore:
    """Extrapolate a curve to `n_trees` trees.

    `common` is the offset of similar curves, with its standard error. `is_exact` means that the
    curve is linear in 1 / t.
    """
    offset = own_se = common_se = 0.0
    if not is_exact:
        # The more precise the offset of the curve itself, the less the others count.
        spread = max(LEAST_SPREAD, SPREAD_OF_SETTINGS * abs(common[0]))
        trust = spread**2 / (spread**2 + curve.offset[1] ** 2)
        offset = trust * curve.offset[0] + (1 - trust) * common[0]
        own_se, common_se = spread * np.sqrt(1 - trust), (1 - trust) * common[1]
    scores = _follow(curve, n_trees, offset)
    return PredictedScore(
        score=float(scores[-1]),
        current=float(curve.whole[0].sum() / curve.whole[1].sum()),
        without_group=scores[:-1],
        blocks=curve.blocks,
        block_size=float(curve.sizes[0]),
        own_variance=_offset_variance(curve, n_trees, offset, own_se),
        common_variance=_offset_variance(curve, n_trees, offset, common_se),
        is_exact=is_exact,
    )


def _offset_variance(curve: LearningCurve, n_trees: int, offset: float, offset_se: float) -> float:
    """The variance of the score, given the standard error of the offset."""
    lowest, _ = _offset_limits(curve.sizes)
    low, high = (
        _follow(curve, n_trees, max(lowest, offset + s))[-1] for s in (-offset_se, offset_se)
    )
    return float(((high - low) / 2) ** 2)


def _follow(curve: LearningCurve, n_trees: int, offset: float) -> np.ndarray:
    """(n_groups + 1,) scores of `n_trees` trees without each group of rows, and of all rows."""
    place = 1 / (curve.sizes + offset)
    centred = place - place.mean()
    # Along the curve, from the trees that each row has to `n_trees`.
    n_trees_of_row = np.maximum(curve.n_trees_of_row, curve.sizes[0])
    missing = np.mean(1 / (n_trees_of_row + offset)) - 1 / (n_trees + offset)
    slopes = centred @ without_groups(curve.points) / (centred @ centred)
    scores: np.ndarray = without_groups(curve.whole) - slopes * missing
    return scores


def without_groups(sums_and_counts: np.ndarray) -> np.ndarray:
    """(..., n_groups + 1) means without each group, and of all rows."""
    sums, counts = sums_and_counts[..., 0, :], sums_and_counts[..., 1, :]
    total, n_rows = sums.sum(axis=-1, keepdims=True), counts.sum(axis=-1, keepdims=True)
    left = np.maximum(n_rows - counts, 1)
    return np.concatenate([(total - sums) / left, total / n_rows], axis=-1)


def _jackknife(without_group: np.ndarray) -> float:
    """The variance of an estimate, from its values without each group."""
    return float((len(without_group) - 1) * np.var(without_group))


def _mean_variance(values: np.ndarray) -> float:
    return float(np.var(values, ddof=1) / len(values))
