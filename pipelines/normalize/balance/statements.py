"""Chooses the filings whose value of a balance sheet day counts: the first one, and later ones that restate it.

Belongs here: the order of the values of one day, of debt and cash, and of equity and assets, which are one line each.
Does not: computing these values (debt, cash, evidence).

A later filing often repeats an old balance sheet with fewer lines than the original, or with combined lines; this is
no restatement. It restates a day if it states all of the lines, or if its totals prove the value. A withheld value
stays withheld until a filing states more lines.
"""

from collections.abc import Iterable
from datetime import date

import polars as pl

from pipelines.normalize import arrays
from pipelines.normalize.balance.debt.borrowings import DEBT_AS_READ, DISCOUNT
from pipelines.normalize.balance.debt.classified import WITH_MATURITIES
from pipelines.normalize.balance.debt.filer_total import FILER_TOTAL
from pipelines.normalize.balance.solver import SAME, is_mistyped_or_in_other_units
from pipelines.normalize.balance.values import Value
from pipelines.normalize.elements import CONCEPTS
from pipelines.normalize.elements.lines import ALL_DEBT
from pipelines.normalize.frames import counted
from pipelines.normalize.rule import Rule

_COMPARATIVES = "comparative balance sheets (Regulation S-X Rule 3-01, 10-01(c); IAS 1.38)"

PROVED_LATER = Rule(
    "balance.restated.by-proof",
    "A later filing whose totals prove the value of a day replaces a value without proof, and a proved one if it "
    "states more or other amounts of all of its lines.",
    _COMPARATIVES,
    "select",
)
SAME_LINES = Rule(
    "balance.restated.all-lines",
    "A later filing restates an amount if it states it with all elements of the statement that counts, or debt without "
    "proof as a total, or lines instead of long-term debt, that exceed it by more than discounts explain.",
    f"{_COMPARATIVES}; us-gaap:LongTermDebt, us-gaap:DebtLongtermAndShorttermCombinedAmount; ASC 835-30-45-1A",
    "select",
)
BY_AMENDMENT = Rule(
    "balance.restated.by-amendment",
    "An amendment restates the balance sheet, unless it lacks lines and so states less.",
    "Form 10-K/A and 10-Q/A, Exchange Act Rule 12b-15",
    "select",
)
BY_FACE = Rule(
    "balance.restated.by-face",
    "A later filing whose face shows the lines of a day replaces a value of other lines from a filing without a face.",
    _COMPARATIVES,
    "select",
)
FEWER_LINES = Rule(
    "balance.left-out.other-lines",
    "A later filing that states an amount with fewer or other lines does not restate it.",
    _COMPARATIVES,
    "select",
)

SINGLE_LINES = tuple(
    concept.name
    for concept in CONCEPTS
    if concept.instant and concept.name in ("equity", "stockholders_equity", "total_assets")
)
"""Items of the balance sheet that are one line each."""

MISTYPED_DIGITS = 2
"""If two amounts of one line differ by one digit and by at least ten units, one of them is mistyped."""


Place = tuple[int, date, bool, int]
"""The quarter end of a day of a filing, and `filed`, `amended` and `regime` of the filing."""


def effective_values(values: Iterable[tuple[Value, Place]]) -> tuple[list[tuple[Value, Place]], list[tuple[Rule, int]]]:
    """Choose the values of one day and item that count, in the order of filing, with the rules for later ones.

    After a break (another company under the number, other accounting standards) the next value counts as a first one.

    Args:
        values: the value of each filing with its place, in the order of filing.

    Returns:
        the values that count, with a withheld one where a filing withdraws the value before it; and for each later
        statement the rule that decided on it and the company.
    """
    counts: list[tuple[Value, Place]] = []
    decided: list[tuple[Rule, int]] = []
    current: Value | None = None
    unknown: Value | None = None
    last: Value | None = None
    regime = None
    for one, place in values:
        if one.value is not None and place[3] != regime:
            current, regime = None, place[3]
        if one.value is None:
            if current and one.withdraws == current.seq:
                counts.append((one, place))
                current = None
            unknown = one
        elif one.is_single and not (last and _is_mistyped(last, one)):
            continue
        elif current is None:
            states_no_more = unknown and one.elements <= unknown.elements
            if one.is_proved or one.is_single or not states_no_more:
                counts.append((one, place))
                current = last = one
        else:
            rule = _restates(one, current, is_amendment=place[2])
            decided.append((rule, one.cik))
            is_other = abs(one.amount - current.amount) > SAME * abs(current.amount)
            is_new = is_other or one.is_proved == current.is_proved
            if rule is not FEWER_LINES and is_new:
                counts.append((one, place))
            if rule is not FEWER_LINES and (is_new or one.is_proved):
                current = last = one
    return counts, decided


def _restates(one: Value, current: Value, *, is_amendment: bool) -> Rule:
    """The rule that decides whether a later value restates the one that counts."""
    has_all = one.elements >= current.elements
    if one.of_face != current.of_face and not has_all:
        return BY_FACE if BY_FACE.where(one.of_face) else FEWER_LINES
    if one.is_proved:
        is_more = one.amount > current.amount or (one.lines != current.lines and has_all)
        return PROVED_LATER if PROVED_LATER.where(is_more or not current.is_proved) else FEWER_LINES
    has_lines = one.elements == current.elements if current.is_proved else has_all
    if SAME_LINES.where(has_lines and bool(one.elements)):
        return SAME_LINES
    if BY_AMENDMENT.where(is_amendment) and (one.amount >= current.amount or has_all):
        return BY_AMENDMENT
    is_total = one.rule in (WITH_MATURITIES, FILER_TOTAL) or not one.elements.isdisjoint(ALL_DEBT)
    is_total |= current.rule is WITH_MATURITIES and one.rule is DEBT_AS_READ  # with lines of short-term debt
    if SAME_LINES.where(is_total) and not current.is_proved and one.amount > current.amount * (1 + DISCOUNT):
        return SAME_LINES
    return FEWER_LINES if FEWER_LINES.where(True) else SAME_LINES


def _is_mistyped(one: Value, later: Value) -> bool:
    """Whether a later value states the same lines with one other digit or in other units; false for a proved value."""
    difference, unit = later.amount - one.amount, min(one.grain, later.grain)
    is_same_line = one.elements == later.elements and not one.is_proved
    return is_same_line and is_mistyped_or_in_other_units(one.amount, difference, unit, MISTYPED_DIGITS)


def single_lines(placed: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Choose the amounts of equity and assets that count: the first of a day, amendments, and repeats of its element.

    Args:
        placed: vintages on the grid (calendar.on_grid).

    Returns:
        the rows of `placed` that count, sorted by `cik`, `concept`, `q` and `seq`; and columns of frames.DECISIONS.
    """
    lines = placed.filter(pl.col("concept").is_in(SINGLE_LINES)).sort("cik", "concept", "q", "seq", maintain_order=True)
    cik, seq = arrays.ints(lines, "cik"), arrays.ints(lines, "seq")
    first = arrays.first_row(arrays.starts(cik, arrays.ints(lines, "concept"), arrays.ints(lines, "q")))
    used, is_later = arrays.ints(lines, "used"), seq != seq[first]
    repeats = used == used[first]
    is_amendment = arrays.flags(lines, "amended")
    by_amendment = BY_AMENDMENT.where(is_later & is_amendment)
    same_lines = SAME_LINES.where(is_later & ~by_amendment & repeats)
    fewer_lines = FEWER_LINES.where(is_later & ~by_amendment & ~same_lines)
    decided = [(BY_AMENDMENT, by_amendment), (SAME_LINES, same_lines), (FEWER_LINES, fewer_lines)]
    return lines.filter(~fewer_lines), counted([(rule, cik[holds]) for rule, holds in decided])
