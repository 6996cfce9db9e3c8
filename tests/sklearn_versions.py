"""Differences of older scikit-learn versions, which tests must not compare with."""

import sklearn
from sklearn.utils.fixes import parse_version

VERSION = parse_version(sklearn.__version__)
# Before 1.8, splits of nodes with missing values are not the best by the definition in
# reference.py, and decision_path ignores where missing values go.
SPLITS_MISSING_VALUES = parse_version("1.8") <= VERSION
# Before 1.8, splits by absolute error are not the best either.
SPLITS_BY_ABSOLUTE_ERROR = parse_version("1.8") <= VERSION
# Before 1.9, nodes with missing values are not split by Poisson deviance.
SPLITS_MISSING_VALUES_BY_POISSON = parse_version("1.9") <= VERSION


def knows_names_of(frame: object) -> bool:
    """Whether column names can be read; before 1.9, by a protocol that polars 2 has dropped."""
    return parse_version("1.9") <= VERSION or hasattr(frame, "__dataframe__")
