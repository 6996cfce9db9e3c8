"""The command `datasets`: what is known, what is here, and how to get the rest."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    data_home: Annotated[
        Path | None, typer.Option(help="Folder of data sets, before $SKETCHFOREST_DATA.")
    ] = None,
) -> None:
    """List the known data sets: sizes, citation, and whether they are here.

    The paper's 24 come first, by their number of labels. With a name, all that is known of it:
    the files, where to put them, and where they can be had.

    Example:  sketchforest datasets

    Example:  sketchforest datasets bibtex --download --data-home ~/data
    """
    if name is None:
        if download:
            raise typer.BadParameter("--download needs the name of a data set.")
        _print_all(data_home, json)
        return
    from sketchforest.datasets import describe, load

    info = describe(name)
    if download:
        load(name, data_home, download=True)
    _print_one(info, data_home, json)


def _print_all(data_home: Path | None, json: bool) -> None:
    from sketchforest.datasets import catalogue

    rows = [_as_dict(info, data_home) for info in catalogue().values()]
    if json:
        _print_json(rows)
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("data set", "rows", "features", "labels", "per row", "paper", "here"):
        is_text = heading in ("data set", "paper", "here")
        table.add_column(heading, justify="left" if is_text else "right", no_wrap=True)
    for row in rows:
        table.add_row(
            row["name"],
            *(f"{row[key]:,}" for key in ("n_samples", "n_features", "n_labels")),
            "" if row["cardinality"] is None else f"{row['cardinality']:.2f}",
            "yes" if row["paper"] else "",
            "yes" if row["here"] else "to download" if row["files"] else "by hand",
        )
    console = Console()
    console.print(table)
    n_here = sum(bool(row["here"]) for row in rows)
    console.print(
        f"\n{n_here} of {len(rows)} are here. Where a file goes, and where to get it: "
        "sketchforest datasets NAME",
        highlight=False,
        soft_wrap=True,
    )


def _print_one(info: "DatasetInfo", data_home: Path | None, json: bool) -> None:
    row = _as_dict(info, data_home)
    if json:
        _print_json(row)
        return
    # Not a table: addresses and sums must stay whole to be copied.
    for key, value in _lines(info, row):
        if value:
            typer.echo(f"{key:14}{value}")


def _lines(info: "DatasetInfo", row: dict[str, Any]) -> list[tuple[str, str]]:
    split = f" ({info.n_train:,} to train, {info.n_test:,} to test)" if info.n_train else ""
    paper = ""
    if info.paper:
        n_test = f"{info.paper.n_test:,}" if info.paper.n_test else "ten-fold"
        paper = (
            f"{info.paper.name}: {info.paper.n_train:,} to train, {n_test} to test, "
            f"{info.paper.n_features:,} features, {info.paper.n_labels:,} labels"
        )
    return [
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
        ("here", ", ".join(row["here"]) or "no"),
        *(("file", f"{file.name}, sha256 {file.sha256}, {file.url}") for file in info.files),
        ("to get it", row["to_get_it"] or ""),
    ]


def _as_dict(info: "DatasetInfo", data_home: Path | None) -> dict[str, Any]:
    from dataclasses import asdict

    from sketchforest.datasets.catalogue import find, how_to_get

    found = find(info.name, data_home)
    return asdict(info) | {
        "here": [str(path) for path in found],
        "to_get_it": None if found else how_to_get(info.name, data_home),
    }


def _print_json(value: Any) -> None:
    import json

    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))
