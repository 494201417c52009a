"""The first figures on a company's page: the newest period with the change from a year before, and the fair value.

Belongs here: which figures, and their words. Does not: the model (pipelines.valuation), tables and charts (sheet,
charts).
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from serve.site.company.history import History, Slot
from serve.site.company.sheet import growth
from serve.site.company.values import address as value_address
from serve.site.text.figures import TITLES, UNITS, Shown, per_cent, priced, same_decimals, standalone
from serve.site.text.markdown import Markdown, link, plain
from warehouse.contract.served import FairValue, NoFairValue

ITEMS = (
    *("revenue", "net_income", "eps_basic", "free_cash_flow"),
    *("dividends_per_share", "roic", "total_debt", "cash_and_equivalents", "debt_to_fcf"),
)
COMPARED = ("ratio", "years")
"""Units of items whose change is not stated in per cent; the value a year before is shown instead."""

SHORT_REASONS = {
    "no_tag": "not stated in the filings",
    "missing_quarter": "not stated for these twelve months",
    "year_not_stated": "not stated for this fiscal year",
    "filed_by_predecessor": "in the filings of its predecessor",
    "not_on_balance_sheet": "not on the balance sheet",
    "financial_company": "means nothing for a financial company",
    "negative_fcf": "free cash flow is not positive",
}
"""Frequent reasons for a missing value, in a few words."""

YEARS = 1
"""A fiscal year replaces missing twelve months only if it ended less than this number of years before them."""
LEAST = 0.0005  # smaller changes are shown as unchanged


def tiles(history: History, symbol: str, currency: str) -> Iterator[tuple[str, Markdown, str]]:
    """The key figures: title, value with a link to its page, and a note.

    The note says whether the value is new, and how it changed from a year before. An item without a value of the newest
    twelve months shows the fiscal year that ended within the year before them, with its label; otherwise the reason.
    Figures of one unit have the same decimals.
    """
    newest = history.newest
    if newest is None:
        return
    slots = {
        item: newest if history.value(item, newest) else history.newest_year(item, newest, YEARS) for item in ITEMS
    }
    numbers: dict[str, list[float]] = defaultdict(list)
    for item, slot in slots.items():
        if (value := history.number(item, slot)) is not None:
            numbers[UNITS[item]].append(value)
    for item, slot in slots.items():
        held, to = history.value(item, slot) if slot else None, value_address(symbol, item, (slot or newest).label)
        if slot is None or held is None:
            yield TITLES[item], link("–", to), in_short(history.reason(item, newest))
        else:
            shown, label = _shown(item, currency, numbers[UNITS[item]]), "" if slot == newest else slot.label
            change, new = _change(history, item, slot, held.value, shown), "new" if held.is_new else ""
            yield TITLES[item], link(shown(held.value), to), ", ".join(filter(None, (new, label, change)))


def fair_value(valuation: FairValue | NoFairValue | None) -> tuple[Markdown, str, str]:
    """The fair value per share, its range, and its assumptions; or a dash, and the reason."""
    if valuation is None:
        return plain("–"), "not valued", ""
    if isinstance(valuation, NoFairValue):
        return plain("–"), "the model does not fit", f"Why there is no fair value: {valuation.reason.message}"
    grid = [point.fair_value_per_share for point in valuation.sensitivity]
    given = valuation.assumptions
    base = priced("free_cash_flow", valuation.currency, standalone("free_cash_flow", given.base_free_cash_flow))
    measure = "" if base.startswith("$") else f" {valuation.currency}"
    rests_on = (
        "What the fair value rests on: the model discounts the free cash flow of ten years, and the value of all years "
        f"after them, at {per_cent(given.required_return)} a year. Free cash flow starts from {base}{measure} "
        f"({_clause(given.base_method)}), grows by {per_cent(given.initial_growth)} in the first year, and by "
        f"{per_cent(given.perpetual_growth)} after the tenth; {per_cent(valuation.terminal_share)} of the value lies "
        "after that. The range is that of required returns and final growth one percentage point higher and lower."
    )
    shown = _shown("eps_basic", valuation.currency, [valuation.fair_value_per_share])
    return plain(shown(valuation.fair_value_per_share)), f"{shown(min(grid))} to {shown(max(grid))}", rests_on


def _shown(item: str, currency: str, others: Sequence[float]) -> Shown:
    """The format of an item's figures, with the decimals of the figures next to them."""
    number = same_decimals(item, others)
    return lambda value: priced(item, currency, number(value))


def _change(history: History, item: str, newest: Slot, value: float, shown: Shown) -> str:
    before = history.year_before(item, newest)
    if before is None:
        return ""
    change = growth(value, before)
    if change is None or UNITS[item] in COMPARED:
        return f"{shown(before)} a year before"
    return f"{'+' if change > 0 else ''}{per_cent(change)}" if abs(change) >= LEAST else "unchanged"


def in_short(reason: str) -> str:
    """The reason for a missing value in a few words."""
    return SHORT_REASONS.get(reason, reason.replace("_", " "))


def _clause(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:].rstrip(".")
