"""The game day of docs/operations.md: each fault is caused, seen and ended as the page says.

Its commands are typed into a shell in their order, as an operator does, and their output is compared with the page.
Only the ports and the pauses of `fundamentals follow` differ.
"""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from pipelines.storage.home import PROJECT
from tests.e2e.homes import PATIENCE, environment
from tests.e2e.test_follow import QUICKLY
from tests.servers import free_port

PAGE = (PROJECT / "docs" / "operations.md").read_text(encoding="utf-8").partition("\n## Game day\n")[2]
SECTION = PAGE.partition("\n## ")[0]
FAULTS = 10
COMMANDS = ("fundamentals ", "EDGAR_BASE_URL=", "rm ", "curl ", "kill ")
"""The beginnings of code that is typed; other code is expected output."""
READY = {"fundamentals fake-sec serve": "the fake SEC is on", "fundamentals serve": "serving http"}
"""The output of a command in the background that shows that it is ready."""
PROGRAM = """#!/bin/sh
if [ "$1" = follow ]; then exec {python} -c {quickly}; fi
exec {python} -m fundamentals "$@"
"""
HOLE = "…"


class Line(NamedTuple):
    """A line of the table."""

    number: str
    fault: str
    seen: str
    what_to_do: str
    well_again: str


def code(cell: str) -> list[str]:
    """The code in a cell that is typed."""
    return [span for span in re.findall(r"`(.+?)`", cell) if span.startswith(COMMANDS)]


def texts(cell: str) -> list[str]:
    """The code in a cell that is seen."""
    return re.findall(r"`(.+?)`", cell)


LINES = [
    Line(*(cell.strip() for cell in row.strip("|").split(" | "))) for row in re.findall(r"^\| \d.*$", SECTION, re.M)
]


class Terminal:
    """A shell into which commands are typed, and the output of the shell and its commands."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self._file, self._typed, self._follows = folder / "terminal", 0, False
        with self._file.open("wb") as stream:
            self._shell = subprocess.Popen(
                ["bash"],
                cwd=folder,
                env=environment(folder / "none", **settings),
                stdin=subprocess.PIPE,
                stdout=stream,
                stderr=stream,
                start_new_session=True,
            )

    def printed(self) -> str:
        """All that was printed so far."""
        return self._file.read_text(encoding="utf-8", errors="replace")

    def type(self, command: str) -> int:
        """Type a command, and wait until it has ended, or is ready in the background; its exit status."""
        self._typed += 1
        self._follows |= command.startswith("fundamentals follow")
        before = len(self.printed())
        end = f"=== {self._typed} ended with "
        assert self._shell.stdin
        self._shell.stdin.write(f"{command}\nprintf '\\n{end}%s.\\n' $?\n".encode())
        self._shell.stdin.flush()
        status = self.wait_for(re.escape(end) + r"(\d+)\.", before)[1]
        for beginning, text in READY.items():
            if command.startswith(beginning) and command.rstrip().endswith("&"):
                self.wait_for(re.escape(text), before)
        return int(status)

    def shows(self, text: str, after: int) -> bool:
        """Whether a text was printed after the first characters; waits for the output of the follower."""
        pattern = ".*?".join(re.escape(part) for part in text.split(HOLE))
        found = self.wait_for(pattern, after) if self._follows else re.search(pattern, self.printed()[after:])
        return found is not None

    def wait_for(self, pattern: str, after: int) -> re.Match[str]:
        """Wait until something is printed that was not among the first characters."""
        deadline = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, self.printed()[after:])):
            assert time.monotonic() < deadline, f"{pattern} is not in {self.printed()[after:]}"
            time.sleep(0.05)
        return found

    def close(self) -> None:
        """End the shell and all that it started."""
        os.killpg(self._shell.pid, signal.SIGKILL)
        self._shell.communicate()


def test_the_game_day_has_ten_faults():
    assert [line.number for line in LINES] == [str(number) for number in range(1, FAULTS + 1)]
    for line in LINES:
        assert code(line.fault)
        assert code(line.what_to_do)
        assert texts(line.well_again)


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """The shell of the game day, in which `fundamentals` is the program of this project."""
    folder = tmp_path_factory.mktemp("game-day")
    program = folder / "bin" / "fundamentals"
    program.parent.mkdir()
    program.write_text(PROGRAM.format(python=sys.executable, quickly=shlex.quote(QUICKLY)))
    program.chmod(0o755)
    opened = Terminal(folder, PATH=f"{program.parent}:{os.environ['PATH']}", PYTHONPATH=str(PROJECT))
    try:
        yield opened
    finally:
        opened.close()


@pytest.fixture(scope="module")
def game_day(terminal: Terminal, program: Callable[[str, str], str]) -> Callable[[str], str]:
    """Prepares the game day, in which no line may be left out; gives a command its ports."""
    program("curl", "curl")
    ports = {"8010": str(free_port()), "8000": str(free_port())}

    def of_test(command: str) -> str:
        for port, other in ports.items():
            command = command.replace(f":{port}", f":{other}")
        command = re.sub(r"(fundamentals fake-sec \w+)", rf"\1 --port {ports['8010']}", command)
        return re.sub(r"fundamentals serve\b", f"fundamentals serve --port {ports['8000']}", command)

    [block] = re.findall(r"^```bash\n(.*?)^```", SECTION, re.DOTALL | re.MULTILINE)
    for command in block.splitlines():
        assert terminal.type(of_test(command)) == 0, terminal.printed()
    return of_test


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.number)
def test_a_fault_of_the_game_day(line, game_day, terminal):
    """The output in column "seen" is printed after the fault, with the exit status; then all is well again."""
    for cell, expected in ((line.fault, line.seen), (line.what_to_do, line.well_again)):
        before = len(terminal.printed())
        statuses = [terminal.type(game_day(command)) for command in code(cell)]
        for text in texts(expected):
            assert terminal.shows(text, before), terminal.printed()[before:]
        if status := re.search(r"exit status (\d)", expected):
            assert statuses[-1] == int(status[1]), terminal.printed()[before:]
    assert statuses[-1] == 0, terminal.printed()[before:]
