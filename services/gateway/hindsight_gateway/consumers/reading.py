"""What a request says beside its method and path, read strictly: what is doubtful is refused, never guessed.

All of it raises `RequestError`.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import parse_qsl, unquote_to_bytes, urlsplit

from fastapi import Request

from hindsight_common.errors import RequestError

# As much as the stream of raw turns takes
MAX_BODY_BYTES: Final = 1024 * 1024
_THIS_MACHINE: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_BROKEN_ESCAPE: Final = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_CONTROL: Final = re.compile(rb"[\x00-\x1f\x7f]")


def header(request: Request, name: str) -> str | None:
    """The value of a header that may be given once, in UTF-8, so that names need no transcription."""
    raw = name.lower().encode()
    values = [value for key, value in request.headers.raw if key == raw]
    if not values:
        return None
    if len(values) > 1:
        raise RequestError("invalid_header", f"{name} is given twice; send it once", field=name)
    try:
        return values[0].decode()
    except UnicodeDecodeError:
        raise RequestError("invalid_header", f"{name} is not UTF-8", field=name) from None


def query(request: Request) -> dict[str, str]:
    """The parameters behind the `?`."""
    raw: bytes = request.scope["query_string"]
    check_escapes(raw)
    said = parse_qsl(raw.decode("ascii"), keep_blank_values=True, errors="strict")
    found = dict(said)
    if len(found) < len(said):
        names = [name for name, _ in said]
        twice = next(name for name in names if names.count(name) > 1)
        raise RequestError("invalid_request", "a parameter is given twice; send it once", field=twice[:64])
    return found


def check_path(raw: bytes) -> None:
    """The path as it was sent, escapes and all."""
    check_escapes(raw)
    if _CONTROL.search(unquote_to_bytes(raw)):
        raise RequestError("invalid_request", "the path contains a control character")


def check_escapes(raw: bytes) -> None:
    if _BROKEN_ESCAPE.search(raw):
        message = "a % in the address is not followed by two hexadecimal digits; write % itself as %25"
        raise RequestError("invalid_request", message)
    try:
        unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        raise RequestError("invalid_request", "the address is not UTF-8") from None


def refuse_foreign_pages(request: Request) -> None:
    """Refuses a page that is not from this machine.

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


async def body(request: Request) -> bytes:
    """Only JSON is taken: a page on another site cannot send that without asking first."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        message = "send the body as Content-Type: application/json"
        raise RequestError("unsupported_media_type", message, status=415, field="Content-Type")
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        message = "send the body as it is, without Content-Encoding"
        raise RequestError("unsupported_media_type", message, status=415, field="Content-Encoding")
    announced = request.headers.get("content-length", "0")
    if announced.isdigit() and int(announced) > MAX_BODY_BYTES:
        raise _too_large()
    read = bytearray()
    async for chunk in request.stream():
        read += chunk
        if len(read) > MAX_BODY_BYTES:
            raise _too_large()
    return bytes(read)


def _too_large() -> RequestError:
    return RequestError("too_large", f"the body is larger than {MAX_BODY_BYTES} bytes", status=413)
