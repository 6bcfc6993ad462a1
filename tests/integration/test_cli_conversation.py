"""The command line that takes one command after the other, from a pipe and at a terminal."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import re
import sys
import termios
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Self

import pytest

from hindsight_common.adapters.embedded.nats_server import NatsServer

PROGRAM = str(Path(sys.executable).with_name("hindsight-cli"))
Piped = Callable[..., Awaitable[tuple[int, str, str]]]


@pytest.fixture
def environment(nats_server: NatsServer, tmp_path: Path) -> dict[str, str]:
    own = {
        "LC_ALL": "C.UTF-8",
        "HINDSIGHT_NATS_URL": nats_server.url,
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "TERM": "xterm",
        "PROMPT_TOOLKIT_NO_CPR": "1",
        "COLUMNS": "160",
    }
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HINDSIGHT_")}
    return {**kept, **own}


@pytest.fixture
def piped(environment: dict[str, str], tmp_path: Path) -> Piped:
    async def run(lines: str, *options: str) -> tuple[int, str, str]:
        process = await asyncio.create_subprocess_exec(
            PROGRAM,
            *options,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=environment,
            cwd=tmp_path,
        )
        out, err = await process.communicate(lines.encode())
        assert process.returncode is not None
        return process.returncode, out.decode(), err.decode()

    return run


# -- a pipe --------------------------------------------------------------------------------------------------


async def test_lines_of_a_pipe_are_commands_until_one_fails(piped: Piped) -> None:
    lines = "# a remark\n\nhelp recall\nrecall u-1 'what is \"this\"?' --top-k 0\nhelp forget\n"
    status, out, err = await piped(lines)
    assert status == 1
    assert "hindsight-cli recall" in out
    assert "hindsight-cli forget" not in out
    assert "top_k" in err


async def test_the_status_is_that_of_the_first_failure_and_its_line_is_named(piped: Piped) -> None:
    assert (await piped("help\nnonsense\n"))[0] == 2
    status, _, err = await piped("help\n\nrecall u-1 'open\n")
    assert (status, err.strip()) == (2, "line 3: a quotation mark is not closed")
    status, _, err = await piped("--tenant acme\n", "--lang", "zh")
    assert (status, err.strip()) == (2, "第 1 行：请给出命令；help 列出全部命令")


async def test_nothing_on_the_pipe_is_nothing_to_do_and_exit_ends_it(piped: Piped) -> None:
    assert (await piped(""))[0] == 0
    status, out, _ = await piped("exit\nnonsense\n")
    assert (status, out) == (0, "")


async def test_what_the_program_was_called_with_holds_for_every_line(piped: Piped) -> None:
    status, _, err = await piped("list\n", "--lang", "zh", "--tenant", "Not-A-Tenant", "--user", "u-1")
    assert status == 1
    assert "a tenant is named by" in err
    status, _, err = await piped("list extra\n", "--user", "u-1")
    assert status == 2
    assert "extra" in err


async def test_a_user_may_be_named_once_for_all_that_follows(piped: Piped) -> None:
    status, _, err = await piped("user u-1\nlist another\n")
    assert status == 2
    assert "another" in err


# -- a terminal ----------------------------------------------------------------------------------------------


# with this the line editor begins a line
NEW_LINE = "\x1b[?2004h"
_CONTROLS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x08\r]")


class Terminal:
    """`hindsight-cli` at a pseudo terminal: what was typed, and what is on the screen so far."""

    def __init__(self, controller: int, process: asyncio.subprocess.Process) -> None:
        self._controller = controller
        self.process = process
        self.screen = ""
        self._news = asyncio.Event()
        asyncio.get_running_loop().add_reader(controller, self._read)

    def _read(self) -> None:
        try:
            self.screen += os.read(self._controller, 65536).decode(errors="replace")
        except OSError:  # the other end is closed
            asyncio.get_running_loop().remove_reader(self._controller)
        self._news.set()

    def type(self, keys: str) -> Self:
        self.screen = ""
        os.write(self._controller, keys.encode())
        return self

    async def shows(self, text: str) -> None:
        async with asyncio.timeout(30):
            while text not in self.screen and text not in _CONTROLS.sub("", self.screen):
                self._news.clear()
                await self._news.wait()

    async def ends(self) -> int:
        async with asyncio.timeout(30):
            return await self.process.wait()


@asynccontextmanager
async def terminal(environment: dict[str, str], folder: Path, *options: str) -> AsyncIterator[Terminal]:
    def take_terminal() -> None:
        """Without one of its own, nobody would be interrupted by its keys."""
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    controller, side = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        *(PROGRAM, *options),
        stdin=side,
        stdout=side,
        stderr=side,
        env=environment,
        cwd=folder,
        preexec_fn=take_terminal,
    )
    os.close(side)
    try:
        opened = Terminal(controller, process)
        await opened.shows(NEW_LINE)
        yield opened
    finally:
        asyncio.get_running_loop().remove_reader(controller)
        if process.returncode is None:
            process.kill()
            await process.wait()
        os.close(controller)


async def test_commands_and_options_are_completed(environment: dict[str, str], tmp_path: Path) -> None:
    async with terminal(environment, tmp_path) as person:
        await person.type("inj\t").shows("ect_query")
        await person.type(" u-1 x --token\t").shows("-budget")
        await person.type("\x03").shows(NEW_LINE)
        await person.type("rebuild --store gr\t").shows("aph")
        await person.type("\x03").shows(NEW_LINE)
        assert await person.type("\x04").ends() == 0


async def test_ctrl_c_abandons_the_line_and_ctrl_d_leaves(
    environment: dict[str, str], tmp_path: Path
) -> None:
    async with terminal(environment, tmp_path, "--lang", "zh") as person:
        await person.type("forget u-1 --everything --yes\x03").shows(NEW_LINE)
        await person.type("help doctor\r").shows("检查部署")
        await person.shows(NEW_LINE)
        await person.type("nonsense\r").shows("nonsense")
        await person.shows(NEW_LINE)
        assert await person.type("\x04").ends() == 0


async def test_ctrl_c_ends_a_command_that_runs_and_not_the_conversation(
    environment: dict[str, str], tmp_path: Path
) -> None:
    async with terminal(environment, tmp_path) as person:
        await person.type("llm-stub\r").shows("MEMORY_LLM_BASE_URL")
        await person.type("\x03").shows(NEW_LINE)
        assert await person.type("\x04").ends() == 0


async def test_the_history_holds_nothing_about_users_and_is_its_owners_alone(
    environment: dict[str, str], tmp_path: Path
) -> None:
    lines = (
        "turn u-secret 'I am allergic to peanuts' --bad",
        "recall u-secret peanuts --bad",
        "doctor --bad --user u-secret",
        "doctor --bad",
    )
    async with terminal(environment, tmp_path) as person:
        for line in lines:
            await person.type(f"{line}\r").shows(NEW_LINE)
        # within one conversation everything can be called back
        await person.type("\x1b[A\x1b[A\x1b[A").shows("recall u-secret")
        await person.type("\x03").shows(NEW_LINE)
        assert await person.type("\x04").ends() == 0
    history = tmp_path / "state" / "hindsight" / "history"
    text = history.read_text()
    assert "doctor --bad" in text
    assert "u-secret" not in text
    assert "peanuts" not in text
    assert history.stat().st_mode & 0o777 == 0o600
    assert history.parent.stat().st_mode & 0o777 == 0o700
    async with terminal(environment, tmp_path) as person:
        await person.type("\x1b[A").shows("doctor --bad")
        await person.type("\x03").shows(NEW_LINE)
        assert await person.type("\x04").ends() == 0


async def test_without_a_place_for_its_history_it_works_all_the_same(
    environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "state").write_text("in the way")
    async with terminal(environment, tmp_path) as person:
        assert await person.type("\x04").ends() == 0
