"""Checkpoints of a fit: the folder that keeps finished trees, and what they depend on."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from numbers import Integral
from pathlib import Path

import joblib
import numpy as np

from sketchforest._estimators.fitting.growing import Keep
from sketchforest._estimators.fitting.preparation import Prepared
from sketchforest._saving.checkpoint import Checkpoint, only_fit_in, read_index


@contextmanager
def checkpointed(
    folder: str | os.PathLike[str] | None, prepared: Prepared
) -> Iterator[tuple[Prepared, Keep | None]]:
    """Keep finished trees in a folder until the fit succeeds; also yields the seed to continue."""
    if folder is None:
        yield prepared, None
        return
    with only_fit_in(Path(folder)):
        found, given = read_index(Path(folder)), prepared.params.random_state
        if found is not None and not isinstance(given, Integral | np.random.RandomState):
            # Without a random_state, a fit that is continued uses its original seed.
            settings = replace(prepared.problem.settings, seed=int(found["random_state"]))
            prepared = replace(prepared, problem=replace(prepared.problem, settings=settings))
        checkpoint = Checkpoint.open(folder, _grown_on(prepared))
        data, n_features = prepared.problem.data, prepared.problem.X.shape[1]
        shape = {"n_features": n_features, "n_rows": data.n_rows}
        yield prepared, partial(checkpoint.trees_of, feature_map=data.feature_map, **shape)
        checkpoint.remove()


def _grown_on(prepared: Prepared) -> dict[str, str]:
    """Everything that the trees depend on, in the words of error messages."""
    from sketchforest import __version__

    settings, targets = prepared.problem.settings, prepared.targets
    class_weight, device = prepared.params.class_weight, prepared.params.device or "cpu"
    return {
        "version of sketchforest": __version__,
        "X or sample_weight": str(prepared.fingerprint),
        "Y": joblib.hash((targets.labels, targets.classes, targets.column_classes)),
        "set of parameters": joblib.hash(
            (replace(settings, seed=0), class_weight, targets.criterion.name, device)
        ),
        "random_state": str(settings.seed),
    }
