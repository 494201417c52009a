"""The command `fundamentals restore`: a home from a backup, or only its accounts.

Belongs here: verifying a backup, and putting its files in place. Does not: making one (backup).

All files are verified while they are copied into a folder of the home, and only then put in place: a damaged backup
changes nothing. The published build comes last. If the command is killed before it ends, it has to be run again with
`--replace`.
"""

import os
import shutil
from pathlib import Path

import msgspec

from pipelines.backup import ACCOUNTS, FORM, LIST, BackupError, Contents, digest_while_copying
from pipelines.home import LOCK, Home
from warehouse.files import OTHERS, SERVED, locked
from warehouse.publish import readable

INCOMING, REPLACED = ".restoring", ".replaced"
DAMAGED = f"{ACCOUNTS}.replaced"
BESIDE = ("-wal", "-shm")
"""Ends of the names of the files that SQLite keeps beside a database."""


def main(source: Path, *, replace: bool = False, only_accounts: bool = False) -> str:
    """Restore the home that FUNDAMENTALS_HOME names from a backup.

    Args:
        source: the folder of the backup.
        replace: replace a home that is not empty.
        only_accounts: replace the accounts only, and keep the file before under another name.

    Returns:
        what to print.

    Raises:
        BackupError: there is no whole backup, the home is not empty, or a service runs; nothing was changed. Or a file
            cannot be written.
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
        with home.writing(), locked(home.root / SERVED) as is_free:
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
        contents = msgspec.json.decode(path.read_bytes(), type=Contents)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BackupError(f"{path}: {error}; this is no complete backup, take another one") from error
    if contents.form != FORM:
        raise BackupError(f"{path}: form {contents.form}, expected {FORM}; use the program that made the backup")
    inside = [name for name in (*contents.files, *contents.links) if _is_inside(name)]
    if len(inside) < len(contents.files) + len(contents.links):
        raise BackupError(f"{path}: names files outside of the backup; take another one")
    return contents


def _is_inside(name: str) -> bool:
    return not Path(name).is_absolute() and ".." not in Path(name).parts


def _copy(source: Path, contents: Contents, to: Path) -> None:
    """Copy all files of a backup into a new folder, and verify them."""
    shutil.rmtree(to, ignore_errors=True)
    try:
        for name, digest in contents.files.items():
            _copy_file(source / name, to / name, digest)
        for name, target in contents.links.items():
            (to / name).symlink_to(target)
    except BaseException:
        shutil.rmtree(to, ignore_errors=True)
        raise


def _copy_file(path: Path, to: Path, digest: str) -> None:
    to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        is_whole = digest_while_copying(path, to) == digest
    except FileNotFoundError:
        is_whole = False
    if not is_whole:
        raise BackupError(f"{path} is damaged or missing; nothing was changed, take another backup")
    to.chmod(path.stat().st_mode & ~OTHERS & 0o777)


def _put_in_place(home: Home) -> None:
    """Replace what is in the home by what was copied, the published build last."""
    incoming, replaced = home.root / INCOMING, home.root / REPLACED
    replaced.mkdir(exist_ok=True)
    for path in home.root.iterdir():
        if path.name not in (INCOMING, REPLACED, LOCK, SERVED):
            path.rename(replaced / path.name)
    for path in sorted(incoming.iterdir(), key=lambda path: (path == incoming / home.published.name, path.name)):
        path.rename(home.root / path.name)
    incoming.rmdir()
    shutil.rmtree(replaced)
    home.prepare()
    assert readable(home.published), "a backup has a build"


def _accounts_restored(source: Path, contents: Contents, home: Home) -> str:
    """Replace the accounts."""
    incoming, accounts = home.root / f".{ACCOUNTS}", home.root / ACCOUNTS
    _copy_file(source / ACCOUNTS, incoming, contents.files[ACCOUNTS])
    if accounts.exists():
        accounts.replace(home.root / DAMAGED)
    for end in BESIDE:
        accounts.with_name(accounts.name + end).unlink(missing_ok=True)
    incoming.rename(accounts)
    return f"restored the accounts of {contents.made_at}; start the service again. The file before is {DAMAGED}"
