"""Launches the runs of the Dagster UI, and notices runs whose process is gone, so that the next one need not wait.

Belongs here: what Dagster's daemon asks of a launcher, and the name of a process. Does not: the runs themselves
(definitions), the lock of the home (home).
"""

import os
from pathlib import Path

import dagster as dg
from dagster._core.launcher import CheckRunHealthResult, WorkerStatus

PROCESS = "fundamentals/process"
"""The tag with the process of a run: its number, and when it was started, because numbers are used again."""
ENDED = "Z"
"""The state of a process that has ended, but that its parent has not asked for."""


class Launcher(dg.DefaultRunLauncher):
    """Dagster's launcher, which also tells whether the process of a run lives.

    One that was killed could not record its end, and the queue would wait for it; the daemon asks here every few
    seconds, and then records that it failed.
    """

    @property
    def supports_check_run_worker_health(self) -> bool:
        """True: the daemon may ask."""
        return True

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """Whether the process of a run lives; a run that has not noted its process yet counts as living."""
        noted = run.tags.get(PROCESS)
        if noted is None or noted == process_named(int(noted.partition("-")[0])):
            return CheckRunHealthResult(WorkerStatus.RUNNING)
        return CheckRunHealthResult(WorkerStatus.FAILED, f"its process ({noted}) is gone: it was killed")


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
