"""The faults of `make torture`: its days, and that doctor finds each kind of damage."""

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from serve.access.accounts import Accounts
from serve.errors import CommandError
from tests.e2e.homes import run, sync
from tests.mirrors import ALFA, Mirror
from tests.torture.bits import ACCOUNTS, KINDS, files, flip
from tests.torture.days import COMPANIES, days_of, filings_of
from tests.unit.conftest import TwoBuilds
from warehouse.contract.findings import DAMAGE


@pytest.mark.parametrize("place", range(COMPANIES))
def test_the_number_of_filings_tells_the_days(place):
    for day in range(3 * COMPANIES):
        first, last = days_of(place, filings_of(place, day))
        assert first <= day <= last
        assert last == day if filings_of(place, day + 1) > filings_of(place, day) else last > day


def test_a_flipped_bit_is_one_bit(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(bytes(100))
    path.chmod(0o400)
    flip(path, random.Random(1))
    assert sum(byte.bit_count() for byte in path.read_bytes()) == 1
    assert path.stat().st_mode & 0o777 == 0o400


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a build and accounts; damage is made and found in copies of it."""
    folder = tmp_path_factory.mktemp("torture")
    mirror, home = Mirror(folder / "mirror", ALFA), folder / "home"
    assert sync(home, mirror.folder).returncode == 0
    Accounts(home / ACCOUNTS).close()
    assert run(home, "doctor").returncode < DAMAGE
    return home


@pytest.mark.parametrize("kind", [*KINDS, ACCOUNTS])
def test_doctor_finds_each_kind_of_damage(whole: Path, two_builds: TwoBuilds, tmp_path: Path, kind: str) -> None:
    """Any bit of files with a known digest; of the others, only much damage."""
    home = shutil.copytree(two_builds.home if kind == "overlay" else whole, tmp_path / "home", symlinks=True)
    path = home / ACCOUNTS if kind == ACCOUNTS else files(home, kind)[0]
    if kind in KINDS and KINDS[kind].has_digest:
        flip(path, random.Random(1))
    else:
        path.chmod(0o600)
        path.write_bytes(bytes(byte ^ 1 for byte in path.read_bytes()))
    assert run(home, "doctor").returncode == DAMAGE


def test_accounts_that_refer_to_a_missing_account_are_refused(whole: Path, tmp_path: Path) -> None:
    """A bit of the number of an account: no index of SQLite has it."""
    path = shutil.copyfile(whole / ACCOUNTS, tmp_path / ACCOUNTS)
    with closing(Accounts(path)) as accounts:
        accounts.create_key("you@example.org", 0)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE accounts SET id = id + 2")
    with closing(Accounts(path)) as accounts, pytest.raises(CommandError, match=r"missing row of table accounts"):
        accounts.check()


def test_a_flipped_bit_in_the_list_of_segments_stays_found(whole: Path, tmp_path: Path) -> None:
    """A synchronization does not take it over: the repair writes the list from the pointer."""
    home = shutil.copytree(whole, tmp_path / "home", symlinks=True)
    path, source = home / "log" / "committed.json", whole.parent / "mirror"
    path.write_text(path.read_text().replace("versions-2", "versions-3"))
    assert "does not have its digest" in sync(home, source).stderr
    run(home, "doctor", "--repair")
    assert sync(home, source).returncode == 0


def test_accounts_with_a_flipped_bit_are_refused_in_one_line_or_opened(whole: Path, tmp_path: Path) -> None:
    """Messages of SQLite may quote bytes that are not text, and definitions of several lines."""
    drawn, refused = random.Random(1), []
    for number in range(200):
        path = shutil.copyfile(whole / ACCOUNTS, tmp_path / f"{number}.sqlite")
        flip(path, drawn)
        try:
            with closing(Accounts(path)) as accounts:
                accounts.check()
        except CommandError as error:
            refused.append(str(error))
    assert refused
    assert [line for line in refused if "\n" in line] == []
