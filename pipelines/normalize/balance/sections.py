"""The table of balance sheet sections: the lines that were read, and the filing's total of each section.

Belongs here: the rows of a section, and which sections are published. Does not: which amounts are lines (reading), what
they prove (cash, debt).
"""

from collections.abc import Iterable, Iterator, Sequence

import polars as pl

from pipelines.normalize.balance.reading import Filing
from pipelines.normalize.elements.lines import (
    COUNTED,
    FACE_PREFIX,
    IFRS_PREFIX,
    LIABILITIES,
    LINES,
    NONCURRENT_LIABILITIES,
    SECTION_TOTALS,
)
from warehouse.contract.sections import SECTIONS, TOTAL

ITEMS = {section: item for item, sections in SECTIONS.items() for section in sections}
"""For each section, the item that its lines belong to."""

_DIFFERENCES = {
    NONCURRENT_LIABILITIES: "liabilities less current liabilities",
    LIABILITIES: "liabilities and equity less equity",
}
"""How a total is computed if no element states it."""

_NOT_STATED = (None,)

Row = tuple[int, int, str, str, str, bool, int, int | None, float | None, float | None]
"""A row of the frame section_lines; days are counted from 1970."""


def rows(filings: Iterable[Filing]) -> Iterator[Row]:
    """The rows of all sections of a company's filings.

    A section that does not add up has its likeliest lines. It also has, without amounts, the debt or cash lines with
    which the filer's section last added up and which this filing does not state. It is left out if it has no lines.
    """
    before: dict[str, tuple[str, ...]] = {}
    for filing in filings:
        for section, read in filing.sections.items():
            lines = before[section] = tuple(group[0] for group in read.readings[0])
            if section not in filing.unproved:
                yield from _rows(filing, section, read.days, lines, adds_up=True)
        for section, days in filing.unproved.items():
            lines = filing.likely_lines(section, days[0])
            stated = {element for day in days for element in filing.days[day]}
            gone = [
                line for line in before.get(section, ()) if line not in stated and LINES[section][line].kind in COUNTED
            ]
            if lines or gone:
                yield from _rows(filing, section, days, (*lines, *gone), adds_up=False)


def _rows(filing: Filing, section: str, days: Sequence[int], lines: Iterable[str], *, adds_up: bool) -> Iterator[Row]:
    """The lines of a section with their amounts in both columns, and its total."""
    day = days[0]
    compared = days[1] if len(days) > 1 else None
    own, other = filing.days[day], {} if compared is None else filing.days[compared]
    total = filing.totals[day][section]
    head = (filing.cik, filing.seq, section)
    columns = (adds_up, day, compared)
    for line in lines:
        name, kind = line.removeprefix(IFRS_PREFIX), LINES[section][line].kind
        yield (*head, name, kind, *columns, own.get(line, _NOT_STATED)[0], other.get(line, _NOT_STATED)[0])
    elements = [name for name in SECTION_TOTALS[section] if name in own and own[name][0] == total]
    name = elements[0].removeprefix(IFRS_PREFIX) if elements else _DIFFERENCES.get(section, "")
    yield (*head, name, TOTAL, *columns, total, None if compared is None else filing.totals[compared][section])


def published(
    lines: pl.DataFrame, versions: pl.DataFrame, gaps: pl.DataFrame, filings: pl.DataFrame, facts: pl.DataFrame
) -> pl.DataFrame:
    """Select the sections to publish: behind current values of debt and cash, and for days without a value.

    For a day without a value, the sections are taken from the newest filing with its own balance sheet on this day, or
    else from the newest filing that has the day as its comparative.

    Args:
        lines: the frame section_lines.
        versions: of history.versions.published.
        gaps: `cik`, `period_end`, `item`.
        filings: `cik`, `seq`, `accession`.
        facts: `cik`, `seq`, `tag`, `filed_tag`, `member`.

    Returns:
        the selected rows, with `accession` in place of `seq`, the filed element of lines of a face, and its `member`.
    """
    value = ["cik", "period_end", "item"]
    item = pl.col("section").replace_strict(ITEMS, return_dtype=pl.String)
    sections = lines.filter(pl.col("class") == TOTAL).select("cik", "seq", "section", "day", "compared_day", item=item)
    named = filings.select("cik", "seq", "accession")
    behind = (
        versions.filter(pl.col("item").is_in(ITEMS.values()))
        .unique(value, keep="last", maintain_order=True)
        .filter(pl.col("value").is_not_null())
        .select("cik", "item", accession=pl.col("legs").list.first().struct.field("accession"))
        .join(named, on=["cik", "accession"])
        .join(sections, on=["cik", "seq", "item"])
    )
    missing = gaps.select(value)
    own = missing.join(sections, left_on=value, right_on=["cik", "day", "item"])
    as_compared = missing.join(sections, left_on=value, right_on=["cik", "compared_day", "item"]).join(
        own, on=value, how="anti"
    )
    of_missing = pl.concat([one.select(*value, "seq", "section") for one in (own, as_compared)]).filter(
        pl.col("seq") == pl.col("seq").max().over(value)
    )
    key = ["cik", "seq", "section"]
    kept = pl.concat([behind.select(key), of_missing.select(key)]).unique()
    proved = lines.join(kept, on=key, how="semi", maintain_order="left")
    return _as_filed(proved, facts).join(named, on=["cik", "seq"], maintain_order="left").drop("seq")


def _as_filed(lines: pl.DataFrame, facts: pl.DataFrame) -> pl.DataFrame:
    """Give lines of faces the element and member of their fact, or of the last fact before if the filing states none.

    Two lines with the same element and member are the same fact; the second one is left out.
    """
    facts_of_faces = facts.filter(pl.col("tag").str.starts_with(FACE_PREFIX)).select(
        "cik", "seq", "member", element="tag", filed=pl.col("filed_tag").str.split(":").list.last()
    )
    of_lines = lines.with_row_index("row").sort("seq")
    found = of_lines.join_asof(facts_of_faces.sort("seq"), on="seq", by=["cik", "element"], check_sortedness=False)
    return (
        found.with_columns(element=pl.coalesce("filed", "element"))
        .sort("row")
        .unique(["cik", "seq", "section", "element", "member", "class"], keep="first", maintain_order=True)
        .drop("row", "filed")
    )
