"""Interest-bearing borrowings of a balance sheet, current and non-current.

Belongs here: which lines count, and totals in the notes that replace lines. Does not: which facts are lines
(reading), whether a part is unknown (evidence).

Operating leases, deposits, repurchase agreements and payables are never debt. Finance leases count only if they are
on a line of debt.
"""

from collections.abc import Collection, Iterable, Mapping
from itertools import combinations

import msgspec

from pipelines.normalize.balance.reading import REST_OF_TOTAL, TOTALS_OF_BALANCE_SHEETS, Filing, Reading
from pipelines.normalize.balance.short_term import SHORT_TERM
from pipelines.normalize.balance.solver import DIGITS, SAME, unit_of
from pipelines.normalize.balance.totals import NOT_STATED, Day, sections_of
from pipelines.normalize.balance.values import (
    DEBT,
    DERIVED_LINE,
    INCLUDES_FINANCE_LEASES,
    INCLUDES_FINANCED_PREMIUMS,
    MAY_BE_PRINCIPAL,
    OF_ZERO,
    SAME_DEBT,
    TOTAL_CONTRADICTS_PARTS,
    Known,
    Value,
    adds_up,
    agreed,
    amount,
    first_amount,
    has_rest,
    legs,
    lines_of,
    nonzero,
    proved_section,
    sum_of,
    total_contradicts,
    without_repeated,
)
from pipelines.normalize.elements.lines import (
    ALL_DEBT,
    BORROWING,
    BORROWINGS,
    CURRENT_ASSETS,
    CURRENT_LIABILITIES,
    DEPOSITS,
    FACE_PREFIX,
    LIABILITIES,
    LINES,
    LONG_TERM_DEBT,
    NONCURRENT_LIABILITIES,
    PREMIUMS,
    PRINCIPAL,
)
from pipelines.normalize.rule import Rule

_LINES = "Regulation S-X Rule 5-02.19, 5-02.22, 9-03.13; IAS 1.54(m), 1.69"

DEBT_OF_LINES = Rule(
    "debt.proved.lines-add-up",
    "Debt is the borrowings among the lines that add up to current and non-current liabilities, or to "
    "unclassified liabilities, in both columns of the filing, or in one if these are the usual lines.",
    f"{TOTALS_OF_BALANCE_SHEETS}; Regulation S-X Rule 5-02.19, 5-02.22, 9-03.13",
    "compose",
)
DEBT_INSIDE = Rule(
    "debt.proved.inside-another-line",
    "Debt that its own element states, and that is no line of liabilities that add up, is inside a line that "
    "is not borrowed, and is added, if no line of borrowings is large enough to include it.",
    "Regulation S-X Rule 5-02.19, 5-02.22 (borrowings may be combined with other liabilities if not material)",
    "compose",
)
NO_DEBT = Rule(
    "debt.zero.proved",
    "Debt is zero if lines that are not borrowed add up to the liabilities, and this filing and earlier ones state no "
    "borrowing for the day that is small enough to be inside one.",
    TOTALS_OF_BALANCE_SHEETS,
    "compose",
)
NO_INTEREST_BUT_ON_DEPOSITS = Rule(
    "debt.zero.all-interest-on-deposits",
    "A bank's debt is zero if its interest expense of the period that ends on the day is the interest on deposits, and "
    "the filing states no borrowings for the day.",
    "Regulation S-X Rule 9-04.6 to 9-04.9 (interest on deposits, on short-term borrowings and on long-term debt)",
    "compose",
    "banks",
)
NO_FLOWS = Rule(
    "debt.zero.no-flows",
    "Debt is zero if the filing states no borrowings for any day, the financing activities of the period that ends on "
    "the day are exactly lines that are no borrowings, and no interest is stated or debt was zero before.",
    "ASC 230-10-45-14, 230-10-45-15 (proceeds and repayments of debt are financing activities); ASC 835-20-50-1 "
    "(interest cost is disclosed)",
    "compose",
)
REPAID = Rule(
    "debt.zero.repaid",
    "Debt is zero if the filing states no borrowings for the day, and the debt of the day before a period that ends on "
    "it is exactly what was repaid in it, less what was borrowed.",
    "ASC 230-10-45-14, 230-10-45-15 (proceeds and repayments of debt are financing activities)",
    "compose",
)
REST_AND_FLOWS = Rule(
    "debt.proved.rest-and-flows",
    "Debt is what the other lines leave of unclassified liabilities, if this is exactly the debt of the day before a "
    "period that ends on the day, plus what was borrowed in it, less what was repaid.",
    f"{TOTALS_OF_BALANCE_SHEETS}; ASC 230-10-45-14, 230-10-45-15 (proceeds and repayments of debt)",
    "compose",
)
DEBT_AS_READ = Rule(
    "debt.read.usual-lines",
    "Without proof, debt is the lines of borrowings that no other stated line includes.",
    f"{_LINES}; definitions of the taxonomies",
    "compose",
)
WITH_MATURITIES = Rule(
    "debt.read.long-term-debt-with-maturities",
    "Long-term debt including its maturities takes the place of its non-current part, if no line states the "
    "maturities, or of both parts, if no line states the non-current part; short-term borrowings are added.",
    "us-gaap:LongTermDebt (long-term debt including current maturities); Regulation S-X Rule 5-02.19, 5-02.22",
    "compose",
)
FILER_TOTAL = Rule(
    "debt.read.filer-total",
    "Without lines of non-current debt, debt is the filer's own total, if it is not less than the current lines; a "
    "line is added if the total is exactly the others and what all lines leave of a section.",
    "us-gaap:DebtLongtermAndShorttermCombinedAmount; IFRS 7.8(g)",
    "compose",
)
FILED_AS_ZERO = Rule(
    "debt.filed-as-zero",
    "Debt is zero if all borrowings that are stated are stated as zero.",
    "definitions of the taxonomies, for which zero is a statement",
    "compose",
)

_WITH_LEASES = frozenset(
    (
        "LongTermDebtAndCapitalLeaseObligations",
        "LongTermDebtAndCapitalLeaseObligationsCurrent",
        "LongTermDebtAndCapitalLeaseObligationsIncludingCurrentMaturities",
        "DebtAndCapitalLeaseObligations",
    )
)
_MATURITIES = ("LongTermDebtCurrent", "LongTermDebtAndCapitalLeaseObligationsCurrent")
_WITHOUT_LEASES = {
    "LongTermDebtAndCapitalLeaseObligations": "LongTermDebtNoncurrent",
    "LongTermDebtAndCapitalLeaseObligationsCurrent": "LongTermDebtCurrent",
}
"""Elements that include finance leases, each with the preferred element of the same debt without them."""

_REPOS = frozenset(name for name, line in LINES[LIABILITIES].items() if line.kind == "repo")
_BORROWED = frozenset(name for table in BORROWINGS.values() for name in table)
CREDIT_LINE = "LineOfCredit"
"""The element of drawn credit; banks also use it for the credit that they may draw."""
TOLERATED_EXCESS = 0.05
"""Debt may exceed the remainder of the liabilities by a twentieth, because a line may be stated twice."""
DISCOUNT = 0.03
"""Principal exceeds the carrying amount by discounts and issue costs, hardly ever by more than three per cent."""


class SectionBorrowings(msgspec.Struct, frozen=True, gc=False):
    """The borrowings of one section.

    elements: the borrowings that are not zero. read: the section, if its lines add up.
    lines: the borrowings among the lines that add up, zeros too. inside: borrowings included in another line.
    """

    elements: tuple[str, ...]
    read: Reading | None = None
    lines: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()


def debt(filing: Filing, day: int, known: Known) -> Value | None:
    """Debt of a day as a filing states it; None if it states none.

    Args:
        known: values of other days, as far as this and earlier filings state them.
    """
    stated = filing.days[day]
    parts = {section: _part(filing, day, section) for section in sections_of(stated) if section != CURRENT_ASSETS}
    found = _proved(filing, day, [*parts.values()]) if all(part.read for part in parts.values()) else None
    if found is not None and found.rule.where(True):
        return found
    if rest := _rest_by_flows(filing, day, stated, known):
        return rest
    flows = filing.flows[day]
    if NO_INTEREST_BUT_ON_DEPOSITS.where(flows.is_all_on_deposits) and not _borrowings(stated):
        return Value(
            filing.cik,
            filing.seq,
            day,
            DEBT,
            NO_INTEREST_BUT_ON_DEPOSITS,
            0.0,
            is_proved=True,
            facts=_as_zero(stated, OF_ZERO),
        )
    repaid = rolled_forward(filing, day, 0.0, known)
    if REPAID.where(bool(repaid)) and not _borrowings(stated):
        facts = tuple((row, 0.0) for row in repaid)
        return Value(filing.cik, filing.seq, day, DEBT, REPAID, 0.0, facts=facts, is_stated_zero=True)
    if NO_FLOWS.where(bool(flows.without_borrowing)) and not any(_borrowings(each) for each in filing.days.values()):
        before = [value.value for (item, _), value in known.items() if item == DEBT]
        if not flows.pays_interest or (before and not any(before)):
            return Value(
                filing.cik,
                filing.seq,
                day,
                DEBT,
                NO_FLOWS,
                0.0,
                facts=tuple((row, 0.0) for row in flows.without_borrowing),
            )
    return _read(filing, day, stated, parts)


def _rest_by_flows(filing: Filing, day: int, stated: Day, known: Known) -> Value | None:
    """Unclassified liabilities less all lines that are no borrowings, if flows of borrowings lead to it; else None."""
    lines = lines_of(filing, LIABILITIES, day)
    others = [name for name in lines if LINES[LIABILITIES][name].kind != BORROWING]
    left = filing.totals[day].get(LIABILITIES, 0.0) - sum_of(stated, others)
    if left <= 0 or not REST_AND_FLOWS.where(bool(rolled_forward(filing, day, left, known))):
        return None
    borrowings = [name for name in lines if name not in others]
    return Value(
        filing.cik,
        filing.seq,
        day,
        DEBT,
        REST_AND_FLOWS,
        left,
        is_proved=True,
        lines=left,
        elements=nonzero(stated, borrowings),
        facts=filing.facts(day, (*filing.terms[day][LIABILITIES], *((name, -1.0) for name in others))),
        grain=filing.unit * (len(others) + 1),
        flag=None if sum_of(stated, borrowings) == left else DERIVED_LINE,
    )


def rolled_forward(filing: Filing, day: int, value: float, known: Known) -> tuple[int, ...]:
    """The facts of one period's borrowing flows that lead from known debt to the value of a day; empty if none do."""
    for before, net, rows in filing.flows[day].borrowed:
        debt_before = known[DEBT, before].value if (DEBT, before) in known else None
        if debt_before is not None and abs(debt_before + net - value) < filing.unit and (net or debt_before):
            return rows
    return ()


def _part(filing: Filing, day: int, section: str) -> SectionBorrowings:
    """The borrowings of a section: of lines that add up, or of the likeliest lines."""
    stated = filing.days[day]
    read = proved_section(filing, section, day)
    proved = agreed(read, stated, (BORROWING,)) if read else None
    if read and proved is not None:
        inside = () if section == LIABILITIES else _inside(read, stated, proved)
        if section in filing.face_sections and any(not _is_separate_borrowing(name, proved, stated) for name in inside):
            inside = ()
        elements = dict.fromkeys(name for name in (*proved, *inside) if amount(stated, name))
        return SectionBorrowings(tuple(elements), read, proved, inside)
    likely = filing.likely_lines(section, day)
    borrowings = [name for name in likely if LINES[section][name].kind == BORROWING]
    if section in filing.face_sections or not borrowings:
        return SectionBorrowings(tuple(borrowings))
    is_limit = nonzero(stated, DEPOSITS) and sum_of(stated, likely) > filing.totals[day].get(section, 0.0)
    if is_limit:
        borrowings = [name for name in borrowings if name != CREDIT_LINE]
    lines = without_repeated(filing, day, section, borrowings)
    # prefer the element without finance leases, if it is stated, too
    less = {one: of for one, of in _WITHOUT_LEASES.items() if 0 < amount(stated, of) <= amount(stated, one)}
    return SectionBorrowings(tuple(dict.fromkeys(less.get(one, one) for one in lines)))


def _is_separate_borrowing(inside: str, lines: Iterable[str], stated: Day) -> bool:
    """Whether a borrowing inside another line is separate from the borrowings that the face shows.

    It is separate if it is short-term borrowings and the face shows only maturities of long-term debt, or the reverse,
    or if the face shows no borrowings.
    """
    shown = [name for name in lines if amount(stated, name)]
    if inside in SHORT_TERM:
        return all(name in _MATURITIES for name in shown)
    return not shown or (inside in _MATURITIES and all(name in SHORT_TERM for name in shown))


def _read(filing: Filing, day: int, stated: Day, parts: Mapping[str, SectionBorrowings]) -> Value | None:
    """Debt without proof: the sum of the lines, or totals in the notes that include lines that are not stated."""
    lines = tuple(name for part in parts.values() for name in part.elements)
    rule, elements = (
        _of_classified(filing, day, parts[CURRENT_LIABILITIES], parts[NONCURRENT_LIABILITIES])
        if CURRENT_LIABILITIES in parts
        else (DEBT_AS_READ, _drop_double_counts(stated, lines))
    )
    if elements and rule is DEBT_AS_READ:
        rule, elements = _prefer_filer_total(filing, day, elements, *parts.values())
    if not elements or not rule.where(True):
        return _stated_as_zero(filing, day, stated)
    flag = _flag_of_lines(stated, elements) or (MAY_BE_PRINCIPAL if rule is FILER_TOTAL else None)
    value = sum_of(stated, elements)
    everything = first_amount(stated, ALL_DEBT)
    is_apart = bool(everything) and abs(value - everything) > SAME_DEBT * everything
    if flag is None and (is_apart or total_contradicts(stated, LIABILITIES)):
        flag = TOTAL_CONTRADICTS_PARTS
    return Value(
        filing.cik,
        filing.seq,
        day,
        DEBT,
        rule,
        value,
        lines=value,
        elements=nonzero(stated, elements if rule is FILER_TOTAL else (*elements, *lines)),
        facts=legs(filing, day, elements),
        grain=filing.unit * len(elements),
        flag=flag,
    )


def _flag_of_lines(stated: Day, elements: Collection[str]) -> str | None:
    """The flag of the lines of debt: derived, with finance leases, with financed premiums; None without one."""
    flags = {
        DERIVED_LINE: has_rest(stated, elements),
        INCLUDES_FINANCE_LEASES: not _WITH_LEASES.isdisjoint(elements),
        INCLUDES_FINANCED_PREMIUMS: any(f":{PREMIUMS}:" in name for name in elements),
    }
    return next((flag for flag, holds in flags.items() if holds), None)


def _stated_as_zero(filing: Filing, day: int, stated: Day) -> Value | None:
    """Zero, if all stated borrowings are zero; None if none is stated, or one is not zero."""
    if not FILED_AS_ZERO.where(not _BORROWED.isdisjoint(stated)) or _borrowings(stated):
        return None
    zeros = [name for table in BORROWINGS.values() for name in table if name in stated]
    is_all = any(name in stated for name in LONG_TERM_DEBT) or all(
        any(name in stated for name, line in BORROWINGS[section].items() if line.usual)
        for section in (CURRENT_LIABILITIES, NONCURRENT_LIABILITIES)
    )
    return Value(
        filing.cik,
        filing.seq,
        day,
        DEBT,
        FILED_AS_ZERO,
        0.0,
        facts=_as_zero(stated, zeros[:1]),
        is_stated_zero=is_all,
    )


def _reconciled(stated: Day, lines: tuple[str, ...], others: Iterable[str], total: float) -> tuple[str, ...]:
    """The lines, with one taken out or one of `others` added if they then add up exactly to the total."""
    left = total - sum_of(stated, lines)
    if left < 0:
        return next(
            (tuple(one for one in lines if one != name) for name in lines if amount(stated, name) == -left), lines
        )
    return next(((*lines, name) for name in others if name not in lines and amount(stated, name) == left != 0), lines)


def _drop_double_counts(stated: Day, elements: tuple[str, ...]) -> tuple[str, ...]:
    """Drop lines that repeat a part of another line, or two or three lines that add up exactly to another one."""
    table = BORROWINGS[LIABILITIES]
    for one in elements:  # its amount is also stated under a part of another line
        equal = [name for name in stated.keys() & table.keys() if amount(stated, name) == amount(stated, one)]
        if any(table[other].part_of.intersection({*elements} - {one}) for other in equal if other not in elements):
            return _drop_double_counts(stated, tuple(name for name in elements if name != one))
    for total in elements:
        others = [name for name in elements if name != total]
        for parts in (*combinations(others, 2), *combinations(others, 3)):
            if sum_of(stated, parts) == amount(stated, total):
                return tuple(name for name in elements if name not in parts)
    return elements


def _prefer_filer_total(
    filing: Filing, day: int, elements: tuple[str, ...], *parts: SectionBorrowings
) -> tuple[Rule, tuple[str, ...]]:
    """The filer's own total of all debt instead of the lines, if they differ and no total proves the lines.

    If the lines are the total plus one line that is counted twice, the lines without it.
    """
    stated = filing.days[day]
    everything = _first_stated(stated, ALL_DEBT)
    lines, total = sum_of(stated, elements), amount(stated, everything)
    repos = sum_of(stated, stated.keys() & _REPOS)
    if not everything or (repos and lines + repos == total):
        return DEBT_AS_READ, elements
    if everything in elements:  # repurchase agreements are no debt
        return DEBT_AS_READ, (_lines_that_are(stated, total - repos) if repos else ()) or elements
    without = {name: lines - amount(stated, name) for part in parts if not part.read for name in part.elements}
    repeated = [name for name, others in without.items() if abs(others - total) <= SAME * total]
    if repeated and abs(lines - total) > SAME * total:
        return DEBT_AS_READ, tuple(name for name in elements if name != repeated[0])
    # some filers use this element for a total of long-term debt alone
    most = total + sum_of(stated, [name for name in elements if name in SHORT_TERM])
    is_other = lines * (1 + DISCOUNT) < total or lines > most * (1 + DISCOUNT)
    # a line that the total leaves out: the total is the other lines plus what all lines leave of a section
    left = {of - sum_of(stated, lines_of(filing, section, day)) for section, of in filing.totals[day].items()}
    more = tuple(name for name, others in without.items() if others < total < lines and total - others in left)[:1]
    if FILER_TOTAL.where(is_other or bool(more)) and not any(part.read for part in parts):
        return FILER_TOTAL, (everything, *more)
    return DEBT_AS_READ, elements


def _first_stated(stated: Day, elements: Iterable[str]) -> str:
    """The first element with an amount that is not zero; the empty string if there is none."""
    return next((name for name in elements if amount(stated, name)), "")


def _lines_that_are(stated: Day, total: float) -> tuple[str, ...]:
    """The usual lines of borrowings, if they add up to the total; else empty."""
    table = BORROWINGS[LIABILITIES]
    found = [name for name in stated.keys() & table.keys() if amount(stated, name) and name not in ALL_DEBT]
    found = [name for name in found if table[name].usual and table[name].part_of.isdisjoint(found)]
    return tuple(sorted(found)) if sum_of(stated, found) == total else ()


def _of_classified(
    filing: Filing, day: int, of_current: SectionBorrowings, of_rest: SectionBorrowings
) -> tuple[Rule, tuple[str, ...]]:
    """The rule that applies to debt of a classified balance sheet without proof, and the elements of the debt."""
    stated = filing.days[day]
    whole, everything = _first_stated(stated, LONG_TERM_DEBT), _first_stated(stated, ALL_DEBT)
    current, noncurrent = _each_once(stated, of_current, of_rest, whole)
    due, rest = sum_of(stated, current), sum_of(stated, noncurrent)
    current = _without_maturities(stated, current)
    lines = (*current, *noncurrent)
    of_maturities = {amount(stated, name) for name in _MATURITIES}
    short_term = tuple(name for name in current if name in SHORT_TERM and amount(stated, name) not in of_maturities)
    of_whole, maturities = amount(stated, whole), due - sum_of(stated, short_term)
    if not rest and not of_rest.read:
        if whole and whole not in lines and of_whole >= maturities:
            if of_whole > maturities > 0 and _excludes_maturities(filing, day, of_whole, maturities):
                return DEBT_AS_READ, (*current, whole)
            if WITH_MATURITIES.where(True):
                return WITH_MATURITIES, _with_short_term(stated, whole, short_term)
        if FILER_TOTAL.where(bool(everything)) and everything not in lines and amount(stated, everything) >= due:
            return FILER_TOTAL, (everything,)
    elif whole and rest and not maturities and not of_current.read:
        left = of_whole - rest
        is_due = any(abs(amount(stated, name) - left) <= DISCOUNT * left for name in short_term)
        is_more = left > unit_of([of_whole]) / 2 and left > SAME * rest
        if WITH_MATURITIES.where(is_more and not is_due):
            return WITH_MATURITIES, _with_short_term(stated, whole, short_term)
    return DEBT_AS_READ, lines


def _with_short_term(stated: Day, whole: str, short_term: tuple[str, ...]) -> tuple[str, ...]:
    """All long-term debt plus short-term borrowings, unless it is exactly them plus one or two other borrowings."""
    left = amount(stated, whole) - sum_of(stated, short_term)
    others = {amount(stated, name) for name in _BORROWED.intersection(stated) - {whole, *short_term}} - {0.0}
    is_sum = left in others or any(left - one in others - {one} for one in others)
    includes = bool(short_term) and is_sum and left >= DIGITS * unit_of([left])
    return (whole,) if includes else (whole, *short_term)


def _each_once(
    stated: Day, of_current: SectionBorrowings, of_rest: SectionBorrowings, whole: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Make the current and the non-current lines consistent, so that each borrowing counts once.

    Drops a current line that repeats a non-current one, takes both parts with leases or both without, and reconciles
    them with the total of long-term debt.
    """
    current, noncurrent = of_current.elements, of_rest.elements
    if not of_current.read:  # one amount in two lines is one borrowing
        current = tuple(one for one in current if not _is_noncurrent(stated, one, noncurrent, whole))
    if of_rest.read:
        return current, noncurrent
    if current and amount(stated, _MATURITIES[1]) and _MATURITIES[0] not in stated:
        with_leases = {less: line for line, less in _WITHOUT_LEASES.items() if amount(stated, line)}
        noncurrent = tuple(with_leases.get(one, one) for one in noncurrent)
    if whole and not of_current.read and whole not in noncurrent:
        maturities = tuple(name for name in current if name not in SHORT_TERM)
        others = BORROWINGS[NONCURRENT_LIABILITIES].keys() & stated.keys() - {*LONG_TERM_DEBT, *ALL_DEBT}
        known = _reconciled(stated, (*maturities, *noncurrent), sorted(others), amount(stated, whole))
        noncurrent = tuple(name for name in known if name not in maturities)
    return current, noncurrent


def _is_noncurrent(stated: Day, element: str, noncurrent: Iterable[str], whole: str) -> bool:
    """Whether a current line repeats a non-current one, and is not the equal current half of long-term debt."""
    same = [name for name in noncurrent if amount(stated, name) == amount(stated, element)]
    is_pair = element == "LongTermDebtCurrent" and same == ["LongTermDebtNoncurrent"]
    says_once = whole and amount(stated, whole) <= amount(stated, element) * (1 + DISCOUNT)
    return bool(same) and bool(not is_pair or says_once)


def _without_maturities(stated: Day, current: tuple[str, ...]) -> tuple[str, ...]:
    """Drop maturities from the current lines if another line includes them.

    It includes them if it is exactly the maturities plus its stated parts that are short-term borrowings.
    """
    for name in current:
        maturities = [one for one in current if one not in SHORT_TERM and one != name]
        parts = {one for one in nonzero(stated, SHORT_TERM) if name in LINES[CURRENT_LIABILITIES][one].part_of}
        due = sum_of(stated, maturities)
        if parts and due and amount(stated, name) == due + sum_of(stated, parts):
            return tuple(one for one in current if one not in maturities)
    return current


def _excludes_maturities(filing: Filing, day: int, whole: float, maturities: float) -> bool:
    """Whether the total of long-term debt excludes its maturities, as non-current liabilities or the principal show.

    What the other lines leave of non-current liabilities is closer to the total than to the total less the maturities;
    or, without these liabilities, the principal is at least the total plus the maturities.
    """
    total = filing.totals[day].get(NONCURRENT_LIABILITIES)
    if total is None:
        return max(whole * (1 + DISCOUNT), whole + maturities) <= amount(filing.days[day], PRINCIPAL)
    lines = [name for name in lines_of(filing, NONCURRENT_LIABILITIES, day) if name not in LONG_TERM_DEBT]
    left = total - sum_of(filing.days[day], lines)
    return left >= whole * (1 - TOLERATED_EXCESS) and abs(left - whole) < abs(left - (whole - maturities))


def _proved(filing: Filing, day: int, parts: Collection[SectionBorrowings]) -> Value | None:
    """Debt of lines that add up; None if a line is negative, or if a borrowing may be included in another line."""
    stated, reads = filing.days[day], [part.read for part in parts if part.read]
    elements = tuple(element for part in parts for element in part.lines)
    shown = {amount(stated, element) for element in elements if filing.face}  # an equal amount is the same debt
    inside = [element for part in parts for element in part.inside if amount(stated, element) not in shown]
    amounts = [amount(stated, element) for element in (*elements, *inside)]
    # a line of single members may be negative: an elimination of the consolidation
    if any(
        each < 0 and not name.startswith(FACE_PREFIX) for name, each in zip((*elements, *inside), amounts, strict=True)
    ):
        return None
    add_up = tuple(adds_up(filing, read, day) for read in reads)
    if not any(amounts):
        own = {element: each for element, (each, _) in stated.items()}
        known = own if filing.face else {**filing.earlier[day], **own}
        if any(_debt_may_hide_in_a_line(read, known) for read in reads):
            return None
        return Value(
            filing.cik,
            filing.seq,
            day,
            DEBT,
            NO_DEBT,
            0.0,
            is_proved=True,
            facts=_facts_proving_zero(stated, reads),
            sections=add_up,
        )
    flag = _flag_of_lines(stated, elements)
    rule = REST_OF_TOTAL if flag == DERIVED_LINE else DEBT_INSIDE if inside else DEBT_OF_LINES
    return Value(
        filing.cik,
        filing.seq,
        day,
        DEBT,
        rule,
        sum(amounts),
        is_proved=True,
        lines=sum_of(stated, elements),
        elements=nonzero(stated, elements),
        facts=legs(filing, day, (*elements, *inside)),
        grain=max(read.unit for read in reads) * len(amounts),
        flag=flag,
        sections=add_up,
    )


def _facts_proving_zero(stated: Day, sections: list[Reading]) -> tuple[tuple[int, float], ...]:
    """The facts of a zero: liabilities less their lines, if exactly zero; else totals with the coefficient zero."""
    lines = [group[0] for read in sections for group in read.readings[0] if group[0] in stated]
    are_stated = all(stated[line][1] != NOT_STATED for line in lines)
    if are_stated and amount(stated, "Liabilities") == sum_of(stated, lines) != 0:
        return ((stated["Liabilities"][1], 1.0), *((stated[line][1], -1.0) for line in lines))
    return _as_zero(stated, OF_ZERO)


def _as_zero(stated: Day, elements: Iterable[str]) -> tuple[tuple[int, float], ...]:
    """The facts of the stated elements, each with the coefficient zero."""
    return tuple((stated[name][1], 0.0) for name in elements if name in stated)


def _borrowings(stated: Day) -> bool:
    """Whether a filing states any borrowing for a day, as a line or in the notes."""
    return any(stated[element][0] for element in _BORROWED.intersection(stated))


def _debt_may_hide_in_a_line(read: Reading, amounts: Mapping[str, float]) -> bool:
    """Whether a borrowing, also one in the notes or in an earlier filing, is small enough to be part of a line.

    The credit that a bank may draw (CREDIT_LINE) is no borrowing.
    """
    largest = max((amounts.get(group[0], 0.0) for lines in read.readings for group in lines), default=0.0)
    return any(
        0 < amounts[element] <= largest and (element != CREDIT_LINE or DEPOSITS.isdisjoint(amounts))
        for element in amounts.keys() & BORROWINGS[read.section].keys()
    )


def _inside(read: Reading, stated: Day, elements: tuple[str, ...]) -> tuple[str, ...]:
    """Borrowings that are no lines of a section, too large for its lines of borrowings, but not for another line."""
    table = BORROWINGS[read.section]
    lines = {element for group in read.readings[0] for element in group}
    largest = max((amount(stated, element) for element in elements), default=0.0)
    room = max((amount(stated, line) for line in lines - {*elements}), default=0.0)
    return tuple(
        element
        for element in sorted((stated.keys() & table.keys()) - lines)
        if table[element].usual
        and stated[element][1] != NOT_STATED
        and largest < stated[element][0] <= room
        and not nonzero(stated, table[element].part_of & table.keys())
    )
