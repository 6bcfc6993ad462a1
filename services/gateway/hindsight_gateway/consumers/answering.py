"""Answers and problems as responses."""

from __future__ import annotations

import json
from typing import Any

import structlog
from fastapi import Request, Response
from fastapi.responses import JSONResponse
from starlette.routing import Match, Route

from hindsight_common.errors import RequestError
from hindsight_common.observability.logs import places
from hindsight_gateway.domain.problem import MEDIA_TYPE, headers_of, problem_line, status_of

_log = structlog.get_logger(__name__)


class Line(JSONResponse):
    """Ends in a line break, so that the answers to several commands in a terminal do not run into each other."""

    def render(self, content: Any) -> bytes:
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        # half a surrogate pair, which UTF-8 cannot hold, as its escape
        return text.encode("utf-8", "backslashreplace") + b"\n"


def problem(error: RequestError) -> Response:
    return Response(problem_line(error), status_of(error), headers_of(error), MEDIA_TYPE)


async def refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)
    return problem(error)


async def no_such_path(request: Request, _: Exception) -> Response:
    message = f"there is nothing at {request.url.path}; GET /openapi.json lists what there is"
    return problem(RequestError("not_found", message, status=404))


async def no_such_method(request: Request, _: Exception) -> Response:
    # what the router raises names the methods of the first route of a path only
    found = (
        route.methods or set()
        for route in request.app.routes
        if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE
    )
    allowed = ", ".join(sorted(set().union(*found)))
    message = f"{request.method} is not taken here; use {allowed}"
    answer = problem(RequestError("method_not_allowed", message, status=405))
    answer.headers["Allow"] = allowed
    return answer


async def client_gone(_: Request, __: Exception) -> Response:
    """Nobody receives it; that a client left before its request was whole is no fault of ours to be logged."""
    return Response(status_code=408)


async def unexpected(request: Request, error: Exception) -> Response:
    route = getattr(request.scope.get("route"), "path", "")
    _log.error("gateway.failed", route=route, error_type=type(error).__name__, error_at=places(error))
    return problem(RequestError("internal", "the gateway failed; its log says more", status=500))
