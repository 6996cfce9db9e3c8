"""Files of rows, and how to read them."""

from typing import NamedTuple

from sketchforest.datasets import FORMATS, read
from sketchforest.datasets._text import AnyPath, bad_file
from sketchforest.datasets.columns import Columns
from sketchforest.datasets.files import ReadOptions, recognize, recognize_piped
from sketchforest.datasets.table import TrainingTable, read_training_table
from sketchforest.datasets.table_files import TABLE_FORMATS, table_format

INPUT_FORMATS = (*TABLE_FORMATS, "text", *FORMATS)


class DataFile(NamedTuple):
    """A file of rows in any format; "-" is standard input."""

    path: AnyPath
    format: str | None = None  # None: recognized
    columns: Columns = Columns()
    encoding: str = "utf-8"
    options: ReadOptions = ReadOptions()

    @property
    def is_piped(self) -> bool:
        return str(self.path) == "-"

    def known_format(self) -> str | None:
        """Return the given format, or that of the file name if it is a table."""
        if self.format is not None and self.format not in INPUT_FORMATS:
            known = ", ".join(INPUT_FORMATS)
            raise ValueError(f"format must be one of {known}; got {self.format!r}.")
        return self.format or table_format(self.path)

    def recognized(self) -> "DataFile":
        """Return the file with its format, as recognized by its content."""
        recognize_content = recognize_piped if self.is_piped else recognize
        return self._replace(format=self.known_format() or recognize_content(self.path))

    def read(self) -> TrainingTable:
        """Read rows and labels, and the texts if there are text columns."""
        path, format, columns, encoding, options = self.recognized()
        assert format is not None
        if format in TABLE_FORMATS:
            if options:
                raise ValueError(
                    f"{min(options)} is not an option of format {format!r}. Leave it out."
                )
            return read_training_table(path, columns, format, encoding=encoding)
        if format == "text":
            reason = "lines of text have no labels; use a table with texts and tags"
            raise bad_file(path, None, reason)
        options = options.copy()
        if format == "svmlight":
            options.setdefault("zero_based", True)  # keep the feature numbers of the file
        return TrainingTable(read(path, format, **options), None)
