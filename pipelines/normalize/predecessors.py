"""Predecessors: one company that files under another CIK since it was reorganized.

Belongs here: which CIK may continue which, and what proves it. Does not: other companies under one CIK (breaks).
"""

from collections.abc import Iterable

import polars as pl

SUCCESSIONS: tuple[tuple[str, str, str], ...] = (
    # successor, predecessor, what happened; a candidate only, for the filings have to prove it
    ("0001652044", "0001288776", "Alphabet, holding company of Google since October 2015"),
    ("0001835632", "0001058057", "Marvell Technology, holding company of Marvell Technology Group since April 2021"),
    ("0001744489", "0001001039", "The Walt Disney Company, holding company since March 2019"),
    ("0002012383", "0001364742", "BlackRock, holding company since October 2024"),
    ("0002115436", "0000034088", "Exxon Mobil, reincorporated in 2026"),
    ("0001613103", "0000064670", "Medtronic plc, holding company of Medtronic, Inc. since January 2015"),
    ("0001730168", "0001649338", "Broadcom Inc., redomiciled from Broadcom Limited in April 2018"),
    ("0001649338", "0001441634", "Broadcom Limited, holding company of Avago Technologies since February 2016"),
    ("0001739940", "0000701221", "Cigna, holding company since December 2018"),
    ("0001618921", "0000104207", "Walgreens Boots Alliance, holding company of Walgreen Co. since December 2014"),
    ("0001551182", "0000031277", "Eaton Corporation plc, holding company of Eaton Corporation since November 2012"),
    ("0001707925", "0000884905", "Linde plc, whose accounting predecessor is Praxair, since October 2018"),
)
"""Successor issuers (Exchange Act Rule 12g-3, Form 8-K12B) that go on with their predecessor's statements."""

PERIOD = ["taxonomy", "tag", "unit", "start", "end"]
FEWEST_FIGURES = 20
NEARLY_ALL = 0.9
"""So many figures of the same periods, and nearly all of them equal, make two filers one company."""


def chains(ciks: Iterable[str], listed: Iterable[str]) -> dict[str, list[str]]:
    """Company to the CIKs that it may continue, the nearest first; none that is itself listed.

    Args:
        ciks: the companies asked for.
        listed: every company of the SEC's list: one that is there is no predecessor.
    """
    before = {successor: predecessor for successor, predecessor, _ in SUCCESSIONS}
    taken = set(listed)
    found: dict[str, list[str]] = {}
    for cik in ciks:
        at = cik
        while (earlier := before.get(at)) and earlier not in taken:
            found.setdefault(cik, []).append(earlier)
            at = earlier
    return found


def stitched(raw: pl.DataFrame, predecessors: dict[str, list[str]]) -> pl.DataFrame:
    """The facts of companies, with those of each predecessor that their filings prove under their own CIK.

    Args:
        raw: facts as filed of the companies and of their predecessors, columns of facts.RAW_SCHEMA.
        predecessors: of `chains`.

    Returns:
        the same columns; facts of predecessors that nothing proves are left out.
    """
    if not predecessors:
        return raw
    all_of_them = {cik for chain in predecessors.values() for cik in chain}
    parts = [raw.filter(~pl.col("cik").is_in(all_of_them))]
    for cik, chain in predecessors.items():
        nearest = raw.filter(pl.col("cik") == cik)
        for predecessor in chain:
            earlier = raw.filter(pl.col("cik") == predecessor)
            if not is_continued(earlier, nearest):
                break
            parts.append(earlier.with_columns(cik=pl.lit(cik)))
            nearest = earlier
    return pl.concat(parts)


def is_continued(predecessor: pl.DataFrame, successor: pl.DataFrame) -> bool:
    """Whether the successor's first statements of common periods are the predecessor's figures.

    Args:
        predecessor: facts as filed of one CIK.
        successor: likewise.
    """
    first = successor.sort("filed", "accession").unique(PERIOD, keep="first", maintain_order=True)
    told = predecessor.select(*PERIOD, told="value").unique()
    compared = (
        first.join(told, on=PERIOD, nulls_equal=True)
        .group_by(PERIOD)
        .agg(equal=(pl.col("told") == pl.col("value")).any())
    )
    return compared.height >= FEWEST_FIGURES and bool(compared["equal"].sum() >= NEARLY_ALL * compared.height)
