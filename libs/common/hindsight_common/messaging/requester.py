"""Asking a service over the bus."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any, Final

import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from opentelemetry.trace import SpanKind

from hindsight_common.errors import RequestError
from hindsight_common.messaging.answers import encoded, error_of
from hindsight_common.messaging.reading import plain_headers
from hindsight_common.messaging.refusals import NotPermitted, refused_at_once
from hindsight_common.messaging.tracing import inject, template_of
from hindsight_common.observability import span

DEFAULT_TIMEOUT_S: Final = 5.0


async def request(
    nc: Client,
    subject: str,
    body: Mapping[str, Any],
    *,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    headers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The service's answer.

    Raises RequestError: what the service refused, or status 503 when nobody listens or the bus is away, 504 when
    no answer came in time (the request may still have taken effect), 413 when it is larger than the bus carries.
    """
    with span(f"request {template_of(subject)}", kind=SpanKind.CLIENT):
        sent = _headers(headers)
        try:
            async with refused_at_once(nc, subject):
                answer = await nc.request(subject, encoded(body), timeout=timeout_s, headers=sent)
        except (nats.errors.Error, TimeoutError, NotPermitted) as error:
            raise _unanswered(error, timeout_s) from error
        return _read(answer)


async def request_progress(
    nc: Client,
    subject: str,
    body: Mapping[str, Any],
    *,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    headers: Mapping[str, str] | None = None,
) -> AsyncIterator[dict[str, Any]]:
    """Yields `{"done": false, "progress": …}` as the work goes on, and last `{"done": true, "result": …}`.

    `timeout_s` is the longest wait for the next one. Raises RequestError as `request` does, at any point.
    """
    inbox = nc.new_inbox()
    try:
        subscription = await nc.subscribe(inbox)
    except nats.errors.Error as error:
        raise _unanswered(error, timeout_s) from error
    try:
        await nc.publish(subject, encoded(body), reply=inbox, headers=_headers(headers))
        is_done = False
        while not is_done:
            async with refused_at_once(nc, subject):
                step = _read(await subscription.next_msg(timeout=timeout_s))
            # a service that answers at once has only a result
            step = step if "done" in step else {"done": True, "result": step}
            is_done = step["done"] is True
            yield step
    except (nats.errors.Error, TimeoutError, NotPermitted) as error:
        raise _unanswered(error, timeout_s) from error
    finally:
        with suppress(nats.errors.Error):
            await subscription.unsubscribe()


def _headers(own: Mapping[str, str] | None) -> dict[str, str]:
    headers = {"content-type": "application/json", **(own or {})}
    inject(headers)
    return headers


def _read(answer: Msg) -> dict[str, Any]:
    headers = plain_headers(answer)
    if headers.get("Status") == "503":
        raise _unanswered(nats.errors.NoRespondersError(), 0)
    error = error_of(headers, answer.data)
    if error is not None:
        raise error
    try:
        read = json.loads(answer.data)
    except ValueError as unreadable:
        raise RequestError("bad_answer", "the service's answer is not JSON", status=502) from unreadable
    if not isinstance(read, dict):
        raise RequestError("bad_answer", "the service's answer is not an object", status=502)
    return read


def _unanswered(error: Exception, timeout_s: float) -> RequestError:
    match error:
        case NotPermitted():
            return RequestError("not_permitted", error.reason, status=403)
        case nats.errors.NoRespondersError():
            message = "nobody answers this; hindsight-cli doctor says which worker is missing"
            return RequestError("no_responders", message, status=503)
        case nats.errors.MaxPayloadError():
            return RequestError("too_large", "the request is larger than the bus carries", status=413)
        case TimeoutError():
            return RequestError("timeout", f"no answer within {timeout_s:g} s", status=504)
        case _:
            return RequestError("unavailable", "the bus is away; try again shortly", status=503)
