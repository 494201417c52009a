"""Votes: the sign of income, as all figures of a filing and period that have its amount show it.

Belongs here: which figures are independent witnesses of the sign of net income, and the majority of them. Does not:
errors of scale (identities, scale), amounts that differ (agreement).

Only the same filing and earlier ones are used, so that what was known on a day does not depend on later filings.
"""

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, Timeline, first_row, starts
from pipelines.normalize.corrections.figures import Figures, Proposal
from pipelines.normalize.corrections.side_by_side import (
    COMMON,
    COMPREHENSIVE,
    COUNTS,
    DILUTED_EARNINGS,
    EARNINGS,
    OF_INCOME,
    OPERATING,
    PARENT,
    PRETAX,
    PROFIT,
    RETAINED,
    TAX,
    SideBySide,
    either,
)
from pipelines.normalize.elements import BY_NAME
from pipelines.normalize.keys import company_key, packed
from pipelines.normalize.rule import Rule

ALIKE = 0.1
"""Figures of income are one amount if they differ by less than this share: income to common, income with minorities
and earnings per share times shares are often somewhat apart, and two losses of one filing hardly ever are."""
EXACTLY = 0.005
"""Income before tax less tax is net income unless something was discontinued, the change of retained earnings is unless
something was distributed; then they differ by rounding only."""
REPEATED = 0.001
"""Filings state one amount for a period, but for its sign, if their figures differ by less than this share; restated
figures differ by more."""
HALF_A_CENT = 0.005
"""Rounding of earnings per share."""
WEAKLY_ALIKE = 0.5
"""Comprehensive income and operating income of less than half or more than one and a half of the amount prove
nothing."""
OF_TWO_FIGURES = 2.0
"""Income before tax less tax, and the change of retained earnings, have the wrong sign only if two figures do."""
SIGNIFICANT_TAX = 0.02
"""Below this share of income before tax the tax does not show which sign that income has."""
DECIDES = 0.5
"""Least majority of witnesses."""
WEAK, WEAKEST = 0.5, 0.25
"""Weights of comprehensive income, income before tax, and earnings per share without a number of shares, and of
operating income, which decide only if the witnesses are equal in number."""
NOT_ROUNDING = 0.005
"""Income to common and income of the parent are two amounts if they differ by more than this share."""

BY_WITNESSES = "the majority of the figures of income in this filing and earlier ones"
BY_NO_MAJORITY = "as many figures of income have the one sign as the other"

WEIGHTED_AVERAGE = (
    "ASC 260-10-45-10: basic earnings per share are income available to common over the weighted average shares"
)
SIGN_BY_VOTE = Rule(
    "correction.sign.vote",
    "Where figures of income of one filing and period have one amount and two signs, the sign of the minority is "
    "reversed. Votes: net income of the parent and to common, consolidated net income, basic and diluted earnings per "
    "share, income before tax less tax, the change of retained earnings, each filing so far; if they are equal, "
    "comprehensive income, income before tax and operating income.",
    "taxonomy definitions of the elements: income and loss of one period have one sign; ASC 260-10-45-10",
    "correct",
)
NO_MAJORITY = Rule(
    "correction.sign.no-majority",
    "Where as many figures of income of one amount have the one sign as the other, net income and earnings per share "
    "of the filing are left out.",
    SIGN_BY_VOTE.source,
    "withhold",
)
INCOME_SIGN = Rule(
    "correction.sign.income-by-income-before-tax",
    "The sign of net income is reversed if income before tax less tax gives the same amount with the other sign, and "
    "most witnesses of income have that sign (correction.sign.vote).",
    "Regulation S-X Rule 5-03: income before income tax expense, less income tax expense, is net income",
    "correct",
)
INCOME_SIGN_BY_EARNINGS = Rule(
    "correction.sign.income-by-earnings-per-share",
    "The sign of net income is reversed if earnings per share and income before tax both have the other sign and "
    "earnings per share times shares give its amount, and most witnesses of income have that sign "
    "(correction.sign.vote).",
    WEIGHTED_AVERAGE,
    "correct",
)
EARNINGS_SIGN = Rule(
    "correction.sign.earnings-per-share-by-income",
    "The sign of earnings per share is reversed if earnings per share times shares give the amount of net income with "
    "the other sign, and most witnesses of income have that sign (correction.sign.vote).",
    WEIGHTED_AVERAGE,
    "correct",
)
RULES = (SIGN_BY_VOTE, NO_MAJORITY, INCOME_SIGN, INCOME_SIGN_BY_EARNINGS, EARNINGS_SIGN)

_OF_INCOME = ("NetIncomeLoss", "ProfitLoss")
FROM_PROFIT = tuple(
    rank for rank, source in enumerate(BY_NAME["net_income_parent"].sources) if "ProfitLoss" in source.elements
)
"""Ranks of the sources of net income of the parent that are derived from consolidated net income."""
FROM_INCOME = tuple(
    rank
    for rank, source in enumerate(BY_NAME["pretax_income"].sources)
    if any(name in source.elements for name in _OF_INCOME)
)
"""Ranks of the sources of income before tax that are derived from net income."""


def proposals(figures: Figures) -> list[Proposal]:
    """Figures of income whose sign most others contradict, and those of which nothing shows the sign."""
    beside = SideBySide.of(figures, OF_INCOME)
    if not len(beside.seq):
        return []
    value = beside.value
    parent, common, profit = value[PARENT], value[COMMON], value[PROFIT]
    profit = np.where(is_of(figures, beside, PARENT, FROM_PROFIT), np.nan, profit)
    pretax_is_derived = is_of(figures, beside, PRETAX, FROM_INCOME)
    pretax = np.where(pretax_is_derived, np.nan, value[PRETAX])
    basic, diluted = (value[count] for count in COUNTS)
    of_basic = value[EARNINGS] * either(basic, diluted)
    of_diluted = value[DILUTED_EARNINGS] * either(diluted, basic)
    no_count = np.isnan(basic) & np.isnan(diluted)
    income = either(either(parent, common), profit)
    after_tax = pretax - either(value[TAX], np.zeros(len(income)))

    def votes(amount: Floats, share: float, *of: Floats, rounding: Floats | float = 0.0) -> Floats:
        """The sign of an amount that is one of the others; otherwise zero."""
        size = np.abs(amount)
        alike = np.any([np.abs(size - np.abs(other)) <= share * np.abs(other) + rounding for other in of], axis=0)
        return np.where(alike, np.sign(amount), 0.0)

    strong = {
        PARENT: votes(parent, ALIKE, income),
        COMMON: votes(common, ALIKE, income, of_basic),
        PROFIT: votes(profit, ALIKE, income),
        EARNINGS: votes(of_basic, ALIKE, income, common, rounding=HALF_A_CENT * either(basic, diluted)),
        DILUTED_EARNINGS: votes(of_diluted, ALIKE, income, common, rounding=HALF_A_CENT * either(diluted, basic)),
    }
    amounts = (income, *(np.where(strong[name] != 0, value[name], np.nan) for name in (COMMON, PROFIT)))
    tax = np.abs(value[TAX])
    is_two = tax > SIGNIFICANT_TAX * np.abs(pretax)
    # without income before tax the tax itself may have the wrong sign
    of_tax = np.where(
        np.abs(pretax) > SIGNIFICANT_TAX * either(tax, np.zeros(len(tax))), votes(after_tax, EXACTLY, *amounts), 0.0
    )
    of_retained = votes(retained(figures, beside), EXACTLY, *amounts)
    first_group = (strong[PARENT], strong[PROFIT], of_tax, of_retained)
    second_group = (strong[COMMON], strong[EARNINGS], strong[DILUTED_EARNINGS])
    is_story = _unanimous(first_group) * _unanimous(second_group) < 0
    others = either(common, either(of_basic, of_diluted))
    is_story &= np.abs(np.abs(others) - np.abs(income)) > NOT_ROUNDING * np.abs(income)
    own = sum(strong.values()) + np.where(is_two, OF_TWO_FIGURES, 1.0) * of_tax + OF_TWO_FIGURES * of_retained
    weak = WEAK * votes(value[COMPREHENSIVE], WEAKLY_ALIKE, income)
    weak += WEAK * votes(pretax, WEAKLY_ALIKE, income)
    weak += WEAKEST * votes(value[OPERATING], WEAKLY_ALIKE, income)
    weak += np.where(no_count, WEAK * (_sign(value[EARNINGS]) + _sign(value[DILUTED_EARNINGS])), 0.0)
    so_far, weak_so_far = _so_far(beside, np.abs(income), own, weak)
    decided = np.where(np.abs(so_far) >= DECIDES, np.sign(so_far), np.sign(weak_so_far))
    decided = np.where(is_story, np.nan, decided)
    against = {name: (sign != 0) & (sign == -decided) for name, sign in strong.items()}
    tax_errs = (of_tax != 0) & (of_tax == -decided)
    is_tie = (decided == 0) & np.any([sign != 0 for sign in strong.values()], axis=0)
    by_tax, by_earnings = (of_tax == decided), (strong[EARNINGS] == decided) & (_sign(pretax) == decided)
    found = [
        beside.propose(rule, BY_WITNESSES, name, holds & against[name], -1.0)
        for name in (PARENT, COMMON, PROFIT)
        for rule, holds in (
            (INCOME_SIGN, by_tax),
            (INCOME_SIGN_BY_EARNINGS, by_earnings & ~by_tax),
            (SIGN_BY_VOTE, ~by_earnings & ~by_tax),
        )
    ]
    found += [
        beside.propose(EARNINGS_SIGN, BY_WITNESSES, name, against[name], -1.0) for name in (EARNINGS, DILUTED_EARNINGS)
    ]
    found += [beside.propose(SIGN_BY_VOTE, BY_WITNESSES, name, tax_errs, -1.0) for name in (PRETAX, TAX)]
    input_errs = pretax_is_derived & (against[PARENT] | against[PROFIT])
    return [
        *found,
        beside.propose(NO_MAJORITY, BY_NO_MAJORITY, PRETAX, input_errs, np.nan),
        *(
            beside.propose(NO_MAJORITY, BY_NO_MAJORITY, name, is_tie & (strong[name] != 0), np.nan)
            for name in (PARENT, COMMON, EARNINGS)
        ),
    ]


def _sign(amount: Floats) -> Floats:
    return np.where(np.isnan(amount), 0.0, np.sign(amount))


def _unanimous(group: tuple[Floats, ...]) -> Floats:
    """The sign of a group of witnesses, or zero if they disagree."""
    positive, negative = (np.any([sign == way for sign in group], axis=0) for way in (1, -1))
    return np.where(positive & negative, 0.0, positive * 1.0 - negative * 1.0)


def is_of(figures: Figures, beside: SideBySide, name: str, ranks: tuple[int, ...]) -> Flags:
    """Whether the figure of a concept is from one of some sources."""
    place = beside.place[name]
    return (place >= 0) & np.isin(figures.rank[place], ranks)


def retained(figures: Figures, beside: SideBySide) -> Floats:
    """The change of retained earnings over each period, as known after its filing."""
    at = figures.of_concepts((RETAINED,))
    if not len(at):
        return np.full(len(beside.seq), np.nan)
    balances = Timeline(company_key(figures.company[at], figures.end[at]), figures.seq[at])
    ends, begins = (
        balances.after(company_key(beside.company, day), beside.seq) for day in (beside.end, beside.start - 1)
    )
    amount = figures.value[at]
    return np.where((ends >= 0) & (begins >= 0), amount[ends] - amount[begins], np.nan)


def _so_far(beside: SideBySide, size: Floats, own: Floats, weak: Floats) -> tuple[Floats, Floats]:
    """The votes of the filings so far that state the period with the same amount."""
    order = np.argsort(packed(beside.company, beside.start, beside.end, beside.seq), kind="stable")
    begins = starts(*(column[order] for column in (beside.company, beside.start, beside.end)))
    first = first_row(begins)
    ordered = size[order]
    alike = np.abs(ordered - ordered[first]) <= REPEATED * ordered[first]
    sums = []
    for votes in (own, weak):
        counted = np.where(alike, votes[order], 0.0)
        total = np.cumsum(counted)
        total = np.where(alike, total - total[first] + counted[first], votes[order])
        back: Floats = np.empty(len(total))
        back[order] = total
        sums.append(back)
    return sums[0], sums[1]
