"""Writes `config.example.yaml` and `.env.example` from the declared settings, so that they list every key.

Run as `python -m hindsight_common.settings.examples yaml` or `env`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from hindsight_common.settings.keys import Key, all_keys

PLANNED = "(not read yet · 尚未启用)"


def example_yaml() -> str:
    """Every key but the secrets at its default, behind `# `, under both sentences behind `## `.

    With the `# ` taken away the whole file is valid and changes nothing.
    """
    lines = [
        "## Copy to config.yaml and take the '# ' from what you change. The environment (.env.example) wins.",
        "## 复制为 config.yaml，去掉需要修改的行首的 '# '。环境变量（见 .env.example）优先于本文件。",
    ]
    above: list[str] = []
    for key in all_keys().values():
        if key.secret:
            continue
        *sections, name = key.name.split(".")
        if sections[:1] != above[:1] or not sections:
            lines.append("")
        for depth, section in enumerate(sections):
            if above[: depth + 1] != sections[: depth + 1]:
                lines.append(f"# {'  ' * depth}{section}:")
        above = sections
        indent = "  " * len(sections)
        lines += [f"##{indent} {sentence}" for sentence in _sentences(key)]
        lines.append(f"# {indent}{name}: {_plain(key.default)}".rstrip())
    return "\n".join(lines) + "\n"


def example_env() -> str:
    """Every variable, commented out at its default, with both sentences."""
    lines = [
        "## Copy to .env, which `make run` reads, and take the '# ' from what you change.",
        "## 复制为 .env（`make run` 会读取），去掉需要修改的行首的 '# '。",
    ]
    for key in all_keys().values():
        lines += ["", *(f"## {sentence}" for sentence in _sentences(key))]
        lines.append(f"# {key.variable}={_plain(key.default)}")
    return "\n".join(lines) + "\n"


def _sentences(key: Key) -> Iterator[str]:
    yield f"{key.english} {PLANNED}" if key.planned else key.english
    yield key.chinese


def _plain(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and any(sign in value for sign in "*#{}[]"):
        return f'"{value}"'
    return value.as_posix() if isinstance(value, Path) else str(value)


if __name__ == "__main__":
    sys.stdout.write({"yaml": example_yaml, "env": example_env}[sys.argv[1]]())
