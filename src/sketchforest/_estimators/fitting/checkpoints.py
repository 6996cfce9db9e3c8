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
        prepared = _with_seed_of(Path(folder), prepared)
        checkpoint = Checkpoint.open(folder, _grown_on(prepared))
        data = prepared.problem.data
        yield (
            prepared,
            partial(
                checkpoint.trees_of,
                feature_map=data.feature_map,
                n_features=prepared.problem.X.shape[1],
                n_rows=data.n_rows,
            ),
        )
        checkpoint.remove()


def _with_seed_of(folder: Path, prepared: Prepared) -> Prepared:
    """Without a random_state, a fit that is continued uses its original seed."""
    found = read_index(folder)
    if found is None or isinstance(prepared.params.random_state, Integral | np.random.RandomState):
        return prepared
    settings = replace(prepared.problem.settings, seed=int(found["random_state"]))
    return replace(prepared, problem=replace(prepared.problem, settings=settings))


def _grown_on(prepared: Prepared) -> dict[str, str]:
    """Everything that the trees depend on, in the words of error messages."""
    from sketchforest import __version__

    settings, targets = prepared.problem.settings, prepared.targets
    class_weight = prepared.params.class_weight
    return {
        "version of sketchforest": __version__,
        "X or sample_weight": str(prepared.fingerprint),
        "Y": joblib.hash((targets.labels, targets.classes, targets.column_classes)),
        "set of parameters": joblib.hash(
            (replace(settings, seed=0), class_weight, targets.criterion.name)
        ),
        "random_state": str(settings.seed),
    }
