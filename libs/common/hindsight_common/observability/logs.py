"""Structured logs on stderr, with trace ids, and without what people said: one JSON object a line, or plain lines
where a person watches a terminal.

Fields whose names speak of content or of a person are withheld; exceptions are logged as type and place, since
their messages quote what they could not read; of vendors only warnings are shown, without their arguments.
"""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import MutableMapping
from typing import Any, Final

import structlog
from opentelemetry import trace
from structlog.typing import EventDict, WrappedLogger

WITHHELD: Final = "[withheld]"
# longer than any code, key or reason of ours, shorter than a sentence worth stealing
LONGEST_VALUE: Final = 300
_FORBIDDEN: Final = frozenset(
    {
        "answer",
        "body",
        "content",
        "data",
        "messages",
        "object",
        "payload",
        "query",
        "session_id",
        "snapshot",
        "summary",
        "text",
        "turn_id",
        "user",
        "user_id",
    }
)


def configure_logs(service_name: str, *, level: str = "INFO") -> None:
    """Everything that logs in this process, vendors included, comes out in the same form."""
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _service(service_name),
        add_trace_ids,
        describe_exception,
        withhold,
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.stdlib.PositionalArgumentsFormatter(),
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[_vendor, *shared],
            # a vendor's sentence without what it was about to fill in
            use_get_message=False,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                _rendering(),
            ],
        )
    )
    handler.addFilter(_is_ours_or_serious)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    # its lines quote request targets, in which users are named
    logging.getLogger("uvicorn.access").disabled = True


def _rendering() -> Any:
    if sys.stderr.isatty():
        return structlog.dev.ConsoleRenderer(colors=False, pad_event_to=0)
    return structlog.processors.JSONRenderer(ensure_ascii=False)


def add_trace_ids(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """`trace_id` and `span_id` of the current span, in hex; nothing outside of one."""
    context = trace.get_current_span().get_span_context()
    if context.is_valid:
        event["trace_id"] = format(context.trace_id, "032x")
        event["span_id"] = format(context.span_id, "016x")
    return event


def describe_exception(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Replaces `exc_info` by the exception's type and the places it passed through, never its message."""
    info = event.pop("exc_info", None)
    if info is True:
        info = sys.exc_info()
    error = info[1] if isinstance(info, tuple) else info
    if isinstance(error, BaseException):
        event["error_type"] = type(error).__name__
        event["error_at"] = places(error)
    return event


def places(error: BaseException, innermost: int = 8) -> list[str]:
    """Where an exception was on its way, as `file:line function`, the innermost frames last."""
    frames = traceback.extract_tb(error.__traceback__)[-innermost:]
    return [f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in frames]


def withhold(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Withholds fields named after content or persons, at any depth, and shortens long values."""
    return _withheld(event)


def _withheld(fields: MutableMapping[str, Any]) -> dict[str, Any]:
    return {
        name: WITHHELD if name.lower() in _FORBIDDEN and value is not None else _shortened(value)
        for name, value in fields.items()
        if not name.startswith("_")
    } | {name: value for name, value in fields.items() if name.startswith("_")}


def _shortened(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= LONGEST_VALUE else f"{value[:LONGEST_VALUE]}…"
    if isinstance(value, dict):
        return _withheld(value)
    if isinstance(value, list | tuple):
        return [_shortened(item) for item in value]
    if isinstance(value, bytes | bytearray | memoryview):
        return WITHHELD
    return value


def _service(name: str) -> Any:
    def add(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
        event["service"] = name
        return event

    return add


def _vendor(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Names the vendor's logger."""
    record: logging.LogRecord | None = event.get("_record")
    if record is not None:
        event["logger"] = record.name
    return event


def _is_ours_or_serious(record: logging.LogRecord) -> bool:
    """What a vendor says may quote anything, so only its warnings and errors are shown."""
    return isinstance(record.msg, dict) or record.levelno >= logging.WARNING
