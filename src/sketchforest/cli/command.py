"""Base classes of all commands: concise help, and errors in terms of options."""

import re
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

# Parameters of the library whose option has another name.
_OTHER_NAMES = {
    "checkpoint_dir": "--checkpoint",
    "estimator": "--forest",
    "text": "--text-column",
    "categories": "--category-column",
    "numbers": "--number-column",
}
INTERRUPTED = 130  # the exit code of shells after Ctrl-C
SETTINGS = {"help_option_names": ["-h", "--help"]}


class _Shared:
    """A mixin for TyperCommand and TyperGroup."""

    params: list[Any]

    def invoke(self, ctx: typer.Context) -> Any:
        """Report an invalid value of an option as wrong usage (exit code 2).

        The library starts such a message with the name of the parameter. Other errors, such as
        those about files, are failures (exit code 1).
        """
        try:
            return super().invoke(ctx)  # type: ignore[misc]
        except ValueError as error:
            found = about_option(str(error), _option_names(self.params))
            if found is None:
                raise
            option, rule = found
            raise typer.BadParameter(rule, ctx=ctx, param_hint=option) from error

    def get_params(self, ctx: typer.Context) -> list[Any]:
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False) and param.metavar is None:
                param.metavar = ""  # instead of <bool>
        return params


class Command(_Shared, TyperCommand):  # type: ignore[misc]
    pass


class Group(_Shared, TyperGroup):  # type: ignore[misc]
    pass


def _option_names(params: list[Any]) -> dict[str, str]:
    """Map parameter names to options, or to the names of arguments."""
    options = {
        param.name: param.opts[0]
        if param.param_type_name == "option"
        else param.metavar or param.name.upper()
        for param in params
    }
    known = set(options.values())
    return options | {name: option for name, option in _OTHER_NAMES.items() if option in known}


def about_option(message: str, options: dict[str, str]) -> tuple[str, str] | None:
    """Split a message of the library into the option it is about and the rest.

    In the rest, ``name=value`` becomes ``--name value``. Returns None if the message does not start
    with the name of a parameter.
    """
    first = re.match(r"\w+", message)
    if first is None or first[0] not in options:
        return None

    def as_option(found: re.Match[str]) -> str:
        known = options.get(found[1])
        return found[0] if known is None else f"{known} {found[2].strip(chr(39))}"

    rest = re.sub(r"\b(\w+)=(\w+|'[^']*')", as_option, message[first.end() :])
    return options[first[0]], rest.strip()
