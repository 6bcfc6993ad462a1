"""The catalogue of the bus leaves nothing out, and the documents made of it are valid and up to date."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from faststream.specification.asyncapi.v3_0_0.schema import ApplicationSchema

from hindsight_common.events import streams, subjects
from hindsight_common.events.log import VERSIONS
from hindsight_common.events.streams import CONSUMERS, FIRST_READING_CONSUMER, STREAMS
from scripts.bus_documents.__main__ import written
from scripts.bus_documents.asyncapi import document
from scripts.bus_documents.events import EVENTS
from scripts.bus_documents.requests import EXCHANGES


@pytest.mark.parametrize("path", sorted(written()), ids=lambda path: path.name)
def test_what_is_checked_in_is_what_the_catalogue_says(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == written()[path], "run `make documents`"


def _covers(pattern: str, subject: str) -> bool:
    tokens = [".*" if t == ">" else "[^.]+" if t == "*" else re.escape(t) for t in pattern.split(".")]
    return re.fullmatch(r"\.".join(tokens), subject) is not None


def _published() -> Iterator[tuple[str, str]]:
    """Stream and an example of each subject of the catalogue."""
    for event in EVENTS:
        subject = re.sub(r"\{\w+\}", "x", event.subject)
        yield event.stream, subject
        if event.tenanted:
            yield event.stream, f"{subject}.x"


def test_every_subject_that_a_stream_takes_has_an_event_and_every_event_its_stream() -> None:
    taken = {(stream.name, pattern) for stream in STREAMS for pattern in stream.subjects}
    for stream, pattern in taken:
        assert any(s == stream and _covers(pattern, subject) for s, subject in _published()), pattern
    for stream, subject in _published():
        assert any(s == stream and _covers(pattern, subject) for s, pattern in taken), subject


def test_every_consumer_reads_the_events_that_the_catalogue_says_it_reads() -> None:
    declared = {value for value in vars(streams).values() if isinstance(value, streams.ConsumerSpec)}
    assert declared == {*CONSUMERS, FIRST_READING_CONSUMER}
    takes_all = {stream.name: stream.subjects for stream in STREAMS}
    for consumer in declared:
        filters = consumer.filter_subjects or takes_all[consumer.stream]
        for event in EVENTS:
            subject = re.sub(r"\{\w+\}", "x", event.subject) if event.name != "JobDue" else "job.nightly"
            reads = event.stream == consumer.stream and any(_covers(f, subject) for f in filters)
            named = consumer.durable in {reader.partition("/")[2] for reader in event.consumers}
            assert reads == named, f"{consumer.durable} and {event.name}"


def test_every_kind_of_log_event_is_named_with_its_version() -> None:
    named = {event.subject.rsplit(".", 1)[1]: event.version for event in EVENTS if event.stream == "LOG"}
    assert named == VERSIONS


def test_every_request_subject_is_named_once() -> None:
    spoken = [value for name, value in vars(subjects).items() if name.startswith(("MEMORY_", "ADMIN_"))]
    assert sorted(exchange.subject for exchange in EXCHANGES) == sorted(spoken)


def test_the_asyncapi_document_has_the_form_of_version_three() -> None:
    made = document()
    ApplicationSchema.model_validate(made)
    for reference in _references(made):
        at: Any = made
        for step in reference.removeprefix("#/").split("/"):
            at = at[step]


def _references(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == "$ref":
                yield inner
            else:
                yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)


def test_no_two_events_and_no_two_operations_share_a_name() -> None:
    names = [event.name for event in EVENTS] + [exchange.name for exchange in EXCHANGES]
    assert len(set(names)) == len(names)
