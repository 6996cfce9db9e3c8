"""Code shared by the estimators: input validation, fitting, prediction and thresholds."""
