"""Random forests and extra-trees for problems with very many outputs.

Splits are searched in a random projection of the labels; leaves keep training rows, so predictions
are averages of the original labels.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sketchforest.forest import (
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
        load_forest,
    )
    from sketchforest.tree import DecisionTreeClassifier, DecisionTreeRegressor

__version__ = "0.1.0"

__all__ = [
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "load_forest",
]


def __getattr__(name: str) -> Any:
    """The estimators are imported when they are asked for: `sketchforest --help` needs none."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sketchforest import forest

    globals().update({known: getattr(forest, known) for known in __all__})
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
