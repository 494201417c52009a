"""SIGKILL at random moments of a synchronization.

Belongs here: when a process is killed. Does not: the conditions afterwards (ground), requests (witness).
"""

import os
import signal
import subprocess
import time
from pathlib import Path

from pipelines.storage.home import LOCK, PROJECT
from tests.e2e.homes import PATIENCE, command, environment
from tests.torture.ground import Found, Ground, Home, failures
from tests.torture.witness import witnessed

IN_A_ROW = 4
"""So many runs of one day are killed at most, before one may end."""


def killed(ground: Ground, times: int) -> Found:
    """Kill synchronizations while the home is served; the next one needs no hand."""
    found = Found()
    home = ground.copy(ground.folder / "kills")
    with witnessed(ground, home.folder, found) as witness:
        longest = 0.0
        while found.times < times:
            ground.turn()
            in_a_row = ground.drawn.randint(1, IN_A_ROW) if longest else 0
            while not home.is_of_today():
                is_over = not in_a_row or found.times == times
                in_a_row -= 1
                worked, done = _run(home, None if is_over else ground.drawn.random() * longest)
                if done.returncode == -signal.SIGKILL:
                    found.times += 1
                    found.losses += home.judged()
                    found.note("new build" if home.is_of_today() else "old build")
                    ground.step()
                else:
                    longest = worked
                    found.losses += failures(done) or home.judged(is_healed=True)
                    break
            witness.newest = ground.days.today
        found.losses += failures(home.synchronize()) or home.judged(is_healed=True)
    return found


def _started(home: Home) -> subprocess.Popen[str]:
    """A synchronization that has locked the home: the time before changes nothing."""
    process = subprocess.Popen(
        command("sync", "--source", home.ground.days.folder),
        cwd=PROJECT,
        env=environment(home.folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    lock: Path = home.folder / LOCK
    while not lock.read_text().startswith(f"process {process.pid},") and process.poll() is None:
        time.sleep(0.002)
    return process


def _run(home: Home, seconds: float | None) -> tuple[float, subprocess.CompletedProcess[str]]:
    """A synchronization that is killed after so many seconds of work (None: never); and how long it worked."""
    with _started(home) as process:
        began = time.monotonic()
        try:
            out, _ = process.communicate(timeout=PATIENCE if seconds is None else seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, _ = process.communicate()
    return time.monotonic() - began, subprocess.CompletedProcess(process.args, process.returncode, "", out)
