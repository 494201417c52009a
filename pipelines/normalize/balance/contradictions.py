"""Contradictions: facts of the filing, or of the balance sheets before, that rule out a debt or cash that was added up.

Belongs here: judging a sum, whichever lines it has. Does not: how lines add up (debt, cash), lines that are no longer
stated (vanished), which filing counts for a day (restated).

A balance sheet foots, so debt cannot change while the liabilities and the other lines stay, and cash cannot while the
current assets stay. A sum is compared with the other balance sheet of its filing and with that of the filing before,
as known when it was filed. It is withheld only if all comparisons that are possible contradict it.
"""

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, Ints
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
from pipelines.normalize.balance.footing import of_all_current_assets
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
    OF_MATURITIES,
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
    BalanceSheets,
    same,
    total_liabilities,
)
from pipelines.normalize.balance.sums import Sums
from pipelines.normalize.balance.unexplained import (
    MOSTLY_UNEXPLAINED,
    NO_TOTAL,
    OF_THE_REST,
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

SECURITIES_OF_CASH = [LINE[line] for line in ("short_term_investments", "cash_total")]
"""The lines with which cash includes securities."""

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

OF_NO_SHEET = (NO_ASSETS, NO_SHEET)
"""What withholds an amount because the day has no balance sheet."""

ALL: tuple[Contradiction, ...] = (
    NO_ASSETS,
    NO_SHEET,
    NEGATIVE,
    OTHER_SCALE,
    FINER,
    FELL,
    DEBT_EXCEEDS,
    TOTAL_EXCEEDS,
    PART_EXCEEDS,
    DEBT_MOVED_ALONE,
    CASH_EXCEEDS,
    CASH_EXCEEDS_FLOWS,
    CASH_MOVED_ALONE,
    CASH_APART_FROM_FLOWS,
    TOTAL_AGREED_BEFORE,
    LEFT_OUT,
    *OF_MATURITIES,
    *OF_THE_REST,
    OF_PART,
)
RULES: tuple[Rule, ...] = tuple(each.rule for each in ALL)
REASONS: tuple[str, ...] = tuple(dict.fromkeys(each.reason for each in ALL))

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
    agreed = np.logical_or.reduce([apart & equal_before(equal, apart, before) for equal, apart in totals])
    fell, since_report = fell_due(sheets, before, sums)
    large = has_large_maturities_without_line(sheets)[sums.sheet] & ~_has_part(sums, "debt_noncurrent")
    total_exceeds = is_alone(sheets, sums, LINE["debt_long_term"]) & exceeds_room(sheets, debt)
    installments = spread(falls_equally(sheets, before, sums, fell), before.of_day, before.of_day >= 0)
    holds = {
        **_of_both(sheets, before, sums, debt, DEBT_CANDIDATES),
        DEBT_EXCEEDS: exceeds.found[sums.sheet],
        TOTAL_EXCEEDS: total_exceeds[sums.sheet],
        PART_EXCEEDS: apart.found[sums.sheet],
        UNNAMED_MATURITIES: large,
        DEBT_MOVED_ALONE: moved.found[sums.sheet] & ~is_proven,
        TOTAL_AGREED_BEFORE: agreed[sums.sheet],
        UNEXPLAINED: is_likely & leaves_more(sheets, sums, debt, liabilities)[sums.sheet],
        WITHOUT_ITS_INTEREST: is_likely & lacks_debt_of_interest(sheets, before, sums, debt, liabilities),
        WITHOUT_ITS_PROCEEDS: ~is_proven & lacks_debt_of_proceeds(sheets, debt, liabilities)[sums.sheet],
        MOSTLY_UNEXPLAINED: ~is_proven & leaves_most(sheets, debt, liabilities)[sums.sheet],
        FELL_DUE_ALONE: fell[sums.sheet],
        NEVER_STATED: never_stated(sheets, before, sums, since_report)[sums.sheet],
        INSTALLMENTS: installments[sums.sheet],
        OF_LENDER: lacks_current_debt(sheets, sums, industry)[sums.sheet],
        OF_FINANCIAL: lacks_short_term_debt(sheets, sums, industry)[sums.sheet],
        NO_TOTAL: is_a_part(sheets, sums)[sums.sheet],
        LEFT_OUT: _lacks_line(sheets, before, sums, debt, liabilities, OTHER_LIABILITIES)[sums.sheet],
    }
    is_zero = is_proven & (sums.value == 0)
    return Judged.of({each: found & ~is_zero for each, found in holds.items()}, (exceeds, apart, moved))


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
    # the line of cash may include restricted cash, as that of the cash flow statement does
    asked = moved.found | _lacks_line(sheets, before, sums, cash, current, OTHER_THAN_CASH)
    adds_up = np.logical_or.reduce(of_all_current_assets(sheets, (cash, cash - line + of_flows), asked))
    holds = {
        **_of_both(sheets, before, sums, cash, CASH_CANDIDATES),
        NO_SHEET: _has_no_sheet(sheets, sums)[sums.sheet],
        OF_PART: is_part(sheets, sums),
        CASH_EXCEEDS: exceeds.found[sums.sheet],
        CASH_EXCEEDS_FLOWS: of_line.found[sums.sheet],
        CASH_MOVED_ALONE: (moved.found & ~adds_up)[sums.sheet],
        CASH_APART_FROM_FLOWS: apart.found[sums.sheet],
        # no line is missing where the current assets add up with the cash as it is
        LEFT_OUT: (asked & ~moved.found & ~adds_up)[sums.sheet],
    }
    return Judged.of(holds, (exceeds, of_line, moved, apart))


def exceeds_room(sheets: BalanceSheets, debt: Floats) -> Flags:
    """Whether debt exceeds what lines that are stated apart from it, and from each other, leave of the liabilities."""
    known = np.abs(np.nan_to_num(sheets.values[_APART])).sum(axis=0)
    includes_benefits = sheets.is_stated_by("noncurrent_pensions", _ALL_BENEFITS)
    known -= np.where(includes_benefits, np.abs(sheets.or_zero("noncurrent_benefits")), 0)
    found: Flags = debt > (sheets.value("liabilities") - known) * ROUNDED
    return found & sheets.has("liabilities_current")


def _of_both(
    sheets: BalanceSheets, before: Before, sums: Sums, balance: Floats, candidates: Ints
) -> dict[Contradiction, Flags]:
    """The contradictions of debt and of cash, with where each is found among the sums."""
    return {
        NO_ASSETS: ~sheets.has("assets")[sums.sheet],
        NEGATIVE: any_line(sheets.values[candidates] < 0)[sums.sheet],
        OTHER_SCALE: in_other_units(sheets, before, balance)[sums.sheet],
        FINER: is_finer(sheets, sums, candidates),
        FELL: fell_to_a_thousandth(sheets, before, balance, candidates)[sums.sheet],
    }


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


def _part(sheets: BalanceSheets, sums: Sums, lines: list[int]) -> Floats:
    """What some lines add to each sum of debt; NaN for sheets without a sum."""
    amounts = np.where(np.isin(sums.part_line, lines), sheets.stated.value[sums.part_row], 0.0)
    part = np.full(len(sheets), np.nan)
    part[sums.sheet] = np.bincount(sums.part_sum, amounts, len(sums.sheet))
    return part


def _has_part(sums: Sums, line: str) -> Flags:
    """Whether a line is part of each sum."""
    found: Flags = np.bincount(sums.part_sum, sums.part_line == LINE[line], len(sums.sheet)) > 0
    return found


def any_line(of_lines: Flags) -> Flags:
    """Whether something holds for any line (first axis) of each sheet."""
    found: Flags = np.logical_or.reduce(of_lines, axis=0)
    return found
