"""Balance sheets as arrays: the lines that one filing states for one quarter end.

Belongs here: the arrays, looking up a line, and replacing one line by another. Does not: when a line is replaced
(roles), how lines add up (debt, cash, instruments).

An amount that a filing does not state is NaN. A comparison with NaN is false, so a condition holds for stated amounts
only, unless it is negated.
"""

from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from pipelines.normalize import arrays
from pipelines.normalize.arrays import NOTHING, QUARTER_BITS, SEQ_BITS, Flags, Floats, Ints
from pipelines.normalize.balance.element_sets import Sets, have_any, sets_of
from pipelines.normalize.elements import AMOUNT, ITEM_CONCEPTS

DEBT_LINES, CASH_LINES = (
    tuple(concept.name for concept in ITEM_CONCEPTS[item]) for item in ("total_debt", "cash_and_equivalents")
)
LINES = (*DEBT_LINES, *CASH_LINES, "assets", "equity")
LINE = {name: number for number, name in enumerate(LINES)}

SAME_MONEY = 0.001
"""Two lines that differ by at most a tenth of a per cent are the same money under two elements, rounded differently."""

CONTRADICTS = 0.01
"""A total contradicts its lines if it differs from their sum by more than one per cent; less is rounding."""

SHEET = ["cik", "q", "seq"]
OF_INCOME = [concept.name for concept in ITEM_CONCEPTS["total_debt"] if not concept.instant]
"""The lines that are amounts of a period, which show that a filer has a debt."""
_LAST_DAY = 1 << 20
"""More days than any date has since 1970."""


@dataclass(frozen=True, slots=True)
class StatedLines:
    """The amounts that filings state for an instant, one for each vintage.

    grain: the power of ten to which an amount is rounded.
    elements: its elements (element_sets).
    """

    vintage: Ints
    value: Floats
    grain: Floats
    elements: Sets


@dataclass(frozen=True, slots=True)
class BalanceSheets:
    """One column for each filing and quarter end, sorted by company, quarter end and filing.

    keys: `cik`, `q`, `seq`, `filed`, `amended`, `regime` of each.
    stated: the amounts from which the lines are taken.
    rows: for each of LINES (first axis) the row of `stated`; NOTHING if the line is missing.
    values: the amounts of `rows`; NaN if the line is missing.
    reclassified: for each of LINES the place in roles.RULES of the rule that replaced it by another line; NOTHING if
        it is the line that its element names.
    known: what was found out about these sheets, by name, until a line is replaced.
    """

    keys: pl.DataFrame
    cik: Ints
    q: Ints
    seq: Ints
    stated: StatedLines
    rows: Ints
    values: Floats
    reclassified: Ints
    known: dict[str, tuple[Flags, ...]] = field(default_factory=dict, compare=False)

    def __len__(self) -> int:
        return len(self.cik)

    def value(self, line: str) -> Floats:
        """The amount of a line; NaN if it is missing."""
        values: Floats = self.values[LINE[line]]
        return values

    def or_zero(self, line: str) -> Floats:
        """The amount of a line; zero if it is missing."""
        return np.nan_to_num(self.value(line))

    def has(self, line: str) -> Flags:
        """Whether the filing states a line."""
        there: Flags = self.rows[LINE[line]] >= 0
        return there

    def grain(self, line: str) -> Floats:
        """The power of ten to which a line is rounded; NaN if it is missing."""
        return arrays.picked(self.stated.grain, self.rows[LINE[line]])

    def is_stated_by(self, line: str, elements: Sets) -> Flags:
        """Whether a line has any of some elements; false if it is missing."""
        found = np.zeros(len(self), dtype=np.bool_)
        there = np.flatnonzero(self.has(line))
        found[there] = have_any(self.stated.elements[:, self.rows[LINE[line], there]], elements)
        return found

    def put(self, line: str, place: str, where: Flags, rule: int) -> None:
        """Replace the line `place` by another line, and record the rule (its place in roles.RULES)."""
        for each in (self.rows, self.values):
            each[LINE[place], where] = each[LINE[line], where]
        self.known.clear()
        self.reclassified[LINE[place], where] = rule

    def only(self, chosen: Ints) -> "BalanceSheets":
        """Some of the sheets, by their places."""
        return replace(
            self,
            keys=self.keys[chosen],
            cik=self.cik[chosen],
            q=self.q[chosen],
            seq=self.seq[chosen],
            rows=self.rows[:, chosen],
            values=self.values[:, chosen],
            reclassified=self.reclassified[:, chosen],
            known={},
        )


def same(one: Floats, other: Floats, within: float = SAME_MONEY) -> Flags:
    """Whether two amounts are the same money; false if one is missing."""
    found: Flags = np.abs(one - other) <= within * np.abs(other)
    return found


def total_liabilities(sheets: BalanceSheets) -> Floats:
    """Total liabilities; without them, total assets less equity."""
    stated = sheets.value("liabilities")
    return np.where(np.isnan(stated), sheets.value("assets") - sheets.value("equity"), stated)


def as_filed(placed: pl.DataFrame) -> BalanceSheets:
    """The balance sheets of some filings, each line with the meaning of its element.

    If a filing states a line for two days of one quarter end, the source of better rank counts, then the earlier day.
    A line of the income statement (OF_INCOME) is one of the balance sheet at the end of its period, if there is one.

    Args:
        placed: vintages on the grid (calendar.on_grid); only instants and OF_INCOME are used.
    """
    is_instant = pl.col("n") == 0
    of_income = placed.filter(pl.col("concept").is_in(OF_INCOME) & ~is_instant)
    instants = placed.filter(is_instant)
    if len(of_income):
        instants = pl.concat([instants, of_income.join(instants, on=SHEET, how="semi")])
    cik, q, seq = (arrays.ints(instants, name) for name in SHEET)
    key = (cik << (QUARTER_BITS + SEQ_BITS)) | (q << SEQ_BITS) | seq
    _, first, sheet = np.unique(key, return_index=True, return_inverse=True)
    day = instants["end"].to_physical().to_numpy()
    worst_first = np.argsort(-(arrays.ints(instants, "rank") * _LAST_DAY + day))
    line = _LINE_OF_CONCEPT[arrays.ints(instants, "concept")[worst_first]]
    worst_first = worst_first[line >= 0]
    rows = np.full((len(LINES), len(first)), NOTHING, dtype=np.int64)
    # of several rows for the same place, the last one is kept
    rows[line[line >= 0], sheet[worst_first]] = worst_first
    stated = StatedLines(
        vintage=arrays.ints(instants, "vintage"),
        value=arrays.floats(instants, "value"),
        grain=arrays.floats(instants, "grain"),
        elements=sets_of(arrays.ints(instants, "used")),
    )
    values = np.full(rows.shape, np.nan)
    values[rows >= 0] = stated.value[rows[rows >= 0]]
    return BalanceSheets(
        keys=instants[first].select(*SHEET, "filed", "amended", "regime"),
        cik=cik[first],
        q=q[first],
        seq=seq[first],
        stated=stated,
        rows=rows,
        values=values,
        reclassified=np.full(rows.shape, NOTHING, dtype=np.int64),
    )


_LINE_OF_CONCEPT = np.array([LINE.get(concept, NOTHING) for concept in AMOUNT.categories])
"""For the code of each concept its place in LINES; NOTHING if it is not a line of debt or cash."""
