"""A server with the users of deploy/nats: the whole spine runs within its permissions, and nothing goes beyond them."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from functools import partial
from pathlib import Path

import httpx
import nats
import nats.errors
import pytest
from workers import Workers, eventually, turn

from hindsight_client import AccessDenied, HindsightClient
from hindsight_common.adapters.embedded.nats_server import NatsServer
from hindsight_common.errors import RequestError, StopAndFix
from hindsight_common.events import subjects
from hindsight_common.events.streams import JOBS, LOG, NIGHTLY, SERVER_CONSUMERS
from hindsight_common.ids import Owner
from hindsight_common.messaging import refusals
from hindsight_common.messaging.connection import Bus, connect
from hindsight_common.messaging.credentials import Credentials
from hindsight_common.messaging.permissions import WORKERS, bus_users
from hindsight_common.messaging.provisioning import ensure_consumer, provision, require_provisioned
from hindsight_common.messaging.publishing import publish
from hindsight_common.messaging.reading import delete_message, last_message, read_subject
from hindsight_common.messaging.refusals import NotPermitted
from hindsight_common.messaging.roll_call import running_services
from hindsight_common.messaging.server_users import users_configuration
from hindsight_gateway import bootstrap as gateway

TENANTS = ("default", "acme")
SOMEBODY = Owner("acme", "0123456789abcdef0123456789abcdef")
# far above what a refusal takes, far below the time-out that it would be without being told
AT_ONCE_S = 10.0

ConnectAs = Callable[[str], Awaitable[Bus]]


@pytest.fixture
async def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[NatsServer]:
    for user in bus_users(TENANTS):
        monkeypatch.setenv(user.password_variable, f"password-of-{user.name}")
    server = NatsServer(tmp_path / "nats", users=users_configuration(TENANTS))
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def connect_as(server: NatsServer) -> AsyncIterator[ConnectAs]:
    async with AsyncExitStack() as opened:

        async def connected(user: str) -> Bus:
            bus = await connect(server.url, name=f"test {user}", credentials=_credentials(user))
            opened.push_async_callback(bus.close)
            return bus

        yield connected


@pytest.fixture
async def operator(connect_as: ConnectAs) -> Bus:
    bus = await connect_as("operator")
    assert await provision(bus.js, consumers=SERVER_CONSUMERS) == []
    return bus


def _credentials(user: str) -> Credentials:
    return Credentials(user, f"password-of-{user}")


def _address(server: NatsServer, user: str) -> str:
    return server.url.replace("//", f"//{user}:password-of-{user}@")


async def test_the_whole_spine_stays_within_its_permissions(
    server: NatsServer, operator: Bus, connect_as: ConnectAs, tmp_path: Path
) -> None:
    before = refusals.mark()
    buses = {user.name: await connect_as(user.name) for user in WORKERS}
    for bus in buses.values():
        if bus is not buses["gateway"]:
            assert await require_provisioned(bus.js, consumers=SERVER_CONSUMERS) == []
    http = gateway.build(buses["gateway"], port=0)
    async with (
        Workers(operator, tmp_path / "stores", buses=buses) as workers,
        await HindsightClient.connect(_address(server, "tenant-acme"), "acme") as acme,
    ):
        await http.start()
        await acme.publish_turn(turn("u-1", "t-1", "我对花生过敏"))
        await eventually(lambda: _is_kept(acme, "u-1", "t-1"))
        await acme.write(turn("u-1", "t-2", "我住在大阪。"))
        recalled = await acme.recall("u-1", "花生", wait_for_turn="t-2", min_score=0)
        assert any("花生" in memory.content for memory in recalled.memories)
        assert {"花生", "大阪"} <= {memory.object for memory in (await acme.list("u-1")).memories}

        allergy = next(m for m in (await acme.list("u-1")).memories if m.object == "花生")
        decided = await acme.decide("u-1", allergy.id, object="虾")
        assert (await acme.get("u-1", decided.memory.id)).object == "虾"
        assert "虾" in (await acme.inject("u-1", "c-1", "我对什么过敏", token_budget=2000)).snapshot
        await acme.close_session("u-1", "c-1")

        async with httpx.AsyncClient(base_url=http.url, headers={"X-Tenant": "acme"}) as web:
            assert (await web.get("/health")).json() == {"status": "ok"}
            asked = await web.post("/v1/recall", json={"user_id": "u-1", "query": "花生", "min_score": 0})
            assert asked.status_code == 200, asked.text
            assert asked.json()["memories"]

        # a turn without its user: buried by intake, under the deployment's key
        await workers.publish({"turn_id": "t-3"}, "conversation.turn.acme")
        await eventually(lambda: last_message(operator.js, "DEAD", "dead.INTAKE.intake.acme._"))

        # the night comes
        headers = {"Nats-Schedule": "* * * * * *", "Nats-Schedule-Target": subjects.job(NIGHTLY.job)}
        await operator.js.publish(subjects.schedule(NIGHTLY.job), b"", headers=headers)
        await eventually(lambda: last_message(operator.js, LOG.name, "log.*.acme.*.consolidated"))
        await eventually(lambda: last_message(operator.js, JOBS.name, subjects.job_ran(NIGHTLY.job)))
        assert (await workers.admin("consolidate.acme", user_id="u-1"))[-1]["done"]
        assert (await workers.admin("rebuild"))[-1]["result"]["switched"]
        assert (await workers.admin("rebuild-graph"))[-1]["result"]["switched"]
        assert (await workers.admin("status"))[-1]
        assert {service.name for service in await running_services(operator.nc)} >= {"recall", "pruner"}

        forgotten = await acme.forget("u-1", everything=True, confirm=True)
        assert forgotten.receipt is not None
        assert forgotten.receipt.status == "done"
        assert (await acme.list("u-1")).memories == ()
        assert await acme.write(turn("u-1", "t-1", "我对花生过敏"))
        await eventually(lambda: _is_kept(acme, "u-1", "t-1", "forgotten"))
        await http.stop()
    refused = refusals.since(before)
    assert refused is None, refused


async def _is_kept(client: HindsightClient, user: str, turn_id: str, outcome: str = "kept") -> bool:
    try:
        return (await client.turn(user, turn_id)).outcome == outcome
    except RequestError as unknown:
        if unknown.code != "not_found":
            raise
        return False


LOGGED, KEY = subjects.log(SOMEBODY, "turn"), subjects.key(SOMEBODY, 0)
WRITES = [LOGGED, KEY, subjects.turn(SOMEBODY, "00"), "dead.TURNS.extractor.acme._", "job.nightly"]
DELETES = [f"$JS.API.STREAM.MSG.DELETE.{stream}" for stream in ("LOG", "KEYS", "TURNS", "DEAD", "INTAKE")]
CHANGES = [
    "$JS.API.STREAM.CREATE.MORE",
    "$JS.API.STREAM.UPDATE.LOG",
    "$JS.API.STREAM.DELETE.LOG",
    "$JS.API.STREAM.PURGE.LOG",
    "$JS.API.CONSUMER.CREATE.LOG.spy.>",
    "$JS.API.CONSUMER.DURABLE.CREATE.LOG.spy",
    "$JS.API.CONSUMER.DELETE.LOG.vectors",
]

MAY_NOT_PUBLISH = {
    "tenant-acme": [
        *WRITES,
        *DELETES,
        *CHANGES,
        "conversation.turn",
        "conversation.turn.other",
        "memory.recall",
        "memory.recall.default",
        "memory.recall.other",
        "schedule.nightly",
        "admin.rebuild",
        "$JS.API.INFO",
        "$JS.API.DIRECT.GET.INTAKE",
        "$JS.API.CONSUMER.MSG.NEXT.INTAKE.intake",
        "$SRV.PING",
        "_INBOX.tenant-default.x",
    ],
    "tenant-default": [*WRITES, "conversation.turn.acme", "memory.recall.acme", "_INBOX.tenant-acme.x"],
    "gateway": [*WRITES, *DELETES, *CHANGES, "$JS.API.DIRECT.GET.LOG", "admin.rebuild", "conversation.turn"],
    "extractor": [
        *(subject for subject in DELETES if not subject.endswith(".TURNS")),
        *CHANGES,
        "$JS.API.STREAM.PURGE.TURNS",
        subjects.log(SOMEBODY, "forgotten"),
        subjects.log(SOMEBODY, "consolidated"),
        subjects.destroyed_keys(SOMEBODY),
        "$JS.ACK.LOG.vectors.1.1.1.1.0",
        "$JS.API.CONSUMER.MSG.NEXT.LOG.eraser",
        "job.nightly.ran",
    ],
    "recall": [*DELETES, *CHANGES, LOGGED, subjects.destroyed_keys(SOMEBODY), "$JS.API.DIRECT.GET.INTAKE"],
    "consolidator": [*DELETES, *CHANGES, LOGGED, subjects.log(SOMEBODY, "forgotten"), "job.nightly"],
    "pruner": [*CHANGES, "job.nightly.ran", "conversation.turn", "$JS.API.CONSUMER.RESET.LOG.vectors"],
    "operator": [*WRITES, *DELETES, "$JS.API.STREAM.PURGE.LOG", "$JS.ACK.LOG.vectors.1.1.1.1.0"],
}

MAY_NOT_HEAR = {
    "tenant-acme": [
        ">",
        "_INBOX.>",
        "_INBOX.tenant-default.>",
        "memory.recall.acme",
        "conversation.turn.acme",
    ],
    "gateway": [">", "_INBOX.>", "_INBOX.operator.>", "memory.recall", "log.>", "$JS.ACK.>"],
    "extractor": [">", "_INBOX.>", "_INBOX.recall.>", "memory.recall", "memory.forget", "log.>", "key.>"],
    "recall": ["_INBOX.pruner.>", "memory.write", "conversation.turn", "turn.>"],
    "operator": [">", "_INBOX.>", "_INBOX.tenant-acme.>", "log.>", "conversation.turn", "memory.recall"],
}


@pytest.mark.parametrize("user", MAY_NOT_PUBLISH)
async def test_what_a_user_may_not_publish_is_refused(server: NatsServer, operator: Bus, user: str) -> None:
    del operator  # the streams are there, so a publish that came through would be kept
    assert set(await _refused(server, user, publish=MAY_NOT_PUBLISH[user])) == {
        f"publish {subject.lower()}" for subject in MAY_NOT_PUBLISH[user]
    }


@pytest.mark.parametrize("user", MAY_NOT_HEAR)
async def test_what_a_user_may_not_hear_is_refused(server: NatsServer, user: str) -> None:
    assert set(await _refused(server, user, subscribe=MAY_NOT_HEAR[user])) == {
        f"subscription {subject.lower()}" for subject in MAY_NOT_HEAR[user]
    }


async def _refused(
    server: NatsServer, user: str, *, publish: list[str] | None = None, subscribe: list[str] | None = None
) -> list[str]:
    """What the server said while somebody with nats-py alone tried."""
    noted, told = refusals.Refusals(user), []

    async def note(error: Exception) -> None:
        refusal = noted.note(error)
        assert refusal is not None, error
        told.append(f"{refusal.verb} {refusal.subject}")

    nc = await nats.connect(
        server.url, user=user, password=f"password-of-{user}", inbox_prefix=f"_INBOX.{user}", error_cb=note
    )
    for subject in publish or ():
        await nc.publish(subject, b"{}")
    for subject in subscribe or ():
        await nc.subscribe(subject)
    with suppress(TimeoutError):
        await eventually(lambda: len(told) == len(publish or subscribe or ()))
    await nc.close()
    return told


@pytest.mark.parametrize("user", [user.name for user in bus_users(())])
async def test_whoever_connects_before_the_streams_are_there_asks_for_nothing_it_may_not(
    connect_as: ConnectAs, user: str
) -> None:
    before = refusals.mark()
    await connect_as(user)
    assert refusals.since(before) is None


# nats-py leaves the socket of a refused connection to the garbage collector
@pytest.mark.filterwarnings("ignore::ResourceWarning")
async def test_one_without_the_right_password_is_told_so(server: NatsServer) -> None:
    with pytest.raises(StopAndFix, match="refuses the connection"):
        await connect(server.url, name="test", credentials=Credentials("recall", "guessed"))
    with pytest.raises(StopAndFix, match="refuses the connection"):
        await connect(server.url, name="test")
    with pytest.raises(AccessDenied):
        await HindsightClient.connect(server.url.replace("//", "//tenant-acme:guessed@"), "acme")
    # here and now, not in the test behind this one
    gc.collect()


async def test_a_refused_request_fails_at_once_and_says_who_may_not_do_what(
    server: NatsServer, operator: Bus
) -> None:
    del operator
    async with await HindsightClient.connect(
        _address(server, "tenant-acme"), "default", timeout_s=60
    ) as elsewhere:
        async with asyncio.timeout(AT_ONCE_S):
            with pytest.raises(
                RequestError, match=r"tenant-acme may not publish to memory\.recall"
            ) as refused:
                await elsewhere.recall("u-1", "anything")
        assert (refused.value.code, refused.value.status) == ("not_permitted", 403)


async def test_a_tenant_hears_at_once_that_no_worker_is_there(server: NatsServer, operator: Bus) -> None:
    """The server's word for it comes through to the other account."""
    del operator
    async with await HindsightClient.connect(
        _address(server, "tenant-acme"), "acme", timeout_s=60, retries=0
    ) as acme:
        async with asyncio.timeout(AT_ONCE_S):
            with pytest.raises(RequestError) as refused:
                await acme.recall("u-1", "anything")
        assert refused.value.code == "no_responders"


async def test_a_refused_write_says_so_without_the_users_key(operator: Bus, connect_as: ConnectAs) -> None:
    del operator
    recall = await connect_as("recall")
    async with asyncio.timeout(AT_ONCE_S):
        with pytest.raises(NotPermitted, match=r"recall may not publish to log\.\*\.\*\.\*\.turn") as refused:
            await publish(recall, LOGGED, b"x", timeout_s=60)
    assert SOMEBODY.user_key not in str(refused.value)


async def test_the_extractor_cannot_erase_the_log_and_hears_why(operator: Bus, connect_as: ConnectAs) -> None:
    pruner, extractor = await connect_as("pruner"), await connect_as("extractor")
    kept = await publish(pruner, LOGGED, b"x")
    with pytest.raises(
        NotPermitted, match=r"extractor may not publish to \$js\.api\.stream\.msg\.delete\.log"
    ):
        await delete_message(extractor.js, LOG.name, kept.sequence)
    assert [m.sequence async for m in read_subject(operator.js, LOG.name, LOGGED)] == [kept.sequence]
    assert await delete_message(pruner.js, LOG.name, kept.sequence)


async def test_a_worker_makes_no_consumer_and_hears_who_does(operator: Bus, connect_as: ConnectAs) -> None:
    spec = SERVER_CONSUMERS[-1]
    await operator.js.delete_consumer(spec.stream, spec.durable)
    extractor = await connect_as("extractor")
    with pytest.raises(
        NotPermitted, match="the operator makes streams and consumers, by hindsight-cli provision"
    ):
        await ensure_consumer(extractor.js, spec)


async def test_where_an_answer_goes_cannot_be_chosen_to_be_one_of_our_subjects(
    server: NatsServer, operator: Bus, connect_as: ConnectAs, tmp_path: Path
) -> None:
    """The server acknowledges a turn, and workers answer a request, wherever the asker says: not into our streams."""
    pruner = await connect_as("pruner")
    buses = {user.name: await connect_as(user.name) for user in WORKERS}
    async with Workers(operator, tmp_path / "stores", buses=buses):
        await publish(pruner, KEY, b"the wrapped key")
        nc = await nats.connect(_address(server, "tenant-acme"), inbox_prefix="_INBOX.tenant-acme")
        operators = await nats.connect(_address(server, "operator"), inbox_prefix="_INBOX.operator")
        for reply in (KEY, LOGGED):
            said = json.dumps(turn("u-1", f"t-{reply[:3]}", "hello")).encode()
            await nc.publish("conversation.turn.acme", said, reply=reply)
            asked = json.dumps({"user_id": "u-1", "query": "x"}).encode()
            await nc.publish("memory.recall.acme", asked, reply=reply)
            # also one in our own account, by a worker's answer
            await operators.publish("memory.recall.acme", asked, reply=reply)
        await nc.close()
        await operators.close()
        # behind all of these, through the same worker
        async with await HindsightClient.connect(_address(server, "tenant-acme"), "acme") as acme:
            for turn_id in ("t-key", "t-log"):
                await eventually(partial(_is_kept, acme, "u-1", turn_id, "empty"))
            await acme.recall("u-1", "x")
    standing = await last_message(operator.js, "KEYS", KEY)
    assert standing is not None
    assert standing.data == b"the wrapped key"
    assert [m async for m in read_subject(operator.js, LOG.name, LOGGED)] == []
