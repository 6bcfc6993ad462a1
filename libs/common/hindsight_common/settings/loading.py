"""From `config.yaml` and the environment to checked `Settings`."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError, model_validator
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource, SettingsError

from hindsight_common.errors import StopAndFix
from hindsight_common.settings.keys import (
    PLAIN_NAMES,
    all_keys,
    nearest,
    nearest_section,
    nearest_variable,
    variables,
)
from hindsight_common.settings.legacy import translate
from hindsight_common.settings.model import ENV_NESTING, ENV_PREFIX, Settings
from hindsight_common.settings.yaml_file import read_yaml

DEFAULT_PATH: Final = Path("config.yaml")
CONFIG_VARIABLE: Final = "HINDSIGHT_CONFIG"

PRESETS: Final[Mapping[str, Mapping[str, Any]]] = {
    "education": {
        "memory_layers": {"episodic": {"decay_half_life": 48}},
        "orchestrator": {"conflict_resolution_weight": {"working": 0.5}},
    },
    "support": {"memory_layers": {"episodic": {"decay_half_life": 96}}},
}

# What pydantic says in the words of its own types
_PLAINLY: Final[Mapping[str, str]] = {
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "model_type": "is a section: put its settings below it, indented",
    "path_type": "must be a path",
    "string_type": "must be text",
}
_SUCH_AS: Final[Mapping[str, str]] = {
    "nats_url": "nats://127.0.0.1:4222",
    "redis_url": "redis://127.0.0.1:6379/0",
    "qdrant_url": "http://127.0.0.1:6333",
    "neo4j_url": "bolt://127.0.0.1:7687",
}

_log = logging.getLogger("hindsight.settings")


def load_settings(path: Path | None = None, *, overrides: Mapping[str, Any] | None = None) -> Settings:
    """The settings in force: `overrides` (nested, e.g. of a command line) over the environment over the file
    over the preset over the defaults.

    `path` None means the file that HINDSIGHT_CONFIG names, else `config.yaml` in the working directory if
    there is one; a file that was asked for must exist. What was mapped or will have no effect is logged as a
    warning. Raises `StopAndFix` that lists every fault with its key and the way out, never a value.
    """
    settings, notices = examine_settings(path, overrides=overrides)
    for notice in notices:
        _log.warning(notice)
    return settings


def examine_settings(
    path: Path | None = None, *, overrides: Mapping[str, Any] | None = None
) -> tuple[Settings, list[str]]:
    """As `load_settings`, with the warnings as sentences instead of in the log."""
    file_values = read_yaml(*_chosen_file(path))
    faults = [*_secrets_in_file(file_values), *_unknown_variables()]
    notices: list[str] = []
    sources = _layered(file_values, notices, faults)
    try:
        settings = _plain(sources(**(overrides or {})))
    except SettingsError as error:
        raise StopAndFix(f"the environment cannot be read: {error}") from error
    except ValidationError as error:
        faults += [_explain(detail["loc"], detail["type"], detail["msg"]) for detail in error.errors()]
        raise StopAndFix(_report(faults)) from error
    if faults:
        raise StopAndFix(_report(faults))
    return settings, [*notices, *_slips(), *_without_effect(settings), *_exposed(settings)]


def _layered(file_values: dict[str, Any], notices: list[str], faults: list[str]) -> type[Settings]:
    """Settings that read the given file values below the environment."""

    class Layered(Settings):
        @model_validator(mode="before")
        @classmethod
        def _predecessor(cls, values: dict[str, Any]) -> dict[str, Any]:
            told, refused = translate(values)
            notices.extend(told)
            faults.extend(refused)
            return values

        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the base class passes it
            file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the base class passes it
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            preset = str(os.environ.get(f"{ENV_PREFIX}PRESET") or file_values.get("preset"))
            return (
                init_settings,
                InitSettingsSource(settings_cls, _plain_values()),
                env_settings,
                InitSettingsSource(settings_cls, file_values),
                InitSettingsSource(settings_cls, dict(PRESETS.get(preset, {}))),
            )

    return Layered


def _plain(layered: Settings) -> Settings:
    """The same values as the one public type, so that two loads compare equal."""
    values = {name: getattr(layered, name) for name in Settings.model_fields}
    return Settings.model_construct(layered.model_fields_set, **values)


def _chosen_file(path: Path | None) -> tuple[Path, bool]:
    """The file to read and whether it must exist."""
    if path is not None:
        return path, True
    named = os.environ.get(CONFIG_VARIABLE)
    return (Path(named), True) if named else (DEFAULT_PATH, False)


def _plain_values() -> dict[str, Any]:
    values: dict[str, Any] = {}
    for variable, dotted in PLAIN_NAMES.items():
        if given := os.environ.get(variable):
            section = values
            *parents, last = dotted.split(".")
            for parent in parents:
                section = section.setdefault(parent, {})
            section[last] = given
    return values


def _secrets_in_file(values: Mapping[str, Any]) -> Iterable[str]:
    for key in all_keys().values():
        section: Any = values
        for part in key.name.split("."):
            section = section.get(part) if isinstance(section, Mapping) else None
        if key.secret and section is not None:
            yield f"{key.name} is a secret and does not belong in the file; set {key.variable} instead"


def _unknown_variables() -> Iterable[str]:
    """Misspelt nested variables. A flat HINDSIGHT_ name may belong to another program and is left alone."""
    known = variables()
    for name in sorted(os.environ):
        upper = name.upper()
        if not upper.startswith(ENV_PREFIX) or ENV_NESTING not in upper or upper in known:
            continue
        dotted = upper.removeprefix(ENV_PREFIX).lower().replace(ENV_NESTING, ".")
        section = dotted.partition(".")[0]
        if section in Settings.model_fields:
            continue  # validation names it, by its dotted name
        yield f"{name} is not a setting{_hint(dotted)}"


def _slips() -> Iterable[str]:
    """Flat variables that nothing reads and that resemble one that is read."""
    known = variables() | {CONFIG_VARIABLE}
    for name in sorted(os.environ):
        upper = name.upper()
        if not upper.startswith(ENV_PREFIX) or ENV_NESTING in upper or upper in known:
            continue
        if meant := nearest_variable(upper):
            yield f"{name} is read by nothing here; did you mean {meant}?"


def _hint(dotted: str) -> str:
    if meant := nearest(dotted):
        return f"; did you mean {meant} ({all_keys()[meant].variable})?"
    section = nearest_section(dotted)
    return f"; did you mean {section}?" if section else ""


def _explain(location: tuple[int | str, ...], kind: str, message: str) -> str:
    dotted = ".".join(str(part) for part in location)
    if kind == "extra_forbidden":
        return f"{dotted} is not a setting{_hint(dotted)}"
    reason = _PLAINLY.get(kind) or message.removeprefix("Value error, ").replace("Input should be", "must be")
    key = all_keys().get(dotted)
    if key is None:
        return f"{dotted}: {reason}" if dotted else reason
    if kind == "string_pattern_mismatch":
        reason = f"must be an address such as {_SUCH_AS.get(dotted, 'https://host')}"
    return f"{dotted}: {reason} (variable {key.variable}, default {key.default})"


def _report(faults: Iterable[str]) -> str:
    return "\n  - ".join(["the configuration cannot be used:", *dict.fromkeys(faults)])


def _without_effect(settings: Settings) -> Iterable[str]:
    for name in sorted(_given(settings)):
        if name in all_keys() and all_keys()[name].planned:
            yield f"{name} is set, but nothing in this release reads it yet"


def _exposed(settings: Settings) -> Iterable[str]:
    if not _is_loopback(settings.api_host):
        yield (
            f"api_host: {settings.api_host} is not loopback, and no keys are checked yet: whoever reaches the port "
            "can read and erase every memory"
        )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _given(section: Any, prefix: str = "") -> Iterable[str]:
    """Dotted names of what somebody set."""
    for name in section.model_fields_set:
        value = getattr(section, name)
        if hasattr(value, "model_fields_set"):
            yield from _given(value, f"{prefix}{name}.")
        else:
            yield prefix + name
