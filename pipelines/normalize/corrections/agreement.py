"""Agreement: replaces or withholds amounts of an income statement that other figures of the same filing contradict.

Belongs here: net income, earnings per share, shares and revenue, compared with figures that equal them in the company's
other periods. Does not: signs (signs), statements that foot (footing), powers of a thousand (scale), figures of other
periods (contexts).

Only the same filing and earlier ones are used, so that what was known on a day does not depend on later filings.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Flags, Floats, any_of
from pipelines.normalize.corrections.contexts import UNITS_OF_SUM
from pipelines.normalize.corrections.figures import (
    CENT_ROUNDING,
    COMMON,
    COUNTS,
    EARNINGS,
    MANY_OTHERS,
    NEARLY_ALL,
    OF_INCOME,
    OPERATING,
    PARENT,
    PER_SHARE,
    PRETAX,
    PROFIT,
    RESTATED,
    SIMILAR,
    TAX,
    Figures,
    PeriodRows,
    Proposal,
    first_known,
)
from pipelines.normalize.corrections.signs import FROM_INCOME, FROM_PROFIT, retained
from pipelines.normalize.elements import BY_NAME
from pipelines.normalize.rule import Rule

OTHERS_OF_REVENUE = ("other_revenue", "revenue_of_bank", "revenue_by_expenses")
REVENUE, PREFERRED = "revenue", "preferred_dividends"

ROUNDED = 0.002
"""Largest difference, as a share, between two figures of one amount that are rounded to millions."""
SMALLEST_EARNINGS = 0.1
"""Smaller earnings per share do not contradict anything: rounding to a cent changes them by more than a twentieth."""
OF_SHARES = 0.04
"""Earnings per share times shares equal net income within this share of it, and within the rounding of the earnings:
participating securities take little."""
PARTICIPATING = 0.0155
"""Amount by which earnings per share may be lower, for dividends on unvested shares and for rounding: AAR's 0.20 of
fiscal 2019 is 0.22 by net income over shares."""
NEARLY, APART = 0.01, 0.015
"""If earnings per share times shares were within the first share of net income in nearly all other periods, a
difference of more than the second share is a contradiction."""
DILUTION = 1.3
"""Diluted shares hardly ever exceed basic shares by more than this factor."""
USUAL_DILUTION = 1.02
"""In most periods, diluted shares are at most this multiple of basic shares. A diluted count within it is not withheld
if the basic figures agree with net income."""

SUMS = tuple(rank for rank, source in enumerate(BY_NAME[EARNINGS].sources) if source.plus)
"""Ranks of the sources that compute earnings per share as the sum of continuing and discontinued operations."""
ADJUSTED = tuple(rank for rank, source in enumerate(BY_NAME[COUNTS[1]].sources) if len(source.elements) > 1)
"""Ranks of the sources of diluted shares that add an adjustment to basic shares."""
LESS_MINORITIES = tuple(rank for rank, source in enumerate(BY_NAME[PROFIT].sources) if source.minus)
"""Ranks of the sources of consolidated net income that subtract the income of minorities."""

BY_OTHERS = "two other figures of the filing agree with each other, as they do with this one in other periods"
BY_CONTRADICTION = "another figure of the filing, which equals this one in other periods, contradicts it"

BY_TWO_OTHERS = Rule(
    "correction.agreement.by-two-others",
    "Net income, revenue or earnings per share that nothing in the filing confirms are replaced by a figure that "
    "equals them in other periods, if a second agrees; earnings per share in cents or wrongly summed by income over "
    "shares.",
    "ASC 260-10-45-10; Regulation S-X Rule 5-03: the lines of the income statement foot",
    "correct",
)
CONTRADICTED = Rule(
    "correction.agreement.contradicted",
    "Net income, revenue, earnings per share or average shares are left out if no other figure of the filing and "
    "period confirms them and one that equals them in the company's other periods contradicts them.",
    BY_TWO_OTHERS.source,
    "withhold",
)
DILUTED_BELOW_BASIC = Rule(
    "correction.agreement.diluted-below-basic",
    "If average diluted shares are below basic shares, the average that differs from net income over earnings per "
    "share is left out; if this decides nothing, the one that is less like the company's last average.",
    "ASC 260-10-45-16 and 260-10-45-17: potential shares are added, and left out where they are antidilutive",
    "withhold",
)
ADJUSTMENT_IS_COUNT = Rule(
    "correction.agreement.adjustment-is-diluted-count",
    "An adjustment for dilution about as large as average basic shares is itself the diluted average, and is not "
    "added to them, unless net income over diluted earnings per share equals the sum.",
    "ASC 260-10-45-16: potential shares are added to the shares outstanding; an adjustment is not the whole count",
    "correct",
)


@dataclass(frozen=True, slots=True)
class Equal:
    """A figure that usually equals another one.

    amount, tolerance: the figure, and the largest difference at which another one is equal.
    apart: differences up to this amount are no contradiction.
    is_exact: whether it can replace the other figure.
    is_proof: whether it contradicts the other figure on its own, without a second figure that agrees with it.
    """

    amount: Floats
    tolerance: Floats
    is_exact: bool = True
    is_proof: bool = True
    apart: Floats | float = 0.0

    def agrees(self, amount: Floats) -> Flags:
        """Whether an amount equals this figure within the tolerance."""
        return _equal(amount, self.amount, self.tolerance)


def compared(rows: PeriodRows, amount: Floats, others: list[Equal]) -> tuple[Floats, Flags]:
    """Compare an amount with figures that usually equal it, the exact ones first.

    A figure contradicts the amount if it differs from it, but equals it in most other periods of the company. It
    replaces the amount if one other contradicting figure agrees with it. If it has no record of equality in other
    periods, two others must agree with it.

    Returns:
        the amounts, replaced where the right one is known and NaN where it is not; and whether a figure equals the
        amount.
    """
    known = [~np.isnan(amount + each.amount + each.tolerance) for each in others]
    agrees = [each.agrees(amount) for each in others]
    is_confirmed = any_of(agrees)
    against = [
        rows.usually_holds(is_known, does) & is_known & ~is_confirmed & ~_equal(amount, each.amount, each.apart)
        for is_known, does, each in zip(known, agrees, others, strict=True)
    ]
    right, is_wrong = np.full(len(amount), np.nan), np.zeros(len(amount), dtype=np.bool_)
    for one, other in enumerate(others):
        support = np.zeros(len(amount), dtype=np.int64)
        for another, second in enumerate(others):
            loose = np.fmax(other.tolerance, second.tolerance)
            support += (another != one) & against[another] & _equal(other.amount, second.amount, loose)
        is_wrong |= against[one] & (other.is_proof | (support > 0))
        replaces = (against[one] & (support > 0)) | (known[one] & ~is_confirmed & (support > 1))
        replaces &= BY_TWO_OTHERS.where(other.is_exact & (other.amount != 0))
        right = np.where(replaces & np.isnan(right), other.amount, right)
    return np.where(is_wrong & np.isnan(right), np.nan, first_known(right, amount)), is_confirmed


def _replaced(rows: PeriodRows, name: str, right: Floats) -> list[Proposal]:
    """Proposals to replace the figures of a concept by the right amounts, and to leave them out where these are NaN."""
    amount, is_unknown = rows[name], np.isnan(right)
    return [
        rows.propose(BY_TWO_OTHERS, BY_OTHERS, name, ~is_unknown & (right != amount), right / amount),
        rows.propose(CONTRADICTED, BY_CONTRADICTION, name, is_unknown & ~np.isnan(amount), np.nan),
    ]


def _equal(left: Floats, right: Floats, tolerance: Floats | float) -> Flags:
    return abs(left - right) <= tolerance


def _rounding(rows: PeriodRows, name: str) -> Floats:
    """The largest difference between a figure and an equal one that rounding explains."""
    return ROUNDED * np.abs(rows[name]) + UNITS_OF_SUM * rows.grain(name)


def proposals_for_income(figures: Figures) -> list[Proposal]:
    """Correct or leave out net income of the parent and to common, then earnings per share and average shares."""
    rows = PeriodRows.of(figures, (*OF_INCOME, PREFERRED))
    parent, common, preferred = rows[PARENT], rows[COMMON], rows[PREFERRED]
    in_cents = _in_cents(rows)
    by_basic, by_diluted = (
        Equal(
            np.where(in_cents, np.nan, rows[earnings] * rows[count]),
            OF_SHARES * np.abs(parent) + CENT_ROUNDING * rows[count],
            is_exact=False,
        )
        for earnings, count in zip(PER_SHARE, COUNTS, strict=True)
    )
    # income to common below net income of the parent, confirmed by earnings per share: preferred dividends are the
    # difference
    is_preferred = (by_basic.agrees(common) | by_diluted.agrees(common)) & (common < parent)
    right_parent, _ = compared(rows, parent, [*_equals_of_parent_income(rows), by_basic, by_diluted])
    right_parent, rounding = np.where(is_preferred, parent, right_parent), _rounding(rows, COMMON)
    equals = [Equal(right, rounding, is_proof=False) for right in (right_parent, right_parent - preferred)]
    right_common, is_confirmed = compared(rows, common, [*equals, by_basic, by_diluted])
    less = right_parent - np.nan_to_num(preferred)
    is_of_parent = _equal(less, by_basic.amount, NEARLY * np.abs(less) + CENT_ROUNDING * rows[COUNTS[0]])
    is_of_parent &= ~is_confirmed & ~np.isnan(common)
    # amounts without their signs, which other rules correct
    incomes = np.abs(np.where(is_of_parent, less, right_common)), np.abs(right_parent)
    return [
        *_replaced(rows, PARENT, right_parent),
        rows.propose(
            BY_TWO_OTHERS,
            "earnings per share times shares are net income of the parent less preferred dividends",
            COMMON,
            is_of_parent,
            less / common,
        ),
        *_replaced(rows, COMMON, np.where(is_of_parent, common, right_common)),
        *_proposals_for_shares(rows, incomes, in_cents),
    ]


def _equals_of_parent_income(rows: PeriodRows) -> list[Equal]:
    """The exact figures that usually equal net income of the parent."""
    rounding = _rounding(rows, PARENT)
    profit = np.where(rows.is_of(PARENT, FROM_PROFIT), np.nan, rows[PROFIT])
    after_tax = np.where(rows.is_of(PRETAX, FROM_INCOME), np.nan, rows[PRETAX]) - rows[TAX]
    # income before tax less tax still includes minorities
    is_less = rows.is_of(PROFIT, LESS_MINORITIES)
    has_minorities = is_less & ~_equal(after_tax, profit, rounding)
    return [
        Equal(rows[COMMON], rounding, is_proof=False),
        *(Equal(np.where(holds, profit, np.nan), rounding) for holds in (is_less, ~is_less)),
        Equal(np.where(has_minorities, np.nan, after_tax), rounding),
        Equal(retained(rows), rounding, is_proof=False),
    ]


def _equals_income(
    per_share: Floats, shares: Floats, incomes: tuple[Floats, Floats], share: float, cents: float
) -> Flags:
    """Whether earnings per share times shares equal net income.

    Args:
        per_share, shares: earnings per share and average shares, both basic or both diluted, without their signs.
        incomes: net income to common and net income of the parent, without their signs; either may be equal.
        share, cents: the largest difference is this share of net income plus this amount per share.
    """
    return any_of([_equal(per_share * shares, income, share * income + cents * shares) for income in incomes])


def _in_cents(rows: PeriodRows) -> Flags:
    """Whether earnings per share are in cents: times shares, they are a hundred times net income, or a hundredth of it.

    Both the basic and the diluted figures must show it.
    """
    incomes = [np.abs(rows[name]) for name in (COMMON, PARENT)]
    found = np.ones_like(rows[PARENT], dtype=np.bool_)
    for earnings, count in zip(PER_SHARE, COUNTS, strict=True):
        each, product = np.abs(rows[earnings]), np.abs(rows[earnings] * rows[count])
        is_large = np.fmax(each, first_known(*incomes) / rows[count]) >= SMALLEST_EARNINGS
        scaled = [_equal(product * times, income, OF_SHARES * income) for times in (100, 0.01) for income in incomes]
        found &= is_large & any_of(scaled)
    return found


def _contradicts_income(rows: PeriodRows, per_share: Floats, shares: Floats, incomes: tuple[Floats, Floats]) -> Flags:
    """Whether earnings per share times shares differ from net income, although they equal it in other periods.

    A difference counts if it is beyond OF_SHARES, and most other periods are within it. If nearly all other periods are
    within NEARLY, a difference beyond APART counts. Earnings per share below SMALLEST_EARNINGS are not compared.

    Args:
        rows: the figures of each filing and period.
        per_share, shares, incomes: as for _equals_income.
    """
    income = first_known(*incomes)
    known = ~np.isnan(income * per_share * shares) & (np.fmax(per_share, income / shares) >= SMALLEST_EARNINGS)
    loose, strict, near = (
        _equals_income(per_share, shares, incomes, share, cents)
        for share, cents in ((OF_SHARES, PARTICIPATING), (NEARLY, CENT_ROUNDING), (APART, PARTICIPATING))
    )
    is_strict = rows.usually_holds(known, strict, MANY_OTHERS, NEARLY_ALL)
    return known & ((rows.usually_holds(known, loose) & ~loose) | (is_strict & ~near))


def _proposals_for_shares(rows: PeriodRows, incomes: tuple[Floats, Floats], in_cents: Flags) -> list[Proposal]:
    """Correct or leave out earnings per share and average shares whose product contradicts net income.

    Basic earnings per share are replaced by net income over basic shares if both then fit the diluted figures. Basic
    shares are left out if they alone do not fit the diluted figures; otherwise both basic figures are left out. Diluted
    shares are left out unless the basic figures agree with net income and the diluted shares are near the basic ones;
    they are corrected if the adjustment added to basic shares is itself the diluted count (ADJUSTMENT_IS_COUNT).

    Args:
        rows: the figures of each filing and period.
        incomes: net income to common and net income of the parent, corrected and without their signs.
        in_cents: whether earnings per share are stated in cents (_in_cents).
    """
    (basic_shares, diluted_shares), (basic_eps, diluted_eps) = (
        [np.abs(rows[name]) for name in names] for names in (COUNTS, PER_SHARE)
    )
    pairs, income = ((basic_eps, basic_shares), (diluted_eps, diluted_shares)), first_known(*incomes)
    # both products agree with each other, but not with net income: the filer divides another income by the shares
    is_other_income = _equal(
        basic_eps * basic_shares, diluted_eps * diluted_shares, OF_SHARES * basic_eps * basic_shares
    )
    is_other_income &= ~any_of([_equals_income(*pair, incomes, APART, PARTICIPATING) for pair in pairs])
    bad_basic, bad_diluted = (
        (_contradicts_income(rows, *pair, incomes) & ~is_other_income) | in_cents for pair in pairs
    )
    basic_holds = _equals_income(basic_eps, basic_shares, incomes, OF_SHARES, PARTICIPATING)
    is_wrong_sum = rows.is_of(EARNINGS, SUMS) & ~basic_holds & ~np.isnan(basic_eps * basic_shares * income)
    bad_basic |= is_wrong_sum
    adjustment = diluted_shares - basic_shares
    adjustment_is_count = rows.is_of(COUNTS[1], ADJUSTED) & _equal(adjustment, basic_shares, SIMILAR * basic_shares)
    adjustment_is_count &= ~_equals_income(diluted_eps, diluted_shares, incomes, OF_SHARES, PARTICIPATING)

    def fits_diluted(shares: Floats) -> Flags:
        """Whether a basic count fits the diluted one; true where no diluted count is known."""
        return ~((shares < diluted_shares / DILUTION) | (shares * (1 - RESTATED) > diluted_shares))

    def is_like_diluted(per_share: Floats) -> Flags:
        """Whether basic earnings per share are like diluted ones."""
        return _equal(per_share, diluted_eps, SIMILAR * diluted_eps + CENT_ROUNDING)

    right_eps = np.round(income / basic_shares, 2)
    is_shown = is_like_diluted(income / basic_shares) | np.isnan(diluted_eps) | in_cents | is_wrong_sum
    corrected = bad_basic & fits_diluted(basic_shares) & is_shown & (right_eps != 0)
    corrected &= ~(is_like_diluted(basic_eps) & fits_diluted(income / basic_eps))
    count_errs = bad_basic & ~fits_diluted(basic_shares) & is_like_diluted(basic_eps)
    unclear = bad_basic & ~corrected & ~count_errs
    # the income of diluted earnings may be adjusted, so these cannot disprove a count slightly above the basic one
    is_usual_count = (diluted_shares >= basic_shares) & (diluted_shares <= USUAL_DILUTION * basic_shares)
    is_usual_count |= ~is_like_diluted(basic_eps) & fits_diluted(basic_shares)
    return [
        rows.propose(BY_TWO_OTHERS, BY_OTHERS, EARNINGS, corrected, right_eps / basic_eps),
        rows.propose(CONTRADICTED, BY_CONTRADICTION, EARNINGS, unclear, np.nan),
        rows.propose(CONTRADICTED, BY_CONTRADICTION, COUNTS[0], count_errs | unclear, np.nan),
        rows.propose(
            ADJUSTMENT_IS_COUNT,
            "the adjustment is like basic shares",
            COUNTS[1],
            adjustment_is_count,
            adjustment / diluted_shares,
        ),
        rows.propose(
            CONTRADICTED,
            BY_CONTRADICTION,
            COUNTS[1],
            bad_diluted & ~adjustment_is_count & ~(basic_holds & is_usual_count) & ~in_cents,
            np.nan,
        ),
        *_proposals_for_dilution(
            rows, pairs, incomes, (diluted_shares < (1 - RESTATED) * basic_shares) & ~bad_basic & ~bad_diluted
        ),
    ]


def _proposals_for_dilution(
    rows: PeriodRows, pairs: tuple[tuple[Floats, Floats], ...], incomes: tuple[Floats, Floats], is_below: Flags
) -> list[Proposal]:
    """Where average diluted shares are below basic shares, leave out the count that is wrong.

    Args:
        rows: the figures of each filing and period.
        pairs: basic earnings per share and shares, then diluted ones, without their signs.
        incomes: as for _equals_income.
        is_below: whether diluted shares are below basic shares, and neither count contradicts net income.
    """
    fits = [_equals_income(*pair, incomes, ROUNDED, CENT_ROUNDING) for pair in pairs]
    # the last counts: of an earlier period in the same filing, or of an earlier filing
    counts = pl.DataFrame({"company": rows.company, **{name: rows[name] for name in COUNTS}}, nan_to_null=True)
    last = counts.select(pl.col(COUNTS).forward_fill().shift(1).over("company"))
    off = [np.abs(np.log(rows[name] / last[name].to_numpy())) for name in COUNTS]
    shows = (fits[0] != fits[1]) & ~np.isnan(pairs[0][0] * pairs[1][0])
    return [
        rows.propose(
            DILUTED_BELOW_BASIC,
            BY_CONTRADICTION,
            name,
            is_below & np.where(shows, fits[other], ~(off[other] > off[one])),
            np.nan,
        )
        for one, other, name in ((1, 0, COUNTS[1]), (0, 1, COUNTS[0]))
    ]


def proposals_for_revenue(figures: Figures) -> list[Proposal]:
    """Correct or leave out revenue that other elements of revenue contradict, or the lines between it and income."""
    lines = ("cost_of_revenue", "gross_profit"), ("operating_costs", OPERATING)
    rows = PeriodRows.of(figures, (REVENUE, *OTHERS_OF_REVENUE, *lines[0], *lines[1]))
    revenue, rounding = rows[REVENUE], _rounding(rows, REVENUE)
    # some banks state provisions for other losses on a line of their own: MetroCity Bankshares 0.3 % of revenue in 2025
    provisions = {"revenue_by_expenses": NEARLY * np.abs(revenue)}
    equals = [Equal(_independent(rows, name), rounding, apart=provisions.get(name, 0.0)) for name in OTHERS_OF_REVENUE]
    statements = [Equal(rows[one] + rows[other], rounding, is_proof=False) for one, other in lines]
    return _replaced(rows, REVENUE, compared(rows, revenue, [*equals, *statements])[0])


def _independent(rows: PeriodRows, name: str) -> Floats:
    """The figure of another concept of revenue; NaN where both are taken from the same elements."""
    is_same = [
        rows.is_of(name, (rank,)) & rows.is_of(REVENUE, (of_revenue,))
        for rank, source in enumerate(BY_NAME[name].sources)
        for of_revenue, other in enumerate(BY_NAME[REVENUE].sources)
        if (source.elements, source.minus) == (other.elements, other.minus)
    ]
    return np.where(any_of(is_same), np.nan, rows[name])
