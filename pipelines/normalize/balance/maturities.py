"""Maturities that no line states: long-term debt alone, of which a part is due within a year.

Belongs here: what shows that non-current debt is not all of the debt. Does not: debt that is too little for the rest of
its balance sheet (unexplained); lines that are no longer stated (vanished).
"""

import numpy as np

from pipelines.normalize import arrays
from pipelines.normalize.arrays import NOTHING, SEQ_BITS, Flags, Floats, Ints
from pipelines.normalize.balance.before import QUARTERS, Before
from pipelines.normalize.balance.element_sets import set_of
from pipelines.normalize.balance.judged import contradiction
from pipelines.normalize.balance.sheets import LINE, BalanceSheets, same
from pipelines.normalize.balance.sums import Sums
from pipelines.normalize.industry.names import INDUSTRIES
from pipelines.normalize.rule import Rule

FELL_DUE, OF_NONCURRENT, OF_CURRENT = 0.1, 0.03, 0.03
"""What fell due is a tenth of long-term debt, which some filers use for its non-current part, or three hundredths of a
line that is non-current by definition. It is three hundredths of the current liabilities, in which less is lost among
other lines, such as what is owed to customers."""
ROSE_BY, MUST_NOT_EXCEED = 0.8, 1.2
"""The current liabilities rise by about what fell due; other lines move by little of it."""
MUST_NOT_EXCEED_IN_QUARTERS = 1.6
"""The same between two reports that follow each other."""
ROSE_BY_OF_NONCURRENT = 0.7, 4
"""The same for non-current debt, which falls only when debt becomes current or is paid before it is due: other lines
may move more. Measured: 50 of the 52 balance sheets that this adds lack debt that is due."""

EQUALLY = 0.02
"""Installments are equal, but for rounding and for discounts that grow."""
OF_UNIT = 10
"""Installments that differ by a unit are equal if they are at least so many units: debt is rounded twice."""
QUARTERS_A_YEAR = 4
RISES = 0.03
"""Non-current debt that rises by so much in a quarter is new debt, which may have replaced the installments; less are
discounts that grow, and debt in other currencies."""

WITHIN = 4
"""What fell due is paid within so many quarters, because current liabilities are due within a year."""

LITTLE_OF_DUE = 0.1
"""What moves by at most a tenth of what fell due did not fall due again."""
STAYS = 0.01
"""Long-term debt stays if it moves by at most a hundredth, by which discounts grow."""

FELL_DUE_ALONE = contradiction(
    "current_debt_not_shown",
    "debt.withheld.maturities-left-long-term-debt",
    f"Long-term debt alone is withheld if it is lower by {FELL_DUE:.0%} or more (non-current debt alone: "
    f"{OF_NONCURRENT:.0%}) than on the balance sheet of the report before, or of another day of its report, and the "
    f"current liabilities are higher by about as much ({ROSE_BY_OF_NONCURRENT[0]} to {ROSE_BY_OF_NONCURRENT[1]} times "
    f"as much), which is at least {OF_CURRENT:.0%} of them, because what fell due is no longer in it; also in the next "
    "reports of a year, until the current liabilities fall by about as much. Non-current debt that only annual reports "
    f"state is compared with the year end before, too ({FELL_DUE:.0%}; {ROSE_BY} to {MUST_NOT_EXCEED} times as much).",
    "Regulation S-X Rule 5-02.19 (current maturities are current liabilities); measured: 42 of 660 balance sheets with "
    "long-term debt alone, and 194 of 1,400 with non-current debt alone",
)
NEVER_STATED = contradiction(
    "current_debt_not_shown",
    "debt.withheld.current-debt-never-stated",
    "Non-current debt alone is withheld if two or more reports of the filer showed, against the report before, that "
    "debt became current, and since the newest of them no report states current debt or a total that includes it, or "
    "shows that non-current debt replaced it: the filer states it with no known element.",
    "Regulation S-X Rule 5-02.19, 5-02.20 (current debt is a line of the balance sheet); measured: 86 of 534 quarter "
    "ends with such debt alone, of four filers; those that can be looked up lack 2 to 24 %",
)
INSTALLMENTS = contradiction(
    "current_debt_not_shown",
    "debt.withheld.installments-without-line",
    "Non-current debt alone is withheld if it fell by the same amount in each of the last two quarters, four times "
    f"which are at least {OF_NONCURRENT:.0%} of it: the installments of the next year are current debt. So it is in "
    f"the next quarters, until it falls due, rises by {RISES:.0%} or more in a quarter, or does not fall for a year.",
    "Regulation S-X Rule 5-02.19 (current maturities are current liabilities); measured: 24 of 534 quarter ends with "
    "non-current debt alone, and 10 with long-term debt alone",
)
OF_LENDER = contradiction(
    "current_debt_not_shown",
    "debt.withheld.lender-without-current-debt",
    "Non-current debt alone of a company that owns the lender to its buyers is withheld if current liabilities are "
    "stated: a lender owes commercial paper and maturities within a year.",
    "Regulation S-X Rule 5-02.19 (current debt is a line of the balance sheet); measured: 18 year ends, of one filer; "
    "the four that can be looked up lack 29 to 36 %",
)
OF_FINANCIAL = contradiction(
    "short_term_debt_not_shown",
    "debt.withheld.financial-company-without-short-term-debt",
    "Long-term debt alone of a bank, broker or other financial company is withheld if its filing states neither total "
    "liabilities nor deposits, so that nothing shows whether it has short-term borrowings.",
    "Regulation S-X Rule 9-03.13, 9-03.16 (short-term borrowings and long-term debt are lines of their own); measured: "
    "125 of 172 quarter ends with such debt alone, of two filers, of which those that can be looked up lack 2 to 15 %",
)
OF_MATURITIES = (FELL_DUE_ALONE, NEVER_STATED, INSTALLMENTS, OF_LENDER, OF_FINANCIAL)
RULES: tuple[Rule, ...] = tuple(each.rule for each in OF_MATURITIES)

OF_DEPOSITS = set_of(["Deposits", "InterestBearingDepositLiabilities", "NoninterestBearingDepositLiabilities"])
"""Elements of deposits. A bank that states one of them has few other lines of liabilities."""

LENDER = INDUSTRIES.index("captive_finance")
FINANCIAL = [INDUSTRIES.index(industry) for industry in ("bank", "broker", "financial")]

NONCURRENT_PARTS = [LINE[line] for line in ("debt_noncurrent", "debt_noncurrent_instrument")]
TOTALS = [LINE[line] for line in ("debt_long_term", "debt_all")]
"""Lines that include current debt."""
LONG_TERM_LINES = (
    (LINE["debt_long_term"], FELL_DUE, ROSE_BY, MUST_NOT_EXCEED),
    *((line, OF_NONCURRENT, *ROSE_BY_OF_NONCURRENT) for line in NONCURRENT_PARTS),
)
"""The lines of long-term debt from which maturities leave, the least share of each that is seen, and how many times of
it the current liabilities rise, at least and at most."""
CURRENT_PARTS = [
    LINE[line]
    for line in (
        "debt_current_maturities",
        "debt_current_instrument",
        "debt_short_term",
        "debt_short_term_loans",
        "debt_current",
    )
]


def fell_due(sheets: BalanceSheets, before: Before, sums: Sums) -> tuple[Flags, Flags]:
    """Whether one line of long-term debt is all of the debt, and what it fell by is in the current liabilities.

    Returns:
        for each sheet whether it is so, and whether non-current debt fell so since the report before.
    """
    current = sheets.value("liabilities_current")
    found, since_report = (np.zeros(len(sheets), dtype=np.bool_) for _ in range(2))
    for line, least, rose_by, must_not_exceed in LONG_TERM_LINES:
        alone, amount = is_alone(sheets, sums, line), sheets.values[line]
        if not alone.any():
            continue
        due = np.zeros(len(sheets))
        is_of_year = _is_of_year_ends(sheets, before, amount)
        for place, quarters, most in (
            (before.in_filing, 3, MUST_NOT_EXCEED),
            (before.in_filing_before, 2, MUST_NOT_EXCEED_IN_QUARTERS),
            (before.after_in_filing, QUARTERS, MUST_NOT_EXCEED),
        ):
            asked = np.flatnonzero((place >= 0) & alone)
            other = place[asked]
            fell, rose = amount[other] - amount[asked], current[asked] - current[other]
            is_due = (fell >= least * amount[other]) & (fell >= OF_CURRENT * current[asked]) & (fell > 0)
            is_due &= (rose >= rose_by * fell) & (rose <= max(most, must_not_exceed) * fell)
            apart = np.abs(sheets.q[asked] - sheets.q[other])
            is_near = apart <= quarters
            if place is before.in_filing and line in NONCURRENT_PARTS:
                is_alike = (fell >= FELL_DUE * amount[other]) & (rose >= ROSE_BY * fell) & (rose <= most * fell)
                is_near |= is_of_year[asked] & is_alike
            is_due &= is_near
            due[asked] = np.fmax(due[asked], np.where(is_due, fell, 0))
            if place is before.in_filing_before and line in NONCURRENT_PARTS:
                since_report[asked[is_due]] = True
        if due.any():
            found |= _until_paid(sheets, before, amount, alone, due)
    return found, since_report


def _is_of_year_ends(sheets: BalanceSheets, before: Before, amount: Floats) -> Flags:
    """Whether the older sheet of a filing is a year older, and the report before does not state the line."""
    older, last = before.in_filing, before.in_filing_before
    is_silent = (last < 0) | np.isnan(amount[last])
    found: Flags = (older >= 0) & (sheets.q - sheets.q[older] == QUARTERS_A_YEAR) & is_silent
    return found


def never_stated(sheets: BalanceSheets, before: Before, sums: Sums, fell: Flags) -> Flags:
    """Whether non-current debt is alone, reports showed twice that debt became current, and none shows its end since.

    Args:
        fell: whether non-current debt fell and the current liabilities rose since the report before (fell_due).
    """
    found = np.zeros(len(sheets), dtype=np.bool_)
    filing = (sheets.cik << SEQ_BITS) | sheets.seq
    shown = np.unique(filing[fell])
    shown = shown[1:][(shown[1:] >> SEQ_BITS) == (shown[:-1] >> SEQ_BITS)]  # from the second one on
    if len(shown):
        ends = np.logical_or.reduce(sheets.rows[[*CURRENT_PARTS, *TOTALS]] >= 0)
        current, last = sheets.value("liabilities_current"), before.in_filing_before
        for line in NONCURRENT_PARTS:
            alone, amount = is_alone(sheets, sums, line), sheets.values[line]
            found |= alone
            rose, paid = amount - amount[last], current[last] - current
            is_replaced = alone & (last >= 0) & (rose >= OF_NONCURRENT * amount)
            ends |= is_replaced & (paid >= ROSE_BY * rose) & (paid <= MUST_NOT_EXCEED * rose)
        newest_shown, newest_end = (_newest(each, filing) for each in (shown, np.unique(filing[ends])))
        found &= (newest_shown >> SEQ_BITS == sheets.cik) & (newest_shown > newest_end)
    return found


def _newest(filings: Ints, filing: Ints) -> Ints:
    """The newest of some filings (company and place) up to each filing; it may be of another company."""
    newest: Ints = np.append([NOTHING], filings)[np.searchsorted(filings, filing, side="right")]
    return newest


def falls_equally(sheets: BalanceSheets, before: Before, sums: Sums, fell: Flags) -> Flags:
    """Whether a non-current line is all of the debt, and fell by the same in each of the last two quarters.

    Installments are still owed in the next quarters, whatever the line falls by, until it falls due or rises, or a year
    has passed since it fell. The filing may repeat the balance sheet of a report before, which could not know.

    Args:
        fell: whether maturities left the line of long-term debt that is all of the debt (fell_due).
    """
    last = before.in_filing_before
    older = np.where(last >= 0, last[last], NOTHING)
    is_next = (last >= 0) & (sheets.q - sheets.q[last] == 1)
    are_quarters = is_next & (older >= 0) & (sheets.q - sheets.q[older] == 2)
    found, owes = (np.zeros(len(sheets), dtype=np.bool_) for _ in range(2))
    for line in (*NONCURRENT_PARTS, LINE["debt_long_term"]):
        amount, alone = sheets.values[line], is_alone(sheets, sums, line)
        if line not in NONCURRENT_PARTS:
            alone &= _since(sheets, fell & alone)
        paid, paid_before = amount[last] - amount, amount[older] - amount[last]
        unit = arrays.picked(sheets.stated.grain, sheets.rows[line])
        are_equal = same(paid, paid_before, EQUALLY)
        are_equal |= (np.abs(paid - paid_before) <= unit) & (paid >= OF_UNIT * unit)
        falls, stays = is_next & alone & (paid > 0), is_next & alone & (paid > -RISES * amount[last])
        found |= falls & are_quarters & are_equal & (QUARTERS_A_YEAR * paid >= OF_NONCURRENT * amount)
        for _ in range(WITHIN - 1):
            falls |= stays & falls[last]
        owes |= falls & ~fell
    found = spread(found, last, owes)
    earlier, by = before_installments(sheets, before, sums, found, fell)
    again = before.in_filing[by]
    is_repeated = (again >= 0) & (sheets.q[again] == sheets.q[earlier])
    for line in (*NONCURRENT_PARTS, LINE["debt_long_term"]):
        is_same = is_alone(sheets, sums, line)[again] & (sheets.values[line][again] == sheets.values[line][earlier])
        found[again[is_repeated & is_same]] = True
    return found


def before_installments(
    sheets: BalanceSheets, before: Before, sums: Sums, found: Flags, fell: Flags
) -> tuple[Ints, Ints]:
    """The sheets of the reports before, back to the one since which the line that is all of the debt always fell.

    Args:
        found: the sheets that show installments (falls_equally).
        fell: whether maturities left the line (fell_due), as far as to which it is followed.

    Returns:
        the places of the sheets, and those of the sheets that show the installments.
    """
    last = before.in_filing_before
    is_next = (last >= 0) & (sheets.q - sheets.q[last] == 1) & ~fell
    falls = np.zeros(len(sheets), dtype=np.bool_)
    for line in (*NONCURRENT_PARTS, LINE["debt_long_term"]):
        amount, alone = sheets.values[line], is_alone(sheets, sums, line)
        falls |= is_next & alone & alone[last] & (amount < amount[last])
    by = np.flatnonzero(found & (last >= 0))
    each, pairs = last[by], []
    while len(each):
        pairs.append((each, by))
        goes_on = falls[each]
        each, by = last[each[goes_on]], by[goes_on]
    if not pairs:
        return by, by
    earlier, shown_by = (np.concatenate(of_all) for of_all in zip(*pairs, strict=True))
    return earlier, shown_by


def _since(sheets: BalanceSheets, shown: Flags) -> Flags:
    """The sheets of the first filing of a company that shows something, and of its later filings."""
    filing = (sheets.cik << SEQ_BITS) | sheets.seq
    since: Flags = _newest(np.unique(filing[shown]), filing) >> SEQ_BITS == sheets.cik
    return since


def lacks_current_debt(sheets: BalanceSheets, sums: Sums, industry: Ints) -> Flags:
    """Whether non-current debt is all of the debt of a filer that owns the lender to its buyers."""
    alone = np.logical_or.reduce([is_alone(sheets, sums, line) for line in NONCURRENT_PARTS])
    lacks: Flags = alone & sheets.has("liabilities_current") & (industry == LENDER)
    return lacks


def lacks_short_term_debt(sheets: BalanceSheets, sums: Sums, industry: Ints) -> Flags:
    """Whether long-term debt is all of the debt of a financial company that states no liabilities and no deposits."""
    alone = is_alone(sheets, sums, LINE["debt_long_term"]) & np.isin(industry, FINANCIAL)
    lacks: Flags = alone & ~sheets.has("liabilities") & ~sheets.is_stated_by("not_borrowed", OF_DEPOSITS)
    return lacks


def spread(found: Flags, place: Ints, where: Flags) -> Flags:
    """What was found on a sheet, and on those of some sheets whose `place` names it or a sheet that follows so."""
    while True:
        also = found | (where & (place >= 0) & found[place])
        if np.array_equal(also, found):
            return found
        found = also


def is_alone(sheets: BalanceSheets, sums: Sums, line: int) -> Flags:
    """Whether a line of long-term debt is all of the debt, and no current or other non-current part is stated."""
    others = np.bincount(sums.part_sum, sums.part_line != line, len(sums.sheet))
    is_alone = np.zeros(len(sheets), dtype=np.bool_)
    is_alone[sums.sheet] = others == 0
    parts = [part for part in (*NONCURRENT_PARTS, *CURRENT_PARTS) if part != line]
    is_alone &= ~np.logical_or.reduce(sheets.rows[parts] >= 0)
    return is_alone


def _until_paid(sheets: BalanceSheets, before: Before, whole: Floats, is_alone: Flags, due: Floats) -> Flags:
    """The sheets on which maturities are due, and the next ones until the current liabilities fall by as much.

    What falls due before the maturities of earlier sheets are paid is added to them.

    Args:
        whole: the line of long-term debt.
        is_alone: whether it is all of the debt.
        due: what fell due before a sheet; zero for other sheets.
    """
    current = sheets.value("liabilities_current")
    since, place = sheets.q, before.in_filing_before
    for _ in range(WITHIN):
        moved = np.abs(whole - whole[place])
        stays = (place >= 0) & (moved <= np.fmax(STAYS * whole[place], LITTLE_OF_DUE * due))
        since = np.where(stays, np.minimum(since, since[place]), since)
    owed, of_day = due, before.of_day
    while (is_silent := (of_day >= 0) & np.isnan(whole[of_day])).any():
        of_day = np.where(is_silent, before.of_day[of_day], of_day)
    while True:
        carried = np.zeros(len(sheets))
        for place in (before.in_filing_before, of_day):
            paid, left = current[place] - current, owed[place]
            is_left = (left > 0) & ~((paid >= ROSE_BY * left) & (paid <= MUST_NOT_EXCEED * left))
            is_left &= (place >= 0) & is_alone & (sheets.q - since[place] < WITHIN)
            since = np.where(is_left & (due == 0), since[place], since)
            carried = np.where(is_left, np.fmax(carried, left), carried)
        if np.array_equal(due + carried, owed):
            return owed > 0
        owed = due + carried
