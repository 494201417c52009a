"""The debt of a balance sheet without current and non-current parts, which shows borrowings by instrument.

Belongs here: which instruments add up to the debt. Does not: elements (elements.loans), classified balance sheets
(debt).

Banks, insurers, brokers and property companies show borrowings by instrument. For one filer `OtherBorrowings` is the
sum of advances and notes that it tags as well, for another it is a separate line. The balance sheet must add up, so the
debt is the set of lines that equals total liabilities less deposits, payables and other lines.
"""

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, Ints, smallest
from pipelines.normalize.balance.sheets import DEBT_LINES, LINE, BalanceSheets, same
from pipelines.normalize.balance.subset_sums import SubsetSums, subset_sums
from pipelines.normalize.elements.liabilities import LIABILITIES_NOT_DEBT
from pipelines.normalize.rule import Rule

ROUNDED_UNITS = 3
"""Several amounts that are each rounded to a unit may differ from their total by a few units."""

ROOM = 1.02
"""Debt may exceed liabilities less other lines by two per cent, because a payable may be stated twice."""

INSTRUMENTS = (
    "debt_advances",
    "debt_subordinated",
    "debt_junior",
    "debt_notes",
    "debt_secured",
    "debt_unsecured",
    "debt_bank_loans",
    "debt_revolver",
    "debt_other",
)
LOANS = ("debt_long_term", *INSTRUMENTS, "debt_short_term", "debt_credit_line")

TOTALS = {
    "debt_other": ("debt_advances", "debt_subordinated", "debt_junior", "debt_notes"),
    "debt_notes": ("debt_secured", "debt_unsecured", "debt_bank_loans", "debt_revolver"),
}
"""Lines that are, for some filers, the sum of other tagged lines."""

HARDLY_ALL = ("debt_subordinated", "debt_junior", "debt_revolver")
"""Lines that are hardly ever all of a company's debt: capital notes of banks, and credit lines of property companies
that bridge the time between two mortgages."""

NOT_BORROWED = tuple(concept.name for concept in LIABILITIES_NOT_DEBT)
"""Liabilities that are not borrowings, as negative amounts; some filers show them on the balance sheet, others in
notes."""

_UNCLASSIFIED = "balance sheets without current and non-current debt"

FILL_THE_LIABILITIES = Rule(
    "debt.instruments.fill-the-liabilities",
    "Debt is the largest set of instruments that, together with deposits, payables and other lines, adds up to total "
    "liabilities.",
    "us-gaap:Liabilities: the total of all liabilities, so its lines add up to it",
    "compose",
    _UNCLASSIFIED,
)
NOTHING_LEFT = Rule(
    "debt.zero.liabilities-without-debt",
    "Debt is zero if no instrument is stated and other lines add up to total liabilities.",
    "us-gaap:Liabilities: the total of all liabilities, so its lines add up to it",
    "compose",
    _UNCLASSIFIED,
)
PROVEN: tuple[Rule, ...] = (FILL_THE_LIABILITIES, NOTHING_LEFT)
"""The rules by which total liabilities prove the debt."""

LARGEST_SUM = Rule(
    "debt.instruments.largest-sum-without-double-counting",
    "If no sum is proved by the liabilities, debt is the largest sum of instruments that counts no amount twice and is "
    f"at most {ROOM - 1:.0%} more than other lines leave of the liabilities (one line: not more than all of them); "
    "drawn credit lines do not count, nor do subordinated, junior and revolving debt without other instruments.",
    "Regulation S-X Rule 9-03 and the definitions of the elements: no instrument is in two lines; measured: one amount "
    "under two elements is one borrowing",
    "compose",
    _UNCLASSIFIED,
)
FILED_AS_ZERO = Rule(
    "debt.filed-as-zero",
    "Debt is zero if all stated instruments are stated as zero.",
    "us-gaap: the definitions of the elements, for which zero is a statement",
    "compose",
    _UNCLASSIFIED,
)

RULES = (FILL_THE_LIABILITIES, NOTHING_LEFT, LARGEST_SUM, FILED_AS_ZERO)
"""The rules in the order in which they are tried."""

UNKNOWN = -1


def _bits(lines: tuple[str, ...]) -> int:
    return sum(1 << LOANS.index(line) for line in lines)


_LOAN_LINES = [LINE[line] for line in LOANS]
_NOT_BORROWED_LINES = [LINE[line] for line in NOT_BORROWED]
_CREDIT_LINE = _bits(("debt_credit_line",))
_ALL = (1 << len(LOANS)) - 1
_HARD = np.array([line != "debt_credit_line" for line in LOANS])
_SURE = np.array([line not in ("debt_credit_line", *HARDLY_ALL) for line in LOANS])


def _preferences() -> Ints:
    """For each set of LOANS its rank among sets with equal sums: fewer lines first, then by name."""
    named = [
        (members.bit_count(), [line for number, line in enumerate(LOANS) if members >> number & 1], members)
        for members in range(_ALL + 1)
    ]
    places = np.empty(len(named), dtype=np.int64)
    places[[members for *_, members in sorted(named)]] = np.arange(len(named))
    return places


_PREFERENCE = _preferences()


def may_be_known(sheets: BalanceSheets) -> Flags:
    """Whether a sheet has any instrument, or liabilities that may prove that there is no debt."""
    has_any = (sheets.rows[_LOAN_LINES] >= 0).any(axis=0)
    known: Flags = has_any | (sheets.has("liabilities") & sheets.has("not_borrowed"))
    return known


def instruments(sheets: BalanceSheets) -> tuple[Ints, Flags]:
    """The lines that are the debt of each sheet.

    First the lines that equal the liabilities less other lines, within rounding; if nothing is left and no instrument
    is stated, debt is zero. Otherwise the largest sum of lines that count no borrowing twice: no two equal amounts, no
    part together with its total, and not more than the liabilities allow; drawn credit lines count only if the
    liabilities prove them. Otherwise the lines that are filed as zero.

    Returns:
        for each sheet the place of its rule in RULES (UNKNOWN if none applies), and for each of sheets.DEBT_LINES
        (first axis) whether it is one of the lines.
    """
    chosen = np.zeros((len(DEBT_LINES), len(sheets)), dtype=np.bool_)
    decided = np.full(len(sheets), UNKNOWN, dtype=np.int64)
    if not len(sheets):
        return decided, chosen
    loans = sheets.values[_LOAN_LINES]
    sums = subset_sums(loans)
    proven, proof = _proven(sheets, loans, sums)
    best_proven, best_likely = _largest(sums, proven), _largest(sums, _is_likely(sheets, loans, sums))
    is_zero_proven = (best_proven >= 0) & (sums.total[best_proven] <= 0)
    filed_as_zero = (np.nan_to_num(loans) == 0).all(axis=0) & (loans[_SURE] == 0).any(axis=0)
    decided = np.select(
        [(best_proven >= 0) & ~is_zero_proven, is_zero_proven, best_likely >= 0, filed_as_zero],
        [RULES.index(rule) for rule in (FILL_THE_LIABILITIES, NOTHING_LEFT, LARGEST_SUM, FILED_AS_ZERO)],
        UNKNOWN,
    )
    subset = np.where(decided == RULES.index(FILL_THE_LIABILITIES), best_proven, best_likely)
    of_loans = (decided == RULES.index(FILL_THE_LIABILITIES)) | (decided == RULES.index(LARGEST_SUM))
    members = np.where(of_loans, sums.members[subset], 0)
    for number, line in enumerate(_LOAN_LINES):
        chosen[line] = (members >> number & 1) != 0
        if _SURE[number]:
            chosen[line] |= (decided == RULES.index(FILED_AS_ZERO)) & (loans[number] == 0)
    chosen[[LINE["liabilities"], LINE["not_borrowed"]]] = is_zero_proven
    for number, line in enumerate(_NOT_BORROWED_LINES):
        chosen[line] = is_zero_proven & ((proof[best_proven] >> number & 1) != 0)
    return decided, chosen


def _largest(sums: SubsetSums, allowed: Flags) -> Ints:
    """For each sheet the row of its largest allowed sum; of equal sums, the one with fewest lines; UNKNOWN if none."""
    best = np.full(len(sums.begins), UNKNOWN, dtype=np.int64)
    rows = np.flatnonzero(allowed)
    order = np.lexsort((_PREFERENCE[sums.members[rows]], -sums.total[rows], sums.sheet[rows]))
    sheets, first = np.unique(sums.sheet[rows][order], return_index=True)
    best[sheets] = rows[order][first]
    return best


def _proven(sheets: BalanceSheets, loans: Floats, sums: SubsetSums) -> tuple[Flags, Ints]:
    """Which sums equal the liabilities less some other lines.

    Returns:
        for each sum whether it does, and for such sums of zero or less the other lines of NOT_BORROWED (bits) that
        prove it; zero for all other sums.
    """
    left = sheets.value("liabilities") + sheets.value("not_borrowed")
    known = np.flatnonzero(~np.isnan(left))
    taken_off = subset_sums(sheets.values[_NOT_BORROWED_LINES][:, known])
    amount = np.round(left[known][taken_off.sheet] + taken_off.total)
    hard = np.fmax.reduce(np.nan_to_num(loans[_HARD]), axis=0)
    asked = np.flatnonzero(~np.isnan(left)[sums.sheet] & ((sums.total > 0) | (hard[sums.sheet] == 0)))
    below, above = _neighbours(known[taken_off.sheet], amount, taken_off.members, sums.sheet[asked], sums.total[asked])
    missed = np.full(len(asked), np.inf)
    for neighbour in (below, above):
        found = neighbour >= 0
        missed[found] = np.minimum(missed[found], np.abs(sums.total[asked][found] - amount[neighbour[found]]))
    unit = smallest(sheets.grain("liabilities"), sheets.grain("not_borrowed"))[sums.sheet[asked]]
    is_positive = sums.total[asked] > 0
    fits = np.where(is_positive, missed <= ROUNDED_UNITS * unit, missed == 0)
    proven = np.zeros(len(sums.total), dtype=np.bool_)
    proven[asked] = fits
    proof = np.zeros(len(sums.total), dtype=np.int64)
    of_zero = fits & ~is_positive
    # for an equal amount, the row below is the equal one
    proof[asked[of_zero]] = taken_off.members[below[of_zero]]
    return proven, proof


def _neighbours(
    sheet: Ints, amount: Floats, members: Ints, asked_sheet: Ints, asked_amount: Floats
) -> tuple[Ints, Ints]:
    """For each asked amount, the row of `amount` that is equal or next below, and the one next above; UNKNOWN if none.

    Of equal amounts the one with the smallest `members` is taken.
    """
    count = len(amount)
    order = np.lexsort(
        (
            np.concatenate([-members, np.zeros(len(asked_amount), dtype=np.int64)]),
            np.concatenate([np.zeros(count), np.ones(len(asked_amount))]),
            np.concatenate([amount, asked_amount]),
            np.concatenate([sheet, asked_sheet]),
        )
    )
    is_amount = order < count
    places = np.arange(len(order))
    before = np.maximum.accumulate(np.where(is_amount, places, UNKNOWN))
    after = np.minimum.accumulate(np.where(is_amount, places, len(order))[::-1])[::-1]
    found = []
    of_asked = np.flatnonzero(~is_amount)
    for nearest in (before[of_asked], after[of_asked]):
        inside = (nearest >= 0) & (nearest < len(order))
        row = np.where(inside, order[np.where(inside, nearest, 0)], UNKNOWN)
        asked = order[of_asked] - count
        row[inside] = np.where(sheet[row[inside]] == asked_sheet[asked[inside]], row[inside], UNKNOWN)
        in_order = np.full(len(asked), UNKNOWN, dtype=np.int64)
        in_order[asked] = row
        found.append(in_order)
    return found[0], found[1]


def _is_likely(sheets: BalanceSheets, loans: Floats, sums: SubsetSums) -> Flags:
    """Which sums count no amount twice and can be all of the debt."""
    conflicts = _conflicts(loans)
    count_twice = np.zeros(len(sums.total), dtype=np.bool_)
    for number in range(len(LOANS)):
        has = (sums.members >> number & 1) != 0
        count_twice |= has & ((sums.members & conflicts[number][sums.sheet]) != 0)
    liabilities = sheets.value("liabilities")
    left = liabilities + sheets.or_zero("not_borrowed")
    is_single = (sums.members & (sums.members - 1)) == 0
    too_much = sums.total > np.where(is_single, liabilities[sums.sheet], (left * ROOM)[sums.sheet])
    may_be_all = (sums.members & ~_bits(HARDLY_ALL)) != 0
    has_credit_line = (sums.members & _CREDIT_LINE) != 0
    likely: Flags = ~count_twice & ~too_much & may_be_all & ~has_credit_line
    return likely


def _conflicts(loans: Floats) -> Ints:
    """For each of LOANS and each sheet, the lines (bits) that may state the same borrowing."""
    bits = np.left_shift(1, np.arange(len(LOANS)))
    are_same = same(loans[:, None], loans[None, :])
    are_same &= np.triu(np.ones(are_same.shape[:2], dtype=np.bool_), k=1)[:, :, None]
    conflicts: Ints = (are_same * bits[None, :, None]).sum(axis=1)
    for total, lines in TOTALS.items():
        parts = _subset_bits(len(lines))
        amounts = np.nan_to_num(loans[[LOANS.index(line) for line in lines]])
        members = parts @ np.array([_bits((line,)) for line in lines])
        is_sum = same(loans[LOANS.index(total)], parts @ amounts)
        conflicts[LOANS.index(total)] |= np.bitwise_or.reduce(np.where(is_sum, members[:, None], 0), axis=0)
    whole, advances = LOANS.index("debt_long_term"), LOANS.index("debt_advances")
    conflicts[whole] |= _bits(tuple(line for line in INSTRUMENTS if line != "debt_advances"))
    conflicts[whole] |= np.where(loans[advances] <= loans[whole], _bits(("debt_advances",)), 0)
    return conflicts


def _subset_bits(count: int) -> Ints:
    """Every subset of some lines with more than one line, as rows of zeros and ones."""
    sets: Ints = np.arange(1 << count)[:, None] >> np.arange(count) & 1
    several: Ints = sets[sets.sum(axis=1) > 1]
    return several
