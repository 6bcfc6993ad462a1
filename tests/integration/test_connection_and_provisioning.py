from __future__ import annotations

import asyncio
import socket
import sys
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from nats.js import api

from hindsight_common.adapters.embedded.nats_server import NatsServer
from hindsight_common.clock import FixedClock
from hindsight_common.errors import RetryLater, StopAndFix
from hindsight_common.events.streams import (
    CONSUMERS,
    GRAPH_CONSUMER,
    LOG,
    SCHEDULES,
    SERVER_CONSUMERS,
    STREAMS,
    VECTORS_CONSUMER,
)
from hindsight_common.messaging.connection import Bus, check_clock, connect
from hindsight_common.messaging.provisioning import provision, require_provisioned, rewind
from hindsight_common.messaging.publishing import publish


async def test_everything_declared_is_created_and_a_second_run_changes_nothing(bare_bus: Bus) -> None:
    assert await provision(bare_bus.js) == []
    assert await provision(bare_bus.js) == []
    infos = {info.config.name: info.config for info in await bare_bus.js.streams_info()}
    assert set(infos) == {stream.name for stream in STREAMS}
    for config in infos.values():
        assert config.allow_direct
        assert not config.deny_delete
        assert config.storage == "file"
        assert config.discard == "old"
    for consumer in CONSUMERS:
        info = await bare_bus.js.consumer_info(consumer.stream, consumer.durable)
        assert info.config is not None
        assert info.config.ack_policy == "explicit"


async def test_drift_is_told_in_sentences_and_never_overwritten(bare_bus: Bus) -> None:
    await bare_bus.js.add_stream(
        api.StreamConfig(name="LOG", subjects=["log.>"], max_age=3600, allow_direct=False)
    )
    await bare_bus.js.add_consumer(
        "LOG", api.ConsumerConfig(durable_name="graph", filter_subject="log.*.*.*.turn", ack_wait=5)
    )
    told = await provision(bare_bus.js)
    assert any("stream LOG: max_age" in sentence for sentence in told)
    assert any("stream LOG: allow_direct" in sentence for sentence in told)
    assert any("consumer LOG/graph: ack_wait" in sentence for sentence in told)
    assert any("consumer LOG/graph: it takes ['log.*.*.*.turn']" in sentence for sentence in told)
    assert (await bare_bus.js.stream_info("LOG")).config.max_age == 3600
    assert await provision(bare_bus.js) == told


async def test_one_who_may_not_create_hears_what_is_missing_and_then_what_differs(bare_bus: Bus) -> None:
    with pytest.raises(
        RetryLater, match=r"does not have stream INTAKE, .*consumer TURNS/first-reading.*provision"
    ):
        await require_provisioned(bare_bus.js, consumers=SERVER_CONSUMERS)
    await provision(bare_bus.js, consumers=SERVER_CONSUMERS)
    assert await require_provisioned(bare_bus.js, STREAMS, SERVER_CONSUMERS, SCHEDULES) == []
    await bare_bus.js.update_stream(
        api.StreamConfig(name="LOG", subjects=list(LOG.subjects), max_age=60, duplicate_window=60)
    )
    assert "stream LOG: max_age" in (await require_provisioned(bare_bus.js))[0]


async def test_the_command_provisions_and_answers_with_its_status(
    nats_server: NatsServer, bare_bus: Bus
) -> None:
    async def run() -> tuple[int | None, str]:
        process = await asyncio.create_subprocess_exec(
            Path(sys.executable).with_name("hindsight-cli"),
            "--nats-url",
            nats_server.url,
            "provision",
            stdout=asyncio.subprocess.PIPE,
        )
        out, _ = await process.communicate()
        return process.returncode, out.decode()

    assert (await run())[0] == 0
    await bare_bus.js.update_stream(
        api.StreamConfig(name="LOG", subjects=list(LOG.subjects), max_age=60, duplicate_window=60)
    )
    status, told = await run()
    assert status == 3
    assert "drift: stream LOG: max_age" in told


@pytest.mark.parametrize(("position", "next_sequence"), [(0, 1), (3, 4), (4, 6)])
async def test_a_rewound_consumer_starts_behind_the_position(
    bus: Bus, position: int, next_sequence: int
) -> None:
    for number in range(7):
        await publish(bus, f"log.00.default.aa.{number}", b"x")
    await bus.js.delete_msg("LOG", 5)
    subscription = await bus.js.pull_subscribe_bind(VECTORS_CONSUMER.durable, "LOG")
    for message in await subscription.fetch(5):
        await message.ack_sync()
    await rewind(bus.js, VECTORS_CONSUMER, position)
    (message, *_) = await subscription.fetch(1)
    assert message.metadata.sequence.stream == next_sequence


async def test_a_filtered_consumer_can_be_rewound_and_a_deleted_one_is_made_again(bus: Bus) -> None:
    for kind in ("turn", "forgotten", "turn", "forgotten"):
        await publish(bus, f"log.00.default.aa.{kind}", b"x")
    await bus.js.delete_consumer("LOG", GRAPH_CONSUMER.durable)
    await rewind(bus.js, GRAPH_CONSUMER, 2)
    subscription = await bus.js.pull_subscribe_bind(GRAPH_CONSUMER.durable, "LOG")
    (message,) = await subscription.fetch(1)
    assert message.metadata.sequence.stream == 4


async def test_a_store_that_is_ahead_of_the_log_is_not_accepted(bus: Bus) -> None:
    await publish(bus, "log.00.default.aa.turn", b"x")
    with pytest.raises(StopAndFix, match="stands at 2, stream LOG ends at 1"):
        await rewind(bus.js, VECTORS_CONSUMER, 2)


async def test_without_a_server_it_says_where_it_looked_and_hides_the_password() -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with pytest.raises(StopAndFix) as refused:
        await connect(f"nats://me:secret@127.0.0.1:{port}", name="test", patience_s=0.2)
    assert f"127.0.0.1:{port}" in str(refused.value)
    assert "secret" not in str(refused.value)


async def test_it_waits_for_a_server_that_is_still_starting(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    connecting = asyncio.create_task(connect(f"nats://127.0.0.1:{port}", name="test", patience_s=20))
    await asyncio.sleep(0.1)
    server = NatsServer(tmp_path, port)
    await server.start()
    bus = await connecting
    assert bus.is_connected
    await bus.close()
    await server.stop()


async def test_a_server_without_jetstream_is_named_as_the_reason(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    binary = Path(sys.executable).with_name("nats-server")
    process = await asyncio.create_subprocess_exec(
        str(binary), "-a", "127.0.0.1", "-p", str(port), "-l", str(tmp_path / "log")
    )
    try:
        with pytest.raises(StopAndFix, match="no JetStream"):
            await connect(f"nats://127.0.0.1:{port}", name="test", patience_s=5)
    finally:
        process.terminate()
        await process.wait()


async def test_a_server_too_old_to_rewind_a_consumer_is_refused() -> None:
    async def old_server(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b'INFO {"server_id":"X","version":"2.12.1","headers":true,"max_payload":1048576}\r\n')
        with suppress(ConnectionError):
            while line := await reader.readline():
                if line.startswith(b"PING"):
                    writer.write(b"PONG\r\n")
        writer.close()

    server = await asyncio.start_server(old_server, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    with pytest.raises(StopAndFix, match=r"is version 2\.12\.1; at least 2\.14"):
        await connect(f"nats://127.0.0.1:{port}", name="test", patience_s=5)
    server.close()


async def test_a_stream_whose_subjects_are_taken_is_named(bare_bus: Bus) -> None:
    await bare_bus.js.add_stream(name="OTHER", subjects=["log.00.>"])
    with pytest.raises(StopAndFix, match="stream LOG cannot be created"):
        await provision(bare_bus.js)


async def test_several_processes_may_provision_at_once(bare_bus: Bus, nats_server: NatsServer) -> None:
    others = [await connect(nats_server.url, name="other") for _ in range(3)]
    drift = await asyncio.gather(*(provision(bus.js) for bus in (bare_bus, *others)))
    assert drift == [[], [], [], []]
    for other in others:
        await other.close()


@pytest.mark.parametrize(("off_s", "direction"), [(90, "ahead of"), (-90, "behind")])
async def test_a_clock_a_minute_off_stops_the_worker_and_says_so(
    bus: Bus, nats_server: NatsServer, off_s: int, direction: str
) -> None:
    clock = FixedClock(datetime.now(UTC) + timedelta(seconds=off_s))
    with pytest.raises(StopAndFix, match=direction):
        await connect(nats_server.url, name="late", clock=clock)


async def test_a_clock_within_a_minute_is_accepted_and_an_empty_server_cannot_be_asked(bare_bus: Bus) -> None:
    clock = FixedClock(datetime.now(UTC) + timedelta(seconds=30))
    assert await check_clock(bare_bus.js, clock) is None
    await provision(bare_bus.js)
    ahead_s = await check_clock(bare_bus.js, clock)
    assert ahead_s is not None
    assert 0 < ahead_s < 60
