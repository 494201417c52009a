"""Cash, cash equivalents and short-term investments of a balance sheet.

Belongs here: which of its lines count. Does not: which facts are lines (reading), whether one is missing (evidence).

Short-term investments are securities and deposits among the current assets, whatever the line is called. Restricted
cash and funds held for customers are not part of cash.
"""

import math
import re
from collections.abc import Iterable
from itertools import chain, combinations

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
    RESTRICTED_NONCURRENT,
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
    "Without a line of cash, or if that line is the cash of the cash flow statement, cash is the latter less "
    "restricted cash, unless the balance sheet shows restricted cash as a separate line.",
    "ASC 230-10-45-4, 230-10-50-8 (cash of the cash flow statement includes restricted cash)",
    "compose",
)
OF_BANKS = Rule(
    "cash.read.due-from-banks-and-deposits",
    "Otherwise cash is cash and due from banks plus interest-bearing deposits in banks, unless this or an earlier "
    "filing shows for a day that cash was due from banks alone, beside deposits.",
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
_CURRENT = [name for name in _TABLE if name.startswith(FACE_PREFIX) or re.search("Current$|ShortTerm|:.*Current", name)]
_OF_ANY_TERM = [name for name, line in _TABLE.items() if line.kind == SECURITY and not line.usual]


def cash(filing: Filing, day: int) -> Value | None:
    """Cash and short-term investments of a day as a filing states them; None if it states none."""
    stated, lines = filing.days[day], lines_of(filing, CURRENT_ASSETS, day)
    read = proved_section(filing, CURRENT_ASSETS, day)
    found = _proved(filing, day, stated, read, lines) if read is not None else None
    return found if found is not None and found.rule.where(True) else _read(filing, day, stated, lines)


def cash_at_end_of_flows(filing: Filing, day: int) -> Value | None:
    """Cash at the end of a cash flow statement, for a day without a balance sheet; None if no cash is stated."""
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


def _proved(filing: Filing, day: int, stated: Day, read: Reading, lines: Iterable[str]) -> Value | None:
    """Cash and securities of lines that add up; None if they may include restricted cash, or no line is cash."""
    elements = agreed(read, stated, (CASH, SECURITY))
    if elements is None or not any(_TABLE[element].kind == CASH for element in elements):
        return None
    restricted = _restricted(filing, day, lines)
    may_be_line = amount(stated, WITH_RESTRICTED) and any(WITH_RESTRICTED in group for group in chain(*read.readings))
    value = sum_of(stated, elements)
    is_of_flows = value == amount(stated, WITH_RESTRICTED) and not any(one.startswith(FACE_PREFIX) for one in elements)
    if (may_be_line and (WITH_RESTRICTED in elements or restricted)) or (filing.face and is_of_flows and restricted):
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


def _restricted(filing: Filing, day: int, lines: Iterable[str]) -> list[str]:
    """The elements of restricted cash that the cash of the cash flow statement includes, each amount once.

    If the line of cash equals the cash of the cash flow statement, it excludes restricted cash on a separate line.
    """
    stated = filing.days[day]
    found = [name for name in stated if name in _TABLE and _TABLE[name].kind == RESTRICTED and stated[name][0] > 0]
    if not found:
        return []
    of_cash = [name for name in lines if _TABLE[name].kind == CASH]
    is_line = bool(of_cash) and sum_of(stated, of_cash) == amount(stated, WITH_RESTRICTED)
    most = -math.inf if WITH_RESTRICTED in of_cash else filing.totals[day].get(CURRENT_ASSETS, math.inf)
    apart = [name for name in found if name in lines or (_TABLE[name].usual and sum_of(stated, [name, *lines]) <= most)]
    within = [name for name in found if _TABLE[name].part_of.isdisjoint(found) and not (is_line and name in apart)]
    return list({stated[name][0]: name for name in reversed(within)}.values())


def _read(filing: Filing, day: int, stated: Day, lines: Iterable[str]) -> Value | None:
    """Cash without proof: the likeliest lines of cash, less restricted cash, plus current securities."""
    takes_deposits = bool(nonzero(stated, DEPOSITS))
    rule, of_cash, taken_off, flag = _cash_as_read(filing, day, lines, takes_deposits=takes_deposits)
    if not of_cash or not rule.where(True):
        return None
    if sum_of(stated, taken_off) > sum_of(stated, of_cash):
        taken_off, flag = [], MAY_INCLUDE_RESTRICTED
    counted = (*of_cash, *_securities(filing, day, lines, takes_deposits=takes_deposits))
    value = sum_of(stated, counted) - sum_of(stated, taken_off)
    return Value(
        filing.cik,
        filing.seq,
        day,
        CASH_ITEM,
        rule,
        value,
        lines=value,
        elements=nonzero(stated, counted),
        facts=filing.facts(day, (*((name, 1.0) for name in counted), *((name, -1.0) for name in taken_off))),
        grain=filing.unit * len(counted),
        flag=DERIVED_LINE if has_rest(stated, (*counted, *taken_off)) else flag,
    )


def _cash_as_read(
    filing: Filing, day: int, lines: Iterable[str], *, takes_deposits: bool
) -> tuple[Rule, list[str], list[str], str | None]:
    """The rule that chooses the lines of cash, these lines, the restricted cash to subtract, and the flag."""
    stated = filing.days[day]
    flag = TOTAL_CONTRADICTS_PARTS if total_contradicts(stated, CURRENT_ASSETS) else None
    of_cash = [name for name in lines if _TABLE[name].kind == CASH and name != WITH_RESTRICTED]
    of_cash = of_cash or [name for name in _USUAL if amount(stated, name)][:1]
    usual = [name for name in of_cash if _TABLE[name].usual]
    of_flows = WITH_RESTRICTED if amount(stated, WITH_RESTRICTED) else _WITH_DISPOSAL_GROUPS
    restricted = [] if takes_deposits else _restricted(filing, day, lines)
    is_part = usual == [_CASH_ALONE] and amount(stated, WITH_RESTRICTED) > amount(stated, _CASH_ALONE)
    if CASH_AS_READ.where(bool(usual) and not is_part):
        includes = restricted and sum_of(stated, usual) == amount(stated, of_flows)
        return (OF_FLOWS, usual, restricted, flag) if includes else (CASH_AS_READ, usual, [], flag)
    if OF_FLOWS.where(amount(stated, of_flows) != 0):
        if CURRENT_ASSETS not in filing.totals[day]:  # a line of current assets has no long-term part
            restricted += [name for name in RESTRICTED_NONCURRENT if amount(stated, name)][:1]
        return OF_FLOWS, [of_flows], restricted, None if restricted or takes_deposits else MAY_INCLUDE_RESTRICTED
    if OF_BANKS.where(_DUE_FROM_BANKS in stated):
        deposits = () if _are_deposits_apart(filing) else (_DEPOSITS,)
        of_banks = [_DUE_FROM_BANKS, *(name for name in deposits if name in stated)]
        return OF_BANKS, of_banks, [], MAY_LACK_DEPOSITS if len(of_banks) <= len(deposits) else None
    zero = [name for name in stated if name in _TABLE and _TABLE[name].kind == CASH and not stated[name][0]]
    at_central_banks = [_AT_CENTRAL_BANKS] if _AT_CENTRAL_BANKS in stated and not _is_part(filing) else []
    return CASH_AS_READ, at_central_banks or of_cash or zero[:1], [], flag


def _is_part(filing: Filing) -> bool:
    """Whether cash at central banks is only a part: for one day of the filing it differs from all cash."""
    wholes = _TABLE[_AT_CENTRAL_BANKS].part_of
    return any(
        stated[_AT_CENTRAL_BANKS][0] != stated[whole][0]
        for stated in filing.days.values()
        for whole in wholes
        if _AT_CENTRAL_BANKS in stated and whole in stated
    )


def _are_deposits_apart(filing: Filing) -> bool:
    """Whether cash excludes deposits in banks: for a day with deposits, all cash equals cash due from banks.

    Amounts of the day in earlier filings count, too.
    """
    days, wholes = filing.days.items(), _TABLE[_DUE_FROM_BANKS].part_of
    sheets = ({**filing.earlier[day], **{name: one for name, (one, _) in stated.items()}} for day, stated in days)
    return any(
        sheet.get(_DEPOSITS) and sheet.get(_DUE_FROM_BANKS) in [sheet.get(whole, 0.0) for whole in wholes]
        for sheet in sheets
    )


def _securities(filing: Filing, day: int, lines: Iterable[str], *, takes_deposits: bool) -> list[str]:
    """The lines of current securities, except one by which the lines exceed the total: cash includes it."""
    stated, total = filing.days[day], filing.totals[day].get(CURRENT_ASSETS)
    found = [name for name in lines if _TABLE[name].kind == SECURITY]
    if total is None:
        return [name for name in found if name in _CURRENT and not takes_deposits]
    left = total - sum_of(stated, lines)
    if not found and not takes_deposits:
        found = _of_any_term(stated, left)
        filing.likely[CURRENT_ASSETS, day] = (*lines, *found)  # used when balance sheets are compared
    return [name for name in found if amount(stated, name) != -left]


def _of_any_term(stated: Day, left: float) -> list[str]:
    """The line of current securities if its element does not say the term: it fills or fits the rest of current assets.

    `Investments` fits if it is less than long-term investments, and so does not include them, or if these are not
    stated and it is the sum of two or three classes of securities. Otherwise `MarketableSecurities` fits, or
    `EquitySecuritiesFvNi`.
    """
    investments, for_long = amount(stated, "Investments"), amount(stated, "LongTermInvestments")
    classes = {amount(stated, name) for name in _OF_ANY_TERM} - {0.0, investments}
    are_all = any(investments == sum(some) for number in (2, 3) for some in combinations(classes, number))
    fitting = (
        ("Investments",)
        if 0 < investments < for_long or (are_all and not for_long)
        else ("MarketableSecurities", "EquitySecuritiesFvNi")
    )
    # notes state the other elements, too: they are a line only if they fill the rest of current assets exactly
    filling = (name for name in _OF_ANY_TERM if amount(stated, name) == left > 0)
    return [*filling, *(name for name in fitting if 0 < amount(stated, name) <= left)][:1]
