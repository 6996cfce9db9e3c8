"""The search space of random forests and extra-trees: values, and steps between them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sketchforest._estimators.parameters import n_features_sampled
from sketchforest._selection.setting import Setting
from sketchforest.projection import resolve_n_components, resolve_projection
from sketchforest.tuning.values import GivenValues

PROJECTIONS = ("gaussian", "rademacher", "subsample")
COMPONENTS, PROMISING_COMPONENTS = (1, 8, 32, 128, 512), 32
# Times the square root of the number of features.
FEATURE_FACTORS = (0.5, 1, 2, 4, 8, 16)
LEAVES = (1, 2, 3, 5, 10)
# Steps from the defaults to a setting that was better on most of eight sets.
BOLD = {"max_features": 2, "min_samples_leaf": 1}
# The parameter to change, and by how many levels; the largest average gains come first.
STEPS = (
    ("max_features", 1),
    ("min_samples_leaf", 1),
    ("estimator", 1),
    ("outputs", 1),
    ("max_features", -1),
    ("min_samples_leaf", -1),
    ("n_components", -1),
    ("n_components", 1),
)


class AxisAlignedSpace:
    """Values of the parameters for a problem; those in `given` replace the defaults."""

    def __init__(
        self, estimators: Sequence[str], n_features: int, n_labels: int, given: GivenValues
    ):
        self._estimators = tuple(estimators)
        self._projections = list(given.get("projection", (*PROJECTIONS, None)))
        for projection in self._projections:
            resolve_projection(projection)
        components = given.get("n_components", [m for m in COMPONENTS if m < n_labels] or [1])
        resolved = [resolve_n_components(m, n_labels) for m in components]
        self._components = sorted({n_labels if m is None else m for m in resolved})
        root = n_features_sampled("sqrt", n_features)
        features = given.get("max_features", [max(1, round(f * root)) for f in FEATURE_FACTORS])
        self._features = sorted({n_features_sampled(k, n_features) for k in features})
        self._leaves = sorted({int(leaf) for leaf in given.get("min_samples_leaf", LEAVES)})
        self._usual_features = min(self._features, key=lambda k: abs(k - root))
        self._usual_components = min(self._components, key=lambda m: abs(m - PROMISING_COMPONENTS))

    @property
    def usual(self) -> Setting:
        return self._start(self._estimators[0], {})

    @property
    def promising(self) -> list[Setting]:
        """One setting per estimator, most promising last."""
        return [self._start(estimator, BOLD) for estimator in self._estimators]

    def _start(self, estimator: str, steps: Mapping[str, int]) -> Setting:
        few_labels = self._components[-1] < PROMISING_COMPONENTS
        named = [p for p in self._projections if p is not None]
        keeps_outputs = not named or (None in self._projections and few_labels)
        setting = Setting(
            estimator,
            None if keeps_outputs else named[0],
            None if keeps_outputs else self._usual_components,
            self._usual_features,
            self._leaves[0],
        )
        for name, n_steps in steps.items():
            setting = self._moved(setting, name, n_steps, clip=True) or setting
        return setting

    def neighbours(self, setting: Setting) -> Iterator[Setting]:
        """Settings one step away, most promising first."""
        others = [name for name in self._estimators if name != setting.estimator]
        for name, n_steps in STEPS:
            if name == "estimator":
                yield from (replace(setting, estimator=other) for other in others)
            elif name == "outputs":
                if None in self._projections and setting.projection is not None:
                    yield replace(setting, projection=None, n_components=None)
            else:
                moved = self._moved(setting, name, n_steps)
                if moved is not None:
                    yield moved
        if setting.projection is not None:
            for projection in self._projections:
                if projection not in (None, setting.projection):
                    yield replace(setting, projection=projection)

    def _moved(
        self, setting: Setting, name: str, n_steps: int, clip: bool = False
    ) -> Setting | None:
        if name == "n_components":
            return self._with_components(setting, n_steps)
        levels = self._features if name == "max_features" else self._leaves
        place = levels.index(getattr(setting, name)) + n_steps
        if clip:
            place = min(max(place, 0), len(levels) - 1)
        if not 0 <= place < len(levels):
            return None
        if name == "max_features":
            return replace(setting, max_features=levels[place])
        return replace(setting, min_samples_leaf=levels[place])

    def _with_components(self, setting: Setting, n_steps: int) -> Setting | None:
        """Beyond the largest number of components, use the original outputs."""
        named = [p for p in self._projections if p is not None]
        levels: list[int | None] = [*self._components] if named else []
        if None in self._projections:
            levels.append(None)
        place = levels.index(setting.n_components) + n_steps
        if not 0 <= place < len(levels):
            return None
        m = levels[place]
        projection = None if m is None else setting.projection or named[0]
        return replace(setting, n_components=m, projection=projection)
