"""`fundamentals backup` and `restore`: a restored home answers byte for byte as before, accounts and keys included."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

import fundamentals
from pipelines.admin import backup
from pipelines.edgar.fetch.raw_store import RawStore
from pipelines.storage.checksums import digest_of
from pipelines.storage.home import Home
from serve.access.accounts import Accounts
from serve.settings import Settings
from tests.e2e.homes import published, sync, sync_unrecorded
from tests.mirrors import ALFA, BRAVO, Mirror
from tests.servers import Clock, as_process, in_process
from tests.unit.conftest import TwoBuilds

EMAIL = "reader@example.org"
PATHS = (
    "/v1/status",
    "/v1/companies",
    *(
        f"/v1/companies/{symbol}{rest}"
        for symbol in ("ALFA", "BRVO", "CRGO")
        for rest in ("", "/financials", "/financials?period=annual", "/financials/revisions", "/valuation")
    ),
    *("/", "/companies/ALFA", "/dictionary.md", "/rules.md", "/v1/openapi.json"),
)


@pytest.fixture
def home(two_builds: TwoBuilds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A copy of a home, which the commands use."""
    copy = shutil.copytree(two_builds.home, tmp_path / "home", symlinks=True)
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(copy))
    monkeypatch.setenv("COLUMNS", "1000")
    return Home(copy)


@pytest.fixture
def empty(tmp_path: Path) -> Home:
    """A home that does not exist yet."""
    return Home(tmp_path / "restored")


def run(capsys: pytest.CaptureFixture[str], home: Home, *arguments: object) -> tuple[int, str]:
    """The exit status of a command for a home, and its last line."""
    capsys.readouterr()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FUNDAMENTALS_HOME", str(home.root))
        status = fundamentals.main([str(argument) for argument in arguments])
    printed = capsys.readouterr()
    return status, (printed.err if status == 1 else printed.out).splitlines()[-1]


def answers(home: Home, key: str) -> dict[str, tuple[int, bytes]]:
    """Status and body of each path; the clock stands still."""
    settings = Settings(home.root, "http://data.example.org/v1")
    with in_process(settings, Clock()) as address, httpx.Client(base_url=address, headers={"X-Api-Key": key}) as client:
        return {path: (got.status_code, got.content) for path in PATHS for got in [client.get(path)]}


def subscriber(home: Home) -> str:
    accounts = Accounts(home.root / "accounts.sqlite")
    key = accounts.create_key(EMAIL, 0)
    accounts.set_subscription(EMAIL, "active", 0)
    accounts.close()
    return key


def test_a_restored_home_answers_as_before_and_a_synchronization_finds_nothing_new(
    home, two_builds, empty, tmp_path, capsys
):
    """The backup has the last writes of the service, which are still in the log next to the database of accounts."""
    key = subscriber(home)
    store = RawStore(home.root)
    store.put_filing(b"a large data set")  # left out: it can be fetched again
    store.name_documents()
    open_accounts = Accounts(home.root / "accounts.sqlite")  # as a running service: its writes stay in the WAL
    newest = open_accounts.create_key(EMAIL, 1)
    assert (home.root / "accounts.sqlite-wal").stat().st_size
    status, said = run(capsys, home, "backup", tmp_path / "backup")
    assert status == 0
    assert said.startswith(f"build {published(home.root).pointer.build}: ")
    open_accounts.close()

    status, said = run(capsys, empty, "restore", tmp_path / "backup")
    assert (status, said.endswith(f" into {empty.root}")) == (0, True)
    assert RawStore(empty.root).filing_files() == []
    before, after = answers(home, key), answers(empty, key)
    assert {path for path in PATHS if before[path][0] == 200} > {"/v1/companies/ALFA/financials", "/v1/companies/BRVO"}
    assert after == before
    assert answers(empty, newest)["/v1/companies"] == before["/v1/companies"]
    assert run(capsys, empty, "doctor", "--source", two_builds.source)[0] == 0
    done = sync(empty.root, two_builds.source)
    assert (done.returncode, "unchanged" in done.stdout) == (0, True), done.stderr
    assert published(empty.root).content_hash == published(home.root).content_hash


def test_a_backup_is_consistent_while_synchronizations_run(home, two_builds, empty, tmp_path, capsys, monkeypatch):
    """A build is published after a manifest was copied, and another in the midst of a build, whose files then go."""
    source = shutil.copytree(two_builds.source, tmp_path / "mirror")
    mirror, copy_file = Mirror(source, ALFA, BRAVO), backup.Copied.file
    moments = {"tables/facts/manifest.json": 160, "parquet-": 170}

    def interrupted(copied: backup.Copied, path: Path) -> Path:
        made = copy_file(copied, path)
        for moment in [moment for moment in moments if moment in str(path)]:
            mirror.hold(replace(ALFA, scale=moments.pop(moment)))
            assert sync_unrecorded(home.root, source).returncode == 0
            assert fundamentals.main(["builds", "prune"]) == 0
        return made

    monkeypatch.setattr(backup.Copied, "file", interrupted)
    assert run(capsys, home, "backup", tmp_path / "backup")[0] == 0
    assert not moments
    assert run(capsys, empty, "restore", tmp_path / "backup")[0] == 0
    assert run(capsys, empty, "doctor", "--source", source)[0] == 0
    assert published(empty.root).content_hash == published(home.root).content_hash
    done = sync_unrecorded(empty.root, source)
    assert (done.returncode, "unchanged" in done.stdout) == (0, True), done.stderr


@pytest.fixture
def backed_up(home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Path]:
    """A backup of the home."""
    assert run(capsys, home, "backup", tmp_path / "backup")[0] == 0
    return tmp_path / "backup"


def pipe(path: Path) -> None:
    """A named pipe in place of a file: whoever opens it would wait."""
    path.unlink()
    os.mkfifo(path)


DAMAGES: dict[str, tuple[str, Callable[[Path], object]]] = {
    "flipped": ("published/*.duckdb", lambda path: path.write_bytes(path.read_bytes()[:-1] + b"?")),
    "missing": ("published/*.duckdb", Path.unlink),
    "unfinished": ("backup.json", Path.unlink),
    "outside": ("backup.json", lambda path: rewritten(path.parent, files={"../elsewhere": "0"})),
    "newer": ("backup.json", lambda path: rewritten(path.parent, form=2)),
    "a pipe": ("published/*.duckdb", pipe),
    "a pipe as list": ("backup.json", pipe),
}
"""A file of a backup, and what happens to it."""


@pytest.mark.parametrize(("name", "damage"), DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_backup_changes_nothing(home, backed_up, capsys, name, damage):
    path = next(backed_up.glob(name))
    path.chmod(0o600)
    damage(path)
    before = {path: path.stat().st_ino for path in home.root.rglob("*")}
    status, said = run(capsys, home, "restore", backed_up, "--replace")
    assert (status, said.startswith(f"fundamentals: {backed_up}")) == (1, True), said
    assert {path: path.stat().st_ino for path in home.root.rglob("*")} == before


def rewritten(backed_up: Path, **changed: object) -> None:
    """Another list of a backup, with the digests that its files have."""
    listed = backed_up / "backup.json"
    listed.write_text(json.dumps(json.loads(listed.read_text()) | changed))


@pytest.mark.parametrize(
    "craft",
    [
        "link outside",
        "link of a folder",
        "link over a file",
        "no pointer",
        "NUL",
        "no build",
        "no segment",
        "a lock",
        "a link as file",
        "accounts",
    ],
)
def test_a_backup_that_somebody_made_up_changes_nothing(home, backed_up, tmp_path, capsys, craft):
    """One line is printed, and the home stays as it is, whatever the list names."""
    subscriber(home)
    contents = json.loads((backed_up / "backup.json").read_text())
    files, links = contents["files"], contents["links"]
    pointer = published(home.root).pointer
    (tmp_path / "secret").write_text("secret")
    match craft:
        case "link outside":
            rewritten(backed_up, links={**links, "published/quality-x.html": "../../secret"})
        case "link of a folder":
            rewritten(backed_up, links={**links, "raw": str(tmp_path)})
        case "link over a file":
            rewritten(backed_up, links={**links, f"published/{pointer.file}": "CURRENT.json"})
        case "no pointer":
            rewritten(backed_up, files={name: each for name, each in files.items() if "CURRENT" not in name})
        case "NUL":
            rewritten(backed_up, files={**files, "published/a\0b": "0" * 64})
        case "no build":
            rewritten(
                backed_up, files={name: each for name, each in files.items() if pointer.file not in name}, links={}
            )
        case "no segment":
            rewritten(backed_up, files={name: each for name, each in files.items() if "log/versions" not in name})
        case "a lock":
            rewritten(backed_up, files={**files, "synchronization.lock": digest_of(tmp_path / "secret")})
        case "a link as file":
            rewritten(backed_up, files={**files, "published/quality-x.html": digest_of(tmp_path / "secret")})
            (backed_up / "published" / "quality-x.html").symlink_to(tmp_path / "secret")
        case "accounts":
            (backed_up / "accounts.sqlite").write_text("no database")
            rewritten(backed_up, files={**files, "accounts.sqlite": digest_of(backed_up / "accounts.sqlite")})
    before = {path: path.lstat().st_ino for path in home.root.rglob("*") if "sqlite" not in path.name}
    status, said = run(capsys, home, "restore", backed_up, "--replace")
    assert (status, said.startswith(f"fundamentals: {backed_up}")) == (1, True), said
    assert {path: path.lstat().st_ino for path in home.root.rglob("*") if "sqlite" not in path.name} == before


def test_a_home_that_is_not_empty_is_replaced_only_if_told_so(home, backed_up, capsys):
    (home.published / "CURRENT.json").write_text("{")
    status, said = run(capsys, home, "restore", backed_up)
    assert (status, f"home {home.root} is not empty" in said) == (1, True)
    assert run(capsys, home, "restore", backed_up, "--replace")[0] == 0
    assert published(home.root).is_whole
    assert not list(home.root.glob(".re*"))


def test_damaged_accounts_are_restored_alone(home, backed_up, capsys):
    """Other files of the home stay; the damaged file is kept."""
    accounts = home.root / "accounts.sqlite"
    whole = (backed_up / "accounts.sqlite").read_bytes()
    accounts.write_bytes(b"no database")
    (home.root / "accounts.sqlite-wal").touch()
    pointer = (home.published / "CURRENT.json").read_bytes()
    status, said = run(capsys, home, "restore", backed_up, "--accounts")
    assert (status, said.endswith("The file before is accounts.sqlite.replaced")) == (0, True)
    assert accounts.read_bytes() == whole
    assert (home.root / "accounts.sqlite.replaced").read_bytes() == b"no database"
    assert not (home.root / "accounts.sqlite-wal").exists()
    assert (home.published / "CURRENT.json").read_bytes() == pointer
    assert run(capsys, home, "keys", "list", EMAIL)[0] == 0


def test_accounts_in_postgresql_are_neither_copied_nor_restored_and_the_commands_say_so(
    home, backed_up, tmp_path, capsys, monkeypatch
):
    monkeypatch.setenv("FUNDAMENTALS_ACCOUNTS_URL", "postgresql+psycopg://user:secret@127.0.0.1/fundamentals")
    status, said = run(capsys, home, "backup", tmp_path / "another")
    assert (status, said.endswith("not here: copy them with pg_dump.")) == (0, True)
    status, said = run(capsys, home, "restore", backed_up, "--accounts")
    assert (status, said.endswith("restore them with pg_restore")) == (1, True)
    assert "secret" not in said


def test_a_backup_without_accounts_cannot_restore_them(home, tmp_path, capsys):
    (home.root / "accounts.sqlite").unlink()
    assert run(capsys, home, "backup", tmp_path / "backup")[0] == 0
    status, said = run(capsys, home, "restore", tmp_path / "backup", "--accounts")
    assert (status, said.endswith("has no accounts")) == (1, True)


@pytest.mark.parametrize(
    ("damaged", "said"),
    [
        ("accounts.sqlite", "accounts.sqlite: "),
        ("log/versions-*", "the version log is damaged"),
        ("tables/listings.parquet", "table listings is damaged"),
        ("published/warehouse-*.duckdb", "is damaged; run `fundamentals sync`"),
        ("published/CURRENT.json", "nothing is published"),
    ],
)
def test_what_is_damaged_is_not_backed_up(home, tmp_path, capsys, damaged, said):
    """The attempt leaves no files."""
    for path in home.root.glob(damaged):
        path.chmod(0o600)
        path.write_bytes(path.read_bytes()[:-1] + b"?" if "sqlite" not in damaged else b"no database")
    status, line = run(capsys, home, "backup", tmp_path / "backup")
    assert (status, said in line) == (1, True), line
    assert not (tmp_path / "backup").exists()


def test_a_backup_has_a_new_folder_outside_of_the_home(home, tmp_path, capsys):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    assert "is not an empty folder" in run(capsys, home, "backup", tmp_path / "full")[1]
    assert "is in the home" in run(capsys, home, "backup", home.root / "backup")[1]


@pytest.mark.parametrize("arguments", [["--replace"], ["--accounts"]])
def test_nothing_is_restored_while_the_home_is_served(home, backed_up, capsys, arguments):
    with as_process(home.root):
        status, said = run(capsys, home, "restore", backed_up, *arguments)
        assert (status, said) == (1, f"fundamentals: home {home.root} is served; stop the service, and restore then")
    assert run(capsys, home, "restore", backed_up, *arguments)[0] == 0


def test_nothing_is_restored_while_a_synchronization_runs(home, backed_up, capsys):
    with home.writing():
        status, said = run(capsys, home, "restore", backed_up, "--replace")
    assert (status, "another synchronization is running" in said) == (1, True)
