"""What may come next on the line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document


class CommandCompleter(Completer):
    """Commands first, then a command's options and the program's, and the choices of an option that has some."""

    def __init__(self, program: Any, own: Iterable[str], context: Any) -> None:
        self._program = program
        self._context = context
        self._own = tuple(own)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        del complete_event
        *before, word = document.text_before_cursor.split(" ")
        said = [one for one in before if one]
        for candidate, meaning in self._candidates(said, word):
            if candidate.startswith(word):
                yield Completion(candidate, start_position=-len(word), display_meta=meaning)

    def _candidates(self, said: list[str], word: str) -> Iterator[tuple[str, str]]:
        if not said or said == ["help"]:
            yield from self._commands()
            return
        command = self._program.get_command(self._context, said[0])
        if command is None:
            return
        options = [one for one in (*command.params, *self._program.params) if one.param_type_name == "option"]
        chosen = next((one for one in options if said[-1] in one.opts), None)
        if chosen is not None and not chosen.is_flag:
            yield from ((choice, "") for choice in _choices(chosen))
        elif word.startswith("-"):
            for option in options:
                yield from ((name, option.help or "") for name in option.opts if name.startswith("--"))

    def _commands(self) -> Iterator[tuple[str, str]]:
        for name in self._program.list_commands(self._context):
            command = self._program.get_command(self._context, name)
            yield name, command.get_short_help_str(60)
        yield from ((name, "") for name in self._own)


def _choices(option: Any) -> list[str]:
    kind = option.type_descriptor.annotation
    return [str(one.value) for one in kind] if isinstance(kind, type) and issubclass(kind, Enum) else []
