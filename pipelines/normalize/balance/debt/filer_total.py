"""The filer's own total of all debt, beside the lines of its balance sheet.

Belongs here: the rules that choose between the two. Does not: totals of long-term debt (classified).
"""

from collections.abc import Collection, Iterator, Mapping

from pipelines.normalize.balance.debt.borrowings import DEBT_AS_READ, DISCOUNT, Lines, SectionBorrowings, first_stated
from pipelines.normalize.balance.reading import Filing
from pipelines.normalize.balance.solver import SAME
from pipelines.normalize.balance.totals import Day
from pipelines.normalize.balance.values import amount, lines_of, sum_of
from pipelines.normalize.elements.lines import ALL_DEBT, BORROWINGS, LIABILITIES, LINES, SHORT_TERM
from pipelines.normalize.rule import Rule

FILER_TOTAL = Rule(
    "debt.read.filer-total",
    "Debt is the filer's own total if no line is non-current debt and the total is not less than the current lines, "
    "or if all lines differ from it by more than discounts; a line left out is added.",
    "us-gaap:DebtLongtermAndShorttermCombinedAmount; IFRS 7.8(g)",
    "compose",
)
_REPOS = frozenset(name for name, line in LINES[LIABILITIES].items() if line.kind == "repo")


def rules_beside_total_of_filer(
    filing: Filing, day: int, elements: Lines, parts: Collection[SectionBorrowings]
) -> Iterator[tuple[bool, Rule, Lines]]:
    """The rules for debt if the filer also states a total of all debt: whether each applies, and the elements it takes.

    The first rule that applies decides.
    """
    stated = filing.days[day]
    everything = first_stated(stated, ALL_DEBT)
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
    """The line that the filer's total of debt does not include; empty if it includes all.

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


def _lines_adding_up_to(stated: Day, total: float) -> Lines:
    """The stated borrowings that usually are lines, none a part of another, if they add up to a total; else empty."""
    table = BORROWINGS[LIABILITIES]
    found = [name for name in stated.keys() & table.keys() if amount(stated, name) and name not in ALL_DEBT]
    found = [name for name in found if table[name].usual and table[name].part_of.isdisjoint(found)]
    return tuple(sorted(found)) if sum_of(stated, found) == total else ()
