"""Scores of a model: tables for the terminal, and plots."""

import os
from collections.abc import Mapping

from rich.console import Console
from rich.table import Table

from sketchforest._evaluation.result import NEW_ROWS
from sketchforest._utils.pictures import save_figure
from sketchforest.cli.tables import SHOWN, make_table
from sketchforest.evaluation import Evaluation, meaning


def show_evaluation(evaluation: Evaluation, console: Console) -> None:
    show_unknown(evaluation, console)
    console.print(scores_table(evaluation.scores, evaluation.basis))
    if evaluation.labels is not None:
        console.print("\nMost frequent labels:")
        numbers = ("true", "predicted", "precision", "recall", "F1", "AP")
        rows = [
            (name, f"{n_true:,}", f"{n_predicted:,}", *(f"{value:.3f}" for value in scores))
            for name, n_true, n_predicted, _, *scores, _ in evaluation.labels.rows()[:SHOWN]
        ]
        console.print(make_table(("label", *numbers), rows, right=numbers))


def show_unknown(evaluation: Evaluation, console: Console) -> None:
    if evaluation.caution is not None:
        console.print(evaluation.caution, soft_wrap=True)
    if evaluation.n_unknown:
        console.print(f"Ignored {evaluation.n_unknown} labels that the model does not know.")


def scores_table(scores: Mapping[str, float], basis: str = NEW_ROWS) -> Table:
    rows = [
        (meaning(name).title, f"{value:,.0f}" if name == "rows" else f"{value:.4f}")
        for name, value in scores.items()
    ]
    return make_table(("score", "" if basis == NEW_ROWS else basis), rows, right=("", basis))


def save_evaluation_figure(result: Evaluation, path: str | os.PathLike[str]) -> None:
    """Plot precision and nDCG at k, F1 of each label by its frequency, and calibration."""
    try:
        import matplotlib.figure
    except ImportError:
        raise ImportError(
            "--picture needs matplotlib. Install it with: pip install 'sketchforest[plot]'"
        ) from None
    # Unlike pyplot, a bare Figure needs no display.
    figure = matplotlib.figure.Figure(figsize=(13, 4.2), layout="constrained")
    result.plot(figure.subplots(1, 3))
    save_figure(figure, path)
