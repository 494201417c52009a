"""The cost of a synchronization: CPU seconds of the whole process tree, compared with `orjson.loads` of its documents.

Run it with `make bench SOURCE=../shared/edgar` (a mirror directory). Each round measures one after the other, with
`orjson.loads` before and after the first synchronization, so that a busy machine slows all of them alike. The ratio is
computed per round, and the median of the rounds counts.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

PROJECT = Path(__file__).resolve().parents[2]
ROUNDS = 5
PARSED, FIRST, NOTHING_NEW = "orjson.loads of the documents", "first synchronization", "nothing new"
RULES, SMALL = "rules, all companies", "rules, a filer with two facts"
TARGETS = {
    FIRST: ("times orjson.loads", 12.0),
    NOTHING_NEW: ("CPU seconds", 4.0),
    RULES: ("CPU seconds", 3.0),
    SMALL: ("CPU seconds", 0.1),
}

PARSE = """
import sys, pathlib, time, orjson
contents = [path.read_bytes() for path in pathlib.Path(sys.argv[1]).glob("data.sec.gov/api/xbrl/companyfacts/*.json")]
began = time.process_time()
for content in contents:
    orjson.loads(content)
print(time.process_time() - began)
"""

STANDARDIZE = """
import sys, pathlib, time, polars as pl
from pipelines.storage.lake import Lake
from pipelines.normalize.pipeline import standardize
lake = Lake(pathlib.Path(sys.argv[1]) / "tables")
facts, accepted = lake.read("facts"), lake.read("acceptances")
registrants = lake.read("registrants")
small = facts.filter(pl.col("cik") == facts["cik"][0]).head(2)
standardize(small)  # what is made once a process: registry, tables of elements
def seconds(*frames):
    began = time.process_time()
    standardize(*frames)
    return time.process_time() - began
print([seconds(facts, accepted, registrants), min(seconds(small, accepted.head(0), registrants) for _ in range(5))])
"""


def of_tree(command: list[str], code: Path, home: Path) -> tuple[float, str]:
    """CPU seconds of a command with all of its processes, and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "FUNDAMENTALS_HOME": str(home), "PYTHONPATH": str(code)}
    done = subprocess.run(command, cwd=code, env=environment, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def one_round(mirror: Path, code: Path, home: Path) -> dict[str, float]:
    """Each measurement once, in CPU seconds."""
    shutil.rmtree(home, ignore_errors=True)
    sync = [sys.executable, "-m", "fundamentals", "sync", "--source", str(mirror)]
    parse = [sys.executable, "-c", PARSE, str(mirror)]
    before = float(of_tree(parse, PROJECT, home)[1])
    first, _ = of_tree(sync, code, home)
    after = float(of_tree(parse, PROJECT, home)[1])
    nothing_new, _ = of_tree(sync, code, home)
    _, rules = of_tree([sys.executable, "-c", STANDARDIZE, str(home)], code, home)
    all_companies, small = json.loads(rules)
    return {PARSED: (before + after) / 2, FIRST: first, NOTHING_NEW: nothing_new, RULES: all_companies, SMALL: small}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mirror", type=Path, help="the mirror directory to synchronize with")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--beside", type=Path, help="the folder of another version of this program, measured in turns")
    given = parser.parse_args()
    folders = {"this version": PROJECT} | ({"other version": given.beside.resolve()} if given.beside else {})
    rounds: dict[str, list[dict[str, float]]] = {name: [] for name in folders}
    with tempfile.TemporaryDirectory() as temporary:
        for number in range(given.rounds):
            for name, code in folders.items():
                began = time.perf_counter()
                rounds[name].append(one_round(given.mirror.resolve(), code, Path(temporary) / "home"))
                seconds = time.perf_counter() - began
                print(f"round {number + 1} of {given.rounds}, {name}: {seconds:.0f} seconds", file=sys.stderr)
    for name, measured in rounds.items():
        _show(name, measured)


def _show(name: str, rounds: list[dict[str, float]]) -> None:
    table = Table(title=f"{name}, median of {len(rounds)} rounds (lowest to highest)", title_justify="left")
    for column in ("measurement", "CPU seconds", "times orjson.loads", "target"):
        table.add_column(column, justify="left" if column == "measurement" else "right")
    parsed = [each[PARSED] for each in rounds]
    for step in rounds[0]:
        unit, limit = TARGETS.get(step, ("", 0.0))
        seconds = [each[step] for each in rounds]
        ratios = [one / other for one, other in zip(seconds, parsed, strict=True)]
        table.add_row(step, _median(seconds, 3), _median(ratios, 2), f"at most {limit:g} {unit}" if unit else "")
    Console().print(table)


def _median(values: list[float], digits: int) -> str:
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


if __name__ == "__main__":
    main()
