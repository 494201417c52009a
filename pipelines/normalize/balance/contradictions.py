"""Contradictions: facts of the filing, or of the balance sheets before, that rule out a debt or cash that was added up.

Belongs here: judging a sum, whichever lines it has. Does not: how lines add up (debt, cash), lines that are no longer
stated (vanished), which filing counts for a day (restated).

A balance sheet foots, so debt cannot change while the liabilities and the other lines stay, and cash cannot while the
current assets stay. A sum is compared with the other balance sheet of its filing and with that of the filing before,
as known when it was filed. It is withheld only if all comparisons that are possible contradict it.
"""

import numpy as np

from pipelines.normalize.arrays import NOTHING, Flags, Floats, Ints
from pipelines.normalize.balance.before import (
    FELL_WITH_IT,
    Before,
    Readings,
    all_of_those_asked,
    equal_before,
    moved_alone,
    room,
)
from pipelines.normalize.balance.element_sets import set_of
from pipelines.normalize.balance.footing import (
    Proof,
    is_one_digit,
    of_all_current_assets,
    of_current_assets,
    of_noncurrent_liabilities,
)
from pipelines.normalize.balance.instruments import ROOM
from pipelines.normalize.balance.judged import Comparison, Contradiction, Judged, contradiction
from pipelines.normalize.balance.maturities import (
    CURRENT_PARTS,
    FELL_DUE_ALONE,
    INSTALLMENTS,
    NEVER_STATED,
    NONCURRENT_PARTS,
    OF_FINANCIAL,
    OF_LENDER,
    falls_equally,
    fell_due,
    is_alone,
    lacks_current_debt,
    lacks_short_term_debt,
    never_stated,
    spread,
)
from pipelines.normalize.balance.part_lines import OF_PART, is_part
from pipelines.normalize.balance.sheets import (
    CASH_LINES,
    DEBT_LINES,
    LINE,
    SAME_MONEY,
    BalanceSheets,
    same,
    total_liabilities,
)
from pipelines.normalize.balance.sums import Sums
from pipelines.normalize.balance.unexplained import (
    MOSTLY_UNEXPLAINED,
    NO_TOTAL,
    REPEATED,
    TWO_READINGS,
    UNEXPLAINED,
    UNNAMED_MATURITIES,
    WITHOUT_ITS_INTEREST,
    WITHOUT_ITS_PROCEEDS,
    has_large_maturities_without_line,
    is_a_part,
    lacks_debt_of_interest,
    lacks_debt_of_proceeds,
    leaves_more,
    leaves_most,
    maturities_repeat_noncurrent,
    may_include_short_term,
)
from pipelines.normalize.balance.units import fell_to_a_thousandth, in_other_units, is_finer
from pipelines.normalize.elements.cash import CASH_CONTROLS, OTHER_CURRENT_ASSETS
from pipelines.normalize.elements.liabilities import DEBT_CONTROLS
from pipelines.normalize.rule import Rule

ROUNDED = 1.005
"""An amount may exceed a total that includes it by half a per cent, for rounding; on 3,000 balance sheets cash never
did."""


LEAST_PART = 0.01
"""A missing line counts if it was at least a hundredth of the sum."""

ROUNDED_LINES = 5
"""Lines that are each rounded to a unit exceed their total by at most so many units."""

LINES_OF_CASH = ("cash", "cash_total")
SECURITIES_OF_CASH = [LINE[line] for line in ("short_term_investments", "cash_total")]
"""The lines with which cash includes securities."""
LEAST_DIGITS = 5
"""Two amounts of cash of so many digits are hardly equal by chance; securities may stay as they are."""

Totals = list[tuple[Flags, Flags]]
"""For each of the filer's own totals the sheets on which it is equal to debt, and those on which it contradicts it."""


_FOOTS = "ASC 210-10-45-1, 210-10-45-5 (totals of a balance sheet)"

NO_ASSETS = contradiction(
    "not_on_balance_sheet",
    "balance.withheld.no-total-assets",
    "A balance is not taken for a day for which the filing states no total assets: such figures are from the notes or "
    "from the cash flow statement.",
    "Regulation S-X Rule 5-02.18 (total assets are a line of every balance sheet)",
)
NO_SHEET = contradiction(
    "not_on_balance_sheet",
    "cash.withheld.no-balance-sheet-with-securities",
    "Cash without short-term investments is not taken for a day for which the filing states no current assets and no "
    "liabilities, if its balance sheets of other days show short-term investments that are part of cash there.",
    "Regulation S-X Rule 5-02.2 (marketable securities are a line of the balance sheet); measured: the other figures "
    "of such days are total assets of segments, equity, and cash of the cash flow statement",
)
NEGATIVE = contradiction(
    "negative_line",
    "balance.withheld.negative-line",
    "Debt and cash are withheld if one of their lines is negative.",
    "ASC 210-20-45-1 (assets and liabilities are not set off); measured: no such line on 13,000 balance sheets",
)
DEBT_EXCEEDS = contradiction(
    "debt_not_footing",
    "debt.withheld.exceeds-liabilities",
    "Total debt is withheld if it exceeds the total liabilities.",
    "us-gaap:Liabilities: the total of all liabilities",
)
TOTAL_EXCEEDS = contradiction(
    "debt_not_footing",
    "debt.withheld.total-exceeds-its-room",
    "Total debt of a filer that states current liabilities is withheld if it is the filer's total of long-term debt, "
    "no line states its current or non-current part, and it exceeds what trade payables, accrued liabilities, pensions "
    "and other benefits after employment and "
    f"other non-current liabilities leave of the total liabilities, by more than {ROUNDED - 1:.1%}: a total of the "
    "notes alone may be the principal.",
    "Regulation S-X Rule 5-02.19 to 5-02.24 (separate lines of a balance sheet); measured: 1 of 69 such totals, which "
    "is 1.4 % above the lines of its balance sheet",
)
PART_EXCEEDS = contradiction(
    "debt_not_footing",
    "debt.withheld.part-exceeds-its-liabilities",
    "Total debt is withheld if its current part exceeds the current liabilities, or its non-current part the "
    "non-current liabilities (total less current).",
    f"{_FOOTS}; measured: 2 of 2,000 balance sheets with these totals, one of which tags all long-term debt as "
    "non-current and the other a note to the balance sheet",
)
DEBT_MOVED_ALONE = contradiction(
    "debt_not_footing",
    "debt.withheld.liabilities-did-not-move",
    "Total debt is withheld if it changed by a tenth or more since the balance sheets before and the liabilities, "
    "less other known lines, did not follow.",
    f"{_FOOTS}; measured: 4 of 1,600 balance sheets with these totals",
)
TOTAL_AGREED_BEFORE = contradiction(
    "debt_not_footing",
    "debt.withheld.total-agreed-before",
    "Total debt is withheld if the filer's own total differs from it by more than one per cent, and was equal to it on "
    "the balance sheets before.",
    "us-gaap:LongTermDebt, us-gaap:DebtLongtermAndShorttermCombinedAmount: totals by definition; measured: 4 of 250 "
    "balance sheets after such ones",
)
FOOTED_BEFORE = contradiction(
    "debt_not_footing",
    "debt.withheld.footed-before",
    "Debt by instrument is withheld if the liabilities do not prove it, and proved it on the balance sheets before, "
    "because then a line is wrong or missing.",
    "us-gaap:Liabilities: the total of all liabilities; measured: 1 of 300 balance sheets after proved ones",
)
NONCURRENT_DIGIT = contradiction(
    "debt_not_footing",
    "debt.withheld.noncurrent-one-digit",
    "Total debt is withheld if its non-current part and the lines that added up to the non-current liabilities on the "
    "balance sheets before miss them by a single digit followed by zeros.",
    f"{_FOOTS}; measured: none of 570 balance sheets after such ones",
)
NONCURRENT_ABOVE = contradiction(
    "debt_not_footing",
    "debt.withheld.noncurrent-above-total",
    "Total debt is withheld if its non-current part and the lines that added up to the non-current liabilities on the "
    f"balance sheets before exceed them by more than {ROUNDED_LINES} units and {SAME_MONEY:.1%} of it: no line that is "
    "missing can explain it.",
    f"{_FOOTS}; measured: none of 600 balance sheets after such ones",
)
CASH_ABOVE = contradiction(
    "cash_not_footing",
    "cash.withheld.above-total",
    "Cash is withheld if it and the lines that added up to the current assets on the balance sheets before exceed them "
    f"by more than {ROUNDED_LINES} units and {SAME_MONEY:.1%} of it: no line that is missing can explain it.",
    f"{_FOOTS}; measured: none of 570 balance sheets after such ones",
)
CASH_DIGIT = contradiction(
    "cash_not_footing",
    "cash.withheld.one-digit",
    "Cash is withheld if it and the lines that added up to the current assets on the balance sheets before miss them "
    "by a single digit followed by zeros.",
    f"{_FOOTS}; measured: none of 510 balance sheets after such ones",
)
CASH_EXCEEDS = contradiction(
    "cash_not_footing",
    "cash.withheld.exceeds-current-assets",
    "Cash is withheld if it exceeds the current assets, or without them the total assets.",
    _FOOTS,
)
CASH_EXCEEDS_FLOWS = contradiction(
    "cash_not_footing",
    "cash.withheld.exceeds-cash-of-flows",
    "Cash is withheld if the line of cash exceeds the cash at the end of the cash flow statement, which includes it, "
    "unless the latter is that line less bank overdrafts.",
    "ASC 230-10-45-4, 230-10-50-8; measured: no such line on 3,700 balance sheets",
)
CASH_MOVED_ALONE = contradiction(
    "cash_not_footing",
    "cash.withheld.current-assets-did-not-move",
    "Cash is withheld if it changed by a tenth or more since the balance sheets before and the current assets, "
    "less other known lines, did not follow.",
    f"{_FOOTS}; measured: none of 1,250 balance sheets with these totals",
)
CASH_APART_FROM_FLOWS = contradiction(
    "cash_not_footing",
    "cash.withheld.cash-of-flows-did-not-move",
    "Cash is withheld if the line of cash changed by a tenth or more since the balance sheets before and the cash "
    "at the end of the cash flow statement did not follow.",
    "ASC 230-10-45-4; measured: none of 1,100 balance sheets with this figure",
)
CASH_REPEATED = contradiction(
    "cash_not_footing",
    "cash.withheld.amount-of-the-day-before",
    f"Cash is withheld if its line, of {LEAST_DIGITS} digits or more, is to the last digit that of a balance sheet "
    "before, total assets are others, and the current assets do not prove it: an older amount is stated for this day.",
    "Measured: none of 7,100 lines of two balance sheets",
)
OTHER_SCALE = contradiction(
    "sheet_in_other_units",
    "balance.withheld.sheet-in-other-units",
    "Debt and cash are withheld if total assets are about a thousandth or a millionth of those before and the balance "
    "fell by the same factor, because the balance sheet is in thousands or millions.",
    "Measured: two balance sheets of 8,300, both filed in other units",
)

FINER = contradiction(
    "line_in_other_units",
    "balance.withheld.line-finer-than-filing",
    "Debt and cash are withheld if one of their lines is stated in units a hundred times finer than every other amount "
    "of its filing's balance sheets that is no debt or no cash, so that it is a thousandth of the true amount.",
    "Measured: no such line on 12,000 balance sheets",
)
FELL = contradiction(
    "line_in_other_units",
    "balance.withheld.line-a-thousandth",
    "Debt and cash are withheld if one of their lines is about a thousandth of what the balance sheets before state "
    "for it, and total assets are of the same size.",
    "Measured: none of 12,000 balance sheets",
)
LEFT_OUT = contradiction(
    "line_left_out",
    "balance.withheld.line-left-out",
    "Debt and cash are withheld if a line that was part of them on all balance sheets before that they can be compared "
    f"with is missing, the sum fell, and no total fell by the line (at least {LEAST_PART:.0%} of the sum).",
    "Regulation S-X Rule 5-02.2, 5-02.19, 5-02.22 (lines of the balance sheet); measured: none of 12,000 sheets",
)

_OF_BOTH = (NO_ASSETS, NEGATIVE, OTHER_SCALE, FINER, FELL)
OF_DEBT: tuple[Contradiction, ...] = (
    *_OF_BOTH,
    DEBT_EXCEEDS,
    TOTAL_EXCEEDS,
    PART_EXCEEDS,
    UNNAMED_MATURITIES,
    DEBT_MOVED_ALONE,
    TOTAL_AGREED_BEFORE,
    UNEXPLAINED,
    WITHOUT_ITS_INTEREST,
    WITHOUT_ITS_PROCEEDS,
    MOSTLY_UNEXPLAINED,
    FELL_DUE_ALONE,
    NEVER_STATED,
    INSTALLMENTS,
    OF_LENDER,
    OF_FINANCIAL,
    NO_TOTAL,
    TWO_READINGS,
    REPEATED,
    FOOTED_BEFORE,
    NONCURRENT_DIGIT,
    NONCURRENT_ABOVE,
    LEFT_OUT,
)
OF_CASH: tuple[Contradiction, ...] = (
    *_OF_BOTH,
    NO_SHEET,
    OF_PART,
    CASH_EXCEEDS,
    CASH_EXCEEDS_FLOWS,
    CASH_MOVED_ALONE,
    CASH_APART_FROM_FLOWS,
    CASH_DIGIT,
    CASH_ABOVE,
    CASH_REPEATED,
    LEFT_OUT,
)

OF_NO_SHEET = (NO_ASSETS, NO_SHEET)
"""What withholds an amount because the day has no balance sheet."""

RULES: tuple[Rule, ...] = tuple(dict.fromkeys(each.rule for each in (*OF_DEBT, *OF_CASH)))
REASONS: tuple[str, ...] = tuple(dict.fromkeys(each.reason for each in (*OF_DEBT, *OF_CASH)))

_CONTROLS = {concept.name for concept in (*DEBT_CONTROLS, *CASH_CONTROLS)}
DEBT_CANDIDATES, CASH_CANDIDATES = (
    np.array([LINE[line] for line in lines if line not in _CONTROLS]) for lines in (DEBT_LINES, CASH_LINES)
)
"""The lines that can be debt, and those that can be cash."""

OTHER_LIABILITIES = (
    ("not_borrowed",),
    (
        "not_borrowed",
        "not_borrowed_contracts",
        "not_borrowed_people",
        "not_borrowed_taxes",
        "noncurrent_deferred_taxes",
    ),
)
"""Liabilities whose changes are taken off, in several readings, because one line may be a part of another."""

_APART = [
    LINE[line]
    for line in (
        "current_payables",
        "current_accrued",
        "noncurrent_pensions",
        "noncurrent_benefits",
        "noncurrent_other",
    )
]
"""Lines of liabilities of which none is a part of another, but for _ALL_BENEFITS."""

_ALL_BENEFITS = set_of(["PensionAndOtherPostretirementDefinedBenefitPlansLiabilitiesNoncurrent"])
"""The line of pensions that includes other benefits."""

OTHER_THAN_CASH = ((), tuple(concept.name for concept in OTHER_CURRENT_ASSETS))
"""Current assets whose changes are taken off, in several readings."""


def of_debt(
    sheets: BalanceSheets,
    before: Before,
    sums: Sums,
    totals: Totals,
    is_proven: Flags,
    is_likely: Flags,
    industry: Ints,
) -> Judged:
    """The judgement of each sum of debt.

    Args:
        totals: for each of the filer's own totals on which sheets it is the debt, and where it contradicts it.
        is_proven: for each sum whether the liabilities prove it.
        is_likely: for each sum of instruments whether the liabilities do not.
        industry: for each sheet the place of its filer's industry in INDUSTRIES.
    """
    debt = _by_sheet(sheets, sums)
    liabilities = total_liabilities(sheets)
    most = np.where(np.isnan(liabilities), sheets.value("assets"), liabilities)
    exceeds = Comparison(DEBT_EXCEEDS.rule, ~np.isnan(debt + most), debt > most * ROOM, debt, most)
    moved = moved_alone(DEBT_MOVED_ALONE, sheets, before, debt, liabilities, OTHER_LIABILITIES)
    part, within = _part(sheets, sums, NONCURRENT_PARTS), _part(sheets, sums, CURRENT_PARTS)
    current = sheets.value("liabilities_current")
    room = sheets.value("liabilities") - current
    is_over = (part > np.maximum(room, 0) * ROUNDED) | (within > current * ROUNDED)
    apart = Comparison(PART_EXCEEDS.rule, ~np.isnan(part + room) | ~np.isnan(within + current), is_over, part, room)
    part = np.where((part > 0) & ~np.isnan(room), part, np.nan)
    proof = of_noncurrent_liabilities(sheets, part)
    noncurrent = _digit_is_wrong(NONCURRENT_DIGIT, before, part, proof)
    above = _is_above_total(NONCURRENT_ABOVE, before, part, proof)
    fell, since_report = fell_due(sheets, before, sums)
    holds = (
        *_of_both(sheets, before, sums, debt, DEBT_CANDIDATES),
        exceeds.found[sums.sheet],
        (is_alone(sheets, sums, LINE["debt_long_term"]) & exceeds_room(sheets, debt))[sums.sheet],
        apart.found[sums.sheet],
        has_large_maturities_without_line(sheets)[sums.sheet] & ~_has_part(sums, "debt_noncurrent"),
        moved.found[sums.sheet] & ~is_proven,
        np.logical_or.reduce([apart & equal_before(equal, apart, before) for equal, apart in totals])[sums.sheet],
        is_likely & leaves_more(sheets, sums, debt, liabilities)[sums.sheet],
        is_likely & lacks_debt_of_interest(sheets, before, sums, debt, liabilities),
        ~is_proven & lacks_debt_of_proceeds(sheets, debt, liabilities)[sums.sheet],
        ~is_proven & leaves_most(sheets, debt, liabilities)[sums.sheet],
        fell[sums.sheet],
        never_stated(sheets, before, sums, since_report)[sums.sheet],
        spread(falls_equally(sheets, before, sums, fell), before.of_day, before.of_day >= 0)[sums.sheet],
        lacks_current_debt(sheets, sums, industry)[sums.sheet],
        lacks_short_term_debt(sheets, sums, industry)[sums.sheet],
        is_a_part(sheets, sums)[sums.sheet],
        may_include_short_term(sheets, sums) & ~is_proven,
        maturities_repeat_noncurrent(sheets, sums),
        is_likely & _proven_before(sheets, before, sums, is_proven)[sums.sheet],
        noncurrent.found[sums.sheet],
        above.found[sums.sheet],
        _lacks_line(sheets, before, sums, debt, liabilities, OTHER_LIABILITIES)[sums.sheet],
    )
    is_zero = is_proven & (sums.value == 0)
    found = np.where(is_zero, NOTHING, np.select(holds, range(len(OF_DEBT)), NOTHING))
    return Judged(OF_DEBT, found, (exceeds, apart, moved, noncurrent, above))


def of_cash(sheets: BalanceSheets, before: Before, sums: Sums) -> Judged:
    """The judgement of each sum of cash."""
    cash = _by_sheet(sheets, sums)
    line, of_flows, current = sheets.value("cash"), sheets.value("cash_of_flows"), sheets.value("current_assets")
    most = np.where(np.isnan(current), sheets.value("assets"), current)
    exceeds = Comparison(CASH_EXCEEDS.rule, ~np.isnan(cash + most), cash > most * ROUNDED, cash, most)
    is_more = (line > of_flows * ROUNDED) & ~same(line - sheets.value("bank_overdrafts"), of_flows)
    of_line = Comparison(CASH_EXCEEDS_FLOWS.rule, ~np.isnan(line + of_flows), is_more, line, of_flows)
    moved = moved_alone(CASH_MOVED_ALONE, sheets, before, cash, current, OTHER_THAN_CASH)
    apart = moved_alone(CASH_APART_FROM_FLOWS, sheets, before, line, of_flows, ((),))
    proof = of_current_assets(sheets, cash)
    # the line of cash may include restricted cash, as that of the cash flow statement does
    lacks = _lacks_line(sheets, before, sums, cash, current, OTHER_THAN_CASH) & ~proof.holds
    readings = (cash, cash - line + of_flows)
    repeated = _repeats(sheets, before, sums, np.array([LINE[line] for line in LINES_OF_CASH])) & ~proof.holds
    is_proven = np.logical_or.reduce(of_all_current_assets(sheets, readings, moved.found | lacks | repeated))
    footed = _digit_is_wrong(CASH_DIGIT, before, cash, proof)
    above = _is_above_total(CASH_ABOVE, before, cash, proof)
    comparisons = (exceeds, of_line, moved, apart, footed, above)
    holds = (
        *_of_both(sheets, before, sums, cash, CASH_CANDIDATES),
        _has_no_sheet(sheets, sums)[sums.sheet],
        is_part(sheets, sums),
        exceeds.found[sums.sheet],
        of_line.found[sums.sheet],
        (moved.found & ~is_proven)[sums.sheet],
        apart.found[sums.sheet],
        footed.found[sums.sheet],
        above.found[sums.sheet],
        (repeated & ~is_proven)[sums.sheet],
        # no line is missing where the current assets add up with the cash as it is
        (lacks & ~is_proven)[sums.sheet],
    )
    found = np.select(holds, range(len(OF_CASH)), NOTHING)
    return Judged(OF_CASH, found, comparisons)


def exceeds_room(sheets: BalanceSheets, debt: Floats) -> Flags:
    """Whether debt exceeds what lines that are stated apart from it, and from each other, leave of the liabilities."""
    known = np.abs(np.nan_to_num(sheets.values[_APART])).sum(axis=0)
    includes_benefits = sheets.is_stated_by("noncurrent_pensions", _ALL_BENEFITS)
    known -= np.where(includes_benefits, np.abs(sheets.or_zero("noncurrent_benefits")), 0)
    found: Flags = debt > (sheets.value("liabilities") - known) * ROUNDED
    return found & sheets.has("liabilities_current")


def _of_both(
    sheets: BalanceSheets, before: Before, sums: Sums, balance: Floats, candidates: Ints
) -> tuple[Flags, Flags, Flags, Flags, Flags]:
    """The conditions of _OF_BOTH for each sum."""
    return (
        ~sheets.has("assets")[sums.sheet],
        any_line(sheets.values[candidates] < 0)[sums.sheet],
        in_other_units(sheets, before, balance)[sums.sheet],
        is_finer(sheets, sums, candidates),
        fell_to_a_thousandth(sheets, before, balance, candidates)[sums.sheet],
    )


def _by_sheet(sheets: BalanceSheets, sums: Sums) -> Floats:
    values = np.full(len(sheets), np.nan)
    values[sums.sheet] = sums.value
    return values


def is_of_balance_sheet(judged: Judged) -> Flags:
    """Whether each sum is from a balance sheet; a later one with fewer lines does not replace it."""
    places = [judged.table.index(each) for each in OF_NO_SHEET if each in judged.table]
    found: Flags = ~np.isin(judged.contradiction, places)
    return found


def _has_no_sheet(sheets: BalanceSheets, sums: Sums) -> Flags:
    """Whether a day has no line of a balance sheet but cash, and cash of other days of its filing has securities."""
    filing = (sheets.cik << 32) | sheets.seq
    is_sheet = sheets.has("current_assets") | sheets.has("liabilities") | sheets.has("liabilities_current")
    securities = sheets.value("short_term_investments")
    shows = is_sheet & (securities >= LEAST_PART * (sheets.or_zero("cash") + securities))
    has_part = np.zeros(len(sheets), dtype=np.bool_)
    has_part[sums.sheet[sums.part_sum[np.isin(sums.part_line, SECURITIES_OF_CASH)]]] = True
    shows &= (securities > 0) & has_part
    states = sheets.has("short_term_investments") | sheets.has("cash_total")
    found: Flags = ~is_sheet & ~states & np.isin(filing, filing[shows])
    return found


def _lacks_line(
    sheets: BalanceSheets, before: Before, sums: Sums, balance: Floats, total: Floats, readings: Readings
) -> Flags:
    """Whether a line that is part of the sum of every sheet before is missing, and the balance fell by it.

    If the total that includes the balance followed, the line is zero.
    """
    is_part = np.zeros(sheets.rows.shape, dtype=np.bool_)
    is_part[sums.part_line, sums.sheet[sums.part_sum]] = True
    with np.errstate(invalid="ignore"):
        is_part &= sheets.values >= LEAST_PART * balance
    lines = np.flatnonzero(is_part.any(axis=1))
    stated, is_part, amounts = sheets.rows[lines] >= 0, is_part[lines], sheets.values[lines]
    current, of_current = sheets.value("liabilities_current"), np.isin(lines, CURRENT_PARTS)
    asked, lacks = [], []
    for place in (before.in_filing, before.in_filing_before):
        newer = np.flatnonzero((place >= 0) & ~np.isnan(balance) & ~np.isnan(balance[place]))
        older = place[newer]
        change = balance[newer] - balance[older]
        line = amounts[:, older]
        rest = np.full(len(newer), -np.inf)
        for others in readings:
            rest = np.fmax(rest, room(sheets, total, others, newer, older) - change)
        # without a total nothing shows that the line is zero
        is_left = (rest >= FELL_WITH_IT * line) | np.isinf(rest)
        is_gone = np.isinf(rest) & (current[newer] - current[older] - change < FELL_WITH_IT * line)
        is_left &= ~(of_current[:, None] & is_gone)
        is_asked, found = (np.zeros(stated.shape, dtype=np.bool_) for _ in range(2))
        is_asked[:, newer] = True
        found[:, newer] = is_part[:, older] & ~stated[:, newer] & (change < 0) & is_left
        asked.append(is_asked)
        lacks.append(found)
    return any_line(all_of_those_asked(asked, lacks))


def _repeats(sheets: BalanceSheets, before: Before, sums: Sums, candidates: Ints) -> Flags:
    """Whether a line of the sum has several digits and is exactly that of a sheet before, but total assets are not."""
    is_part = np.zeros(sheets.rows.shape, dtype=np.bool_)
    is_part[sums.part_line, sums.sheet[sums.part_sum]] = True
    rows, amounts = sheets.rows[candidates], sheets.values[candidates]
    unit = np.where(rows >= 0, sheets.stated.grain[rows], np.nan)
    has_digits = is_part[candidates] & (np.abs(amounts) >= 10 ** (LEAST_DIGITS - 1) * unit)
    assets = sheets.value("assets")
    found = np.zeros(len(sheets), dtype=np.bool_)
    for place in (before.in_filing, before.in_filing_before):
        newer = np.flatnonzero((place >= 0) & (np.abs(assets - assets[place]) > 0))
        repeats = has_digits[:, newer] & (amounts[:, newer] == amounts[:, place[newer]])
        found[newer] |= np.logical_or.reduce(repeats, axis=0)
    return found


def _proven_before(sheets: BalanceSheets, before: Before, sums: Sums, is_proven: Flags) -> Flags:
    """Whether the liabilities prove the debt of every sheet before that has debt."""
    has, proven = (np.zeros(len(sheets), dtype=np.bool_) for _ in range(2))
    has[sums.sheet], proven[sums.sheet] = True, is_proven
    asked = [(place >= 0) & has[place] for place in (before.in_filing, before.in_filing_before)]
    found = [(place >= 0) & proven[place] for place in (before.in_filing, before.in_filing_before)]
    return all_of_those_asked(asked, found)


def _part(sheets: BalanceSheets, sums: Sums, lines: list[int]) -> Floats:
    """What some lines add to each sum of debt; NaN for sheets without a sum."""
    amounts = np.where(np.isin(sums.part_line, lines), sheets.stated.value[sums.part_row], 0.0)
    part = np.full(len(sheets), np.nan)
    part[sums.sheet] = np.bincount(sums.part_sum, amounts, len(sums.sheet))
    return part


def _digit_is_wrong(contradiction: Contradiction, before: Before, balance: Floats, proof: Proof) -> Comparison:
    """Whether a balance lacks one digit to add up with the lines that add up on every sheet before."""
    asked, wrong = [], []
    for place in (before.in_filing, before.in_filing_before):
        left = proof.left(place)
        asked.append((place >= 0) & ~np.isnan(proof.missing[place]) & ~np.isnan(proof.missing))
        wrong.append(asked[-1] & is_one_digit(left, proof.unit))
    contradicts = all_of_those_asked(asked, wrong) & ~proof.holds
    return Comparison(contradiction.rule, proof.holds, contradicts, balance, balance)


def _is_above_total(contradiction: Contradiction, before: Before, balance: Floats, proof: Proof) -> Comparison:
    """Whether a balance and the lines that add up on every sheet before exceed the total by more than rounding."""
    asked, wrong = [], []
    for place in (before.in_filing, before.in_filing_before):
        left = proof.left(place)
        asked.append(~np.isnan(left))
        wrong.append(left < -np.maximum(ROUNDED_LINES * proof.unit, SAME_MONEY * np.abs(balance)))
    contradicts = all_of_those_asked(asked, wrong) & ~proof.holds
    return Comparison(contradiction.rule, proof.holds, contradicts, balance, balance)


def _has_part(sums: Sums, line: str) -> Flags:
    """Whether a line is part of each sum."""
    found: Flags = np.bincount(sums.part_sum, sums.part_line == LINE[line], len(sums.sheet)) > 0
    return found


def any_line(of_lines: Flags) -> Flags:
    """Whether something holds for any line (first axis) of each sheet."""
    found: Flags = np.logical_or.reduce(of_lines, axis=0)
    return found
