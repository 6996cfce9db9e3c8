"""Results of a search."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from sketchforest._selection.comparison import Candidate, Comparison
from sketchforest._selection.setting import Setting
from sketchforest._utils.display import (
    BLUE,
    GREY,
    ORANGE,
    aligned,
    as_frame,
    html_table,
    new_axes,
    tidy,
    wrapped,
)
from sketchforest._utils.units import UNKNOWN, seconds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from sketchforest._estimators.forest_mixin import ForestMixin

SHOWN = 10  # trials
# A cheaper setting is mentioned if it costs at most this share.
CHEAPER = 0.8
_FRACTIONS = {1 / 2: "half", 1 / 3: "a third", 1 / 4: "a quarter", 1 / 5: "a fifth", 0.1: "a tenth"}


@dataclass(frozen=True)
class Trial:
    """A setting that was tried, with its out-of-bag scores.

    ``score`` is the score of its ``n_trees`` trees (nan if they saw all rows), and ``expected`` the
    score predicted for all trees, with its standard error. ``behind`` and ``behind_se`` are the
    paired difference to the best setting and its standard error.

    Examples
    --------
    >>> from sketchforest.datasets import make_multilabel
    >>> from sketchforest.tuning import tune
    >>> data = make_multilabel(100, 20, 10, labels_per_row=2, features_per_row=5)
    >>> result = tune(data.X, data.Y, budget="60 trees", n_estimators=10, random_state=0)
    >>> result.winner.is_winner
    True
    """

    setting: Setting
    n_trees: int
    score: float
    expected: float
    expected_se: float
    behind: float
    behind_se: float
    fit_seconds: float  # of all trees
    spent_seconds: float
    is_winner: bool

    def as_row(self) -> dict[str, object]:
        row = asdict(self)
        return {**row.pop("setting"), **row}


@dataclass(frozen=True, repr=False)
class TuningResult:
    """The fitted winner, and all settings that were tried.

    Attributes
    ----------
    forest : estimator
        The winner, a fitted forest.
    trials : list of Trial
        All settings that were tried, best first.
    metric : str
    n_estimators : int
        The number of trees for which settings were compared.
    seconds : float
        Duration of the search, including the fit of the winner.
    n_trees_grown : int
    is_complete : bool
        False if the search was interrupted: then the winner is the best so far, and may have fewer
        trees.

    Examples
    --------
    >>> from sketchforest.datasets import make_multilabel
    >>> from sketchforest.tuning import tune
    >>> data = make_multilabel(100, 20, 10, labels_per_row=2, features_per_row=5)
    >>> result = tune(data.X, data.Y, budget="60 trees", n_estimators=10, random_state=0)
    >>> result.forest.n_estimators_
    10
    """

    forest: "ForestMixin"
    trials: list[Trial]
    metric: str
    greater_is_better: bool
    n_estimators: int
    seconds: float
    n_trees_grown: int
    is_complete: bool = True

    @property
    def winner(self) -> Trial:
        return next(trial for trial in self.trials if trial.is_winner)

    def __repr__(self) -> str:
        head = (
            f"{len(self.trials)} settings tried in {seconds(self.seconds)}, by out-of-bag "
            f"{self.metric} ({'higher' if self.greater_is_better else 'lower'} is better):"
        )
        table = [["", self.metric, "±", "fit", "setting"], *self._table(SHOWN)]
        return "\n".join([wrapped(head), aligned(table, right=(1, 2, 3)), wrapped(self.advice)])

    def _repr_html_(self) -> str:
        header = ["", self.metric, "±", "fit", "setting"]
        return html_table(header, self._table(len(self.trials)), self.advice)

    def to_frame(self) -> "DataFrame":
        """A data frame with a row for each setting, best first."""
        rows = as_rows(self.trials)
        return as_frame({name: [row[name] for row in rows] for name in rows[0]})

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Plot the score of each setting over its fit time, and the best trade-offs as a line."""
        axes = new_axes() if ax is None else ax
        winner, se = self.winner, [trial.expected_se for trial in self.trials]
        times, scores = zip(*((t.fit_seconds, t.expected) for t in self.trials), strict=True)
        axes.errorbar(times, scores, se, fmt="o", color=GREY, ecolor="#dddddd", zorder=1)
        times, scores = zip(*((t.fit_seconds, t.expected) for t in self.front), strict=True)
        axes.plot(times, scores, "o-", color=BLUE, label="best for its time", zorder=3)
        name = f"chosen: {winner.setting}"
        axes.plot(winner.fit_seconds, winner.expected, "D", color=ORANGE, label=name, zorder=4)
        axes.set_title(f"{len(self.trials)} settings", loc="left")
        axes.set_xlabel(f"seconds to fit {self.n_estimators} trees")
        axes.set_ylabel(f"{self.metric}, out-of-bag")
        axes.legend(edgecolor="none")
        tidy(axes)
        return axes

    def _table(self, n: int) -> list[list[str]]:
        return [
            [
                "*" if trial.is_winner else "",
                f"{trial.expected:.4f}",
                UNKNOWN if math.isnan(trial.expected_se) else f"{trial.expected_se:.4f}",
                seconds(trial.fit_seconds),
                str(trial.setting),
            ]
            for trial in self.trials[:n]
        ]

    @property
    def front(self) -> list[Trial]:
        """The trials that no other beats in both time and score, fastest first."""
        sign = 1 if self.greater_is_better else -1
        front: list[Trial] = []
        for trial in sorted(self.trials, key=lambda t: (t.fit_seconds, -sign * t.expected)):
            if not front or sign * trial.expected > sign * front[-1].expected:
                front.append(trial)
        return front

    @property
    def advice(self) -> str:
        """A recommendation in one sentence."""
        winner = self.winner
        close = [t for t in self.trials if abs(t.behind) <= t.behind_se or t.is_winner]
        cheapest = min(close, key=lambda trial: trial.fit_seconds)
        share = cheapest.fit_seconds / max(winner.fit_seconds, 1e-12)
        if cheapest is winner or share > CHEAPER:
            return f"Use {winner.setting}: nothing cheaper is within one standard error of it."
        words = min(_FRACTIONS, key=lambda fraction: abs(fraction - share))
        cost = _FRACTIONS[words] if abs(words - share) < 0.05 else f"{share:.0%}"
        other = cheapest.setting.difference_from(winner.setting)
        return (
            f"Use {winner.setting}; {other} is within one standard error of it at {cost} of the "
            "cost."
        )


def make_trials(comparison: Comparison, winner: Candidate, sign: float) -> list[Trial]:
    """Trials, best first, without settings that could not be scored."""
    predict = comparison.predict_score
    scored = [c for c in comparison.candidates if c.curve or c.assumed_score]
    trials = []
    for candidate in sorted(scored, key=lambda c: -predict(c).score) or [winner]:
        assert candidate.setting is not None
        score, is_winner = predict(candidate) if scored else None, candidate is winner
        behind = 0.0, 0.0
        if score is not None and not is_winner:
            behind = predict(winner).lead_over(score)
        trial = Trial(
            setting=candidate.setting,
            n_trees=candidate.n_trees,
            score=sign * score.current if score and not candidate.assumed_score else math.nan,
            expected=math.nan if score is None else sign * score.score,
            expected_se=math.nan if score is None else score.se,
            behind=behind[0],
            behind_se=behind[1],
            fit_seconds=comparison.n_target * candidate.seconds_per_tree,
            spent_seconds=candidate.grow_seconds + candidate.score_seconds,
            is_winner=is_winner,
        )
        trials.append(trial)
    return trials


def as_rows(trials: Sequence[Trial]) -> list[dict[str, object]]:
    return [trial.as_row() for trial in trials]
