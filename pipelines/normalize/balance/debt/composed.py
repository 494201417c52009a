"""Interest-bearing borrowings of a balance sheet, current and non-current.

Belongs here: the order of the kinds of evidence for total debt, and its value without proof. Does not: the rules of
each kind (proved, classified, filer_total, zero), whether a part is unknown (evidence).

Operating leases, deposits, repurchase agreements and payables are never debt. Finance leases count only if they are
on a line of debt.
"""

from collections.abc import Collection, Iterator, Mapping

from pipelines.normalize.balance.debt.borrowings import (
    DEBT_AS_READ,
    SectionBorrowings,
    borrowings_of_section,
    drop_double_counts,
    flag_of_lines,
)
from pipelines.normalize.balance.debt.classified import rules_of_classified_sheet
from pipelines.normalize.balance.debt.filer_total import FILER_TOTAL, rules_beside_total_of_filer
from pipelines.normalize.balance.debt.proved import proved_debt, rest_by_flows
from pipelines.normalize.balance.debt.zero import zero_debt
from pipelines.normalize.balance.reading import Filing
from pipelines.normalize.balance.totals import Day, sections_of
from pipelines.normalize.balance.values import (
    DEBT,
    MAY_BE_PRINCIPAL,
    SAME_DEBT,
    TOTAL_CONTRADICTS_PARTS,
    Known,
    Value,
    first_amount,
    legs,
    nonzero,
    sum_of,
    total_contradicts,
)
from pipelines.normalize.elements.lines import ALL_DEBT, CURRENT_ASSETS, CURRENT_LIABILITIES, LIABILITIES
from pipelines.normalize.rule import Rule, decided


def debt(filing: Filing, day: int, known: Known) -> Value | None:
    """Debt of a day as a filing states it; None if it states none.

    Args:
        known: values of other days, as far as this and earlier filings state them.
    """
    return next((value for value in _values(filing, day, known) if value and value.rule.where(True)), None)


def _values(filing: Filing, day: int, known: Known) -> Iterator[Value | None]:
    """The debt of a day by each kind of evidence, the strongest one first; None where it shows nothing."""
    sections = [section for section in sections_of(filing.days[day]) if section != CURRENT_ASSETS]
    parts = {section: borrowings_of_section(filing, day, section) for section in sections}
    if all(part.read for part in parts.values()):
        yield proved_debt(filing, day, parts.values())
    yield rest_by_flows(filing, day, known)
    yield _without_proof(filing, day, parts)
    yield zero_debt(filing, day, known)


def _without_proof(filing: Filing, day: int, parts: Mapping[str, SectionBorrowings]) -> Value | None:
    """Debt if its lines do not provably add up: the sum of the lines, or a total in the notes that includes more."""
    stated = filing.days[day]
    lines = tuple(name for part in parts.values() for name in part.elements)
    is_classified = CURRENT_LIABILITIES in parts
    found = decided(rules_of_classified_sheet(filing, day, parts)) if is_classified else None
    rule, elements = found or (DEBT_AS_READ, () if is_classified else drop_double_counts(stated, lines))
    if elements and rule is DEBT_AS_READ:
        rule, elements = decided(rules_beside_total_of_filer(filing, day, elements, parts.values())) or (
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
    if flag := flag_of_lines(stated, elements) or (MAY_BE_PRINCIPAL if rule is FILER_TOTAL else None):
        return flag
    everything = first_amount(stated, ALL_DEBT)
    is_apart = bool(everything) and abs(value - everything) > SAME_DEBT * everything
    return TOTAL_CONTRADICTS_PARTS if is_apart or total_contradicts(stated, LIABILITIES) else None
