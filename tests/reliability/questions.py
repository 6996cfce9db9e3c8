"""Every public method and attribute of a fitted model, as questions whose answers can be compared.

`shared_estimators.py` and `refitted.py` ask them. A public method without an entry here is an
error, so that no new one is forgotten; attributes need none.
"""

import copy
import functools
import importlib.util
import inspect
import os
import pickle
import re
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted
from stress import Raised, raised

from sketchforest import Tagger, load_forest
from sketchforest._trees.owned_arrays import OwnedArrays
from sketchforest.evaluation import evaluate
from sketchforest.explain import explain
from sketchforest.export import to_onnx
from sketchforest.ontology import Ontology

K = 3
FOLDER = tempfile.TemporaryDirectory()
# What a model may answer to a question that is not for it, when one thread asks.
REFUSALS = ("ValueError", "AttributeError")
# They change the model. `fit` is asked of a clone below, and of the model itself in refitted.py.
CHANGES = ("set_params", "set_fit_request", "set_score_request")
CHANGES += ("set_predict_request", "set_predict_proba_request")


class Rows(NamedTuple):
    X: Any  # as the model takes it: a matrix, a data frame or texts
    features: Any  # what `fit` takes
    Y: Any


Question = Callable[[Any, Rows], object]


def summary(model: Any, rows: Rows) -> dict[str, object]:
    """Parameters, attributes and predictions of a model that only this thread has."""
    kept = {name: value for name, value in vars(model).items() if name.endswith("_")}
    parts = [summary(part, rows) for part in getattr(model, "parts", ())]
    found = {"class": type(model), "attributes": kept, "predict": model.predict(rows.X)}
    if parts:
        return found | {"parts": parts}
    if hasattr(model, "estimator_"):  # of a tagger, which has no trees of its own
        return found | {"parameters": model.get_params(), "scores": model.predict_proba(rows.X)}
    return found | {"parameters": model.get_params(), "apply": model.apply(rows.X)}


def tree_table(tree: Any, rows: Rows) -> dict[str, object]:
    """All that `tree_` says; an oblique tree has no thresholds."""
    names = [name for name in dir(tree) if not name.startswith("_")]
    values = {name: getattr(tree, name) for name in names if hasattr(tree, name)}
    return {name: value for name, value in values.items() if not callable(value)}


def _saved(model: Any, rows: Rows) -> bytes:
    path = Path(FOLDER.name) / f"{threading.get_ident()}-{os.getpid()}.sf"
    model.save(path)
    return path.read_bytes()


def _saved_compact(model: Any, rows: Rows) -> dict[str, object]:
    path = Path(FOLDER.name) / f"{threading.get_ident()}-{os.getpid()}-compact.sf"
    model.save(path, compact=True)
    return summary(load_forest(path, mmap=False), rows)


def _plot(model: Any, rows: Rows) -> list[object]:
    # pyplot, which makes a figure where none is given, is not made for threads.
    from matplotlib.figure import Figure

    axes = model.plot(n=K, ax=Figure().subplots())
    return [(bar.get_y(), bar.get_width()) for bar in axes.patches]


def _above(model: Any, rows: Rows) -> Ontology:
    """Each label below the one before it, in groups of three."""
    n_labels = rows.Y.shape[1] if len(rows.Y.shape) == 2 else 1
    return Ontology([[label - 1] if label % 3 else [] for label in range(n_labels)])


def _fitted_twin(model: Any, rows: Rows) -> Any:
    return summary(clone(model).fit(rows.features, rows.Y), rows._replace(X=rows.features))


def _attached(model: Any, rows: Rows) -> object:
    names = [f"row {number}" for number in range(rows.features.shape[0])]
    return copy.deepcopy(model).attach(row_ids=names).similar(rows.X, K)


METHODS: dict[str, Question] = {
    "fit": _fitted_twin,
    "predict": lambda model, rows: model.predict(rows.X),
    "predict(ontology)": lambda model, rows: model.predict(rows.X, ontology=_above(model, rows)),
    "predict_proba": lambda model, rows: model.predict_proba(rows.X),
    "predict_proba(ontology)": lambda model, rows: model.predict_proba(
        rows.X, ontology=_above(model, rows)
    ),
    "predict_log_proba": lambda model, rows: model.predict_log_proba(rows.X),
    "predict_topk": lambda model, rows: model.predict_topk(rows.X, K),
    "predict_sparse": lambda model, rows: model.predict_sparse(rows.X),
    "predict_sparse(k)": lambda model, rows: model.predict_sparse(rows.X, K),
    "suggest": lambda model, rows: model.suggest(rows.X, K),
    "similar": lambda model, rows: model.similar(rows.X, K),
    "explain": lambda model, rows: model.explain(rows.X[:1]),
    "explain(label)": lambda model, rows: model.explain(rows.X[:1], label=0),
    "describe": lambda model, rows: model.describe(),
    "to_frame": lambda model, rows: model.to_frame(),
    "plot": _plot,
    "attach": _attached,
    "apply": lambda model, rows: model.apply(rows.X),
    "decision_path": lambda model, rows: model.decision_path(rows.X),
    "leaf_weights": lambda model, rows: model.leaf_weights(rows.X),
    "projection_matrix": lambda model, rows: model.projection_matrix(),
    "staged_predict": lambda model, rows: list(model.staged_predict(rows.X)),
    "staged_predict_proba": lambda model, rows: list(model.staged_predict_proba(rows.X)),
    "relabel": lambda model, rows: summary(model.relabel(rows.Y[::-1]), rows),
    "to_sklearn": lambda model, rows: model.to_sklearn().predict(
        sparse.csr_array(rows.features).toarray()
    ),
    "save": _saved,
    "save(compact)": _saved_compact,
    "score": lambda model, rows: model.score(rows.X, rows.Y),
    "indicators": lambda model, rows: model.indicators(rows.Y),
    "evaluate": lambda model, rows: replace(model.evaluate(rows.X, rows.Y), seconds=0.0),
    "get_params": lambda model, rows: model.get_params(),
    "get_metadata_routing": lambda model, rows: str(model.get_metadata_routing()),
    "get_depth": lambda model, rows: model.get_depth(),
    "get_n_leaves": lambda model, rows: model.get_n_leaves(),
    "cost_complexity_pruning_path": lambda model, rows: model.cost_complexity_pruning_path(
        rows.features, rows.Y
    ),
}
# Attributes that are objects of their own; all others are compared as they are.
ATTRIBUTES: dict[str, Question] = {
    "estimators_": lambda model, rows: [
        (tree.predict(rows.features), tree.feature_importances_, tree_table(tree.tree_, rows))
        for tree in model.estimators_
    ],
    "tree_": lambda model, rows: tree_table(model.tree_, rows),
    "tree_(importances)": lambda model, rows: model.tree_.compute_feature_importances(),
}
OTHERS: dict[str, Question] = {
    "pickle": lambda model, rows: summary(pickle.loads(pickle.dumps(model)), rows),
    "deepcopy": lambda model, rows: summary(copy.deepcopy(model), rows),
    "copy": lambda model, rows: summary(copy.copy(model), rows),
    "clone": lambda model, rows: clone(model),
    "repr": lambda model, rows: repr(model),
    # scikit-learn counts its diagrams, and shows where objects without a repr of their own are.
    "_repr_html_": lambda model, rows: re.sub(r"-id-\d+|x[0-9a-f]{6,}", "", model._repr_html_()),
    "check_is_fitted": lambda model, rows: check_is_fitted(model),
    "explain()": lambda model, rows: explain(model, rows.X[:1]),
    "evaluate()": lambda model, rows: replace(
        evaluate(model, rows.X, rows.Y, include_training_rows=True), seconds=0.0
    ),
}
OF_FORESTS: dict[str, Question] = {
    "len": lambda model, rows: len(model),
    "iter": lambda model, rows: [tree.apply(rows.features) for tree in model],
    "getitem": lambda model, rows: model[-1].predict(rows.features),
}
if importlib.util.find_spec("onnx"):
    OTHERS["to_onnx()"] = lambda model, rows: to_onnx(model).SerializeToString()
# Made once, and the same object for all threads.
SAME_OBJECT: dict[str, Callable[[Any], object]] = {
    "estimators_": lambda model: model.estimators_,
    "estimators_[0]": lambda model: model.estimators_[0],
    "estimators_[0].tree_": lambda model: model.estimators_[0].tree_,
    "estimators_[0].tree_.value": lambda model: model.estimators_[0].tree_.value,
    "tree_": lambda model: model.tree_,
    "tree_.value": lambda model: model.tree_.value,
    "tree_.impurity": lambda model: model.tree_.impurity,
}


def public_names(model: object) -> list[str]:
    parameters = model.get_params(deep=False)
    return [name for name in dir(model) if not name.startswith("_") and name not in parameters]


def questions_to(model: object) -> dict[str, Question]:
    """All that this model can be asked."""
    known: dict[str, list[str]] = {}
    for name in METHODS | ATTRIBUTES:
        known.setdefault(name.partition("(")[0], []).append(name)
    found = {} if isinstance(model, Tagger) or hasattr(model, "parts") else OTHERS.copy()
    found |= OF_FORESTS if hasattr(type(model), "__getitem__") else {}
    found |= {name: OTHERS[name] for name in ("pickle", "deepcopy", "copy", "clone", "repr")}
    for name in public_names(model):
        if name in CHANGES:
            continue
        if name in known:
            found |= {each: (METHODS | ATTRIBUTES)[each] for each in known[name]}
        elif callable(getattr(type(model), name, None)):
            raise LookupError(f"{type(model).__name__}.{name} has no entry in {__file__}")
        else:
            found[name] = functools.partial(_attribute, name)
    return {name: question for name, question in found.items() if _is_taken(model, name)}


def _is_taken(model: object, name: str) -> bool:
    """Whether the method has the optional parameter."""
    method, _, option = name.rstrip(")").partition("(")
    if option not in ("ontology", "compact"):
        return True
    return option in inspect.signature(getattr(model, method)).parameters


def same_objects_of(model: object) -> dict[str, Callable[[Any], object]]:
    public = public_names(model)
    return {name: of for name, of in SAME_OBJECT.items() if re.split(r"\W", name)[0] in public}


def _attribute(name: str, model: object, rows: Rows) -> object:
    return getattr(model, name)


def canonical(value: Any) -> Any:
    """Equal where two answers are the same, bit by bit."""
    if value is None or isinstance(value, (bool, int, str, bytes, Raised)):
        return value
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, (type, np.dtype)):
        return str(value)
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        content = array.tolist() if array.dtype.hasobject else array.tobytes()
        return array.dtype.str, array.shape, canonical(content)
    if sparse.issparse(value):
        csr = value.tocsr()
        arrays = csr.data, csr.indices.astype(np.int64), csr.indptr.astype(np.int64)
        return type(value).__name__, value.shape, *map(canonical, arrays)
    if isinstance(value, Mapping):
        return tuple(sorted((str(name), canonical(each)) for name, each in value.items()))
    if isinstance(value, (list, tuple)):
        return tuple(map(canonical, value))
    if is_dataclass(value):
        return canonical({each.name: getattr(value, each.name) for each in fields(value)})
    if isinstance(value, BaseEstimator):
        return type(value).__name__, canonical(value.get_params())
    if hasattr(value, "to_dict"):
        return canonical(value.to_dict("list"))
    if isinstance(value, OwnedArrays):
        return type(value).__name__, canonical(value.fields())
    raise TypeError(f"answers of type {type(value).__name__} cannot be compared")


def answer(question: Question, model: Any, rows: Rows) -> Any:
    try:
        return canonical(question(model, rows))
    except Exception as error:  # an answer like any other: who asked knows which are right
        return raised(error)


def answers_alone(model: Any, rows: Rows) -> dict[str, Any]:
    """What one thread is told that has the model to itself."""
    questions = questions_to(model)
    known = {name: answer(question, model, rows) for name, question in questions.items()}
    for name, found in known.items():
        if isinstance(found, Raised) and found.kind not in REFUSALS:
            raise RuntimeError(f"{name} fails when one thread asks:\n{found.trace}")
    return known
