"""A model that is saved and loaded is the same model."""

import json
import os
import pickle

import joblib
import numpy as np
import pytest
from fitted_models import FITTED, LABELS, NAMES, X, dense
from mapped_memory import is_mapped
from reference import assert_same_arrays

import sketchforest
from sketchforest import (
    RandomForestClassifier,
    load_forest,
)
from sketchforest._saving.container import (
    ALIGNMENT,
    open_regular,
    read_header,
)
from sketchforest.projection import GaussianProjection


@pytest.fixture(params=FITTED)
def model(request):
    return FITTED[request.param]()


@pytest.mark.parametrize("mmap", [True, False])
def test_a_loaded_model_is_the_saved_one_bit_by_bit(model, mmap, tmp_path):
    model.save(tmp_path / "model.sf")
    twin = load_forest(tmp_path / "model.sf", mmap=mmap)
    assert type(twin) is type(model)
    for name, array in vars(model.fitted_.forest).items():
        theirs = getattr(twin.fitted_.forest, name)
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
    grown_on = load_forest(tmp_path / "model.sf").set_params(n_estimators=6)
    with pytest.raises(ValueError, match="got a different X or sample_weight"):
        grown_on.fit(X[::-1], LABELS)
    grown_on.fit(X, LABELS)
    at_once = RandomForestClassifier(6, n_components=4, random_state=0).fit(X, LABELS)
    assert np.array_equal(grown_on.fitted_.forest.nodes, at_once.fitted_.forest.nodes)


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
    path.write_bytes(content.replace(b'format_version\\": 3', b'format_version\\": 9'))
    with pytest.raises(ValueError, match="newer version"):
        load_forest(path)


# ---- the container


def test_the_file_is_a_safetensors_file_with_every_array_aligned(model, tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    path = tmp_path / "model.sf"
    model.save(path)
    theirs = safetensors.load_file(path)
    with open_regular(path) as file:
        header = read_header(file)
    assert (8 + len(header.text)) % ALIGNMENT == 0
    assert set(theirs) == set(header.entries)
    for name, array in vars(model.fitted_.forest).items():
        if array is not None:
            assert np.array_equal(theirs[f"forest.{name}"], array)
            begin = header.entries[f"forest.{name}"]["data_offsets"][0]
            assert begin % array.itemsize == 0


def test_a_file_says_who_wrote_it(tmp_path):
    FITTED["classes"]().save(tmp_path / "model.sf")
    with open_regular(tmp_path / "model.sf") as file:
        header = read_header(file)
    about = json.loads(header.metadata["sketchforest"])
    assert about["library_version"] == sketchforest.__version__
    assert about["estimator"] == "RandomForestClassifier"
    assert about["params"]["n_estimators"] == 5
    assert about["classes"] == ["ash", "oak", "yew"]


# ---- what a file leaves out, and what it takes along


def test_a_compact_file_is_smaller_and_predicts_the_same(model, tmp_path):
    model.save(tmp_path / "whole.sf")
    model.save(tmp_path / "compact.sf", compact=True)
    n_nodes = len(model.fitted_.forest.nodes)
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
    assert is_mapped(mapped.fitted_.forest.members)
    assert np.array_equal(dense(mapped.predict(X)), expected)


def test_skops_keeps_the_model_too(model, tmp_path):
    skops = pytest.importorskip("skops.io")
    skops.dump(model, tmp_path / "model.skops")
    unknown = skops.get_untrusted_types(file=tmp_path / "model.skops")
    assert all(name.startswith(("sketchforest.", "numpy.", "scipy.")) for name in unknown)
    twin = skops.load(tmp_path / "model.skops", trusted=unknown)
    assert np.array_equal(dense(twin.predict(X)), dense(model.predict(X)))


def test_a_model_in_a_message_is_read_wherever_its_arrays_lie(model):
    buffers = []
    forest = model.fitted_.forest
    message = pickle.dumps(forest, protocol=5, buffer_callback=buffers.append)
    shifted = [memoryview(b"\0" + bytes(buffer.raw()))[1:] for buffer in buffers]
    assert_same_arrays(pickle.loads(message, buffers=shifted), forest)
