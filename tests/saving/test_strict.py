"""What a model file may say is what `save` writes: all else is refused when it is opened, though
its checksums are right."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from fitted_models import FITTED, LABELS, NAMES, X
from rewriting import array_in, joined, parts_of, rewrite, signed
from sklearn.feature_extraction.text import TfidfVectorizer

from sketchforest import RandomForestClassifier, Tagger, _core, load_forest
from sketchforest._saving.token_pattern import is_linear_time

TEXTS = [f"the {name} and the {'red' if i % 2 else 'green'} ones" for i, name in enumerate(NAMES)]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A saved model of texts."""
    vectorizer = TfidfVectorizer(stop_words=["the"])
    forest = RandomForestClassifier(3, random_state=0, threshold="f1")
    with pytest.warns(UserWarning, match="Some inputs do not have OOB scores"):
        forest.fit(vectorizer.fit_transform(TEXTS), LABELS)
    forest.attach(vectorizer=vectorizer, row_texts=TEXTS, row_ids=TEXTS, row_numbers=range(120))
    path = tmp_path_factory.mktemp("saved") / "model.sf"
    forest.save(path, notes={"made": "here"}, label_names=[*map(str, range(40))])
    return path


@pytest.fixture
def path(saved, tmp_path):
    """A copy of the saved model, for a test to change."""
    return Path(shutil.copy(saved, tmp_path))


def refuses(path, why=""):
    with pytest.raises(ValueError, match=f"not a valid sketchforest model.*{why}"):
        load_forest(path)


def test_what_is_written_anew_without_a_change_is_read(path):
    expected = load_forest(path).predict_proba(TEXTS)
    rewrite(path, lambda header, about, body: None)
    assert np.array_equal(load_forest(path).predict_proba(TEXTS), expected)


TEXT_SETTINGS = {
    "a file to open": {"input": "filename"},
    "a file object": {"input": "file"},
    "a pattern that never ends": {"token_pattern": "(?:a+)+b"},
    "no pattern": {"token_pattern": None},
    "half a pattern": {"token_pattern": "(a"},
    "a function": {"tokenizer": "split"},
    "a module": {"preprocessor": "os"},
    "an analyzer": {"analyzer": "parse"},
    "accents": {"strip_accents": "all"},
    "an encoding": {"encoding": "rot13"},
    "an unknown encoding": {"encoding": "\x00"},
    "a flag": {"lowercase": "yes"},
    "another flag": {"binary": 1},
    "no n-grams": {"ngram_range": [2, 1]},
    "long n-grams": {"ngram_range": [1, 10**9]},
    "a type": {"dtype": "object"},
    "a norm": {"norm": "max"},
    "stop words": {"stop_words": "german"},
    "numbers as stop words": {"stop_words": [1]},
    "a vocabulary": {"vocabulary": {"pairs": [["a", 0]]}},
    "another parameter": {"colour": "red"},
}


@pytest.mark.parametrize("kind", TEXT_SETTINGS)
def test_a_file_cannot_make_texts_be_read_in_another_way(kind, path):
    rewrite(path, lambda header, about, body: about["text"].update(TEXT_SETTINGS[kind]))
    refuses(path, "text")


@pytest.mark.parametrize("weight", [np.nan, np.inf, -1e200])
def test_a_weight_of_a_term_that_rows_cannot_hold_is_refused(weight, path):
    def spoil(header, about, body):
        array_in(header, body, "more.idf", np.float64)[0] = weight

    rewrite(path, spoil)
    refuses(path, "weight of the vectorizer|non-finite number in more.idf")


NOTES = {
    "columns that are no columns": {"columns": 7},
    "a number as names": {"columns": {"numbers": 7}},
    "another role": {"columns": {"colour": ["red"]}},
    "a number as tags": {"columns": {"tags": 7}},
    "a scale of three numbers": {"scales": {"weight": [1, 2, 3]}},
    "a scale of words": {"scales": {"weight": ["one", "two"]}},
}


@pytest.mark.parametrize("kind", NOTES)
def test_notes_of_a_tagger_describe_its_columns(kind, tmp_path):
    """Others were found at the first prediction, if at all."""
    path = tmp_path / "model.sf"
    tags = [["odd"] if number % 2 else ["even"] for number in range(len(TEXTS))]
    Tagger(RandomForestClassifier(3, random_state=0)).fit(TEXTS, tags).save(path)
    rewrite(path, lambda header, about, body: about["notes"].update(NOTES[kind]))
    refuses(path, r"notes\.")


ENDING = [r"(?u)\b\w\w+\b", r"\S+", r"[a-z]{2,}", r"(?u)\b(\w+)\b", r"[^,;]+", r"#?\w+", r"\d{4}"]
ENDLESS = [
    *("(?:a+)+b", "(a|a)*b", "(a|ab)*c", r"\w+\w+\w+x", "a?a?a?a?aaaa", r"(\w+)\1", "(?=a)+"),
    *("(a*)*", "a**", "a{1,9}{1,9}", "(?:a{1,9}){1,9}b", "((a))", "x" * 201, 7, None, "[", "+"),
]


@pytest.mark.parametrize("pattern", ENDING)
def test_ordinary_token_patterns_are_saved(pattern, tmp_path):
    assert is_linear_time(pattern)
    vectorizer = TfidfVectorizer(token_pattern=pattern)
    words = vectorizer.fit_transform([*TEXTS, "1984 #oak"])
    labels = np.append(LABELS, LABELS[:1], axis=0)
    forest = RandomForestClassifier(2, random_state=0).fit(words, labels)
    forest.save(tmp_path / "model.sf", vectorizer=vectorizer)
    twin = load_forest(tmp_path / "model.sf")
    assert (twin.vectorizer_.transform(TEXTS) != vectorizer.transform(TEXTS)).nnz == 0


@pytest.mark.parametrize("pattern", ENDLESS)
def test_patterns_that_may_not_end_are_known(pattern):
    assert not is_linear_time(pattern)


def test_a_pattern_that_may_not_end_is_refused_when_it_is_saved(tmp_path):
    vectorizer = TfidfVectorizer(token_pattern=r"(?:\w|-)+")
    forest = RandomForestClassifier(2).fit(vectorizer.fit_transform(TEXTS), LABELS)
    with pytest.raises(ValueError, match="token_pattern that is allowed in a model file"):
        forest.save(tmp_path / "model.sf", vectorizer=vectorizer)


ABOUT = {
    "another field": lambda about: about.update(colour="red"),
    "a parameter out of its range": lambda about: about["params"].update(n_jobs="all"),
    "a threshold": lambda about: about["params"].update(threshold=7),
    "a list as a parameter": lambda about: about["params"].update(max_depth=[1]),
    "a setting of another type": lambda about: about["settings"].update(max_depth="deep"),
    "a setting below 0": lambda about: about["settings"].update(min_samples_leaf=-1),
    "a setting that is no number": lambda about: about["settings"].update(impurity_scale=np.nan),
    "a truth for a number": lambda about: about["settings"].update(seed=True),
    "state": lambda about: about["state"].update(_sparse_labels=1),
    "more state": lambda about: about["state"].update(_forest=None),
    "a score": lambda about: about["state"].update(oob_score_="good"),
    "a vector": lambda about: about["state"].update(_is_vector=True),
    "names that are numbers": lambda about: about.update(label_names=[1] * 40),
    "feature names": lambda about: about.update(feature_names_in=["a"]),
    "a wide type": lambda about: about.update(label_dtype="<U9999999"),
    "a type with parts": lambda about: about.update(label_dtype="i4,i4"),
    "no type": lambda about: about.update(label_dtype=None),
    "a regressor": lambda about: about.update(estimator="RandomForestRegressor"),
    "a single tree": lambda about: (
        about.update(estimator="DecisionTreeClassifier"),
        about["params"].clear(),
    ),
    "classes": lambda about: about.update(classes=list(range(40)), classes_dtype="<U1"),
    "classes in no order": lambda about: about.update(classes=[1] * 40, classes_dtype="<i8"),
    "columns of classes": lambda about: about.update(column_classes=[{"classes": [1]}]),
    "no features": lambda about: about.update(n_features_in=0),
    "a version": lambda about: about.update(format_version=True),
}


@pytest.mark.parametrize("kind", ABOUT)
def test_a_field_that_save_does_not_write_is_refused(kind, path):
    rewrite(path, lambda header, about, body: ABOUT[kind](about))
    refuses(path)


def test_classes_take_the_memory_of_their_names_and_not_of_their_type(tmp_path):
    path = tmp_path / "model.sf"
    FITTED["classes"]().save(path)
    rewrite(
        path,
        lambda header, about, body: about.update(
            classes_dtype="<U9999999", label_dtype="<U9999999"
        ),
    )
    forest = load_forest(path)
    assert forest.classes_.dtype == np.dtype("<U3")
    assert forest.predict(X).dtype == np.dtype("<U3")


FORMS = {
    "outputs": {"_sparse_labels": True},
    "sparse outputs": {"_sparse_labels": False},
    "classes": {"_sparse_labels": True},
    "dense labels": {"_is_spmatrix": True},
}


@pytest.mark.parametrize("name", FORMS)
def test_labels_of_another_form_than_is_said_are_refused(name, tmp_path):
    """Dense ones that were said to be sparse were read where there was nothing."""
    path = tmp_path / "model.sf"
    FITTED[name]().save(path)
    rewrite(path, lambda header, about, body: about["state"].update(FORMS[name]))
    refuses(path)


def test_sparse_averages_of_dense_values_are_refused_by_the_core():
    model = FITTED["outputs"]()
    leaves = np.zeros((1, 5), np.int32)
    for average in (_core.average_csr, _core.average_best):
        with pytest.raises(TypeError, match="SparseRows"):
            average(model.fitted_.forest, model.fitted_.labels, leaves, 1)


@pytest.mark.parametrize("within", ["about", "header"])
def test_what_is_said_twice_is_refused(within, path):
    header, about, body = parts_of(path.read_bytes())
    if within == "about":
        text = json.dumps(about)
        path.write_bytes(
            joined(header, text[:-1] + ', "estimator": "DecisionTreeClassifier"}', body)
        )
    else:
        content = path.read_bytes()
        n_header = int.from_bytes(content[:8], "little")
        text = content[8 : 8 + n_header].rstrip()
        entry = json.dumps(header["forest.nodes"]).encode()
        path.write_bytes(signed(text[:-1] + b', "forest.nodes": ' + entry + b"}", body))
    refuses(path, "duplicate")


def test_bytes_behind_the_arrays_are_refused(path):
    header, about, body = parts_of(path.read_bytes())
    path.write_bytes(joined(header, about, body + b"\0"))
    refuses(path, "after the last array")


def test_arrays_that_lie_upon_another_are_refused(path):
    def overlap(header, about, body):
        header["forest.tree_members"]["data_offsets"] = header["forest.node_start"]["data_offsets"]

    rewrite(path, overlap)
    refuses(path)


def test_an_array_that_nobody_reads_is_refused(path):
    def rename(header, about, body):
        header["more.colour"] = header.pop("more.row_numbers")

    rewrite(path, rename)
    refuses(path, "colour")


ARRAYS = {
    "a threshold that is no number": ("forest.nodes", np.float32, lambda a: a.put(1, np.nan)),
    "a gain that is no number": ("forest.gains", np.float32, lambda a: a.put(0, np.nan)),
    "a depth": ("forest.depths", np.int32, lambda a: a.put(0, 10**9)),
    "two parents": ("forest.nodes", np.int32, lambda a: a.put(2, a[3])),
    "labels in no order": ("labels.columns", np.int32, lambda a: a.put(range(len(a)), a[::-1])),
    "an endless weight of a term": ("more.idf", np.float64, lambda a: a.put(0, np.inf)),
    "a threshold of a label": ("more.threshold_for_each", np.float32, lambda a: a.put(0, 7)),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_numbers_that_are_no_forest_are_refused_with_the_right_checksum(kind, path):
    name, dtype, change = ARRAYS[kind]
    rewrite(path, lambda header, about, body: change(array_in(header, body, name, dtype)))
    refuses(path)


PART = "part-00000.sf"
INDICES = {
    "nothing": ("", "index.json is invalid"),
    "a list": ("[]", "index.json is invalid"),
    "half": ('{"parts": [', "index.json is invalid"),
    "deep lists": ("[" * 100_000, "index.json is invalid"),
    "no version": ({"parts": [PART]}, "has no format version"),
    "a truth for a version": ({"parts": [PART], "format_version": True}, "has no format version"),
    "no parts": ({"format_version": 1}, "no valid list of parts"),
    "a part elsewhere": (
        {"parts": [f"../{PART}"], "format_version": 1},
        "no valid list of parts",
    ),
    "a number": ({"parts": [1], "format_version": 1}, "no valid list of parts"),
    "a part twice": ({"parts": [PART, PART], "format_version": 1}, "lists a part twice"),
    "a part that is not there": (
        {"parts": [PART, "b.sf"], "format_version": 1},
        "lists b.sf, which",
    ),
    "17 MB": (" " * (17 << 20), "index.json is invalid"),
}


@pytest.mark.parametrize("kind", INDICES)
def test_an_index_of_parts_that_was_rewritten_is_refused(kind, tmp_path):
    index, why = INDICES[kind]
    FITTED["stump"]().save(tmp_path / PART)
    text = index if isinstance(index, str) else json.dumps(index)
    (tmp_path / "index.json").write_text(text)
    refuses(tmp_path, why)


# ---- what a disk does


def test_no_bit_of_any_array_changes_unnoticed(path):
    content = path.read_bytes()
    header, _, body = parts_of(content)
    rng = np.random.default_rng(0)
    first = len(content) - len(body)
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        for at in {begin, end - 1, *rng.integers(begin, end, 5).tolist()}:
            spoilt = bytearray(content)
            spoilt[first + at] ^= 1 << rng.integers(8)
            path.write_bytes(spoilt)
            refuses(path, name.split(".")[0] + "|a |non-finite")


def reference_checksum(content: bytes) -> int:
    """The definition, one word after the other."""
    mask, odd = 2**64 - 1, 0x9E3779B97F4A7C15

    def mixed(total, word):
        both = total ^ word
        product = (both ^ both >> 32) * odd & mask
        return (product << 31 | product >> 33) & mask

    lanes = list(range(8))
    padded = content + bytes(-len(content) % 64)
    for at in range(0, len(padded), 8):
        lane = at // 8 % 8
        lanes[lane] = mixed(lanes[lane], int.from_bytes(padded[at : at + 8], "little"))
    total = len(content)
    for lane in lanes:
        total = mixed(total, lane)
    return mixed(total, 0)


@pytest.mark.parametrize("size", [0, 1, 7, 8, 63, 64, 65, 1000])
def test_the_checksum_is_its_definition(size):
    content = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    assert _core.checksum(content) == reference_checksum(content.tobytes())


def test_the_checksum_sees_every_bit_two_signs_and_zeros_at_the_end():
    content = np.random.default_rng(0).integers(0, 256, 200, np.uint8)
    sums = {_core.checksum(content), _core.checksum(np.append(content, np.uint8(0)))}
    for at in range(1600):
        spoilt = content.copy()
        spoilt[at // 8] ^= 1 << at % 8
        sums.add(_core.checksum(spoilt))
    for other in (71, 135):  # the signs of two doubles of one lane
        spoilt = content.copy()
        spoilt[[7, other]] ^= 128
        sums.add(_core.checksum(spoilt))
    assert len(sums) == 1604


# ---- one open


def test_a_model_that_is_replaced_while_it_is_opened_is_the_old_or_the_new_one(path, monkeypatch):
    """Header and arrays are of one file, though its name is given away in between."""
    from sketchforest._saving import model_file

    old = load_forest(path)
    other = path.with_name("other.sf")
    RandomForestClassifier(7, random_state=1).fit(X, LABELS).save(other)
    check = model_file.verify_header

    def replaced(text):
        os.replace(other, path)
        check(text)

    monkeypatch.setattr(model_file, "verify_header", replaced)
    opened = load_forest(path)
    assert len(opened.estimators_) == 3
    assert np.array_equal(opened.fitted_.forest.nodes, old.fitted_.forest.nodes)
    monkeypatch.setattr(model_file, "verify_header", check)
    assert len(load_forest(path).estimators_) == 7


def test_a_pipe_is_no_model_and_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    refuses(tmp_path / "pipe", "not a regular file")
