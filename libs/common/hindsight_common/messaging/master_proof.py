"""The proof of a deployment's master secret, kept beside its keys, so that no process works with another one.

It is a keyed hash, from which the secret cannot be found. Whoever starts first in a new deployment writes it.
"""

from __future__ import annotations

import hmac
from typing import Final

from hindsight_common.errors import StopAndFix
from hindsight_common.events.streams import KEYS
from hindsight_common.events.subjects import MASTER_PROOF
from hindsight_common.messaging.connection import Bus
from hindsight_common.messaging.publishing import AlreadyThere, publish
from hindsight_common.messaging.reading import last_message
from hindsight_common.sealing import MasterKeys

_PROVEN: Final = b"the master secret of this deployment"


async def confirm_master_secret(bus: Bus, master: MasterKeys) -> None:
    """Returns if the deployment has this secret, or none yet: then this is it from now on. Safe under a race.

    Raises `StopAndFix` if it has another one, `RetryLater` while the bus cannot answer.
    """
    proof = master.proof(_PROVEN).encode()
    standing = await last_message(bus.js, KEYS.name, MASTER_PROOF)
    if standing is None:
        try:
            await publish(bus, MASTER_PROOF, proof, expected_last_subject_sequence=0)
        except AlreadyThere:
            standing = await last_message(bus.js, KEYS.name, MASTER_PROOF)
    if standing is not None and not hmac.compare_digest(standing.data, proof):
        raise StopAndFix(
            "this master key is not the one that the deployment on this bus was made with: give that one, the same for "
            "every worker, as HINDSIGHT_MASTER_KEY or HINDSIGHT_MASTER_KEY_FILE"
        )
