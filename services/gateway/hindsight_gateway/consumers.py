"""The gateway's way in: HTTP. Bodies are the ones of the bus, errors are problem details."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final
from urllib.parse import urlsplit

import structlog
from fastapi import FastAPI, Header, Request, Response
from fastapi.responses import JSONResponse
from opentelemetry.trace import SpanKind

from hindsight_common import VERSION
from hindsight_common.errors import RequestError
from hindsight_common.messaging.tracing import extract
from hindsight_common.observability import span
from hindsight_gateway.application.forwarding import Forward
from hindsight_gateway.application.health import WatchHealth
from hindsight_gateway.domain.problem import MEDIA_TYPE, problem_of

# As much as the stream of raw turns takes
MAX_BODY_BYTES: Final = 1024 * 1024
_THIS_MACHINE: Final = frozenset({"localhost", "127.0.0.1", "::1"})

_log = structlog.get_logger(__name__)


class _Line(JSONResponse):
    """Ends in a line break, so that the answers to several commands in a terminal do not run into each other."""

    def render(self, content: Any) -> bytes:
        return super().render(content) + b"\n"


def application(forward: Forward, health: WatchHealth) -> FastAPI:
    # the interactive pages would load scripts from outside the deployment
    app = FastAPI(title="Hindsight", version=VERSION, docs_url=None, redoc_url=None)
    app.add_exception_handler(Exception, _unexpected)
    app.add_exception_handler(404, _no_such_path)
    app.add_exception_handler(405, _no_such_method)
    app.add_exception_handler(RequestError, _refused)

    @app.get("/health")
    async def get_health() -> Response:
        """`ok`, or `degraded` with what is missing; 503 only when the bus is."""
        found = await health.now()
        if not found.missing:
            return _Line({"status": "ok"})
        status = 503 if "bus" in found.missing else 200
        return _Line({"status": found.status, "missing": list(found.missing)}, status)

    @app.post("/v1/write")
    async def write(
        request: Request,
        x_tenant: str | None = Header(None),
        idempotency_key: str | None = Header(None),
    ) -> Response:
        """A turn of a conversation; without a `turn_id` the `Idempotency-Key` is it, else one is made."""
        return await _answer(request, lambda body: forward.write(x_tenant, body, idempotency_key))

    @app.post("/v1/recall")
    async def recall(request: Request, x_tenant: str | None = Header(None)) -> Response:
        """Memories that matter for a query."""
        return await _answer(request, lambda body: forward.recall(x_tenant, body))

    @app.post("/v1/forget")
    async def forget(request: Request, x_tenant: str | None = Header(None)) -> Response:
        """Without `confirm` what would go, with it the receipt."""
        return await _answer(request, lambda body: forward.forget(x_tenant, body))

    return app


async def _answer(request: Request, ask: Callable[[bytes], Awaitable[dict[str, Any]]]) -> Response:
    with span(
        f"{request.method} {request.url.path}",
        context=extract(dict(request.headers)),
        kind=SpanKind.SERVER,
    ):
        _refuse_foreign_pages(request)
        return _Line(await ask(await _body(request)))


def _refuse_foreign_pages(request: Request) -> None:
    """Raises `RequestError` for a page that is not from this machine.

    Only browsers send an Origin. Without keys a page could read and erase memories once its own name points here
    (DNS rebinding), since to the browser it then asks its own site and may send JSON.
    """
    origin = request.headers.get("origin")
    if origin is not None and _host_of(origin) not in _THIS_MACHINE:
        message = "pages of other sites may not ask; send requests from your backend"
        raise RequestError("foreign_origin", message, status=403, field="Origin")


def _host_of(origin: str) -> str | None:
    try:
        return urlsplit(origin).hostname
    except ValueError:
        return None


async def _body(request: Request) -> bytes:
    """Raises `RequestError`. Only JSON is taken: a page on another site cannot send that without asking first."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        message = "send the body as Content-Type: application/json"
        raise RequestError("unsupported_media_type", message, status=415, field="Content-Type")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise RequestError("too_large", f"the body is larger than {MAX_BODY_BYTES} bytes", status=413)
    return bytes(body)


def _problem(error: RequestError) -> Response:
    # a client that comes back too soon meets the same outage
    headers = {"Retry-After": "1"} if error.status == 503 else None
    return _Line(problem_of(error), error.status, headers, MEDIA_TYPE)


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)
    return _problem(error)


async def _no_such_path(request: Request, _: Exception) -> Response:
    message = f"there is nothing at {request.url.path}; GET /openapi.json lists what there is"
    return _problem(RequestError("not_found", message, status=404))


async def _no_such_method(request: Request, error: Exception) -> Response:
    # what the router raises says which methods there are
    allowed = (getattr(error, "headers", None) or {}).get("Allow", "")
    message = f"{request.method} is not taken here" + (f"; use {allowed}" if allowed else "")
    answer = _problem(RequestError("method_not_allowed", message, status=405))
    if allowed:
        answer.headers["Allow"] = allowed
    return answer


async def _unexpected(request: Request, error: Exception) -> Response:
    _log.error("gateway.failed", path=request.url.path, fault=type(error).__name__)
    return _problem(RequestError("internal", "the gateway failed; its log says more", status=500))
