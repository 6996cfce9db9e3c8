"""What older versions of scikit-learn do in another way, so that nothing is compared with it."""

import sklearn
from sklearn.utils.fixes import parse_version

VERSION = parse_version(sklearn.__version__)
# Before 1.8, splits of nodes with missing values are not the best ones, by the definition in
# reference.py, and decision_path does not look where missing values go.
SPLITS_MISSING_VALUES = parse_version("1.8") <= VERSION
# Before 1.8, nor are those by absolute error.
SPLITS_BY_ABSOLUTE_ERROR = parse_version("1.8") <= VERSION
# Before 1.9, nodes with missing values are left unsplit by Poisson deviance.
SPLITS_MISSING_VALUES_BY_POISSON = parse_version("1.9") <= VERSION


def knows_names_of(frame: object) -> bool:
    """Before 1.9, names of columns are read by a protocol that polars 2 has no more."""
    return parse_version("1.9") <= VERSION or hasattr(frame, "__dataframe__")
