"""Descriptions of the parameters and attributes of the estimators.

`estimator` turns a class into an estimator: it makes the constructor and fills in the docstring.
"""

import inspect
from dataclasses import field
from typing import Any, dataclass_transform

from sketchforest._estimators.constructors import declared
from sketchforest._estimators.method_docs import described_methods
from sketchforest._utils.docs import Described, Instance, entry

_AUTO = '; "auto", for forests only, chooses by out-of-bag score'
# In the order of the signatures.
PARAMETERS = {
    "n_estimators": Described(
        'int or "auto"',
        'Number of trees. "auto" keeps doubling it until twice as many trees would barely improve '
        "the out-of-bag score.",
    ),
    "splitter": Described(
        '"best", "random" or "oblique"',
        "How a node is split: at the best threshold of the sampled features, at one random "
        "threshold per sampled feature as in extra-trees, or along a weighted sum of all features "
        "as in sketch forests.",
    ),
    "oblique": Described("float", "Share of oblique trees, from 0 to 1; the rest are extra-trees."),
    "ridge": Described(
        "float",
        "L2 penalty of oblique splits, relative to the mean squared norm of centered rows.",
    ),
    "linear": Described(
        'float or "auto"',
        'Weight of the linear part, 0 to 1. "auto" chooses it, and those of trees, on unseen rows.',
    ),
    "label_correlations": Described(
        "bool",
        "Correct the score of each of up to 1,024 labels or classes by those of the others.",
    ),
    "device": Described(
        '"cpu", "cuda" or None',
        'Where oblique trees are grown: "cuda" uses an NVIDIA GPU for dense X, and needs the '
        "extra ``cuda``. The fitted forest is like any other and needs no GPU. None means the CPU.",
    ),
    "criterion": Described(
        '"gini", "entropy" or "log_loss"',
        'Split criterion, as in scikit-learn. A projection preserves variances, and "gini" is one. '
        "The other criteria are evaluated on the original outputs and need `projection` left at "
        "its default or None.",
    ),
    "learning_rate": Described("float", "Factor of the values of all leaves."),
    "max_iter": Described("int", "Maximum number of trees."),
    "max_depth": Described("int or None", "Maximum depth of a tree. None means no limit."),
    "min_samples_split": Described(
        "int or float",
        "Minimum number of rows required to split a node; a float is a fraction of all rows.",
    ),
    "min_samples_leaf": Described(
        "int or float", "Minimum number of rows in a leaf; a float is a fraction of all rows."
    ),
    "min_weight_fraction_leaf": Described(
        "float", "Minimum fraction of the total sample weight in a leaf."
    ),
    "max_features": Described(
        'int, float, "sqrt", "log2", "auto" or None',
        "Number of features sampled at each split: an int, a fraction, the square root or the "
        f"base-2 logarithm of the number of features. None uses all of them{_AUTO}. Sampling goes "
        "on until a valid split is found.",
    ),
    "max_leaf_nodes": Described(
        "int or None",
        "Maximum number of leaves; if set, the split with the largest gain is made first.",
    ),
    "min_impurity_decrease": Described(
        "float",
        "Minimum weighted impurity decrease required to split a node. Impurity is measured where "
        "splits are searched: on the projected outputs, or on the original ones with "
        "`projection=None`.",
    ),
    "ccp_alpha": Described(
        "float",
        "Complexity parameter of minimal cost-complexity pruning; 0 does not prune.",
    ),
    "monotonic_cst": Described("None", "Monotonicity constraints are not supported."),
    "bootstrap": Described(
        "bool", "Draw the rows of each tree with replacement. If False, each tree sees all rows."
    ),
    "subsample": Described("float", "Fraction of rows drawn for each tree, without replacement."),
    "max_samples": Described(
        "int, float or None",
        "Number or fraction of rows drawn for each tree; None draws as many as there are. With "
        "bootstrap=False, rows are drawn without replacement.",
    ),
    "oob_score": Described(
        "bool, str or callable",
        "Compute an out-of-bag score: True (LRAP for many labels, accuracy for classes), the name "
        "of a metric of `sketchforest.metrics`, which is given scores, or a callable "
        "f(Y_true, Y_pred), which is given predictions.",
    ),
    "projection": Described(
        "str, projection object, scikit-learn transformer or None",
        '"gaussian", "rademacher", "achlioptas", "sparse", "hadamard", "subsample" or "pca". '
        "None searches splits on the original outputs. See `sketchforest.projection`.",
    ),
    "n_components": Described(
        'int, float, "log", "sqrt", "all", "auto" or None',
        "Dimension m of the projection: an int, a fraction of the d outputs, floor(0.5 + ln d), "
        f"floor(0.5 + sqrt d) or d. None is 64, and keeps up to 64 outputs as they are{_AUTO}.",
    ),
    "leaf_fit": Described(
        '"outputs" or "linear"',
        'How leaves are fitted: "outputs" fits each leaf to each output; "linear" grows the tree '
        "on one random component and multiplies its steps by one factor per output.",
    ),
    "l2_regularization": Described(
        "float",
        "L2 penalty of leaf values, and of the gains of splits. It keeps the steps of rare labels "
        "short.",
    ),
    "early_stopping": Described(
        'bool or "auto"',
        "Stop when the loss does not improve any more, and drop the trees after the best loss on "
        'held-out rows. "auto" does so for more than 10,000 rows.',
    ),
    "validation_fraction": Described(
        "int, float or None",
        "Number or fraction of rows held out for early stopping. None stops by the loss on the "
        "training rows.",
    ),
    "n_iter_no_change": Described(
        "int", "Stop after this many trees in a row without an improvement of the loss."
    ),
    "tol": Described("float", "Smallest improvement of the mean loss that counts."),
    "shared_projection": Described(
        "bool",
        "Use one projection for all trees (algorithm 1 of the paper) instead of one per tree "
        "(algorithm 2).",
    ),
    "n_jobs": Described(
        "int or None",
        "Number of threads; -1 uses all cores, None uses one. Results do not depend on it.",
    ),
    "random_state": Described("int, RandomState or None", "Random seed."),
    "verbose": Described("int", "Show progress if above 0."),
    "warm_start": Described(
        "bool",
        "Keep the trees of the previous fit and add the missing ones. X, y and sample_weight must "
        "be the same.",
    ),
    "class_weight": Described(
        'dict, list of dict, "balanced", "balanced_subsample" or None',
        'Class weights. With many labels, "balanced" makes rare labels count more, in splits and '
        "in predictions: each by the power 0.3 of its inverse frequency. Dicts {0: weight if "
        "absent, 1: weight if present}, one for all labels or a list with one per label, multiply "
        "into a weight of the row.",
    ),
    "threshold": Described(
        'float, array, "f1", "f1-per-label" or "top-K"',
        "With many labels, `predict` returns those whose probability exceeds the threshold: one "
        'number, or one per label. "f1" chooses the number, and "f1-per-label" the number per '
        "label, that maximizes out-of-bag F1; a row without any such label then gets its most "
        'probable one. "top-K" returns the K most probable labels. The threshold may be changed '
        'after a fit; "f1" and "f1-per-label" then need a fit with either of them or with '
        "`oob_score`.",
    ),
    "calibrate": Described(
        '"sigmoid", "isotonic" or None',
        "Turn the scores of labels into calibrated probabilities, by one increasing curve for all "
        'labels that is fitted to out-of-bag scores: "sigmoid" is safe with few rows, "isotonic" '
        "more flexible. The order of labels does not change, and a score of 0 stays 0. "
        "Explanations add up to the score before calibration.",
    ),
}
# Single trees have neither "auto" nor "balanced_subsample".
OF_TREES = {
    "class_weight": Described(
        'dict, list of dict, "balanced" or None', PARAMETERS["class_weight"].text
    ),
    "max_features": Described(
        'int, float, "sqrt", "log2" or None',
        PARAMETERS["max_features"].text.replace(_AUTO, ""),
    ),
    "n_components": Described(
        'int, float, "log", "sqrt", "all" or None',
        PARAMETERS["n_components"].text.replace(_AUTO, ""),
    ),
}
OF_REGRESSORS = {
    "criterion": Described(
        '"squared_error", "friedman_mse", "absolute_error" or "poisson"',
        'Split criterion, as in scikit-learn; "friedman_mse" is a deprecated name of '
        '"squared_error". A projection preserves variances only. The other criteria are evaluated '
        "on the original outputs and need `projection` left at its default or None. With "
        '"absolute_error", leaves predict medians.',
    ),
    "oob_score": Described(
        "bool, str or callable",
        'Compute an out-of-bag score: True or "r2", or a callable f(Y_true, Y_pred).',
    ),
}
OF_MIXED_FORESTS = {
    "min_samples_split": Described(
        "int, float or None",
        "Minimum number of rows required to split a node; a float is a fraction of all rows. None "
        "uses the default of each type of tree: 11 for oblique trees, 2 for extra-trees.",
    ),
    "min_samples_leaf": Described(
        "int, float or None",
        "Minimum number of rows in a leaf; a float is a fraction of all rows. None is 1 for "
        "oblique trees, 2 for extra-trees.",
    ),
    "max_features": Described(
        'int, float, "sqrt", "4sqrt", "log2", "auto" or None',
        'Number of features sampled at each split of the extra-trees; "4sqrt" is four times the '
        "square root of the number of features. Oblique splits use all features.",
    ),
    "n_components": Described(
        'int, float, "log", "sqrt", "all", "auto" or None',
        "Dimension m of the projection: an int, a fraction of the d outputs, floor(0.5 + ln d), "
        "floor(0.5 + sqrt d) or d. None is 64 for oblique trees (32 if d < 256) and 32 for "
        "extra-trees, which keep up to 32 outputs as they are.",
    ),
    "shared_projection": Described(
        "bool",
        "Use one projection for all extra-trees instead of one per tree. Oblique trees always have "
        "their own.",
    ),
}
OF_MIXED_REGRESSORS = {
    "min_samples_split": Described(
        "int, float or None",
        "Minimum number of rows required to split a node; a float is a fraction of all rows. None "
        "is 2.",
    ),
    "min_samples_leaf": Described(
        "int, float or None",
        "Minimum number of rows in a leaf; a float is a fraction of all rows. None is 1.",
    ),
    "max_features": Described(
        OF_MIXED_FORESTS["max_features"].type,
        "Number of features sampled at each split of the extra-trees, and searched at each split "
        "of the oblique trees in addition to a direction in the space of all features; a float is "
        'a fraction, and "4sqrt" is four times the square root of the number of features.',
    ),
}
OF_BOOSTING = {
    "max_leaf_nodes": Described(
        "int or None",
        "Maximum number of leaves of a tree. The split of largest gain is made first.",
    ),
    "max_features": Described(
        'int, float, "sqrt", "log2" or None',
        "Number of features sampled at each split: an int, a fraction, the square root or the "
        "base-2 logarithm of the number of features. None uses all of them.",
    ),
    "projection": Described(
        "str, projection object or None",
        '"gaussian", "rademacher", "achlioptas", "sparse", "hadamard" or "subsample" draws a new '
        'sketch of the gradients for each tree; "norm-subsample" draws outputs by the norm of '
        'their gradients, and "top-norm" takes those of largest norm. None searches splits on the '
        "gradients of all outputs.",
    ),
    "n_components": Described(
        'int, float, "log", "sqrt", "all" or None',
        "Dimension m of the sketch: an int, a fraction of the d outputs, floor(0.5 + ln d), "
        "floor(0.5 + sqrt d) or d. None is 6, and keeps up to 6 outputs as they are.",
    ),
    "warm_start": Described(
        "bool",
        "Keep the trees of the previous fit and add the missing ones, exactly as if grown at once. "
        "X, y and sample_weight must be the same.",
    ),
    "threshold": Described(
        'float, array or "top-K"',
        "With many labels, `predict` returns those whose probability exceeds the threshold: one "
        'number, or one per label. "top-K" returns the K most probable labels.',
    ),
}
_OOB_ROWS = (
    " Unless bootstrap=True or max_samples is set, a fifth of the rows (at most {:,}) are left out "
    "of three in ten trees to compute it."
)
OF_MIXED_FORESTS["threshold"] = Described(
    PARAMETERS["threshold"].type,
    PARAMETERS["threshold"].text + _OOB_ROWS.format(1000).replace("compute", "choose"),
)
ATTRIBUTES = {
    "classes_": Described(
        "(n_classes,) array, or (n_labels, 2) array for many labels", "The classes."
    ),
    "n_classes_": Described("int, or list of int for many labels", "Number of classes."),
    "n_outputs_": Described("int", "Number of labels or outputs; 1 for classes."),
    "n_components_": Described(
        "int or None", "Dimension of the projection; None if the outputs are not projected."
    ),
    "max_features_": Described("int", "Number of features sampled at each split."),
    "n_estimators_": Described("int", "Number of trees."),
    "linear_": Described("float", "Weight of the linear part in the scores, from 0 to 1."),
    "n_iter_": Described("int", "Number of trees."),
    "train_score_": Described(
        "(n_grown + 1,) array",
        "Minus the mean loss on the training rows, or on 10,000 of them, before the first tree and "
        "after each that was grown; empty without early stopping.",
    ),
    "validation_score_": Described(
        "(n_grown + 1,) array", "The same on the held-out rows; empty if there are none."
    ),
    "do_early_stopping_": Described("bool", "Whether the fit could stop before `max_iter` trees."),
    "n_features_in_": Described("int", "Number of features."),
    "feature_names_in_": Described(
        "(n_features,) array", "Column names of X, if it is a data frame with string names."
    ),
    "label_names_": Described(
        "(n_outputs,) array", "Column names of a data frame Y, or the names in a model file."
    ),
    "estimators_": Described("list of single trees", "The trees, each a fitted estimator."),
    "feature_importances_": Described(
        "(n_features,) array", "Share of each feature in the gain of all splits. They sum to 1."
    ),
    "oob_score_": Described("float", "Out-of-bag score, if `oob_score` is set."),
    "oob_decision_function_": Described(
        "(n_train, n_labels) or (n_train, n_classes) array, or CSR",
        "Out-of-bag predictions, if `oob_score` is set; zero for rows that every tree saw. A list "
        "of arrays for several columns of classes.",
    ),
    "oob_prediction_": Described(
        "(n_train,) or (n_train, n_outputs) array, or CSR",
        "Out-of-bag predictions, if `oob_score` is set; zero for rows that every tree saw.",
    ),
    "thresholds_": Described(
        "(n_labels,) array, or a number", "Probability that a label must exceed to be predicted."
    ),
    "tree_": Described("TreeStructure", "The nodes of the tree, under scikit-learn's names."),
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
    own = own | ({} if hasattr(cls, "predict_proba") else OF_REGRESSORS)
    if "learning_rate" in names:
        return own | OF_BOOSTING
    if "oblique" not in names:
        return own
    oob_score = (PARAMETERS | own)["oob_score"]
    text = oob_score.text + _OOB_ROWS.format(10_000)
    own = own | OF_MIXED_FORESTS | {"oob_score": oob_score._replace(text=text)}
    return own if hasattr(cls, "predict_proba") else own | OF_MIXED_REGRESSORS


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
