"""Launches the runs of the Dagster UI, and notices runs whose process is gone, so that the next one need not wait.

Belongs here: what Dagster's daemon asks of a launcher. Does not: the runs themselves (definitions), the lock of the
home (home), the name of a process (processes).
"""

import dagster as dg
from dagster._core.launcher import CheckRunHealthResult, WorkerStatus

from pipelines.processes import process_named

PROCESS = "fundamentals/process"
"""The tag with the process of a run: its number, and when it was started, because numbers are used again."""


class Launcher(dg.DefaultRunLauncher):
    """Dagster's launcher, which also tells whether the process of a run lives.

    Runs of the command `fundamentals sync` are in the record too, and the queue waits for them. One that was killed
    could not record its end; the daemon asks here every few seconds, and then records that it failed.
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
