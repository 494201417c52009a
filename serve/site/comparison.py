"""The page `/compare`: up to five companies, item by item over the years.

Belongs here: which companies and values are compared. Does not: finding companies (directory), the drawings
(comparison_charts), the text (templates/compare.md), access control (mount).
"""

import math
from calendar import month_name
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from markupsafe import Markup

from serve.site import comparison_charts
from serve.site.comparison_charts import Point
from serve.site.directory import Directory, close_matches
from serve.site.figures import READ, TITLES, UNITS, glance, per_cent, short, unit
from serve.site.markdown import Document, Markdown, Search, link, write
from serve.site.paths import COMPARISON, company_path, comparison_path
from serve.site.values import address as value_address
from warehouse import queries
from warehouse.company_queries import Listed
from warehouse.fictional import is_fictional
from warehouse.queries import Company, Period
from warehouse.reader import OpenBuild
from warehouse.schema import ITEM_NAMES

MOST = 5  # companies, so that a table fits on a screen and a chart can be read
YEARS = 10
SHOWN = 5  # fiscal years that are not folded
PEERS = 6  # companies of a similar industry that can be added
LEAST_SHARED = 3
"""Digits of the SIC code that peers share: with two, Caterpillar would be a peer of Apple."""
LONGEST = 200  # characters of the list of symbols


class Unknown(NamedTuple):
    """A text that is no covered symbol, and the companies that it may mean, with the comparison with each."""

    text: str
    near: Sequence[tuple[Listed, str]]


class Held(NamedTuple):
    """A company with its newest twelve months, if it has any, and its fiscal years, newest first."""

    company: Company
    newest: Period | None
    years: Mapping[int, Period]

    def value(self, item: str, year: int | None) -> tuple[str, float] | None:
        """The label and the value of an item in a fiscal year, or in the newest twelve months."""
        period = self.newest if year is None else self.years.get(year)
        value = period.values[ITEM_NAMES.index(item)] if period else None
        return None if period is None or value is None else (period.period, value)


def document(build: OpenBuild, of: Directory, asked: str) -> Document:
    """The page for a comma-separated list of symbols, which may be empty."""
    texts = list(dict.fromkeys(text for part in asked.split(",") if (text := " ".join(part.split()))))
    found = {text: of.company(text) for text in texts}
    chosen = list(dict.fromkeys(row.symbol for row in found.values() if row))
    unknown = [_unknown(build, text, chosen) for text in texts if not found[text]][:MOST]
    left_out, chosen = chosen[MOST:], chosen[:MOST]
    held = [_held(build, company) for symbol in chosen if (company := queries.company(build, symbol))]
    years = sorted({year for one in held for year in one.years}, reverse=True)[:YEARS]
    currencies = list(dict.fromkeys(one.company.currency for one in held))
    text = write(
        "compare.md",
        most=MOST,
        file=comparison_path(chosen).replace(COMPARISON, f"{COMPARISON}.csv", 1),
        is_fictional=is_fictional,
        held=held,
        title=_title(chosen),
        others={one: comparison_path(symbol for symbol in chosen if symbol != one) for one in chosen},
        peers=[(row, comparison_path([*chosen, row.symbol])) for row in _peers(of, chosen)],
        unknown=unknown,
        left_out=left_out,
        currencies=currencies,
        example=[row.symbol for row in of.rows[:2]],
        example_path=comparison_path(row.symbol for row in of.rows[:2]),
        path=company_path,
        items=[_item(item, held, years, currencies) for item in ITEM_NAMES] if held else [],
        overview=_overview(held),
    )
    drawings = tuple((item, _drawing(item, held, years)) for item in ITEM_NAMES)
    marks = tuple(comparison_charts.sample(place) for place in range(len(held)))
    search = Search("Symbols, separated by commas", "symbols", ", ".join(chosen), "Compare", completes="many")
    is_other = chosen and asked != ",".join(chosen) and not (unknown or left_out)
    return Document(
        text,
        drawings=drawings,
        marks=marks,
        cards="h2" if held else "",
        search=search,
        address=comparison_path(chosen) if is_other else "",
    )


def _unknown(build: OpenBuild, text: str, chosen: Sequence[str]) -> Unknown:
    near = [row for row in close_matches(build, text) if row.symbol not in chosen]
    return Unknown(text, [(row, comparison_path([*chosen, row.symbol])) for row in near])


def _held(build: OpenBuild, company: Company) -> Held:
    bounds = {"since": None, "until": None}
    newest = queries.financials(build, company.symbol, "ttm", ITEM_NAMES, **bounds, limit=1)
    years: dict[int, Period] = {}
    for period in queries.financials(build, company.symbol, "annual", ITEM_NAMES, **bounds, limit=YEARS):
        years.setdefault(period.fiscal_year, period)  # after a change of fiscal year, a label can occur twice
    return Held(company, next(iter(newest), None), years)


def _peers(of: Directory, chosen: Sequence[str]) -> list[Listed]:
    """The companies most like the first one with a SIC code, which can be added: by the code, then by size."""
    rows = [row for symbol in chosen if (row := of.company(symbol))]
    one = next((row for row in rows if row.sic), None)
    if one is None or len(chosen) == MOST:
        return []
    held = {row.cik for row in rows}
    others: dict[str, Listed] = {}
    for row in of.rows:
        if row.cik not in held and _shared_digits(one, row) >= LEAST_SHARED:
            others.setdefault(row.cik, row)  # one symbol of a company is enough
    return sorted(others.values(), key=lambda row: (-_shared_digits(one, row), _apart(one, row)))[:PEERS]


def _shared_digits(one: Listed, other: Listed) -> int:
    """The digits that two SIC codes share from the left: a division, group, industry group or industry."""
    pairs = zip(one.sic or "", other.sic or "", strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _apart(one: Listed, other: Listed) -> float:
    """How far apart two companies are in size, as the logarithm of the ratio of their revenues."""
    if one.currency != other.currency or not (one.revenue and other.revenue) or min(one.revenue, other.revenue) <= 0:
        return math.inf
    return abs(math.log(one.revenue / other.revenue))


def _title(symbols: Sequence[str]) -> str:
    *others, last = symbols or ["companies"]
    return f"{', '.join(others)} and {last}" if others else f"Compare {last}"


def _item(item: str, held: Sequence[Held], years: Sequence[int], currencies: Sequence[str]) -> dict[str, object]:
    """An item: title, unit, and the values of the companies by fiscal year, newest first."""
    is_mixed, companies = "currency" in UNITS[item] and len(currencies) > 1, [one.company for one in held]
    labelled = [("Newest", None), *((f"FY{year}", year) for year in years)]
    rows = [
        (label, [_cell(one, item, year) for one in held])
        for label, year in labelled
        if year is None or any(one.value(item, year) for one in held)
    ]
    return {
        "name": item,
        "title": TITLES[item],
        "unit": unit(item, currencies[0] if len(currencies) == 1 else "each company's currency"),
        "heads": [f"{one.symbol} ({one.currency})" if is_mixed else one.symbol for one in companies],
        "tables": [table for table in (rows[: 1 + SHOWN], rows[1 + SHOWN :]) if table],
        "has_values": any(one.value(item, year) for one in held for year in (None, *years)),
    }


def _cell(of: Held, item: str, year: int | None) -> Markdown | str:
    """A value that leads to where it comes from."""
    value = of.value(item, year)
    return link(glance(item, value[1]), value_address(of.company.symbol, item, value[0])) if value else "–"


def _overview(held: Sequence[Held]) -> list[tuple[str, list[Markdown | str]]]:
    """What the companies are, each item of the newest twelve months, and margins."""
    periods: list[Markdown | str] = [one.newest.period_end if one.newest else "–" for one in held]
    margins = (("Net margin", "net_income"), ("Free cash flow margin", "free_cash_flow"))
    return [
        ("Currency", [one.company.currency for one in held]),
        ("Fiscal year ends in", [month_name[one.company.fiscal_year_end_month] for one in held]),
        ("Twelve months to", periods),
        *((TITLES[item], [_cell(one, item, None) for one in held]) for item in ITEM_NAMES),
        *((title, [_margin(one, item) for one in held]) for title, item in margins),
    ]


def _margin(of: Held, item: str) -> str:
    """An item as a part of revenue."""
    part, revenue = of.value(item, None), of.value("revenue", None)
    return per_cent(part[1] / revenue[1]) if part and revenue and revenue[1] > 0 else "–"


def _drawing(item: str, held: Sequence[Held], years: Sequence[int]) -> Markup:
    """A chart of an item; if it is an amount, one for each currency."""
    by_currency: dict[str, dict[int, list[Point]]] = {}
    for place, one in enumerate(held):
        measure = unit(item, one.company.currency)
        points = []
        for year in range(min(years), max(years) + 1) if years else ():
            value, period = one.value(item, year), one.years.get(year)
            if value and period:
                says = f"{one.company.symbol} {value[0]}: {glance(item, value[1], READ)} {measure}".rstrip()
                points.append(Point(period.period_end, value[1], says))
            else:
                points.append(Point("", None, ""))
        group = one.company.currency if "currency" in UNITS[item] else ""
        by_currency.setdefault(group, {})[place] = points
    ends = [period.period_end for one in held for year, period in one.years.items() if year in years]
    span, several = (min(ends, default=""), max(ends, default="")), len(by_currency) > 1
    return Markup("").join(
        comparison_charts.chart(lines, span, lambda value: short(item, value), currency if several else "")
        for currency, lines in by_currency.items()
    )
