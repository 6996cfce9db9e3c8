"""Checkpoints and model files, rewritten by people who mean harm: with the right checksums.

    python tests/reliability/damaged_checkpoints.py --count 50000

Each is refused in a sentence, or it is used, and then gives the right predictions or wrong ones:
who can write a checksum can write other trees. What is used never leads outside of an array, as
the build of `make sanitize` sees. Cases run in a process of their own, as in damaged_models.py.
"""

import argparse
import json
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "saving")]

import damaged_models
from damaged_models import damaged, spoil_array, spoil_json
from fitted_models import LABELS, X
from rewriting import checksums, signed
from scipy import sparse
from sklearn.base import clone

from sketchforest import (
    ExtraTreesRegressor,
    RandomForestClassifier,
    SketchForestClassifier,
    load_forest,
)
from sketchforest._trees import grow as growing

GOOD = {"refused", "right", "wrong"}
N_KEPT = 3  # trees of a checkpoint; the last one of the forest is grown in each case
WORDS = sparse.csr_array(np.where(X > 0.7, np.round(X * 9), 0))
# A linear part is in no checkpoint.
OBLIQUE = SketchForestClassifier(
    4, linear=0, label_correlations=False, threshold=0.5, random_state=0
)
FITS: dict[str, tuple[Any, Any, Any]] = {
    "labels": (RandomForestClassifier(4, n_components=4, random_state=0), X, LABELS),
    "outputs": (ExtraTreesRegressor(4, random_state=0), X, X[:, :2]),
    "oblique": (OBLIQUE, X, LABELS),
    "oblique words": (OBLIQUE, WORDS, LABELS),
}
Files = dict[str, bytes]  # content by name


class BrokenOffError(Exception):
    pass


def checkpoint_of(forest, rows, targets, folder: Path) -> Files:
    """The files that a fit leaves that is broken off before its last tree."""
    grow_one = growing.grow_one

    def grow_some(*arguments):
        if arguments[-1] == N_KEPT:
            raise BrokenOffError
        return grow_one(*arguments)

    growing.grow_one = grow_some
    try:
        clone(forest).set_params(n_jobs=1).fit(rows, targets, checkpoint_dir=folder)
    except BrokenOffError:
        return {path.name: path.read_bytes() for path in folder.iterdir()}
    finally:
        growing.grow_one = grow_one
    raise AssertionError("the fit was not broken off")


def rewritten_file(content: bytes, rng: np.random.Generator) -> bytes:
    """A container with other arrays, or with another header; its checksums are right."""
    n_header = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + n_header])
    metadata, body = header.pop("__metadata__"), np.frombuffer(content, np.uint8)[8 + n_header :]
    said = {n: v for n, v in metadata.items() if n not in ("checksum", "array_checksums")}
    if "sketchforest" in said:
        said["sketchforest"] = json.loads(said["sketchforest"])
    body = body.copy()
    kind = rng.integers(8)
    for _ in range(rng.integers(1, 4)):
        if kind == 0:
            spoil_json(said, rng)
        elif kind == 1:
            spoil_json(header, rng)
        else:
            spoil_array(header, body, rng)
    if kind == 2 and len(header) > 1:  # two arrays exchanged
        one, other = rng.choice(list(header), 2, replace=False)
        header[one], header[other] = header[other], header[one]
    said = {n: v if isinstance(v, str) else json.dumps(v) for n, v in said.items()}
    sums = json.dumps(checksums(header, body.tobytes()))
    metadata = {**said, "array_checksums": sums, "checksum": "0" * 64}
    text = json.dumps({"__metadata__": metadata, **header}).encode()
    return signed(text, body.tobytes())


def rewritten_folder(files: Files, rng: np.random.Generator) -> Files:
    """One or two files of a checkpoint are others."""
    made = dict(files)
    for name in rng.choice(sorted(files), rng.integers(1, 3), replace=False).tolist():
        if not name.endswith(".tree"):
            index = json.loads(files[name])
            spoil_json(index, rng)
            made[name] = json.dumps(index).encode()
        elif rng.integers(10):
            made[name] = rewritten_file(files[name], rng)
        else:
            made[name] = damaged(files[name], rng)
    return made


def go_on(forest, rows, targets, files: Files, folder: Path) -> Any:
    """The fit that finds these files."""
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return clone(forest).set_params(n_jobs=1).fit(rows, targets, checkpoint_dir=folder)


def predictions(model, rows) -> list[np.ndarray]:
    """Of every kind that reads the arrays."""
    _ = model.feature_importances_
    found = [model.leaf_weights(rows), model.apply(rows), model.predict(rows)]
    if hasattr(model, "predict_proba"):
        found.append(model.predict_proba(rows))
    return [f.toarray() if sparse.issparse(f) else np.asarray(f) for f in found]


def judged(make: Callable[[], Any], rows, expected: list[np.ndarray]) -> str:
    """What came of it: refused, right, wrong, or what is wrong with the refusal."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = predictions(make(), rows)
    except ValueError as error:
        known = ("checkpoint_dir must ", "valid sketchforest model", "newer version")
        known += ("features, but",)  # a valid model, of another number of features
        is_known = any(text in str(error) for text in known)
        return "refused" if is_known else f"unclean: {type(error).__name__}: {error}"
    except MemoryError as error:  # a valid model of very many outputs
        is_known = "Use predict_sparse or predict_topk" in str(error)
        return "refused" if is_known else f"unclean: {error}"
    except Exception as error:
        return f"unclean: {type(error).__name__}: {error}"
    is_right = all(
        one.shape == other.shape and np.array_equal(one, other)
        for one, other in zip(found, expected, strict=False)
    )
    return "right" if is_right and len(found) == len(expected) else "wrong"


def run_cases(first: int, count: int) -> Counter[str]:
    """In this process; a line for each case that went wrong."""
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder, kinds = Path(name), {}
        for kind, (forest, rows, targets) in FITS.items():
            plain = clone(forest).fit(rows, targets)
            plain.save(folder / "model.sf")
            files = checkpoint_of(forest, rows, targets, folder / kind)
            kinds[kind] = files, (folder / "model.sf").read_bytes(), predictions(plain, rows)
        for number in range(first, first + count):
            print(f"case {number}", flush=True)
            rng = np.random.default_rng([number, 16])
            kind = list(FITS)[rng.integers(len(FITS))]
            (forest, rows, targets), (files, content, expected) = FITS[kind], kinds[kind]
            with tempfile.TemporaryDirectory(dir=folder) as place:
                if number % 2:
                    what, path = "model", Path(place) / "model.sf"
                    path.write_bytes(rewritten_file(content, rng))
                    make = partial(load_forest, path)
                else:
                    what, path = "checkpoint", Path(place) / "checkpoint"
                    changed = rewritten_folder(files, rng)
                    make = partial(go_on, forest, rows, targets, changed, path)
                outcome = judged(make, rows, expected)
            if outcome not in GOOD:
                print(f"problem {number} ({what} of {kind}): {outcome}", flush=True)
                outcome = outcome.split(":")[0]
            outcomes[f"{what}: {outcome}"] += 1
    return outcomes


def is_clean(outcomes: Counter[str]) -> bool:
    return all(outcome.split(": ")[-1] in GOOD for outcome in outcomes)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child is not None:
        print("outcomes", json.dumps(run_cases(given.child, given.count)))
    else:
        outcomes = damaged_models.watch(given.first, given.count, __file__)
        print(dict(sorted(outcomes.items())))
        sys.exit(not is_clean(outcomes))
