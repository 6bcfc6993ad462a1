"""The routes. Bodies are the ones of the bus, which alone says whether they are right; errors are problem details."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from fastapi import FastAPI, Request, Response
from fastapi.telemetry import TelemetryConfig
from opentelemetry.trace import SpanKind
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp

from hindsight_common import VERSION
from hindsight_common.errors import RequestError
from hindsight_common.messaging.tracing import extract
from hindsight_common.observability import span
from hindsight_gateway.application.forwarding import Forward, read_key
from hindsight_gateway.application.health import WatchHealth
from hindsight_gateway.consumers import answering
from hindsight_gateway.consumers.answering import Line
from hindsight_gateway.consumers.guard import Guard
from hindsight_gateway.consumers.openapi import document
from hindsight_gateway.consumers.reading import body, header, query, refuse_foreign_pages

_MOST_IN_HAND: Final = 256
Ask = Callable[[Request, str | None], Awaitable[dict[str, Any]]]


class _Api(FastAPI):
    def openapi(self) -> dict[str, Any]:
        """Made from the models of the bus, so that there is one truth; the routes declare nothing of their own."""
        if self.openapi_schema is None:
            self.openapi_schema = document()
        return self.openapi_schema


def application(forward: Forward, health: WatchHealth, *, most_in_hand: int = _MOST_IN_HAND) -> ASGIApp:
    app = _Api(
        title="Hindsight",
        version=VERSION,
        # the interactive pages would load scripts from outside the deployment
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        # the framework's own spans and logs quote addresses, in which users are named, and what exceptions say
        telemetry=TelemetryConfig(
            tracing=False, metrics=False, logs=False, operation_spans=False, auto_configure=False
        ),
    )
    app.add_exception_handler(Exception, answering.unexpected)
    app.add_exception_handler(ClientDisconnect, answering.client_gone)
    app.add_exception_handler(404, answering.no_such_path)
    app.add_exception_handler(405, answering.no_such_method)
    app.add_exception_handler(RequestError, answering.refused)
    app.add_api_route("/health", _health(health), methods=["GET"])
    for method, path, ask in _routes(forward):
        app.add_api_route(path, _handler(path, ask), methods=[method])
    return Guard(app, most_in_hand)


def _health(health: WatchHealth) -> Callable[[], Awaitable[Response]]:
    async def answer() -> Response:
        """503 only when the bus is away: nothing but a restart of what is missing would help otherwise."""
        found = await health.now()
        if found.is_well:
            return Line({"status": "ok"})
        said: dict[str, Any] = {"status": "degraded", "missing": list(found.missing)}
        if found.extraction is not None:
            said["extraction"] = found.extraction.model_dump(mode="json")
        return Line(said, 503 if "bus" in found.missing else 200)

    return answer


def _routes(forward: Forward) -> list[tuple[str, str, Ask]]:
    async def write(request: Request, tenant: str | None) -> dict[str, Any]:
        return await forward.write(tenant, await body(request), header(request, "Idempotency-Key"))

    async def recall(request: Request, tenant: str | None) -> dict[str, Any]:
        return await forward.recall(tenant, await body(request))

    async def inject(request: Request, tenant: str | None) -> dict[str, Any]:
        return await forward.inject(tenant, await body(request))

    async def inject_for(request: Request, tenant: str | None) -> dict[str, Any]:
        return await forward.inject(tenant, await body(request), header(request, "X-User-Id"))

    async def forget(request: Request, tenant: str | None) -> dict[str, Any]:
        read_key(header(request, "Idempotency-Key"))
        return await forward.forget(tenant, await body(request))

    async def get_memory(request: Request, tenant: str | None) -> dict[str, Any]:
        return await forward.memory(tenant, request.path_params["memory_id"], query(request))

    async def change_memory(request: Request, tenant: str | None) -> dict[str, Any]:
        read_key(header(request, "Idempotency-Key"))
        return await forward.decide(tenant, request.path_params["memory_id"], await body(request))

    async def delete_memory(request: Request, tenant: str | None) -> dict[str, Any]:
        read_key(header(request, "Idempotency-Key"))
        return await forward.delete(tenant, request.path_params["memory_id"], await body(request))

    async def get_turn(request: Request, tenant: str | None) -> dict[str, Any]:
        return await forward.turn(tenant, request.path_params["turn_id"], query(request))

    return [
        ("POST", "/v1/write", write),
        ("POST", "/v1/recall", recall),
        ("POST", "/v1/inject", inject),
        ("POST", "/v1/forget", forget),
        ("GET", "/v1/memory/{memory_id}", get_memory),
        ("PATCH", "/v1/memory/{memory_id}", change_memory),
        ("POST", "/v1/memory/{memory_id}/delete", delete_memory),
        # an id may hold a slash
        ("GET", "/v1/turns/{turn_id:path}", get_turn),
        ("POST", "/api/memory/inject", inject_for),
    ]


def _handler(path: str, ask: Ask) -> Callable[[Request], Awaitable[Response]]:
    route = path.replace(":path", "")

    async def answer(request: Request) -> Response:
        with span(
            f"{request.method} {route}",  # never the path as sent: it names memories and turns
            context=extract(dict(request.headers)),
            kind=SpanKind.SERVER,
        ):
            refuse_foreign_pages(request)
            return Line(await ask(request, header(request, "X-Tenant")))

    return answer
