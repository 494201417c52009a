"""The exposition of the metrics in the format of Prometheus.

Belongs here: gathering the numbers at each request, and listening. Does not: counting (counts), the list of metrics
(families), the record of synchronizations (warehouse.build.runs).
"""

import contextlib
import hashlib
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.metrics_core import Metric

from serve.clock import Clock
from serve.errors import CommandError
from serve.metrics import families
from serve.metrics.counts import BOUNDS, NOTED_AT, Counts, total
from serve.metrics.families import FAMILIES, HISTOGRAM
from warehouse.build import runs
from warehouse.build.pointer import POINTER, current
from warehouse.errors import BuildUnreadable, WarehouseError
from warehouse.record import dagster_record, follower
from warehouse.shared import refusal

if TYPE_CHECKING:
    from warehouse.shared.store import HeadWithTag, Store

LOOPBACK = "127.0.0.1"
SILENT = 10.0  # seconds without a note after which a worker counts as hanging or ended

Numbers = dict[tuple[str, ...], float]  # by the values of the labels
Buckets = tuple[tuple[str, ...], Sequence[float], Sequence[float], float]
"""A histogram: the values of its labels, its bounds, the numbers up to each of them and in all, and the sum."""


class Collector:
    """The metrics of a service, gathered at each exposition."""

    def __init__(
        self, published: Path, counts: Sequence[Counts], clock: Clock = time.time, store: "Store | None" = None
    ) -> None:
        """Expose the counts of the workers, and metrics from the folder of builds and from the store."""
        self._published = published
        self._store = store
        self._held: HeadWithTag | None = None
        self._lease: tuple[str | None, float] = None, 0.0
        """The entity tag of the lease, and when it was first seen, by a monotonic clock."""
        self._counts = counts
        self._clock = clock

    def collect(self) -> Iterator[Metric]:
        """All metrics, in the order of FAMILIES; an unknown one has no samples."""
        counts, now = total(self._counts), self._clock()
        noted_at = [each.of(NOTED_AT)[""] for each in self._counts]
        numbers: dict[str, Numbers] = {
            families.WORKERS: {(): len(noted_at)},
            families.RESPONSIVE: {(): sum(now - at < SILENT for at in noted_at)},
            families.REQUESTS: {(path, status): number for path, status, number in counts.requests()},
            **_of_the_build(self._published, now),
            **_of_synchronizations(self._published, now),
            **_of_the_daemon(self._published.parent, now),
            **({} if self._store else _of_the_follower(follower.read(self._published.parent), now)),
            **self._of_the_store(now),
        }
        histograms: dict[str, Iterable[Buckets]] = {
            families.SECONDS: (((path,), BOUNDS, up_to, seconds) for path, up_to, seconds in counts.durations()),
            **_of_filings(self._published),
        }
        for family in FAMILIES:
            metric = Metric(family.name, family.meaning, family.type)
            if family.type == HISTOGRAM:
                for labels, bounds, up_to, seconds in histograms[family.name]:
                    named = dict(zip(family.labels, labels, strict=True))
                    _add_buckets(metric, named, bounds, up_to, seconds)
            else:
                known = numbers.get(family.name) or {(label,): each for label, each in counts.of(family.name).items()}
                for labels, number in known.items():
                    named = dict(zip(family.labels, labels, strict=False))
                    metric.add_sample(family.exposed, named, number)
            yield metric

    def _of_the_store(self, now: float) -> dict[str, Numbers]:
        """The metrics from the store: the lag of this replica, the lease, the follower, and the last refused code."""
        if self._store is None:
            return {}
        try:
            self._held, (lease, tag) = self._store.head(self._held), self._store.lease()
            heartbeat = follower.decoded(self._store.note(follower.OBJECT))
            refused = refusal.decoded(self._store.note(refusal.OBJECT))
        except WarehouseError:
            return {families.STORE: {(): 0}}
        pointer = self._held.head.files.get(f"{self._published.name}/{POINTER}") if self._held else None
        lag = 0.0
        if self._held and pointer:
            file = self._published / POINTER
            here = hashlib.sha256(file.read_bytes()).hexdigest() if file.exists() else ""
            lag = 0.0 if here == pointer.digest else now - self._held.head.written_at.timestamp()
        if self._lease[0] != tag:
            self._lease = tag, time.monotonic()
        is_alive = lease.holder and time.monotonic() - self._lease[1] < lease.silence
        leads = _age(lease.since, now) if is_alive else 0.0
        of_store: dict[str, Numbers] = {families.STORE: {(): 1}, families.LAG: {(): lag}, families.LEASE: {(): leads}}
        of_store[families.REFUSED] = {(refused.version,): now - refused.at.timestamp()} if refused else {}
        return of_store | _of_the_follower(heartbeat, now)


def _add_buckets(
    metric: Metric, labels: dict[str, str], bounds: Sequence[float], up_to: Sequence[float], seconds: float
) -> None:
    for bound, number in zip([*map(str, bounds), "+Inf"], up_to, strict=True):
        metric.add_sample(f"{metric.name}_bucket", {**labels, "le": bound}, number)
    metric.add_sample(f"{metric.name}_count", labels, up_to[-1])
    metric.add_sample(f"{metric.name}_sum", labels, seconds)


def _of_the_build(published: Path, now: float) -> dict[str, Numbers]:
    """The metrics of the current build; empty if there is none, or its pointer is damaged."""
    with contextlib.suppress(BuildUnreadable, ValueError):
        if pointer := current(published):
            return {
                families.BUILD_AGE: {(): _age(pointer.published_at, now)},
                families.FILING_AGE: {(): _age(pointer.newest_filing, now)} if pointer.newest_filing else {},
                families.COMPANIES: {(): pointer.companies},
            }
    return {}


def _of_synchronizations(published: Path, now: float) -> dict[str, Numbers]:
    recorded = runs.read(published)
    held = recorded.by_result.items()
    return {
        families.RUNS: {(result,): run.number for result, run in held},
        families.RUN_AGE: {(result,): now - run.finished_at.timestamp() for result, run in held},
        families.RUN_SECONDS: {(result,): run.seconds for result, run in held},
        families.QUARANTINED: {} if recorded.quarantined is None else {(): recorded.quarantined},
        families.FAILED: {} if recorded.failed is None else {(): recorded.failed},
    }


def _of_filings(published: Path) -> dict[str, Iterable[Buckets]]:
    """The delays of the filings that builds have added, and their parts."""
    recorded = runs.read(published)
    parts = {families.DELAY: recorded.delays, families.WAIT: recorded.waits, families.WORK: recorded.works}
    return {name: [((), runs.DELAYS, part.up_to(), part.seconds)] for name, part in parts.items()}


def _of_the_daemon(home: Path, now: float) -> dict[str, Numbers]:
    """The seconds since the last heartbeat of Dagster's daemon; empty if it never ran here, as on a replica."""
    last = dagster_record.heartbeat(home)
    return {families.DAEMON_AGE: {(): now - last.timestamp()}} if last else {}


def _of_the_follower(heartbeat: follower.Heartbeat | None, now: float) -> dict[str, Numbers]:
    """The metrics of the follower of the SEC's newest filings; empty if it never ran."""
    if heartbeat is None:
        return {}
    return {
        families.FOLLOWER_AGE: {(): now - heartbeat.at.timestamp()},
        families.FEED_AGE: {(): now - heartbeat.feed_read_at.timestamp()} if heartbeat.feed_read_at else {},
        families.REPORTS: {(): heartbeat.waiting},
        families.REPORT_AGE: {(): now - heartbeat.oldest_at.timestamp() if heartbeat.oldest_at else 0.0},
    }


def _age(moment: str, now: float) -> float:
    """Seconds since a time in ISO 8601; a date is its first second in UTC."""
    at = datetime.fromisoformat(moment)
    return now - (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


@contextlib.contextmanager
def exposed(
    published: Path, counts: Sequence[Counts], port: int, host: str = LOOPBACK, store: "Store | None" = None
) -> Iterator[None]:
    """Answer requests for the metrics until the block ends.

    Args:
        published: the folder of builds.
        counts: the counts of each worker.
        port: the port; 0: a free one.
        host: the address to listen on; by default only this machine can reach it.
        store: the store whose builds are served.

    Raises:
        CommandError: the port is in use.
    """
    registry = CollectorRegistry()
    registry.register(Collector(published, counts, store=store))
    try:
        server, thread = start_http_server(port, host, registry)
    except OSError as error:
        raise CommandError(
            f"cannot expose metrics on {host} port {port}: {error.strerror}; set FUNDAMENTALS_METRICS_PORT to "
            "another port, or do not set it"
        ) from error
    print(f"metrics are on http://{host}:{server.server_port}/metrics", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
