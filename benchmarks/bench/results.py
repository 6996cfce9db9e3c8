"""Runs of the benchmark, their medians, and the ratios between methods."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from benchmarks.bench.methods import find_method
from benchmarks.store import Row

# Cost of a run -> name of how many times less it is than the reference's.
RATIOS = {
    "fit_seconds": "fit_ratio",
    "predict_seconds": "predict_ratio",
    "row_milliseconds": "row_ratio",
    "peak_bytes": "memory_ratio",
    "added_bytes": "added_memory_ratio",
    "model_bytes": "size_ratio",
}


@dataclass(frozen=True)
class Costs:
    """What a method costs and how well it ranks; None where it was not measured.

    ``baseline_bytes`` is the memory of data and imports before the fit, ``peak_bytes`` the most
    during it. ``n_grown`` of ``n_estimators`` trees were really grown.
    """

    n_estimators: int = 0
    n_grown: int = 0
    x_format: str = ""
    fit_seconds: float | None = None
    predict_seconds: float | None = None
    row_milliseconds: float | None = None
    baseline_bytes: float | None = None
    peak_bytes: float | None = None
    model_bytes: float | None = None
    nodes_per_tree: float | None = None
    lrap: float | None = None
    precision_at_1: float | None = None
    precision_at_3: float | None = None
    precision_at_5: float | None = None

    @property
    def is_scaled(self) -> bool:
        return self.n_grown < self.n_estimators

    @property
    def added_bytes(self) -> float | None:
        """Peak memory above data and imports."""
        if self.peak_bytes is None or self.baseline_bytes is None:
            return None
        return self.peak_bytes - self.baseline_bytes

    def for_all_trees(self) -> "Costs":
        """Fit time and size in proportion to the trees; a tree takes in memory what it does in
        the model's file. Predictions were made with as many trees as asked."""
        if not self.is_scaled or self.fit_seconds is None:
            return self
        assert self.peak_bytes is not None
        assert self.model_bytes is not None
        factor = self.n_estimators / self.n_grown
        return replace(
            self,
            fit_seconds=factor * self.fit_seconds,
            peak_bytes=self.peak_bytes + (factor - 1) * self.model_bytes,
            model_bytes=factor * self.model_bytes,
        )


_COST_NAMES = [field.name for field in fields(Costs)]


@dataclass(frozen=True)
class Run:
    """One process: as measured, nothing scaled."""

    dataset: str
    method: str
    repeat: int
    costs: Costs = field(default_factory=Costs)
    error: str = ""

    @classmethod
    def from_answer(cls, dataset: str, method: str, repeat: int, answer: dict[str, Any]) -> "Run":
        costs = Costs(**{name: answer[name] for name in _COST_NAMES if name in answer})
        return cls(dataset, method, repeat, costs)

    def as_row(self) -> Row:
        names = {"dataset": self.dataset, "method": self.method, "repeat": self.repeat}
        return {**names, **asdict(self.costs), "error": self.error}


@dataclass(frozen=True)
class Summary:
    """Medians of one method on one data set, for all trees, and its ratios to the reference."""

    dataset: str
    method: str
    n_runs: int
    costs: Costs
    reference: str
    ratios: dict[str, float | None] = field(default_factory=dict)

    def as_row(self) -> Row:
        return {
            "dataset": self.dataset,
            "method": self.method,
            "n_runs": self.n_runs,
            **asdict(self.costs),
            "added_bytes": self.costs.added_bytes,
            "is_scaled": self.costs.is_scaled,
            "reference": self.reference,
            **self.ratios,
        }


def summarise(runs: Iterable[Run]) -> list[Summary]:
    """One summary for each method on each data set, in the order of their first runs."""
    groups: dict[tuple[str, str], list[Costs]] = {}
    for run in runs:
        if not run.error:
            groups.setdefault((run.dataset, run.method), []).append(run.costs.for_all_trees())
    medians = {key: _median(costs) for key, costs in groups.items()}
    summaries = []
    for (dataset, method), costs in medians.items():
        reference = find_method(method).reference
        ratios = _ratios(medians.get((dataset, reference)), costs)
        n_runs = len(groups[dataset, method])
        summaries.append(Summary(dataset, method, n_runs, costs, reference, ratios))
    return summaries


def _median(costs: Sequence[Costs]) -> Costs:
    medians: dict[str, float] = {}
    for name in _COST_NAMES:
        values = [getattr(one, name) for one in costs]
        if name not in ("n_estimators", "n_grown", "x_format") and None not in values:
            medians[name] = statistics.median(values)
    return replace(costs[0], **medians)  # type: ignore[arg-type]


def _ratios(reference: Costs | None, costs: Costs) -> dict[str, float | None]:
    ratios: dict[str, float | None] = {}
    for cost, ratio in RATIOS.items():
        theirs, ours = getattr(reference, cost, None), getattr(costs, cost)
        ratios[ratio] = theirs / ours if theirs and ours else None
    return ratios
