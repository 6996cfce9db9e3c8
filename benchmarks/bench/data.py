"""The data sets of the benchmark, generated data among them."""

import numpy as np

from benchmarks.data import TRAIN_SHARE, Folder, TrainTestSplit, take_rows
from sketchforest.datasets import Dataset, list_datasets, load, make_delicious_like

GENERATED = "generated"
_PREFERRED = ("delicious", "bibtex", "mediamill")
_QUICK_ROWS = {"train": 2000, "test": 500}


def choose_datasets(names: list[str] | None, data_home: Folder | None = None) -> list[str]:
    """The names asked for, "all" spelt out; without any, those of the README's table."""
    found = list_datasets(data_home)
    if not names:
        return [name for name in _PREFERRED if name in found] or [GENERATED]
    if names == ["all"]:
        return [*found, GENERATED]
    unknown = [name for name in names if name not in (*found, GENERATED)]
    if unknown:
        raise ValueError(
            f"datasets must be among {', '.join((*found, GENERATED))}; got {', '.join(unknown)}. "
            "Use --data-home or SKETCHFOREST_DATA to name a folder of data sets."
        )
    return names


def load_split(
    name: str, data_home: Folder | None = None, *, quick: bool = False
) -> TrainTestSplit:
    """The data set ``name`` in its given split, or in a seeded one of 2/3 and 1/3."""
    if name == GENERATED:
        n_samples = sum(_QUICK_ROWS.values())
        return given_split(make_delicious_like(n_samples) if quick else make_delicious_like())
    return given_split(load(name, data_home), quick=quick)


def given_split(data: Dataset, *, quick: bool = False) -> TrainTestSplit:
    rows = data.splits or _seeded_split(data.X.shape[0])
    if quick:
        rows = {part: _some(rows[part], limit) for part, limit in _QUICK_ROWS.items()}
    return take_rows(data, rows["train"], rows["test"])


def _seeded_split(n_samples: int) -> dict[str, np.ndarray]:
    rows = np.random.default_rng(0).permutation(n_samples)
    train, test = np.split(rows, [round(TRAIN_SHARE * n_samples)])
    return {"train": train, "test": test}


def _some(rows: np.ndarray, limit: int) -> np.ndarray:
    # Not the first ones: some files are sorted by label.
    return np.sort(np.random.default_rng(0).permutation(rows)[:limit])
