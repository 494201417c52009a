"""Table `newest_statements`: the statements of a company's newest filings, in the filer's words and order.

Belongs here: choosing the filings, lines and columns of a build. Does not: reading filings (stages.filed.statements),
the files for analysts, which have all lines (filed_files), the lines of a value (warehouse.explanation.statements).

The lines of a filing come from its own documents if they are read, otherwise from its data set. A period is a column if
the statement has more than half as many lines for it as for its fullest period; other periods belong to notes. Cash at
the beginning and at the end of a cash flow statement is in the column of its period.
"""

from collections.abc import Sequence
from datetime import date, timedelta

import polars as pl

from pipelines.normalize.elements.sources import US_GAAP
from pipelines.normalize.faces.sources import DATA_SET
from pipelines.normalize.forms import AMENDMENT, ANNUAL_FORMS
from pipelines.normalize.items.provenance import OWN
from pipelines.stages.batch.schemas import STATEMENT_LINES
from pipelines.storage.lake import Lake, LimitedLake

LINES = "statement_lines"
"""The table of the lake with the lines of packages; lines of data sets are in tables such as
`statement_lines_2010q1`."""
NEWEST = timedelta(days=400)
"""Filings of any form that are sources of current values have lines up to this age before the company's newest
filing."""
EIGHT_QUARTERS = timedelta(days=680)
"""The age of reports of the newest eight quarters: seven quarters, or 640 days, are between the first and the last."""
FIVE_YEARS = timedelta(days=1640)
"""The age of annual reports of the newest five fiscal years: four years, or 1,461 days, are between the first and the
last. Older reports are left out: a filing takes 3.3 to 5.3 kilobytes, the eleven filings of a company about 50, and all
filings since 2009 would take six times as much."""
FULL = 0.5
"""A column has more than this share of the lines of the fullest column."""
ROUNDED = timedelta(days=16)
"""A data set rounds a day to the nearest end of a month."""
QUARTER = 91.3
"""Days of a quarter."""
BALANCE_SHEET, CASH_FLOWS = "BS", "CF"

STATEMENT = ["cik", "accession", "statement"]
COLUMN = ["quarters", "end"]


def quarters_of(lake: Lake) -> list[str]:
    """The quarters with decoded data sets; on other machines of a cluster, the lake does not show them."""
    return sorted(path.name.removeprefix(f"{LINES}_") for path in lake.folder.glob(f"{LINES}_????q?"))


def of_values(part: LimitedLake, current: pl.DataFrame, quarters: Sequence[str]) -> pl.DataFrame:
    """The rows of the table.

    Args:
        part: the tables of a batch of companies.
        current: their current values, with `cik` and `legs`.
        quarters: the result of quarters_of.
    """
    of_legs = current.select("cik", "legs").explode("legs").unnest("legs").drop_nulls("accession")
    newest = _newest(of_legs, part)
    lines = _with_totals(_named(_lines(part, newest, quarters))).filter(
        pl.col("member").is_null() | pl.struct("accession", "tag", "member").is_in(_facts(of_legs))
    )
    stated = _with_fiscal_days(lines.filter(pl.col("value").is_not_null()), part)
    columns = _columns(stated)
    headings = lines.filter("is_heading").join(columns, on=STATEMENT, how="semi")
    shown = stated.join(columns, on=[*STATEMENT, *COLUMN], how="semi")
    rows = pl.concat([headings, shown, _balances(stated, columns)], how="diagonal")
    return rows.unique([*STATEMENT, "line", *COLUMN, "member"], keep="first", maintain_order=True)


def _newest(legs: pl.DataFrame, part: LimitedLake) -> pl.DataFrame:
    """The filings in the table: `accession` and `filed`."""
    reports = part.read("filings").select("cik", "accession", "form", "filed").drop_nulls("filed")
    is_annual = pl.col("form").str.strip_suffix(AMENDMENT).is_in(ANNUAL_FORMS)
    kinds = (
        (legs.select("cik", "accession", "filed"), NEWEST),
        (reports.drop("form"), EIGHT_QUARTERS),
        (reports.filter(is_annual).drop("form"), FIVE_YEARS),
    )
    filed = pl.col("filed")
    some = [rows.filter(filed >= filed.max().over("cik") - age) for rows, age in kinds]
    return pl.concat(some).select("accession", "filed").unique("accession")


def _facts(legs: pl.DataFrame) -> pl.Series:
    return legs.drop_nulls("member").select(pl.struct("accession", "tag", "member")).to_series().implode()


def _lines(part: LimitedLake, filings: pl.DataFrame, quarters: Sequence[str]) -> pl.DataFrame:
    """The lines of filings, each filing from one source."""
    accession = pl.col("accession").cast(pl.String)
    wanted = accession.is_in(filings["accession"].implode())
    of_packages = part.read(LINES, wanted) if part.lake.holds(LINES) else STATEMENT_LINES.to_frame()
    read = of_packages["accession"].cast(pl.String).unique().implode()
    first = filings["filed"].min()
    since = f"{first.year}q{(first.month + 2) // 3}" if isinstance(first, date) else ""
    tables = [f"{LINES}_{quarter}" for quarter in quarters if quarter >= since and filings.height]
    of_sets = [part.read(name, wanted & ~accession.is_in(read)) for name in tables]
    return pl.concat([of_packages, *of_sets])


def _named(lines: pl.DataFrame) -> pl.DataFrame:
    """The lines with the columns of the table; they are numbered from one over all pages of a statement."""
    texts = ["accession", "source", "statement", "label", "element", "parent", "member", "unit"]
    days = (pl.col("end") - pl.col("start")).dt.total_days() + 1
    place = pl.struct(pl.col("report").fill_null(0), "line").rank("dense").over(STATEMENT)
    return lines.with_columns(
        pl.col(texts).cast(pl.String),
        tag=pl.concat_str(
            pl.when("own").then(pl.lit(OWN)).otherwise(pl.col("taxonomy").cast(pl.String).fill_null(US_GAAP)),
            pl.lit(":"),
            "element",
        ),
        is_heading="abstract",
        quarters=pl.coalesce("quarters", (days / QUARTER).round(), pl.when(pl.col("end").is_not_null()).then(0)).cast(
            pl.Int32
        ),
        line=place.cast(pl.Int32),
    )


def _with_totals(lines: pl.DataFrame) -> pl.DataFrame:
    """Add a flag: whether other lines of the statement add up to the line; null for data sets, which do not state
    it."""
    totals = lines.select(*STATEMENT, element="parent").drop_nulls("element").unique().with_columns(is_total=True)
    is_known = pl.col("source") != DATA_SET
    return lines.join(totals, on=[*STATEMENT, "element"], how="left", maintain_order="left").with_columns(
        is_total=pl.when(is_known).then(pl.col("is_total").fill_null(value=False))
    )


def _with_fiscal_days(stated: pl.DataFrame, part: LimitedLake) -> pl.DataFrame:
    """Values of data sets with the last day of the fiscal quarter in place of the rounded one."""
    ends = part.read("periods").select("cik", fiscal="period_end").unique().sort("fiscal")
    dated = (
        stated.with_row_index("row")
        .sort("end")
        .join_asof(
            ends,
            left_on="end",
            right_on="fiscal",
            by="cik",
            strategy="nearest",
            tolerance=ROUNDED,
            check_sortedness=False,
        )
        .sort("row")
    )
    is_rounded = (pl.col("source") == DATA_SET) & pl.col("fiscal").is_not_null()
    return dated.with_columns(end=pl.when(is_rounded).then("fiscal").otherwise("end")).drop("row", "fiscal")


def _columns(stated: pl.DataFrame) -> pl.DataFrame:
    """The days of balance sheets and the periods of other statements that become columns."""
    is_day = pl.col("quarters") == 0
    of_company = stated.filter(pl.col("member").is_null(), is_day == (pl.col("statement") == BALANCE_SHEET))
    counted = of_company.group_by(*STATEMENT, *COLUMN).agg(lines=pl.col("line").n_unique())
    return counted.filter(pl.col("lines") > FULL * pl.col("lines").max().over(STATEMENT)).drop("lines")


def _balances(stated: pl.DataFrame, columns: pl.DataFrame) -> pl.DataFrame:
    """Put the balances of cash flow statements into the columns of periods; of two lines, the first is the balance at
    the beginning."""
    line = pl.col("line")
    is_first = (line == line.min().over(*STATEMENT, "tag")) & (line < line.max().over(*STATEMENT, "tag"))
    of_days = stated.filter(pl.col("statement") == CASH_FLOWS, pl.col("quarters") == 0).with_columns(is_first=is_first)
    periods = columns.filter(pl.col("quarters") > 0).rename({"end": "period"})
    placed = of_days.drop("quarters").join(periods, on=STATEMENT)
    beginning = pl.col("period").dt.offset_by(pl.concat_str(-3 * pl.col("quarters"), pl.lit("mo")))
    apart = pl.col("end") - pl.when("is_first").then(beginning).otherwise("period")
    return placed.filter(apart.abs() <= ROUNDED).with_columns(end="period").drop("period", "is_first")
