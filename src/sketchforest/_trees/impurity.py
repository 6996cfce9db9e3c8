"""What splits make small: how much the outputs of a node's rows differ."""

from enum import StrEnum


class Impurity(StrEnum):
    """Under the name that the core knows, but for the entropy of labels."""

    VARIANCE = "variance"  # of the indicators of classes, it is their Gini impurity
    ENTROPY = "entropy"
    POISSON = "poisson"
    ABSOLUTE_ERROR = "absolute_error"  # from the median, which a leaf then predicts


# scikit-learn's names.
CRITERIA = {
    "gini": Impurity.VARIANCE,
    "entropy": Impurity.ENTROPY,
    "log_loss": Impurity.ENTROPY,
    "squared_error": Impurity.VARIANCE,
    "friedman_mse": Impurity.VARIANCE,  # another name of the same, says scikit-learn
    "absolute_error": Impurity.ABSOLUTE_ERROR,
    "poisson": Impurity.POISSON,
}
