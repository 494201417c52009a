"""Chooses the series of each symbol: its company's, or its class of stock's.

Belongs here: which class a symbol is, by the cover of the newest report, and which series it has. Does not: the values
of a class (series), the tables (tables.build_tables).

If classes earn differently, and no cover names the class of a symbol or filings state no values of its class, the
symbol has no values by class, because they could belong to another class. The exception is the symbol of class A
(without this letter, the company's first or only symbol) if no cover names its class: it has the values that filings
state without a class.
"""

from collections.abc import Mapping

import polars as pl

from pipelines.normalize.classes.members import letter_of, plain
from pipelines.normalize.classes.series import CLASS, COMPANY
from pipelines.normalize.rule import Rule
from warehouse.contract.line_items import ITEMS_BY_CLASS

SERIES_MEMBER = "series_member"
"""The column of table `companies` that names the series of a symbol in column `class_member` of other tables."""
NOT_STATED = "NotStated"
"""The series of a symbol whose class is unknown or has no stated values, if the classes of its company earn
differently; it has no values."""
REASON = "class_of_stock_not_stated"

WITHHELD = Rule(
    "class.withheld.not-stated",
    "If classes of stock earn differently (also shown by few shares with much revenue each), a symbol's per-share "
    "amounts and counts are withheld unless filings state them for its class, or the symbol is class A's and unnamed "
    "on covers.",
    "ASC 260-10-45-59A and 260-10-45-60B (the two-class method); Form 10-K, cover page: the symbol of each class",
    "withhold",
)

FEW_SHARES, MUCH_REVENUE = 10_000_000, 1_000.0
"""A company with several listed classes, fewer shares than this and more revenue per share than this counts its shares
in units of a senior class, of which a share of another class is a small fraction: Berkshire Hathaway has 1.4 million
shares, with revenue of 250,000 dollars each. An exchange lists a class only with 1.1 million shares in public hands
(NYSE Listed Company Manual 102.01A)."""
SENIOR = "A"
"""If classes earn differently, facts without a class are stated in units of this class."""


def series_of(symbols: pl.DataFrame, classes: pl.DataFrame, current: pl.DataFrame) -> pl.DataFrame:
    """Find the class and the series of each symbol.

    Args:
        symbols: `cik`, `symbol`, `is_primary` of common equity.
        classes: of series.classes_of.
        current: current values: `cik`, `class_member`, `item`, `period_end`, `value`.

    Returns:
        `cik`, `symbol`, `class_member` (null: no cover names it), `series_member` (COMPANY, a class, or NOT_STATED).
    """
    few = _of_few_shares(current)
    named: dict[str, dict[str, str]] = {}
    own: dict[str, set[str]] = {}
    for cik, member, symbol, has_series in classes.select("cik", CLASS, "symbol", "has_series").iter_rows():
        if symbol:
            named.setdefault(cik, {})[symbol] = member
        if has_series:
            own.setdefault(cik, set()).add(member)
    rows = []
    for (cik,), of_company in symbols.group_by("cik", maintain_order=True):
        company, held = str(cik), dict(of_company.select("symbol", "is_primary").iter_rows())
        covers, series = named.get(company, {}), own.get(company, set())
        differs = bool(series) or company in few
        for symbol in held:
            member = covers.get(plain(symbol))
            is_known = not differs or (member is None and (len(held) == 1 or _is_senior(symbol, held)))
            found = member if member in series else COMPANY if is_known else NOT_STATED
            rows.append((company, symbol, member, found))
    schema = dict.fromkeys(("cik", "symbol", CLASS, SERIES_MEMBER), pl.String)
    return pl.DataFrame(rows, schema=schema, orient="row")


def _of_few_shares(current: pl.DataFrame) -> set[str]:
    """The companies with few shares and much revenue per share, by their newest values."""
    of_company = current.filter(pl.col("item").is_in(["shares_basic", "revenue"]), pl.col(CLASS) == COMPANY)
    newest = (
        of_company.sort("period_end")
        .unique(["cik", "item"], keep="last")
        .pivot("item", on_columns=["shares_basic", "revenue"], index="cik", values="value")
    )
    is_few = (pl.col("shares_basic") < FEW_SHARES) & (pl.col("revenue") > MUCH_REVENUE * pl.col("shares_basic"))
    return {*newest.filter(is_few)["cik"]}


def _is_senior(symbol: str, symbols: Mapping[str, bool]) -> bool:
    """Whether a symbol is the symbol of class A, or the company's first one if no symbol has this letter."""
    lettered = [each for each in symbols if letter_of(each) == SENIOR]
    return symbol in lettered if lettered else symbols[symbol]


def rows_of_series(rows: pl.DataFrame, series: pl.DataFrame) -> pl.DataFrame:
    """Give each series its rows: items by class from the class, all other items from the company.

    Args:
        rows: `cik`, `class_member`, `item` and others.
        series: `cik`, `series_member`.

    Returns:
        the rows with `series_member`; rows of the company are repeated for each of its series.
    """
    by_class = pl.col("item").is_in(ITEMS_BY_CLASS)
    wanted = pl.when(by_class).then(SERIES_MEMBER).otherwise(pl.lit(COMPANY))
    return rows.join(
        series.select("cik", SERIES_MEMBER).unique(maintain_order=True), on="cik", maintain_order="left"
    ).filter(pl.col(CLASS) == wanted)


def not_stated(series: pl.DataFrame, periods: pl.DataFrame) -> pl.DataFrame:
    """The gaps of symbols of unknown class.

    Args:
        series: of series_of.
        periods: `cik`, `period_end` of the companies.

    Returns:
        `cik`, `class_member`, `period_end`, `item`, `reason`, `rule`.
    """
    unknown = (
        series.filter(pl.col(SERIES_MEMBER) == NOT_STATED).select("cik", pl.col(SERIES_MEMBER).alias(CLASS)).unique()
    )
    items = pl.DataFrame({"item": ITEMS_BY_CLASS})
    of_periods = unknown.join(periods.select("cik", "period_end").unique(), on="cik").join(items, how="cross")
    return of_periods.with_columns(reason=pl.lit(REASON), rule=pl.lit(WITHHELD.id))
