"""Installs the pinned packages with pip, and shows how many of them it has: `make setup` runs it.

Belongs here: progress while packages are downloaded, and pip's own words if it fails. Does not: which packages these
are (requirements.lock). It runs before anything is installed, so it needs the standard library only.
"""

import re
import subprocess
import sys
from pathlib import Path

PIP = (sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-deps", "--require-hashes", "-r")
STEP = 10
"""Packages after which a line is printed where the output is no terminal."""


def main(lock: str) -> int:
    """Install the packages of a lock file; return pip's exit status."""
    total = len(re.findall(r"^[\w.-]+==", Path(lock).read_text(encoding="utf-8"), re.MULTILINE))
    lines, collected = [], 0
    with subprocess.Popen([*PIP, lock], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as pip:
        for line in pip.stdout or ():
            lines.append(line)
            if re.match(r"(Collecting|Requirement already satisfied|Ignoring) ?", line):
                collected += 1
                _show(f"  packages        {min(collected, total)}/{total}", collected % STEP == 0)
            elif line.startswith("Installing collected packages"):
                _show(f"  packages        {total}/{total}, unpacking", True)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    if pip.returncode:
        print("".join(lines), end="", file=sys.stderr)
    return pip.returncode


def _show(text: str, is_step: bool) -> None:
    """The line so far; where the output is no terminal, only some lines."""
    if sys.stderr.isatty():
        print(f"\r{text:<60}", end="", flush=True, file=sys.stderr)
    elif is_step:
        print(text, flush=True, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
