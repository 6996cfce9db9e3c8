"""Readable numbers with units."""

UNKNOWN = "–"


def seconds(value: float | None) -> str:
    if value is None:
        return UNKNOWN
    if value < 0.0995:
        return milliseconds(1000 * value)
    return f"{value:,.0f} s" if value >= 100 else f"{value:.3g} s"


def milliseconds(value: float | None) -> str:
    if value is None:
        return UNKNOWN
    if value < 0.9995:
        return f"{1000 * value:.3g} µs"
    return f"{value:,.0f} ms" if value >= 100 else f"{value:.3g} ms"


def ratio(value: float | None) -> str:
    if value is None:
        return UNKNOWN
    return f"{value:,.0f}×" if value >= 9.95 else f"{value:.1f}×" if value >= 0.095 else "<0.1×"


def size(n_bytes: float | None) -> str:
    if n_bytes is None:
        return UNKNOWN
    for unit in ("B", "kB", "MB"):
        if n_bytes < 999.5:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.3g} GB"
