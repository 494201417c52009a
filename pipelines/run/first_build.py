"""The first build of a synchronization with the SEC, published before the filings themselves are fetched.

Belongs here: the steps of the first build. Does not: the second build with facts from the filings, which the steps
after this one make, as with every other source (plan).
"""

from collections.abc import Callable
from functools import wraps

from pipelines.run import gates, publication, steps
from pipelines.run.gates import Finding, Gate
from pipelines.run.result import StepResult
from pipelines.run.synchronization import Log, Synchronization

STEPS: tuple[Callable[[Synchronization, Log], StepResult], ...] = (steps.values, steps.versions, steps.assembly)


def first_build(synchronization: Synchronization, log: Log) -> StepResult:
    """Publishes a first build before the SEC's filings are fetched, which takes minutes to hours; else skipped."""
    if not synchronization.publishes_first:
        return StepResult({"row_count": 0})
    for step in STEPS:
        step(synchronization, log)
    if not all(gate(synchronization).holds for gate in gates.OF_TABLES):
        return StepResult({"row_count": 0, "published": 0})
    first = publication.warehouse(synchronization, log)
    steps.quality_report(synchronization, log)
    synchronization.record_and_commit(log)
    synchronization.first = first
    return StepResult(first.shown, first.version)


def _of_first_build(gate: Gate) -> Gate:
    @wraps(gate)
    def found(synchronization: Synchronization) -> Finding:
        is_held_back = synchronization.publishes_first and synchronization.first is None
        return gate(synchronization) if is_held_back else Finding()

    return found


GATES = gates.GATES | {"first_build": tuple(map(_of_first_build, gates.OF_TABLES))}
"""The gates after each step, including the first build."""
