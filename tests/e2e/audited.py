"""Runs hindsight-standalone and notes every address that its Python code connects to, sends to or looks up.

`python audited.py NOTES …`: the addresses go to the file NOTES, one JSON list a line, the rest is the command line.
Children are not seen; the only ones are the servers that come with the embedded form, noted as `["child", program]`.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

NAMES_AT: dict[str, int] = {
    "socket.connect": 1,
    "socket.sendto": 1,
    "socket.sendmsg": 1,
    "socket.getaddrinfo": 0,
    "socket.gethostbyname": 0,
    "socket.gethostbyaddr": 0,
}


def main() -> int:
    notes = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def note(event: str, about: tuple[object, ...]) -> None:
        if event in NAMES_AT:
            os.write(notes, json.dumps([event, _host(about[NAMES_AT[event]])]).encode() + b"\n")
        elif event == "subprocess.Popen":
            os.write(notes, json.dumps(["child", Path(str(about[0])).name]).encode() + b"\n")

    sys.addaudithook(note)
    # only now, so that what importing does is seen as well
    from hindsight_standalone.__main__ import main as standalone  # noqa: PLC0415

    return standalone(sys.argv[2:])


def _host(address: object) -> str:
    """The host of a socket's address; a path (of a Unix socket) as it is, None where the peer is known already."""
    if isinstance(address, tuple):
        return str(address[0])
    return address.decode() if isinstance(address, bytes) else str(address)


if __name__ == "__main__":
    sys.exit(main())
