"""Estimators as files: estimator, model file, container."""
