"""Whether the service of this image is alive: exit status 0 or 1. With the standard library alone, so that it is quick.

A worker answers /live while its event loop turns, the gateway and the embedded form on their HTTP port; a command
line has nothing to ask.
"""

from __future__ import annotations

import os
import sys
from http.client import HTTPConnection, HTTPException
from typing import Final

TIMEOUT_S: Final = 4.0


def alive(service: str) -> bool:
    if service == "cli":
        return True
    if service == "standalone":
        # degraded is alive: it starts what died in it by itself
        return _status(int(os.environ.get("API_PORT") or 8787), "/health") is not None
    return _status(int(os.environ.get("HINDSIGHT_HEALTH_PORT") or 8780), "/live") == 200


def _status(port: int, path: str) -> int | None:
    """None when nobody answers."""
    connection = HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    except (OSError, HTTPException):
        return None
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(not alive(os.environ.get("SERVICE", "")))
