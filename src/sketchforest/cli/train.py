"""`sketchforest train`."""

# ruff: noqa: RUF009  fields of options are declared by a function

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sketchforest._utils.registry import DEFAULT_ON_COMMAND_LINE, FORESTS_OF_LABELS, PROJECTIONS
from sketchforest.cli import options
from sketchforest.cli.config import ConfigOption, given_options, write_config

if TYPE_CHECKING:
    from sketchforest import Tagger

_forest, _boosting, _text, _testing, _cluster = (
    partial(options.option, panel)
    for panel in ("Forest", "Boosting", "Text", "Testing and tuning", "Checkpoints and clusters")
)
_by_estimator = partial(_forest, show_default="set by the estimator")


@dataclass(frozen=True)
class TestingOptions:
    test: str | None = _testing("File to test the model on.")
    holdout: float = _testing("Fraction of rows to hold out for testing.", 0.0, min=0, max=0.9)
    tune: bool = _testing("Choose the settings by out-of-bag score.", False, "--tune")
    budget: str = _testing(
        "Limit for --tune: seconds, or a number of trees such as '2000 trees'.",
        "none",
        show_default="the cost of ten fits",
    )


@dataclass(frozen=True)
class TextOptions:
    ngrams: int = _text("Maximum number of words per term.", 1, min=1, max=5)
    min_count: int = _text("Minimum number of texts with a term.", 2, min=1)
    max_terms: int | None = _text("Maximum number of terms; the most frequent are kept.", min=1)
    keep_texts: bool = _text(
        "Store the texts in the model, so that 'serve' can show similar ones. Anyone who has the "
        "model can read them.",
        False,
        "--keep-texts",
    )

    def tagger(self, min_label_count: int) -> "Tagger":
        from sketchforest import Tagger

        return Tagger(
            ngram_range=(1, self.ngrams),
            min_df=self.min_count,
            max_features=self.max_terms,
            min_label_count=min_label_count,
            keep_texts=self.keep_texts,
        )


@dataclass(frozen=True)
class ForestOptions:
    """Parameters of an estimator. Only those that are given are passed on."""

    forest: str = _forest(
        f"{', '.join(FORESTS_OF_LABELS[:-1])} or {FORESTS_OF_LABELS[-1]}; with -regressor for "
        "real-valued outputs.",
        DEFAULT_ON_COMMAND_LINE,
    )
    estimator: str | None = _forest("Former name of --forest.", hidden=True)
    n_estimators: str = _forest("Number of trees, or auto.", "100")
    oblique: str = _forest("Fraction of oblique trees in a sketch forest.", "0.7")
    ridge: str = _forest("L2 penalty of oblique splits.", "2.0")
    linear: str = _forest("Weight of the linear part of a sketch forest: 0 to 1, or auto.", "auto")
    label_correlations: str = _forest(
        "Correct scores of a sketch forest by those of other labels: true or false.", "true"
    )
    calibrate: str = _forest("Calibrate probabilities: sigmoid, isotonic or none.", "none")
    device: str = _forest("Device for growing oblique trees: cpu or cuda.", "cpu")
    projection: str = _forest(
        f"Projection of the labels: {', '.join(PROJECTIONS)} or none.", "gaussian"
    )
    n_components: str | None = _by_estimator(
        "Size of the projection: a number, a fraction, log, sqrt, all or auto."
    )
    shared_projection: bool = _forest(
        "Use one projection for all trees.", False, "--shared-projection"
    )
    threshold: str | None = _by_estimator(
        "When to predict a label: a probability, f1, f1-per-label or top-K."
    )
    max_features: str | None = _by_estimator(
        "Features per split: a number, a fraction, sqrt, 4sqrt, log2, auto, or none for all."
    )
    max_depth: str = _forest("Maximum depth of a tree.", "none")
    min_samples_split: str | None = _by_estimator("Minimum number of rows to split a node.")
    min_samples_leaf: str | None = _by_estimator("Minimum number of rows per leaf.")
    min_weight_fraction_leaf: str = _forest("Minimum fraction of the total weight per leaf.", "0.0")
    max_leaf_nodes: str | None = _by_estimator("Maximum number of leaves per tree.")
    min_impurity_decrease: str = _forest("Minimum impurity decrease per split.", "0.0")
    max_bins: str = _forest(
        "Bins per feature in large nodes: up to 255, or none to try all thresholds.",
        "none",
    )
    bootstrap: str | None = _by_estimator("Grow each tree on a bootstrap sample: true or false.")
    max_samples: str = _forest(
        "Rows drawn per tree: a number, a fraction, or none for all.", "none"
    )
    oob_score: str | None = _forest(
        "Out-of-bag score: true, false or a metric such as precision_at_5.",
        show_default="lrap if trees leave rows out",
    )
    class_weight: str = _forest("Class weights: balanced, balanced_subsample or none.", "none")
    random_state: int = _forest("Random seed.", 0, "--random-state", "--seed")


@dataclass(frozen=True)
class BoostingOptions:
    """Parameters of --forest boosting. Only those that are given are passed on."""

    learning_rate: str = _boosting("Factor that shrinks the leaf values of each tree.", "0.1")
    max_iter: str = _boosting("Maximum number of trees.", "100")
    l2_regularization: str | None = _boosting(
        "L2 penalty of leaf values.", show_default="set by the estimator"
    )
    subsample: str | None = _boosting(
        "Fraction of rows drawn per tree.", show_default="set by the estimator"
    )
    early_stopping: str = _boosting(
        "Stop when the loss on held-out rows stops improving: true, false or auto.", "auto"
    )
    validation_fraction: str = _boosting("Fraction of rows to hold out for early stopping.", "0.1")
    n_iter_no_change: str = _boosting("Stop after this many trees without improvement.", "10")


@dataclass(frozen=True)
class ClusterOptions:
    checkpoint: Path | None = _cluster(
        "Save finished trees in this folder; run the command again to resume."
    )
    dask: str | None = _cluster(
        "Grow trees on the Dask cluster of this scheduler, such as tcp://host:8786."
    )
    workers: int | None = _cluster("Grow trees in this many processes on this machine.", min=1)


@options.with_option_groups()
def train(
    context: typer.Context,
    file: options.FileArgument,
    out: Annotated[Path, typer.Option("--out", "-o", help="Model file to write.")],
    data: options.DataOptions,
    testing: TestingOptions,
    words: TextOptions,
    forest: ForestOptions,
    boosting: BoostingOptions,
    cluster: ClusterOptions,
    min_label_count: Annotated[
        int, typer.Option(min=1, help="Leave out labels that occur in fewer rows.")
    ] = 1,
    compact: Annotated[
        bool, typer.Option("--compact", help="Leave out feature importances to save space.")
    ] = False,
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
    from sketchforest._workflows.fitting import Backend
    from sketchforest._workflows.training import train_file
    from sketchforest.cli.model_views import outcome_json, show_outcome

    if testing.test is not None and testing.holdout > 0:
        raise typer.BadParameter("--test and --holdout cannot be used together.")
    if testing.budget != "none" and not testing.tune:
        raise typer.BadParameter("--budget needs --tune.")
    if cluster.dask is not None and cluster.workers is not None:
        raise typer.BadParameter("--dask and --workers cannot be used together.")
    if testing.tune and cluster != ClusterOptions():
        raise typer.BadParameter("--dask, --workers and --checkpoint cannot be used with --tune.")
    if words != TextOptions() and not (data.text_column or _is_fasttext(file, data.format)):
        raise typer.BadParameter(
            "--ngrams, --min-count, --max-terms and --keep-texts need --text-column."
        )
    given = given_options(context)
    params = {
        name: options.value(str(value))
        for name, value in {**vars(forest), **vars(boosting)}.items()
        if name in given and name not in ("forest", "estimator")
    }
    shared = {"random_state": forest.random_state, "n_jobs": n_jobs, "verbose": int(not quiet)}
    with options.progress(quiet):
        outcome = train_file(
            data.file(file),
            out,
            tagger=words.tagger(min_label_count),
            estimator=forest.estimator or forest.forest,
            params=params | shared,
            test=testing.test,
            holdout=testing.holdout,
            tunes=testing.tune,
            budget=options.value(testing.budget),
            compact=compact,
            backend=Backend(cluster.dask, cluster.workers, cluster.checkpoint),
        )
    if out.is_file():  # rather than a device such as /dev/null
        write_config(context, out, outcome.seconds)
    if json:
        options.print_json(outcome_json(outcome))
    else:
        show_outcome(outcome, options.console())
    options.exit_if_interrupted(outcome.is_complete)


def _is_fasttext(file: str, format: str | None) -> bool:
    from sketchforest.datasets.files import recognize_table

    if format is not None or not (file == "-" or Path(file).is_file()):
        return format == "fasttext"
    return recognize_table(file) == "fasttext"
