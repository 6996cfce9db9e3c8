"""Commands that have left the package."""

import typer

# Whatever options a caller still passes, the answer is the same.
ANY_ARGUMENTS = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}


def moved(context: typer.Context) -> None:
    """Say where the command is now, and exit with 2."""
    typer.echo(
        f"'sketchforest {context.info_name}' is no longer part of the package: run "
        f"'python -m benchmarks {context.info_name}' in a checkout of the repository.",
        err=True,
    )
    raise typer.Exit(2)
