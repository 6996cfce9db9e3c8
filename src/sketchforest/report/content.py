"""What stands in a report, as plain values."""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sketchforest._display import shortened
from sketchforest.evaluation import Evaluation, LabelTable
from sketchforest.metrics.meanings import meaning
from sketchforest.report.wording import BETTER, explained, of_classes

if TYPE_CHECKING:
    from sketchforest._estimators.inspection.mixin import InspectionMixin

MAX_LABELS = 10_000  # in the page, which stays below a few megabytes
N_EXTREMES = 8  # of the best labels, and of the worst
ENOUGH_ROWS = 5  # for a label to be among them, if enough labels have so many
_LOWER_THRESHOLD = " A lower threshold, or one for each label (f1-per-label), finds more of them."
_HEADLINES = ("lrap", "precision_at_1", "micro_f1", "macro_f1", "r2", "mean_absolute_error")
_HEADLINES_OF_CLASSES = ("precision_at_1", "macro_f1", "lrap", "calibration_error")


class Score(NamedTuple):
    """One score, or the same at several depths."""

    titles: list[str]
    values: list[str]
    better: str
    says: str


class LabelLine(NamedTuple):
    """A line of the table of labels; what cannot be told is None."""

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
    is_usual: bool


def scores_of(evaluation: Evaluation, is_of_classes: bool) -> list[Score]:
    """Those of one metric stand together, as P@1, P@3 and P@5."""
    together: dict[str, list[str]] = {}
    for name in evaluation.scores:
        if name != "rows":
            together.setdefault(name.rpartition("_at_")[0] or name, []).append(name)
    found = []
    for names in together.values():
        better = BETTER[meaning(names[0]).better]
        titles = [meaning(name).title for name in names]
        titles = list(map(of_classes, titles)) if is_of_classes else titles
        values = [_figure(evaluation, name) for name in names]
        found.append(Score(titles, values, better, explained(names, is_of_classes)))
    return found


def headlines(evaluation: Evaluation, is_of_classes: bool) -> list[Score]:
    """The few that are seen first."""
    wanted = _HEADLINES_OF_CLASSES if is_of_classes else _HEADLINES
    found = []
    for name in wanted:
        if name in evaluation.scores:
            title, says, better = meaning(name)
            if is_of_classes:
                title = "accuracy" if name == "precision_at_1" else of_classes(title)
            found.append(Score([title], [_figure(evaluation, name)], BETTER[better], says))
    return found


def _figure(evaluation: Evaluation, name: str) -> str:
    value = evaluation.scores[name]
    return f"{value:.4f}" if abs(value) < 10 else f"{value:,.1f}"


def label_lines(labels: LabelTable) -> list[LabelLine]:
    """Most frequent labels first."""
    lines = []
    for name, n_true, n_predicted, _, precision, recall, f1, ap, error in labels.rows():
        lines.append(
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
        )
    return lines


def extremes(lines: list[LabelLine]) -> tuple[list[LabelLine], list[LabelLine], int]:
    """The labels that fare best and worst by F1, then by average precision, and how many rows a
    label must have to be among them. None where all are in sight anyway."""
    least = ENOUGH_ROWS
    known = [line for line in lines if line.n_true >= least]
    if len(known) < 2 * N_EXTREMES:
        least = 1
        known = [line for line in lines if line.n_true]
    n_shown = min(N_EXTREMES, len(known) // 2)
    if n_shown < 2:
        return [], [], least
    # Of equally good ones, more rows make the case stronger, for the better and for the worse.
    best = sorted(known, key=lambda line: (-_f1(line), -_ap(line), -line.n_true))
    worst = sorted(known, key=lambda line: (_f1(line), _ap(line), -line.n_true))
    return best[:n_shown], worst[:n_shown], least


def _f1(line: LabelLine) -> float:
    return line.f1 or 0.0


def _ap(line: LabelLine) -> float:
    return line.average_precision or 0.0


def remarks(evaluation: Evaluation, lines: list[LabelLine], is_of_classes: bool) -> list[str]:
    """What a reader should know before the scores are believed."""
    said = _remarks(evaluation, lines, "" if is_of_classes else _LOWER_THRESHOLD)
    return list(map(of_classes, said)) if is_of_classes else said


def _remarks(evaluation: Evaluation, lines: list[LabelLine], way_out: str) -> list[str]:
    said = []
    if evaluation.n_trained_on:
        said.append(
            f"The model was trained on this file, on {evaluation.n_trained_on:,} of its rows: it "
            "will score lower on new ones."
        )
    if evaluation.n_unknown:
        said.append(
            f"{_labels(evaluation.n_unknown)} in the data, but unknown to the model: no score "
            "counts what it misses there."
        )
    absent = sum(not line.n_true for line in lines)
    if absent:
        are = "is" if absent == 1 else "are"
        said.append(
            f"{absent:,} of {len(lines):,} labels {are} in no row of the data, which tells nothing "
            f"of {'it' if absent == 1 else 'them'}."
        )
    never = sum(1 for line in lines if line.n_true and not line.n_predicted)
    if never:
        said.append(f"{_labels(never)} in the data, but never predicted.{way_out}")
    n_rows = [line.n_true for line in lines if line.n_true]
    few = sum(n < ENOUGH_ROWS for n in n_rows)
    if few and 4 * few >= len(n_rows):
        said.append(
            f"{_labels(few)} in fewer than {ENOUGH_ROWS} rows of the data: figures of so few rows "
            "are rough."
        )
    return said


def _labels(n: int) -> str:
    return "1 label is" if n == 1 else f"{n:,} labels are"


def settings_of(model: "InspectionMixin") -> list[Setting]:
    """Parameters, those that are not the usual ones first."""
    usual = type(model)().get_params(deep=False)
    found = []
    for name, value in model.get_params(deep=False).items():
        text = shortened(repr(value), 120)
        found.append(Setting(name, text, text == repr(usual[name])))
        chosen = (
            getattr(model, f"{name}_", None) if isinstance(value, str) and value == "auto" else None
        )
        if chosen is not None:
            found[-1] = Setting(name, f"{text}, which chose {chosen}", False)
    return sorted(found, key=lambda setting: setting.is_usual)


def own_threshold(model: "InspectionMixin") -> float | None:
    """That of all labels, where there is one."""
    found = getattr(model, "thresholds_", None)
    return float(found) if found is not None and np.ndim(found) == 0 else None


def threshold_table(evaluation: Evaluation, own: float | None) -> list[dict[str, Any]]:
    """Every tenth threshold as long as it matters, with that in use and the best of all."""
    shown = [each for each in evaluation.thresholds if each.n_predicted]
    if not shown or not shown[0].n_true:
        return []
    best = max(shown, key=lambda each: each.f1)
    n_rows = evaluation.scores["rows"]
    lines: list[dict[str, Any]] = []
    for each in shown:
        is_own = own is not None and abs(each.threshold - own) < 1e-9
        is_best = each is best
        is_round = round(100 * each.threshold, 4) % 10 == 0
        is_new = not lines or each.n_predicted / n_rows != lines[-1]["a_row"]
        if not (is_own or is_best or (is_round and is_new)):
            continue
        lines.append(
            {
                "threshold": each.threshold,
                "precision": each.precision,
                "recall": each.recall,
                "f1": each.f1,
                "a_row": each.n_predicted / n_rows,
                "is": ", ".join(
                    word for word, is_so in (("in use", is_own), ("best F1", is_best)) if is_so
                ),
            }
        )
    return lines
