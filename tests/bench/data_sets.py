"""The cost of reading a quarter of the Financial Statement Data Sets: CPU seconds, and the largest memory of a process.

Belongs here: a quarter of full size, made by copying the filings of a small one under other numbers, and its reading.
Does not: synchronizations (synchronization).
"""

import argparse
import re
import resource
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import polars as pl

from pipelines.edgar.decode.data_sets import read_data_set

FULL = 540_000_000
"""Bytes of `num.txt` in a quarter of 2025."""

PER_COPY = 10_000_000
"""Number that a copy adds to the first ten digits of accessions and to the numbers of companies."""

ACCESSION = re.compile(rb"\b\d{10}(?=-\d\d-\d{6}\b)")
COMPANY = re.compile(rb"^([^\t]+\t)(\d+)", re.MULTILINE)
STANDARD = re.compile(rb"^[^\t]+\t[^\t]+/\d{4}\t.*\n", re.MULTILINE)
"""A row of an element that is not a filer's own: all copies share it."""


def main() -> None:
    """Copy a quarter, read it in a separate process, and print the costs."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.data_sets")
    parser.add_argument("quarter", type=Path, help="zip file of the quarter that is copied")
    parser.add_argument("--read", action="store_true", help="read the zip file as it is")
    given = parser.parse_args()
    if given.read:
        read(given.quarter)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "copied.zip"
        copy(given.quarter, path)
        subprocess.run([sys.executable, "-m", "tests.bench.data_sets", path, "--read"], check=True)


def copy(quarter: Path, path: Path) -> None:
    """Write a quarter whose `num.txt` has FULL bytes."""
    with zipfile.ZipFile(quarter) as few, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as many:
        copies = -(-FULL // few.getinfo("num.txt").file_size)
        for name in ("sub.txt", "tag.txt", "num.txt", "pre.txt"):
            header, _, rows = few.read(name).partition(b"\n")
            with many.open(name, "w") as table:
                table.write(header + b"\n")
                for number in range(copies):
                    table.write(copied(name, rows, number * PER_COPY))
                    if name == "tag.txt":
                        rows = STANDARD.sub(b"", rows)


def copied(name: str, rows: bytes, more: int) -> bytes:
    """The rows of a table with other accessions, and other companies in `sub.txt`."""
    rows = ACCESSION.sub(lambda found: b"%010d" % (int(found[0]) % PER_COPY + more), rows)
    if name == "sub.txt":
        rows = COMPANY.sub(lambda found: found[1] + b"%d" % (int(found[2]) % PER_COPY + more), rows)
    return rows


def read(path: Path) -> None:
    """Read a quarter, and print its size and the time and memory of the process."""
    began = _cpu_seconds()
    data = read_data_set(path, path.stem)
    cpu, memory = _cpu_seconds() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print(f"{data.filings.height:,} filings, {data.facts.height:,} facts, {data.lines.height:,} lines of statements")
    print(f"{cpu:.1f} CPU seconds, {memory:,.0f} MB, with {pl.thread_pool_size()} threads")


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
