"""How accurate forests are without tuning, beside linear label trees, on every data set."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from rich.console import Console
from scipy import sparse

from sketchforest import ExtraTreesClassifier, RandomForestClassifier, SketchForestClassifier
from sketchforest.datasets import load
from sketchforest.lab.bench.adapter import ModelAdapter, Options
from sketchforest.lab.bench.other_libraries import NapkinXC
from sketchforest.lab.data import TrainTestSplit
from sketchforest.lab.experiments import Workspace, run_experiments
from sketchforest.lab.measure import timed
from sketchforest.lab.store import ResultStore
from sketchforest.lab.studies.method_experiment import (
    MethodExperiment,
    Table,
    find_datasets,
    markdown_table,
    mean_and_sd,
    values_by_method,
)
from sketchforest.metrics import lrap, ndcg_at_k, precision_at_k, propensities, psp_at_k

FORESTS = {
    "random forest": RandomForestClassifier,
    "extra-trees": ExtraTreesClassifier,
    "sketch forest": SketchForestClassifier,
}
# omikuji takes no rows without features, which most of the sets have.
OTHERS: dict[str, Callable[[TrainTestSplit, Options], ModelAdapter]] = {"napkinXC": NapkinXC}
Measure = Callable[[Options, TrainTestSplit], "AccuracyResult"]
FLAGSHIP, USUAL = "sketch forest", "random forest"


@dataclass(frozen=True)
class AccuracyResult:
    """On the test rows; P@k, nDCG@k and PSP@k where there are k labels, else at all of them."""

    lrap: float
    p1: float
    p3: float
    p5: float
    ndcg5: float
    psp5: float
    fit_seconds: float
    predict_seconds: float
    megabytes: float


def run_accuracy(
    datasets: Sequence[str],
    out: Path,
    *,
    n_splits: int = 3,
    n_estimators: int = 100,
    n_jobs: int = 2,
    data_home: str | None = None,
    console: Console | None = None,
) -> bool:
    """Measures, and writes accuracy-T-trees.csv and accuracy.md into ``out``. Other libraries take
    part where they are installed, on sets without missing values."""
    console = console or Console()
    out.mkdir(parents=True, exist_ok=True)
    store, table = ResultStore(out), f"accuracy-{n_estimators}-trees"
    options = Options(n_estimators, n_estimators, n_jobs)
    experiments = [
        MethodExperiment(name, split, method, table, AccuracyResult, partial(measure, options))
        for name in find_datasets(datasets, data_home)
        for split in range(n_splits)
        for method, measure in _measures(name, data_home).items()
    ]
    is_complete = run_experiments(experiments, store, Workspace(data_home, n_jobs), console)
    page = accuracy_page(store.rows(table))
    (out / "accuracy.md").write_text(page)
    console.print(page, markup=False, soft_wrap=True)
    return is_complete


def _measures(name: str, data_home: str | None) -> dict[str, Measure]:
    measures: dict[str, Measure] = {
        method: partial(_measure_forest, kind) for method, kind in FORESTS.items()
    }
    X = load(name, data_home).X
    if np.isnan(X.data if not isinstance(X, np.ndarray) else X).any():
        return measures
    here = {method: other for method, other in OTHERS.items() if find_spec(method.lower())}
    return measures | {method: partial(_measure_other, other) for method, other in here.items()}


def _measure_forest(
    kind: type[RandomForestClassifier | ExtraTreesClassifier | SketchForestClassifier],
    options: Options,
    data: TrainTestSplit,
) -> AccuracyResult:
    forest = kind(options.n_estimators, n_jobs=options.n_jobs, random_state=options.seed)
    fit_seconds, _ = timed(partial(forest.fit, data.X_train, data.Y_train))
    predict_seconds, scores = timed(partial(forest.predict_proba, data.X_test))
    forest_arrays = forest._forest.__dict__.values()
    n_bytes = sum(array.nbytes for array in forest_arrays if isinstance(array, np.ndarray))
    if forest._forest.directions is not None:
        parts = forest._forest.directions.__dict__.values()
        n_bytes += sum(array.nbytes for array in parts if isinstance(array, np.ndarray))
    return _scored(data, scores, fit_seconds, predict_seconds, n_bytes)


def _measure_other(
    other: Callable[[TrainTestSplit, Options], ModelAdapter],
    options: Options,
    data: TrainTestSplit,
) -> AccuracyResult:
    X_train, X_test = sparse.csr_array(data.X_train), sparse.csr_array(data.X_test)
    model = other(TrainTestSplit(X_train, data.Y_train, X_test, data.Y_test), options)
    fit_seconds, _ = timed(model.fit)
    model.prepare_predictions()
    predict_seconds, prediction = timed(partial(model.predict, model.X_test))
    return _scored(data, model.scores(prediction), fit_seconds, predict_seconds, model.n_bytes())


def _scored(
    data: TrainTestSplit,
    scores: np.ndarray,
    fit_seconds: float,
    predict_seconds: float,
    n_bytes: int,
) -> AccuracyResult:
    truth, n_labels = data.Y_test, data.Y_test.shape[1]
    at = partial(min, n_labels)
    return AccuracyResult(
        lrap=lrap(truth, scores),
        p1=precision_at_k(truth, scores, 1),
        p3=precision_at_k(truth, scores, at(3)),
        p5=precision_at_k(truth, scores, at(5)),
        ndcg5=ndcg_at_k(truth, scores, at(5)),
        psp5=psp_at_k(truth, scores, propensities(data.Y_train), at(5)),
        fit_seconds=fit_seconds,
        predict_seconds=predict_seconds,
        megabytes=n_bytes / 1e6,
    )


def accuracy_page(results: Sequence[Mapping[str, str]]) -> str:
    """Tables of means over splits, and on how many sets the flagship is ahead."""
    scores = values_by_method(results, "lrap")
    names = sorted({name for name, _ in scores})
    methods = [m for m in (*FORESTS, *OTHERS) if any((name, m) in scores for name in names)]
    n_splits = max(map(len, scores.values()), default=0)
    lines = [
        "# Accuracy without tuning",
        "",
        "Every method on its default settings, forests with 100 trees; means over "
        f"{n_splits} random splits of the sizes of the source's, or of 2/3 and 1/3. Made by "
        "`sketchforest bench accuracy`.",
        "",
        "## LRAP (± standard deviation over splits); the best in bold",
        "",
        markdown_table(["data set", *methods], [_row(name, methods, scores) for name in names]),
        _verdict(names, scores, USUAL),
        *(_verdict(names, scores, other) for other in OTHERS if other in methods),
    ]
    for column, title, digits in (
        ("p1", "P@1, %", 1),
        ("p3", "P@3, %", 1),
        ("p5", "P@5, %", 1),
        ("ndcg5", "nDCG@5, %", 1),
        ("psp5", "PSP@5, %", 1),
        ("fit_seconds", "Seconds to fit", 2),
        ("predict_seconds", "Seconds to predict all test rows", 2),
        ("megabytes", "Size of the model, MB", 1),
    ):
        factor = 100 if title.endswith("%") else 1
        values = values_by_method(results, column)
        rows = [
            [name, *(_mean(values.get((name, m)), factor, digits) for m in methods)]
            for name in names
        ]
        lines += [f"## {title}", "", markdown_table(["data set", *methods], rows)]
    return "\n".join(lines)


def _row(name: str, methods: Sequence[str], scores: Table) -> list[str]:
    means = {m: mean_and_sd(scores[name, m]) for m in methods if (name, m) in scores}
    best = max(mean for mean, _ in means.values())
    cells = []
    for method in methods:
        mean, sd = means.get(method, (np.nan, 0.0))
        text = f"{mean:.4f} ± {sd:.4f}" if method in means else "–"
        cells.append(f"**{text}**" if method in means and mean == best else text)
    return [name, *cells]


def _verdict(names: Sequence[str], scores: Table, other: str) -> str:
    """Paired over splits: the mean difference against its standard deviation."""
    better = worse = total = 0
    for name in names:
        ours, theirs = scores.get((name, FLAGSHIP)), scores.get((name, other))
        if ours is None or theirs is None or len(ours) != len(theirs):
            continue
        mean, sd = mean_and_sd([a - b for a, b in zip(ours, theirs, strict=True)])
        total += 1
        better += mean > sd
        worse += mean < -sd
    return (
        f"Against {other}, the {FLAGSHIP} is better by more than one standard deviation of the "
        f"difference on {better} of {total} sets, and worse by more than one on {worse}.\n"
    )


def _mean(values: Sequence[float] | None, factor: float, digits: int) -> str:
    return "–" if values is None else f"{factor * float(np.mean(values)):.{digits}f}"
