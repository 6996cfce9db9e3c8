"""The commands of `bench` that run a study."""

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.options import (
    STUDY,
    DataHome,
    Datasets,
    Jobs,
    Splits,
    StudyFolder,
    Trees,
    exit_if_interrupted,
    names_in,
    option,
)

studies_app = typer.Typer(rich_markup_mode="markdown")


@studies_app.command()
def accuracy(
    datasets: Datasets = "",
    splits: Splits = 3,
    tuned_splits: Annotated[
        int, option("Splits on which forests are tuned, which takes ten times as long.", min=0)
    ] = 1,
    methods: Annotated[str, option("Comma-separated names; by default, all.")] = "",
    n_estimators: Trees = 100,
    n_jobs: Jobs = 2,
    out: StudyFolder = STUDY,
    data_home: DataHome = None,
) -> None:
    """Compare default and tuned forests with other libraries, on every data set.

    Example:  python -m benchmarks bench accuracy --datasets emotions,enron --splits 3
    """
    from benchmarks.studies.accuracy import run_accuracy
    from benchmarks.studies.study import Study

    study = Study(names_in(datasets), out, splits, n_estimators, n_jobs, data_home)
    exit_if_interrupted(run_accuracy(study, names_in(methods), tuned_splits))


@studies_app.command()
def tuning(
    datasets: Datasets = "",
    predicted: Annotated[
        str, option("Data sets on which scores of 500 trees are predicted.")
    ] = "bibtex, diatoms, enron-hierarchical, stackex_cooking, Expression-GO",
    splits: Splits = 3,
    n_estimators: Trees = 100,
    n_jobs: Jobs = 2,
    out: StudyFolder = STUDY,
    data_home: DataHome = None,
) -> None:
    """Compare the tuned forest with fixed settings, on every data set.

    Example:  python -m benchmarks bench tuning --datasets emotions,enron --predicted emotions
    """
    from benchmarks.studies.study import Study
    from benchmarks.studies.tuning import run_tuning

    study = Study(names_in(datasets), out, splits, n_estimators, n_jobs, data_home)
    exit_if_interrupted(run_tuning(study, names_in(predicted)))


def _add_study(name: str, compared: str, default_datasets: str, default_splits: int) -> None:
    """Add the command of a study that has the usual options."""

    def command(
        datasets: Datasets = default_datasets,
        splits: Splits = default_splits,
        n_estimators: Trees = 100,
        n_jobs: Jobs = 2,
        out: StudyFolder = STUDY,
        data_home: DataHome = None,
    ) -> None:
        from benchmarks.studies.study import Study

        run = getattr(import_module(f"benchmarks.studies.{name}"), f"run_{name}")
        study = Study(names_in(datasets), out, splits, n_estimators, n_jobs, data_home)
        exit_if_interrupted(run(study))

    studies_app.command(name, help=f"Compare {compared}.")(command)


_FIVE_SETS = "delicious,bibtex,medical,stackex_chess,stackex_cooking"
# Name of a study, what it compares, default data sets and splits.
for study in (
    (
        "embeddings",
        "forests with simpler methods on dense embeddings",
        "stackex_cooking,stackex_chess,bibtex,medical,enron,scene",
        1,
    ),
    ("components", "numbers of components with the original outputs", "", 5),
    ("partitions", "forests grown on partitions with forests on all rows", "imdb,mediamill", 1),
    ("projections", "kinds of projections at several numbers of components", _FIVE_SETS, 3),
    ("thresholds", "rules that decide which labels are predicted", "", 3),
):
    _add_study(*study)


@studies_app.command()
def regression(
    splits: Splits = 2,
    n_estimators: Trees = 100,
    out: StudyFolder = STUDY,
    data_home: DataHome = None,
) -> None:
    """Compare regressors on data sets of several real outputs, by cross-validation."""
    from benchmarks.studies.regression import run_regression

    exit_if_interrupted(run_regression(out, data_home, splits, n_estimators))


@studies_app.command()
def costs(
    out: Annotated[Path, option("CSV file of the measurements.")] = Path("docs/study/costs.csv"),
) -> None:
    """Measure the costs that the rules of thumb in docs/guide/costs.md predict (minutes)."""
    from benchmarks.studies.costs import run_costs

    run_costs(out)


@studies_app.command()
def boosting(
    regression: Annotated[Path, option("Folder of regression sets, NAME.npz with X and Y.")],
    out: StudyFolder = STUDY,
    processes: Annotated[int, option("Fits at a time, of one thread each.", min=1)] = 1,
    limit: Annotated[float, option("Seconds after which a fit is given up.")] = 600,
) -> None:
    """Compare boosting with other libraries and forests (hours on one core)."""
    from benchmarks.studies.boosting import run_boosting

    run_boosting(regression, out, processes, limit)
