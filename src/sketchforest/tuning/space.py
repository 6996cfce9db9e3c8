"""The search space of all estimators."""

from collections.abc import Collection, Iterable, Iterator

from sketchforest._selection.setting import Setting
from sketchforest.tuning.axis_aligned_space import AxisAlignedSpace
from sketchforest.tuning.mixed_space import MixedSpace
from sketchforest.tuning.values import GivenValues, check_values


class Space:
    """Settings of the estimators for a problem.

    Estimators in `mixed` combine oblique trees with extra-trees. Values in `given` replace the
    defaults.
    """

    def __init__(
        self,
        estimators: Iterable[str],
        n_features: int,
        n_labels: int,
        given: GivenValues | None = None,
        mixed: Collection[str] = (),
    ):
        given = given or {}
        check_values(given, has_mixed=bool(mixed))
        size = n_features, n_labels
        self._mixed = {name: MixedSpace(name, *size, given) for name in estimators if name in mixed}
        others = [name for name in estimators if name not in mixed]
        self._others = AxisAlignedSpace(others, *size, given) if others else None

    def starts(self) -> list[Setting]:
        """Settings to start with: the default one, then a promising one of each estimator."""
        starts = [space.usual for space in self._mixed.values()]
        if self._others is not None:
            starts += ([] if starts else [self._others.usual]) + self._others.promising
        return list(dict.fromkeys(starts))

    @property
    def promising(self) -> Setting:
        """The most promising of them."""
        return self.starts()[0 if self._mixed else -1]

    def neighbours(self, setting: Setting) -> Iterator[Setting]:
        """Settings of the same estimator one step away, most promising first."""
        space = self._mixed.get(setting.estimator, self._others)
        assert space is not None
        return space.neighbours(setting)
