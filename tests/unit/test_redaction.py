from __future__ import annotations

import time
from datetime import date

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from stdnum import luhn
from stdnum.cn import ric

from hindsight_extractor.domain.identity_numbers import (
    is_resident_number,
    looks_like_bank_card,
    passes_luhn,
)
from hindsight_extractor.domain.redaction import redact, redact_bytes

VALID_ID = "110101199003078" + "81"
RESIDENT = VALID_ID + ric.calc_check_digit(VALID_ID + "0")
VISA = "4111111111111111"


def full_width(text: str) -> str:
    return text.translate({ord("0") + n: 0xFF10 + n for n in range(10)} | {ord("X"): "Ｘ"})


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (f"我的身份证号是{RESIDENT}。", "我的身份证号是[已填写证件]。"),
        (f"My identity number is {RESIDENT}.", "My identity number is [ID number provided]."),
        (f"身份证{full_width(RESIDENT)}", "身份证[已填写证件]"),
        (f"{RESIDENT[:6]} {RESIDENT[6:14]} {RESIDENT[14:]}，记一下", "[已填写证件]，记一下"),
        (f"{RESIDENT[:6]}-{RESIDENT[6:14]}-{RESIDENT[14:]}", "[ID number provided]"),
        (" ".join(RESIDENT) + " 是我的号码", "[已填写证件] 是我的号码"),
        ("身份证 11010119900307867X，谢谢", "身份证 [已填写证件]，谢谢"),
        ("老身份证110101900307881", "老身份证[已填写证件]"),
        ("我的身分證字號是 A123456789", "我的身分證字號是 [已填写证件]"),
        ("f131104093 就是我", "[已填写证件] 就是我"),
        ("居留证 A800000014", "居留证 [已填写证件]"),
        ("mine is A123456(3), thanks", "mine is [ID number provided], thanks"),
        ("078-05-1120 is all I have", "[ID number provided] is all I have"),
        ("SSN: 078-05-1120", "SSN: [ID number provided]"),
        (f"卡号{VISA}", "卡号[已填写银行卡]"),
        ("my card 4111 1111 1111 1111 expires 12/27", "my card [bank card provided] expires 12/27"),
        ("４１１１－１１１１－１１１１－１１１１", "[bank card provided]"),
        ("amex 3782 822463 10005", "amex [bank card provided]"),
        ("My passport number is E12345678", "My passport number is [passport number provided]"),
        ("护照号：EA1234567，别忘了", "护照号：[已填写护照]，别忘了"),
        ("E12345678是我的护照", "[已填写护照]是我的护照"),
        ("key sk-test-4f9a8b7c6d5e4f3a2b1c ok", "key [API key provided] ok"),
        ("密钥是 AKIAIOSFODNN7EXAMPLE", "密钥是 [已提供密钥]"),
        ("use ghp_abcdefghijklmnopqrstuvwxyz0123456789", "use [API key provided]"),
        ("slack xoxb-1234567890-abcdef", "slack [API key provided]"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def_g", "[API key provided]"),
        ("Authorization: Bearer abcdef1234567890", "Authorization: Bearer [API key provided]"),
        ("api_key=abcd1234efgh", "api_key=[API key provided]"),
        ("postgres://app:s3cr3t@db/x", "postgres://app:[password provided]@db/x"),
        ("my password is Tr0ub4dor&3, remember", "my password is [password provided], remember"),
        ("the password is swordfish", "the password is [password provided]"),
        ("password for the wifi is hunter2!", "password for the wifi is [password provided]!"),
        ('{"password": "p@ss w0rd", "u": 1}', '{"password": "[password provided]", "u": 1}'),
        ("pwd=abc123", "pwd=[password provided]"),
        ("hunter2 is my password", "[password provided] is my password"),
        ("密码是 Tr0ub4dor&3，别告诉别人", "密码是 [已提供密码]，别告诉别人"),
        ("wifi密码：12345678", "wifi密码：[已提供密码]"),
        ("密码是芝麻开门", "密码是[已提供密码]"),
        ("abc123是我的密码", "[已提供密码]是我的密码"),
        ("my PIN is 1234", "my PIN is [password provided]"),
        (
            "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb",
            "a\n[private key provided]\nb",
        ),
    ],
)
def test_a_secret_becomes_what_is_true_about_it(said: str, kept: str) -> None:
    assert redact(said).text == kept


def test_all_the_secrets_of_a_mixed_sentence_go_and_the_rest_stays() -> None:
    said = (
        "my key is sk-test-4f9a8b7c6d5e4f3a2b1c and 密码是 Tr0ub4dor&3，"
        "身份证 11010119900307867X，我的数据库在法兰克福"
    )
    kept = redact(said)
    assert kept.counts == {"api_key": 1, "password": 1, "id_number": 1}
    assert "我的数据库在法兰克福" in kept.text
    assert not any(secret in kept.text for secret in ("4f9a8b7c", "Tr0ub4dor", "1990"))


@pytest.mark.parametrize(
    "plain",
    [
        "订单号 4111111111111111 什么时候到",
        "order 110101900307881 has not arrived",
        "tracking number SF1234567890123",
        "电话 13800138000 和 13900139000",
        "call +86 138 0013 8000 or (415) 555-0132",
        f"编号 {RESIDENT[:17]}{(int(RESIDENT[17]) + 1) % 10 if RESIDENT[17] != 'X' else 0}",
        "4111111111111112 is no card",
        "order A123456789 has not arrived",
        "订单 A123456789 还没到",
        "seat A123456788",
        "part A123456(4)",
        "invoice INV-666-31-7721",
        "tracking 078-05-1120",
        "call 555-12-345",
        "version 000-12-3456",
        "epoch 1772615700123, pi 3.14159265358979323",
        "passport renewed on 20240501",
        "my password is stored in the vault",
        "the password is wrong",
        "I forgot my password yesterday",
        "密码是多少",
        "密码是错的",
        "密码 8位以上",
        "sk-learn-is-a-library-for-python",
        "bearer of good news in 2024",
        "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17",
        "token limit is 128000",
        "see https://example.com/a:b/c@d",
        "我在深圳的星海智造上班，老板叫陆知远。",
    ],
)
def test_what_only_looks_alike_survives(plain: str) -> None:
    kept = redact(plain)
    assert (kept.text, kept.counts) == (plain, {})


@given(st.integers(11, 65), st.dates(date(1900, 1, 1), date(2099, 12, 31)), st.integers(0, 999), st.data())
def test_resident_numbers_are_judged_as_the_standard_does(
    province: int, born: date, serial: int, data: st.DataObject
) -> None:
    body = f"{province}0101{born:%Y%m%d}{serial:03}"
    number = body + data.draw(st.sampled_from("0123456789X"))
    right_check = number[17] == ric.calc_check_digit(number)
    assert is_resident_number(number) <= right_check
    beijing = "11" + number[2:]
    assert is_resident_number(beijing[:17] + ric.calc_check_digit(beijing))


@given(st.text("0123456789", min_size=2, max_size=25))
def test_check_digits_of_cards_are_judged_as_the_standard_does(digits: str) -> None:
    assert passes_luhn(digits) == luhn.is_valid(digits)


@given(
    st.sampled_from(["4", "51", "2221", "622202", "3530", "6011"]),
    st.text("0123456789", min_size=15, max_size=15),
    st.sampled_from(["", " ", "-", "　"]),
    st.sampled_from(["", "我的银行卡是", "pay with "]),
)
def test_any_card_goes_however_it_is_grouped(prefix: str, rest: str, separator: str, before: str) -> None:
    body = (prefix + rest)[:15]
    number = body + luhn.calc_check_digit(body)
    assert looks_like_bank_card(number)
    said = before + separator.join(number[at : at + 4] for at in range(0, 16, 4)) + "。"
    kept = redact(said)
    assert kept.counts == {"bank_card": 1}
    assert kept.text.startswith(before)
    assert number[-4:] not in kept.text


PIECES = st.sampled_from(
    [
        *[
            RESIDENT,
            VISA,
            "4111 1111 1111 1111",
            "密码是",
            "password is ",
            "abc123",
            "pwd=",
            "hunter2",
            " ",
            "，",
            "\n",
        ],
        *[
            "sk-test-4f9a8b7c6d5e4f3a2b1c",
            "-----BEGIN PRIVATE KEY-----",
            "AAAA",
            "护照",
            "E12345678",
            "-",
            "1",
            "x",
        ],
        *[
            "Bearer ",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
            "://a:",
            "@",
            "是我的密码",
            "\0",
            '"',
            "[已提供密码]",
        ],
    ]
)


def test_a_password_that_holds_a_token_goes_whole() -> None:
    said = redact("postgres://app:zz.sk-4f9a8b7c6d5e4f3a2b1c.yy@db/main")
    assert said.text == "postgres://app:[password provided]@db/main"
    assert said.counts == {"password": 1}


@example("110101199003078814eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc")
@given(st.lists(PIECES | st.text(max_size=4), max_size=12).map("".join))
def test_redacting_again_changes_nothing(said: str) -> None:
    once = redact(said).text
    assert redact(once).text == once


@given(st.text())
def test_text_without_digits_or_the_words_of_secrets_is_left_alone(said: str) -> None:
    words = ("pass", "pwd", "pin", "密", "口令", "key", "token", "secret", "-----", "://", "sk-")
    if not any(char.isdigit() for char in said) and not any(word in said.casefold() for word in words):
        assert redact(said).text == said


@pytest.mark.parametrize(
    "unit",
    [
        *["1", "1 ", "12-", "4111 ", "4111 1111 1111 1111 ", "sk-", "-eyJaaaaaaa", "password is ", "://a:b"],
        *["-----BEGIN PRIVATE KEY-----", "passport ", "护照", "token ", "is my password ", "今天天气不错。"],
    ],
)
def test_time_grows_with_the_text_and_no_faster(unit: str) -> None:
    def seconds(size: int) -> float:
        text = (unit * (size // len(unit) + 1))[:size]
        best = []
        for _ in range(3):
            began = time.process_time()
            redact(text)
            best.append(time.process_time() - began)
        return min(best)

    # eight times the text may take eight times as long; quadratic growth would take sixty-four
    assert seconds(32 * 1024) < 24 * seconds(4 * 1024) + 0.01


def test_an_unreadable_body_is_redacted_by_pattern() -> None:
    escaped = '{"content": "\\u5bc6\\u7801\\u662fabc123", broken'
    assert redact_bytes(escaped.encode()).decode() == '{"content": "密码是[已提供密码]", broken'
    assert redact_bytes("密码是abc123".encode("gb18030")).decode("gb18030") == "密码是[已提供密码]"
    assert (
        redact_bytes(b"\xff\x80 password is hunter2 \xff") == b"\xff\x80 password is [password provided] \xff"
    )


@given(st.binary(max_size=60))
def test_any_bytes_can_be_redacted(raw: bytes) -> None:
    redacted = redact_bytes(raw)
    assert redact_bytes(redacted) == redacted
