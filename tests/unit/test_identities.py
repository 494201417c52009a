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


CORRECTORS = signs.of_income, scale.of_shares, signs.of_tax_and_outflows


def annual_report(year=0, count=COUNT, earnings=EARNINGS, income=INCOME, diluted=None):
    figures = {SHARES: count, EPS: earnings, NET_INCOME: income, DILUTED: diluted}
    return stating(year, {tag: value for tag, value in figures.items() if value is not None})


def stating(year, figures):
    """An annual report with these figures for its year."""
    start, end, filed = YEARS[year]
    return [fact(tag, value, start, end, filed=filed) for tag, value in figures.items()]


def found_in(*reports):
    return corrected_by(signed(raw(*reports)), *CORRECTORS).rows(named=True)


def in_units(*reports):
    """Corrected value and kind of repair, by concept and year."""
    return {
        (row["concept"], f"{row['end']:%Y}"): (pytest.approx(row["value"]), row["repair"]) for row in found_in(*reports)
    }


def why(concept, *reports):
    """The evidence of a concept's repair in the newest report."""
    return [row["evidence"] for row in found_in(*reports) if row["concept"] == concept][-1]


def untouched(*reports):
    return {row["repair"] for row in found_in(*reports)} == {1.0}


# --- Scale: counts


@pytest.mark.parametrize("power", [3, 6, -3])
def test_income_over_earnings_is_the_share_count(power):
    """A count that is 10^3 or 10^6 away from net income divided by earnings per share of its filing is corrected."""
    found = in_units(annual_report(count=COUNT / 10**power))

    assert found["shares_basic", "2021"] == (COUNT, 10.0**power)
    assert found["eps_basic", "2021"] == (EARNINGS, 1.0)


def test_a_count_without_earnings_is_held_against_the_one_before():
    """If a filing states only the count, earlier filings show its scale."""
    reports = annual_report(0), annual_report(1, count=COUNT / 1000, earnings=None)

    assert in_units(*reports)["shares_basic", "2022"] == (COUNT, 1000.0)
    assert why("shares_basic", *reports) == BY_COUNTS


@pytest.mark.parametrize(
    ("count", "income", "units"),
    [
        (5_922, 19.8e9, 5_922e6),  # in millions
        (37_922, 1.98e9, 37_922e3),  # in thousands
    ],
)
def test_so_few_shares_cannot_earn_so_much(count, income, units):
    """A count of 5,922 with earnings of 19.8 billion is in millions, even if nothing else shows it."""
    reports = annual_report(count=None, diluted=count, earnings=None, income=income)

    assert in_units(reports)["shares_diluted", "2021"] == (units, units / count)
    assert why("shares_diluted", reports) == BY_LIMITS


@pytest.mark.parametrize("count", [80_000.0, 20_000.0])
def test_few_shares_of_an_expensive_stock_are_not_corrected(count):
    """A company with 80,000 shares that earn 6,000 each may state fewer shares without other figures."""
    assert untouched(annual_report(0, 80_000.0, 6_000.0, 480e6), annual_report(1, count, None, 480e6))


def test_diluted_counts_are_repaired_by_basic_earnings():
    """Dilution changes a count by far less than a factor of a thousand."""
    found = in_units(annual_report(diluted=COUNT * 1.1 / 1000))

    assert found["shares_diluted", "2021"] == (COUNT * 1.1, 1000.0)


# --- Scale: earnings and income


def test_earnings_are_repaired_where_the_count_fits_those_before():
    """The count agrees with the year before, so earnings of 2,250 per share are the error."""
    found = in_units(annual_report(0), annual_report(1, earnings=EARNINGS * 1000))

    assert found["eps_basic", "2022"] == (EARNINGS, 0.001)
    assert found["shares_basic", "2022"] == (COUNT, 1.0)


def test_income_is_repaired_where_count_and_earnings_fit_those_before():
    """Net income in thousands and counts in units: only net income is wrong."""
    found = in_units(annual_report(0), annual_report(1, income=INCOME / 1000))

    assert found["net_income_parent", "2022"] == (INCOME, 1000.0)
    assert found["eps_basic", "2022"] == (EARNINGS, 1.0)
    assert found["shares_basic", "2022"] == (COUNT, 1.0)


def test_income_is_repaired_where_earnings_are_a_small_part_of_those_before():
    """A loss of two cents after 2.25: a thousandth of two cents would be further away."""
    found = in_units(annual_report(0), annual_report(1, earnings=-0.02, income=-0.02 * COUNT / 1000))

    assert found["net_income_parent", "2022"] == (-0.02 * COUNT, 1000.0)
    assert found["eps_basic", "2022"] == (-0.02, 1.0)


def test_counts_and_earnings_may_both_be_wrong():
    """The first report of a company: 930 per share and 10,998,041,000 shares, with net income of 10,278,000.

    By the identity the count is a million times too large; but so few shares do not earn 930 each, so both are wrong.
    """
    found = in_units(annual_report(count=10_998_041_000, diluted=10_998_041_000, earnings=930, income=10_278_000))

    assert found["shares_basic", "2021"] == (10_998_041, 0.001)
    assert found["shares_diluted", "2021"] == (10_998_041, 0.001)
    assert found["eps_basic", "2021"] == (0.93, 0.001)
    assert found["net_income_parent", "2021"] == (10_278_000, 1.0)


def test_a_count_in_millions_is_multiplied_once():
    """Merck states 3,076 diluted shares for 2012: the counts before, and income per share, both show millions."""
    first = stating(0, {DILUTED: 3_094e6, NET_INCOME: 6_272e6})

    assert in_units(first, stating(1, {DILUTED: 3_076, NET_INCOME: 6_168e6}))["shares_diluted", "2022"] == (
        3_076e6,
        1e6,
    )


def test_income_to_common_in_thousands_and_the_parents_in_units():
    """8,685 for common shares and 8,685,000 for the parent, with earnings and counts that fit the latter."""
    report = stating(0, {COMMON: 8_685, NET_INCOME: 8_685_000, EPS: 1.25, SHARES: 6_948_000})

    assert in_units(report)["net_income_common", "2021"] == (8_685_000, 1000.0)
    assert in_units(report)["shares_basic", "2021"] == (6_948_000, 1.0)


@pytest.mark.parametrize(
    "report",
    [
        annual_report(count=COUNT * 4, earnings=EARNINGS / 4),  # a split
        annual_report(count=COUNT * 50),  # not a power of a thousand: another error, which is not corrected
        annual_report(earnings=0.0),
        annual_report(income=0.0, earnings=0.0),
        stating(0, {COMMON: INCOME - 5e6, NET_INCOME: INCOME, EPS: 2.125, SHARES: COUNT}),  # preferred dividends
    ],
)
def test_figures_without_proof_are_not_corrected(report):
    """Splits, other errors, cents and zeros prove no error of scale: the figures stay as filed."""
    assert untouched(report)


def test_a_split_is_not_an_error_of_scale():
    """Ten times the shares and a tenth of the earnings, and a count without earnings after it."""
    assert untouched(
        annual_report(0), annual_report(1, count=COUNT * 10, earnings=EARNINGS / 10), annual_report(2, COUNT * 10, None)
    )


# --- Sign


def test_the_sign_of_a_tax_that_contradicts_income_is_corrected():
    """20,867 before tax, a tax of -7,133 and 13,381 after it: the tax was an expense."""
    found = in_units(stating(0, {PRETAX: 20_867e6, TAX: -7_133e6, NET_INCOME: 13_381e6}))

    assert found["income_tax", "2021"] == (7_133e6, -1.0)
    assert found["net_income_parent", "2021"] == (13_381e6, 1.0)


def test_the_sign_of_a_tax_is_corrected_after_minorities_too():
    """22,118 before tax, a tax of -7,156, and 14,370 after tax, minorities and a discontinued business."""
    found = in_units(stating(0, {PRETAX: 22_118e6, TAX: -7_156e6, NET_INCOME: 14_370e6}))

    assert found["income_tax", "2021"] == (7_156e6, -1.0)


def test_a_benefit_is_a_benefit():
    """If net income exceeds income before tax, the tax is rightly negative; and a loss may have a tax expense."""
    assert untouched(stating(0, {PRETAX: 100e6, TAX: -20e6, NET_INCOME: 120e6}))
    assert untouched(stating(0, {PRETAX: -100e6, TAX: 20e6, NET_INCOME: -120e6}))


def test_the_sign_of_income_after_tax_is_corrected():
    """A loss before tax of 10 and a benefit of 2 leave a loss of 8, not a profit."""
    found = in_units(stating(0, {PRETAX: -10e6, TAX: -2e6, NET_INCOME: 8e6, COMMON: 8e6}))

    assert found["net_income_parent", "2021"] == (-8e6, -1.0)
    assert found["net_income_common", "2021"] == (-8e6, -1.0)


def test_only_one_figure_is_corrected_where_either_may_be_wrong():
    """Zero before tax, an expense of 5 and income of 5: tax or income is wrong, and only one is corrected."""
    found = in_units(stating(0, {PRETAX: 1e3, TAX: 5e6, NET_INCOME: 5e6}))

    assert found["income_tax", "2021"] == (-5e6, -1.0)
    assert found["net_income_parent", "2021"] == (5e6, 1.0)


def test_earnings_have_the_sign_of_income():
    """A loss per share, and a profit of that amount that the cash flow statement repeats: the loss is wrong."""
    found = in_units(annual_report(earnings=-EARNINGS), stating(0, {"ProfitLoss": INCOME}))

    assert found["eps_basic", "2021"] == (EARNINGS, -1.0)
    assert found["net_income_parent", "2021"] == (INCOME, 1.0)


def test_income_and_earnings_with_two_signs_are_left_out():
    """A loss per share and a profit of the matching amount: nothing shows which is right."""
    assert {key for key, _ in in_units(annual_report(earnings=-EARNINGS))} == {"shares_basic"}


def test_the_sign_of_income_is_corrected_by_earnings_and_income_before_tax():
    """A loss before tax, a loss per share and a profit: the profit is wrong."""
    found = in_units(stating(0, {PRETAX: -95e6, NET_INCOME: INCOME, EPS: -EARNINGS, SHARES: COUNT}))

    assert found["net_income_parent", "2021"] == (-INCOME, -1.0)
    assert found["eps_basic", "2021"] == (-EARNINGS, 1.0)


def test_signs_that_differ_in_other_amounts_prove_nothing():
    """A loss per share with a small profit proves nothing: preferred dividends may exceed the profit."""
    assert untouched(annual_report(income=INCOME / 3, earnings=-EARNINGS))


@pytest.mark.parametrize("tag", [CAPITAL_SPENDING, PREFERRED])
def test_the_sign_of_an_outflow_with_negative_figures_only_is_corrected(tag):
    """Payments are positive by definition: a filing with only negative figures of a line copied the displayed sign."""
    start, end, filed = YEARS[1]
    report = [fact(tag, -4_452e6, *YEARS[0][:2], filed=filed), fact(tag, -5_984e6, start, end, filed=filed)]

    found = in_units(report, stating(1, {REVENUE: 9e9}))

    assert found[next(key for key in found if key[0] != "revenue" and key[1] == "2022")] == (5_984e6, -1.0)
    assert {repair for _, repair in found.values()} == {1.0, -1.0}


def test_one_negative_figure_of_a_line_is_not_corrected():
    """A correction of the year before may be negative: the line stays as filed."""
    report = [fact(CAPITAL_SPENDING, value, *YEARS[n][:2], filed=YEARS[1][2]) for n, value in enumerate([-3e6, 60e6])]

    assert untouched(report)


# --- Figures that are not corrected


def test_other_money_is_never_touched():
    """A wrong count leads to a correction of the count only."""
    report = [*annual_report(count=COUNT / 1000), *stating(0, {REVENUE: 5e9, CAPITAL_SPENDING: 1e9})]

    found = in_units(report)

    assert found["net_income_parent", "2021"] == (INCOME, 1.0)
    assert found["revenue", "2021"] == (5e9, 1.0)
    assert found["capital_expenditure", "2021"] == (1e9, 1.0)


def test_the_precision_of_a_figure_is_corrected_with_it():
    """40,000 thousand is precise to the thousand: a repetition in units is more precise and not a restatement."""
    vintages = signed(raw(annual_report(count=40_123.0)))

    found = corrected_by(vintages, scale.of_shares).filter(pl.col("concept") == "shares_basic")

    assert found.select("value", "grain").row(0) == (40_123_000.0, 1000.0)


def test_later_filings_do_not_correct_earlier_ones():
    """Values known on a day do not depend on later filings."""
    found = in_units(annual_report(0, count=COUNT / 1000, earnings=None, income=9e6), annual_report(1))

    assert found["shares_basic", "2021"] == (COUNT / 1000, 1.0)


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
