"""Docstrings with shared descriptions of parameters."""

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

_WIDTH = 92
_BEFORE_SECTION = re.compile(r"\n\n(?=[A-Z]\w+\n---)")


class Described(NamedTuple):
    """Type and description of a parameter."""

    type: str
    text: str


def described(function: Function, known: Mapping[str, Described]) -> Function:
    """Add the parameters that a docstring leaves out, by signature, and the returned type."""
    if function.__doc__ is None:  # python -OO strips docstrings
        return function
    summary, *sections = _BEFORE_SECTION.split(inspect.getdoc(function) or "")
    titled = {section.partition("\n")[0]: section for section in sections}
    signature = inspect.signature(function)
    own = {}
    for text in re.split(r"\n(?=\S)", titled.pop("Parameters", ""))[2:]:
        for name in re.split(" : |\n", text)[0].split(", "):
            own[name.lstrip("*")] = text
    texts = (
        own[name] if name in own else entry(name, known[name], function)
        for name in signature.parameters
    )
    found = {"Parameters": "\n".join(["Parameters", "-" * 10, *dict.fromkeys(texts)])}
    if isinstance(signature.return_annotation, type):
        found["Returns"] = f"Returns\n-------\n{signature.return_annotation.__name__}"
    function.__doc__ = "\n\n".join([summary, *(found | titled).values()])
    return function


def entry(name: str, found: Described, thing: Callable[..., Any]) -> str:
    """The entry of a parameter, with its default from the signature."""
    parameter = inspect.signature(thing).parameters.get(name)
    default = ""
    if parameter is not None and parameter.default is not inspect.Parameter.empty:
        value = parameter.default
        quoted = f'"{value}"' if isinstance(value, str) else repr(value)
        default = f", default={quoted}"
    text = textwrap.wrap(found.text, _WIDTH, break_on_hyphens=False)
    return "\n".join([f"{name} : {found.type}{default}", *(f"    {line}" for line in text)])
