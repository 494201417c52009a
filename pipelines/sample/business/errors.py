"""Errors in reports: replaces correct facts of filings by misstated facts.

Belongs here: the change of a fact by an error. Does not: the kinds of errors (traits), detecting them (the pipeline).
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from pipelines.sample.business.filings import Column, Fact, Filing
from pipelines.sample.business.line import Measure
from pipelines.sample.filer.calendar import FiscalCalendar
from pipelines.sample.filer.traits import Columns, Error, Filer, Moved

PER_SHARE_DIGITS = 6


def as_filed(filer: Filer, filings: Iterable[Filing]) -> tuple[Filing, ...]:
    """The filings with the facts as the filer stated them, errors included."""
    return tuple(_misstated(filer, filing) for filing in filings)


def _misstated(filer: Filer, filing: Filing) -> Filing:
    facts = filing.facts
    for error in filer.errors:
        if error.report is None or error.report == _report(filer, filing):
            facts = tuple(_with_error(error, filing, facts, filer.calendar))
    return replace(filing, facts=facts)


def _report(filer: Filer, filing: Filing) -> tuple[int, int] | None:
    """The fiscal year and quarter that a report covers; None for other filings."""
    if filing.fiscal_year is None or filing.fiscal_period is None:
        return None
    if filing.fiscal_period == "FY":
        return filing.fiscal_year, filer.calendar.year(filing.fiscal_year).last
    return filing.fiscal_year, int(filing.fiscal_period[1])


def _with_error(error: Error, filing: Filing, facts: Iterable[Fact], calendar: FiscalCalendar) -> Iterator[Fact]:
    """The facts with one error: untagged facts, wrong amounts, or facts in a wrong context.

    Facts in a wrong context replace the correct facts of that context.
    """
    hit = [fact for fact in facts if _errs(error, filing, fact)]
    if error.untagged:
        yield from (fact for fact in facts if fact not in hit)
        return
    if error.moved is None:
        yield from (_changed(fact, error) if fact in hit else fact for fact in facts)
        return
    moved = [_moved(fact, error.moved, filing, calendar) for fact in hit if _moves(fact, error.moved, calendar)]
    taken = {(fact.tag, fact.unit, fact.start, fact.end) for fact in moved}
    yield from (fact for fact in facts if (fact.tag, fact.unit, fact.start, fact.end) not in taken)
    yield from moved


def _errs(error: Error, filing: Filing, fact: Fact) -> bool:
    if fact.line is None or fact.column is None or fact.line.item not in error.items:
        return False
    if error.column is not None:
        return fact.column == Column(*error.column)
    own = fact.column.year == filing.fiscal_year
    return {Columns.EVERY: True, Columns.OWN: own, Columns.COMPARATIVE: not own}[error.columns]


def _changed(fact: Fact, error: Error) -> Fact:
    """The fact with a wrong factor, rounded if the error says so."""
    wrong = _multiplied(fact, error.factor)
    if error.digits is None or not wrong.value:
        return wrong
    return replace(wrong, value=round(wrong.value, error.digits - len(str(abs(int(wrong.value))))))


def _multiplied(fact: Fact, factor: Fraction) -> Fact:
    value = Fraction(str(fact.value)) * factor
    if fact.line and fact.line.measure is Measure.PER_SHARE:
        return replace(fact, value=float(round(Decimal(value.numerator) / value.denominator, PER_SHARE_DIGITS)))
    return replace(fact, value=round(value))


def _moves(fact: Fact, where: Moved, calendar: FiscalCalendar) -> bool:
    """Whether the error applies: to quarters only, to a year to date only from the second or third quarter, and to a
    year from the last one; to balances of the last year end."""
    if fact.column is None or fact.column.first != fact.column.last:
        return False
    is_last = fact.column.last == calendar.year(fact.column.year).last
    if where is Moved.TO_REPORT_DATE:
        return is_last and fact.start is None
    if where is Moved.TO_YEAR:
        return is_last
    return where is Moved.TO_NEXT_YEAR or (fact.column.last > 1 and not is_last)


def _moved(fact: Fact, where: Moved, filing: Filing, calendar: FiscalCalendar) -> Fact:
    """The fact in the context of another period."""
    assert fact.column is not None
    year, _, last = fact.column
    if where is Moved.TO_REPORT_DATE:
        return replace(fact, end=filing.report_date)
    if where is Moved.TO_YEAR:
        return replace(fact, start=calendar.year(year).start, column=Column(year, 1, last))
    if where is Moved.TO_YEAR_TO_DATE:
        return replace(fact, start=calendar.year(year).start, column=Column(year, 1, last))
    period = calendar.year(year + 1).quarters[last - 1]
    return replace(fact, start=period.start, end=period.end, column=Column(year + 1, last, last))
