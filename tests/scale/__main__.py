"""`make test-scale`: runs the tests of this folder, or names the packages and programs that are missing. Installs
nothing.

Belongs here: the packages and programs that are needed, and the commands that install them. Does not: the tests.
"""

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

FOLDER = Path(__file__).parent
PACKAGES = ("obstore", "psycopg", "distributed", "moto", "flask")
PROGRAMS = {"nginx": "nginx-light", "postgres": "postgresql", "redis-server": "redis-server", "wrk": "wrk"}
"""Each program with its Debian package."""
SIDE_BY_SIDE = ("--numprocesses=3", "--dist=loadfile", "--no-loadscope-reorder")
"""Most tests wait; the tests of a group of files (conftest) share replicas and the services behind them."""
SHORT = ("-m", "not long")
LONG = ("-o", "faulthandler_timeout=7200")
"""A played day takes half an hour on a busy machine; other tests hang after fifteen minutes (pyproject.toml)."""
MISSING = 2
"""The exit status if something is missing."""
SBIN = "/usr/sbin"
"""Where Debian has nginx; it is on the path of root only."""


def main(*options: str) -> int:
    """Run the tests; return pytest's exit status, or `MISSING`.

    Args:
        options: `--short` leaves out the tests that are marked as long; all others are pytest's.
    """
    if lines := missing(importlib.util.find_spec, program):
        print("\n".join(lines), file=sys.stderr)
        return MISSING
    command = [sys.executable, "-m", "pytest", *SIDE_BY_SIDE, "--strict-skips", "--durations=10", str(FOLDER)]
    command += SHORT if "--short" in options else LONG
    return subprocess.run([*command, *(option for option in options if option != "--short")], check=False).returncode


def missing(package: Callable[[str], object], found: Callable[[str], object]) -> list[str]:
    """The missing packages and programs, one line for each command that installs them.

    Args:
        package: finds a Python package by its name, or returns None.
        found: finds a program by its name, or returns None.
    """
    packages = [name for name in PACKAGES if package(name) is None]
    programs = [debian for name, debian in PROGRAMS.items() if found(name) is None]
    lines = {
        "Python packages: {}; install them with: make scale": packages,
        "Debian packages: {}; install them, as root, with: make system": programs,
    }
    return [f"missing {line.format(', '.join(names))}" for line, names in lines.items() if names]


def program(name: str) -> str | None:
    """The path of a program. Debian keeps PostgreSQL's out of the path, one folder a version; the newest counts."""
    versions = Path("/usr/lib/postgresql").glob("*/bin")
    newest = sorted(versions, key=lambda path: float(path.parent.name), reverse=True)
    return next(filter(None, (shutil.which(name, path=path) for path in (None, SBIN, *map(str, newest)))), None)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
