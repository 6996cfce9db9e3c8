"""Downloads, checked by their sums."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class SourceFile:
    """A file that can be downloaded, and what it is called here."""

    name: str
    url: str
    sha256: str


def fetch(files: Iterable[SourceFile], folder: Path) -> list[Path]:
    """Downloads what is not yet in ``folder``; a file whose sum is wrong is not kept."""
    try:
        import pooch
    except ImportError:
        raise ImportError(
            "Downloads need the extra 'data': pip install 'sketchforest[data]'."
        ) from None
    pooch.get_logger().setLevel("WARNING")
    paths = []
    for file in files:
        try:
            path = pooch.retrieve(
                file.url, f"sha256:{file.sha256}", fname=file.name, path=folder, progressbar=False
            )
        except ValueError:
            raise ValueError(
                f"The file at {file.url} is not the one that is known (its sha256 differs); "
                "nothing was kept."
            ) from None
        except OSError as error:  # that of requests, too
            raise OSError(
                f"{file.url} could not be downloaded ({type(error).__name__}); get it by other "
                f"means and put it at '{folder / file.name}'."
            ) from None
        paths.append(Path(path))
    return paths
