"""The methods of the benchmark by name."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

from benchmarks.bench.adapter import ModelAdapter, Options
from benchmarks.bench.forests import flagship, sketch_forest, sklearn_forest
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
    "sketch",
    "napkinxc",
    "omikuji",
)
_KINDS = {"rf": "RandomForest", "et": "ExtraTrees"}
_OURS = {"rf": "sketchforest", "et": "sketchforest extra-trees"}
_SKLEARN = {"rf": "scikit-learn random forest", "et": "scikit-learn extra-trees"}


@dataclass(frozen=True)
class Method:
    """A way to fit and predict.

    Costs are compared with those of the method `reference`. With `can_be_scaled`, the costs of many
    trees are estimated from few, because the method is slow.
    """

    name: str
    title: str
    build: Callable[[TrainTestSplit, Options], ModelAdapter]
    reference: str = "sklearn-rf"
    package: str = "sketchforest"
    can_be_scaled: bool = False

    @property
    def is_installed(self) -> bool:
        return find_spec(self.package) is not None


def find_method(name: str) -> Method:
    for pattern, make in _METHODS.items():
        match = re.fullmatch(pattern, name)
        if match:
            return make(name, *match.groups())
    raise ValueError(
        "methods must be among sklearn-rf, sklearn-et, sklearn-zK, rf, rf-mK, rf-zK, et, et-mK, "
        f"sketch, napkinxc and omikuji, with a number for K; got {name!r}."
    )


def _sklearn(name: str, kind: str) -> Method:
    return Method(
        name, _SKLEARN[kind], partial(sklearn_forest, kind=_KINDS[kind]), can_be_scaled=True
    )


def _sklearn_shared(name: str, m: str) -> Method:
    build = partial(sklearn_forest, n_shared=int(m))
    return Method(name, f"scikit-learn, shared m = {m}", build, can_be_scaled=True)


def _unprojected(name: str, kind: str) -> Method:
    title = _OURS[kind] + (", original outputs" if kind == "rf" else "")
    return Method(name, title, partial(sketch_forest, kind=_KINDS[kind]), f"sklearn-{kind}")


def _projected(name: str, kind: str, m: str) -> Method:
    build = partial(sketch_forest, kind=_KINDS[kind], n_components=int(m))
    return Method(name, f"{_OURS[kind]}, m = {m}", build, f"sklearn-{kind}")


def _shared(name: str, m: str) -> Method:
    build = partial(sketch_forest, n_shared=int(m))
    return Method(name, f"sketchforest, shared m = {m}", build, f"sklearn-z{m}")


_METHODS: dict[str, Callable[..., Method]] = {
    r"sklearn-(rf|et)": _sklearn,
    r"sklearn-z([1-9]\d*)": _sklearn_shared,
    r"(rf|et)": _unprojected,
    r"(rf|et)-m([1-9]\d*)": _projected,
    r"rf-z([1-9]\d*)": _shared,
    "sketch": partial(Method, title="sketchforest, sketch forest", build=flagship),
    "napkinxc": partial(Method, title="napkinXC (PLT)", build=NapkinXC, package="napkinxc"),
    "omikuji": partial(Method, title="omikuji (Parabel)", build=Omikuji, package="omikuji"),
}
