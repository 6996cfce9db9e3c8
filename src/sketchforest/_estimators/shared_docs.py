"""Parameters and attributes that estimators share, described once.

In the docstring of a class decorated with `described`, parameters and attributes of which only the
names are given get their descriptions from here, and their defaults from the signature.
"""

from typing import TypeVar

from sketchforest._utils.docs import Described, fill
from sketchforest._utils.registry import PROJECTIONS

Class = TypeVar("Class", bound=type)

PARAMETERS = {
    "n_estimators": Described(
        'int or "auto"',
        'Number of trees; "auto" doubles them until twice as many would gain next to nothing.',
    ),
    "projection": Described(
        "str, projection object, scikit-learn transformer or None",
        ", ".join(f'"{name}"' for name in PROJECTIONS)
        + "; None keeps the original outputs. See `sketchforest.projection`.",
    ),
    "n_components": Described(
        'int, float, "log", "sqrt", "all", "auto" or None',
        "Dimension m of the projection: a number, a fraction of the d outputs, floor(0.5 + ln "
        "d), floor(0.5 + sqrt d) or d. None is 64, and up to 64 outputs are kept as they are. "
        '"auto", in forests, here or in `max_features`, chooses by rows that trees did not '
        "see.",
    ),
    "shared_projection": Described(
        "bool",
        "One projection for all trees (the paper's algorithm 1), not one for each.",
    ),
    "max_depth": Described(
        "int or None",
        "Most splits on a way from the root to a leaf.",
    ),
    "min_samples_split": Described(
        "int or float",
        "Rows that a node must have to be split, or their share of all.",
    ),
    "min_samples_leaf": Described(
        "int or float",
        "Rows that a leaf must have, or their share.",
    ),
    "min_weight_fraction_leaf": Described(
        "float",
        "Share of the weight of all rows that a leaf must have.",
    ),
    "max_features": Described(
        'int, float, "sqrt", "log2", "auto" or None',
        "Features drawn at each split: a number, a share, their square root or logarithm; "
        "None is all. The search goes on until one valid split is found.",
    ),
    "max_leaf_nodes": Described(
        "int or None",
        "Most leaves of a tree; the nodes that gain most are split first.",
    ),
    "min_impurity_decrease": Described(
        "float",
        "What a split must gain, times the node's share of all weight. Impurity is measured "
        "where splits are searched: in the projected space, unless `projection=None`.",
    ),
    "ccp_alpha": Described(
        "float",
        "What a leaf costs: splits that lower the impurity by less are undone, as in scikit-learn.",
    ),
    "monotonic_cst": Described(
        "None",
        "No constraints of monotonicity.",
    ),
    "bootstrap": Described(
        "bool",
        "Draw rows for each tree with replacement; else all rows.",
    ),
    "max_samples": Described(
        "int, float or None",
        "Rows drawn for each tree, or their share of all; None is as many as there are. With "
        "bootstrap=False they are drawn without replacement.",
    ),
    "oob_score": Described(
        "bool, str or callable",
        "Score rows by trees that did not see them: True (LRAP for many labels, accuracy for "
        "classes), the name of a metric of `sketchforest.metrics`, which is given scores, or "
        "a callable f(Y_true, Y_pred), which is given predictions.",
    ),
    "n_jobs": Described(
        "int or None",
        "Threads; -1 uses all cores, None one. Results are the same for any number.",
    ),
    "random_state": Described(
        "int, RandomState or None",
        "Seed of all that is random.",
    ),
    "verbose": Described(
        "int",
        "Show progress if above 0.",
    ),
    "warm_start": Described(
        "bool",
        "Keep the trees of the last fit, of the same rows, and add those that are missing.",
    ),
    "class_weight": Described(
        'dict, list of dict, "balanced", "balanced_subsample" or None',
        "Weights of the classes. With many labels a row has the product of its labels' "
        "weights, each from a dict {0: if absent, 1: if present}: one for all labels, or a "
        "list with one for each.",
    ),
    "threshold": Described(
        'float, array, "f1", "f1-per-label" or "top-K"',
        "With many labels, `predict` gives those whose probability is above it: one number, "
        'or one for each label. "f1" is the number, and "f1-per-label" are the numbers, that '
        "make F1 largest on rows that trees did not see; a row then has its most probable "
        'label in any case. "top-K" gives the K most probable labels. It may be changed after '
        'a fit; to "f1" and "f1-per-label" after one with either of them, or with '
        "`oob_score`.",
    ),
    "splitter": Described(
        '"best", "random" or "oblique"',
        "The best cut of each feature drawn, one random cut as in extra-trees, or a cut along "
        "a direction in the space of all features, as in sketch forests.",
    ),
    "oblique": Described(
        "float",
        "Share of the oblique trees, from 0 to 1; the others are extra-trees.",
    ),
    "ridge": Described(
        "float",
        "How much the weights of a direction are held back: times the mean squared length of "
        "a node's centred rows.",
    ),
}
OF_CLASSIFIERS = {
    "criterion": Described(
        '"gini", "entropy" or "log_loss"',
        'As in scikit-learn. A projection keeps variances, of which "gini" is one: with the '
        "others, splits are searched on the outputs themselves, and `projection` must be left "
        "out or None.",
    ),
}
OF_REGRESSORS = {
    "criterion": Described(
        '"squared_error", "friedman_mse", "absolute_error" or "poisson"',
        "As in scikit-learn; the first two are names of one score, the variance, which is what a "
        "projection keeps. With the others, splits are searched on the outputs themselves, and "
        '`projection` must be left out or None. By "absolute_error", leaves predict medians.',
    ),
    "oob_score": Described(
        "bool, str or callable",
        'Score rows by trees that did not see them: True or "r2", or a callable f(Y_true, Y_pred).',
    ),
}
ATTRIBUTES = {
    "classes_": Described(
        "(n_classes,) array, or (n_labels, 2) array for many labels",
        "",
    ),
    "n_classes_": Described(
        "int, or list of int for many labels",
        "",
    ),
    "n_outputs_": Described(
        "int",
        "Number of labels or outputs; 1 for classes.",
    ),
    "n_components_": Described(
        "int or None",
        "Components in use; None: the outputs as they are.",
    ),
    "max_features_": Described(
        "int",
        "Features drawn at each split.",
    ),
    "n_estimators_": Described(
        "int",
        "Number of trees.",
    ),
    "n_features_in_": Described(
        "int",
        "Number of features.",
    ),
    "feature_names_in_": Described(
        "(n_features,) array",
        "Of a data frame with names of type str.",
    ),
    "label_names_": Described(
        "(n_outputs,) array",
        "Of a data frame Y with names of type str, or from a model file.",
    ),
    "estimators_": Described(
        "list of single trees",
        "Each is an estimator, too.",
    ),
    "feature_importances_": Described(
        "(n_features,) array",
        "Share of each feature in what splits gain, summing to 1.",
    ),
    "oob_score_": Described(
        "float",
        "If `oob_score`, the score of rows by trees that did not see them.",
    ),
    "oob_decision_function_": Described(
        "(n_train, n_labels) or (n_train, n_classes) array, or CSR",
        "If `oob_score`, the predictions it is the score of; zero for a row that all trees saw. A "
        "list of them for several columns of classes, which a callable scores.",
    ),
    "oob_prediction_": Described(
        "(n_train,) or (n_train, n_outputs) array, or CSR",
        "If `oob_score`, the predictions it is the score of; zero for a row that all trees saw.",
    ),
    "thresholds_": Described(
        "(n_labels,) array, or a number",
        "The probabilities that labels must exceed to be predicted.",
    ),
    "tree_": Described(
        "TreeStructure",
        "The tree by its nodes, under scikit-learn's names.",
    ),
}


def described(cls: Class) -> Class:
    """Fills in the docstring of an estimator; as a decorator."""
    own = OF_CLASSIFIERS if hasattr(cls, "predict_proba") else OF_REGRESSORS
    return fill(cls, {"Parameters": PARAMETERS | own, "Attributes": ATTRIBUTES})
