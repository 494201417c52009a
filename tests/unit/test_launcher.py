"""Runs with an ended process are distinguished from runs with a living process."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.launcher import WorkerStatus

from pipelines.dagster_app.launcher import PROCESS, Launcher, process_named


def health(process: str | None) -> WorkerStatus:
    tags = {} if process is None else {PROCESS: process}
    return Launcher().check_run_worker_health(dg.DagsterRun(job_name="synchronize", tags=tags)).status


def test_a_run_lives_as_long_as_its_process():
    """Also a run that has not recorded its process yet; a process that nobody waited for has ended."""
    assert health(None) == WorkerStatus.RUNNING
    assert health(process_named(os.getpid())) == WorkerStatus.RUNNING
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        noted = process_named(process.pid)
        assert health(noted) == WorkerStatus.RUNNING
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert health(noted) == WorkerStatus.FAILED
    assert process.returncode == -signal.SIGKILL
    assert health(noted) == WorkerStatus.FAILED


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux tells when a process was started")
def test_another_process_with_the_number_of_one_that_is_gone():
    number, _, started = process_named(os.getpid()).partition("-")
    assert health(f"{number}-{int(started) - 1}") == WorkerStatus.FAILED
