"""Cost of reading the XBRL package of a filing with an instance of 10 MB, compared with parsing it with lxml alone.

Belongs here: an instance of that size, and its reading. Does not: the reading of many packages (synchronization).
"""

import time

from lxml import etree

from pipelines.edgar.filing.package import read_package
from tests import filing_packages as packages

SIZE = 10_000_000
"""Bytes of an instance; the largest of 125 real ones has 4 million."""
ROUNDS = 3
ELEMENTS = ("Assets", "Liabilities", "Revenues", "NetIncomeLoss", "StockholdersEquity")


def main() -> None:
    """Read the instance several times, in turns with lxml, and print the CPU seconds of each."""
    files = packages.packed(packages.SHEET, packages.SUMS, packages.TITLE) | {f"{packages.NAME}_htm.xml": large()}
    raw = files[f"{packages.NAME}_htm.xml"]
    for _ in range(ROUNDS):
        began = time.process_time()
        etree.fromstring(raw, etree.XMLParser(huge_tree=True))
        parsed = time.process_time()
        facts = len(read_package(files, packages.CIK, packages.ACCESSION).facts)
        read = time.process_time() - parsed
        parsing = parsed - began
        print(f"{len(raw):,} bytes, {facts:,} facts: {read:.2f} CPU seconds, {read / parsing:.1f} times parsing alone")


def large() -> bytes:
    """An instance of SIZE bytes: in each of its contexts some amounts of the balance sheet of a member."""
    parts: list[str] = []
    size = number = 0
    while size < SIZE:
        number += 1
        member = packages.member("us-gaap:StatementBusinessSegmentsAxis", f"alfa:Part{number}Member")
        new = [packages.context(f"part{number}", members=member)]
        new += [packages.fact(f"us-gaap:{name}", number, of=f"part{number}") for name in ELEMENTS]
        parts += new
        size += sum(map(len, new))
    return packages.instance(*parts)


if __name__ == "__main__":
    main()
