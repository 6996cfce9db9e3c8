"""The content of a report, as plain values."""

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sketchforest._evaluation.mistakes import ScoredLabel
from sketchforest._evaluation.result import NEW_ROWS, OUT_OF_BAG, TRAINING_ROWS
from sketchforest._utils.display import shortened
from sketchforest.evaluation import Evaluation, LabelTable
from sketchforest.metrics.meanings import meaning
from sketchforest.report.wording import BETTER, explain_score, of_classes

if TYPE_CHECKING:
    from sketchforest._estimators.estimator import Estimator

MAX_LABELS = 10_000  # on the page, which stays below a few megabytes
N_EXTREMES = 8  # best labels, and worst labels
MAX_SHOWN = 6  # labels of a row
MAX_TEXT = 240
ENOUGH_ROWS = 5  # for a label to be among them, if enough labels have that many
_LOWER_THRESHOLD = (
    " A lower threshold, or one threshold per label (f1-per-label), would predict more."
)
_HEADLINES = ("lrap", "precision_at_1", "micro_f1", "macro_f1", "r2", "mean_absolute_error")
_HEADLINES_OF_CLASSES = ("precision_at_1", "macro_f1", "lrap", "calibration_error")
_MARKDOWN = re.compile(r"([\\`*_\[\]#|~$])")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


class Score(NamedTuple):
    """A score, or the same score at several values of k."""

    titles: list[str]
    values: list[str]
    better: str
    says: str


class LabelLine(NamedTuple):
    """A row of the table of labels; undefined values are None."""

    label: str
    n_true: int
    n_predicted: int
    precision: float | None
    recall: float | None
    f1: float | None
    average_precision: float | None
    calibration_error: float | None


class Setting(NamedTuple):
    name: str
    value: str
    is_default: bool


def scores_of(evaluation: Evaluation, is_of_classes: bool) -> list[Score]:
    """Return all scores; those of one metric together, such as P@1, P@3 and P@5."""
    by_metric: dict[str, list[str]] = {}
    for name in evaluation.scores:
        if name != "rows":
            by_metric.setdefault(name.rpartition("_at_")[0] or name, []).append(name)
    found = []
    for names in by_metric.values():
        titles = [meaning(name).title for name in names]
        titles = list(map(of_classes, titles)) if is_of_classes else titles
        values = [_formatted(evaluation, name) for name in names]
        better = BETTER[meaning(names[0]).better]
        found.append(Score(titles, values, better, explain_score(names, is_of_classes)))
    return found


def headlines(evaluation: Evaluation, is_of_classes: bool) -> list[Score]:
    """Return the few scores at the top of the page."""
    found = []
    for name in _HEADLINES_OF_CLASSES if is_of_classes else _HEADLINES:
        if name in evaluation.scores:
            title, says, better = meaning(name)
            if is_of_classes:
                title = "accuracy" if name == "precision_at_1" else of_classes(title)
            if evaluation.basis in (OUT_OF_BAG, TRAINING_ROWS):
                title = f"{title}, {evaluation.basis}"
            found.append(Score([title], [_formatted(evaluation, name)], BETTER[better], says))
    return found


def _formatted(evaluation: Evaluation, name: str) -> str:
    value = evaluation.scores[name]
    return f"{value:.4f}" if abs(value) < 10 else f"{value:,.1f}"


def label_lines(labels: LabelTable) -> list[LabelLine]:
    """Return the rows of the table of labels, most frequent first."""
    return [
        LabelLine(
            name,
            n_true,
            n_predicted,
            precision if n_predicted else None,
            recall if n_true else None,
            f1 if n_true or n_predicted else None,
            None if math.isnan(ap) else ap,
            error,
        )
        for name, n_true, n_predicted, _, precision, recall, f1, ap, error in labels.rows()
    ]


def extremes(lines: list[LabelLine]) -> tuple[list[LabelLine], list[LabelLine], int]:
    """Return the best and the worst labels by F1, then by average precision, and the number of
    rows that a label needs to be among them. Both are empty if there are few labels."""
    least = ENOUGH_ROWS
    known = [line for line in lines if line.n_true >= least]
    if len(known) < 2 * N_EXTREMES:
        least = 1
        known = [line for line in lines if line.n_true]
    n_shown = min(N_EXTREMES, len(known) // 2)
    if n_shown < 2:
        return [], [], least

    def quality(line: LabelLine) -> tuple[float, float]:
        return line.f1 or 0.0, line.average_precision or 0.0

    # Ties keep their order, the most frequent first.
    best = sorted(known, key=quality, reverse=True)
    return best[:n_shown], sorted(known, key=quality)[:n_shown], least


def remarks(evaluation: Evaluation, lines: list[LabelLine], is_of_classes: bool) -> list[str]:
    """Return what a reader should know before trusting the scores."""
    found = []
    if evaluation.caution is not None:
        found.append(evaluation.caution)
    if evaluation.n_unknown:
        found.append(
            f"{_labels_occur(evaluation.n_unknown)} in the data but not in the model: the scores "
            "ignore them."
        )
    absent = sum(not line.n_true for line in lines)
    if absent:
        do = "does" if absent == 1 else "do"
        found.append(
            f"{absent:,} of {len(lines):,} labels {do} not occur in the data and cannot be "
            "evaluated."
        )
    never = sum(1 for line in lines if line.n_true and not line.n_predicted)
    if never:
        are = "is" if never == 1 else "are"
        advice = "" if is_of_classes else _LOWER_THRESHOLD
        found.append(f"{_labels_occur(never)} in the data but {are} never predicted.{advice}")
    n_rows = [line.n_true for line in lines if line.n_true]
    rare = sum(n < ENOUGH_ROWS for n in n_rows)
    if rare and 4 * rare >= len(n_rows):
        found.append(
            f"{_labels_occur(rare)} in fewer than {ENOUGH_ROWS} rows of the data: scores on so few "
            "rows are uncertain."
        )
    return list(map(of_classes, found)) if is_of_classes else found


def scored_rows(evaluation: Evaluation) -> str:
    """Return the number of scored rows and which they are."""
    n_rows = f"{evaluation.scores['rows']:,.0f}"
    if evaluation.basis == OUT_OF_BAG:
        return f"out-of-bag on {n_rows} rows"
    if evaluation.basis == TRAINING_ROWS:
        return f"on {n_rows} rows, training rows included"
    kind = "rows" if evaluation.basis == NEW_ROWS else evaluation.basis
    return f"on {n_rows} {kind}"


def _labels_occur(n: int) -> str:
    return "1 label occurs" if n == 1 else f"{n:,} labels occur"


def label_list(labels: Sequence[ScoredLabel]) -> list[tuple[str, str, bool]]:
    """Return the first labels with their scores, and whether they are right."""
    shown = [(each.name, f"{each.score:.2f}", each.is_right) for each in labels[:MAX_SHOWN]]
    n_more = len(labels) - MAX_SHOWN
    return [*shown, (f"and {n_more} more", "", True)] if n_more > 0 else shown


def mistakes_of(evaluation: Evaluation) -> list[dict[str, Any]]:
    """Return the rows that the model gets most wrong."""
    return [
        {
            "row": each.row,
            "text": None if each.text is None else shortened(each.text, MAX_TEXT),
            "true": label_list(each.true),
            "predicted": label_list(each.predicted),
        }
        for each in evaluation.wrong_rows
    ]


def settings_of(model: "Estimator") -> list[Setting]:
    """Return the parameters, those with other values than the defaults first."""
    defaults = type(model)().get_params(deep=False)
    found = []
    for name, value in model.get_params(deep=False).items():
        text = shortened(repr(value), 120)
        is_auto = isinstance(value, str) and value == "auto"
        chosen = getattr(model, f"{name}_", None) if is_auto else None
        if chosen is not None:
            is_default = repr(value) == repr(defaults[name])
            found.append(Setting(name, f"{text}, resolved to {chosen}", is_default))
        else:
            found.append(Setting(name, text, text == repr(defaults[name])))
    return sorted(found, key=lambda setting: setting.is_default)


def own_threshold(model: "Estimator") -> float | None:
    """Return the threshold of the model if all labels share one."""
    found = getattr(model, "thresholds_", None)
    return float(found) if found is not None and np.ndim(found) == 0 else None


def threshold_table(evaluation: Evaluation, own: float | None) -> list[dict[str, Any]]:
    """Return every tenth threshold, the one in use, and the one with the best F1."""
    shown = [each for each in evaluation.thresholds if each.n_predicted]
    if not shown or not shown[0].n_true:
        return []
    best = max(shown, key=lambda each: each.f1)
    lines: list[dict[str, Any]] = []
    for each in shown:
        notes = ["in use"] if own is not None and abs(each.threshold - own) < 1e-9 else []
        notes += ["best F1"] if each is best else []
        labels_per_row = each.n_predicted / evaluation.scores["rows"]
        is_round = round(100 * each.threshold, 4) % 10 == 0
        is_new = not lines or labels_per_row != lines[-1]["labels_per_row"]
        if notes or (is_round and is_new):
            lines.append(
                {
                    "threshold": each.threshold,
                    "precision": each.precision,
                    "recall": each.recall,
                    "f1": each.f1,
                    "labels_per_row": labels_per_row,
                    "notes": ", ".join(notes),
                }
            )
    return lines


def plain_markdown(text: object) -> str:
    """Escape text for Markdown, on one line: no markup, no HTML, and no end of a table cell."""
    line = " ".join(str(text).split()).translate(_ENTITIES)
    return _MARKDOWN.sub(r"\\\1", line)
