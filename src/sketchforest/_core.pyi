"""The native core: functions over NumPy arrays, and objects that own arrays."""

from enum import Enum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

_Numbers: TypeAlias = NDArray[np.number | np.bool_]
_Floats: TypeAlias = NDArray[np.float32] | NDArray[np.float64]
_Codes: TypeAlias = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32]

# Objects that own arrays: validated on construction (ValueError), and read-only from then on.

class SparseRows:
    def __init__(self, **fields: object) -> None: ...
    @property
    def indptr(self) -> NDArray[np.int64]: ...
    @property
    def indices(self) -> NDArray[np.int32]: ...
    @property
    def data(self) -> NDArray[np.float32] | None: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_columns(self) -> int: ...

class Codes:
    def __init__(self, **fields: object) -> None: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def codes(self) -> _Codes | None: ...
    @property
    def row_codes(self) -> _Codes | None: ...
    @property
    def values(self) -> _Floats | None: ...
    @property
    def value_start(self) -> NDArray[np.int64] | None: ...
    @property
    def row_start(self) -> NDArray[np.int64] | None: ...
    @property
    def columns(self) -> NDArray[np.int32] | None: ...
    @property
    def column_size(self) -> NDArray[np.int32] | None: ...
    @property
    def zero_code(self) -> NDArray[np.uint32] | None: ...
    @property
    def by_value(self) -> bool: ...

class FloatRows:
    def __init__(self, **fields: object) -> None: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def data(self) -> NDArray[np.float32]: ...
    @property
    def indptr(self) -> NDArray[np.int64] | None: ...
    @property
    def indices(self) -> NDArray[np.int32] | None: ...

class Leaves:
    def __init__(self, **fields: object) -> None: ...
    @property
    def n_trees(self) -> int: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def leaf_start(self) -> NDArray[np.int64]: ...
    @property
    def tree_members(self) -> NDArray[np.int64]: ...
    @property
    def member_start(self) -> NDArray[np.uint32]: ...
    @property
    def members(self) -> NDArray[np.int32]: ...
    @property
    def weights(self) -> NDArray[np.uint8] | NDArray[np.float64] | None: ...
    @property
    def tree_weights(self) -> NDArray[np.float64] | None: ...

class Hierarchy:
    """Node ancestry: inner nodes of all trees, then all leaves."""

    @property
    def n_inner(self) -> int: ...
    @property
    def left(self) -> NDArray[np.int64]: ...
    @property
    def right(self) -> NDArray[np.int64]: ...
    @property
    def numbers(self) -> NDArray[np.int64]: ...
    def prune(
        self, costs: NDArray[np.float64], alpha: float
    ) -> tuple[
        tuple[NDArray[np.float64], NDArray[np.float64]],
        tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]],
        int,
    ]:
        """Alphas and impurities up to `alpha`, and the pruned tree: its inner nodes, their
        children, the leaf that each original leaf becomes part of, and its depth."""

class Forest(Leaves):
    def __init__(self, **fields: object) -> None: ...
    @property
    def n_features(self) -> int: ...
    @property
    def nodes(self) -> NDArray[np.int32]: ...
    @property
    def thresholds(self) -> NDArray[np.float64] | None: ...
    @property
    def gains(self) -> NDArray[np.float32] | None: ...
    @property
    def depths(self) -> NDArray[np.int32]: ...
    @property
    def node_start(self) -> NDArray[np.int64]: ...
    @property
    def direction_start(self) -> NDArray[np.int64]: ...
    @property
    def direction_columns(self) -> NDArray[np.int32]: ...
    @property
    def direction_weights(self) -> NDArray[np.uint16]: ...
    @property
    def is_oblique(self) -> NDArray[np.uint8]: ...
    @property
    def hierarchy(self) -> Hierarchy: ...
    @property
    def zero_chains(self) -> NDArray[np.uint32] | None: ...

# Nodes, thresholds, gains, offsets of leaves, positions of their members in the bag, (leaf, depth)
# of parts, depth, and the offsets, columns and weights of directions.
_Grown: TypeAlias = tuple[
    NDArray[np.int32],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.uint32],
    NDArray[np.int32],
    NDArray[np.int32],
    int,
    tuple[NDArray[np.uint32], NDArray[np.int32], NDArray[np.uint16]],
]

class Impurity(Enum):
    variance = ...
    entropy = ...
    label_entropy = ...
    poisson = ...
    absolute_error = ...

class PartSizes:
    def __init__(self, least: int, most: int) -> None: ...

class TreeLimits:
    max_depth: int
    min_samples_split: int
    min_samples_leaf: int
    min_weight_leaf: float
    min_gain: float
    max_leaf_nodes: int
    parts: PartSizes
    key: int

class GrowParams(TreeLimits):
    impurity: Impurity
    max_features: int
    random_cuts: bool
    n_threads: int
    shared_rows: int
    piece_rows: int
    binned_rows: int

class ObliqueParams(TreeLimits):
    ridge: float
    n_steps: int
    n_power_steps: int
    n_refinements: int
    min_side: float
    weights_per_row: float
    n_single_features: int
    min_direction_rows: int
    piece_rows: int
    n_threads: int

class BoostParams(TreeLimits):
    max_features: int
    l2: float

class BinnedX:
    def __init__(self, **fields: object) -> None: ...

class Loss(Enum):
    squared_error = ...
    cross_entropy = ...
    softmax = ...

class Scores:
    """Scores of rows and outputs, changed in place. What is computed is not changed."""

    def __init__(self, values: NDArray[np.float32], loss: Loss, **fields: object) -> None: ...
    @property
    def groups(self) -> NDArray[np.int64] | None: ...
    def sketch(
        self, rows: NDArray[np.uint32], p: NDArray[np.float32] | None, n_threads: int
    ) -> NDArray[np.float32]:
        """Weight, one and sketched gradients of these rows, padded; zeros for the others."""

    def leaf_sums(
        self,
        rows: NDArray[np.uint32],
        leaf_start: NDArray[np.int64],
        squares: bool,
        n_threads: int,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sums of gradients over the rows of each leaf, and of second derivatives or squares."""

    def add(
        self, leaf_of: NDArray[np.int32], values: NDArray[np.float32], n_threads: int
    ) -> None: ...
    def loss(self, rows: NDArray[np.uint32], n_threads: int) -> float: ...

def grow_boosted(
    bins: BinnedX,
    gradients: NDArray[np.float32],
    rows: NDArray[np.uint32],
    params: BoostParams,
    n_threads: int,
) -> tuple[
    NDArray[np.int32],
    NDArray[np.float64],
    NDArray[np.int32],
    NDArray[np.uint32],
    NDArray[np.int64],
    int,
]:
    """(feature, bin, missing left, children) of each node, gains, the leaf of each row, the rows of
    the bag by leaf, where each leaf begins, and the depth."""

class StopFlag:
    def set(self) -> None: ...
    @property
    def is_set(self) -> bool: ...

def available_kernels() -> list[str]:
    """Instruction sets of compiled kernels that this machine supports, the fastest last."""

def kernels_in_use() -> str:
    """The fastest of them, or the one named by SKETCHFOREST_KERNELS."""

def rank_columns(
    x: _Numbers, codes: NDArray[np.unsignedinteger], first: int, last: int
) -> tuple[np.ndarray, NDArray[np.int64]]: ...
def transpose_codes(
    by_column: NDArray[np.unsignedinteger],
    by_row: NDArray[np.unsignedinteger],
    first: int,
    last: int,
) -> None: ...
def code_by_value(
    x: _Numbers,
    by_column: NDArray[np.uint32],
    by_row: NDArray[np.uint32],
    first: int,
    last: int,
) -> None: ...
def bin_codes(
    codes: NDArray[np.uint32],
    bins: NDArray[np.uint8],
    feature: int,
    missing_code: int,
    edges: NDArray[np.uint32],
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]: ...
def encode_csr(
    values: _Floats,
    columns: NDArray[np.int32],
    row_start: NDArray[np.int64],
    n_features: int,
    /,
) -> dict[str, Any]: ...
def project(
    labels: SparseRows, rows: NDArray[np.int32], p: NDArray[np.float32]
) -> NDArray[np.float32]: ...
def draw_rows(
    key: int, n_rows: int, n_draws: int
) -> tuple[NDArray[np.int32], NDArray[np.uint32]]: ...
def grow(
    codes: Codes,
    outputs: SparseRows | _Floats,
    rows: NDArray[np.int32],
    weights: NDArray[np.float64],
    params: GrowParams,
    stop: StopFlag,
) -> _Grown | None: ...
def grow_oblique(
    x: FloatRows,
    z: NDArray[np.float32],
    rows: NDArray[np.int32],
    weights: NDArray[np.float64],
    params: ObliqueParams,
    stop: StopFlag,
) -> _Grown | None: ...
def join_parts(
    forest: Forest, places: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.uint32], NDArray[np.int32]]: ...
def apply_bins(
    x: _Floats,
    bin_start: NDArray[np.int64],
    bounds: NDArray[np.float64],
    levels: NDArray[np.float32],
    out: NDArray[np.float32],
) -> None: ...
def learn_bins(
    codes: Codes, most: int
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float32]]: ...
def leaves_dense(
    forest: Forest, x: _Floats, seen: FloatRows | None = None
) -> NDArray[np.int32]: ...
def leaves_sparse(
    forest: Forest,
    values: _Floats,
    columns: NDArray[np.int32],
    row_start: NDArray[np.int64],
    n_columns: int,
    seen: FloatRows | None = None,
) -> NDArray[np.int32]: ...
def importances(
    forest: Forest, gains: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]: ...
def decision_paths(
    forest: Forest, found: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...
def average(
    leaves: Leaves,
    values: SparseRows | NDArray[np.float64],
    found: NDArray[np.int32],
    out: _Floats,
) -> None: ...
def average_csr(
    leaves: Leaves,
    values: SparseRows | NDArray[np.float64],
    found: NDArray[np.int32],
    k: int,
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]]: ...
def average_best(
    leaves: Leaves,
    values: SparseRows | NDArray[np.float64],
    found: NDArray[np.int32],
    k: int,
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
def weighted_medians(
    outputs: NDArray[np.float64],
    rows: NDArray[np.int32],
    weights: NDArray[np.float64],
    start: NDArray[np.int64],
) -> NDArray[np.float64]: ...
def contributions(
    forest: Forest,
    found: NDArray[np.int32],
    outputs: NDArray[np.float64],
    takes_medians: bool,
    seen: FloatRows | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """For one row: base and score per output, features, and their contributions."""

def node_sizes(forest: Forest) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Number and weight of the rows in each node of a single tree."""

def node_values(
    forest: Forest, outputs: NDArray[np.float64], takes_medians: bool
) -> NDArray[np.float64]: ...
def node_impurity(
    forest: Forest, outputs: NDArray[np.float64], impurity: Impurity, are_labels: bool
) -> NDArray[np.float64]:
    """Separately for each output."""

def checksum(bytes: NDArray[np.uint8]) -> int: ...
def is_closing() -> bool: ...
def prepare_thread() -> None: ...
