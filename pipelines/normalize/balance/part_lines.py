"""A part of cash under the element of all cash: a filing that states far less for a day than the filings before.

Belongs here: which filings use an element for a part. Does not: which filing counts for a day otherwise (restated).
"""

import numpy as np

from pipelines.normalize.arrays import Flags
from pipelines.normalize.balance.element_sets import are_equal
from pipelines.normalize.balance.judged import Contradiction
from pipelines.normalize.balance.sheets import LINE, BalanceSheets, same
from pipelines.normalize.balance.sums import Sums
from pipelines.normalize.rule import Rule

PART = 0.5
"""A restatement takes off less than half of the cash."""

REPEATED = 8
"""A year of reports, and its annual report again, repeat a day of the filing."""

OF_PART = Contradiction(
    Rule(
        "cash.withheld.part-of-earlier-cash",
        "Cash of a filing is withheld, of all its days, if it states less than half of what two earlier filings state "
        "for one of them and total assets of that day are the same: its element is then only a part of cash. So is "
        "that of later filings that repeat a day of it.",
        "Measured: 3 of 3,650 filings (American Express in 2011, and two that repeat its day)",
        "withhold",
    ),
    "line_left_out",
)

RULES: tuple[Rule, ...] = (OF_PART.rule,)


def is_part(sheets: BalanceSheets, sums: Sums) -> Flags:
    """Whether each sum is from a filing that states only a part of cash."""
    found = np.zeros(len(sums.sheet), dtype=np.bool_)
    rows = np.arange(len(found))
    if len(rows) < 2:
        return found
    day = (sheets.cik[sums.sheet] << 32) | sheets.q[sums.sheet]
    filing = (sheets.cik[sums.sheet] << 32) | sheets.seq[sums.sheet]
    cash, assets = sheets.value("cash")[sums.sheet], sheets.value("assets")[sums.sheet]
    first = np.maximum.accumulate(np.where(np.append(True, day[1:] != day[:-1]), rows, 0))
    second, last = np.minimum(first + 1, rows), np.maximum(rows - 1, 0)
    least = np.minimum(np.minimum(cash[first], cash[second]), cash[last])
    outlier = (rows >= first + 2) & (cash > 0) & (cash < PART * least) & same(assets, assets[last], PART / 10)
    line, elements = sheets.rows[LINE["cash"], sums.sheet], sheets.stated.elements
    outlier &= are_equal(elements[:, line], elements[:, line[first]])
    if not outlier.any():
        return found
    found = np.isin(filing, filing[outlier])
    repeats = (day == day[last]) & (rows > 0) & (cash == cash[last])
    for _ in range(REPEATED):
        found |= np.isin(filing, filing[repeats & found[last]])
    return found
