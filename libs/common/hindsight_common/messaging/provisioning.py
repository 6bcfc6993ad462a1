"""Makes the server have the declared streams and consumers, and says where it has something else.

What exists is never changed: a drift is reported, and a person decides. In the server form this is a step of its own,
by the operator (`hindsight-cli provision`); workers may not create anything there and only compare.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import nats.js.errors
from nats.js import JetStreamContext, api

from hindsight_common.errors import RetryLater, StopAndFix
from hindsight_common.events.streams import (
    CONSUMERS,
    SCHEDULES,
    STREAMS,
    ConsumerSpec,
    ScheduleSpec,
    StreamSpec,
)
from hindsight_common.messaging.faults import SUBJECTS_OVERLAP, server_faults
from hindsight_common.messaging.reading import last_sequence
from hindsight_common.messaging.schedules import compare_schedule, ensure_schedule

# compared as the server reports them; what it adds by itself (limits, metadata) is not ours to judge
_STREAM_FIELDS: Final = (
    "subjects",
    "retention",
    "storage",
    "discard",
    "max_age",
    "max_msgs",
    "max_bytes",
    "max_msgs_per_subject",
    "max_msg_size",
    "duplicate_window",
    "allow_direct",
    "deny_delete",
    "deny_purge",
    "sealed",
    "allow_msg_ttl",
    "allow_msg_schedules",
)
_CONSUMER_FIELDS: Final = (
    "ack_policy",
    "ack_wait",
    "deliver_policy",
    "deliver_subject",
    "max_ack_pending",
    "max_deliver",
    "backoff",
)


async def provision(
    js: JetStreamContext,
    streams: Iterable[StreamSpec] = STREAMS,
    consumers: Iterable[ConsumerSpec] = CONSUMERS,
    schedules: Iterable[ScheduleSpec] = SCHEDULES,
) -> list[str]:
    """Creates what is missing and returns a sentence for each difference, none when all is as declared.

    Idempotent, and safe to run from several processes at once. RetryLater when the server does not answer.
    """
    drift: list[str] = []
    for stream in streams:
        drift += await ensure_stream(js, stream)
    for consumer in consumers:
        drift += await ensure_consumer(js, consumer)
    for schedule in schedules:
        drift += await ensure_schedule(js, schedule)
    return drift


async def require_provisioned(
    js: JetStreamContext,
    streams: Iterable[StreamSpec] = STREAMS,
    consumers: Iterable[ConsumerSpec] = CONSUMERS,
    schedules: Iterable[ScheduleSpec] = (),
) -> list[str]:
    """Creates nothing; a sentence for each difference, none when all is as declared.

    Raises `RetryLater` that names what is missing, or when the server does not answer.
    """
    missing: list[str] = []
    drift: list[str] = []
    for stream in streams:
        found = await _compare_stream(js, stream)
        drift += found or ()
        missing += [f"stream {stream.name}"] if found is None else []
    for consumer in consumers:
        found = await _compare_consumer(js, consumer)
        drift += found or ()
        missing += [f"consumer {consumer.stream}/{consumer.durable}"] if found is None else []
    for schedule in schedules:
        found = await compare_schedule(js, schedule)
        drift += found or ()
        missing += [f"schedule {schedule.job}"] if found is None else []
    if missing:
        raise RetryLater(f"the server does not have {', '.join(missing)}: run hindsight-cli provision")
    return drift


async def ensure_stream(js: JetStreamContext, spec: StreamSpec) -> list[str]:
    """Creates the stream unless one of its name exists; what differs, as sentences.

    StopAndFix when another stream already takes its subjects.
    """
    found = await _compare_stream(js, spec)
    if found is None:
        with server_faults(f"creating stream {spec.name}"):
            try:
                await js.add_stream(_stream_config(spec))
            except nats.js.errors.BadRequestError as error:
                if error.err_code == SUBJECTS_OVERLAP:
                    raise StopAndFix(_overlap(spec)) from error
                # somebody else created it in between
        found = await _compare_stream(js, spec)
    return found or []


async def _compare_stream(js: JetStreamContext, spec: StreamSpec) -> list[str] | None:
    """None when there is no such stream."""
    with server_faults(f"asking for stream {spec.name}"):
        try:
            info = await js.stream_info(spec.name)
        except nats.js.errors.NotFoundError:
            return None
    return [
        f"stream {spec.name}: {name} is {have!r} on the server, declared is {want!r}"
        for name, have, want in _differences(info.config, _stream_config(spec), _STREAM_FIELDS)
    ]


async def ensure_consumer(js: JetStreamContext, spec: ConsumerSpec) -> list[str]:
    """Creates the durable unless one of its name exists; what differs, as sentences."""
    found = await _compare_consumer(js, spec)
    if found is None:
        with server_faults(f"creating consumer {spec.stream}/{spec.durable}"):
            await js.add_consumer(spec.stream, _consumer_config(spec))
        found = await _compare_consumer(js, spec)
    return found or []


async def _compare_consumer(js: JetStreamContext, spec: ConsumerSpec) -> list[str] | None:
    """None when there is no such consumer, or no such stream."""
    wanted = _consumer_config(spec)
    with server_faults(f"asking for consumer {spec.stream}/{spec.durable}"):
        try:
            info = await js.consumer_info(spec.stream, spec.durable)
        except nats.js.errors.NotFoundError:
            return None
    assert info.config is not None
    sentences = [
        f"consumer {spec.stream}/{spec.durable}: {name} is {have!r} on the server, declared is {want!r}"
        for name, have, want in _differences(info.config, wanted, _CONSUMER_FIELDS)
    ]
    if _filters(info.config) != _filters(wanted):
        sentences.append(
            f"consumer {spec.stream}/{spec.durable}: it takes {_filters(info.config)} on the server, "
            f"declared is {_filters(wanted)}"
        )
    return sentences


async def rewind(js: JetStreamContext, spec: ConsumerSpec, position: int) -> None:
    """Delivery starts again at `position` + 1, whatever was acknowledged before; 0 is the whole stream.

    `position` is what the projection's store holds. StopAndFix when it lies beyond the end of the stream:
    then the store describes a log that is not this one.
    """
    end = await last_sequence(js, spec.stream)
    if position > end:
        raise StopAndFix(
            f"the store behind {spec.durable} stands at {position}, stream {spec.stream} ends at {end}: "
            "the two do not belong together; restore the matching stream or rebuild the store"
        )
    await ensure_consumer(js, spec)
    with server_faults(f"rewinding {spec.stream}/{spec.durable}"):
        await js.reset_consumer(spec.stream, spec.durable, seq=position + 1)


def _overlap(spec: StreamSpec) -> str:
    taken = ", ".join(spec.subjects)
    return f"stream {spec.name} cannot be created: another stream of this account takes some of {taken}"


def _stream_config(spec: StreamSpec) -> api.StreamConfig:
    return api.StreamConfig(
        name=spec.name,
        subjects=list(spec.subjects),
        description=spec.description,
        retention=api.RetentionPolicy(spec.retention),
        storage=api.StorageType.FILE,
        discard=api.DiscardPolicy.OLD,
        max_age=spec.max_age_s,
        max_msgs=-1,
        max_bytes=-1,
        max_msgs_per_subject=spec.max_msgs_per_subject,
        max_msg_size=spec.max_msg_size,
        duplicate_window=spec.duplicate_window_s,
        allow_direct=True,
        deny_delete=False,
        deny_purge=False,
        allow_msg_ttl=spec.message_ttl,
        # left out where it is off: a server before 2.14 refuses a field that it does not know
        allow_msg_schedules=spec.message_schedules or None,
    )


def _consumer_config(spec: ConsumerSpec) -> api.ConsumerConfig:
    return api.ConsumerConfig(
        durable_name=spec.durable,
        description=spec.description,
        deliver_policy=api.DeliverPolicy.ALL,
        ack_policy=api.AckPolicy.EXPLICIT,
        ack_wait=spec.ack_wait_s,
        max_ack_pending=spec.max_ack_pending,
        max_deliver=spec.max_deliver,
        filter_subjects=list(spec.filter_subjects) or None,
    )


def _differences(have: object, want: object, names: Iterable[str]) -> list[tuple[str, object, object]]:
    pairs = ((name, _plain(getattr(have, name)), _plain(getattr(want, name))) for name in names)
    return [(name, present, declared) for name, present, declared in pairs if present != declared]


def _plain(value: object) -> object:
    """Enum members and their text compare alike; an unset list is an empty one, an unset flag is off."""
    if isinstance(value, list):
        return tuple(sorted(value)) or None
    if value is False:
        return None
    return getattr(value, "value", value)


def _filters(config: api.ConsumerConfig) -> list[str]:
    filters = list(config.filter_subjects or ())
    if config.filter_subject:
        filters.append(config.filter_subject)
    return sorted(filters)
