"""The steps whose batches several machines can share: facts, values, versions.

Belongs here: what each of them plans, does with a batch, and collects, as a table. Does not: what they make (stages),
how it is shown (steps), the machines (distributed).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pipelines import stages, steps
from pipelines.lake import Batches
from pipelines.made import Made
from pipelines.stages.batches import Notes, Task
from pipelines.stages.schemas import REPLAYED
from pipelines.synchronization import Log, Synchronization


@dataclass(frozen=True, slots=True)
class Batched:
    """A step of batches.

    Attributes:
        reads: the tables of companies of which the work on a batch reads the rows of its companies.
        plan: finds what there is to do.
        task: the work on a batch.
        collect: puts the rows of all batches into the tables; takes the plan, the rows and the notes on each batch.
    """

    reads: tuple[str, ...]
    plan: Callable[[Synchronization], Any]
    task: Callable[[Synchronization], Task]
    collect: Callable[[Synchronization, Log, Any, Batches, Sequence[Notes]], Made]


def _facts_collected(here: Synchronization, log: Log, plan: Any, made: Batches, notes: Sequence[Notes]) -> Made:
    again = steps.again(here)
    return steps.facts_made(here, log, stages.facts.collect(here.store, here.lake, again, plan, made, notes))


def _values_collected(here: Synchronization, log: Log, plan: Any, made: Batches, notes: Sequence[Notes]) -> Made:
    of_rules = steps.Steps()
    return steps.values_made(here, log, stages.values.collect(here.lake, of_rules.add, plan, made, notes), of_rules)


def _versions_collected(here: Synchronization, _: Log, plan: Any, made: Batches, notes: Sequence[Notes]) -> Made:
    segments = stages.versions.collect(here.lake, here.home.log, here.sync_id, plan, made, notes)
    return steps.versions_made(here, segments)


BATCHED = {
    "facts": Batched(
        ("facts",),
        lambda here: stages.facts.plan(here.lake, steps.again(here)),
        lambda here: partial(stages.facts.work, here.home.root, here.lake),
        _facts_collected,
    ),
    "values": Batched(
        ("facts", "acceptances", "registrants"),
        lambda here: stages.values.plan(here.lake, steps.again(here)),
        lambda here: partial(stages.values.work, here.lake),
        _values_collected,
    ),
    "versions": Batched(
        ("facts", "filings", REPLAYED, "profiles"),
        lambda here: stages.versions.plan(here.lake, here.home.log, steps.pointed(here)),
        lambda here: partial(stages.versions.work, here.lake, here.home.log, here.started_at),
        _versions_collected,
    ),
}
"""By the name of the step."""
