"""Calls of the native core with wrong arguments: each is refused in a sentence, or gives a result.

    python tests/reliability/fuzz_core.py --count 100000 --seed 1
    python tests/reliability/fuzz_core.py --functions grow_boosted Scores

The calls are those that small fits, predictions and scores make, with one or two of their arguments
replaced: by other shapes, types, strides, numbers and objects. They run in a process of their own,
which is looked after: a crash, or a call of more than some seconds, is told with the options that
repeat it. With the build of `make sanitize`, and its environment, a crash is any wrong access.
"""

import argparse
import faulthandler
import json
import mmap
import os
import resource
import signal
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.append(str(Path(__file__).parent))

from core_calls import PARAMS, Made, recorded_calls
from hostile_values import Rng, choice, other_array, other_number

from sketchforest import _core

REFUSALS = (TypeError, ValueError, OverflowError, MemoryError)
GOOD = {"refused", "right"}
IS_SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")
MOST_SECONDS = 60  # of a call, on a machine that does other things
MOST_ADDRESSES = 8 << 30
CALLS_PER_PROCESS = 5000

# Work takes as long as these say.
MOST_STEPS = {"n_steps": 200, "n_power_steps": 200, "n_refinements": 200}
MOST_DRAWS = 100_000


class Hostile:
    """An object that fails whatever is asked of it."""

    def __array__(self, *_: object, **__: object) -> np.ndarray:
        raise ZeroDivisionError("no array")

    def __dlpack__(self, *_: object, **__: object) -> object:
        raise ZeroDivisionError("no capsule")

    def __index__(self) -> int:
        raise ZeroDivisionError("no number")

    __float__ = __int__ = __bool__ = __len__ = __index__


NEVER_MADE = ("OwnedArrays", "TreeLimits")  # classes that others inherit, or return


def objects() -> list[object]:
    classes = (_core.Forest, _core.Leaves, _core.SparseRows, _core.Codes, _core.FloatRows)
    unmade = [made.__new__(made) for made in classes]
    return [
        *(None, True, "3", "", "\ud800", b"12345678", bytearray(16), [], [1, 2], [[1.0]], (), {}),
        *(object(), Hostile(), np.ones, np.int64(3), np.float32(2), np.array(5), range(4), int),
        *(memoryview(b"0123456789abcdef"), np.ma.masked_array([1.0, 2.0], [0, 1]), 3, -1, 2.5),
        *(_core.StopFlag(), _core.GrowParams(), _core.PartSizes(4, 2), _core.Impurity.poisson),
        *(_core.ObliqueParams(), 1j, np.array([object()]), np.matrix([[1.0, 2.0]])),
        *unmade,
    ]


class Pools(NamedTuple):
    """What calls are made of, to be put where it does not belong."""

    calls: dict[str, list[list[Any]]]
    arrays: list[np.ndarray]
    made: list[Made]
    objects: list[object]


def other(value: Any, rng: Rng, pools: Pools) -> object:
    if rng.random() < 0.06:
        return choice(rng, pools.objects)
    if isinstance(value, Made):
        if rng.random() < 0.15:
            return choice(rng, pools.made)
        fields = dict(value.fields)
        for _ in range(rng.integers(1, 3)):
            name = choice(rng, list(fields))
            if rng.random() < 0.05 and value.kind.__name__ not in PARAMS:
                del fields[name]
                name = choice(rng, [*value.fields, "unknown", "\ud800"])
            fields[name] = limited(name, other(value.fields.get(name), rng, pools))
        return Made(value.kind, fields)
    if isinstance(value, np.ndarray):
        for _ in range(20):
            try:
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    return other_array(value, rng, pools.arrays)
            except (*REFUSALS, IndexError, RuntimeError):  # numpy's: no such array
                continue
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return other_number(value, rng)
    if isinstance(value, _core.Impurity):
        return choice(rng, list(_core.Impurity))
    if isinstance(value, _core.Loss):
        return choice(rng, list(_core.Loss))
    if isinstance(value, _core.PartSizes):
        return _core.PartSizes(*(int(n) for n in rng.choice([0, 1, 5, 50, 2**32 - 1], 2)))
    return choice(rng, [*pools.objects, *pools.arrays])


def limited(name: str, value: object) -> object:
    """What is legal, and only takes long, is not asked for."""
    if name in MOST_STEPS and isinstance(value, int) and value > 0:
        return value % MOST_STEPS[name]
    return value


def mutated(name: str, args: list[Any], rng: Rng, pools: Pools) -> list[Any]:
    # Copies, since calls write into some of them.
    args = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    for _ in range(rng.integers(1, 3)):
        if not args or rng.random() < 0.01:
            args.append(choice(rng, pools.objects))
        place = int(rng.integers(len(args)))
        if place == len(args) - 1 and len(args) > 1 and rng.random() < 0.02:
            args.pop()
            continue
        args[place] = other(args[place], rng, pools)
    if name == "draw_rows":
        args[1:3] = [
            value % MOST_DRAWS if isinstance(value, int) and MOST_DRAWS < value < 2**32 else value
            for value in args[1:3]
        ]
    return args


def call(name: str, args: list[Any]) -> object:
    """The result, of which every array has been read."""
    values = [value.build() if isinstance(value, Made) else value for value in args]
    if name == "Scores":
        result: Any = used_scores(*values)
    elif name == "Hierarchy":
        result = pruned(*values)
    elif args and isinstance(args[0], Made) and args[0].kind.__name__ == name:
        if name not in PARAMS:
            made = values[0]
            if len(values) > 1:  # made twice
                made.__init__(**args[0].fields)
            names = [*args[0].fields, "zero_chains", "n_trees", "n_rows", "unknown"]
            result = [getattr(made, field, None) for field in names]
        else:
            result = [getattr(values[0], field) for field in args[0].fields]
    else:
        result = getattr(_core, name)(*values)
    check(name, values, result)
    return result


def used_scores(
    scores: Any,
    rows: object,
    P: object,
    leaf_start: object,
    leaf_of: object,
    values: object,
    squares: object,
    n_threads: object,
) -> list[object]:
    """The results of all methods of boosted scores."""
    if not isinstance(scores, _core.Scores):
        raise TypeError("these are no scores")
    sketched = scores.sketch(rows, P, n_threads)
    sums = scores.leaf_sums(rows, leaf_start, squares, n_threads)
    scores.add(leaf_of, values, n_threads)
    return [sketched, *sums, scores.loss(rows, n_threads)]


def pruned(forest: Any, costs: object, alpha: object) -> list[object]:
    """All arrays of a hierarchy, which a forest makes and nobody else."""
    if not isinstance(forest, _core.Forest):
        raise TypeError("this is no forest")
    nodes = forest.hierarchy
    path, tree, _ = nodes.prune(costs, alpha)
    return [nodes.left, nodes.right, nodes.numbers, *path, *tree]


def check(name: str, values: list[Any], result: Any) -> None:
    """A tree has each row of its bag in one leaf, and its arrays are those of a tree."""
    for array in result if isinstance(result, tuple | list) else ():
        if isinstance(array, np.ndarray):
            array.tobytes()
    if name not in ("grow", "grow_oblique") or result is None:
        return
    nodes, _, _, leaf_start, members, _, depth, _ = result
    n_rows, n_leaves = len(values[2]), len(leaf_start) - 1
    assert (np.sort(members) == np.arange(n_rows)).all(), "rows of the tree"
    assert leaf_start[0] == 0, "the first leaf"
    assert (np.diff(leaf_start.astype(np.int64)) > 0).all(), "a leaf is empty"
    assert len(nodes) == n_leaves - 1, "leaves and nodes"
    children = np.sort(nodes[:, 2:].reshape(-1))
    assert (children == np.r_[-n_leaves:0, 1 : len(nodes)][: len(children)]).all(), "children"
    assert depth <= len(nodes), "depth"


def pools() -> Pools:
    calls = recorded_calls()
    names = {name for name in dir(_core) if not name.startswith("__")}
    without = {name for name in names if callable(getattr(_core, name))} - calls.keys()
    assert not without, f"no calls of {sorted(without)} to begin with"
    values = [value for cases in calls.values() for args in cases for value in args]
    made = [value for value in values if isinstance(value, Made)]
    values += [value for each in made for value in each.fields.values()]
    arrays = [value for value in values if isinstance(value, np.ndarray)]
    return Pools(calls, arrays, made, objects())


def outcome_of(name: str, args: list[Any]) -> str:
    try:
        call(name, args)
    except REFUSALS as error:
        said = str(error)
        return "refused" if len(said) > 5 and "std::" not in said else f"unclear: {error!r}"
    except ZeroDivisionError as error:
        return "refused" if str(error).startswith("no ") else f"unclean: {error!r}"
    except BaseException as error:
        return f"unclean: {type(error).__name__}: {error}"
    return "right"


def described(name: str, args: list[Any]) -> str:
    def short(value: object) -> str:
        if isinstance(value, Made):
            fields = [f"{ascii(key)[1:-1]}={short(each)}" for key, each in value.fields.items()]
            return f"{value.kind.__name__}({', '.join(fields)})"
        if isinstance(value, np.ndarray):
            some = " ".join(map(ascii, value.reshape(-1)[:9].tolist()))
            return f"<{value.dtype} {value.shape} {value.strides}: {some[:80]}>"
        return ascii(value)[:60]

    return f"{name}({', '.join(map(short, args))})"


def run_cases(
    seed: int, first: int, count: int, functions: list[str], mark: Callable[[int], object]
) -> Counter[str]:
    warnings.simplefilter("ignore")  # nanobind's, of objects that were never made
    of, outcomes = pools(), Counter()
    names = sorted(name for name, cases in of.calls.items() if cases and cases != [[]])
    names += [name for name in names if name.startswith("grow")] * 3
    names += sorted(of.calls.keys() - set(names))[: 1 + len(names) // 12]
    names = [name for name in names if not functions or name in functions]
    for name, cases in of.calls.items():
        for args in cases:
            outcome = outcome_of(name, args)
            assert outcome == "right" or name in NEVER_MADE, f"{name} as it is: {outcome}"
    for number in range(first, first + count):
        mark(number)
        rng = np.random.default_rng([seed, number])
        name = choice(rng, names)
        args = mutated(name, choice(rng, of.calls[name]), rng, of)
        outcome = outcome_of(name, args)
        if outcome not in GOOD:
            print(f"problem {number}: {outcome}: {described(name, args)}", flush=True)
            outcome = outcome.split(":")[0]
        outcomes[outcome] += 1
        if count == 1:
            print(outcome, described(name, args), sep=": ")
    return outcomes


def run_child(seed: int, first: int, count: int, functions: list[str], path: Path) -> None:
    if not IS_SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSES, MOST_ADDRESSES))
    faulthandler.enable()
    # Where the call stands, and then what the signal does by itself: it ends the process.
    faulthandler.register(signal.SIGALRM, chain=True)
    with path.open("r+b") as file:
        shared = mmap.mmap(file.fileno(), 8)

        def mark(number: int) -> None:
            shared[:] = number.to_bytes(8, "little")
            signal.alarm(MOST_SECONDS)

        print("outcomes", json.dumps(run_cases(seed, first, count, functions, mark)))


def watch(seed: int, first: int, count: int, functions: Sequence[str] = ()) -> Counter[str]:
    """The same in processes that may crash, each begun again behind the call that it did."""
    outcomes: Counter[str] = Counter()
    last = first + count
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "number")
        while first < last:
            path.write_bytes((2**63).to_bytes(8, "little"))
            n_now = min(CALLS_PER_PROCESS, last - first)
            command = [sys.executable, __file__, "--seed", str(seed), "--child", str(path)]
            command += ["--first", str(first), "--count", str(n_now), "--functions", *functions]
            child = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
            lines = child.stdout.splitlines()
            for line in lines:
                if not line.startswith("outcomes"):
                    print(line, flush=True)
            if child.returncode == 0 and lines and lines[-1].startswith("outcomes"):
                outcomes += Counter(json.loads(lines[-1].removeprefix("outcomes ")))
                first += n_now
                continue
            crashed = int.from_bytes(path.read_bytes(), "little")
            assert crashed < last, f"no call was made: {child.returncode}"
            print(
                f"problem {crashed}: the process ended with {child.returncode}; again with"
                f" --seed {seed} --first {crashed} --count 1 --functions {' '.join(functions)}",
                flush=True,
            )
            outcomes["crash"] += 1
            first = crashed + 1
    return outcomes


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first call")
    parser.add_argument("--functions", nargs="*", default=[], help="which to call; all by default")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child is not None:
        run_child(given.seed, given.first, given.count, given.functions, given.child)
    else:
        outcomes = watch(given.seed, given.first, given.count, given.functions)
        print(dict(outcomes))
        sys.exit(bool(outcomes.keys() - GOOD))
