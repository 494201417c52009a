"""A synchronization that is stopped with Ctrl-C ends, whatever it computes."""

import os
import signal
import subprocess
import sys

from pipelines.run.stopping import MESSAGE, STATUS
from pipelines.storage.home import PROJECT

BUSY = """
import signal
from hashlib import pbkdf2_hmac
from pipelines.run.stopping import ends_soon_after_sigint
signal.signal(signal.SIGINT, lambda *_: None)
with ends_soon_after_sigint(0.1):
    print("busy", flush=True)
    pbkdf2_hmac("sha256", b"", b"", 1 << 30)  # minutes in one call
"""


def test_a_computation_that_handles_no_signal_is_ended():
    """In one line, with the exit status of a process that SIGINT ended."""
    with subprocess.Popen(
        [sys.executable, "-c", BUSY], cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout
        assert running.stdout.readline() == "busy\n"
        os.kill(running.pid, signal.SIGINT)
        try:
            told = running.communicate(timeout=30)[1]
        finally:
            running.kill()
    assert (running.returncode, told) == (STATUS, f"{MESSAGE}\n")
