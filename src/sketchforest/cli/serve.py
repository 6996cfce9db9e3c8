"""`sketchforest serve`."""

from typing import Annotated

import typer

from sketchforest.cli import options


def serve(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL",
            help="Model files; NAME=MODEL to give one another name than that of its file.",
        ),
    ],
    host: Annotated[
        str, typer.Option(help="Address to listen at; 0.0.0.0 for all, which everybody can ask.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8000,
    workers: Annotated[
        int, typer.Option(min=1, help="Processes; they share the memory of the models.")
    ] = 1,
    threshold: options.ThresholdOption = None,
    max_body: Annotated[int, typer.Option(min=1000, help="Bytes of a request at most.")] = 1 << 20,
    max_rows: Annotated[int, typer.Option(min=1, help="Rows of a request at most.")] = 1000,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds from a request to the end of its answer.")
    ] = 10.0,
    max_connections: Annotated[
        int, typer.Option(min=2, help="Open connections of a worker at most.")
    ] = 512,
    mmap: Annotated[
        bool,
        typer.Option(
            help="Map the model files, which must then not be written in place; else each worker "
            "reads them into memory."
        ),
    ] = True,
    quiet: options.QuietOption = False,
) -> None:
    """Answer questions about models: a page for people, JSON for programs.

    The page shows tags with scores as one types, the words that count and similar training rows.
    Programs use /suggest, /explain, /info and /health; /docs describes them. Who can reach the
    address can ask: there are no passwords. Ctrl-C ends it when all that was asked is answered, or
    after three seconds.

    Example:  sketchforest serve model.sf --workers 2

    Example:  curl localhost:8000/suggest --json '{"row": "why is the sky blue"}'
    """
    try:
        from sketchforest.serve.server import serve as run
    except ImportError as error:
        raise ImportError(
            f"serve needs {error.name}. Install it with: pip install 'sketchforest[serve]'"
        ) from None
    from sketchforest.serve.limits import Limits
    from sketchforest.serve.served_model import ServedModel, named_sources

    decided = None if threshold is None else options.value(threshold)
    sources = named_sources(models, decided, mmap)
    for source in sources:  # what is wrong is said before anything is started
        about = ServedModel.load(source).info()
        if not quiet:
            typer.echo(f"{source.name}: {about['labels']:,} labels, {about['trees']:,} trees")
    limits = Limits(max_body, max_rows, timeout, max_connections)
    code = run(sources, host, port, workers, limits, "warning" if quiet else "info")
    raise typer.Exit(code)
