"""The end of a test run: SIGTERM ends it, also if a test ignores the interruption."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ending

PATIENCE = 60
STUBBORN = """
import time

from tests import ending

ending.GRACE = 1


def test_that_never_ends():
    told = False
    while True:
        try:
            if not told:
                told = True  # first, because the interruption may come as soon as this is printed
                print("running", flush=True)
            time.sleep(600)
        except KeyboardInterrupt:
            pass
"""


@pytest.fixture
def run(tmp_path: Path) -> subprocess.Popen[str]:
    """A run of one test that never ends and has started."""
    (tmp_path / "test_stubborn.py").write_text(STUBBORN)
    words = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "tests.ending", "-p", "no:cacheprovider"]
    process = subprocess.Popen(
        [*words, "-c", "/dev/null", "--rootdir", str(tmp_path), str(tmp_path)],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout
    assert any("running" in line for line in process.stdout)
    return process


def test_sigterm_ends_the_run_after_a_while(run):
    run.send_signal(signal.SIGTERM)

    assert run.wait(PATIENCE) == ending.ENDED
    run.stdout.close()


def test_a_second_sigterm_ends_the_run_at_once(run):
    run.send_signal(signal.SIGTERM)
    while run.poll() is None:
        run.send_signal(signal.SIGTERM)

    assert run.returncode in (-signal.SIGTERM, ending.ENDED)
    run.stdout.close()
