"""What the services of Hindsight share: the domain, the published events, the ports and their adapters."""

from __future__ import annotations

from importlib.metadata import version
from typing import Final

# all distributions are released in step
VERSION: Final = version("hindsight-memory-common")
