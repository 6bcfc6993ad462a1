"""Options of the whole program are taken wherever they stand, before the command or after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

WITH_VALUE: Final = (
    "--nats-url",
    "--nats-user",
    "--nats-credentials",
    "--tenant",
    "--user",
    "--config",
    "--output",
    "-o",
    "--log-level",
    "--lang",
)


def hoisted(arguments: Sequence[str]) -> list[str]:
    """The same arguments with the program's options in front; what follows `--` stays where it is."""
    front: list[str] = []
    rest: list[str] = []
    at = 0
    while at < len(arguments):
        argument = arguments[at]
        if argument == "--":
            rest += arguments[at:]
            break
        if argument in WITH_VALUE:
            front += arguments[at : at + 2]
            at += 2
        elif argument.startswith(tuple(f"{name}=" for name in WITH_VALUE if name.startswith("--"))):
            front.append(argument)
            at += 1
        else:
            rest.append(argument)
            at += 1
    return front + rest
