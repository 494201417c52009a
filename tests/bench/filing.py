"""The cost of serving one filing while thousands of companies are served: time, CPU, bytes written, bytes of a replica.

Run it with `make bench SOURCE=../shared/edgar`; COMPANIES sets how many there are. The documents of a mirror directory
are copied under other CIKs into bulk files (universe.py), which are synchronized; then one company after another files
a report, and is synchronized as `fundamentals follow` does it. Each time is compared with a copy of the published
file, written before and after in the same run. The last line is JSON.
"""

import argparse
import hashlib
import json
import shutil
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.bench.universe import FACTS, TICKERS, synchronized, write
from warehouse.build.pointer import Pointer, copies_of, current, description_of

ALL_OF_EDGAR = 20_000
"""Companies with symbols or facts, to which the figures are extrapolated."""
FILINGS = 3


@dataclass(frozen=True, slots=True)
class Filing:
    """Costs of one filing: seconds, CPU seconds, MB written, MB that a replica fetches."""

    wall: float
    cpu: float
    written: float
    fetched: float


@dataclass(frozen=True, slots=True)
class Universe:
    """Filings one after another, with the number of companies, the MB of their build, and the seconds of its copy."""

    companies: int
    build: float
    copied: float
    filings: tuple[Filing, ...]


def written() -> int:
    """Bytes that this process and its ended child processes have written."""
    lines = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(lines["wchar"])


def contents(home: Path) -> dict[str, int]:
    """The size of each file of the current build by its digest: a replica fetches the files that it does not have."""
    published = home / "published"
    pointer = current(published)
    assert pointer, "a build is published"
    names = (pointer.file, description_of(pointer.file), pointer.synchronized_file)
    paths = [*(published / name for name in names), *(published / copies_of(pointer.file)).iterdir()]
    paths += published.glob(f"{pointer.file}.*")
    return {hashlib.sha256(path.read_bytes()).hexdigest(): path.stat().st_size for path in paths}


def copied(home: Path) -> float:
    """Seconds to copy the file of the build."""
    pointer: Pointer | None = current(home / "published")
    assert pointer, "a build is published"
    began = time.perf_counter()
    shutil.copyfile(home / "published" / pointer.file, home / "copy")
    seconds = time.perf_counter() - began
    (home / "copy").unlink()
    return seconds


def measured(mirror: Path, companies: int, folder: Path) -> Universe:
    """The cost of some filings, one after another."""
    originals = sorted(int(path.stem[3:]) for path in (mirror / FACTS).glob("*.json"))
    listed = json.loads((mirror / "www.sec.gov/files" / TICKERS).read_bytes())["data"]
    symbols = {row[0]: row[2] for row in reversed(listed)}
    filers = [symbols[cik] for cik in originals[:companies] if cik in symbols][-FILINGS:]
    bulk, revised, home = (folder / name for name in ("bulk", "revised", "home"))
    write(bulk, mirror, 0, most=companies)
    write(revised, mirror, 0, revise=1, most=min(companies, len(originals)))
    synchronized(str(bulk / "companyfacts.zip"), home)
    shutil.copyfile(bulk / TICKERS, revised / TICKERS)  # the others are still listed
    size, seconds, filings = sum(contents(home).values()), [copied(home)], []
    for symbol in filers:
        before, held = written(), contents(home)
        cost = synchronized(str(revised / "companyfacts.zip"), home, "--symbols", symbol)
        fetched = sum(size for digest, size in contents(home).items() if digest not in held)
        filings.append(Filing(cost.wall, cost.cpu, (written() - before) / 1e6, fetched / 1e6))
    return Universe(companies, size / 1e6, statistics.mean([*seconds, copied(home)]), tuple(filings))


def at_scale(universes: Sequence[Universe], name: str) -> float:
    """A figure extrapolated to all of EDGAR: the line through the smallest and the largest universe."""
    first, last = universes[0], universes[-1]
    low, high = (statistics.median(getattr(each, name) for each in one.filings) for one in (first, last))
    if first.companies == last.companies:
        return high
    return high + (high - low) * (ALL_OF_EDGAR - last.companies) / (last.companies - first.companies)


ROWS = {
    "seconds": "wall",
    "CPU seconds": "cpu",
    "MB written": "written",
    "MB that a replica fetches": "fetched",
}


def show(universes: Sequence[Universe]) -> None:
    """Print a table: the median of each figure, its range, and the costs for all of EDGAR."""
    table = Table(title=f"one filing, {FILINGS} times", title_justify="left")
    table.add_column("", no_wrap=True)
    for one in universes:
        table.add_column(f"{one.companies:,} companies\n{one.build:,.0f} MB", justify="right")
    table.add_column(f"{ALL_OF_EDGAR:,}\nextrapolated", justify="right")
    for text, name in ROWS.items():
        cells = []
        for one in universes:
            values = [getattr(each, name) for each in one.filings]
            cells.append(f"{statistics.median(values):,.1f} ({min(values):,.1f} to {max(values):,.1f})")
        table.add_row(text, *cells, f"{at_scale(universes, name):,.0f}")
    ratios = [statistics.median(each.wall for each in one.filings) / one.copied for one in universes]
    table.add_row("seconds / copy of the build's file", *(f"{ratio:,.0f}" for ratio in ratios), "")
    Console().print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mirror", type=Path, help="the mirror directory whose documents are copied")
    parser.add_argument("--companies", type=int, nargs="+", default=[100, 1000, 3500])
    parser.add_argument("--folder", type=Path, help="where to write the files; default: a temporary folder")
    given = parser.parse_args()
    universes = []
    for companies in given.companies:
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            universes.append(measured(given.mirror, companies, Path(folder)))
    show(universes)
    print(json.dumps([asdict(each) for each in universes]))


if __name__ == "__main__":
    main()
