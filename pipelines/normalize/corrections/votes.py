"""Votes: the sign of income, as all figures of a filing and period that have its amount show it.

Belongs here: which figures are independent witnesses of the sign of net income, and the majority of them. Does not:
errors of scale (identities, scale), amounts that differ (agreement).

Only the same filing and earlier ones are used, so that what was known on a day does not depend on later filings.
"""

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Floats, packed, picked
from pipelines.normalize.corrections.figures import Figures, Proposal
from pipelines.normalize.corrections.period_rows import (
    COMMON,
    COMPREHENSIVE,
    COUNTS,
    DILUTED_EARNINGS,
    EARNINGS,
    HALF_A_CENT,
    OF_INCOME,
    OPERATING,
    PARENT,
    PER_SHARE,
    PRETAX,
    PROFIT,
    RETAINED,
    TAX,
    PeriodRows,
    either,
)
from pipelines.normalize.elements import BY_NAME
from pipelines.normalize.rule import Rule

ALIKE = 0.1
"""Figures of income are one amount if they differ by less than this share: income to common, income with minorities
and earnings per share times shares are often somewhat apart, and two losses of one filing hardly ever are."""
EXACTLY = 0.005
"""Income before tax less tax is net income unless something was discontinued, the change of retained earnings is unless
something was distributed; then they differ by rounding only. So do the figures of two filings that state one amount."""
WEAKLY_ALIKE = 0.5
"""Comprehensive income and operating income of less than half or more than one and a half of the amount prove
nothing."""
OF_TWO_FIGURES = 2.0
"""Income before tax less tax, and the change of retained earnings, have the wrong sign only if two figures do."""
SIGNIFICANT_TAX = 0.02
"""Below this share of income before tax the tax does not show which sign that income has."""


SIGN_BY_VOTE = Rule(
    "correction.sign.vote",
    "Figures of income of one filing and period with one amount and two signs have the majority's sign. Votes: net "
    "income, earnings per share, income before tax less tax, the change of retained earnings, filings so far.",
    "taxonomy definitions of the elements: income and loss of one period have one sign; ASC 260-10-45-10; Regulation "
    "S-X Rule 5-03",
    "correct",
)
NO_MAJORITY = Rule(
    "correction.sign.no-majority",
    "Where as many figures of income of one amount have the one sign as the other, net income and earnings per share "
    "of the filing are left out.",
    SIGN_BY_VOTE.source,
    "withhold",
)
RULES = (SIGN_BY_VOTE, NO_MAJORITY)

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
    rows = PeriodRows.of(figures, OF_INCOME)
    strong, of_tax, decided = _decided(rows)
    against = {name: (vote != 0) & (vote == -decided) for name, vote in strong.items()}
    wrong = against | dict.fromkeys((PRETAX, TAX), (of_tax != 0) & (of_tax == -decided))
    unknown = {name: (decided == 0) & (strong[name] != 0) for name in (PARENT, COMMON, EARNINGS)}
    # income before tax that is derived from net income with the wrong sign
    unknown |= {PRETAX: rows.is_of(PRETAX, FROM_INCOME) & (against[PARENT] | against[PROFIT])}
    return [
        *(
            rows.propose(
                SIGN_BY_VOTE, "the majority of the figures of income in this filing and earlier ones", name, errs, -1.0
            )
            for name, errs in wrong.items()
        ),
        *(
            rows.propose(NO_MAJORITY, "as many figures of income have the one sign as the other", name, holds, np.nan)
            for name, holds in unknown.items()
        ),
    ]


def _decided(rows: PeriodRows) -> tuple[dict[str, Floats], Floats, Floats]:
    """The votes of the figures of income, that of income before tax less tax, and the sign that the majority has.

    The sign is zero for a tie, and NaN if income to common may have another sign than that of the parent.
    """
    common, tax = rows[COMMON], rows[TAX]
    profit = np.where(rows.is_of(PARENT, FROM_PROFIT), np.nan, rows[PROFIT])
    pretax = np.where(rows.is_of(PRETAX, FROM_INCOME), np.nan, rows[PRETAX])
    income = either(rows[PARENT], common, profit)
    basic, diluted = (either(*(rows[count] for count in counts)) for counts in (COUNTS, COUNTS[::-1]))
    by_basic, by_diluted = rows[EARNINGS] * basic, rows[DILUTED_EARNINGS] * diluted
    strong = {
        PARENT: _vote(rows[PARENT], ALIKE, income),
        COMMON: _vote(common, ALIKE, income, by_basic),
        PROFIT: _vote(profit, ALIKE, income),
        EARNINGS: _vote(by_basic, ALIKE, income, common, rounding=HALF_A_CENT * basic),
        DILUTED_EARNINGS: _vote(by_diluted, ALIKE, income, common, rounding=HALF_A_CENT * diluted),
    }
    amounts = (income, common, profit)
    # without income before tax the tax itself may have the wrong sign
    is_taxed = np.abs(pretax) > SIGNIFICANT_TAX * np.nan_to_num(np.abs(tax))
    of_tax = np.where(is_taxed, _vote(pretax - np.nan_to_num(tax), EXACTLY, *amounts), 0.0)
    of_retained = _vote(retained(rows), EXACTLY, *amounts)
    is_two = np.abs(tax) > SIGNIFICANT_TAX * np.abs(pretax)
    own = sum(strong.values()) + np.where(is_two, OF_TWO_FIGURES, 1.0) * of_tax + OF_TWO_FIGURES * of_retained
    similar = (rows[COMPREHENSIVE], pretax, rows[OPERATING])
    weak = sum(_vote(amount, WEAKLY_ALIKE, income) for amount in similar)
    weak += np.where(np.isnan(basic), sum(np.sign(np.nan_to_num(rows[name])) for name in PER_SHARE), 0.0)
    sign, weak_sign = (np.sign(_so_far(rows, np.abs(income), votes)) for votes in (own, weak))
    decided = np.where(sign != 0, sign, weak_sign)
    # a loss after preferred dividends, which income to common and earnings per share show alike
    of_parent = _unanimous(strong[PARENT], strong[PROFIT], of_tax, of_retained)
    of_common = _unanimous(*(strong[name] for name in (COMMON, *PER_SHARE)))
    of_others = np.abs(either(common, by_basic, by_diluted))
    is_apart = np.abs(of_others - np.abs(income)) > EXACTLY * np.abs(income)
    return strong, of_tax, np.where((of_parent * of_common < 0) & is_apart, np.nan, decided)


def _vote(amount: Floats, share: float, *of: Floats, rounding: Floats | float = 0.0) -> Floats:
    """The sign of an amount that has the size of one of the others; otherwise zero."""
    sizes = [np.abs(other) for other in of]
    alike = np.any([np.abs(np.abs(amount) - size) <= share * size + rounding for size in sizes], axis=0)
    return np.where(alike, np.sign(amount), 0.0)


def _unanimous(*votes: Floats) -> Floats:
    """The sign of a group of witnesses, or zero if they disagree."""
    highest, lowest = np.max(votes, axis=0), np.min(votes, axis=0)
    return np.where(highest * lowest < 0, 0.0, np.sign(highest + lowest))


def retained(rows: PeriodRows) -> Floats:
    """The change of retained earnings over each period, as known after its filing."""
    at_end, at_begin = (rows.balance(RETAINED, day) for day in (rows.end, rows.start - 1))
    return picked(rows.figures.value, at_end) - picked(rows.figures.value, at_begin)


def _so_far(rows: PeriodRows, size: Floats, votes: Floats) -> Floats:
    """The votes of the filings so far that state the period with the same amount."""
    period = packed(rows.company, rows.start, rows.end)
    first = pl.col("size").first().over("period")
    alike = (pl.col("size") - first).abs() <= EXACTLY * first
    so_far = pl.when(alike).then(pl.col("votes").cum_sum().over("period", alike)).otherwise("votes")
    return pl.DataFrame({"period": period, "size": size, "votes": votes}).select(so_far).to_series().to_numpy()
