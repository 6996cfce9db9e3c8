"""Scores of a model: tables for the terminal, and a picture."""

import os
from collections.abc import Mapping

from rich.console import Console
from rich.table import Table

from sketchforest._utils.pictures import save_figure
from sketchforest._workflows.evaluation import Evaluation
from sketchforest.cli.tables import SHOWN, as_it_is, plain_table
from sketchforest.evaluation import meaning


def show_evaluation(evaluation: Evaluation, console: Console) -> None:
    show_unknown(evaluation, console)
    console.print(scores_table(evaluation.scores))
    if evaluation.labels is not None:
        console.print("\nThe most frequent labels:")
        numbers = ("true", "predicted", "precision", "recall", "F1", "AP")
        table = plain_table("label", *numbers, right=numbers)
        for name, n_true, n_predicted, _, *quality, _ in evaluation.labels.rows()[:SHOWN]:
            table.add_row(
                as_it_is(name), f"{n_true:,}", f"{n_predicted:,}", *(f"{v:.3f}" for v in quality)
            )
        console.print(table)


def show_unknown(evaluation: Evaluation, console: Console) -> None:
    if evaluation.n_trained_on:
        console.print(
            f"The model was trained on this file, on {evaluation.n_trained_on:,} of its rows: it "
            "will score lower on new ones."
        )
    if evaluation.n_unknown:
        console.print(f"{evaluation.n_unknown} labels that the model does not know are left out.")


def scores_table(scores: Mapping[str, float]) -> Table:
    table = plain_table("score", "", right=("",))
    for name, value in scores.items():
        table.add_row(score_name(name), f"{value:,.0f}" if name == "rows" else f"{value:.4f}")
    return table


def score_name(name: str) -> str:
    return meaning(name).title


def save_evaluation_figure(result: Evaluation, path: str | os.PathLike[str]) -> None:
    """Precision and nDCG against k; F1 of each label against its number of rows; calibration."""
    try:
        import matplotlib.figure
    except ImportError:
        raise ImportError(
            "The picture needs matplotlib. Install it with: pip install 'sketchforest[plot]'"
        ) from None
    # A bare Figure needs no display and leaves the caller's pyplot alone.
    figure = matplotlib.figure.Figure(figsize=(13, 4.2), layout="constrained")
    result.plot(figure.subplots(1, 3))
    save_figure(figure, path)
