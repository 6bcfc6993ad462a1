"""`hindsight-extractor`: intake and extraction, as a process of its own."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from hindsight_common.process.running import main as run
from hindsight_extractor import dry_run
from hindsight_extractor.process import PROCESS


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 0 after a clean stop, 1 when something must be changed first, 2 for a wrong command line.

    With `--dry-run FILE` it prints what the rules would keep of the turns of a file, and needs no server.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    if "--dry-run" in given:
        return dry_run.main(given)
    return run(PROCESS, given)


if __name__ == "__main__":
    sys.exit(main())
