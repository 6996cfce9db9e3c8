"""A model that is saved and loaded is the same model; a file that is damaged is an error."""

import json

import numpy as np
import pytest
from scipy import sparse

import sketchforest
from sketchforest import (
    DecisionTreeClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    load_forest,
)
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

    monkeypatch.setattr(sketchforest.model_file, "save_file", fails)
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
