"""The names of processes of this machine, by which one that has ended is told from one that has its number since.

Belongs here: that name. Does not: what a process does.
"""

import os
from pathlib import Path

ENDED = "Z"
"""The state of a process that has ended, but that its parent has not asked for."""


def process_named(number: int) -> str:
    """The value of the tag for a running process; empty if there is none with this number.

    Without the folder `/proc` of Linux it is the number alone.
    """
    try:
        state, *fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()  # proc_pid_stat(5)
    except FileNotFoundError:
        return "" if Path("/proc/self").exists() else _by_signal(number)
    return "" if state == ENDED else f"{number}-{fields[18]}"


def _by_signal(number: int) -> str:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        pass
    return str(number)
