"""The methods of the benchmark by name: what they need, how they are fitted, what they beat."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

from benchmarks.bench.adapter import ModelAdapter, Options
from benchmarks.bench.forests import sketch_forest, sklearn_forest
from benchmarks.bench.other_libraries import NapkinXC, Omikuji
from benchmarks.data import TrainTestSplit

DEFAULT_METHODS = (
    "sklearn-rf",
    "sklearn-et",
    "sklearn-z25",
    "rf",
    "rf-m25",
    "rf-m5",
    "rf-m1",
    "rf-z25",
    "et",
    "et-m5",
    "napkinxc",
    "omikuji",
)
_KINDS = {"rf": "RandomForest", "et": "ExtraTrees"}


@dataclass(frozen=True)
class Method:
    """A way to fit and predict.

    ``reference`` is the method that its costs are compared with. ``can_be_scaled`` is true where
    it is so slow that a few trees must tell the cost of many.
    """

    name: str
    build: Callable[[TrainTestSplit, Options], ModelAdapter]
    reference: str = "sklearn-rf"
    package: str = "sketchforest"
    can_be_scaled: bool = False

    @property
    def is_installed(self) -> bool:
        return find_spec(self.package) is not None


_TITLES = {
    r"sklearn-rf": "scikit-learn random forest",
    r"sklearn-et": "scikit-learn extra-trees",
    r"sklearn-z(\d+)": r"scikit-learn, shared m = \1",
    r"rf": "sketchforest, original outputs",
    r"et": "sketchforest extra-trees",
    r"rf-m(\d+)": r"sketchforest, m = \1",
    r"et-m(\d+)": r"sketchforest extra-trees, m = \1",
    r"rf-z(\d+)": r"sketchforest, shared m = \1",
    r"napkinxc": "napkinXC (PLT)",
    r"omikuji": "omikuji (Parabel)",
}


def method_title(name: str) -> str:
    """What a method is, for who does not know the names."""
    for pattern, title in _TITLES.items():
        match = re.fullmatch(pattern, name)
        if match:
            return match.expand(title)
    return name


def find_method(name: str) -> Method:
    """The method of that name; a ValueError lists the names if there is none."""
    for pattern, make in _METHODS.items():
        match = re.fullmatch(pattern, name)
        if match:
            return make(name, *match.groups())
    raise ValueError(
        "methods must be among sklearn-rf, sklearn-et, sklearn-zK, rf, rf-mK, rf-zK, et, et-mK, "
        f"napkinxc and omikuji, with a number for K; got {name!r}."
    )


def _sklearn_on_labels(name: str, kind: str) -> Method:
    return Method(name, partial(sklearn_forest, kind=_KINDS[kind]), can_be_scaled=True)


def _sklearn_on_shared(name: str, n_shared: str) -> Method:
    return Method(name, partial(sklearn_forest, n_shared=int(n_shared)), can_be_scaled=True)


def _sketch_on_labels(name: str, kind: str) -> Method:
    return Method(name, partial(sketch_forest, kind=_KINDS[kind]), f"sklearn-{kind}")


def _sketch_on_projections(name: str, kind: str, n_components: str) -> Method:
    build = partial(sketch_forest, kind=_KINDS[kind], n_components=int(n_components))
    return Method(name, build, f"sklearn-{kind}")


def _sketch_on_shared(name: str, n_shared: str) -> Method:
    build = partial(sketch_forest, n_shared=int(n_shared))
    return Method(name, build, f"sklearn-z{n_shared}")


def _napkinxc(name: str) -> Method:
    return Method(name, NapkinXC, package="napkinxc")


def _omikuji(name: str) -> Method:
    return Method(name, Omikuji, package="omikuji")


_METHODS: dict[str, Callable[..., Method]] = {
    r"sklearn-(rf|et)": _sklearn_on_labels,
    r"sklearn-z([1-9]\d*)": _sklearn_on_shared,
    r"(rf|et)": _sketch_on_labels,
    r"(rf|et)-m([1-9]\d*)": _sketch_on_projections,
    r"rf-z([1-9]\d*)": _sketch_on_shared,
    r"napkinxc": _napkinxc,
    r"omikuji": _omikuji,
}
