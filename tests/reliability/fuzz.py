"""A fuzz target for the model file and for each reader, with a small corpus beside it.

    pip install atheris
    python tests/reliability/fuzz.py model -max_total_time=600

A target takes any bytes: it returns, or raises what is no refusal. What follows its name are
libFuzzer's options; new inputs are kept in a folder of their own. With --corpus, the corpus is
written anew.
"""

import inspect
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "saving"))

from rewriting import joined, parts_of

from sketchforest import Tagger, load_forest
from sketchforest._workflows.data_file import DataFile
from sketchforest._workflows.training import read_training_file
from sketchforest.datasets import read_arff, read_svmlight, read_xc
from sketchforest.datasets.columns import Columns
from sketchforest.datasets.npz import load_npz

CORPUS = Path(__file__).parent / "corpus"
GOLDEN = Path(__file__).parents[1] / "saving" / "golden"
FOLDER = tempfile.TemporaryDirectory()
TAGS, TEXT = Columns(tags="tags"), Columns(text=("text",), tags="tags")


def _load(path: Path) -> None:
    model = load_forest(path, mmap=False)
    model = model.estimator_ if isinstance(model, Tagger) else model
    if model.n_features_in_ > 10_000 or model.fitted_.labels.shape[1] > 10_000:
        return  # a claim, of which rows and results would be made
    rows = ["a red fox"] if hasattr(model, "vectorizer_") else np.ones((1, model.n_features_in_))
    model.predict(rows)
    repr(model.explain(rows))
    repr(model.describe())


def _target(name: str, reader: Callable[[Path], object], content: bytes) -> None:
    path = Path(FOLDER.name) / name
    path.write_bytes(content)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            reader(path)
    except ValueError as error:
        if name not in str(error):
            raise


def _table(format: str, columns: Columns) -> Callable[[Path], object]:
    return lambda path: read_training_file(DataFile(path, format, columns))


def _signed_model(content: bytes) -> None:
    """With the checksums that it should have, where it has a header: behind them more is found."""
    with suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):
        content = joined(*parts_of(content))
    _target("model.sf", _load, content)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "model": _signed_model,
    "arff": partial(_target, "data.arff", partial(read_arff, labels=2)),
    "xc": partial(_target, "data.txt", read_xc),
    "svmlight": partial(_target, "data.svm", read_svmlight),
    "npz": partial(_target, "data.npz", load_npz),
    "csv": partial(_target, "data.csv", _table("csv", TAGS)),
    "jsonl": partial(_target, "data.jsonl", _table("jsonl", TEXT)),
}


def write_corpus() -> None:
    from damaged_data import files

    made = {name: content for name, (content, _) in files().items()}
    names = {"arff": "meka.arff", "xc": "xc.txt", "svmlight": "rows.svm", "npz": "archive.npz"}
    names |= {"csv": "table.csv", "jsonl": "lines.jsonl"}
    for target, name in names.items():
        (CORPUS / target).mkdir(parents=True, exist_ok=True)
        (CORPUS / target / name).write_bytes(made[name])
    (CORPUS / "model").mkdir(parents=True, exist_ok=True)
    for name in ("texts-3.sf", "outputs-3.sf", "oblique-3.sf", "texts-1.sf"):
        (CORPUS / "model" / name).write_bytes((GOLDEN / name).read_bytes())


def _own_functions() -> Iterator[Callable[..., object]]:
    """Of the library: to instrument all that is loaded takes minutes."""
    modules = [m for name, m in sys.modules.items() if name.startswith("sketchforest.")]
    for module in modules:
        for value in list(vars(module).values()):
            for found in (value, *(vars(value).values() if inspect.isclass(value) else ())):
                function = inspect.unwrap(found) if callable(found) else None
                if inspect.isfunction(function) and function.__module__ == module.__name__:
                    yield function


def main() -> None:
    if sys.argv[1:] == ["--corpus"]:
        write_corpus()
        return
    import atheris

    for function in _own_functions():
        atheris.instrument_func(function)
    target = TARGETS[sys.argv[1]]
    found = Path(FOLDER.name) / "found"
    found.mkdir()
    folders = [str(found), str(CORPUS / sys.argv[1])]
    atheris.Setup([sys.argv[0], *sys.argv[2:], *folders], target)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
