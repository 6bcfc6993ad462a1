from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import CliRunner

import hindsight_common
from hindsight_client.cli.commands import app
from hindsight_client.cli.arguments import hoisted
from hindsight_client.cli.error_words import described
from hindsight_client.cli.language import say
from hindsight_client.deployment import DEFAULT_URL, find_nats_url
from hindsight_common.errors import RequestError, StopAndFix


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        (["recall", "q", "-o", "json"], ["-o", "json", "recall", "q"]),
        (["recall", "--nats-url=nats://h:1", "q"], ["--nats-url=nats://h:1", "recall", "q"]),
        (["--tenant", "acme", "list"], ["--tenant", "acme", "list"]),
        (["turn", "--", "-o", "json"], ["turn", "--", "-o", "json"]),
        (["recall", "q", "-o"], ["-o", "recall", "q"]),
    ],
)
def test_options_of_the_program_may_stand_anywhere(given: list[str], taken: list[str]) -> None:
    assert hoisted(given) == taken


@pytest.mark.parametrize(
    "arguments",
    [
        ["recall"],
        ["recall", "u"],
        ["turn", "u"],
        ["turn", "u", "--file", "nowhere.json"],
        ["recall", "u", "q", "--top-k", "x"],
        ["import", "nowhere.json", "--format", "turns"],
        ["nothing"],
        ["list", "u", "-o", "yaml"],
        ["forget", "u"],
        ["forget", "u", "--session", "s", "--everything"],
    ],
)
def test_a_wrong_call_is_status_2_and_prints_no_data(arguments: list[str]) -> None:
    ran = CliRunner().invoke(app, hoisted(arguments))
    assert (ran.exit_code, ran.stdout) == (2, "")


def test_the_help_lists_every_command_in_the_order_of_use() -> None:
    shown = CliRunner().invoke(app, ["-h"]).stdout
    places = [shown.index(f" {name} ") for name in ("turn", "recall", "forget", "rebuild", "doctor")]
    assert places == sorted(places)


def test_the_version_is_the_distribution_s() -> None:
    assert CliRunner().invoke(app, ["--version"]).stdout.split()[-1] == version("hindsight-memory-client")


def test_every_code_of_a_refusal_has_its_meaning_in_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    packages = Path(hindsight_common.__file__).parent
    source = "\n".join(file.read_text(encoding="utf-8") for file in packages.rglob("*.py"))
    codes = set(re.findall(r'RequestError\(\s*"([a-z_]+)"', source))
    assert len(codes) >= 8
    for code in codes:
        assert re.search("[\u4e00-\u9fff]", described(RequestError(code, "why"))), code


@pytest.mark.parametrize(
    ("variables", "language"),
    [
        ({}, "english"),
        ({"LANG": "zh_CN.UTF-8"}, "chinese"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "en_US.UTF-8"}, "english"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_TW"}, "chinese"),
        ({"LANG": "C"}, "english"),
    ],
)
def test_the_locale_decides_the_language(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], language: str
) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert say("english", "chinese") == language


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory without a word about a deployment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HINDSIGHT_NATS_URL", raising=False)
    monkeypatch.delenv("HINDSIGHT_CONFIG", raising=False)
    return tmp_path


def test_a_deployment_is_found_by_argument_environment_file_and_default_in_this_order(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_nats_url() == DEFAULT_URL
    (nowhere / "config.yaml").write_text("nats_url: nats://file:1\n")
    assert find_nats_url() == "nats://file:1"
    (nowhere / "other.yaml").write_text("nats_url: nats://other:1\n")
    assert find_nats_url(config=nowhere / "other.yaml") == "nats://other:1"
    monkeypatch.setenv("HINDSIGHT_NATS_URL", "nats://environment:1")
    assert find_nats_url() == "nats://environment:1"
    assert find_nats_url("nats://argument:1") == "nats://argument:1"


def test_another_program_s_configuration_in_the_working_directory_does_no_harm(nowhere: Path) -> None:
    (nowhere / "config.yaml").write_text("secret: !env X\n")
    assert find_nats_url() == DEFAULT_URL


def test_a_file_that_was_asked_for_must_be_there(nowhere: Path) -> None:
    with pytest.raises(StopAndFix, match="does not exist"):
        find_nats_url(config=nowhere / "config.yaml")
