"""`sketchforest train`."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.models import OptionInfo

from sketchforest._utils.registry import DEFAULT_ON_COMMAND_LINE, FORESTS_OF_LABELS, PROJECTIONS
from sketchforest.cli import options
from sketchforest.cli.config import ConfigOption, write_config


def _option(panel: str, help: str, *flag: str, **more: Any) -> OptionInfo:
    return typer.Option(*flag, help=help, rich_help_panel=panel, **more)


_forest, _text, _testing, _cluster = (
    partial(_option, panel)
    for panel in ("Forest", "Text", "Testing and tuning", "Checkpoints and clusters")
)
_by_estimator = partial(_forest, show_default="set by the estimator")


@options.with_data_options()
def train(
    context: typer.Context,
    file: options.FileArgument,
    out: Annotated[Path, typer.Option("--out", "-o", help="Model file to write.")],
    data: options.DataOptions,
    test: Annotated[str | None, _testing("File to test the model on.")] = None,
    holdout: Annotated[
        float, _testing("Fraction of rows to hold out for testing.", min=0, max=0.9)
    ] = 0.0,
    tune: Annotated[bool, _testing("Choose the settings by out-of-bag score.", "--tune")] = False,
    budget: Annotated[
        str,
        _testing(
            "Limit for --tune: seconds, or a number of trees such as '2000 trees'.",
            show_default="the cost of ten fits",
        ),
    ] = "none",
    compact: Annotated[
        bool,
        typer.Option("--compact", help="Leave out feature importances to save space."),
    ] = False,
    ngrams: Annotated[int, _text("Maximum number of words per term.", min=1, max=5)] = 1,
    min_count: Annotated[int, _text("Minimum number of texts with a term.", min=1)] = 2,
    max_terms: Annotated[
        int | None, _text("Maximum number of terms; the most frequent are kept.", min=1)
    ] = None,
    keep_texts: Annotated[
        bool,
        _text(
            "Store the texts in the model, so that 'serve' can show similar ones. Anyone who has "
            "the model can read them.",
            "--keep-texts",
        ),
    ] = False,
    forest: Annotated[
        str,
        _forest(
            f"{', '.join(FORESTS_OF_LABELS[:-1])} or {FORESTS_OF_LABELS[-1]}; with -regressor for "
            "real-valued outputs.",
        ),
    ] = DEFAULT_ON_COMMAND_LINE,
    estimator: Annotated[str | None, _forest("Former name of --forest.", hidden=True)] = None,
    n_estimators: Annotated[str, _forest("Number of trees, or auto.")] = "100",
    oblique: Annotated[float, _forest("Fraction of oblique trees in a sketch forest.")] = 0.7,
    ridge: Annotated[float, _forest("L2 penalty of oblique splits.")] = 2.0,
    projection: Annotated[
        str,
        _forest(f"Projection of the labels: {', '.join(PROJECTIONS)} or none."),
    ] = "gaussian",
    n_components: Annotated[
        str,
        _by_estimator("Size of the projection: a number, a fraction, log, sqrt, all or auto."),
    ] = "none",
    shared_projection: Annotated[
        bool, _forest("Use one projection for all trees.", "--shared-projection")
    ] = False,
    threshold: Annotated[
        str,
        _by_estimator("When to predict a label: a probability, f1, f1-per-label or top-K."),
    ] = "default",
    max_features: Annotated[
        str,
        _by_estimator(
            "Features per split: a number, a fraction, sqrt, 4sqrt, log2, auto, or none for all."
        ),
    ] = "default",
    max_depth: Annotated[str, _forest("Maximum depth of a tree.")] = "none",
    min_samples_split: Annotated[
        str, _by_estimator("Minimum number of rows to split a node.")
    ] = "default",
    min_samples_leaf: Annotated[str, _by_estimator("Minimum number of rows per leaf.")] = "default",
    min_weight_fraction_leaf: Annotated[
        float, _forest("Minimum fraction of the total weight per leaf.")
    ] = 0.0,
    max_leaf_nodes: Annotated[str, _forest("Maximum number of leaves per tree.")] = "none",
    min_impurity_decrease: Annotated[float, _forest("Minimum impurity decrease per split.")] = 0.0,
    bootstrap: Annotated[
        str, _by_estimator("Grow each tree on a bootstrap sample: true or false.")
    ] = "default",
    max_samples: Annotated[
        str, _forest("Rows drawn per tree: a number, a fraction, or none for all.")
    ] = "none",
    oob_score: Annotated[
        str,
        _forest(
            "Out-of-bag score: true, false or a metric such as precision_at_5.",
            show_default="lrap if trees leave rows out",
        ),
    ] = "default",
    class_weight: Annotated[
        str, _forest("Class weights: balanced, balanced_subsample or none.")
    ] = "none",
    random_state: Annotated[int, _forest("Random seed.", "--random-state", "--seed")] = 0,
    checkpoint: Annotated[
        Path | None,
        _cluster("Save finished trees in this folder; run the command again to resume."),
    ] = None,
    dask: Annotated[
        str | None,
        _cluster("Grow trees on the Dask cluster of this scheduler, such as tcp://host:8786."),
    ] = None,
    workers: Annotated[
        int | None, _cluster("Grow trees in this many processes on this machine.", min=1)
    ] = None,
    n_jobs: options.JobsOption = -1,
    quiet: options.QuietOption = False,
    config: ConfigOption = None,
    json: options.JsonOption = False,
) -> None:
    """Train a model on a data file.

    A table needs --tags-column or --label-columns. All other columns are numeric features, except
    those named by --text-column (TF-IDF; 'predict' then reads raw text) and --category-column
    (one-hot encoded).

    Example:  sketchforest train posts.csv --text-column body --tags-column tags --out model.sf

    Example:  sketchforest train yeast.arff --out yeast.sf --holdout 0.2 --n-components 10
    """
    given = locals()
    from inspect import signature

    from sketchforest import SketchForestClassifier
    from sketchforest._workflows.fitting import Backend
    from sketchforest._workflows.training import TextSettings, train_file
    from sketchforest.cli.model_views import outcome_json, show_outcome

    if test is not None and holdout > 0:
        raise typer.BadParameter("--test and --holdout cannot be used together.")
    if budget != "none" and not tune:
        raise typer.BadParameter("--budget needs --tune.")
    backend = Backend(dask, workers, checkpoint)
    if dask is not None and workers is not None:
        raise typer.BadParameter("--dask and --workers cannot be used together.")
    if tune and backend != Backend():
        raise typer.BadParameter("--dask, --workers and --checkpoint cannot be used with --tune.")
    text = TextSettings(ngrams, min_count, max_terms, keep_texts)
    has_text = data.text_column is not None or _is_fasttext(file, data.format)
    if text != TextSettings() and not has_text:
        raise typer.BadParameter(
            "--ngrams, --min-count, --max-terms and --keep-texts need --text-column."
        )
    known = signature(SketchForestClassifier).parameters
    params = {name: options.value(str(given[name])) for name in known if name in given}
    with options.progress(quiet):
        outcome = train_file(
            file,
            out,
            format=data.format,
            columns=data.columns(),
            encoding=data.encoding,
            text=text,
            estimator=estimator or forest,
            params=params | {"verbose": int(not quiet)},
            test=test,
            holdout=holdout,
            tunes=tune,
            budget=options.value(budget),
            compact=compact,
            options=data.read_options(),
            backend=backend,
        )
    if out.is_file():  # rather than a device such as /dev/null
        write_config(context, out, outcome.seconds)
    if json:
        options.print_json(outcome_json(outcome))
    else:
        show_outcome(outcome, options.console())
    options.exit_if_interrupted(outcome.is_complete)


def _is_fasttext(file: str, format: str | None) -> bool:
    from sketchforest.datasets.files import recognise_table

    if format is not None or not (file == "-" or Path(file).is_file()):
        return format == "fasttext"
    return recognise_table(file) == "fasttext"
