"""Agreement: amounts that contradict what the same filing says in other figures, in a company whose figures agree.

Belongs here: net income, earnings per share, shares and revenue against the figures that equal them in the company's
other periods. Does not: signs (votes), statements that foot (footing), powers of a thousand (identities, scale),
figures of other periods (contexts).

Only the same filing and earlier ones are used, so that what was known on a day does not depend on later filings.
"""

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, Ints, starts
from pipelines.normalize.corrections.figures import Figures, Proposal
from pipelines.normalize.corrections.side_by_side import (
    COMMON,
    COUNTS,
    DILUTED_EARNINGS,
    EARNINGS,
    OF_INCOME,
    OPERATING,
    PARENT,
    PRETAX,
    PROFIT,
    TAX,
    SideBySide,
    at_rows,
    either,
)
from pipelines.normalize.corrections.votes import FROM_INCOME, FROM_PROFIT, is_of, retained
from pipelines.normalize.elements import BY_NAME
from pipelines.normalize.rule import Rule

OTHERS_OF_REVENUE = ("other_revenue", "revenue_of_bank", "revenue_by_expenses")
OF_REVENUE = ("revenue", *OTHERS_OF_REVENUE, "cost_of_revenue", "gross_profit", "operating_costs", OPERATING)

ROUNDED = 0.002
"""Two figures of one amount differ by less than this share: they are rounded to millions."""
UNITS = 2.0
"""... or by so many units of the rounding of the filing, where they are sums of rounded figures."""
OTHER_PROVISIONS = 0.01
"""A bank's income before tax and expenses contradict its revenue only by more than this share: some state provisions
for other losses on a line of their own, such as MetroCity Bankshares 0.3 % of revenue in 2025."""
SMALLEST_EARNINGS = 0.1
"""Smaller earnings per share do not contradict: their rounding to a cent is more than a twentieth."""
OF_SHARES = 0.04
"""Earnings per share times shares differ from net income by less than this share, and by the rounding of the earnings:
participating securities take little."""
HALF_A_CENT = 0.0055
"""Rounding of earnings per share, with a little more for averages."""
PARTICIPATING = 0.01
"""Earnings per share may be lower by so much for dividends on unvested shares: AAR's 0.20 of fiscal 2019 is 0.22 by net
income over shares."""
FEWEST_OTHERS = 2
"""An identity counts for a company that satisfies it in so many other periods."""
MOSTLY = 0.8
"""... and in at least this share of all of its other periods. Measured on 228 companies: of figures that contradict an
identity which held before, nearly all are errors or have no other witness."""
NEARLY, APART = 0.01, 0.015
"""Where the product was within the first share of net income in nearly all other periods, a difference of more than the
second contradicts."""
MANY_OTHERS, NEARLY_ALL = 6, 0.95
"""... in so many other periods, and this share of them."""
DILUTION = 1.3
"""Diluted shares hardly ever exceed basic shares by more than this factor."""
BELOW_BASIC = 0.995
"""Diluted shares are not below basic shares but for rounding."""
SIMILAR = 0.1
"""Basic and diluted earnings per share, and the counts of successive periods, differ by less than this share."""

LESS_MINORITIES = tuple(rank for rank, source in enumerate(BY_NAME[PROFIT].sources) if source.minus)
"""Ranks of the sources of consolidated net income that leave out the part of minorities."""

USUAL_DILUTION = 1.02
"""Diluted shares are more than basic ones by less than this factor in most periods, so they are no error alone."""

BY_OTHERS = "two other figures of the filing agree with each other, as they do with this one in other periods"
BY_PARENT = "earnings per share times shares are net income of the parent less preferred dividends"
BY_STATEMENT = "the income statement foots with another element of revenue, and not with this one"
BY_NONE = "another figure of the filing, which equals this one in other periods, contradicts it"

INCOME = Rule(
    "correction.agreement.income",
    "Net income that no other figure of its filing and period confirms is replaced by the figure that usually equals "
    "it if two others agree: consolidated net income less minorities, income before tax less tax, income to common, "
    "basic and diluted earnings per share times shares.",
    "ASC 260-10-45-10; Regulation S-X Rule 5-03: the lines of the income statement foot",
    "correct",
)
INCOME_WITHHELD = Rule(
    "correction.agreement.income-contradicted",
    "Net income that no other figure of its filing and period confirms, and that one contradicts which equals it in "
    "other periods of the company, is left out.",
    INCOME.source,
    "withhold",
)
EARNINGS_AGREE = Rule(
    "correction.agreement.earnings-per-share",
    "Basic earnings per share that differ from net income over shares, although both equal each other in other "
    "periods, are corrected if the diluted earnings and the diluted shares show that income and shares are right.",
    "ASC 260-10-45-10: income available to common over the weighted average of shares",
    "correct",
)
SHARES_WITHHELD = Rule(
    "correction.agreement.shares-contradicted",
    "Earnings per share or an average of shares are left out if net income differs from their product, although it "
    "equals it in other periods, and the other figures of the filing do not show the right figure.",
    EARNINGS_AGREE.source,
    "withhold",
)
DILUTED_BELOW_BASIC = Rule(
    "correction.agreement.diluted-below-basic",
    "Of an average of diluted shares below that of basic shares the one is left out that is not net income over "
    "earnings per share; if this shows nothing, the one that is less like the company's last one.",
    "ASC 260-10-45-16 and 260-10-45-17: potential shares are added, and left out where they are antidilutive",
    "withhold",
)
REVENUE_AGREES = Rule(
    "correction.agreement.revenue",
    "Revenue that another element of revenue contradicts, although both are equal in other periods of the company, is "
    "left out, and replaced by it if cost of revenue plus gross profit, or costs plus operating income, agree with it.",
    "Regulation S-X Rule 5-03: the lines of the income statement foot",
    "correct",
)
REVENUE_FOOTS = Rule(
    "correction.agreement.revenue-that-foots",
    "Revenue from contracts or net sales replace a smaller figure of total revenue if they, and not it, are cost of "
    "revenue plus gross profit, or costs plus operating income: the figure is a part of revenue.",
    "Regulation S-X Rule 5-03: the lines of the income statement foot",
    "correct",
)
RULES = (INCOME, INCOME_WITHHELD, EARNINGS_AGREE, SHARES_WITHHELD, DILUTED_BELOW_BASIC, REVENUE_AGREES, REVENUE_FOOTS)


def proposals(figures: Figures) -> list[Proposal]:
    """Figures that contradict others of their filing and period."""
    return [*_of_income(figures), *_of_revenue(figures)]


class Habits:
    """Which identities a company satisfies in its other periods, as known after each filing."""

    def __init__(self, beside: SideBySide) -> None:
        filing = starts(beside.company, beside.seq)
        number = np.cumsum(filing) - 1
        self._company_first = np.flatnonzero(starts(beside.company))[np.cumsum(starts(beside.company)) - 1]
        self._filing_first = np.flatnonzero(filing)[number]
        self._filing_last = np.append(np.flatnonzero(filing)[1:], len(filing))[number]

    def hold(self, known: Flags, agrees: Flags, fewest: int = FEWEST_OTHERS, mostly: float = MOSTLY) -> Flags:
        """Whether the identity holds in most other periods of the same and earlier filings.

        If it fails in most other periods of the filing too, its lines have another meaning from now on.

        Args:
            known: where both sides are stated.
            agrees: where they are equal.
            fewest: the fewest other periods.
            mostly: the share of them in which the identity must hold.
        """
        others, agreeing = (self._others(flags, self._company_first) for flags in (known, known & agrees))
        beside, beside_agreeing = (self._others(flags, self._filing_first) for flags in (known, known & agrees))
        found: Flags = (others >= fewest) & (agreeing >= mostly * others) & (2 * beside_agreeing >= beside)
        return found

    def _others(self, flags: Flags, first: Ints) -> Ints:
        total = np.append(0, np.cumsum(flags))
        count: Ints = total[self._filing_last] - total[first] - flags
        return count


def _equal(left: Floats, right: Floats, tolerance: Floats) -> Flags:
    equal: Flags = np.abs(left - right) <= tolerance
    return equal


def _of_income(figures: Figures) -> list[Proposal]:
    beside = SideBySide.of(figures, (*OF_INCOME, "preferred_dividends"))
    if not len(beside.seq):
        return []
    habits = Habits(beside)
    value = beside.value
    parent, common, basic, diluted = value[PARENT], value[COMMON], value[COUNTS[0]], value[COUNTS[1]]
    profit = np.where(is_of(figures, beside, PARENT, FROM_PROFIT), np.nan, value[PROFIT])
    pretax = np.where(is_of(figures, beside, PRETAX, FROM_INCOME), np.nan, value[PRETAX])
    earnings, of_diluted = value[EARNINGS], value[DILUTED_EARNINGS]
    rounding = ROUNDED * np.abs(parent) + UNITS * _grain(figures, beside, PARENT)
    of_common_rounding = ROUNDED * np.abs(common) + UNITS * _grain(figures, beside, COMMON)
    by_basic, by_diluted = earnings * basic, of_diluted * diluted
    loose_basic, loose_diluted = (OF_SHARES * np.abs(parent) + HALF_A_CENT * count for count in (basic, diluted))
    # income before tax less tax includes minorities
    after_tax = pretax - value[TAX]
    is_less = is_of(figures, beside, PROFIT, LESS_MINORITIES)
    after_tax = np.where(is_less & ~_equal(after_tax, profit, rounding), np.nan, after_tax)
    of_parent, of_all = (np.where(holds, profit, np.nan) for holds in (is_less, ~is_less))
    exact = (common, of_parent, of_all, after_tax, retained(figures, beside))
    witnesses = [(amount, rounding) for amount in exact] + [(by_basic, loose_basic), (by_diluted, loose_diluted)]
    judged = _judged(
        habits,
        parent,
        witnesses,
        is_proof=(False, True, True, True, False, True, True),
        exact=(True,) * 5 + (False,) * 2,
    )
    # income to common below that of the parent, which earnings per share confirm: preferred dividends
    of_common = _equal(by_basic, common, loose_basic) | _equal(by_diluted, common, loose_diluted)
    is_preferred = of_common & (common < parent)
    found = [
        beside.propose(INCOME, BY_OTHERS, PARENT, judged.replaced & ~is_preferred, judged.right / parent),
        beside.propose(INCOME_WITHHELD, BY_NONE, PARENT, judged.withheld & ~is_preferred, np.nan),
    ]
    right_parent = np.where(judged.replaced & ~is_preferred, judged.right, parent)
    right_parent = np.where(judged.withheld & ~is_preferred, np.nan, right_parent)
    to_common = _judged(
        habits,
        common,
        [
            (right_parent, of_common_rounding),
            (right_parent - value["preferred_dividends"], of_common_rounding),
            (by_basic, loose_basic),
            (by_diluted, loose_diluted),
        ],
        is_proof=(False, False, True, True),
        exact=(True, True, False, False),
    )
    of_parent_alone = right_parent - np.nan_to_num(value["preferred_dividends"])
    is_of_parent = _equal(of_parent_alone, by_basic, NEARLY * np.abs(of_parent_alone) + HALF_A_CENT * basic)
    is_of_parent &= ~np.any(to_common.agrees, axis=0) & ~_equal(common, by_diluted, loose_diluted) & ~np.isnan(common)
    replaced, withheld = to_common.replaced & ~is_of_parent, to_common.withheld & ~is_of_parent
    found += [
        beside.propose(INCOME, BY_PARENT, COMMON, is_of_parent, of_parent_alone / common),
        beside.propose(INCOME, BY_OTHERS, COMMON, replaced, to_common.right / common),
        beside.propose(INCOME_WITHHELD, BY_NONE, COMMON, withheld, np.nan),
    ]
    right_common = np.select([is_of_parent, replaced, withheld], [of_parent_alone, to_common.right, np.nan], common)
    incomes = (right_common, right_parent)
    is_confirmed = judged.is_confirmed_otherwise(range(5)) | judged.replaced
    return [*found, *_of_shares(figures, beside, habits, incomes, is_confirmed)]


class _Judged:
    """What the witnesses say about an amount: `replaced` by `right`, or `withheld`."""

    def __init__(self, agrees: list[Flags], replaced: Flags, right: Floats, withheld: Flags) -> None:
        self.agrees, self.replaced, self.right, self.withheld = agrees, replaced, right, withheld

    def is_confirmed_otherwise(self, numbers: range) -> Flags:
        """Whether one of some witnesses agrees."""
        found: Flags = np.any([self.agrees[number] for number in numbers], axis=0)
        return found


def _judged(
    habits: Habits,
    amount: Floats,
    witnesses: list[tuple[Floats, Floats]],
    is_proof: tuple[bool, ...],
    exact: tuple[bool, ...],
    least: tuple[float, ...] = (),
) -> _Judged:
    """Compare an amount with its witnesses: each with the largest difference; exact ones can replace it.

    Args:
        habits: of the company.
        amount: the amount to judge.
        witnesses: amount and tolerance of each, the exact ones first.
        is_proof: whether a witness alone contradicts; otherwise only together with another one.
        exact: whether a witness can replace the amount.
        least: the share of the amount by which each witness must differ in order to contradict; none by default.
    """
    known = [~np.isnan(amount) & ~np.isnan(other) & ~np.isnan(tolerance) for other, tolerance in witnesses]
    agrees = [_equal(amount, other, tolerance) for other, tolerance in witnesses]
    active = [habits.hold(*pair) & pair[0] for pair in zip(known, agrees, strict=True)]
    is_confirmed = np.any(agrees, axis=0)
    against = [is_active & ~does & ~is_confirmed for is_active, does in zip(active, agrees, strict=True)]
    for number, share in enumerate(least):
        against[number] &= np.abs(witnesses[number][0] - amount) > share * np.abs(amount)
    replaced, right = np.zeros(len(amount), dtype=np.bool_), amount
    two_agree = np.zeros(len(amount), dtype=np.bool_)
    for one, (value, tolerance) in enumerate(witnesses):
        support = np.zeros(len(amount), dtype=np.int64)
        for other, (second, loose) in enumerate(witnesses):
            if other != one:
                support += against[other] & _equal(value, second, np.fmax(tolerance, loose))
        two_agree |= against[one] & (support > 0)
        if exact[one]:
            # a figure without such a history needs two others
            holds = (against[one] & (support > 0)) | (known[one] & ~is_confirmed & (support > 1))
            holds &= ~replaced & (value != 0)
            right = np.where(holds, value, right)
            replaced |= holds
    alone = np.any([holds for holds, proves in zip(against, is_proof, strict=True) if proves], axis=0)
    return _Judged(agrees, replaced, right, (two_agree | alone) & ~replaced)


def _of_shares(
    figures: Figures, beside: SideBySide, habits: Habits, incomes: tuple[Floats, Floats], is_confirmed: Flags
) -> list[Proposal]:
    """Earnings per share and averages of shares, all without their signs, which votes decide."""
    value = beside.value
    basic, diluted = (value[name] for name in COUNTS)
    earnings, of_diluted = np.abs(value[EARNINGS]), np.abs(value[DILUTED_EARNINGS])
    incomes = (np.abs(incomes[0]), np.abs(incomes[1]))

    def agrees(each: Floats, count: Floats, share: float) -> Flags:
        rounding = (HALF_A_CENT + PARTICIPATING * (share > NEARLY)) * count
        equal = [_equal(each * count, income, share * income + rounding) for income in incomes]
        found: Flags = np.any(equal, axis=0)
        return found

    def contradicts(each: Floats, count: Floats, known: Flags) -> Flags:
        loose, strict = agrees(each, count, OF_SHARES), agrees(each, count, NEARLY)
        is_usual, is_strict = habits.hold(known, loose), habits.hold(known, strict, MANY_OTHERS, NEARLY_ALL)
        return known & ((is_usual & ~loose) | (is_strict & ~agrees(each, count, APART)))

    has_income = ~np.isnan(incomes[0]) | ~np.isnan(incomes[1])
    basic_holds, diluted_holds = agrees(earnings, basic, OF_SHARES), agrees(of_diluted, diluted, OF_SHARES)
    # both products agree with each other, but not with income: it is not what they are divided from
    is_other_income = ~agrees(earnings, basic, APART) & ~agrees(of_diluted, diluted, APART)
    is_other_income &= _equal(earnings * basic, of_diluted * diluted, OF_SHARES * np.abs(earnings * basic))
    income = either(*incomes)
    known_basic, known_diluted = (
        has_income & ~np.isnan(each * count) & (np.fmax(each, income / count) >= SMALLEST_EARNINGS)
        for each, count in ((earnings, basic), (of_diluted, diluted))
    )
    # earnings that an earlier filing states alike for the period are no slip of the pen
    place = beside.place[EARNINGS]
    first = figures.first[place]
    known_basic &= ~((place >= 0) & (first != place) & (figures.value[first] == figures.value[place]))
    bad_basic = contradicts(earnings, basic, known_basic) & ~is_other_income
    bad_diluted = contradicts(of_diluted, diluted, known_diluted) & ~is_other_income
    by_income = income / basic
    last_basic, last_diluted = (_last(figures, beside, name) for name in COUNTS)
    has_diluted = ~np.isnan(of_diluted)

    def like(each: Floats) -> Flags:
        found: Flags = np.abs(each - of_diluted) <= SIMILAR * np.abs(of_diluted) + HALF_A_CENT
        return found

    def is_count(count: Floats) -> Flags:
        by_other = (count >= diluted / DILUTION) & (count * BELOW_BASIC <= diluted)
        by_last = np.abs(count - last_basic) <= SIMILAR * last_basic
        return np.where(np.isnan(diluted), by_last, by_other)

    is_income = is_confirmed | diluted_holds
    count_fits, implied_fits = is_count(basic), is_count(income / earnings)
    earnings_err = bad_basic & is_income & count_fits & (like(by_income) | ~has_diluted)
    earnings_err &= ~(like(earnings) & has_diluted & implied_fits)
    cents = np.round(by_income, 2)
    corrected = earnings_err & (cents != 0)
    count_errs = bad_basic & is_income & ~earnings_err & ~count_fits & like(earnings)
    unclear = bad_basic & ~corrected & ~count_errs
    diluted_like = (diluted * 1.0 >= basic * BELOW_BASIC) & (diluted <= DILUTION * basic)
    diluted_errs = bad_diluted & (basic_holds | is_confirmed)
    diluted_errs &= ~(diluted_like & ~(like(earnings)) & basic_holds)
    # income for diluted earnings may be adjusted, and these do not show a count that is little above the basic one
    diluted_errs &= ~(basic_holds & (diluted >= basic) & (diluted <= USUAL_DILUTION * basic))
    below = (diluted < BELOW_BASIC * basic) & ~bad_basic & ~bad_diluted
    off_basic, off_diluted = (
        np.abs(np.log(count / last)) for count, last in ((basic, last_basic), (diluted, last_diluted))
    )
    basic_fits, diluted_fits = (
        np.any([_equal(each * count, one, ROUNDED * one + HALF_A_CENT * count) for one in incomes], axis=0)
        for each, count in ((earnings, basic), (of_diluted, diluted))
    )
    shows = (basic_fits != diluted_fits) & ~np.isnan(earnings * of_diluted)
    diluted_is_off = below & np.where(shows, basic_fits, ~(off_basic > off_diluted))
    basic_is_off = below & np.where(shows, diluted_fits, ~(off_diluted > off_basic))
    return [
        beside.propose(EARNINGS_AGREE, BY_OTHERS, EARNINGS, corrected, cents / earnings),
        beside.propose(SHARES_WITHHELD, BY_NONE, EARNINGS, unclear, np.nan),
        beside.propose(SHARES_WITHHELD, BY_NONE, COUNTS[0], count_errs | unclear, np.nan),
        beside.propose(SHARES_WITHHELD, BY_NONE, COUNTS[1], diluted_errs, np.nan),
        beside.propose(DILUTED_BELOW_BASIC, BY_NONE, COUNTS[1], diluted_is_off, np.nan),
        beside.propose(DILUTED_BELOW_BASIC, BY_NONE, COUNTS[0], basic_is_off, np.nan),
    ]


def _grain(figures: Figures, beside: SideBySide, name: str) -> Floats:
    """The power of ten to which the figures of a concept are rounded."""
    return at_rows(figures.grain, beside.place[name])


def _last(figures: Figures, beside: SideBySide, name: str) -> Floats:
    """The company's last count of an earlier period in the same filing, or of an earlier filing; NaN if none."""
    count = beside.value[name]
    known = ~np.isnan(count)
    rows = np.where(known, np.arange(len(count)), -1)
    before = np.full(len(count), -1)
    before[1:] = np.maximum.accumulate(rows)[:-1]
    found = (before >= 0) & (beside.company[before] == beside.company)
    return np.where(found, count[before], np.nan)


def _of_revenue(figures: Figures) -> list[Proposal]:
    beside = SideBySide.of(figures, OF_REVENUE)
    if not len(beside.seq):
        return []
    habits = Habits(beside)
    value = beside.value
    revenue = value["revenue"]
    tolerance = ROUNDED * np.abs(revenue) + UNITS * _grain(figures, beside, "revenue")
    others = (
        *(_independent(figures, beside, name) for name in OTHERS_OF_REVENUE),
        value["cost_of_revenue"] + value["gross_profit"],
        value["operating_costs"] + value[OPERATING],
    )
    witnesses = [(other, tolerance) for other in others]
    judged = _judged(
        habits,
        revenue,
        witnesses,
        is_proof=(True, True, True, False, False),
        exact=(True,) * 5,
        least=tuple(OTHER_PROVISIONS if name == "revenue_by_expenses" else 0.0 for name in OTHERS_OF_REVENUE),
    )
    total = others[0]
    unit = UNITS * _grain(figures, beside, "revenue")
    foot, foots = (
        np.any([_equal(amount, footing, unit) for footing in others[-2:]], axis=0) for amount in (revenue, total)
    )
    is_part = foots & ~foot & (total - revenue > tolerance)
    return [
        beside.propose(REVENUE_FOOTS, BY_STATEMENT, "revenue", is_part, total / revenue),
        beside.propose(REVENUE_AGREES, BY_OTHERS, "revenue", judged.replaced & ~is_part, judged.right / revenue),
        beside.propose(REVENUE_AGREES, BY_NONE, "revenue", judged.withheld & ~is_part, np.nan),
    ]


def _independent(figures: Figures, beside: SideBySide, witness: str) -> Floats:
    """A witness of revenue; NaN where revenue is taken from the same elements."""
    is_same = np.zeros(len(beside.seq), dtype=np.bool_)
    for rank, source in enumerate(BY_NAME[witness].sources):
        for of_revenue, other in enumerate(BY_NAME["revenue"].sources):
            if (source.elements, source.minus) == (other.elements, other.minus):
                is_same |= is_of(figures, beside, witness, (rank,)) & is_of(figures, beside, "revenue", (of_revenue,))
    return np.where(is_same, np.nan, beside.value[witness])
