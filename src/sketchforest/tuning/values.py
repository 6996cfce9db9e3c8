"""Values to choose from that the user gives."""

from collections.abc import Sequence
from typing import TypedDict

from sketchforest._estimators.constructors import MaxFeatures, NComponents
from sketchforest._selection.setting import SEARCHED, SEARCHED_IN_MIXED
from sketchforest.projection import ProjectionLike


class GivenValues(TypedDict, total=False):
    """Lists of values; the last three are for mixed forests."""

    projection: Sequence[ProjectionLike]
    n_components: Sequence[NComponents]
    max_features: Sequence[MaxFeatures]
    min_samples_leaf: Sequence[int]
    oblique: Sequence[float]
    ridge: Sequence[float]
    min_samples_split: Sequence[int]


def check_values(given: GivenValues, *, has_mixed: bool) -> None:
    known = (*SEARCHED, *SEARCHED_IN_MIXED) if has_mixed else SEARCHED
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise ValueError(f"space must have keys among {', '.join(known)}; got {unknown[0]!r}.")
    for name in given:
        values = given[name]  # type: ignore[literal-required]
        if isinstance(values, str) or not len(values):
            raise ValueError(f"space[{name!r}] must be a list of values; got {values!r}.")
