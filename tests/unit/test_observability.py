from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from hindsight_common.errors import RequestError
from hindsight_common.observability import shutdown, span
from hindsight_common.observability.logs import WITHHELD, withhold

_CANARY = "我对花生过敏 peanuts"


def _logged(code: str, **environment: str) -> list[dict[str, Any]]:
    """The log lines of a program run in a process of its own: `setup` is for the whole process and for good."""
    program = "from hindsight_common.observability import setup, tracer, meter, shutdown\n" + textwrap.dedent(
        code
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONIOENCODING": "utf-8", **environment},
    )
    assert done.stdout == ""
    return [json.loads(line) for line in done.stderr.splitlines()]


def test_lines_are_json_and_carry_the_ids_of_the_current_span() -> None:
    inside, outside = _logged("""
        import structlog
        setup("demo")
        log = structlog.get_logger()
        with tracer().start_as_current_span("x"):
            log.info("inside", stream="LOG")
        log.info("outside")
        shutdown()
    """)
    assert inside["service"] == "demo"
    assert inside["stream"] == "LOG"
    assert len(inside["trace_id"]) == 32
    assert len(inside["span_id"]) == 16
    assert inside["timestamp"].endswith("Z")
    assert "trace_id" not in outside


def test_a_person_at_a_terminal_reads_plain_lines_that_withhold_the_same() -> None:
    code = f"""
import structlog
from hindsight_common.observability import setup
setup("demo")
log = structlog.get_logger()
log.info("worker_started", worker="recall", user_id="{_CANARY}")
try:
    raise ValueError("{_CANARY}")
except ValueError:
    log.exception("failed")
"""
    ours, terminal = os.openpty()
    try:
        subprocess.run([sys.executable, "-W", "error", "-c", code], stderr=terminal, check=True)
        first, second = os.read(ours, 65536).decode().splitlines()
    finally:
        os.close(terminal)
        os.close(ours)
    assert "worker_started" in first
    assert "worker=recall" in first
    assert "error_type=ValueError" in second
    assert "peanuts" not in first + second


def test_an_exception_is_logged_as_type_and_place_without_its_message() -> None:
    (line,) = _logged(f"""
        import structlog
        setup("demo")
        try:
            raise ValueError("{_CANARY}")
        except ValueError:
            structlog.get_logger().exception("failed")
    """)
    assert line["error_type"] == "ValueError"
    assert line["error_at"]
    assert "花生" not in json.dumps(line, ensure_ascii=False)


def test_of_vendors_only_warnings_are_shown_and_never_their_arguments() -> None:
    (line,) = _logged(f"""
        import logging
        setup("demo")
        vendor = logging.getLogger("vendor")
        vendor.info("{_CANARY}")
        vendor.warning("could not send %s", "{_CANARY}")
    """)
    assert line["logger"] == "vendor"
    assert line["event"] == "could not send %s"


def test_without_an_endpoint_nothing_is_exported() -> None:
    assert (
        _logged("""
        import socket
        def refuse(*_, **__): raise AssertionError("a connection was opened")
        socket.socket.connect = refuse
        setup("demo")
        with tracer().start_as_current_span("x"):
            meter().create_counter("c").add(1)
        shutdown()
    """)
        == []
    )


def test_an_endpoint_without_the_exporter_says_what_to_install() -> None:
    with pytest.raises(subprocess.CalledProcessError) as failed:
        _logged(
            "import sys; sys.modules['opentelemetry.exporter.otlp'] = None; setup('demo')",
            OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:4318",
        )
    assert "opentelemetry-exporter-otlp-proto-http" in failed.value.stderr


_values = st.recursive(
    st.none() | st.integers() | st.just(_CANARY),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(
    name=st.sampled_from(["text", "Content", "user_id", "query", "messages", "session_id", "turn_id"]),
    value=_values.filter(lambda value: value is not None),
    depth=st.integers(0, 3),
)
def test_a_field_named_after_content_or_a_person_is_withheld_at_any_depth(
    name: str, value: object, depth: int
) -> None:
    event: dict[str, Any] = {name: value}
    for _ in range(depth):
        event = {"details": [event]}
    shown = withhold(None, "info", event)
    for _ in range(depth):
        shown = shown["details"][0]
    assert shown[name] == WITHHELD


def test_long_values_are_cut_and_bytes_never_shown() -> None:
    shown = withhold(None, "info", {"reason": "x" * 1000, "raw": _CANARY.encode()})
    assert len(shown["reason"]) < 310
    assert shown["raw"] == WITHHELD


def test_shutting_down_leaves_the_providers_of_others_alone(spans: InMemorySpanExporter) -> None:
    shutdown()
    with span("step"):
        pass
    assert [ended.name for ended in spans.get_finished_spans()] == ["step"]


def test_a_span_names_the_error_that_ended_it_and_never_quotes_it(spans: InMemorySpanExporter) -> None:
    errors = (ValueError(_CANARY), RequestError("not_found", _CANARY, status=404))
    for error in errors:
        with pytest.raises(type(error)), span("step"):
            raise error
    ended = spans.get_finished_spans()
    assert [(e.attributes or {})["error.type"] for e in ended] == ["ValueError", "not_found"]
    assert not any(e.status.is_ok for e in ended)
    assert not any(e.events or "peanuts" in e.to_json() for e in ended)
