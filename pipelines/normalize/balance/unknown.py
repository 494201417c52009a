"""Detects parts of debt and cash that a filing does not state and that may be material.

Belongs here: lines that earlier reports stated, maturities that left long-term debt, and liabilities that no line
explains. Does not: amounts that cannot be right (bounds), which rules withhold a value (evidence).
"""

from collections.abc import Collection, Mapping, Set
from itertools import product

from pipelines.normalize.balance.bounds import HALF, MATERIAL, MOVED
from pipelines.normalize.balance.debt.borrowings import DEBT_AS_READ, DISCOUNT
from pipelines.normalize.balance.debt.classified import WITH_MATURITIES
from pipelines.normalize.balance.reading import Filing
from pipelines.normalize.balance.sheets import (
    GROUPS,
    QUARTERS,
    REPORTS,
    TABLES,
    Case,
    History,
    Sheet,
)
from pipelines.normalize.balance.solver import SAME
from pipelines.normalize.balance.values import DEBT, Value, amount, first_amount, sum_of
from pipelines.normalize.elements.lines import (
    ALL_DEBT,
    BORROWINGS,
    CURRENT_ASSETS,
    CURRENT_LIABILITIES,
    DEPOSIT,
    INTEREST_OF_CLASS,
    LIABILITIES,
    LONG_TERM_DEBT,
    NONCURRENT_LIABILITIES,
    TOTAL_ELEMENTS,
)
from warehouse.contract.sections import SECTIONS

LITTLE = 0.03
"""Less than three per cent of debt or of liabilities is too small for new debt, a maturity, or another installment."""
FINANCIAL = ("bank", "broker", "financial")
"""Industries of companies whose balance sheets are not classified."""
LENDER = "captive_finance"
"""The industry of companies that own a lender to their customers."""
LEAST_SHARE = 0.02
"""A missing line matters if it was at least a fiftieth of the value."""


_WHOLE = (*LONG_TERM_DEBT, *ALL_DEBT)
"""The elements of long-term debt and of all debt."""
_TOTAL_OF_CASH = ("CashCashEquivalentsAndShortTermInvestments", "CashAndCashEquivalentsAtCarryingValue")
_OTHER_PART = {"current_debt": "noncurrent_debt", "noncurrent_debt": "current_debt"}


def stated_amount(sheet: Sheet, group: str) -> float:
    """The amount of a group on a balance sheet: its lines, or else a total less the other part of this total."""
    if sheet.parts[group]:
        return sheet.parts[group]
    if group == "securities":
        whole, rest = (amount(sheet.stated, name) for name in _TOTAL_OF_CASH)
    else:
        whole, rest = first_amount(sheet.stated, LONG_TERM_DEBT), sheet.parts.get(_OTHER_PART.get(group, ""), 0.0)
    return max(whole - rest, 0.0) if rest or group == "noncurrent_debt" else 0.0


def states(filing: Filing, group: str) -> bool:
    """Whether a filing states a line of a group, or a total that includes one, for any day; zero counts as stated."""
    return any(not GROUPS[group].names.isdisjoint(stated) for stated in filing.days.values())


def lost_line(case: Case) -> bool:
    """Whether a line is no longer stated, and the unexplained remainder of the total has grown by about its amount.

    It stays lost as long as the remainder exceeds the earlier one by at least half of the line.
    """
    lost, newest = case.history.lost, max(case.filing.days)
    if case.sheet.day == newest and (found := _lost(case)):
        lost[case.value.item] = found
    section, least = lost.get(case.value.item, ("", 0.0))
    left = case.sheet.left(section)
    if left is not None and left < least and case.sheet.day == newest:
        lost.pop(case.value.item, None)
    return left is not None and left >= least


def _lost(case: Case) -> tuple[str, float] | None:
    """The section with a line that is no longer stated, and the least remainder with which it stays lost; else None.

    The remainder of the section grew by about the line, and no element that the filing states can include the line. A
    total that the earlier balance sheet stated as another line cannot include it.
    """
    table = TABLES[case.value.item]
    for section, other in product(SECTIONS[case.value.item], case.compared):
        left, left_before = case.sheet.left(section), other.left(section)
        if left is None or left_before is None:
            continue
        lines = other.lines.get(section, ())
        for name in table.keys() & lines:
            line = amount(other.stated, name)
            if line < LEAST_SHARE * case.value.amount or abs(left - left_before - line) > HALF * line:
                continue
            can_include = {*table[name].part_of, *_WHOLE}.difference(lines)
            if all(can_include.isdisjoint(stated) and name not in stated for stated in case.filing.days.values()):
                return section, max(left_before, 0.0) + HALF * line
    return None


def covers_less_than_comparative(case: Case) -> bool:
    """Whether the value covers less, or more, than the value of the filing's other column.

    Less: its lines are parts of a total that only the other column states, and there the parts are less than the total.
    More: its lines include a part that only the other column states, and there they exceed the value.
    """
    elements = case.value.elements & TABLES[case.value.item].keys()
    columns = (other for other in case.compared if case.filing.days.get(other.day) is other.stated)
    return bool(elements) and any(_covers_other_lines(case, elements, other) for other in columns)


def _covers_other_lines(case: Case, elements: Set[str], other: Sheet) -> bool:
    """Whether the value's lines, all of which another column states, are other parts of a total there."""
    table = TABLES[case.value.item]
    before = case.history.values.get((case.value.item, other.day))
    if not before or not all(amount(other.stated, name) for name in elements):
        return False
    stated = case.sheet.stated
    lost = {name for name in table.keys() & other.stated.keys() if name not in stated or stated[name][0] < 0}
    is_more = sum_of(other.stated, elements) > before.amount * (1 + MATERIAL)
    includes = is_more and any(not elements.isdisjoint(table[name].part_of) for name in lost & before.elements)
    parts = {total: [name for name in elements if total in table[name].part_of] for total in lost}
    return includes or any(
        parts[total] and sum_of(other.stated, parts[total]) < amount(other.stated, total) * (1 - MATERIAL)
        for total in lost & (before.elements | TOTAL_ELEMENTS)
    )


def vanished(group: str, case: Case) -> bool:
    """Whether the newest balance sheet lacks a group that earlier reports stated, and the totals still include it."""
    history, sheet = case.history, case.sheet
    may_miss = sheet.day == max(case.filing.days) and group in history.last_with and case.value.amount != 0
    if not may_miss or states(case.filing, group) or _shows_or_needs_none(group, [sheet], history):
        return False
    last, number = history.last_with[group]
    line = stated_amount(last, group)
    is_material = line >= LEAST_SHARE * (case.value.amount + line) and last.day < sheet.day
    is_old = history.filings - number > REPORTS
    return is_material and not (is_old and _is_gone(group, line, last, sheet)) and _is_left(group, line, last, case)


def _is_gone(group: str, line: float, last: Sheet, sheet: Sheet) -> bool:
    """Whether a line that was not stated for a year is zero: most other lines are stated, or its size needs a line."""
    section = GROUPS[group].section
    left = sheet.left(section)
    is_known = left is None or left <= HALF * sheet.totals[section]
    return is_known or (not last.parts[group] and line > UNNAMED[0] * last.totals.get(section, 0.0))


def _is_left(group: str, line: float, last: Sheet, case: Case) -> bool:
    """Whether the totals still include a line of an earlier balance sheet, or do not show that they do not."""
    section, sheet = GROUPS[group].section, case.sheet
    left, left_before = sheet.left(section), last.left(section)
    if left is None or left_before is None:
        return True
    if max(abs(left_before), abs(left) / 2) <= line:  # the other lines are known
        return left - left_before >= HALF * line
    restated = [other.totals for other in case.compared if other.day == last.day and section in other.totals]
    return sheet.totals[section] - [*restated, last.totals][0][section] > -HALF * line


def _shows_or_needs_none(group: str, sheets: list[Sheet], history: History) -> bool:
    """Whether balance sheets state a line of a group, or need no such line: a bank's securities are not part of cash.

    The balance sheet of a bank is not classified.
    """
    one, sheet = GROUPS[group], sheets[0]
    is_bank = sheet.sum_of(LIABILITIES, DEPOSIT) or (history.industry == "bank" and LIABILITIES in sheet.totals)
    of_bank = one.section == CURRENT_ASSETS and is_bank and CURRENT_ASSETS not in sheet.totals
    return bool(of_bank) or any(each.parts[group] or not one.names.isdisjoint(each.stated) for each in sheets)


def shown_later(history: History, of_day: Mapping[int, Sheet]) -> list[tuple[Value, str]]:
    """Find earlier values that lack a group of lines, as the balance sheets of a later filing show.

    The later filing either states the lines for a day before and a day after the value's own filing, or it states them
    for the newest day of the value's filing, which does not.

    Returns:
        each value with the reason of its gap.
    """
    found = []
    for name, group in GROUPS.items():
        lines = {day: line for day, sheet in of_day.items() if (line := stated_amount(sheet, name))}
        found += [
            (value, f"{name}_not_shown")
            for value, *own_sheets in (history.served if lines else ())
            if value.item == group.item and not value.is_proved
            if _is_shown(lines, max(of_day), value, own_sheets[-1].day)
            if not _shows_or_needs_none(name, own_sheets, history)
        ]
    return found


def _is_shown(lines: Mapping[int, float], newest: int, value: Value, own: int) -> bool:
    """Whether a later filing shows a material line that a value lacks.

    Args:
        lines: the line on each day for which the later filing states it. newest: the filing's newest day.
        own: the newest day of the value's own filing.
    """
    line = lines.get(own, 0.0)
    if value.day == own:
        earlier = [day for day in lines if day < own < newest and newest in lines and newest - day <= QUARTERS]
        line = sum((lines[day] + lines[newest]) / 2 for day in earlier[-1:])
    return line != 0 and line >= MATERIAL * (value.amount + line)


def follow_groups(history: History, filing: Filing, own: Sheet) -> None:
    """Record in the history the newest balance sheet that has each group of lines."""
    for group in GROUPS:
        line = stated_amount(own, group)
        if line and line >= SAME * own.parts["noncurrent_debt"]:
            history.last_with[group] = own, history.filings
        elif states(filing, group):
            history.last_with.pop(group, None)


OF_NONCURRENT, OF_WHOLE = (0.03, 0.7, 4.0), (0.1, 0.5, 1.6)
"""Three bounds for debt that fell due: its least share of the debt, and the least and the largest rise of current
liabilities as a multiple of it. OF_NONCURRENT is for a line that is non-current by definition, OF_WHOLE for long-term
debt, which some filers use for the non-current part."""
PAID = (0.8, 1.2)
"""Maturities are refinanced if current liabilities fall by about as much as debt rises, within these multiples."""
UNNAMED = (0.4, 0.25)
"""Maturities above two fifths of current liabilities and a quarter of debt would be a separate line."""


def _is_alone(sheet: Sheet) -> str | None:
    """The only debt element of a classified balance sheet; None if there are more, or current debt is stated."""
    borrowings = GROUPS["noncurrent_debt"].elements
    lines = [name for name in sheet.lines.get(NONCURRENT_LIABILITIES, ()) if name in borrowings]
    zero = [name for name in borrowings.intersection(sheet.stated) if not amount(sheet.stated, name)]
    wholes = [name for name in _WHOLE if amount(sheet.stated, name)]
    found = [*(lines or zero), *wholes]
    return found[0] if len(found) == 1 and not sheet.parts["current_debt"] else None


def became_due(line: str, sheet: Sheet, other: Sheet) -> bool:
    """Whether the only line of debt fell while current liabilities rose by about as much: a part of it fell due."""
    fell = amount(other.stated, line) - amount(sheet.stated, line)
    least, lowest, highest = OF_WHOLE if line in _WHOLE else OF_NONCURRENT
    current = sheet.totals.get(CURRENT_LIABILITIES, 0.0)
    rose = current - other.totals.get(CURRENT_LIABILITIES, 0.0)
    is_due = fell >= least * amount(other.stated, line) > 0 and lowest * fell <= rose <= highest * fell
    return is_due and 0 < sheet.day - other.day <= QUARTERS and fell >= LITTLE * current


def follow_maturities(history: History, sheet: Sheet, others: Collection[Sheet]) -> None:
    """Record in the history whether debt fell due on a filing's newest balance sheet; stated current debt resets it."""
    if sheet.parts["current_debt"]:
        history.became_due, history.due_since = 0, -REPORTS
    for each in (*others, sheet):
        if first_amount(each.stated, LONG_TERM_DEBT) and each.parts["noncurrent_debt"]:
            history.is_part = _is_less_than_part(each)
    line = _is_alone(sheet)
    if line is not None and CURRENT_LIABILITIES in sheet.totals:
        _follow_only_line(history, line, sheet, others)


def _follow_only_line(history: History, line: str, sheet: Sheet, others: Collection[Sheet]) -> None:
    """Record in the history how the only line of debt changed since the balance sheets before."""
    newest, now = list(history.sheets)[-1:], amount(sheet.stated, line)
    for before in newest:
        earlier = amount(before.stated, line)
        rose = now - earlier
        if _is_refinanced(rose, now, sheet, before):
            history.became_due = 0
        if line not in _WHOLE and became_due(line, sheet, before):
            history.became_due += 1
        if rose > LITTLE * earlier:
            history.installments_since = -REPORTS
    is_new = history.filings - history.due_since >= REPORTS  # a year end is repeated by all reports of a year
    if any(became_due(line, sheet, other) for other in (*(others if is_new else ()), *newest)):
        history.due_since = history.filings
    if _pays_installments(now, [amount(one.stated, line) for one in list(history.sheets)[-2:]]):
        history.installments_since = history.filings


def _is_refinanced(rose: float, now: float, sheet: Sheet, before: Sheet) -> bool:
    """Whether maturities were refinanced: debt rose by about as much as current liabilities fell (PAID)."""
    paid = before.totals.get(CURRENT_LIABILITIES, 0.0) - sheet.totals[CURRENT_LIABILITIES]
    return rose > 0 and rose >= LITTLE * now and PAID[0] * rose <= paid <= PAID[1] * rose


def _pays_installments(now: float, before: list[float]) -> bool:
    """Whether debt fell by about the same amount twice, which would be material within a year."""
    if len(before) < 2:
        return False
    paid_before, paid = before[0] - before[1], before[1] - now
    return abs(paid - paid_before) <= LITTLE * paid > 0 and REPORTS * paid >= LITTLE * now


def maturities_left(case: Case) -> bool:
    """Whether debt may be due without a line: it fell due within a year or twice before, or the company is a lender.

    True only if long-term debt is the only debt element; equal installments within a year count, too.
    """
    history = case.history
    has_left = (
        history.filings - history.due_since < REPORTS
        or history.became_due > 1
        or history.industry == LENDER
        or history.filings - history.installments_since < REPORTS
    )
    return has_left and CURRENT_LIABILITIES in case.sheet.totals and _is_alone(case.sheet) is not None


def is_no_total(case: Case) -> bool:
    """Whether long-term debt is less than its non-current part, or was when both were stated and now only one is."""
    return (len(case.value.elements) == 1 and _is_less_than_part(case.sheet)) or (
        case.history.is_part and _is_alone(case.sheet) is not None
    )


def _is_less_than_part(sheet: Sheet) -> bool:
    """Whether the total of long-term debt is less than its non-current part by more than a tenth."""
    whole, rest = first_amount(sheet.stated, LONG_TERM_DEBT), sheet.parts["noncurrent_debt"]
    return 0 < whole < rest * (1 - MOVED)


def has_large_maturities(case: Case) -> bool:
    """Whether maturities that no line states would be a large part of current liabilities and of debt (UNNAMED)."""
    due = first_amount(case.sheet.stated, LONG_TERM_DEBT) - case.sheet.parts["noncurrent_debt"]
    return (
        case.value.rule is WITH_MATURITIES
        and case.sheet.parts["noncurrent_debt"] > 0
        and case.sheet.totals[CURRENT_LIABILITIES] >= due > UNNAMED[0] * case.sheet.totals[CURRENT_LIABILITIES]
        and due > UNNAMED[1] * case.value.amount
    )


_NOTES = frozenset(
    name
    for section in (CURRENT_LIABILITIES, NONCURRENT_LIABILITIES)
    for name, line in BORROWINGS[section].items()
    if not line.usual
)
"""Notes payable and other borrowings that are usually details in the notes."""


def notes_exceed(case: Case) -> bool:
    """Whether only current debt is stated as a line, although notes or other borrowings are larger."""
    is_alone = bool(case.sheet.parts["current_debt"]) and not case.sheet.parts["noncurrent_debt"]
    notes = _NOTES.intersection(case.sheet.stated) if is_alone and case.value.rule is DEBT_AS_READ else ()
    is_more = any(amount(case.sheet.stated, name) > case.value.amount * (1 + DISCOUNT) for name in notes)
    return is_more and CURRENT_LIABILITIES in case.sheet.totals


OF_DEBT, ROUND = 0.05, 1_000
"""A borrowing is often a round amount, a multiple of ROUND units, that stays the same for several quarters. A round
remainder alone matters if it is a twentieth of the debt."""
OF_ONE_LINE, TIMES, OF_LIABILITIES = 0.1, (1.0, 10.0), 0.2
"""Bounds for what the lines leave of the liabilities. Unclassified: the debt (a tenth of it if it is one line), or
LITTLE of the liabilities. Classified: ten times the debt, or a fifth of the liabilities."""


def leaves_much(case: Case) -> bool:
    """Whether the lines leave so much of the liabilities unexplained that a line of debt may be missing."""
    liabilities = case.sheet.liabilities
    if liabilities is None or case.value.is_stated_zero:
        return False
    rest = sum(case.sheet.left(section) or 0.0 for section in SECTIONS[DEBT])
    if not case.value.elements:
        return rest > HALF * liabilities
    if CURRENT_LIABILITIES in case.sheet.totals:
        return rest > max(TIMES[1] * case.value.amount, OF_LIABILITIES * liabilities)
    of_bank = bool(case.sheet.sum_of(LIABILITIES, DEPOSIT)) and case.value.elements.isdisjoint(ALL_DEBT)
    times = OF_ONE_LINE if len(case.value.elements) == 1 else TIMES[0]
    return of_bank and rest > max(times * case.value.amount, LITTLE * liabilities)


def leaves_round_amount(case: Case) -> bool:
    """Whether a bank's lines leave a round amount of the liabilities that is large, or the same on another day."""
    left = case.sheet.left(LIABILITIES)
    if left is None or not case.value.elements or not case.sheet.sum_of(LIABILITIES, DEPOSIT):
        return False
    others = [
        other.left(LIABILITIES) for other in (*case.compared, *case.history.sheets) if other.day != case.sheet.day
    ]
    is_round = left > 0 and not left % (ROUND * case.filing.unit)
    least = MATERIAL if left in others else OF_DEBT
    return is_round and left >= least * case.value.amount


def lacks_debt_of_interest(case: Case) -> bool:
    """Whether interest is stated on a class of debt that no line has, and the liabilities have room for it."""
    elements, left = case.value.elements, case.sheet.left(LIABILITIES)
    has_room = left is not None and left > MATERIAL * case.value.amount
    others = [
        other for interest, other in INTEREST_OF_CLASS.items() if interest in case.filing.flows[case.sheet.day].interest
    ]
    return bool(elements) and has_room and any(all(other in element for element in elements) for other in others)


def has_no_liabilities(case: Case) -> bool:
    """Whether a financial company states long-term debt alone, and neither liabilities nor deposits."""
    states_them = CURRENT_LIABILITIES in case.sheet.totals or case.sheet.sum_of(LIABILITIES, DEPOSIT)
    is_unknown = case.sheet.liabilities is None and not states_them and case.history.industry in FINANCIAL
    return is_unknown and bool(case.value.elements) and case.value.elements <= {*LONG_TERM_DEBT}
