"""Downloads, verified by checksum."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class SourceFile:
    """A file to download: local name, address and checksum."""

    name: str
    url: str
    sha256: str


def fetch(files: Iterable[SourceFile], folder: Path) -> list[Path]:
    """Download what is not yet in ``folder``; a file with a wrong checksum is not kept."""
    try:
        import pooch
    except ImportError:
        raise ImportError(
            "Downloads need pooch. Install it with: pip install 'sketchforest[data]'"
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
                f"The file at {file.url} has changed (its sha256 differs); nothing was kept."
            ) from None
        except OSError as error:  # including those of requests
            raise OSError(
                f"{file.url} could not be downloaded ({type(error).__name__}). Get it by other "
                f"means and save it as '{folder / file.name}'."
            ) from None
        paths.append(Path(path))
    return paths
