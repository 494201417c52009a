"""SIGKILL at any point of a synchronization leaves the old or the new build, and the next run needs no help.

One run after another is killed, each at a later named point, and FUNDAMENTALS_KILLS more (default 2) from outside, at
random moments of seed FUNDAMENTALS_KILL_SEED (default 1):

    FUNDAMENTALS_KILLS=20 .venv/bin/python -m pytest tests/e2e/test_killed.py
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from pipelines.storage.home import PROJECT
from tests.e2e.dying import POINTS
from tests.e2e.homes import PATIENCE, command, debris, ended, environment, published, sync, sync_unrecorded
from tests.mirrors import ABSENT, ALFA, BRAVO, CARGO, Filer, Mirror

# read when the module is imported, because tests do not see these variables
KILLS = int(os.environ.get("FUNDAMENTALS_KILLS", "2"))
SEED = int(os.environ.get("FUNDAMENTALS_KILL_SEED", "1"))
FILERS = (ALFA, BRAVO, CARGO, *(Filer(200 + n, f"MANY{n}", 100 + n) for n in range(3)))
MOVED = ("after the pointer has moved", "before the log is told")
"""Points after which the new build is the published one."""
IN_TURN = [[point for point in POINTS if point != MOVED[1]], [MOVED[1]]]
"""Points at which one run after another is killed; the last one is not reached if the pointer has moved before."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A home with a build, a source that has changed since, and the result of an undisturbed run."""

    home: Path
    source: Path
    old_hash: str
    new_hash: str
    seconds: float


def start(home: Path, words: list[str]) -> subprocess.Popen[bytes]:
    """Start a process that synchronizes a home."""
    return subprocess.Popen(
        words,
        cwd=PROJECT,
        env=environment(home),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def start_working(home: Path, source: Path) -> subprocess.Popen[bytes]:
    """Start a synchronization, and wait for the first file that it writes."""
    listings = home / "tables" / "listings.parquet"
    before = listings.stat().st_ino
    process = start(home, command("sync", "--source", source))
    deadline = time.monotonic() + PATIENCE
    while listings.stat().st_ino == before and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    return process


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    folder = tmp_path_factory.mktemp("killed")
    mirror, home = Mirror(folder / "mirror", *FILERS, ABSENT), folder / "home"
    ended(sync(home, mirror.folder))
    changed = [replace(filer, scale=filer.scale + 50) for filer in FILERS[::2]]
    mirror.list(*FILERS, Filer(301, "NEWX"))
    mirror.hold(*changed, Filer(301, "NEWX"))
    measured = folder / "measured"
    shutil.copytree(home, measured, symlinks=True)
    process = start_working(measured, mirror.folder)
    began = time.monotonic()
    assert process.wait(PATIENCE) == 0
    return Scene(
        home=home,
        source=mirror.folder,
        old_hash=published(home).content_hash,
        new_hash=published(measured).content_hash,
        seconds=time.monotonic() - began,
    )


@pytest.fixture
def home(scene: Scene, tmp_path: Path) -> Path:
    """A copy of the home with the old build."""
    return shutil.copytree(scene.home, tmp_path / "home", symlinks=True)


def moments() -> list[float]:
    """Fractions of a run, one drawn from each of as many equal parts, so that no part is left out."""
    drawn = random.Random(SEED)
    return [(number + drawn.random()) / KILLS for number in range(KILLS)]


def test_the_undisturbed_run_changes_the_build(scene):
    assert scene.old_hash != scene.new_hash


@pytest.mark.parametrize("points", IN_TURN, ids=lambda points: points[-1])
def test_killed_at_each_named_point_it_leaves_the_old_or_the_new_build(scene, home, points):
    """The new build only once the pointer has changed; each run begins with the state that the run before has left."""
    for point in points:
        process = start(home, [sys.executable, "-m", "tests.e2e.dying", point, str(scene.source)])

        assert process.wait(PATIENCE) == -signal.SIGKILL, f"not reached: {point}"
        left = published(home)
        assert left.is_whole, point
        assert left.content_hash == (scene.new_hash if point in MOVED else scene.old_hash), point
    heals(scene, home, sync_unrecorded(home, scene.source))


@pytest.mark.parametrize("moment", moments(), ids=lambda moment: f"{moment:.0%}")
def test_killed_from_outside_it_leaves_the_old_or_the_new_build(scene, home, moment):
    process = start_working(home, scene.source)
    try:
        time.sleep(moment * scene.seconds)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)

    left = published(home)
    assert left.is_whole
    assert left.content_hash in (scene.old_hash, scene.new_hash)
    assert process.returncode in (0, -signal.SIGKILL)
    if process.returncode == 0:
        assert left.content_hash == scene.new_hash
    heals(scene, home, sync(home, scene.source))


def heals(scene: Scene, home: Path, again: subprocess.CompletedProcess[str]) -> None:
    """Check that the next run published the new build and left nothing of the killed one."""
    assert again.returncode == 0, again.stderr
    healed = published(home)
    assert healed.is_whole
    assert healed.content_hash == scene.new_hash
    assert debris(home) == []
