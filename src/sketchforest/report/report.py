"""A model and its evaluation as a self-contained HTML page, or as a model card."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sketchforest._estimators.inspection.description import Description
from sketchforest._pages import inline, render
from sketchforest._utils.files import written_whole
from sketchforest._utils.typing import Matrix
from sketchforest._utils.units import seconds as in_seconds
from sketchforest.evaluation import Evaluation, evaluate
from sketchforest.report.content import (
    MAX_LABELS,
    Setting,
    extremes,
    headlines,
    label_lines,
    mistakes_of,
    own_threshold,
    plain_markdown,
    remarks,
    scored_rows,
    scores_of,
    settings_of,
    threshold_table,
)
from sketchforest.report.plots import calibration_plot, frequency_plot, ranking_plot, threshold_plot
from sketchforest.report.wording import COLUMNS

if TYPE_CHECKING:
    from sketchforest._estimators.estimator import Estimator

FOLDER = Path(__file__).parent
N_FEATURES = 20
PAGE_LINES = 50  # rows of the table of labels, as in table.js


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """A report on a fitted model.

    Examples
    --------
    >>> from sketchforest.report import Report, make_report  # make_report returns a Report
    """

    title: str
    description: Description  # as returned by `forest.describe()`
    evaluation: Evaluation
    settings: list[Setting]  # parameters; those with non-default values come first
    threshold: float | None  # if all labels share one
    is_of_classes: bool  # multi-class rather than multi-label
    about_model: Mapping[str, str]  # provenance
    about_data: Mapping[str, str]
    made: str  # date and version

    def to_html(self) -> str:
        """Return one HTML page that loads no other file."""
        evaluation = self.evaluation
        labels = evaluation.labels
        plots = {
            "by_threshold": threshold_plot(evaluation, self.threshold),
            "by_k": ranking_plot(evaluation),
            "by_frequency": None if labels is None else frequency_plot(labels),
            "by_probability": calibration_plot(evaluation),
        }
        own_files = {"script": inline(FOLDER / "table.js"), "style": inline(FOLDER / "report.css")}
        return render("report.html", FOLDER, **self._content(), **plots, **own_files)

    def to_markdown(self) -> str:
        """Return a model card."""
        return render("card.md", FOLDER, **self._content(), plain=plain_markdown)

    def save(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        """Write the report.

        Parameters
        ----------
        path : str or path
        format : {"html", "markdown"}, optional
            By default Markdown if the name ends in .md or .markdown, else HTML.
        """
        if format not in (None, "html", "markdown"):
            raise ValueError(f"format must be 'html' or 'markdown'; got {format!r}.")
        if format is None:
            format = "markdown" if is_markdown(path) else "html"
        text = self.to_markdown() if format == "markdown" else self.to_html()
        with written_whole(path) as draft:
            draft.write_text(text, encoding="utf-8")

    def __repr__(self) -> str:
        return f"<Report of {self.title!r}: save it as .html or .md>\n{self.evaluation!r}"

    def _repr_html_(self) -> str:
        """Show the page in a frame, which isolates its styles from the notebook."""
        page = escape(self.to_html())
        return f'<iframe srcdoc="{page}" style="width:100%;height:40rem;border:0"></iframe>'

    def _content(self) -> dict[str, Any]:
        evaluation = self.evaluation
        about_data = dict(self.about_data)
        if evaluation.seconds:
            rate = f"{evaluation.scores['rows'] / evaluation.seconds:,.0f} rows per second"
            about_data["prediction time"] = f"{in_seconds(evaluation.seconds)}, {rate}"
        lines = [] if evaluation.labels is None else label_lines(evaluation.labels)
        best, worst, least_rows = extremes(lines)
        shares = self.description.importances[:N_FEATURES].tolist()
        features = self.description.features[: len(shares)].tolist()
        return {
            "title": self.title,
            "what": "class" if self.is_of_classes else "label",
            "whats": "classes" if self.is_of_classes else "labels",
            "n_rows": f"{evaluation.scores['rows']:,.0f}",
            "scored_rows": scored_rows(evaluation),
            "headlines": headlines(evaluation, self.is_of_classes),
            "scores": scores_of(evaluation, self.is_of_classes),
            "remarks": remarks(evaluation, lines, self.is_of_classes),
            "best": best,
            "worst": worst,
            "least_rows": least_rows,
            "mistakes": mistakes_of(evaluation),
            "pairs": evaluation.confused_pairs,
            "lines": lines[:MAX_LABELS],
            "n_labels": len(lines),
            "page_lines": PAGE_LINES,
            "columns": COLUMNS,
            "thresholds": threshold_table(evaluation, self.threshold),
            "features": [pair for pair in zip(features, shares, strict=True) if pair[1] > 0],
            "has_gains": len(self.description.importances) > 0,
            "facts_of": self.description.facts,
            "estimator": self.description.title.partition("(")[0],
            "settings": self.settings,
            "about_model": self.about_model,
            "about_data": about_data,
            "made": self.made,
        }


def make_report(
    model: "Estimator",
    X: Matrix,
    Y: Matrix,
    *,
    include_training_rows: bool = False,
    title: str | None = None,
    about_model: Mapping[str, str] | None = None,
    about_data: Mapping[str, str] | None = None,
) -> Report:
    """Evaluate a fitted model on test data and report the results.

    Parameters
    ----------
    model : fitted estimator
    X, Y : test data
        Rows that the model was trained on are left out, or scored out-of-bag if there are no
        others; see `sketchforest.evaluation.evaluate`.
    include_training_rows : bool, default=False
        Score training rows like new ones. The headline says so.
    title : str, optional
        Default: the name of the estimator.
    about_model, about_data : dict of str, optional
        Provenance of the model and the test data, such as {"file": "test.csv"}.

    Returns
    -------
    Report
        Save it with `save("report.html")` or `save("card.md")`.

    Examples
    --------
    >>> from sketchforest import SketchForestClassifier
    >>> from sketchforest.datasets import make_multilabel
    >>> data = make_multilabel(200, 30, 50, labels_per_row=4, features_per_row=8)
    >>> forest = SketchForestClassifier(10, random_state=0).fit(data.X[:150], data.Y[:150])
    >>> report = make_report(forest, data.X[150:], data.Y[150:], title="An example")
    >>> report.to_markdown().splitlines()[0]
    '# An example'
    """
    evaluation = evaluate(model, X, Y, include_training_rows=include_training_rows)
    return report_of(model, evaluation, title, about_model, about_data)


def report_of(
    model: "Estimator",
    evaluation: Evaluation,
    title: str | None = None,
    about_model: Mapping[str, str] | None = None,
    about_data: Mapping[str, str] | None = None,
) -> Report:
    """Report on a model that was already evaluated, as `make_report` does."""
    from sketchforest import __version__

    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return Report(
        title=title or type(model).__name__,
        description=model.describe(),
        evaluation=evaluation,
        settings=settings_of(model),
        threshold=own_threshold(model),
        is_of_classes=model.fitted_.targets.classes is not None,
        about_model=about_model or {},
        about_data=about_data or {},
        made=f"{now}, sketchforest {__version__}",
    )


def is_markdown(path: str | os.PathLike[str]) -> bool:
    return Path(path).suffix.lower() in (".md", ".markdown")
