"""Cause faults in a home and its service, and report losses: `make torture`.

Belongs here: the faults in their order, how often each, and the result. Does not: any fault.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from tests.torture import attack, bits, clocks, corruptions, disks, kills, load
from tests.torture.ground import Found, Ground


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault: its description, the function that causes it, and how often it happens, from the given numbers."""

    name: str
    run: Callable[[Ground, int], Found]
    times: Callable[[argparse.Namespace], int]


FAULTS = (
    Fault("SIGKILL of a synchronization", kills.killed, lambda given: given.kills),
    Fault("the disk of the home is full", disks.full_home, lambda given: given.kills // 10),
    Fault("the disk of Dagster's folder is full", disks.full_dagster, lambda given: given.kills // 20),
    Fault("a flipped bit in each kind of file", bits.flipped, lambda given: given.bits),
    Fault("a cut or missing file of a build", bits.shortened, lambda given: given.bits),
    Fault("a flipped bit in the accounts", bits.flipped_accounts, lambda given: 20 * given.bits),
    Fault("corrupted facts of one company", corruptions.drawn_corruptions, lambda given: given.corruptions),
    Fault("the clock set back and ahead", clocks.set_wrong, lambda given: given.kills and len(clocks.DAYS)),
    Fault("builds under load", load.builds, lambda given: given.builds),
    Fault("a build every five minutes", load.paced, lambda given: given.minutes),
    Fault("hostile clients", attack.attacked, lambda given: given.attack),
)
SHOWN = 20
"""Losses of a fault that are printed."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument(
        "--bits", type=int, help="rounds of damage to each kind of file (default: a twentieth of the kills)"
    )
    parser.add_argument("--corruptions", type=int, default=500)
    parser.add_argument("--builds", type=int, default=100)
    parser.add_argument("--minutes", type=int, default=30)
    parser.add_argument("--attack", type=int, default=5, help="minutes with hostile clients")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    given = parser.parse_args()
    given.bits = given.kills // 20 if given.bits is None else given.bits
    console = Console(stderr=True)
    console.print(f"seed {given.seed}")
    results: list[tuple[Fault, Found, float]] = []
    with tempfile.TemporaryDirectory(prefix="torture-") as folder, Progress(console=console) as bars:
        bar = bars.add_task("a first home", total=None)
        ground = Ground(Path(folder), given.seed, lambda: bars.advance(bar))
        for fault in FAULTS:
            times = fault.times(given)
            if not times:
                continue
            bars.update(bar, description=fault.name, completed=0, total=times * STEPS.get(fault.run, 1) or None)
            began = time.monotonic()
            found = fault.run(ground, times)
            results.append((fault, found, time.monotonic() - began))
            bars.console.print(f"{fault.name}: {found.times} times, {results[-1][2]:.0f} seconds")
            for loss in (found.losses + found.wrong)[:SHOWN]:
                bars.console.print(f"{fault.name}: {loss}", markup=False, highlight=False)
    Console().print(_table(results))
    summary = [_figures(fault, found, seconds) for fault, found, seconds in results]
    print(json.dumps({"seed": given.seed, "faults": summary}))
    return int(any(each["losses"] or each["wrong_answers"] for each in summary))


STEPS = {
    bits.flipped: len(bits.KINDS),
    bits.shortened: 2 * len(bits.CUTS),
    load.paced: 60,
    load.builds: 0,
    attack.attacked: 60,
}
"""Steps of the progress bar for each time, where it is not one."""


def _figures(fault: Fault, found: Found, seconds: float) -> dict[str, object]:
    return {
        "fault": fault.name,
        "times": found.times,
        "answers": found.answers,
        "losses": len(found.losses),
        "wrong_answers": len(found.wrong),
        "seconds": round(seconds),
        "seen": found.remarks,
        **({"skipped": found.skipped} if found.skipped else {}),
    }


def _table(results: list[tuple[Fault, Found, float]]) -> Table:
    table = Table(title="Torture", title_justify="left")
    for name in ("fault", "times", "answers", "losses", "wrong answers", "seconds"):
        table.add_column(name, justify="left" if name == "fault" else "right")
    for fault, found, seconds in results:
        name = f"{fault.name} (skipped: {found.skipped})" if found.skipped else fault.name
        numbers = found.times, found.answers, len(found.losses), len(found.wrong), round(seconds)
        table.add_row(name, *(f"{number:,}" for number in numbers))
    return table


if __name__ == "__main__":
    sys.exit(main())
