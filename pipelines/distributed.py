"""One step of a synchronization on a machine of several: a checkout, the work, and a commit.

Belongs here: which files a step or a batch needs, handing on the parts that a batch made, and making sure that no other
run was committed between two steps. Does not: the steps (composition, batched), Dagster (graphs), Celery (broker), the
store itself (working_copy).

Each step works in a new folder, whose files are hard links to a cache of this machine. Its commit names the run, and is
refused if another run was committed since: so a step sees what the steps before it made, and nothing else. A batch
commits nothing, it only adds objects; so it does not matter if two workers do the same batch. A step has one process,
because those of Celery cannot start others.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property
from uuid import uuid4

import msgspec

from pipelines.batched import BATCHED
from pipelines.home import Home
from pipelines.lake import MANIFEST, Written, to_files
from pipelines.made import Made
from pipelines.stages.batches import Batch, Notes
from pipelines.stages.values import held_predecessors
from pipelines.synchronization import Log, Synchronization
from pipelines.tables import published_before
from pipelines.workers import ALONE
from pipelines.working_copy import WorkingCopy
from warehouse import runs
from warehouse.checkout import Wanted
from warehouse.pointer import Pointer
from warehouse.store import Content, StoreConflict, StoreError, opened, together

FIRST, LAST = "documents", "warehouse"
"""The step that begins from whatever is current, and the one after which the result of the run is known."""
OF_RESULT = ("published/runs.json", "tables/quarantine", "tables/documents/")
"""The files that the record of a result is made from, by how their paths begin."""
ATTEMPTS = 5
WORK = "work"
"""The folder below the home in which steps have their folders."""
LEFT = 24 * 3600.0
"""Seconds after which such a folder counts as left by a process that was lost."""


class Done(msgspec.Struct, frozen=True):
    """What a batch made: its parts are in the store; this is handed on as JSON.

    Attributes:
        number: of the batch.
        parts: by table, the content of the part, and its rows by company.
        notes: what its work reports.
    """

    number: int
    parts: dict[str, tuple[Content, dict[str, int]]]
    notes: Notes


class Here(Synchronization):
    """A synchronization in the folder of one step."""

    @cached_property
    def before(self) -> Pointer | None:
        """The pointer to the build that was published before."""
        return published_before(self.home.published)

    def record(self) -> None:
        """Add the run, which began with its first step, to the record beside the builds."""
        self._began = time.monotonic() - (datetime.now(UTC) - self.started_at).total_seconds()
        self._is_recorded = False
        self._record()


class Distributed(Synchronization):
    """A synchronization of which this process does one step; `started_at` is that of the run."""

    @contextmanager
    def running(
        self, wait: Callable[[str], object] | None = None, is_held_back: Callable[[], bool] = bool
    ) -> Iterator["Synchronization"]:
        """Prepare the home, which has the cache, and remove what lost processes left there.

        Nothing is locked, because the store decides.
        """
        self.home.prepare()
        for folder in (self.home.root / WORK).glob("*"):
            with suppress(OSError):  # another process may remove it at the same time
                if time.time() - folder.stat().st_mtime > LEFT:
                    shutil.rmtree(folder)
        yield self

    @contextmanager
    def of_step(self, name: str, *, commits: bool = True) -> Iterator[Synchronization]:
        """The synchronization in a checkout of everything, which is committed at the end of the `with` block.

        Raises:
            StoreConflict: another run was committed since the first step.
            StoreError, HomeError: the store cannot be used.
        """
        with self._folder(name) as (here, copy):
            self._checked_out(copy, is_first=name == FIRST)
            yield here
            has_result = here.result != runs.FAILED
            if has_result:
                here.record()
            if commits:
                copy.commit(self.sync_id, note=here.record if has_result else lambda: None)
            if name == LAST:
                with suppress(StoreError):  # the next publication removes them
                    copy.remove_unnamed()

    def ended(self, result: str) -> None:
        """Record the result of a run that does not publish, if the store can be used and has anything.

        HEAD may be of another run: of the one before, if the first step failed, or of one that took over. It keeps the
        name of that run, and everything else that it has; so that run goes on.
        """
        with suppress(StoreError, OSError), self._folder("result") as (here, copy):
            for attempt in range(ATTEMPTS):
                head = copy.checkout(lambda path: path.startswith(OF_RESULT))
                if head is None:
                    return
                here.result = result
                here.record()
                try:
                    copy.commit(head.run, note=here.record)
                except StoreConflict:  # a step of that run was committed meanwhile
                    if attempt == ATTEMPTS - 1:
                        raise
                else:
                    return

    def planned(self, step: str) -> list[Batch]:
        """The batches of a step."""
        with self.of_step(step, commits=False) as here:
            return list(BATCHED[step].plan(here).batches)

    def worked(self, step: str, number: int, batch: Batch) -> Done:
        """Do the work on a batch, and store the parts that it makes.

        Raises:
            StoreConflict: another run was committed since the first step.
            StoreError: the store cannot be used.
        """
        with self._folder(f"{step}-{number}") as (here, copy):
            tables = BATCHED[step].reads
            named = {
                "tables/listings.parquet",
                *(f"tables/{name}/{MANIFEST}" for name in tables),
                *(f"tables/{name}.parquet" for name in tables),
                *(f"log/{name}" for name in batch.segments),
            }
            self._checked_out(copy, named.__contains__)
            parts = _parts_of(here, tables, batch)
            copy.add(parts.__contains__)
            written, notes = to_files(BATCHED[step].task(here), here.lake, here.home.root / "made", (number, batch))
            found = {name: (copy.store.put_object(part.path), dict(part.rows)) for name, part in written.items()}
        return Done(number, found, notes)

    def collected(self, step: str, done: Sequence[Done], log: Log) -> Made:
        """Put the parts of all batches into the tables, and commit them."""
        in_order = sorted(done, key=lambda each: each.number)
        with self.of_step(step) as here, here.lake.gathering(step) as made:
            plan = BATCHED[step].plan(here)
            fetched = []
            for each in in_order:
                places = {name: made.place(name, each.number) for name in each.parts}
                fetched += [(each.parts[name][0].digest, place) for name, place in places.items()]
                made.take({name: Written(place, each.parts[name][1]) for name, place in places.items()})
            store = opened(os.environ.get("FUNDAMENTALS_STORE", ""))
            together(lambda one: store.fetch_object(*one), fetched)
            return BATCHED[step].collect(here, log, plan, made, [each.notes for each in in_order])

    @contextmanager
    def _folder(self, name: str) -> Iterator[tuple[Here, WorkingCopy]]:
        """A new folder for a step, which is removed at the end of the `with` block."""
        folder = self.home.root / WORK / f"{name}-{uuid4().hex}"
        home = Home(folder)
        home.prepare()
        here = Here(home, self.source, self.symbols, self.full, self.is_scheduled, self.started_at, ALONE)
        cache = self.home.root / "cache" / "objects"
        try:
            yield here, WorkingCopy(folder, opened(os.environ.get("FUNDAMENTALS_STORE", "")), cache)
        except StoreConflict as conflict:  # at the checkout or at the commit
            told = f"{conflict}; synchronize again, which goes on from there"
            raise StoreConflict(told, conflict.winner) from None
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _checked_out(self, copy: WorkingCopy, wanted: Wanted = lambda _: True, *, is_first: bool = False) -> None:
        """Check out files, if the run still holds HEAD.

        Raises:
            StoreConflict: another run was committed since the first step.
            StoreError: nothing is committed at all.
        """
        head = copy.checkout(wanted)
        if is_first:
            return
        if head is None or copy.held is None:
            raise StoreError(f"{copy.store.address}: nothing of this run is there any more; synchronize again")
        if head.run != self.sync_id:
            raise StoreConflict(
                f"run {head.run} was committed to {copy.store.address} at {head.written_at:%Y-%m-%dT%H:%M:%SZ}, "
                "while this one was running",
                copy.held,
            )


def _parts_of(here: Synchronization, tables: Sequence[str], batch: Batch) -> set[str]:
    """The paths of the parts with the rows of the companies of a batch and of their predecessors.

    The first part of each table has its columns, if no part has rows of them.
    """
    lake = here.lake
    earlier = held_predecessors(lake)
    filers = {filer for cik in batch.ciks for filer in (cik, *earlier.get(cik, ()))}
    found: set[str] = set()
    for name in tables:
        manifest = lake.manifest(name)
        parts = [*manifest.by_part(filers), *list(manifest.parts)[:1]]
        found |= {f"tables/{name}/{part}" for part in parts}
    return found
