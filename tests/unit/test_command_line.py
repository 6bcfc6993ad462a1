from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from typer.main import get_command
from typer.testing import CliRunner

import hindsight_common
from hindsight_client.cli.arguments import hoisted
from hindsight_client.cli.commands import app
from hindsight_client.cli.completion import CommandCompleter
from hindsight_client.cli.error_words import described
from hindsight_client.cli.history import is_kept
from hindsight_client.cli.language import choose_language, say, speaks_chinese
from hindsight_client.cli.layer_lines import layer_lines
from hindsight_client.deployment import DEFAULT_URL, find_nats_url
from hindsight_common.errors import RequestError, StopAndFix
from hindsight_common.events.answers import InjectAnswer


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


def completed(line: str) -> list[str]:
    program = get_command(app)
    context = program.make_context("hindsight-cli", ["list", "u"])
    completer = CommandCompleter(program, ("help", "exit"), context)
    return [found.text for found in completer.get_completions(Document(line), CompleteEvent())]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("inj", ["inject_query"]),
        ("ex", ["export", "extract", "exit"]),
        ("help prov", ["provision"]),
        ("inject-query u-1 x --token", ["--token-budget"]),
        ("rebuild --store ", ["vectors", "graph", "all"]),
        ("rebuild --lang ", ["zh", "en"]),
        ("doctor --nats-u", ["--nats-url", "--nats-user"]),
        ("recall u-1 --top-k ", []),
        ("nonsense -", []),
        ("recall u-1 wh", []),
    ],
)
def test_what_may_come_next_is_offered(line: str, offered: list[str]) -> None:
    assert completed(line) == offered


@pytest.mark.parametrize(
    "name", ["inject_query", "inject-query", "update-memory", "dead_letters", "llm_stub"]
)
def test_commands_may_be_spelt_with_hyphens_or_underscores(name: str) -> None:
    assert CliRunner().invoke(app, [name, "--help"]).exit_code == 0


def test_a_user_named_by_option_or_environment_takes_the_place_of_the_argument() -> None:
    for arguments, environment in (
        (["list", "--user", "u-1", "--help"], {}),
        (["list", "--help"], {"HINDSIGHT_USER": "u-1"}),
    ):
        shown = CliRunner().invoke(app, hoisted(arguments), env=environment)
        assert shown.exit_code == 0
        assert "{user}" not in shown.stdout
    assert "{user}" in CliRunner().invoke(app, ["list", "--help"]).stdout
    # another user's name beside it is a mistake, never the user that counts or words of a query
    for arguments in (["list", "u-2"], ["recall", "u-2", "q"], ["forget", "u-2", "--everything", "--yes"]):
        assert CliRunner().invoke(app, arguments, env={"HINDSIGHT_USER": "u-1"}).exit_code == 2
    asked = ["turn", "u-2", "--outcome-of", "t-1"]
    assert CliRunner().invoke(app, asked, env={"HINDSIGHT_USER": "u-1"}).exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "chinese"),
    [
        (["--lang", "zh"], True),
        (["recall", "--lang=zh", "q"], True),
        (["--lang", "en"], False),
        (["turn", "--", "--lang", "zh"], False),
        (["--lang"], False),
        ([], False),
    ],
)
def test_the_language_may_be_named_wherever_options_may_stand(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], chinese: bool
) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    choose_language(arguments)
    try:
        assert speaks_chinese() is chinese
    finally:
        choose_language([])


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("doctor", True),
        ("dead_letters --limit 5", True),
        ("prune_graph --dry-run", True),
        ("recall u-1 'what do I like?'", False),
        ("turn u-1 'I like tea'", False),
        ("list u-1", False),
        ("--user u-1 list", False),
        ("doctor --user u-1", False),
        ("doctor --nats-url nats://me:secret@host:4222", False),
        ("doctor --nats-url=nats://me:secret@host:4222", False),
        ("forget u-1 doctor", False),
        ("", False),
    ],
)
def test_only_what_is_said_about_the_deployment_may_be_written_to_the_history(line: str, kept: bool) -> None:
    assert is_kept(line) is kept


def injected(**more: object) -> InjectAnswer:
    return InjectAnswer.model_validate({"snapshot": "", "intent": "recall", **more})


FACT = {
    "type": "fact",
    "subject": "user",
    "predicate": "prefers",
    "object": "表格对比",
    "content": "用户偏好表格对比",
}
EDGE = "(UserA)-[PREFERS]->(table_comparison)"


@pytest.mark.parametrize(
    ("language", "answer", "lines"),
    [
        (
            "zh_CN.UTF-8",
            injected(parts={"working": [], "episodic": [FACT], "semantic": [{"line": EDGE}]}),
            ["[WORKING] 无匹配", "[EPISODIC] 匹配偏好:表格对比", f"[SEMANTIC] {EDGE}"],
        ),
        (
            "C",
            injected(
                parts={
                    "working": [
                        {"speaker": "user", "content": "And the\nbattery?"},
                        {"speaker": "assistant", "content": "5000 mAh"},
                    ],
                    "episodic": [
                        FACT | {"predicate": "lives_in", "object": "Porto"},
                        FACT | {"negated": True, "content": "no longer likes tea"},
                        FACT | {"subject": "Charlie", "content": "Charlie prefers tea"},
                        {"type": "event", "content": "went to Rome"},
                    ],
                },
                degraded=["graph"],
            ),
            [
                "[WORKING] matched user:And the battery?; assistant:5000 mAh",
                "[EPISODIC] matched lives in:Porto; no longer likes tea; Charlie prefers tea; event:went to Rome",
                "[SEMANTIC] not available",
            ],
        ),
        (
            "zh_CN.UTF-8",
            injected(degraded=["working", "words"]),
            ["[WORKING] 不可用", "[EPISODIC] 不可用", "[SEMANTIC] 无匹配"],
        ),
    ],
)
def test_what_a_prompt_would_be_given_is_a_line_per_layer(
    monkeypatch: pytest.MonkeyPatch, language: str, answer: InjectAnswer, lines: list[str]
) -> None:
    monkeypatch.setenv("LC_ALL", language)
    assert layer_lines(answer) == lines


def test_every_command_tells_its_help_in_the_user_s_language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    program: Any = get_command(app)
    context = program.make_context("hindsight-cli", ["list", "u"])
    for name in program.list_commands(context):
        assert "显示本帮助并退出" in CliRunner().invoke(app, [name, "--help"]).stdout, name
