"""The command `fundamentals restore`: restores a home, or only its accounts, from a backup.

Belongs here: verifying a backup, and moving its files into the home. Does not: making a backup (backup).

All files are verified while they are copied into a folder of the home; then the build, the version log and the accounts
are verified. Only then the files are moved into place, so a damaged backup changes nothing, and neither does a forged
backup with files that no home has. The published build is moved last. If the command is killed before its end, it has
to be run again with `--replace`.
"""

import os
import shutil
from pathlib import Path

import msgspec

from pipelines.admin.backup import ACCOUNTS, FORM, LIST, BackupError, Contents, digest_while_copying
from pipelines.storage.home import LOCK, MARKER, Home
from warehouse.build.digest import has_digest
from warehouse.build.pointer import copies_of, current
from warehouse.errors import BuildUnreadable
from warehouse.files import OTHERS, SERVING_LOCK, locked
from warehouse.record import sqlite

PUBLISHED = "published"
FILES, FOLDERS = (ACCOUNTS, MARKER), ("tables", "log", PUBLISHED, "raw", "dagster")
"""The files of a home that a backup may have, and the folders in which it may have any files."""
INCOMING, REPLACED = ".restoring", ".replaced"
DAMAGED = f"{ACCOUNTS}.replaced"
BESIDE = ("-wal", "-shm")
"""The endings of the names of further files that SQLite keeps for a database."""


def main(source: Path, *, replace: bool = False, only_accounts: bool = False) -> str:
    """Restore the home that FUNDAMENTALS_HOME names from a backup.

    Args:
        source: the folder of the backup.
        replace: replace a home that is not empty.
        only_accounts: replace the accounts only, and keep the earlier file under another name.

    Returns:
        the message to print.

    Raises:
        BackupError: the backup is missing or damaged, the home is not empty, or a service runs: then nothing was
            changed. Or a file cannot be written.
        HomeError: a synchronization is running, or the home cannot be written.
    """
    contents, home = _contents(source), Home.from_environment()
    if not only_accounts and not replace and home.root.exists() and any(home.root.iterdir()):
        raise BackupError(
            f"home {home.root} is not empty; restore into another one (FUNDAMENTALS_HOME), or replace it with --replace"
        )
    if only_accounts and os.environ.get("FUNDAMENTALS_ACCOUNTS_URL"):
        raise BackupError("the accounts are in PostgreSQL (FUNDAMENTALS_ACCOUNTS_URL): restore them with pg_restore")
    if only_accounts and ACCOUNTS not in contents.files:
        raise BackupError(f"{source} has no accounts")
    try:
        home.prepare()
        with home.writing(), locked(home.root / SERVING_LOCK) as is_free:
            if not is_free:
                raise BackupError(f"home {home.root} is served; stop the service, and restore then")
            if only_accounts:
                return _accounts_restored(source, contents, home)
            _copy(source, contents, home.root / INCOMING)
            _put_in_place(home)
    except OSError as error:
        raise BackupError(f"home {home.root}: {error}; correct that, and restore again with --replace") from error
    return f"restored build {contents.build} from the backup of {contents.made_at} into {home.root}"


def _contents(source: Path) -> Contents:
    """The list of the files of a backup."""
    path = source / LIST
    try:
        if path.exists() and not path.is_file():
            raise BackupError(f"{path} is no file; this is no complete backup, take another one")
        contents = msgspec.json.decode(path.read_bytes(), type=Contents)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BackupError(f"{path}: {error}; this is no complete backup, take another one") from error
    if contents.form != FORM:
        raise BackupError(f"{path}: form {contents.form}, expected {FORM}; use the program that made the backup")
    if wrong := [name for name in contents.files if not _is_of_a_home(name)]:
        raise BackupError(f"{path}: names {wrong[0]!r}, which no backup has; take another one")
    if wrong := [name for name, target in contents.links.items() if not _is_link(name, target, contents)]:
        raise BackupError(f"{path}: names the link {wrong[0]!r}, which no backup has; take another one")
    return contents


def _is_of_a_home(name: str) -> bool:
    folder, *names = name.split("/")
    in_folder = folder in FOLDERS and names and not {"", ".", ".."} & {*names}
    return name in FILES or (bool(in_folder) and "\0" not in name)


def _is_link(name: str, target: str, contents: Contents) -> bool:
    """Whether a link is in the folder of builds, and its target is in the same folder and in the backup."""
    published, _, own = name.partition("/")
    places = [Path(each) for each in contents.files]
    is_new = own not in ("", ".", "..") and not any(Path(name) in (place, *place.parents) for place in places)
    to = Path(published, target)
    is_there = any(to in (place, *place.parents) for place in places)
    return published == PUBLISHED and "/" not in own + target and "\0" not in own and is_new and is_there


def _copy(source: Path, contents: Contents, to: Path) -> None:
    """Copy all files of a backup into a new folder, and verify them."""
    shutil.rmtree(to, ignore_errors=True)
    try:
        for name, digest in contents.files.items():
            _copy_file(source / name, to / name, digest)
        for name, target in contents.links.items():
            (to / name).symlink_to(target)
        if said := _problem(Home(to)):
            raise BackupError(f"{source}: {said}; nothing was changed, take another backup")
    except BaseException:
        shutil.rmtree(to, ignore_errors=True)
        raise


def _copy_file(path: Path, to: Path, digest: str) -> None:
    to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        if path.resolve() != path.parent.resolve() / path.name:
            raise BackupError(f"{path} is a link, which no backup has; nothing was changed, take another backup")
        is_whole = path.is_file() and digest_while_copying(path, to) == digest  # reading a pipe would never end
    except (FileNotFoundError, IsADirectoryError):
        is_whole = False
    if not is_whole:
        raise BackupError(f"{path} is damaged or missing; nothing was changed, take another backup")
    to.chmod(path.stat().st_mode & ~OTHERS & 0o777)


def _problem(home: Home) -> str:
    """The problem of a copied home whose files match the list; empty without a problem."""
    try:
        pointer = current(home.published)
    except BuildUnreadable as error:
        return str(error).rpartition("; ")[0]
    if pointer is None:
        return "there is no published build"
    of_build = (pointer.file, f"{copies_of(pointer.file)}/", pointer.synchronized_file)
    needed = [home.published / each for each in of_build] + [home.log / each for each in pointer.log]
    if missing := [path for path in needed if not path.exists()]:
        return f"{missing[0].relative_to(home.root)} of build {pointer.build} is missing"
    if pointer.digest and not has_digest(home.published, pointer):
        return f"build {pointer.build} is not as it was published"
    return _problem_of_accounts(home.root / ACCOUNTS)


def _problem_of_accounts(accounts: Path) -> str:
    said = sqlite.damage(accounts, refers=True) if accounts.exists() else ""
    return f"{ACCOUNTS}: {said}" if said else ""


def _put_in_place(home: Home) -> None:
    """Replace the contents of the home by the copies, the published build last."""
    incoming, replaced = home.root / INCOMING, home.root / REPLACED
    replaced.mkdir(exist_ok=True)
    for path in home.root.iterdir():
        if path.name not in (INCOMING, REPLACED, LOCK, SERVING_LOCK):
            path.rename(replaced / path.name)
    for path in sorted(incoming.iterdir(), key=lambda path: (path == incoming / home.published.name, path.name)):
        path.rename(home.root / path.name)
    incoming.rmdir()
    shutil.rmtree(replaced)
    home.prepare()


def _accounts_restored(source: Path, contents: Contents, home: Home) -> str:
    """Replace the accounts."""
    incoming, accounts = home.root / f".{ACCOUNTS}", home.root / ACCOUNTS
    try:
        _copy_file(source / ACCOUNTS, incoming, contents.files[ACCOUNTS])
        if said := _problem_of_accounts(incoming):
            raise BackupError(f"{source}/{said.replace(incoming.name, ACCOUNTS)}; nothing was changed")
    except BackupError:
        incoming.unlink(missing_ok=True)
        raise
    if accounts.exists():
        accounts.replace(home.root / DAMAGED)
    for end in BESIDE:
        accounts.with_name(accounts.name + end).unlink(missing_ok=True)
    incoming.rename(accounts)
    return f"restored the accounts of {contents.made_at}; start the service again. The file before is {DAMAGED}"
