"""The demo measures what it prints, alone and from the command line."""

import io
import re
import sys

import pytest
from rich.console import Console
from typer.testing import CliRunner

import sketchforest
from sketchforest import cli
from sketchforest._workflows.demo import Measurement, comparison_figure, comparison_table, run_demo

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def captured_console() -> Console:
    return Console(file=io.StringIO(), width=80)


def printed(console: Console) -> str:
    return console.file.getvalue()


def tiny_demo(out, console, **options) -> list[Measurement]:
    defaults = {"n_samples": 200, "n_estimators": 3, "n_jobs": 1, "examples": "none"}
    return run_demo(out=out, console=console, **defaults | options)


@pytest.fixture
def without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)


def test_the_demo_measures_every_forest_and_draws_them(tmp_path):
    pytest.importorskip("matplotlib")
    console = captured_console()
    rows = tiny_demo(tmp_path / "demo.png", console)
    forests = [(row.forest, row.n_components) for row in rows]
    assert forests[:2] == [("scikit-learn", None), ("sketch forest", 64)]
    assert forests[2:] == [("random forest", m) for m in (None, 25, 7, 1)]
    assert [row.n_grown for row in rows] == [1, 3, 3, 3, 3, 3]
    assert all(row.fit_seconds > 0 and row.n_bytes > 0 for row in rows)
    assert all(0 < row.lrap <= 1 and len(row.precision) == 3 for row in rows[1:])
    assert (tmp_path / "demo.png").read_bytes().startswith(PNG_SIGNATURE)
    assert "* 1 of 3 trees grown; time and size are scaled" in printed(console)


def test_a_seed_decides_the_quality(tmp_path, without_matplotlib):
    first, again = (tiny_demo(tmp_path / "demo.png", captured_console(), seed=5) for _ in range(2))
    assert [(row.lrap, row.precision) for row in first] == [
        (row.lrap, row.precision) for row in again
    ]


def test_without_matplotlib_the_table_is_printed_and_the_extra_named(tmp_path, without_matplotlib):
    console = captured_console()
    tiny_demo(tmp_path / "demo.png", console)
    assert "m = 25" in printed(console)
    assert "pip install 'sketchforest[plot]'" in printed(console)
    assert not (tmp_path / "demo.png").exists()


def test_new_texts_get_tags_by_name_and_the_words_behind_them(tmp_path, without_matplotlib):
    console, n_known = captured_console(), 60
    lines = ["description,tags"]
    lines += ["bake rye bread,bread", "boil fresh eggs,eggs;boiling", "fry eggs,eggs"] * n_known
    (tmp_path / "functions.csv").write_text("\n".join(lines), encoding="utf-8")
    tiny_demo(tmp_path / "demo.png", console, examples=tmp_path)
    line = next(line for line in printed(console).splitlines() if "bake rye bread" in line)
    assert re.search(r"bread (0\.9\d|1\.00) +(bake|rye|bread), .* bread *$", line)
    assert "sketchforest serve model.sf" in printed(console)


def test_without_example_files_the_demo_ends_after_the_comparison(tmp_path, without_matplotlib):
    console = captured_console()
    tiny_demo(tmp_path / "demo.png", console, examples=tmp_path)
    assert "because of" not in printed(console)


def test_ratios_are_to_the_first_row_and_the_table_fits_a_terminal():
    rows = [
        Measurement("scikit-learn", None, 2, 245.0, 10_400_000_000),
        Measurement("random forest", 25, 100, 2.45, 5_200_000, 0.378, (0.65, 0.6, 0.55)),
    ]
    console = captured_console()
    console.print(comparison_table(rows, 100, 983))
    columns = r"m = 25\s+2\.45 s\s+100×\s+0\.378\s+65/60/55\s+5\.2 MB\s+2,000×"
    assert re.search(columns, printed(console))
    assert "…" not in printed(console)


def test_axes_of_the_picture_have_units():
    pytest.importorskip("matplotlib")
    rows = [
        Measurement("scikit-learn", None, 2, 17.0, 10_000),
        Measurement("random forest", None, 100, 0.6, 900, 0.37, (0.6, 0.5, 0.4)),
        Measurement("random forest", 5, 100, 0.3, 900, 0.36, (0.6, 0.5, 0.4)),
    ]
    quality, time = comparison_figure(rows, 100).axes
    assert "LRAP" in quality.get_xlabel()
    assert "seconds" in time.get_xlabel()


def test_the_command_runs_the_demo(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr("sketchforest._workflows.demo.run_demo", lambda *o: calls.append(o))
    options = ["--n-estimators", "7", "--n-jobs", "1", "--seed", "2", "--quick"]
    result = CliRunner().invoke(cli.app, ["demo", "--out", str(tmp_path / "a.png"), *options])
    assert result.exit_code == 0, result.output
    assert calls == [(2_000, 7, 1, tmp_path / "a.png", 2)]


@pytest.mark.parametrize("name", ["bench", "reproduce"])
def test_commands_that_left_the_package_say_where_they_are(name):
    result = CliRunner().invoke(cli.app, [name, "accuracy", "--json", "--help"])
    assert result.exit_code == 2
    assert f"run 'python -m benchmarks {name}' in a checkout" in result.output
    assert f" {name} " not in CliRunner().invoke(cli.app, ["--help"]).output


def test_version_and_help_answer():
    version = CliRunner().invoke(cli.app, ["--version"])
    assert (version.exit_code, version.output) == (0, f"sketchforest {sketchforest.__version__}\n")
    help_text = CliRunner().invoke(cli.app, ["demo", "--help"])
    assert help_text.exit_code == 0
    assert "Example:" in help_text.output


@pytest.mark.parametrize(
    ("arguments", "exit_code"),
    [(["demo", "--out", "no-such-folder/demo.png"], 1), (["demo", "--n-estimators", "0"], 2)],
)
def test_errors_are_one_sentence_and_an_exit_code(arguments, exit_code, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["sketchforest", *arguments])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == exit_code
    error = capsys.readouterr().err
    assert "Traceback" not in error
    if exit_code == 1:
        assert (
            error == "Error: out must lie in an existing folder; got 'no-such-folder/demo.png'.\n"
        )
