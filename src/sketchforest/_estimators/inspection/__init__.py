"""Explanations, names and descriptions of fitted estimators."""
