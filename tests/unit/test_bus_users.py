from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hindsight_common.errors import StopAndFix
from hindsight_common.events import subjects
from hindsight_common.events.streams import SERVER_CONSUMERS, STREAMS
from hindsight_common.messaging.credentials import Credentials
from hindsight_common.messaging.permissions import ENDPOINTS, WORKERS, BusUser, bus_users
from hindsight_common.messaging.refusals import Refusals
from hindsight_common.messaging.server_users import main, users_configuration
from hindsight_common.worker import BEHIND_THE_BUS

NATS = Path(__file__).parents[2] / "deploy" / "nats"
OWNED = "00.acme.0123456789abcdef0123456789abcdef"


def test_the_users_in_the_repository_are_those_of_the_table() -> None:
    assert (NATS / "users.conf").read_text(encoding="utf-8") == users_configuration(), "run make nats-users"


def test_the_server_takes_the_configuration_and_every_password_from_its_environment() -> None:
    def checked(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        program = Path(sys.executable).with_name("nats-server")
        command = [str(program), "-t", "-c", str(NATS / "nats.conf")]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    passwords = {user.password_variable: f"p{number}" for number, user in enumerate(bus_users())}
    assert checked(passwords).returncode == 0, checked(passwords).stderr
    missing, *_ = passwords
    del passwords[missing]
    assert missing in checked(passwords).stderr


def test_other_tenants_are_asked_for_by_name_and_others_names_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--tenant", "acme"]) == 0
    written = capsys.readouterr().out
    assert "$NATS_TENANT_ACME_PASSWORD" in written
    assert "tenant-default" not in written
    with pytest.raises(SystemExit):
        main(["--tenant", "A*"])
    assert "is no tenant" in capsys.readouterr().err


def _may_publish(user: BusUser, subject: str) -> bool:
    return any(_matches(rule, subject) for rule in user.publish) and not any(
        _matches(rule, subject) for rule in user.publish_never
    )


def _matches(pattern: str, subject: str) -> bool:
    wanted, tokens = pattern.split("."), subject.split(".")
    if wanted[-1] == ">":
        return len(tokens) >= len(wanted) and _matches(
            ".".join(wanted[:-1]), ".".join(tokens[: len(wanted) - 1])
        )
    return len(wanted) == len(tokens) and all(
        want in ("*", token) for want, token in zip(wanted, tokens, strict=True)
    )


def _those_who_may(subject: str) -> set[str]:
    return {user.name for user in bus_users(("default", "acme")) if _may_publish(user, subject)}


def test_only_the_eraser_deletes_messages_and_nobody_purges() -> None:
    for stream in STREAMS:
        expected = {"pruner"} if stream.name != "JOBS" else set()
        if stream.name == "TURNS":
            expected |= {"extractor"}  # what is finished or forgotten of the turns that it accepted itself
        assert _those_who_may(f"$JS.API.STREAM.MSG.DELETE.{stream.name}") == expected
        assert _those_who_may(f"$JS.API.STREAM.PURGE.{stream.name}") == set()


def test_only_the_operator_makes_changes_and_deletes_streams_and_consumers() -> None:
    for verb in ("STREAM.CREATE.X", "STREAM.UPDATE.LOG", "STREAM.DELETE.LOG", "CONSUMER.CREATE.LOG.x.>"):
        assert _those_who_may(f"$JS.API.{verb}") == {"operator"}
    for spec in SERVER_CONSUMERS:
        assert _those_who_may(f"$JS.API.CONSUMER.DELETE.{spec.stream}.{spec.durable}") == {"operator"}
        assert _those_who_may(f"$JS.API.CONSUMER.DURABLE.CREATE.{spec.stream}.{spec.durable}") == {"operator"}


def test_every_consumer_has_exactly_one_worker_that_reads_it() -> None:
    for spec in SERVER_CONSUMERS:
        readers = _those_who_may(f"$JS.API.CONSUMER.MSG.NEXT.{spec.stream}.{spec.durable}") - {"operator"}
        assert len(readers) == 1, spec.durable
        assert _those_who_may(f"$JS.ACK.{spec.stream}.{spec.durable}.1.2.3.4.5") == readers
        assert _those_who_may(f"$JS.ACK.D.hash.{spec.stream}.{spec.durable}.1.2.3.4.5") == readers


def test_what_workers_write_nobody_else_writes() -> None:
    workers = set(BEHIND_THE_BUS)
    for kind in ("turn", "consolidated", "forgotten", "recalled", "decision"):
        assert _those_who_may(f"log.{OWNED}.{kind}") <= workers
    assert _those_who_may(f"turn.{OWNED}.aa") == {"extractor", "pruner"}
    assert _those_who_may(f"key.{OWNED}.0") == workers
    assert _those_who_may(f"key.{OWNED}.destroyed") == {"pruner"}
    assert _those_who_may("job.nightly") == set()
    assert _those_who_may("schedule.nightly") == {"operator"}


def test_a_tenant_reaches_its_own_subjects_alone() -> None:
    for base in (subjects.MEMORY_RECALL, subjects.CONVERSATION_TURN, subjects.CONVERSATION_CLOSED):
        assert {name for name in _those_who_may(base) if name.startswith("tenant-")} == {"tenant-default"}
        assert {name for name in _those_who_may(f"{base}.acme") if name.startswith("tenant-")} == {
            "tenant-acme"
        }


def test_inboxes_are_heard_by_their_owner_alone() -> None:
    users = bus_users(("default", "acme"))
    for user in users:
        hearers = {
            other.name
            for other in users
            if any(_matches(rule, f"_INBOX.{user.name}.x.y") for rule in other.subscribe)
        }
        assert hearers == {user.name}


def test_every_worker_has_a_user_and_every_endpoint_a_worker() -> None:
    assert [user.name for user in WORKERS] == [*BEHIND_THE_BUS, "gateway"]
    assert set(ENDPOINTS) == set(BEHIND_THE_BUS)
    served = [subject for endpoints in ENDPOINTS.values() for subject in endpoints]
    declared = {
        value
        for name, value in vars(subjects).items()
        if name.startswith(("MEMORY_", "ADMIN_")) and isinstance(value, str)
    }
    assert sorted(served) == sorted(declared)


def test_a_refusal_is_told_by_the_shape_of_its_subject() -> None:
    refusals = Refusals("recall")
    refusal = refusals.note(Exception(f'nats: permissions violation for publish to "log.{OWNED}.turn"'))
    assert refusal is not None
    assert refusal.shape == "log.*.*.*.turn"
    assert "recall may not publish to log.*.*.*.turn" in str(refusal)
    heard = refusals.note(Exception('nats: permissions violation for subscription to "memory.recall.acme"'))
    assert heard is not None
    assert heard.shape == "memory.recall.acme"
    assert refusals.note(Exception("nats: slow consumer")) is None


def test_credentials_choose_the_inbox_and_never_show_the_password(tmp_path: Path) -> None:
    named = Credentials("recall", "hidden")
    assert "hidden" not in repr(named)
    assert named.client_options("nats://h:4222") == {
        "inbox_prefix": "_INBOX.recall",
        "user": "recall",
        "password": "hidden",
    }
    assert Credentials().client_options("nats://tenant-acme:p@h:4222,nats://h2") == {
        "inbox_prefix": "_INBOX.tenant-acme"
    }
    with pytest.raises(StopAndFix, match="no file"):
        Credentials(file=tmp_path / "absent.creds").client_options("nats://h")
