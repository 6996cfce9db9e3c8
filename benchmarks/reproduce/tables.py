"""Tables 1 and 2: forests on the original outputs and on gaussian projections of them."""

import numpy as np
import pandas as pd

from benchmarks.experiments import Lookup
from benchmarks.reproduce.data import find_set
from benchmarks.reproduce.forest_experiment import ForestExperiment
from benchmarks.reproduce.paper import OUTPUTS, paper_scores
from benchmarks.reproduce.scores import gap, mark, score_of, verdict
from benchmarks.reproduce.settings import ReproduceSettings

_SPLITS = 10
_N_COMPONENTS: dict[str, int | str | None] = {"original": None, "1": 1, "log": "log", "all": "all"}
_COLUMNS = ["forest", "dataset", "is_comparable", "n_train", "n_test", "outputs", "n_splits"]
_COLUMNS += ["lrap", "lrap_sd", "paper", "paper_sd", "gap_in_sd", "mark", "against_original"]
_COLUMNS += ["gain", "gain_sd", "paper_against_original", "fit_seconds"]


def _outputs(settings: ReproduceSettings) -> list[str]:
    return [outputs for outputs in OUTPUTS if outputs != "all" or settings.with_all]


def table_experiments(forest: str, settings: ReproduceSettings) -> list[ForestExperiment]:
    """List the runs of one table."""
    return [
        ForestExperiment(
            dataset=dataset,
            forest=forest,
            projection=None if outputs == "original" else "gaussian",
            n_components=_N_COMPONENTS[outputs],
            n_estimators=settings.n_estimators,
            split=split,
            repeat=split,
            seed=settings.seed,
        )
        for dataset in settings.chosen()
        for split in range(settings.n_repeats(_SPLITS))
        for outputs in _outputs(settings)
    ]


def table_rows(forest: str, settings: ReproduceSettings, lookup: Lookup) -> pd.DataFrame:
    """Join our scores with the paper's: a row for each data set and kind of outputs.

    `against_original` compares with our forest on the original outputs, and `gain` is the
    difference to it, split by split.
    """
    known = [
        (one.dataset, str(one.n_components or "original"), one.split, result)
        for one in table_experiments(forest, settings)
        if (result := lookup(one)) is not None
    ]
    runs = pd.DataFrame(
        [(*key, result.lrap, result.fit_seconds) for *key, result in known],
        columns=["dataset", "outputs", "split", "lrap", "fit_seconds"],
    )
    original = runs[runs["outputs"] == "original"].set_index(["dataset", "split"])["lrap"]
    runs = runs.join(original.rename("original"), on=["dataset", "split"])
    runs["gain"] = runs["lrap"] - runs["original"]
    keys = pd.MultiIndex.from_product(
        [settings.chosen(), _outputs(settings)], names=["dataset", "outputs"]
    )
    rows = (
        runs.groupby(["dataset", "outputs"])
        .agg(
            n_splits=("lrap", "size"),
            lrap=("lrap", "mean"),
            lrap_sd=("lrap", "std"),
            gain=("gain", "mean"),
            gain_sd=("gain", "std"),
            fit_seconds=("fit_seconds", "mean"),
        )
        .reindex(keys)
        .reset_index()
        .join(paper_scores().loc[forest], on=["dataset", "outputs"])
    )
    sets = [find_set(dataset) for dataset in rows["dataset"]]
    references = dict(rows[rows["outputs"] == "original"].set_index("dataset").iterrows())
    ours, paper = ([score_of(row, name) for row in rows.itertuples()] for name in ("lrap", "paper"))
    return rows.assign(
        forest=forest,
        is_comparable=[found.is_comparable for found in sets],
        n_train=[found.n_train for found in sets],
        n_test=[found.n_test for found in sets],
        n_splits=rows["n_splits"].fillna(0).astype(int),
        gap_in_sd=np.array([gap(*pair) for pair in zip(ours, paper, strict=True)], float),
        mark=[mark(*pair) for pair in zip(ours, paper, strict=True)],
        against_original=[
            verdict(one, score_of(references[dataset], "lrap"))
            for one, dataset in zip(ours, rows["dataset"], strict=True)
        ],
    )[_COLUMNS]
