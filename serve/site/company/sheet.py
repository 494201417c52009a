"""The table of a company's items over its periods: amounts, growth, margins, restatements, reasons of empty cells.

Belongs here: rows, cells and their scale. Does not: which periods are shown (history, view), the text around the table
(templates/company.md).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from serve.site.company.history import BROKEN, RECAST_BETWEEN, History, Slot
from serve.site.company.values import address as value_address
from serve.site.text.figures import MEANT, TITLES, UNITS, decimals, in_units, per_cent
from serve.site.text.markdown import Markdown, plain
from warehouse.contract.line_items import FURTHER_NAMES, SERVED_NAMES
from warehouse.contract.vocabulary import GAPS
from warehouse.queries.page_queries import Stated

SCALES = ((1e13, 1e9, "billions"), (1e9, 1e6, "millions"), (1e6, 1e3, "thousands"), (0.0, 1.0, ""))
"""Scales: the least largest amount for which the scale is used, its divisor, its name."""

GROWTH = {
    "revenue": "Revenue growth",
    "net_income": "Net income growth",
    "eps_basic": "Growth per share",
    "free_cash_flow": "Free cash flow growth",
    "operating_income": "Operating income growth",
}
MARGINS = {
    "net_income": "Net margin",
    "free_cash_flow": "Free cash flow margin",
    "gross_profit": "Gross margin",
    "operating_income": "Operating margin",
}
MORE = "More from the statements"
"""The title above the rows of the items that the interface does not have."""
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
ALONE, NO_BASE, BEYOND, NO_REVENUE = "alone", "no base", "beyond", "no revenue"
REASONS = {reason: gap.meaning for reason, gap in GAPS.items()} | {
    ALONE: "There is no value of the same period a year before.",
    NO_BASE: "Growth from or to a loss or zero means nothing.",
    BEYOND: "More than ten times as much: the figure that it is measured by is nearly zero.",
    NO_REVENUE: "There is no margin without positive revenue.",
    BROKEN: "The figures of the year before are of another company or of other accounting standards.",
    RECAST_BETWEEN: "A fiscal year was recast, for example because a part of the business was sold or spun off, and "
    "the value of the year before was not: growth would mean nothing.",
}


class Scale(NamedTuple):
    """The divisor of numbers, and its name."""

    divisor: float
    name: str


class Sheet:
    """The table of a company."""

    def __init__(
        self,
        history: History,
        slots: Sequence[Slot],
        symbol: str,
        currency: str,
        items: Sequence[str] = SERVED_NAMES,
    ) -> None:
        """Lay out the periods, newest first, with these items and, below them, the further ones."""
        self.slots, self._items = slots, items
        self._history, self._symbol, self._currency = history, symbol, currency
        self._marks: dict[str, str] = {}
        """The marks of the reasons for empty cells, numbered in the order of their first cell."""
        self._values = {item: [history.value(item, slot) for slot in slots] for item in (*items, *FURTHER_NAMES)}
        self._numbers = {item: [each.value if each else None for each in held] for item, held in self._values.items()}
        self._scales = {unit: self._scale(unit) for unit in ("currency", "shares")}
        self._decimals = {
            item: decimals(item, list(filter(None, numbers)), self._divisor(item))
            for item, numbers in self._numbers.items()
        }
        self.rows = list(self._rows())

    @property
    def heads(self) -> list[str]:
        """The heads of the columns; twelve months among fiscal years are marked."""
        are_mixed = len({slot.kind for slot in self.slots}) > 1
        return [f"TTM {slot.label}" if slot.is_ttm and are_mixed else slot.label for slot in self.slots]

    @property
    def ends(self) -> list[str]:
        """The last day of each period."""
        return [str(slot.end) for slot in self.slots]

    @property
    def units(self) -> str:
        """One text with the units of all numbers."""
        amounts, shares = (self._scales[unit].name for unit in ("currency", "shares"))
        money = f"{amounts} of {self._currency}" if amounts else self._currency
        years = ", debt to free cash flow in years" if "debt_to_fcf" in self._items else ""
        return f"Amounts in {money}, shares in {shares or 'units'}, per share in {self._currency}{years}"

    @property
    def notes(self) -> list[tuple[str, str, str]]:
        """The reasons for empty cells: mark, meaning, and the code if the dictionary has it."""
        return [
            (mark, REASONS.get(reason, reason), reason if reason in GAPS else "")
            for reason, mark in self._marks.items()
        ]

    def _number(self, item: str, value: float) -> str:
        """A number in the table's scale, with the decimals of its row."""
        return in_units(item, value, self._divisor(item), decimals=self._decimals[item])

    def _divisor(self, item: str) -> float:
        return self._scales[UNITS[item]].divisor if UNITS[item] in self._scales else 1.0

    def _scale(self, unit: str) -> Scale:
        held = [
            abs(number)
            for item, numbers in self._numbers.items()
            if UNITS[item] == unit
            for number in numbers
            if number is not None
        ]
        return next(Scale(divisor, name) for least, divisor, name in SCALES if max(held, default=0.0) >= least)

    def _rows(self) -> Iterator[Markdown]:
        """The cells of each row, starting with its title, separated by bars; derived figures are emphasized."""
        yield from self._of_items(self._items)
        if further := [item for item in FURTHER_NAMES if any(self._values[item])]:
            yield _joined(f"**{MORE}**", [""] * len(self.slots))
            yield from self._of_items(further)

    def _of_items(self, items: Iterable[str]) -> Iterator[Markdown]:
        """The rows of the given items, each followed by its growth and margin."""
        revenue = self._numbers["revenue"]
        for item in items:
            yield _joined(plain(TITLES[item]), map(partial(self._cell, item), self.slots, self._values[item]))
            for title, ratio in ((GROWTH.get(item), self._growth), (MARGINS.get(item), self._margin)):
                before = dict(self._marks)
                cells = [*map(partial(ratio, item), self.slots, self._numbers[item], revenue)] if title else []
                if all(cell.startswith("–") for cell in cells):
                    self._marks = before  # the row is not shown
                else:
                    yield _joined(f"*{title}*", cells)

    def _cell(self, item: str, slot: Slot, value: Stated | None) -> str:
        """A value with its remarks, or the mark of the reason why it is missing."""
        to = value_address(self._symbol, item, slot.label)
        if value is None:
            reason = self._history.reason(item, slot)
            return f"[{self._none(reason)}]({to})" if reason else "–"
        remark = remarks(value, partial(self._number, item))
        return f"[{self._number(item, value.value)}]({to}){f' *{remark}*' if remark else ''}"

    def _growth(self, item: str, slot: Slot, now: float | None, _: float | None) -> str:
        before = self._history.year_before(item, slot)
        ratio = growth(now, before)
        if ratio is not None:
            return per_cent(ratio)
        if now is None:
            return self._none(self._history.reason(item, slot))
        if before is None:
            return self._none(self._history.incomparable(item, slot) or ALONE)
        return self._none(NO_BASE if before <= 0 or now < 0 else BEYOND)

    def _margin(self, item: str, slot: Slot, part: float | None, whole: float | None) -> str:
        if part is None:
            return self._none(self._history.reason(item, slot))
        if whole is None or whole <= 0:
            return self._none(NO_REVENUE)
        return per_cent(part / whole) if abs(part / whole) < MEANT else self._none(BEYOND)

    def _none(self, reason: str) -> str:
        """A dash instead of a number, with the mark of the reason if there is one."""
        if not reason:
            return "–"
        if reason not in self._marks:
            self._marks[reason] = str(len(self._marks) + 1).translate(SUPERSCRIPTS)
        return f"–{self._marks[reason]}"


def _joined(title: str, cells: Iterable[str]) -> Markdown:
    """A row as Markdown; numbers, marks and paths of values contain no characters that need an escape."""
    return Markdown(" | ".join([title, *cells]))


def growth(now: float | None, before: float | None) -> float | None:
    """Growth since a positive number, as a fraction; None where it would mean nothing, also for a loss."""
    if now is None or before is None or before <= 0 or now < 0 or now / before - 1 >= MEANT:
        return None
    return now / before - 1


def remarks(value: Stated, shown: Callable[[float], str]) -> str:
    """The remarks on a value: whether it is from a new filing, and its value before a restatement; may be empty."""
    return ", ".join(filter(None, ("new" if value.is_new else "", restated(value, shown))))


def restated(value: Stated, shown: Callable[[float], str]) -> str:
    """The value before a restatement, in words; empty without a restatement, or if the shown digits are the same."""
    if value.versions == 1:
        return ""
    if value.earlier is None:
        return "withdrawn before"
    before = shown(value.earlier)
    return f"was {before}" if before != shown(value.value) else ""
