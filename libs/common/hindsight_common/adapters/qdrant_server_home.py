"""The indexes of a Qdrant server: numbered collections, and an alias that names the live one and moves in one step.

An index is derived from the log: one that another model wrote is given up, and the new one in its place, at position
0, is filled by replay like any that begins.
"""

from __future__ import annotations

import re

import structlog
from qdrant_client import AsyncQdrantClient, models

from hindsight_common.adapters.qdrant_connection import answering
from hindsight_common.adapters.qdrant_server import CollectionOfAnotherModel, QdrantServerIndex
from hindsight_common.adapters.qdrant_server_reading import QdrantServerReader
from hindsight_common.errors import RetryLater, StopAndFix
from hindsight_common.ports.memory_index import MemoryIndex

_log = structlog.get_logger(__name__)


class QdrantServerHome:
    """Implements `ports.index_home.IndexHome`. One process at a time may have it; others read by the alias."""

    def __init__(self, client: AsyncQdrantClient, alias: str, *, dimension: int, model_id: str) -> None:
        self._client = client
        self._alias = alias
        self._dimension = dimension
        self._model_id = model_id
        self._collections: dict[int, str] = {}

    async def open_live(self) -> QdrantServerIndex:
        live, numbered = await self._live(), await self._numbered()
        for other in numbered.values():
            if other != live:
                await self._drop(other)  # a build that was interrupted, or what a switch left behind
        if live is not None:
            try:
                return await self._open(live)
            except CollectionOfAnotherModel as change:
                _log.warning(
                    "index.model_changed",
                    reason=str(change),
                    what="everything is embedded again from the log",
                )
        index = await self._open(self._after(live, numbered))
        await self._point_to(index, live)
        if live is not None:
            await self._drop(live)
        return index

    async def create_beside(self) -> QdrantServerIndex:
        live, numbered = await self._live(), await self._numbered()
        for other in numbered.values():
            if other != live:
                await self._drop(other)
        return await self._open(self._after(live, numbered))

    async def switch(self, built: MemoryIndex, live: MemoryIndex) -> None:
        await self._point_to(built, await self._live())
        old = self._collections.pop(id(live))
        await live.close()
        try:
            await self._drop(old)
        except RetryLater as fault:
            _log.warning("index.old_one_stays", reason=str(fault), what="it is removed at the next start")

    async def discard(self, built: MemoryIndex) -> None:
        await built.close()
        await self._drop(self._collections.pop(id(built)))

    async def _open(self, collection: str) -> QdrantServerIndex:
        index = QdrantServerIndex(
            self._client, collection, dimension=self._dimension, model_id=self._model_id
        )
        await index.open()
        self._collections[id(index)] = collection
        return index

    async def _live(self) -> str | None:
        """The collection behind the alias; None before the first start."""
        with answering():
            aliases = (await self._client.get_aliases()).aliases
            names = {alias.alias_name: alias.collection_name for alias in aliases}
            if self._alias in names:
                return names[self._alias]
            collections = (await self._client.get_collections()).collections
        if self._alias in {collection.name for collection in collections}:
            raise StopAndFix(
                f"Qdrant holds a collection named {self._alias}, and an alias of that name is needed: remove it, or "
                "choose another name by qdrant_collection (HINDSIGHT_QDRANT_COLLECTION)"
            )
        return None

    async def _numbered(self) -> dict[int, str]:
        with answering():
            collections = (await self._client.get_collections()).collections
        pattern = re.compile(rf"{re.escape(self._alias)}_([1-9][0-9]*)")
        found = ((pattern.fullmatch(collection.name), collection.name) for collection in collections)
        return {int(match[1]): name for match, name in found if match}

    def _after(self, live: str | None, numbered: dict[int, str]) -> str:
        number = next((number for number, name in numbered.items() if name == live), 0)
        return f"{self._alias}_{number + 1}"

    async def _point_to(self, index: MemoryIndex, before: str | None) -> None:
        create = models.CreateAliasOperation(
            create_alias=models.CreateAlias(
                collection_name=self._collections[id(index)], alias_name=self._alias
            )
        )
        delete = models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=self._alias))
        with answering():
            await self._client.update_collection_aliases(
                change_aliases_operations=[create] if before is None else [delete, create]
            )

    async def _drop(self, collection: str) -> None:
        with answering():
            await self._client.delete_collection(collection)


class QdrantLiveIndex:
    """What other processes than the one that writes see of the live index, wherever its alias points to."""

    def __init__(self, client: AsyncQdrantClient, alias: str) -> None:
        self._client = client
        self._alias = alias
        self._reader = QdrantServerReader(client, alias)

    async def exists(self) -> None:
        """Raises `RetryLater` until the process that writes has made it."""
        with answering():
            aliases = (await self._client.get_aliases()).aliases
        if self._alias not in {alias.alias_name for alias in aliases}:
            raise RetryLater("recall has not made its collection in Qdrant yet")

    def now(self) -> QdrantServerReader:
        return self._reader
