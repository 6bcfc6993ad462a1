"""The stub's HTTP: as much of it as a client of an OpenAI-compatible endpoint needs, on loopback only."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self

from hindsight_client.llm_stub.script import FAULTS, Script, Step, reply_text
from hindsight_common.errors import StopAndFix

_MODEL: Final = "stub"
_JSON: Final = "application/json"
_MOST_BODY: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Asked:
    """One request for a completion: its body, and the status it was answered with."""

    body: Mapping[str, Any]
    status: int

    @property
    def text(self) -> str:
        """All that its messages say."""
        return "\n".join(str(message.get("content", "")) for message in self.body.get("messages", []))


class LlmStub:
    """`async with LlmStub() as stub:` serves at `stub.url` until the block ends; port 0 takes a free one.

    With an `api_key`, who shows another or none gets 401 and uses up no step. `POST /stub/script` sets a script from
    outside the process, `GET /stub/calls` counts requests by status.
    """

    def __init__(self, script: Script | None = None, *, port: int = 0, api_key: str | None = None) -> None:
        self.script = script or Script()
        self._api_key = api_key
        self.asked: list[Asked] = []
        self._port = port
        self._server: asyncio.Server | None = None
        self._serving: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """The base address that a client is configured with."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def calls(self) -> Counter[int]:
        """Requests by the status they were answered with; the ones still in hand are not among them."""
        return Counter(asked.status for asked in self.asked)

    def play(self, *steps: Step, always: Sequence[Step] = ()) -> None:
        """Answers these steps from now on; without any, the echo."""
        self.script = Script(steps, always)

    async def start(self) -> None:
        """Raises `StopAndFix` where the port is taken."""
        try:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)
        except OSError as error:
            raise StopAndFix(f"port {self._port} cannot be listened on: {error.strerror}") from error
        self._port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Drops what is in hand. The port is kept for the next `start`."""
        if self._server is None:
            return
        self._server.close()
        for task in tuple(self._serving):
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        await self._server.wait_closed()
        self._server = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        try:
            with suppress(
                asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError, ValueError
            ):
                method, path, key, body = await _request(reader)
                await _respond(writer, *await self._answer(method, path, key, body))
        except asyncio.CancelledError:
            pass  # stopped; the client sees its connection close
        finally:
            self._serving.discard(task)
            writer.close()

    async def _answer(
        self, method: str, path: str, key: str | None, body: str
    ) -> tuple[int, str, Mapping[str, str]]:
        match method, path.split("?", maxsplit=1)[0].rstrip("/"):
            case "POST", "/v1/chat/completions":
                return await self._complete(body, is_known=self._api_key in (None, key))
            case "GET", "/v1/models":
                return 200, json.dumps({"object": "list", "data": [{"id": _MODEL, "object": "model"}]}), {}
            case "GET", "/stub/calls":
                return 200, json.dumps({str(status): count for status, count in self.calls.items()}), {}
            case "POST", "/stub/script":
                try:
                    self.script = Script.of_json(body)
                except StopAndFix as fault:
                    return 400, json.dumps({"error": str(fault)}), {}
                return 200, "{}", {}
        return 404, json.dumps({"error": "there is nothing here"}), {}

    async def _complete(self, body: str, *, is_known: bool) -> tuple[int, str, Mapping[str, str]]:
        try:
            request = json.loads(body)
            assert isinstance(request, dict)
        except (ValueError, AssertionError):
            return 400, json.dumps({"error": "the body is no JSON object"}), {}
        step = self.script.next(body) if is_known else FAULTS["401"]
        if step.delay_s:
            await asyncio.sleep(step.delay_s)
        self.asked.append(Asked(request, step.status))
        if step.status != 200:
            return step.status, step.body, step.headers
        return 200, json.dumps(_completion(step, request), ensure_ascii=False), step.headers


def _completion(step: Step, request: Mapping[str, Any]) -> dict[str, Any]:
    reply = reply_text(step, request)
    # about four characters a token, so that figures that depend on it are not all 0
    asked, replied = (len(text) // 4 + 1 for text in (json.dumps(request), reply))
    return {
        "id": "chatcmpl-stub",
        "object": "chat.completion",
        "created": 0,
        "model": request.get("model", _MODEL),
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": reply},
                "finish_reason": step.finish_reason,
            }
        ],
        "usage": {"prompt_tokens": asked, "completion_tokens": replied, "total_tokens": asked + replied},
    }


async def _request(reader: asyncio.StreamReader) -> tuple[str, str, str | None, str]:
    """Method, path, key and body of the one request of a connection. Raises ValueError for what is no HTTP."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    length = int(headers.get("content-length") or 0)
    if not 0 <= length <= _MOST_BODY:
        raise ValueError("a body of that size is not read")
    scheme, _, key = headers.get("authorization", "").partition(" ")
    body = (await reader.readexactly(length)).decode("utf-8", "replace")
    return method, path, key.strip() if scheme.lower() == "bearer" else None, body


async def _respond(writer: asyncio.StreamWriter, status: int, body: str, headers: Mapping[str, str]) -> None:
    data = body.encode()
    said = {"Content-Type": _JSON, "Content-Length": str(len(data)), "Connection": "close", **headers}
    lines = [f"HTTP/1.1 {status} Stub", *(f"{name}: {value}" for name, value in said.items())]
    writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + data)
    await writer.drain()
