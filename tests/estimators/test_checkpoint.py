"""A fit that is killed at any moment goes on where it was, and ends with the same bits."""

import numpy as np
import pytest
import reference
from checkpoint_data import FORESTS
from sklearn.base import clone

from sketchforest import RandomForestRegressor
from sketchforest._saving.container import map_arrays, open_regular, read_header, write_container
from sketchforest._trees import grow as growing


class KilledError(Exception):
    pass


@pytest.fixture
def grown(monkeypatch):
    """The numbers of the trees that are grown, in order; no more than `grown.limit` of them."""

    class Grown(list):
        limit = None

    numbers, grow_one = Grown(), growing.grow_one

    def counted(*arguments):
        if len(numbers) == numbers.limit:
            raise KilledError
        numbers.append(arguments[-1])
        return grow_one(*arguments)

    monkeypatch.setattr(growing, "grow_one", counted)
    monkeypatch.setattr("sketchforest._selection.comparison.grow_one", counted)
    return numbers


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
@pytest.mark.parametrize("name", FORESTS)
def test_a_fit_that_was_broken_off_goes_on_where_it_was(name, XY, grown, tmp_path):
    folder = tmp_path / "a" / "checkpoint"
    plain = clone(FORESTS[name]).fit(*XY)
    n_grown = len(grown)
    forest = clone(FORESTS[name]).set_params(n_jobs=1)
    for limit in (0, 5):  # before the first tree, and after the fifth
        grown.clear()
        grown.limit = limit
        with pytest.raises(KilledError):
            forest.fit(*XY, checkpoint_dir=folder)
        assert not hasattr(forest, "n_features_in_")
        assert len(list(folder.glob("*.tree"))) == limit
    grown.limit = None
    grown.clear()
    forest.set_params(n_jobs=2).fit(*XY, checkpoint_dir=folder)
    assert len(grown) == n_grown - 5
    assert not folder.exists()
    reference.assert_same_forest(forest, plain)
    np.testing.assert_array_equal(forest.predict(XY[0]), plain.predict(XY[0]))


def broken_off(forest, XY, folder, grown, after=5):
    grown.limit = after
    with pytest.raises(KilledError):
        clone(forest).set_params(n_jobs=1).fit(*XY, checkpoint_dir=folder)
    grown.clear()
    grown.limit = None


def test_more_trees_may_be_asked_for(XY, grown, tmp_path):
    forest = FORESTS["random forest"]
    broken_off(forest, XY, tmp_path, grown)
    more = clone(forest).set_params(n_estimators=20)
    ours, plain = clone(more).fit(*XY, checkpoint_dir=tmp_path), clone(more).fit(*XY)
    assert len(grown) == 15 + 20
    reference.assert_same_forest(ours, plain)


def test_a_warm_start_goes_on_too(XY, grown, tmp_path):
    forest = clone(FORESTS["oblique"]).set_params(warm_start=True, n_estimators=4, n_jobs=1)
    forest.fit(*XY).set_params(n_estimators=12)
    grown.clear()
    grown.limit = 5
    with pytest.raises(KilledError):
        forest.fit(*XY, checkpoint_dir=tmp_path)
    grown.clear()
    grown.limit = None
    assert len(forest.fit(*XY, checkpoint_dir=tmp_path)) == 12
    assert grown == [9, 10, 11]
    reference.assert_same_forest(forest, clone(FORESTS["oblique"]).fit(*XY))


def test_without_a_random_state_the_seed_is_kept(XY, grown, tmp_path):
    forest = clone(FORESTS["random forest"]).set_params(random_state=None)
    broken_off(forest, XY, tmp_path, grown)
    seed = clone(forest).fit(*XY, checkpoint_dir=tmp_path).fitted_.settings.seed
    assert sorted(grown) == list(range(5, 12))
    other = clone(forest).fit(*XY, checkpoint_dir=tmp_path).fitted_.settings.seed
    assert seed != other


def test_a_damaged_tree_is_grown_again(XY, grown, tmp_path):
    forest = FORESTS["oblique"]
    broken_off(forest, XY, tmp_path, grown)
    first, second, third, *_ = sorted(tmp_path.glob("*.tree"))
    first.write_bytes(first.read_bytes()[:-1])
    changed = bytearray(second.read_bytes())
    changed[-1] ^= 1
    second.write_bytes(changed)
    third.write_bytes(b"")
    ours = clone(forest).set_params(n_jobs=1).fit(*XY, checkpoint_dir=tmp_path)
    assert grown == [0, 1, 2, *range(5, 12)]
    reference.assert_same_forest(ours, clone(forest).fit(*XY))


def rewritten_tree(path, change):
    """The file of a tree after a change of its arrays and of what is said of them, with the right
    checksums."""
    with open_regular(path) as file:
        header = read_header(file)
        arrays = dict(map_arrays(file, header, is_mapped=False).arrays)
    metadata = {"depth": header.metadata["depth"]}
    change(arrays, metadata)
    write_container(path, arrays, metadata)


def with_(name, at, value):
    """One number of an array is another."""

    def change(arrays, metadata):
        arrays[name] = arrays[name].copy()
        arrays[name][at] = value

    return change


WRONG_TREES = {
    "a missing array": lambda arrays, metadata: arrays.pop("members"),
    "another array": lambda arrays, metadata: arrays.update(colour=np.zeros(3)),
    "another type": lambda arrays, metadata: arrays.update(gains=arrays["gains"].astype(float)),
    "another shape": lambda arrays, metadata: arrays.update(nodes=arrays["nodes"].reshape(-1)),
    "empty arrays": lambda arrays, metadata: arrays.update(
        member_start=arrays["member_start"][:0], members=arrays["members"][:0]
    ),
    "too few gains": lambda arrays, metadata: arrays.update(gains=arrays["gains"][:-1]),
    "no depth": lambda arrays, metadata: metadata.clear(),
    "a depth that is no number": lambda arrays, metadata: metadata.update(depth="deep"),
    "a huge depth": lambda arrays, metadata: metadata.update(depth="9" * 5000),
    "another depth": lambda arrays, metadata: metadata.update(depth="1000000"),
    "more that is said": lambda arrays, metadata: metadata.update(colour="red"),
    "a feature": with_("nodes", (0, 0), 12),
    "a child": with_("nodes", (0, 2), 10**6),
    "a cycle": with_("nodes", (1, 2), 0),
    "a row": with_("members", 0, 150),
    "a row below 0": with_("members", 0, -1),
    "a leaf": with_("member_start", 1, 10**6),
    "a weight": with_("weights", 0, 0),
    "a threshold": with_("nodes", (0, 1), np.float32(np.nan).view(np.int32)),
    "a gain": with_("gains", 0, np.nan),
}


def refused_tree(forest, XY, path):
    with pytest.raises(ValueError, match="checkpoint_dir must contain trees of this fit") as error:
        clone(forest).set_params(n_jobs=1).fit(*XY, checkpoint_dir=path.parent)
    assert f"'{path}' is not one: " in str(error.value)
    assert str(error.value).endswith("or the folder to start over.")


@pytest.mark.parametrize("kind", WRONG_TREES)
def test_a_tree_that_somebody_else_wrote_is_refused_with_its_name(kind, XY, grown, tmp_path):
    forest = FORESTS["random forest"]
    broken_off(forest, XY, tmp_path, grown)
    path = sorted(tmp_path.glob("*.tree"))[2]
    rewritten_tree(path, WRONG_TREES[kind])
    refused_tree(forest, XY, path)
    path.unlink()
    ours = clone(forest).fit(*XY, checkpoint_dir=tmp_path)
    assert 2 in grown
    reference.assert_same_forest(ours, clone(forest).fit(*XY))


WRONG_DIRECTIONS = {
    "a missing array": lambda arrays, metadata: arrays.pop("directions.columns"),
    "another type": lambda arrays, metadata: arrays.update(
        {"directions.start": arrays["directions.start"].astype(np.int64)}
    ),
    "one start": lambda arrays, metadata: arrays.update(
        {"directions.start": arrays["directions.start"][:1]}
    ),
    "a column": with_("directions.columns", 0, 12),
    "a start": with_("directions.start", 1, 10**6),
    "an endless weight": with_("directions.weights", 0, 0x7F80),
}


@pytest.mark.parametrize("kind", WRONG_DIRECTIONS)
def test_directions_that_somebody_else_wrote_are_refused(kind, XY, grown, tmp_path):
    forest = FORESTS["oblique"]
    broken_off(forest, XY, tmp_path, grown)
    path = next(p for p in sorted(tmp_path.glob("*.tree")) if b"directions" in p.read_bytes())
    rewritten_tree(path, WRONG_DIRECTIONS[kind])
    refused_tree(forest, XY, path)


def test_an_oblique_tree_is_refused_where_no_tree_is(XY, grown, tmp_path):
    def add(arrays, metadata):
        start = np.zeros(len(arrays["nodes"]) + 1, np.uint32)
        arrays["directions.start"] = start
        arrays["directions.columns"] = np.zeros(0, np.int32)
        arrays["directions.weights"] = np.zeros(0, np.uint16)

    broken_off(FORESTS["random forest"], XY, tmp_path, grown)
    path = sorted(tmp_path.glob("*.tree"))[2]
    rewritten_tree(path, add)
    refused_tree(FORESTS["random forest"], XY, path)


WRONG_INDICES = [
    *("", "{", "[]", "7", "{}", '{"random_state": "seed"}', '{"random_state": 7}', "[" * 100_000),
    *('{"random_state": "' + "9" * 50 + '"}', '{"a": {}, "random_state": "0"}', "\u00e9"),
]


@pytest.mark.parametrize("text", WRONG_INDICES, ids=lambda text: text[:30])
@pytest.mark.parametrize("seed", [0, None])
def test_an_index_that_cannot_be_read_is_refused_with_its_name(text, seed, XY, grown, tmp_path):
    forest = clone(FORESTS["random forest"]).set_params(random_state=seed)
    broken_off(forest, XY, tmp_path, grown)
    index = tmp_path / "checkpoint.json"
    index.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="checkpoint_dir must contain a valid index") as error:
        clone(forest).fit(*XY, checkpoint_dir=tmp_path)
    assert f"'{index}' is corrupt. Remove the folder" in str(error.value)
    assert not grown


OTHERS = {
    "X or sample_weight": lambda forest, X, Y: (forest, X + 1, Y),
    "Y": lambda forest, X, Y: (forest, X, 1 - Y),
    "set of parameters": lambda forest, X, Y: (forest.set_params(max_depth=3), X, Y),
    "random_state": lambda forest, X, Y: (forest.set_params(random_state=1), X, Y),
}


def test_a_checkpoint_of_another_criterion_is_refused(XY, grown, tmp_path):
    forest = RandomForestRegressor(12, random_state=0)
    broken_off(forest, XY, tmp_path, grown)
    with pytest.raises(ValueError, match="grown with another set of parameters"):
        clone(forest).set_params(criterion="poisson").fit(*XY, checkpoint_dir=tmp_path)


@pytest.mark.parametrize("what", OTHERS)
def test_a_checkpoint_of_other_things_is_refused(what, XY, grown, tmp_path):
    forest = FORESTS["random forest"]
    broken_off(forest, XY, tmp_path, grown)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    other, X, Y = OTHERS[what](clone(forest), *XY)
    with pytest.raises(ValueError, match=f"grown with another {what}. Remove it") as error:
        other.fit(X, Y, checkpoint_dir=tmp_path)
    assert str(error.value).count("another") == 2
    assert before == {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert not grown


def test_a_checkpoint_of_another_version_is_refused(XY, grown, tmp_path, monkeypatch):
    broken_off(FORESTS["random forest"], XY, tmp_path, grown)
    monkeypatch.setattr("sketchforest.__version__", "9.9")
    with pytest.raises(ValueError, match="another version of sketchforest"):
        clone(FORESTS["random forest"]).fit(*XY, checkpoint_dir=tmp_path)


def test_a_folder_of_other_files_is_refused_and_left_alone(XY, tmp_path):
    forest = clone(FORESTS["random forest"])
    (tmp_path / "thesis.tex").write_text("")
    for folder in (tmp_path, tmp_path / "thesis.tex"):
        with pytest.raises(ValueError, match="must be a checkpoint, or a new or empty folder"):
            forest.fit(*XY, checkpoint_dir=folder)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
