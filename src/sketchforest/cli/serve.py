"""`sketchforest serve`."""

from typing import Annotated

import typer

from sketchforest.cli import options


def serve(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL", help="Model files; NAME=FILE serves a file under another name."
        ),
    ],
    host: Annotated[
        str,
        typer.Option(help="Address to listen on; 0.0.0.0 accepts requests from other machines."),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 picks a free one.")] = 8000,
    workers: Annotated[
        int, typer.Option(min=1, help="Number of processes; they share the models in memory.")
    ] = 1,
    threshold: options.ThresholdOption = None,
    max_body: Annotated[int, typer.Option(min=1000, help="Maximum bytes per request.")] = 1 << 20,
    max_rows: Annotated[int, typer.Option(min=1, help="Maximum rows per request.")] = 1000,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Time limit per request, in seconds.")
    ] = 10.0,
    max_connections: Annotated[
        int, typer.Option(min=2, help="Maximum open connections per process.")
    ] = 512,
    mmap: Annotated[
        bool,
        typer.Option(
            help="Memory-map the model files, which must then not be overwritten in place. With "
            "--no-mmap, each process loads them."
        ),
    ] = True,
    quiet: options.QuietOption = False,
) -> None:
    """Serve models over HTTP: a web page and a JSON API.

    The page suggests tags as you type, and shows the words and the similar training rows behind
    them. The API has /suggest, /explain, /info and /health; see /docs. There is no authentication:
    anyone who can reach the address can send requests. On Ctrl-C, the server finishes open requests
    for up to three seconds.

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
    for source in sources:  # report errors before starting any process
        about = ServedModel.load(source).info()
        if not quiet:
            typer.echo(f"{source.name}: {about['labels']:,} labels, {about['trees']:,} trees")
    limits = Limits(max_body, max_rows, timeout, max_connections)
    code = run(sources, host, port, workers, limits, "warning" if quiet else "info")
    raise typer.Exit(code)
