"""Synchronizations with the clock set back and ahead.

Belongs here: by how much. Does not: setting it (shifted), the conditions afterwards (ground).
"""

import subprocess
import sys

from pipelines.storage.home import PROJECT
from tests.e2e.homes import PATIENCE, environment
from tests.torture.ground import Found, Ground, failures
from tests.torture.witness import witnessed

DAYS = (-400, 0, 400, 0, -1, 1, 0)
"""By how many days the clock is wrong, one synchronization after the other."""


def set_wrong(ground: Ground, _: int) -> Found:
    """Synchronize with a wrong clock, and with the right one after that."""
    found = Found()
    home = ground.copy(ground.folder / "clocks")
    with witnessed(ground, home.folder, found) as witness:
        for days in DAYS:
            ground.turn()
            done = subprocess.run(
                [sys.executable, "-m", "tests.torture.shifted", str(days), str(ground.days.folder)],
                cwd=PROJECT,
                env=environment(home.folder),
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
            found.losses += failures(done) or home.judged(is_healed=True)
            found.times += days != 0
            witness.newest = ground.days.today
            ground.step()
    return found
