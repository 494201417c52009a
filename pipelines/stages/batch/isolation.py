"""Isolation: a company that cannot be processed is left out of its batch, and the other companies go on.

Belongs here: finding the companies that make a batch fail. Does not: holding them back (quarantine), rows that may not
be published (tables.row_gates).
"""

import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

import polars as pl

from pipelines.errors import PipelineError
from warehouse.errors import WarehouseError

OF_THE_MACHINE = (PipelineError, WarehouseError, OSError, MemoryError)
"""Errors of files, settings and memory. No company causes them, so they end the run."""
SHOWN = 300
"""The number of characters of an error message that a reason quotes."""
PROJECT = Path(__file__).parents[3]


class Fault(NamedTuple):
    """A problem that holds a company back: its published rows stay as they were.

    Attributes:
        cik: the company.
        place: the stage or the gate that found it.
        reason: the problem, with the value.
    """

    cik: str
    place: str
    reason: str


class Several(Protocol):
    """Companies that are processed together."""

    @property
    def ciks(self) -> tuple[str, ...]:
        """The companies."""

    def of(self, ciks: tuple[str, ...]) -> Self:
        """The part of the batch with only these companies."""


Tables = Mapping[str, pl.DataFrame]


def isolated(stage: str, task: Callable[[Any], tuple[Tables, Any]], batch: Several) -> tuple[Tables, Any]:
    """Process a batch; after an error, process its halves, down to the companies that cause the error.

    Args:
        stage: the name of the stage, which becomes the place of a fault.
        task: makes the rows of a batch, by table, and its notes.
        batch: the companies; an empty batch has to work, because it defines the columns of the tables.

    Returns:
        the rows of the companies that could be processed; the notes on each part of the batch, and the faults.

    Raises:
        Exception: an error of the machine, or an error with an empty batch.
    """
    try:
        tables, notes = task(batch)
    except OF_THE_MACHINE:
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        if not batch.ciks:
            raise
        if len(batch.ciks) == 1:
            tables, notes = task(batch.of(()))
            return tables, ([notes], [Fault(batch.ciks[0], stage, described(error))])
        middle = len(batch.ciks) // 2
        halves = [isolated(stage, task, batch.of(some)) for some in (batch.ciks[:middle], batch.ciks[middle:])]
        return {name: pl.concat([each[name] for each, _ in halves]) for name in halves[0][0]}, (
            [notes for _, (of_half, _) in halves for notes in of_half],
            [fault for _, (_, faults) in halves for fault in faults],
        )
    return tables, ([notes], [])


def described(error: BaseException) -> str:
    """Describe an error in one line, with the last line of the project's code that led to it."""
    of_project = [
        frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).is_relative_to(PROJECT)
    ]
    place = (
        f" in {Path(of_project[-1].filename).relative_to(PROJECT)}, line {of_project[-1].lineno}" if of_project else ""
    )
    said = " ".join(str(error).split())[:SHOWN]
    return f"{type(error).__name__}{place}: {said}; this is an error of the service, please report it"


def ciks_of(faults: Sequence[Fault]) -> frozenset[str]:
    """The companies of the faults."""
    return frozenset(fault.cik for fault in faults)
