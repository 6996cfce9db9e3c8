"""Forests and simpler methods on dense embeddings of texts, or on dense features as they are."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize

from benchmarks.data import TrainTestSplit
from benchmarks.measure import processor_timed
from benchmarks.studies.study import Measure, Study, markdown_table
from sketchforest import ExtraTreesClassifier, RandomForestClassifier, SketchForestClassifier
from sketchforest.metrics import lrap, precision_at_k

N_DIMENSIONS = 256
N_NEIGHBORS = 30
FORESTS = {
    "sketch forest": SketchForestClassifier,
    "extra-trees": ExtraTreesClassifier,
    "random forest": RandomForestClassifier,
}
FitAndScore = Callable[[TrainTestSplit], np.ndarray]


@dataclass(frozen=True)
class EmbeddingResult:
    """Scores on the test rows, and the processor seconds of fit and prediction."""

    lrap: float
    p1: float
    seconds: float


def run_embeddings(study: Study) -> bool:
    """Measure, and write embeddings-T-trees.csv and embeddings.md."""

    def methods(dataset: str, split: int) -> dict[str, Measure]:
        forests = {
            name: partial(_forest, kind, study.forest_params | {"random_state": split})
            for name, kind in FORESTS.items()
        }
        return {name: partial(_measure, method) for name, method in (forests | OTHERS).items()}

    return study.run("embeddings", EmbeddingResult, methods, embeddings_page)


def embedded(data: TrainTestSplit, n_dimensions: int = N_DIMENSIONS) -> TrainTestSplit:
    """With unit rows of a truncated SVD of TF-IDF weights, fitted on the training rows; dense
    features stay as they are."""
    if isinstance(data.X_train, np.ndarray):
        return data
    n_dimensions = min(n_dimensions, min(data.X_train.shape) - 1)
    svd = TruncatedSVD(n_dimensions, random_state=0)
    embedding = make_pipeline(TfidfTransformer(sublinear_tf=True), svd).fit(data.X_train)
    X_train, X_test = (
        normalize(embedding.transform(X)).astype(np.float32) for X in (data.X_train, data.X_test)
    )
    return TrainTestSplit(X_train, data.Y_train, X_test, data.Y_test)


def _measure(method: FitAndScore, data: TrainTestSplit) -> EmbeddingResult:
    seconds, scores = processor_timed(partial(method, embedded(data)))
    truth = data.Y_test
    return EmbeddingResult(lrap(truth, scores), precision_at_k(truth, scores, 1), seconds)


def _forest(kind: type, params: dict[str, Any], data: TrainTestSplit) -> np.ndarray:
    scores: np.ndarray = kind(**params).fit(data.X_train, data.Y_train).predict_proba(data.X_test)
    return scores


def ridge(data: TrainTestSplit) -> np.ndarray:
    model = RidgeCV(np.logspace(-2, 3, 11)).fit(data.X_train, data.Y_train.toarray().astype(float))
    scores: np.ndarray = model.predict(data.X_test)
    return scores


def _logistic(data: TrainTestSplit) -> np.ndarray:
    occurs = np.flatnonzero(data.Y_train.sum(axis=0))  # a label needs examples
    one_vs_rest = OneVsRestClassifier(LogisticRegression(C=10.0, max_iter=200))
    # scikit-learn (1.9) numbers the columns of sparse Y in its own type, which may be of 8 bits.
    one_vs_rest.fit(data.X_train, data.Y_train[:, occurs].astype(np.int64))
    scores = np.zeros(data.Y_test.shape)
    scores[:, occurs] = one_vs_rest.predict_proba(data.X_test)
    return scores


def neighbors(data: TrainTestSplit) -> np.ndarray:
    """Labels of the nearest training rows by cosine, each counting by its similarity."""
    k = min(N_NEIGHBORS, data.X_train.shape[0])
    index = NearestNeighbors(n_neighbors=k, metric="cosine").fit(data.X_train)
    distances, nearest = index.kneighbors(data.X_test)
    starts = np.arange(len(nearest) + 1) * k
    shape = len(nearest), data.X_train.shape[0]
    weights = np.maximum(1 - distances, 0).ravel()
    shares = sparse.csr_array((weights, nearest.ravel(), starts), shape=shape)
    scores: np.ndarray = (shares @ data.Y_train.astype(np.float32)).toarray()
    return scores


OTHERS: dict[str, FitAndScore] = {
    "ridge": ridge,
    "logistic regression": _logistic,
    f"{N_NEIGHBORS} nearest neighbours": neighbors,
}
METHODS = (*FORESTS, *OTHERS)


def embeddings_page(results: pd.DataFrame) -> str:
    """Make tables of LRAP, P@1 and seconds by method, the best in bold."""
    parts = [
        "Means over random splits. Text is reduced to unit rows of a truncated SVD of TF-IDF "
        f"weights, with {N_DIMENSIONS} dimensions, fitted on the training rows; other data sets "
        "have dense features. Logistic regression is one-vs-rest.\n"
    ]
    for column, title, digits, is_score in (
        ("lrap", "LRAP", 3, True),
        ("p1", "P@1", 3, True),
        ("seconds", "Processor seconds to fit and predict", 1, False),
    ):
        found = results.pivot_table(index="dataset", columns="method", values=column)
        found = found[[method for method in METHODS if method in found]]
        rows = []
        for name, values in found.iterrows():
            best = values.max() if is_score else None
            cells = [f"{v:.{digits}f}" for v in values]
            bold = [f"**{c}**" if v == best else c for c, v in zip(cells, values, strict=True)]
            rows.append([str(name), *bold])
        parts += [f"**{title}**\n", markdown_table(["data set", *found], rows)]
    return "\n".join(parts)
