"""The balance sheet behind a value of debt or cash, or behind its absence: sections with their lines and totals.

Belongs here: choosing the filing and grouping its rows of table `balance_sheet_lines`; pure functions.
Does not: the SQL (explain_queries), printing (serve.cli.balance_sheet), which amounts are lines (pipelines.normalize).
"""

from collections.abc import Mapping, Sequence
from itertools import groupby

import msgspec

from warehouse.contract.sections import TOTAL
from warehouse.queries.explain_queries import Leg, SheetRow

LINES = ("balance.line", "balance.line-of-face")
"""The rules that turn facts into lines of a balance sheet; legs with these rules are lines."""


class SheetLine(msgspec.Struct, frozen=True):
    """A line or a total of a balance sheet; `amount` is on the filing's own day, `compared` on the day of comparison.

    An amount is None if the filing does not state it.

    kind: column `class`. leg: the number of the leg that is this line; None if the value does not use the line.
    member: the dimensions of a line that is stated for members only.
    """

    element: str
    kind: str
    amount: float | None
    compared: float | None
    leg: int | None = None
    member: str | None = None


class Section(msgspec.Struct, frozen=True):
    """A section of a balance sheet.

    lines: first the lines that the value uses, in the order of its legs, then the others by amount.
    missing: lines of debt or cash in the filer's last section that added up, which this filing does not state.
    added, added_compared: the sum of the lines on the own day and on the day of comparison.
    """

    name: str
    adds_up: bool
    lines: tuple[SheetLine, ...]
    missing: tuple[SheetLine, ...]
    total: SheetLine
    added: float
    added_compared: float | None


class BalanceSheet(msgspec.Struct, frozen=True):
    """The balance sheet of one filing, for its own day and the day of comparison, if it has one.

    sections: empty if no filing states lines and their total for the day.
    inside: amounts of the value that are not lines themselves, but a part of a line that is not borrowing.
    """

    accession: str = ""
    form: str | None = None
    filed: str | None = None
    url: str | None = None
    day: str = ""
    compared_day: str | None = None
    sections: tuple[Section, ...] = ()
    inside: tuple[SheetLine, ...] = ()


def balance_sheet(rows: Sequence[SheetRow], sections: Sequence[str], day: str, legs: Sequence[Leg]) -> BalanceSheet:
    """Compose the balance sheet behind a value.

    Args:
        rows: the rows of table `balance_sheet_lines` whose own day or day of comparison is the value's.
        sections: the names of the item's sections, in order.
        day: the last day of the period.
        legs: the facts behind the value. Empty if there is no value: then the newest filing of that day is taken.

    Returns:
        the sections with the lines of the value, including sections that do not add up to their total.
    """
    filings = {leg.accession for leg in legs if leg.rule in LINES}
    known = [row for row in rows if not legs or row.accession in filings]
    newest = max(known, key=lambda row: (row.day == day, row.filed or "", row.accession), default=None)
    if newest is None:
        return BalanceSheet()
    of_filing = {_line(leg): leg for leg in legs if leg.accession == newest.accession and leg.end == day}
    shown = sorted(
        (row for row in known if row.accession == newest.accession), key=lambda row: sections.index(row.section)
    )
    is_sum = all(leg.weight == 1 for leg in legs)  # otherwise the legs prove a zero, or the value is a total less lines
    inside = of_filing.keys() - {(row.element, row.member) for row in shown} if is_sum else ()
    return BalanceSheet(
        newest.accession,
        newest.form,
        newest.filed,
        newest.url,
        newest.day,
        newest.compared_day,
        tuple(_section(list(rows), of_filing) for _, rows in groupby(shown, key=lambda row: row.section)),
        tuple(_inside(leg, newest.day) for leg in sorted((of_filing[line] for line in inside), key=_element)),
    )


def _element(leg: Leg) -> str:
    return leg.tag.partition(":")[2]


def _line(leg: Leg) -> tuple[str, str | None]:
    return _element(leg), leg.member


def _inside(leg: Leg, day: str) -> SheetLine:
    own, compared = (leg.value, None) if leg.end == day else (None, leg.value)
    return SheetLine(_element(leg), "borrowing", own, compared, leg.leg, leg.member)


def _section(rows: Sequence[SheetRow], legs: Mapping[tuple[str, str | None], Leg]) -> Section:
    numbers = {line: leg.leg for line, leg in legs.items()}
    lines = [
        SheetLine(row.element, row.kind, row.amount, row.compared, numbers.get((row.element, row.member)), row.member)
        for row in rows
    ]
    [total] = (line for line in lines if line.kind == TOTAL)
    stated = [line for line in lines if line is not total and (line.amount, line.compared) != (None, None)]
    return Section(
        rows[0].section,
        rows[0].adds_up,
        tuple(sorted(stated, key=lambda line: (line.leg or len(numbers) + 1, -(line.amount or 0), line.element))),
        tuple(line for line in lines if (line.amount, line.compared) == (None, None)),
        total,
        sum(line.amount or 0 for line in stated),
        None if total.compared is None else sum(line.compared or 0 for line in stated),
    )
