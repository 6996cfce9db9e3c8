"""Parts of docstrings that readers, writers and generators share."""

import inspect
from collections.abc import Callable
from functools import partial

from sketchforest._utils import docs
from sketchforest._utils.docs import Described, Function

_PARAMETERS = {
    "path": Described("str or path", "File name; text may be compressed (.gz, .xz or .bz2)."),
    "dataset": Described("Dataset", "The data set to write."),
    "n_samples": Described("int", "Number of rows."),
    "n_features": Described("int", "Number of features."),
    "n_labels": Described("int", "Number of labels."),
    "labels_per_row": Described("float", "Mean number of labels per row."),
    "features_per_row": Described("float", "Mean number of non-zero features per row."),
    "n_topics": Described("int", "Number of topics; more of them are harder to predict."),
    "n_train": Described("int", "Number of training rows."),
    "n_test": Described("int", "Number of test rows."),
    "random_state": Described(
        "int, numpy.random.Generator or None", "Random seed; None draws a new one."
    ),
    "name": Described("str", "Name of the data set."),
    "data_home": Described("str, path or None", "The first folder to search."),
}
_ROUND_TRIP = """

Examples
--------
>>> from sketchforest.datasets import make_multilabel, {read}, {write}
>>> {write}(make_multilabel(20, 10, 5, labels_per_row=2, features_per_row=3), "{file}")
>>> {read}("{file}")
Dataset('tags', n_samples=20, n_features=10, n_labels=5)
"""


# Decorator that adds the shared parameters to a docstring.
described = partial(docs.described, known=_PARAMETERS)


def round_trip(read: str, write: str, file: str) -> Callable[[Function], Function]:
    """Like `described`, with an example that writes a file and reads it."""

    def decorate(function: Function) -> Function:
        if function.__doc__ is not None:
            # Python 3.13 and later remove the indentation of docstrings themselves.
            example = _ROUND_TRIP.format(read=read, write=write, file=file)
            function.__doc__ = inspect.cleandoc(function.__doc__) + example
        return described(function)

    return decorate
