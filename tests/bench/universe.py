"""The cost of a synchronization of many companies, from EDGAR's bulk files: wall time, CPU seconds, memory.

Run it with `make bench SOURCE=../shared/edgar`; GIGABYTES sets the sizes. The documents of a mirror directory are
copied under other CIKs and accession numbers into companyfacts.zip and submissions.zip until they hold so many bytes of
JSON. They are synchronized: all companies, the same files again, and files in which one company of a hundred filed.
Each figure is compared with `orjson.loads` of the same documents on one core, measured before and after it in the run;
the throughput with the throughput of edgartools for the documents of the mirror (peer.py). The last line is JSON.
"""

import argparse
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

import orjson
from rich.console import Console
from rich.progress import track
from rich.table import Table

from tests.bench.memory import Memory

PROJECT = Path(__file__).resolve().parents[2]
FACTS, SUBMISSIONS = "data.sec.gov/api/xbrl/companyfacts", "data.sec.gov/submissions"
TICKERS = "company_tickers_exchange.json"
ACCESSION = re.compile(rb'"\d{4}(\d{6}-\d\d-\d{6})"')
CIK = re.compile(rb'"cik":\s*"?\d{1,10}"?')
GIGABYTE = 1e9
ONE_PERCENT = 0.01


@dataclass(frozen=True, slots=True)
class Cost:
    """Wall seconds, CPU seconds and the largest resident memory of a command with all of its processes, in MB."""

    wall: float
    cpu: float
    memory: float


def renumbered(document: bytes, cik: int, number: int) -> bytes:
    """A document as if another company had filed it under other accession numbers."""
    named = CIK.sub(b'"cik":%d' % cik, document, count=1)
    return ACCESSION.sub(rb'"%04d\1"' % number, named)


def revised(document: bytes) -> bytes:
    """A companyfacts document whose newest filing states other values."""
    read = orjson.loads(document)
    lists = [facts for tags in read["facts"].values() for tag in tags.values() for facts in tag["units"].values()]
    newest = max(fact["filed"] for facts in lists for fact in facts)
    for fact in (fact for facts in lists for fact in facts if fact["filed"] == newest):
        fact["val"] = round(fact["val"] * 1.01, 4)
    return orjson.dumps(read)


def write(folder: Path, mirror: Path, size: float, revise: float = 0.0, most: int | None = None) -> int:
    """Write bulk files with so many bytes of JSON; a share of the companies is revised. Return their number.

    With `most`, the files have so many companies, whatever their size.
    """
    folder.mkdir(parents=True)
    originals = {int(path.stem[3:]): path.read_bytes() for path in sorted((mirror / FACTS).glob("*.json"))}
    submissions = {int(path.stem[3:]): path.read_bytes() for path in (mirror / SUBMISSIONS).glob("CIK??????????.json")}
    listed = json.loads((mirror / "www.sec.gov/files" / TICKERS).read_bytes())
    symbols = {row[0]: row for row in reversed(listed["data"])}
    copies = max(1, round(size / sum(map(len, originals.values()))))
    copies = copies if most is None else math.ceil(most / len(originals))
    rows, each = [], 0
    options = {"compression": zipfile.ZIP_DEFLATED, "compresslevel": 1}
    with (
        zipfile.ZipFile(folder / "companyfacts.zip", "w", **options) as facts,  # type: ignore[arg-type]
        zipfile.ZipFile(folder / "submissions.zip", "w", **options) as filings,  # type: ignore[arg-type]
    ):
        written = f"{size / GIGABYTE:g} GB" if most is None else f"{most} companies"
        for number in track(range(copies), f"{folder.name}: {written}", console=Console(stderr=True)):
            for original, document in islice(originals.items(), None if most is None else most - each):
                cik, each = number * 10_000_000 + original, each + 1
                changed = revise and each % round(1 / revise) == 0
                made = renumbered(revised(document) if changed else document, cik, number)
                facts.writestr(f"CIK{cik:010}.json", made)
                if original in submissions:
                    filings.writestr(f"CIK{cik:010}.json", renumbered(submissions[original], cik, number))
                _, name, symbol, exchange = symbols.get(original, (original, f"Company {original}", "", None))
                rows.append([cik, name, f"{symbol or f'C{original}'}{number or ''}", exchange])
    (folder / TICKERS).write_text(json.dumps({**listed, "data": rows}))
    return len(rows)


def parsed(folder: Path) -> float:
    """Wall seconds of `orjson.loads` for all documents of companyfacts.zip, on one core, without unpacking them."""
    seconds = 0.0
    with zipfile.ZipFile(folder / "companyfacts.zip") as archive:
        for name in archive.namelist():
            content = archive.read(name)
            began = time.perf_counter()
            orjson.loads(content)
            seconds += time.perf_counter() - began
    return seconds


def synchronized(source: str, home: Path, *options: str) -> Cost:
    """The cost of a synchronization."""
    command = [sys.executable, "-m", "fundamentals", "sync", "--source", source, *options]
    environment = {**os.environ, "FUNDAMENTALS_HOME": str(home), "PYTHONPATH": str(PROJECT)}
    before, began = os.times(), time.perf_counter()
    with subprocess.Popen(
        command, cwd=PROJECT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        memory = Memory(process.pid)
        said = process.stdout.read() if process.stdout else ""
        process.wait()
    wall, after = time.perf_counter() - began, os.times()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{said}")
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return Cost(wall, spent, memory.largest)


@dataclass(frozen=True, slots=True)
class Round:
    """One round with files of one size: `orjson.loads`, and the synchronizations one after the other."""

    gigabytes: float
    companies: int
    orjson: float
    full: Cost
    again: Cost
    one_percent: Cost

    @property
    def memory(self) -> float:
        """The largest memory of the three, in MB."""
        return max(self.full.memory, self.again.memory, self.one_percent.memory)


@dataclass(frozen=True, slots=True)
class Peer:
    """Megabytes of JSON, and the CPU seconds that edgartools takes for them."""

    megabytes: float
    cpu: float
    twelve_months: int

    @property
    def rate(self) -> float:
        """Megabytes a CPU second."""
        return self.megabytes / self.cpu


def peer(folder: Path, mirror: Path) -> Peer:
    """The cost of edgartools, whose packages are in a folder."""
    command = [sys.executable, str(PROJECT / "tests/bench/peer.py"), str(mirror)]
    ran = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": str(folder)}, stdout=subprocess.PIPE, text=True, check=True
    )
    return Peer(**json.loads(ran.stdout.splitlines()[-1]))


COLUMNS: dict[str, tuple[Callable[[Round], float], str]] = {
    "orjson.loads, s": (lambda each: each.orjson, ".1f"),
    "full, s": (lambda each: each.full.wall, ".1f"),
    "full / orjson": (lambda each: each.full.wall / each.orjson, ".2f"),
    "CPU / orjson": (lambda each: each.full.cpu / each.orjson, ".2f"),
    "again / full": (lambda each: each.again.wall / each.full.wall, ".1%"),
    "1 % changed / full": (lambda each: each.one_percent.wall / each.full.wall, ".1%"),
    "memory, MB": (lambda each: each.memory, ",.0f"),
}
"""The figures of a round, and how they are printed."""

LIMITS = {
    "full / orjson": "≤ 6",
    "again / full": "≤ 3 %",
    "1 % changed / full": "≤ 12 %",
    "memory, MB": "≤ 4,000",
}
"""The required figures of large files: only the largest size counts."""


AGAIN = 3
"""How often the same files are synchronized again: a single time of two seconds differs by a fifth."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mirror", type=Path, help="the mirror directory whose documents are copied")
    parser.add_argument("--gigabytes", type=float, nargs="+", default=[0.5, 1.0, 2.0], help="sizes of the JSON")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--peer", type=Path, help="the folder with the packages of edgartools.lock")
    parser.add_argument("--folder", type=Path, help="where to write the files; default: a temporary folder")
    given = parser.parse_args()
    rounds = []
    with tempfile.TemporaryDirectory(dir=given.folder) as temporary:
        bulk, changed, home = (Path(temporary) / name for name in ("bulk", "revised", "home"))
        for size in given.gigabytes:
            companies = write(bulk, given.mirror, size * GIGABYTE)
            write(changed, given.mirror, size * GIGABYTE, revise=ONE_PERCENT)
            for _ in range(given.rounds):
                before = parsed(bulk)
                full, *again, one_percent = [
                    synchronized(str(folder / "companyfacts.zip"), home) for folder in (bulk, *[bulk] * AGAIN, changed)
                ]
                median = sorted(again, key=lambda cost: cost.wall)[AGAIN // 2]
                rounds.append(Round(size, companies, (before + parsed(bulk)) / 2, full, median, one_percent))
                shutil.rmtree(home)
            shutil.rmtree(bulk)
            shutil.rmtree(changed)
        sample = Path(temporary) / "sample"
        again = [synchronized("sample", sample) for _ in range(2)][-1]
    edgartools = peer(given.peer, given.mirror) if given.peer else None
    show(rounds, again, edgartools)
    print(
        json.dumps(
            {
                "rounds": [asdict(each) for each in rounds],
                "sample_again": asdict(again),
                "edgartools": asdict(edgartools) if edgartools else None,
            }
        )
    )


def show(rounds: Sequence[Round], sample_again: Cost, edgartools: Peer | None) -> None:
    """Print a table: for each size the median of each figure, and its range if there are several rounds."""
    table = Table(title="synchronizations from bulk files", title_justify="left")
    table.add_column("", no_wrap=True)
    table.add_column("target", justify="right")
    columns = []
    for size, companies in dict.fromkeys((each.gigabytes, each.companies) for each in rounds):
        table.add_column(f"{size:g} GB\n{companies:,} companies", justify="right")
        columns.append([each for each in rounds if each.gigabytes == size])
    for name, (of, form) in COLUMNS.items():
        limit = LIMITS.get(name, "")
        table.add_row(name, limit, *(_median([of(each) for each in column], form) for column in columns))
    if edgartools:
        rates = [
            [each.gigabytes * GIGABYTE / 1e6 / each.full.cpu / edgartools.rate for each in column] for column in columns
        ]
        table.add_row("MB/CPU s / edgartools", "≥ 8", *(_median(each, ".1f") for each in rates))
    Console().print(table)
    print(f"Sample, nothing new: {sample_again.cpu:.2f} CPU seconds (target: 2.5)")
    if edgartools:
        print(f"edgartools: {edgartools.rate:.2f} MB a CPU second, {edgartools.twelve_months:,} trailing twelve months")


def _median(values: Sequence[float], form: str) -> str:
    spread = f" ({min(values):{form}} to {max(values):{form}})" if len(values) > 1 else ""
    return f"{statistics.median(values):{form}}{spread}"


if __name__ == "__main__":
    main()
