"""A synchronization that is stopped with Ctrl-C ends, whatever it computes."""

import os
import signal
import subprocess
import sys

import pytest

from pipelines.run.stopping import STATUS, of_synchronization
from pipelines.storage.home import PROJECT
from warehouse.build.pointer import current

BUSY = """
import signal
from hashlib import pbkdf2_hmac
from pipelines.run.stopping import ends_soon_after_signal
with ends_soon_after_signal(lambda: "stopped", 0.1):
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda *_: None)
    print("busy", flush=True)
    pbkdf2_hmac("sha256", b"", b"", 1 << 30)  # minutes in one call
"""


def test_what_is_said_of_a_stopped_synchronization_is_true(synchronized):
    """Filings are fetched after a build is published."""
    folder = synchronized.published
    assert "nothing was published" in of_synchronization(folder, before=current(folder))
    assert "a build was published before" in of_synchronization(folder, before=None)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_computation_that_handles_no_signal_is_ended(number):
    """In one line, with the exit status of a process that SIGINT ended."""
    with subprocess.Popen(
        [sys.executable, "-c", BUSY], cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout
        assert running.stdout.readline() == "busy\n"
        os.kill(running.pid, number)
        try:
            told = running.communicate(timeout=30)[1]
        finally:
            running.kill()
    assert (running.returncode, told) == (STATUS, "stopped\n")
