"""Keys, tokens and passwords as they turn up in text.

Every pattern is bounded, so that searching takes time in proportion to the text. Group `value` (or the whole
match) is what must go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from hindsight_extractor.domain.number_spans import Span
from hindsight_extractor.domain.redaction_words import NO_PASSWORD_EN, NO_PASSWORD_ENDING_EN, NO_PASSWORD_ZH

_KEY_BEGINS: Final = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_ENDS: Final = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BODY: Final = re.compile(
    r"(?:\s{0,4}[A-Z][A-Za-z-]{1,40}: [^\n]{1,100})*(?:(?:\s|\\[nr]){0,4}[A-Za-z0-9+/=]{20,})*"
    r"(?:(?:\s|\\[nr]){0,4}[A-Za-z0-9+/]{1,76}={0,2}(?=[^\S\n]{0,4}(?:\n|$)))?"
)

# Prefixes that issuers publish so that leaks can be found
_TOKENS: Final = re.compile(
    r"""(?<![A-Za-z0-9])(?:
      (?:sk|pk|rk)-(?=[A-Za-z_-]{0,200}[0-9])[A-Za-z0-9_-]{16,}
    | (?:sk|pk|rk|whsec)_(?:live_|test_|prod_)?[A-Za-z0-9]{16,}
    | A(?:KIA|SIA|GPA|IDA|ROA)[A-Z0-9]{16}
    | AKID[A-Za-z0-9]{13,}
    | LTAI[A-Za-z0-9]{12,}
    | AIza[A-Za-z0-9_-]{30,}
    | ya29\.[A-Za-z0-9_-]{20,}
    | gh[oprsu]_[A-Za-z0-9]{20,}
    | github_pat_[A-Za-z0-9_]{20,}
    | glpat-[A-Za-z0-9_-]{16,}
    | xox[a-z]-[A-Za-z0-9-]{10,}
    | xapp-[A-Za-z0-9-]{10,}
    | (?:hf|npm|dop_v1|shpat|lin_api|r8|gsk|nvapi|tvly)[_-][A-Za-z0-9_-]{20,}
    | pypi-[A-Za-z0-9_-]{20,}
    | SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}
    | (?<![_-])eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*)*
    )""",
    re.VERBOSE,
)
_BEARER: Final = re.compile(
    r"(?<![a-z])(?:bearer|basic)\s{1,4}(?=[A-Za-z._~+/=-]{0,200}[0-9])(?P<value>[A-Za-z0-9._~+/=-]{12,})",
    re.IGNORECASE,
)
_URL_PASSWORD: Final = re.compile(r"://[^\s/@:]{0,128}:(?P<value>[^\s/@]{1,256})@")
_QUOTE: Final = r"""(?:\\?["'“‘「`])"""
_KEY_NAMED: Final = re.compile(
    r"""(?:api[\s_-]?key|access[\s_-]?key(?:[\s_-]?id)?|secret[\s_-]?(?:access[\s_-]?)?key|private[\s_-]?key
      |(?:access|auth|refresh|session|api|bot|bearer)?[\s_-]?token|(?:client|app|api)?[\s_-]?secret
      |密钥|密鑰|秘钥|私钥|令牌|访问凭证)"""
    + _QUOTE
    + r"?\s{0,4}(?:is|are|=|:|：|是|为|為)\s{0,4}"
    + _QUOTE
    + r"?(?P<value>(?=[A-Za-z_./+=-]{0,200}[0-9])[A-Za-z0-9_./+=-]{8,})",
    re.IGNORECASE | re.VERBOSE,
)

_NAMES_EN: Final = r"(?:pass[\s_-]?(?:word|wd|phrase|code)|(?<![A-Za-z])pwd|(?<![A-Za-z])pass(?=\s{0,4}[=:]))"
_NAMES_ZH: Final = r"(?:密\s?[码碼]|口令)"
_QUOTED: Final = r"""(?:\\?["'“‘「`](?P<quoted>[^"'”’」`\n\\]{1,128})\\?["'”’」`])"""
_ASSIGNED: Final = re.compile(
    rf"(?:{_NAMES_EN}|{_NAMES_ZH}|(?<![a-z])PIN(?:\s?code|码|碼)?){_QUOTE}?\s{{0,4}}(?:=|:|：)\s{{0,4}}"
    rf"(?:{_QUOTED}|(?P<value>[!-~]{{3,512}}))",
    re.IGNORECASE,
)
_SAID_EN: Final = re.compile(
    rf"{_NAMES_EN}(?:\s+(?:for|to|of|on)\s[^\n.。,，:：!?]{{1,40}}?)?\s{{1,4}}"
    rf"(?:is|was|are|will\s+be|changed\s+to|set\s+to)\s{{1,4}}[:：]?\s{{0,4}}(?:now\s)?"
    rf"(?:{_QUOTED}|(?P<value>[!-~]{{3,512}}))",
    re.IGNORECASE,
)
_SAID_ZH: Final = re.compile(
    rf"{_NAMES_ZH}(?:就|改|设|設|换|換|定|变|變|写|寫)?(?:置|成|定)?(?:是|为|為|成|了|叫|到){{1,3}}[:：]?\s{{0,4}}"
    rf"(?:{_QUOTED}|(?P<value>[!-~]{{3,512}})|(?P<han>[\u4e00-\u9fff]{{2,10}})(?=[\s。，,！!；;]|$))"
)
_BESIDE: Final = re.compile(
    rf"(?:{_NAMES_EN}|{_NAMES_ZH})\s{{0,4}}(?P<value>(?![=:'\"])[!-~]{{4,512}})", re.IGNORECASE
)
_PIN: Final = re.compile(
    r"(?<![a-z])PIN(?:\s?code|码|碼)?\s{0,4}(?:is|was|是|为|為)?\s{0,4}(?P<value>\d{4,12})(?!\d)",
    re.IGNORECASE,
)
_SAID_AFTER: Final = re.compile(
    r"(?<![!-~])(?P<value>[!-~]{4,64})\s{0,2}(?:(?:is|was)\s+(?:my|our|the|his|her|their)\s+(?:\w{1,20}\s+){0,2}"
    r"pass(?:word|code|phrase)|(?:就)?是我?(?:的)?[\u4e00-\u9fff]{0,6}密[码碼])",
    re.IGNORECASE,
)
_TRAILING: Final = ".,;:!?'\"`)]}>\\"


def private_keys(text: str) -> Iterator[Span]:
    """Blocks of private keys, to their END line or, without one, as far as the encoding goes."""
    at = 0
    ends_from = 0
    while begin := _KEY_BEGINS.search(text, at):
        end = _KEY_ENDS.search(text, begin.end()) if ends_from >= 0 else None
        if end is None:
            ends_from = -1
            body = _KEY_BODY.match(text, begin.end())
            at = body.end() if body else begin.end()
        else:
            at = end.end()
        yield begin.start(), at


def tokens(text: str) -> Iterator[Span]:
    """API keys, JWTs, bearer tokens and values that the text itself calls a key."""
    for match in _TOKENS.finditer(text):
        yield match.span()
    for pattern in (_BEARER, _KEY_NAMED):
        for match in pattern.finditer(text):
            yield match.span("value")


def passwords(text: str) -> Iterator[Span]:
    for match in _URL_PASSWORD.finditer(text):
        yield match.span("value")
    for pattern, accepts in (
        (_ASSIGNED, _is_no_common_word),
        (_SAID_EN, _is_no_common_word),
        (_SAID_ZH, _is_no_common_word),
        (_PIN, _is_anything),
        (_BESIDE, _is_secret_looking),
        (_SAID_AFTER, _is_secret_looking),
    ):
        for match in pattern.finditer(text):
            found = match.groupdict()
            if found.get("quoted"):
                yield match.span("quoted")
            elif found.get("han"):
                if not NO_PASSWORD_ZH.fullmatch(found["han"]):
                    yield match.span("han")
            else:
                start, end = match.span("value")
                end = start + len(text[start:end].rstrip(_TRAILING))
                if end > start and accepts(text[start:end]):
                    yield start, end


def _is_anything(value: str) -> bool:
    return bool(value)


def _is_no_common_word(value: str) -> bool:
    word = value.casefold()
    return word not in NO_PASSWORD_EN and not (value.islower() and word.endswith(NO_PASSWORD_ENDING_EN))


def _is_secret_looking(value: str) -> bool:
    has_digit = any(char.isdigit() for char in value)
    return value.isdigit() or (has_digit and any(char.isalpha() for char in value) and len(value) >= 6)
