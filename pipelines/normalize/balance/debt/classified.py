"""Debt of a classified balance sheet whose lines do not provably add up.

Belongs here: the rules that choose among current lines, non-current lines and totals of long-term debt, and making the
two sections consistent. Does not: the borrowings of one section (borrowings), the filer's own total (filer_total).
"""

from collections.abc import Iterable, Iterator, Mapping

from pipelines.normalize.balance.debt.borrowings import (
    ALL_BORROWINGS,
    DEBT_AS_READ,
    DISCOUNT,
    MATURITIES,
    WITHOUT_LEASES,
    Lines,
    SectionBorrowings,
    first_stated,
)
from pipelines.normalize.balance.debt.filer_total import FILER_TOTAL
from pipelines.normalize.balance.reading import Filing
from pipelines.normalize.balance.solver import DIGITS, SAME, unit_of
from pipelines.normalize.balance.totals import Day
from pipelines.normalize.balance.values import amount, lines_of, nonzero, sum_of
from pipelines.normalize.elements.lines import (
    ALL_DEBT,
    BORROWINGS,
    CURRENT_LIABILITIES,
    LINES,
    LONG_TERM_DEBT,
    NONCURRENT_LIABILITIES,
    PRINCIPAL,
    SHORT_TERM,
)
from pipelines.normalize.rule import Rule

WITH_MATURITIES = Rule(
    "debt.read.long-term-debt-with-maturities",
    "Long-term debt including its maturities takes the place of its non-current part, if no line states the "
    "maturities, or of both parts, if no line states the non-current part; short-term borrowings are added.",
    "us-gaap:LongTermDebt (long-term debt including current maturities); Regulation S-X Rule 5-02.19, 5-02.22",
    "compose",
)
TOLERATED_EXCESS = 0.05
"""Debt may exceed the remainder of the liabilities by a twentieth, because a line may be stated twice."""


def rules_of_classified_sheet(
    filing: Filing, day: int, parts: Mapping[str, SectionBorrowings]
) -> Iterator[tuple[bool, Rule, Lines]]:
    """The rules for debt of a classified balance sheet whose lines do not provably add up.

    Each row has whether the rule applies, the rule, and the elements it takes; the first one that applies decides.
    """
    stated, of_current, of_rest = filing.days[day], parts[CURRENT_LIABILITIES], parts[NONCURRENT_LIABILITIES]
    whole, everything = first_stated(stated, LONG_TERM_DEBT), first_stated(stated, ALL_DEBT)
    current, noncurrent = _each_once(stated, of_current, of_rest, whole)
    due, rest, of_whole = sum_of(stated, current), sum_of(stated, noncurrent), amount(stated, whole)
    current = _without_maturities(stated, current)
    lines = (*current, *noncurrent)
    short_term = _short_term_lines(stated, current)
    maturities = due - sum_of(stated, short_term)
    has_no_rest = not rest and not of_rest.read
    is_alone = has_no_rest and whole not in ("", *lines) and of_whole >= maturities
    excludes = is_alone and _excludes_maturities(filing, day, of_whole, maturities)
    yield excludes, DEBT_AS_READ, (*current, whole)
    with_maturities = _with_short_term(stated, whole, short_term) if whole else ()
    yield is_alone, WITH_MATURITIES, with_maturities
    is_total = has_no_rest and everything not in ("", *lines) and amount(stated, everything) >= due
    yield is_total, FILER_TOTAL, (everything,)
    may_exceed = bool(whole and rest) and not maturities and not of_current.read
    exceeds = may_exceed and _has_maturities_without_line(stated, of_whole, rest, short_term)
    yield exceeds, WITH_MATURITIES, with_maturities
    yield True, DEBT_AS_READ, lines


def _short_term_lines(stated: Day, current: Lines) -> Lines:
    """The current lines that are short-term borrowings, not maturities under another element."""
    of_maturities = {amount(stated, name) for name in MATURITIES}
    return tuple(name for name in current if name in SHORT_TERM and amount(stated, name) not in of_maturities)


def _has_maturities_without_line(stated: Day, whole: float, rest: float, short_term: Lines) -> bool:
    """Whether the balance sheet has no line for the current maturities of long-term debt.

    Long-term debt then exceeds its non-current part by more than rounding, and no short-term line is the difference.

    Args:
        stated: the amounts of the day.
        whole, rest: long-term debt, and its non-current part.
        short_term: the lines of short-term borrowings.
    """
    remainder = whole - rest
    is_due = any(abs(amount(stated, name) - remainder) <= DISCOUNT * remainder for name in short_term)
    return remainder > unit_of([whole]) / 2 and remainder > SAME * rest and not is_due


def _with_short_term(stated: Day, whole: str, short_term: Lines) -> Lines:
    """Long-term debt plus short-term borrowings, or long-term debt alone if it includes them.

    It includes them if it is exactly the short-term borrowings plus one or two other borrowings.
    """
    remainder = amount(stated, whole) - sum_of(stated, short_term)
    others = {amount(stated, name) for name in (ALL_BORROWINGS.keys() & stated.keys()) - {whole, *short_term}} - {0.0}
    is_sum = remainder in others or any(remainder - one in others - {one} for one in others)
    includes = bool(short_term) and is_sum and remainder >= DIGITS * unit_of([remainder])
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
        current = tuple(one for one in current if not _repeats_noncurrent_line(stated, one, noncurrent, whole))
    if of_rest.read:
        return current, noncurrent
    noncurrent = _with_leases_if_maturities_have(stated, current, noncurrent)
    if whole and not of_current.read and whole not in noncurrent:
        noncurrent = _reconciled(stated, tuple(name for name in current if name not in SHORT_TERM), noncurrent, whole)
    return current, noncurrent


def _with_leases_if_maturities_have(stated: Day, current: Lines, noncurrent: Lines) -> Lines:
    """The non-current lines, with finance leases if the current maturities are stated only with finance leases."""
    if not current or MATURITIES[0] in stated or not amount(stated, MATURITIES[1]):
        return noncurrent
    with_leases = {less: line for line, less in WITHOUT_LEASES.items() if amount(stated, line)}
    return tuple(with_leases.get(one, one) for one in noncurrent)


def _reconciled(stated: Day, maturities: Lines, noncurrent: Lines, whole: str) -> Lines:
    """The non-current lines; one is left out or added if they then equal long-term debt less its current maturities.

    Args:
        stated: the amounts of the day.
        maturities: the lines of current maturities.
        noncurrent: the non-current lines of borrowings.
        whole: the element of all long-term debt.
    """
    lines = (*maturities, *noncurrent)
    remainder = amount(stated, whole) - sum_of(stated, lines)
    left_out = {*maturities, *[name for name in lines if amount(stated, name) == -remainder > 0][:1]}
    more = BORROWINGS[NONCURRENT_LIABILITIES].keys() & stated.keys() - {*LONG_TERM_DEBT, *ALL_DEBT, *lines}
    added = [name for name in sorted(more) if amount(stated, name) == remainder > 0][:1]
    return (*(name for name in noncurrent if name not in left_out), *added)


def _repeats_noncurrent_line(stated: Day, element: str, noncurrent: Iterable[str], whole: str) -> bool:
    """Whether a current line repeats a non-current line of the same amount.

    LongTermDebtCurrent and LongTermDebtNoncurrent may be equal halves: they are one borrowing only if long-term debt is
    no more than one of them.
    """
    same = [name for name in noncurrent if amount(stated, name) == amount(stated, element)]
    is_pair = element == "LongTermDebtCurrent" and same == ["LongTermDebtNoncurrent"]
    says_once = whole and amount(stated, whole) <= amount(stated, element) * (1 + DISCOUNT)
    return bool(same) and bool(not is_pair or says_once)


def _without_maturities(stated: Day, current: Lines) -> Lines:
    """Drop maturities from the current lines if another line includes them.

    It includes them if it is exactly the maturities plus its stated parts that are short-term borrowings.
    """
    maturities, short_term = [name for name in current if name not in SHORT_TERM], nonzero(stated, SHORT_TERM)
    for total in current:
        others = [name for name in maturities if name != total]
        parts = [name for name in short_term if total in LINES[CURRENT_LIABILITIES][name].part_of]
        due = sum_of(stated, others)
        if parts and due and amount(stated, total) == due + sum_of(stated, parts):
            return tuple(name for name in current if name not in others)
    return current


def _excludes_maturities(filing: Filing, day: int, whole: float, maturities: float) -> bool:
    """Whether the total of long-term debt excludes its current maturities.

    It does if non-current liabilities less their other lines are closer to the total than to the total less the
    maturities; or, if non-current liabilities are not stated, if the principal is at least the total plus the
    maturities.

    Args:
        filing: the filing.
        day: the day of the balance sheet.
        whole, maturities: the total of long-term debt, and its current maturities.
    """
    if not whole > maturities > 0:
        return False
    total = filing.totals[day].get(NONCURRENT_LIABILITIES)
    if total is None:
        return max(whole * (1 + DISCOUNT), whole + maturities) <= amount(filing.days[day], PRINCIPAL)
    lines = [name for name in lines_of(filing, NONCURRENT_LIABILITIES, day) if name not in LONG_TERM_DEBT]
    remainder = total - sum_of(filing.days[day], lines)
    return remainder >= whole * (1 - TOLERATED_EXCESS) and abs(remainder - whole) < abs(
        remainder - (whole - maturities)
    )
