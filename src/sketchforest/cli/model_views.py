"""Models and their scores, for the terminal and as JSON."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from sketchforest._units import UNKNOWN, seconds, size
from sketchforest._workflows.evaluation import Evaluation
from sketchforest._workflows.model_input import feature_names, label_names
from sketchforest._workflows.training import TrainOutcome
from sketchforest.explain import Explanation

SHOWN = 10  # labels, features and rows in a table
_SCORE_NAMES = {
    "lrap": "LRAP",
    "coverage_error": "coverage error",
    "micro_f1": "F1, all decisions",
    "macro_f1": "F1, mean of labels",
    "r2": "R²",
}


def outcome_json(outcome: TrainOutcome) -> dict[str, Any]:
    return {
        "model": str(outcome.path),
        "fit_seconds": outcome.seconds,
        "advice": outcome.advice or None,
        "test": None if outcome.test is None else outcome.test.scores,
        **describe(outcome.model, outcome.path),
    }


def show_outcome(outcome: TrainOutcome, console: Console) -> None:
    about = describe(outcome.model, outcome.path)
    console.print(
        f"{about['trees']} trees on {about['training_rows']:,} rows, {about['features']:,} "
        f"features and {about['labels']:,} labels in {seconds(outcome.seconds)}; "
        f"{outcome.path} has {size(about['bytes'])}.",
        soft_wrap=True,
    )
    if outcome.advice:
        console.print(outcome.advice, soft_wrap=True)
    if about["oob_score"] is not None:
        console.print(f"Out-of-bag {about['oob_metric']}: {about['oob_score']:.4f}")
    if outcome.test is not None:
        _say_unknown(outcome.n_unknown, console)
        console.print("On rows that were not trained on:")
        console.print(scores_table(outcome.test.scores))


def _say_unknown(n_unknown: int, console: Console) -> None:
    if n_unknown:
        console.print(f"{n_unknown} labels that the model does not know are left out.")


def show_evaluation(evaluation: Evaluation, n_unknown: int, console: Console) -> None:
    _say_unknown(n_unknown, console)
    console.print(scores_table(evaluation.scores))
    if evaluation.labels is not None:
        console.print("\nThe most frequent labels:")
        table = _table()
        for name in ("label", "true", "predicted", "precision", "recall", "F1"):
            table.add_column(name, justify="left" if name == "label" else "right")
        for name, n_true, n_predicted, _, *quality in evaluation.labels.rows()[:SHOWN]:
            table.add_row(
                _plain(name), f"{n_true:,}", f"{n_predicted:,}", *(f"{v:.3f}" for v in quality)
            )
        console.print(table)


def scores_table(scores: Mapping[str, float]) -> Table:
    table = _table()
    table.add_column("score")
    table.add_column("", justify="right")
    for name, value in scores.items():
        table.add_row(_score_name(name), f"{value:,.0f}" if name == "rows" else f"{value:.4f}")
    return table


def _score_name(name: str) -> str:
    metric, at, k = name.rpartition("_at_")
    short = {"precision": "P", "ndcg": "nDCG", "psp": "PSP"}
    return f"{short.get(metric, metric)}@{k}" if at else _SCORE_NAMES.get(name, name)


def describe(model: Any, path: Path) -> dict[str, Any]:
    """What a model file holds, as plain values."""
    forest = model._forest
    return {
        "estimator": type(model).__name__,
        "bytes": path.stat().st_size,
        "trees": forest.n_trees,
        "nodes": len(forest.nodes),
        "leaves": len(forest.member_start) - forest.n_trees,
        "depth": int(forest.depths.max()),
        "training_rows": model._labels.shape[0],
        "features": model.n_features_in_,
        "labels": model._labels.shape[1],
        "reads_text": hasattr(model, "vectorizer_"),
        "oob_score": _number_or_none(getattr(model, "oob_score_", np.nan)),
        "oob_metric": _oob_metric(model),
        "parameters": model.get_params(deep=False),
        "chosen": _chosen(model),
        "important_features": _important_features(model),
        "label_names": label_names(model).tolist(),
        "thresholds": getattr(model, "thresholds_", None),
        "notes": getattr(model, "notes_", {}),
    }


def _oob_metric(model: Any) -> str:
    asked_for = getattr(model, "oob_score", True)
    if isinstance(asked_for, str):
        return _score_name(asked_for)
    if not hasattr(model, "predict_topk"):
        return "R²"
    return "LRAP" if model._classes is None else "accuracy"


def _chosen(model: Any) -> dict[str, Any]:
    """What was found for parameters that are "auto"."""
    params = model.get_params(deep=False)
    automatic = [
        name for name in params if isinstance(params[name], str) and params[name] == "auto"
    ]
    return {name: getattr(model, f"{name}_") for name in automatic}


def _important_features(model: Any) -> list[dict[str, Any]]:
    if model._forest.gains is None:
        return []
    shares, names = model.feature_importances_, _shown_features(model)
    largest = np.argsort(-shares, kind="stable")[:SHOWN]
    return [{"feature": str(names[at]), "share": float(shares[at])} for at in largest]


def show_model(about: Mapping[str, Any], path: Path, console: Console) -> None:
    facts = _table(header=False)
    facts.add_column("")
    facts.add_column("")
    facts.add_row("file", str(path))
    for name in ("estimator", "trees", "nodes", "leaves", "depth", "training_rows", "features"):
        value = about[name]
        facts.add_row(name.replace("_", " "), f"{value:,}" if isinstance(value, int) else value)
    facts.add_row("labels", f"{about['labels']:,}: {_plain(_listed(about))}")
    facts.add_row("size", size(about["bytes"]))
    facts.add_row("reads text", "yes" if about["reads_text"] else "no")
    if about["oob_score"] is not None:
        facts.add_row(f"out-of-bag {about['oob_metric']}", f"{about['oob_score']:.4f}")
    for name, value in about["notes"].get("test", {}).items():
        if name != "rows":
            facts.add_row(f"test {_score_name(name)}", f"{value:.4f}")
    if np.ndim(about["thresholds"]) == 0 and about["thresholds"] is not None:
        facts.add_row("threshold", f"{about['thresholds']:.4f}")
    console.print(facts, "")
    settings = ", ".join(f"{name}={value!r}" for name, value in about["parameters"].items())
    console.print(_plain(f"settings: {settings}"))
    if about["chosen"]:
        chosen = ", ".join(f"{name}={value}" for name, value in about["chosen"].items())
        console.print(f"chosen for 'auto': {chosen}")
    if about["important_features"]:
        console.print("\nThe most important features:")
        table = _table()
        table.add_column("feature")
        table.add_column("share", justify="right")
        for row in about["important_features"]:
            table.add_row(_plain(row["feature"]), f"{row['share']:.4f}")
        console.print(table)
    else:
        console.print("No importances: the file is compact.")


def _listed(about: Mapping[str, Any]) -> str:
    more = ", ..." if about["labels"] > SHOWN else ""
    return ", ".join(about["label_names"][:SHOWN]) + more


def _shown_features(model: Any) -> np.ndarray:
    names = feature_names(model)
    return np.arange(model.n_features_in_).astype(str) if names is None else names


def explanation_json(found: Explanation, model: Any, x: Any, row: int) -> dict[str, Any]:
    names, labels = _shown_features(model), label_names(model)
    rows = range(min(SHOWN, len(found.rows)))
    return {
        "row": row,
        "labels": [
            {
                "label": str(labels[label]),
                "score": float(found.scores[k]),
                "base": float(found.base[k]),
                "features": [
                    {
                        "feature": str(names[found.features[at]]),
                        "value": _number_or_none(x[0, found.features[at]]),
                        "adds": float(found.contributions[at, k]),
                    }
                    for at in _largest(found.contributions[:, k])
                ],
            }
            for k, label in enumerate(found.labels.tolist())
        ],
        "training_rows": [
            {
                "row": int(found.rows[at]),
                "weight": float(found.weights[at]),
                "labels": [
                    str(labels[found.labels[k]]) for k in np.flatnonzero(found.has_label[at])
                ],
            }
            for at in rows
        ],
    }


def _number_or_none(value: Any) -> float | None:
    """JSON has no NaN."""
    return None if np.isnan(value) else float(value)


def _largest(contributions: np.ndarray) -> list[int]:
    order = np.argsort(-np.abs(contributions), kind="stable")[:SHOWN]
    return [int(at) for at in order if contributions[at] != 0]


def show_explanation(content: Mapping[str, Any], console: Console) -> None:
    for label in content["labels"]:
        console.print(
            f"{_plain(label['label'])}: {label['score']:.3f}, of which {label['base']:.3f} before "
            "any feature is asked for:",
            soft_wrap=True,
        )
        table = _table()
        table.add_column("feature")
        for name in ("value", "adds"):
            table.add_column(name, justify="right")
        for feature in label["features"]:
            table.add_row(
                _plain(feature["feature"]),
                UNKNOWN if feature["value"] is None else f"{feature['value']:.4g}",
                f"{feature['adds']:+.4f}",
            )
        console.print(table, "")
    console.print("The training rows that count, numbered from 0:")
    table = _table()
    table.add_column("row", justify="right")
    table.add_column("weight", justify="right")
    table.add_column("has")
    for row in content["training_rows"]:
        table.add_row(str(row["row"]), f"{row['weight']:.4f}", _plain(", ".join(row["labels"])))
    console.print(table)


def _table(header: bool = True) -> Table:
    return Table(
        box=box.SIMPLE_HEAD,
        show_header=header,
        show_edge=False,
        pad_edge=False,
    )


def _plain(text: str) -> str:
    """As it is: names may hold brackets, which rich would take for markup."""
    return text.replace("[", r"\[")
