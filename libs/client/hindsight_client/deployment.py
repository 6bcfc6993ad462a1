"""Which deployment is meant, and as whom: an argument, else the environment, else the configuration file."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from hindsight_common.errors import StopAndFix
from hindsight_common.messaging.credentials import Credentials
from hindsight_common.settings.yaml_file import read_yaml

DEFAULT_URL: Final = "nats://127.0.0.1:4222"
URL_VARIABLE: Final = "HINDSIGHT_NATS_URL"
USER_VARIABLE: Final = "HINDSIGHT_NATS_USER"
PASSWORD_VARIABLE: Final = "HINDSIGHT_NATS_PASSWORD"  # noqa: S105 - the name of a variable
CREDENTIALS_VARIABLE: Final = "HINDSIGHT_NATS_CREDENTIALS"
CONFIG_VARIABLE: Final = "HINDSIGHT_CONFIG"
DEFAULT_CONFIG: Final = Path("config.yaml")


def find_nats_url(url: str | None = None, config: Path | None = None) -> str:
    """The address of the bus; without any other that of a server on this machine.

    `config` None means the file that HINDSIGHT_CONFIG names, else `config.yaml` in the working directory; that
    one may belong to another program, so it counts only if it names a `nats_url`. Raises `StopAndFix` for a file
    that was asked for and cannot be read.
    """
    given = url or os.environ.get(URL_VARIABLE)
    return given or _configured("nats_url", config) or DEFAULT_URL


def find_credentials(
    user: str | None = None, file: Path | None = None, config: Path | None = None
) -> Credentials:
    """As whom to speak to the bus; the password comes from HINDSIGHT_NATS_PASSWORD alone. `config` as above."""
    user = user or os.environ.get(USER_VARIABLE) or _configured("nats_user", config)
    named = os.environ.get(CREDENTIALS_VARIABLE) or _configured("nats_credentials", config)
    if file is None and named:
        file = Path(named)
    return Credentials(user, os.environ.get(PASSWORD_VARIABLE) if file is None else None, file)


def _configured(key: str, config: Path | None) -> str | None:
    asked_for = config or (Path(named) if (named := os.environ.get(CONFIG_VARIABLE)) else None)
    found: object = None
    if asked_for is not None:
        found = read_yaml(asked_for, must_exist=True).get(key)
    else:
        with suppress(StopAndFix):
            found = read_yaml(DEFAULT_CONFIG, must_exist=False).get(key)
    return found if isinstance(found, str) and found else None
