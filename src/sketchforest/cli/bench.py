"""The command `bench` and those below it."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from sketchforest.cli.command import Command, Group
from sketchforest.cli.options import (
    DataHomeOption,
    JsonOption,
    console,
    exit_if_interrupted,
    finish,
    names,
    text_of,
)

bench_app = typer.Typer(cls=Group, invoke_without_command=True, pretty_exceptions_enable=False)

_OUT = Path("sketchforest-bench")
_STUDY = Path("sketchforest-study")
_DatasetsOption = Annotated[
    str, typer.Option(help="Names, separated by commas; else all.", show_default=False)
]
_SplitsOption = Annotated[int, typer.Option(min=1, help="Random splits of each set.")]
_TreesOption = Annotated[int, typer.Option(min=1, help="Trees in each forest.")]
_StudyOption = Annotated[
    Path, typer.Option(help="Folder for tables; what it has is not measured again.")
]
_JobsOption = Annotated[int, typer.Option(help="Threads of each method; -1 uses all cores.")]
_OutOption = Annotated[
    Path, typer.Option(help="Folder for CSV and picture; an earlier run's are replaced.")
]


@bench_app.callback()
def bench(
    context: typer.Context,
    datasets: Annotated[
        str,
        typer.Option(help="Names, separated by commas; 'all', 'generated'.", show_default=False),
    ] = "",
    methods: Annotated[
        str,
        typer.Option(
            help="Names, separated by commas: sklearn-rf, sklearn-et (scikit-learn's forests), rf, "
            "et (ours on the original outputs), rf-mK, et-mK (on K projected ones), sklearn-zK, "
            "rf-zK (both on the same K for all trees), napkinxc, omikuji.",
            show_default=False,
        ),
    ] = "",
    n_estimators: _TreesOption = 100,
    n_jobs: _JobsOption = 2,
    repeats: Annotated[int, typer.Option(min=1, help="Runs of each; medians are shown.")] = 3,
    sklearn_trees: Annotated[
        str,
        typer.Option(
            help="Trees that scikit-learn really grows, the rest being scaled: 'auto' (about "
            "20 seconds' worth), 'all', or a number."
        ),
    ] = "auto",
    out: _OutOption = _OUT,
    json: JsonOption = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="At most 2,000 rows and 10 trees, one run of each.")
    ] = False,
    data_home: DataHomeOption = None,
) -> None:
    """Measure time, memory, size and quality beside scikit-learn, napkinXC and omikuji.

    Each run has a process of its own. Costs are compared with scikit-learn's forest on the
    original outputs.

    Example:  sketchforest bench --datasets bibtex --methods sklearn-rf,rf,rf-m5 --repeats 1
    """
    if context.invoked_subcommand is not None:
        return
    from sketchforest.lab.bench.run import BenchSettings, run_bench

    settings = BenchSettings(
        datasets=names(datasets),
        methods=names(methods),
        n_estimators=n_estimators,
        n_jobs=n_jobs,
        repeats=repeats,
        sklearn_trees=sklearn_trees,
        data_home=text_of(data_home),
        quick=quick,
    )
    finish(run_bench(settings, out, console(json)), json)


@bench_app.command(cls=Command)
def scaling(
    base: Annotated[
        str, typer.Option(help="Sizes to start from, as in n=8000,t=32.", show_default=False)
    ] = "",
    axes: Annotated[
        str, typer.Option(help="Sizes to double, separated by commas.")
    ] = "n,p,m,d,t,threads",
    doublings: Annotated[int, typer.Option(min=1, help="How often each is doubled.")] = 4,
    repeats: Annotated[int, typer.Option(min=1, help="Runs of each; medians are shown.")] = 3,
    dataset: Annotated[
        str | None, typer.Option(help="Rows of this data set instead of generated ones.")
    ] = None,
    out: _OutOption = _OUT,
    json: JsonOption = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small sizes, two doublings, one run of each.")
    ] = False,
    data_home: DataHomeOption = None,
) -> None:
    """Measure time and memory against rows, features, outputs, labels, trees and threads.

    Each size is doubled from a base while the others stay, and the exponent is fitted. With a
    data set, rows double up to all of them, and features and labels stay.

    Example:  sketchforest bench scaling --axes n,m --base n=8000,t=32
    """
    from sketchforest.lab.bench.scaling import ScalingSettings, run_scaling
    from sketchforest.lab.bench.scaling_axes import Point, parse_base

    settings = ScalingSettings(
        base=parse_base(base, Point(n=2000, p=500, d=200, t=8) if quick else Point()),
        axes=tuple(names(axes)),
        doublings=min(doublings, 2) if quick else doublings,
        repeats=1 if quick else repeats,
        dataset=dataset,
        data_home=text_of(data_home),
    )
    finish(run_scaling(settings, out, console(json)), json)


@bench_app.command(cls=Command)
def large(
    n_samples: Annotated[int, typer.Option(min=1, help="Training rows.")] = 300_000,
    n_features: Annotated[int, typer.Option(min=50, help="Features, 50 in each row.")] = 100_000,
    n_labels: Annotated[int, typer.Option(min=5, help="Labels, 5 in each row.")] = 100_000,
    n_estimators: Annotated[int, typer.Option(min=1, help="Trees.")] = 20,
    n_components: Annotated[int, typer.Option(min=1, help="Projected outputs.")] = 16,
    n_jobs: _JobsOption = 2,
    json: JsonOption = False,
) -> None:
    """Fit and predict on a generated sparse set with very many rows, features and labels.

    Example:  sketchforest bench large --n-samples 50000 --n-labels 10000
    """
    from joblib import effective_n_jobs

    from sketchforest.lab.bench.large import large_json, run_large

    result = run_large(
        n_samples=n_samples,
        n_features=n_features,
        n_labels=n_labels,
        n_estimators=n_estimators,
        n_components=n_components,
        n_jobs=effective_n_jobs(n_jobs),
        console=console(json),
    )
    if json:
        typer.echo(large_json(result))


@bench_app.command(cls=Command)
def extreme(
    shape: Annotated[str, typer.Option(help="wiki10-31k or amazon-670k.")] = "wiki10-31k",
    methods: Annotated[
        str,
        typer.Option(
            help="Separated by commas: rf, et, sf (ours), napkinxc, omikuji.", show_default=False
        ),
    ] = "",
    n_train: Annotated[
        int | None, typer.Option(min=1, help="Training rows.", show_default="as the set has")
    ] = None,
    n_test: Annotated[
        int | None, typer.Option(min=1, help="New rows.", show_default="as the set has")
    ] = None,
    n_estimators: Annotated[int, typer.Option(min=1, help="Trees of our forests.")] = 50,
    n_components: Annotated[int, typer.Option(min=1, help="Projected outputs.")] = 32,
    n_jobs: _JobsOption = 2,
    out: _OutOption = _OUT,
) -> None:
    """Compare with linear label trees on a generated set with very many labels.

    The set has the shape of one of the Extreme Classification Repository. Each method fits, saves,
    loads and ranks the five best labels of new rows, in a process of its own.

    Example:  sketchforest bench extreme --shape amazon-670k --methods rf
    """
    from joblib import effective_n_jobs

    from sketchforest.lab.bench.extreme import run_extreme

    rows = run_extreme(
        shape,
        names(methods),
        out,
        n_train=n_train,
        n_test=n_test,
        n_estimators=n_estimators,
        n_components=n_components,
        n_jobs=effective_n_jobs(n_jobs),
    )
    if not rows:
        raise typer.Exit(1)


@bench_app.command(cls=Command)
def components(
    datasets: _DatasetsOption = "",
    splits: _SplitsOption = 5,
    n_estimators: _TreesOption = 100,
    n_jobs: _JobsOption = 2,
    out: _StudyOption = _STUDY,
    data_home: DataHomeOption = None,
) -> None:
    """Compare numbers of components with the original outputs, on every data set.

    Example:  sketchforest bench components --datasets emotions,enron --splits 3
    """
    from sketchforest.lab.studies.components import run_components

    _run_study(run_components, datasets, out, splits, n_estimators, n_jobs, data_home)


@bench_app.command(cls=Command)
def accuracy(
    datasets: _DatasetsOption = "",
    splits: _SplitsOption = 3,
    tuned_splits: Annotated[
        int, typer.Option(min=0, help="Of these, for tuned forests, which take ten times as long.")
    ] = 1,
    methods: Annotated[str, typer.Option(help="Names, separated by commas; else all.")] = "",
    n_estimators: _TreesOption = 100,
    n_jobs: _JobsOption = 2,
    out: _StudyOption = _STUDY,
    data_home: DataHomeOption = None,
) -> None:
    """Compare forests, as they are and tuned, with other libraries, on every data set.

    Example:  sketchforest bench accuracy --datasets emotions,enron --splits 3
    """
    from sketchforest.lab.studies.accuracy import run_accuracy

    is_complete = run_accuracy(
        names(datasets),
        out,
        methods=names(methods) or (),
        n_splits=splits,
        n_tuned_splits=tuned_splits,
        n_estimators=n_estimators,
        n_jobs=n_jobs,
        data_home=text_of(data_home),
    )
    exit_if_interrupted(is_complete)


@bench_app.command(cls=Command)
def partitions(
    datasets: _DatasetsOption = "imdb,mediamill",
    splits: _SplitsOption = 1,
    n_estimators: _TreesOption = 100,
    n_jobs: _JobsOption = 2,
    out: _StudyOption = _STUDY,
    data_home: DataHomeOption = None,
) -> None:
    """Compare forests whose parts see a part of the rows each with forests that see all.

    Example:  sketchforest bench partitions --datasets mediamill
    """
    from sketchforest.lab.studies.partitions import run_partitions

    _run_study(run_partitions, datasets, out, splits, n_estimators, n_jobs, data_home)


@bench_app.command(cls=Command)
def projections(
    datasets: _DatasetsOption = "delicious,bibtex,medical,stackex_chess,stackex_cooking",
    splits: _SplitsOption = 3,
    n_estimators: _TreesOption = 100,
    n_jobs: _JobsOption = 2,
    out: _StudyOption = _STUDY,
    data_home: DataHomeOption = None,
) -> None:
    """Compare kinds of projections at several numbers of components.

    Example:  sketchforest bench projections --datasets medical --splits 3
    """
    from sketchforest.lab.studies.projections import run_projections

    _run_study(run_projections, datasets, out, splits, n_estimators, n_jobs, data_home)


@bench_app.command(cls=Command)
def thresholds(
    datasets: _DatasetsOption = "",
    splits: _SplitsOption = 3,
    n_estimators: _TreesOption = 100,
    n_jobs: _JobsOption = 2,
    out: _StudyOption = _STUDY,
    data_home: DataHomeOption = None,
) -> None:
    """Compare ways to decide which labels are predicted, on every data set.

    Example:  sketchforest bench thresholds --datasets emotions,enron --splits 3
    """
    from sketchforest.lab.studies.thresholds import run_thresholds

    _run_study(run_thresholds, datasets, out, splits, n_estimators, n_jobs, data_home)


@bench_app.command(cls=Command)
def tuning(
    datasets: _DatasetsOption = "",
    predicted: Annotated[
        str,
        typer.Option(
            "--predicted", "--foretold", help="Sets on which scores of 500 trees are predicted."
        ),
    ] = "bibtex, diatoms, enron-hierarchical, stackex_cooking, Expression-GO",
    splits: _SplitsOption = 3,
    n_estimators: _TreesOption = 100,
    n_jobs: _JobsOption = 2,
    out: _StudyOption = _STUDY,
    data_home: DataHomeOption = None,
) -> None:
    """Compare the tuned forest with usual ones, on every data set.

    Example:  sketchforest bench tuning --datasets emotions,enron --predicted emotions
    """
    from sketchforest.lab.studies.tuning import run_tuning

    run = partial(run_tuning, predicted=names(predicted))
    _run_study(run, datasets, out, splits, n_estimators, n_jobs, data_home)


def _run_study(
    run: Callable[..., bool],
    datasets: str,
    out: Path,
    splits: int,
    n_estimators: int,
    n_jobs: int,
    data_home: Path | None,
) -> None:
    is_complete = run(
        names(datasets),
        out=out,
        n_splits=splits,
        n_estimators=n_estimators,
        n_jobs=n_jobs,
        data_home=text_of(data_home),
    )
    exit_if_interrupted(is_complete)
