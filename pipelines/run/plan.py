"""The composition of a synchronization: its steps in their order, and the conditions between them.

Belongs here: what comes after what. Does not: what a step makes (steps, publication), what must hold (gates), how
Dagster runs and shows it (assets, checks).
"""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from pipelines.run import filing_steps, publication, run_log, steps
from pipelines.run.first_build import GATES, first_build
from pipelines.run.gates import Finding, Gate, checked
from pipelines.run.result import StepResult
from pipelines.run.synchronization import Log, Synchronization
from pipelines.settings import filings_wanted
from pipelines.stages.batches import elements_digest, rules_digest
from pipelines.stages.statements import code_digest as code_of_statements
from pipelines.tables import stored

LOG = logging.getLogger("fundamentals")


@dataclass(frozen=True, slots=True)
class Step:
    """One step.

    Attributes:
        name: what it makes.
        group: the part of the work.
        kinds: the libraries and formats that it uses, as Dagster shows them.
        work: does it.
        code: a digest of the code that decides what it makes; None: it depends on the source.
        commits: whether the state is committed to the store after it.
    """

    name: str
    group: str
    kinds: frozenset[str]
    work: Callable[[Synchronization, Log], StepResult]
    code: Callable[[], str] | None = None
    commits: bool = False

    @property
    def meaning(self) -> str:
        """What it makes, in a sentence."""
        return self.work.__doc__ or ""

    def run(self, synchronization: Synchronization, log: Log) -> StepResult:
        """Do it, and report progress, counts and seconds; commit the state to the store if it is one after which to."""

        def work() -> StepResult:
            result = self.work(synchronization, log)
            if self.commits:
                synchronization.share(log)
            return result

        return self.timed(work, log)

    def timed(self, work: Callable[[], StepResult], log: Log) -> StepResult:
        """Do some work; report its progress, counts and seconds, and add the seconds to the result."""
        began = time.monotonic()
        with run_log.progress_in(log):
            result = work()
        seconds = time.monotonic() - began
        log.info(run_log.in_words(result.counts, seconds))
        return replace(result, shown={**result.shown, "seconds": round(seconds, 2)})


EXTRACT, NORMALIZE, PUBLISH = "extract", "normalize", "publish"
STEPS = (
    Step("documents", EXTRACT, frozenset({"httpx"}), steps.documents),
    Step("facts", EXTRACT, frozenset({"msgspec", "parquet"}), steps.facts, elements_digest),
    Step("first_build", PUBLISH, frozenset({"duckdb"}), first_build),
    Step("filings", EXTRACT, frozenset({"httpx"}), filing_steps.filings, commits=True),
    Step(
        "statements",
        NORMALIZE,
        frozenset({"lxml", "parquet"}),
        filing_steps.statements,
        code_of_statements,
        commits=True,
    ),
    Step("values", NORMALIZE, frozenset({"polars", "parquet"}), steps.values, rules_digest),
    Step("versions", NORMALIZE, frozenset({"polars", "parquet"}), steps.versions, rules_digest),
    Step("tables", PUBLISH, frozenset({"polars", "parquet"}), steps.assembly, stored.code_digest),
    Step("warehouse", PUBLISH, frozenset({"duckdb"}), publication.warehouse),
    Step("quality_report", PUBLISH, frozenset({"polars", "html"}), steps.quality_report, commits=True),
)
"""All steps, each after the one before it; without filings those of OF_FILINGS are left out.

Values are made from companyfacts and filings together. The SEC's filings may take long, so a first build is published
before they are fetched; the steps after them then make another one if they state something new."""
OF_FILINGS = ("first_build", "filings", "statements")


def without_filings(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps with FUNDAMENTALS_FILINGS=off."""
    return tuple(step for step in steps if step.name not in OF_FILINGS)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a synchronization.

    Attributes:
        counts: what its steps report.
        held_back_by: the conditions that held back publishing, each with what it found.
        way: how the documents were brought up to date, and why so; empty if there is only one way.
    """

    counts: dict[str, int]
    held_back_by: list[str]
    way: str = ""


@dataclass(frozen=True, slots=True)
class Done:
    """A step that was run.

    Attributes:
        step: the step.
        result: what it made.
        findings: what each condition after it found.
    """

    step: Step
    result: StepResult
    findings: Mapping[Gate, Finding]


def run_step(step: Step, synchronization: Synchronization, log: Log = LOG) -> Done:
    """Run a step, and look whether the conditions after it hold.

    Raises:
        PipelineError, WarehouseError: the step failed.
    """
    result = step.run(synchronization, log)
    return Done(step, result, {gate: checked(gate, synchronization) for gate in GATES.get(step.name, ())})


def run_all(synchronization: Synchronization, run: Callable[[Step, Synchronization], Done] = run_step) -> Outcome:
    """Synchronize: all steps that are wanted, until a gate holds back publishing.

    Args:
        synchronization: one that runs (Synchronization.running).
        run: runs one step.

    Raises:
        PipelineError, WarehouseError: a step failed.
    """
    counts: dict[str, int] = {}
    way = ""
    with synchronization.running():
        for step in without_filings(STEPS) if filings_wanted() == "off" else STEPS:
            done = run(step, synchronization)
            counts.update(done.result.counts)
            way = str(done.result.shown.get(steps.WAY, way))
            if synchronization.held_back_by:
                break
    return Outcome(counts, synchronization.held_back_by, way)
