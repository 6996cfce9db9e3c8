"""The command `datasets`: what is known, what is here, and how to get the rest."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sketchforest.cli import options

if TYPE_CHECKING:
    from sketchforest.datasets import DatasetInfo


def datasets(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Show this one in full.", show_default=False),
    ] = None,
    download: Annotated[
        bool, typer.Option("--download", help="Fetch it if it is not here (needs a name).")
    ] = False,
    json: options.JsonOption = False,
    data_home: options.DataHomeOption = None,
) -> None:
    """List the known data sets: sizes, citation, and whether they are here.

    The paper's 24 come first, by their number of labels. With a name, all that is known of it:
    the files, where to put them, and where they can be had.

    Example:  sketchforest datasets

    Example:  sketchforest datasets bibtex --download --data-home ~/data
    """
    if name is None and download:
        raise typer.BadParameter("--download needs the name of a data set.")
    from sketchforest.datasets import catalogue, describe, load

    if name is None:
        infos = list(catalogue().values())
        if json:
            options.print_json([_as_json(info, data_home) for info in infos], indent=2)
        else:
            _print_all(infos, data_home)
        return
    info = describe(name)
    if download:
        load(name, data_home, download=True)
    if json:
        options.print_json(_as_json(info, data_home), indent=2)
    else:
        _print_one(info, data_home)


def _print_all(infos: list["DatasetInfo"], data_home: Path | None) -> None:
    from rich.table import Table

    from sketchforest.datasets.catalogue import find

    table = Table(box=None, pad_edge=False)
    for heading in ("data set", "rows", "features", "labels", "per row", "paper", "here"):
        is_text = heading in ("data set", "paper", "here")
        table.add_column(heading, justify="left" if is_text else "right", no_wrap=True)
    n_here = 0
    for info in infos:
        is_here = bool(find(info.name, data_home))
        n_here += is_here
        table.add_row(
            info.name,
            *(f"{count:,}" for count in (info.n_samples, info.n_features, info.n_labels)),
            "" if info.cardinality is None else f"{info.cardinality:.2f}",
            "yes" if info.paper else "",
            "yes" if is_here else "to download" if info.files else "by hand",
        )
    screen = options.console()
    screen.print(table)
    screen.print(
        f"\n{n_here} of {len(infos)} are here. Where a file goes, and where to get it: "
        "sketchforest datasets NAME",
        soft_wrap=True,
    )


def _print_one(info: "DatasetInfo", data_home: Path | None) -> None:
    from sketchforest.datasets.catalogue import find, how_to_get

    found = find(info.name, data_home)
    split = f" ({info.n_train:,} to train, {info.n_test:,} to test)" if info.n_train else ""
    paper = ""
    if info.paper:
        n_test = f"{info.paper.n_test:,}" if info.paper.n_test else "ten-fold"
        paper = (
            f"{info.paper.name}: {info.paper.n_train:,} to train, {n_test} to test, "
            f"{info.paper.n_features:,} features, {info.paper.n_labels:,} labels"
        )
    lines = [
        ("name", info.name),
        ("rows", f"{info.n_samples:,}{split}"),
        ("features", f"{info.n_features:,}"),
        ("non-zero", "" if info.x_density is None else f"{info.x_density:.2%} of X"),
        ("labels", f"{info.n_labels:,}"),
        ("per row", "" if info.cardinality is None else f"{info.cardinality:.3f} labels"),
        ("in the paper", paper),
        ("citation", info.citation),
        ("note", info.note),
        ("home page", info.homepage or ""),
        ("here", ", ".join(map(str, found)) or "no"),
        *(("file", f"{file.name}, sha256 {file.sha256}, {file.url}") for file in info.files),
        ("to get it", "" if found else how_to_get(info.name, data_home)),
    ]
    # Not a table: addresses and sums must stay whole to be copied.
    for key, value in lines:
        if value:
            typer.echo(f"{key:14}{value}")


def _as_json(info: "DatasetInfo", data_home: Path | None) -> dict[str, object]:
    from dataclasses import asdict

    from sketchforest.datasets.catalogue import find, how_to_get

    found = find(info.name, data_home)
    return asdict(info) | {
        "here": [str(path) for path in found],
        "to_get_it": None if found else how_to_get(info.name, data_home),
    }
