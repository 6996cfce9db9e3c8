"""What all commands have in common: help without noise, and errors in the words of options."""

import re
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

# Parameters of the library whose option has another name.
_OTHER_NAMES = {
    "checkpoint_dir": "--checkpoint",
    "estimator": "--forest",
    "estimators": "--forests",
}
INTERRUPTED = 130  # as a shell says that Ctrl-C ended a command
SETTINGS = {"help_option_names": ["-h", "--help"]}


class _Shared:
    """For TyperCommand and TyperGroup."""

    params: list[Any]

    def invoke(self, ctx: typer.Context) -> Any:
        """A wrong value of an option is a wrong call (exit code 2).

        The sentences of the library begin with the parameter that is wrong, which tells them from
        those about files: those are failures of the work (exit code 1).
        """
        try:
            return super().invoke(ctx)  # type: ignore[misc]
        except ValueError as error:
            said = about_option(str(error), _spelling(self.params))
            if said is None:
                raise
            option, rule = said
            raise typer.BadParameter(rule, ctx=ctx, param_hint=option) from error

    def get_params(self, ctx: typer.Context) -> list[Any]:
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False) and param.metavar is None:
                param.metavar = ""  # a flag takes no value, and help says none
        return params


class Command(_Shared, TyperCommand):  # type: ignore[misc]
    pass


class Group(_Shared, TyperGroup):  # type: ignore[misc]
    pass


def _spelling(params: list[Any]) -> dict[str, str]:
    """What each parameter of a command is called by those who type it."""
    spelling = {
        param.name: param.opts[0]
        if param.param_type_name == "option"
        else param.metavar or param.name.upper()
        for param in params
    }
    options = set(spelling.values())
    return spelling | {name: o for name, o in _OTHER_NAMES.items() if o in options}


def about_option(sentence: str, spelling: dict[str, str]) -> tuple[str, str] | None:
    """The option that a sentence of the library is about, and the rest of it with options for
    parameters; None if it is about none of them."""
    first = re.match(r"\w+", sentence)
    if first is None or first[0] not in spelling:
        return None

    def spelt(found: re.Match[str]) -> str:
        known = spelling.get(found[1])
        return found[0] if known is None else f"{known} {found[2].strip(chr(39))}"

    rest = re.sub(r"\b(\w+)=(\w+|'[^']*')", spelt, sentence[first.end() :])
    return spelling[first[0]], rest.strip()
