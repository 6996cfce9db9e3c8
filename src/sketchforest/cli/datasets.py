"""`sketchforest datasets`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sketchforest.cli import options

if TYPE_CHECKING:
    from sketchforest.datasets import DatasetInfo


def datasets(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Data set to show in detail.", show_default=False),
    ] = None,
    download: Annotated[
        bool, typer.Option("--download", help="Download the data set NAME.")
    ] = False,
    json: options.JsonOption = False,
    data_home: options.DataHomeOption = None,
) -> None:
    """List known data sets, or show and download one.

    The 24 data sets of the paper come first, sorted by number of labels. With a name, shows the
    citation, the files, where to put them and where to get them.

    Example:  sketchforest datasets

    Example:  sketchforest datasets bibtex --download --data-home ~/data
    """
    if name is None and download:
        raise typer.BadParameter("--download needs the NAME of a data set.")
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
    from sketchforest.cli.tables import make_table
    from sketchforest.datasets.catalogue import find

    found = {info.name for info in infos if find(info.name, data_home)}
    rows = [
        (
            info.name,
            *(f"{count:,}" for count in (info.n_samples, info.n_features, info.n_labels)),
            "" if info.cardinality is None else f"{info.cardinality:.2f}",
            "yes" if info.paper else "",
            "yes" if info.name in found else "download" if info.files else "by hand",
        )
        for info in infos
    ]
    numbers = ("rows", "features", "labels", "per row")
    screen = options.console()
    table = make_table(("data set", *numbers, "paper", "available"), rows, right=numbers)
    table.columns[0].no_wrap = True
    screen.print(table)
    screen.print(
        f"\n{len(found)} of {len(infos)} data sets are on this machine. To get another one, see: "
        "sketchforest datasets NAME",
        soft_wrap=True,
    )


def _print_one(info: "DatasetInfo", data_home: Path | None) -> None:
    from sketchforest.datasets.catalogue import find, how_to_get

    found = find(info.name, data_home)
    split = f" ({info.n_train:,} for training, {info.n_test:,} for testing)" if info.n_train else ""
    paper = ""
    if info.paper:
        tested = f"{info.paper.n_test:,} test rows" if info.paper.n_test else "10-fold CV"
        paper = (
            f"{info.paper.name}: {info.paper.n_train:,} training rows, {tested}, "
            f"{info.paper.n_features:,} features, {info.paper.n_labels:,} labels"
        )
    lines = [
        ("name", info.name),
        ("rows", f"{info.n_samples:,}{split}"),
        ("features", f"{info.n_features:,}"),
        ("density", "" if info.x_density is None else f"{info.x_density:.2%} of X is non-zero"),
        ("labels", f"{info.n_labels:,}"),
        ("per row", "" if info.cardinality is None else f"{info.cardinality:.3f} labels"),
        ("in the paper", paper),
        ("citation", info.citation),
        ("note", info.note),
        ("home page", info.homepage or ""),
        ("found at", ", ".join(map(str, found))),
        *(("file", f"{file.name}, SHA-256 {file.sha256}, {file.url}") for file in info.files),
        ("how to get", "" if found else how_to_get(info.name, data_home)),
    ]
    # Not a table, which would wrap the URLs and checksums that people copy.
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
