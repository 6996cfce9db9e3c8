"""Regressors on data sets of several real outputs, by cross-validation."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from sklearn.ensemble import ExtraTreesRegressor as SklearnExtraTrees
from sklearn.ensemble import RandomForestRegressor as SklearnRandomForest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.experiments import Workspace, run_experiments
from benchmarks.measure import processor_timed
from benchmarks.store import ResultStore
from benchmarks.studies.study import markdown_table
from sketchforest import ExtraTreesRegressor, RandomForestRegressor, SketchForestRegressor

N_FOLDS = 5
FLAGSHIP = "sketch forest"
FIRST_SEED = 1000


@dataclass(frozen=True)
class RegressionResult:
    """aRRMSE of all folds, and the processor seconds of all fits."""

    arrmse: float
    fit_seconds: float


def regressors(n_estimators: int) -> dict[str, Callable[[int], Any]]:
    """Functions of a seed, by the name of the method."""
    made: dict[str, Callable[[int], Any]] = {
        FLAGSHIP: lambda seed: SketchForestRegressor(n_estimators, random_state=seed),
        "random forest, k = p/3": lambda seed: RandomForestRegressor(
            n_estimators, max_features=1 / 3, random_state=seed
        ),
        "extra-trees": lambda seed: ExtraTreesRegressor(n_estimators, random_state=seed),
        "scikit-learn random forest": lambda seed: SklearnRandomForest(
            n_estimators, max_features=1 / 3, random_state=seed
        ),
        "scikit-learn extra-trees": lambda seed: SklearnExtraTrees(n_estimators, random_state=seed),
        "ridge": lambda seed: make_pipeline(
            SimpleImputer(), StandardScaler(), RidgeCV(np.logspace(-2, 5, 22))
        ),
    }
    if find_spec("xgboost"):
        boosting = import_module("xgboost").XGBRegressor
        made["XGBoost"] = lambda seed: boosting(random_state=seed)
        made["XGBoost, multi-output trees"] = lambda seed: boosting(
            multi_strategy="multi_output_tree", random_state=seed
        )
    return made


@dataclass(frozen=True)
class RegressionExperiment:
    """A method on the folds of a data set that a seed draws."""

    dataset: str
    seed: int
    method: str
    table: str = field(compare=False)
    folder: Path = field(compare=False)
    make: Callable[[int], Any] = field(compare=False)
    result_type: type = field(default=RegressionResult, compare=False)

    @property
    def group(self) -> str:
        return self.dataset

    @property
    def kind(self) -> str:
        return self.method

    def run(self, workspace: Workspace) -> RegressionResult:
        with np.load(self.folder / f"{self.dataset}.npz") as arrays:
            X, Y = arrays["X"], arrays["Y"]
        predicted, of_mean, seconds = np.empty_like(Y), np.empty_like(Y), 0.0
        for train, test in KFold(N_FOLDS, shuffle=True, random_state=self.seed).split(X):
            model = self.make(self.seed)
            of_fold, _ = processor_timed(partial(model.fit, X[train], Y[train]))
            seconds += of_fold
            predicted[test], of_mean[test] = model.predict(X[test]), Y[train].mean(axis=0)
        return RegressionResult(arrmse(Y, predicted, of_mean), seconds)


def arrmse(Y: np.ndarray, predicted: np.ndarray, of_mean: np.ndarray) -> float:
    """Root mean squared error relative to that of the training mean, averaged over outputs."""
    errors, usual = ((Y - found) ** 2 for found in (predicted, of_mean))
    return float(np.sqrt(errors.sum(axis=0) / usual.sum(axis=0)).mean())


def run_regression(
    out: Path,
    data_home: str | None = None,
    n_splits: int = 2,
    n_estimators: int = 100,
    console: Console | None = None,
) -> bool:
    """Measure what is missing in regression-T-trees.csv, and write regression.md."""
    folder = Path(data_home or os.environ.get("SKETCHFOREST_DATA", ".")) / "regression"
    names = sorted(path.stem for path in folder.glob("*.npz"))
    if not names:
        raise ValueError(
            f"data_home must have a folder regression with .npz files; got '{folder}'. Use "
            "--data-home or SKETCHFOREST_DATA to name a folder of data sets."
        )
    out.mkdir(parents=True, exist_ok=True)
    store, table = ResultStore(out), f"regression-{n_estimators}-trees"
    experiments = [
        RegressionExperiment(name, FIRST_SEED + split, method, table, folder, make)
        for name in names
        for split in range(n_splits)
        for method, make in regressors(n_estimators).items()
    ]
    console = console or Console()
    is_complete = run_experiments(experiments, store, Workspace(data_home, 1), console)
    page = regression_page(store.frame(table), n_estimators)
    (out / "regression.md").write_text(page, encoding="utf-8")
    console.print(page, markup=False, soft_wrap=True)
    return is_complete


def regression_page(results: pd.DataFrame, n_estimators: int) -> str:
    """Make tables of aRRMSE and times, and say on how many data sets the flagship leads."""
    means = results.groupby(["dataset", "method"])[["arrmse", "fit_seconds"]].mean().unstack()
    order = [name for name in results["method"].unique() if name != FLAGSHIP]
    errors, seconds = (means[name][[FLAGSHIP, *order]] for name in ("arrmse", "fit_seconds"))
    n_seeds = results["seed"].nunique()
    rows = []
    for name, values in errors.iterrows():
        cells = [f"**{v:.3f}**" if v == values.min() else f"{v:.3f}" for v in values]
        rows.append([str(name), *cells])
    rows.append(["mean", *(f"{value:.3f}" for value in errors.mean())])
    times = [[str(name), *(f"{v:.2f}" for v in values)] for name, values in seconds.iterrows()]
    verdicts = [
        f"- {other}: better on {int((errors[FLAGSHIP] < errors[other]).sum())} of {len(errors)} "
        "data sets"
        for other in order
    ]
    return "\n".join(
        [
            "# Accuracy of regressors",
            "",
            f"Forests of {n_estimators} trees with default settings unless stated, on data sets "
            "of several real outputs. aRRMSE is the root mean squared error relative to that of "
            f"the training mean, averaged over outputs; lower is better. {N_FOLDS}-fold "
            f"cross-validation with shuffling, {n_seeds} times. Ridge chooses its penalty by "
            "leave-one-out errors and imputes means. Made by `python -m benchmarks bench "
            f"regression`, which adds to what it finds in regression-{n_estimators}-trees.csv. "
            "The constants of the sketch forest were chosen on these data sets, on these folds "
            "and others: expect a smaller lead on your data.",
            "",
            "## aRRMSE; the best in bold",
            "",
            markdown_table(["data set", *errors], rows),
            f"The {FLAGSHIP} compared with:",
            "",
            *verdicts,
            "",
            f"## Processor seconds of {N_FOLDS} fits",
            "",
            markdown_table(["data set", *seconds], times),
        ]
    )
