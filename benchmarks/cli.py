"""The command line of the benchmarks: parse, call, print."""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from joblib import effective_n_jobs
from rich.console import Console
from typer.core import TyperGroup

import benchmarks

INTERRUPTED = 130  # what a shell reports after Ctrl-C


# Messages about a parameter begin with its name.
_PARAMETERS = {"axes", "base", "datasets", "methods", "shape", "sklearn_trees", "what"}


class _Group(TyperGroup):
    def invoke(self, ctx: Any) -> Any:
        """Report wrong values and missing files in one line instead of a traceback."""
        try:
            return super().invoke(ctx)
        except ValueError as error:
            if str(error).split(" ")[0] not in _PARAMETERS:
                raise
            raise typer.BadParameter(str(error), ctx=ctx) from error
        except OSError as error:
            typer.echo(f"Error: {error}", err=True)
            raise typer.Exit(1) from error


_SETTINGS = {"help_option_names": ["-h", "--help"]}
app = typer.Typer(
    cls=_Group,
    context_settings=_SETTINGS,
    help=benchmarks.__doc__,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
bench_app = typer.Typer(cls=_Group, invoke_without_command=True)
app.add_typer(bench_app, name="bench")


def main() -> None:
    app(prog_name="python -m benchmarks")


def _list(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _option(help: str, *names: str, **settings: Any) -> Any:
    return typer.Option(*names, help=help, **settings)


_Datasets = Annotated[str, _option("Comma-separated names; by default, all.", show_default=False)]
_Splits = Annotated[int, _option("Random splits of each data set.", min=1)]
_Trees = Annotated[int, _option("Trees in each forest.", min=1)]
_Jobs = Annotated[int, _option("Threads of each method; -1 uses all cores.")]
_Repeats = Annotated[int, _option("Runs of each method; the table shows medians.", min=1)]
_Out = Annotated[Path, _option("Folder for tables and pictures; replaces those of earlier runs.")]
_Study = Annotated[Path, _option("Folder for tables; results found there are not measured again.")]
_Components = Annotated[int, _option("Projected outputs.", min=1)]
_Json = Annotated[bool, _option("Print JSON instead of tables.", "--json")]
_DataHome = Annotated[str | None, _option("Folder of data sets; searched before any download.")]
_BENCH, _STUDY = Path("sketchforest-bench"), Path("sketchforest-study")


def _console(json: bool) -> Console:
    return Console(stderr=json, highlight=False, markup=False)


def _finish(result: Any, json: bool) -> None:
    if json:
        typer.echo(result.as_json())
    _exit_if_interrupted(result.is_complete)
    if getattr(result, "failures", ()):
        raise typer.Exit(1)


def _exit_if_interrupted(is_complete: bool) -> None:
    if not is_complete:
        raise typer.Exit(INTERRUPTED)


@bench_app.callback()
def bench(
    context: typer.Context,
    datasets: Annotated[
        str, _option("Comma-separated names, 'all' or 'generated'.", show_default=False)
    ] = "",
    methods: Annotated[
        str,
        _option(
            "Comma-separated names: sklearn-rf, sklearn-et (scikit-learn's forests), rf, et (ours "
            "on the original outputs), rf-mK, et-mK (ours on K projected outputs), sklearn-zK, "
            "rf-zK (all trees on the same K projected outputs), napkinxc, omikuji.",
            show_default=False,
        ),
    ] = "",
    n_estimators: _Trees = 100,
    n_jobs: _Jobs = 2,
    repeats: _Repeats = 3,
    sklearn_trees: Annotated[
        str,
        _option(
            "Trees that scikit-learn grows, before scaling: 'auto' (as many as take about 20 "
            "seconds), 'all' or a number."
        ),
    ] = "auto",
    out: _Out = _BENCH,
    json: _Json = False,
    quick: Annotated[
        bool, _option("Use at most 2,000 rows and 10 trees, one run each.", "--quick")
    ] = False,
    data_home: _DataHome = None,
) -> None:
    """Compare time, memory, model size and accuracy with scikit-learn, napkinXC and omikuji.

    Each run has its own process. Costs are compared with scikit-learn's forest on the original
    outputs.

    Example:  python -m benchmarks bench --datasets bibtex --methods sklearn-rf,rf --repeats 1
    """
    if context.invoked_subcommand is not None:
        return
    from benchmarks.bench.run import BenchSettings, run_bench

    settings = BenchSettings(
        datasets=_list(datasets),
        methods=_list(methods),
        n_estimators=n_estimators,
        n_jobs=n_jobs,
        repeats=repeats,
        sklearn_trees=sklearn_trees,
        data_home=data_home,
        quick=quick,
    )
    _finish(run_bench(settings, out, _console(json)), json)


@bench_app.command()
def scaling(
    base: Annotated[
        str, _option("Sizes to start from, such as n=8000,t=32.", show_default=False)
    ] = "",
    axes: Annotated[str, _option("Comma-separated sizes to double.")] = "n,p,m,d,t,threads",
    doublings: Annotated[int, _option("Number of doublings of each size.", min=1)] = 4,
    repeats: _Repeats = 3,
    dataset: Annotated[str | None, _option("Data set to use instead of generated data.")] = None,
    out: _Out = _BENCH,
    json: _Json = False,
    quick: Annotated[bool, _option("Small sizes, two doublings, one run each.", "--quick")] = False,
    data_home: _DataHome = None,
) -> None:
    """Measure how time and memory grow with rows, features, outputs, labels, trees and threads.

    Doubles one size at a time and fits the exponent. On a data set, the number of rows doubles up
    to all of them, while features and labels stay the same.

    Example:  python -m benchmarks bench scaling --axes n,m --base n=8000,t=32
    """
    from benchmarks.bench.scaling import Point, ScalingSettings, parse_base, run_scaling

    settings = ScalingSettings(
        base=parse_base(base, Point(n=2000, p=500, d=200, t=8) if quick else Point()),
        axes=tuple(_list(axes)),
        doublings=min(doublings, 2) if quick else doublings,
        repeats=1 if quick else repeats,
        dataset=dataset,
        data_home=data_home,
    )
    _finish(run_scaling(settings, out, _console(json)), json)


@bench_app.command()
def large(
    n_samples: Annotated[int, _option("Training rows.", min=1)] = 300_000,
    n_features: Annotated[int, _option("Features, 50 per row.", min=50)] = 100_000,
    n_labels: Annotated[int, _option("Labels, 5 per row.", min=5)] = 100_000,
    n_estimators: _Trees = 20,
    n_components: _Components = 16,
    n_jobs: _Jobs = 2,
    json: _Json = False,
) -> None:
    """Fit and predict on a generated sparse data set with very many rows, features and labels.

    Example:  python -m benchmarks bench large --n-samples 50000 --n-labels 10000
    """
    from benchmarks.bench.large import large_json, run_large

    sizes = {"n_samples": n_samples, "n_features": n_features, "n_labels": n_labels}
    forest = {"n_estimators": n_estimators, "n_components": n_components}
    result = run_large(**sizes, **forest, n_jobs=effective_n_jobs(n_jobs), console=_console(json))
    if json:
        typer.echo(large_json(result))


@bench_app.command()
def extreme(
    shape: Annotated[str, _option("wiki10-31k or amazon-670k.")] = "wiki10-31k",
    methods: Annotated[
        str,
        _option("Comma-separated: rf, et, sf (ours), napkinxc, omikuji.", show_default=False),
    ] = "",
    n_train: Annotated[
        int | None, _option("Training rows.", min=1, show_default="as in the data set")
    ] = None,
    n_test: Annotated[
        int | None, _option("Test rows.", min=1, show_default="as in the data set")
    ] = None,
    n_estimators: _Trees = 50,
    n_components: _Components = 32,
    n_jobs: _Jobs = 2,
    out: _Out = _BENCH,
) -> None:
    """Compare with linear label trees on a generated data set with very many labels.

    The data have the shape of a data set of the Extreme Classification Repository. Each method
    fits, saves, loads and ranks the five best labels of the test rows, in its own process.

    Example:  python -m benchmarks bench extreme --shape amazon-670k --methods rf
    """
    from benchmarks.bench.extreme import run_extreme

    rows = run_extreme(
        shape,
        _list(methods),
        out,
        n_train=n_train,
        n_test=n_test,
        n_estimators=n_estimators,
        n_components=n_components,
        n_jobs=effective_n_jobs(n_jobs),
    )
    if not rows:
        raise typer.Exit(1)


@bench_app.command()
def accuracy(
    datasets: _Datasets = "",
    splits: _Splits = 3,
    tuned_splits: Annotated[
        int, _option("Splits on which forests are tuned, which takes ten times as long.", min=0)
    ] = 1,
    methods: Annotated[str, _option("Comma-separated names; by default, all.")] = "",
    n_estimators: _Trees = 100,
    n_jobs: _Jobs = 2,
    out: _Study = _STUDY,
    data_home: _DataHome = None,
) -> None:
    """Compare default and tuned forests with other libraries, on every data set.

    Example:  python -m benchmarks bench accuracy --datasets emotions,enron --splits 3
    """
    from benchmarks.studies.accuracy import run_accuracy
    from benchmarks.studies.study import Study

    study = Study(_list(datasets), out, splits, n_estimators, n_jobs, data_home)
    _exit_if_interrupted(run_accuracy(study, _list(methods), tuned_splits))


@bench_app.command()
def tuning(
    datasets: _Datasets = "",
    predicted: Annotated[
        str, _option("Data sets on which scores of 500 trees are predicted.")
    ] = "bibtex, diatoms, enron-hierarchical, stackex_cooking, Expression-GO",
    splits: _Splits = 3,
    n_estimators: _Trees = 100,
    n_jobs: _Jobs = 2,
    out: _Study = _STUDY,
    data_home: _DataHome = None,
) -> None:
    """Compare the tuned forest with fixed settings, on every data set.

    Example:  python -m benchmarks bench tuning --datasets emotions,enron --predicted emotions
    """
    from benchmarks.studies.study import Study
    from benchmarks.studies.tuning import run_tuning

    study = Study(_list(datasets), out, splits, n_estimators, n_jobs, data_home)
    _exit_if_interrupted(run_tuning(study, _list(predicted)))


def _add_study(name: str, compared: str, default_datasets: str, default_splits: int) -> None:
    """Add the command of a study that has the usual options."""

    def command(
        datasets: _Datasets = default_datasets,
        splits: _Splits = default_splits,
        n_estimators: _Trees = 100,
        n_jobs: _Jobs = 2,
        out: _Study = _STUDY,
        data_home: _DataHome = None,
    ) -> None:
        from benchmarks.studies.study import Study

        run = getattr(import_module(f"benchmarks.studies.{name}"), f"run_{name}")
        study = Study(_list(datasets), out, splits, n_estimators, n_jobs, data_home)
        _exit_if_interrupted(run(study))

    bench_app.command(name, help=f"Compare {compared}.")(command)


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


@bench_app.command()
def regression(
    splits: _Splits = 2,
    n_estimators: _Trees = 100,
    out: _Study = _STUDY,
    data_home: _DataHome = None,
) -> None:
    """Compare regressors on data sets of several real outputs, by cross-validation."""
    from benchmarks.studies.regression import run_regression

    _exit_if_interrupted(run_regression(out, data_home, splits, n_estimators))


@bench_app.command()
def costs(
    out: Annotated[Path, _option("CSV file of the measurements.")] = Path("docs/study/costs.csv"),
) -> None:
    """Measure the costs that the rules of thumb in docs/guide/costs.md predict (minutes)."""
    from benchmarks.studies.costs import run_costs

    run_costs(out)


@bench_app.command()
def boosting(
    regression: Annotated[Path, _option("Folder of regression sets, NAME.npz with X and Y.")],
    out: _Study = _STUDY,
) -> None:
    """Compare boosting with XGBoost and forests (an hour)."""
    from benchmarks.studies.boosting import run_boosting

    run_boosting(regression, out)


@app.command()
def reproduce(
    what: Annotated[
        list[str],
        typer.Argument(
            help="One or more of table1, table2, figure1, figure2, figure3, figure4, timing, "
            "variance and theorem; or all."
        ),
    ],
    repeats: Annotated[
        int | None,
        _option("Splits or seeds of each score; the paper's 10 where affordable.", min=1),
    ] = None,
    datasets: Annotated[
        str,
        _option(
            "Comma-separated names; by default, all of the paper's that are available.",
            show_default=False,
        ),
    ] = "",
    with_all: Annotated[bool, _option("Add m = d, which takes longest.", "--with-all")] = False,
    quick: Annotated[
        bool, _option("Few repeats, trees and points: a few minutes.", "--quick")
    ] = False,
    n_jobs: _Jobs = -1,
    random_state: Annotated[int, _option("Random seed.", "--random-state", "--seed")] = 0,
    out: Annotated[
        Path,
        _option(
            "Folder for CSV files, pictures and pages. Finished runs are kept in its folder 'runs' "
            "and are not repeated; delete it to start again."
        ),
    ] = Path("sketchforest-paper"),
    data_home: _DataHome = None,
    json: _Json = False,
) -> None:
    """Reproduce the tables and figures of the paper, and compare with its own numbers.

    Writes a CSV file, pictures and a page for each, and one report for several. An interrupted run
    resumes where it stopped.

    Example:  python -m benchmarks reproduce table1 --datasets emotions,medical --repeats 3
    """
    from benchmarks.reproduce.run import run_reproduce
    from benchmarks.reproduce.settings import ReproduceSettings

    settings = ReproduceSettings(
        datasets=tuple(_list(datasets)),
        repeats=repeats,
        quick=quick,
        n_jobs=n_jobs,
        data_home=data_home,
        with_all=with_all,
        seed=random_state,
    )
    _finish(run_reproduce(what, settings, out, _console(json)), json)


@app.command()
def readme() -> None:
    """Write the stored results into README.md and docs; measures nothing."""
    from benchmarks.readme import renew

    renew(Path(__file__).parents[1])
