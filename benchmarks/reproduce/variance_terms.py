"""The bias/variance terms of a randomised learner, estimated from nested repetitions.

There are several learning samples, several projections per sample and several trees per projection.
A nested analysis of variance gives unbiased estimates: each level is corrected for the variance of
the levels inside it. Standard errors come from leaving out one learning sample at a time.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Statistics = dict[str, float]


@dataclass(frozen=True, eq=False)
class NestedSample:
    """Statistics of one learning sample.

    These are the variance over the trees of a projection, the variance over projections of the mean
    of their trees, and the mean of all predictions, (n_points, n_outputs).
    """

    over_trees: float
    over_projections: float
    mean: Array

    @classmethod
    def of(cls, predictions: Array) -> "NestedSample":
        """Compute from predictions, (n_projections, n_trees, n_points, n_outputs)."""
        return cls(
            over_trees=float(np.mean([spread(trees) for trees in predictions])),
            over_projections=spread(predictions.mean(axis=1)),
            mean=predictions.mean(axis=(0, 1)),
        )


def spread(predictions: Array) -> float:
    """Compute the unbiased variance over the first axis, summed over outputs, mean over points."""
    return float(predictions.var(axis=0, ddof=1).sum(axis=-1).mean())


def squared_error(predictions: Array, truth: Array) -> float:
    """Compute the mean squared distance to the truth."""
    return float(((predictions - truth) ** 2).sum(axis=-1).mean())


def variance_terms(
    samples: list[NestedSample], n_projections: int, n_trees: int, truth: Array
) -> Statistics:
    """Estimate the squared bias, V_LS, V_proj and V_algo."""
    over_trees = float(np.mean([sample.over_trees for sample in samples]))
    over_projections = float(np.mean([sample.over_projections for sample in samples]))
    means = np.array([sample.mean for sample in samples])
    over_samples = spread(means)
    return {
        # Correct for the variance of a mean of finitely many samples.
        "bias": squared_error(means.mean(axis=0), truth) - over_samples / len(samples),
        "v_ls": over_samples - over_projections / n_projections,
        "v_proj": over_projections - over_trees / n_trees,
        "v_algo": over_trees,
    }


def predicted_variance(terms: Statistics, algorithm: int, t: int) -> float:
    """Predict the variance of t trees given the sample: only algorithm 2 averages V_proj."""
    if algorithm == 1:
        return terms["v_algo"] / t + terms["v_proj"]
    return (terms["v_algo"] + terms["v_proj"]) / t


def predicted_error(terms: Statistics, algorithm: int, t: int) -> float:
    """Predict the expected squared distance to the Bayes predictor."""
    return terms["bias"] + terms["v_ls"] + predicted_variance(terms, algorithm, t)


def jackknife(
    statistics: Callable[[list[int]], Statistics], n_samples: int
) -> tuple[Statistics, Statistics]:
    """Compute statistics of all samples, and their jackknife standard errors."""
    everything = list(range(n_samples))
    left_out = [statistics([j for j in everything if j != i]) for i in everything]
    errors = {}
    for name in left_out[0]:
        values = np.array([one[name] for one in left_out])
        errors[name] = float(np.sqrt((n_samples - 1) * values.var()))
    return statistics(everything), errors
