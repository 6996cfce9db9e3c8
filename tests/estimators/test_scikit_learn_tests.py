"""scikit-learn's own tests of trees and forests, unmodified but for the import, on our estimators.

`scikit_learn_tests.toml` lists those that do not pass, with the reason why they need not.
"""

import tomllib
from pathlib import Path

import pytest
import scikit_learn_tests
import sklearn

TABLE = tomllib.loads(Path(__file__).with_name("scikit_learn_tests.toml").read_text("utf-8"))
REASONS = {test: group["reason"] for group in TABLE["group"] for test in group["tests"]}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    if not scikit_learn_tests.are_installed():
        pytest.skip("this scikit-learn was installed without its tests")
    if not sklearn.__version__.startswith(TABLE["version"] + "."):
        pytest.skip(
            f"the list is that of scikit-learn {TABLE['version']}; other versions have others"
        )
    return scikit_learn_tests.outcomes(tmp_path_factory.mktemp("scikit-learn"))


def test_a_test_that_does_not_pass_is_listed_with_its_reason(outcomes):
    failures = {test: said for test, said in outcomes.items() if said not in ("passed", "skipped")}
    assert {test: said for test, said in failures.items() if test not in REASONS} == {}


def test_a_test_that_is_listed_does_not_pass(outcomes):
    assert [test for test in REASONS if outcomes.get(test) == "passed"] == []
    assert [test for test in REASONS if test not in outcomes] == []


def test_no_test_is_listed_twice():
    assert len(REASONS) == sum(len(group["tests"]) for group in TABLE["group"])
