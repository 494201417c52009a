"""The plan of a synchronization: its steps in their order, and the gates between them.

Belongs here: the order. Does not: the work of a step (steps, publication), the conditions (gates), running and showing
steps in Dagster (assets, checks).
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
from pipelines.stages.batch.batches import elements_digest, rules_digest
from pipelines.stages.filed.statements import code_digest as code_of_statements
from pipelines.tables import stored

LOG = logging.getLogger("fundamentals")


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a synchronization.

    Attributes:
        name: the name of its result.
        group: the part of the pipeline.
        kinds: the libraries and formats that it uses, as Dagster shows them.
        work: does the work.
        code: a digest of the code that determines its result; None if the result depends on the source.
        commits: whether the state is committed to the store after the step.
    """

    name: str
    group: str
    kinds: frozenset[str]
    work: Callable[[Synchronization, Log], StepResult]
    code: Callable[[], str] | None = None
    commits: bool = False

    @property
    def meaning(self) -> str:
        """The description of the step, in a sentence."""
        return self.work.__doc__ or ""

    def run(self, synchronization: Synchronization, log: Log) -> StepResult:
        """Run the step, and report progress, counts and seconds; commit the state to the store if the step does so."""

        def work() -> StepResult:
            result = self.work(synchronization, log)
            if self.commits:
                synchronization.record_and_commit(log)
            return result

        return self.timed(work, log)

    def timed(self, work: Callable[[], StepResult], log: Log) -> StepResult:
        """Run `work`, report its progress, counts and seconds, and add the seconds to the result."""
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
"""All steps in their order; with FUNDAMENTALS_FILINGS=off, the steps in OF_FILINGS are left out.

Values are made from companyfacts and filings together. Fetching the SEC's filings may take long, so a first build is
published before; the later steps then make another build if the filings have new facts."""
OF_FILINGS = ("first_build", "filings", "statements")


def without_filings(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps with FUNDAMENTALS_FILINGS=off."""
    return tuple(step for step in steps if step.name not in OF_FILINGS)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a synchronization.

    Attributes:
        counts: the counts that its steps report.
        held_back_by: the gates that held back publishing, each with its description.
        way: how the documents were brought up to date, with the reason; empty if the source allows only one way.
    """

    counts: dict[str, int]
    held_back_by: list[str]
    way: str = ""


@dataclass(frozen=True, slots=True)
class Done:
    """A step that has run.

    Attributes:
        step: the step.
        result: its result.
        findings: the results of the gates after it.
    """

    step: Step
    result: StepResult
    findings: Mapping[Gate, Finding]


def run_step(step: Step, synchronization: Synchronization, log: Log = LOG) -> Done:
    """Run a step and the gates after it.

    Raises:
        PipelineError, WarehouseError: the step failed.
    """
    result = step.run(synchronization, log)
    return Done(step, result, {gate: checked(gate, synchronization) for gate in GATES.get(step.name, ())})


def run_all(synchronization: Synchronization, run: Callable[[Step, Synchronization], Done] = run_step) -> Outcome:
    """Synchronize: run all wanted steps, until a gate holds back publishing.

    Args:
        synchronization: a running synchronization (Synchronization.running).
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
