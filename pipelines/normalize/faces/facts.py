"""The facts of filings that companyfacts lacks, and the lines of faces under names that the tables of lines know.

Belongs here: which filed facts are added, their periods, and the sections of faces as frames. Does not: the section of
a line (sheets), the class of a line by its words (words), amounts made of the facts (balance, facts).

Companyfacts' copy of a fact stays. A fact under an element of the filer's own, or of some members, is added only where
a line of a statement has it; its row names the element and the member as filed.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import polars as pl

from pipelines.normalize.elements.lines import BOTH_SIDES, IFRS_PREFIX
from pipelines.normalize.elements.sources import IFRS, US_GAAP
from pipelines.normalize.faces.flows import filed_tag, of_flows
from pipelines.normalize.faces.sheets import FaceLine, Names, section_lines
from pipelines.normalize.faces.sources import COMPANYFACTS, COVERS, DATA_SET, FILING
from pipelines.normalize.facts.raw import RAW_SCHEMA

AS_FILED: dict[str, type[pl.DataType]] = {
    "source": pl.String,
    "filed_tag": pl.String,
    "member": pl.String,
    "label": pl.String,
}
"""Columns about the source of a row; `filed_tag` is the filed element, with its prefix, if the rules know it by another
name."""

ALL_RAW = pl.Schema([*RAW_SCHEMA.items(), *AS_FILED.items()])

SHOWN_SCHEMA = pl.Schema({"cik": pl.Int64, "accession": pl.String, "tag": pl.String, "is_part": pl.Boolean})
"""A standard element of an income or cash flow statement; `is_part`: it may be a part of a total of revenue."""

FACE_SCHEMA = pl.Schema(
    {
        "cik": pl.Int64,
        "accession": pl.String,
        "section": pl.String,
        "way": pl.String,
        "name": pl.String,
        "whole": pl.String,
    }
)
"""A line of a section of the face of a filing: `name` in elements.lines.LINES; `whole`, for a line of some members, the
name of the line of the whole company. In the order of the face; `way` is one of sheets.WAYS."""

LINE_COLUMNS = (
    "cik", "accession", "source", "statement", "report", "line", "label", "element", "taxonomy", "own", "abstract",
    "negated", "member", "parent", "weight", "unit", "start", "end", "quarters", "value",
)  # fmt: skip
FACT_COLUMNS = (
    "cik",
    "accession",
    "source",
    "taxonomy",
    "element",
    "own",
    "unit",
    "start",
    "end",
    "quarters",
    "value",
    "member",
    "label",
)


FILINGS = pl.Schema({"cik": pl.String, "accession": pl.String, "form": pl.String, "filed": pl.Date})
"""The filings of other sources, with form and filing day."""

FILING_KEY = ["cik", "accession"]
FACT = ["cik", "accession", "tag", "unit", "start", "end"]
ROUNDED = 0.005
"""The largest difference, as a share, of a figure in the text that is rounded to two digits. If the difference is
larger, the filing counts, because companyfacts is made from it."""
_TAKEN_OFF = re.compile(r"\W*less\b", re.IGNORECASE)
"""The beginning of labels of lines that are subtracted, for statements without a calculation."""
_OTHER_COMPANIES = "LegalEntity"
"""The axis of companies that file together: a member of it is another company."""
_MONTH = 16
"""The first day of a month that is rounded to the end of this month; earlier days are rounded to the end of the month
before."""


@dataclass(frozen=True, slots=True)
class Filed:
    """The data of data sets and packages for the given companies.

    facts: of standard elements that the rules use, without members (FACT_COLUMNS).
    lines: the lines of statements with their values (LINE_COLUMNS); each filing from one source only.
    filings: `cik`, `accession`, `form`, `filed` (date) of the filings of both.
    by_class: facts per share, counts and income with dimensions (FACT_COLUMNS).
    covers: the symbols on covers of reports, with dimensions (COVERS).
    """

    facts: pl.DataFrame
    lines: pl.DataFrame
    filings: pl.DataFrame
    by_class: pl.DataFrame = field(default_factory=pl.DataFrame)
    covers: pl.DataFrame = field(default_factory=COVERS.to_frame)


def with_filed(raw: pl.DataFrame, filed: Filed | None) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Add the facts of filings that companyfacts lacks, and read the sections of their balance sheets.

    Args:
        raw: facts of companyfacts (raw.RAW_SCHEMA).
        filed: the data of the other sources; None without any.

    Returns:
        all facts (ALL_RAW), the lines of the sections of balance sheets (FACE_SCHEMA), the elements of other statements
        (SHOWN_SCHEMA), and facts by class (ALL_RAW).
    """
    own = raw.with_columns(
        source=pl.lit(COMPANYFACTS), **{n: pl.lit(None, t) for n, t in AS_FILED.items() if n != "source"}
    )
    if filed is None or not filed.lines.height + filed.facts.height + filed.by_class.height:
        return own.select(ALL_RAW.names()), FACE_SCHEMA.to_frame(), SHOWN_SCHEMA.to_frame(), ALL_RAW.to_frame()
    of_filings = _of_filings(raw, filed.filings)
    known = raw.join(_of_others(filed), on=FILING_KEY, how="semi")
    periods = _periods(known)
    facts = _as_raw(_dated(filed.facts, periods))
    lines = _dated(filed.lines.filter(~pl.col("member").fill_null("").str.contains(_OTHER_COMPANIES)), periods)
    named, sections = _named_sheets(lines)
    other = _other_amounts(known, facts)
    same = known.select(FACT).join(other, on=FACT, how="anti", nulls_equal=True)
    whole = pl.concat([same, facts.select(FACT)]).select("cik", "accession", "tag", "start", "end")
    more = [facts.join(same, on=FACT, how="anti", nulls_equal=True), _amounts(named), of_flows(lines, whole)]
    added = _of_reports(pl.concat(more, how="diagonal_relaxed"), of_filings).unique(
        ["cik", "taxonomy", "tag", "unit", "start", "end", "accession"], keep="first", maintain_order=True
    )
    by_class = ALL_RAW.to_frame()
    if filed.by_class.height:
        by_class = _of_reports(_as_raw(_dated(filed.by_class, periods)), of_filings)
    if other.height:
        own = own.join(other, on=FACT, how="anti", nulls_equal=True, maintain_order="left")
    return pl.concat([own.select(ALL_RAW.names()), added]), sections, _shown(lines), by_class


def _of_reports(facts: pl.DataFrame, of_filings: pl.DataFrame) -> pl.DataFrame:
    """Filed facts with form and day of their filings: columns of ALL_RAW."""
    dated = facts.join(of_filings, on=FILING_KEY, maintain_order="left")
    as_text = pl.col("start", "end", "filed").cast(pl.String)
    return dated.with_columns(as_text, fy=pl.lit(None, pl.Int32)).select(ALL_RAW.names()).cast(ALL_RAW)


def _of_others(filed: Filed) -> pl.DataFrame:
    """The filings with data from another source than companyfacts, by company: co-registrants share an accession."""
    stated = (filed.facts, filed.lines, filed.by_class)
    return pl.concat([rows.select(FILING_KEY) for rows in stated if rows.height]).unique()


def _shown(lines: pl.DataFrame) -> pl.DataFrame:
    """The standard elements of income and cash flow statements that state an amount of the company as a whole.

    A line may be a part of a total if the calculation adds it to one of revenue or of an own element, or if the
    statement has no calculation.
    """
    of_statements = pl.col("statement").is_in(["IS", "CF"]) & pl.col("member").is_null()
    shown = lines.filter(of_statements, pl.col("value").is_not_null(), pl.col("start").is_not_null())
    own = shown.filter("own").select(*FILING_KEY, parent="element", is_own=pl.lit(value=True)).unique()
    of_revenue = pl.col("parent").str.contains("Revenue|Sales|Turnover").fill_null(value=False)
    return (
        shown.with_columns(has_parents=pl.col("parent").is_not_null().any().over(*FILING_KEY, "statement"))
        .join(own, on=[*FILING_KEY, "parent"], how="left", maintain_order="left")
        .filter(~pl.col("own"))
        .group_by("cik", "accession", tag="element")
        .agg(is_part=(of_revenue | pl.col("is_own").fill_null(value=False) | ~pl.col("has_parents")).all())
        .with_columns(pl.col("cik").cast(pl.Int64))
        .cast(SHOWN_SCHEMA)
    )


def _of_filings(raw: pl.DataFrame, filings: pl.DataFrame) -> pl.DataFrame:
    """Form and filing day of each filing as companyfacts has them, or else as the submissions have them."""
    theirs = raw.select("cik", "accession", "form", "filed").unique(
        ["cik", "accession"], keep="first", maintain_order=True
    )
    others = filings.select("cik", "accession", "form", pl.col("filed").cast(pl.String))
    return pl.concat([theirs, others.join(theirs, on=["cik", "accession"], how="anti")])


def _periods(raw: pl.DataFrame) -> pl.DataFrame:
    """The periods that each filing states in companyfacts, with their rounded day and quarters."""
    dates = raw.select("cik", "accession", pl.col("start", "end").str.to_date("%Y-%m-%d", strict=False)).drop_nulls(
        "end"
    )
    days = (pl.col("end") - pl.col("start")).dt.total_days() + 1
    return (
        dates.group_by("cik", "accession", "start", "end")
        .len()
        .with_columns(month=_rounded(pl.col("end")), quarters=(days / 91.3).round().fill_null(0).cast(pl.Int32))
        .sort("cik", "accession", "len", "end", "start", descending=[False, False, True, True, True])
        .unique(["cik", "accession", "month", "quarters"], keep="first", maintain_order=True)
        .select("cik", "accession", "month", "quarters", own_start="start", own_end="end")
    )


def _rounded(day: pl.Expr) -> pl.Expr:
    """A day rounded to the nearest end of a month, as data sets do."""
    return pl.when(day.dt.day() >= _MONTH).then(day.dt.month_end()).otherwise(day.dt.offset_by("-1mo").dt.month_end())


def _dated(rows: pl.DataFrame, periods: pl.DataFrame) -> pl.DataFrame:
    """Rows of data sets with the periods that their filing states, or else with whole months; others as they are."""
    of_sets = pl.col("source") == DATA_SET
    found = rows.join(
        periods,
        left_on=["cik", "accession", "end", "quarters"],
        right_on=["cik", "accession", "month", "quarters"],
        how="left",
        maintain_order="left",
    )
    first = (
        pl.col("end")
        .dt.offset_by(pl.concat_str(-3 * pl.col("quarters"), pl.lit("mo")))
        .dt.month_end()
        .dt.offset_by("1d")
    )
    return found.with_columns(
        start=pl.when(~of_sets)
        .then("start")
        .when(pl.col("own_end").is_not_null())
        .then("own_start")
        .when(pl.col("quarters") > 0)
        .then(first),
        end=pl.when(of_sets).then(pl.coalesce("own_end", "end")).otherwise("end"),
    ).drop("own_start", "own_end")


def _other_amounts(raw: pl.DataFrame, facts: pl.DataFrame) -> pl.DataFrame:
    """The facts for which the filing itself has another amount than companyfacts, by more than rounding: FACT."""
    own = facts.filter(pl.col("source") == FILING).select(*FACT, stated="value")
    both = raw.select(*FACT, "value").join(own, on=FACT, nulls_equal=True)
    differs = (pl.col("value") - pl.col("stated")).abs() > ROUNDED * pl.max_horizontal(pl.col("value", "stated").abs())
    return both.filter(differs).select(FACT).unique()


def _as_raw(facts: pl.DataFrame) -> pl.DataFrame:
    """Filed facts with the column names and types of companyfacts."""
    return facts.rename({"element": "tag"}).with_columns(
        pl.col("start", "end").cast(pl.String), filed_tag=pl.lit(None, pl.String)
    )


def _named_sheets(lines: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The lines of balance sheets with their names, and the sections as FACE_SCHEMA."""
    sheets = lines.filter(pl.col("statement") == "BS").with_columns(
        tag=pl.when(pl.col("taxonomy") == IFRS)
        .then(pl.concat_str(pl.lit(IFRS_PREFIX), "element"))
        .otherwise("element"),
        heading=pl.when("abstract").then(pl.col("label").fill_null("").str.to_lowercase()),
    )
    has_both = pl.col("tag").is_in(BOTH_SIDES) & pl.col("value").is_not_null()
    pages = sheets.filter(has_both).group_by(FILING_KEY).agg(page=pl.col("report").min())
    is_first = (pl.col("report") == pl.col("page")).fill_null(value=True)  # a package has no pages
    sheets = sheets.join(pages, on=FILING_KEY, how="left", maintain_order="left").filter(is_first)
    of_lines = (
        sheets.filter(pl.col("abstract") | pl.col("value").is_not_null())
        .unique(["cik", "accession", "report", "line", "member"], keep="first", maintain_order=True)
        .sort("cik", "accession", "report", "line", "member", maintain_order=True)
        .select("cik", "accession", "tag", "own", "member", "label", "heading", "parent", "weight")
    )
    rows, names = [], []
    for cik, of_company in groupby(of_lines.iter_rows(), key=lambda row: row[0]):
        of_filer = Names()
        for accession, of_filing in groupby(of_company, key=lambda row: row[1]):
            face, headings = _face(row[2:] for row in of_filing)
            found = section_lines(face, headings, of_filer)
            wholes = {(one.section, one.line.element): one.name for one in found if one.line.member is None}
            for one in found:
                whole = wholes.get((one.section, one.line.element)) if one.line.member else None
                rows.append((int(cik), accession, one.section, one.way, one.name, whole))
                if one.name != one.line.element:
                    names.append((cik, accession, one.line.element, one.line.member, one.name, one.line.weight))
    schema = dict.fromkeys(("cik", "accession", "tag", "member", "name"), pl.String) | {"sign": pl.Float64}
    named = pl.DataFrame(names, schema=schema, orient="row").unique(
        ["cik", "accession", "tag", "member", "name"], keep="first", maintain_order=True
    )
    amounts = sheets.filter(pl.col("value").is_not_null(), pl.col("start").is_null()).join(
        named, on=["cik", "accession", "tag", "member"], nulls_equal=True, maintain_order="left"
    )
    return amounts, pl.DataFrame(rows, schema=FACE_SCHEMA, orient="row").unique(maintain_order=True)


def _face(rows: Iterable[tuple[Any, ...]]) -> tuple[list[FaceLine], dict[int, str]]:
    """The lines of a balance sheet and, by the place of the line after each, the words of its headings."""
    face: list[FaceLine] = []
    headings: dict[int, str] = {}
    heading = ""
    rows = [*rows]
    of_ifrs = {tag.removeprefix(IFRS_PREFIX): tag for tag, *_ in rows if tag.startswith(IFRS_PREFIX)}
    for tag, own, member, label, of_heading, parent, weight in rows:
        if of_heading is not None:
            heading = headings[len(face)] = str(of_heading)
            continue
        face.append(
            FaceLine(
                str(tag),
                bool(own),
                member,
                str(label or ""),
                heading,
                None if parent is None or (total := of_ifrs.get(parent, parent)) == tag else total,
                float(weight if weight is not None else -1 if _TAKEN_OFF.match(label or "") else 1),
            )
        )
    return face, headings


def _amounts(named: pl.DataFrame) -> pl.DataFrame:
    """The amounts of named lines, as facts under these names; amounts that a consolidation eliminates are negative."""
    is_eliminated = pl.col("member").str.contains("Eliminat").fill_null(value=False)
    return named.select(
        "cik",
        "accession",
        "source",
        "member",
        "label",
        "unit",
        "start",
        "end",
        taxonomy=pl.col("taxonomy").fill_null(US_GAAP),
        tag="name",
        filed_tag=filed_tag(),
        value=pl.when(is_eliminated)
        .then(-pl.col("value").abs())
        .when(pl.col("sign") < 0)
        .then(-pl.col("value"))
        .otherwise("value"),
    )
