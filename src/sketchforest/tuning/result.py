"""What a search has found."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sketchforest.tuning.space import Setting, share_of_rows
from sketchforest.tuning.tuner import Contender, Tuner

# A cheaper setting is worth a word when it costs at most this share.
CHEAPER = 0.8
_FRACTIONS = {1 / 2: "half", 1 / 3: "a third", 1 / 4: "a quarter", 1 / 5: "a fifth", 0.1: "a tenth"}


@dataclass(frozen=True)
class Trial:
    """A setting that was tried. Scores are out-of-bag, in the unit of the metric.

    ``score`` is that of its ``n_trees`` trees (nan where they saw all rows), ``expected`` the one
    foretold for all trees, with its standard error; ``behind`` and ``behind_se`` are the paired
    difference to the best.
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

    def as_row(self) -> dict[str, Any]:
        row = asdict(self)
        return {**row.pop("setting"), **row}


@dataclass(frozen=True)
class TuningResult:
    """The fitted winner and how it was found.

    Attributes
    ----------
    forest : estimator
        The winner, an ordinary fitted forest.
    trials : list of Trial
        Every setting that was tried, best first.
    metric : str
    n_estimators : int
        The number of trees for which settings were compared.
    seconds : float
        What the search took, with the fit of the winner.
    n_trees_grown : int
    """

    forest: Any
    trials: list[Trial]
    metric: str
    greater_is_better: bool
    n_estimators: int
    seconds: float
    n_trees_grown: int

    @property
    def winner(self) -> Trial:
        return next(trial for trial in self.trials if trial.is_winner)

    @property
    def front(self) -> list[Trial]:
        """The trials that no other beats both in time and in score, cheapest first."""
        sign = 1 if self.greater_is_better else -1
        front: list[Trial] = []
        for trial in sorted(self.trials, key=lambda t: (t.fit_seconds, -sign * t.expected)):
            if not front or sign * trial.expected > sign * front[-1].expected:
                front.append(trial)
        return front

    @property
    def advice(self) -> str:
        """What to do, in one sentence."""
        winner = self.winner
        close = [t for t in self.trials if abs(t.behind) <= t.behind_se or t.is_winner]
        cheapest = min(close, key=lambda trial: trial.fit_seconds)
        share = cheapest.fit_seconds / max(winner.fit_seconds, 1e-12)
        if cheapest is winner or share > CHEAPER:
            return f"Use {winner.setting}: nothing cheaper is within one standard error of it."
        words = min(_FRACTIONS, key=lambda fraction: abs(fraction - share))
        cost = _FRACTIONS[words] if abs(words - share) < 0.05 else f"{share:.0%}"
        return (
            f"Use {winner.setting}; {_difference(cheapest.setting, winner.setting)} is within one "
            f"standard error of it at {cost} of the cost."
        )


def _difference(setting: Setting, other: Setting) -> str:
    """Only what is not the same."""
    parts = []
    if setting.estimator != other.estimator:
        parts.append(setting.estimator.replace("_", " "))
    if (setting.projection, setting.n_components) != (other.projection, other.n_components):
        outputs = f"m={setting.n_components}"
        kind = "" if setting.projection == other.projection else f" {setting.projection}"
        parts.append("the original outputs" if setting.projection is None else outputs + kind)
    if setting.max_features != other.max_features:
        parts.append(f"k={setting.max_features}")
    if setting.min_samples_leaf != other.min_samples_leaf:
        parts.append(f"leaves of {setting.min_samples_leaf}")
    if setting.row_share != other.row_share:
        parts.append(share_of_rows(setting))
    return " with ".join([parts[0], ", ".join(parts[1:])]) if len(parts) > 1 else parts[0]


def make_trials(tuner: Tuner, winner: Contender, sign: float, n_target: int) -> list[Trial]:
    """Best first; settings that no row could judge are left out."""
    judged = [c for c in tuner.contenders if c.runner.curve or c.foretold]
    if not judged:
        return [_unjudged(winner, n_target)]
    best = tuner.estimate(winner)
    trials = []
    for contender in sorted(judged, key=lambda c: -tuner.estimate(c).score):
        estimate = tuner.estimate(contender)
        behind, behind_se = best.lead_over(estimate)
        if contender is winner:
            behind = behind_se = 0.0
        trials.append(
            Trial(
                setting=contender.setting,
                n_trees=contender.runner.n_trees,
                score=sign * estimate.now,
                expected=sign * estimate.score,
                expected_se=estimate.se,
                behind=behind,
                behind_se=behind_se,
                fit_seconds=n_target * contender.seconds_per_tree,
                spent_seconds=contender.grow_seconds + contender.look_seconds,
                is_winner=contender is winner,
            )
        )
    return trials


def _unjudged(winner: Contender, n_target: int) -> Trial:
    nan = float("nan")
    seconds = winner.grow_seconds + winner.look_seconds
    n_trees = winner.runner.n_trees
    cost = n_target * winner.seconds_per_tree
    return Trial(winner.setting, n_trees, nan, nan, nan, 0.0, 0.0, cost, seconds, True)


def as_rows(trials: Sequence[Trial]) -> list[dict[str, Any]]:
    return [trial.as_row() for trial in trials]
