"""Debt and cash that cannot be right: above their total, negative, in other units, or moved without their total.

Belongs here: whether a value is out of bounds. Does not: parts that are not stated (unknown), what follows (evidence).
"""

from collections.abc import Iterable
from itertools import combinations

from pipelines.normalize.balance.debt import FILER_TOTAL
from pipelines.normalize.balance.sheets import TABLES, Case, Sheet, sections_of_item
from pipelines.normalize.balance.solver import unit_of
from pipelines.normalize.balance.values import amount, first_amount
from pipelines.normalize.elements.lines import (
    ASSETS,
    BANK_OVERDRAFTS,
    BORROWING,
    BOTH_SIDES,
    CASH,
    CURRENT_ASSETS,
    CURRENT_LIABILITIES,
    LINES,
    NONCURRENT_LIABILITIES,
)

ROUNDED = 1.005
"""An amount may exceed a total that includes it by half a per cent, for rounding."""
MATERIAL = 0.005
"""A line matters if it is at least half a per cent of the value."""
HALF = 0.5
"""A missing line is still in a total if what the other lines leave of it grew by at least half of the line."""
MOVED = 0.1
"""A change counts if it is at least a tenth of the value; less is lost in other lines."""
OF_UNKNOWN = 2.0
"""A change counts if it is at least twice what the lines leave of the total; less is lost in unknown lines."""
AMOUNTS = 5
"""So many other amounts show to which unit a filing rounds."""
FINER = 1_000
"""Filings round to thousands or millions; a line that is a thousand times finer is in other units."""
_OF_FLOWS = "CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents"
FOLLOWED, STOOD_STILL = 0.25, 0.5
"""A total follows a change if it moves by a quarter of it or more; it stands still if it moves by less than half."""


def is_negative(case: Case) -> bool:
    """Whether a line is negative."""
    return any(amount(case.sheet.stated, element) < 0 for element in case.value.elements)


def exceeds_liabilities(case: Case) -> bool:
    """Whether debt exceeds the liabilities, or a part of it the current or non-current ones."""
    most = case.sheet.liabilities or first_amount(case.sheet.stated, (*ASSETS, *BOTH_SIDES))
    if most and case.amount > most * ROUNDED:
        return True
    if case.value.rule is FILER_TOTAL:
        return False
    return any(
        section in case.sheet.totals and case.sheet.sum_of(section, BORROWING) > case.sheet.totals[section] * ROUNDED
        for section in (CURRENT_LIABILITIES, NONCURRENT_LIABILITIES)
    )


def exceeds_assets(case: Case) -> bool:
    """Whether cash exceeds the current assets, or without them the total assets."""
    total = case.sheet.totals.get(CURRENT_ASSETS, first_amount(case.sheet.stated, (*ASSETS, *BOTH_SIDES)))
    return bool(total) and case.amount > total * ROUNDED


def exceeds_cash_of_flows(case: Case) -> bool:
    """Whether the lines of cash exceed that of the cash flow statement, and bank overdrafts do not explain it."""
    stated = case.sheet.stated
    of_flows = amount(stated, _OF_FLOWS)
    line = sum(amount(stated, name) for name in case.value.elements if LINES[CURRENT_ASSETS][name].kind == CASH)
    overdrafts = amount(stated, BANK_OVERDRAFTS)
    return bool(of_flows) and line > of_flows * ROUNDED and line - overdrafts > of_flows * ROUNDED


def moved_apart_from_flows(case: Case) -> bool:
    """Whether the lines of cash changed against all balance sheets and that of the flows did not, or the reverse."""
    lines = [name for name in case.value.elements if LINES[CURRENT_ASSETS][name].kind == CASH and name != _OF_FLOWS]
    now, asked = sum(amount(case.sheet.stated, name) for name in lines), []
    for other in case.compared:
        before = sum(amount(other.stated, name) for name in lines)
        if before and _OF_FLOWS in other.stated and _OF_FLOWS in case.sheet.stated:
            change, of_flows = now - before, amount(case.sheet.stated, _OF_FLOWS) - amount(other.stated, _OF_FLOWS)
            follows = of_flows * (1 if change > 0 else -1) >= FOLLOWED * abs(change)
            stands = not change and abs(of_flows) >= MOVED * now
            asked.append(stands or (abs(change) >= MOVED * max(now, before) and not follows))
    return bool(asked) and all(asked)


def is_part_of_earlier(case: Case) -> bool:
    """Whether a day of the filing has less than half of the cash that an earlier filing states, and the same assets."""
    for day, stated in case.filing.days.items():
        earlier = case.filing.earlier[day]
        for element in case.value.elements & stated.keys() & earlier.keys():
            is_less = 0 < amount(stated, element) < HALF * earlier[element]
            if is_less and any(amount(stated, total) == earlier.get(total) for total in ASSETS):
                return True
    return False


def _is_thousandth(one: float, other: float) -> bool:
    """Whether an amount is about a thousandth or a millionth of another."""
    share = one / other if other else 0.0
    return any(factor / 3 < share * 1000 < factor * 3 for factor in (1.0, 1e-3))


def is_in_other_units(case: Case) -> bool:
    """Whether total assets are a thousandth of those of the day in an earlier filing, or of the sheet before."""
    earlier = case.filing.earlier[case.sheet.day]
    same_day = next((earlier[name] for name in ASSETS if name in earlier), None)
    if same_day is not None:
        return _is_thousandth(first_amount(case.sheet.stated, ASSETS), same_day)
    before = list(case.history.sheets)[-1:] or case.compared
    return any(are_in_other_units(case.sheet, other) for other in before)


def are_in_other_units(sheet: Sheet, other: Sheet) -> bool:
    """Whether total assets, and the liabilities if both state them, are a thousandth of those of another sheet."""
    assets, others = (first_amount(each.stated, ASSETS) for each in (sheet, other))
    return _is_thousandth(assets, others) and (
        sheet.liabilities is None or other.liabilities is None or _is_thousandth(sheet.liabilities, other.liabilities)
    )


def has_line_in_other_units(case: Case) -> bool:
    """Whether a line is a thousandth of what it is on all balance sheets that it is compared with."""
    assets = first_amount(case.sheet.stated, ASSETS)
    compared = [other for other in case.compared if first_amount(other.stated, ASSETS)]
    for element in case.value.elements:
        asked = [other for other in compared if amount(other.stated, element) >= MATERIAL * case.amount]
        if asked and all(
            _is_thousandth(amount(case.sheet.stated, element), amount(other.stated, element))
            and 1 / 3 < assets / first_amount(other.stated, ASSETS) < 3
            for other in asked
        ):
            return True
    return False


def is_finer(case: Case) -> bool:
    """Whether a line is stated a thousand times more finely than all other amounts of the filing."""
    for element in case.value.elements & case.sheet.stated.keys():
        line, fact = case.sheet.stated[element]
        unit = FINER * unit_of([line])
        others = (other for day in case.filing.days.values() for other, row in day.values() if row != fact)
        if all(other == line or not other % unit for other in others):
            amounts = {other for day in case.filing.days.values() for other, _ in day.values()} - {line}
            if len(amounts) >= AMOUNTS:
                return True
    return False


def total_agreed_before(case: Case) -> bool:
    """Whether a stated total was the sum of lines on another balance sheet, and is not any more."""
    table = TABLES[case.value.item]
    stated = {name for name in case.sheet.stated if name in table and amount(case.sheet.stated, name)}
    for total in stated:
        again = [name for name in stated if amount(case.sheet.stated, name) == amount(case.sheet.stated, total)]
        if total in case.value.elements and len(again) > 1:  # two elements confirm it
            continue
        parts = [name for name in stated if total in table[name].part_of]
        for number in (2, 3):
            for some in combinations(parts, number):
                if not case.value.elements.isdisjoint((total, *some)) and _disagree(case, total, some, parts):
                    return True
    return False


def _disagree(case: Case, total: str, some: tuple[str, ...], parts: list[str]) -> bool:
    """Whether some parts added up to a total on another balance sheet, and none do here."""
    agreed = any(
        all(amount(other.stated, name) for name in some)
        and amount(other.stated, total) == sum(amount(other.stated, name) for name in some)
        for other in case.compared
    )
    stated = case.sheet.stated
    return agreed and not any(
        abs(amount(stated, total) - sum(amount(stated, name) for name in each)) <= MATERIAL * case.amount
        for number in range(1, len(parts) + 1)
        for each in combinations(parts, number)
    )


def _room(newer: Sheet, older: Sheet, sections: Iterable[str], kinds: tuple[str, ...]) -> float | None:
    """The change of totals less those of the other lines that both state; None without the totals."""
    left = 0.0
    for section in sections:
        if section not in newer.totals or section not in older.totals:
            return None
        left += newer.totals[section] - older.totals[section]
        for name in set(newer.lines.get(section, ())) & set(older.lines.get(section, ())):
            if LINES[section][name].kind not in kinds:
                left -= amount(newer.stated, name) - amount(older.stated, name)
    return left


def moved_alone(case: Case) -> bool:
    """Whether the value changed against all balance sheets that it is compared with, and no total followed."""
    sections, kinds = sections_of_item(case)
    asked = []
    for other in case.compared:
        before = case.history.values.get((case.value.item, other.day))
        left = _room(case.sheet, other, sections, kinds)
        if before is None or left is None:
            continue
        change = case.amount - (before.value or 0.0)
        size = abs(change)
        unknown = sum(abs(rest) for section in sections if (rest := other.left(section)) is not None)
        follows = left * (1 if change > 0 else -1) >= FOLLOWED * size or abs(left) >= STOOD_STILL * size
        asked.append(
            size >= max(MOVED * max(case.amount, before.value or 0.0), OF_UNKNOWN * unknown)
            and size > 0
            and not follows
        )
    return bool(asked) and all(asked)
