"""Checks the store: it has all objects that HEAD names, and the home agrees with it.

Belongs here: comparing HEAD with the list of stored objects and documents, and with the local files; storing missing
objects again. Does not: requests to the store (warehouse.shared.store), the list of shared files (shared_home).
"""

import os
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from pipelines.edgar.fetch.raw_store import Documents, digests_in
from pipelines.shared.shared_home import SEEN, of_home
from pipelines.storage.home import Home
from warehouse.contract.findings import DAMAGE, WARNING, WELL, Finding
from warehouse.shared.checkout import Folder
from warehouse.shared.store import Content, Store, StoreError, together


def is_used() -> bool:
    """Whether FUNDAMENTALS_STORE is set."""
    return bool(os.environ.get("FUNDAMENTALS_STORE"))


def check(home: Home, *, quick: bool) -> Iterator[Finding]:
    """Check HEAD, the objects that it names, the documents in use, and the local files; with `quick`, only HEAD."""
    try:
        copy = of_home(home)
        assert copy, "FUNDAMENTALS_STORE is set"
        held = copy.store.head()
        if held is None:
            yield Finding("store", WARNING, f"{copy.store.address} is empty", "`fundamentals sync` stores this home")
            return
        text = f"run {held.head.run} of {held.head.written_at:%Y-%m-%dT%H:%M:%SZ}: {len(held.head.files):,} files"
        if quick:
            yield Finding("store", WELL, f"{text}, not examined")
            return
        stored = copy.store.stored_objects()
        contents = {each.digest: each for each in held.head.files.values()}
        lost = {digest: each for digest, each in contents.items() if stored.get(digest) != each.size}
        documents = _lost_documents(home, copy.store, held.head.files)
    except StoreError as error:
        said, _, advice = str(error).partition("; ")
        yield Finding("store", DAMAGE, said, advice)
        return
    if lost:
        digest = min(lost)
        yield Finding(
            "store",
            DAMAGE,
            f"{len(lost):,} objects that HEAD names are missing or have another size, such as {digest}",
            "examine the homes of all machines: one that has these files stores them again",
            partial(_stored_again, home, copy.store, held.head.files, lost),
        )
    if documents:
        yield Finding(
            "store",
            WARNING,
            f"{len(documents):,} documents in use are not in the store, such as {min(documents)}",
            "examine the homes of all machines; `fundamentals sync --full` fetches them again",
            partial(_documents_stored_again, home, copy.store, documents),
        )
    if not lost and not documents:
        yield Finding("store", WELL, text)
    if differing := copy.differing():
        text = f"{len(differing):,} files of this home differ from the store, such as {differing[0]}"
        yield Finding("store", WELL, f"{text}: the next synchronization takes over those of the store")


def _lost_documents(home: Home, store: Store, files: Mapping[str, Content]) -> set[str]:
    """The documents in use that the store lacks."""
    if SEEN not in files:
        return set()
    place = home.root / ".seen.jsonl.there"
    try:
        return digests_in(store.fetch_object(files[SEEN].digest, place)) - store.stored_documents()
    finally:
        place.unlink(missing_ok=True)


def _stored_again(home: Home, store: Store, files: Mapping[str, Content], lost: Mapping[str, Content]) -> str:
    """Store lost objects again, as far as this home has them."""
    wanted = [path for path, content in files.items() if content.digest in lost]
    found = Folder(home.root, store).contents(wanted)
    here = {content: home.root / path for path, content in found.items() if content.digest in lost}
    together(lambda each: store.put_content(*each), here.items())
    return f"stored {len(here):,} of {len(lost):,} objects again"


def _documents_stored_again(home: Home, store: Store, lost: set[str]) -> str:
    """Store lost documents again, as far as this home has them."""
    paths: dict[str, Path] = {each: Documents(home.root).path(each) for each in lost}
    here = {digest: path for digest, path in paths.items() if path.exists()}
    together(lambda each: store.put_document(*each), here.items())
    return f"stored {len(here):,} of {len(lost):,} documents again"
