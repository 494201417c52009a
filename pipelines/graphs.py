"""The Dagster assets of a run on several machines: steps of batches as graphs, and what hands on their results.

Belongs here: a plan, a batch, a collection as ops; the executor; the resources of a step. Does not: what an op does
(distributed), the assets that are one step (assets), the settings of the broker (broker).
"""

import warnings
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import dagster as dg
import msgspec

from pipelines import asset_specs, broker, leases, record
from pipelines.assets import DIGITS, metadata_of
from pipelines.batched import BATCHED
from pipelines.composition import Step
from pipelines.distributed import Distributed, Done
from pipelines.resources import Configured
from pipelines.stages.batches import Batch
from pipelines.synchronization import Synchronization

NOTES = "notes"
"""The resource that hands on what ops return."""
BATCH_OP = "batch"


class Notes(dg.IOManager):
    """Hands on what ops return as JSON in Redis, for a week."""

    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        """Store what an op returned."""
        key, value = "/".join(("fundamentals", *context.get_identifier())), msgspec.json.encode(obj)
        leases.answer(lambda redis: redis.set(key, value, ex=broker.KEPT))

    def load_input(self, context: dg.InputContext) -> Any:
        """What an op returned.

        Raises:
            BrokerError: it is gone.
        """
        assert context.upstream_output
        key = "/".join(("fundamentals", *context.upstream_output.get_identifier()))
        found = leases.answer(lambda redis: redis.get(key))
        if not isinstance(found, bytes):
            raise broker.BrokerError(f"Redis has lost {key}; synchronize again, and let Redis keep its data on disk")
        return msgspec.json.decode(found)


class ConfiguredApart(Configured):
    """The configuration of a run on several machines; each step has a synchronization of its own."""

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Generator[Synchronization, None, None]:
        """The synchronization of a step, with the time at which the run began."""
        instance, run = context.instance, context.run
        assert instance
        assert run
        record = instance.get_run_record_by_id(run.run_id)
        began = datetime.fromtimestamp(record.start_time, UTC) if record and record.start_time else datetime.now(UTC)
        asked = self.create_resource(context)
        synchronization = Distributed(asked.home, asked.source, asked.symbols, asked.full, asked.is_scheduled, began)
        with synchronization.running() as running:
            yield running


def graph(step: Step, before: list[dg.AssetKey]) -> dg.AssetsDefinition:
    """A step of batches as an asset: a plan, its batches on all workers, and their collection."""
    name = step.name

    @dg.op(
        name=f"{name}_plan",
        description="Finds the companies to process, and divides them into batches.",
        ins={"before": dg.In(dg.Nothing)},
        out=dg.DynamicOut(dagster_type=dg.Any, io_manager_key=NOTES),
    )
    def plan(synchronization: dg.ResourceParam[Synchronization]) -> Iterator[dg.DynamicOutput[Any]]:
        assert isinstance(synchronization, Distributed)
        for number, batch in enumerate(synchronization.planned(name), 1):
            given = {"number": number, "batch": msgspec.to_builtins(batch)}
            yield dg.DynamicOutput(given, mapping_key=f"{number:05}")

    @dg.op(
        name=f"{name}_{BATCH_OP}",
        description="Makes the rows of a batch of companies, and stores them.",
        out=dg.Out(dagster_type=dg.Any, io_manager_key=NOTES),
    )
    def batch(context: dg.OpExecutionContext, given: Any, synchronization: dg.ResourceParam[Synchronization]) -> Any:
        assert isinstance(synchronization, Distributed)
        of_batch = msgspec.convert(given["batch"], Batch)
        context.log.info(f"a batch of {len(of_batch.ciks):,} companies")
        return msgspec.to_builtins(synchronization.worked(name, given["number"], of_batch))

    @dg.op(
        name=f"{name}_collection",
        description="Puts the rows of all batches into the tables.",
        code_version=step.code()[:DIGITS] if step.code else None,
    )
    def collection(
        context: dg.OpExecutionContext, done: list[Any], synchronization: dg.ResourceParam[Synchronization]
    ) -> dg.Output[None]:
        assert isinstance(synchronization, Distributed)
        made = step.timed(
            lambda: synchronization.collected(name, [msgspec.convert(each, Done) for each in done], context.log),
            context.log,
        )
        version = dg.DataVersion(made.version[:DIGITS]) if made.version else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dg.BetaWarning)
            return dg.Output(None, metadata=metadata_of(made.shown), data_version=version)

    @dg.graph_asset(
        name=name,
        description=step.meaning,
        group_name=step.group,
        ins={"before": dg.AssetIn(before[0], dagster_type=dg.Nothing)},
        kinds=set(step.kinds),
        owners=asset_specs.OWNERS,
    )
    def made(before: Any) -> Any:
        return collection(plan(before).map(batch).collect())

    return made


GRAPHS = dict.fromkeys(BATCHED, graph)
"""What makes the asset of each step of batches."""
MORE = {NOTES: Notes()}
"""The resources that the ops need besides the synchronization."""


def executor() -> dg.ExecutorDefinition:
    """Dagster's executor whose steps workers do, with the settings of the broker."""
    from pipelines.executor import on_workers

    record.wait_for_postgresql()
    return on_workers.configured(broker.configuration(), name="celery")
