"""`sketchforest demo`."""

from pathlib import Path
from typing import Annotated

import typer

from sketchforest.cli import options


def demo(
    out: Annotated[
        Path, typer.Option(help="Where to write the picture (PNG and SVG).", dir_okay=False)
    ] = Path("sketchforest-demo.png"),
    n_estimators: Annotated[int, typer.Option(min=1, help="Trees in each forest.")] = 100,
    n_jobs: Annotated[
        int, typer.Option(help="Number of threads, for both libraries; -1 uses all cores.")
    ] = 2,
    random_state: options.SeedOption = 0,
    quick: Annotated[
        bool, typer.Option("--quick", help="Use 2,000 rows instead of 16,105; takes a few seconds.")
    ] = False,
) -> None:
    """Compare sketchforest with scikit-learn and tag texts, in under two minutes.

    Generates a tagging problem with 983 labels, prints a table of fit times, model sizes and
    ranking quality, and draws a picture. In a checkout, it also suggests tags for texts of
    examples/ and shows the words behind them.

    Example:  sketchforest demo --n-jobs -1 --out demo.png
    """
    from sketchforest._workflows.demo import FULL_SIZE, QUICK_SIZE, run_demo

    n_samples = QUICK_SIZE if quick else FULL_SIZE
    run_demo(n_samples, n_estimators, n_jobs, out, random_state)
