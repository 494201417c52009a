"""Builds under load: as fast as they can be published, and paced as in operation.

Belongs here: the load and its length. Does not: the requests themselves (bench.soak, witness).
"""

import shutil
import time

from tests.bench.soak import soak
from tests.torture.ground import Found, Ground, failures
from tests.torture.witness import witnessed

WORKERS = 2
BETWEEN_BUILDS = 300
"""Seconds between two builds of the paced load."""


def builds(ground: Ground, times: int) -> Found:
    """Publish one build after the other, while wrk puts load on two workers."""
    redis = shutil.which("redis-server")
    if not (redis and shutil.which("wrk")):
        return Found(skipped="needs the Debian packages wrk and redis-server (make system)")
    folder = ground.folder / "builds"
    folder.mkdir()
    try:
        soaked = soak(folder, times, WORKERS, redis)
    except AssertionError as error:
        return Found(times, wrong=[str(error)])
    return Found(times, answers=soaked.answered, remarks={"answers looked at": soaked.read})


def paced(ground: Ground, minutes: int) -> Found:
    """Ask at an even pace, while a new build is published every five minutes."""
    found = Found()
    home = ground.copy(ground.folder / "paced")
    until = time.monotonic() + 60 * minutes
    with witnessed(ground, home.folder, found) as witness:
        while time.monotonic() < until:
            following = time.monotonic() + BETWEEN_BUILDS
            ground.turn()
            done = home.synchronize()
            found.losses += failures(done) or home.judged(is_healed=True)
            found.times += 1
            witness.newest = ground.days.today
            while time.monotonic() < min(until, following):
                time.sleep(1)
                ground.step()
    return found
