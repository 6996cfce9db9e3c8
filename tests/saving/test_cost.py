"""What a small file costs: memory in proportion to what is in it, whatever it claims."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from fitted_models import FITTED, LABELS, X
from rewriting import joined, parts_of, rewrite
from sklearn.feature_extraction.text import TfidfVectorizer

from sketchforest import RandomForestClassifier, load_forest
from sketchforest._saving import container
from sketchforest._saving.container import (
    MAX_HEADER_BYTES,
    MAX_JSON_DEPTH,
    MAX_JSON_ITEMS,
    map_arrays,
    open_regular,
    read_header,
    write_container,
)

needs_peak = pytest.mark.skipif(
    not os.path.exists("/proc/self/status") or "libasan" in os.environ.get("LD_PRELOAD", ""),
    reason="no peak is known, or that of the sanitizer",
)

# What SECURITY.md promises: bytes for each byte of the file, and more for all files.
PER_BYTE, MORE = 20, 64e6
TEXTS = [f"the {i % 7} and {i % 5} ones" for i in range(len(X))]
MOST = 2**31 - 1
N_NAMES = 400_000

# Opens each file that it reads from stdin in a fork of its own, which has its own peak: imports
# are done once and count for no file. The peak of getrusage would include that of the parent.
OPENS = """
import os, sys
from sketchforest import load_forest
def peak():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
for line in sys.stdin:
    small, path, how = line.split()
    if not os.fork():
        repr(load_forest(small).describe())
        before, refused = peak(), ""
        try:
            repr(load_forest(path, mmap=how == "mapped").describe())
        except ValueError as error:
            refused = str(error)
        print(peak() - before, refused, flush=True)
        os._exit(0)
    if os.wait()[1]:
        print("nan the process died", flush=True)
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A model of texts, in a few kB."""
    path = tmp_path_factory.mktemp("small") / "model.sf"
    vectorizer = TfidfVectorizer(token_pattern=r"\w+")
    forest = RandomForestClassifier(3, random_state=0)
    forest.fit(vectorizer.fit_transform(TEXTS), LABELS)
    forest.save(path, vectorizer=vectorizer)
    return path


@pytest.fixture(scope="module")
def opener():
    command = [sys.executable, "-c", OPENS]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process


@pytest.fixture
def cost_of(opener, small):
    """A function that opens a file; returns the growth of the peak memory, and the error if any."""

    def cost_of(path, how="mapped"):
        opener.stdin.write(f"{small} {path} {how}\n")
        opener.stdin.flush()
        cost, _, refused = opener.stdout.readline().strip().partition(" ")
        return float(cost), refused

    return cost_of


def about_with(**fields):
    return lambda header, about, body: about.update(fields)


def with_notes(notes):
    return lambda header, about, body: about.update(notes=notes())


def names(n=N_NAMES):
    """As short as may be, and no two alike."""
    return [f"{i:x}" for i in range(n)]


def without_text(about):
    about.pop("text")
    about.update(feature_names=None)


NOTES = {
    "lists": lambda: {"a": [[] for _ in range(MAX_JSON_ITEMS - 200)]},
    "lists of lists": lambda: {"a": [[[[[]]]] for _ in range(MAX_JSON_ITEMS // 5)]},
    "fields": lambda: {f"{i:x}": 1 for i in range(MAX_JSON_ITEMS - 200)},
    "objects with a field": lambda: {"a": [{"a": 1} for _ in range(MAX_JSON_ITEMS // 2 - 100)]},
    "texts": lambda: {"a": names()},
    "wide texts": lambda: {"a": [f"{i:x}\u0416" for i in range(N_NAMES)]},
    "numbers": lambda: {"a": [i + 0.5 for i in range(N_NAMES)]},
    "small numbers": lambda: {"a": [1000 + i % 9000 for i in range(1_000_000)]},
    "nothing": lambda: {"a": [None] * 1_000_000},
}
HOSTILE = {
    **{f"notes of {kind}": with_notes(notes) for kind, notes in NOTES.items()},
    "names of labels": lambda header, about, body: about.update(
        n_label_columns=N_NAMES, label_names=names()
    ),
    "names of features": lambda header, about, body: (
        without_text(about),
        about.update(n_features_in=N_NAMES, feature_names=names(), feature_names_in=names()),
    ),
    "features that are claimed": lambda header, about, body: (
        without_text(about),
        about.update(n_features_in=MOST),
    ),
    "labels that are claimed": about_with(n_label_columns=MOST),
}


@needs_peak
@pytest.mark.parametrize(
    ("kind", "how"), [*((kind, "mapped") for kind in HOSTILE), ("notes of texts", "read")]
)
def test_opening_takes_memory_in_proportion_to_the_file(kind, how, small, cost_of, tmp_path):
    path = tmp_path / "model.sf"
    path.write_bytes(small.read_bytes())
    rewrite(path, HOSTILE[kind])
    cost, refused = cost_of(path, how)
    assert not refused
    assert cost <= PER_BYTE * path.stat().st_size + MORE


@needs_peak
def test_terms_take_memory_in_proportion_to_the_file(cost_of, tmp_path):
    terms = names()
    vectorizer = TfidfVectorizer(token_pattern=r"\w+", vocabulary=terms)
    forest = RandomForestClassifier(3, random_state=0)
    forest.fit(vectorizer.fit_transform(TEXTS), LABELS)
    forest.save(tmp_path / "model.sf", vectorizer=vectorizer)
    cost, refused = cost_of(tmp_path / "model.sf")
    assert not refused
    assert cost <= PER_BYTE * (tmp_path / "model.sf").stat().st_size + MORE


@needs_peak
def test_one_threshold_for_the_labels_that_are_claimed_takes_no_memory(small, cost_of, tmp_path):
    """As files of an older format have it."""
    with open_regular(small) as file:
        header = read_header(file)
        arrays = dict(map_arrays(file, header, is_mapped=False).arrays)
    path = tmp_path / "model.sf"
    arrays["more.thresholds"] = np.array(0.5, np.float32)
    write_container(path, arrays, {"sketchforest": header.metadata["sketchforest"]})
    rewrite(path, about_with(n_label_columns=MOST))
    cost, refused = cost_of(path)
    assert not refused
    assert cost <= MORE


@needs_peak
def test_a_header_that_has_no_end_is_refused_and_not_read(cost_of, tmp_path):
    """4 GiB, of which the disk has a few bytes."""
    path = tmp_path / "model.sf"
    with path.open("wb") as file:
        file.write((4 << 30).to_bytes(8, "little") + b"{")
        file.truncate(8 + (4 << 30))
    cost, refused = cost_of(path)
    assert f"header of {4 << 30} bytes; the maximum is {MAX_HEADER_BYTES}" in refused
    assert cost <= MORE


def test_a_million_names_of_labels_are_saved_and_opened(tmp_path):
    forest = RandomForestClassifier(2, random_state=0).fit(X, LABELS)
    forest.save(tmp_path / "model.sf")
    given = [f"label number {i}" for i in range(1_000_000)]
    rewrite(tmp_path / "model.sf", about_with(n_label_columns=len(given), label_names=given))
    assert load_forest(tmp_path / "model.sf").label_names_[-1] == given[-1]


# ---- refused when it is saved, and when it is opened


def nested(depth):
    found = []
    for _ in range(depth - 1):
        found = [found]
    return found


TOO_MUCH = {
    "many lists": (lambda: [[] for _ in range(MAX_JSON_ITEMS)], "lists, objects and fields"),
    "many fields": (
        lambda: {f"{i:x}": 1 for i in range(MAX_JSON_ITEMS)},
        "lists, objects and fields",
    ),
    "deep lists": (lambda: nested(MAX_JSON_DEPTH), f"{MAX_JSON_DEPTH} levels deep"),
}


@pytest.mark.parametrize("kind", TOO_MUCH)
def test_notes_that_would_take_much_memory_are_neither_saved_nor_opened(kind, tmp_path):
    make, why = TOO_MUCH[kind]
    notes = {"a": make()}
    path, forest = tmp_path / "model.sf", FITTED["stump"]()
    with pytest.raises(ValueError, match=f"a model file must have at most .*{why}"):
        forest.save(path, notes=notes)
    assert not path.exists()
    forest.save(path)
    rewrite(path, about_with(notes=notes))
    with pytest.raises(ValueError, match=f"not a valid sketchforest model.*{why}"):
        load_forest(path)


def test_parts_in_names_are_no_parts(tmp_path):
    path = tmp_path / "model.sf"
    notes = {"a": ['\\"[{:' * MAX_JSON_ITEMS], "b": nested(MAX_JSON_DEPTH - 3)}
    FITTED["stump"]().save(path, notes=notes)
    assert load_forest(path).notes_ == notes


@pytest.mark.parametrize("text", ['"[{:"', '"\\\\"', '"' + '\\"' * 300_000, '"\\\\\\"'])
def test_quotes_that_have_no_end_are_looked_through_once(text):
    """To look again behind each of them would take hours."""
    inside = text * (300_000 // len(text) + 1)
    assert not container.has_too_many_items(
        inside + '"' * (inside.count('"') % 2) + "[" * MAX_JSON_ITEMS
    )
    assert container.has_too_many_items("[" * MAX_JSON_ITEMS + ":" + inside)


def test_a_header_is_in_ascii(tmp_path):
    """One letter of another alphabet would make all of it four times as wide."""
    FITTED["stump"]().save(tmp_path / "model.sf", notes={"a": "\U0001d54f"})
    assert load_forest(tmp_path / "model.sf").notes_ == {"a": "\U0001d54f"}
    header, about, body = parts_of((tmp_path / "model.sf").read_bytes())
    text = json.dumps(about, ensure_ascii=False)
    (tmp_path / "model.sf").write_bytes(joined(header, text, body))
    with pytest.raises(ValueError, match="not in ASCII"):
        load_forest(tmp_path / "model.sf")


def test_names_that_are_too_long_for_a_header_are_refused_in_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(container, "MAX_HEADER_BYTES", 1 << 20)
    with pytest.raises(ValueError, match="must take at most 1 MB in a model file; got 3 MB"):
        FITTED["stump"]().save(tmp_path / "model.sf", notes={"a": "a" * (3 << 20)})
    assert not list(tmp_path.iterdir())


# ---- info


@pytest.mark.parametrize("claim", ["n_features_in", "n_label_columns"])
def test_info_makes_no_names_that_a_file_only_claims(claim, tmp_path, command):
    path = tmp_path / "model.sf"
    RandomForestClassifier(3, random_state=0).fit(X, LABELS).save(path)
    rewrite(path, about_with(**{claim: 1_000_000}))
    code, out, _ = command("info", path)
    assert code == 0
    assert "1,000,000" in out
    code, out, _ = command("info", path, "--json")
    assert code == 0
    assert len(out) < 100_000
