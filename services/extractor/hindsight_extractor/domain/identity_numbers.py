"""Numbers that identify a person or a card, told from look-alikes by their check digits."""

from __future__ import annotations

from datetime import date
from typing import Final

# First two digits of GB/T 2260: the provinces; 71 and 81 to 83 for residents of Taiwan, Hong Kong and Macau
_PROVINCES: Final = frozenset(
    str(code)
    for first, last in ((11, 15), (21, 23), (31, 37), (41, 46), (50, 54), (61, 65), (71, 71), (81, 83))
    for code in range(first, last + 1)
)
# ISO 7064 mod 11-2 as GB 11643 applies it to the first 17 digits
_RESIDENT_WEIGHTS: Final = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_RESIDENT_CHECK: Final = "10X98765432"

# Ranges of leading digits and the lengths issued under them
_CARD_RANGES: Final = (
    ("34", "34", (15,)),  # American Express
    ("37", "37", (15,)),
    ("300", "305", (14, 16, 17, 18, 19)),  # Diners Club
    ("36", "36", (14, 15, 16, 17, 18, 19)),
    ("38", "39", (14, 16, 17, 18, 19)),
    ("3528", "3589", (16, 17, 18, 19)),  # JCB
    ("4", "4", (13, 16, 19)),  # Visa
    ("2200", "2204", (16, 17, 18, 19)),  # Mir
    ("2221", "2720", (16,)),  # Mastercard
    ("51", "55", (16,)),
    ("5018", "5020", (13, 14, 15, 16, 17, 18, 19)),  # Maestro
    ("5038", "5038", (13, 14, 15, 16, 17, 18, 19)),
    ("56", "58", (13, 14, 15, 16, 17, 18, 19)),
    ("60", "60", (16, 17, 18, 19)),  # Discover, RuPay, older Chinese debit cards
    ("62", "62", (16, 17, 18, 19)),  # UnionPay
    ("63", "67", (13, 14, 15, 16, 17, 18, 19)),  # Maestro, Discover, UnionPay debit
    ("81", "82", (16, 17, 18, 19)),  # UnionPay, RuPay
    ("95588", "95588", (19,)),  # debit cards that Chinese banks issued before 62
    ("95595", "95595", (16, 19)),
    ("9111", "9111", (16,)),  # Chinese travel and student cards
)
_CARD_FIRST_DIGITS: Final = frozenset(low[0] for low, _, _ in _CARD_RANGES)


def passes_luhn(digits: str) -> bool:
    """ISO/IEC 7812-1 annex B; `digits` holds ASCII digits only."""
    odd = sum(int(digit) for digit in digits[-1::-2])
    even = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (odd + even) % 10 == 0


def looks_like_bank_card(digits: str) -> bool:
    """13 to 19 digits under a range that cards are issued in, whatever the check digit."""
    if not 13 <= len(digits) <= 19 or digits[0] not in _CARD_FIRST_DIGITS or not digits.isdecimal():
        return False
    return any(
        len(digits) in lengths and low <= digits[: len(low)] <= high for low, high, lengths in _CARD_RANGES
    )


def _is_day(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def looks_like_resident_number(text: str) -> bool:
    """18 characters with a province and a day of birth where they belong, whatever the check character."""
    if len(text) != 18 or not text[:17].isdecimal() or text[:2] not in _PROVINCES:
        return False
    year, month, day = int(text[6:10]), int(text[10:12]), int(text[12:14])
    return 1850 <= year <= 2100 and _is_day(year, month, day)


def is_resident_number(text: str) -> bool:
    """A Chinese resident identity number of today's 18-character form."""
    if not looks_like_resident_number(text):
        return False
    total = sum(weight * int(digit) for weight, digit in zip(_RESIDENT_WEIGHTS, text, strict=False))
    return _RESIDENT_CHECK[total % 11] == text[17].upper()


def looks_like_old_resident_number(digits: str) -> bool:
    """The 15-digit form of before 1999. It has no check digit, so context has to speak too."""
    if len(digits) != 15 or digits[:2] not in _PROVINCES or digits[2:4] == "00" or digits[4:6] == "00":
        return False
    return _is_day(1900 + int(digits[6:8]), int(digits[8:10]), int(digits[10:12]))


# Letters of Taiwanese numbers stand for two digits; by the order in which they were given out
_TAIWAN_LETTERS: Final = {letter: 10 + place for place, letter in enumerate("ABCDEFGHJKLMNPQRSTUVXYWZIO")}
_TAIWAN_WEIGHTS: Final = (1, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1)


def is_taiwanese_number(text: str) -> bool:
    """A national or resident number of Taiwan: a letter, 1 or 2 (residents: 8 or 9), seven digits and a check digit."""
    if len(text) != 10 or not text[1:].isdecimal() or text[1] not in "1289":
        return False
    value = _TAIWAN_LETTERS.get(text[0].upper())
    if value is None:
        return False
    digits = f"{value}{text[1:]}"
    return sum(weight * int(digit) for weight, digit in zip(_TAIWAN_WEIGHTS, digits, strict=True)) % 10 == 0


def is_hong_kong_number(text: str) -> bool:
    """One or two letters, six digits and a check character: the weights go down from nine, A is ten, a space 36."""
    body, check = text[:-1].upper().rjust(8), text[-1].upper()
    if not body[2:].isdecimal() or not body[1].isalpha() or check not in "0123456789A":
        return False
    values = [36 if sign == " " else int(sign, 36) for sign in f"{body}{check}"]
    return sum(weight * value for weight, value in zip(range(9, 0, -1), values, strict=True)) % 11 == 0
