"""scikit-learn's own checks of the boosting estimators."""

import warnings

from sklearn.utils.estimator_checks import parametrize_with_checks

from sketchforest import SketchBoostingClassifier, SketchBoostingRegressor

REASON = "a leaf has at least so many rows, and a row of weight 2 is not two rows"
KINDS = (SketchBoostingClassifier, SketchBoostingRegressor)


def expected_failed_checks(estimator):
    # scikit-learn's own boosting fails the same two.
    return {
        "check_sample_weight_equivalence_on_dense_data": REASON,
        "check_sample_weight_equivalence_on_sparse_data": REASON,
    }


@parametrize_with_checks(
    [kind(max_iter=10, min_samples_leaf=3) for kind in KINDS],
    expected_failed_checks=expected_failed_checks,
)
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.filterwarnings("error", module="sketchforest")
        check(estimator)
