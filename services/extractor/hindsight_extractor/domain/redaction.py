"""Identity numbers, cards, keys and passwords, replaced by what is true about them before anything is kept."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from hindsight_extractor.domain.number_spans import (
    Span,
    bank_cards,
    identity_numbers,
    lettered_identity_numbers,
    social_security_numbers,
)
from hindsight_extractor.domain.redaction_words import TRUTH, Kind, Language
from hindsight_extractor.domain.secret_patterns import passwords, private_keys, tokens

# One character for one, so that places in the folded text are places in the original
_FOLD: Final = {
    **{0xFF10 + n: ord("0") + n for n in range(10)},
    **{0xFF21 + n: ord("A") + n for n in range(26)},
    **{0xFF41 + n: ord("a") + n for n in range(26)},
    **dict.fromkeys(map(ord, "‐‑‒–—―−－﹣"), ord("-")),
    **dict.fromkeys(map(ord, "\u00a0\u2002\u2003\u2009\u200b\u200c\u200d\u202f\u2060\u3000\ufeff"), ord(" ")),
}
_PASSPORT: Final = re.compile(
    r"(?:passport|护照|護照)(?:[^\n。!?！？]{0,24}?(?<![0-9A-Z])(?P<value>[A-Z]{1,2}\d{7,8}|\d{9})(?![0-9A-Z])"
    r"|\s{0,2}(?:number|no\.?|号码?|號碼?)\s{0,2}(?:is|[:：是为為])?\s{0,2}"
    r"(?P<direct>(?=(?:[A-Z]{0,8}\d){4})[A-Z0-9]{7,9})(?![0-9A-Z]))"
    r"|(?<![0-9A-Z])(?P<before>[A-Z]{1,2}\d{7,8})(?![0-9A-Z])[^\n。!?！？]{0,12}?(?:passport|护照|護照)",
    re.IGNORECASE,
)
# Documents of a person whose numbers carry no check digit that they share: only their label tells
_LABELLED_ID: Final = re.compile(
    r"(?:通行证|通行證|回乡证|回鄉證|台胞证|台胞證|居留证|军官证|士兵证|香港身份[证證]|hkid|(?<![a-z])ssn"
    r"|social\s+security(?:\s+(?:number|no))?)[^\n。!?！？0-9]{0,12}?(?<![0-9A-Z])"
    r"(?P<value>[A-Z]{1,2}\d{6}[(（][0-9A][)）]|[A-Z]{0,2}\d{3}-?\d{2}-?\d{3,5}(?![0-9A-Z]))",
    re.IGNORECASE,
)
_ESCAPED: Final = re.compile(r"\\u(?!00[0-7])([0-9a-fA-F]{4})(?:\\u(d[c-f][0-9a-fA-F]{2}))?", re.IGNORECASE)
_PLACEHOLDER: Final = re.compile("|".join(re.escape(said) for two in TRUTH.values() for said in two.values()))
_CLAUSE: Final = re.compile("[\0。！？!?；;\n]")
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_WORD: Final = re.compile(r"[A-Za-z]+")


@dataclass(frozen=True, slots=True)
class Redacted:
    """`counts` says how many of each kind were replaced; kinds that did not occur are absent."""

    text: str
    counts: dict[str, int]


def redact(text: str) -> Redacted:
    """`text` with every secret replaced in the language of its sentence; the rest is left as it was.

    Look-alikes survive: check digits decide on identity and card numbers, labels on documents without one. Doing
    it again changes nothing. Takes time in proportion to the text.
    """
    masked = _PLACEHOLDER.sub(lambda said: "\0" * len(said[0]), text.translate(_FOLD))
    found: list[tuple[int, int, Kind]] = []
    more = True
    while more:
        # one secret may hide another that is written on to it, without a space
        masked, fresh = _sought(masked)
        found += fresh
        more = bool(fresh)
    found = _outermost(found)
    otherwise: Language = "zh" if _HAN.search(masked) else "en"
    replacements = [(s, e, TRUTH[kind][_language_at(masked, s, e) or otherwise]) for s, e, kind in found]
    return Redacted(_replaced(text, replacements), dict(Counter(kind for _, _, kind in found)))


def _sought(masked: str) -> tuple[str, list[tuple[int, int, Kind]]]:
    """The text with what the detectors find masked too, and where that was."""
    found: list[tuple[int, int, Kind]] = []
    for kind, find in _DETECTORS:
        # of what is masked already nothing is left to find
        spans = [(start, end) for start, end in _apart(find(masked)) if masked[start:end].strip("\0")]
        found += [(start, end, kind) for start, end in spans]
        masked = _replaced(masked, [(start, end, "\0" * (end - start)) for start, end in spans])
    return masked, found


def _outermost(found: list[tuple[int, int, Kind]]) -> list[tuple[int, int, Kind]]:
    """In order, and of those that overlap one, of the kind that begins first: a password may hold a token."""
    apart: list[tuple[int, int, Kind]] = []
    for start, end, kind in sorted(found, key=lambda span: (span[0], -span[1])):
        if apart and start < apart[-1][1]:
            begin, reached, outer = apart[-1]
            apart[-1] = begin, max(reached, end), outer
        else:
            apart.append((start, end, kind))
    return apart


def redact_bytes(raw: bytes) -> bytes:
    """The same for a body that could not be read, by pattern: UTF-8, else GB 18030, else the bytes as they are."""
    for encoding, errors in (("utf-8", "strict"), ("gb18030", "strict"), ("utf-8", "surrogateescape")):
        try:
            text = raw.decode(encoding, errors)
        except UnicodeDecodeError:
            continue
        return redact(_ESCAPED.sub(_unescape, text)).text.encode(encoding, errors)
    raise AssertionError("surrogateescape decodes anything")


def _unescape(match: re.Match[str]) -> str:
    units = [int(unit, 16) for unit in match.groups() if unit]
    raw = b"".join(unit.to_bytes(2, "big") for unit in units)
    try:
        return raw.decode("utf-16-be")
    except UnicodeDecodeError:
        return match[0]


def _apart(spans: Iterable[Span]) -> list[Span]:
    """The spans in order, overlapping ones joined, empty ones left out."""
    joined: list[Span] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _replaced(text: str, replacements: list[tuple[int, int, str]]) -> str:
    parts: list[str] = []
    at = 0
    for start, end, new in replacements:
        parts += (text[at:start], new)
        at = end
    return "".join((*parts, text[at:]))


def _language_at(masked: str, start: int, end: int) -> Language | None:
    """Of the words before the secret in its clause, else after it; None without any."""
    before = _CLAUSE.split(masked[max(0, start - 48) : start])[-1]
    after = _CLAUSE.split(masked[end : end + 48])[0]
    for clause in (before, after):
        han, words = len(_HAN.findall(clause)), len(_WORD.findall(clause))
        if han or words:
            return "zh" if han >= words else "en"
    return None


def _labelled(pattern: re.Pattern[str]) -> Callable[[str], Iterator[Span]]:
    def find(text: str) -> Iterator[Span]:
        for match in pattern.finditer(text):
            yield match.span(match.lastgroup or 0)

    return find


# Earlier ones win: what lies inside a key block or a token is part of it
_DETECTORS: Final[tuple[tuple[Kind, Callable[[str], Iterator[Span]]], ...]] = (
    ("private_key", private_keys),
    ("api_key", tokens),
    ("password", passwords),
    ("id_number", identity_numbers),
    ("id_number", lettered_identity_numbers),
    ("id_number", social_security_numbers),
    ("bank_card", bank_cards),
    ("passport", _labelled(_PASSPORT)),
    ("id_number", _labelled(_LABELLED_ID)),
)
