"""What a message may carry as content, and the text that is kept of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from hindsight_common.events.fields import clean_text, refusal

MAX_MESSAGE_BYTES: Final = 256 * 1024

_TEXT_PARTS: Final = frozenset({"text", "input_text", "output_text"})


def text_of(content: object, max_bytes: int) -> str:
    """The text of a message's content: null has none; of a list its text parts, each on its own line."""
    if content is None:
        return ""
    text = content if isinstance(content, str) else "\n".join(_text_parts(content))
    if len(text.encode("utf-8", "surrogatepass")) > max_bytes:
        reason = f"is longer than {max_bytes} bytes; send it in several turns"
        raise refusal(reason, code="message_too_large")
    return clean_text(text)


def _text_parts(content: object) -> Iterator[str]:
    if not isinstance(content, list):
        raise refusal("must be null, a string or a list of parts")
    for part in content:
        if not isinstance(part, str | Mapping):
            raise refusal("must list parts that are objects or strings")
        text = part if isinstance(part, str) else part.get("text", "")
        if not _is_text(part):
            continue
        if not isinstance(text, str):
            raise refusal("has a text part whose text is not a string")
        yield text


def _is_text(part: object) -> bool:
    if isinstance(part, Mapping):
        kind = part.get("type")
        return isinstance(kind, str) and kind in _TEXT_PARTS
    return isinstance(part, str)


def count_dropped(content: object) -> int:
    return sum(not _is_text(part) for part in content) if isinstance(content, list) else 0
