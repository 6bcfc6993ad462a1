"""Keys, the log and accepted turns on a real server: sealed, authenticated, exactly once, and destroyed for good."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hindsight_common.adapters.embedded.nats_server import NatsServer
from hindsight_common.core import Core
from hindsight_common.domain.memory import (
    Closing,
    Consolidated,
    Erased,
    Evidence,
    Forgotten,
    LogEvent,
    Promotion,
    Provenance,
    TurnGiven,
)
from hindsight_common.errors import GiveUp, RetryLater, StopAndFix
from hindsight_common.events import subjects
from hindsight_common.events.envelope import Envelope
from hindsight_common.events.streams import DEAD, INTAKE_CONSUMER, KEYS, LOG, TURNS
from hindsight_common.ids import Owner
from hindsight_common.messaging.connection import Bus, connect
from hindsight_common.messaging.keys import NatsKeyring
from hindsight_common.messaging.publishing import publish
from hindsight_common.messaging.reading import StoredMessage, delete_message, last_message, read_subject
from hindsight_common.messaging.settlement import Delivery
from hindsight_common.ports.extraction import Message, Turn
from hindsight_common.sealing import KeyDestroyed, KeyMissing
from hindsight_common.settings import Settings

SECRET = b"s" * 32
NOW = datetime(2026, 3, 4, 9, 15, tzinfo=UTC)
CANARY = "the canary sings at midnight"


@pytest.fixture
async def core(bus: Bus) -> AsyncIterator[Core]:
    core = Core.over(bus, Settings(), SECRET, redact=lambda raw: raw)
    await core.start()
    yield core
    await core.stop()


@pytest.fixture
def owner(core: Core) -> Owner:
    return core.ids.owner("default", "u-1")


def _turn(turn_id: str = "t-1", content: str = CANARY) -> Turn:
    message = Message("m1", "user", content)
    return Turn("default", "u-1", "s-1", turn_id, None, NOW, False, NOW, "UTC", (message,))


def _given(core: Core, turn_id: str = "t-1", content: str = CANARY) -> TurnGiven:
    turn_key = core.ids.turn_key("default", "u-1", turn_id)
    memory_id = core.ids.memory_id(core.ids.owner("default", "u-1"), "event", content)
    item = Evidence(
        memory_id=memory_id,
        turn_key=turn_key,
        item=0,
        type="event",
        content=content,
        importance=0.5,
        confidence=0.9,
        language="en",
        occurred_at=NOW,
        recorded_at=NOW,
        valid_from=NOW,
        session_id="s-1",
        turn_id=turn_id,
        message_ids=("m1",),
        speaker="user",
        role_scope=("shared",),
    )
    return TurnGiven(turn_key, turn_id, "s", "s-1", "kept", NOW, NOW, Provenance("rules/1"), (item,))


async def _stored(bus: Bus, stream: str, pattern: str = ">") -> list[StoredMessage]:
    return [message async for message in read_subject(bus.js, stream, pattern)]


async def _wipe(core: Core, owner: Owner) -> None:
    for key in await core.keyring.doomed(owner):
        await core.keyring.wipe(owner, key)


async def test_keys_made_in_a_race_are_one_key(core: Core, nats_server: NatsServer, owner: Owner) -> None:
    others = [await connect(nats_server.url, name=f"racer {n}") for n in range(4)]
    cores = [Core.over(bus, core.settings, SECRET) for bus in others]
    keys = await asyncio.gather(*(c.keyring.current(owner) for c in [core, *cores] for _ in range(3)))
    assert len({key.secret for key in keys}) == 1
    assert len(await _stored(core.bus, KEYS.name, "key.*.*.*.*")) == 1
    for bus in others:
        await bus.close()


async def test_a_destroyed_key_is_gone_everywhere_and_the_next_one_is_new(
    core: Core, nats_server: NatsServer, owner: Owner
) -> None:
    other_bus = await connect(nats_server.url, name="other")
    other = Core.over(other_bus, core.settings, SECRET)
    await other.start()
    first = await core.keyring.current(owner)
    assert (await other.keyring.current(owner)).secret == first.secret
    assert await core.keyring.mark_destroyed(owner) == {first.key_id}
    assert await core.keyring.doomed(owner) == [first]
    await core.keyring.wipe(owner, first)
    await core.keyring.wipe(owner, first)
    assert await core.keyring.doomed(owner) == []
    second = await core.keyring.current(owner)
    assert second.key_id != first.key_id
    await core.bus.nc.flush()
    await other_bus.nc.flush()
    assert (await other.keyring.current(owner)).secret == second.secret
    for keyring in (core.keyring, other.keyring):
        with pytest.raises(KeyDestroyed):
            await keyring.find(owner, first.key_id)
    assert await core.keyring.mark_destroyed(owner) == {first.key_id, second.key_id}
    await other.stop()
    await other_bus.close()


async def test_a_marked_key_is_never_used_again_and_stays_until_it_is_wiped(core: Core, owner: Owner) -> None:
    """What a crash between marker and wiping leaves behind: the eraser still has to seal anew what lives on."""
    first = await core.keyring.current(owner)
    await core.keyring.mark_destroyed(owner)
    second = await core.keyring.current(owner)
    assert second.key_id != first.key_id
    assert await core.keyring.doomed(owner) == [first]
    await core.keyring.mark_destroyed(owner)
    third = await core.keyring.current(owner)
    assert await core.keyring.doomed(owner) == [first, second]
    await core.keyring.wipe(owner, first)
    assert await core.keyring.doomed(owner) == [second]
    await core.keyring.wipe(owner, third)
    assert await Core.over(core.bus, core.settings, SECRET).keyring.current(owner) == third


async def test_keys_made_and_destroyed_in_a_race_are_all_accounted_for(core: Core, owner: Owner) -> None:
    """A key that somebody may have sealed with is in use, or marked; none is a stranger."""
    rings = [Core.over(core.bus, core.settings, SECRET).keyring for _ in range(4)]
    used: set[str] = set()

    async def use(ring: NatsKeyring) -> None:
        for _ in range(6):
            try:
                used.add((await ring.current(owner)).key_id)
            except RetryLater:
                continue

    await asyncio.gather(
        *(use(ring) for ring in rings), *(core.keyring.mark_destroyed(owner) for _ in range(6))
    )
    assert used <= await core.keyring.destroyed(owner) | {(await core.keyring.current(owner)).key_id}


async def test_a_key_missing_without_its_marker_is_an_error(core: Core, owner: Owner) -> None:
    await core.log.append(owner, _given(core), accepted_at=NOW)
    stored = await _stored(core.bus, KEYS.name, "key.*.*.*.*")
    await delete_message(core.bus.js, KEYS.name, stored[0].sequence)
    fresh = Core.over(core.bus, core.settings, SECRET)
    with pytest.raises(KeyMissing):
        [_ async for _ in fresh.log.read(owner)]


@pytest.mark.parametrize("destroyed", [False, True])
async def test_another_master_secret_is_refused_before_anything_is_written(
    core: Core, owner: Owner, destroyed: bool
) -> None:
    await core.keyring.current(owner)
    if destroyed:
        await core.keyring.mark_destroyed(owner)
        await _wipe(core, owner)
    with pytest.raises(StopAndFix, match="HINDSIGHT_MASTER_KEY"):
        await Core.over(core.bus, core.settings, b"x" * 32).start()
    same = Core.over(core.bus, core.settings, SECRET)
    await same.start()
    await same.stop()


async def test_the_first_master_secret_is_the_deployments_though_nothing_was_said_yet(bus: Bus) -> None:
    racers = [Core.over(bus, Settings(), bytes([n]) * 32) for n in range(4)]
    starts = await asyncio.gather(*(racer.start() for racer in racers), return_exceptions=True)
    assert [type(start) for start in starts].count(StopAndFix) == 3
    (first,) = [racer for racer, start in zip(racers, starts, strict=True) if start is None]
    await Core.over(bus, Settings(), bytes([racers.index(first)]) * 32).start()
    for other in [r for r in racers if r is not first]:
        with pytest.raises(StopAndFix, match="HINDSIGHT_MASTER_KEY_FILE"):
            await other.start()


async def test_events_read_back_as_written_and_nothing_at_rest_is_clear(core: Core, owner: Owner) -> None:
    given = _given(core)
    memory_id = given.items[0].memory_id
    tombstone = Forgotten("items", ((given.turn_key, memory_id),), NOW, (Closing(memory_id, NOW),))
    promoted = Consolidated("promote/1", NOW, (Promotion(memory_id, ((given.turn_key, memory_id),)),))
    events: list[LogEvent] = [given, tombstone, promoted]
    positions = [await core.log.append(owner, event, accepted_at=NOW) for event in events]
    read = [logged async for logged in core.log.read(owner)]
    assert [logged.event for logged in read] == events
    assert [logged.sequence for logged in read] == positions
    assert [logged.event async for logged in core.log.read(owner, kinds=("forgotten",))] == [tombstone]
    assert await core.log.last_sequence(owner) == positions[-1]
    assert await core.log.outcomes(owner) == {given.turn_key: "kept"}
    assert [logged.event async for logged in core.log.read_turn(owner, given.turn_key)] == [given, tombstone]
    assert [logged.event async for logged in core.log.read_turn(owner, "0" * 32)] == [tombstone]
    for message in await _stored(core.bus, LOG.name):
        assert CANARY.encode() not in message.data
        assert b"u-1" not in message.data


async def test_the_same_event_has_the_same_id_wherever_it_is_written(core: Core, owner: Owner) -> None:
    first = await core.log.append(owner, _given(core), accepted_at=NOW)
    assert await core.log.append(owner, _given(core), accepted_at=NOW) == first
    same_secret = Core.over(core.bus, core.settings, SECRET)
    assert same_secret.ids.owner("default", "u-1") == owner
    other_secret = Core.over(core.bus, core.settings, b"x" * 32)
    assert other_secret.ids.owner("default", "u-1") != owner


@pytest.mark.parametrize("part", ["header", "box", "subject"])
async def test_a_changed_event_does_not_open(core: Core, owner: Owner, part: str) -> None:
    await core.log.append(owner, _given(core), accepted_at=NOW)
    stored = (await _stored(core.bus, LOG.name))[0]
    subject, data = stored.subject, stored.data
    if part == "header":
        data = data.replace(b'"kept"', b'"none"')
    elif part == "box":
        data = data[:-1] + bytes([data[-1] ^ 1])
    else:
        subject = subject.replace(".turn", ".consolidated")
    with pytest.raises(GiveUp):
        await core.log.open(subject, data, 1)
    assert (await core.log.open(stored.subject, stored.data, 1)).event == _given(core)


async def test_a_forged_tombstone_is_refused(core: Core, owner: Owner) -> None:
    await core.log.append(owner, Forgotten("user", (("a" * 32, None),), NOW), accepted_at=NOW)
    stored = (await _stored(core.bus, LOG.name))[0]
    await core.keyring.mark_destroyed(owner)
    await _wipe(core, owner)
    assert (await core.log.open(stored.subject, stored.data, 1)).event == Forgotten(
        "user", (("a" * 32, None),), NOW
    )
    with pytest.raises(GiveUp, match="proof"):
        await core.log.open(stored.subject, stored.data.replace(b"a" * 32, b"b" * 32), 1)


async def test_an_event_of_a_newer_schema_stops_the_reader(core: Core, owner: Owner) -> None:
    await core.log.append(owner, _given(core), accepted_at=NOW)
    stored = (await _stored(core.bus, LOG.name))[0]
    key = await core.keyring.current(owner)
    header = stored.data.partition(b"\n")[0].replace(b'"v":1', b'"v":99')
    box = key.seal(b"{}", header + b"\n" + stored.subject.encode())
    with pytest.raises(StopAndFix, match="schema 99"):
        await core.log.open(stored.subject, header + b"\n" + box, 1)


@pytest.mark.parametrize(
    "garbage", [b"", b"\x00\xff", b"{}\n", b'{"v":1}\nxx', b"not json\nbox", b"[1]\nbox"]
)
async def test_garbage_bytes_are_given_up_not_crashed_on(core: Core, owner: Owner, garbage: bytes) -> None:
    with pytest.raises(GiveUp):
        await core.log.open(subjects.log(owner, "turn"), garbage, 1)


async def test_what_nobody_can_read_blocks_nothing_else_of_its_user(core: Core, owner: Owner) -> None:
    first, second = _given(core, "t-1"), _given(core, "t-2")
    await core.log.append(owner, first, accepted_at=NOW)
    stored = (await _stored(core.bus, LOG.name))[0]
    damaged = stored.data[:-1] + bytes([stored.data[-1] ^ 1])
    await publish(core.bus, "log.x", b"garbage")
    for kind, garbage in (("turn", damaged), ("turn", b"garbage"), ("forgotten", b"\x00"), ("odd", b"{}")):
        await publish(core.bus, subjects.log(owner, kind), garbage)
    await core.log.append(owner, second, accepted_at=NOW)
    assert [logged.event async for logged in core.log.read(owner)] == [first, second]
    assert [logged.event async for logged in core.log.read_all()] == [first, second]
    assert [logged.event async for logged in core.log.read_turn(owner, first.turn_key)] == [first]
    assert await core.log.outcomes(owner) == {first.turn_key: "kept", second.turn_key: "kept"}
    assert await core.log.erase(owner, turn_keys=[first.turn_key]) == 2
    assert [logged.event async for logged in core.log.read(owner)] == [second]
    key = await core.keyring.current(owner)
    await publish(core.bus, subjects.log(owner, "turn"), damaged)
    await core.keyring.mark_destroyed(owner)
    assert await core.log.reseal(owner, key, ()) == 1


async def test_after_the_key_is_gone_events_are_erased_and_tombstones_still_win(
    core: Core, owner: Owner
) -> None:
    given = _given(core)
    await core.log.append(owner, given, accepted_at=NOW)
    await core.log.append(owner, Forgotten("user", ((given.turn_key, None),), NOW), accepted_at=NOW)
    destroyed = await core.keyring.mark_destroyed(owner)
    await _wipe(core, owner)
    events = [logged.event async for logged in core.log.read(owner)]
    assert events == [Erased("turn", given.turn_key), Forgotten("user", ((given.turn_key, None),), NOW)]
    again = await core.log.append(owner, _given(core, "t-2"), accepted_at=NOW)
    assert await core.log.erase(owner, key_ids=destroyed) == 1
    assert await core.log.erase(owner, key_ids=destroyed) == 0
    left = [(logged.sequence, logged.kind) async for logged in core.log.read(owner)]
    assert [kind for _, kind in left] == ["forgotten", "turn"]
    assert left[-1][0] == again


async def test_what_was_said_after_a_tombstone_survives_the_destruction_of_the_key(
    core: Core, owner: Owner
) -> None:
    """Sealed with the old key by a worker that did not know of the erasure yet."""
    old, new = _given(core, "t-old"), _given(core, "t-new")
    for event in (old, new):
        await core.log.append(owner, event, accepted_at=NOW)
    await core.turns.accept(owner, new.turn_key, _turn("t-new"), "digest")
    await core.keyring.mark_destroyed(owner)
    (doomed,) = await core.keyring.doomed(owner)
    assert await core.log.reseal(owner, doomed, {(old.turn_key, None)}) == 1
    waiting = [stored async for stored in core.turns.list(owner)]
    assert [stored.key_id for stored in waiting] == [doomed.key_id]
    await core.turns.reseal(waiting[0], doomed)
    await core.keyring.wipe(owner, doomed)
    events = [logged.event async for logged in core.log.read(owner)]
    assert new in events
    assert old not in events
    renewed = [stored async for stored in core.turns.list(owner)]
    assert [stored.turn_key for stored in renewed] == [new.turn_key]
    assert await core.turns.read(renewed[0].sequence) == _turn("t-new")


async def test_a_turn_is_appended_once_and_other_content_is_refused(core: Core, owner: Owner) -> None:
    turn_key = core.ids.turn_key("default", "u-1", "t-1")
    await publish(core.bus, "turn.x", b"garbage")
    results = await asyncio.gather(*(core.turns.accept(owner, turn_key, _turn(), "d1") for _ in range(8)))
    assert sorted(r.duplicate for r in results) == [False] + [True] * 7
    assert len({r.sequence for r in results}) == 1
    stored = await _stored(core.bus, TURNS.name, subjects.turns_of(owner))
    assert len(stored) == 1
    assert CANARY.encode() not in stored[0].data
    assert [s.turn_key async for s in core.turns.list()] == [turn_key]
    with pytest.raises(GiveUp) as refusal:
        await core.turns.accept(owner, turn_key, _turn(content="other"), "d2")
    assert (refusal.value.code, refusal.value.field) == ("turn_id_reused", "turn_id")
    assert await core.turns.open(stored[0].subject, stored[0].data) == _turn()


async def test_two_tenants_and_two_users_may_use_the_same_turn_id(core: Core) -> None:
    for tenant, user in (("default", "u-1"), ("other", "u-1"), ("default", "u-2")):
        turn_key = core.ids.turn_key(tenant, user, "t-1")
        acceptance = await core.turns.accept(core.ids.owner(tenant, user), turn_key, _turn(), "d")
        assert not acceptance.duplicate
    assert len(await _stored(core.bus, TURNS.name)) == 3


async def test_an_accepted_turn_of_a_destroyed_key_opens_to_nothing(core: Core, owner: Owner) -> None:
    turn_key = core.ids.turn_key("default", "u-1", "t-1")
    await core.turns.accept(owner, turn_key, _turn(), "d")
    await core.keyring.mark_destroyed(owner)
    await _wipe(core, owner)
    message = await last_message(core.bus.js, TURNS.name, subjects.turn(owner, turn_key))
    assert message is not None
    assert await core.turns.open(message.subject, message.data) is None
    # the same turn sent again takes the place of what nobody can read any more
    assert not (await core.turns.accept(owner, turn_key, _turn(), "d")).duplicate


def _raw(data: bytes, subject: str = "conversation.turn", sequence: int = 7) -> Delivery:
    return Delivery("INTAKE", INTAKE_CONSUMER.durable, subject, sequence, 1, NOW, data, {})


async def test_dead_letters_are_sealed_found_by_their_turn_and_erased(core: Core, owner: Owner) -> None:
    turn_key = core.ids.turn_key("default", "u-1", "t-1")
    fault = GiveUp(
        "invalid_turn",
        "occurred_at must carry an offset",
        field="occurred_at",
        owner=owner,
        turn_key=turn_key,
    )
    for _ in range(2):
        await core.dead_letters.bury(_raw(CANARY.encode()), fault)
    await core.dead_letters.bury(
        _raw(b"\xff not json " + CANARY.encode(), "conversation.turn.acme", 8), GiveUp("not_json", "x")
    )
    letter = await core.dead_letters.find(owner, turn_key)
    assert letter is not None
    assert (letter.code, letter.reason, letter.field) == ("invalid_turn", fault.reason, "occurred_at")
    stored = await _stored(core.bus, DEAD.name)
    assert [m.subject.split(".")[3:] for m in stored] == [["default", owner.user_key], ["acme", "_"]]
    assert all(CANARY.encode() not in m.data and b"offset" not in m.data for m in stored)
    assert await core.dead_letters.erase(owner) == 1
    assert await core.dead_letters.find(owner, turn_key) is None
    assert len(await _stored(core.bus, DEAD.name)) == 1


@pytest.mark.parametrize(
    "subject", ["log.x", "log.00.default.nobody.turn", "log.00.Bad.%s.turn" % ("0" * 32)]
)
async def test_a_subject_that_names_nobody_is_a_dead_letter_and_no_crash(core: Core, subject: str) -> None:
    with pytest.raises(GiveUp) as fault:
        await core.log.open(subject, b"{}", 1)
    delivery = Delivery("LOG", "vectors", subject, 1, 1, NOW, CANARY.encode(), {})
    await core.dead_letters.bury(delivery, fault.value)
    (letter,) = await _stored(core.bus, DEAD.name)
    assert letter.subject == "dead.LOG.vectors.default._"
    assert CANARY.encode() not in letter.data


async def test_erased_bytes_are_gone_from_the_disk(core: Core, owner: Owner, tmp_path: Path) -> None:
    """Sealed or not: what the eraser deletes leaves the server's files."""
    await core.log.append(owner, _given(core), accepted_at=NOW)
    box = Envelope.from_bytes((await _stored(core.bus, LOG.name))[0].data).box
    key = await core.keyring.current(owner)
    wrapped = (await _stored(core.bus, KEYS.name, "key.*.*.*.*"))[0].data.partition(b"\n")[2]

    def on_disk(what: bytes) -> bool:
        return any(what in path.read_bytes() for path in (tmp_path / "nats").rglob("*") if path.is_file())

    assert on_disk(box)
    assert on_disk(wrapped)
    await core.keyring.mark_destroyed(owner)
    await _wipe(core, owner)
    await core.log.erase(owner, key_ids=[key.key_id])
    assert not on_disk(box)
    assert not on_disk(wrapped)


async def test_publishing_with_an_unexpected_last_sequence_changes_nothing(core: Core, owner: Owner) -> None:
    position = await core.log.append(owner, _given(core), accepted_at=NOW + timedelta(seconds=1))
    assert position == 1
    assert (
        await publish(core.bus, subjects.log(owner, "turn"), b"x", expected_last_subject_sequence=1)
    ).sequence == 2
