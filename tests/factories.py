"""Fictional filers for tests of the rules, which report as companies do and whose true figures are known.

Belongs here: rows of facts as the decoder returns them, and filers whose reports follow from given quarters.
Does not: whole documents in EDGAR's JSON (the sample source), the rules under test.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

import polars as pl

from pipelines.normalize.corrections.ledger import Corrector, corrected
from pipelines.normalize.faces.facts import SHOWN_SCHEMA
from pipelines.normalize.facts import reports
from pipelines.normalize.facts.raw import RAW_SCHEMA
from pipelines.normalize.facts.stated import stated_concepts
from pipelines.normalize.industry import classification as industries
from pipelines.normalize.items import line_items as items
from pipelines.normalize.pipeline import Standardized, standardize

CIK = "9990000901"

REVENUE = "Revenues"
NET_INCOME = "NetIncomeLoss"
EPS = "EarningsPerShareBasic"
DIVIDENDS = "CommonStockDividendsPerShareDeclared"
SHARES = "WeightedAverageNumberOfSharesOutstandingBasic"
DILUTED = "WeightedAverageNumberOfDilutedSharesOutstanding"
CASH_FLOW = "NetCashProvidedByUsedInOperatingActivities"
CAPITAL_SPENDING = "PaymentsToAcquirePropertyPlantAndEquipment"
CASH = "CashAndCashEquivalentsAtCarryingValue"
ASSETS = "Assets"

UNITS = {
    EPS: "USD/shares",
    "EarningsPerShareDiluted": "USD/shares",
    DIVIDENDS: "USD/shares",
    SHARES: "shares",
    DILUTED: "shares",
    "WeightedAverageNumberDilutedSharesOutstandingAdjustment": "shares",
}
MILLION = 1e6
DAYS_TO_10Q, DAYS_TO_10K = 40, 60

Row = dict[str, Any]


def day(text: str) -> date:
    return date.fromisoformat(text)


def fact(
    tag: str,
    value: float,
    start: str | date | None,
    end: str | date,
    *,
    form: str = "10-K",
    filed: str | date = "2024-02-20",
    accession: str | None = None,
    unit: str | None = None,
    taxonomy: str = "us-gaap",
    fy: int | None = None,
    cik: str = CIK,
) -> Row:
    """One filed fact; facts with the same form and date belong to one filing unless `accession` differs."""
    return {
        "cik": cik,
        "taxonomy": taxonomy,
        "tag": tag,
        "unit": unit or UNITS.get(tag, "USD"),
        "start": None if start is None else str(start),
        "end": str(end),
        "value": float(value),
        "accession": accession or f"{cik}-{form}-{filed}",
        "fy": fy,
        "form": form,
        "filed": str(filed),
    }


def raw(*rows: Row | Sequence[Row]) -> pl.DataFrame:
    """Facts as the decoder returns them; lists of rows are flattened."""
    flat = [row for part in rows for row in ([part] if isinstance(part, dict) else part)]
    return pl.DataFrame(flat, schema=RAW_SCHEMA)


def of_companies(cases: Mapping[str, pl.DataFrame | Sequence[Row]]) -> tuple[pl.DataFrame, dict[str, str]]:
    """The facts of several cases in one frame, each filed by its own company, and the CIK by the name of the case."""
    ciks = {name: f"{int(CIK) + number:010d}" for number, name in enumerate(cases, start=1)}
    facts_of = {name: rows if isinstance(rows, pl.DataFrame) else raw(rows) for name, rows in cases.items()}
    own = (
        rows.with_columns(cik=pl.lit(ciks[name]), accession=pl.lit(ciks[name]) + pl.col("accession"))
        for name, rows in facts_of.items()
    )
    return pl.concat(own), ciks


def ordered_facts(rows: pl.DataFrame) -> pl.DataFrame:
    """Typed facts in one currency, in filing order."""
    periodic, _ = reports.typed(rows)
    own, _ = reports.in_currency(periodic, reports.reporting_currency(periodic))
    return reports.in_filing_order(own)[0]


def stated(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The amounts of each filing for each concept, and the facts behind them."""
    ordered = ordered_facts(rows)
    vintages, legs, *_ = stated_concepts(ordered, industries.industries(ordered)[0], SHOWN_SCHEMA.to_frame())
    return vintages, legs


def signed(rows: pl.DataFrame) -> pl.DataFrame:
    """The amounts of each filing, with `measure_sign`: money 0, shares 1, amounts per share -1."""
    return stated(rows)[0]


def corrected_by(vintages: pl.DataFrame, *correctors: Corrector) -> pl.DataFrame:
    """The figures after some corrections, with `evidence` if they were corrected."""
    sound, corrections, *_ = corrected(vintages, correctors)
    what = ["cik", "seq", "concept", "start", "end"]
    return sound.join(
        corrections.select(*what, "evidence"), on=what, how="left", nulls_equal=True, maintain_order="left"
    )


@dataclass(frozen=True)
class Today:
    """The current result of the filings: the newest version of each value, as published.

    values: one row per period and item: `cik`, `period_kind`, `period_end`, `period`, `item`, `value`, `method`,
    `flags`.
    lineage: the facts behind them: the same keys, `tag`, `value`, `weight`, `filed` and so on.
    gaps: the same keys, and `reason`.
    found: the complete result of the rules.
    """

    values: pl.DataFrame
    lineage: pl.DataFrame
    gaps: pl.DataFrame
    found: Standardized


def standardized(
    rows: pl.DataFrame, accepted: pl.DataFrame | None = None, registrants: pl.DataFrame | None = None
) -> Today:
    """Normalize facts with all steps; without further arguments no registrant has filed a notice of succession."""
    if registrants is not None and "succeeded" not in registrants.columns:
        registrants = registrants.with_columns(succeeded=pl.lit(None, pl.Date))
    return today(standardize(with_total_assets(rows), accepted, registrants))


def today(found: Standardized) -> Today:
    """The newest values among all versions."""
    newest = found.versions.group_by("cik", "period_end", "item", maintain_order=True).last().drop_nulls("value")
    values = _by_kind(newest.with_columns(value=items.served("value")))
    lineage = values.select(*KEY, "legs").explode("legs").unnest("legs")
    gaps = _by_kind(found.gaps.join(found.periods, on=["cik", "period_end"]))
    return Today(values.drop("legs"), lineage, gaps, found)


def with_total_assets(rows: pl.DataFrame) -> pl.DataFrame:
    """Facts with liabilities and equity for each balance sheet of a filing that states no total assets.

    Every complete filing states them. They are four times the largest balance of the day.
    """
    lines = rows.filter(pl.col("start").is_null(), pl.col("taxonomy").is_in(list(LIABILITIES_AND_EQUITY)))
    sheets = lines.join(
        lines.filter(pl.col("tag").is_in([ASSETS, *LIABILITIES_AND_EQUITY.values()])),
        on=["cik", "accession"],
        how="anti",
    )
    totals = sheets.unique(SHEET, keep="first", maintain_order=True).with_columns(
        tag=pl.col("taxonomy").replace(LIABILITIES_AND_EQUITY), unit=pl.lit("USD")
    )
    most = lines.group_by(SHEET).agg(value=4 * pl.col("value").abs().max())
    return pl.concat([rows, totals.drop("value").join(most, on=SHEET).select(rows.columns)])


SHEET = ["cik", "accession", "end"]
LIABILITIES_AND_EQUITY = {"us-gaap": "LiabilitiesAndStockholdersEquity", "ifrs-full": "EquityAndLiabilities"}
"""The element that equals total assets, by taxonomy."""


KEY = ["cik", "period_kind", "period_end", "item"]


def _by_kind(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of twelve months to each quarter end, and of fiscal years too."""
    year, quarter = pl.col("fiscal_year").cast(pl.String), pl.col("fiscal_quarter").cast(pl.String)
    ttm = rows.with_columns(period_kind=pl.lit("ttm"), period=pl.concat_str(year, pl.lit("Q"), quarter))
    annual = rows.filter("is_year_end").with_columns(
        period_kind=pl.lit("annual"), period=pl.concat_str(pl.lit("FY"), year)
    )
    return pl.concat([ttm, annual])


def value_of(found: Today, item: str, kind: str, end: str | date, cik: str = CIK) -> float | None:
    """The value of an item for a period; None if it is missing."""
    return row_of(found.values, item, kind, end, cik).get("value")


def row_of(rows: pl.DataFrame, item: str, kind: str, end: str | date, cik: str = CIK) -> Row:
    """The row of an item and period in a table of Today; empty if there is none."""
    at = day(end) if isinstance(end, str) else end
    found = rows.filter(cik=cik, item=item, period_kind=kind, period_end=at)
    assert found.height <= 1, "an item has two values for one period"
    return found.row(0, named=True) if found.height else {}


def outcomes(found: Today, expected: Mapping[str, Mapping[str, object]]) -> dict[str, dict[str, object]]:
    """The value of each expected item for each period, such as "ttm 2023-03-31", or the reason why it is missing."""
    return {
        period: {item: _outcome(found, item, *period.split()) for item in items} for period, items in expected.items()
    }


def _outcome(found: Today, item: str, kind: str, end: str) -> object:
    missing = row_of(found.gaps, item, kind, end).get("reason")
    return row_of(found.values, item, kind, end).get("value", missing)


def month_ends(first_year: int, quarters: int, last_month: int = 12) -> list[date]:
    """Quarter ends at month ends, of fiscal years that end in `last_month`, from the year that ends in first_year."""
    ends = []
    for number in range(quarters):
        months = first_year * 12 + last_month - 9 + 3 * number  # months since year 0 of the month after it
        ends.append(date(months // 12, months % 12 + 1, 1) - timedelta(days=1))
    return ends


def week_ends(before: date, weeks: Sequence[int]) -> list[date]:
    """Quarter ends at intervals of the given weeks, from the day before the first quarter."""
    ends = []
    for number in weeks:
        before += timedelta(weeks=number)
        ends.append(before)
    return ends


@dataclass
class Filer:
    """A company with given discrete quarters, which it reports as companies do.

    10-Q: three months and the year to date, with the same periods of the year before. 10-K: the year and two years
    before, without a fourth quarter. Balances: at the period end and at the last fiscal year end.

    Attributes:
        ends: quarter ends, whole fiscal years first.
        sums: element -> amount of each quarter, which add up (money, per share).
        means: element -> average of each quarter, weighted by days (shares).
        balances: element -> amount at each quarter end.
        before: the day before the first quarter; by default the first quarter is the three months to its end.
        to_date_only: elements that 10-Qs state for the year to date only, as for cash flows.
        annual_only: no quarterly reports.
        annual_form: 10-K, or 20-F.
        names: added to the year of the year end, for the `fy` of its reports.
    """

    ends: Sequence[date]
    sums: dict[str, Sequence[float]] = field(default_factory=dict)
    means: dict[str, Sequence[float]] = field(default_factory=dict)
    balances: dict[str, Sequence[float]] = field(default_factory=dict)
    before: date | None = None
    to_date_only: frozenset[str] = frozenset({CASH_FLOW, CAPITAL_SPENDING})
    annual_only: bool = False
    annual_form: str = "10-K"
    names: int = 0
    cik: str = CIK
    taxonomy: str = "us-gaap"

    def facts(self) -> pl.DataFrame:
        """All facts that the company has filed."""
        return raw(self.rows())

    def rows(self) -> list[Row]:
        return [row for number in range(len(self.ends)) for row in self._report(number)]

    def start(self, first: int) -> date:
        """First day of a quarter."""
        if first > 0:
            return self.ends[first - 1] + timedelta(days=1)
        if self.before:
            return self.before + timedelta(days=1)
        return (self.ends[0].replace(day=1) - timedelta(days=32)).replace(day=1)

    def days(self, first: int, last: int) -> int:
        return (self.ends[last] - self.start(first)).days + 1

    def filed(self, number: int) -> date:
        is_annual = number % 4 == 3
        return self.ends[number] + timedelta(days=DAYS_TO_10K if is_annual else DAYS_TO_10Q)

    def summed(self, element: str, first: int, last: int) -> float:
        return float(sum(self.sums[element][first : last + 1]))

    def mean(self, element: str, first: int, last: int) -> float:
        """Average of some quarters, weighted by their days."""
        weighted = sum(self.means[element][n] * self.days(n, n) for n in range(first, last + 1))
        return weighted / self.days(first, last)

    def _report(self, number: int) -> list[Row]:
        is_annual = number % 4 == 3
        if self.annual_only and not is_annual:
            return []
        form = self.annual_form if is_annual else "10-Q"
        year = number - number % 4
        rows = []
        for back in (0, 4, 8) if is_annual else (0, 4):
            last, first = number - back, year - back
            if first < 0:
                continue
            stretches = {(first, last)} if is_annual else {(first, last), (last, last)}
            for begins, ends in sorted(stretches):
                rows += self._flows(form, number, begins, ends, to_date=begins == first)
        for at in {number, year - 1} - {-1}:
            rows += [self._row(tag, amounts[at], None, at, form, number) for tag, amounts in self.balances.items()]
        return rows

    def _flows(self, form: str, number: int, first: int, last: int, *, to_date: bool) -> list[Row]:
        sums = [tag for tag in self.sums if to_date or tag not in self.to_date_only]
        return [
            *(self._row(tag, self.summed(tag, first, last), self.start(first), last, form, number) for tag in sums),
            *(self._row(tag, self.mean(tag, first, last), self.start(first), last, form, number) for tag in self.means),
        ]

    def _row(self, tag: str, value: float, start: date | None, last: int, form: str, number: int) -> Row:
        year_end = self.ends[min(number - number % 4 + 3, len(self.ends) - 1)]
        return fact(
            tag,
            value,
            start,
            self.ends[last],
            form=form,
            filed=self.filed(number),
            taxonomy=self.taxonomy,
            fy=year_end.year + self.names,
            cik=self.cik,
        )
