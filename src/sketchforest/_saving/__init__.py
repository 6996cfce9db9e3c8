"""Save and load estimators: from the estimator down to the container format."""
