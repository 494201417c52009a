"""Predecessors: one company that files under another CIK since it was reorganized.

Belongs here: which CIK may continue which, and what proves it. Does not: other companies under one CIK (breaks).
"""

from collections.abc import Iterable

import polars as pl

from pipelines.normalize.facts.reports import AMENDMENT, PERIODIC_FORMS

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
    ("0001570585", "0001316631", "Liberty Global, holding company of Liberty Global, Inc. since June 2013"),
    ("0001571949", "0001174746", "Intercontinental Exchange, holding company since November 2013"),
    ("0001585364", "0000820096", "Perrigo Company plc, holding company of Perrigo Company since December 2013"),
    ("0001617640", "0001334814", "Zillow Group, holding company of Zillow since February 2015"),
    ("0001624899", "0000815065", "STERIS plc of England, holding company of STERIS Corporation since November 2015"),
    ("0001757898", "0001624899", "STERIS plc of Ireland, redomiciled from England in March 2019"),
    ("0001623613", "0000069499", "Mylan N.V., holding company of Mylan Inc. since February 2015"),
    ("0001792044", "0001623613", "Viatris, whose accounting predecessor is Mylan N.V., since November 2020"),
    ("0001674862", "0001305014", "Ashland Global Holdings, holding company of Ashland since September 2016"),
    ("0001688568", "0000023082", "DXC Technology, whose accounting predecessor is CSC, since April 2017"),
    ("0001666700", "0000029915", "DowDuPont, whose accounting predecessor is Dow Chemical, since August 2017"),
    ("0001711269", "0000054507", "Evergy, whose accounting predecessor is Westar Energy, since June 2018"),
    ("0001770450", "0000108772", "Xerox Holdings, holding company of Xerox Corporation since July 2019"),
    ("0001811074", "0000097517", "Texas Pacific Land Corporation, the former Trust, since January 2021"),
    ("0001841666", "0000006769", "APA Corporation, holding company of Apache since March 2021"),
    ("0001858681", "0001411494", "Apollo Global Management, holding company since January 2022"),
    ("0001915657", "0000048039", "HF Sinclair, holding company of HollyFrontier since March 2022"),
    ("0001895262", "0001458891", "Noble Corporation plc, holding company since September 2022"),
    ("0001971213", "0000912752", "Sinclair, Inc., holding company of Sinclair Broadcast Group since June 2023"),
    ("0001981792", "0001498828", "Howard Hughes Holdings, holding company since August 2023"),
    ("0001996862", "0001144519", "Bunge Global SA, redomiciled from Bermuda in November 2023"),
    ("0002011641", "0001832433", "Ferguson Enterprises, holding company of Ferguson plc since August 2024"),
)
"""Successor issuers (Exchange Act Rule 12g-3, Form 8-K12B) that go on with their predecessor's statements.

Many a predecessor files on as a subsidiary: what it states then is another company's.
"""

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

    A predecessor's filings count until the successor goes on with its figures.

    Args:
        raw: facts as filed of the companies and of their predecessors, columns of reports.RAW_SCHEMA.
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
            earlier = _until_taken_over(raw.filter(pl.col("cik") == predecessor), nearest)
            if not is_continued(earlier, nearest):
                break
            parts.append(earlier.with_columns(cik=pl.lit(cik)))
            nearest = earlier
    return pl.concat(parts)


def _until_taken_over(predecessor: pl.DataFrame, successor: pl.DataFrame) -> pl.DataFrame:
    """What the predecessor filed before the successor's first periodic report of a period that both state."""
    periodic = successor.filter(pl.col("form").str.strip_suffix(AMENDMENT).is_in(PERIODIC_FORMS))
    common = periodic.join(predecessor.select(PERIOD).unique(), on=PERIOD, how="semi", nulls_equal=True)
    return predecessor.filter(pl.col("filed") < common.get_column("filed").min())


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
