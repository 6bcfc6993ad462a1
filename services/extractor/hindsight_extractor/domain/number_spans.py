"""Where numbers of a person stand in text, written in one piece or in groups."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from hindsight_extractor.domain.identity_numbers import (
    is_hong_kong_number,
    is_resident_number,
    is_taiwanese_number,
    looks_like_bank_card,
    looks_like_old_resident_number,
    looks_like_resident_number,
    passes_luhn,
)
from hindsight_extractor.domain.redaction_words import CALLED_CARD, CALLED_ID, LOOK_ALIKE

Span = tuple[int, int]

_NUMBER: Final = re.compile(r"\d+(?:[ -]{1,3}\d+)*(?:[ -]?[Xx](?![0-9A-Za-z]))?")
_GROUP: Final = re.compile(r"\d+|[Xx]")
_CLAUSE: Final = re.compile("[\0。！？!?；;\n]")
_TAIWANESE: Final = re.compile(r"(?<![0-9A-Za-z])[A-Za-z][1289]\d{8}(?![0-9A-Za-z])", re.ASCII)
_HONG_KONG: Final = re.compile(
    r"(?<![0-9A-Za-z])(?P<body>[A-Za-z]{1,2}\d{6}) ?[(（](?P<check>[0-9Aa])[)）]", re.ASCII
)
_SOCIAL_SECURITY: Final = re.compile(
    r"(?<![\w-])(?!000|666|9\d\d)\d{3}-(?!00)\d\d-(?!0000)\d{4}(?![\w-])", re.ASCII
)
_LABEL_REACH: Final = 40
_LONGEST: Final = 19


@dataclass(frozen=True, slots=True)
class _Candidate:
    """`digits` in ASCII, perhaps with a final X; `sizes` of the groups they are written in."""

    text: str
    start: int
    end: int
    digits: str
    sizes: tuple[int, ...]

    def is_part_of_a_code(self) -> bool:
        """It touches letters, the sign of a country's dialling code or a decimal point."""
        before = self.text[max(0, self.start - 2) : self.start]
        after = self.text[self.end : self.end + 1]
        touches = before[-1:].isascii() and (before[-1:].isalpha() or before[-1:] in ("_", "+"))
        fraction = len(before) == 2 and before[1] == "." and before[0].isdecimal()
        return touches or fraction or (after.isascii() and after.isalpha())

    def is_called(self, own: re.Pattern[str]) -> bool | None:
        """Whether the nearest label before it is its `own` or a look-alike's; None without either."""
        clause = _CLAUSE.split(self.text[max(0, self.start - _LABEL_REACH) : self.start])[-1]
        own_end, other_end = (
            max((match.end() for match in label.finditer(clause)), default=-1) for label in (own, LOOK_ALIKE)
        )
        return None if own_end == other_end else own_end > other_end


def identity_numbers(text: str) -> Iterator[Span]:
    """Chinese resident identity numbers, of 18 characters and the older ones of 15 digits."""
    return _find(text, (15, 18), _is_resident)


def lettered_identity_numbers(text: str) -> Iterator[Span]:
    """Numbers of Taiwan and Hong Kong whose check digit is right, unless they are called something else."""
    for found in _TAIWANESE.finditer(text):
        number = _Candidate(text, found.start(), found.end(), found[0], ())
        if is_taiwanese_number(found[0]) and number.is_called(CALLED_ID) is not False:
            yield found.span()
    for found in _HONG_KONG.finditer(text):
        number = _Candidate(text, found.start(), found.end(), found[0], ())
        if is_hong_kong_number(found["body"] + found["check"]) and number.is_called(CALLED_ID) is not False:
            yield found.span()


def social_security_numbers(text: str) -> Iterator[Span]:
    """What is written as a number of the social security of the United States, which has no check digit: three, two
    and four digits with hyphens, no part all zeros, the first neither 666 nor 9xx, unless called something else.
    """
    for found in _SOCIAL_SECURITY.finditer(text):
        if _Candidate(text, found.start(), found.end(), found[0], ()).is_called(CALLED_ID) is not False:
            yield found.span()


def bank_cards(text: str) -> Iterator[Span]:
    return _find(text, (13, 14, 15, 16, 17, 18, 19), _is_card)


def _is_resident(number: _Candidate) -> bool:
    if is_resident_number(number.digits):
        return True
    if looks_like_resident_number(number.digits):
        return number.is_called(CALLED_ID) is True
    if len(number.sizes) > 3 or not looks_like_old_resident_number(number.digits):
        return False
    return not number.is_part_of_a_code() and number.is_called(CALLED_ID) is not False


def _is_card(number: _Candidate) -> bool:
    if not looks_like_bank_card(number.digits) or not _grouped_as_on_cards(number.sizes):
        return False
    if number.is_part_of_a_code():
        return False
    called = number.is_called(CALLED_CARD)
    return called is True or (called is None and passes_luhn(number.digits))


def _grouped_as_on_cards(sizes: tuple[int, ...]) -> bool:
    """In one piece, in equal groups with a shorter or longer last one, or as some issuers print it."""
    if len(sizes) <= 2:
        return len(sizes) == 1 or sizes[0] in (4, 6)
    return len(set(sizes[:-1])) == 1 or sizes in ((4, 6, 5), (4, 6, 4))


def _find(text: str, lengths: tuple[int, ...], accepts: Callable[[_Candidate], bool]) -> Iterator[Span]:
    """Numbers that begin and end with a group; of those that are accepted at one place, the longest."""
    for run in _NUMBER.finditer(text):
        if run.end() - run.start() < lengths[0]:
            continue
        groups = [group.span() for group in _GROUP.finditer(text, *run.span())]
        first = 0
        while first < len(groups):
            candidates = (
                () if _amid_single_digits(groups, first) else _candidates(text, groups, first, lengths)
            )
            fitting = [found for found in candidates if accepts(found)]
            if fitting:
                yield fitting[-1].start, fitting[-1].end
                first += len(fitting[-1].sizes)
            else:
                first += 1


def _amid_single_digits(groups: list[Span], first: int) -> bool:
    """A number spelt digit by digit begins where the spelling begins, not inside a column of digits."""
    return first > 0 and all(end - start == 1 for start, end in groups[first - 1 : first + 1])


def _candidates(text: str, groups: list[Span], first: int, lengths: tuple[int, ...]) -> Iterator[_Candidate]:
    digits = ""
    for last in range(first, min(first + _LONGEST, len(groups))):
        start, end = groups[last]
        if len(digits) + end - start > lengths[-1]:
            return
        digits += text[start:end]
        if len(digits) in lengths:
            sizes = tuple(b - a for a, b in groups[first : last + 1])
            yield _Candidate(text, groups[first][0], end, _in_ascii(digits), sizes)


def _in_ascii(digits: str) -> str:
    return digits if digits.isascii() else "".join(str(int(d)) if d.isdecimal() else d for d in digits)
