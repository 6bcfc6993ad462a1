"""Errors as problem details (RFC 9457)."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from hindsight_common.errors import RequestError

MEDIA_TYPE: Final = "application/problem+json"


def problem_of(error: RequestError) -> dict[str, object]:
    """`code` is stable and meant for programs, `detail` for people; `field` is a path such as `messages.0.role`."""
    problem: dict[str, object] = {
        "type": "about:blank",
        "title": _phrase(error.status),
        "status": error.status,
        "detail": error.message,
        "code": error.code,
    }
    return problem | ({"field": error.field} if error.field else {})


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Error"
