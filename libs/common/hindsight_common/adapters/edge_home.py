"""Qdrant Edge indexes in numbered folders; a small file names the live one and is replaced in one step.

An index is derived from the log: one that is damaged, or was written by another model, is put away, and the new one
in its place, at position 0, is filled by replay like any that begins.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import structlog

from hindsight_common.adapters.durable_file import write_durably
from hindsight_common.adapters.qdrant_edge import QdrantEdgeIndex
from hindsight_common.adapters.qdrant_edge_shard import IndexDamaged, IndexOfAnotherModel
from hindsight_common.ports.memory_index import MemoryIndex

_log = structlog.get_logger(__name__)


class EdgeHome:
    """Implements `ports.index_home.IndexHome` below one folder."""

    def __init__(self, folder: Path, *, dimension: int, model_id: str) -> None:
        self._folder = folder
        self._dimension = dimension
        self._model_id = model_id
        self._folders: dict[int, Path] = {}

    async def open_live(self) -> QdrantEdgeIndex:
        self._folder.mkdir(parents=True, exist_ok=True)
        name = self._live_name()
        for other in self._folder.iterdir():
            if other.is_dir() and other.name != name:
                shutil.rmtree(other)  # a build that was interrupted, or what a switch left behind
        try:
            return self._open(self._folder / name)
        except IndexDamaged as damage:
            _log.error("index.damaged", reason=str(damage), what="it is rebuilt from the log")
        except IndexOfAnotherModel as change:
            _log.warning(
                "index.model_changed", reason=str(change), what="everything is embedded again from the log"
            )
        shutil.rmtree(self._folder / name)
        return self._open(self._folder / name)

    def _live_name(self) -> str:
        pointer = self._folder / "LIVE"
        named = pointer.read_bytes().strip() if pointer.exists() else b"1"
        if named.isdigit():
            name = str(int(named))
        else:
            _log.error("index.pointer_damaged", what="the index is rebuilt from the log")
            name = str(
                max((int(p.name) for p in self._folder.iterdir() if p.name.isdecimal()), default=0) + 1
            )
        if named.decode(errors="replace") != name or not pointer.exists():
            write_durably(pointer, name.encode())
        return name

    def _open(self, path: Path) -> QdrantEdgeIndex:
        index = QdrantEdgeIndex(path, dimension=self._dimension, model_id=self._model_id)
        self._folders[id(index)] = path
        return index

    async def create_beside(self) -> QdrantEdgeIndex:
        beside = self._folder / str(int(self._live_name()) + 1)
        if beside.exists():
            shutil.rmtree(beside)
        return self._open(beside)

    async def switch(self, built: MemoryIndex, live: MemoryIndex) -> None:
        new, old = self._folders[id(built)], self._folders.pop(id(live))
        write_durably(self._folder / "LIVE", new.name.encode())
        await live.close()
        shutil.rmtree(old)

    async def discard(self, built: MemoryIndex) -> None:
        await built.close()
        shutil.rmtree(self._folders.pop(id(built)))
