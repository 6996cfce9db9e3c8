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


def percent(shares: tuple[float | None, ...]) -> str:
    """ "65.2/59.6/55.3", or a dash if any is unknown."""
    known = [share for share in shares if share is not None]
    if len(known) < len(shares):
        return UNKNOWN
    return "/".join(f"{100 * share:.1f}" for share in known)


def duration(value: float) -> str:
    """ "45 s", "3 min" or "2 h 5 min"."""
    if value < 90:
        return f"{value:.0f} s"
    minutes = round(value / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
