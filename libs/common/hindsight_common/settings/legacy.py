"""Names of the predecessor: mapped where the meaning survives, refused with the reason where it does not."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

Values = MutableMapping[str, Any]


def translate(values: Values) -> tuple[list[str], list[str]]:
    """Rewrites `values` (nested, as merged from all sources) in place.

    Returns (notices, faults): what was mapped, and what must be changed before the process may start.
    """
    notices: list[str] = []
    faults: list[str] = []
    _store(values, notices, faults)
    _episodic(values, notices, faults)
    _isolation(values, faults)
    return notices, faults


def _store(values: Values, notices: list[str], faults: list[str]) -> None:
    store = str(values.get("memory_store", "")).lower()
    if store == "sqlite":
        values["memory_store"] = "embedded"
        notices.append(
            "MEMORY_STORE=sqlite was read as MEMORY_STORE=embedded, its new name; an old database file "
            "is not imported"
        )
    elif store in {"postgres", "postgresql"}:
        values.pop("memory_store")
        faults.append(
            "MEMORY_STORE=postgres: PostgreSQL is no longer a store, memory lives in NATS, Qdrant and the "
            "graph; set MEMORY_STORE=server with HINDSIGHT_NATS_URL and HINDSIGHT_QDRANT_URL, or "
            "MEMORY_STORE=embedded"
        )


def _episodic(values: Values, notices: list[str], faults: list[str]) -> None:
    layers = values.get("memory_layers")
    for section, place in ((values, "episodic"), (layers, "memory_layers.episodic")):
        episodic = section.get("episodic") if isinstance(section, MutableMapping) else None
        if not isinstance(episodic, MutableMapping):
            continue
        if episodic.pop("db_path", None) is not None:
            faults.append(
                f"{place}.db_path: there is no database file of its own any more; remove it and set data_dir "
                "(HINDSIGHT_DATA_DIR) to choose where the embedded form keeps its data"
            )
        if episodic.pop("persist_interval", None) is not None:
            notices.append(_persist_interval(f"{place}.persist_interval"))
        if not episodic and section is values:
            values.pop("episodic")
    if values.pop("persist_interval", None) is not None:
        notices.append(_persist_interval("persist_interval"))


def _persist_interval(name: str) -> str:
    return f"{name} was ignored: every turn is in the log before it is acknowledged, so there is no interval"


def _isolation(values: Values, faults: list[str]) -> None:
    given = values.get("session_isolation", True)
    if given is False or str(given).strip().lower() in {"false", "0", "no", "off"}:
        values["session_isolation"] = True
        faults.append(
            "session_isolation: false: isolation between users and sessions can no longer be switched off; "
            "remove the key"
        )
    elif str(given).strip().lower() in {"true", "1", "yes", "on"}:
        values["session_isolation"] = True
