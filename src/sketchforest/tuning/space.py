"""The search space: values of the parameters, and steps from one setting to the next."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypedDict

from sketchforest._estimators.constructors import MaxFeatures, NComponents
from sketchforest._estimators.parameters import n_features_sampled
from sketchforest._selection.setting import SEARCHED, SEARCHED_IN_MIXED, Setting
from sketchforest.projection import ProjectionLike, resolve_n_components, resolve_projection

# Random forests and extra-trees. Numbers of features are times the square root of all.
PROJECTIONS = ("gaussian", "rademacher", "subsample", None)
COMPONENTS, PROMISING_COMPONENTS = (1, 8, 32, 128, 512), 32
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
# Mixed forests. None is the default of the estimator. Numbers of features are times the default.
OBLIQUE, USUAL_OBLIQUE = (0.3, 0.5, 0.7, 0.85, 1.0), 0.7
RIDGES, USUAL_RIDGE = (0.5, 1.0, 2.0, 5.0, 20.0), 2.0
MIXED_SPLITS = (4, 6, None, 20, 40)
MIXED_COMPONENTS = (16, None, 256)
MIXED_FEATURE_FACTORS = (0.25, 1, 4)
MIXED_STEPS = (
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


class GivenValues(TypedDict, total=False):
    """Lists of values that replace ours; the last three are for mixed forests."""

    projection: Sequence[ProjectionLike]
    n_components: Sequence[NComponents]
    max_features: Sequence[MaxFeatures]
    min_samples_leaf: Sequence[int]
    oblique: Sequence[float]
    ridge: Sequence[float]
    min_samples_split: Sequence[int]


class Space:
    """Settings of the estimators for a problem.

    Estimators in `mixed` combine oblique trees with extra-trees. Values in `given` replace the
    defaults.
    """

    def __init__(
        self,
        estimators: Collection[str],
        n_features: int,
        n_labels: int,
        given: GivenValues | None = None,
        mixed: Collection[str] = (),
    ):
        given = given or {}
        known = (*SEARCHED, *SEARCHED_IN_MIXED) if mixed else SEARCHED
        for name in sorted(given):
            values = given[name]  # type: ignore[literal-required]
            if name not in known:
                raise ValueError(f"space must have keys among {', '.join(known)}; got {name!r}.")
            if isinstance(values, str) or not len(values):
                raise ValueError(f"space[{name!r}] must be a list of values; got {values!r}.")
        size = n_features, n_labels
        self._mixed = {name: _Mixed(name, *size, given) for name in estimators if name in mixed}
        others = [name for name in estimators if name not in mixed]
        self._others = _AxisAligned(others, *size, given) if others else None

    def starts(self) -> list[Setting]:
        """Settings to start with: the default one, then a promising one of each estimator."""
        starts = [space.usual for space in self._mixed.values()]
        if self._others is not None:
            starts += ([] if starts else [self._others.usual]) + self._others.promising
        return list(dict.fromkeys(starts))

    @property
    def promising(self) -> Setting:
        """The most promising start."""
        return self.starts()[0 if self._mixed else -1]

    def neighbors(self, setting: Setting) -> Iterator[Setting]:
        """Settings of the same estimator one step away, most promising first."""
        space = self._mixed.get(setting.estimator, self._others)
        assert space is not None
        return space.neighbors(setting)


class _Levels:
    """The values of each parameter in order, and steps between them."""

    def __init__(self, projections: Sequence[ProjectionLike], levels: dict[str, list[Any]]):
        for projection in projections:
            resolve_projection(projection)
        self._projections, self._levels = list(projections), levels

    def _moved(
        self, setting: Setting, name: str, n_steps: int, clip: bool = False
    ) -> Setting | None:
        levels, value = self._levels[name], getattr(setting, name)
        if value not in levels:  # n_components of the original outputs is None
            return None
        place = levels.index(value) + n_steps
        if clip:
            place = min(max(place, 0), len(levels) - 1)
        if not 0 <= place < len(levels):
            return None
        return self._with_level(setting, name, levels[place])

    def _with_level(self, setting: Setting, name: str, level: Any) -> Setting:
        return replace(setting, **{name: level})

    def _start(self, name: str, usual: float | None) -> Any:
        """The level to start from: None, the default of the estimator, if it is a level."""
        levels = self._levels[name]
        if usual is None or None in levels:
            return None if None in levels else levels[len(levels) // 2]
        return min(levels, key=lambda level: abs(level - usual))


class _AxisAligned(_Levels):
    """Random forests and extra-trees. A last level of n_components is the original outputs."""

    def __init__(
        self, estimators: Sequence[str], n_features: int, n_labels: int, given: GivenValues
    ):
        projections = list(given.get("projection", PROJECTIONS))
        components = given.get("n_components", [m for m in COMPONENTS if m < n_labels] or [1])
        resolved = [resolve_n_components(m, n_labels) for m in components]
        self._components = sorted({n_labels if m is None else m for m in resolved})
        root = n_features_sampled("sqrt", n_features)
        features = given.get("max_features", [max(1, round(f * root)) for f in FEATURE_FACTORS])
        leaves = given.get("min_samples_leaf", LEAVES)
        self._named = [p for p in projections if p is not None]
        m_levels: list[int | None] = [*self._components] if self._named else []
        levels: dict[str, list[Any]] = {
            "n_components": m_levels + ([None] if None in projections else []),
            "max_features": sorted({n_features_sampled(k, n_features) for k in features}),
            "min_samples_leaf": sorted({int(leaf) for leaf in leaves}),
        }
        super().__init__(projections, levels)
        few_labels = self._components[-1] < PROMISING_COMPONENTS
        keeps_outputs = not self._named or (None in projections and few_labels)
        m = min(self._components, key=lambda m: abs(m - PROMISING_COMPONENTS))
        self._usual = [
            Setting(
                estimator,
                None if keeps_outputs else self._named[0],
                None if keeps_outputs else m,
                self._start("max_features", root),
                levels["min_samples_leaf"][0],
            )
            for estimator in estimators
        ]
        self.usual, self.promising = self._usual[0], list(map(self._bold, self._usual))

    def _bold(self, setting: Setting) -> Setting:
        for name, n_steps in BOLD.items():
            setting = self._moved(setting, name, n_steps, clip=True) or setting
        return setting

    def neighbors(self, setting: Setting) -> Iterator[Setting]:
        for name, n_steps in STEPS:
            if name == "estimator":
                others = [usual.estimator for usual in self._usual]
                yield from (
                    replace(setting, estimator=other)
                    for other in others
                    if other != setting.estimator
                )
            elif name == "outputs":
                if None in self._projections and setting.projection is not None:
                    yield replace(setting, projection=None, n_components=None)
            elif (moved := self._moved(setting, name, n_steps)) is not None:
                yield moved
        if setting.projection is not None:
            for projection in self._named:
                if projection != setting.projection:
                    yield replace(setting, projection=projection)

    def _with_level(self, setting: Setting, name: str, level: Any) -> Setting:
        moved = super()._with_level(setting, name, level)
        if name != "n_components":
            return moved
        projection = None if level is None else setting.projection or self._named[0]
        return replace(moved, projection=projection)


class _Mixed(_Levels):
    """One forest of oblique trees and extra-trees."""

    def __init__(self, estimator: str, n_features: int, n_labels: int, given: GivenValues):
        k = n_features_sampled("4sqrt", n_features)
        features = given.get("max_features", [max(1, round(f * k)) for f in MIXED_FEATURE_FACTORS])
        components = given.get("n_components", MIXED_COMPONENTS)
        levels: dict[str, list[Any]] = {
            "oblique": [float(share) for share in given.get("oblique", OBLIQUE)],
            "ridge": [float(ridge) for ridge in given.get("ridge", RIDGES)],
            "min_samples_split": [*given.get("min_samples_split", MIXED_SPLITS)],
            "n_components": [resolve_n_components(m, n_labels) for m in components],
            "max_features": sorted({n_features_sampled(each, n_features) for each in features}),
            "min_samples_leaf": [*given.get("min_samples_leaf", [None])],
        }
        levels = {name: list(dict.fromkeys(values)) for name, values in levels.items()}
        super().__init__(given.get("projection", ["gaussian"]), levels)
        usual = {"oblique": USUAL_OBLIQUE, "ridge": USUAL_RIDGE, "max_features": k}
        start = {name: self._start(name, usual.get(name)) for name in levels}
        self.usual = _consistent(Setting(estimator, self._projections[0], **start))

    def neighbors(self, setting: Setting) -> Iterator[Setting]:
        for name, n_steps in MIXED_STEPS:
            moved = self._moved(setting, name, n_steps)
            if moved is not None:
                yield _consistent(moved)
        for projection in self._projections:
            if projection != setting.projection:
                m = setting.n_components or self.usual.n_components
                yield _consistent(replace(setting, projection=projection, n_components=m))


def _consistent(setting: Setting) -> Setting:
    return setting if setting.projection is not None else replace(setting, n_components=None)
