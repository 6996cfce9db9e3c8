"""The native surface: a handful of functions over plain arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

class GrowParams:
    max_features: int
    random_cuts: bool
    max_depth: int
    min_samples_split: int
    min_samples_leaf: int
    min_weight_leaf: float
    min_gain: float
    max_leaf_nodes: int
    key: int

class StopFlag:
    def set(self) -> None: ...

def rank_columns(
    x: NDArray[Any], first: int, last: int, code_bytes: int, wide: bool
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64]]: ...
def code_by_value(x: NDArray[Any]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]: ...
def encode_csr(
    values: NDArray[Any],
    columns: NDArray[np.int32],
    row_start: NDArray[np.int64],
    n_features: int,
    /,
) -> tuple[
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.uint32],
    NDArray[np.uint32],
    NDArray[Any],
    NDArray[np.int64],
]: ...
def project(
    labels: Any, rows: NDArray[np.int32], p: NDArray[np.float32]
) -> NDArray[np.float32]: ...
def grow(
    codes: Any,
    outputs: Any,
    rows: NDArray[np.int32],
    weights: NDArray[np.float64],
    params: GrowParams,
    stop: StopFlag,
) -> (
    tuple[
        NDArray[np.int32],
        NDArray[np.float64],
        NDArray[np.float64],
        NDArray[np.uint32],
        NDArray[np.uint32],
        int,
    ]
    | None
): ...
def leaves_dense(forest: Any, x: NDArray[Any]) -> NDArray[np.int32]: ...
def leaves_sparse(
    forest: Any,
    values: NDArray[Any],
    columns: NDArray[np.int32],
    row_start: NDArray[np.int64],
    n_features: int,
    /,
) -> NDArray[np.int32]: ...
def average(forest: Any, values: Any, leaves: NDArray[np.int32], out: NDArray[Any], /) -> None: ...
def average_csr(
    forest: Any, values: Any, leaves: NDArray[np.int32], k: int
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]]: ...
def average_best(
    forest: Any, values: Any, leaves: NDArray[np.int32], k: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]: ...
def ranks_dense(
    row_start: NDArray[np.int64], labels: NDArray[np.int64], scores: NDArray[np.float64], /
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def ranks_sparse(
    row_start: NDArray[np.int64],
    labels: NDArray[np.int64],
    scores: NDArray[np.float64],
    scored_labels: NDArray[np.int64],
    scored_start: NDArray[np.int64],
    n_labels: int,
    /,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def find_damage(forest: Any, labels: Any, n_features: int) -> str | None: ...
