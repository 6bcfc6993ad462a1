"""Examples of the document, in Chinese and English: a body for each request that a tool may send as it stands."""

from __future__ import annotations

from typing import Any, Final

_MEMORY: Final = "5b0f6c5e-2f7a-5d1c-9a53-0d5f0e8b7c11"

BODIES: Final[dict[str, dict[str, dict[str, Any]]]] = {
    "write": {
        "zh": {
            "user_id": "u-17",
            "session_id": "s-1",
            "turn_id": "t-1",
            "role": "presales",
            "occurred_at": "2026-03-04T21:04:05+08:00",
            "time_zone": "Asia/Shanghai",
            "messages": [
                {"role": "user", "content": "我对花生过敏"},
                {"role": "assistant", "content": "记下了。"},
            ],
        },
        "en": {
            "user_id": "u-18",
            "session_id": "s-2",
            "turn_id": "t-2",
            "messages": [{"role": "user", "content": "I live in Lisbon."}],
        },
    },
    "recall": {
        "zh": {"user_id": "u-17", "query": "点菜要注意什么？", "top_k": 3, "wait_for_turn": "t-1"},
        "en": {"user_id": "u-18", "query": "Where do I live?", "include": ["superseded"]},
    },
    "inject": {
        "zh": {"user_id": "u-17", "session_id": "s-1", "query": "帮我点个外卖"},
        "en": {
            "user_id": "u-18",
            "session_id": "s-2",
            "query": "Book me a table nearby",
            "token_budget": 400,
        },
    },
    "forget": {
        "zh": {"user_id": "u-17", "session_id": "s-1"},
        "en": {"user_id": "u-18", "everything": True, "confirm": True},
    },
    "changeMemory": {
        "zh": {"user_id": "u-17", "object": "核桃"},
        "en": {"user_id": "u-18", "pinned": True},
    },
    "deleteMemory": {"zh": {"user_id": "u-17"}, "en": {"user_id": "u-18"}},
    "injectMemory": {
        "zh": {"session_id": "s-1", "query": "帮我点个外卖"},
        "en": {"user_id": "u-18", "session_id": "s-2", "query": "Book me a table nearby"},
    },
}

_SHOWN: Final[dict[str, dict[str, Any]]] = {
    "zh": {
        "id": _MEMORY,
        "type": "fact",
        "content": "用户对花生过敏",
        "subject": "user",
        "predicate": "allergic_to",
        "object": "花生",
        "negated": False,
        "people": [],
        "language": "zh",
        "importance": 0.9,
        "confidence": 0.95,
        "status": "active",
        "role_scope": ["shared"],
        "occurred_at": "2026-03-04T21:04:05+08:00",
        "recorded_at": "2026-03-04T13:04:05Z",
        "valid_from": "2026-03-04T21:04:05+08:00",
        "valid_until": None,
        "pinned": False,
        "sources": [{"session_id": "s-1", "turn_id": "t-1", "message_ids": ["m1"]}],
    },
}
_SHOWN["en"] = _SHOWN["zh"] | {
    "content": "The user lives in Lisbon",
    "predicate": "lives_in",
    "object": "Lisbon",
    "language": "en",
    "sources": [{"session_id": "s-2", "turn_id": "t-2", "message_ids": ["m1"]}],
}
_FOUND: Final = {
    language: shown
    | {
        "score": 0.92,
        "score_parts": {"similarity": 0.35, "importance": 0.27, "recency": 0.3},
        "channels": {"meaning": 1, "words": 1},
    }
    for language, shown in _SHOWN.items()
}

ANSWERS: Final[dict[str, dict[str, dict[str, Any]]]] = {
    "write": {
        "zh": {"turn_id": "t-1", "accepted": True, "duplicate": False},
        "en": {"turn_id": "t-2", "accepted": True, "duplicate": False},
    },
    "recall": {
        language: {
            "memories": [found],
            "covers_up_to": 1234,
            "degraded": [],
            "took_ms": {"embed": 2.1, "search": 1.4, "total": 5.0},
            "explain": None,
        }
        for language, found in _FOUND.items()
    },
    "getMemory": {language: {"memory": shown, "position": None} for language, shown in _SHOWN.items()},
}

MEMORY_ID: Final = _MEMORY
