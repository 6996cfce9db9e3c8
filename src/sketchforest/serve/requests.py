"""What a request says: its body within the limits, as JSON, with the fields that are known."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from starlette.requests import ClientDisconnect, Request

from sketchforest.serve.fields import listed, shown
from sketchforest.serve.limits import MAX_LABELS, Limits, RefusedError, wrong
from sketchforest.serve.rows import Row

# A body that is too large is read and dropped up to so many times the limit: who still sends when
# the connection is closed does not get to read why.
DROPPED = 16


async def read_body(request: Request, limits: Limits) -> bytes:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        # Pages of other sites may send forms, but not this.
        raise RefusedError(415, f"Content-Type must be application/json; got {shown(kind)}.")
    parts, size = [], 0
    try:
        async with asyncio.timeout(limits.seconds / 2):
            async for part in request.stream():
                size += len(part)
                if size <= limits.body_bytes:
                    parts.append(part)
                else:
                    parts.clear()
                if size > DROPPED * limits.body_bytes:
                    break
    except TimeoutError:
        raise RefusedError(
            408, f"the body must be sent within {limits.seconds / 2:g} s; got {size:,} bytes of it."
        ) from None
    except ClientDisconnect:
        raise RefusedError(400, "the client has gone.") from None
    if size > limits.body_bytes:
        raise RefusedError(
            413, f"the body must have at most {limits.body_bytes:,} bytes; send fewer rows."
        )
    return b"".join(parts)


class Suggest(NamedTuple):
    model: str | None
    rows: list[Row]
    is_batch: bool
    k: int


class Explain(NamedTuple):
    model: str | None
    row: Row
    label: object
    k: int
    n_rows: int


def parse_suggest(body: bytes, limits: Limits) -> Suggest:
    given = _fields(body, ("model", "row", "rows", "k"))
    if ("row" in given) == ("rows" in given):
        raise wrong("there must be either 'row' or 'rows'.")
    rows = [given["row"]] if "row" in given else given["rows"]
    if not isinstance(rows, list) or not rows:
        raise wrong(f"rows must be a list of at least one row; got {shown(rows)}.")
    if len(rows) > limits.rows:
        raise RefusedError(
            413, f"rows must be at most {limits.rows:,} in a request; got {len(rows):,}."
        )
    return Suggest(_name(given), rows, "rows" in given, _count(given, "k", 5, 1))


def parse_explain(body: bytes) -> Explain:
    given = _fields(body, ("model", "row", "label", "k", "n_rows"))
    if "row" not in given:
        raise wrong("there must be a 'row'.")
    return Explain(
        _name(given),
        given["row"],
        given.get("label"),
        _count(given, "k", 3, 1),
        _count(given, "n_rows", 5, 0),
    )


def _fields(body: bytes, known: tuple[str, ...]) -> Mapping[str, Any]:
    try:
        given = json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, ValueError) else "too deep"
        raise RefusedError(400, f"the body must be JSON; it is not: {reason}.") from None
    if not isinstance(given, dict):
        raise wrong(f"the body must be an object; got {shown(given)}.")
    for name in given:
        if name not in known:
            raise wrong(f"there is no field {shown(name)}; there are {listed(known)}.")
    return given


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON; use null for a missing one")


def _name(given: Mapping[str, Any]) -> str | None:
    name = given.get("model")
    if name is not None and not isinstance(name, str):
        raise wrong(f"model must be the name of a model; got {shown(name)}.")
    return name


def _count(given: Mapping[str, Any], name: str, usual: int, least: int) -> int:
    value = given.get(name, usual)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= MAX_LABELS:
        raise wrong(
            f"{name} must be a whole number from {least} to {MAX_LABELS}; got {shown(value)}."
        )
    return value
