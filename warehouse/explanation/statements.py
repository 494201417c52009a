"""Statements as filed: their lines, and which of the figures are facts of values.

Belongs here: grouping rows of table `newest_statements`, and finding in them the facts of one value, or of all values
that use a filing; pure functions. Does not: the SQL (explain_queries, statement_queries), printing
(serve.cli.statements, serve.site.company.statements_page), which lines a build has
(pipelines.tables.newest_statements).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from itertools import groupby
from math import isclose

import msgspec

from warehouse.queries.explain_queries import Leg, StatementRow
from warehouse.queries.statement_queries import Use

NAMES = {"BS": "Balance sheet", "IS": "Income statement", "CF": "Cash flow statement"}
"""The statements, in the order in which a fact is searched in them."""
MONTHS_OF_A_QUARTER = 3
QUARTER = 91.3
"""Days of a quarter."""
ROUNDED = timedelta(days=16)
"""Tolerance for days: a data set rounds a day to the nearest end of a month."""
HEADING = " [Abstract]"
"""Suffix that the taxonomy adds to the label of a heading."""

Period = tuple[int | None, str | None]
"""The period of a column: its length in quarters, and its last day."""
Marked = Sequence[tuple[Leg | Use, StatementRow]]
"""Facts, each with the row of the statement that shows it."""


class Column(msgspec.Struct, frozen=True):
    """A column of a statement: a period that ends on `end`, or the day `end` if `months` is 0."""

    end: str
    months: int


class StatementLine(msgspec.Struct, frozen=True):
    """A line as the statement shows it.

    label: the filer's words; the element if the filing states none. member: the dimensions of a line for members only.
    values: one for each column, with the sign that the statement shows; None where nothing is stated.
    legs: for each column the numbers of the facts that this figure shows.
    place: the number of the line on its statement. is_total: whether other lines add up to it; None if not known.
    """

    label: str
    tag: str
    member: str | None
    depth: int
    unit: str | None
    values: tuple[float | None, ...]
    legs: tuple[tuple[int, ...], ...]
    place: int = 0
    is_total: bool | None = None

    @property
    def marks(self) -> tuple[int, ...]:
        """The numbers of all facts that this line shows."""
        return tuple(sorted(number for numbers in self.legs for number in numbers))

    @property
    def is_heading(self) -> bool:
        """Whether the line has no figures."""
        return all(value is None for value in self.values)


class Statement(msgspec.Struct, frozen=True):
    """A statement of a filing, with all its columns, or only the columns whose periods are as long as the facts'.

    The newest column comes first. `code` is the statement's code in table `newest_statements`.
    """

    name: str
    accession: str
    form: str | None
    filed: str | None
    url: str | None
    columns: tuple[Column, ...]
    lines: tuple[StatementLine, ...]
    code: str = ""


def statements(rows: Sequence[StatementRow], legs: Sequence[Leg]) -> list[Statement]:
    """The statements that show the facts of a value, newest filing first; each fact is shown on one statement.

    Args:
        rows: the rows of the filings of the facts, by filing, statement and line.
        legs: the facts behind the value.
    """
    of_statements = [list(some) for _, some in groupby(rows, key=lambda row: (row.accession, row.statement))]
    order = list(NAMES)
    of_statements.sort(key=lambda some: order.index(some[0].statement))
    of_statements.sort(key=lambda some: (some[0].filed or "", some[0].accession), reverse=True)
    found, left = [], list(legs)
    for some in of_statements:
        first = ((leg, next((row for row in some if _is(leg, row)), None)) for leg in left)
        if marked := [(leg, row) for leg, row in first if row]:
            numbers = {leg.leg for leg, _ in marked}
            left = [leg for leg in left if leg.leg not in numbers]
            lengths = {row.quarters for _, row in marked}
            columns = sorted(_periods(row for row in some if row.quarters in lengths), key=_newest, reverse=True)
            found.append(_statement(some, columns, marked))
    return found


def of_filing(rows: Sequence[StatementRow], uses: Sequence[Use]) -> list[Statement]:
    """The statements of one filing with all their columns; every figure that is a fact of a value is marked.

    Args:
        rows: the rows of the filing, by statement and line.
        uses: the facts of the filing from which values are made; the marks are their numbers.

    Returns:
        the statements in the order of NAMES; columns with shorter periods come first, as in quarterly reports.
    """
    by_element: dict[tuple[str, str | None], list[Use]] = defaultdict(list)
    for use in uses:
        by_element[use.tag, use.member].append(use)
    found = []
    for _, group in groupby(rows, key=lambda row: row.statement):
        some = list(group)
        marked = [(use, row) for row in some for use in by_element[row.tag, row.member] if _is(use, row)]
        newest_first = sorted(_periods(some), key=_newest, reverse=True)
        found.append(_statement(some, sorted(newest_first, key=lambda period: period[0] or 0), marked))
    return sorted(found, key=lambda statement: list(NAMES).index(statement.code))


def _periods(rows: Iterable[StatementRow]) -> set[Period]:
    return {(row.quarters, row.end) for row in rows if row.end is not None}


def _newest(period: Period) -> tuple[int | None, str]:
    return period[0], period[1] or ""


def _is(leg: Leg | Use, row: StatementRow) -> bool:
    """Whether a row of a statement shows a fact."""
    return (
        (leg.accession, leg.tag, leg.member) == (row.accession, row.tag, row.member)
        and row.value is not None
        and row.end is not None
        and isclose(abs(leg.value), abs(row.value), rel_tol=1e-9)
        and abs(date.fromisoformat(leg.end) - date.fromisoformat(row.end)) <= ROUNDED
        and _quarters(leg) == row.quarters
    )


def _quarters(leg: Leg | Use) -> int:
    """The length of the period of a fact in quarters; 0 for an instant."""
    if leg.start is None:
        return 0
    return round(((date.fromisoformat(leg.end) - date.fromisoformat(leg.start)).days + 1) / QUARTER)


def _statement(rows: Sequence[StatementRow], columns: Sequence[Period], marked: Marked) -> Statement:
    first = rows[0]
    return Statement(
        NAMES[first.statement],
        first.accession,
        first.form,
        first.filed,
        first.url,
        tuple(Column(str(end), MONTHS_OF_A_QUARTER * (quarters or 0)) for quarters, end in columns),
        tuple(_lines(rows, columns, marked)),
        first.statement,
    )


def _lines(rows: Sequence[StatementRow], columns: Sequence[Period], marked: Marked) -> Iterator[StatementLine]:
    """The lines to show: headings, and lines with a figure in one of the columns."""
    numbers: dict[int, list[int]] = defaultdict(list)
    for leg, row in marked:
        numbers[id(row)].append(leg.leg)
    for _, group in groupby(rows, key=lambda row: (row.line, row.member)):
        of_line = list(group)
        first = of_line[0]
        cells = {(row.quarters, row.end): row for row in of_line}
        shown = [cells.get(column) for column in columns]
        if first.is_heading or any(shown):
            yield StatementLine(
                (first.label or first.tag).removesuffix(HEADING),
                first.tag,
                first.member,
                first.depth or 0,
                first.unit,
                tuple(_shown(row) for row in shown),
                tuple(tuple(numbers.get(id(row), ())) for row in shown),
                first.line,
                first.is_total,
            )


def _shown(row: StatementRow | None) -> float | None:
    if row is None or row.value is None:
        return None
    return -row.value if row.negated and row.value else row.value
