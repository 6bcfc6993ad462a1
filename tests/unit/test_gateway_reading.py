"""Whatever an address or a header holds, it is read as it was meant or refused, and nothing else happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar
from urllib.parse import quote, urlencode

import pytest
from fastapi import Request
from hypothesis import given
from hypothesis import strategies as st

from hindsight_common.errors import RequestError
from hindsight_gateway.consumers.reading import check_path, header, query
from hindsight_gateway.domain.problem import problem_line, status_of

Read = TypeVar("Read")
# what a server lets through as a request's target
TARGETS = st.binary(max_size=60).map(lambda raw: bytes(0x21 + byte % 0x5E for byte in raw))
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def request(query_string: bytes = b"", headers: list[tuple[bytes, bytes]] | None = None) -> Request:
    return Request({"type": "http", "query_string": query_string, "headers": headers or []})


def outcome(read: Callable[[], Read]) -> Read | RequestError:
    try:
        return read()
    except RequestError as error:
        return error


@given(st.dictionaries(TEXTS, TEXTS, max_size=4))
def test_parameters_are_read_as_they_were_written(said: dict[str, str]) -> None:
    assert query(request(urlencode(said).encode())) == said


@given(TARGETS)
def test_any_query_is_read_or_refused(raw: bytes) -> None:
    found = outcome(lambda: query(request(raw)))
    if isinstance(found, dict):
        assert "\ufffd" not in "".join([*found, *found.values()]) or b"%EF%BF%BD" in raw.upper()
    else:
        assert found.status == 400


@given(TEXTS)
def test_a_path_is_taken_unless_it_holds_a_control_character(text: str) -> None:
    raw = quote(text, safe="").encode()
    if any(ord(char) < 32 or ord(char) == 127 for char in text):
        with pytest.raises(RequestError):
            check_path(raw)
    else:
        check_path(raw)


@given(TARGETS)
def test_any_path_is_taken_or_refused(raw: bytes) -> None:
    refused = outcome(lambda: check_path(raw))
    assert refused is None or refused.status == 400


@given(st.lists(st.binary(max_size=8), max_size=3))
def test_a_header_is_read_once_in_utf_8_or_refused(values: list[bytes]) -> None:
    given_headers = [(b"x-user-id", value) for value in values]
    found = outcome(lambda: header(request(headers=given_headers), "X-User-Id"))
    if isinstance(found, RequestError):
        assert (found.code, found.field) == ("invalid_header", "X-User-Id")
    else:
        assert (found is None) == (not values)
        assert found is None or [found.encode()] == values


@given(st.integers(-10, 1000), st.text(max_size=20))
def test_every_error_becomes_a_problem_of_an_error_s_status(status: int, message: str) -> None:
    error = RequestError("code", message, status=status)
    assert 400 <= status_of(error) < 600
    assert problem_line(error).endswith(b"}\n")
