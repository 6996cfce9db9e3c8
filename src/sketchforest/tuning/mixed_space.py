"""The search space of mixed forests: values, and steps between them."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sketchforest._estimators.parameters import n_features_sampled
from sketchforest._selection.setting import Setting
from sketchforest.projection import resolve_n_components, resolve_projection
from sketchforest.tuning.values import GivenValues

OBLIQUE, USUAL_OBLIQUE = (0.3, 0.5, 0.7, 0.85, 1.0), 0.7
RIDGES, USUAL_RIDGE = (0.5, 1.0, 2.0, 5.0, 20.0), 2.0
# None is the default of the estimator.
SPLITS: tuple[int | None, ...] = (4, 6, None, 20, 40)
COMPONENTS: tuple[int | None, ...] = (16, None, 256)
# Times the default number of features, which is four times the square root of all.
FEATURE_FACTORS = (0.25, 1, 4)
# The parameter to change, and by how many levels, in the order of trial.
STEPS = (
    ("oblique", -1),
    ("min_samples_split", -1),
    ("ridge", 1),
    ("n_components", 1),
    ("oblique", 1),
    ("min_samples_split", 1),
    ("ridge", -1),
    ("max_features", 1),
    ("n_components", -1),
    ("max_features", -1),
    ("min_samples_leaf", 1),
    ("min_samples_leaf", -1),
)


class MixedSpace:
    """Values of the parameters of one estimator; those in `given` replace the defaults."""

    def __init__(self, estimator: str, n_features: int, n_labels: int, given: GivenValues):
        k = n_features_sampled("4sqrt", n_features)
        features = given.get("max_features", [max(1, round(f * k)) for f in FEATURE_FACTORS])
        components = given.get("n_components", COMPONENTS)
        levels: dict[str, list[int | float | None]] = {
            "oblique": [float(share) for share in given.get("oblique", OBLIQUE)],
            "ridge": [float(ridge) for ridge in given.get("ridge", RIDGES)],
            "min_samples_split": [*given.get("min_samples_split", SPLITS)],
            "n_components": [resolve_n_components(m, n_labels) for m in components],
            "max_features": [*sorted({n_features_sampled(each, n_features) for each in features})],
            "min_samples_leaf": [*given.get("min_samples_leaf", [None])],
        }
        self._levels = {name: list(dict.fromkeys(values)) for name, values in levels.items()}
        self._projections = list(given.get("projection", ["gaussian"]))
        for projection in self._projections:
            resolve_projection(projection)
        usual = {"oblique": USUAL_OBLIQUE, "ridge": USUAL_RIDGE, "max_features": k}
        start: dict[str, Any] = {
            name: _nearest(levels, usual.get(name)) for name, levels in self._levels.items()
        }
        self.usual = self._on_outputs(Setting(estimator, self._projections[0], **start))

    def neighbours(self, setting: Setting) -> Iterator[Setting]:
        """Settings one step away."""
        for name, n_steps in STEPS:
            levels = self._levels[name]
            value = getattr(setting, name)
            if value not in levels:  # m is None on the original outputs
                continue
            place = levels.index(value) + n_steps
            if 0 <= place < len(levels):
                step: dict[str, Any] = {name: levels[place]}
                yield self._on_outputs(replace(setting, **step))
        for projection in self._projections:
            if projection != setting.projection:
                m = setting.n_components or self.usual.n_components
                yield self._on_outputs(replace(setting, projection=projection, n_components=m))

    def _on_outputs(self, setting: Setting) -> Setting:
        return setting if setting.projection is not None else replace(setting, n_components=None)


def _nearest(levels: list[int | float | None], usual: float | None) -> int | float | None:
    """The level to start from: None, the default of the estimator, if it is a level."""
    if usual is None or None in levels:
        return None if None in levels else levels[len(levels) // 2]
    return min(levels, key=lambda level: abs((level or 0) - usual))
