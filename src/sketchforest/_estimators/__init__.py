"""What the estimators share: checks of input, one way through fit, predictions, decisions."""
