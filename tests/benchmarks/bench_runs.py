"""Measurements that were not made, for tests of what is done with them."""

import io

from rich.console import Console

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
MB = 1_000_000


def captured_console(width: int = 80) -> Console:
    return Console(file=io.StringIO(), width=width)


def printed(console: Console) -> str:
    return console.file.getvalue()


def costs(**changes) -> dict[str, object]:
    measured = {
        "n_estimators": 100,
        "n_grown": 100,
        "fit_seconds": 2.0,
        "predict_seconds": 0.5,
        "row_milliseconds": 1.0,
        "baseline_bytes": 100 * MB,
        "peak_bytes": 300 * MB,
        "model_bytes": 10 * MB,
        "lrap": 0.4,
        "precision_at_1": 0.652,
        "precision_at_3": 0.596,
        "precision_at_5": 0.553,
    }
    return measured | changes
