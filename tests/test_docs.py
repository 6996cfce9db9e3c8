"""What docstrings show is what the code does."""

import doctest
import importlib
import pkgutil

import pytest

import sketchforest

MODULES = [
    module.name
    for module in pkgutil.walk_packages(sketchforest.__path__, "sketchforest.")
    if module.name != "sketchforest._core"
]
PUBLIC_CLASSES = [
    name for name in sketchforest.__all__ if isinstance(getattr(sketchforest, name), type)
]


@pytest.mark.parametrize("name", ["sketchforest", *MODULES])
def test_examples_of_docstrings_run(name):
    outcome = doctest.testmod(importlib.import_module(name))
    assert outcome.failed == 0


@pytest.mark.parametrize("name", PUBLIC_CLASSES)
def test_public_classes_have_an_example(name):
    parsed = doctest.DocTestFinder().find(getattr(sketchforest, name), name)
    assert any(test.examples for test in parsed)
