"""SIGKILL at any moment of a synchronization leaves the old or the new build, and the next run needs no hand.

The moments are drawn at random from FUNDAMENTALS_KILL_SEED (default 1), FUNDAMENTALS_KILLS of them (default 6):

    FUNDAMENTALS_KILLS=20 .venv/bin/python -m pytest tests/e2e/test_killed.py
"""

import os
import random
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from pipelines.home import PROJECT
from tests.e2e.homes import PATIENCE, command, environment, published, sync
from tests.mirrors import ABSENT, ALFA, BRAVO, CARGO, Filer, Mirror
from warehouse import copies

# read when the module is: no test sees these names in the environment
KILLS = int(os.environ.get("FUNDAMENTALS_KILLS", "6"))
SEED = int(os.environ.get("FUNDAMENTALS_KILL_SEED", "1"))
FILERS = (ALFA, BRAVO, CARGO, *(Filer(200 + n, f"MANY{n}", 100 + n) for n in range(12)))


@dataclass(frozen=True, slots=True)
class Scene:
    """A home with a build, a source that has changed since, and what an undisturbed run makes of it."""

    home: Path
    source: Path
    old_hash: str
    new_hash: str
    seconds: float


def start(home: Path, source: Path) -> subprocess.Popen[bytes]:
    """Start a synchronization, and wait for the first thing that it writes: its work begins."""
    listings = home / "tables" / "listings.parquet"
    before = listings.stat().st_ino
    process = subprocess.Popen(
        command("sync", "--source", source),
        cwd=PROJECT,
        env=environment(home),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + PATIENCE
    while listings.stat().st_ino == before and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    return process


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    folder = tmp_path_factory.mktemp("killed")
    mirror, home = Mirror(folder / "mirror", *FILERS, ABSENT), folder / "home"
    assert sync(home, mirror.folder).returncode == 0
    changed = [replace(filer, scale=filer.scale + 50) for filer in FILERS[::2]]
    mirror.list(*FILERS, Filer(301, "NEWX"))
    mirror.hold(*changed, Filer(301, "NEWX"))
    measured = folder / "measured"
    shutil.copytree(home, measured, symlinks=True)
    process = start(measured, mirror.folder)
    began = time.monotonic()
    assert process.wait(PATIENCE) == 0
    return Scene(
        home=home,
        source=mirror.folder,
        old_hash=published(home).content_hash,
        new_hash=published(measured).content_hash,
        seconds=time.monotonic() - began,
    )


def moments() -> list[float]:
    """As shares of a run, one drawn from each of as many equal parts: none of them is left out."""
    drawn = random.Random(SEED)
    return [(number + drawn.random()) / KILLS for number in range(KILLS)]


def test_the_undisturbed_run_has_something_to_do(scene):
    assert scene.old_hash != scene.new_hash


@pytest.mark.parametrize("moment", moments(), ids=lambda moment: f"{moment:.0%}")
def test_killed_it_leaves_the_old_or_the_new_build(scene, tmp_path, moment):
    home = tmp_path / "home"
    shutil.copytree(scene.home, home, symlinks=True)
    process = start(home, scene.source)
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

    again = sync(home, scene.source)
    assert again.returncode == 0, again.stderr
    healed = published(home)
    assert healed.is_whole
    assert healed.content_hash == scene.new_hash
    assert debris(home) == []


def debris(home: Path) -> list[str]:
    """What a killed run left behind and no later one took away."""
    pointer = published(home).pointer
    builds = [file for file in (pointer.file, pointer.previous) if file]
    kept = {*builds, *map(copies.folder_of, builds), pointer.synchronized_file}
    kept |= {f"quality-{file.removeprefix('warehouse-').removesuffix('.duckdb')}.html" for file in builds}
    kept |= {"CURRENT.json", "warehouse.duckdb", "parquet", "quality.html"}
    left = [path.name for path in (home / "published").iterdir() if path.name not in kept]
    left += [path.name for path in (home / "tables").iterdir() if path.suffix != ".parquet"]
    left += [path.name for path in (home / "log").iterdir() if path.name not in {*pointer.log, "committed.json"}]
    return left + [path.name for path in (home / "raw" / "incoming").iterdir()]
