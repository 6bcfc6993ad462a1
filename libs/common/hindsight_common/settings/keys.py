"""The settings by their dotted names, and how the environment spells them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any, Final

from pydantic import BaseModel, SecretStr

from hindsight_common.settings.model import ENV_NESTING, ENV_PREFIX, Settings

# Names that stand without the prefix, because deployments and the clients of LLM endpoints know them so.
PLAIN_NAMES: Final = {
    "MEMORY_STORE": "memory_store",
    "API_PORT": "api_port",
    "MEMORY_LLM_PROVIDER": "llm.provider",
    "MEMORY_LLM_BASE_URL": "llm.base_url",
    "MEMORY_LLM_API_KEY": "llm.api_key",
    "MEMORY_LLM_MODEL": "llm.model",
    "MEMORY_EXTRACT_PROMPT_PATH": "llm.prompt_path",
}


@dataclass(frozen=True, slots=True)
class Key:
    """One setting: dotted name, default, sentences in both languages. `secret` = environment only."""

    name: str
    default: Any
    english: str
    chinese: str
    planned: bool
    secret: bool

    @property
    def variable(self) -> str:
        """The environment variable to document: the plain name where there is one."""
        plain = {dotted: variable for variable, dotted in PLAIN_NAMES.items()}
        return plain.get(self.name) or ENV_PREFIX + self.name.upper().replace(".", ENV_NESTING)


def _walk(model: type[BaseModel], prefix: str) -> Iterator[Key]:
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _walk(field.annotation, f"{prefix}{name}.")
            continue
        extra = field.json_schema_extra
        if not isinstance(extra, dict):
            raise TypeError(f"{prefix}{name} is declared without its explanation")
        yield Key(
            name=prefix + name,
            default=field.default,
            english=field.description or "",
            chinese=str(extra["zh"]),
            planned=bool(extra["planned"]),
            secret="SecretStr" in str(field.annotation) or field.annotation is SecretStr,
        )


@cache
def all_keys() -> dict[str, Key]:
    """Every setting in the order of declaration, by dotted name."""
    return {key.name: key for key in _walk(Settings, "")}


def variables() -> frozenset[str]:
    """Every environment variable that is read, in upper case; sections too (they take JSON)."""
    prefixed = set()
    for name in all_keys():
        parts = name.upper().split(".")
        prefixed |= {ENV_PREFIX + ENV_NESTING.join(parts[:depth]) for depth in range(1, len(parts) + 1)}
    return frozenset(prefixed | set(PLAIN_NAMES))


def nearest(name: str) -> str | None:
    """The existing setting somebody most likely meant by `name`, or None."""
    names = list(all_keys())
    close = get_close_matches(name, names, n=1, cutoff=0.75)
    if close:
        return close[0]
    last = name.rpartition(".")[2]
    by_last: dict[str, str] = {}
    for known in names:
        by_last.setdefault(known.rpartition(".")[2], known)
    close = get_close_matches(last, list(by_last), n=1, cutoff=0.8)
    return by_last[close[0]] if close else None


def nearest_section(name: str) -> str | None:
    """The section somebody most likely meant by the top-level `name`, or None."""
    sections = sorted({known.partition(".")[0] for known in all_keys() if "." in known})
    close = get_close_matches(name, sections, n=1, cutoff=0.75)
    return close[0] if close else None


def nearest_variable(name: str) -> str | None:
    """The environment variable that `name` resembles closely enough to be a slip of the pen, or None."""
    plain = {variable.removeprefix(ENV_PREFIX): variable for variable in sorted(variables())}
    close = get_close_matches(name.upper().removeprefix(ENV_PREFIX), list(plain), n=1, cutoff=0.87)
    return plain[close[0]] if close else None
