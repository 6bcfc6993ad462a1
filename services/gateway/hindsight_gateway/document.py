"""`python -m hindsight_gateway.document` writes the OpenAPI document on stdout, as docs/openapi.json holds it."""

from __future__ import annotations

import json
import sys

from hindsight_gateway.consumers.openapi import document


def text() -> str:
    return json.dumps(document(), ensure_ascii=False, indent=2) + "\n"


if __name__ == "__main__":
    sys.stdout.buffer.write(text().encode())
