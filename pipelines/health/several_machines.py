"""Checks the parts that several machines share: the cluster that processes batches, and the lease on the store.

Belongs here: checking that the scheduler answers and has workers with this code, and that a run's leader is alive. Does
not: the store's files (store), starting scheduler or workers (shared.cluster).
"""

import time
from collections.abc import Iterator

from pipelines.errors import PipelineError
from pipelines.shared import cluster
from pipelines.shared.lease import RENEWALS
from pipelines.shared.shared_home import of_home
from pipelines.storage.home import Home
from warehouse.contract.findings import DAMAGE, WARNING, WELL, Finding
from warehouse.shared.store import StoreError


def check_lease(home: Home) -> Iterator[Finding]:
    """Report who leads a run; the holder of the lease is watched for longer than a renewal takes."""
    try:
        copy = of_home(home)
        assert copy, "FUNDAMENTALS_STORE is set"
        lease, tag = copy.store.lease()
        if not lease.holder:
            yield Finding("lease", WELL, "nobody leads a run")
            return
        time.sleep(lease.silence / RENEWALS + 1)
        is_alive = copy.store.lease()[1] != tag
    except StoreError as error:
        said, _, advice = str(error).partition("; ")
        yield Finding("lease", DAMAGE, said, advice)
        return
    held = f"{lease.holder} leads a run since {lease.since}"
    if is_alive:
        yield Finding("lease", WELL, held)
    else:
        advice = f"nothing: the next run takes the lease {lease.silence} seconds after the last sign"
        yield Finding("lease", WARNING, f"{held}, and gives no sign of life", advice)


def check_cluster() -> Iterator[Finding]:
    """Check that the scheduler answers, and report the joined workers."""
    try:
        same, others = cluster.workers()
    except PipelineError as error:
        said, _, advice = str(error).partition("; ")
        yield Finding("cluster", DAMAGE, said, advice)
        return
    text = f"{same} workers with this code, rules and packages"
    if others:
        yield Finding("cluster", WARNING, f"{text}, {others} with others, which get no batches", "update these")
    elif same:
        yield Finding("cluster", WELL, text)
    else:
        yield Finding("cluster", WARNING, "no worker has joined", "start `fundamentals worker`: a run waits for one")
