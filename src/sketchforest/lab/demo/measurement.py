"""What one forest of the demo costs and how well it ranks."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from joblib import effective_n_jobs
from sklearn.ensemble import RandomForestRegressor

from sketchforest import RandomForestClassifier
from sketchforest.datasets import Dataset
from sketchforest.lab.measure import pickled_size, ranking_quality, timed


@dataclass(frozen=True)
class Measurement:
    """Cost and quality of ``n_estimators`` trees, of which ``n_grown`` were really grown.

    ``n_components`` is None on the original outputs; ``lrap`` and ``precision`` (at 1, 3 and 5)
    are None where they were not measured.
    """

    package: str
    n_components: int | None
    n_estimators: int
    n_grown: int
    fit_seconds: float
    n_bytes: int
    lrap: float | None = None
    precision: tuple[float, ...] | None = None

    def scaled_to(self, n_estimators: int) -> "Measurement":
        """Time and size of more trees of the same kind; the quality of more trees is unknown."""
        if n_estimators == self.n_estimators:
            return self
        factor = n_estimators / self.n_estimators
        return replace(
            self,
            n_estimators=n_estimators,
            fit_seconds=self.fit_seconds * factor,
            n_bytes=round(self.n_bytes * factor),
            lrap=None,
            precision=None,
        )


def measure_sketchforest(
    data: Dataset, n_components: int | None, n_estimators: int, n_jobs: int, seed: int
) -> Measurement:
    train, test = data.splits["train"], data.splits["test"]
    forest = RandomForestClassifier(
        n_estimators=n_estimators,
        max_features="sqrt",
        n_jobs=n_jobs,
        random_state=seed,
        projection=None if n_components is None else "gaussian",
        n_components=n_components,
    )
    fit_seconds, _ = timed(partial(forest.fit, data.X[train], data.Y[train]))
    lrap, precision = ranking_quality(data.Y[test], np.asarray(forest.predict_proba(data.X[test])))
    return Measurement(
        package="sketchforest",
        n_components=n_components,
        n_estimators=n_estimators,
        n_grown=n_estimators,
        fit_seconds=fit_seconds,
        n_bytes=pickled_size(forest),
        lrap=lrap,
        precision=precision,
    )


def measure_sklearn(data: Dataset, n_estimators: int, n_jobs: int, seed: int) -> Measurement:
    # Fewer trees than jobs would leave cores idle, and scaling would blame the forest for it.
    n_grown = min(n_estimators, effective_n_jobs(n_jobs))
    train, test = data.splits["train"], data.splits["test"]
    forest = RandomForestRegressor(
        n_estimators=n_grown, max_features="sqrt", n_jobs=n_jobs, random_state=seed
    )
    # Dense: it refuses sparse outputs, and grows no faster on sparse features.
    X, Y = data.X[train].toarray(), data.Y[train].toarray()
    fit_seconds, _ = timed(partial(forest.fit, X, Y))
    lrap, precision = ranking_quality(data.Y[test], forest.predict(data.X[test].toarray()))
    return Measurement(
        package="scikit-learn",
        n_components=None,
        n_estimators=n_grown,
        n_grown=n_grown,
        fit_seconds=fit_seconds,
        n_bytes=pickled_size(forest),
        lrap=lrap,
        precision=precision,
    ).scaled_to(n_estimators)
