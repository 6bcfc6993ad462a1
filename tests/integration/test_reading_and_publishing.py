from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hindsight_common.errors import GiveUp, RetryLater
from hindsight_common.messaging.connection import Bus
from hindsight_common.messaging.publishing import AlreadyThere, publish
from hindsight_common.messaging.reading import (
    StoredMessage,
    delete_message,
    last_message,
    message_at,
    read_subject,
)


async def _read(bus: Bus, subject: str, **options: int) -> list[StoredMessage]:
    return [message async for message in read_subject(bus.js, "LOG", subject, **options)]


async def test_what_was_published_is_read_back_with_its_own_headers_only(bus: Bus) -> None:
    placed = await publish(bus, "log.00.default.aa.turn", "花生".encode(), headers={"Kind": "turn"})
    (stored,) = await _read(bus, "log.>")
    assert (placed.stream, placed.sequence, placed.duplicate) == ("LOG", 1, False)
    assert (stored.subject, stored.sequence) == ("log.00.default.aa.turn", 1)
    assert stored.data.decode() == "花生"
    assert dict(stored.headers) == {"Kind": "turn", "Hindsight-Schema": "1"}
    assert abs(stored.timestamp - datetime.now(UTC)) < timedelta(minutes=1)


async def test_reading_crosses_batches_in_stream_order_and_keeps_to_the_filter(bus: Bus) -> None:
    for number in range(50):
        await publish(bus, f"log.0{number % 2}.default.aa.turn", str(number).encode())
    read = await _read(bus, "log.01.*.*.*", batch=7)
    assert [message.data.decode() for message in read] == [str(number) for number in range(1, 50, 2)]
    assert [message.sequence for message in read] == list(range(2, 51, 2))


@pytest.mark.parametrize("batch", [1, 3, 256])
async def test_deleted_messages_are_absent_and_never_end_the_reading_early(bus: Bus, batch: int) -> None:
    for number in range(12):
        await publish(bus, "log.00.default.aa.turn", str(number).encode())
    for sequence in (1, 2, 5, 6, 7, 12):
        assert await delete_message(bus.js, "LOG", sequence)
    assert [m.sequence for m in await _read(bus, "log.>", batch=batch)] == [3, 4, 8, 9, 10, 11]
    assert [m.sequence for m in await _read(bus, "log.>", batch=batch, start_sequence=5)] == [8, 9, 10, 11]


async def test_reading_past_the_end_or_an_unused_subject_yields_nothing(bus: Bus) -> None:
    assert await _read(bus, "log.>") == []
    await publish(bus, "log.00.default.aa.turn", b"x")
    assert await _read(bus, "log.>", start_sequence=2) == []
    assert await _read(bus, "log.77.>") == []


async def test_large_messages_are_read_whole_though_one_answer_is_bounded(bus: Bus) -> None:
    body = b"x" * 1_000_000
    for _ in range(40):
        await publish(bus, "log.00.default.aa.turn", body)
    read = await _read(bus, "log.>")
    assert [m.sequence for m in read] == list(range(1, 41))
    assert all(m.data == body for m in read)


async def test_reading_a_stream_that_is_not_there_is_a_temporary_fault(bare_bus: Bus) -> None:
    with pytest.raises(RetryLater):
        await _read(bare_bus, "log.>")


async def test_last_message_takes_wildcards_and_is_none_without_a_match(bus: Bus) -> None:
    for user, text in (("aa", b"1"), ("bb", b"2"), ("aa", b"3"), ("bb", b"4")):
        await publish(bus, f"log.00.default.{user}.turn", text)
    last = await last_message(bus.js, "LOG", "log.*.default.aa.*")
    assert last is not None
    assert (last.sequence, last.data) == (3, b"3")
    assert await last_message(bus.js, "LOG", "log.*.other.*.*") is None
    await delete_message(bus.js, "LOG", 3)
    last = await last_message(bus.js, "LOG", "log.*.default.aa.*")
    assert last is not None
    assert last.sequence == 1


async def test_a_message_is_found_by_its_sequence_until_it_is_deleted(bus: Bus) -> None:
    await publish(bus, "log.00.default.aa.turn", b"1")
    stored = await message_at(bus.js, "LOG", 1)
    assert stored is not None
    assert stored.data == b"1"
    await delete_message(bus.js, "LOG", 1)
    assert await message_at(bus.js, "LOG", 1) is None
    assert await message_at(bus.js, "LOG", 99) is None


async def test_deleting_again_or_what_never_was_is_no_error(bus: Bus) -> None:
    await publish(bus, "log.00.default.aa.turn", b"1")
    assert await delete_message(bus.js, "LOG", 1)
    assert not await delete_message(bus.js, "LOG", 1)
    assert not await delete_message(bus.js, "LOG", 99)


async def test_a_second_first_message_on_a_subject_is_refused_with_the_place_of_the_first(bus: Bus) -> None:
    subject = "turn.00.default.aa.t1"
    await publish(bus, "turn.00.default.aa.t0", b"other")
    await publish(bus, subject, b"first", expected_last_subject_sequence=0)
    with pytest.raises(AlreadyThere) as refused:
        await publish(bus, subject, b"second", expected_last_subject_sequence=0)
    assert refused.value.last_sequence == 2
    await publish(bus, subject, b"third", expected_last_subject_sequence=2)


async def test_a_repeated_message_id_is_a_duplicate_and_a_success(bus: Bus) -> None:
    first = await publish(bus, "log.00.default.aa.turn", b"1", msg_id="m")
    again = await publish(bus, "log.00.default.aa.turn", b"1", msg_id="m")
    assert again.duplicate
    assert again.sequence == first.sequence
    assert len(await _read(bus, "log.>")) == 1


async def test_publishing_where_no_stream_listens_is_a_temporary_fault(bare_bus: Bus) -> None:
    with pytest.raises(RetryLater):
        await publish(bare_bus, "log.00.default.aa.turn", b"1")


async def test_a_message_too_large_for_its_stream_or_the_server_is_given_up(bus: Bus) -> None:
    for size in (1024 * 1024 + 1, 5 * 1024 * 1024):
        with pytest.raises(GiveUp) as refused:
            await publish(bus, "conversation.turn", b"x" * size)
        assert refused.value.code == "too_large"
