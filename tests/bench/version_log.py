"""The cost of the version log: bytes and seconds per million versions, on copies of real or simulated companies.

Run it with `make bench`. The companies of a synchronized home are copied under other CIKs until there are about a
million versions. Each step is timed once, in this process, and compared with a plain copy of the same Parquet bytes.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
from rich.console import Console
from rich.progress import track
from rich.table import Table

from pipelines.normalize.history.versions import numbered, on_basis_of_today, recorded, to_append
from pipelines.normalize.pipeline import ITEM_SIGNS, standardize
from pipelines.storage import version_log
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake

MILLION = 1_000_000
RULES = "bench"


def copies(facts: pl.DataFrame, number: int) -> pl.DataFrame:
    """The facts under other CIKs, with different accession numbers."""
    prefix = f"{number:04}"
    return facts.with_columns(
        cik=prefix + pl.col("cik").str.slice(4), accession=prefix + pl.col("accession").str.slice(4)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--versions", type=int, default=MILLION, help="about how many versions to make")
    wanted = parser.parse_args().versions
    facts = Lake(Home.from_environment().tables).read("facts")
    started = time.perf_counter()
    one = standardize(facts)
    seconds = {"standardize": time.perf_counter() - started}
    batches = max(1, round(wanted / one.versions.height))
    replayed, filings, bases = [one.versions], [one.filings], [one.share_bases]
    for number in track(range(1, batches), "standardize", console=Console(stderr=True)):
        copied = copies(facts, number)
        started = time.perf_counter()
        made = standardize(copied)
        seconds["standardize"] += time.perf_counter() - started
        replayed.append(made.versions)
        filings.append(made.filings)
        bases.append(made.share_bases)
    rows, of_filings = pl.concat(replayed), pl.concat(filings)
    order, factors = of_filings.select("cik", "accession", "seq"), pl.concat(bases)

    def timed(name: str, step: Callable[[], pl.DataFrame]) -> pl.DataFrame:
        began = time.perf_counter()
        result = step()
        seconds[name] = time.perf_counter() - began
        return result

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        new = timed(
            "first extension of the log",
            lambda: recorded(to_append(version_log.read(home, []), rows, order, RULES), datetime.now(UTC), RULES),
        )
        began = time.perf_counter()
        segment = version_log.write(home, "bench", new)
        seconds["write the segment"] = time.perf_counter() - began
        size = (home / segment).stat().st_size
        known = timed("read the log", lambda: on_basis_of_today(version_log.read(home, [segment]), factors, ITEM_SIGNS))
        timed("compare with the filings again", lambda: to_append(known, rows, order, RULES))
        timed("number the versions", lambda: numbered(known))
        began = time.perf_counter()
        (home / "copy").write_bytes((home / segment).read_bytes())
        seconds["reference: copy the segment's bytes"] = time.perf_counter() - began
    _show(new, size, seconds)


def _show(new: pl.DataFrame, size: int, seconds: dict[str, float]) -> None:
    millions = new.height / MILLION
    legs = new["legs"].list.len().sum()
    table = Table(title=f"{new.height:,} versions of {new['cik'].n_unique():,} companies, {legs:,} legs")
    for column in ("step", "seconds", "seconds a million versions"):
        table.add_column(column, justify="left" if column == "step" else "right")
    for name, took in seconds.items():
        table.add_row(name, f"{took:.2f}", f"{took / millions:.1f}")
    console = Console()
    console.print(table)
    console.print(f"segment: {size:,} bytes, {size / millions / 1e6:.1f} MB a million versions with their legs")


if __name__ == "__main__":
    main()
