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
    correctors = signs.proposals_for_income, scale.proposals_for_shares, signs.proposals_for_tax_and_outflows
    rows = corrected_by(signed(raw(*reports)), *correctors).rows(named=True)
    return {(row["concept"], row["filed"].year, row["end"].year): pytest.approx(row["value"]) for row in rows}


PROFITABLE = {NET_INCOME: 35e6, PROFIT: 35e6, COMMON: -34e6, EPS: -0.34, EPS_DILUTED: -0.34, SHARES: 100e6}


TIED = {NET_INCOME: 90e6, COMMON: -90e6}


VOTES = {
    # reports, the year of the filing that counts, and the amounts of 2023 that are known after it
    "a software company states its losses as positive income to common: three other figures show the loss": (
        [
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
        ],
        2024,
        {"net_income_common": -136_867e3, "eps_basic": -2.99},
    ),
    "consolidated and comprehensive income of a mining company have lost their minus signs; two other lines have it": (
        [stating({NET_INCOME: -40_308e3, COMMON: -40_057e3, PROFIT: 40_080e3, COMPREHENSIVE: 40_226e3, SHARES: 28e6})],
        2024,
        {"net_income_common": -40_057e3, "net_income_parent": -40_308e3},
    ),
    "income before tax, tax and consolidated income have the wrong sign; the deficit grew by the loss": (
        [
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
        ],
        2024,
        {"net_income_parent": -40_661_803, "pretax_income": -40_497_231},
    ),
    "a quarterly report repeats the losses of earlier years without their minus signs, and nothing else of them": (
        [
            stating({NET_INCOME: -616.2e6, COMMON: -616.2e6, EPS: -5.78, SHARES: 106.6e6}),
            stating({NET_INCOME: 616.2e6}, filed="2025-11-09"),
        ],
        2025,
        {"net_income_parent": -616.2e6},
    ),
    "165 million of loss, restated to 161 million of income by a new standard": (
        [stating({NET_INCOME: -165e6}), stating({NET_INCOME: 161e6}, filed="2025-02-01")],
        2025,
        {"net_income_parent": 161e6},
    ),
    "income of 35 and, after preferred dividends, a loss to common, which both earnings per share show": (
        [stating(PROFITABLE)],
        2024,
        {"net_income_parent": 35e6, "net_income_common": -34e6, "eps_basic": -0.34},
    ),
    "operating income of the other sign is common; it decides where the others are equal in number": (
        [stating(TIED | {OPERATING: 100e6})],
        2024,
        {"net_income_common": 90e6},
    ),
    "operating income alone decides nothing": (
        [stating({NET_INCOME: -90e6, OPERATING: 100e6})],
        2024,
        {"net_income_parent": -90e6},
    ),
}


@pytest.mark.parametrize(("reports", "filed", "amounts"), VOTES.values(), ids=VOTES)
def test_the_sign_is_that_of_most_witnesses(reports, filed, amounts):
    found = found_in(*reports)

    assert {concept: found[concept, filed, 2023] for concept in amounts} == amounts


def test_where_nothing_decides_nothing_is_known():
    """There are as many witnesses for one sign as for the other: income and earnings are left out."""
    assert found_in(stating(TIED)) == {}
