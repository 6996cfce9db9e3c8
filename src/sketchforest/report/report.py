"""A model and its evaluation as a page that needs nothing else, or as a model card."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sketchforest._estimators.inspection.description import Description
from sketchforest._files import written_whole
from sketchforest._pages import inline, render
from sketchforest._typing import Matrix
from sketchforest._units import seconds as in_seconds
from sketchforest.evaluation import Evaluation, evaluate
from sketchforest.report.content import (
    MAX_LABELS,
    Setting,
    extremes,
    headlines,
    label_lines,
    own_threshold,
    remarks,
    scores_of,
    settings_of,
    threshold_table,
)
from sketchforest.report.markdown import plain_markdown
from sketchforest.report.pictures import (
    calibration_picture,
    frequency_picture,
    ranking_picture,
    threshold_picture,
)
from sketchforest.report.wording import COLUMNS

if TYPE_CHECKING:
    from sketchforest._estimators.inspection.mixin import InspectionMixin

FOLDER = Path(__file__).parent
N_FEATURES = 20
PAGE_LINES = 50  # of the table of labels


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """What a page about a model says.

    Attributes
    ----------
    title : str
    description : Description
        What was fitted, as `forest.describe()` has it.
    evaluation : Evaluation
        How good it is.
    settings : list of Setting
        Parameters, those that are not the usual ones first.
    threshold : float or None
        That of all labels, where the model has one.
    is_of_classes : bool
        Whether each row has one class, and not any number of labels.
    about_model, about_data : dicts of str
        What is known of where they come from.
    made : str
        When and by which version.

    Examples
    --------
    >>> from sketchforest import SketchForestClassifier
    >>> from sketchforest.datasets import make_multilabel
    >>> from sketchforest.report import make_report
    >>> data = make_multilabel(200, 30, 50, labels_per_row=4, features_per_row=8)
    >>> forest = SketchForestClassifier(10, random_state=0).fit(data.X[:150], data.Y[:150])
    >>> report = make_report(forest, data.X[150:], data.Y[150:])
    >>> report.to_markdown().splitlines()[0][:2]
    '# '
    """

    title: str
    description: Description
    evaluation: Evaluation
    settings: list[Setting]
    threshold: float | None
    is_of_classes: bool
    about_model: Mapping[str, str]
    about_data: Mapping[str, str]
    made: str

    def to_html(self) -> str:
        """One page, which needs no other file and no network."""
        evaluation = self.evaluation
        labels = evaluation.labels
        pictures = {
            "by_threshold": threshold_picture(evaluation, self.threshold),
            "by_k": ranking_picture(evaluation),
            "by_frequency": None if labels is None else frequency_picture(labels),
            "by_probability": calibration_picture(evaluation),
        }
        own_files = {"script": inline(FOLDER / "table.js"), "style": inline(FOLDER / "report.css")}
        return render("report.html", FOLDER, **self._content(), **pictures, **own_files)

    def to_markdown(self) -> str:
        """A model card."""
        return render("card.md", FOLDER, **self._content(), plain=plain_markdown)

    def save(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        """As "html" or "markdown"; if not said, Markdown where the name ends in .md."""
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
        """In a notebook, within a frame: the styles of the page are its own."""
        page = escape(self.to_html())
        return f'<iframe srcdoc="{page}" style="width:100%;height:40rem;border:0"></iframe>'

    def _content(self) -> dict[str, Any]:
        evaluation = self.evaluation
        lines = [] if evaluation.labels is None else label_lines(evaluation.labels)
        best, worst, least_rows = extremes(lines)
        shares = self.description.importances[:N_FEATURES].tolist()
        features = self.description.features[: len(shares)].tolist()
        return {
            "title": self.title,
            "what": "class" if self.is_of_classes else "label",
            "whats": "classes" if self.is_of_classes else "labels",
            "n_rows": f"{evaluation.scores['rows']:,.0f}",
            "headlines": headlines(evaluation, self.is_of_classes),
            "scores": scores_of(evaluation, self.is_of_classes),
            "remarks": remarks(evaluation, lines, self.is_of_classes),
            "best": best,
            "worst": worst,
            "least_rows": least_rows,
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
            "about_data": {**self.about_data, **_predicting(evaluation)},
            "made": self.made,
        }


def make_report(
    model: "InspectionMixin",
    X: Matrix,
    Y: Matrix,
    *,
    title: str | None = None,
    about_model: Mapping[str, str] | None = None,
    about_data: Mapping[str, str] | None = None,
) -> Report:
    """A report on a fitted model, evaluated on rows X with labels, or real outputs, Y.

    Parameters
    ----------
    model : fitted estimator
    X, Y : rows that the model was not trained on, and what is true of them
    title : str, optional
        The name of the estimator if not given.
    about_model, about_data : dicts of str, optional
        What readers should know of where they come from, as in {"file": "test.csv"}.

    Returns
    -------
    Report
        With `save("report.html")` and `save("card.md")`.

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
    return report_of(model, evaluate(model, X, Y), title, about_model, about_data)


def report_of(
    model: "InspectionMixin",
    evaluation: Evaluation,
    title: str | None = None,
    about_model: Mapping[str, str] | None = None,
    about_data: Mapping[str, str] | None = None,
) -> Report:
    """The same of a model that is evaluated already.

    Parameters
    ----------
    model : fitted estimator
    evaluation : Evaluation
    title, about_model, about_data : as for `make_report`

    Returns
    -------
    Report

    Examples
    --------
    >>> from sketchforest import SketchForestClassifier
    >>> from sketchforest.datasets import make_multilabel
    >>> from sketchforest.evaluation import evaluate
    >>> from sketchforest.report import report_of
    >>> data = make_multilabel(200, 30, 50, labels_per_row=4, features_per_row=8)
    >>> forest = SketchForestClassifier(10, random_state=0).fit(data.X[:150], data.Y[:150])
    >>> report_of(forest, evaluate(forest, data.X[150:], data.Y[150:]), "Tags").title
    'Tags'
    """
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
    """By its name.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    bool

    Examples
    --------
    >>> from sketchforest.report import is_markdown
    >>> is_markdown("card.md"), is_markdown("report.html")
    (True, False)
    """
    return Path(path).suffix.lower() in (".md", ".markdown")


def _predicting(evaluation: Evaluation) -> dict[str, str]:
    if not evaluation.seconds:
        return {}
    rate = evaluation.scores["rows"] / evaluation.seconds
    return {"time to predict": f"{in_seconds(evaluation.seconds)}, {rate:,.0f} rows a second"}
