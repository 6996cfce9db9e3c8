"""Texts of training rows in a model file: UTF-8 bytes and the start of each text.

They are memory-mapped with the other arrays, and decoded on access.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import overload

import numpy as np

from sketchforest._saving.container import CorruptModelError


class StoredTexts(Sequence[str]):
    """A sequence of texts in one array of UTF-8 bytes."""

    def __init__(self, data: np.ndarray, start: np.ndarray) -> None:
        self.data, self.start = data, start

    @classmethod
    def pack(cls, texts: Iterable[str]) -> "StoredTexts":
        if isinstance(texts, StoredTexts):
            return texts
        # Some files contain lone surrogates, which UTF-8 cannot encode.
        parts = [text.encode("utf-8", "replace") for text in texts]
        start = np.append(0, np.cumsum([len(part) for part in parts])).astype(np.int64)
        return cls(np.frombuffer(b"".join(parts), np.uint8), start)

    def __len__(self) -> int:
        return len(self.start) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(f"text {index} of {len(self)}")
        return self.data[self.start[at] : self.start[at + 1]].tobytes().decode("utf-8", "replace")

    def arrays(self, name: str) -> dict[str, np.ndarray]:
        return {name: self.data, f"{name}_start": self.start}


def read_texts(arrays: Mapping[str, np.ndarray], name: str, n_rows: int) -> StoredTexts | None:
    """Read the texts that `StoredTexts.arrays` returned; None if there are none."""
    if name not in arrays:
        return None
    data, start = arrays[name], arrays.get(f"{name}_start")
    is_valid = (
        start is not None
        and len(start) == n_rows + 1
        and start[0] == 0
        and start[-1] == len(data)
        and bool((np.diff(start) >= 0).all())
    )
    if start is None or not is_valid:
        raise CorruptModelError(f"{name} must have one text for each of {n_rows} rows")
    return StoredTexts(data, start)
