"""Which deployment is meant: an argument, else the environment, else the configuration file, else this machine."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from hindsight_common.errors import StopAndFix
from hindsight_common.settings.yaml_file import read_yaml

DEFAULT_URL: Final = "nats://127.0.0.1:4222"
URL_VARIABLE: Final = "HINDSIGHT_NATS_URL"
CONFIG_VARIABLE: Final = "HINDSIGHT_CONFIG"
DEFAULT_CONFIG: Final = Path("config.yaml")


def find_nats_url(url: str | None = None, config: Path | None = None) -> str:
    """The address of the bus.

    `config` None means the file that HINDSIGHT_CONFIG names, else `config.yaml` in the working directory; that
    one may belong to another program, so it counts only if it names a `nats_url`. Raises `StopAndFix` for a file
    that was asked for and cannot be read.
    """
    given = url or os.environ.get(URL_VARIABLE)
    if given:
        return given
    asked_for = config or (Path(named) if (named := os.environ.get(CONFIG_VARIABLE)) else None)
    found: object = None
    if asked_for is not None:
        found = read_yaml(asked_for, must_exist=True).get("nats_url")
    else:
        with suppress(StopAndFix):
            found = read_yaml(DEFAULT_CONFIG, must_exist=False).get("nats_url")
    return found if isinstance(found, str) and found else DEFAULT_URL
