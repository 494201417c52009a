"""Cash, cash equivalents and short-term investments of a balance sheet.

Belongs here: which of its lines count. Does not: which facts are lines (reading), whether one is missing (evidence).

Short-term investments are securities and deposits among the current assets, whatever the line is called. Restricted
cash and funds held for customers are not part of cash.
"""

from collections.abc import Iterable
from itertools import chain

from pipelines.normalize.balance.reading import REST_OF_TOTAL, TOTALS_OF_BALANCE_SHEETS, Filing, Reading
from pipelines.normalize.balance.totals import Day
from pipelines.normalize.balance.values import (
    CASH_ITEM,
    DERIVED_LINE,
    MAY_INCLUDE_RESTRICTED,
    MAY_LACK_DEPOSITS,
    TOTAL_CONTRADICTS_PARTS,
    Value,
    adds_up,
    agreed,
    amount,
    has_rest,
    legs,
    lines_of,
    nonzero,
    proved_section,
    sum_of,
    total_contradicts,
)
from pipelines.normalize.elements.lines import (
    CASH,
    CURRENT_ASSETS,
    DEPOSITS,
    FACE_PREFIX,
    LINES,
    RESTRICTED,
    RESTRICTED_FOR_LONG,
    SECTION_TOTALS,
    SECURITY,
)
from pipelines.normalize.rule import Rule

CASH_OF_LINES = Rule(
    "cash.proved.lines-add-up",
    "Cash is the cash and the securities among the lines that add up to the current assets, in both columns of the "
    "filing, or in one of them if these are the usual lines.",
    f"{TOTALS_OF_BALANCE_SHEETS}; Regulation S-X Rule 5-02.1, 5-02.2",
    "compose",
    "classified balance sheets",
)
CASH_AS_READ = Rule(
    "cash.read.usual-lines",
    "Without proof, cash is the lines of cash and current securities that no other stated line includes.",
    "Regulation S-X Rule 5-02.1, 5-02.2; definitions of the taxonomies",
    "compose",
)
OF_FLOWS = Rule(
    "cash.read.cash-of-flows",
    "Without a line of cash, cash is that of the cash flow statement less the restricted cash that is stated.",
    "ASC 230-10-45-4, 230-10-50-8 (cash of the cash flow statement includes restricted cash)",
    "compose",
)
OF_BANKS = Rule(
    "cash.read.due-from-banks-and-deposits",
    "Otherwise cash is cash and due from banks plus interest-bearing deposits in banks.",
    "Regulation S-X Rule 9-03.1, 9-03.2",
    "compose",
)
CASH_OF_EARLIER_PERIOD = Rule(
    "cash.read.cash-of-earlier-period",
    "The cash with which the cash flow statement of an earlier period ends restates cash that is that line alone, "
    "without proof, if they differ by one digit or a power of a thousand: the first was mistyped.",
    "ASC 230-10-45-4; comparative statements (Regulation S-X Rule 3-02, 10-01(c))",
    "compose",
)

WITH_RESTRICTED = "CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents"
_USUAL = [name for name, line in LINES[CURRENT_ASSETS].items() if line.kind == CASH and line.usual]
_CASH_ALONE = "Cash"
_DUE_FROM_BANKS, _DEPOSITS = "CashAndDueFromBanks", "InterestBearingDepositsInBanks"
_WITH_DISPOSAL_GROUPS = f"{WITH_RESTRICTED}IncludingDisposalGroupAndDiscontinuedOperations"
_AT_CENTRAL_BANKS = "ifrs-full:CashAndBankBalancesAtCentralBanks"
_TABLE = LINES[CURRENT_ASSETS]


def cash(filing: Filing, day: int) -> Value | None:
    """Cash and short-term investments of a day as a filing states them; None if it states none."""
    stated = filing.days[day]
    read = proved_section(filing, CURRENT_ASSETS, day)
    found = _proved(filing, day, stated, read) if read is not None else None
    if found is not None and found.rule.where(True):
        return found
    return _read(filing, day, stated, lines_of(filing, CURRENT_ASSETS, day))


def cash_at_end_of_flows(filing: Filing, day: int) -> Value | None:
    """The line of cash of a day without a balance sheet, with which a cash flow statement ends; None without one."""
    stated = filing.days_without[day]
    line = next((name for name in _USUAL if CASH_OF_EARLIER_PERIOD.where(bool(amount(stated, name)))), None)
    if line is None:
        return None
    value, fact = stated[line]
    return Value(
        filing.cik,
        filing.seq,
        day,
        CASH_ITEM,
        CASH_OF_EARLIER_PERIOD,
        value,
        lines=value,
        elements=frozenset((line,)),
        facts=((fact, 1.0),),
        grain=filing.unit,
        is_single=True,
    )


def _proved(filing: Filing, day: int, stated: Day, read: Reading) -> Value | None:
    """Cash and securities; None if restricted cash may be inside, or no line is cash."""
    elements = agreed(read, stated, (CASH, SECURITY))
    if elements is None or not any(_TABLE[element].kind == CASH for element in elements):
        return None
    may_be_line = amount(stated, WITH_RESTRICTED) and any(WITH_RESTRICTED in group for group in chain(*read.readings))
    if may_be_line and (WITH_RESTRICTED in elements or _restricted(stated)):
        return None
    value = sum_of(stated, elements)
    is_of_flows = value == amount(stated, WITH_RESTRICTED) and not any(one.startswith(FACE_PREFIX) for one in elements)
    if filing.face and is_of_flows and _restricted(stated):
        return None
    is_rest = has_rest(stated, elements)
    return Value(
        filing.cik,
        filing.seq,
        day,
        CASH_ITEM,
        REST_OF_TOTAL if is_rest else CASH_OF_LINES,
        value,
        is_proved=True,
        lines=value,
        elements=nonzero(stated, elements),
        facts=legs(filing, day, elements),
        grain=read.unit * len(elements),
        flag=DERIVED_LINE if is_rest else None,
        sections=(adds_up(filing, read, day),),
    )


def _restricted(stated: Day) -> list[str]:
    """The lines of restricted cash that no other one includes, each amount once."""
    found = [name for name in stated if name in _TABLE and _TABLE[name].kind == RESTRICTED and stated[name][0] > 0]
    found = [name for name in found if not _TABLE[name].part_of.intersection(found)]
    return list({stated[name][0]: name for name in reversed(found)}.values())


def _read(filing: Filing, day: int, stated: Day, lines: Iterable[str]) -> Value | None:
    """The likeliest lines of cash, less restricted cash, and the securities that are current by their element."""
    takes_deposits = bool(nonzero(stated, DEPOSITS))
    rule, of_cash, taken_off, flag = _cash_as_read(filing, day, lines, takes_deposits=takes_deposits)
    if not of_cash or not rule.where(True):
        return None
    if sum_of(stated, taken_off) > sum_of(stated, of_cash):
        taken_off, flag = [], MAY_INCLUDE_RESTRICTED
    counted = (*of_cash, *_securities(filing, day, lines, takes_deposits=takes_deposits))
    value = sum_of(stated, counted) - sum_of(stated, taken_off)
    terms = (*((name, 1.0) for name in counted), *((name, -1.0) for name in taken_off))
    return Value(
        filing.cik,
        filing.seq,
        day,
        CASH_ITEM,
        rule,
        value,
        lines=value,
        elements=nonzero(stated, counted),
        facts=filing.facts(day, terms),
        grain=filing.unit * len(counted),
        flag=DERIVED_LINE if has_rest(stated, (*counted, *taken_off)) else flag,
    )


def _cash_as_read(
    filing: Filing, day: int, lines: Iterable[str], *, takes_deposits: bool
) -> tuple[Rule, list[str], list[str], str | None]:
    """The rule that chooses the lines of cash, these, the restricted cash that is taken off, and the flag."""
    stated = filing.days[day]
    flag = TOTAL_CONTRADICTS_PARTS if total_contradicts(stated, CURRENT_ASSETS) else None
    others = [name for name in _USUAL if amount(stated, name)]
    of_cash = [name for name in lines if _TABLE[name].kind == CASH and name != WITH_RESTRICTED] or others[:1]
    usual = [name for name in of_cash if _TABLE[name].usual]
    of_flows = WITH_RESTRICTED if amount(stated, WITH_RESTRICTED) else _WITH_DISPOSAL_GROUPS
    restricted = [] if takes_deposits else _restricted(stated)
    is_part = usual == [_CASH_ALONE] and amount(stated, WITH_RESTRICTED) > amount(stated, _CASH_ALONE)
    if CASH_AS_READ.where(bool(usual) and not is_part):
        includes = restricted and sum_of(stated, usual) == amount(stated, of_flows)
        return (OF_FLOWS, usual, restricted, flag) if includes else (CASH_AS_READ, usual, [], flag)
    if OF_FLOWS.where(amount(stated, of_flows) != 0):
        if CURRENT_ASSETS not in filing.totals[day]:  # else they may have the line, without what is restricted for long
            restricted += [name for name in RESTRICTED_FOR_LONG if amount(stated, name)][:1]
        return OF_FLOWS, [of_flows], restricted, None if restricted or takes_deposits else MAY_INCLUDE_RESTRICTED
    if OF_BANKS.where(_DUE_FROM_BANKS in stated):
        of_banks = [name for name in (_DUE_FROM_BANKS, _DEPOSITS) if name in stated]
        return OF_BANKS, of_banks, [], None if _DEPOSITS in stated else MAY_LACK_DEPOSITS
    if _AT_CENTRAL_BANKS in stated:
        return CASH_AS_READ, [_AT_CENTRAL_BANKS], [], flag
    zero = [name for name in stated if name in _TABLE and _TABLE[name].kind == CASH and not stated[name][0]]
    return CASH_AS_READ, of_cash or zero[:1], [], flag


def _securities(filing: Filing, day: int, lines: Iterable[str], *, takes_deposits: bool) -> list[str]:
    """The lines of current securities, without those by which the lines exceed the total: they are in cash."""
    stated, total = filing.days[day], filing.totals[day].get(CURRENT_ASSETS)
    is_classified = any(name in stated for name in SECTION_TOTALS[CURRENT_ASSETS])
    found = [name for name in lines if _TABLE[name].kind == SECURITY]
    if not is_classified:
        found = [name for name in found if _is_current(name) and not takes_deposits]
    elif not found and not takes_deposits:
        found = _of_any_term(filing, day)
    more = sum_of(stated, lines) - total if total is not None else 0.0
    return [name for name in found if total is None or amount(stated, name) != more]


def _of_any_term(filing: Filing, day: int) -> list[str]:
    """Securities of an element for any term, if the current assets have room."""
    stated = filing.days[day]
    left = filing.totals[day].get(CURRENT_ASSETS, 0.0) - sum_of(stated, filing.likely_lines(CURRENT_ASSETS, day))
    fitting = [name for name in ("MarketableSecurities", "EquitySecuritiesFvNi") if 0 < amount(stated, name) <= left]
    # the notes state these: a line only if the current assets leave nothing else
    of_notes = ("AvailableForSaleSecuritiesDebtSecurities",)
    return [*fitting, *(name for name in of_notes if 0 < amount(stated, name) == left)][:1]


def _is_current(element: str) -> bool:
    """Whether the taxonomy defines an element as current, or the face shows it so."""
    return (
        element.startswith(FACE_PREFIX)
        or element.endswith("Current")
        or "ShortTerm" in element
        or "Current" in element.partition(":")[2]
    )
