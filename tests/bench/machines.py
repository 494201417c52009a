"""Processor time of a synchronization by one machine, and by a cluster on this machine: a scheduler and two workers.

    python -m tests.bench.machines MIRROR

Belongs here: both ways, first and with nothing new, their processor seconds, and the check that their builds are equal.
Does not: the parts of the cluster (scale.fleet), requests and bytes (scale.measure).

The scheduler and the workers run already; the imports for their first batch are part of the first row.
"""

import resource
import sys
import tempfile
import time
from pathlib import Path

from tests.e2e.homes import published
from tests.scale import fleet as machines
from tests.scale.fleet import Fleet, Machine
from tests.scale.measure import processor_time
from tests.servers import started_by

BATCH, WORKERS = 13, 2
ALONE = {"FUNDAMENTALS_CLUSTER": "", "FUNDAMENTALS_STORE": "", "FUNDAMENTALS_PROCESSES": str(WORKERS)}


def measured(fleet: Fleet, leading: Machine) -> tuple[float, float, float]:
    """Seconds of a run, and processor seconds of its leader and of scheduler and workers meanwhile."""
    others = [each for each in fleet.machines if each is not leading and each.process.poll() is None]
    began, led, helped = time.monotonic(), children(), spent(others)
    status, said = leading.ended()
    assert status == 0, said
    return time.monotonic() - began, children() - led, spent(others) - helped


def children() -> float:
    """Processor seconds of the processes that this one has started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def spent(running: list[Machine]) -> float:
    """Processor seconds of machines that run, until now."""
    return sum(processor_time(family(each.process.pid)) for each in running)


def family(process: int) -> list[int]:
    """A process and all that it has started, directly or not."""
    return [process, *(each for child in started_by(process) for each in family(child))]


def main(mirror: Path) -> None:
    """Print a row of the table in docs/scaling.md for each run."""
    with tempfile.TemporaryDirectory() as folder, machines.running(Path(folder), BATCH, WORKERS) as fleet:
        print("| | seconds | processor seconds of the leader | of scheduler and workers | of all, times one machine |")
        print("|---|---|---|---|---|")
        for when in ("first", "nothing new"):
            seconds, alone, _ = measured(fleet, fleet.sync(mirror, home="alone", **ALONE))
            print(f"| one machine, {when} | {seconds:.1f} | {alone:.1f} | | 1.0 |", flush=True)
            seconds, led, helped = measured(fleet, fleet.sync(mirror, home="lead"))
            print(
                f"| cluster, {when} | {seconds:.1f} | {led:.1f} | {helped:.1f} | {(led + helped) / alone:.1f} |",
                flush=True,
            )
        one, other = (published(fleet.folder / name).content_hash for name in ("alone", "lead"))
        assert one == other, "the builds differ"


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
