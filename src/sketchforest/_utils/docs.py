"""Docstrings with shared descriptions of parameters."""

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Self, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
Instance = TypeVar("Instance")

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
    signature = inspect.signature(function)
    names = [name for name in signature.parameters if name not in ("self", "cls")]
    summary, *sections = _BEFORE_SECTION.split(inspect.getdoc(function) or "")
    titled = {section.partition("\n")[0]: section for section in sections}
    own = {}
    for text in re.split(r"\n(?=\S)", titled.pop("Parameters", ""))[2:]:
        for name in re.split(" : |\n", text)[0].split(", "):
            own[name.lstrip("*")] = text
    texts = [own[name] if name in own else entry(name, known[name], function) for name in names]
    found = {}
    if texts:
        found["Parameters"] = "\n".join(["Parameters", "-" * 10, *dict.fromkeys(texts)])
    returned: Any = signature.return_annotation
    returned = "self" if returned is Self else getattr(returned, "__name__", returned)
    if isinstance(returned, str):
        found["Returns"] = f"Returns\n-------\n{returned}"
    function.__doc__ = "\n\n".join([summary, *(found | titled).values()])
    return function


def with_described_methods(
    known: Mapping[str, Described], **of_methods: Mapping[str, Described]
) -> Callable[[Instance], Instance]:
    """A decorator that calls `described` for each public method of a class.

    `of_methods` has what is known of parameters of one method, by its name.
    """

    def decorate(cls: Instance) -> Instance:
        for name, method in vars(cls).items():
            function = getattr(method, "__func__", method)  # of a class method
            if inspect.isfunction(function) and not name.startswith("_"):
                described(function, {**known, **of_methods.get(name, {})})
        return cls

    return decorate


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
