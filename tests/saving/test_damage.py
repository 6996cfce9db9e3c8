"""A file that is damaged is an error, in one sentence, and never a look outside of an array."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from fitted_models import FITTED, X
from reference_model import is_forest

from sketchforest import DecisionTreeClassifier, load_forest
from sketchforest._saving.container import (
    CorruptModelError,
    map_arrays,
    open_regular,
    read_header,
    write_container,
)
from sketchforest._saving.estimators import load_estimator
from sketchforest._saving.model_file import read_model, write_model
from sketchforest._trees.model import Forest, SparseRows
from sketchforest._trees.owned_arrays import OwnedArrays


@pytest.fixture(params=FITTED)
def model(request):
    return FITTED[request.param]()


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
            with pytest.raises(ValueError, match="not a valid sketchforest model"):
                load_forest(path)


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 8, b"not a model at all", b"\x02" + b"\0" * 7 + b"{}"]
)
def test_other_files_are_refused_in_one_sentence(content, tmp_path):
    path = tmp_path / "model.sf"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="not a valid sketchforest model"):
        load_forest(path)


def test_a_file_that_is_cut_off_anywhere_is_refused(tmp_path):
    path = tmp_path / "model.sf"
    FITTED["tree"]().save(path)
    content = path.read_bytes()
    for size in range(0, len(content), 97):
        path.write_bytes(content[:size])
        with pytest.raises(ValueError, match="not a valid sketchforest model"):
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
    with pytest.raises(ValueError, match="not a valid sketchforest model"):
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
    with open_regular(path) as file:
        header = read_header(file)
        header.entries["numbers"] = WRONG_ENTRIES[kind]
        with pytest.raises(CorruptModelError):
            map_arrays(file, header, is_mapped)


@pytest.mark.parametrize("error", [TypeError, AttributeError, KeyError])
def test_a_mistake_of_ours_is_not_called_damage(error, tmp_path):
    class Mistaken(DecisionTreeClassifier):
        def _publish(self, fitted):
            raise error("ours")

    FITTED["tree"]().save(tmp_path / "model.sf")
    with pytest.raises(error, match="ours"):
        load_estimator(tmp_path / "model.sf", lambda name: Mistaken, mmap=True)


def test_no_change_of_the_header_goes_unnoticed(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "model.sf"
    FITTED["classes"]().save(path)
    content = path.read_bytes()
    n_header = int.from_bytes(content[:8], "little")
    for at in rng.integers(0, 8 + n_header, 300):
        spoilt = bytearray(content)
        spoilt[at] ^= 1 << rng.integers(0, 7)
        path.write_bytes(spoilt)
        with pytest.raises(ValueError, match=r"valid sketchforest model|newer version"):
            load_forest(path)


EXTREMES = (-(2**31), -2, -1, 0, 1, 2, 7, 2**31 - 1)


def spoil(array, rng):
    """One number is replaced: by an extreme one, by one just outside, or by another of its kind."""
    at = tuple(rng.integers(0, array.shape))
    kind = array[..., at[-1]] if array.ndim == 2 else array
    with np.errstate(all="ignore"):
        outside = (kind.max() + 1, kind.min() - 1, array[at] + 1, array[at] - 1)
        choices = ((*EXTREMES, np.nan, np.inf), outside, kind)
        array[at] = np.array(rng.choice(choices[rng.integers(3)])).astype(array.dtype)


def arrays_of(held):
    """Copies by name, which can be spoilt."""
    given = held.fields() if isinstance(held, OwnedArrays) else {"dense": held}
    copied = {n: a.copy() if isinstance(a, np.ndarray) else a for n, a in given.items()}
    return SimpleNamespace(**copied)


def is_taken(forest, labels):
    try:
        Forest(**vars(forest))
        if not isinstance(labels, np.ndarray):
            SparseRows(**vars(labels))
    except ValueError:
        return False
    return isinstance(labels, SimpleNamespace) or bool(np.isfinite(labels).all())


def test_the_native_check_is_the_one_in_numpy(model):
    rng = np.random.default_rng(1)
    verdicts = []
    n_features = model.n_features_in_
    for is_spoilt in (False, *[True] * 300):
        forest, labels = arrays_of(model.fitted_.forest), arrays_of(model.fitted_.labels)
        parts = [a for a in vars(forest).values() if isinstance(a, np.ndarray) and a.size]
        parts += [a for n, a in vars(labels).items() if isinstance(a, np.ndarray) and n != "data"]
        labels = getattr(labels, "dense", labels)
        if is_spoilt:
            spoil(parts[rng.integers(len(parts))], rng)
        expected = is_forest(forest, labels, n_features)
        assert is_spoilt or expected
        assert is_taken(forest, labels) == expected
        verdicts.append(expected)
    assert 0 < sum(verdicts) < len(verdicts)


def test_the_last_number_inside_is_taken_and_the_first_outside_refused():
    model = FITTED["tree"]()
    whole, labels = model.fitted_.forest, arrays_of(model.fitted_.labels)
    n_nodes, n_features = len(whole.nodes), model.n_features_in_
    last = n_nodes - 1  # whose children are leaves
    inside_and_outside = {
        ("nodes", (last, 0)): (n_features - 1, n_features),
        ("members", 0): (len(X) - 1, len(X)),
        ("members", 1): (0, -1),
    }
    for (name, at), (inside, outside) in inside_and_outside.items():
        for number, is_whole in ((inside, True), (outside, False)):
            forest = arrays_of(whole)
            getattr(forest, name)[at] = number
            assert is_taken(forest, labels) == is_whole
            assert is_forest(forest, labels, n_features) == is_whole
    # A child that is another one leaves one node without a parent and gives two to another.
    for at in range(n_nodes):
        for side in (2, 3):
            for number in {*range(-2 - n_nodes, n_nodes + 2)} - {whole.nodes[at, side]}:
                forest = arrays_of(whole)
                forest.nodes[at, side] = number
                assert not is_taken(forest, labels)
    for number, is_whole in ((2, True), (3, False), (-1, False)):
        spoilt = arrays_of(model.fitted_.labels)
        spoilt.indices[5] = number
        assert is_taken(arrays_of(whole), spoilt) == is_whole


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
            if hasattr(twin, "predict_topk") and twin.fitted_.targets.column_classes is None:
                twin.predict_topk(X, k=1)
    assert n_refused > 0
