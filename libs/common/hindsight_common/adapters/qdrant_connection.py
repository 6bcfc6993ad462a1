"""The connection to a Qdrant server, and its errors in our own words."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Final

from qdrant_client import AsyncQdrantClient
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from hindsight_common.errors import RetryLater, StopAndFix

# earlier ones ignore the condition of an upsert, and an older row could replace a newer one
OLDEST_SERVER: Final = (1, 16)
TIMEOUT_S: Final = 10
_TOO_BUSY: Final = {408, 429}
_REFUSED: Final = {401, 403}


class QdrantConnection:
    """One client for the process; made without asking the server for anything."""

    name = "qdrant"

    def __init__(self, url: str, *, api_key: str | None = None) -> None:
        with warnings.catch_warnings():
            # a key over plain HTTP: inside a cluster that is the deployment's choice
            warnings.filterwarnings("ignore", "Api key is used with an insecure connection")
            # the client would ask for the version at once and hold the event loop while nobody answers
            self.client = AsyncQdrantClient(
                url=url, api_key=api_key, timeout=TIMEOUT_S, check_compatibility=False
            )
        self._known_version = False

    async def answers(self) -> None:
        """Raises `RetryLater` while it does not, `StopAndFix` for a key it refuses or a version that is too old."""
        with answering():
            if self._known_version:
                await self.client.get_aliases()
                return
            version = (await self.client.info()).version
        parts = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
        if parts < OLDEST_SERVER:
            oldest = ".".join(map(str, OLDEST_SERVER))
            raise StopAndFix(
                f"the Qdrant server is version {version}; at least {oldest} is needed: upgrade it"
            )
        with answering():
            await self.client.get_aliases()  # unlike the version, only told to who has the key
        self._known_version = True

    async def close(self) -> None:
        await self.client.close()


@contextmanager
def answering() -> Iterator[None]:
    """Turns the client's errors into ours: what may pass by itself, and what somebody must put right."""
    try:
        yield
    except ResponseHandlingException as error:
        raise RetryLater(f"Qdrant did not answer: {error}") from error
    except UnexpectedResponse as error:
        status = error.status_code or 500
        if status >= 500 or status in _TOO_BUSY:
            raise RetryLater(f"Qdrant answered {status} {error.reason_phrase}") from error
        if status in _REFUSED:
            raise StopAndFix(
                f"Qdrant refuses the key ({status}): see qdrant_api_key (HINDSIGHT_QDRANT_API_KEY)"
            ) from error
        if status == HTTPStatus.NOT_FOUND:
            raise StopAndFix(
                "Qdrant does not have the collection any more that was there when this worker started: start it again, "
                "and recall fills a new one from the log"
            ) from error
        raise StopAndFix(f"Qdrant refused with {status}: {error.content[:300]!r}") from error
