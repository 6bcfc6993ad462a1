"""The layers of an injected snapshot, a line each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hindsight_client.cli.language import say
from hindsight_common.domain.predicates import predicate
from hindsight_common.events.answers import InjectAnswer

# each layer with the names under which an answer says that it, or a part of it, is missing
LAYERS: Final[Mapping[str, frozenset[str]]] = {
    "working": frozenset({"working"}),
    "episodic": frozenset({"vectors", "words", "embedding"}),
    "semantic": frozenset({"graph"}),
}
_SEPARATOR: Final = "; "
_PREFERENCES: Final = frozenset({"likes", "prefers"})


def layer_lines(answer: InjectAnswer) -> list[str]:
    """`[WORKING] …`, `[EPISODIC] …`, `[SEMANTIC] …`, in the user's language; a layer that gave nothing says so."""
    return [f"[{layer.upper()}] {_said(layer, answer)}" for layer in LAYERS]


def _said(layer: str, answer: InjectAnswer) -> str:
    found = answer.parts.get(layer)
    items = found if isinstance(found, list | tuple) else []
    if not items:
        away = LAYERS[layer] & {*answer.degraded}
        return say("not available", "不可用") if away else say("no match", "无匹配")
    told = _SEPARATOR.join(_item(layer, item) for item in items)
    return told if layer == "semantic" else say("matched ", "匹配") + told


def _item(layer: str, item: Any) -> str:
    if layer == "episodic":
        return _memory(item)
    if layer == "working" and isinstance(item, Mapping):
        is_user = item.get("speaker") == "user"
        return f"{say('user', '用户') if is_user else say('assistant', '助手')}:{_text(item)}"
    return _text(item)


def _memory(item: Any) -> str:
    """`偏好:表格对比`: what kind of thing it is, and what it says."""
    if not isinstance(item, Mapping) or item.get("type") != "fact" or item.get("negated"):
        return f"{say('event', '事件')}:{_text(item)}" if _is_event(item) else _text(item)
    name, value = item.get("predicate"), item.get("object")
    if item.get("subject") != "user" or not isinstance(name, str) or not value:
        return _text(item)
    return f"{_kind(name)}:{value}"


def _kind(name: str) -> str:
    if name in _PREFERENCES:
        return say("preference", "偏好")
    chinese = next((one for one in predicate(name).aliases if not one.isascii()), name)
    return say(name.replace("_", " "), chinese)


def _is_event(item: Any) -> bool:
    return isinstance(item, Mapping) and item.get("type") == "event"


def _text(item: Any) -> str:
    """What an item says, on one line."""
    if isinstance(item, Mapping):
        item = next((item[name] for name in ("line", "text", "content") if item.get(name)), "")
    return " ".join(str(item).split())
