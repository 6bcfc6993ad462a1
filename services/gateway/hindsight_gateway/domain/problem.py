"""Errors as problem details (RFC 9457)."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Final

from hindsight_common.errors import RequestError

MEDIA_TYPE: Final = "application/problem+json"


def problem_of(error: RequestError) -> dict[str, object]:
    """`code` is stable and meant for programs, `detail` for people; `field` is a path such as `messages.0.role`."""
    status = status_of(error)
    problem: dict[str, object] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": int(status),
        "detail": error.message,
        "code": error.code,
    }
    return problem | ({"field": error.field} if error.field else {})


def problem_line(error: RequestError) -> bytes:
    """The problem as JSON, ended by a line break; half a surrogate pair, which UTF-8 cannot hold, as its escape."""
    text = json.dumps(problem_of(error), ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace") + b"\n"


def headers_of(error: RequestError) -> dict[str, str]:
    """A client that comes back too soon meets the same outage."""
    return {"Retry-After": "1"} if error.status == 503 else {}


def status_of(error: RequestError) -> int:
    """The error's own, unless a worker said one that HTTP has not for errors: then it is a bad answer, 502."""
    try:
        status = HTTPStatus(error.status)
    except ValueError:
        return HTTPStatus.BAD_GATEWAY
    return status if status >= HTTPStatus.BAD_REQUEST else HTTPStatus.BAD_GATEWAY
