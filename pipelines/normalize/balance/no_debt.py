"""Classified balance sheets without a line of debt, whose totals prove what is borrowed: nothing, or one line.

Belongs here: debt of zero, and a line that counts only with this proof. Does not: balance sheets of banks and others
without current liabilities (instruments).
"""

import numpy as np

from pipelines.normalize.arrays import Flags, Ints
from pipelines.normalize.balance.footing import without_debt
from pipelines.normalize.balance.sheets import DEBT_LINES, LINE, BalanceSheets
from pipelines.normalize.elements.liabilities import DEBT_CONTROLS
from pipelines.normalize.rule import Rule

_WITHOUT_DEBT = "classified balance sheets without a line of debt"
_FOOTS = "ASC 210-10-45-5 (total of current liabilities); us-gaap:Liabilities: the total of all liabilities"

ZERO = Rule(
    "debt.zero.both-terms-without-debt",
    "Debt is zero if no line of debt is stated, and lines that are not borrowed add up to the current and to the "
    "non-current liabilities.",
    _FOOTS,
    "compose",
    _WITHOUT_DEBT,
)
ONE_LINE = Rule(
    "debt.one-line-of-both-terms",
    "Debt is current notes to related parties, or a drawn credit line, if no other line of debt is stated, and with it "
    "lines that are not borrowed add up to the current and to the non-current liabilities.",
    _FOOTS,
    "compose",
    _WITHOUT_DEBT,
)
RULES: tuple[Rule, ...] = (ZERO, ONE_LINE)

_CONTROLS = {concept.name for concept in DEBT_CONTROLS}
_PROVED_ONLY = LINE["debt_credit_line"]
_SURE = np.array([LINE[line] for line in DEBT_LINES if line not in _CONTROLS and LINE[line] != _PROVED_ONLY])


def of_both_terms(sheets: BalanceSheets, where: Flags) -> tuple[Ints, Flags]:
    """The lines that are proved where no line of debt is stated.

    Returns:
        for each sheet the place of its rule in RULES (-1 if nothing is proved), and for each of sheets.DEBT_LINES
        (first axis) whether it is part of the sum.
    """
    decided = np.full(len(sheets), -1)
    chosen = np.zeros((len(DEBT_LINES), len(sheets)), dtype=np.bool_)
    asked = np.flatnonzero(where & sheets.has("liabilities") & sheets.has("liabilities_current"))
    asked = asked[(np.nan_to_num(sheets.values[_SURE[:, None], asked]) == 0).all(axis=0)]
    if not len(asked):
        return decided, chosen
    some = sheets.only(asked)
    everywhere = np.ones(len(asked), dtype=np.bool_)
    line = some.or_zero("debt_credit_line")
    is_zero, lines = without_debt(some, np.zeros(len(asked)), everywhere)
    lines[LINE["liabilities"]] = True
    is_zero &= np.where(lines, np.nan_to_num(some.values), 0.0).sum(axis=0) == 0
    is_line, _ = without_debt(some, line, ~is_zero & (line > 0))
    chosen[:, asked[is_zero]] = lines[: len(DEBT_LINES), is_zero]
    chosen[_PROVED_ONLY, asked[is_line]] = True
    decided[asked[is_zero]], decided[asked[is_line]] = RULES.index(ZERO), RULES.index(ONE_LINE)
    return decided, chosen
