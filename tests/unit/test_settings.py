from __future__ import annotations

import logging
import os
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pydantic import SecretStr

from hindsight_common.errors import StopAndFix
from hindsight_common.settings import Settings, load_settings
from hindsight_common.settings.devices import usable_device
from hindsight_common.settings.examples import example_env, example_yaml
from hindsight_common.settings.keys import PLAIN_NAMES, all_keys, nearest

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.upper().startswith("HINDSIGHT_") or name in PLAIN_NAMES:
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def write(text: str) -> Path:
    path = Path("config.yaml")
    path.write_text(text, encoding="utf-8")
    return path


def value_of(settings: Settings, dotted: str) -> object:
    found: object = settings
    for part in dotted.split("."):
        found = getattr(found, part)
    return found


def refusal() -> str:
    try:
        load_settings()
    except StopAndFix as refused:
        return str(refused)
    return ""


def shown(value: object) -> str:
    return value.get_secret_value() if isinstance(value, SecretStr) else str(value)


def test_nothing_configured_gives_the_documented_defaults() -> None:
    settings = load_settings()
    assert settings.memory_store == "embedded"
    assert settings.api_port == 8787
    assert settings.nats_url == "nats://127.0.0.1:4222"
    assert settings.embedding.model_name == "multilingual-e5-small"
    assert (settings.recall.top_k, settings.recall.min_score) == (3, 0.5)
    weights = settings.recall.weights
    assert (weights.similarity, weights.importance, weights.recency) == (0.4, 0.3, 0.3)
    assert settings.orchestrator.hook_timeout == 3000
    assert settings.memory_layers.working.window_size == 5


def test_the_default_half_life_meets_the_ages_recency_promises() -> None:
    half_life = load_settings().recall.recency_half_life_days
    recency = {days: 0.5 ** (days / half_life) for days in (0, 30, 90, 365)}
    assert recency[0] == 1
    assert recency[30] >= 0.85
    assert 0.55 <= recency[90] <= 0.65
    assert recency[365] <= 0.2


def test_the_environment_wins_over_the_file_and_overrides_over_both(monkeypatch: pytest.MonkeyPatch) -> None:
    write("recall: {top_k: 7, min_score: 0.1}\napi_port: 1000\n")
    monkeypatch.setenv("HINDSIGHT_RECALL__TOP_K", "9")
    monkeypatch.setenv("API_PORT", "2000")
    settings = load_settings(overrides={"recall": {"min_score": 0.2}})
    assert (settings.recall.top_k, settings.recall.min_score, settings.api_port) == (9, 0.2, 2000)


@pytest.mark.parametrize(
    ("variable", "given", "dotted", "expected"),
    [
        ("MEMORY_STORE", "embedded", "memory_store", "embedded"),
        ("HINDSIGHT_NATS_URL", "nats://bus:4222", "nats_url", "nats://bus:4222"),
        ("HINDSIGHT_EMBEDDING__THREADS", "2", "embedding.threads", 2),
        ("HINDSIGHT_RECALL__WEIGHTS__RECENCY", "0", "recall.weights.recency", 0),
        ("MEMORY_LLM_BASE_URL", "http://llm/v1", "llm.base_url", "http://llm/v1"),
    ],
)
def test_each_way_of_naming_a_variable_reaches_its_setting(
    monkeypatch: pytest.MonkeyPatch, variable: str, given: str, dotted: str, expected: object
) -> None:
    monkeypatch.setenv(variable, given)
    assert value_of(load_settings(), dotted) == expected


def test_every_documented_variable_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in all_keys().values():
        with monkeypatch.context() as one:
            one.setenv(key.variable, "\N{SNOWMAN}")
            # either the odd value arrives, or the refusal names the key it was given for
            assert key.name in refusal() or shown(value_of(load_settings(), key.name)) == "\N{SNOWMAN}"


def test_the_master_secret_shows_in_no_representation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_MASTER_KEY", "hush-hush")
    settings = load_settings()
    assert settings.master_key is not None
    assert settings.master_key.get_secret_value() == "hush-hush"
    assert "hush" not in f"{settings!r} {settings}"


@pytest.mark.parametrize(
    ("text", "wrong", "meant"),
    [
        ("recall: {topk: 3}", "recall.topk", "recall.top_k"),
        ("top_k: 3", "top_k", "recall.top_k"),
        ("embeddings: {model_name: x}", "embeddings", "embedding?"),
        ("recal: {top_k: 3}", "recal", "recall?"),
        ("memory_layers: {working: {window: 5}}", "memory_layers.working.window", None),
        ("recall: {weights: {recencey: 1}}", "recall.weights.recencey", "recall.weights.recency"),
    ],
)
def test_an_unknown_key_is_refused_and_the_nearest_is_named(text: str, wrong: str, meant: str | None) -> None:
    write(text)
    with pytest.raises(StopAndFix) as refused:
        load_settings()
    assert f"{wrong} is not a setting" in str(refused.value)
    if meant:
        assert f"did you mean {meant}" in str(refused.value)


def test_a_misspelt_variable_is_refused_and_the_nearest_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_RECAL__TOP_K", "5")
    monkeypatch.setenv("HINDSIGHT_EMBEDDING__DEVISE", "cpu")
    with pytest.raises(StopAndFix) as refused:
        load_settings()
    assert "HINDSIGHT_RECAL__TOP_K is not a setting; did you mean recall.top_k" in str(refused.value)
    assert "embedding.devise is not a setting; did you mean embedding.device" in str(refused.value)


def test_a_flat_variable_of_another_program_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_API_LOG_LEVEL", "debug")
    assert load_settings().api_port == 8787


def test_a_flat_variable_that_looks_like_a_slip_is_pointed_out(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("HINDSIGHT_DATADIR", "/elsewhere")
    monkeypatch.setenv("HINDSIGHT_API_KEY", "of another program")
    monkeypatch.setenv("HINDSIGHT_API_LOG_LEVEL", "debug")
    assert str(load_settings().data_dir) == "data"
    (notice,) = [record.getMessage() for record in caplog.records]
    assert notice == "HINDSIGHT_DATADIR is read by nothing here; did you mean HINDSIGHT_DATA_DIR?"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("recall: {top_k: five}", "recall.top_k: must be a whole number (variable HINDSIGHT_RECALL__TOP_K"),
        ("recall: {top_k: 2.5}", "recall.top_k: must be a whole number"),
        ("recall: {gate: high}", "recall.gate: must be a number"),
        ("recall: {gate: 7}", "recall.gate: must be less than or equal to 1"),
        ("recall: 5", "recall: is a section: put its settings below it, indented"),
        ("nats_url: localhost", "nats_url: must be an address such as nats://127.0.0.1:4222"),
        ("embedding: {device: gpu}", "embedding.device: must be 'cpu' or 'cuda'"),
    ],
)
def test_a_fault_is_told_in_plain_words(text: str, said: str) -> None:
    write(text)
    with pytest.raises(StopAndFix) as refused:
        load_settings()
    assert said in str(refused.value)
    assert "Input should" not in str(refused.value)


def test_all_faults_are_reported_at_once_with_key_and_way_out() -> None:
    write("recall: {top_k: 0, min_score: 1.5}\napi_port: 99999\nnats_url: localhost\n")
    with pytest.raises(StopAndFix) as refused:
        load_settings()
    for key in ("recall.top_k", "recall.min_score", "api_port", "nats_url"):
        assert f"{key}: " in str(refused.value)
    assert "HINDSIGHT_RECALL__TOP_K" in str(refused.value)
    assert "API_PORT" in str(refused.value)


def test_a_secret_in_the_file_is_refused_without_repeating_it() -> None:
    write("master_key: abcdefgh\nllm: {api_key: sk-12345}\n")
    with pytest.raises(StopAndFix) as refused:
        load_settings()
    assert "HINDSIGHT_MASTER_KEY" in str(refused.value)
    assert "MEMORY_LLM_API_KEY" in str(refused.value)
    assert "abcdefgh" not in str(refused.value)
    assert "sk-12345" not in str(refused.value)


def test_weights_of_nothing_are_refused() -> None:
    write("recall: {weights: {similarity: 0, importance: 0, recency: 0}}")
    with pytest.raises(StopAndFix, match="at least one of the three weights"):
        load_settings()


def test_not_a_number_is_refused() -> None:
    write("recall: {weights: {similarity: .nan}}")
    with pytest.raises(StopAndFix, match=r"recall\.weights\.similarity"):
        load_settings()


@pytest.mark.parametrize("text", ["- a\n", "a: [1\n", "recall: {top_k: 1, top_k: 2}\n", "just words\n"])
def test_a_file_that_is_no_clean_mapping_is_refused_by_name(text: str) -> None:
    write(text)
    with pytest.raises(StopAndFix, match=r"config\.yaml"):
        load_settings()


def test_a_file_that_was_asked_for_must_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StopAndFix, match=r"elsewhere\.yaml does not exist"):
        load_settings(Path("elsewhere.yaml"))
    monkeypatch.setenv("HINDSIGHT_CONFIG", "named.yaml")
    with pytest.raises(StopAndFix, match=r"named\.yaml does not exist"):
        load_settings()


def test_an_empty_file_and_empty_sections_mean_the_defaults() -> None:
    write("recall:\nembedding:\n  threads:\n")
    assert load_settings() == load_settings(write(""))


def test_a_preset_changes_defaults_and_yields_to_what_is_set() -> None:
    write("preset: education\n")
    settings = load_settings()
    assert settings.memory_layers.episodic.decay_half_life == 48
    assert settings.orchestrator.conflict_resolution_weight.working == 0.5
    write("preset: support\nmemory_layers: {episodic: {decay_half_life: 10}}\n")
    assert load_settings().memory_layers.episodic.decay_half_life == 10


def test_sqlite_of_the_predecessor_is_read_as_embedded_and_said(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MEMORY_STORE", "sqlite")
    assert load_settings().memory_store == "embedded"
    assert "MEMORY_STORE=embedded" in caplog.text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("memory_store: postgres", "PostgreSQL is no longer a store"),
        ("memory_layers: {episodic: {db_path: /tmp/x.db}}", "set data_dir"),
        ("episodic: {db_path: /tmp/x.db}", "set data_dir"),
        ("session_isolation: false", "can no longer be switched off"),
        ("memory_store: server", r"needs redis_url \(HINDSIGHT_REDIS_URL\), qdrant_url .*, neo4j_url "),
        ("qdrant_collection: a b", "qdrant_collection: takes letters"),
        ("neo4j_url: bolt://neo4j:secret@here:7687", "neo4j_url: must be an address such as bolt://"),
    ],
)
def test_what_no_longer_applies_is_refused_with_the_reason(text: str, reason: str) -> None:
    write(text)
    with pytest.raises(StopAndFix, match=reason):
        load_settings()


def test_an_environment_that_switches_isolation_off_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_SESSION_ISOLATION", "False")
    with pytest.raises(StopAndFix, match="can no longer be switched off"):
        load_settings()
    monkeypatch.setenv("HINDSIGHT_SESSION_ISOLATION", "yes")
    assert load_settings().session_isolation is True


def test_a_persist_interval_is_ignored_and_said(caplog: pytest.LogCaptureFixture) -> None:
    write("memory_layers: {episodic: {persist_interval: 60}}")
    assert load_settings().memory_layers.episodic.decay_half_life == 72
    assert "persist_interval was ignored" in caplog.text


def test_a_setting_that_nothing_reads_yet_says_so(caplog: pytest.LogCaptureFixture) -> None:
    write("memory_layers: {episodic: {decay_half_life: 48}}\nrecall: {top_k: 4}\n")
    load_settings()
    assert "memory_layers.episodic.decay_half_life is set, but nothing" in caplog.text
    assert "top_k" not in caplog.text


@pytest.mark.parametrize(
    ("host", "exposed"),
    [("127.0.0.1", False), ("::1", False), ("localhost", False), ("0.0.0.0", True), ("memory.example", True)],
)
def test_an_address_beyond_this_machine_is_warned_about(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, host: str, exposed: bool
) -> None:
    monkeypatch.setenv("HINDSIGHT_API_HOST", host)
    load_settings()
    assert ("no keys are checked" in caplog.text) is exposed


@pytest.mark.parametrize("present", [True, False])
def test_cuda_falls_back_to_the_cpu_and_says_why(caplog: pytest.LogCaptureFixture, present: bool) -> None:
    with caplog.at_level(logging.WARNING):
        assert usable_device("cuda", gpu_present=lambda: present) == "cpu"
    assert "embedding.device: cuda" in caplog.text
    caplog.clear()
    assert usable_device("cpu", gpu_present=lambda: present) == "cpu"
    assert not caplog.text


def test_settings_cannot_be_changed_after_start() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load_settings().recall.top_k = 5  # type: ignore[misc]


def test_the_examples_in_the_repository_are_the_generated_ones() -> None:
    assert (ROOT / "config.example.yaml").read_text(encoding="utf-8") == example_yaml()
    assert (ROOT / ".env.example").read_text(encoding="utf-8") == example_env()


def test_the_example_file_with_every_line_in_force_changes_nothing() -> None:
    text = "\n".join(re.sub("^# ", "", line) for line in example_yaml().splitlines())
    listed = yaml.safe_load(text)
    assert load_settings(write(text)) == load_settings(write(""))
    for key in all_keys().values():
        if not key.secret:
            section = listed
            for part in key.name.split("."):
                assert part in section, key.name
                section = section[part]


def test_every_key_is_explained_in_both_languages() -> None:
    for key in all_keys().values():
        assert re.search(r"[a-z]{2}.*\.$", key.english), key.name
        assert re.search(r"[\u4e00-\u9fff].*。$", key.chinese), key.name


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.dictionaries(
            st.sampled_from(sorted({*all_keys(), "recall", "episodic", "x"})), inner
        ),
    )
)
def test_any_value_in_a_file_is_used_or_refused_never_a_crash(value: object) -> None:
    path = write(yaml.safe_dump({"recall": value, "memory_store": value, "session_isolation": value}))
    try:
        settings = load_settings(path)
    except StopAndFix:
        return
    assert settings.session_isolation is True


@given(st.text())
def test_the_nearest_name_is_a_setting_or_nothing(text: str) -> None:
    assert nearest(text) in {None, *all_keys()}
