"""Usual ways to tune, to compare with: random search and Optuna, by five-fold cross-validation."""

from typing import Any

import numpy as np
from sklearn.model_selection import KFold, ParameterSampler

import sketchforest
from sketchforest.lab.data import Problem
from sketchforest.metrics import lrap

N_TRIALS, N_FOLDS = 60, 5
KINDS = ("RandomForestClassifier", "ExtraTreesClassifier")
COMPONENTS, LEAVES = (1, 8, 32, 128, None), (1, 2, 3, 5, 10)
FEATURE_FACTORS = (0.5, 1, 2, 4, 8, 16)


def random_search(problem: Problem, n_estimators: int, n_jobs: int, seed: int) -> Any:
    """The best of 60 random settings of the space that `tune` searches, fitted."""
    space = {
        "kind": KINDS,
        "n_components": COMPONENTS,
        "max_features": _feature_levels(problem),
        "min_samples_leaf": LEAVES,
    }
    trials = list(ParameterSampler(space, N_TRIALS, random_state=seed))
    scores = [cross_validated(problem, trial, n_estimators, n_jobs, seed) for trial in trials]
    best = _forest(trials[int(np.argmax(scores))], problem, n_estimators, n_jobs, seed)
    return best.fit(problem.X_train, problem.Y_train)


def optuna_search(problem: Problem, n_estimators: int, n_jobs: int, seed: int) -> Any:
    """The best of 60 settings that Optuna's TPE proposes, fitted."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)

    def objective(trial: Any) -> float:
        setting = {
            "kind": trial.suggest_categorical("kind", KINDS),
            "n_components": trial.suggest_categorical("n_components", COMPONENTS),
            "max_features": trial.suggest_categorical("max_features", _feature_levels(problem)),
            "min_samples_leaf": trial.suggest_categorical("min_samples_leaf", LEAVES),
        }
        return cross_validated(problem, setting, n_estimators, n_jobs, seed)

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(objective, n_trials=N_TRIALS)
    best = _forest(study.best_params, problem, n_estimators, n_jobs, seed)
    return best.fit(problem.X_train, problem.Y_train)


def cross_validated(
    problem: Problem, setting: dict[str, Any], n_estimators: int, n_jobs: int, seed: int
) -> float:
    """Mean LRAP over the folds."""
    X, Y = problem.X_train, problem.Y_train
    scores = []
    for train, test in KFold(N_FOLDS, shuffle=True, random_state=seed).split(np.arange(Y.shape[0])):
        forest = _forest(setting, problem, n_estimators, n_jobs, seed).fit(X[train], Y[train])
        scores.append(lrap(Y[test], forest.predict_proba(X[test])))
    return float(np.mean(scores))


def _forest(
    setting: dict[str, Any], problem: Problem, n_estimators: int, n_jobs: int, seed: int
) -> Any:
    params = dict(setting)
    kind, m = params.pop("kind"), params.pop("n_components")
    keeps_outputs = m is None or m >= problem.Y_train.shape[1]
    outputs = {"projection": None} if keeps_outputs else {"n_components": m}
    make = getattr(sketchforest, kind)
    return make(n_estimators, n_jobs=n_jobs, random_state=seed, **params, **outputs)


def _feature_levels(problem: Problem) -> list[int]:
    n_features = problem.X_train.shape[1]
    root = max(1, int(np.sqrt(n_features)))
    return sorted({min(n_features, max(1, round(f * root))) for f in FEATURE_FACTORS})
