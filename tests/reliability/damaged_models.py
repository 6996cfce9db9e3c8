"""Model files, damaged as disks do and rewritten as people do who mean harm, opened and used.

    python tests/reliability/damaged_models.py --count 200000

Each is refused in a sentence, or it is a model whose every method works. Cases run in a process of
their own, which is looked after: a crash, a case of more than a second of processor time, memory of
more than twice the file and 64 MB, and arrays that changed in silence are counted. With the build
of `make sanitize`, and its environment, time and memory are the sanitizers', and are not counted.
"""

import argparse
import copy
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1] / "saving"), str(Path(__file__).parents[1])]

from fitted_models import FITTED, LABELS, NAMES, X
from rewriting import joined, parts_of
from scipy import sparse

from sketchforest import (
    RandomForestClassifier,
    SketchBoostingClassifier,
    SketchBoostingRegressor,
    SketchForestClassifier,
    SketchForestRegressor,
    Tagger,
    load_forest,
)

IS_SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")
MOST_SECONDS = 1.0
MOST_MEMORY = 64e6
MOST_ADDRESSES = 6 << 30  # of the process: what asks for more finds none, and hurts nobody
MOST_COLUMNS = 1_000_000
TEXTS = [f"the {name} and {'red' if i % 2 else 'green'} ones" for i, name in enumerate(NAMES)]
VALUES = [
    *(None, True, False, 0, 1, -1, 2, 7, 2**31 - 1, 2**31, 2**62, 2**64, -(2**63), 1e308, 0.5),
    *(float("nan"), float("inf"), "", "a", "filename", "file", "(?:a+)+b", "<U9999999", "<i8", "O"),
    *([], {}, [1], ["a", "b"], {"pairs": []}, {"pairs": [[1, 2]]}, {"a": 1}, [[]], "x" * 5000),
    *("RandomForestRegressor", "DecisionTreeClassifier", "gaussian", "top-3", "f1", "auto"),
]


def models() -> dict[str, bytes]:
    """The content of small files of every kind."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    made = {name: fit() for name, fit in FITTED.items()}
    vectorizer = TfidfVectorizer()
    words = vectorizer.fit_transform(TEXTS)
    made["texts"] = RandomForestClassifier(9, random_state=0, threshold="f1").fit(words, LABELS)
    made["texts"].attach(vectorizer=vectorizer, row_texts=TEXTS, row_numbers=range(len(TEXTS)))
    made["calibrated"] = RandomForestClassifier(9, random_state=0, calibrate="isotonic").fit(
        X, LABELS
    )
    alone = {"linear": 0, "label_correlations": False, "random_state": 0}
    made["oblique"] = SketchForestClassifier(6, **alone).fit(X, LABELS)
    made["oblique words"] = SketchForestClassifier(4, **alone).fit(words, LABELS)
    linear = {"linear": 0.5, "random_state": 0}
    made["linear part"] = SketchForestClassifier(4, **linear).fit(X, LABELS)
    made["linear part, outputs"] = SketchForestRegressor(4, **linear).fit(words, X[:, :2])
    wide = sparse.random_array((30, 600), density=0.05, format="csr", rng=0)
    made["linear part, directions"] = SketchForestClassifier(3, **linear).fit(wide, LABELS[:30])
    boosted = {"max_iter": 3, "min_samples_leaf": 5, "random_state": 0}
    made["boosted labels"] = SketchBoostingClassifier(**boosted).fit(X, sparse.csr_array(LABELS))
    made["boosted classes"] = SketchBoostingClassifier(**boosted).fit(X, NAMES)
    made["boosted outputs"] = SketchBoostingRegressor(**boosted).fit(words, X[:, :2])
    tags = [[name, "red" if i % 2 else "green"] for i, name in enumerate(NAMES)]
    made["tagger"] = Tagger(SketchForestClassifier(4, **linear), keep_texts=True).fit(TEXTS, tags)
    content = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, model in made.items():
            model.save(Path(folder) / "model.sf")
            content[name] = (Path(folder) / "model.sf").read_bytes()
    return content


# ---- damage


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """What a disk, a copy that broke off or a mistaken editor does; checksums stay as they were."""
    spoilt = bytearray(content)
    first, second = rng.integers(0, len(content) - 16, 2)
    match rng.integers(7):
        case 0:
            spoilt[first] ^= 1 << int(rng.integers(8))
        case 1:
            spoilt[first : first + 4] = rng.bytes(4)
        case 2:
            spoilt[first : first + 16] = content[second : second + 16]
        case 3:
            del spoilt[first:]
        case 4:
            del spoilt[min(first, second) : max(first, second)]
        case 5:
            spoilt[first:first] = content[second : second + int(rng.integers(1, 64))]
        case _:
            spoilt[:8] = int(rng.integers(0, 2 ** rng.integers(1, 63))).to_bytes(8, "little")
    return bytes(spoilt)


def rewritten(content: bytes, rng: np.random.Generator) -> bytes:
    """What somebody writes who gives it the right checksums."""
    header, about, body = parts_of(content)
    whole = np.frombuffer(body, np.uint8).copy()
    kind = rng.integers(10)
    for _ in range(rng.integers(1, 4)):
        if kind < 5:
            spoil_json(about, rng)
        elif kind < 7:
            spoil_json(header, rng)
        else:
            spoil_array(header, whole, rng)
    if kind == 9:  # offsets that lie upon another, or leave a gap
        names = list(header)
        one, other = rng.choice(len(names), 2)
        if isinstance(header[names[one]], dict):
            header[names[one]]["data_offsets"] = header[names[other]].get("data_offsets")
    text = json.dumps(about)
    if kind == 4 and rng.integers(4) == 0:  # a key twice
        text = text[:-1] + f', "{rng.choice(list(about) or ["a"])}": 1}}'
    return joined(header, text, whole.tobytes() + bytes(int(rng.integers(30) == 0)))


def spoil_json(value, rng) -> None:
    """One place anywhere below: replaced, removed, added or exchanged."""
    while isinstance(value, dict | list) and len(value):
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key = keys[rng.integers(len(keys))]
        below = value[key]
        if isinstance(below, dict | list) and len(below) and rng.integers(4):
            value = below
            continue
        match rng.integers(8):
            case 0:
                del value[key]
            case 1 if isinstance(value, list):
                value.append(_any_value(rng))
            case 1:
                value[f"{key}_"] = _any_value(rng)
            case 2:
                value[key] = copy.deepcopy(value[keys[rng.integers(len(keys))]])
            case 3 if type(below) in (int, float):
                value[key] = below + int(rng.integers(-2, 3))
            case _:
                value[key] = _any_value(rng)
        return


def _any_value(rng):
    return copy.deepcopy(VALUES[rng.integers(len(VALUES))])


def spoil_array(header, whole, rng) -> None:
    entries = [e for e in header.values() if isinstance(e, dict) and e.get("data_offsets")]
    try:
        entry = entries[rng.integers(len(entries))]
        begin, end = entry["data_offsets"]
        types = {"U8": "u1", "U16": "u2", "I32": "i4", "U32": "u4", "I64": "i8"}
        dtype = np.dtype(types.get(entry["dtype"], f"f{int(entry['dtype'][1:]) // 8}"))
        array = whole[begin:end].view(dtype)
    except (ValueError, TypeError, KeyError):
        return
    if not len(array):
        return
    at = rng.integers(len(array))
    with np.errstate(all="ignore"):
        extremes = np.array([0, 1, -1, 2**31 - 1, -(2**31), 7, np.nan, np.inf, 1e300])
        near = [array[at] + 1, array[at] - 1, array[rng.integers(len(array))], array.max()]
        choice = rng.integers(3)
        if choice == 0:
            array[at] = extremes[rng.integers(len(extremes))].astype(dtype)
        elif choice == 1:
            array[at] = near[rng.integers(4)]
        else:
            array[at : at + 1].view(np.uint8)[:] = rng.integers(0, 256, dtype.itemsize)


# ---- use


def use(model) -> None:
    """Every method that reads the arrays."""
    if isinstance(model, Tagger):
        repr((model.suggest(TEXTS[:3]), model.explain(TEXTS[0]), model.similar(TEXTS[:3], k=1)))
        model = model.estimator_
    is_boosted = not hasattr(model, "leaf_weights")
    n_features, n_labels = model.n_features_in_, model.fitted_.labels.shape[1]
    if not is_boosted:
        repr(model.describe())
    if max(n_features, n_labels) > MOST_COLUMNS:  # a claim, of which rows and results would be made
        return
    has_texts = hasattr(model, "vectorizer_")
    rows = TEXTS[:3] if has_texts else X[:3]
    if not has_texts and n_features != X.shape[1]:
        rows = sparse.random_array(
            (3, n_features), density=min(1.0, 40 / n_features), format="csr", rng=0
        )
    model.predict(rows)
    model.apply(rows)
    if not is_boosted:
        model.leaf_weights(rows)
        model.similar(rows, k=1)
    if hasattr(model, "predict_proba"):
        model.predict_proba(rows)
    if hasattr(model, "predict_topk") and model.fitted_.targets.column_classes is None:
        model.predict_topk(rows, k=1)
    repr(model.explain(rows[:1]))
    if model.fitted_.forest.gains is not None:
        _ = model.feature_importances_


def peak_memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def try_one(content: bytes, original: bytes, path: Path, mmap: bool) -> str:
    """What became of it: refused, used, or what was wrong."""
    path.write_bytes(content)
    began, before = time.process_time(), peak_memory()
    outcome = "used"
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            model = load_forest(path, mmap=mmap)
            if parts_of(content)[0:3:2] != parts_of(original)[0:3:2]:
                outcome = "used, with other arrays"
            use(model)
    except ValueError as error:
        is_known = "valid sketchforest model" in str(error) or "newer version" in str(error)
        outcome = "refused" if is_known else f"unclean: {type(error).__name__}: {error}"
    except MemoryError:
        outcome = "no memory"
    except Exception as error:
        outcome = f"unclean: {type(error).__name__}: {error}"
    if IS_SANITIZED:
        return outcome
    if time.process_time() - began > MOST_SECONDS:
        return f"slow ({outcome})"
    if peak_memory() - before > 2 * len(content) + MOST_MEMORY:
        return f"memory {(peak_memory() - before) / 1e6:.0f} MB ({outcome})"
    return outcome


def make_case(contents: dict[str, bytes], number: int) -> tuple[str, bytes, bytes, bool]:
    rng = np.random.default_rng([number, 15])
    name = list(contents)[rng.integers(len(contents))]
    is_rewritten = bool(rng.integers(2))
    content = (rewritten if is_rewritten else damaged)(contents[name], rng)
    return name, content, contents[name], is_rewritten


def run_cases(first: int, count: int) -> Counter[str]:
    """In this process; a line for each case that went wrong."""
    contents, outcomes = models(), Counter()
    if not IS_SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSES, MOST_ADDRESSES))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.sf"
        try_one(contents["texts"], contents["texts"], path, True)  # imports are no memory of a case
        for number in range(first, first + count):
            print(f"case {number}", flush=True)
            name, content, original, is_rewritten = make_case(contents, number)
            outcome = try_one(content, original, path, bool(number % 2))
            if not is_rewritten and outcome.startswith("used") and content != original:
                outcome = f"silent: {outcome}"
            if is_rewritten and outcome.startswith("used"):
                outcome = "used"
            if outcome not in ("refused", "used"):
                print(f"problem {number} ({name}): {outcome}", flush=True)
                outcome = outcome.split(":")[0].split(" (")[0]
            outcomes[outcome] += 1
    return outcomes


def watch(first: int, count: int, script: str = __file__) -> Counter[str]:
    """The same in a process that may crash, and that is begun again behind the case."""
    outcomes: Counter[str] = Counter()
    last = first + count
    while first < last:
        command = [sys.executable, script, "--child", str(first), "--count", str(last - first)]
        child = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        lines = child.stdout.splitlines()
        print(*[line for line in lines if line.startswith("problem")], sep="\n", end="\n")
        found = [line for line in lines if line.startswith("outcomes")]
        if child.returncode == 0 and found:
            return outcomes + Counter(json.loads(found[-1].removeprefix("outcomes ")))
        crashed = int([line for line in lines if line.startswith("case")][-1].split()[1])
        print(f"problem {crashed}: the process ended with {child.returncode}")
        outcomes["crash"] += 1
        first = crashed + 1
    return outcomes


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child is not None:
        print("outcomes", json.dumps(run_cases(given.child, given.count)))
    else:
        outcomes = watch(given.first, given.count)
        print(dict(outcomes))
        sys.exit(bool(outcomes.keys() - {"refused", "used"}))
