"""Native objects as values: they are pickled and copied by the arrays that they hold."""

from typing import Any, ClassVar

import numpy as np


class OwnedArrays:
    """A native object that holds the arrays it was made of, and checked them once. They are
    read-only; it is pickled and copied by them."""

    FIELDS: ClassVar[tuple[str, ...]]  # None where one is not given

    def __init__(self, **fields: Any) -> None:
        super().__init__(**dict.fromkeys(self.FIELDS) | fields)

    def fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.FIELDS}

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (type(self), self.fields())


def _made(kind: type[OwnedArrays], fields: dict[str, Any]) -> OwnedArrays:
    # What arrives in messages of other processes lies anywhere.
    return kind(**{name: _aligned(value) for name, value in fields.items()})


def _aligned(value: Any) -> Any:
    return np.require(value, requirements=["C", "A"]) if isinstance(value, np.ndarray) else value
