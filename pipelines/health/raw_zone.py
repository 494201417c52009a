"""Checks the raw zone: each document matches the digest in its name, and all documents in use are stored.

Belongs here: reading all documents. Does not: requesting them again (edgar.fetch.extract).
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from pipelines.edgar.errors import CorruptError, RawStoreError
from pipelines.edgar.fetch.raw_store import Documents, RawStore
from pipelines.storage.home import Home
from warehouse.contract.findings import DAMAGE, WARNING, WELL, Finding


def check(home: Home, *, quick: bool) -> Iterator[Finding]:
    """Check all documents; with `quick`, only whether the documents in use are stored."""
    try:
        store = RawStore(home.root)
    except RawStoreError as error:
        path = home.root / "raw" / "seen.jsonl"
        advice = f"delete {path}: the next synchronization requests every document again"
        yield Finding("raw zone", DAMAGE, str(error).partition(";")[0], advice, partial(_remove, [path]))
        return
    used = {digest for seen in store.all_seen() for digest in seen.digests}
    missing = sorted(digest for digest in used if not store.has(digest))
    stored, of_filings = sorted(store.root.glob("??/*.json.zst")), store.filing_files()
    broken, broken_filings = ([], []) if quick else (_broken(store, stored), _broken(store, of_filings))
    in_use = [path for path in broken if _digest(path) in used]
    superseded = [path for path in broken if _digest(path) not in used]
    if in_use:
        text = f"{len(in_use):,} documents are damaged, such as {in_use[0]}"
        advice = "delete these files; `fundamentals sync --full` fetches the documents again"
        yield Finding("raw zone", DAMAGE, text, advice, partial(_remove, in_use))
    if missing:
        text = f"{len(missing):,} documents in use are not stored, such as {store.path(missing[0])}"
        yield Finding("raw zone", WARNING, text, "`fundamentals sync --full` fetches them again")
    if superseded:
        text = f"{len(superseded):,} documents that newer ones replaced are damaged, such as {superseded[0]}"
        advice = "restore them from a backup, or delete them: nothing reads them, and no source has them any more"
        yield Finding("raw zone", WARNING, text, advice)
    if broken_filings:
        text = f"{len(broken_filings):,} documents of filings are damaged, such as {broken_filings[0]}"
        advice = "delete these files; `fundamentals sync` fetches them again"
        yield Finding("raw zone", DAMAGE, text, advice, partial(_remove, broken_filings, "sync"))
    if not broken and not missing and not broken_filings:
        more = f" and {len(of_filings):,} of filings" if of_filings else ""
        yield Finding("raw zone", WELL, f"{len(stored):,} documents{more}{', not read' if quick else ''}")


def _digest(path: Path) -> str:
    return path.name.partition(".")[0]


def _broken(store: Documents, stored: Sequence[Path]) -> list[Path]:
    """The files whose content does not match the digest in their names."""
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        are_whole = threads.map(lambda path: _is_whole(store, _digest(path)), stored)
        return [path for path, is_whole in zip(stored, are_whole, strict=True) if not is_whole]


def _is_whole(store: Documents, digest: str) -> bool:
    try:
        store.get(digest)
    except CorruptError:
        return False
    return True


def _remove(paths: Sequence[Path], command: str = "sync --full") -> str:
    for path in paths:
        path.unlink(missing_ok=True)
    return f"removed {len(paths):,} damaged files, which `fundamentals {command}` fetches again"
