"""Gradient boosting: binning, losses, the loop, and the fitted model."""
