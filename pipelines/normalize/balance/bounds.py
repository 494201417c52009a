"""Checks for debt and cash that cannot be right: above a total, negative, in other units, or moved without the total.

Belongs here: whether a value is out of bounds, or one of its lines wrong. Does not: parts that are not stated
(unknown), which rules withhold a value (evidence).
"""

from pipelines.normalize.balance.cash import WITH_RESTRICTED
from pipelines.normalize.balance.debt.filer_total import FILER_TOTAL
from pipelines.normalize.balance.reading import Lines, stated_lines
from pipelines.normalize.balance.sheets import TABLES, Case, Sheet
from pipelines.normalize.balance.solver import DIGITS, OTHER_DIGITS, is_mistyped_or_in_other_units, unit_of
from pipelines.normalize.balance.values import CASH_ITEM, DEBT, amount, first_amount, sum_of
from pipelines.normalize.elements.lines import (
    ASSETS,
    BANK_OVERDRAFTS,
    BORROWING,
    BOTH_SIDES,
    CASH,
    CURRENT_ASSETS,
    CURRENT_LIABILITIES,
    DEPOSIT,
    LIABILITIES,
    LINES,
    NONCURRENT_LIABILITIES,
    UNKNOWN,
)
from warehouse.contract.sections import SECTIONS

UNKNOWN_OF_DEBT, UNKNOWN_OF_LIABILITIES = 0.05, 0.02
"""An unknown line is material if it is more than a twentieth of the debt and a fiftieth of the liabilities."""
MATERIAL = 0.005
"""A line, or an excess over a total, is material if it is at least half a per cent of the value."""
HALF = 0.5
"""One change follows another if it is at least half of it: cash of the cash flow statement follows the line of cash,
and the remainder of a total follows a missing line."""
MOVED = 0.1
"""A change counts if it is at least a tenth of the value; a smaller change is hidden by other lines."""
_ABOUT = 3
"""Two amounts are about equal if one is between a third and three times the other."""
ROUNDED_LINES = 5
"""The largest difference, in units, between a total and its lines that rounding explains."""


# --- Totals -------------------------------------------------------------------------------------------------------


def is_negative(case: Case) -> bool:
    """Whether a line is negative."""
    return any(amount(case.sheet.stated, element) < 0 for element in case.value.elements)


def exceeds_liabilities(case: Case) -> bool:
    """Whether debt exceeds liabilities less deposits, or its part in a section exceeds the section's total."""
    total = case.sheet.liabilities or first_amount(case.sheet.stated, (*ASSETS, *BOTH_SIDES))
    most = total - case.sheet.sum_of(LIABILITIES, DEPOSIT)
    parts = (
        ()
        if case.value.rule is FILER_TOTAL
        else case.sheet.totals.keys() & {CURRENT_LIABILITIES, NONCURRENT_LIABILITIES}
    )
    return (most != 0 and case.value.amount > most * (1 + MATERIAL)) or any(
        case.sheet.sum_of(section, BORROWING) > case.sheet.totals[section] * (1 + MATERIAL) for section in parts
    )


def has_unknown_line(case: Case) -> bool:
    """Whether lines whose words do not say if they are borrowings could be a material part of the debt."""
    unknown = sum(case.sheet.sum_of(section, UNKNOWN) for section in SECTIONS[DEBT] if section in case.sheet.lines)
    liabilities = case.sheet.liabilities or first_amount(case.sheet.stated, (*ASSETS, *BOTH_SIDES))
    return unknown > max(UNKNOWN_OF_DEBT * case.value.amount, UNKNOWN_OF_LIABILITIES * liabilities)


def exceeds_assets_or_cash_of_flows(case: Case) -> bool:
    """Whether cash exceeds current assets, or the lines of cash exceed the cash of the cash flow statement.

    Cash is compared with total assets if the filing does not state current assets. The cash of the cash flow statement
    includes restricted cash, so the lines of cash cannot exceed it; as it may be net of bank overdrafts, they are first
    subtracted from the lines. An excess of less than MATERIAL is ignored.
    """
    stated = case.sheet.stated
    total = case.sheet.totals.get(CURRENT_ASSETS, first_amount(stated, (*ASSETS, *BOTH_SIDES)))
    lines, cash_of_flows = sum_of(stated, _lines_of_cash(case)), amount(stated, WITH_RESTRICTED) * (1 + MATERIAL)
    exceeds_flows = cash_of_flows != 0 and cash_of_flows < min(lines, lines - amount(stated, BANK_OVERDRAFTS))
    return exceeds_flows or (bool(total) and case.value.amount > total * (1 + MATERIAL))


def _lines_of_cash(case: Case) -> list[str]:
    return [name for name in case.value.elements if LINES[CURRENT_ASSETS][name].kind == CASH]


def moved_apart_from_flows(case: Case) -> bool:
    """Whether the lines of cash and the cash of the cash flow statement changed differently from all compared sheets.

    They changed differently if one of the two changed by at least MOVED of cash, and the other did not follow.
    """
    stated, lines = case.sheet.stated, [name for name in _lines_of_cash(case) if name != WITH_RESTRICTED]
    now = sum_of(stated, lines)
    changes = [
        (now - before, stated[WITH_RESTRICTED][0] - other.stated[WITH_RESTRICTED][0])
        for other in case.compared
        if (before := sum_of(other.stated, lines)) and WITH_RESTRICTED in stated and WITH_RESTRICTED in other.stated
    ]
    return bool(changes) and all(
        abs(change) >= MOVED * max(now, now - change) and of_flows * change < HALF * change**2
        if change
        else abs(of_flows) >= MOVED * now
        for change, of_flows in changes
    )


def is_part_of_earlier(case: Case) -> bool:
    """Whether the filing states less than half of an earlier filing's cash for a day with the same total assets."""
    days = [(stated, case.filing.earlier[day]) for day, stated in case.filing.days.items()]
    return any(
        0 < amount(stated, element) < HALF * earlier[element]
        and any(amount(stated, total) == earlier.get(total) for total in ASSETS)
        for stated, earlier in days
        for element in case.value.elements & stated.keys() & earlier.keys()
    )


# --- Units --------------------------------------------------------------------------------------------------------


def _is_thousandth(one: float, other: float) -> bool:
    """Whether an amount is about a thousandth or a millionth of another."""
    share = one / other if other else 0.0
    return 1 / _ABOUT < share * 1e3 < _ABOUT or 1 / _ABOUT < share * 1e6 < _ABOUT


def is_in_other_units(case: Case) -> bool:
    """Whether total assets are about a thousandth or a millionth of their earlier amount.

    The earlier amount is an earlier filing's for the same day, or else the previous balance sheet's.
    """
    earlier = case.filing.earlier[case.sheet.day]
    same_day = next((earlier[name] for name in ASSETS if name in earlier), None)
    if same_day is not None:
        return _is_thousandth(case.sheet.assets, same_day)
    before = list(case.history.sheets)[-1:] or case.compared
    return any(are_in_other_units(case.sheet, other) for other in before)


def are_in_other_units(sheet: Sheet, other: Sheet) -> bool:
    """Whether total assets, and liabilities if both sheets have them, are about a thousandth of another sheet's."""
    return _is_thousandth(sheet.assets, other.assets) and (
        sheet.liabilities is None or other.liabilities is None or _is_thousandth(sheet.liabilities, other.liabilities)
    )


def has_line_in_other_units(case: Case) -> bool:
    """Whether a line is about a thousandth of the same line on all compared balance sheets of similar size.

    Also true if a line is rounded a thousand times more finely than all other amounts of the filing. Lines that add up
    to their total are not checked.
    """
    of_size = [
        each.stated for each in case.compared if case.sheet.assets / _ABOUT < each.assets < case.sheet.assets * _ABOUT
    ]
    if not of_size and case.filing.finer is None:
        return False
    reads = [read for read in case.filing.sections.values() if case.sheet.day in read.days]
    elements = case.value.elements.difference(*(group for read in reads for group in read.readings[0]))
    least = MATERIAL * case.value.amount
    before = {
        element: [line for stated in of_size if (line := amount(stated, element)) >= least] for element in elements
    }
    return any(
        now == case.filing.finer or (lines and all(_is_thousandth(now, line) for line in lines))
        for element, lines in before.items()
        for now in (amount(case.sheet.stated, element),)
    )


# --- Sums ---------------------------------------------------------------------------------------------------------


def no_longer_adds_up(case: Case) -> tuple[float, float] | None:
    """The sum and the total of a section that no longer adds up, if a line of the item explains why; else None.

    The sum is of the lines with which the section added up before. In double entry, a remainder means that a line is
    new, missing or wrong. If the lines exceed their total, the reason is no new line. If the remainder turns one of the
    lines into the same amount in another unit, or with one other digit, this line is wrong.
    """
    for (section, day), before in case.filing.before.items():
        if day == case.sheet.day and section in SECTIONS[case.value.item]:
            lines, missing = stated_lines(before, case.sheet.stated)
            if _explains(case, section, lines, missing):
                return sum_of(case.sheet.stated, lines), case.sheet.totals[section]
    return None


def _explains(case: Case, section: str, lines: tuple[str, ...], missing: Lines) -> bool:
    """Whether a line of the item, or an unknown line that may be one, explains the difference from the total.

    Args:
        case: the value, its filing and its balance sheet.
        section: a section of the balance sheet.
        lines: the lines with which the section added up before, as elements; only those that the filing states.
        missing: the other lines with which it added up before.
    """
    stated = case.sheet.stated
    table = TABLES[case.value.item]
    total = case.sheet.totals[section]
    unit = unit_of([total, *(stated[line][0] for line in lines)])
    difference = total - sum_of(stated, lines)
    of_item = [line for line in lines if line in table]
    if abs(difference) <= max(ROUNDED_LINES * unit, MATERIAL * abs(sum_of(stated, of_item))):
        return False
    if section in case.filing.face_sections:
        return True
    if difference < 0:
        return any(stated[line][0] >= -difference for line in of_item)
    if len(missing) > 1 or section == LIABILITIES:
        return len(missing) < 2
    is_wrong = any(is_mistyped_or_in_other_units(stated[line][0], difference, unit, OTHER_DIGITS) for line in of_item)
    repeated = [line for line in of_item if stated[line][0] >= DIGITS * unit_of([stated[line][0]])]
    columns = case.filing.days.items()
    repeats = any(
        amount(each, line) == stated[line][0] for line in repeated for day, each in columns if day != case.sheet.day
    )
    return is_wrong or (repeats and case.value.item == CASH_ITEM)
