"""What goes wrong on the command line: one sentence, the right exit code, nothing half-written."""

import re
import shutil
import signal
import subprocess
import sys

import pytest

from sketchforest import cli
from sketchforest.__main__ import main as started
from sketchforest._workflows.data_file import DataFile
from sketchforest._workflows.training import train_file
from sketchforest.datasets import Columns, make_multilabel, write

COMMANDS = (
    "train",
    "predict",
    "evaluate",
    "explain",
    "info",
    "convert",
    "tune",
    "datasets",
    "demo",
)
DATA = make_multilabel(40, 6, 4, labels_per_row=2, features_per_row=3, random_state=0)
QUICK = ("--n-estimators", "3", "--n-jobs", "1")
GOOD = "x,y,text,tags\n" + "1,2,red fox,a;b\n3,4,red cat,b\n" * 10


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    (folder / "good.csv").write_text(GOOD)
    columns = Columns(tags="tags", ignored=("text",))
    file = DataFile(folder / "good.csv", columns=columns)
    train_file(file, folder / "model.sf", params={"n_estimators": 20})
    return folder


@pytest.fixture
def model(trained, tmp_path):
    for file in trained.iterdir():
        shutil.copy(file, tmp_path)
    return tmp_path / "model.sf"


def test_every_command_has_an_example_in_its_help(command):
    code, out, _ = command("--help")
    assert code == 0
    assert "Example:" in out
    assert all(name in out for name in COMMANDS)
    for name in COMMANDS:
        code, out, _ = command(name, "--help")
        assert code == 0
        assert "…" not in out  # nothing is cut at 80 columns
        assert f"sketchforest {name}" in out.partition("Example:")[2]


BROKEN_TABLES = {
    "no rows": ("x,tags\n", "there are no rows"),
    "nothing": ("", "it is empty"),
    "ragged": ("x,tags\n1,a\n1,a,b\n", r"line 3: the row has 3 cells, and the header 2"),
    "not a number": (
        "x,tags\n1,a\nred,b\n",
        r"line 3: column 'x': 'red' is not a number; name the col",
    ),
    "no such column": ("x,labels\n1,a\n", r"there is no column 'tags'; the columns are x, labels"),
    "two of a name": ("x,x,tags\n1,2,a\n", r"two columns 'x'"),
    "only tags": ("tags\na\n", "no columns are left for features"),
    "no tags at all": ("x,tags\n1,\n2,\n", "it has no labels"),
    "open quote": ('x,tags\n1,"a\n', "line 2: a quote opens in this row and is never closed"),
    "infinite": ("x,tags\n1,b\n\ninf,a\n", r"data.csv, line 4: column 'x': 'inf' is infinite or"),
    "too large": ('x,tags\n1,"b\nc"\n1e400,a\n', r"line 4: column 'x': '1e400' is infinite or too"),
}


@pytest.mark.parametrize("kind", BROKEN_TABLES)
def test_a_broken_table_gets_one_sentence(kind, command, tmp_path):
    text, reason = BROKEN_TABLES[kind]
    file, out = tmp_path / "data.csv", tmp_path / "model.sf"
    file.write_text(text)
    code, printed, err = command("train", file, "--out", out, "--tags-column", "tags", *QUICK)
    assert code == 1
    assert printed == ""
    assert err.startswith("Error: ")
    assert len(err.splitlines()) == 1
    assert re.search(reason, err)
    assert not out.exists()


BROKEN_FILES = {
    "data.csv": b"x,tags\n1,\xff\xfe\n",
    "data.tsv": b"x\ttags\n1\n",
    "data.csv.gz": b"\x1f\x8b\x08\x00broken",
    "data.arff": b"@relation x\n@attribute a numeric\n@data\n1,2,3\n",
    "data.svm": b"1,2 3:0.5\n1 x:7\n",
    "data.txt": b"2 3 4\n0 1:1\n",
    "data.npz": b"PK\x03\x04broken",
    "data.bin": b"what is this",
}


@pytest.mark.parametrize("name", BROKEN_FILES)
@pytest.mark.parametrize("what", ["train", "predict", "evaluate", "explain", "convert"])
def test_a_broken_file_gets_one_sentence_from_every_command(name, what, command, model, tmp_path):
    file = tmp_path / name
    file.write_bytes(BROKEN_FILES[name])
    tags = ("--tags-column", "tags")
    arguments = {
        "train": (file, "--out", tmp_path / "new.sf", *tags),
        "predict": (model, file),
        "evaluate": (model, file),
        "explain": (model, file),
        "convert": (file, tmp_path / "new.npz", *tags),
    }[what]
    code, _, err = command(what, *arguments)
    assert code == 1
    assert err.startswith("Error: ")
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "new.sf").exists()
    assert not (tmp_path / "new.npz").exists()


def test_a_broken_parquet_file_gets_one_sentence(command, tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "data.parquet").write_bytes(b"PAR1 is not enough")
    code, _, err = command(
        "train", tmp_path / "data.parquet", "--out", tmp_path / "m.sf", "--tags-column", "tags"
    )
    assert code == 1
    assert "it is not a Parquet file" in err


WRONG_CALLS = {
    "no arguments": ("train",),
    "no such option": ("info", "MODEL", "--nonsense"),
    "no such command": ("fit",),
    "not a number": ("predict", "MODEL", "FILE", "--top", "many"),
    "out of range": ("predict", "MODEL", "FILE", "--top", "0"),
    "two ways to test": ("train", "FILE", "--out", "m", "--test", "FILE", "--holdout", "0.5"),
    "two kinds of labels": (
        *("train", "FILE", "--out", "m", "--tags-column", "a", "--label-columns", "b"),
    ),
    "a budget for nothing": ("train", "FILE", "--out", "m", "--budget", "7"),
    "words of no text": ("train", "FILE", "--out", "m", "--ngrams", "2"),
}


@pytest.mark.parametrize("kind", WRONG_CALLS)
def test_wrong_usage_exits_with_2(kind, command):
    code, _, err = command(*WRONG_CALLS[kind])
    assert code == 2
    assert "Usage" in err


FAILURES = {
    "no file": (("predict", "MODEL", "none.csv"), r"none\.csv: No such file or directory\."),
    "no model": (("info", "none.sf"), r"none\.sf: No such file"),
    "not a model": (("info", "GOOD"), "good.csv' is not a valid sketchforest model"),
    "text for numbers": (("predict", "MODEL", "-", "--format", "text"), "was not trained on text"),
    "no labels named": (("train", "GOOD", "--out", "new.sf"), "a table needs --tags-column"),
    "no folder for predictions": (
        ("predict", "MODEL", "GOOD", "--out", "no/such/labels.csv"),
        "Error: no/such: No such file or directory",
    ),
    "a folder for predictions": (
        ("predict", "MODEL", "GOOD", "--out", "."),
        r"Error: \.: Is a directory",
    ),
    "columns of what is no table": (
        ("train", "MARKED", "--out", "n", "--tags-column", "tags"),
        "only tables have columns; the format is svmlight",
    ),
    "a table to tune without tags": (("tune", "GOOD"), "a table needs --tags-column"),
    "no words": (
        ("train", "GOOD", "--out", "n", "--tags-column", "tags", "--text-column", "x"),
        "texts must have words",
    ),
    "a word for the model": (
        ("predict", "MODEL", "WORD"),
        "line 2: .* the model was trained on num",
    ),
    "a word for a label": (
        ("train", "GOOD", "--out", "n", "--label-columns", "text", "--ignore-columns", "tags"),
        r"line 2: column 'text': 'red fox' is not a number; label columns hold numbers",
    ),
    "missing column": (("predict", "MODEL", "OTHER"), "there is no column 'x'"),
    "unknown labels": (("evaluate", "MODEL", "UNSEEN"), "it has none of the model's labels"),
}
_TRAIN = ("train", "GOOD", "--out", "n", "--tags-column", "tags", "--ignore-columns", "text")
WRONG_VALUES = {
    "row too far": (("explain", "MODEL", "GOOD", "--row", "20"), "--row: must be from 0 to 19"),
    "unknown format": (("predict", "MODEL", "GOOD", "--format", "xls"), "--format: must be one of"),
    "unknown output": (("predict", "MODEL", "GOOD", "--output", "xls"), "--output: must be one of"),
    "estimator": ((*_TRAIN, "--estimator", "svm"), "--forest: must be one of sketch"),
    "parameter": ((*_TRAIN, "--max-depth", "deep"), "--max-depth: must be an int"),
    "no parameter of a tree": (
        (*_TRAIN, "--forest", "decision-tree", "--n-estimators", "7"),
        "--n-estimators: is not a parameter of decision-tree",
    ),
    "parameter of parameters": (
        (*_TRAIN, "--forest", "extra-trees", "--n-estimators", "auto"),
        "--n-estimators: must be an int if --bootstrap False and --max-samples None",
    ),
    "a column of tags and of text": (
        ("train", "GOOD", "--out", "n", "--tags-column", "tags", "--text-column", "text,tags"),
        "--text-column: must not include a column of tags, the target; got 'tags'",
    ),
    "a column of labels and of numbers": (
        ("tune", "GOOD", "--label-columns", "x", "--number-column", "x,y"),
        "--number-column: must not include a column of labels",
    ),
    "real numbers for labels": (
        ("train", "GOOD", "--out", "n", "--label-columns", "x", "--ignore-columns", "text,tags"),
        "--label-columns: must hold 0 or 1; got 3 in 'x'. Use --forest sketch-regressor",
    ),
    "no folder": (
        ("train", "GOOD", "--out", "no/such/folder.sf", "--tags-column", "tags"),
        "--out: must be a file in an existing folder",
    ),
    "a folder": (
        ("train", "GOOD", "--out", ".", "--tags-column", "tags"),
        "--out: must be a file in an existing folder",
    ),
    "what --tune chooses": (
        (*_TRAIN, "--tune", "--projection", "pca"),
        "--projection: must be left out with --tune, which chooses it; got 'pca'",
    ),
    "unknown set": (("datasets", "nosuch"), "NAME: must be one of emotions"),
}


@pytest.fixture
def places(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.csv").write_text("z,y\n1,2\n")
    (tmp_path / "unseen.csv").write_text("x,y,text,tags\n1,2,u,never\n")
    (tmp_path / "word.csv").write_text("x,y\n1,red\n")
    (tmp_path / "marked.svm").write_text("0 1:1\n1 2:1\n")
    files = {"GOOD": "good.csv", "OTHER": "other.csv", "UNSEEN": "unseen.csv"}
    files["WORD"] = "word.csv"
    return {"MODEL": model, "MARKED": "marked.svm", **files}


@pytest.mark.parametrize("kind", FAILURES)
def test_a_failure_exits_with_1_and_one_sentence(kind, command, places, tmp_path):
    arguments, reason = FAILURES[kind]
    before = sorted(tmp_path.iterdir())
    code, _, err = command(*(places.get(argument, argument) for argument in arguments))
    assert code == 1
    assert err.startswith("Error: ")
    assert len(err.splitlines()) == 1
    assert re.search(reason, err)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("kind", WRONG_VALUES)
def test_an_invalid_value_exits_with_2_and_names_the_option(kind, command, places, tmp_path):
    arguments, reason = WRONG_VALUES[kind]
    before = sorted(tmp_path.iterdir())
    code, _, err = command(*(places.get(argument, argument) for argument in arguments))
    assert code == 2
    assert f"Invalid value for {reason}" in unframed(err)
    assert sorted(tmp_path.iterdir()) == before


def unframed(err):
    """The sentence in a frame, on one line."""
    return " ".join(err.replace("│", " ").split())


def test_debug_shows_the_traceback(command, tmp_path, monkeypatch):
    code, _, err = command("info", tmp_path / "none.sf")
    assert code == 1
    assert "Traceback" not in err
    monkeypatch.setattr(sys, "argv", ["sketchforest", "info", "none.sf", "--debug"])
    with pytest.raises(FileNotFoundError):
        cli.main()


def test_an_interrupt_wrapped_in_another_error_exits_with_130(monkeypatch):
    def wrapping(arguments):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as interrupt:
            raise RuntimeError("Error calling __set_name__") from interrupt

    monkeypatch.setattr(sys.modules["sketchforest.cli.app"], "app", wrapping)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 130


@pytest.mark.parametrize("handler", [signal.SIG_IGN, signal.default_int_handler])
def test_a_command_keeps_its_inherited_sigint_handler(handler, monkeypatch):
    """A shell has commands in the background ignore it."""
    monkeypatch.setattr(sys, "argv", ["sketchforest", "--version"])
    before = signal.signal(signal.SIGINT, handler)
    try:
        with pytest.raises(SystemExit):
            started()
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_closed_pipe_ends_the_command_silently(model, tmp_path):
    write(DATA, tmp_path / "data.svm")
    lines = "1 0:1 1:2\n" * 30_000
    predicting = subprocess.Popen(
        [sys.executable, "-m", "sketchforest", "predict", str(model), "-", "--format", "svmlight"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    predicting.stdout.close()  # before anything is written
    _, err = predicting.communicate(lines)
    assert predicting.returncode == 1
    assert err == ""


# ---- a machine without the extras


@pytest.fixture
def without_extras(monkeypatch):
    missing = ("matplotlib", "pyarrow", "pandas", "polars", "safetensors", "skops")
    for name in missing:
        monkeypatch.delitem(sys.modules, name, raising=False)

    class Missing:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name.partition(".")[0] in missing:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(sys, "meta_path", [Missing, *sys.meta_path])


def test_commands_work_without_extras_and_name_the_missing_one(
    command, without_extras, model, tmp_path
):
    file = tmp_path / "good.csv"
    for arguments in (
        ("predict", model, file, "--top", 1),
        ("evaluate", model, file),
        ("explain", model, file),
        ("info", model),
        (
            "convert",
            file,
            tmp_path / "good.svm",
            "--tags-column",
            "tags",
            "--ignore-columns",
            "text",
        ),
    ):
        assert command(*arguments)[0] == 0
    code, _, err = command("evaluate", model, file, "--picture", tmp_path / "picture.png")
    assert code == 1
    assert "pip install 'sketchforest[plot]'" in err
    (tmp_path / "data.parquet").write_bytes(b"PAR1")
    code, _, err = command("predict", model, tmp_path / "data.parquet")
    assert code == 1
    assert "pip install 'sketchforest[parquet]'" in err


# ---- what the terminal must not take for its own


ODD = "a[/red]\x1b[31m\u202eb"


def test_control_characters_in_names_are_escaped(command, tmp_path):
    table = tmp_path / "data.csv"
    table.write_text("x,tags\n" + f"1,{ODD}\n2,b\n" * 10)
    (tmp_path / "a[").mkdir()
    model = tmp_path / f"{ODD}.sf"
    code, out, _ = command("train", table, "--tags-column", "tags", "--out", model, *QUICK)
    assert code == 0
    shown = [out.replace("\n", "")]
    for arguments in (("info", model), ("explain", model, table, "--row", 0)):
        code, out, _ = command(*arguments)
        assert code == 0
        shown.append(out)
    for text in shown:
        assert "a[/red]\\x1b[31m\\u202eb" in text
        assert "\x1b" not in text


@pytest.mark.parametrize("closed", ["<&-", pytest.param(">&-", marks=pytest.mark.slow)])
def test_a_closed_standard_stream_is_reported_in_one_sentence(closed, command, tmp_path):
    (tmp_path / "data.csv").write_text(GOOD)
    model = tmp_path / "model.sf"
    command(
        "train",
        tmp_path / "data.csv",
        "--text-column",
        "text",
        "--tags-column",
        "tags",
        "--out",
        model,
        *QUICK,
    )
    file = "-" if closed == "<&-" else tmp_path / "data.csv"
    call = f"{sys.executable} -m sketchforest predict {model} {file} {closed}"
    told = subprocess.run(call, shell=True, stderr=subprocess.PIPE, text=True, check=False)
    assert told.returncode == 1
    assert re.fullmatch(r"Error: standard (input|output) is closed.*\n", told.stderr)
