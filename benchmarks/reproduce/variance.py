"""The bias/variance decomposition of section 3.3, measured where the Bayes predictor is known."""

import time
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from benchmarks.experiments import Workspace
from benchmarks.reproduce.settings import ReproduceSettings
from benchmarks.reproduce.variance_terms import (
    Array,
    NestedSample,
    Statistics,
    jackknife,
    predicted_error,
    predicted_variance,
    spread,
    squared_error,
    variance_terms,
)
from sketchforest import DecisionTreeClassifier, RandomForestClassifier, __version__

_N_FEATURES, _N_LABELS, _N_POINTS = 8, 20, 60
_ALGORITHMS = (1, 2)


class NoisyLabels:
    """Independent labels with known probabilities, given the features."""

    def __init__(self, seed: int):
        rng = np.random.default_rng([seed, 11])
        self._directions = rng.normal(size=(_N_FEATURES, _N_LABELS)) * 2
        self._waves = rng.normal(size=(_N_FEATURES, _N_LABELS))
        self.points = rng.uniform(-1, 1, size=(_N_POINTS, _N_FEATURES))

    def bayes(self, X: Array) -> Array:
        """Compute P(y = 1 | x), (n_rows, n_labels)."""
        scores = X @ self._directions + np.sin(3 * X) @ self._waves - 1.5
        return 1 / (1 + np.exp(-scores))

    def draw(self, n_samples: int, rng: np.random.Generator) -> tuple[Array, Array]:
        X = rng.uniform(-1, 1, size=(n_samples, _N_FEATURES))
        return X, (rng.uniform(size=(n_samples, _N_LABELS)) < self.bayes(X)).astype(np.uint8)


@dataclass(frozen=True)
class VarianceResult:
    """Each term with its standard error, and checks of the formulas.

    A check compares a variance or an error of forests of t trees with its prediction.
    """

    terms: dict[str, list[float]]
    noise: float
    checks: list[dict[str, Any]]
    run_seconds: float


@dataclass(frozen=True)
class VarianceExperiment:
    """The terms of forests on m outputs, compared with forests of t trees by both algorithms.

    `n_components` is m. The terms come from `n_projections` projections with `n_trees` trees each,
    on each of `n_sets` learning samples. Their predictions are compared with `n_forests` separate
    forests of each size on the same samples.
    """

    table: ClassVar = "variances"
    result_type: ClassVar = VarianceResult

    n_components: int
    sizes: tuple[int, ...] = (1, 3, 10, 30)
    n_samples: int = 150
    n_sets: int = 100
    n_projections: int = 8
    n_trees: int = 8
    n_forests: int = 4
    seed: int = 0
    version: str = __version__

    @property
    def group(self) -> str:
        return "variance"

    @property
    def kind(self) -> str:
        return f"m = {self.n_components}"

    def run(self, workspace: Workspace) -> VarianceResult:
        start = time.perf_counter()
        source = NoisyLabels(self.seed)
        truth = source.bayes(source.points)
        rng = np.random.default_rng([self.seed, self.n_components])
        nested: list[NestedSample] = []
        measured: list[Statistics] = []
        for _ in range(self.n_sets):
            X, Y = source.draw(self.n_samples, rng)
            nested.append(self._nested(X, Y, source.points, rng))
            measured.append(self._measured(X, Y, source.points, truth, rng))

        def statistics(sets: list[int]) -> Statistics:
            terms = variance_terms(
                [nested[i] for i in sets], self.n_projections, self.n_trees, truth
            )
            found = {
                name: float(np.mean([measured[i][name] for i in sets])) for name in measured[0]
            }
            return {**terms, **found, **self._differences(terms, found)}

        values, errors = jackknife(statistics, self.n_sets)
        terms = ("bias", "v_ls", "v_proj", "v_algo")
        return VarianceResult(
            terms={name: [values[name], errors[name]] for name in terms},
            noise=float((truth * (1 - truth)).sum(axis=1).mean()),
            checks=[
                {
                    "algorithm": algorithm,
                    "t": t,
                    "quantity": quantity,
                    "measured": values[name],
                    "measured_se": errors[name],
                    "predicted": values[name] - values[f"{name} difference"],
                    "difference_se": errors[f"{name} difference"],
                }
                for algorithm, t, quantity, name in self._names()
            ],
            run_seconds=time.perf_counter() - start,
        )

    def _names(self) -> list[tuple[int, int, str, str]]:
        return [
            (algorithm, t, quantity, f"{quantity} {algorithm} {t}")
            for quantity in ("variance", "error")
            for t in self.sizes
            for algorithm in _ALGORITHMS
        ]

    def _differences(self, terms: Statistics, found: Statistics) -> Statistics:
        predict = {"variance": predicted_variance, "error": predicted_error}
        return {
            f"{name} difference": found[name] - predict[quantity](terms, algorithm, t)
            for algorithm, t, quantity, name in self._names()
        }

    def _nested(self, X: Array, Y: Array, points: Array, rng: np.random.Generator) -> NestedSample:
        # Given the sample and the projection, the trees of a forest are independent draws.
        forests = [self._fit(X, Y, 1, self.n_trees, rng) for _ in range(self.n_projections)]
        return NestedSample.of(
            np.array([[_predict(tree, points) for tree in f.estimators_] for f in forests])
        )

    def _measured(
        self, X: Array, Y: Array, points: Array, truth: Array, rng: np.random.Generator
    ) -> Statistics:
        found = {}
        for t in self.sizes:
            for algorithm in _ALGORITHMS:
                forests = [self._fit(X, Y, algorithm, t, rng) for _ in range(self.n_forests)]
                predictions = np.array([_predict(forest, points) for forest in forests])
                found[f"variance {algorithm} {t}"] = spread(predictions)
                found[f"error {algorithm} {t}"] = squared_error(predictions, truth)
        return found

    def _fit(
        self, X: Array, Y: Array, algorithm: int, t: int, rng: np.random.Generator
    ) -> RandomForestClassifier:
        return RandomForestClassifier(
            n_estimators=t,
            n_components=self.n_components,
            shared_projection=algorithm == 1,
            max_features=None,
            min_samples_leaf=5,
            random_state=int(rng.integers(2**31)),
        ).fit(X, Y)


def _predict(model: RandomForestClassifier | DecisionTreeClassifier, points: Array) -> Array:
    return np.asarray(model.predict_proba(points), dtype=np.float64)


def variance_experiments(settings: ReproduceSettings) -> list[VarianceExperiment]:
    if settings.quick:
        small = VarianceExperiment(1, (1, 10), n_sets=20, n_projections=4, n_trees=4)
        return [replace(small, n_components=m, seed=settings.seed) for m in (1, 5)]
    return [VarianceExperiment(m, seed=settings.seed) for m in (1, 2, 5, 20)]
