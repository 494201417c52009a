"""Balances that are withheld because the lines that added up to a total before do not add up any more.

Belongs here: whether a line of debt or cash is wrong or missing. Does not: which lines add up (reading), what counts
beside a proof (authority).

Statements are double-entry. If the lines with which a section added up leave a rest on the next balance sheet, a line
is new, missing or wrong. The rest tells which: no new line explains that lines exceed their total; and a rest that
turns one of the lines into the same amount in another unit or with one other digit shows that this line is wrong.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pipelines.normalize.balance.reading import Day, Filing, Rest
from pipelines.normalize.balance.solver import DIGITS, OTHER_DIGITS, is_slip, unit_of
from pipelines.normalize.elements.lines import BORROWING, CASH, CURRENT_ASSETS, LIABILITIES, LINES, SECURITY
from pipelines.normalize.rule import Rule

NO_LONGER_ADDS_UP = Rule(
    "balance.withheld.no-longer-adds-up",
    "Debt or cash is withheld if the lines with which its section added up in the other column or in the filing before "
    "leave a material rest, which a missing, wrong or repeated line of it or, in unclassified liabilities, an unknown "
    "line explains.",
    "ASC 210-10-45-1, 210-10-45-5 (totals of a balance sheet); one wrong figure as the likeliest error: Fellegi and "
    "Holt, A Systematic Approach to Automatic Edit and Imputation (1976)",
    "withhold",
)
RULES: tuple[Rule, ...] = (NO_LONGER_ADDS_UP,)

REASONS = ("cash_not_footing", "debt_not_footing")

MATERIAL = 0.005
"""A rest matters if it is more than half a per cent of the balance."""

ROUNDED_LINES = 5
"""Lines that are each rounded to a unit leave at most so many units."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A balance of a day that one filing states wrongly or not completely.

    sides: the sum of the lines and their total, in units of the currency.
    """

    cik: int
    seq: int
    day: int
    item: str
    reason: str
    sides: tuple[float, float]


def doubts(filings: Iterable[Filing]) -> Iterator[Doubt]:
    """The balances of which a line is wrong or missing, for each day of each filing."""
    for filing in filings:
        for rest in filing.rests:
            stated = filing.days[rest.day]
            others = [each for day, each in filing.days.items() if day != rest.day]
            is_cash = rest.section == CURRENT_ASSETS
            lines = sum(stated[line][0] for line in rest.lines)
            if _is_doubtful(rest, rest.total - lines, stated, others, (CASH, SECURITY) if is_cash else (BORROWING,)):
                item, reason = (
                    ("cash_and_equivalents", "cash_not_footing") if is_cash else ("total_debt", "debt_not_footing")
                )
                yield Doubt(filing.cik, filing.seq, rest.day, item, reason, (lines, rest.total))


def _is_doubtful(rest: Rest, left: float, stated: Day, others: list[Day], kinds: tuple[str, ...]) -> bool:
    """Whether a line of some classes explains what is left of a total, or any unknown line may be one of them."""
    table = LINES[rest.section]
    of_item = [line for line in rest.lines if table[line].kind in kinds]
    balance = sum(stated[line][0] for line in of_item)
    if abs(left) <= max(ROUNDED_LINES * rest.unit, MATERIAL * abs(balance)):
        return False
    if left < 0:
        return any(stated[line][0] >= -left for line in of_item)
    if len(rest.missing) > 1:
        return False
    if rest.section == LIABILITIES:
        return True
    if any(table[group[0]].kind in kinds for group in rest.missing):
        return not any(
            0 < stated[name][0] <= left * (1 + MATERIAL) and table[name].kind in kinds
            for name in stated.keys() & table.keys() - {*rest.lines, *rest.missing[0]}
        )
    return any(
        is_slip(stated[line][0], left, rest.unit, OTHER_DIGITS)
        or (BORROWING not in kinds and _is_repeated(line, stated, others))
        for line in of_item
    )


def _is_repeated(line: str, stated: Day, others: list[Day]) -> bool:
    """Whether a line has the amount, of several digits, that it has on another day of the filing."""
    amount = stated[line][0]
    return amount >= DIGITS * unit_of([amount]) and any(line in day and day[line][0] == amount for day in others)
