"""Tags as an indicator matrix, from the forms in which users have them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from sketchforest._utils.frames import cells_of, is_frame, is_missing
from sketchforest._utils.sparse import checked_csr, indicator_matrix
from sketchforest._utils.typing import Matrix
from sketchforest.datasets.columns import split_tags
from sketchforest.datasets.table import tag_matrix

SHOWN_NAMES = 5  # in an error message


def tag_targets(
    tags: Any, separator: str | None = None, label_names: Sequence[str] | None = None
) -> tuple[sparse.csr_array, np.ndarray | None]:
    """Return an (n_rows, n_labels) indicator matrix, and the names of its columns if known."""
    if is_frame(tags):
        label_names = list(map(str, tags.columns)) if label_names is None else label_names
        tags = np.asarray(tags)
    if len(getattr(tags, "shape", ())) == 2:
        return _indicators(tags, label_names)
    if label_names is not None:
        raise ValueError(
            "label_names must be None for lists of tags, which contain the names. Pass label_names "
            "with an indicator matrix."
        )
    Y, names = tag_matrix(tag_lists(tags, separator))
    return Y, np.array(names, np.str_)


def tag_lists(tags: Any, separator: str | None = None) -> list[list[str]]:
    """Return the tags of each row; a row without tags may be an empty list, None or NaN."""
    if isinstance(tags, str):
        raise ValueError(
            f"tags must be a list with an entry for each row; got the string {tags[:20]!r}. Use "
            "[[tag]] for one row."
        )
    return [_tags_of(cell, at, separator) for at, cell in enumerate(cells_of(tags))]


def _tags_of(cell: object, row: int, separator: str | None) -> list[str]:
    if cell is None:
        return []
    if isinstance(cell, str):
        if separator is None:
            raise ValueError(
                f"tags must be lists, such as ['a', 'b']; got the string {cell[:40]!r} in row "
                f"{row}. Use tag_separator=';' to split strings at semicolons, or [tag] for one."
            )
        return split_tags(cell, separator)
    if not hasattr(cell, "__iter__") or isinstance(cell, dict):
        raise ValueError(
            f"tags must be lists, such as ['a', 'b']; got {cell!r} in row {row}. Use [tag] for a "
            "single tag."
        )
    known = (tag for tag in cell if isinstance(tag, str) or not is_missing(tag))
    return list(dict.fromkeys(name for tag in known if (name := str(tag).strip())))


def _indicators(
    Y: Any, label_names: Sequence[str] | None
) -> tuple[sparse.csr_array, np.ndarray | None]:
    matrix = checked_csr("tags", sparse.csr_array(Y) if isinstance(Y, np.ndarray) else Y)
    wrong = ~np.isin(matrix.data, (0, 1))
    if wrong.any():
        raise ValueError(
            f"tags must be an indicator matrix of zeros and ones; got {matrix.data[wrong][0]!s}."
        )
    n_labels = matrix.shape[1]
    if label_names is not None and len(label_names) != n_labels:
        raise ValueError(f"label_names must have {n_labels} entries; got {len(label_names)}.")
    matrix = matrix.astype(np.uint8)
    matrix.eliminate_zeros()
    return matrix, None if label_names is None else np.array(list(map(str, label_names)), np.str_)


def aligned(
    Y: sparse.csr_array, given: np.ndarray, known: np.ndarray
) -> tuple[sparse.csr_array, list[str]]:
    """Return Y with the columns of a model, and the labels that the model does not know."""
    to_model = indicator_matrix(given.tolist(), known.tolist()).astype(Y.dtype)
    is_known = np.diff(to_model.indptr) > 0
    return sparse.csr_array(Y @ to_model), given[~is_known].tolist()


def known_targets(
    tags: Any,
    known: np.ndarray,
    separator: str | None = None,
    label_names: Sequence[str] | None = None,
    min_known: int = 1,
) -> tuple[sparse.csr_array, list[str]]:
    """Return tags with the columns of a model, and those that the model does not know."""
    Y, given = tag_targets(tags, separator, label_names)
    given = np.arange(Y.shape[1]).astype(str) if given is None else given
    found, unknown = aligned(Y, given, known)
    if len(given) - len(unknown) < min_known:
        raise ValueError(
            "tags must include at least one that the model knows, such as "
            f"{', '.join(known[:SHOWN_NAMES])}"
            f"; got {', '.join(given[:SHOWN_NAMES]) or 'none'}."
        )
    return found, unknown


def frequent(Y: Matrix, min_count: int) -> np.ndarray:
    """Return the labels of at least `min_count` rows."""
    counts = np.bincount(sparse.csr_array(Y).indices, minlength=Y.shape[1])
    kept = np.flatnonzero(counts >= min_count)
    if not len(kept):
        raise ValueError(
            f"min_label_count must leave some labels; got {min_count}, and no label has that many "
            "rows. Use a lower one."
        )
    return kept
