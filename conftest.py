"""Examples in docstrings write their files to a temporary folder."""

import pytest


@pytest.fixture(autouse=True)
def _folder_of_example(request: pytest.FixtureRequest) -> None:
    if isinstance(request.node, pytest.DoctestItem):
        request.getfixturevalue("monkeypatch").chdir(request.getfixturevalue("tmp_path"))
