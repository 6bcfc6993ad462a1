"""The catalogue as a page for people, in both languages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from scripts.bus_documents.events import EVENTS
from scripts.bus_documents.model import Event, Exchange, Words
from scripts.bus_documents.requests import EXCHANGES

Language = Literal["en", "zh"]


@dataclass(frozen=True, slots=True)
class _Labels:
    title: str
    other: str
    events: str
    event_head: tuple[str, ...]
    requests: str
    request_head: tuple[str, ...]
    more: str
    sealed: dict[str, str]


_LABELS: Final[dict[Language, _Labels]] = {
    "en": _Labels(
        "Events",
        "*[中文](events.zh-CN.md)*",
        "What is published and kept",
        ("event", "subject", "stream", "from", "to (worker/consumer)", "body", "repetition"),
        "What is asked and answered",
        ("request", "subject", "answered by", "body → answer", "repetition"),
        "bare or with tenant",
        {"clear": "", "user": "sealed", "deployment": "sealed by the deployment's key"},
    ),
    "zh": _Labels(
        "事件",
        "*[English](events.md)*",
        "发布并保存的内容",
        ("事件", "主题", "流", "来自", "去往（进程/消费者）", "正文", "重复时"),
        "请求与应答",
        ("请求", "主题", "由谁应答", "正文 → 应答", "重复时"),
        "可附租户",
        {"clear": "", "user": "密封", "deployment": "由部署密钥密封"},
    ),
}


def page(language: Language) -> str:
    """Markdown; `make documents` puts it under docs/."""
    labels = _LABELS[language]
    parts = [
        f"# {labels.title}",
        labels.other,
        _opening(language),
        f"## {labels.events}",
        _table(labels.event_head, (_event(event, language) for event in EVENTS)),
        f"## {labels.requests}",
        _table(labels.request_head, (_exchange(exchange, language) for exchange in EXCHANGES)),
    ]
    return "\n\n".join(parts) + "\n"


def _opening(language: Language) -> str:
    return (Path(__file__).parent / f"opening_{language}.md").read_text(encoding="utf-8").strip()


def _event(event: Event, language: Language) -> tuple[str, ...]:
    labels = _LABELS[language]
    body = f"`{event.body.__name__}`" if event.body is not None else "—"
    if event.version is not None:
        body += f" v{event.version}"
    if sealed := labels.sealed[event.sealed]:
        body += f", {sealed}" if language == "en" else f"，{sealed}"
    return (
        f"**{event.name}**: {_in(event.meaning, language)}",
        _subject(event.subject, labels, tenanted=event.tenanted),
        f"`{event.stream}`",
        ", ".join(event.producers),
        ", ".join(event.consumers) or "—",
        body,
        _in(event.repetition, language),
    )


def _exchange(exchange: Exchange, language: Language) -> tuple[str, ...]:
    labels = _LABELS[language]
    body = f"`{exchange.body.__name__}`" if exchange.body is not None else "—"
    answer = f"`{exchange.answer.__name__}`" if isinstance(exchange.answer, type) else "JSON"
    return (
        f"**{exchange.name}**: {_in(exchange.meaning, language)}",
        _subject(exchange.subject, labels, tenanted=exchange.tenanted),
        exchange.worker,
        f"{body} → {answer}" + (" …" if exchange.progress else ""),
        _in(exchange.repetition, language),
    )


def _subject(subject: str, labels: _Labels, *, tenanted: bool) -> str:
    return f"`{subject}`" + (f" ({labels.more})" if tenanted else "")


def _in(words: Words, language: Language) -> str:
    return words.en if language == "en" else words.zh


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
