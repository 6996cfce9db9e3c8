"""Few cases of each script beside this file, so that the scripts keep working.

docs/reliability.md has the numbers of cases that were run, and the results.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from sketchforest.datasets import Dataset, write_npz

sys.path.insert(0, str(Path(__file__).parent))

import cycles
import damaged_checkpoints
import damaged_data
import damaged_models
import ending
import fuzz
import fuzz_core
import hostile_requests
import interrupted
import interrupted_commands
import killed
import little_memory
import mutations
import questions
import refitted
import same_forest
import shared_estimators
import sizes


def test_damaged_models_are_refused_or_work():
    outcomes = damaged_models.watch(first=1_000_000, count=150)
    assert not outcomes.keys() - {"refused", "used"}


def test_rewritten_checkpoints_and_models_are_refused_or_used():
    outcomes = damaged_models.watch(1_000_000, 60, damaged_checkpoints.__file__)
    assert damaged_checkpoints.is_clean(outcomes)
    assert sum(outcomes.values()) == 60


def test_damaged_data_are_read_or_refused_with_file_and_line():
    # In this process, and without its limit of addresses, which would stay.
    made = damaged_data.files()
    assert damaged_data.run_cases(1_000_000, 20 * len(made), is_limited=False).keys() <= (
        damaged_data.GOOD
    )


def test_calls_of_the_core_are_refused_or_right():
    outcomes = fuzz_core.watch(seed=1_000_000, first=0, count=500)
    assert outcomes.keys() == fuzz_core.GOOD
    assert sum(outcomes.values()) == 500


def few_and_slow(kinds, few):
    """Parametrize a test by some of the kinds, and by the others if slow tests are run."""
    kinds = list(kinds)
    others = [kind for kind in kinds if kind not in kinds[few]]
    cases = [
        pytest.param(kinds[few], id="few"),
        pytest.param(others, id="others", marks=pytest.mark.slow),
    ]
    return pytest.mark.parametrize("kinds", cases)


def run_script(name, *options):
    """Run a script in a subprocess: it may die, and it switches threads very often."""
    command = [sys.executable, str(Path(__file__).with_name(name)), *options]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert ended.returncode == 0, f"{ended.stdout[:5000]}\n{ended.stderr[-5000:]}"


def test_shared_estimators_are_asked_for_all_that_is_public():
    kinds = {type(model): kind for kind, (model, *_) in shared_estimators.KINDS.items()}
    for kind in kinds.values():
        assert questions.questions_to(shared_estimators.fitted(kind))  # LookupError otherwise


@few_and_slow(shared_estimators.KINDS, few=slice(0, None, 9))
def test_threads_that_share_a_fresh_model_are_told_what_one_alone_is_told(kinds):
    run_script("shared_estimators.py", "--minutes", "0", "--kinds", *kinds)


@pytest.mark.slow
@pytest.mark.parametrize("kind", refitted.KINDS)
def test_a_fit_beside_predictions_replaces_the_whole_model_at_once(kind):
    run_script("refitted.py", "--threads", "8", "--minutes", "0.01", "--kinds", kind)


@pytest.mark.slow
def test_many_threads_fit_and_predict_the_same_forest(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X, Y = (sparse.csr_array((rng.random((60, d)) < 0.1).astype(np.float32)) for d in (40, 20))
    write_npz(Dataset("small", X, Y), tmp_path / "small.npz")
    monkeypatch.setenv("SKETCHFOREST_DATA", str(tmp_path))
    options = ["--datasets", "small", "--estimators", "rf", "--threads", "1", "8"]
    run_script("many_cores.py", *options, "--repeats", "2", "--loads", "2", "--n-estimators", "4")


@pytest.mark.slow
def test_processes_forked_after_a_fit_or_beside_threads_give_the_same_forests():
    run_script("forked.py", "--count", "4")


@pytest.mark.slow  # tests/trees/test_process_exit.py has the same with fewer delays
def test_a_process_ends_while_threads_work():
    assert set(ending.run_cases(2)) == {"ended with 0"}


@pytest.mark.slow
def test_hostile_explanations_keep_no_normal_request_from_its_answer():
    pytest.importorskip("httptools", reason="needs sketchforest[serve]")
    found = hostile_requests.run(seconds=2, n_hostile=12, n_normal=2, n_rows=300, n_trees=10)
    assert hostile_requests.is_good(found), found


@pytest.mark.slow
def test_interrupts_stop_the_work_and_nothing_else():
    outcomes, _ = interrupted.run_cases(len(interrupted.KINDS))
    assert interrupted.is_clean(outcomes)


@pytest.mark.slow  # Python drops about one interrupt in a hundred that falls into an import
def test_commands_stop_when_they_are_told_to():
    outcomes, _ = interrupted_commands.run_cases(4, n_rows=300)
    assert interrupted_commands.is_clean(outcomes)


def test_kills_leave_a_whole_model():
    outcomes = killed.run_cases(2)
    assert not any(name.startswith(("broken", "another")) for name in outcomes)
    assert outcomes["files left after the next save"] == 0


@pytest.mark.slow
def test_little_memory_is_enough_or_said_to_be_too_little():
    for outcomes in little_memory.run_ladder(3).values():
        assert not outcomes.keys() - little_memory.GOOD


def test_one_seed_is_one_forest():
    assert same_forest.compare(range(1))[1] == []


def test_cycles_of_fits_end():
    """How much memory grows is asked of a thousand of them."""
    before, after = cycles.run_cycles(5)
    assert before > 0
    assert after > 0


@pytest.mark.parametrize("name", fuzz.TARGETS)
def test_fuzz_targets_take_their_corpus(name):
    target, corpus = fuzz.TARGETS[name], sorted((fuzz.CORPUS / name).iterdir())
    assert corpus
    for file in corpus:
        target(file.read_bytes())


@pytest.mark.slow
def test_many_damaged_models_and_data():
    outcomes = damaged_models.watch(first=2_000_000, count=20_000)
    assert not outcomes.keys() - {"refused", "used"}
    found = damaged_data.run_cases(2_000_000, 10_000, is_limited=False)
    assert found.keys() <= damaged_data.GOOD


@pytest.mark.slow
def test_many_seeds_are_one_forest_each():
    assert same_forest.compare(range(20))[1] == []
    assert same_forest.compare_instruction_sets(range(20))[1] == []


@pytest.mark.parametrize("mutation", mutations.MUTATIONS, ids=lambda mutation: mutation.what)
def test_what_mutations_break_is_there_once(mutation):
    assert (mutations.ROOT / mutation.file).read_text().count(mutation.right) == 1


@pytest.mark.parametrize("case", sizes.REFUSED, ids=lambda case: case.__name__)
def test_sizes_past_32_bits_are_refused(case):
    assert sizes.what_came_of(case, sizes.KINDS[0]).startswith("refused: ")
