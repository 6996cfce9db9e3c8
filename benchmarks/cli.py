"""The command line of the benchmarks: parse, call, print."""

from pathlib import Path
from typing import Annotated, Any

import typer
from joblib import effective_n_jobs
from typer.core import TyperGroup

import benchmarks
from benchmarks.options import (
    BENCH,
    Components,
    DataHome,
    Jobs,
    Json,
    OutFolder,
    Repeats,
    Trees,
    console,
    finish,
    names_in,
    option,
)
from benchmarks.study_commands import studies_app
from sketchforest.cli.command import SETTINGS

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


app = typer.Typer(
    cls=_Group,
    context_settings=SETTINGS,
    help=benchmarks.__doc__,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
bench_app = typer.Typer(cls=_Group, invoke_without_command=True, rich_markup_mode="markdown")
bench_app.add_typer(studies_app)  # without a name, so its commands join those of bench
app.add_typer(bench_app, name="bench")


def main() -> None:
    app(prog_name="python -m benchmarks")


@bench_app.callback()
def bench(
    context: typer.Context,
    datasets: Annotated[
        str, option("Comma-separated names, 'all' or 'generated'.", show_default=False)
    ] = "",
    methods: Annotated[
        str,
        option(
            "Comma-separated names: sklearn-rf, sklearn-et (scikit-learn's forests), rf, et (ours "
            "on the original outputs), rf-mK, et-mK (ours on K projected outputs), sketch (our "
            "sketch forest), sklearn-zK, rf-zK (all trees on the same K projected outputs), "
            "napkinxc, omikuji.",
            show_default=False,
        ),
    ] = "",
    n_estimators: Trees = 100,
    n_jobs: Jobs = 2,
    repeats: Repeats = 3,
    sklearn_trees: Annotated[
        str,
        option(
            "Trees that scikit-learn grows, before scaling: 'auto' (as many as take about 20 "
            "seconds), 'all' or a number."
        ),
    ] = "auto",
    out: OutFolder = BENCH,
    json: Json = False,
    quick: Annotated[
        bool, option("Use at most 2,000 rows and 10 trees, one run each.", "--quick")
    ] = False,
    data_home: DataHome = None,
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
        datasets=names_in(datasets),
        methods=names_in(methods),
        n_estimators=n_estimators,
        n_jobs=n_jobs,
        repeats=repeats,
        sklearn_trees=sklearn_trees,
        data_home=data_home,
        quick=quick,
    )
    finish(run_bench(settings, out, console(json)), json)


@bench_app.command()
def scaling(
    base: Annotated[
        str, option("Sizes to start from, such as n=8000,t=32.", show_default=False)
    ] = "",
    axes: Annotated[str, option("Comma-separated sizes to double.")] = "n,p,m,d,t,threads",
    doublings: Annotated[int, option("Number of doublings of each size.", min=1)] = 4,
    repeats: Repeats = 3,
    dataset: Annotated[str | None, option("Data set to use instead of generated data.")] = None,
    out: OutFolder = BENCH,
    json: Json = False,
    quick: Annotated[bool, option("Small sizes, two doublings, one run each.", "--quick")] = False,
    data_home: DataHome = None,
) -> None:
    """Measure how time and memory grow with rows, features, outputs, labels, trees and threads.

    Doubles one size at a time and fits the exponent. On a data set, the number of rows doubles up
    to all of them, while features and labels stay the same.

    Example:  python -m benchmarks bench scaling --axes n,m --base n=8000,t=32
    """
    from benchmarks.bench.scaling import Point, ScalingSettings, parse_base, run_scaling

    settings = ScalingSettings(
        base=parse_base(base, Point(n=2000, p=500, d=200, t=8) if quick else Point()),
        axes=tuple(names_in(axes)),
        doublings=min(doublings, 2) if quick else doublings,
        repeats=1 if quick else repeats,
        dataset=dataset,
        data_home=data_home,
    )
    finish(run_scaling(settings, out, console(json)), json)


@bench_app.command()
def large(
    n_samples: Annotated[int, option("Training rows.", min=1)] = 300_000,
    n_features: Annotated[int, option("Features, 50 per row.", min=50)] = 100_000,
    n_labels: Annotated[int, option("Labels, 5 per row.", min=5)] = 100_000,
    n_estimators: Trees = 20,
    n_components: Components = 16,
    n_jobs: Jobs = 2,
    json: Json = False,
) -> None:
    """Fit and predict on a generated sparse data set with very many rows, features and labels.

    Example:  python -m benchmarks bench large --n-samples 50000 --n-labels 10000
    """
    from benchmarks.bench.large import large_json, run_large

    sizes = {"n_samples": n_samples, "n_features": n_features, "n_labels": n_labels}
    forest = {"n_estimators": n_estimators, "n_components": n_components}
    result = run_large(**sizes, **forest, n_jobs=effective_n_jobs(n_jobs), console=console(json))
    if json:
        typer.echo(large_json(result))


@bench_app.command()
def extreme(
    shape: Annotated[str, option("wiki10-31k or amazon-670k.")] = "wiki10-31k",
    methods: Annotated[
        str,
        option("Comma-separated: rf, et, sf (ours), napkinxc, omikuji.", show_default=False),
    ] = "",
    n_train: Annotated[
        int | None, option("Training rows.", min=1, show_default="as in the data set")
    ] = None,
    n_test: Annotated[
        int | None, option("Test rows.", min=1, show_default="as in the data set")
    ] = None,
    n_estimators: Trees = 50,
    n_components: Components = 32,
    n_jobs: Jobs = 2,
    out: OutFolder = BENCH,
) -> None:
    """Compare with linear label trees on a generated data set with very many labels.

    The data have the shape of a data set of the Extreme Classification Repository. Each method
    fits, saves, loads and ranks the five best labels of the test rows, in its own process.

    Example:  python -m benchmarks bench extreme --shape amazon-670k --methods rf
    """
    from benchmarks.bench.extreme import run_extreme

    rows = run_extreme(
        shape,
        names_in(methods),
        out,
        n_train=n_train,
        n_test=n_test,
        n_estimators=n_estimators,
        n_components=n_components,
        n_jobs=effective_n_jobs(n_jobs),
    )
    if not rows:
        raise typer.Exit(1)


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
        option("Splits or seeds of each score; the paper's 10 where affordable.", min=1),
    ] = None,
    datasets: Annotated[
        str,
        option(
            "Comma-separated names; by default, all of the paper's that are available.",
            show_default=False,
        ),
    ] = "",
    with_all: Annotated[bool, option("Add m = d, which takes longest.", "--with-all")] = False,
    quick: Annotated[
        bool, option("Few repeats, trees and points: a few minutes.", "--quick")
    ] = False,
    n_jobs: Jobs = -1,
    random_state: Annotated[int, option("Random seed.", "--random-state", "--seed")] = 0,
    out: Annotated[
        Path,
        option(
            "Folder for CSV files, pictures and pages. Finished runs are kept in its folder 'runs' "
            "and are not repeated; delete it to start again."
        ),
    ] = Path("sketchforest-paper"),
    data_home: DataHome = None,
    json: Json = False,
) -> None:
    """Reproduce the tables and figures of the paper, and compare with its own numbers.

    Writes a CSV file, pictures and a page for each, and one report for several. An interrupted run
    resumes where it stopped.

    Example:  python -m benchmarks reproduce table1 --datasets emotions,medical --repeats 3
    """
    from benchmarks.reproduce.run import run_reproduce
    from benchmarks.reproduce.settings import ReproduceSettings

    settings = ReproduceSettings(
        datasets=tuple(names_in(datasets)),
        repeats=repeats,
        quick=quick,
        n_jobs=n_jobs,
        data_home=data_home,
        with_all=with_all,
        seed=random_state,
    )
    finish(run_reproduce(what, settings, out, console(json)), json)


@app.command()
def readme() -> None:
    """Write the stored results into README.md and docs; measures nothing."""
    from benchmarks.readme import renew

    renew(Path(__file__).parents[1])
