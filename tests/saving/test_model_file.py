"""A model that is saved and loaded is the same model; a file that is damaged is an error."""

import dataclasses
import json
import os
import pickle

import joblib
import numpy as np
import pytest
from reference_model import is_forest
from scipy import sparse

import sketchforest
from sketchforest import (
    DecisionTreeClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    _core,
    load_forest,
)
from sketchforest._saving.container import (
    ALIGNMENT,
    METADATA,
    DamagedError,
    map_arrays,
    read_header,
    write_container,
)
from sketchforest._saving.estimators import load_estimator
from sketchforest._saving.model_file import read_model, write_model
from sketchforest._trees.model import SparseRows
from sketchforest.projection import GaussianProjection

RNG = np.random.default_rng(0)
X = RNG.random((120, 6))
LABELS = (RNG.random((120, 40)) < 0.1).astype(int)
NAMES = np.array(["ash", "oak", "yew"])[RNG.integers(0, 3, 120)]

FITTED = {
    "sparse labels": lambda: RandomForestClassifier(
        20, n_components=4, random_state=0, oob_score=True
    ).fit(X, sparse.csr_array(LABELS)),
    "dense labels": lambda: RandomForestClassifier(5, projection="sparse", random_state=0).fit(
        X, LABELS
    ),
    "classes": lambda: RandomForestClassifier(
        5, class_weight={"ash": 2.0}, random_state=np.random.RandomState(3)
    ).fit(X, NAMES),
    "tree": lambda: DecisionTreeClassifier(max_depth=3).fit(X, NAMES),
    "stump": lambda: DecisionTreeClassifier().fit(X, np.zeros(120, int)),
    "outputs": lambda: ExtraTreesRegressor(5, random_state=0).fit(X, X[:, :2]),
    "weighted output": lambda: RandomForestRegressor(5, random_state=0).fit(X, X[:, 0], X[:, 1]),
    "sparse outputs": lambda: RandomForestRegressor(5, random_state=0).fit(
        X, sparse.csr_array(LABELS * 0.5)
    ),
    "doubles": lambda: RandomForestRegressor(5, random_state=0).fit(1 + X * 1e-12, X[:, 0]),
}


def dense(values):
    return values.toarray() if sparse.issparse(values) else values


@pytest.fixture(params=FITTED)
def model(request):
    return FITTED[request.param]()


@pytest.mark.parametrize("mmap", [True, False])
def test_a_loaded_model_is_the_saved_one_bit_by_bit(model, mmap, tmp_path):
    model.save(tmp_path / "model.sf")
    twin = load_forest(tmp_path / "model.sf", mmap=mmap)
    assert type(twin) is type(model)
    for name, array in vars(model._forest).items():
        theirs = getattr(twin._forest, name)
        assert (array is None) == (theirs is None)
        assert array is None or np.array_equal(array, theirs)
    assert np.array_equal(dense(model.predict(X)), dense(twin.predict(X)))
    assert np.array_equal(model.feature_importances_, twin.feature_importances_)
    assert getattr(model, "oob_score_", None) == getattr(twin, "oob_score_", None)
    if hasattr(model, "classes_"):
        assert np.array_equal(model.classes_, twin.classes_)
        assert np.array_equal(model.predict_proba(X), twin.predict_proba(X))
    assert [p.name for p in tmp_path.iterdir()] == ["model.sf"]


def test_a_loaded_forest_grows_on_by_warm_start(tmp_path):
    forest = RandomForestClassifier(3, n_components=4, random_state=0, warm_start=True)
    forest.fit(X, LABELS).save(tmp_path / "model.sf")
    grown_on = load_forest(tmp_path / "model.sf").set_params(n_estimators=6).fit(X, LABELS)
    at_once = RandomForestClassifier(6, n_components=4, random_state=0).fit(X, LABELS)
    assert np.array_equal(grown_on._forest.nodes, at_once._forest.nodes)


def test_a_loaded_forest_knows_its_projections_and_feature_names(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    forest = RandomForestClassifier(3, n_components=4, random_state=0).fit(frame, LABELS)
    forest.save(tmp_path / "model.sf")
    twin = load_forest(tmp_path / "model.sf")
    assert np.array_equal(forest.projection_matrix(2), twin.projection_matrix(2))
    assert list(twin.feature_names_in_) == list("abcdef")
    assert np.array_equal(twin.predict(frame), forest.predict(frame))


def test_objects_of_the_user_are_refused_with_a_way_out(tmp_path):
    forest = RandomForestClassifier(2, projection=GaussianProjection()).fit(X, LABELS)
    with pytest.raises(ValueError, match=r"projection must be a name.*Use pickle"):
        forest.save(tmp_path / "model.sf")
    assert not list(tmp_path.iterdir())


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.sf"
    FITTED["outputs"]().save(path)
    before = path.read_bytes()

    def fails(*args):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match="no space"):
        FITTED["classes"]().save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["model.sf"]


def test_a_file_of_a_newer_format_says_so(tmp_path):
    path = tmp_path / "model.sf"
    FITTED["tree"]().save(path)
    content = path.read_bytes()
    path.write_bytes(content.replace(b'format_version\\": 1', b'format_version\\": 9'))
    with pytest.raises(ValueError, match="newer version"):
        load_forest(path)


@pytest.mark.parametrize("name", ["sparse labels", "outputs"])
def test_no_damage_goes_unnoticed_or_leads_outside(name, tmp_path):
    """Every array is spoilt in turn, by a number that is out of its range."""
    path = tmp_path / "model.sf"
    FITTED[name]().save(path)
    content = path.read_bytes()
    n_header = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + n_header])
    del header["__metadata__"]
    safe = {"forest.gains", "forest.depths", "forest.weights", "labels.dense"}  # no indices
    for array, entry in header.items():
        if array in safe:
            continue
        begin, end = (8 + n_header + offset for offset in entry["data_offsets"])
        for at in {begin, begin + (end - begin) // 8 * 4, end - 4}:
            if array == "forest.nodes" and (at - begin) % 16 == 4:
                continue  # a threshold may be any number
            spoilt = bytearray(content)
            spoilt[at : at + 4] = b"\xff\xff\xff\x7f"
            path.write_bytes(spoilt)
            with pytest.raises(ValueError, match="whole sketchforest model"):
                load_forest(path)


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 8, b"not a model at all", b"\x02" + b"\0" * 7 + b"{}"]
)
def test_other_files_are_refused_in_one_sentence(content, tmp_path):
    path = tmp_path / "model.sf"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="whole sketchforest model"):
        load_forest(path)


def test_a_file_that_is_cut_off_anywhere_is_refused(tmp_path):
    path = tmp_path / "model.sf"
    FITTED["tree"]().save(path)
    content = path.read_bytes()
    for size in range(0, len(content), 97):
        path.write_bytes(content[:size])
        with pytest.raises(ValueError, match="whole sketchforest model"):
            load_forest(path)


def spoil_about(path, change):
    """Writes the model anew, checksum and all, after a change of what is said of it."""
    model = read_model(path)
    change(model.about)
    write_model(path, model)


WRONG_ABOUT = {
    "no estimator": lambda about: about.pop("estimator"),
    "unknown estimator": lambda about: about.update(estimator="Perceptron"),
    "unhashable estimator": lambda about: about.update(estimator=[]),
    "no parameters": lambda about: about.update(params=None),
    "unknown parameter": lambda about: about["params"].update(n_bushes=1),
    "unreadable parameter": lambda about: about["params"].update(class_weight={"a": 1}),
    "unhashable class": lambda about: about["params"].update(class_weight={"pairs": [[[], 1]]}),
    "unknown projection": lambda about: (
        about["params"].update(projection="slides"),
        about.update(is_projected=True),
    ),
    "unknown setting": lambda about: about["settings"].update(n_bushes=1),
    "no setting": lambda about: about["settings"].pop("seed"),
    "no features": lambda about: about.update(n_features_in=None),
    "many features": lambda about: about.update(n_features_in=2**70),
    "no type": lambda about: about.update(label_dtype="nothing"),
    "two classes": lambda about: about.update(classes=["ash", "oak"]),
    "classes of no type": lambda about: about.update(classes_dtype="<i8"),
    "two names": lambda about: about.update(label_names=["a", "b"]),
    "names of nothing": lambda about: about.update(label_names=7),
    "notes of nothing": lambda about: about.update(notes=7),
    "a vectorizer of nothing": lambda about: about.update(text=7),
    "a vectorizer without weights": lambda about: about.update(text={"dtype": "float64"}),
}


@pytest.mark.parametrize("kind", WRONG_ABOUT)
def test_a_wrong_description_is_refused_in_one_sentence(kind, tmp_path):
    path = tmp_path / "model.sf"
    FITTED["classes"]().save(path)
    spoil_about(path, WRONG_ABOUT[kind])
    with pytest.raises(ValueError, match="whole sketchforest model"):
        load_forest(path)


WRONG_ENTRIES = {
    "nothing": None,
    "no type": {"shape": [1], "data_offsets": [0, 8]},
    "unknown type": {"dtype": [], "shape": [1], "data_offsets": [0, 8]},
    "negative": {"dtype": "U8", "shape": [-1], "data_offsets": [0, 8]},
    "huge": {"dtype": "U8", "shape": [0, 2**70], "data_offsets": [0, 0]},
    "no end": {"dtype": "U8", "shape": [8], "data_offsets": [8]},
    "behind the end": {"dtype": "U8", "shape": [8], "data_offsets": [2**40, 2**40 + 8]},
    "backwards": {"dtype": "U8", "shape": [0], "data_offsets": [8, 0]},
    "crooked": {"dtype": "F64", "shape": [1], "data_offsets": [1, 9]},
    "too short": {"dtype": "U8", "shape": [9], "data_offsets": [0, 8]},
}


@pytest.mark.parametrize("kind", WRONG_ENTRIES)
@pytest.mark.parametrize("is_mapped", [True, False])
def test_an_array_that_is_not_there_is_refused(kind, is_mapped, tmp_path):
    path = tmp_path / "arrays"
    write_container(path, {"numbers": np.arange(8.0)}, {})
    header, text = read_header(path)
    header["numbers"] = WRONG_ENTRIES[kind]
    with pytest.raises(DamagedError):
        map_arrays(path, header, len(text), is_mapped)


@pytest.mark.parametrize("error", [TypeError, AttributeError, KeyError])
def test_a_mistake_of_ours_is_not_called_damage(error, tmp_path):
    class Mistaken(DecisionTreeClassifier):
        def __setattr__(self, name, value):
            if name == "_forest":
                raise error("ours")
            super().__setattr__(name, value)

    FITTED["tree"]().save(tmp_path / "model.sf")
    with pytest.raises(error, match="ours"):
        load_estimator({"DecisionTreeClassifier": Mistaken}, tmp_path / "model.sf", mmap=True)


# ---- the container


def test_the_file_is_a_safetensors_file_with_every_array_aligned(model, tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    path = tmp_path / "model.sf"
    model.save(path)
    theirs = safetensors.load_file(path)
    header, text = read_header(path)
    assert (8 + len(text)) % ALIGNMENT == 0
    assert set(theirs) == set(header) - {METADATA}
    for name, array in vars(model._forest).items():
        if array is not None:
            assert np.array_equal(theirs[f"forest.{name}"], array)
            begin = header[f"forest.{name}"]["data_offsets"][0]
            assert begin % array.itemsize == 0


def test_no_change_of_the_header_goes_unnoticed(tmp_path):
    path = tmp_path / "model.sf"
    FITTED["classes"]().save(path)
    content = path.read_bytes()
    n_header = int.from_bytes(content[:8], "little")
    for at in RNG.integers(0, 8 + n_header, 300):
        spoilt = bytearray(content)
        spoilt[at] ^= 1 << RNG.integers(0, 7)
        path.write_bytes(spoilt)
        with pytest.raises(ValueError, match=r"whole sketchforest model|newer version"):
            load_forest(path)


def test_a_file_says_who_wrote_it(tmp_path):
    FITTED["classes"]().save(tmp_path / "model.sf")
    header, _ = read_header(tmp_path / "model.sf")
    about = json.loads(header[METADATA]["sketchforest"])
    assert about["library_version"] == sketchforest.__version__
    assert about["estimator"] == "RandomForestClassifier"
    assert about["params"]["n_estimators"] == 5
    assert about["classes"] == ["ash", "oak", "yew"]


# ---- what a file leaves out, and what it takes along


def test_a_compact_file_is_smaller_and_predicts_the_same(model, tmp_path):
    model.save(tmp_path / "whole.sf")
    model.save(tmp_path / "compact.sf", compact=True)
    n_nodes = len(model._forest.nodes)
    sizes = [(tmp_path / name).stat().st_size for name in ("whole.sf", "compact.sf")]
    assert sizes[0] - sizes[1] >= 4 * n_nodes
    twin = load_forest(tmp_path / "compact.sf")
    assert np.array_equal(dense(model.predict(X)), dense(twin.predict(X)))
    assert np.array_equal(dense(model.leaf_weights(X)), dense(twin.leaf_weights(X)))
    with pytest.raises(ValueError, match="compact=True"):
        _ = twin.feature_importances_


def test_a_compact_forest_grows_on(tmp_path):
    forest = RandomForestClassifier(3, random_state=0, warm_start=True).fit(X, LABELS)
    forest.save(tmp_path / "model.sf", compact=True)
    grown_on = load_forest(tmp_path / "model.sf").set_params(n_estimators=5).fit(X, LABELS)
    at_once = RandomForestClassifier(5, random_state=0).fit(X, LABELS)
    assert np.array_equal(grown_on.predict_proba(X), at_once.predict_proba(X))


def test_names_go_along_and_stay_when_saved_again(tmp_path):
    labels, features = [f"tag {i}" for i in range(40)], list("äbcdef")
    FITTED["sparse labels"]().save(
        tmp_path / "first.sf", label_names=labels, feature_names=features
    )
    load_forest(tmp_path / "first.sf").save(tmp_path / "second.sf")
    twin = load_forest(tmp_path / "second.sf")
    assert twin.label_names_.tolist() == labels
    assert twin.feature_names_.tolist() == features
    assert not hasattr(load_forest(tmp_path / "second.sf").set_params(), "vectorizer_")


def test_other_data_or_labels_take_the_names_away(tmp_path):
    names = [f"tag {i}" for i in range(40)]
    forest = FITTED["sparse labels"]()
    forest.save(tmp_path / "model.sf", label_names=names, notes={"from": "somewhere"})
    twin = load_forest(tmp_path / "model.sf")
    assert twin.notes_ == {"from": "somewhere"}
    other = twin.relabel(LABELS[:, :7])
    assert not hasattr(other, "label_names_")
    other.save(tmp_path / "other.sf")
    assert load_forest(tmp_path / "other.sf").n_outputs_ == 7
    twin.fit(X, LABELS[:, :5])
    assert not hasattr(twin, "label_names_")
    assert not hasattr(twin, "notes_")


def test_a_data_frame_of_labels_gives_their_names(tmp_path):
    pandas = pytest.importorskip("pandas")
    names = [f"tag {i}" for i in range(40)]
    forest = RandomForestClassifier(2).fit(X, pandas.DataFrame(LABELS, columns=names))
    assert forest.label_names_.tolist() == names
    forest.save(tmp_path / "model.sf")
    assert load_forest(tmp_path / "model.sf").label_names_.tolist() == names
    assert not hasattr(forest.fit(X, LABELS), "label_names_")


@pytest.mark.parametrize("name", ["0" * 64, '"checksum": "' + "0" * 64, '\\"checksum": "', ""])
def test_a_label_may_have_any_name(name, tmp_path):
    """The checksum's place is not mistaken for it."""
    names = [name, *(f"tag {i}" for i in range(39))]
    FITTED["sparse labels"]().save(tmp_path / "model.sf", label_names=names)
    assert load_forest(tmp_path / "model.sf").label_names_.tolist() == names


def test_too_few_names_are_refused(tmp_path):
    with pytest.raises(ValueError, match="label_names must have one name for each of 40; got 2"):
        FITTED["sparse labels"]().save(tmp_path / "model.sf", label_names=["a", "b"])
    assert not list(tmp_path.iterdir())


def test_a_vectorizer_goes_along_without_pickle(tmp_path):
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [
        f"the {name} and the {'red' if i % 2 else 'green'} ones" for i, name in enumerate(NAMES)
    ]
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, stop_words=["the"])
    words = vectorizer.fit_transform(texts)
    forest = RandomForestClassifier(5, random_state=0).fit(words, LABELS)
    forest.save(tmp_path / "model.sf", vectorizer=vectorizer)
    twin = load_forest(tmp_path / "model.sf")
    new = ["a red oak", "no word of them", ""]
    assert (twin.vectorizer_.transform(new) != vectorizer.transform(new)).nnz == 0
    assert twin.feature_names_.tolist() == vectorizer.get_feature_names_out().tolist()
    twin.save(tmp_path / "again.sf")
    again = load_forest(tmp_path / "again.sf")
    assert (again.vectorizer_.transform(new) != vectorizer.transform(new)).nnz == 0


def test_a_vectorizer_with_functions_is_refused(tmp_path):
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(tokenizer=str.split, token_pattern=None)
    words = vectorizer.fit_transform(NAMES)
    forest = RandomForestClassifier(2).fit(words, LABELS)
    with pytest.raises(ValueError, match="tokenizer must be a name, a number or None"):
        forest.save(tmp_path / "model.sf", vectorizer=vectorizer)


# ---- other ways to keep a model


def test_pickle_and_joblib_keep_the_model_too(model, tmp_path):
    expected = dense(model.predict(X))
    assert np.array_equal(dense(pickle.loads(pickle.dumps(model)).predict(X)), expected)
    joblib.dump(model, tmp_path / "model.joblib")
    mapped = joblib.load(tmp_path / "model.joblib", mmap_mode="r")
    assert isinstance(mapped._forest.members, np.memmap)
    assert np.array_equal(dense(mapped.predict(X)), expected)


def test_skops_keeps_the_model_too(model, tmp_path):
    skops = pytest.importorskip("skops.io")
    skops.dump(model, tmp_path / "model.skops")
    unknown = skops.get_untrusted_types(file=tmp_path / "model.skops")
    assert all(name.startswith(("sketchforest.", "numpy.", "scipy.")) for name in unknown)
    twin = skops.load(tmp_path / "model.skops", trusted=unknown)
    assert np.array_equal(dense(twin.predict(X)), dense(model.predict(X)))


# ---- damage

EXTREMES = (-(2**31), -2, -1, 0, 1, 2, 7, 2**31 - 1)


def spoil(array, rng):
    """One number is replaced: by an extreme one, by one just outside, or by another of its kind."""
    at = tuple(rng.integers(0, array.shape))
    kind = array[..., at[-1]] if array.ndim == 2 else array
    with np.errstate(all="ignore"):
        outside = (kind.max() + 1, kind.min() - 1, array[at] + 1, array[at] - 1)
        choices = ((*EXTREMES, np.nan, np.inf), outside, kind)
        array[at] = np.array(rng.choice(choices[rng.integers(3)])).astype(array.dtype)


def test_the_native_check_is_the_one_in_numpy(model):
    rng = np.random.default_rng(1)
    verdicts = []
    n_features = model.n_features_in_
    assert is_forest(model._forest, model._labels, n_features)
    assert _core.find_damage(model._forest, model._labels, n_features) is None
    for _ in range(300):
        forest = {n: None if a is None else a.copy() for n, a in vars(model._forest).items()}
        labels = model._labels
        parts = [a for a in forest.values() if a is not None and a.size]
        if isinstance(labels, SparseRows):
            labels = dataclasses.replace(
                labels, row_start=labels.row_start.copy(), columns=labels.columns.copy()
            )
            parts += [labels.row_start, labels.columns]
        else:
            labels = labels.copy()
            parts.append(labels)
        spoil(parts[rng.integers(len(parts))], rng)
        spoilt = type(model._forest)(**forest)
        expected = is_forest(spoilt, labels, n_features)
        assert (_core.find_damage(spoilt, labels, n_features) is None) == expected
        verdicts.append(expected)
    assert 0 < sum(verdicts) < len(verdicts)


def test_the_last_number_inside_is_taken_and_the_first_outside_refused():
    model = FITTED["tree"]()
    n_nodes, n_features = len(model._forest.nodes), model.n_features_in_
    last = n_nodes - 1  # whose children are leaves
    inside_and_outside = {
        ("nodes", (last, 0)): (n_features - 1, n_features),
        ("nodes", (last, 2)): (-1 - n_nodes, -2 - n_nodes),
        ("nodes", (last, 3)): (-1 - n_nodes, -2 - n_nodes),
        ("nodes", (0, 2)): (last, last + 1),
        ("nodes", (0, 3)): (1, 0),
        ("members", 0): (len(X) - 1, len(X)),
        ("members", 1): (0, -1),
    }
    for (name, at), (inside, outside) in inside_and_outside.items():
        for number, is_whole in ((inside, True), (outside, False)):
            array = getattr(model._forest, name).copy()
            array[at] = number
            forest = dataclasses.replace(model._forest, **{name: array})
            assert (_core.find_damage(forest, model._labels, n_features) is None) == is_whole
            assert is_forest(forest, model._labels, n_features) == is_whole
    labels = model._labels
    for number, is_whole in ((2, True), (3, False), (-1, False)):
        columns = labels.columns.copy()
        columns[5] = number
        spoilt = dataclasses.replace(labels, columns=columns)
        assert (_core.find_damage(model._forest, spoilt, n_features) is None) == is_whole


@pytest.mark.parametrize("seed", range(4))
def test_damaged_bytes_are_refused_or_harmless(model, seed, tmp_path):
    """Whatever is loaded can be used, with all of its methods: no error but ours, no crash."""
    rng = np.random.default_rng(seed)
    path = tmp_path / "model.sf"
    model.save(path)
    content = np.fromfile(path, np.uint8)
    n_refused = 0
    for _ in range(60):
        spoilt = content.copy()
        kind = rng.integers(4)
        first, second = (rng.integers(0, len(content) - 16, 2) // 4) * 4
        if kind == 0:
            spoilt[first] ^= 1 << rng.integers(8)
        elif kind == 1:  # two pieces change places
            spoilt[first : first + 16] = content[second : second + 16]
            spoilt[second : second + 16] = content[first : first + 16]
        elif kind == 2:
            spoilt[first : first + 4] = rng.integers(0, 256, 4)
        else:
            spoilt = spoilt[: rng.integers(len(content))]
        spoilt.tofile(path)
        try:
            twin = load_forest(path, mmap=bool(rng.integers(2)))
        except ValueError:
            n_refused += 1
            continue
        with np.errstate(all="ignore"):
            twin.predict(X)
            twin.leaf_weights(X)
            _ = twin.feature_importances_
            if hasattr(twin, "predict_topk"):
                twin.predict_topk(X, k=1)
    assert n_refused > 0
