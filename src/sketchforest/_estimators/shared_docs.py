"""Descriptions of the parameters and attributes of the estimators.

`estimator` turns a class into an estimator: it makes the constructor and fills in the docstring.
"""

import inspect
from dataclasses import field
from typing import Any, dataclass_transform

from sketchforest._estimators.constructors import declared
from sketchforest._estimators.method_docs import DESCRIBED, described_methods
from sketchforest._utils.docs import Described, Instance, entry

_AUTO = '; "auto", for forests only, chooses by out-of-bag score'
_OOB_ROWS = (
    " Unless bootstrap=True or max_samples is set, a fifth of the rows (at most {:,}) are left out "
    "of three in ten trees to compute it."
)
PARAMETERS, ATTRIBUTES = DESCRIBED["parameters"], DESCRIBED["attributes"]
# Single trees have neither "auto" nor "balanced_subsample".
OF_TREES = {
    name: found._replace(text=PARAMETERS[name].text.replace(_AUTO, ""))
    for name, found in DESCRIBED["trees"].items()
}
OF_MIXED_FORESTS = DESCRIBED["mixed forests"] | {
    "threshold": PARAMETERS["threshold"]._replace(
        text=PARAMETERS["threshold"].text + _OOB_ROWS.format(1000).replace("compute", "choose")
    )
}
# Attributes that only a fit, and no class, has.
OF_A_FIT = {"n_outputs_", "n_features_in_", "feature_names_in_", "label_names_"}

NOTES_OF_FORESTS = """\
A fit takes O(t k n log n m) time for dense X and balanced trees, with t trees, k sampled features,
n rows and m components. With `projection=None` and sparse Y, m is the number of labels per row.
Only the non-zeros of sparse X count. A model takes O(t n) memory in addition to Y, whatever the
number of labels."""
NOTES_OF_BOOSTING = """\
A tree takes O(n p m + n d) time, with n rows, p features, m components and d outputs; only the
non-zeros of sparse X count. A fit keeps a float32 score for each row and output, and a model the
values of each leaf for all outputs."""
NOTES_OF_MIXED_FORESTS = """\
An oblique node takes O(nnz + n m) time, with nnz the non-zeros of X in its rows. Oblique trees have
few levels, so a fit takes a few times as long as that of a random forest. A model takes O(t n)
memory for the rows in the leaves, plus the directions of the oblique nodes."""


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(field,))
def estimator(cls: type[Instance]) -> type[Instance]:
    """Make the constructor of an estimator, and document its parameters and attributes."""
    made = described_methods(declared(cls))
    init: Any = made.__init__
    signature = inspect.signature(init)
    order = ["self", *PARAMETERS]
    parameters = sorted(signature.parameters.values(), key=lambda p: order.index(p.name))
    init.__signature__ = signature.replace(parameters=parameters)
    if made.__doc__ is not None:  # python -OO strips it
        made.__doc__ = _with_sections(made, [parameter.name for parameter in parameters[1:]])
    return made


def _own_parameters(cls: type, names: list[str]) -> dict[str, Described]:
    own = {} if "n_estimators" in names else OF_TREES
    own = own | ({} if hasattr(cls, "predict_proba") else DESCRIBED["regressors"])
    if "learning_rate" in names:
        return own | DESCRIBED["boosting"]
    if "oblique" not in names:
        return own
    oob_score = (PARAMETERS | own)["oob_score"]
    text = oob_score.text + _OOB_ROWS.format(10_000)
    own = own | OF_MIXED_FORESTS | {"oob_score": oob_score._replace(text=text)}
    return own if hasattr(cls, "predict_proba") else own | DESCRIBED["mixed regressors"]


def _with_sections(cls: type, parameters: list[str]) -> str:
    """The docstring of a class, with its parameters, attributes and costs."""
    is_forest, is_classifier = "n_estimators" in parameters, hasattr(cls, "predict_proba")
    of_oob = "oob_decision_function_" if is_classifier else "oob_prediction_"
    of_fit = OF_A_FIT | ({"oob_score_", of_oob} if is_forest else set())
    hidden = set() if "threshold" in parameters else {"thresholds_"}
    attributes = [n for n in ATTRIBUTES if n in of_fit or (hasattr(cls, n) and n not in hidden)]
    described = PARAMETERS | _own_parameters(cls, parameters) | ATTRIBUTES
    sections = {
        title: "\n".join(entry(name, described[name], cls) for name in names)
        for title, names in (("Parameters", parameters), ("Attributes", attributes))
    }
    if "learning_rate" in parameters:
        sections["Notes"] = NOTES_OF_BOOSTING
    elif is_forest:
        sections["Notes"] = NOTES_OF_MIXED_FORESTS if "oblique" in parameters else NOTES_OF_FORESTS
    text, examples = inspect.cleandoc(cls.__doc__ or "").split("\nExamples\n", 1)
    made = [f"{title}\n{'-' * len(title)}\n{body}\n" for title, body in sections.items()]
    return "\n".join([text, *made, f"Examples\n{examples}"])
