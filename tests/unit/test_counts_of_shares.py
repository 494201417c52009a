"""Counts of shares, earnings per share and net income that contradict each other: which of them is corrected."""

import pytest

from pipelines.normalize.corrections.ledger import corrected
from tests.factories import DILUTED, EPS, NET_INCOME, SHARES, fact, raw, signed

ADJUSTMENT, CONTINUING, DISCONTINUED = (
    "WeightedAverageNumberDilutedSharesOutstandingAdjustment",
    "IncomeLossFromContinuingOperationsPerBasicShare",
    "IncomeLossFromDiscontinuedOperationsNetOfTaxPerBasicShare",
)
COVER = "EntityCommonStockSharesOutstanding"
ISSUED = "CommonStockSharesIssued"
USUAL = {NET_INCOME: 90e6, EPS: 2.25, SHARES: 40e6}


def year(number, figures):
    """An annual report; the shares outstanding are stated on its cover page."""
    days = {COVER: (None, f"{number + 1}-02-10"), ISSUED: (None, f"{number}-12-31")}
    of_year = (f"{number}-01-01", f"{number}-12-31")
    units = {
        SHARES: "shares",
        DILUTED: "shares",
        ADJUSTMENT: "shares",
        COVER: "shares",
        ISSUED: "shares",
        NET_INCOME: "USD",
    }
    return [
        fact(
            tag,
            value,
            *days.get(tag, of_year),
            unit=units.get(tag, "USD/shares"),
            taxonomy="dei" if tag == COVER else "us-gaap",
            filed=f"{number + 1}-02-20",
        )
        for tag, value in figures.items()
    ]


def repaired(*reports):
    """The corrected figures: concept, year and corrected value; None if it is left out."""
    _, repairs, *_ = corrected(signed(raw(*reports)))
    columns = repairs.select("concept", "end", "value").rows()
    return {(concept, end.year): value and pytest.approx(value, rel=1e-9) for concept, end, value in columns}


@pytest.mark.parametrize(
    ("figures", "expected"),
    [
        pytest.param({NET_INCOME: 90e3, COVER: 41e6}, {("net_income_parent", 2021): 90e6}, id="income in thousands"),
        pytest.param({NET_INCOME: 90e3, ISSUED: 55e6}, {("net_income_parent", 2021): 90e6}, id="by shares issued"),
        pytest.param({EPS: 0.00225, COVER: 41e6}, {("eps_basic", 2021): 2.25}, id="earnings in thousandths"),
        pytest.param({EPS: 2250.0, COVER: 41e6}, {("eps_basic", 2021): 2.25}, id="earnings in thousands"),
        pytest.param({SHARES: 40e3, COVER: 41e6}, {("shares_basic", 2021): 40e6}, id="shares in thousands"),
        pytest.param({SHARES: 40e3}, {("shares_basic", 2021): 40e6}, id="without shares outstanding"),
        pytest.param(
            {DILUTED: 40.5e3, COVER: 41e6}, {("shares_diluted", 2021): 40.5e6}, id="diluted shares alone in thousands"
        ),
        pytest.param({COVER: 41.0}, {}, id="a cover in millions corrects nothing"),
        pytest.param({SHARES: 40e3, COVER: 900e3}, {("shares_basic", 2021): 40e6}, id="the cover of a small class"),
    ],
)
def test_the_shares_outstanding_show_which_figure_is_in_other_units(figures, expected):
    assert repaired(year(2021, {**USUAL, **figures})) == expected


@pytest.mark.parametrize(
    ("count", "outstanding", "expected"),
    [
        pytest.param(40e9, 41e9, {}, id="a thousand times as many are outstanding"),
        pytest.param(432e9, 431e6, {("shares_basic", 2022): 432e6}, id="a thousandth is outstanding"),
        pytest.param(43e6, 44e6, {}, id="as many as before"),
        pytest.param(43e3, 900e3, {("shares_basic", 2022): 43e6}, id="those of a small class show nothing"),
    ],
)
def test_shares_outstanding_confirm_or_correct_a_count_without_earnings(count, outstanding, expected):
    assert repaired(year(2021, USUAL), year(2022, {SHARES: count, COVER: outstanding})) == expected


@pytest.mark.parametrize(
    ("figures", "expected"),
    [
        pytest.param({ADJUSTMENT: 40e6}, {("shares_diluted", 2021): 40e6}, id="all shares again"),
        pytest.param({ADJUSTMENT: 41.5e6}, {("shares_diluted", 2021): 41.5e6}, id="the diluted average"),
        pytest.param({ADJUSTMENT: 1.5e6}, {}, id="potential shares"),
        pytest.param({ADJUSTMENT: 39e6, "EarningsPerShareDiluted": 1.14}, {}, id="as many potential shares"),
    ],
)
def test_an_adjustment_that_is_a_count_is_not_added(figures, expected):
    assert repaired(year(2021, {**USUAL, **figures})) == expected


@pytest.mark.parametrize(
    ("continuing", "discontinued", "expected"),
    [
        pytest.param(2.0, 0.25, {}, id="the sum is net income over shares"),
        pytest.param(2.25, 0.85, {("eps_basic", 2021): 2.25}, id="the first is the whole already"),
        pytest.param(-1.0, -3.0, {("eps_basic", 2021): -2.25}, id="a loss counted in part twice"),
    ],
)
def test_a_sum_of_earnings_per_share_is_net_income_over_shares(continuing, discontinued, expected):
    income = 90e6 if continuing > 0 else -90e6
    figures = {NET_INCOME: income, SHARES: 40e6, CONTINUING: continuing, DISCONTINUED: discontinued}

    assert repaired(year(2021, figures)) == expected
