"""Descriptions of the parameters that methods of estimators share."""

from sketchforest._utils.docs import Described, with_described_methods

_MATRIX = "(n_samples, n_features) array, scipy sparse matrix or data frame"
_PARAMETERS = {
    "X": Described(f"{_MATRIX}, or texts for a text model", ""),
    "rows": Described("as X for `predict`", ""),
    "y": Described("as for `fit`", ""),
    "sample_weight": Described("(n_samples,) array", ""),
    "texts": Described("as for `fit`", ""),
    "tags": Described("as for `fit`", ""),
    "k": Described("int", ""),
    "n": Described("int", ""),
    "ax": Described("matplotlib Axes", ""),
    "path": Described("str or path", ""),
}
_OF_FIT = {
    "X": Described(
        _MATRIX, "NaN means missing. Columns of categories or strings are one-hot encoded."
    ),
    "y": Described(
        "(n_samples, n_outputs) array, scipy sparse matrix or data frame, or (n_samples,) array",
        "The labels Y. A classifier takes an indicator matrix of zeros and ones, one class per "
        "row, or several columns of classes. A regressor takes numbers.",
    ),
    "sample_weight": Described("(n_samples,) array", "Rows with a weight of 0 are ignored."),
}

# Decorator that adds the parameters which the docstrings of the methods of a class leave out.
described_methods = with_described_methods(_PARAMETERS, fit=_OF_FIT)
