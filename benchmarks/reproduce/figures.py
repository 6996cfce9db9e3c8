"""Figures 1 to 4: ranking quality against m or k, on one split of a data set."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pandas as pd

from benchmarks.experiments import Lookup
from benchmarks.reproduce.forest_experiment import ForestExperiment
from benchmarks.reproduce.paper import PaperSet
from benchmarks.reproduce.scores import score
from benchmarks.reproduce.settings import ReproduceSettings

_COMPONENTS = (1, 2, 5, 10, 25, 50, 75, 100, 200, 400)
_QUICK_COMPONENTS = (1, 10, 25, 100)
_FEATURES = (1, 5, 10, 20, 50, 100, 200, 350, 700)
_QUICK_FEATURES = (1, 20, 100)
# Fewer where many features per split take much longer than the square root of them.
_REPEATS = {"figure1": 10, "figure2": 3, "figure3": 5, "figure4": 3}
# The data of the paper's Figure 2, drug-interaction, are not available; Figure 4 is on Delicious.
_DATASETS = {"figure2": ("corel5k", "medical")}
_USUAL_DATASET = ("delicious",)

DENSE = ("gaussian", "rademacher", "hadamard")
SPARSE = ("achlioptas", "sparse", "subsample")
NAMES = {
    "gaussian": "gaussian",
    "rademacher": "rademacher, s = 1",
    "hadamard": "subsampled hadamard",
    "achlioptas": "rademacher, s = 3",
    "sparse": "rademacher, s = √d",
    "subsample": "subsampled labels",
    "pca": "PCA",
}


Curve = dict[int | None, ForestExperiment]  # by m or k; without a projection, m is None


@dataclass(frozen=True)
class Panel:
    """One of the coordinate systems of a figure: curves by their labels."""

    key: str
    dataset: str
    title: str
    x_label: str
    curves: dict[str, Curve]


def figure_panels(figure: str, settings: ReproduceSettings) -> list[Panel]:
    """Make the panels of "figure1" to "figure4"."""
    panels = []
    for dataset in settings.datasets or _DATASETS.get(figure, _USUAL_DATASET):
        sizes = settings.available(dataset)
        base = ForestExperiment(
            dataset=sizes.dataset,
            n_estimators=settings.n_estimators,
            split=None,
            seed=settings.seed,
        )
        panels += _PANELS[figure](base, sizes, settings)
    return panels


def n_seeds(figure: str, settings: ReproduceSettings) -> int:
    return settings.n_repeats(_REPEATS[figure])


def _with_seeds(
    experiment: ForestExperiment, figure: str, settings: ReproduceSettings
) -> list[ForestExperiment]:
    return [replace(experiment, repeat=seed) for seed in range(n_seeds(figure, settings))]


def figure_experiments(figure: str, settings: ReproduceSettings) -> list[ForestExperiment]:
    """List the runs of a figure, without duplicates."""
    curves = [curve for panel in figure_panels(figure, settings) for curve in panel.curves.values()]
    points = dict.fromkeys(point for curve in curves for point in curve.values())
    return [one for point in points for one in _with_seeds(point, figure, settings)]


def figure_rows(figure: str, settings: ReproduceSettings, lookup: Lookup) -> pd.DataFrame:
    """Collect the points that are known so far."""
    rows = []
    for panel in figure_panels(figure, settings):
        for label, curve in panel.curves.items():
            for x, point in curve.items():
                results = map(lookup, _with_seeds(point, figure, settings))
                found = score([result.lrap for result in results if result is not None])
                if found is not None:
                    where = (figure, panel.key, panel.dataset, label, x)
                    rows.append((*where, n_seeds(figure, settings), found.mean, found.sd))
    x_name = "k" if figure in ("figure2", "figure4") else "m"
    columns = ["figure", "panel", "dataset", "curve", x_name, "n_seeds", "lrap", "lrap_sd"]
    return pd.DataFrame(rows, columns=columns).astype({x_name: "Int64", "lrap_sd": float})


def component_counts(n_labels: int, settings: ReproduceSettings) -> list[int]:
    """List the values of m; m = d only on request."""
    counts = _QUICK_COMPONENTS if settings.quick else _COMPONENTS
    return [m for m in counts if m < n_labels] + ([n_labels] if settings.with_all else [])


def _figure1(base: ForestExperiment, sizes: PaperSet, settings: ReproduceSettings) -> list[Panel]:
    over_m = partial(_over_m, counts=component_counts(sizes.n_labels, settings))
    tree = replace(base, forest="tree", max_features=None, n_estimators=1)
    forests = {
        "algorithm 2: a projection for each tree": over_m(base),
        "algorithm 1: one projection": over_m(replace(base, shared=True)),
    }
    return [
        _against_m("tree", tree, "one tree", {"gaussian": over_m(tree)}),
        _against_m("forest", base, "random forests", forests),
    ]


def _against_k(base: ForestExperiment, sizes: PaperSet, settings: ReproduceSettings) -> list[Panel]:
    log_d = math.floor(0.5 + math.log(sizes.n_labels))
    features = _QUICK_FEATURES if settings.quick else _FEATURES
    numbers = [*(k for k in features if k < sizes.n_features), sizes.n_features]
    forests = {
        "m = 1": replace(base, n_components=1),
        f"m = ln d = {log_d}": replace(base, n_components=log_d),
        f"m = 2 ln d = {2 * log_d}": replace(base, n_components=2 * log_d),
        "original outputs": _unprojected(base),
    }
    curves: dict[str, Curve] = {
        label: {k: replace(forest, max_features=k) for k in numbers}
        for label, forest in forests.items()
    }
    key = sizes.dataset
    return [Panel(key, key, "random forests", "k, features tried at a split", curves)]


def _figure3(base: ForestExperiment, sizes: PaperSet, settings: ReproduceSettings) -> list[Panel]:
    counts = component_counts(sizes.n_labels, settings)
    panels = {
        "dense": ("dense projections", DENSE),
        "sparse": ("sparse projections", ("gaussian", *SPARSE)),
        "pca": ("principal components", ("gaussian", "pca")),
    }
    return [
        _against_m(
            key,
            base,
            title,
            {NAMES[name]: _over_m(replace(base, projection=name), counts) for name in names},
        )
        for key, (title, names) in panels.items()
    ]


_PANELS: dict[str, Callable[[ForestExperiment, PaperSet, ReproduceSettings], list[Panel]]] = {
    "figure1": _figure1,
    "figure2": _against_k,
    "figure3": _figure3,
    "figure4": _against_k,
}


def _against_m(key: str, base: ForestExperiment, title: str, curves: dict[str, Curve]) -> Panel:
    """Add the forest on the original outputs to curves over m."""
    curves = {**curves, "original outputs": {None: _unprojected(base)}}
    return Panel(key, base.dataset, title, "m, projected outputs", curves)


def _over_m(forest: ForestExperiment, counts: Sequence[int]) -> Curve:
    return {m: replace(forest, n_components=m) for m in counts}


def _unprojected(forest: ForestExperiment) -> ForestExperiment:
    return replace(forest, projection=None, n_components=None)
