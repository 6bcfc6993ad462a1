"""`hindsight-standalone`: everything in one process."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence

from hindsight_common.errors import HindsightError
from hindsight_common.observability import setup, shutdown
from hindsight_standalone.composition import build_workers
from hindsight_standalone.options import parse
from hindsight_standalone.process import NAME, run


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 0 after a clean stop, 1 when something must be changed first; it is said on stderr."""
    options = parse(arguments)
    try:
        setup(NAME)
        asyncio.run(run(options, build_workers))
    except HindsightError as error:
        sys.stderr.write(f"{NAME}: {error}\n")
        return 1
    finally:
        shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
