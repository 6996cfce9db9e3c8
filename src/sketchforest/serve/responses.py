"""JSON responses, and the errors that become one."""

import json

from starlette.exceptions import HTTPException
from starlette.responses import Response

HEADERS = {
    408: {"connection": "close"},  # do not wait for the rest of the body
    413: {"connection": "close"},
    503: {"retry-after": "1"},
}


class RequestError(HTTPException):
    """A rejected request: the HTTP status, and one sentence that explains it."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(status, detail, HEADERS.get(status))


def invalid(detail: str) -> RequestError:
    """The error for valid JSON with wrong content."""
    return RequestError(422, detail)


def to_json(content: object) -> bytes:
    """Encode as ASCII, which can hold any string, even half of a surrogate pair."""
    return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


def json_response(content: object, status: int = 200) -> Response:
    """Return a response of JSON; bytes are JSON already."""
    body = content if isinstance(content, bytes) else to_json(content)
    return Response(body, status, media_type="application/json")


def error_response(error: HTTPException, detail: str | None = None) -> Response:
    response = json_response({"error": detail or error.detail}, error.status_code)
    response.headers.update(error.headers or {})
    return response
