"""Installs the pinned packages with pip, and shows how many of them it has: `make setup` runs it.

Belongs here: several pips at once, progress while packages are downloaded, and pip's own words if it fails. Does not:
which packages these are (the lock files). It runs before anything is installed, so it needs the standard library only.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

PIP = (sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-deps", "--require-hashes")
"""No package of a lock file needs another one to be installed, so several pips can share them."""
STEP = 10
"""Packages after which a line is printed where the output is no terminal."""


def main(*locks: str) -> int:
    """Install the packages of lock files, with as many pips as there are cores; return the first exit status not 0."""
    pinned = [package for lock in locks for package in _pinned(Path(lock).read_text(encoding="utf-8"))]
    pips = min(len(pinned), os.cpu_count() or 1)
    progress = Progress(len(pinned))
    with TemporaryDirectory() as folder, ThreadPoolExecutor(pips) as threads:
        shares = [Path(folder, f"{number}.txt") for number in range(pips)]
        for number, share in enumerate(shares):
            share.write_text("".join(pinned[number::pips]), encoding="utf-8")
        statuses = list(threads.map(lambda share: _install(share, progress), shares))
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return next(filter(None, statuses), 0)


class Progress:
    """How many packages pip has, of how many."""

    def __init__(self, total: int) -> None:
        """Nothing is downloaded yet."""
        self._total, self._collected = total, 0

    def read(self, line: str) -> None:
        """Count the package that a line of pip is about, and show it."""
        if re.match(r"(Collecting|Requirement already satisfied|Ignoring) ?", line):
            self._collected += 1
            self._show("", self._collected % STEP == 0)
        elif line.startswith("Installing collected packages"):
            self._show(", unpacking", True)

    def _show(self, what: str, is_step: bool) -> None:
        """The line so far; where the output is no terminal, only some lines."""
        text = f"  packages        {min(self._collected, self._total)}/{self._total}{what}"
        if sys.stderr.isatty():
            print(f"\r{text:<60}", end="", flush=True, file=sys.stderr)
        elif is_step:
            print(text, flush=True, file=sys.stderr)


def _pinned(lock: str) -> Iterable[str]:
    """Each package of a lock file with its hashes."""
    return (f"{package.rstrip()}\n" for package in re.split(r"^(?=\w)", lock, flags=re.MULTILINE) if "==" in package)


def _install(share: Path, progress: Progress) -> int:
    """Run pip for some packages; return its exit status."""
    lines = []
    command = [*PIP, "-r", str(share)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as pip:
        for line in pip.stdout or ():
            lines.append(line)
            progress.read(line)
    if pip.returncode:
        print("".join(lines), end="", file=sys.stderr)
    return pip.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
