"""Theorem 1 and the Johnson-Lindenstrauss inequality on real labels, for every projection."""

import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy import sparse
from scipy.spatial.distance import pdist

from benchmarks.experiments import Lookup, Workspace
from benchmarks.reproduce.drawing import draw, draw_lines
from benchmarks.reproduce.figures import DENSE, NAMES, SPARSE, component_counts
from benchmarks.reproduce.page import Entry, Finding, Grid, Picture, Section, text_grid
from benchmarks.reproduce.scores import Score
from benchmarks.reproduce.settings import ReproduceSettings
from sketchforest import __version__
from sketchforest.projection import sketch

_N_ROWS = 500
_DRAWS = 10
_N_SUBSETS, _SUBSET_ROWS = 50, 20
PROJECTIONS = (*DENSE, *SPARSE, "pca")
_SETTINGS = ["dataset", "projection", "n_components", "n_draws", "n_rows"]
_MEASURES = ["variance_ratio", "largest_distortion", "typical_distortion"]
_MEASURES += ["largest_node_distortion"]
_MIN_DRAWS = 5
# Few independent normal errors exceed three standard errors.
_TOLERATED_SHARE = 0.1


@dataclass(frozen=True)
class TheoremResult:
    """Relative changes of squared distances and of variances, for each draw."""

    largest_distortion: list[float]
    typical_distortion: list[float]
    variance_ratio: list[float]
    largest_node_distortion: list[float]
    run_seconds: float


@dataclass(frozen=True)
class TheoremExperiment:
    """Several draws of a projection, and how much each distorts some label vectors."""

    table: ClassVar = "distortions"
    result_type: ClassVar = TheoremResult

    dataset: str
    projection: str
    n_components: int
    n_rows: int = _N_ROWS
    n_draws: int = _DRAWS
    seed: int = 0
    version: str = __version__

    @property
    def group(self) -> str:
        return self.dataset

    @property
    def kind(self) -> str:
        return f"distances under {NAMES[self.projection]}, m = {self.n_components}"

    def run(self, workspace: Workspace) -> TheoremResult:
        start = time.perf_counter()
        rng = np.random.default_rng([self.seed, 7])
        Y = distinct_rows(workspace.dataset(self.dataset).Y, self.n_rows, rng)
        subsets = [
            rng.choice(len(Y), min(_SUBSET_ROWS, len(Y)), replace=False) for _ in range(_N_SUBSETS)
        ]
        draws = [_distortions(Y, self._project(Y, draw), subsets) for draw in range(self.n_draws)]
        columns = {name: [draw[name] for draw in draws] for name in draws[0]}
        return TheoremResult(**columns, run_seconds=time.perf_counter() - start)

    def _project(self, Y: np.ndarray, draw: int) -> np.ndarray:
        rng = np.random.default_rng([self.seed, draw])
        return np.asarray(sketch(self.projection, Y, self.n_components, rng))


def theorem_experiments(settings: ReproduceSettings) -> list[TheoremExperiment]:
    dataset = settings.available((*settings.datasets, "delicious")[0])
    return [
        TheoremExperiment(
            dataset=dataset.dataset,
            projection=projection,
            n_components=m,
            n_draws=1 if projection == "pca" else settings.n_repeats(_DRAWS),  # not random
            seed=settings.seed,
        )
        for projection in PROJECTIONS
        for m in component_counts(dataset.n_labels, settings)
        if projection != "pca" or m <= _N_ROWS  # no more principal components than rows
    ]


def jl_epsilon(n_rows: int, n_components: int) -> float:
    """Return the distortion that the lemma guarantees for m components."""
    return math.sqrt(8 * math.log(n_rows) / n_components)


def distinct_rows(Y: sparse.csr_array, n_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Draw up to `n_rows` different label vectors: equal ones have no distance to distort."""
    rows = rng.permutation(Y.shape[0])[: 2 * n_rows]
    different = np.unique(Y[rows].toarray().astype(float), axis=0)
    # They are sorted: the first ones would be those with few labels.
    return rng.permutation(different)[:n_rows]


def _distortions(Y: np.ndarray, Z: np.ndarray, subsets: Sequence[np.ndarray]) -> dict[str, float]:
    distances = np.abs(pdist(Z, "sqeuclidean") / pdist(Y, "sqeuclidean") - 1)
    variances = [_variance(Z[rows]) / _variance(Y[rows]) - 1 for rows in subsets]
    return {
        "largest_distortion": float(distances.max()),
        "typical_distortion": float(np.median(distances)),
        "variance_ratio": _variance(Z) / _variance(Y),
        "largest_node_distortion": float(np.abs(variances).max()),
    }


def _variance(Y: np.ndarray) -> float:
    return float(Y.var(axis=0, dtype=np.float64).sum())


# ---- the section of the report


def theorem_section(settings: ReproduceSettings, lookup: Lookup) -> Section:
    """Show how every projection distorts distances and variances."""
    experiments = theorem_experiments(settings)
    known = [
        asdict(one) | vars(result) for one in experiments if (result := lookup(one)) is not None
    ]
    draws = pd.DataFrame(known, columns=[*_SETTINGS, *_MEASURES]).explode(_MEASURES)
    draws[_MEASURES] = draws[_MEASURES].astype(float)
    pictures = {
        "largest_distortion": "largest distortion of a distance",
        "largest_node_distortion": "largest distortion in a node",
    }
    return Section(
        name="theorem",
        title="Theorem 1 and the Johnson-Lindenstrauss lemma",
        intro=_intro(experiments[0]),
        findings=[_theorem_holds(draws), *_is_unbiased(draws)],
        pictures=[
            picture
            for name, title in pictures.items()
            for picture in distortion_picture(draws, name, title)
        ],
        grids=_grids(draws),
        rows=_rows(draws),
    )


def _intro(first: TheoremExperiment) -> list[str]:
    return [
        f"Up to {first.n_rows} different label vectors of {first.dataset}, {first.n_draws} draws "
        "of each projection. If no squared distance between two vectors changes by a factor "
        "outside 1 ± ε, then neither does the variance of any subset: the sum of variances is half "
        "the mean squared distance. A node is a subset of 20 rows.",
        "Dashed: √(8 ln n / m), the ε of the lemma as stated in the paper. PCA is not scaled to "
        "preserve distances and can only shrink them. If all labels are kept, nothing changes, "
        "and nothing is drawn.",
    ]


def _theorem_holds(draws: pd.DataFrame) -> Finding:
    variance = (draws["variance_ratio"] - 1).abs().clip(lower=draws["largest_node_distortion"])
    # The second tolerance is for projections without distortion: all labels, subsampled.
    held = int((variance <= draws["largest_distortion"] * (1 + 1e-5) + 1e-12).sum())
    text = (
        f"Theorem 1: in {held} of {len(draws)} draws no variance is distorted more than the most "
        "distorted distance."
    )
    return Finding(text, held == len(draws) if len(draws) else None)


def _is_unbiased(draws: pd.DataFrame) -> list[Finding]:
    groups = draws[draws["projection"] != "pca"].groupby(["projection", "n_components"])
    found = groups["variance_ratio"].agg(["mean", "std", "count"])
    found = found[found["count"] >= _MIN_DRAWS]
    if found.empty:
        return []
    error = found["std"] / np.sqrt(found["count"])
    close = int(((found["mean"] - 1).abs() <= 3 * error).where(error > 0, True).sum())
    text = (
        f"Random projections preserve the variance on average: {close} of {len(found)} mean "
        "ratios are within three standard errors of 1."
    )
    return [Finding(text, close >= (1 - _TOLERATED_SHARE) * len(found))]


def _grids(draws: pd.DataFrame) -> list[Grid]:
    """Make a row for each m, with a column for each projection."""
    captions = {
        "variance_ratio": "Variance after over variance before, and its standard deviation",
        "largest_distortion": "Largest distortion of a distance, and its standard deviation",
    }
    projections = list(draws["projection"].unique())
    groups = draws.groupby(["projection", "n_components"])
    entries = {name: {key: _over_draws(v) for key, v in groups[name]} for name in captions}
    headers = ["", *(NAMES[projection] for projection in projections)]
    return [
        text_grid(
            headers,
            [
                [f"m = {m}", *(entries[figure].get((name, m), "") for name in projections)]
                for m in sorted(draws["n_components"].unique())
            ],
            caption,
        )
        for figure, caption in captions.items()
    ]


def _over_draws(values: pd.Series) -> Entry:
    return Entry(f"{values.mean():.2f}", f"± {values.std():.2f}" if len(values) > 1 else "")


def distortion_picture(draws: pd.DataFrame, name: str, title: str) -> list[Picture]:
    if draws.empty:
        return []
    lines: dict[str, dict[int, Score]] = {}
    means = draws.groupby(["projection", "n_components"], sort=False)[name].mean()
    for (projection, m), mean in means.items():
        lines.setdefault(NAMES[projection], {})[m] = Score(mean, None)

    def paint(axes: Axes) -> None:
        counts = sorted(draws["n_components"].unique())
        bound = [jl_epsilon(draws["n_rows"].iloc[0], m) for m in counts]
        axes.plot(counts, bound, "--", color="#777777", label="√(8 ln n / m)")
        draw_lines(axes, lines, log_y=True)
        axes.set_xlabel("m, projected outputs")
        axes.set_ylabel("relative change, |after / before - 1|")
        axes.set_title(title, loc="left", fontsize=10)

    return draw(name.replace("_", "-"), f"{title.capitalize()}, mean over draws.", paint)


def _rows(draws: pd.DataFrame) -> pd.DataFrame:
    groups = draws.groupby(_SETTINGS, sort=False)
    found = groups[_MEASURES].mean()
    found.insert(1, "variance_ratio_sd", groups["variance_ratio"].std(ddof=0))
    found = found.reset_index().rename(columns={"n_components": "m"})
    found["jl_epsilon"] = [jl_epsilon(row.n_rows, row.m) for row in found.itertuples()]
    return found.drop(columns="n_rows").round(5)
