"""What endpoints that call themselves OpenAI-compatible do not have in common, and what a refusal says about it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

Form = Literal["json_schema", "json_object", "text"]

_SIMPLER: Final[Mapping[Form, Form]] = {"json_schema": "json_object", "json_object": "text"}
_ABOUT_FORM = re.compile(
    r"response_format|json_schema|json_object|json mode|structured output|guided|grammar|additionalProperties"
    r"|text\.format|invalid schema",
    re.IGNORECASE,
)
_ABOUT_TOKENS = re.compile(r"max_tokens|max_completion_tokens", re.IGNORECASE)
_ABOUT_TEMPERATURE = re.compile(r"temperature", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"context[ _]length|context window|maximum context|too many tokens|too (?:long|large)"
    r"|exceeds? .{0,40}(?:token|context)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a model is asked. The first one tried is the strictest; a refusal leads to the next."""

    form: Form = "json_schema"
    tokens: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True

    def parameters(self, schema: Mapping[str, Any], max_output_tokens: int) -> dict[str, Any]:
        """The part of a request body that differs from dialect to dialect."""
        said: dict[str, Any] = {self.tokens: max_output_tokens}
        if self.temperature:
            said["temperature"] = 0
        if self.form == "json_schema":
            said["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "reply", "strict": True, "schema": schema},
            }
        elif self.form == "json_object":
            said["response_format"] = {"type": "json_object"}
        return said

    def after(self, refusal: str) -> Dialect | None:
        """What to try after a 400 or 422 with this text; None if nothing is left.

        A text that names no parameter may still mean the form, so the next form is tried.
        """
        if not _ABOUT_FORM.search(refusal):
            if self.temperature and _ABOUT_TEMPERATURE.search(refusal):
                return replace(self, temperature=False)
            if self.tokens == "max_tokens" and _ABOUT_TOKENS.search(refusal):
                return replace(self, tokens="max_completion_tokens")
        simpler = _SIMPLER.get(self.form)
        return replace(self, form=simpler) if simpler else None


def names_a_parameter(refusal: str) -> bool:
    """True if a refusal is about how it was asked, so that what worked in its place is worth remembering."""
    return any(p.search(refusal) for p in (_ABOUT_FORM, _ABOUT_TOKENS, _ABOUT_TEMPERATURE))


def says_too_long(refusal: str) -> bool:
    return bool(_TOO_LONG.search(refusal))
