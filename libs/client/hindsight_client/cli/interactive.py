"""One command after the other, from a person at a terminal or from a pipe."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from typing import Any, Final

from prompt_toolkit import PromptSession

from hindsight_client.cli.arguments import WITH_VALUE, hoisted
from hindsight_client.cli.completion import CommandCompleter
from hindsight_client.cli.history import history_file, open_history
from hindsight_client.cli.language import say
from hindsight_client.cli.output import note

WRONGLY_CALLED: Final = 2
_LEAVING: Final = ("exit", "quit")
# set for all commands that follow, each by the variable that stands for its option
_STANDING: Final = {"user": "HINDSIGHT_USER", "session": "HINDSIGHT_SESSION"}
OWN: Final = ("help", *_STANDING, *_LEAVING)


def converse(context: Any) -> int:
    """The exit status. A person's mistakes cost nothing; a pipe ends with the status of the first failure."""
    if sys.stdin.isatty():
        return _with_a_person(context)
    for number, line in enumerate(sys.stdin, 1):
        status = _Line(context, line.strip(), place=say(f"line {number}: ", f"第 {number} 行：")).run()
        if status is None:
            return 0
        if status:
            return status
    return 0


def _with_a_person(context: Any) -> int:
    session: PromptSession[str] = PromptSession(
        history=open_history(history_file(), note),
        completer=CommandCompleter(context.command, OWN, context),
        complete_while_typing=False,
    )
    note(
        say(
            "help lists the commands, Tab completes, Ctrl-D leaves. Lines about users are not kept on disk.",
            "help 列出命令，Tab 补全，Ctrl-D 退出。涉及用户的行不会写入磁盘。",
        )
    )
    while True:
        try:
            line = session.prompt(_prompt()).strip()
        except KeyboardInterrupt:
            continue  # the line is abandoned, as in a shell
        except EOFError:
            return 0
        if _Line(context, line).run() is None:
            return 0


def _prompt() -> str:
    return "".join(f"{os.environ[name]} " for name in _STANDING.values() if os.environ.get(name)) + "> "


class _Line:
    """One line of input. `run` gives its exit status, None if it asks to leave."""

    def __init__(self, context: Any, line: str, place: str = "") -> None:
        self._context = context
        self._line = line
        self._place = place

    def run(self) -> int | None:
        if not self._line or self._line.startswith("#"):
            return 0
        try:
            words = shlex.split(self._line)
        except ValueError:
            return self._refused(say("a quotation mark is not closed", "引号未闭合"))
        if words[0] in _LEAVING:
            return None
        if words[0] in _STANDING and len(words) <= 2:
            os.environ[_STANDING[words[0]]] = "".join(words[1:])
            return 0
        if words[0] == "help":
            words = [*words[1:], "--help"]
        elif not _names_a_command(words):
            return self._refused(say("name a command; help lists them", "请给出命令；help 列出全部命令"))
        return self._called(hoisted([*_standing_options(self._context), *words]))

    def _called(self, arguments: list[str]) -> int:
        try:
            self._context.command.main(args=arguments, prog_name=self._context.info_name)
        except SystemExit as ended:
            return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        return 0

    def _refused(self, why: str) -> int:
        note(self._place + why)
        return WRONGLY_CALLED


def _names_a_command(words: list[str]) -> bool:
    values = {place + 1 for place, word in enumerate(words) if word in WITH_VALUE}
    return any(not word.startswith("-") for place, word in enumerate(words) if place not in values)


def _standing_options(context: Any) -> Iterator[str]:
    """What the program itself was called with, for each of its commands; what is in the environment still is."""
    for option in context.command.params:
        source = context.get_parameter_source(option.name)
        value = context.params.get(option.name)
        if source is not None and source.name == "COMMANDLINE" and value is not None and not option.is_flag:
            yield option.opts[0]
            yield str(getattr(value, "value", value))
