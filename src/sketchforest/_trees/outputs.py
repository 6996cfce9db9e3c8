"""The outputs on which splits are searched: a sketch Z of the labels, or the labels themselves."""

import numpy as np
from scipy import sparse

from sketchforest import _core
from sketchforest._trees.criterion import Criterion
from sketchforest._trees.model import Labels, SparseRows
from sketchforest._trees.problem import GrowSettings, TrainingData
from sketchforest._trees.random import SHARED, Purpose, generator
from sketchforest._utils.typing import Matrix
from sketchforest.projection import (
    AchlioptasProjection,
    GaussianProjection,
    RademacherProjection,
    TransformerProjection,
    matrix,
    project_labels,
    sketch,
)

# Sparse projections of up to this many cells are made dense: adding whole rows is faster than
# adding single entries.
DENSE_PROJECTION_CELLS = 1 << 24
# Projections whose rows are distributed alike for any number of labels.
_WITH_ROWS_ALIKE = (GaussianProjection, RademacherProjection, AchlioptasProjection)
# Absent labels are left out of P if no more than one label in this many occurs.
MANY_ABSENT = 2


def share_outputs(data: TrainingData, settings: GrowSettings) -> Labels | None:
    """The outputs of all trees, a common Z or the labels; None if each tree has its own."""
    projection, labels = settings.projection, data.labels
    if not data.criterion.allows_projection:
        return _outputs_without_padding(labels, data.criterion)
    if projection is None:
        return _original_outputs(labels)
    if not settings.shared_projection and getattr(projection, "is_random", True):
        return None
    rng = generator(settings.seed, SHARED, Purpose.PROJECTION)
    labels = _without_absent(labels, settings)
    return _as_outputs(sketch(projection, _as_matrix(labels), settings.n_components, rng))


def draw_matrix(
    labels: Labels, settings: GrowSettings, address: int
) -> np.ndarray | sparse.csr_array:
    """The matrix P of one tree, or of all trees (SHARED), drawn from its stream."""
    present = _without_absent(labels, settings)
    P = _draw(present, settings, address)
    if present is labels:
        return P
    assert isinstance(labels, SparseRows)
    where = np.ones(len(labels.occurring)), (labels.occurring, np.arange(len(labels.occurring)))
    whole = sparse.csr_array(where, shape=(labels.n_columns, len(labels.occurring))) @ P
    return whole.astype(np.float32)


def _without_absent(labels: Labels, settings: GrowSettings) -> Labels:
    """The labels that occur, if most do not.

    Absent labels add nothing to Z, and drawing their rows of P would take longer than growing a
    tree.
    """
    if not isinstance(labels, SparseRows) or not isinstance(settings.projection, _WITH_ROWS_ALIKE):
        return labels
    are_many_absent = 0 < MANY_ABSENT * len(labels.occurring) <= labels.n_columns
    return labels.without_absent_columns if are_many_absent else labels


def _draw(labels: Labels, settings: GrowSettings, address: int) -> np.ndarray | sparse.csr_array:
    rng = generator(settings.seed, address, Purpose.PROJECTION)
    assert settings.n_components is not None  # there is a projection
    looks_at_labels = getattr(settings.projection, "fits_labels", False)
    Y = _as_matrix(labels) if looks_at_labels else labels  # else only its shape is used
    return matrix(settings.projection, Y, settings.n_components, rng)


def sketch_bag(labels: Labels, settings: GrowSettings, tree: int, rows: np.ndarray) -> np.ndarray:
    """Z of the rows in the bag; no other rows are projected."""
    if isinstance(settings.projection, TransformerProjection):
        rng = generator(settings.seed, tree, Purpose.PROJECTION)
        Z = settings.projection.fit_transform(_as_matrix(labels), rng)
        return _as_outputs(Z[rows])
    labels = _without_absent(labels, settings)
    P = _draw(labels, settings, tree)
    if isinstance(labels, np.ndarray):
        return _as_outputs(project_labels(labels[rows], P))
    if not isinstance(P, np.ndarray):
        if P.shape[0] * P.shape[1] > DENSE_PROJECTION_CELLS:
            return _as_outputs(project_labels(labels.to_csr()[rows], P))
        P = P.toarray()
    return _core.project(labels, rows, _padded(P))


def _original_outputs(labels: Labels) -> Labels:
    if isinstance(labels, np.ndarray):
        return _as_outputs(labels)
    # Adding a vector of eight outputs takes as long as adding one or two single numbers.
    labels_per_row = len(labels.indices) / max(labels.n_rows, 1)
    if padded_width(labels.n_columns) <= 8 * max(1.0, labels_per_row):
        return _as_outputs(labels.to_csr().toarray())
    return labels


def _outputs_without_padding(labels: Labels, criterion: Criterion) -> Labels:
    if isinstance(labels, np.ndarray):
        return np.ascontiguousarray(labels)
    # Medians need the zeros, too.
    return labels.to_csr().toarray() if criterion.predicts_medians else labels


def _as_matrix(labels: Labels) -> np.ndarray | sparse.csr_array:
    return labels if isinstance(labels, np.ndarray) else labels.to_csr()


def _as_outputs(Z: Matrix) -> np.ndarray:
    # Making Z dense is fine: it has n_components columns, not n_labels.
    return _padded(Z if isinstance(Z, np.ndarray) else Z.toarray())


def padded_width(n_components: int) -> int:
    """Components per row with the padding that the vector kernels need."""
    if n_components == 1:
        return 1
    return 4 if n_components <= 4 else -(-n_components // 8) * 8


def _padded(Z: np.ndarray) -> np.ndarray:
    width = padded_width(Z.shape[1])
    if width == Z.shape[1]:
        return np.ascontiguousarray(Z)
    padded = np.zeros((Z.shape[0], width), Z.dtype)
    padded[:, : Z.shape[1]] = Z
    return padded


def oblique_scale(data: TrainingData) -> float:
    """Divisor of real outputs whose squares would overflow or underflow in float32.

    Directions do not depend on it.
    """
    if not isinstance(data.labels, np.ndarray):
        return 1.0
    drawable = data.labels if data.rows is None else data.labels[data.rows]
    largest = float(np.abs(drawable).max(initial=0))
    return 1.0 if largest == 0 or 1e-6 < largest < 1e6 else largest


def oblique_outputs(
    labels: Labels, settings: GrowSettings, tree: int, rows: np.ndarray, scale: float
) -> np.ndarray:
    """Z of the rows for an oblique tree, float32, padded to a multiple of 8.

    Few labels are projected to more dimensions: this adds no information, but makes trees differ.
    """
    oblique = settings.oblique
    assert oblique is not None
    if isinstance(labels, np.ndarray):
        labels = labels / scale
    if oblique.projection is None:
        Z = _as_outputs(_as_matrix(labels)[rows])
    else:
        Z = sketch_bag(labels, settings.of_oblique_trees, tree, rows)
    width = -(-Z.shape[1] // 8) * 8
    if width == Z.shape[1] and Z.dtype == np.float32:
        return np.ascontiguousarray(Z)
    padded = np.zeros((len(Z), width), np.float32)
    padded[:, : Z.shape[1]] = Z
    return padded
