"""Comparison of the pipeline's results with the truth of simulated filers.

Belongs here: the allowed differences, and checks of values without a true value. Does not: the drawn filers
(tests.strategies), the properties (the tests).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from functools import cached_property
from typing import Any

import polars as pl

from pipelines.normalize.pipeline import Standardized
from pipelines.sample import Filer, TruthRow
from pipelines.sample.business.books import Quarter, keep_books
from pipelines.sample.business.filings import shell_of
from pipelines.sample.business.schedule import annual_report_filed
from pipelines.sample.filer.calendar import Period
from tests.property.histories import current, replayed
from warehouse.contract.line_items import ITEM_NAMES, SERVED_NAMES

Key = tuple[str, date, str]

ROUNDED = {"eps_basic": 1e-5, "dividends_per_share": 1e-5, "shares_basic": 1e-7, "shares_diluted": 1e-7}
"""The precision of served values: six significant digits, whole shares; money is exact."""

ROUNDED_CENTS = 0.04
"""The rounding of four quarters of earnings per share, each filed in cents."""

BEYOND = ("roic", "debt_to_fcf", *(name for name in ITEM_NAMES if name not in SERVED_NAMES))
"""Items without true values: the simulator has no values of items that are not served."""

A_YEAR = timedelta(days=385)


@dataclass(frozen=True)
class Found:
    """The pipeline's result of a filer: current values with their flags, and the gaps with their reasons."""

    values: dict[Key, float]
    flags: dict[Key, str]
    gaps: dict[Key, str]

    def of(self, filer: Filer) -> "Found":
        """The result of one of several filers."""
        return self._by_company[filer.cik]

    @cached_property
    def _by_company(self) -> dict[str, "Found"]:
        found: dict[str, Found] = defaultdict(lambda: Found({}, {}, {}))
        for place, part in enumerate(self.parts()):
            for key, told in part.items():
                found[key[0]].parts()[place][key] = told
        return found

    def parts(self) -> tuple[dict[Key, Any], ...]:
        return self.values, self.flags, self.gaps


def found(*filers: Filer, filed_by: date | Sequence[date] | None = None) -> Found:
    """The current values of some filers from the documents of a day, which may differ by filer."""
    standardized: Standardized = replayed(*filers, filed_by=filed_by)
    rows = current(standardized).filter(~pl.col("item").is_in(BEYOND)).drop_nulls("value")
    keyed = [((cik, end, item), *told) for cik, end, item, *told in rows.select(*KEY, "value", "flags").rows()]
    gaps = standardized.gaps.filter(~pl.col("item").is_in(BEYOND)).select(*KEY, "reason").rows()
    return Found(
        values={key: value for key, value, _ in keyed},
        flags={key: flags for key, _, flags in keyed},
        gaps={(cik, end, item): reason for cik, end, item, reason in gaps},
    )


KEY = ("cik", "period_end", "item")


def missed(
    values: dict[Key, float], rows: Sequence[TruthRow], but: Iterable[Key] = ()
) -> list[tuple[TruthRow, float | None]]:
    """True values that were not found, with the found values; empty if all were found."""
    left_out = set(but)
    told = [(row, values.get((row.cik, row.period_end, row.item))) for row in rows]
    return [
        (row, value)
        for row, value in told
        if (row.cik, row.period_end, row.item) not in left_out
        and (value is None or abs(value - row.value) > slack_of(row))
    ]


def slack_of(row: TruthRow) -> float:
    return 1.000001 * row.tolerance + ROUNDED.get(row.item, 1e-12) * abs(row.value)


def without_truth(values: dict[Key, float], rows: Sequence[TruthRow]) -> list[Key]:
    """Values without a true value."""
    return sorted(values.keys() - {(row.cik, row.period_end, row.item) for row in rows})


def untrue(filer: Filer, values: dict[Key, float], rows: Sequence[TruthRow]) -> list[tuple[Key, float, list[float]]]:
    """Values without a true value that differ from the books of the business, with the books' value.

    A filing may state more than the truth relies on, and the reports of a shell state its own figures; but no value is
    guessed, and no value mixes figures that do not belong together.
    """
    books = [keep_books(filer), *([keep_books(shell_of(filer))] if filer.merged else [])]
    wrong = []
    for key in without_truth(values, rows):
        did = [value for one in books if (value := of_books(one, key)) is not None]
        if not any(abs(values[key] - value) <= slack_beyond(filer, key[2], value) for value in did):
            wrong.append((key, values[key], did))
    return wrong


def slack_beyond(filer: Filer, item: str, value: float) -> float:
    if item == "eps_basic":
        return ROUNDED_CENTS + 0.02 * abs(value)
    if item == "dividends_per_share":
        return 0.001 + 1e-5 * value
    if item in ("shares_basic", "shares_diluted"):
        return 2.0 + 0.005 * value  # dilution of a year is not the mean of its quarters
    return 4_000_000.0 if filer.rounded_in else 0.5


def of_books(books: dict[tuple[int, int], Quarter], key: Key) -> float | None:
    """The sum of the four quarters to a day, or the balance on that day, in the books; None before the books begin."""
    quarters = list(books.values())
    ends = [quarter.period.end for quarter in quarters]
    _, end, item = key
    if end not in ends or ends.index(end) < 3:
        return None
    last_four = quarters[ends.index(end) - 3 : ends.index(end) + 1]
    return _of_quarters(last_four, item)


def _of_quarters(quarters: list[Quarter], item: str) -> float:
    def flow(name: str) -> int:
        return sum(quarter.flows.get(name, 0) for quarter in quarters)

    def mean(name: str) -> Fraction:
        days = sum(quarter.period.days for quarter in quarters)
        return sum((Fraction(getattr(q, name) * q.period.days) for q in quarters), Fraction(0)) / days

    balances = quarters[-1].balances
    of_item = {
        "revenue": lambda: flow("revenue") or flow("net_interest_income") + flow("noninterest_income"),
        "net_income": lambda: flow("net_income"),
        "free_cash_flow": lambda: flow("operating_cash_flow") - flow("capex"),
        "eps_basic": lambda: flow("net_income") / mean("shares_basic"),
        "dividends_per_share": lambda: sum((q.dividends_per_share for q in quarters), Fraction(0)),
        "shares_basic": lambda: mean("shares_basic"),
        "shares_diluted": lambda: mean("shares_diluted"),
        "total_debt": lambda: balances["debt"],
        "cash_and_equivalents": lambda: balances["cash"] + balances["short_term_investments"],
    }
    return float(of_item[item]())


def is_silent(filer: Filer, key: Key) -> bool:
    """Whether no other fact shows that a value differs from the books of the business.

    Such values are: twelve months within revised years with a leg that was never restated; values before a conversion,
    which stay under the earlier standards; the sum of quarterly earnings per share across an offering, which is tested
    separately; and debt if the filer leaves a part untagged.
    """
    _, end, item = key
    within = any(
        filer.calendar.year(min(revision.years)).start < end < filer.calendar.year_end(max(revision.years) + 1)
        for revision in filer.revisions
    )
    converted = filer.conversion is not None and end <= filer.calendar.year_end(filer.conversion.year)
    offered = filer.offering is not None and (end - filer.offering.day).days < 2 * 366
    beyond_telling = {
        "eps_basic": offered or "eps_basic" in filer.untagged,
        "total_debt": "debt_current" in filer.untagged,
    }
    return within or converted or beyond_telling.get(item, False)


def is_across_a_break(filer: Filer, key: Key, reason: str) -> bool:
    """Whether a gap has the reason of a break within its twelve months, and there is such a break."""
    breaks = [filer.merged] if filer.merged else []
    if filer.conversion:
        breaks.append(annual_report_filed(filer, filer.conversion.year))
    return reason == "basis_break" and any(abs(day - key[1]) <= A_YEAR for day in breaks)


OF_LINES = {
    "capex": "free_cash_flow",
    "operating_cash_flow": "free_cash_flow",
    "dividends_per_share": "dividends_per_share",
    "cash": "cash_and_equivalents",
    "debt_noncurrent": "total_debt",
    "debt_current": "total_debt",
}
"""The items that lines with uncontradicted errors are part of."""


def touched(filer: Filer, keys: Iterable[Key]) -> set[Key]:
    """Values that may include the wrong columns: values of the item to the year after the column's end."""
    hit = set()
    for error in filer.errors:
        if error.column is None:
            continue
        year, first, last = error.column
        quarters = filer.calendar.year(year).quarters[first - 1 : last]
        period = Period(quarters[0].start, quarters[-1].end)
        items = {OF_LINES[line] for line in error.items}
        hit |= {key for key in keys if key[2] in items and period.end <= key[1] <= period.end + A_YEAR}
    return hit
