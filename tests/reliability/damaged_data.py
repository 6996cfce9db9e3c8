"""Data files of every format, damaged and read.

    python tests/reliability/damaged_data.py --count 100000

Each is read, or refused with one sentence that names the file, and the line where it has lines.
"""

import argparse
import json
import re
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from sketchforest._workflows.data_file import DataFile
from sketchforest._workflows.training import read_training_file
from sketchforest.datasets import Dataset, make_multilabel, read, write, write_table
from sketchforest.datasets.columns import Columns

MOST_SECONDS = 1.0
MOST_ADDRESSES = 6 << 30
ROWS = 12
TOKENS = [
    *(b",", b"\n", b"\r", b"\t", b" ", b'"', b"'", b"{", b"}", b"[", b"]", b":", b"#", b"%", b"?"),
    *(b"\0", b"\xff", b"\xef\xbb\xbf", b"-1", b"0", b"nan", b"inf", b"1e999", b"1_0", b"1e-400"),
    *(b"999999999999999999", b"99999999999999999999999999", b"2147483648", b"100000000"),
    *(b"@data", b"@attribute", b"__label__", b"\\", b"\x1b[31m", "é".encode(), b"9" * 5000),
]


def files() -> dict[str, tuple[bytes, Callable[[Path], object]]]:
    """Content and reader, by the name of the file."""
    data = make_multilabel(ROWS, 6, 4, labels_per_row=2, features_per_row=3, random_state=0)
    features, labels = [f"f{i}" for i in range(6)], [f"tag {i}" for i in range(4)]
    named = Dataset(
        "small", data.X, data.Y, feature_names=np.array(features), label_names=np.array(labels)
    )
    tags, text = Columns(tags="tags"), Columns(text=("text",), tags="tags")
    made: dict[str, tuple[bytes, Callable[[Path], object]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in ("meka.arff", "xc.txt", "rows.svm", "archive.npz", "packed.svm.gz"):
            write(named, Path(folder) / name)
            made[name] = ((Path(folder) / name).read_bytes(), read)
        write_table(named, Path(folder) / "table.csv", ",")
        content = (Path(folder) / "table.csv").read_bytes()
    made["table.csv"] = (content, lambda path: read_training_file(DataFile(path, "csv", tags)))
    lines = [json.dumps({"text": f"row {i} of it", "tags": [labels[i % 4]]}) for i in range(ROWS)]
    made["lines.jsonl"] = (
        "\n".join(lines).encode(),
        lambda path: read_training_file(DataFile(path, "jsonl", text)),
    )
    return made


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    spoilt = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        first, second = sorted(rng.integers(0, max(1, len(spoilt)), 2).tolist())
        match rng.integers(7):
            case 0 if len(spoilt):
                spoilt[first] ^= 1 << int(rng.integers(8))
            case 1:
                del spoilt[first:]
            case 2:
                del spoilt[first : min(second, first + 40)]
            case 3:
                spoilt[first:first] = content[second : second + int(rng.integers(1, 60))]
            case 4:
                spoilt[first : first + int(rng.integers(0, 8))] = TOKENS[rng.integers(len(TOKENS))]
            case 5:  # a number becomes another one
                numbers = list(re.finditer(rb"\d+", spoilt))
                if numbers:
                    found = numbers[rng.integers(len(numbers))]
                    spoilt[found.start() : found.end()] = TOKENS[rng.integers(18, len(TOKENS))]
            case _:  # lines change places
                lines = bytes(spoilt).split(b"\n")
                rng.shuffle(lines)
                spoilt = bytearray(b"\n".join(lines))
    return bytes(spoilt)


def try_one(path: Path, content: bytes, reader: Callable[[Path], object]) -> str:
    path.write_bytes(content)
    began = time.process_time()
    try:
        reader(path)
        outcome = "read"
    except (ValueError, MemoryError) as error:
        said = str(error)
        outcome = "refused, with file and line"
        if str(path) not in said:
            outcome = f"no file: {said[:200]}"
        elif not re.search(r"\bline \d+|npz|archive|row \d+", said):
            outcome = f"no line: {said.replace(str(path), '')[:200]}"
    except Exception as error:
        outcome = f"unclean: {type(error).__name__}: {str(error)[:200]}"
    if time.process_time() - began > MOST_SECONDS:
        return f"slow ({outcome})"
    return outcome


# What is said of the whole file, of which no line is to blame.
OF_THE_FILE = (
    *("it contains only", "UTF-16", "Excel workbook", "lists without quotes"),
    *("there are no rows", "nothing but", "does not say which", "it has no labels", "no feature"),
    *("is too large; pass", "the file is empty", "a table needs", "has no column", "header"),
    *(
        "there is no column",
        "it is empty",
        "the format is unknown",
        "there is no row",
        "-C in @relation",
        "it has no rows",
    ),
)


def run_cases(first: int, count: int, is_limited: bool = True) -> Counter[str]:
    made, outcomes = files(), Counter()
    if is_limited:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSES, MOST_ADDRESSES))
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, first + count):
            rng = np.random.default_rng([number, 16])
            name = list(made)[number % len(made)]
            content, reader = made[name]
            outcome = try_one(Path(folder) / name, damaged(content, rng), reader)
            if outcome.startswith("no line") and any(known in outcome for known in OF_THE_FILE):
                outcome = "refused, with file"
            if outcome.startswith(("no file", "no line", "unclean", "slow")):
                print(f"problem {number} ({name}): {outcome}", flush=True)
                outcome = outcome.split(":")[0].split(" (")[0]
            outcomes[outcome] += 1
    return outcomes


GOOD = {"read", "refused, with file and line", "refused, with file"}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    found = run_cases(given.first, given.count)
    print(dict(found))
    sys.exit(bool(found.keys() - GOOD))
