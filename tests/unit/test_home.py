"""The home: its folders, its kind of data, and its lock."""

import json
import stat
from pathlib import Path

import pytest

from pipelines.storage.home import DEFAULT_HOME, LOCK, MARKER, PROJECT, Home, HomeError


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    made.prepare()
    return made


def test_the_environment_names_the_home(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert Home.from_environment().root == tmp_path / DEFAULT_HOME
    monkeypatch.setenv("FUNDAMENTALS_HOME", "elsewhere")
    assert Home.from_environment().root == tmp_path / "elsewhere"


def test_the_folders_are_made_and_dagster_gets_its_settings(home):
    assert home.tables.is_dir()
    assert home.published.is_dir()
    assert stat.S_IMODE(home.root.stat().st_mode) == 0o700, "readable by its owner only"
    assert (home.dagster / "dagster.yaml").read_text() == (PROJECT / "dagster.yaml").read_text()
    home.prepare()  # a second call changes nothing


def modes(folder: Path) -> set[int]:
    """The permissions of a folder and its contents, without links."""
    paths = [folder, *(path for path in folder.rglob("*") if not path.is_symlink())]
    return {stat.S_IMODE(path.stat().st_mode) for path in paths}


def test_a_home_that_others_can_read_is_mended_with_all_its_content(home, tmp_path):
    """Files that are linked to are not its content, and a private home is left as it is."""
    (outside := tmp_path / "outside").touch(mode=0o644)
    (home.root / "link").symlink_to(outside)
    (home.tables / "part").touch()
    for path, mode in ((home.tables / "part", 0o444), (home.tables, 0o755), (home.root, 0o755)):
        path.chmod(mode)
    home.prepare()
    assert modes(home.root) <= {0o700, 0o600, 0o400}
    assert stat.S_IMODE(outside.stat().st_mode) == 0o644
    (home.tables / "part").chmod(0o444)
    home.prepare()
    assert 0o444 in modes(home.root), "not read again each time"


def test_a_home_that_cannot_be_created_is_an_error_that_says_what_to_set(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(HomeError, match=r"file/home: cannot be written \(Not a directory\); set FUNDAMENTALS_HOME"):
        Home(tmp_path / "file" / "home").prepare()


@pytest.mark.parametrize(
    ("name", "first", "second", "other"),
    [
        ("home", "edgar", "sample", "home-sample"),
        ("home", "sample", "edgar", "home-edgar"),
        ("edgar", "edgar", "sample", "sample"),  # the usual names of homes
    ],
)
def test_a_home_has_only_one_kind_of_data(tmp_path, name, first, second, other):
    home = Home(tmp_path / name)
    home.prepare()
    home.claim(first)
    home.claim(first)
    assert json.loads((home.root / MARKER).read_text()) == {"kind": first}
    with pytest.raises(HomeError, match=rf"another home: FUNDAMENTALS_HOME={tmp_path / other}$"):
        home.claim(second)


@pytest.mark.parametrize("written", ["", "[]", "{}", '{"kind": 1}', '{"kind": "other"}', "\x00"])
def test_a_damaged_marker_is_an_error(home, written):
    (home.root / MARKER).write_text(written)
    with pytest.raises(HomeError, match=r"home\.json says .*; delete it"):
        home.claim("edgar")
    assert (home.root / MARKER).read_text() == written


def test_only_one_process_writes_at_a_time(home):
    with home.writing(), pytest.raises(HomeError, match="another synchronization is running"), home.writing():
        pass
    with home.writing():  # released
        assert (home.root / LOCK).exists()
