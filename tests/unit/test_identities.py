"""Identities among the figures of one filing: which errors of scale and sign they prove, and which they do not."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.normalize.corrections import scale, signs
from pipelines.normalize.corrections.scale import BY_COUNTS, BY_LIMITS
from tests.factories import (
    CAPITAL_SPENDING,
    DILUTED,
    EPS,
    NET_INCOME,
    REVENUE,
    SHARES,
    corrected_by,
    fact,
    of_companies,
    raw,
    signed,
)
from tests.strategies import not_the_simplest

COMMON = "NetIncomeLossAvailableToCommonStockholdersBasic"
PRETAX = "IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest"
TAX = "IncomeTaxExpenseBenefit"
PREFERRED = "PreferredStockDividendsIncomeStatementImpact"

YEARS = [(f"{year}-01-01", f"{year}-12-31", f"{year + 1}-02-20") for year in range(2021, 2025)]
COUNT, INCOME, EARNINGS = 40_000_000.0, 90_000_000.0, 2.25


CORRECTORS = signs.proposals_for_income, scale.proposals_for_shares, signs.proposals_for_tax_and_outflows


def annual_report(year=0, count=COUNT, earnings=EARNINGS, income=INCOME, diluted=None):
    figures = {SHARES: count, EPS: earnings, NET_INCOME: income, DILUTED: diluted}
    return stating(year, {tag: value for tag, value in figures.items() if value is not None})


def stating(year, figures):
    """An annual report with these figures for its year."""
    start, end, filed = YEARS[year]
    return [fact(tag, value, start, end, filed=filed) for tag, value in figures.items()]


def in_units(*reports):
    """Corrected value and kind of repair, by concept and year."""
    found = corrected_by(signed(raw(*reports)), *CORRECTORS).rows(named=True)
    return {(row["concept"], f"{row['end']:%Y}"): (pytest.approx(row["value"]), row["repair"]) for row in found}


FIRST = annual_report(0)
WRONG_COUNT = annual_report(count=COUNT / 1000)
CORRECTED = {
    # a count that is 10^3 or 10^6 away from net income divided by earnings per share of its filing
    **{
        f"income over earnings is the share count, 10^{power}": (
            annual_report(count=COUNT / 10**power),
            {("shares_basic", "2021"): (COUNT, 10.0**power), ("eps_basic", "2021"): (EARNINGS, 1.0)},
        )
        for power in (3, 6, -3)
    },
    # dilution changes a count by far less than a factor of a thousand
    "diluted counts are repaired by basic earnings": (
        annual_report(diluted=COUNT * 1.1 / 1000),
        {("shares_diluted", "2021"): (COUNT * 1.1, 1000.0)},
    ),
    # the count agrees with the year before, so earnings of 2,250 per share are the error
    "earnings are repaired where the count fits those before": (
        [*FIRST, *annual_report(1, earnings=EARNINGS * 1000)],
        {("eps_basic", "2022"): (EARNINGS, 0.001), ("shares_basic", "2022"): (COUNT, 1.0)},
    ),
    # net income in thousands and counts in units: only net income is wrong
    "income is repaired where count and earnings fit those before": (
        [*FIRST, *annual_report(1, income=INCOME / 1000)],
        {
            ("net_income_parent", "2022"): (INCOME, 1000.0),
            ("eps_basic", "2022"): (EARNINGS, 1.0),
            ("shares_basic", "2022"): (COUNT, 1.0),
        },
    ),
    # a loss of two cents after 2.25: a thousandth of two cents would be further away
    "income is repaired where earnings are a small part of those before": (
        [*FIRST, *annual_report(1, earnings=-0.02, income=-0.02 * COUNT / 1000)],
        {("net_income_parent", "2022"): (-0.02 * COUNT, 1000.0), ("eps_basic", "2022"): (-0.02, 1.0)},
    ),
    # The first report of a company: 930 per share and 10,998,041,000 shares, with net income of 10,278,000. By the
    # identity the count is a million times too large; but so few shares do not earn 930 each, so both are wrong.
    "counts and earnings may both be wrong": (
        annual_report(count=10_998_041_000, diluted=10_998_041_000, earnings=930, income=10_278_000),
        {
            ("shares_basic", "2021"): (10_998_041, 0.001),
            ("shares_diluted", "2021"): (10_998_041, 0.001),
            ("eps_basic", "2021"): (0.93, 0.001),
            ("net_income_parent", "2021"): (10_278_000, 1.0),
        },
    ),
    # Merck states 3,076 diluted shares for 2012: the counts before, and income per share, both show millions
    "a count in millions is multiplied once": (
        [
            *stating(0, {DILUTED: 3_094e6, NET_INCOME: 6_272e6}),
            *stating(1, {DILUTED: 3_076, NET_INCOME: 6_168e6}),
        ],
        {("shares_diluted", "2022"): (3_076e6, 1e6)},
    ),
    # 8,685 for common shares and 8,685,000 for the parent, with earnings and counts that fit the latter
    "income to common in thousands and the parent's in units": (
        stating(0, {COMMON: 8_685, NET_INCOME: 8_685_000, EPS: 1.25, SHARES: 6_948_000}),
        {("net_income_common", "2021"): (8_685_000, 1000.0), ("shares_basic", "2021"): (6_948_000, 1.0)},
    ),
    # 20,867 before tax, a tax of -7,133 and 13,381 after it: the tax was an expense
    "the sign of a tax that contradicts income": (
        stating(0, {PRETAX: 20_867e6, TAX: -7_133e6, NET_INCOME: 13_381e6}),
        {("income_tax", "2021"): (7_133e6, -1.0), ("net_income_parent", "2021"): (13_381e6, 1.0)},
    ),
    # 22,118 before tax, a tax of -7,156, and 14,370 after tax, minorities and a discontinued business
    "the sign of a tax after minorities": (
        stating(0, {PRETAX: 22_118e6, TAX: -7_156e6, NET_INCOME: 14_370e6}),
        {("income_tax", "2021"): (7_156e6, -1.0)},
    ),
    # a loss before tax of 10 and a benefit of 2 leave a loss of 8, not a profit
    "the sign of income after tax": (
        stating(0, {PRETAX: -10e6, TAX: -2e6, NET_INCOME: 8e6, COMMON: 8e6}),
        {("net_income_parent", "2021"): (-8e6, -1.0), ("net_income_common", "2021"): (-8e6, -1.0)},
    ),
    # zero before tax, an expense of 5 and income of 5: tax or income is wrong
    "only one figure is corrected where either may be wrong": (
        stating(0, {PRETAX: 1e3, TAX: 5e6, NET_INCOME: 5e6}),
        {("income_tax", "2021"): (-5e6, -1.0), ("net_income_parent", "2021"): (5e6, 1.0)},
    ),
    # a loss per share, and a profit of that amount that the cash flow statement repeats: the loss is wrong
    "earnings have the sign of income": (
        [*annual_report(earnings=-EARNINGS), *stating(0, {"ProfitLoss": INCOME})],
        {("eps_basic", "2021"): (EARNINGS, -1.0), ("net_income_parent", "2021"): (INCOME, 1.0)},
    ),
    # a loss before tax, a loss per share and a profit: the profit is wrong
    "the sign of income by earnings and income before tax": (
        stating(0, {PRETAX: -95e6, NET_INCOME: INCOME, EPS: -EARNINGS, SHARES: COUNT}),
        {("net_income_parent", "2021"): (-INCOME, -1.0), ("eps_basic", "2021"): (-EARNINGS, 1.0)},
    ),
    # payments are positive by definition: a filing with only negative figures of a line copied the displayed sign
    **{
        f"the sign of an outflow with negative figures only, {concept}": (
            [
                fact(tag, -4_452e6, *YEARS[0][:2], filed=YEARS[1][2]),
                *stating(1, {tag: -5_984e6, REVENUE: 9e9}),
            ],
            {(concept, "2022"): (5_984e6, -1.0), ("revenue", "2022"): (9e9, 1.0)},
        )
        for tag, concept in ((CAPITAL_SPENDING, "capital_expenditure"), (PREFERRED, "preferred_dividends"))
    },
    # a wrong count leads to a correction of the count only
    "other money is never touched": (
        [*WRONG_COUNT, *stating(0, {REVENUE: 5e9, CAPITAL_SPENDING: 1e9})],
        {
            ("net_income_parent", "2021"): (INCOME, 1.0),
            ("revenue", "2021"): (5e9, 1.0),
            ("capital_expenditure", "2021"): (1e9, 1.0),
        },
    ),
    # values known on a day do not depend on later filings
    "later filings do not correct earlier ones": (
        [*annual_report(0, count=COUNT / 1000, earnings=None, income=9e6), *annual_report(1)],
        {("shares_basic", "2021"): (COUNT / 1000, 1.0)},
    ),
}
"""Reports, and corrected values with their factors, by concept and year."""


@pytest.mark.parametrize(("reports", "expected"), CORRECTED.values(), ids=CORRECTED)
def test_figures_are_corrected(reports, expected):
    found = in_units(reports)

    assert {key: found[key] for key in expected} == expected


@pytest.mark.parametrize(
    ("reports", "concept", "year", "expected", "evidence"),
    [
        # if a filing states only the count, earlier filings show its scale
        (
            [*FIRST, *annual_report(1, count=COUNT / 1000, earnings=None)],
            "shares_basic",
            "2022",
            (COUNT, 1000.0),
            BY_COUNTS,
        ),
        # 5,922 shares with earnings of 19.8 billion are in millions, even if nothing else shows it
        (
            annual_report(count=None, diluted=5_922, earnings=None, income=19.8e9),
            "shares_diluted",
            "2021",
            (5_922e6, 1e6),
            BY_LIMITS,
        ),
        (
            annual_report(count=None, diluted=37_922, earnings=None, income=1.98e9),
            "shares_diluted",
            "2021",
            (37_922e3, 1e3),
            BY_LIMITS,
        ),
    ],
    ids=["the count before", "in millions", "in thousands"],
)
def test_a_count_without_earnings_is_corrected_with_evidence(reports, concept, year, expected, evidence):
    found = corrected_by(signed(raw(reports)), *CORRECTORS).filter(concept=concept)

    assert in_units(reports)[concept, year] == expected
    assert found["evidence"].to_list()[-1] == evidence


UNTOUCHED = {
    "a split": annual_report(count=COUNT * 4, earnings=EARNINGS / 4),
    # not a power of a thousand: another error, which is not corrected
    "another error": annual_report(count=COUNT * 50),
    "no earnings": annual_report(earnings=0.0),
    "neither income nor earnings": annual_report(income=0.0, earnings=0.0),
    "preferred dividends": stating(0, {COMMON: INCOME - 5e6, NET_INCOME: INCOME, EPS: 2.125, SHARES: COUNT}),
    # ten times the shares and a tenth of the earnings, and a count without earnings after it
    "a split between reports": [
        *FIRST,
        *annual_report(1, count=COUNT * 10, earnings=EARNINGS / 10),
        *annual_report(2, COUNT * 10, None),
    ],
    # a company with 80,000 shares that earn 6,000 each may state fewer shares without other figures
    **{
        f"{count} shares of an expensive stock": [
            *annual_report(0, 80_000.0, 6_000.0, 480e6),
            *annual_report(1, count, None, 480e6),
        ]
        for count in (80_000.0, 20_000.0)
    },
    # if net income exceeds income before tax, the tax is rightly negative; and a loss may have a tax expense
    "a tax benefit": stating(0, {PRETAX: 100e6, TAX: -20e6, NET_INCOME: 120e6}),
    "a tax expense of a loss": stating(0, {PRETAX: -100e6, TAX: 20e6, NET_INCOME: -120e6}),
    # a loss per share with a small profit proves nothing: preferred dividends may exceed the profit
    "signs that differ in other amounts": annual_report(income=INCOME / 3, earnings=-EARNINGS),
    # a correction of the year before may be negative: the line stays as filed
    "one negative figure of a line": [
        fact(CAPITAL_SPENDING, value, *YEARS[n][:2], filed=YEARS[1][2]) for n, value in enumerate([-3e6, 60e6])
    ],
}


@pytest.mark.parametrize("reports", UNTOUCHED.values(), ids=UNTOUCHED)
def test_figures_without_proof_are_not_corrected(reports):
    """Splits, other errors, cents and zeros prove no error of scale or sign: the figures stay as filed."""
    assert {repair for _, repair in in_units(reports).values()} == {1.0}


def test_income_and_earnings_with_two_signs_are_left_out():
    """A loss per share and a profit of the matching amount: nothing shows which is right."""
    assert {key for key, _ in in_units(annual_report(earnings=-EARNINGS))} == {"shares_basic"}


def test_the_precision_of_a_figure_is_corrected_with_it():
    """40,000 thousand is precise to the thousand: a repetition in units is more precise and not a restatement."""
    vintages = signed(raw(annual_report(count=40_123.0)))

    found = corrected_by(vintages, scale.proposals_for_shares).filter(pl.col("concept") == "shares_basic")

    assert found.select("value", "grain").row(0) == (40_123_000.0, 1000.0)


errors = st.fixed_dictionaries(
    {
        "count": st.sampled_from([COUNT, COUNT / 1e3, COUNT / 1e6, COUNT * 1e3, None]),
        "earnings": st.sampled_from([EARNINGS, -EARNINGS, EARNINGS * 1e3, None]),
        "income": st.sampled_from([INCOME, -INCOME, INCOME / 1e3]),
        "diluted": st.sampled_from([None, COUNT * 1.05, COUNT / 1e3]),
    }
)


four_reports = st.lists(errors, min_size=4, max_size=4)


@settings(max_examples=1, deadline=None)
@given(drawn=not_the_simplest(st.lists(st.tuples(four_reports, st.integers(1, 3)), min_size=40, max_size=40)))
def test_corrections_after_a_filing_do_not_depend_on_later_ones(drawn):
    """For any errors in four reports, the first reports are corrected alike with and without the later reports."""
    filed = [[annual_report(year, **report) for year, report in enumerate(reports)] for reports, _ in drawn]

    def found(several):
        facts, _ = of_companies({str(number): raw(*reports) for number, reports in enumerate(several)})
        rows = corrected_by(signed(facts), *CORRECTORS).rows(named=True)
        return {(row["cik"], row["concept"], row["end"]): (pytest.approx(row["value"]), row["repair"]) for row in rows}

    whole, then = found(filed), found([reports[:known] for reports, (_, known) in zip(filed, drawn, strict=True)])

    assert {key: one for key, one in whole.items() if key in then} == then
