"""The REST interface. Every call runs on the event loop, one after the other: the local mode takes no two at once."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, TypeAdapter, ValidationError
from qdrant_client import QdrantClient, models

Operation = Callable[[QdrantClient, str, Any], Any]


class Refused(Exception):
    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


class Routes:
    """Adds routes that answer with the server's envelope; what an operation raises becomes the server's statuses."""

    def __init__(self, app: FastAPI, client: QdrantClient) -> None:
        self._app = app
        self._client = client

    def add(self, method: str, path: str, model: Any, operation: Operation, *, there: bool = False) -> None:
        """`there`: the collection, named by itself or by an alias, must be there; else the answer is 404."""

        async def handle(request: Request) -> JSONResponse:
            body = await request.body()
            return self._answer(
                lambda: self._run(operation, str(request.path_params.get("name", "")), model, body, there)
            )

        self._app.add_api_route(path, handle, methods=[method])

    def _run(self, operation: Operation, name: str, model: Any, body: bytes, there: bool) -> Any:
        if there and not self._client.collection_exists(name):
            raise Refused(404, f"Not found: Collection `{name}` doesn't exist!")
        return operation(self._client, name, TypeAdapter(model).validate_json(body) if model else None)

    def _answer(self, run: Callable[[], Any]) -> JSONResponse:
        began = perf_counter()
        try:
            result = run()
        except Refused as refused:
            return _error(refused.status, refused.reason)
        except ValidationError as fault:
            return _error(400, f"Format error in JSON body: {fault.error_count()} faults")
        except ValueError as fault:
            return _error(404 if "not found" in str(fault) else 400, str(fault))
        return JSONResponse({"result": _plain(result), "status": "ok", "time": perf_counter() - began})


def application(folder: Path, api_key: str | None) -> FastAPI:
    app = FastAPI(openapi_url=None)

    @app.middleware("http")
    async def keyed(request: Request, call_next: Any) -> Any:
        given = request.headers.get("api-key", "")
        if api_key is not None and request.url.path != "/" and not hmac.compare_digest(given, api_key):
            return _error(401, "Must provide an API key or an Authorization bearer token")
        return await call_next(request)

    @app.get("/")
    async def root() -> dict[str, str]:
        return {"title": "a stand-in for Qdrant", "version": version("qdrant-client")}

    routes = Routes(app, QdrantClient(path=str(folder)))
    routes.add("GET", "/collections", None, lambda client, _n, _b: client.get_collections())
    routes.add("GET", "/aliases", None, lambda client, _n, _b: client.get_aliases())
    routes.add("POST", "/collections/aliases", models.ChangeAliasesOperation, _change_aliases)
    one = "/collections/{name}"
    routes.add(
        "GET", f"{one}/exists", None, lambda client, name, _b: {"exists": client.collection_exists(name)}
    )
    routes.add("PUT", one, models.CreateCollection, _create)
    routes.add("DELETE", one, None, lambda client, name, _b: client.delete_collection(name))
    routes.add("PUT", f"{one}/index", models.CreateFieldIndex, lambda _c, _n, _b: _done(), there=True)
    routes.add("PUT", f"{one}/points", models.PointInsertOperations, _upsert, there=True)
    routes.add("POST", f"{one}/points", models.PointRequest, _retrieve, there=True)
    routes.add("POST", f"{one}/points/batch", models.UpdateOperations, _batch, there=True)
    routes.add("POST", f"{one}/points/delete", models.PointsSelector, _delete, there=True)
    routes.add("POST", f"{one}/points/query", models.QueryRequest, _query, there=True)
    routes.add("POST", f"{one}/points/scroll", models.ScrollRequest, _scroll, there=True)
    routes.add("POST", f"{one}/points/count", models.CountRequest, _count, there=True)
    return app


def _error(status: int, reason: str) -> JSONResponse:
    return JSONResponse({"status": {"error": reason}, "time": 0.0}, status_code=status)


def _plain(result: Any) -> Any:
    if isinstance(result, BaseModel):
        return result.model_dump(mode="json", exclude_none=True)
    if isinstance(result, list):
        return [_plain(each) for each in result]
    return result


def _done() -> dict[str, Any]:
    return {"operation_id": 0, "status": "completed"}


def _change_aliases(client: QdrantClient, _name: str, body: models.ChangeAliasesOperation) -> bool:
    return client.update_collection_aliases(body.actions)


def _create(client: QdrantClient, name: str, wanted: models.CreateCollection) -> bool:
    if client.collection_exists(name):
        raise Refused(409, f"Wrong input: Collection `{name}` already exists!")
    return client.create_collection(
        name, vectors_config=wanted.vectors, sparse_vectors_config=wanted.sparse_vectors
    )


def _upsert(client: QdrantClient, name: str, body: Any) -> dict[str, Any]:
    client.upsert(name, points=body.points, update_filter=body.update_filter)
    return _done()


def _batch(client: QdrantClient, name: str, body: models.UpdateOperations) -> list[dict[str, Any]]:
    client.batch_update_points(name, body.operations)
    return [_done() for _ in body.operations]


def _retrieve(client: QdrantClient, name: str, body: models.PointRequest) -> Any:
    return client.retrieve(
        name, body.ids, with_payload=_or(body.with_payload, True), with_vectors=_or(body.with_vector, False)
    )


def _delete(client: QdrantClient, name: str, body: Any) -> dict[str, Any]:
    client.delete(name, points_selector=body)
    return _done()


def _query(client: QdrantClient, name: str, body: models.QueryRequest) -> Any:
    return client.query_points(
        name,
        query=body.query,
        using=body.using,
        query_filter=body.filter,
        search_params=body.params,
        limit=_or(body.limit, 10),
        with_payload=_or(body.with_payload, False),
        with_vectors=_or(body.with_vector, False),
    )


def _scroll(client: QdrantClient, name: str, body: models.ScrollRequest) -> dict[str, Any]:
    records, following = client.scroll(
        name,
        scroll_filter=body.filter,
        limit=_or(body.limit, 10),
        offset=body.offset,
        with_payload=_or(body.with_payload, True),
        with_vectors=_or(body.with_vector, False),
    )
    return {"points": _plain(records), "next_page_offset": following}


def _count(client: QdrantClient, name: str, body: models.CountRequest) -> Any:
    return client.count(name, count_filter=body.filter, exact=True)


def _or(given: Any, otherwise: Any) -> Any:
    """The server's default where the client leaves a field out."""
    return otherwise if given is None else given
