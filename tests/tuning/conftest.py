"""The result of a search."""

import pytest
from tuning_data import tuned


@pytest.fixture(scope="module")
def result():
    return tuned()
