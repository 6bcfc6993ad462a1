"""The kinds of field that turns, requests and answers share, each with its one documented rule."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer
from pydantic_core import PydanticCustomError

MAX_ID_BYTES: Final = 256

_TIME: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?P<zone>[Zz]|[+-]\d{2}(?::?\d{2})?)?",
    re.ASCII,
)
# C0 and C1 controls except newline and tab, and halves of surrogate pairs: no store takes them all
_UNSTORABLE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_ZONES_OF_THE_MACHINE: Final = frozenset({"localtime", "posixrules", "Factory"})


class Body(BaseModel):
    """Base of everything that comes in: frozen, strict about types, and closed to unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


def refusal(reason: str, *, code: str | None = None) -> PydanticCustomError:
    """What a validator raises: `reason` reads on from the field's name, `code` replaces the general one."""
    return PydanticCustomError("refused", "{reason}", {"reason": reason, "code": code})


def clean_text(text: str) -> str:
    """`text` without NULs, lone surrogates and controls; newline and tab stay, CR becomes newline."""
    return _UNSTORABLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def check_id(value: str) -> str:
    """An id is taken as it is or refused, never repaired: two ids that look alike must not meet by accident.

    Refused: the empty string, white space at either end, control, zero-width and other invisible characters,
    lone surrogates, more than 256 bytes of UTF-8.
    """
    if not value:
        raise refusal("must not be empty")
    if any(unicodedata.category(char) in _INVISIBLE for char in value):
        raise refusal("contains a control, zero-width or otherwise invisible character")
    if not value.strip():
        raise refusal("must not be blank")
    if value != value.strip():
        raise refusal("begins or ends with white space; send it without")
    if len(value.encode()) > MAX_ID_BYTES:
        raise refusal(f"is longer than {MAX_ID_BYTES} bytes")
    return value


def fault_of_id(value: object) -> str | None:
    """What is wrong with it as an id, reading on from its name; None if nothing is."""
    if not isinstance(value, str):
        return "must be a string"
    try:
        check_id(value)
    except PydanticCustomError as error:
        return error.message()
    return None


def read_time(value: object) -> datetime:
    """An aware datetime from ISO 8601 text such as `2026-11-29T21:04:05.250+0800`; it keeps its offset."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value
    if isinstance(value, int | float):
        raise refusal("must be ISO 8601 text with an offset, such as 2026-11-29T21:04:05+08:00, not a number")
    if not isinstance(value, str):
        raise refusal("must be ISO 8601 text with an offset, such as 2026-11-29T21:04:05+08:00")
    match = _TIME.fullmatch(value)
    if match is None:
        raise refusal("is not an ISO 8601 time with an offset, such as 2026-11-29T21:04:05+08:00")
    if match["zone"] is None:
        raise refusal("has no offset: say which one, such as +08:00 or Z")
    try:
        time = datetime.fromisoformat(value.upper().replace(",", "."))
        time.astimezone(UTC)
    except (ValueError, OverflowError):
        raise refusal("is not a time that exists") from None
    return time


@lru_cache(maxsize=1024)
def _zone_exists(name: str) -> bool:
    if name in _ZONES_OF_THE_MACHINE:
        return False
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def check_zone(name: str) -> str:
    """The name of an IANA time zone, such as Asia/Shanghai."""
    if len(name) > 64 or not _zone_exists(name):
        raise refusal("is not an IANA time zone such as Asia/Shanghai or UTC")
    return name


def _check_name(value: str) -> str | None:
    name = clean_text(value).strip()
    if len(name.encode()) > MAX_ID_BYTES:
        raise refusal(f"is longer than {MAX_ID_BYTES} bytes")
    return name or None


def not_yet(neutral: Any) -> BeforeValidator:
    """Accepts a declared field at its neutral value only, so that nobody believes it has an effect."""

    def check(value: object) -> Any:
        if value != neutral or isinstance(value, bool) is not isinstance(neutral, bool):
            raise refusal("is not supported yet; leave it out", code="not_supported")
        return value

    return BeforeValidator(check)


# the validators say more than a schema can: this is what generators of clients and of tests may know
Id = Annotated[
    str,
    AfterValidator(check_id),
    Field(json_schema_extra={"minLength": 1, "maxLength": MAX_ID_BYTES}),
]
Zone = Annotated[str, AfterValidator(check_zone)]
Name = Annotated[str | None, AfterValidator(lambda value: None if value is None else _check_name(value))]
AwareTime = Annotated[datetime, BeforeValidator(read_time), PlainSerializer(datetime.isoformat)]
