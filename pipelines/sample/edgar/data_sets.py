"""The simulated filings of a quarter as one of the SEC's Financial Statement Data Sets, and the page that lists the
data sets.

Belongs here: tables and their columns, in the layout with `segments`. Does not: the facts (filings, left_out), the
statements (faces).

The tables have the numbers on the statements, in less detail than the instances: days are rounded to the end of a
month, durations to whole quarters.
"""

from calendar import monthrange
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta

from pipelines.sample.business.filings import Filing
from pipelines.sample.edgar.bulk import NEW_YORK, Filed, archive
from pipelines.sample.edgar.faces import Face, faces, label
from pipelines.sample.edgar.left_out import OWN, Concept, Stated, stated
from pipelines.sample.edgar.package import instance_name
from pipelines.sample.filer.traits import Filer

PAGE = "https://www.sec.gov/data-research/sec-markets-data/financial-statement-data-sets"
FOLDER = "/files/dera/data/financial-statement-data-sets/"
QUARTERS = 8
"""The number of listed quarters."""

SUB = (
    *("adsh", "cik", "name", "sic", "countryba", "stprba", "cityba", "zipba", "bas1", "bas2", "baph", "countryma"),
    *("stprma", "cityma", "zipma", "mas1", "mas2", "countryinc", "stprinc", "ein", "former", "changed", "afs", "wksi"),
    *("fye", "form", "period", "fy", "fp", "filed", "accepted", "prevrpt", "detail", "instance", "nciks", "aciks"),
)
TAG = ("tag", "version", "custom", "abstract", "datatype", "iord", "crdr", "tlabel", "doc")
NUM = ("adsh", "tag", "version", "ddate", "qtrs", "uom", "segments", "coreg", "value", "footnote")
PRE = ("adsh", "report", "line", "stmt", "inpth", "rfile", "tag", "version", "plabel", "negating")
DAYS_OF_QUARTER = 91.3125
CUT = ("Axis", "Member", "Domain")
VERSIONS = {"ifrs-full": "ifrs"}

Quarter = tuple[int, int]
Row = dict[str, str | int]


def quarter_of(day: date) -> Quarter:
    """The calendar year and quarter of a day."""
    return day.year, (day.month + 2) // 3


def listed(last: date) -> list[Quarter]:
    """The newest quarters that have ended by a day, newest first."""
    year, quarter = quarter_of(last + timedelta(days=1))
    newest = year * 4 + quarter - 2
    return [(number // 4, number % 4 + 1) for number in range(newest, newest - QUARTERS, -1)]


def page(quarters: Iterable[Quarter]) -> bytes:
    """The page that lists the zip files."""
    rows = "".join(
        f'<tr><td><a href="{FOLDER}{year}q{quarter}.zip">{year} Q{quarter}</a></td></tr>\n'
        for year, quarter in quarters
    )
    title = "<head><title>Financial Statement Data Sets</title></head>"
    return f"<html>{title}<body>\n<table>\n{rows}</table>\n</body></html>\n".encode()


def data_set(filed: Filed, amended: frozenset[str]) -> bytes:
    """Make the zip file of the periodic reports among these filings.

    Args:
        filed: filings with their filers.
        amended: the accession numbers of filings that were amended later.
    """
    tables: dict[str, list[Row]] = {"sub": [], "tag": [], "num": [], "pre": []}
    tags: dict[tuple[str, str], Row] = {}
    for filer, filing in filed:
        if filing.is_periodic and filing.facts:
            numbers = stated(filer, filing)
            shown = faces(filer, numbers)
            tables["sub"].append(_sub(filer, filing, filing.accession in amended))
            for one in numbers:
                if any(face.shows(one) for face in shown):
                    tables["num"].append(_num(filing, one))
                    tags.setdefault((one.fact.tag, _version(filing, one.concept)), _tag(filer, filing, one))
            tables["pre"] += _pre(filer, filing, shown, {one.concept for one in numbers})
    tables["tag"] = [tags[key] for key in sorted(tags)]
    columns = {"sub": SUB, "tag": TAG, "num": NUM, "pre": PRE}
    return archive({f"{name}.txt": _text(columns[name], rows) for name, rows in tables.items()})


def _text(columns: Sequence[str], rows: Iterable[Row]) -> bytes:
    lines = ("\t".join(str(row.get(column, "")) for column in columns) for row in rows)
    return "".join(f"{line}\n" for line in ("\t".join(columns), *lines)).encode()


def _sub(filer: Filer, filing: Filing, was_amended: bool) -> Row:
    return {
        "adsh": filing.accession,
        "cik": int(filer.cik),
        "name": filer.name.upper(),
        "sic": filer.sic,
        "countryinc": "US",
        "stprinc": "DE",
        "fye": f"{filer.calendar.year_end(filing.report_date.year):%m%d}",
        "form": filing.form,
        "period": _month_end(filing.report_date),
        "fy": filing.fiscal_year or "",
        "fp": filing.fiscal_period or "",
        "filed": f"{filing.filed:%Y%m%d}",
        "accepted": f"{filing.accepted.astimezone(NEW_YORK):%Y-%m-%d %H:%M:%S}.0",
        "prevrpt": int(was_amended),
        "detail": 1,
        "instance": instance_name(filing),
        "nciks": 1,
    }


def _tag(filer: Filer, filing: Filing, one: Stated) -> Row:
    fact, version = one.fact, _version(filing, one.concept)
    per_share = fact.unit.endswith("/shares")
    kind = "perShare" if per_share else "shares" if fact.unit == "shares" else "monetary"
    return {
        "tag": fact.tag,
        "version": version,
        "custom": int(fact.taxonomy == OWN),
        "abstract": 0,
        "datatype": kind,
        "iord": "D" if fact.start else "I",
        "tlabel": label(filer, one.concept),
    }


def _num(filing: Filing, one: Stated) -> Row:
    fact = one.fact
    days = (fact.end - fact.start).days + 1 if fact.start else 0
    return {
        "adsh": filing.accession,
        "tag": fact.tag,
        "version": _version(filing, one.concept),
        "ddate": _month_end(fact.end),
        "qtrs": round(days / DAYS_OF_QUARTER),
        "uom": fact.unit.removesuffix("/shares"),
        "segments": "".join(sorted(f"{_cut(axis)}={_cut(member)};" for axis, member in one.members)),
        "value": f"{fact.value:.4f}",
    }


def _pre(filer: Filer, filing: Filing, shown: Iterable[Face], numbers: set[Concept]) -> Iterator[Row]:
    """The lines with numbers; headings and axes are counted, but have no rows."""
    for face in shown:
        for line, place in enumerate(face.places):
            if place.concept in numbers:
                yield {
                    "adsh": filing.accession,
                    "report": face.number,
                    "line": line,
                    "stmt": face.code,
                    "inpth": int(face.in_brackets),
                    "rfile": "H",
                    "tag": place.concept[1],
                    "version": _version(filing, place.concept),
                    "plabel": label(filer, place.concept, place.label_role),
                    "negating": int(place.label_role.startswith("negated")),
                }


def _version(filing: Filing, concept: Concept) -> str:
    """Taxonomy and year; for an own element, the filing that defines it."""
    prefix = concept[0]
    return filing.accession if prefix == OWN else f"{VERSIONS.get(prefix, prefix)}/{filing.report_date.year}"


def _cut(name: str) -> str:
    """The short name of an axis or member, without prefix and common parts: `ClassOfStock` for
    `us-gaap:StatementClassOfStockAxis`."""
    word = name.partition(":")[2]
    for end in CUT:
        word = word.removesuffix(end)
    return word.removeprefix("Statement")


def _month_end(day: date) -> str:
    """The end of a month that is nearest to a day: up to the fifteenth, the end of the month before."""
    near = day if day.day > 15 else day - timedelta(days=day.day)
    return f"{near:%Y%m}{monthrange(near.year, near.month)[1]:02d}"
