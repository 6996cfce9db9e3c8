"""Read and validate requests."""

import asyncio
import json
from typing import Any, NamedTuple

from starlette.requests import ClientDisconnect, Request

from sketchforest.serve.fields import listed, shown
from sketchforest.serve.limits import Limits
from sketchforest.serve.openapi import SCHEMAS
from sketchforest.serve.responses import RequestError, invalid
from sketchforest.serve.rows import Row

# Of a body over the limit, read and discard up to this multiple: a client that is still sending
# when the connection closes cannot read the error.
MAX_DISCARDED = 16


async def read_body(request: Request, limits: Limits) -> bytes:
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != "application/json":
        # HTML forms of other sites can send any type but this one.
        raise RequestError(
            415, f"Content-Type must be application/json; got {shown(content_type)}."
        )
    chunks, size = [], 0
    try:
        async with asyncio.timeout(limits.seconds / 2):
            async for chunk in request.stream():
                size += len(chunk)
                if size <= limits.body_bytes:
                    chunks.append(chunk)
                else:
                    chunks.clear()
                if size > MAX_DISCARDED * limits.body_bytes:
                    break
    except TimeoutError:
        raise RequestError(
            408, f"the body must arrive within {limits.seconds / 2:g} s; got {size:,} bytes."
        ) from None
    except ClientDisconnect:
        raise RequestError(400, "the client disconnected.") from None
    if size > limits.body_bytes:
        raise RequestError(
            413, f"the body must have at most {limits.body_bytes:,} bytes; send fewer rows."
        )
    return b"".join(chunks)


class SuggestRequest(NamedTuple):
    model: str | None
    rows: list[Row]
    is_batch: bool  # "rows" rather than "row"
    k: int


class ExplainRequest(NamedTuple):
    model: str | None
    row: Row
    labels: list[str] | None
    k: int
    n_rows: int


def parse_suggest(body: bytes, limits: Limits) -> SuggestRequest:
    given = _parse(body, SCHEMAS["Suggest"])
    if ("row" in given) == ("rows" in given):
        raise invalid("the body must have either 'row' or 'rows'.")
    rows = given["rows"] if "rows" in given else [given["row"]]
    if not isinstance(rows, list) or not rows:
        raise invalid(f"rows must be a list of at least one row; got {shown(rows)}.")
    if len(rows) > limits.rows:
        raise RequestError(413, f"rows must have at most {limits.rows:,} rows; got {len(rows):,}.")
    return SuggestRequest(given.get("model"), rows, "rows" in given, given["k"])


def parse_explain(body: bytes) -> ExplainRequest:
    given = _parse(body, SCHEMAS["Explain"])
    if "row" not in given:
        raise invalid("the body must have a 'row'.")
    label = given.get("label")
    labels = [label] if isinstance(label, str) else label
    if labels is not None:
        most = SCHEMAS["Explain"]["properties"]["label"]["oneOf"][1]["maxItems"]
        is_list = isinstance(labels, list) and 0 < len(labels) <= most
        if not is_list or not all(isinstance(name, str) for name in labels):
            rule = f"the name of a label, or a list of at most {most}"
            raise invalid(f"label must be {rule}; got {shown(label)}.")
    return ExplainRequest(given.get("model"), given["row"], labels, given["k"], given["n_rows"])


def _parse(body: bytes, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a JSON object; integers and the model are checked, defaults added."""
    try:
        given = json.loads(body, parse_constant=_reject_constant)
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, ValueError) else "it is nested too deeply"
        raise RequestError(400, f"the body must be valid JSON: {reason}.") from None
    if not isinstance(given, dict):
        raise invalid(f"the body must be a JSON object; got {shown(given)}.")
    fields = schema["properties"]
    for name in given:
        if name not in fields:
            raise invalid(f"unknown field {shown(name)}; the fields are {listed(list(fields))}.")
    model = given.get("model")
    if model is not None and not isinstance(model, str):
        raise invalid(f"model must be the name of a model; got {shown(model)}.")
    for name, field in fields.items():
        if field.get("type") == "integer":
            value = given.setdefault(name, field["default"])
            least, most = field["minimum"], field["maximum"]
            if type(value) is not int or not least <= value <= most:
                rule = f"an integer from {least} to {most}"
                raise invalid(f"{name} must be {rule}; got {shown(value)}.")
    return given


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not allowed; use null for a missing value")
