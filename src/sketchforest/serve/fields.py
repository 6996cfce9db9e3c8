"""What a row of a model has: fields by name, or features by number."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sketchforest._utils.display import shortened
from sketchforest._utils.lazy import locked_property
from sketchforest._workflows import Model
from sketchforest._workflows.models import feature_names
from sketchforest._workflows.row_features import table_features
from sketchforest.datasets.columns import Columns
from sketchforest.datasets.table import TableFeatures

SHOWN = 8  # names of fields in a sentence
NUMBERED = 100  # fields that are listed where they have no names


class Field(NamedTuple):
    """One value of a row."""

    name: str
    kind: str  # "text", "number" or "category"
    values: tuple[str, ...] = ()  # of a category


@dataclass(frozen=True)
class Fields:
    """Of a model, and of the columns that it was trained on."""

    model: Model
    columns: Columns

    @property
    def of_text(self) -> tuple[str, ...]:
        return self.columns.text if hasattr(self.model, "vectorizer_") else ()

    @locked_property
    def is_text_alone(self) -> bool:
        n_terms = len(self.model.vectorizer_.vocabulary_) if self.of_text else 0
        return bool(self.of_text) and n_terms == self.model.n_features_in_

    @locked_property
    def table(self) -> TableFeatures:
        """The fields of a table that are no text."""
        if self.is_text_alone or self.is_numbered:
            return TableFeatures((), {})
        return table_features(self.model, self.columns)

    @property
    def is_numbered(self) -> bool:
        """Whether features have no names, but numbers from 0. These are never all listed: a small
        file may say that there are very many."""
        return feature_names(self.model.fitted_) is None

    @property
    def n(self) -> int:
        return self.model.n_features_in_ if self.is_numbered else len(self._named)

    def first(self, most: int | None = None) -> list[Field]:
        """So many fields, or all that have names."""
        if self.is_numbered:
            numbers = range(min(most or NUMBERED, self.n))
            return [Field(str(number), "number") for number in numbers]
        return self._named[:most]

    @locked_property
    def _named(self) -> list[Field]:
        return [
            *(Field(name, "text") for name in self.of_text),
            *(Field(name, "number") for name in self.table.numbers),
            *(Field(name, "category", values) for name, values in self.table.categories.items()),
        ]

    @locked_property
    def _place(self) -> dict[str, int]:
        """Fields by name; of a matrix, its columns."""
        return {field.name: at for at, field in enumerate(self._named)}

    def column(self, name: str) -> int | None:
        """The number of a field, if there is one of that name."""
        if self.is_numbered:
            return number_below(name, self.n)
        return self._place.get(name)

    @property
    def expected(self) -> str:
        if self.is_text_alone:
            return f"a text, or an object of {listed(self.of_text)}"
        if self.of_text or self.table.categories:
            return f"an object of fields, which are {self.listed()}"
        n = self.model.n_features_in_
        return f"an object of numbers by the names of features, or a list of all {n:,} numbers"

    def listed(self) -> str:
        return listed([field.name for field in self.first(SHOWN)], self.n)


def number_below(name: str, end: int) -> int | None:
    """The number from 0 to before `end` that a name is."""
    is_number = name.isascii() and name.isdigit() and len(name) <= 10
    return int(name) if is_number and str(int(name)) == name and int(name) < end else None


def shown(value: object) -> str:
    """What was given, in a few characters."""
    return shortened(repr(value) if len(str(value)) < 1000 else repr(str(value)[:60]), 40)


def listed(names: Sequence[str], n: int | None = None) -> str:
    """The first names, and how many more there are of n; of all of them if not given."""
    some = ", ".join(repr(name) for name in names[:SHOWN])
    n_more = (len(names) if n is None else n) - SHOWN
    return some if n_more <= 0 else f"{some} and {n_more:,} more"
