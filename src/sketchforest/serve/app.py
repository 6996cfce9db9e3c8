"""The routes of the service."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sketchforest._utils.lazy import locked_property
from sketchforest.serve.executor import BoundedExecutor
from sketchforest.serve.fields import listed, shown
from sketchforest.serve.limits import Deadline, Limits
from sketchforest.serve.micro_batching import MicroBatcher
from sketchforest.serve.middleware import SecurityMiddleware
from sketchforest.serve.openapi import description
from sketchforest.serve.pages import SCRIPTS, docs_page, model_page
from sketchforest.serve.requests import SuggestRequest, parse_explain, parse_suggest, read_body
from sketchforest.serve.responses import RequestError, error_response, json_response, to_json
from sketchforest.serve.served_model import BLOCK_ROWS, ModelSource, ServedModel

# Large requests and explanations have threads of their own, so that single rows need not wait for
# them. Predictions release the GIL; explanations hold it longer.
BATCH_THREADS, EXPLAIN_THREADS = 3, 1
MAX_QUEUED_EXPLANATIONS = 4  # per worker
SMALL_BODY = 1 << 14  # bytes, up to which bodies go to the micro-batcher: most have one row


@dataclass(frozen=True)
class Service:
    """Models by name; the first is the default."""

    models: Mapping[str, ServedModel]
    limits: Limits
    single_rows: ThreadPoolExecutor
    batches: BoundedExecutor
    explanations: BoundedExecutor

    @classmethod
    def of(cls, models: Mapping[str, ServedModel], limits: Limits) -> "Service":
        batches = BoundedExecutor("batch", BATCH_THREADS, limits.connections)
        explanations = BoundedExecutor("explain", EXPLAIN_THREADS, MAX_QUEUED_EXPLANATIONS)
        return cls(models, limits, ThreadPoolExecutor(1, "suggest"), batches, explanations)

    @locked_property
    def micro_batcher(self) -> MicroBatcher[bytes, bytes | SuggestRequest]:
        return MicroBatcher(self._suggest_single_rows, self.single_rows, BLOCK_ROWS)

    def find(self, name: str | None) -> ServedModel:
        if name is None:
            return next(iter(self.models.values()))
        found = self.models.get(name)
        if found is None:
            known = listed(list(self.models))
            raise RequestError(404, f"unknown model {shown(name)}; the models are {known}.")
        return found

    async def suggest(self, request: Request) -> Response:
        deadline = Deadline(self.limits.seconds)
        found: bytes | SuggestRequest = await read_body(request, self.limits)
        if isinstance(found, bytes) and len(found) <= SMALL_BODY:
            found = await self.micro_batcher.submit(found)
            if isinstance(found, bytes):
                return json_response(found)
        work = partial(self._suggest, found, deadline)
        return json_response(await self.batches.run(request, deadline, work))

    async def explain(self, request: Request) -> Response:
        deadline = Deadline(self.limits.seconds)
        self.explanations.check_capacity()  # before the body takes memory
        body = await read_body(request, self.limits)
        work = partial(self._explain, body, deadline)
        return json_response(await self.explanations.run(request, deadline, work))

    async def info(self, request: Request) -> Response:
        name = request.query_params.get("model")
        if name is not None:
            return json_response(self.find(name).info(full=True))
        models = [model.info() for model in self.models.values()]
        return json_response({"models": models, "limits": vars(self.limits)})

    async def health(self, request: Request) -> Response:
        return json_response({"status": "ok", "models": list(self.models)})

    async def openapi(self, request: Request) -> Response:
        return json_response(description(list(self.models.values()), self.limits))

    async def docs(self, request: Request) -> Response:
        about = description(list(self.models.values()), self.limits)
        return Response(docs_page(about), media_type="text/html")

    async def page(self, request: Request) -> Response:
        model = self.find(request.query_params.get("model"))
        return Response(model_page(model, list(self.models)), media_type="text/html")

    async def script(self, request: Request) -> Response:
        found = SCRIPTS.get(request.path_params["name"])  # by name: no path is ever opened
        if found is None:
            raise HTTPException(404)
        return Response(found, media_type="text/javascript")

    def _suggest(self, request: bytes | SuggestRequest, deadline: Deadline) -> bytes:
        parsed = parse_suggest(request, self.limits) if isinstance(request, bytes) else request
        model = self.find(parsed.model)
        rows = [{"labels": row} for row in model.suggest(parsed.rows, parsed.k, deadline)]
        return to_json({"model": model.name, **({"rows": rows} if parsed.is_batch else rows[0])})

    def _explain(self, body: bytes, deadline: Deadline) -> bytes:
        parsed = parse_explain(body)
        model = self.find(parsed.model)
        found = model.explain(parsed.row, parsed.labels, parsed.k, parsed.n_rows, deadline)
        return to_json(found)

    def _suggest_single_rows(
        self, bodies: Sequence[bytes]
    ) -> list[bytes | SuggestRequest | Exception]:
        """Predict requests of one row together. Requests of several rows are returned parsed."""
        results: list[bytes | SuggestRequest | Exception] = []
        by_model: dict[str, list[tuple[int, SuggestRequest]]] = {}
        for at, body in enumerate(bodies):
            try:
                parsed = parse_suggest(body, self.limits)
                results.append(parsed)
                if not parsed.is_batch:
                    by_model.setdefault(self.find(parsed.model).name, []).append((at, parsed))
            except RequestError as error:
                results[at:] = [error]
        for name, group in by_model.items():
            model, most = self.models[name], max(parsed.k for _, parsed in group)
            try:
                rows = model.suggest([parsed.rows[0] for _, parsed in group], most)
            except RequestError:
                # Handle each row alone, so that an invalid one fails by itself.
                for at, parsed in group:
                    results[at] = self._suggest_alone(parsed)
                continue
            for (at, parsed), row in zip(group, rows, strict=True):
                results[at] = to_json({"model": name, "labels": row[: parsed.k]})
        return results

    def _suggest_alone(self, request: SuggestRequest) -> bytes | Exception:
        try:
            return self._suggest(request, Deadline())
        except RequestError as error:
            return error


def build_app(
    sources: Sequence[ModelSource], limits: Limits, hosts: Sequence[str] | None
) -> SecurityMiddleware:
    """Load the models and return the ASGI application of a worker.

    Requests must name one of the hosts in their Host header; None allows any."""
    models = {source.name: ServedModel.load(source) for source in sources}
    service = Service.of(models, limits)
    routes = [
        Route("/suggest", service.suggest, methods=["POST"]),
        Route("/explain", service.explain, methods=["POST"]),
        Route("/info", service.info),
        Route("/health", service.health),
        Route("/openapi.json", service.openapi),
        Route("/docs", service.docs),
        Route("/", service.page),
        Route("/{name}.js", service.script),
    ]
    handlers: dict[Any, Any] = {HTTPException: _http_error, Exception: _server_error}
    return SecurityMiddleware(Starlette(routes=routes, exception_handlers=handlers), limits, hosts)


async def _http_error(request: Request, error: HTTPException) -> Response:
    if isinstance(error, RequestError):
        return error_response(error)
    path = shown(request.url.path)
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "")
        return error_response(error, f"{path} does not support {request.method}; use {allowed}.")
    known = "/suggest, /explain, /info, /health, /docs and /openapi.json"
    return error_response(error, f"unknown path {path}; the paths are {known}.")


async def _server_error(request: Request, error: Exception) -> Response:
    """Hide the traceback, which is in the log."""
    return json_response({"error": "internal server error; see the log of the service."}, 500)
