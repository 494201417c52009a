"""The sign of income by the majority of its witnesses."""

import pytest

from pipelines.normalize.corrections import scale, signs
from tests.factories import DILUTED, EPS, NET_INCOME, SHARES, corrected_by, fact, raw, signed

COMMON = "NetIncomeLossAvailableToCommonStockholdersBasic"
PROFIT = "ProfitLoss"
PRETAX = "IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest"
TAX = "IncomeTaxExpenseBenefit"
EPS_DILUTED = "EarningsPerShareDiluted"
OPERATING = "OperatingIncomeLoss"
COMPREHENSIVE = "ComprehensiveIncomeNetOfTax"
RETAINED = "RetainedEarningsAccumulatedDeficit"


def stating(figures, year=2023, filed="2024-02-27"):
    """A report with these figures of a year; a pair of balances is of its beginning and its end."""
    rows = []
    for tag, amount in figures.items():
        if isinstance(amount, tuple):
            ends = (f"{year - 1}-12-31", f"{year}-12-31")
            rows += [fact(tag, value, None, end, filed=filed) for value, end in zip(amount, ends, strict=True)]
        else:
            rows.append(fact(tag, amount, f"{year}-01-01", f"{year}-12-31", filed=filed))
    return rows


def found_in(*reports):
    """The amount of each concept by the year of the filing and of the period; None if it is left out."""
    correctors = signs.of_income, scale.of_shares, signs.of_tax_and_outflows
    rows = corrected_by(signed(raw(*reports)), *correctors).rows(named=True)
    return {(row["concept"], row["filed"].year, row["end"].year): pytest.approx(row["value"]) for row in rows}


def test_income_to_common_has_the_sign_of_all_others():
    """A software company states its losses as positive income to common: three other figures show the loss."""
    found = found_in(
        stating(
            {
                NET_INCOME: -136_867e3,
                COMMON: 136_867e3,
                EPS: -2.99,
                EPS_DILUTED: -2.99,
                SHARES: 45_804_714,
                DILUTED: 45_804_714,
                PRETAX: -129_461e3,
                TAX: 7_406e3,
            }
        )
    )

    assert found["net_income_common", 2024, 2023] == -136_867e3
    assert found["eps_basic", 2024, 2023] == -2.99


def test_consolidated_income_alone_is_the_minority():
    """A mining company's consolidated and comprehensive income have lost their minus signs; two other lines have it."""
    found = found_in(
        stating({NET_INCOME: -40_308e3, COMMON: -40_057e3, PROFIT: 40_080e3, COMPREHENSIVE: 40_226e3, SHARES: 28e6})
    )

    assert found["net_income_common", 2024, 2023] == -40_057e3
    assert found["net_income_parent", 2024, 2023] == -40_308e3


def test_the_change_of_retained_earnings_proves_a_loss():
    """Income before tax, tax and consolidated income have the wrong sign; the deficit grew by the loss."""
    found = found_in(
        stating(
            {
                NET_INCOME: -40_661_803,
                PROFIT: 40_662_716,
                PRETAX: 40_497_231,
                TAX: -165_485,
                COMPREHENSIVE: -40_658_399,
                OPERATING: -40_821_103,
                RETAINED: (1_342_788, -39_319_015),
            }
        )
    )

    assert found["net_income_parent", 2024, 2023] == -40_661_803
    assert found["pretax_income", 2024, 2023] == -40_497_231


def test_a_later_filing_does_not_turn_a_loss():
    """A quarterly report repeats the losses of earlier years without their minus signs, and nothing else of them."""
    found = found_in(
        stating({NET_INCOME: -616.2e6, COMMON: -616.2e6, EPS: -5.78, SHARES: 106.6e6}),
        stating({NET_INCOME: 616.2e6}, filed="2025-11-09"),
    )

    assert found["net_income_parent", 2025, 2023] == -616.2e6


def test_a_repeated_loss_of_another_amount_is_a_restatement():
    """165 million of loss, restated to 161 million of income by a new standard."""
    found = found_in(stating({NET_INCOME: -165e6}), stating({NET_INCOME: 161e6}, filed="2025-02-01"))

    assert found["net_income_parent", 2025, 2023] == 161e6


def test_a_loss_after_preferred_dividends_is_no_error():
    """Income of 35 and, after preferred dividends, a loss of 23 to common, which both earnings per share show."""
    figures = {NET_INCOME: 35e6, PROFIT: 35e6, COMMON: -34e6, EPS: -0.34, EPS_DILUTED: -0.34, SHARES: 100e6}
    found = found_in(stating(figures))

    assert found["net_income_parent", 2024, 2023] == 35e6
    assert found["net_income_common", 2024, 2023] == -34e6
    assert found["eps_basic", 2024, 2023] == -0.34


def test_where_nothing_decides_nothing_is_known():
    """There are as many witnesses for one sign as for the other: income and earnings are left out."""
    found = found_in(stating({NET_INCOME: 90e6, COMMON: -90e6}))

    assert found == {}


def test_weak_witnesses_decide_only_a_tie():
    """Operating income of the other sign is common; it decides only where the others are equal in number."""
    assert (
        found_in(stating({NET_INCOME: 90e6, COMMON: -90e6, OPERATING: 100e6}))["net_income_common", 2024, 2023] == 90e6
    )
    assert found_in(stating({NET_INCOME: -90e6, OPERATING: 100e6}))["net_income_parent", 2024, 2023] == -90e6
