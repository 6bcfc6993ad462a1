"""Writes the users of the NATS server as its configuration: `python -m hindsight_common.messaging.server_users`.

With `--tenant NAME`, repeated, for other tenants than the default one. Passwords stay out of the file: the server takes
them from its environment.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from typing import Final

from hindsight_common.events.subjects import DEFAULT_TENANT, TENANT_PATTERN
from hindsight_common.messaging.permissions import EXPORTED, BusUser, bus_users

_HEAD: Final = """\
# Written by `make nats-users` from hindsight_common/messaging/permissions.py: change it there.
# The server reads each password from the variable named here.
"""


def users_configuration(tenants: Sequence[str] = (DEFAULT_TENANT,)) -> str:
    """The `accounts` block of a nats-server configuration."""
    users = bus_users(tenants)
    ours = [user for user in users if user.account == "HINDSIGHT"]
    clients = [user for user in users if user.account == "CLIENTS"]
    exports = "".join(f'      {{ service: "{subject}" }}\n' for subject in EXPORTED)
    imports = "".join(
        f'      {{ service: {{ account: HINDSIGHT, subject: "{subject}" }} }}\n' for subject in EXPORTED
    )
    return (
        f"{_HEAD}accounts {{\n"
        f"  HINDSIGHT {{\n    jetstream: enabled\n    exports [\n{exports}    ]\n"
        f"    users [\n{''.join(map(_user, ours))}    ]\n  }}\n"
        f"  CLIENTS {{\n    imports [\n{imports}    ]\n"
        f"    users [\n{''.join(map(_user, clients))}    ]\n  }}\n"
        "}\n"
    )


def _user(user: BusUser) -> str:
    return (
        f"      {{\n        user: {user.name}\n        password: ${user.password_variable}\n"
        "        permissions {\n"
        f"{_rules('publish', user.publish, user.publish_never)}"
        f"{_rules('subscribe', user.subscribe, ())}"
        "        }\n      }\n"
    )


def _rules(verb: str, allowed: Iterable[str], denied: Iterable[str]) -> str:
    text = f"          {verb} {{\n            allow [\n{_lines(allowed)}            ]\n"
    if denied := tuple(denied):
        text += f"            deny [\n{_lines(denied)}            ]\n"
    return f"{text}          }}\n"


def _lines(subjects: Iterable[str]) -> str:
    return "".join(f'              "{subject}"\n' for subject in dict.fromkeys(subjects))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="The users of the NATS server, as its configuration.")
    parser.add_argument("--tenant", action="append", metavar="NAME", help=f"default: {DEFAULT_TENANT}")
    tenants = parser.parse_args(arguments).tenant or [DEFAULT_TENANT]
    if wrong := [name for name in tenants if not TENANT_PATTERN.fullmatch(name)]:
        parser.error(f"{wrong[0]!r} is no tenant: 1 to 32 of a-z, 0-9 and -")
    sys.stdout.write(users_configuration(tenants))
    return 0


if __name__ == "__main__":
    sys.exit(main())
