"""`sketchforest train`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from sketchforest.cli.options import (
    FileArgument,
    FormatOption,
    IgnoreOption,
    JobsOption,
    JsonOption,
    LabelsOption,
    SeparatorOption,
    TagsOption,
    TextOption,
    XmlOption,
    columns,
    console,
    is_watched,
    print_json,
    value,
)

_FOREST, _TEXT, _QUALITY = "Forest", "Text", "Quality"


def _forest(help: str, default: bool | str = True) -> Any:
    return typer.Option(help=help, rich_help_panel=_FOREST, show_default=default)


def train(
    file: FileArgument,
    out: Annotated[Path, typer.Option("--out", "-o", help="The model file to write.")],
    format: FormatOption = None,
    text_column: TextOption = None,
    tags_column: TagsOption = None,
    tag_separator: SeparatorOption = None,
    label_columns: LabelsOption = "",
    ignore_columns: IgnoreOption = "",
    xml: XmlOption = None,
    test: Annotated[
        str | None,
        typer.Option(help="A file to test the model on.", rich_help_panel=_QUALITY),
    ] = None,
    holdout: Annotated[
        float,
        typer.Option(
            min=0, max=0.9, help="Share of rows to keep back and test on.", rich_help_panel=_QUALITY
        ),
    ] = 0.0,
    tune: Annotated[
        bool,
        typer.Option(
            "--tune", help="Choose the settings by out-of-bag score.", rich_help_panel=_QUALITY
        ),
    ] = False,
    budget: Annotated[
        str,
        typer.Option(
            help="What --tune may take: seconds, or as in '2000 trees'.",
            rich_help_panel=_QUALITY,
            show_default="as ten fits",
        ),
    ] = "none",
    compact: Annotated[
        bool, typer.Option("--compact", help="Leave out what prediction does not need.")
    ] = False,
    ngrams: Annotated[
        int, typer.Option(min=1, max=5, help="Words in a term, at most.", rich_help_panel=_TEXT)
    ] = 1,
    min_count: Annotated[
        int, typer.Option(min=1, help="Texts that a term must be in.", rich_help_panel=_TEXT)
    ] = 2,
    max_terms: Annotated[
        int | None,
        typer.Option(min=1, help="Only so many, the most frequent.", rich_help_panel=_TEXT),
    ] = None,
    estimator: Annotated[
        str,
        _forest("random-forest, extra-trees or decision-tree; with -regressor for real outputs."),
    ] = "random-forest",
    n_estimators: Annotated[str, _forest("Trees: a number, or auto.")] = "100",
    projection: Annotated[
        str,
        _forest(
            "gaussian, rademacher, achlioptas, sparse, hadamard, subsample, pca, or none for the "
            "labels as they are."
        ),
    ] = "gaussian",
    n_components: Annotated[
        str, _forest("Projected labels: a number, a share, log, sqrt, all, auto, none for 64.")
    ] = "none",
    shared_projection: Annotated[
        bool,
        typer.Option(
            "--shared-projection", help="One projection for all trees.", rich_help_panel=_FOREST
        ),
    ] = False,
    threshold: Annotated[
        str, _forest("When a label is predicted: a probability, oob-f1, oob-f1-global, top-K.")
    ] = "0.5",
    max_features: Annotated[
        str,
        _forest(
            "Features tried a split: a number, a share, sqrt, log2, auto, none for all.",
            "the estimator's",
        ),
    ] = "default",
    max_depth: Annotated[str, _forest("Splits from root to leaf.")] = "none",
    min_samples_split: Annotated[str, _forest("Rows in a node to split.")] = "2",
    min_samples_leaf: Annotated[str, _forest("Rows in a leaf.")] = "1",
    min_weight_fraction_leaf: Annotated[float, _forest("Share of weight in a leaf.")] = 0.0,
    max_leaf_nodes: Annotated[str, _forest("Leaves of a tree.")] = "none",
    min_impurity_decrease: Annotated[float, _forest("What a split must gain.")] = 0.0,
    bootstrap: Annotated[
        str, _forest("Each tree on rows drawn anew: true or false.", "the estimator's")
    ] = "default",
    max_samples: Annotated[str, _forest("Rows drawn for a tree.")] = "none",
    oob_score: Annotated[
        str,
        _forest("true, false or a metric, as in precision_at_5.", "LRAP, given a bootstrap"),
    ] = "default",
    class_weight: Annotated[str, _forest("balanced, balanced_subsample or none.")] = "none",
    random_state: Annotated[int, _forest("Seed.")] = 0,
    n_jobs: JobsOption = -1,
    json: JsonOption = False,
) -> None:
    """Train a model on a file and write it to one file.

    A table needs --tags-column or --label-columns; its other columns are features, or one of them
    is text (--text-column), which is turned into TF-IDF features and stays text for 'predict'.

    Example:  sketchforest train posts.csv --text-column body --tags-column tags --out model.sf

    Example:  sketchforest train yeast.arff --out yeast.sf --holdout 0.2 --n-components 10
    """
    given = locals()
    from sketchforest._workflows.training import TextSettings, train_file
    from sketchforest.cli.model_views import outcome_json, show_outcome

    if test is not None and holdout > 0:
        raise typer.BadParameter("--test and --holdout cannot be used together.")
    if budget != "none" and not tune:
        raise typer.BadParameter("--budget is for --tune.")
    text = TextSettings(ngrams, min_count, max_terms)
    if text_column is None and text != TextSettings():
        raise typer.BadParameter("--ngrams, --min-count and --max-terms are for --text-column.")
    params = {name: value(str(given[name])) for name in _PARAMETERS}
    outcome = train_file(
        file,
        out,
        format=format,
        columns=columns(text_column, tags_column, tag_separator, label_columns, ignore_columns),
        text=text,
        estimator=estimator,
        params=params | {"verbose": int(is_watched())},
        test=test,
        holdout=holdout,
        tunes=tune,
        budget=value(budget),
        compact=compact,
        options={} if xml is None else {"xml": xml},
    )
    if json:
        print_json(outcome_json(outcome))
    else:
        show_outcome(outcome, console())


_PARAMETERS = (
    "n_estimators",
    "projection",
    "n_components",
    "shared_projection",
    "threshold",
    "max_features",
    "max_depth",
    "min_samples_split",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "max_leaf_nodes",
    "min_impurity_decrease",
    "bootstrap",
    "max_samples",
    "oob_score",
    "class_weight",
    "random_state",
    "n_jobs",
)
