"""Batches of companies: the work of a stage, divided so that processes and machines can share it.

Belongs here: batches, their size, and the digests that show which companies are up to date. Does not: the rows of a
batch (facts, values, versions), storing them (lake), sharing the work (workers).
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
import polars as pl

from pipelines.code_digest import digest_of, kept_for
from pipelines.errors import PipelineError
from pipelines.loading import loading
from pipelines.progress import report
from pipelines.stages.batch.isolation import Fault, isolated
from pipelines.storage.lake import Batches, Lake
from pipelines.workers import Workers

BATCH = 125
"""The number of companies that a process works on at a time: enough rows for fast columnar operations, few enough for
memory.

More companies are shared by worker processes (FUNDAMENTALS_PROCESSES), or by machines (FUNDAMENTALS_CLUSTER)."""
FACTS = 250_000
"""The most facts that the rules process at a time. They take some 2 KB of memory each, and larger batches save no
processor time."""
NONE_COUNTED: Mapping[str, int] = MappingProxyType({})
"""The facts of companies, where their number does not matter."""
SETTING = "FUNDAMENTALS_BATCH"
DIGITS = 64
"""Digits of a digest."""


class BatchError(PipelineError):
    """The setting of the size of batches is wrong."""


class Batch(msgspec.Struct, frozen=True):
    """A batch of companies, with the information that a stage needs about them; as JSON it is sent to other machines.

    Attributes:
        ciks: the companies.
        documents: stage facts: the digest of the document of each.
        accepted: stage facts: the companies whose document the operator has accepted, even if it lacks earlier facts.
        predecessors: stage values: the possible predecessors of each company that has some, the nearest first.
        compared: stage values: the companies that are held back if all their values would be withdrawn, or, with the
            same rules as before, many of them. Companies are left out if only the rows of their filings are new.
        same_rules: stage values: the companies whose stored rows were made by the same rules.
        withdrawing: stage values: the companies that an earlier run held back.
        table_endings: stage values: the endings of the names of the tables with rows of their filings; empty:
            companyfacts alone.
        reread: stages values and versions: the companies whose filings have other rows than before, under the same
            rules.
        same_documents: the companies in `reread` whose companyfacts and submissions documents have not changed.
        segments: stage versions: the segments of the log with versions of the companies, in the order of recording.
    """

    ciks: tuple[str, ...]
    documents: dict[str, str] = {}
    accepted: tuple[str, ...] = ()
    predecessors: dict[str, list[str]] = {}
    compared: tuple[str, ...] = ()
    same_rules: tuple[str, ...] = ()
    withdrawing: tuple[str, ...] = ()
    table_endings: tuple[str, ...] = ()
    reread: tuple[str, ...] = ()
    same_documents: tuple[str, ...] = ()
    segments: tuple[str, ...] = ()

    def of(self, ciks: tuple[str, ...]) -> "Batch":
        """The batch with only these companies."""
        documents = {cik: self.documents[cik] for cik in ciks if cik in self.documents}
        predecessors = {cik: self.predecessors[cik] for cik in ciks if cik in self.predecessors}
        return msgspec.structs.replace(self, ciks=ciks, documents=documents, predecessors=predecessors)


StepNote = tuple[str, int, float]
"""A step of the rules: its name, its rows and its seconds."""
Notes = Any
"""The report on a batch besides its rows: lists, texts and numbers, as in JSON."""
Task = Callable[[Batch], tuple[Mapping[str, pl.DataFrame], Notes]]
"""A picklable function that makes the rows of a batch, by table, and its notes."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The work that a stage has to do.

    Attributes:
        batches: the companies in batches. A table without rows gets its columns from an empty batch; without any batch,
            the stage has nothing to do.
        to_do: for each company the digest of the inputs of its rows, which is stored with the rows.
    """

    batches: Sequence[Batch]
    to_do: Mapping[str, str]


def processed(stage: str, plan: Plan, task: Task, output: Batches, workers: Workers) -> tuple[list[Notes], list[Fault]]:
    """Work on all batches of a stage, and report its progress; companies that cannot be processed are left out.

    Args:
        stage: the name of the stage.
        plan: the batches.
        task: makes the rows of a batch.
        output: receives the rows.
        workers: the processes that share the batches.

    Returns:
        the notes on each batch, or on each part of a batch that failed; and the faults.
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


def in_batches(ciks: Iterable[str], rows: Mapping[str, int] = NONE_COUNTED) -> Iterator[tuple[str, ...]]:
    """Divide companies into batches; without companies, yield one empty batch, so that a table always gets its columns.

    Args:
        ciks: the companies.
        rows: the number of facts of each, where they decide how much memory a batch takes: the companies of a batch
            have at most FACTS facts, or are one company.

    Raises:
        BatchError: the setting of the size is wrong.
    """
    batch: list[str] = []
    size, held = _size(), 0
    for cik in ciks:
        held += rows.get(cik, 0)
        if batch and (len(batch) == size or held > FACTS):
            yield tuple(batch)
            batch, held = [], rows.get(cik, 0)
        batch.append(cik)
    yield tuple(batch)


def _size() -> int:
    """The number of companies in a batch."""
    setting = os.environ.get("FUNDAMENTALS_BATCH", "")
    if setting and not (setting.isascii() and setting.isdigit() and int(setting) > 0):
        raise BatchError(f"{SETTING} is {setting!r}, expected the number of companies in a batch, 1 or more")
    return int(setting) if setting else BATCH


def digests_of_outdated(
    lake: Lake, table: str, documents: pl.DataFrame, column: str, again: Iterable[str], code: str = ""
) -> dict[str, str]:
    """The digest of the document of each company to process, by company: its rows were made from another document, or
    `again` names it."""
    known, chosen = lake.inputs(table), set(again)
    held = documents.select("cik", column).drop_nulls().sort("cik").iter_rows()
    return {
        cik: digest
        for cik, digest in held
        if cik in chosen or known.get(cik) != (joined(digest, code) if code else digest)
    }


class InputDigests(NamedTuple):
    """The inputs of the values of a company, as three digests; as text, the digests follow each other.

    Attributes:
        rules: of the rules.
        documents: of companyfacts and submissions, also of predecessors.
        filings: of the rows of the filings themselves; empty without rows.
    """

    rules: str
    documents: str
    filings: str

    def __str__(self) -> str:
        """The three digests as one text."""
        return "".join(self)

    @classmethod
    def read(cls, text: str) -> "InputDigests":
        """Split a text of three digests; another text gives a `rules` that equals no digest."""
        return cls(text[:DIGITS], text[DIGITS : 2 * DIGITS], text[2 * DIGITS :])

    def is_reread(self, before: "InputDigests") -> bool:
        """Whether the filings have other rows than before, under the same rules."""
        return self.rules == before.rules and self.filings != before.filings


def joined(*digests: str) -> str:
    """Combine several digests to one."""
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
    """A digest of the rules and of the modules that they import: when it changes, all values are computed again."""
    return digest_of("pipelines.normalize")
