"""Options from a TOML file, and to one beside a model, by which a training is repeated."""

import json
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from sketchforest._files import written_whole

# What says nothing of the result.
_NOT_WRITTEN = ("config", "json", "quiet")


def read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Makes the options in a file the defaults of a command: those in its table, as in [train], and
    those in no table. What is typed counts more."""
    if path is None:
        return None
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise typer.BadParameter(f"{path}: {error.strerror}.") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise typer.BadParameter(f"{path} is no TOML file: {error}.") from None
    of_command = content.get(str(context.command.name), {})
    given = {name: v for name, v in content.items() if not isinstance(v, dict)} | of_command
    known = {str(parameter.name) for parameter in context.command.params}
    options = {name.replace("-", "_"): _value(value) for name, value in given.items()}
    for name in options:
        if name not in known:
            spelt = name.replace("_", "-")
            raise typer.BadParameter(f"{path}: {context.command.name} has no option {spelt!r}.")
    context.default_map = {**(context.default_map or {}), **options}
    return path


ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        callback=read_config,
        is_eager=True,
        help="A TOML file of options, as in: n-estimators = 500. 'train' writes one beside its "
        "model, to be repeated by.",
        show_default=False,
    ),
]


def _value(value: Any) -> bool | str:
    """As it is typed."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    return value if isinstance(value, bool) else str(value)


def config_text(context: typer.Context, name: str) -> str:
    """The options of a call that are not the usual ones, as TOML."""
    lines = [f"# sketchforest {context.command.name} --config {name}", f"[{context.command.name}]"]
    for option, value in context.params.items():
        source = context.get_parameter_source(option)
        if option in _NOT_WRITTEN or source is None or source.name == "DEFAULT":
            continue
        # A string of JSON is one of TOML.
        plain = value if isinstance(value, bool | int | float) else str(value)
        lines.append(f"{option.replace('_', '-')} = {json.dumps(plain, ensure_ascii=False)}")
    return "\n".join(lines) + "\n"


def write_config(context: typer.Context, model: Path) -> Path:
    """The call beside its model; nothing in it is of this machine but the paths as they were
    typed."""
    path = model.with_name(f"{model.name}.toml")
    with written_whole(path) as draft:
        draft.write_text(config_text(context, path.name), encoding="utf-8")
    return path
