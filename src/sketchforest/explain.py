"""Why a forest predicts what it predicts: the training rows and the features that count for a row.

`Explanation` is what `forest.explain` returns; `explain` is the same as a function.
"""

from typing import TYPE_CHECKING

from sketchforest._estimators.inspection.explanation import Explanation
from sketchforest._typing import MatrixLike

if TYPE_CHECKING:
    from sketchforest._estimators.inspection.mixin import InspectedTrees

__all__ = ["Explanation", "explain"]


def explain(model: "InspectedTrees", x: MatrixLike, k: int = 3) -> Explanation:
    """What counts for the k most probable labels of the one row x, (1, n_features).

    Parameters
    ----------
    model : fitted estimator
    x : (1, n_features) array, scipy sparse matrix or data frame
    k : int, default=3

    Returns
    -------
    Explanation

    Examples
    --------
    >>> from sketchforest import RandomForestClassifier
    >>> from sketchforest.datasets import make_multilabel
    >>> data = make_multilabel(200, 30, 50, labels_per_row=4, features_per_row=8)
    >>> forest = RandomForestClassifier(10, random_state=0).fit(data.X, data.Y)
    >>> found = explain(forest, data.X[:1], k=1)
    >>> bool(abs(found.base + found.contributions.sum(axis=0) - found.scores).max() < 1e-6)
    True
    """
    return model.explain(x, k=k)
