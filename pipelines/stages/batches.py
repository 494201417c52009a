"""Batches of companies: what a stage has to do, divided so that processes and machines can share it.

Belongs here: batches, their size, and the digests by which a stage knows what is done. Does not: what a stage makes
of a batch (facts, values, versions), where its rows go (lake), who works on it (workers).
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from typing import Any, NamedTuple

import msgspec
import polars as pl

from pipelines.code_digest import digest_of, kept_for
from pipelines.errors import PipelineError
from pipelines.loading import loading
from pipelines.progress import report
from pipelines.stages.isolation import Fault, isolated
from pipelines.storage.lake import Batches, Lake
from pipelines.workers import Workers

BATCH = 125
"""Companies that a process works on at a time: enough rows for columnar operations to be fast, few enough for memory.

More companies are shared by worker processes (FUNDAMENTALS_PROCESSES), or by machines (FUNDAMENTALS_CLUSTER)."""
SETTING = "FUNDAMENTALS_BATCH"
DIGITS = 64
"""Digits of a digest."""


class BatchError(PipelineError):
    """The setting of the size of batches is wrong."""


class Batch(msgspec.Struct, frozen=True):
    """Some companies, and what a stage has to know of them; as JSON it goes to another machine.

    Attributes:
        ciks: the companies.
        documents: stage facts: the digest of the document of each.
        accepted: stage facts: those whose document the operator has accepted, whatever it lacks.
        predecessors: stage values: the possible predecessors of those that have any, the nearest first.
        compared: stage values: those that are held back if their values would be withdrawn: all, or with the same
            rules as before many. Not those of which only what is read of their filings is new.
        same_rules: stage values: those whose rows were made by the same rules.
        withdrawing: stage values: those that are held back since an earlier run, whatever is new.
        filed: stage values: the endings of the tables that have what their filings state; none: companyfacts alone.
        reread: stages values and versions: those of whose filings something else is read than before, by equal rules.
        same_documents: of these, those whose companyfacts and submissions documents have not changed.
        segments: stage versions: the segments of the log that have versions of them, in the order of recording.
    """

    ciks: tuple[str, ...]
    documents: dict[str, str] = {}
    accepted: tuple[str, ...] = ()
    predecessors: dict[str, list[str]] = {}
    compared: tuple[str, ...] = ()
    same_rules: tuple[str, ...] = ()
    withdrawing: tuple[str, ...] = ()
    filed: tuple[str, ...] = ()
    reread: tuple[str, ...] = ()
    same_documents: tuple[str, ...] = ()
    segments: tuple[str, ...] = ()

    def of(self, ciks: tuple[str, ...]) -> "Batch":
        """The batch with some of its companies only."""
        documents = {cik: self.documents[cik] for cik in ciks if cik in self.documents}
        predecessors = {cik: self.predecessors[cik] for cik in ciks if cik in self.predecessors}
        return msgspec.structs.replace(self, ciks=ciks, documents=documents, predecessors=predecessors)


StepNote = tuple[str, int, float]
"""A step of the rules, its rows and its seconds."""
Notes = Any
"""What the work on a batch reports besides rows: lists, texts and numbers, as JSON has them."""
Task = Callable[[Batch], tuple[Mapping[str, pl.DataFrame], Notes]]
"""Makes rows, by table, and notes of a batch; picklable."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a stage has to do.

    Attributes:
        batches: the companies; a table without rows gets its columns from an empty batch, and without any batch there
            is nothing to do.
        to_do: for each company the digest of what its rows are made from, to be stored with the rows.
    """

    batches: Sequence[Batch]
    to_do: Mapping[str, str]


def processed(stage: str, plan: Plan, task: Task, output: Batches, workers: Workers) -> tuple[list[Notes], list[Fault]]:
    """Work on all batches of a stage, and report its progress; companies that cannot be processed are left out.

    Args:
        stage: its name.
        plan: the batches.
        task: what makes rows of a batch.
        output: where the rows go.
        workers: the processes that share the batches.

    Returns:
        the notes on each batch, or on each part of one that failed; and the faults.
    """
    notes: list[Notes] = []
    faults: list[Fault] = []
    done, total = 0, sum(len(batch.ciks) for batch in plan.batches)
    report(stage, 0, total)
    filled = output.fill(workers, partial(isolated, f"stage {stage}", task), plan.batches)
    for batch, (noted, found) in zip(plan.batches, filled, strict=True):
        notes += noted
        faults += found
        done += len(batch.ciks)
        report(stage, done, total)
    return notes, faults


def in_batches(ciks: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """The companies in batches; without companies one that is empty, so that a table always gets its columns.

    Raises:
        BatchError: the setting of the size is wrong.
    """
    rest, size = iter(ciks), _size()
    batch = tuple(islice(rest, size))
    yield batch
    while batch := tuple(islice(rest, size)):
        yield batch


def _size() -> int:
    """The number of companies in a batch."""
    setting = os.environ.get("FUNDAMENTALS_BATCH", "")
    if setting and not (setting.isascii() and setting.isdigit() and int(setting) > 0):
        raise BatchError(f"{SETTING} is {setting!r}, expected the number of companies in a batch, 1 or more")
    return int(setting) if setting else BATCH


def outdated(
    lake: Lake, table: str, documents: pl.DataFrame, column: str, again: Iterable[str], code: str = ""
) -> dict[str, str]:
    """The digest of the document of each company to process: its rows are not made from it, or `again` names it."""
    known, chosen = lake.inputs(table), set(again)
    held = documents.select("cik", column).drop_nulls().sort("cik").iter_rows()
    return {
        cik: digest
        for cik, digest in held
        if cik in chosen or known.get(cik) != (joined(digest, code) if code else digest)
    }


class MadeFrom(NamedTuple):
    """What the values of a company are made from: three digests, and as text one after the other.

    Attributes:
        rules: the rules.
        documents: companyfacts and submissions, also those of predecessors.
        filings: what is read of the filings themselves; empty if nothing is.
    """

    rules: str
    documents: str
    filings: str

    def __str__(self) -> str:
        """The three digests as one."""
        return "".join(self)

    @classmethod
    def read(cls, text: str) -> "MadeFrom":
        """The three digests of such a text; of another one no rules are equal."""
        return cls(text[:DIGITS], text[DIGITS : 2 * DIGITS], text[2 * DIGITS :])

    def is_reread(self, before: "MadeFrom") -> bool:
        """Whether something else is read of the filings than before, by the same rules."""
        return self.rules == before.rules and self.filings != before.filings


def joined(*digests: str) -> str:
    """One digest of several."""
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


@cache
def elements_digest() -> str:
    """A digest of the elements that are read from the documents."""
    return kept_for("pipelines.normalize.elements", _digest_of_elements)


def _digest_of_elements() -> str:
    with loading():
        from pipelines.normalize.elements import wanted_elements
    return joined(*sorted(f"{taxonomy}:{tag}" for taxonomy, tags in wanted_elements().items() for tag in tags))


@cache
def rules_digest() -> str:
    """A digest of the rules and of what they import: when it changes, all values are computed again."""
    return digest_of("pipelines.normalize")
