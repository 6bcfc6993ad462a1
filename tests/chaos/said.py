"""A thousand turns of forty people, in both languages, some of them changing their minds. The same in every run."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

USERS = [f"person-{n}" for n in range(40)]
START = datetime(2026, 1, 1, 8, tzinfo=UTC)

_CITIES = ["Lyon", "Porto", "Oslo", "Bergen", "Osaka", "Berlin", "上海", "杭州", "成都", "西安"]
_FOODS = ["peanuts", "shrimp", "oat milk", "mango", "花生", "牛奶", "芒果", "香菜"]
_GAMES = ["chess", "the violin", "tennis", "basketball", "钢琴", "羽毛球", "围棋"]
_ENGLISH = [
    "I live in {city}.",
    "I moved to {city} last month.",
    "I am allergic to {food}.",
    "I play {game}.",
    "I went to {city} with Ida on Monday and we talked about {game} all evening.",
    "ok thanks",
    "My order {n} arrived broken in {city}, I want a refund.",
]
_CHINESE = [
    "我住在{city}。",
    "我对{food}过敏。",
    "我喜欢{game}。",
    "我不再喜欢{game}了。",
    "昨天和李雷去了{city}，聊了很久的{game}。",
    "嗯嗯好的",
    "我的订单{n}在{city}丢了，要投诉。",
]


def turns(count: int = 1000) -> list[dict[str, Any]]:
    rng = random.Random(7)
    said: list[dict[str, Any]] = []
    for n in range(count):
        pattern = rng.choice(_ENGLISH if n % 2 else _CHINESE)
        text = pattern.format(
            city=rng.choice(_CITIES), food=rng.choice(_FOODS), game=rng.choice(_GAMES), n=1000 + n
        )
        said.append(
            {
                "turn_id": f"t-{n}",
                "user_id": USERS[n % len(USERS)],
                "session_id": f"s-{n // 200}",
                "occurred_at": (START + timedelta(hours=n)).isoformat(),
                "time_zone": "Asia/Shanghai",
                "messages": [{"id": "m1", "role": "user", "content": text}],
            }
        )
    return said


QUESTIONS = [
    "Where do I live?",
    "我住在哪里？",
    "点菜要注意什么？",
    "What games do I play?",
    "订单怎么了？",
    "Ida",
]
END = (START + timedelta(hours=1200)).isoformat()
