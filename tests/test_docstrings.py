"""Every public name says what it takes, what it gives, and shows it."""

import inspect
import re

import pytest

import sketchforest

ESTIMATORS = [getattr(sketchforest, name) for name in sketchforest.__all__ if name[0].isupper()]


def public_things():
    for module in (sketchforest, *(getattr(sketchforest, n) for n in sketchforest._SUBMODULES)):
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                yield pytest.param(thing, id=f"{module.__name__}.{name}")


def public_methods():
    seen = set()
    for cls in ESTIMATORS:
        for name, method in inspect.getmembers(cls, inspect.isfunction):
            is_ours = method.__module__.startswith("sketchforest")
            if is_ours and not name.startswith("_") and method not in seen:
                seen.add(method)
                yield pytest.param(method, id=method.__qualname__)


def section(thing, title):
    """The lines of a section of a docstring, without indentation; None if there is none."""
    doc = inspect.getdoc(thing) or ""
    found = re.search(
        rf"^{title}\n-+\n(.*?)(?=\n\n\w[\w ]*\n-+\n|\Z)", doc, re.DOTALL | re.MULTILINE
    )
    return found and found[1].splitlines()


def described_names(thing):
    names = []
    for line in section(thing, "Parameters") or ():
        if line and not line.startswith(" "):
            names += line.split(" : ")[0].split(", ")
    return names


def parameters_of(thing):
    parameters = inspect.signature(thing).parameters.values()
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return [p for p in parameters if p.name != "self" and p.kind not in kinds]


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_an_estimator_describes_its_parameters_in_order_with_their_defaults(cls):
    lines = [line for line in section(cls, "Parameters") if not line.startswith(" ")]
    parameters = parameters_of(cls)
    assert sorted(line.split(" : ")[0] for line in lines) == sorted(p.name for p in parameters)
    for parameter in parameters:
        [line] = [line for line in lines if line.startswith(f"{parameter.name} : ")]
        shown = repr(parameter.default).replace("'", '"')
        assert line.endswith(f", default={shown}")


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_an_estimator_has_the_attributes_it_describes(cls):
    described = [line for line in section(cls, "Attributes") if not line.startswith(" ")]
    names = {line.split(" : ")[0] for line in described}
    assert all(" : " in line for line in described)
    public = {n for n in dir(cls) if n.endswith("_") and not n.startswith("_")}
    # Properties that scikit-learn's readers look for, the object behind all others, and what
    # belongs to a fit alone.
    assert public - names <= {"estimator_", "estimators_samples_", "fitted_", "thresholds_"}
    scored = {"oob_score_", "oob_decision_function_", "oob_prediction_"}
    fitted_only = {
        "estimator_",
        "n_features_in_",
        "feature_names_in_",
        "label_names_",
        "n_outputs_",
    } | scored
    assert names - public <= fitted_only


@pytest.mark.parametrize("thing", list(public_things()))
def test_a_public_name_has_an_example(thing):
    assert ">>>" in "\n".join(section(thing, "Examples") or ())


@pytest.mark.parametrize("thing", list(public_things()))
def test_a_public_function_describes_what_it_takes_and_gives(thing):
    if inspect.isclass(thing):
        return
    described = {name for name in described_names(thing) if not name.startswith("**")}
    assert {p.name for p in parameters_of(thing)} == described
    assert section(thing, "Returns") or inspect.signature(thing).return_annotation is None


@pytest.mark.parametrize("method", list(public_methods()))
def test_a_method_of_an_estimator_describes_what_it_takes_and_gives(method):
    assert {p.name for p in parameters_of(method)} == set(described_names(method))
    assert section(method, "Returns") or inspect.signature(method).return_annotation is None
