"""One thing broken at a time, in a copy of the project: the tests notice each of them.

python tests/reliability/mutations.py
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
# Trees that never end take all there is of both.
MOST_SECONDS, MOST_BYTES = 600, 8 << 30
TESTS = ("tests/trees", "tests/estimators/test_sketch_forest.py")


class Mutation(NamedTuple):
    what: str
    file: str
    right: str
    wrong: str


MUTATIONS = (
    Mutation(
        "the score of a split",
        "src/core/kernels.hpp",
        "a_squares * b_weight + b_squares * a_weight",
        "a_squares * a_weight + b_squares * b_weight",
    ),
    Mutation(
        "the tie rule: the first of equal cuts wins",
        "src/core/kernels.hpp",
        "numerator * other.denominator > other.numerator",
        "numerator * other.denominator >= other.numerator",
    ),
    Mutation(
        "the score of cuts that are scored together",
        "src/core/kernels/cuts.hpp",
        "cuts.a_squares * b_weight + cuts.b_squares * cuts.a_weight",
        "cuts.a_squares * cuts.a_weight + cuts.b_squares * b_weight",
    ),
    Mutation(
        "what a row that is counted adds",
        "src/core/kernels/count_scan.cpp",
        "squares += 2 * chunk.before[i] + terms.squares;",
        "squares += chunk.before[i] + terms.squares;",
    ),
    Mutation(
        "how much can be counted",
        "src/core/count_rows.hpp",
        "weight <= 0x7fff",
        "weight <= 0xffff",
    ),
    Mutation(
        "the order of a few entries",
        "src/core/kernels/rank_sort.cpp",
        "sort<std::int64_t, 8>(entries, n, lowest)",
        "sort<std::int32_t, 16>(entries, n, lowest)",
    ),
    Mutation(
        "the partition of a node's rows",
        "src/core/node_search.hpp",
        "missing_left : code <= last_left",
        "missing_left : code < last_left",
    ),
    Mutation(
        "the partition of sparse rows",
        "src/core/splitter.cpp",
        "zeros_left ? node.end - 1 - n_moved : node.begin + n_moved",
        "zeros_left ? node.end - 1 - n_moved : node.begin + n_moved + 1",
    ),
    Mutation(
        "the sibling's sums, dense outputs",
        "src/core/dense_criterion.cpp",
        "rest[j] = total_[j] - kept[j];",
        "rest[j] = total_[j] - 0.999 * kept[j];",
    ),
    Mutation(
        "the sibling's weight, dense outputs",
        "src/core/dense_criterion.cpp",
        "rest[stride_] = weight_ - kept[stride_];",
        "rest[stride_] = weight_;",
    ),
    Mutation(
        "the sibling's squares, sparse outputs",
        "src/core/sparse_criterion.cpp",
        "node_.squares -= x * (2 * node_.total[label] - x);",
        "node_.squares -= x * (2 * node_.total[label] + x);",
    ),
    Mutation(
        "the oblique direction: the length of a step",
        "src/core/direction.cpp",
        "static_cast<float>(squares / curvature)",
        "static_cast<float>(curvature / squares)",
    ),
    Mutation(
        "the oblique direction: steps that are conjugate",
        "src/core/direction.cpp",
        "static_cast<float>(squares / previous)",
        "static_cast<float>(previous / squares)",
    ),
    Mutation(
        "the oblique direction: the weakest weights are dropped",
        "src/core/direction.cpp",
        "effects_[a] > effects_[b] : a < b",
        "effects_[a] < effects_[b] : a < b",
    ),
    Mutation(
        "equal values are never parted",
        "src/core/kernels.hpp",
        "scan.entries[i + 1].code != scan.entries[i].code",
        "scan.entries[i + 1].code != scan.entries[i].code + 1",
    ),
    Mutation(
        "where missing values go",
        "src/core/node_search.hpp",
        "best.missing_left = n_left > node.size() - n_left;",
        "best.missing_left = n_left < node.size() - n_left;",
    ),
    Mutation(
        "where a part hangs in its tree",
        "src/core/joining.cpp",
        ": each + static_cast<std::int32_t>(trees.node_start[tree]);",
        ": each + static_cast<std::int32_t>(trees.node_start[tree + 1]);",
    ),
    Mutation(
        "a row's features in a prediction",
        "src/core/find_leaves.cpp",
        "right = !(value <= static_cast<decltype(value)>(node.threshold));",
        "right = !(value < static_cast<decltype(value)>(node.threshold));",
    ),
)


def is_caught(mutation: Mutation, folder: Path) -> bool:
    """Whether a test fails in the copy of the project with this thing broken, which is mended."""
    path = folder / mutation.file
    text = path.read_text()
    path.write_text(text.replace(mutation.right, mutation.wrong))
    try:
        return not (_build(folder) and _test(folder))
    finally:
        path.write_text(text)


def _build(folder: Path) -> bool:
    command = ["make", "--silent", ".venv/installed-test"]
    return subprocess.run(command, cwd=folder, check=False).returncode == 0


def _test(folder: Path) -> bool:
    command = [".venv/bin/python", "-m", "pytest", "-x", "-q", "--no-header", *TESTS]
    with (folder / "tests.log").open("w") as log:
        try:
            done = subprocess.run(
                ["prlimit", f"--as={MOST_BYTES}", *command],
                cwd=folder,
                check=False,
                stdout=log,
                timeout=MOST_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return False
    return done.returncode == 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="mutations whose text has this in it")
    only = parser.parse_args().only
    missed = 0
    with tempfile.TemporaryDirectory() as copy:
        folder = Path(copy, "sketchforest")
        unwanted = shutil.ignore_patterns(".venv", "build", ".git", "*_cache")
        shutil.copytree(ROOT, folder, ignore=unwanted)
        if not (_build(folder) and _test(folder)):
            sys.exit("The tests fail with nothing broken.")
        for mutation in MUTATIONS:
            if only in mutation.what:
                caught = is_caught(mutation, folder)
                missed += not caught
                print("caught" if caught else "MISSED", mutation.what, sep=": ", flush=True)
    sys.exit(missed > 0)
