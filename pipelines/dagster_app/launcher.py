"""Launches the runs of the Dagster UI, and detects runs whose process is gone, so that the next run does not wait.

Belongs here: the functions that Dagster's daemon calls, and the name of a process. Does not: the runs themselves
(definitions), the lock of the home (storage.home).
"""

import os
from pathlib import Path

import dagster as dg
from dagster._core.launcher import CheckRunHealthResult, WorkerStatus

PROCESS = "fundamentals/process"
"""The tag with the process of a run: its number and its start time, because numbers are used again."""
ENDED = "Z"
"""The state of a process that has ended, but that its parent has not waited for (zombie)."""


class Launcher(dg.DefaultRunLauncher):
    """Dagster's launcher, which also reports whether the process of a run is alive.

    A killed process cannot record its end, and the queue would wait for it. So the daemon asks every few seconds, and
    records that such a run has failed.
    """

    @property
    def supports_check_run_worker_health(self) -> bool:
        """True, so that the daemon asks."""
        return True

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """Whether the process of a run is alive; a run that has not recorded its process yet counts as alive."""
        noted = run.tags.get(PROCESS)
        if noted is None or noted == process_named(int(noted.partition("-")[0])):
            return CheckRunHealthResult(WorkerStatus.RUNNING)
        return CheckRunHealthResult(WorkerStatus.FAILED, f"its process ({noted}) is gone: it was killed")


def process_named(number: int) -> str:
    """The value of the tag for a running process; empty if no process has this number.

    Without the folder `/proc` of Linux, the value is only the number.
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
