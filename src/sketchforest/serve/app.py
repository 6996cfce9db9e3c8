"""The service: which address answers what."""

import json
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

from sketchforest._lazy import locked_property
from sketchforest.serve.executor import Threads
from sketchforest.serve.fields import listed, shown
from sketchforest.serve.limits import RETRY_SECONDS, Deadline, Limits, RefusedError
from sketchforest.serve.micro_batching import Gathering
from sketchforest.serve.middleware import Guard
from sketchforest.serve.openapi import description
from sketchforest.serve.pages import SCRIPTS, docs_page, model_page
from sketchforest.serve.requests import Suggest, parse_explain, parse_suggest, read_body
from sketchforest.serve.served_model import BLOCK_ROWS, ServedModel, Source

# Predictions release the interpreter's lock; a long batch must not keep single rows waiting, which
# have a thread of their own, and neither must explanations, which hold the lock for longer.
BATCH_THREADS, EXPLAIN_THREADS = 3, 1
# Explanations of a worker that may wait for one; more are refused.
WAITING_EXPLANATIONS = 4
# Bodies of at most so many bytes, most of them of one row, are worked on together.
SMALL_BODY = 1 << 14


@dataclass(frozen=True)
class Service:
    """Models by name, the first of which is the usual one."""

    models: Mapping[str, ServedModel]
    limits: Limits
    single_rows: ThreadPoolExecutor
    batches: Threads
    explanations: Threads

    @classmethod
    def of(cls, models: Mapping[str, ServedModel], limits: Limits) -> "Service":
        batches = Threads("batch", BATCH_THREADS, limits.connections)
        explanations = Threads("explain", EXPLAIN_THREADS, WAITING_EXPLANATIONS)
        return cls(models, limits, ThreadPoolExecutor(1, "suggest"), batches, explanations)

    @locked_property
    def together(self) -> Gathering[bytes, bytes | None]:
        """Where single rows wait for each other. Reading JSON and predicting are done on threads,
        and only what comes and goes on the loop."""
        return Gathering(self._suggest_together, self.single_rows, BLOCK_ROWS)

    def find(self, name: str | None) -> ServedModel:
        if name is None:
            return next(iter(self.models.values()))
        found = self.models.get(name)
        if found is None:
            known = listed(list(self.models))
            raise RefusedError(404, f"there is no model {shown(name)}; there are {known}.")
        return found

    async def suggest(self, request: Request) -> Response:
        deadline = Deadline(self.limits.seconds)
        body = await read_body(request, self.limits)
        answer = await self.together.ask(body) if len(body) <= SMALL_BODY else None
        if answer is None:
            work = partial(self._suggest, body, deadline)
            answer = await self.batches.answer(request, deadline, work)
        return Response(answer, media_type="application/json")

    async def explain(self, request: Request) -> Response:
        deadline = Deadline(self.limits.seconds)
        self.explanations.check_room()  # before the body is kept
        body = await read_body(request, self.limits)
        work = partial(self._explain, body, deadline)
        answer = await self.explanations.answer(request, deadline, work)
        return Response(answer, media_type="application/json")

    async def info(self, request: Request) -> Response:
        name = request.query_params.get("model")
        if name is not None:
            return as_json(self.find(name).info(is_whole=True))
        models = [model.info() for model in self.models.values()]
        return as_json({"models": models, "limits": vars(self.limits)})

    async def health(self, request: Request) -> Response:
        return as_json({"status": "ok", "models": list(self.models)})

    async def openapi(self, request: Request) -> Response:
        return as_json(description(list(self.models.values()), self.limits))

    async def docs(self, request: Request) -> Response:
        about = description(list(self.models.values()), self.limits)
        return Response(docs_page(about), media_type="text/html")

    async def page(self, request: Request) -> Response:
        model = self.find(request.query_params.get("model"))
        return Response(model_page(model, list(self.models)), media_type="text/html")

    async def script(self, request: Request) -> Response:
        # One of a few that are known, never a path.
        found = SCRIPTS.get(request.path_params["name"])
        if found is None:
            raise HTTPException(404)
        return Response(found, media_type="text/javascript")

    def _suggest(self, body: bytes, deadline: Deadline) -> bytes:
        asked = parse_suggest(body, self.limits)
        model = self.find(asked.model)
        rows = [{"labels": row} for row in model.suggest(asked.rows, asked.k, deadline)]
        return dumped({"model": model.name, **({"rows": rows} if asked.is_batch else rows[0])})

    def _explain(self, body: bytes, deadline: Deadline) -> bytes:
        asked = parse_explain(body)
        model = self.find(asked.model)
        return dumped(model.explain(asked.row, asked.label, asked.k, asked.n_rows, deadline))

    def _suggest_together(self, bodies: Sequence[bytes]) -> list[bytes | Exception | None]:
        """Answers to requests of one row each, which are predicted together; None for a request of
        several, which is to be asked for alone."""
        answers: list[bytes | Exception | None] = [None] * len(bodies)
        by_model: dict[str, list[tuple[int, Suggest]]] = {}
        for at, body in enumerate(bodies):
            try:
                asked = parse_suggest(body, self.limits)
                if not asked.is_batch:
                    by_model.setdefault(self.find(asked.model).name, []).append((at, asked))
            except RefusedError as error:
                answers[at] = error
        for name, group in by_model.items():
            model, most = self.models[name], max(asked.k for _, asked in group)
            try:
                rows = model.suggest([asked.rows[0] for _, asked in group], most)
            except RefusedError:
                # One of them is wrong: each for itself, so that the others are not.
                for at, _ in group:
                    answers[at] = self._suggest_alone(bodies[at])
                continue
            for (at, asked), row in zip(group, rows, strict=True):
                answers[at] = dumped({"model": name, "labels": row[: asked.k]})
        return answers

    def _suggest_alone(self, body: bytes) -> bytes | Exception:
        try:
            return self._suggest(body, Deadline())
        except RefusedError as error:
            return error


def build_app(sources: Sequence[Source], limits: Limits, hosts: Sequence[str] | None) -> Guard:
    """The service as ASGI has it; in each worker, which maps the model files by itself. Requests
    must name one of the hosts, unless there are None."""
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
    handlers: dict[Any, Any] = {
        RefusedError: _refused,
        HTTPException: _not_here,
        Exception: _failed,
    }
    return Guard(Starlette(routes=routes, exception_handlers=handlers), limits, hosts)


def dumped(content: object) -> bytes:
    """Plain ASCII: whatever a text holds, half of a surrogate pair for example, can be sent."""
    return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


def as_json(content: object, status: int = 200) -> Response:
    return Response(dumped(content), status, media_type="application/json")


async def _refused(request: Request, error: RefusedError) -> Response:
    response = as_json({"error": error.sentence}, error.status)
    if error.status in (408, 413):
        response.headers["connection"] = "close"  # the rest of the body is not waited for
    if error.status == 503:
        response.headers["retry-after"] = str(RETRY_SECONDS)
    return response


async def _not_here(request: Request, error: HTTPException) -> Response:
    known = "there are /suggest, /explain, /info, /health, /docs and /openapi.json"
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "")
        said = f"{request.url.path} does not answer {request.method}; use {allowed}."
    else:
        said = f"there is no {shown(request.url.path)}; {known}."
    response = as_json({"error": said}, error.status_code)
    response.headers.update(error.headers or {})
    return response


async def _failed(request: Request, error: Exception) -> Response:
    """The traceback goes to the log."""
    return as_json({"error": "something is wrong here, not in the request; see the log."}, 500)
