"""Interest-bearing borrowings of a balance sheet, current and non-current.

Belongs here: which lines count, and totals in the notes that replace lines. Does not: which facts are lines
(reading), whether a part is unknown (evidence).

Operating leases, deposits, repurchase agreements and payables are never debt. Finance leases count only if they are
on a line of debt.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations

import msgspec

from pipelines.normalize.balance.reading import REST_OF_TOTAL, TOTALS_OF_BALANCE_SHEETS, Filing, Reading
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
    SHORT_TERM,
)
from pipelines.normalize.rule import Rule, decided

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
    "Debt that its own element states, but no line of the liabilities that add up, is inside a line that is not "
    "borrowed, and is added if no line of borrowings is large enough to include it.",
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
    "Debt is zero if the filing states no borrowings for the day, and the debt before a period that ends on the day "
    "equals what was repaid in it less what was borrowed.",
    "ASC 230-10-45-14, 230-10-45-15 (proceeds and repayments of debt are financing activities)",
    "compose",
)
REST_AND_FLOWS = Rule(
    "debt.proved.rest-and-flows",
    "Debt is what the other lines leave of unclassified liabilities, if this equals the debt before a period that "
    "ends on the day, plus what was borrowed in it, less what was repaid.",
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
    "Debt is the filer's own total if no line is non-current debt and the total is not less than the current lines, "
    "or if all lines differ from it by more than discounts; a line left out is added.",
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
_BORROWED = {name: place for place, name in enumerate(dict.fromkeys(chain(*BORROWINGS.values())))}
"""All elements of borrowings, with their place in the table."""
_USUAL_OF_BOTH_PARTS = [
    frozenset(name for name, line in BORROWINGS[section].items() if line.usual)
    for section in (CURRENT_LIABILITIES, NONCURRENT_LIABILITIES)
]
CREDIT_LINE = "LineOfCredit"
"""The element of drawn credit; banks also use it for the credit that they may draw."""
TOLERATED_EXCESS = 0.05
"""Debt may exceed the remainder of the liabilities by a twentieth, because a line may be stated twice."""
DISCOUNT = 0.03
"""Principal exceeds the carrying amount by discounts and issue costs, hardly ever by more than three per cent."""


Lines = tuple[str, ...]
"""The elements of lines."""
Facts = tuple[tuple[int, float], ...]
"""The rows of the facts that debt consists of, or that show a zero, each with its coefficient."""


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
    return next((value for value in _values(filing, day, known) if value and value.rule.where(True)), None)


def _values(filing: Filing, day: int, known: Known) -> Iterator[Value | None]:
    """The debt of a day by each kind of evidence, the strongest one first; None where it shows nothing."""
    sections = [section for section in sections_of(filing.days[day]) if section != CURRENT_ASSETS]
    parts = {section: _borrowings_of_section(filing, day, section) for section in sections}
    if all(part.read for part in parts.values()):
        yield _proved(filing, day, parts.values())
    yield _rest_by_flows(filing, day, known)
    yield _without_proof(filing, day, parts)
    yield _zero_debt(filing, day, known)


def _rest_by_flows(filing: Filing, day: int, known: Known) -> Value | None:
    """Liabilities less all lines that are not borrowings, if known debt and the flows since then confirm it; else None.

    Only for unclassified balance sheets.
    """
    stated, lines = filing.days[day], lines_of(filing, LIABILITIES, day)
    others = [name for name in lines if LINES[LIABILITIES][name].kind != BORROWING]
    remainder = filing.totals[day].get(LIABILITIES, 0.0) - sum_of(stated, others)
    if remainder <= 0 or not rolled_forward(filing, day, remainder, known):
        return None
    borrowings = [name for name in lines if name not in others]
    return Value(
        filing.cik,
        filing.seq,
        day,
        DEBT,
        REST_AND_FLOWS,
        remainder,
        is_proved=True,
        lines=remainder,
        elements=nonzero(stated, borrowings),
        facts=filing.facts(day, (*filing.terms[day][LIABILITIES], *((name, -1.0) for name in others))),
        grain=filing.unit * (len(others) + 1),
        flag=None if sum_of(stated, borrowings) == remainder else DERIVED_LINE,
    )


def _zero_debt(filing: Filing, day: int, known: Known) -> Value | None:
    """Debt of zero, if flows show it or a borrowing is stated as zero, and no borrowing is above zero; else None."""
    stated, flows = filing.days[day], filing.flows[day]
    if _states_borrowing(stated):
        return None
    repaid = rolled_forward(filing, day, 0.0, known)
    zeros = sorted(_BORROWED.keys() & stated.keys(), key=_BORROWED.__getitem__)
    found = decided(
        (
            (flows.is_all_on_deposits, NO_INTEREST_BUT_ON_DEPOSITS, _as_zero(stated, OF_ZERO)),
            (bool(repaid), REPAID, _not_counted(repaid)),
            (_has_no_flows(filing, day, known), NO_FLOWS, _not_counted(flows.without_borrowing)),
            (bool(zeros), FILED_AS_ZERO, _as_zero(stated, zeros[:1])),
        )
    )
    if found is None:
        return None
    rule, facts = found
    return Value(
        filing.cik,
        filing.seq,
        day,
        DEBT,
        rule,
        0.0,
        is_proved=rule is NO_INTEREST_BUT_ON_DEPOSITS,
        facts=facts,
        is_stated_zero=rule is REPAID or (rule is FILED_AS_ZERO and _states_both_parts(stated)),
    )


def _states_both_parts(stated: Day) -> bool:
    """Whether long-term debt, or a usual line of current and one of non-current borrowings, is stated."""
    is_whole = not stated.keys().isdisjoint(LONG_TERM_DEBT)
    return is_whole or not any(map(stated.keys().isdisjoint, _USUAL_OF_BOTH_PARTS))


def _has_no_flows(filing: Filing, day: int, known: Known) -> bool:
    """Whether all financing activities are stated, none is a borrowing, and nothing else shows debt."""
    flows = filing.flows[day]
    if not flows.without_borrowing or any(map(_states_borrowing, filing.days.values())):
        return False
    before = [value.value for (item, _), value in known.items() if item == DEBT]
    return not flows.pays_interest or (bool(before) and not any(before))


def rolled_forward(filing: Filing, day: int, value: float, known: Known) -> tuple[int, ...]:
    """Find a period whose borrowings less repayments lead from known debt to the debt of a day.

    Args:
        filing: the filing that states the flows.
        day: the last day of the period.
        value: the debt of that day.
        known: values of other days, as far as this and earlier filings state them.

    Returns:
        the rows of the flows; empty if no period does.
    """
    for before, net, rows in filing.flows[day].borrowed:
        debt_before = known[DEBT, before].value if (DEBT, before) in known else None
        if debt_before is not None and abs(debt_before + net - value) < filing.unit and (net or debt_before):
            return rows
    return ()


def _borrowings_of_section(filing: Filing, day: int, section: str) -> SectionBorrowings:
    """The borrowings of a section: of lines that add up, or of the likeliest lines."""
    read, stated = proved_section(filing, section, day), filing.days[day]
    proved = agreed(read, stated, (BORROWING,)) if read else None
    if read is None or proved is None:
        return SectionBorrowings(_likely_borrowings(filing, day, section))
    inside = () if section == LIABILITIES else _borrowings_in_other_lines(read, stated, proved)
    if section in filing.face_sections and not all(_is_separate_borrowing(name, proved, stated) for name in inside):
        inside = ()
    elements = dict.fromkeys(name for name in (*proved, *inside) if amount(stated, name))
    return SectionBorrowings(tuple(elements), read, proved, inside)


def _likely_borrowings(filing: Filing, day: int, section: str) -> tuple[str, ...]:
    """The borrowings among the likeliest lines; without a face, each once and preferably without finance leases."""
    stated, likely = filing.days[day], filing.likely_lines(section, day)
    borrowings = [name for name in likely if LINES[section][name].kind == BORROWING]
    if section in filing.face_sections or not borrowings:
        return tuple(borrowings)
    is_limit = nonzero(stated, DEPOSITS) and sum_of(stated, likely) > filing.totals[day].get(section, 0.0)
    if is_limit:
        borrowings = [name for name in borrowings if name != CREDIT_LINE]
    lines = without_repeated(filing, day, section, borrowings)
    less = {one: of for one, of in _WITHOUT_LEASES.items() if 0 < amount(stated, of) <= amount(stated, one)}
    return tuple(dict.fromkeys(less.get(one, one) for one in lines))


def _is_separate_borrowing(inside: str, lines: Iterable[str], stated: Day) -> bool:
    """Whether a borrowing inside another line is separate from the borrowings that the face shows.

    It is separate if it is short-term borrowings and the face shows only maturities of long-term debt, or the reverse,
    or if the face shows no borrowings.
    """
    shown = [name for name in lines if amount(stated, name)]
    if inside in SHORT_TERM:
        return all(name in _MATURITIES for name in shown)
    return not shown or (inside in _MATURITIES and all(name in SHORT_TERM for name in shown))


def _without_proof(filing: Filing, day: int, parts: Mapping[str, SectionBorrowings]) -> Value | None:
    """Debt if its lines do not provably add up: the sum of the lines, or a total in the notes that includes more."""
    stated = filing.days[day]
    lines = tuple(name for part in parts.values() for name in part.elements)
    is_classified = CURRENT_LIABILITIES in parts
    found = decided(_rules_of_classified_sheet(filing, day, parts)) if is_classified else None
    rule, elements = found or (DEBT_AS_READ, () if is_classified else _drop_double_counts(stated, lines))
    if elements and rule is DEBT_AS_READ:
        rule, elements = decided(_rules_beside_total_of_filer(filing, day, elements, parts.values())) or (
            rule,
            elements,
        )
    if not elements:
        return None
    value = sum_of(stated, elements)
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
        flag=_flag_without_proof(stated, rule, elements, value),
    )


def _flag_without_proof(stated: Day, rule: Rule, elements: Collection[str], value: float) -> str | None:
    """The flag of debt without proof: of its lines, or of the filer's total that it is, or that contradicts it."""
    if flag := _flag_of_lines(stated, elements) or (MAY_BE_PRINCIPAL if rule is FILER_TOTAL else None):
        return flag
    everything = first_amount(stated, ALL_DEBT)
    is_apart = bool(everything) and abs(value - everything) > SAME_DEBT * everything
    return TOTAL_CONTRADICTS_PARTS if is_apart or total_contradicts(stated, LIABILITIES) else None


def _flag_of_lines(stated: Day, elements: Collection[str]) -> str | None:
    """The flag of the lines of debt: derived, with finance leases, with financed premiums; None without one."""
    flags = {
        DERIVED_LINE: has_rest(stated, elements),
        INCLUDES_FINANCE_LEASES: not _WITH_LEASES.isdisjoint(elements),
        INCLUDES_FINANCED_PREMIUMS: any(f":{PREMIUMS}:" in name for name in elements),
    }
    return next((flag for flag, holds in flags.items() if holds), None)


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


def _drop_double_counts(stated: Day, elements: tuple[str, ...]) -> tuple[str, ...]:
    """Drop lines that repeat a part of another line, or two or three lines that add up exactly to another one."""
    for one in elements:
        if _repeats_part(stated, one, elements):
            return _drop_double_counts(stated, tuple(name for name in elements if name != one))
    parts = next(_parts_of_lines(stated, elements), ())
    return tuple(name for name in elements if name not in parts)


def _repeats_part(stated: Day, line: str, lines: tuple[str, ...]) -> bool:
    """Whether the amount of a line is also stated under an element that is a part of another line."""
    table = BORROWINGS[LIABILITIES]
    equal = [name for name in stated.keys() & table.keys() if amount(stated, name) == amount(stated, line)]
    return any(table[other].part_of.intersection({*lines} - {line}) for other in equal if other not in lines)


def _parts_of_lines(stated: Day, lines: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Two or three lines that add up exactly to another one."""
    for total in lines:
        others = [name for name in lines if name != total]
        for parts in (*combinations(others, 2), *combinations(others, 3)):
            if sum_of(stated, parts) == amount(stated, total):
                yield parts


# --- The filer's own total of all debt ----------------------------------------------------------------------------


def _rules_beside_total_of_filer(
    filing: Filing, day: int, elements: Lines, parts: Collection[SectionBorrowings]
) -> Iterator[tuple[bool, Rule, Lines]]:
    """The rules for debt if the filer also states a total of all debt: whether each applies, and the elements it takes.

    The first rule that applies decides.
    """
    stated = filing.days[day]
    everything = _first_stated(stated, ALL_DEBT)
    if not everything:
        return
    lines, total, repos = (sum_of(stated, names) for names in (elements, [everything], _REPOS.intersection(stated)))
    yield repos != 0 and lines + repos == total, DEBT_AS_READ, elements
    without_repos = _lines_adding_up_to(stated, total - repos) if repos else ()
    yield everything in elements, DEBT_AS_READ, without_repos or elements
    without = {name: lines - amount(stated, name) for part in parts if not part.read for name in part.elements}
    repeated = [name for name, others in without.items() if _is_same(others, total)][:1]
    others = tuple(name for name in elements if name not in repeated)
    yield bool(repeated) and not _is_same(lines, total), DEBT_AS_READ, others
    left_out = _line_outside_total(filing, day, without, total) if total < lines else ()
    differs = bool(left_out) or _differs(stated, elements, total)
    yield differs and all(part.read is None for part in parts), FILER_TOTAL, (everything, *left_out)


def _is_same(lines: float, total: float) -> bool:
    return abs(lines - total) <= SAME * total


def _differs(stated: Day, elements: Lines, total: float) -> bool:
    """Whether lines differ from a total by more than discounts; some filers use it for long-term debt alone."""
    lines, short_term = sum_of(stated, elements), [name for name in elements if name in SHORT_TERM]
    most = total + sum_of(stated, short_term)
    return lines * (1 + DISCOUNT) < total or lines > most * (1 + DISCOUNT)


def _line_outside_total(filing: Filing, day: int, without: Mapping[str, float], total: float) -> Lines:
    """The line that the filer's total of debt does not include; empty if there is none.

    The total then equals the other lines plus the remainder of a section, which is its total less all of its lines.

    Args:
        filing: the filing.
        day: the day of the balance sheet.
        without: for each line the sum of the others.
        total: the filer's total of debt.
    """
    stated = filing.days[day]
    remainders = {of - sum_of(stated, lines_of(filing, section, day)) for section, of in filing.totals[day].items()}
    return tuple(name for name, others in without.items() if others < total and total - others in remainders)[:1]


def _first_stated(stated: Day, elements: Iterable[str]) -> str:
    """The first element with an amount that is not zero; the empty string if there is none."""
    return next((name for name in elements if amount(stated, name)), "")


def _lines_adding_up_to(stated: Day, total: float) -> Lines:
    """The stated borrowings that usually are lines, none a part of another, if they add up to a total; else empty."""
    table = BORROWINGS[LIABILITIES]
    found = [name for name in stated.keys() & table.keys() if amount(stated, name) and name not in ALL_DEBT]
    found = [name for name in found if table[name].usual and table[name].part_of.isdisjoint(found)]
    return tuple(sorted(found)) if sum_of(stated, found) == total else ()


# --- Classified balance sheets ------------------------------------------------------------------------------------


def _rules_of_classified_sheet(
    filing: Filing, day: int, parts: Mapping[str, SectionBorrowings]
) -> Iterator[tuple[bool, Rule, Lines]]:
    """The rules for debt of a classified balance sheet whose lines do not provably add up.

    Each row has whether the rule applies, the rule, and the elements it takes; the first one that applies decides.
    """
    stated, of_current, of_rest = filing.days[day], parts[CURRENT_LIABILITIES], parts[NONCURRENT_LIABILITIES]
    whole, everything = _first_stated(stated, LONG_TERM_DEBT), _first_stated(stated, ALL_DEBT)
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
    of_maturities = {amount(stated, name) for name in _MATURITIES}
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
    others = {amount(stated, name) for name in (_BORROWED.keys() & stated.keys()) - {whole, *short_term}} - {0.0}
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
    if not current or _MATURITIES[0] in stated or not amount(stated, _MATURITIES[1]):
        return noncurrent
    with_leases = {less: line for line, less in _WITHOUT_LEASES.items() if amount(stated, line)}
    return tuple(with_leases.get(one, one) for one in noncurrent)


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


# --- Debt that totals prove ---------------------------------------------------------------------------------------


def _proved(filing: Filing, day: int, parts: Collection[SectionBorrowings]) -> Value | None:
    """Debt of lines that add up; None if one of them is negative, or if a borrowing may be included in another line."""
    stated, reads = filing.days[day], [part.read for part in parts if part.read]
    elements = tuple(element for part in parts for element in part.lines)
    inside = _inside_other_lines(filing, day, parts, elements)
    counted = (*elements, *inside)
    if _has_negative(stated, counted):
        return None
    sections = tuple(adds_up(filing, read, day) for read in reads)
    if not nonzero(stated, counted):
        return _proved_zero(filing, day, reads, sections)
    flag = _flag_of_lines(stated, elements)
    return Value(
        filing.cik,
        filing.seq,
        day,
        DEBT,
        REST_OF_TOTAL if flag == DERIVED_LINE else DEBT_INSIDE if inside else DEBT_OF_LINES,
        sum_of(stated, counted),
        is_proved=True,
        lines=sum_of(stated, elements),
        elements=nonzero(stated, elements),
        facts=legs(filing, day, counted),
        grain=max(read.unit for read in reads) * len(counted),
        flag=flag,
        sections=sections,
    )


def _has_negative(stated: Day, lines: Iterable[str]) -> bool:
    """Whether a line is negative; one of single members may be: an elimination of the consolidation."""
    return any(amount(stated, name) < 0 and not name.startswith(FACE_PREFIX) for name in lines)


def _inside_other_lines(
    filing: Filing, day: int, parts: Iterable[SectionBorrowings], elements: Iterable[str]
) -> list[str]:
    """The borrowings inside other lines; on a face, one with the amount of a line is this line."""
    stated = filing.days[day]
    shown = {amount(stated, element) for element in elements if filing.face}
    return [element for part in parts for element in part.inside if amount(stated, element) not in shown]


def _proved_zero(
    filing: Filing, day: int, reads: Sequence[Reading], sections: tuple[tuple[str, float, float], ...]
) -> Value | None:
    """Debt of zero, if no line can include a borrowing; else None."""
    stated = filing.days[day]
    own = {element: each for element, (each, _) in stated.items()}
    known = own if filing.face else {**filing.earlier[day], **own}
    if any(_lines_may_include_debt(read, known) for read in reads):
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
        sections=sections,
    )


def _facts_proving_zero(stated: Day, sections: Sequence[Reading]) -> Facts:
    """The facts of a zero: liabilities less their lines, if exactly zero; else totals with the coefficient zero."""
    lines = [group[0] for read in sections for group in read.readings[0] if group[0] in stated]
    are_stated = all(stated[line][1] != NOT_STATED for line in lines)
    if are_stated and amount(stated, "Liabilities") == sum_of(stated, lines) != 0:
        return ((stated["Liabilities"][1], 1.0), *((stated[line][1], -1.0) for line in lines))
    return _as_zero(stated, OF_ZERO)


def _as_zero(stated: Day, elements: Iterable[str]) -> Facts:
    """The facts of the stated elements, each with the coefficient zero."""
    return _not_counted(stated[name][1] for name in elements if name in stated)


def _not_counted(rows: Iterable[int]) -> Facts:
    """Facts that show a zero, each with the coefficient zero."""
    return tuple((row, 0.0) for row in rows)


def _states_borrowing(stated: Day) -> bool:
    """Whether a filing states any borrowing for a day, as a line or in the notes."""
    return any(stated[element][0] for element in stated if element in _BORROWED)


def _lines_may_include_debt(read: Reading, amounts: Mapping[str, float]) -> bool:
    """Whether a borrowing is at most the largest line of a section, so that a line may include it.

    Element CREDIT_LINE is not a borrowing of a filer with deposits: it is the credit that a bank may still draw.

    Args:
        read: a section with lines that add up.
        amounts: all amounts of the day by element, with those of the notes and of earlier filings.
    """
    largest = max((amounts.get(group[0], 0.0) for lines in read.readings for group in lines), default=0.0)
    return any(
        0 < amounts[element] <= largest and (element != CREDIT_LINE or DEPOSITS.isdisjoint(amounts))
        for element in amounts.keys() & BORROWINGS[read.section].keys()
    )


def _borrowings_in_other_lines(read: Reading, stated: Day, elements: tuple[str, ...]) -> tuple[str, ...]:
    """The borrowings that only another line of a section can include, as elements.

    Each is stated, but not as a line; it is larger than every line of borrowings, and at most as large as the largest
    other line.

    Args:
        read: a section with lines that add up.
        stated: the amounts of the day.
        elements: the section's lines of borrowings.
    """
    table = BORROWINGS[read.section]
    lines = {element for group in read.readings[0] for element in group}
    largest_borrowing = max((amount(stated, element) for element in elements), default=0.0)
    largest_other = max((amount(stated, line) for line in lines - {*elements}), default=0.0)
    return tuple(
        element
        for element in sorted((stated.keys() & table.keys()) - lines)
        if table[element].usual
        and stated[element][1] != NOT_STATED
        and largest_borrowing < stated[element][0] <= largest_other
        and not nonzero(stated, table[element].part_of & table.keys())
    )
