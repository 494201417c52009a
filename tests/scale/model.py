"""A model of load and cost: resources for a number of subscribers and a size of EDGAR. `python -m tests.scale.model`

Belongs here: the measured costs, each with its source, and the formulas; the tables of docs/scaling.md. Does not:
measuring (measure).
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

HERE = "here"
PERFORMANCE = "performance.md"
ASSUMED = "assumed"

MINUTE, DAY = 60, 10_000
"""The limits of a key: requests a minute and a day."""
BUSY = 0.5
"""The part of a core that may be used at the peak, so that a replica that fails leaves enough."""


@dataclass(frozen=True, slots=True)
class Cost:
    """A measured or assumed number.

    Attributes:
        value: the number.
        unit: its unit.
        of: its meaning.
        source: where it was measured.
    """

    value: float
    unit: str
    of: str
    source: str


COSTS = {
    "worker": Cost(100, "µs", "processor time of a worker for an answer that is in its cache, with Redis", HERE),
    "new": Cost(137, "µs", "more for a question that was not asked before", PERFORMANCE),
    "nginx": Cost(40, "µs", "processor time of nginx for a request, without TLS", HERE),
    "redis": Cost(21, "µs", "processor time of Redis for a request, with few connections", HERE),
    "answer": Cost(2_100, "bytes", "answer with 20 periods, compressed, with its head", HERE),
    "worker_memory": Cost(0.36, "GB", "memory of a worker with 6,000 companies", PERFORMANCE),
    "replica_memory": Cost(0.07, "GB", "memory of a replica beside its workers", HERE),
    "use": Cost(1 / 60, "rows a second", "use of a key that each worker stores, while it is in use", HERE),
    "looks": Cost(0.5, "requests a second", "look at the store by a replica", HERE),
    "files": Cost(30, "requests", "download of a build", HERE),
    "raw": Cost(0.094, "bytes", "documents in the store, for a byte of companyfacts", HERE),
    "tables": Cost(0.131, "bytes", "tables, for the same", HERE),
    "log": Cost(0.027, "bytes", "version log, for the same", HERE),
    "build": Cost(0.217, "bytes", "a build with its copies, for the same", HERE),
    "batches": Cost(930, "s", "facts, values, versions and tables of all of EDGAR, on two cores", PERFORMANCE),
    "others": Cost(255, "s", "all other steps, on two cores", PERFORMANCE),
    "shared": Cost(1.4, "times", "processor time on a cluster, with checkouts and dispatch", HERE),
    "processor": Cost(1_980, "s", "processor time of both", PERFORMANCE),
    "pipeline_memory": Cost(2.4, "GB", "memory of a synchronization, which works in batches", PERFORMANCE),
}  # fmt: skip

COMPANYFACTS = 16.5
"""GB of JSON of all of today's EDGAR, 19,070 documents."""
COMPANIES = 6_000
"""Listed companies that are covered then."""
NEW_QUESTIONS = 0.3
"""The part of requests that no worker has answered from this build before."""
WORKERS = 2
"""Workers of a replica, one for each core."""
KEPT = 3
"""Builds in the store: the current build, the build before, and a build that was replaced within a day."""
PRICES = {
    "core": Cost(25, "$", "a core with 4 GB for a month", ASSUMED),
    "stored": Cost(0.023, "$", "a GB in the store for a month", ASSUMED),
    "reads": Cost(0.4, "$", "a million reads of the store", ASSUMED),
    "sent": Cost(0.05, "$", "a GB sent to clients", ASSUMED),
}


def value(name: str) -> float:
    """A measured number."""
    return COSTS[name].value


def peak(subscribers: int) -> float:
    """Requests a second if all use their limit of the minute."""
    return subscribers * MINUTE / 60


def average(subscribers: int) -> float:
    """Requests a second over a day, if all use their limit of the day."""
    return subscribers * DAY / 86_400


def serving_cores(requests: float) -> float:
    """Cores that workers need for requests a second, at most BUSY."""
    return requests * (value("worker") + NEW_QUESTIONS * value("new")) / 1e6 / BUSY


def replicas(subscribers: int) -> int:
    """Replicas with WORKERS workers for the peak; two at least, and one more than needed."""
    return max(2, math.ceil(serving_cores(peak(subscribers)) / WORKERS) + 1)


def nginx_cores(requests: float) -> float:
    """Cores of nginx for requests a second, at most BUSY."""
    return requests * value("nginx") / 1e6 / BUSY


def redis_share(requests: float) -> float:
    """The part of the one core that Redis uses."""
    return requests * value("redis") / 1e6


def uses(subscribers: int) -> float:
    """Rows a second in PostgreSQL, if all keys are in use and each worker knows them."""
    return subscribers * value("use") * replicas(subscribers) * WORKERS


def megabits(requests: float) -> float:
    """Megabits a second to clients."""
    return requests * value("answer") * 8 / 1e6


def replica_memory(times: float) -> float:
    """GB of memory of a replica, for a number of companies that is `times` today's."""
    return WORKERS * value("worker_memory") * times + value("replica_memory")


def build_size(times: float) -> float:
    """GB of a build."""
    return COMPANYFACTS * times * value("build")


def stored(times: float) -> float:
    """GB in the store."""
    return COMPANYFACTS * times * (value("raw") + value("tables") + value("log") + KEPT * value("build"))


def first_synchronization(times: float, workers: int = 1) -> float:
    """Seconds from bulk files to a build: the batches on some machines with two cores, all else on one of them."""
    more = value("shared") if workers > 1 else 1.0
    return times * (value("batches") * more / workers + value("others"))


def reads(subscribers: int) -> float:
    """Reads of the store in a month with a build a day, millions."""
    return replicas(subscribers) * 30 * (86_400 * value("looks") + value("files")) / 1e6


def cost(subscribers: int, times: float) -> float:
    """Dollars a month: cores of replicas, nginx, Redis and PostgreSQL, the store, and the bytes sent at the daily
    limit.

    Synchronizations take the cores of two machines for a part of a day.
    """
    cores = replicas(subscribers) * WORKERS + 2 * math.ceil(nginx_cores(peak(subscribers))) + 1 + 2
    pipeline = 4
    sent = average(subscribers) * value("answer") * 86_400 * 30 / 1e9
    return (
        (cores + pipeline) * PRICES["core"].value
        + stored(times) * PRICES["stored"].value
        + reads(subscribers) * PRICES["reads"].value
        + sent * PRICES["sent"].value
    )


Rows = Iterable[tuple[str, str, Callable[[int, float], float], str]]
ROWS: Rows = (
    ("requests a second, all at the limit of the minute", "subscribers × 60 ÷ 60", lambda n, _: peak(n), ",.0f"),
    ("requests a second over a day, all at the limit of the day", "subscribers × 10,000 ÷ 86,400",
     lambda n, _: average(n), ",.0f"),
    ("cores of workers", f"requests × (worker + {NEW_QUESTIONS} × new) ÷ {BUSY}",
     lambda n, _: serving_cores(peak(n)), ",.1f"),
    ("replicas with two workers", "cores ÷ 2, and one more", lambda n, _: replicas(n), ",.0f"),
    ("cores of nginx, without TLS", f"requests × nginx ÷ {BUSY}", lambda n, _: nginx_cores(peak(n)), ",.1f"),
    ("part of Redis' core", "requests × redis", lambda n, _: redis_share(peak(n)), ",.2f"),
    ("rows a second in PostgreSQL", "subscribers × use × workers", lambda n, _: uses(n), ",.0f"),
    ("Mbit a second to clients", "requests × answer × 8", lambda n, _: megabits(peak(n)), ",.0f"),
    ("GB of memory of a replica", "2 × worker memory × EDGAR + rest", lambda _, t: replica_memory(t), ",.1f"),
    ("GB of a build, downloaded by each replica", "companyfacts × build", lambda _, t: build_size(t), ",.1f"),
    ("GB in the store", f"companyfacts × (raw + tables + log + {KEPT} × build)", lambda _, t: stored(t), ",.1f"),
    ("minutes of a first synchronization, one machine", "EDGAR × (batches + others)",
     lambda _, t: first_synchronization(t) / 60, ",.0f"),
    ("the same, batches on four machines", "EDGAR × (batches × shared ÷ 4 + others)",
     lambda _, t: first_synchronization(t, 4) / 60, ",.0f"),
    ("million reads of the store a month", "replicas × (looks + files of a build a day)",
     lambda n, _: reads(n), ",.1f"),
    ("$ a month, with the assumed prices", "cores, store, reads, sent", cost, ",.0f"),
)  # fmt: skip
CASES = ((100, 1.0), (1_000, 1.0), (10_000, 1.0), (10_000, 10.0))
"""Subscribers, and the size of EDGAR as a multiple of today's."""


def costs() -> str:
    """The table of the measured and assumed numbers, as Markdown."""
    lines = ["| number | value | what | source |", "|---|---|---|---|"]
    for name, each in (COSTS | PRICES).items():
        amount = f"{each.value:,.3g}" if each.value < 1000 else f"{each.value:,.0f}"
        lines.append(f"| {name.replace('_', ' ')} | {amount} {each.unit} | {each.of} | {each.source} |")
    return "\n".join(lines)


def table() -> str:
    """The table of the model, as Markdown."""
    heads = [f"{subscribers:,} subscribers, EDGAR × {times:g}" for subscribers, times in CASES]
    lines = [f"| | formula | {' | '.join(heads)} |", "|---" * (2 + len(heads)) + "|"]
    for name, formula, compute, form in ROWS:
        lines.append(f"| {name} | {formula} | {' | '.join(format(compute(*case), form) for case in CASES)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(costs(), table(), sep="\n\n")
