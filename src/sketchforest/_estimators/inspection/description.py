"""Summaries of fitted estimators."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sketchforest._estimators.inspection.names import label_names, shown_features
from sketchforest._estimators.predicting.labels import decision_rule
from sketchforest._trees.fitted import Fitted
from sketchforest._utils.display import (
    aligned,
    as_frame,
    html_bar,
    html_table,
    listed,
    new_axes,
    signed_bars,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from sketchforest._estimators.estimator import Estimator

SHOWN = 10
MAX_LISTED = 100_000


@dataclass(frozen=True, eq=False, repr=False)
class Description:
    """A summary of a fitted estimator.

    Attributes
    ----------
    title : str
        The constructor call.
    facts : dict
        Numbers of trees, rows, features and labels, the out-of-bag score and the threshold.
    features : array
        Names of the features, most important first. If there are more than 100,000, only those
        that occur in splits.
    importances : array
        Their impurity-based importances; empty if the model was saved with compact=True.
    """

    title: str
    facts: dict[str, str]
    features: np.ndarray
    importances: np.ndarray

    def __repr__(self) -> str:
        lines = [self.title, aligned([[name, fact] for name, fact in self.facts.items()])]
        if len(self.importances):
            table = [[f"{share:.4f}", str(name)] for name, share in self._largest()]
            lines += ["Most important features:", aligned(table, right=(0,))]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        html = html_table(["", ""], [list(pair) for pair in self.facts.items()], self.title)
        largest = self._largest()
        body = [[name, html_bar(share, largest[0][1])] for name, share in largest]
        title = "Most important features"
        return html + (html_table(["feature", "share"], body, title, bars="share") if body else "")

    def to_frame(self) -> "DataFrame":
        """Return a data frame of features and importances, most important first."""
        features = self.features[: len(self.importances)]
        return as_frame({"feature": features, "importance": self.importances})

    def plot(self, n: int = SHOWN, ax: "Axes | None" = None) -> "Axes":
        """Plot the n most important features."""
        if not len(self.importances):
            raise ValueError(
                "plot needs the gains of the splits, which a model saved with compact=True lacks. "
                "Save it without compact=True."
            )
        largest = self._largest(n)
        axes = new_axes(7.0, 1.2 + 0.3 * len(largest)) if ax is None else ax
        signed_bars(axes, [name for name, _ in largest], [share for _, share in largest])
        axes.set_title("Most important features", loc="left")
        axes.set_xlabel("share in the gain of all splits")
        return axes

    def _largest(self, n: int = SHOWN) -> list[tuple[str, float]]:
        shares = self.importances[:n].tolist()
        names = self.features[: len(shares)].tolist()
        return [(str(name), share) for name, share in zip(names, shares, strict=True) if share > 0]


def describe(model: "Estimator") -> Description:
    fitted = model.fitted_
    features, shares = np.arange(min(fitted.n_features, MAX_LISTED)), np.zeros(0)
    if fitted.forest.gains is not None:
        used, importances = fitted.forest.used_features
        if fitted.n_features <= MAX_LISTED:
            shares = np.zeros(fitted.n_features)
            shares[used] = importances
        else:
            features, shares = used, importances
        order = np.argsort(-shares, kind="stable")
        features, shares = features[order], shares[order]
    title = " ".join(repr(model).split())
    return Description(title, _facts(model), shown_features(fitted, features), shares)


def _facts(model: "Estimator") -> dict[str, str]:
    fitted = model.fitted_
    forest, targets = fitted.forest, fitted.targets
    n_labels = targets.labels.shape[1]
    facts = {"trees": f"{forest.n_trees:,}"}
    if forest.directions is not None:
        facts["trees"] += f", {int(forest.directions.is_oblique.sum()):,} of them oblique"
    facts["leaves"] = f"{forest.n_leaves:,}, {forest.n_leaves / forest.n_trees:,.0f} per tree"
    facts["depth"] = f"at most {int(forest.depths.max()):,}"
    facts["training rows"] = f"{fitted.n_rows:,}"
    facts["features"] = _kinds_of_features(fitted)
    what = "outputs" if not targets.is_classification else "labels"
    what = "classes" if targets.has_classes else what
    more = ", …" if n_labels > 5 else ""
    facts[what] = f"{n_labels:,}: {listed(label_names(fitted, np.arange(min(n_labels, 5))))}{more}"
    n_known = targets.labels.shape[0]  # boosting keeps no labels
    if targets.is_indicator and n_known:
        facts["labels per row"] = f"{len(targets.class_labels.indices) / n_known:.1f} on average"
    if targets.is_indicator:
        facts["predicted"] = what_is_predicted(model)
    score = fitted.out_of_bag.get("oob_score_")
    if score is not None:
        facts["out-of-bag score"] = f"{score:.4f}"
    return facts


def _kinds_of_features(fitted: Fitted) -> str:
    """Number of features, and how many are terms, numbers and categories."""
    n, vectorizer = fitted.n_features, fitted.attached.get("vectorizer_")
    n_terms = 0 if vectorizer is None else len(vectorizer.vocabulary_)
    columns = fitted.attached.get("notes_", {}).get("columns", {})
    starts = tuple(f"{column}=" for column in columns.get("categories") or ())
    n_values = 0
    if starts:
        others = shown_features(fitted, np.arange(n_terms, n))
        n_values = sum(str(name).startswith(starts) for name in others)
    n_numbers = n - n_terms - n_values
    kinds = [(n_terms, "term", "terms"), (n_numbers, "number", "numbers")]
    kinds += [(n_values, "category", "categories")]
    if n_numbers == n:
        return f"{n:,}"
    counts = [f"{count:,} {one if count == 1 else many}" for count, one, many in kinds if count]
    return counts[0] if len(counts) == 1 else f"{n:,}: {', '.join(counts)}"


def what_is_predicted(model: "Estimator") -> str:
    """The rule by which labels or classes are predicted, in words."""
    if model.fitted_.targets.has_classes:
        return "the most probable class" + (" per column" if model.n_outputs_ > 1 else "")
    threshold = getattr(model, "threshold", 0.5)
    if isinstance(threshold, str) and threshold.startswith("top-"):
        return f"the {threshold.removeprefix('top-')} most probable labels"
    found = getattr(model, "thresholds_", None)
    if found is None:
        return "only by predict_proba: there is no threshold"
    how = ""
    if isinstance(threshold, str):
        least = "at least one per row, " if decision_rule(model).at_least_one else ""
        how = f" ({least}{threshold})"
    if np.ndim(found) == 0:
        return f"labels above {float(found):.3f}{how}"
    return f"labels above {found.min():.3f} to {found.max():.3f}{how}"
