"""Signs: corrects signs that other figures of the same filing and period, or earlier filings of the period, contradict.

Belongs here: the majority of the figures that show the sign of net income, tax against income before and after it,
outflows, which are positive by definition, and the filings so far of one period. Does not: errors of scale (scale),
amounts that differ (agreement).

Only the same filing and earlier ones are used, so that what was known on a day does not depend on later filings.
"""

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Floats, packed, picked
from pipelines.normalize.corrections.figures import (
    CENT_ROUNDING,
    COMMON,
    COMPREHENSIVE,
    COUNTS,
    DILUTED_EARNINGS,
    EARNINGS,
    OF_INCOME,
    OPERATING,
    PARENT,
    PER_SHARE,
    PRETAX,
    PROFIT,
    RESTATED,
    RETAINED,
    SIMILAR,
    TAX,
    Figures,
    PeriodRows,
    Proposal,
    first_known,
)
from pipelines.normalize.elements import BY_NAME, NUMBER_OF
from pipelines.normalize.rule import Rule

OUTFLOWS = ("capital_expenditure", "preferred_dividends", "interest_expense")
"""Payments and expenses, positive by definition. Negative figures repeat the minus sign of the printed statement."""
DIVIDENDS = "dividends_per_share"

UNCHECKED = ("operating_cash_flow", "capital_expenditure", "operating_income", "pretax_income")
"""Concepts with a sign that no identity determines, so that only other filings can prove it."""

WEAKLY_ALIKE = 0.5
"""Comprehensive income, income before tax and operating income vote only if they differ from net income by at most this
share."""
OF_TWO_FIGURES = 2.0
"""Weight of a vote of two figures (income before tax less tax, the change of retained earnings): its sign is wrong only
if both figures have the wrong sign."""

BY_FILINGS_OF_PERIOD = "earlier filings of the same period"
BY_LINE = "the figures of the line for other periods, as filings state both signs equally often"

SIGN_BY_VOTE = Rule(
    "correction.sign.vote",
    "If figures of income of one filing and period agree in amount but not in sign, the majority decides. Votes: net "
    "income, earnings per share, income before tax less tax, the change of retained earnings, and earlier filings.",
    "taxonomy definitions of the elements: income and loss of one period have one sign; ASC 260-10-45-10; Regulation "
    "S-X Rule 5-03",
    "correct",
)
NO_MAJORITY = Rule(
    "correction.sign.no-majority",
    "If the votes on the sign of income (rule correction.sign.vote) are tied, net income and earnings per share of "
    "the filing and period are left out.",
    SIGN_BY_VOTE.source,
    "withhold",
)
TAX_SIGN = Rule(
    "correction.sign.tax-by-income-after-tax",
    "The sign of income tax is reversed if income before tax plus the tax as filed gives net income, and income before "
    "tax less the tax does not.",
    "Regulation S-X Rule 5-03: income before income tax expense, less income tax expense, is net income",
    "correct",
)
OUTFLOW_SIGN = Rule(
    "correction.sign.outflow",
    "The sign of negative dividends per share is reversed, and that of capital expenditure, preferred dividends and "
    "interest expense if all figures of the line in the filing are negative.",
    "ASC 230-10-45-13: payments to acquire property are cash outflows; us-gaap defines the elements as the outflow",
    "correct",
)
SIGN_OF_FILINGS = Rule(
    "correction.sign.filings-of-period",
    "Operating cash flow, capital expenditure, operating income and income before tax take the sign that most "
    "filings so far state for the period; in a tie, the sign of the line's other periods; otherwise they are left "
    "out.",
    "taxonomy definitions: a line of one period has one sign; measured on 228 companies: 2 of 32,700 figures are of "
    "periods with such a tie",
    "correct",
)

FROM_PROFIT = tuple(
    rank for rank, source in enumerate(BY_NAME["net_income_parent"].sources) if "ProfitLoss" in source.elements
)
"""Ranks of the sources of net income of the parent that are derived from consolidated net income."""
FROM_INCOME = tuple(
    rank
    for rank, source in enumerate(BY_NAME["pretax_income"].sources)
    if {"NetIncomeLoss", "ProfitLoss"} & set(source.elements)
)
"""Ranks of the sources of income before tax that are derived from net income."""


def proposals_for_income(figures: Figures) -> list[Proposal]:
    """Reverse figures of income with a sign that most others contradict; leave them out if there is no majority."""
    rows = PeriodRows.of(figures, OF_INCOME)
    strong, of_tax, decided = _votes_on_sign(rows)
    against = {name: (vote != 0) & (vote == -decided) for name, vote in strong.items()}
    wrong = against | dict.fromkeys((PRETAX, TAX), (of_tax != 0) & (of_tax == -decided))
    unknown = {name: (decided == 0) & (strong[name] != 0) for name in (PARENT, COMMON, EARNINGS)}
    # income before tax that is derived from net income with the wrong sign
    unknown |= {PRETAX: rows.is_of(PRETAX, FROM_INCOME) & (against[PARENT] | against[PROFIT])}
    by_most = "the majority of the figures of income in this filing and earlier ones"
    by_none = "as many figures of income have the one sign as the other"
    return [
        *(rows.propose(SIGN_BY_VOTE, by_most, name, errs, -1.0) for name, errs in wrong.items()),
        *(rows.propose(NO_MAJORITY, by_none, name, holds, np.nan) for name, holds in unknown.items()),
    ]


def _votes_on_sign(rows: PeriodRows) -> tuple[dict[str, Floats], Floats, Floats]:
    """The votes of the figures of income, the vote of income before tax less tax, and the sign of the majority.

    The sign is zero for a tie, and NaN if income to common may have another sign than income of the parent.
    """
    common, tax = rows[COMMON], rows[TAX]
    profit = np.where(rows.is_of(PARENT, FROM_PROFIT), np.nan, rows[PROFIT])
    pretax = np.where(rows.is_of(PRETAX, FROM_INCOME), np.nan, rows[PRETAX])
    income = first_known(rows[PARENT], common, profit)
    basic, diluted = (first_known(*(rows[count] for count in counts)) for counts in (COUNTS, COUNTS[::-1]))
    by_basic, by_diluted = rows[EARNINGS] * basic, rows[DILUTED_EARNINGS] * diluted
    strong = {
        PARENT: _sign_if_same_size(rows[PARENT], SIMILAR, income),
        COMMON: _sign_if_same_size(common, SIMILAR, income, by_basic),
        PROFIT: _sign_if_same_size(profit, SIMILAR, income),
        EARNINGS: _sign_if_same_size(by_basic, SIMILAR, income, common, rounding=CENT_ROUNDING * basic),
        DILUTED_EARNINGS: _sign_if_same_size(by_diluted, SIMILAR, income, common, rounding=CENT_ROUNDING * diluted),
    }
    amounts = (income, common, profit)
    # income before tax less tax is net income unless operations were discontinued, and so is the change of retained
    # earnings unless dividends were distributed; if income before tax is negligible, the tax itself may have the wrong
    # sign
    is_taxed = np.abs(pretax) > RESTATED * np.nan_to_num(np.abs(tax))
    of_tax = np.where(is_taxed, _sign_if_same_size(pretax - np.nan_to_num(tax), RESTATED, *amounts), 0.0)
    of_retained = _sign_if_same_size(retained(rows), RESTATED, *amounts)
    is_two = np.abs(tax) > RESTATED * np.abs(pretax)
    own = sum(strong.values()) + np.where(is_two, OF_TWO_FIGURES, 1.0) * of_tax + OF_TWO_FIGURES * of_retained
    similar = (rows[COMPREHENSIVE], pretax, rows[OPERATING])
    weak = sum(_sign_if_same_size(amount, WEAKLY_ALIKE, income) for amount in similar)
    weak += np.where(np.isnan(basic), sum(np.sign(np.nan_to_num(rows[name])) for name in PER_SHARE), 0.0)
    sign, weak_sign = (np.sign(_so_far(rows, np.abs(income), votes)) for votes in (own, weak))
    decided = np.where(sign != 0, sign, weak_sign)
    # income can become a loss after preferred dividends: then income to common and earnings per share are both negative
    of_parent = _unanimous(strong[PARENT], strong[PROFIT], of_tax, of_retained)
    of_common = _unanimous(*(strong[name] for name in (COMMON, *PER_SHARE)))
    of_others = np.abs(first_known(common, by_basic, by_diluted))
    is_apart = np.abs(of_others - np.abs(income)) > RESTATED * np.abs(income)
    return strong, of_tax, np.where((of_parent * of_common < 0) & is_apart, np.nan, decided)


def _sign_if_same_size(amount: Floats, share: float, *of: Floats, rounding: Floats | float = 0.0) -> Floats:
    """The sign of an amount that has the size of one of the others; otherwise zero."""
    sizes = [np.abs(other) for other in of]
    alike = np.any([np.abs(np.abs(amount) - size) <= share * size + rounding for size in sizes], axis=0)
    return np.where(alike, np.sign(amount), 0.0)


def _unanimous(*votes: Floats) -> Floats:
    """The sign on which all votes agree, or zero if they disagree."""
    unanimous: Floats = np.sign(np.max(votes, axis=0) + np.min(votes, axis=0))
    return unanimous


def retained(rows: PeriodRows) -> Floats:
    """The change of retained earnings over each period, as known after its filing."""
    at_end, at_begin = (rows.balance(RETAINED, day) for day in (rows.end, rows.start - 1))
    return picked(rows.figures.value, at_end) - picked(rows.figures.value, at_begin)


def _so_far(rows: PeriodRows, size: Floats, votes: Floats) -> Floats:
    """The sum of the votes of all filings so far that state the period with the same amount."""
    period = packed(rows.company, rows.start, rows.end)
    first = pl.col("size").first().over("period")
    alike = (pl.col("size") - first).abs() <= RESTATED * first
    so_far = pl.when(alike).then(pl.col("votes").cum_sum().over("period", alike)).otherwise("votes")
    return pl.DataFrame({"period": period, "size": size, "votes": votes}).select(so_far).to_series().to_numpy()


def proposals_for_tax_and_outflows(figures: Figures) -> list[Proposal]:
    """Reverse the sign of tax that contradicts income before and after it, and of outflows filed as negative."""
    rows = PeriodRows.of(figures, (COMMON, PARENT, PRETAX, TAX))
    pretax, tax, income = rows[PRETAX], rows[TAX], first_known(rows[PARENT], rows[COMMON])
    after_tax, with_tax = (np.abs(amount - income) for amount in (pretax - tax, pretax + tax))
    # minorities and discontinued operations are a small part of the tax
    errs = (with_tax <= SIMILAR * np.abs(tax)) & (after_tax > SIMILAR * np.abs(tax))
    at = figures.of_concepts((*OUTFLOWS, DIVIDENDS))
    _, of_line = np.unique(packed(figures.line[at], figures.seq[at]), return_inverse=True)
    is_alone = np.bincount(of_line, weights=figures.value[at] >= 0)[of_line] == 0
    at = at[(figures.value[at] < 0) & (is_alone | (figures.concept[at] == NUMBER_OF[DIVIDENDS]))]
    return [
        rows.propose(TAX_SIGN, "income before tax less tax of the same filing", TAX, errs, -1.0),
        Proposal(OUTFLOW_SIGN, "the filing shows every figure of this outflow with a minus sign", at, -1.0),
    ]


def proposals_by_filings(figures: Figures) -> list[Proposal]:
    """Reverse figures of UNCHECKED concepts whose sign contradicts the filings so far; leave them out if none prevails.

    The sign that most filings up to this one state for the period prevails; if both are equally frequent, the sign of
    most figures of the line in this filing and earlier ones. Only amounts that are as large as in the first filing of
    the period count.
    """
    at = figures.of_concepts(UNCHECKED)
    at = at[np.abs(figures.value[at]) > 0]
    names = ("line", "seq", "first", "value")
    size, first = pl.col("value").abs(), pl.col("value").abs().first().over("first")
    votes = (
        pl.DataFrame({"at": at, **{name: getattr(figures, name)[at] for name in names}})
        .filter((size - first).abs() <= RESTATED * size)
        .with_columns(sign=pl.col("value").sign())
        .with_columns(of_period=pl.col("sign").cum_sum().over("first"))
        .sort("line", "seq", maintain_order=True)
        .with_columns(of_line=pl.col("sign").cum_sum().over("line"))
        .with_columns(pl.col("of_line").last().over("line", "seq"))
    )
    is_tied, is_turned = pl.col("of_period") == 0, pl.col("sign") == -pl.col("of_line").sign()
    by_none = "filings state both signs equally often, and so do those of the line's other periods"
    return [
        Proposal(SIGN_OF_FILINGS, evidence, votes.filter(holds)["at"].to_numpy(), factor)
        for evidence, holds, factor in (
            (BY_FILINGS_OF_PERIOD, pl.col("sign") == -pl.col("of_period").sign(), -1.0),
            (BY_LINE, is_tied & is_turned, -1.0),
            (by_none, is_tied & (pl.col("of_line") == 0), np.nan),
        )
    ]
