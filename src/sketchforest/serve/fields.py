"""The input fields of a model: columns by name, or features by number."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sketchforest._estimators.inspection.names import feature_names
from sketchforest._features import Model
from sketchforest._features.encoder import RowEncoder
from sketchforest._utils.display import shortened
from sketchforest._utils.lazy import locked_property

MAX_LISTED = 8  # names in an error message
MAX_NUMBERED = 100  # unnamed features in a list of fields


class Field(NamedTuple):
    name: str
    kind: str  # "text", "number" or "category"
    values: tuple[str, ...] = ()  # of a category


@dataclass(frozen=True)
class Fields:
    """The fields of a model with this encoder."""

    model: Model
    encoder: RowEncoder

    @property
    def is_numbered(self) -> bool:
        """Whether features have no names; a small file can declare too many to list them all."""
        return feature_names(self.model.fitted_) is None

    def __len__(self) -> int:
        return self.model.fitted_.n_features if self.is_numbered else len(self._named)

    def first(self, most: int | None = None) -> list[Field]:
        """Return the first fields; by default all, or the first 100 of unnamed ones."""
        if self.is_numbered:
            numbers = range(min(most or MAX_NUMBERED, len(self)))
            return [Field(str(number), "number") for number in numbers]
        return self._named[:most]

    @locked_property
    def _named(self) -> list[Field]:
        table = self.encoder.table
        return [
            *(Field(name, "text") for name in self.encoder.text_columns),
            *(Field(name, "number") for name in table.numbers),
            *(Field(name, "category", values) for name, values in table.categories.items()),
        ]

    @locked_property
    def _index(self) -> dict[str, int]:
        return {field.name: at for at, field in enumerate(self._named)}

    def index(self, name: str) -> int | None:
        """Return the position of a field, or None if there is no such field."""
        if self.is_numbered:
            return parse_index(name, len(self))
        return self._index.get(name)

    @property
    def expected(self) -> str:
        """What a row must be, for error messages."""
        if self.encoder.is_text_only:
            return f"a string, or an object with {self.listed()}"
        if self.encoder.has_texts_or_categories:
            return f"an object with the fields {self.listed()}"
        n = self.model.fitted_.n_features
        return f"an object of numbers by feature name, or a list of all {n:,} numbers"

    @property
    def example(self) -> object:
        """A row that the model accepts."""
        if self.encoder.is_text_only and len(self.encoder.text_columns) == 1:
            return "Any text, long or short."
        example: dict[str, Any] = {}
        for field in self.first(3):
            strings = {"text": "Any text.", "category": field.values[0] if field.values else None}
            example[field.name] = strings.get(field.kind, 1)
        return example

    def listed(self) -> str:
        return listed([field.name for field in self.first(MAX_LISTED)], len(self))


def parse_index(name: str, end: int) -> int | None:
    """Return the number below `end` that a string spells, or None."""
    is_number = name.isascii() and name.isdigit() and len(name) <= 10
    return int(name) if is_number and str(int(name)) == name and int(name) < end else None


def shown(value: object) -> str:
    """Return a short repr of a value from a request."""
    return shortened(repr(value) if len(str(value)) < 1000 else repr(str(value)[:60]), 40)


def listed(names: Sequence[str], n: int | None = None) -> str:
    """Return the first names, and the number of the others if there are n in all."""
    first = ", ".join(repr(name) for name in names[:MAX_LISTED])
    n_more = (len(names) if n is None else n) - MAX_LISTED
    return first if n_more <= 0 else f"{first} and {n_more:,} more"
