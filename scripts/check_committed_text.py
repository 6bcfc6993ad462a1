"""Fails when a committed file names a package registry's host or a path of somebody's machine.

Such text ties a checkout to one network or one desk. Run as `python scripts/check_committed_text.py`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

# in parts, so that this file passes its own check
HOSTS = tuple(
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("crates", "io"),
        ("golang", "org"),
        ("maven", "org"),
        ("huggingface", "co"),
        ("conda", "anaconda", "org"),
    )
)
FORBIDDEN = {
    "a registry's host": re.compile("|".join(re.escape(host) for host in HOSTS), re.IGNORECASE),
    "an index line": re.compile(r"^\s*(--(extra-)?index-url|--find-links|-i\s+http)", re.MULTILINE),
    "a machine's path": re.compile(r"(?<![\w.~-])/(?:root|work|home/\w+|Users/\w+)/[\w.]"),
}


def committed_files() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], check=True, capture_output=True, text=True)  # noqa: S607 - git of the PATH
    return [Path(name) for name in listed.stdout.split("\0") if name]


def findings(path: Path, text: str) -> Iterator[str]:
    """One line for each offence: file, line number, what it names."""
    for what, pattern in FORBIDDEN.items():
        for match in pattern.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            yield f"{path}:{line}: names {what}: {match.group()}"


def main() -> int:
    found = [
        finding
        for path in committed_files()
        if path.is_file()
        for finding in findings(path, path.read_bytes().decode("utf-8", "ignore"))
    ]
    print("\n".join(found) or "committed text: clean")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
