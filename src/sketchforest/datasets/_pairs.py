"""Lines of ``label,label index:value index:value``, of two formats."""

from sketchforest.datasets._rows import Rows
from sketchforest.datasets._text import AnyPath, bad_file, decoded, shown


class PairRows:
    """Feature rows and label rows, filled line by line."""

    def __init__(self, path: AnyPath) -> None:
        self.path = path
        self.features = Rows(path)
        self.labels = Rows(path)

    def append(self, number: int, line: bytes) -> None:
        tokens = line.split()
        labels = _label_text(tokens)
        try:
            if b"_" in line:  # Python's numbers may have it, those of files may not
                raise ValueError
            label_numbers = list(map(int, labels.split(b","))) if labels else []
            pairs = [token.partition(b":") for token in tokens]
            columns = [int(column) for column, _, _ in pairs]
            values = [float(value) for _, _, value in pairs]
        except ValueError:
            raise bad_file(self.path, number, self._reason(number, labels, tokens)) from None
        self.labels.append(number, label_numbers, [1.0] * len(label_numbers))
        self.features.append(number, columns, values)

    def _reason(self, number: int, labels: bytes, tokens: list[bytes]) -> str:
        decoded(labels + b" ".join(tokens), self.path, number)
        for label in labels.split(b",") if labels else []:
            if not _is_number(int, label):
                return f"{shown(label)} is not a label number, as in 1,5,7"
        for token in tokens:
            column, colon, value = token.partition(b":")
            if column == b"qid":
                return "qid is for ranking data and has no place here; remove it"
            if not colon:
                return f"{shown(token)} has no colon: features are written as index:value"
            if not _is_number(int, column):
                return f"{shown(column)} is not a feature number"
            if not _is_number(float, value):
                return f"{shown(value)} is not a number"
        return "the line cannot be read"


def _label_text(tokens: list[bytes]) -> bytes:
    """Takes the labels off the tokens; some writers put spaces after their commas."""
    labels = b""
    while tokens and b":" not in tokens[0] and (not labels or labels.endswith(b",")):
        labels += tokens.pop(0)
    return labels


def _is_number(kind: type, text: bytes) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return b"_" not in text
