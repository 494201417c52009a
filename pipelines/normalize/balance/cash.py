"""Cash, cash equivalents and short-term investments of a balance sheet.

Belongs here: which of its lines count. Does not: which facts are lines (reading), whether one is missing (evidence).

Short-term investments are securities and deposits among the current assets, whatever the line is called. Restricted
cash and funds held for customers are not part of cash.
"""

import math
import re
from collections.abc import Iterator, Sequence
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
from pipelines.normalize.rule import Rule, decided

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
    "If no line is cash, or the line of cash is the cash of the cash flow statement, cash is the cash of that "
    "statement, less restricted cash that the balance sheet does not show as a separate line.",
    "ASC 230-10-45-4, 230-10-50-8 (cash of the cash flow statement includes restricted cash)",
    "compose",
)
OF_BANKS = Rule(
    "cash.read.due-from-banks-and-deposits",
    "Without other cash, cash is cash and due from banks plus interest-bearing deposits in banks; deposits are left "
    "out if this or an earlier filing states all cash of a day as the cash due from banks.",
    "Regulation S-X Rule 9-03.1, 9-03.2",
    "compose",
)
CASH_OF_EARLIER_PERIOD = Rule(
    "cash.read.cash-of-earlier-period",
    "Cash at the end of an earlier period's cash flow statement replaces cash without proof that is this line alone, "
    "if the two differ by one digit or by a power of a thousand: the earlier figure was mistyped.",
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
_CASH, _SECURITIES, _RESTRICTED = (
    frozenset(name for name, line in _TABLE.items() if line.kind == kind) for kind in (CASH, SECURITY, RESTRICTED)
)


def cash(filing: Filing, day: int) -> Value | None:
    """Cash and short-term investments of a day as a filing states them; None if it states none."""
    lines = lines_of(filing, CURRENT_ASSETS, day)
    found = _proved(filing, day, lines)
    return found if found is not None and found.rule.where(True) else _without_proof(filing, day, lines)


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


def _proved(filing: Filing, day: int, lines: Sequence[str]) -> Value | None:
    """Cash and securities of lines that add up; None if they may include restricted cash, or no line is cash."""
    read = proved_section(filing, CURRENT_ASSETS, day)
    if read is None:
        return None
    stated = filing.days[day]
    elements = agreed(read, stated, (CASH, SECURITY))
    if elements is None or _CASH.isdisjoint(elements) or _may_include_restricted(filing, day, lines, read, elements):
        return None
    value, is_rest = sum_of(stated, elements), has_rest(stated, elements)
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


def _may_include_restricted(
    filing: Filing, day: int, lines: Sequence[str], read: Reading, elements: Sequence[str]
) -> bool:
    """Whether lines of cash that add up may include restricted cash.

    They may if the cash of the cash flow statement is one of the lines, or could be one and includes restricted cash,
    or if the face shows them and they are exactly that cash.
    """
    stated = filing.days[day]
    of_flows = amount(stated, WITH_RESTRICTED)
    may_be_line = of_flows != 0 and any(WITH_RESTRICTED in group for group in chain(*read.readings))
    if may_be_line and WITH_RESTRICTED in elements:
        return True
    is_of_flows = sum_of(stated, elements) == of_flows and not any(one.startswith(FACE_PREFIX) for one in elements)
    return (may_be_line or (bool(filing.face) and is_of_flows)) and bool(_restricted(filing, day, lines))


def _restricted(filing: Filing, day: int, lines: Sequence[str]) -> list[str]:
    """The elements of restricted cash that the cash of the cash flow statement includes, each amount once.

    If the line of cash equals the cash of the cash flow statement, it excludes restricted cash on a separate line.
    """
    stated = filing.days[day]
    found = [name for name in stated if name in _RESTRICTED and stated[name][0] > 0]
    if not found:
        return []
    of_cash = [name for name in lines if name in _CASH]
    is_line = bool(of_cash) and sum_of(stated, of_cash) == amount(stated, WITH_RESTRICTED)
    apart = _restricted_on_other_lines(filing, day, lines, found) if is_line else ()
    within = [name for name in found if _TABLE[name].part_of.isdisjoint(found) and name not in apart]
    return list({stated[name][0]: name for name in reversed(within)}.values())


def _restricted_on_other_lines(filing: Filing, day: int, lines: Sequence[str], restricted: Sequence[str]) -> list[str]:
    """Restricted cash that is a line of its own.

    An element that usually is a line is also taken if it and the known lines do not exceed current assets.
    """
    stated, most = filing.days[day], filing.totals[day].get(CURRENT_ASSETS, math.inf)
    usual = [] if WITH_RESTRICTED in lines else [name for name in restricted if _TABLE[name].usual]
    not_above_total = [name for name in usual if sum_of(stated, [name, *lines]) <= most]
    return [*not_above_total, *_RESTRICTED.intersection(lines)]


# --- Cash without proof -------------------------------------------------------------------------------------------


_Chosen = tuple[Sequence[str], Sequence[str], str | None]
"""Lines of cash, the restricted cash that is subtracted from them, and a flag."""


def _without_proof(filing: Filing, day: int, lines: Sequence[str]) -> Value | None:
    """Cash without proof: the likeliest lines of cash, less restricted cash, plus current securities."""
    stated = filing.days[day]
    takes_deposits = bool(nonzero(stated, DEPOSITS))
    found = decided(_rules_without_proof(filing, day, lines, takes_deposits=takes_deposits))
    if found is None or not found[1][0]:
        return None
    rule, (of_cash, taken_off, flag) = found
    if sum_of(stated, taken_off) > sum_of(stated, of_cash):
        taken_off, flag = [], MAY_INCLUDE_RESTRICTED
    counted = (*of_cash, *_current_securities(filing, day, lines, takes_deposits=takes_deposits))
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


def _rules_without_proof(
    filing: Filing, day: int, lines: Sequence[str], *, takes_deposits: bool
) -> Iterator[tuple[bool, Rule, _Chosen]]:
    """The rules for cash if the lines do not provably add up: whether each applies, and the lines it takes.

    The first rule that applies decides.
    """
    stated = filing.days[day]
    of_cash = _cash_among(lines, stated)
    usual = [name for name in of_cash if _TABLE[name].usual]
    of_flows = WITH_RESTRICTED if amount(stated, WITH_RESTRICTED) else _WITH_DISPOSAL_GROUPS
    restricted = [] if takes_deposits else _restricted(filing, day, lines)
    flag = TOTAL_CONTRADICTS_PARTS if total_contradicts(stated, CURRENT_ASSETS) else None
    is_part = usual == [_CASH_ALONE] and amount(stated, WITH_RESTRICTED) > amount(stated, _CASH_ALONE)
    has_line = bool(usual) and not is_part
    is_of_flows = bool(restricted) and sum_of(stated, usual) == amount(stated, of_flows)
    yield has_line and is_of_flows, OF_FLOWS, (usual, restricted, flag)
    yield has_line, CASH_AS_READ, (usual, [], flag)
    if CURRENT_ASSETS not in filing.totals[day]:  # a line of current assets has no long-term part
        restricted += [name for name in RESTRICTED_NONCURRENT if amount(stated, name)][:1]
    of_restricted = None if restricted or takes_deposits else MAY_INCLUDE_RESTRICTED
    yield amount(stated, of_flows) != 0, OF_FLOWS, ([of_flows], restricted, of_restricted)
    yield _DUE_FROM_BANKS in stated, OF_BANKS, _due_from_banks(filing, stated)
    yield True, CASH_AS_READ, (_any_cash(filing, stated, of_cash), [], flag)


def _cash_among(lines: Sequence[str], stated: Day) -> list[str]:
    """The lines of cash; without one, the first usual element of cash with an amount."""
    of_cash = [name for name in lines if name in _CASH and name != WITH_RESTRICTED]
    return of_cash or [name for name in _USUAL if amount(stated, name)][:1]


def _due_from_banks(filing: Filing, stated: Day) -> _Chosen:
    """Cash due from banks, plus deposits in banks unless cash excludes them."""
    excludes = _excludes_deposits(filing)
    deposits = [_DEPOSITS] if _DEPOSITS in stated and not excludes else []
    return [_DUE_FROM_BANKS, *deposits], [], None if deposits or excludes else MAY_LACK_DEPOSITS


def _any_cash(filing: Filing, stated: Day, of_cash: Sequence[str]) -> Sequence[str]:
    """All cash at central banks, or else any line of cash, or else an element of cash that is stated as zero."""
    if _AT_CENTRAL_BANKS in stated and not _are_central_bank_balances_part(filing):
        return [_AT_CENTRAL_BANKS]
    return of_cash or [name for name in stated if name in _CASH and not stated[name][0]][:1]


def _current_securities(filing: Filing, day: int, lines: Sequence[str], *, takes_deposits: bool) -> list[str]:
    """The current securities to add to cash, as elements.

    If the lines of current assets exceed their total by exactly one of these securities, cash already includes it, and
    it is not added. If the filing does not state the total, only elements that say that they are current count. If no
    line is a security, one whose element does not say the term may be added (_security_of_any_term); it is then also
    noted in `filing.likely`.

    Args:
        filing: the filing.
        day: the day of the balance sheet, as days since 1970.
        lines: the likeliest lines of current assets.
        takes_deposits: whether the filer is a bank; its securities count only if they are lines of a stated total.
    """
    stated, total = filing.days[day], filing.totals[day].get(CURRENT_ASSETS)
    found = [name for name in lines if name in _SECURITIES]
    if total is None:
        return [] if takes_deposits else [name for name in found if name in _CURRENT]
    remainder = total - sum_of(stated, lines)
    if not found and not takes_deposits:
        found = _security_of_any_term(stated, remainder)
        filing.likely[CURRENT_ASSETS, day] = (*lines, *found)  # used when balance sheets are compared
    return [name for name in found if amount(stated, name) != -remainder]


def _security_of_any_term(stated: Day, remainder: float) -> list[str]:
    """The current security whose element does not say whether it is current or long-term; empty without one.

    Such elements are also in the notes. One that equals the remainder of current assets is the missing line. Without
    one, `Investments` is the line if it is current (_are_investments_current) and at most the remainder; if it is not
    current, `MarketableSecurities` or `EquitySecuritiesFvNi` is.

    Args:
        stated: the amounts of the day.
        remainder: current assets less their known lines.
    """
    fitting = ("Investments",) if _are_investments_current(stated) else ("MarketableSecurities", "EquitySecuritiesFvNi")
    filling = (name for name in _OF_ANY_TERM if amount(stated, name) == remainder > 0)
    return [*filling, *(name for name in fitting if 0 < amount(stated, name) <= remainder)][:1]


def _are_investments_current(stated: Day) -> bool:
    """Whether the element `Investments` states current investments only.

    It does if it is less than `LongTermInvestments`, and so does not include them; or, if these are not stated, if it
    is the sum of two or three classes of securities.
    """
    investments, for_long = amount(stated, "Investments"), amount(stated, "LongTermInvestments")
    if for_long:
        return 0 < investments < for_long
    classes = {amount(stated, name) for name in _OF_ANY_TERM} - {0.0, investments}
    return any(investments == sum(some) for some in chain(combinations(classes, 2), combinations(classes, 3)))


def _are_central_bank_balances_part(filing: Filing) -> bool:
    """Whether cash at central banks is only a part of cash: for a day of the filing it differs from all cash."""
    wholes = _TABLE[_AT_CENTRAL_BANKS].part_of
    return any(
        stated[_AT_CENTRAL_BANKS][0] != stated[whole][0]
        for stated in filing.days.values()
        for whole in wholes
        if _AT_CENTRAL_BANKS in stated and whole in stated
    )


def _excludes_deposits(filing: Filing) -> bool:
    """Whether cash excludes deposits in banks: for a day with deposits, all cash equals cash due from banks.

    Amounts of the day in earlier filings count, too.
    """
    days, wholes = filing.days.items(), _TABLE[_DUE_FROM_BANKS].part_of
    sheets = ({**filing.earlier[day], **{name: one for name, (one, _) in stated.items()}} for day, stated in days)
    return any(
        sheet.get(_DEPOSITS) and sheet.get(_DUE_FROM_BANKS) in [sheet.get(whole, 0.0) for whole in wholes]
        for sheet in sheets
    )
