"""Columns of categories in a data frame X, one-hot encoded as 0/1 features "column=value"."""

from typing import Any

from sketchforest._utils.frames import InputColumns, cells_of, is_frame, role_of
from sketchforest._utils.sparse import indicator_matrix
from sketchforest._utils.warning import warn

FEW_ROWS = 100


def learn_columns(X: Any) -> InputColumns | None:
    """Return the columns of a training data frame; None unless some hold categories."""
    if not is_frame(X) or not all(isinstance(name, str) for name in X.columns):
        return None
    known: dict[str, tuple[str, ...] | None] = {}
    for name, dtype in zip(X.columns, list(X.dtypes), strict=True):
        role = role_of(dtype, X[name])
        known[name] = None if role in ("number", None) else _categories(X[name])
        if role == "text":
            _warn_of_texts(name, known[name] or (), X.shape[0])
    return known if any(values is not None for values in known.values()) else None


def indicators(X: Any, columns: InputColumns) -> list[Any]:
    """Return a CSR matrix for each column of categories; other values have zeros only."""
    return [
        indicator_matrix(_values(X[name]), values)
        for name, values in columns.items()
        if values is not None
    ]


def _categories(column: Any) -> tuple[str, ...]:
    return tuple(sorted({value for value in _values(column) if value is not None}))


def _values(column: Any) -> list[str | None]:
    return [None if cell is None else str(cell) for cell in cells_of(column)]


def _warn_of_texts(name: str, values: tuple[str, ...], n_rows: int) -> None:
    if n_rows > FEW_ROWS and len(values) > n_rows / 2:
        warn(
            f"X has {len(values):,} categories in column {name!r} of {n_rows:,} rows. If it holds "
            "texts or ids, leave it out, or use Tagger, which reads texts."
        )
