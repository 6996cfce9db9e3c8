"""scikit-learn's own tests of trees and forests on our estimators, unmodified but for the import.

`scikit_learn_tests.toml` lists the tests that need not pass, with reasons;
`scikit_learn_tests_older.toml` lists more of them for older versions.
"""

import tomllib
from pathlib import Path

import pytest
import scikit_learn_tests
from sklearn.utils.fixes import parse_version
from sklearn_versions import VERSION


def listed(name):
    return tomllib.loads(Path(__file__).with_name(name).read_text("utf-8"))["group"]


GROUPS = listed("scikit_learn_tests.toml") + [
    group
    for group in listed("scikit_learn_tests_older.toml")
    if parse_version(group["before"]) > VERSION
]
REASONS = {test: group["reason"] for group in GROUPS for test in group["tests"]}
NOT_RUN = [test for group in GROUPS for test in group["tests"] if not group.get("is_run", True)]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    if not scikit_learn_tests.are_installed():
        pytest.skip("scikit-learn is installed without its tests")
    if parse_version("1.10") <= VERSION:
        pytest.skip("the lists cover scikit-learn up to 1.9")
    return scikit_learn_tests.outcomes(tmp_path_factory.mktemp("scikit-learn"), not_run=NOT_RUN)


@pytest.mark.slow
def test_a_test_that_does_not_pass_is_listed_with_its_reason(outcomes):
    failures = {test: said for test, said in outcomes.items() if said not in ("passed", "skipped")}
    assert {test: said for test, said in failures.items() if test not in REASONS} == {}


@pytest.mark.slow
def test_a_test_that_is_listed_does_not_pass(outcomes):
    assert [test for test in REASONS if outcomes.get(test) == "passed"] == []
    if parse_version("1.9") <= VERSION:  # older versions have fewer tests
        assert [test for test in REASONS if test not in outcomes] == []


def test_no_test_is_listed_twice():
    assert len(REASONS) == sum(len(group["tests"]) for group in GROUPS)


def test_few_tests_are_listed():
    assert sum(len(group["tests"]) for group in listed("scikit_learn_tests.toml")) <= 60
