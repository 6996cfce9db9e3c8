"""Docstrings with shared descriptions of parameters."""

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

Thing = TypeVar("Thing", bound=Callable[..., Any])

_WIDTH = 92
_SECTION = re.compile(
    r"^( *)(Parameters|Attributes)\n\1-+\n(.*?)(?=\n\n|\Z)", re.DOTALL | re.MULTILINE
)
_BEFORE_SECTION = re.compile(r"\n\n(?=[A-Z]\w+\n---)")


class Described(NamedTuple):
    """Type and description of a parameter."""

    type: str
    text: str


Tables = Mapping[str, Mapping[str, Described]]  # by section title


def fill(thing: Thing, tables: Tables) -> Thing:
    """Fill in the descriptions of names that stand alone, or in a list, in a docstring.

    Defaults come from the signature.
    """
    if thing.__doc__ is not None:  # python -OO strips docstrings
        thing.__doc__ = _SECTION.sub(lambda found: _filled(found, thing, tables), thing.__doc__)
    return thing


def described(function: Thing, known: Mapping[str, Described]) -> Thing:
    """Add the parameters that a docstring leaves out, by signature, and the returned type."""
    if function.__doc__ is None:
        return function
    summary, *sections = _BEFORE_SECTION.split(inspect.getdoc(function) or "")
    titled = {section.partition("\n")[0]: section for section in sections}
    signature = inspect.signature(function)
    own = {}
    for entry in re.split(r"\n(?=\S)", titled.pop("Parameters", ""))[2:]:
        for name in re.split(" : |\n", entry)[0].split(", "):
            own[name.lstrip("*")] = entry
    texts = (
        own[name] if name in own else "\n".join(_lines(name, known[name], function))
        for name in signature.parameters
    )
    found = {"Parameters": "\n".join(["Parameters", "-" * 10, *dict.fromkeys(texts)])}
    if isinstance(signature.return_annotation, type):
        found["Returns"] = f"Returns\n-------\n{signature.return_annotation.__name__}"
    function.__doc__ = "\n\n".join([summary, *(found | titled).values()])
    return function


def _filled(section: re.Match[str], thing: Callable[..., Any], tables: Tables) -> str:
    indent, title, body = section.groups()
    known = tables.get(title, {})
    lines = [title, "-" * len(title)]
    for line in body.split("\n"):
        given = line.removeprefix(indent)
        names = given.rstrip(",").split(", ")
        if all(name in known for name in names):
            for name in names:
                lines += _lines(name, known[name], thing)
        else:
            lines.append(given)
    return "\n".join(indent + line for line in lines)


def _lines(name: str, found: Described, thing: Callable[..., Any]) -> list[str]:
    parameter = inspect.signature(thing).parameters.get(name)
    default = ""
    if parameter is not None and parameter.default is not inspect.Parameter.empty:
        default = f", default={_quoted(parameter.default)}"
    text = textwrap.wrap(found.text, _WIDTH, break_on_hyphens=False)
    return [f"{name} : {found.type}{default}", *(f"    {line}" for line in text)]


def _quoted(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)
