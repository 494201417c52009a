"""The page `/compare`: up to five companies, item by item over the years.

Belongs here: which companies and values are compared. Does not: finding companies (directory), the drawings
(comparison_charts), the text (templates/compare.md), access control (mount).
"""

import math
from calendar import month_name
from collections.abc import Mapping, Sequence
from datetime import date
from itertools import takewhile
from typing import NamedTuple

from markupsafe import Markup

from serve.site.company import key_figures
from serve.site.company.history import BREAKS, History, Slot
from serve.site.company.sheet import GROWTH, growth, restated
from serve.site.company.values import address as value_address
from serve.site.frame.directory import Directory, close_matches
from serve.site.text import comparison_charts
from serve.site.text.comparison_charts import Point
from serve.site.text.figures import READ, TITLES, UNITS, Shown, per_cent, same_decimals, short, unit
from serve.site.text.markdown import Document, Markdown, Search, link, plain, write
from serve.site.text.paths import COMPARISON, company_path, comparison_path
from warehouse.contract.fictional import is_fictional
from warehouse.contract.line_items import SERVED_NAMES
from warehouse.contract.served import CompanyRow, FinancialPeriod
from warehouse.queries import page_queries
from warehouse.queries.company_queries import Listed
from warehouse.read.reader import OpenBuild

MOST = 5  # companies, so that a table fits on a screen and a chart can be read
YEARS = 10
SHOWN = 5  # fiscal years that are not folded
PEERS = 6  # companies of a similar industry that can be added
INDEXED = "indexed"
CHARTS = (("", "Amounts", ""), (INDEXED, "Indexed: first common year = 100", f"&charts={INDEXED}"))
"""The kinds of charts: the value of the parameter `charts`, its text, and the query part of the address."""
NOT_INDEXED = ("ratio", "years")
"""Units of items that can be compared without an index."""
LEAST_SHARED = 3
"""Leading digits of the SIC code that peers share: with two digits, Caterpillar would be a peer of Apple."""
LONGEST = 200  # characters of the list of symbols


class Unknown(NamedTuple):
    """A text that is not a covered symbol, and similar companies, with a link to the comparison with each."""

    text: str
    near: Sequence[tuple[Listed, str]]


class ComparedCompany(NamedTuple):
    """A company with its newest twelve months, if it has any, and its fiscal years, newest first."""

    company: CompanyRow
    newest: FinancialPeriod | None
    years: Mapping[int, FinancialPeriod]
    history: History

    def slot(self, year: int | None) -> Slot | None:
        """A fiscal year, or the newest twelve months, in the history."""
        period = self.newest if year is None else self.years.get(year)
        return (
            Slot("ttm" if year is None else "annual", date.fromisoformat(period.period_end), period.period)
            if period
            else None
        )

    def broken(self, item: str) -> dict[int, str]:
        """The fiscal years of an item that follow a break, each with the change in words."""
        slots = {slot: year for year in sorted(self.years) if (slot := self.slot(year))}
        return {
            slots[slot]: BREAKS[each.kind]
            for slot, each in self.history.broken(item, list(slots))
            if each.kind in BREAKS
        }

    def restated(self, item: str, year: int | None, shown: Shown) -> str:
        """The value before a restatement, in words; empty without a restatement, or if the shown digits are equal."""
        slot = self.slot(year)
        stated = self.history.value(item, slot) if slot else None
        return restated(stated, shown) if stated else ""

    def growth(self, item: str, year: int | None) -> float | None:
        """Growth over the year before, as a fraction; None where it would mean nothing."""
        slot = self.slot(year)
        return growth(self.history.number(item, slot), self.history.year_before(item, slot)) if slot else None

    def value(self, item: str, year: int | None) -> tuple[str, float] | None:
        """The label and the value of an item in a fiscal year, or in the newest twelve months."""
        period = self.newest if year is None else self.years.get(year)
        value = period.values.get(item) if period else None
        return None if period is None or value is None else (period.period, value)


def document(build: OpenBuild, of: Directory, asked: str, charts: str = "") -> Document:
    """The page for a comma-separated list of symbols, which may be empty; `charts`: one of CHARTS."""
    texts = list(dict.fromkeys(text for part in asked.split(",") if (text := " ".join(part.split()))))
    found = {text: of.company(text) for text in texts}
    chosen = list(dict.fromkeys(row.symbol for row in found.values() if row))
    unknown = [_unknown(build, text, chosen) for text in texts if not found[text]][:MOST]
    left_out, chosen = chosen[MOST:], chosen[:MOST]
    held = [_held(build, company) for symbol in chosen if (company := build.memory.company(symbol))]
    years = sorted({year for one in held for year in one.years}, reverse=True)[:YEARS]
    currencies = list(dict.fromkeys(one.company.currency for one in held))
    bases = {item: _base(item, held, years) if charts == INDEXED else None for item in SERVED_NAMES}
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
        items=[_item(item, held, years, currencies) | {"base": bases[item]} for item in SERVED_NAMES] if held else [],
        charts=[(text, "" if charts == name else f"{comparison_path(chosen)}{query}") for name, text, query in CHARTS],
        is_indexed=charts == INDEXED,
        overview=_overview(held),
    )
    drawings = tuple((item, _drawing(item, held, years, bases[item])) for item in SERVED_NAMES)
    marks = tuple(comparison_charts.sample(place) for place in range(len(held)))
    search = Search("Symbols, separated by commas", "symbols", ", ".join(chosen), "Compare", completes="many")
    is_other = chosen and asked != ",".join(chosen) and not (unknown or left_out)
    return Document(
        text,
        by_query=True,
        drawings=drawings,
        marks=marks,
        cards="h2" if held else "",
        search=search,
        address=f"{comparison_path(chosen)}{f'&charts={charts}' if charts else ''}" if is_other else "",
    )


def _unknown(build: OpenBuild, text: str, chosen: Sequence[str]) -> Unknown:
    near = [row for row in close_matches(build, text) if row.symbol not in chosen]
    return Unknown(text, [(row, comparison_path([*chosen, row.symbol])) for row in near])


def _held(build: OpenBuild, company: CompanyRow) -> ComparedCompany:
    newest = build.memory.periods(company.symbol, "ttm", SERVED_NAMES, 1)
    years: dict[int, FinancialPeriod] = {}
    for period in build.memory.periods(company.symbol, "annual", SERVED_NAMES, YEARS):
        years.setdefault(period.fiscal_year, period)  # after a change of fiscal year, a label can occur twice
    history = History(
        page_queries.stated(build, company, page_queries.reports(build, company.cik)),
        page_queries.gaps(build, company),
        page_queries.breaks(build, company.cik),
    )
    return ComparedCompany(company, next(iter(newest), None), years, history)


def _peers(of: Directory, chosen: Sequence[str]) -> list[Listed]:
    """Companies that can be added: the most similar ones to the first one with a SIC code, by code, then by size."""
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


def _item(
    item: str, held: Sequence[ComparedCompany], years: Sequence[int], currencies: Sequence[str]
) -> dict[str, object]:
    """The data of an item for the template: title, unit, and the companies' values by fiscal year, newest first."""
    is_mixed, companies = "currency" in UNITS[item] and len(currencies) > 1, [one.company for one in held]
    labelled, shown = [("Newest", None), *((f"FY{year}", year) for year in years)], _shown(item, held)
    rows = [
        (label, [_cell(one, item, year, shown) for one in held])
        for label, year in labelled
        if year is None or any(one.value(item, year) for one in held)
    ]
    return {
        "name": item,
        "title": TITLES[item],
        "unit": unit(item, currencies[0] if len(currencies) == 1 else "each company's currency"),
        "heads": [f"{one.symbol} ({one.currency})" if is_mixed else one.symbol for one in companies],
        "tables": [table for table in (rows[: 1 + SHOWN], rows[1 + SHOWN :]) if table],
        "can_be_indexed": UNITS[item] not in NOT_INDEXED,
        "is_drawn": any((value := one.value(item, year)) and value[1] for one in held for year in years),
        "has_values": any(one.value(item, year) for one in held for year in (None, *years)),
    }


def _base(item: str, held: Sequence[ComparedCompany], years: Sequence[int]) -> int | None:
    """The first fiscal year in which all companies have a positive value of an amount; None without one."""
    if UNITS[item] in NOT_INDEXED:
        return None
    common = (year for year in sorted(years) if all((value := one.value(item, year)) and value[1] > 0 for one in held))
    return next(common, None)


def _shown(item: str, held: Sequence[ComparedCompany], digits: int = 3) -> Shown:
    """The format of an item's numbers of all companies."""
    values = (one.value(item, year) for one in held for year in (None, *one.years))
    return same_decimals(item, [value[1] for value in values if value], digits)


def _cell(of: ComparedCompany, item: str, year: int | None, shown: Shown) -> Markdown | str:
    """A value that links to its provenance, with growth, restatement and break."""
    value = of.value(item, year)
    if not value:
        slot = of.slot(year)
        is_known = slot and of.history.reason(item, slot)
        return link("–", value_address(of.company.symbol, item, slot.label)) if slot and is_known else "–"
    grown = of.growth(item, year) if item in GROWTH else None
    notes = (
        f"{'+' if grown > 0 else ''}{per_cent(grown)}" if grown is not None else "",
        of.restated(item, year, shown),
        of.broken(item).get(year, "") if year else "",
    )
    number = link(shown(value[1]), value_address(of.company.symbol, item, value[0]))
    return Markdown(" ".join([number, *(f"*{plain(note)}*" for note in notes if note)]))


def _newest(of: ComparedCompany, item: str, shown: Shown) -> Markdown | str:
    """The newest twelve months; otherwise the newest fiscal year, with its label; otherwise the reason in short."""
    slot = of.slot(None)
    if slot is None or of.value(item, None):
        return _cell(of, item, None, shown)
    year = of.history.newest_year(item, slot, key_figures.YEARS)
    number = of.history.number(item, year)
    if year is None or number is None:
        reason = of.history.reason(item, slot)
        return Markdown(f"{_cell(of, item, None, shown)} *{plain(key_figures.in_short(reason))}*") if reason else "–"
    return Markdown(f"{link(shown(number), value_address(of.company.symbol, item, year.label))} *{year.label}*")


def _overview(held: Sequence[ComparedCompany]) -> list[tuple[str, list[Markdown | str]]]:
    """The rows of the overview: currency and periods, each item of the newest twelve months, and margins."""
    periods: list[Markdown | str] = [one.newest.period_end if one.newest else "–" for one in held]
    margins = (("Net margin", "net_income"), ("Free cash flow margin", "free_cash_flow"))
    return [
        ("Currency", [one.company.currency for one in held]),
        ("Fiscal year ends in", [month_name[one.company.fiscal_year_end_month] for one in held]),
        ("Twelve months to", periods),
        *((TITLES[item], [_newest(one, item, _shown(item, held)) for one in held]) for item in SERVED_NAMES),
        *((title, [_margin(one, item) for one in held]) for title, item in margins),
    ]


def _margin(of: ComparedCompany, item: str) -> str:
    """An item as a part of revenue."""
    part, revenue = of.value(item, None), of.value("revenue", None)
    return per_cent(part[1] / revenue[1]) if part and revenue and revenue[1] > 0 else "–"


def _drawing(item: str, held: Sequence[ComparedCompany], years: Sequence[int], base: int | None) -> Markup:
    """The charts of an item: amounts in one chart for each currency; with a base year, one chart in per cent of it."""
    by_currency: dict[str, dict[int, list[Point]]] = {}
    read = _shown(item, held, READ)
    for place, one in enumerate(held):
        measure, broken, points = unit(item, one.company.currency), one.broken(item), []
        of_base = one.value(item, base) if base else None
        divisor = of_base[1] / 100 if of_base else 1.0
        for year in range(min(years), max(years) + 1) if years else ():
            value, period = one.value(item, year), one.years.get(year)
            if value and period:
                says = f"{one.company.symbol} {value[0]}: {read(value[1])} {measure}".rstrip()
                was = one.restated(item, year, read)
                notes = "".join(f", {note}" for note in (was, broken.get(year, "")) if note)
                points.append(
                    Point(period.period_end, value[1] / divisor, f"{says}{notes}", bool(was), broken.get(year, ""))
                )
            else:
                points.append(Point("", None, ""))
        group = one.company.currency if "currency" in UNITS[item] and not base else ""
        by_currency.setdefault(group, {})[place] = points
    ends = [period.period_end for one in held for year, period in one.years.items() if year in years]
    span, several = (min(ends, default=""), max(ends, default="")), len(by_currency) > 1

    def shown(value: float) -> str:
        return f"{value:,.0f}" if base else short(item, value)

    return Markup("").join(
        comparison_charts.chart(lines, span, shown, currency if several else "")
        for currency, lines in by_currency.items()
    )
