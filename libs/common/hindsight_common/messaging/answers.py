"""How answers and errors look on the wire, for those who give them and those who get them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from hindsight_common.errors import GiveUp, RequestError, RetryLater

ERROR_HEADER: Final = "Nats-Service-Error"
ERROR_CODE_HEADER: Final = "Nats-Service-Error-Code"
LONGEST_HEADER: Final = 200

Answer = BaseModel | Mapping[str, Any]


def encoded(answer: Answer) -> bytes:
    """The answer as JSON, Chinese as it is; half a surrogate pair, which UTF-8 cannot hold, as its escape."""
    return json.dumps(plain(answer), ensure_ascii=False).encode("utf-8", "backslashreplace")


def plain(answer: Answer) -> Mapping[str, Any]:
    return answer.model_dump(mode="json", by_alias=True) if isinstance(answer, BaseModel) else answer


def refusal(error: Exception) -> RequestError:
    """What a client may know about an error: a refusal as it is, of anything unexpected only that it happened."""
    match error:
        case RequestError():
            return error
        case RetryLater():
            return RequestError("unavailable", "a part of the service is away; try again shortly", status=503)
        case GiveUp():
            return RequestError(error.code, error.reason, status=400, field=error.field)
        case _:
            return RequestError(
                "internal", "an unexpected error; the service's log has the details", status=500
            )


def error_body(error: RequestError) -> dict[str, Any]:
    described = {"code": error.code, "message": error.message}
    if error.field is not None:
        described["field"] = error.field
    return {"error": described}


def error_headers(error: RequestError) -> dict[str, str]:
    """One printable line: a line break in a header would end it, and the text may quote a client's input."""
    line = "".join(char if char.isprintable() else " " for char in error.message)[:LONGEST_HEADER]
    return {ERROR_HEADER: line.strip() or error.code, ERROR_CODE_HEADER: str(error.status)}


def error_of(headers: Mapping[str, str], data: bytes) -> RequestError | None:
    """The error an answer carries, None for a good one. Understands services that send the headers alone."""
    status = headers.get(ERROR_CODE_HEADER)
    if status is None:
        return None
    try:
        described = json.loads(data)["error"]
        code, message, field = described["code"], described["message"], described.get("field")
    except (ValueError, KeyError, TypeError):
        code, message, field = "error", headers.get(ERROR_HEADER, ""), None
    return RequestError(code, message, status=int(status) if status.isdigit() else 500, field=field)
