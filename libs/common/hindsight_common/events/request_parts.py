"""The parts of which requests are made: ids, what is asked, what is said instead, spans of time, weights."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, ConfigDict, Field, WithJsonSchema, model_validator

from hindsight_common.events.content import MAX_MESSAGE_BYTES
from hindsight_common.events.fields import AwareTime, Body, clean_text, refusal
from hindsight_common.events.request_schemas import MAX_SAID_CHARACTERS, MEMORY_ID


def _check_query(text: str) -> str:
    if len(text.encode("utf-8", "surrogatepass")) > MAX_MESSAGE_BYTES:
        raise refusal(f"is longer than {MAX_MESSAGE_BYTES} bytes", code="message_too_large")
    cleaned = clean_text(text)
    if not cleaned.strip():
        raise refusal("must not be blank")
    return cleaned


def _check_memory_id(value: str) -> str:
    try:
        return str(UUID(value))
    except ValueError:
        raise refusal("is not the id of a memory") from None


def _check_said(text: str) -> str:
    cleaned = clean_text(text).strip()
    if not cleaned:
        raise refusal("must not be blank")
    if len(cleaned) > MAX_SAID_CHARACTERS:
        raise refusal(f"is longer than {MAX_SAID_CHARACTERS} characters")
    return cleaned


MemoryId = Annotated[str, AfterValidator(_check_memory_id), WithJsonSchema(MEMORY_ID)]
Query = Annotated[str, AfterValidator(_check_query), Field(json_schema_extra={"minLength": 1})]
Said = Annotated[str, AfterValidator(_check_said)]


class TimeRange(Body):
    """Over `occurred_at`: from inclusive, until exclusive; one of them may be left open."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    from_: AwareTime | None = Field(default=None, alias="from")
    until: AwareTime | None = None

    @model_validator(mode="after")
    def _is_a_span(self) -> TimeRange:
        if self.from_ is None and self.until is None:
            raise refusal("needs from, until or both")
        if self.from_ is not None and self.until is not None and self.from_ >= self.until:
            raise refusal("must begin before it ends")
        return self


class Weights(Body):
    """The shares of a score's parts for one request; only their proportions count."""

    similarity: float = Field(ge=0)
    importance: float = Field(ge=0)
    recency: float = Field(ge=0)

    @model_validator(mode="after")
    def _not_all_zero(self) -> Weights:
        if self.similarity + self.importance + self.recency <= 0:
            raise refusal("must not all be zero")
        return self
