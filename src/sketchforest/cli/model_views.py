"""Descriptions of models, for the terminal and as JSON."""

from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from sketchforest._estimators.inspection.description import MAX_LISTED
from sketchforest._estimators.inspection.names import label_names, shown_features
from sketchforest._features import Model
from sketchforest._utils.display import listed
from sketchforest._utils.units import seconds, size
from sketchforest._workflows.data_check import DataCheck
from sketchforest._workflows.models import notes_of
from sketchforest._workflows.training import TrainOutcome
from sketchforest.cli.evaluation_views import scores_table, show_unknown
from sketchforest.cli.tables import SHOWN, escaped, make_table, number_or_none
from sketchforest.evaluation import is_classifier, meaning

_COUNTS = ("trees", "nodes", "leaves", "depth", "training_rows", "features")


def describe(model: Model, path: Path) -> dict[str, Any]:
    """Return what a model file contains, as plain values."""
    forest, params = model.fitted_.forest, model.get_params(deep=False)
    return {
        "estimator": type(model).__name__,
        "bytes": path.stat().st_size,
        "trees": forest.n_trees,
        "nodes": len(forest.nodes) + forest.n_leaves,  # as scikit-learn counts them
        "leaves": forest.n_leaves,
        "depth": int(forest.depths.max()),
        "training_rows": model.fitted_.n_rows,
        "features": model.fitted_.n_features,
        "labels": model.fitted_.labels.shape[1],
        "reads_text": hasattr(model, "vectorizer_"),
        "oob_score": number_or_none(getattr(model, "oob_score_", np.nan)),
        "oob_metric": _oob_metric(model),
        "oob_predicted": notes_of(model).get("out_of_bag"),
        "oob_rows_of_threshold": model.fitted_.settings.out_of_bag_rows or None,
        "parameters": params,
        "chosen": {
            name: getattr(model, f"{name}_")
            for name, value in params.items()
            if isinstance(value, str) and value == "auto" and hasattr(model, f"{name}_")
        },
        "important_features": _important_features(model),
        "label_names": _label_names(model),
        "thresholds": getattr(model, "thresholds_", None),
        "notes": notes_of(model),
    }


def _label_names(model: Model) -> list[str] | None:
    """Return the names; None if many labels are unnamed, since a tiny file may claim millions."""
    has_names = hasattr(model, "label_names_") or model.fitted_.targets.has_classes
    is_short = model.fitted_.labels.shape[1] <= MAX_LISTED
    return label_names(model.fitted_).tolist() if has_names or is_short else None


def _oob_metric(model: Model) -> str:
    asked_for = getattr(model, "oob_score", True)
    if isinstance(asked_for, str):
        return meaning(asked_for).title
    if not is_classifier(model):
        return "R²"
    return "accuracy" if model.fitted_.targets.has_classes else "LRAP"


def _important_features(model: Model) -> list[dict[str, object]]:
    if model.fitted_.forest.gains is None:
        return []
    used, shares = model.fitted_.forest.used_features
    largest = np.argsort(-shares, kind="stable")[:SHOWN]
    names = shown_features(model.fitted_, used[largest])
    found = zip(names.tolist(), shares[largest].tolist(), strict=True)
    return [{"feature": str(name), "share": share} for name, share in found]


def outcome_json(outcome: TrainOutcome) -> dict[str, object]:
    return {
        "model": str(outcome.path),
        "fit_seconds": outcome.seconds,
        "advice": outcome.advice or None,
        "test": None if outcome.test is None else outcome.test.scores,
        "data_check": outcome.check.as_json(),
        **describe(outcome.model, outcome.path),
    }


def show_outcome(outcome: TrainOutcome, console: Console) -> None:
    about = describe(outcome.model, outcome.path)
    console.print(
        f"Trained {about['trees']} trees on {about['training_rows']:,} rows, {about['features']:,} "
        f"features and {about['labels']:,} labels in {seconds(outcome.seconds)}. "
        f"Wrote {escaped(str(outcome.path))} ({size(about['bytes'])}).",
        soft_wrap=True,
    )
    if outcome.advice:
        console.print(outcome.advice, soft_wrap=True)
    if about["oob_predicted"] is not None:
        found = about["oob_predicted"]
        console.print(
            f"Expected {meaning(found['metric']).title} on new rows (out-of-bag): "
            f"{found['score']:.4f} ± {found['standard_error']:.4f}"
        )
    elif about["oob_score"] is not None:
        console.print(
            f"Out-of-bag {about['oob_metric']}: {about['oob_score']:.4f}. The whole forest scores "
            "higher, since only some of the trees predict each out-of-bag row."
        )
    if outcome.test is not None:
        show_unknown(outcome.test, console)
        console.print("Scores on the test rows:")
        console.print(scores_table(outcome.test.scores))
    show_check(outcome.check, console)


def show_check(check: DataCheck, console: Console) -> None:
    """Print what may be wrong with the data: how often, what, an example, and how to fix it."""
    per_row = f"{check.labels_per_row:.1f} labels per row"
    console.print(
        f"\nData check: {check.n_rows:,} rows, {check.n_labels:,} labels, {per_row}"
        + (":" if check.findings else "; nothing suspicious.")
    )
    for n, what, example, fix in check.findings:
        console.print(escaped(f"{n:>7,}  {what}: {example}"), soft_wrap=True)
        if fix:
            console.print(escaped(f"{'':9}{fix}"), soft_wrap=True)


def show_model(about: dict[str, Any], path: Path, console: Console) -> None:
    console.print(make_table(("", ""), _facts(about, path), show_header=False), "")
    settings = ", ".join(f"{name}={value!r}" for name, value in about["parameters"].items())
    console.print(escaped(f"settings: {settings}"))
    if about["chosen"]:
        chosen = ", ".join(f"{name}={value}" for name, value in about["chosen"].items())
        console.print(f"chosen for 'auto': {chosen}")
    if about["important_features"]:
        console.print("\nMost important features:")
        rows = [(row["feature"], f"{row['share']:.4f}") for row in about["important_features"]]
        console.print(make_table(("feature", "share"), rows, right=("share")))
    else:
        console.print("No feature importances: the model was saved with --compact.")


def _facts(about: dict[str, Any], path: Path) -> list[tuple[str, str]]:
    more = ", ..." if about["labels"] > SHOWN else ""
    names = about["label_names"] or list(map(str, range(SHOWN)))
    labels = listed(names[:SHOWN]) + more
    facts = [
        ("file", str(path)),
        ("estimator", about["estimator"]),
        *((name.replace("_", " "), f"{about[name]:,}") for name in _COUNTS),
        ("labels", f"{about['labels']:,}: {labels}"),
        ("size", size(about["bytes"])),
        ("reads text", "yes" if about["reads_text"] else "no"),
    ]
    if about["oob_predicted"] is not None:
        found = about["oob_predicted"]
        # Without a bootstrap, some trees leave rows out just to choose the threshold.
        n_left_out = about["oob_rows_of_threshold"]
        source = "out-of-bag" if n_left_out is None else f"{n_left_out:,} rows held out"
        score = f"{found['score']:.4f} ± {found['standard_error']:.4f} ({source})"
        facts.append((f"expected {meaning(found['metric']).title}", score))
    elif about["oob_score"] is not None:
        facts.append((f"out-of-bag {about['oob_metric']}", f"{about['oob_score']:.4f}"))
    for name, value in about["notes"].get("test", {}).items():
        if name != "rows":
            facts.append((f"test {meaning(name).title}", f"{value:.4f}"))
    if about["thresholds"] is not None and np.ndim(about["thresholds"]) == 0:
        facts.append(("threshold", f"{about['thresholds']:.4f}"))
    return facts
