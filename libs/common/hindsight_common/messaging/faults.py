"""What a failed call to the server means to the caller: later, never, or stop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import nats.errors
import nats.js.errors

from hindsight_common.errors import GiveUp, RetryLater
from hindsight_common.messaging import refusals

# the server's JetStream error numbers
SEQUENCE_NOT_FOUND: Final = 10043
NO_MESSAGE_FOUND: Final = 10037
STORE_FAULT: Final = 10057
WRONG_LAST_SEQUENCE: Final = frozenset({10071, 10164})
MESSAGE_TOO_LARGE: Final = 10054
SUBJECTS_OVERLAP: Final = 10065
JETSTREAM_NOT_ENABLED: Final = frozenset({10039, 10076})


@contextmanager
def server_faults(doing: str) -> Iterator[None]:
    """Turns what nats-py raises inside the block into the project's errors; `doing` completes "… failed".

    RetryLater: no answer, no stream, connection lost, the server's own trouble. GiveUp `too_large`: the
    message exceeds what the server takes, and will the next time too. A time-out beside which the server refused
    something says what.
    """
    mark = refusals.mark()
    try:
        yield
    except nats.errors.MaxPayloadError as error:
        raise GiveUp("too_large", f"{doing} failed: the message exceeds the server's max_payload") from error
    except nats.js.errors.APIError as error:
        if error.err_code == MESSAGE_TOO_LARGE:
            raise GiveUp("too_large", f"{doing} failed: the stream takes no message of this size") from error
        raise RetryLater(f"{doing} failed: the server says {error.err_code} {error.description}") from error
    except (nats.errors.NoRespondersError, nats.js.errors.NoStreamResponseError) as error:
        raise RetryLater(f"{doing} failed: no stream or JetStream answers") from error
    except TimeoutError as error:
        if (refusal := refusals.since(mark)) is not None:
            raise refusals.NotPermitted(f"{doing} failed: {refusal}") from error
        raise RetryLater(f"{doing} failed: {type(error).__name__}") from error
    except (nats.errors.Error, OSError) as error:
        raise RetryLater(f"{doing} failed: {type(error).__name__}") from error
