"""Native objects that own arrays, pickled and copied by their arrays."""

from typing import Any, ClassVar

import numpy as np


class OwnedArrays:
    """A native object that owns its arrays: validated once, read-only from then on."""

    FIELDS: ClassVar[tuple[str, ...]]  # those left out are None

    def __init__(self, **fields: Any) -> None:
        super().__init__(**dict.fromkeys(self.FIELDS) | fields)

    def fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.FIELDS}

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (type(self), self.fields())


def _made(kind: type[OwnedArrays], fields: dict[str, Any]) -> OwnedArrays:
    # Arrays in messages from other processes may be unaligned.
    return kind(**{name: _aligned(value) for name, value in fields.items()})


def _aligned(value: Any) -> Any:
    return np.require(value, requirements=["C", "A"]) if isinstance(value, np.ndarray) else value
