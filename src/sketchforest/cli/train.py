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


_forest, _text, _quality, _long = (
    partial(_option, panel) for panel in ("Forest", "Text", "Quality", "Long trainings")
)


def train(
    context: typer.Context,
    file: options.FileArgument,
    out: Annotated[Path, typer.Option("--out", "-o", help="The model file to write.")],
    format: options.FormatOption = None,
    encoding: options.EncodingOption = "utf-8",
    text_column: options.TextOption = None,
    category_column: options.CategoryOption = "",
    number_column: options.NumberOption = "",
    tags_column: options.TagsOption = None,
    tag_separator: options.SeparatorOption = None,
    label_columns: options.LabelsOption = "",
    ignore_columns: options.IgnoreOption = "",
    xml: options.XmlOption = None,
    test: Annotated[str | None, _quality("A file to test the model on.")] = None,
    holdout: Annotated[
        float, _quality("Share of rows to keep back and test on.", min=0, max=0.9)
    ] = 0.0,
    tune: Annotated[bool, _quality("Choose the settings by out-of-bag score.", "--tune")] = False,
    budget: Annotated[
        str,
        _quality(
            "What --tune may take: seconds, or as in '2000 trees'.", show_default="as ten fits"
        ),
    ] = "none",
    compact: Annotated[
        bool, typer.Option("--compact", help="Leave out what prediction does not need.")
    ] = False,
    ngrams: Annotated[int, _text("Words in a term, at most.", min=1, max=5)] = 1,
    min_count: Annotated[int, _text("Texts that a term must be in.", min=1)] = 2,
    max_terms: Annotated[int | None, _text("Only so many, the most frequent.", min=1)] = None,
    keep_texts: Annotated[
        bool,
        _text(
            "Keep the texts in the model, which 'serve' shows beside similar rows. Who has the "
            "model can read them.",
            "--keep-texts",
        ),
    ] = False,
    forest: Annotated[
        str,
        _forest(
            f"{', '.join(FORESTS_OF_LABELS[:-1])} or {FORESTS_OF_LABELS[-1]}; with -regressor for "
            "real outputs.",
        ),
    ] = DEFAULT_ON_COMMAND_LINE,
    estimator: Annotated[str | None, _forest("The former name of --forest.", hidden=True)] = None,
    n_estimators: Annotated[str, _forest("Trees: a number, or auto.")] = "100",
    oblique: Annotated[float, _forest("Share of oblique trees in a sketch forest.")] = 0.7,
    ridge: Annotated[float, _forest("How far oblique directions are held back.")] = 2.0,
    projection: Annotated[
        str,
        _forest(f"{', '.join(PROJECTIONS)}, or none for the labels as they are."),
    ] = "gaussian",
    n_components: Annotated[
        str,
        _forest(
            "Projected labels: a number, a share, log, sqrt, all, auto.",
            show_default="the estimator's",
        ),
    ] = "none",
    shared_projection: Annotated[
        bool, _forest("One projection for all trees.", "--shared-projection")
    ] = False,
    threshold: Annotated[
        str,
        _forest(
            "When a label is predicted: a probability, f1, f1-per-label, top-K.",
            show_default="the estimator's",
        ),
    ] = "default",
    max_features: Annotated[
        str,
        _forest(
            "Features tried a split: a number, a share, sqrt, 4sqrt, log2, auto, none for all.",
            show_default="the estimator's",
        ),
    ] = "default",
    max_depth: Annotated[str, _forest("Splits from root to leaf.")] = "none",
    min_samples_split: Annotated[
        str, _forest("Rows in a node to split.", show_default="the estimator's")
    ] = "default",
    min_samples_leaf: Annotated[
        str, _forest("Rows in a leaf.", show_default="the estimator's")
    ] = "default",
    min_weight_fraction_leaf: Annotated[float, _forest("Share of weight in a leaf.")] = 0.0,
    max_leaf_nodes: Annotated[str, _forest("Leaves of a tree.")] = "none",
    min_impurity_decrease: Annotated[float, _forest("What a split must gain.")] = 0.0,
    bootstrap: Annotated[
        str,
        _forest("Each tree on rows drawn anew: true or false.", show_default="the estimator's"),
    ] = "default",
    max_samples: Annotated[str, _forest("Rows drawn for a tree.")] = "none",
    oob_score: Annotated[
        str,
        _forest(
            "true, false or a metric, as in precision_at_5, to be predicted from rows that trees "
            "did not see.",
            show_default="lrap, where trees leave rows out",
        ),
    ] = "default",
    class_weight: Annotated[str, _forest("balanced, balanced_subsample or none.")] = "none",
    random_state: Annotated[
        int, _forest("Seed of all that is random.", "--random-state", "--seed")
    ] = 0,
    checkpoint: Annotated[
        Path | None,
        _long(
            "Keep finished trees in this folder: called again after a kill, the command goes on."
        ),
    ] = None,
    dask: Annotated[
        str | None,
        _long("Grow trees on the Dask cluster of this scheduler, as in tcp://host:8786."),
    ] = None,
    workers: Annotated[
        int | None, _long("Grow trees in so many processes of this machine.", min=1)
    ] = None,
    n_jobs: options.JobsOption = -1,
    quiet: options.QuietOption = False,
    config: ConfigOption = None,
    json: options.JsonOption = False,
) -> None:
    """Train a model on a file and write it to one file.

    A table needs --tags-column or --label-columns. Its other columns are numbers, unless they are
    named: text (--text-column) is turned into TF-IDF features and stays text for 'predict', each
    value of a category (--category-column) becomes a feature.

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
        raise typer.BadParameter("--budget is for --tune.")
    backend = Backend(dask, workers, checkpoint)
    if dask is not None and workers is not None:
        raise typer.BadParameter("--dask and --workers cannot be used together.")
    if tune and backend != Backend():
        raise typer.BadParameter("--dask, --workers and --checkpoint cannot be used with --tune.")
    text = TextSettings(ngrams, min_count, max_terms, keep_texts)
    has_text = text_column is not None or _is_fasttext(file, format)
    if text != TextSettings() and not has_text:
        raise typer.BadParameter(
            "--ngrams, --min-count, --max-terms and --keep-texts are for --text-column."
        )
    known = signature(SketchForestClassifier).parameters
    params = {name: options.value(str(given[name])) for name in known if name in given}
    with options.progress(quiet):
        outcome = train_file(
            file,
            out,
            format=format,
            columns=options.columns(
                text_column,
                tags_column,
                tag_separator,
                label_columns,
                ignore_columns,
                categories=category_column,
                numbers=number_column,
            ),
            encoding=encoding,
            text=text,
            estimator=estimator or forest,
            params=params | {"verbose": int(not quiet)},
            test=test,
            holdout=holdout,
            tunes=tune,
            budget=options.value(budget),
            compact=compact,
            options=options.read_options(xml),
            backend=backend,
        )
    if out.is_file():  # and no device, beside which nothing is kept
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
