"""Amounts that no filing states and that its statements prove."""

import pytest

from tests.factories import CIK, EPS, Row, Today, fact, raw, standardized, value_of
from tests.shapes import derived, of_company
from tests.shapes.derived import DECLARED_PER_SHARE, EARNINGS

DIVIDENDS, FREE_CASH_FLOW = "dividends_per_share", "free_cash_flow"
SHARES, DILUTED = "shares_basic", "shares_diluted"


def declared(amount: float, start: str, end: str, filed: str) -> Row:
    return fact(DECLARED_PER_SHARE, amount, start, end, form="10-Q", filed=filed)


def losses() -> list[Row]:
    """Retained earnings grow by income, from losses carried forward."""
    rows = derived.keeps_its_income()
    return [{**row, "value": row["value"] - 500e6} if row["tag"] == EARNINGS else row for row in rows]


def off_by(amount: float) -> list[Row]:
    """Retained earnings at the end of 2023 are more than the earlier amount plus income."""
    rows = derived.keeps_its_income()
    is_last = {(EARNINGS, "2023-12-31")}
    return [{**row, "value": row["value"] + amount} if (row["tag"], row["end"]) in is_last else row for row in rows]


def under_ifrs(rows: list[Row], diluted: float | None = None) -> list[Row]:
    """Earnings per share as IFRS names them; diluted ones of another amount."""
    names = {EPS: "BasicEarningsLossPerShare", derived.DILUTED_EARNINGS: "DilutedEarningsLossPerShare"}
    others = {derived.DILUTED_EARNINGS: diluted} if diluted else {}
    return [
        {**row, "tag": names[row["tag"]], "taxonomy": "ifrs-full", "value": others.get(row["tag"], row["value"])}
        if row["tag"] in names
        else row
        for row in rows
    ]


YEAR_2023 = "2023-01-01", "2023-12-31"
PAID_ONCE = declared(0.1, "2021-04-01", "2021-06-30", "2021-08-09")

CASES: dict[str, tuple[list[Row], str, str, str, float | None]] = {
    "nine months less their quarter": (derived.begins_with_nine_months(), "revenue", "ttm", "2023-06-30", 425e6),
    "also of income": (derived.begins_with_nine_months("NetIncomeLoss"), "net_income", "ttm", "2023-06-30", 425e6),
    "also of a dividend": (
        derived.begins_with_nine_months(DECLARED_PER_SHARE, unit=0.01),
        DIVIDENDS,
        "ttm",
        "2023-06-30",
        4.25,
    ),
    "nine months that state the rate of a quarter": (
        derived.begins_with_nine_months(DECLARED_PER_SHARE, unit=0.01, nine_months=115),
        DIVIDENDS,
        "ttm",
        "2023-06-30",
        None,
    ),
    "a quarter of another element": (
        derived.begins_with_nine_months(of_quarter="RevenueFromContractWithCustomerExcludingAssessedTax"),
        "revenue",
        "ttm",
        "2023-06-30",
        None,
    ),
    "retained earnings grow by income": (derived.keeps_its_income(), DIVIDENDS, "annual", "2023-12-31", 0.0),
    "and so in the quarters": (derived.keeps_its_income(), DIVIDENDS, "ttm", "2023-09-30", 0.0),
    "retained earnings grow by less": (derived.keeps_its_income(1), DIVIDENDS, "annual", "2023-12-31", None),
    "losses are carried forward": (losses(), DIVIDENDS, "annual", "2023-12-31", 0.0),
    "losses of a filer that paid once": ([*losses(), PAID_ONCE], DIVIDENDS, "annual", "2023-12-31", None),
    "a standard is adopted between": (derived.adopts_a_standard(), DIVIDENDS, "ttm", "2023-06-30", 0.0),
    "a standard is adopted by a filer that paid once": (
        [*derived.adopts_a_standard(), PAID_ONCE],
        DIVIDENDS,
        "ttm",
        "2023-06-30",
        None,
    ),
    "a fourth quarter is the year less nine months": (
        derived.adopts_a_standard_in_a_year(),
        DIVIDENDS,
        "ttm",
        "2023-03-31",
        0.0,
    ),
    "a part of a year has all of it": (derived.pays_once_a_year(), DIVIDENDS, "ttm", "2023-06-30", 0.6),
    "more was declared in the year": (derived.pays_once_a_year(2.5), DIVIDENDS, "ttm", "2023-06-30", None),
    "earnings are off": (off_by(1e6), DIVIDENDS, "annual", "2023-12-31", None),
    "earnings are off by a unit of rounding": (off_by(1e3), DIVIDENDS, "annual", "2023-12-31", 0.0),
    "or by one less": (off_by(-1e3), DIVIDENDS, "annual", "2023-12-31", 0.0),
    "or by two": (off_by(2e3), DIVIDENDS, "annual", "2023-12-31", None),
    "stock is retired": (derived.retires_stock(), DIVIDENDS, "annual", "2023-12-31", 0.0),
    "and so in the quarters of a year": (derived.retires_stock(), DIVIDENDS, "ttm", "2023-09-30", 0.0),
    "stock is retired, and more is gone": (derived.retires_stock(-1.0), DIVIDENDS, "annual", "2023-12-31", None),
    "equity changes by what is stated": (derived.changes_of_equity(), DIVIDENDS, "annual", "2023-12-31", 0.0),
    "and so does it in the quarters": (derived.changes_of_equity(), DIVIDENDS, "ttm", "2023-09-30", 0.0),
    "no other comprehensive income, and no issue": (
        derived.changes_of_equity(-1.0, "OtherComprehensiveIncomeLossNetOfTax"),
        DIVIDENDS,
        "annual",
        "2023-12-31",
        0.0,
    ),
    "equity changes by less": (derived.changes_of_equity(1.0), DIVIDENDS, "annual", "2023-12-31", None),
    "equity of a filer that paid once": (
        [*derived.changes_of_equity(), PAID_ONCE],
        DIVIDENDS,
        "annual",
        "2023-12-31",
        None,
    ),
    "all dividends are preferred": (derived.pays_preferred(), DIVIDENDS, "annual", "2022-12-31", 0.0),
    "and so in a quarter": (derived.pays_preferred(), DIVIDENDS, "ttm", "2022-12-31", 0.0),
    "as much on common stock as on preferred": (
        derived.pays_preferred(tag=derived.PAID),
        DIVIDENDS,
        "annual",
        "2022-12-31",
        None,
    ),
    "a zero capital distribution": (
        derived.paid_nothing("PaymentsOfCapitalDistribution"),
        DIVIDENDS,
        "annual",
        "2022-12-31",
        None,
    ),
    "more than the preferred dividends": (derived.pays_preferred(2.5), DIVIDENDS, "annual", "2022-12-31", None),
    "a year of zero dividends of any stock": (
        derived.paid_nothing("DividendsCash"),
        DIVIDENDS,
        "ttm",
        "2022-09-30",
        0.0,
    ),
    "zero per share": (derived.paid_nothing(derived.DECLARED_PER_SHARE), DIVIDENDS, "ttm", "2022-09-30", 0.0),
    "zero under IFRS": (
        derived.paid_nothing("DividendsPaidClassifiedAsFinancingActivities", "ifrs-full"),
        DIVIDENDS,
        "ttm",
        "2022-09-30",
        0.0,
    ),
    "a bank pays its parent": (
        [*derived.keeps_its_income(), fact("DividendsCash", 4e6, *YEAR_2023, filed="2024-02-20")],
        DIVIDENDS,
        "annual",
        "2023-12-31",
        0.0,
    ),
    "a filer that also pays on common stock": (
        [*derived.keeps_its_income(), fact("DividendsCash", 4e6, *YEAR_2023, filed="2024-02-20"), PAID_ONCE],
        DIVIDENDS,
        "annual",
        "2023-12-31",
        None,
    ),
    "a dividend of a quarter is stated": (
        [*derived.keeps_its_income(), declared(0.1, "2023-04-01", "2023-06-30", "2023-08-09")],
        DIVIDENDS,
        "annual",
        "2023-12-31",
        None,
    ),
    "financing activities are their lines": (derived.financing(), DIVIDENDS, "annual", "2023-12-31", 0.0),
    "they are off by a unit of rounding": (derived.financing(0.00025), DIVIDENDS, "annual", "2023-12-31", 0.0),
    "they are off by more": (derived.financing(0.0005), DIVIDENDS, "annual", "2023-12-31", None),
    "financing activities have another line": (derived.financing(1), DIVIDENDS, "annual", "2023-12-31", None),
    "a dividend is payable": (
        [
            *derived.financing(),
            fact("DividendsPayableCurrent", 1e6, None, "2023-12-31", filed="2024-02-29"),
        ],
        DIVIDENDS,
        "annual",
        "2023-12-31",
        None,
    ),
    "a year of zero has quarters of zero": (derived.paid_nothing(), DIVIDENDS, "ttm", "2022-09-30", 0.0),
    "dated dividends are those paid": (derived.paid_twice_a_year(), DIVIDENDS, "annual", "2023-12-31", 1.0),
    "more was paid than is dated": (derived.paid_twice_a_year(15.0), DIVIDENDS, "annual", "2023-12-31", None),
    "another one was declared in the year": (
        [
            *derived.paid_twice_a_year(),
            fact("CommonStockDividendsPerShareDeclared", 0.6, None, "2023-11-30", filed="2024-02-29"),
        ],
        DIVIDENDS,
        "annual",
        "2023-12-31",
        None,
    ),
    "payments twice a year of the same amount": (derived.pays_twice_a_year(), DIVIDENDS, "ttm", "2023-06-30", 1.0),
    "payments twice a year, before a higher one": (
        derived.pays_twice_a_year(0.6),
        DIVIDENDS,
        "ttm",
        "2023-06-30",
        None,
    ),
    "and after it": (derived.pays_twice_a_year(0.6), DIVIDENDS, "annual", "2023-12-31", 1.1),
    "declarations are dated": (
        derived.declares_before_it_pays("2023-02-01", "2023-08-01"),
        DIVIDENDS,
        "ttm",
        "2023-09-30",
        1.0,
    ),
    "one of two declarations is dated": (
        derived.declares_before_it_pays("2023-02-01"),
        DIVIDENDS,
        "ttm",
        "2023-06-30",
        None,
    ),
    "a fourth quarter has the rate of the others": (derived.declares(), DIVIDENDS, "annual", "2022-12-31", 1.0),
    "employees hold shares that do not count": (
        [
            {
                **row,
                "value": row["value"] * (0.93 if row["tag"] == "WeightedAverageNumberOfSharesOutstandingBasic" else 1),
            }
            for row in derived.declares()
        ],
        DIVIDENDS,
        "annual",
        "2022-12-31",
        1.0,
    ),
    "and so twelve months in the next year": (derived.declares(), DIVIDENDS, "ttm", "2023-06-30", 1.0),
    "more was declared than the rate": (derived.declares(last=2.7), DIVIDENDS, "annual", "2022-12-31", None),
    "a special dividend is left out": (derived.declares(5), DIVIDENDS, "annual", "2022-12-31", None),
    "a special dividend is stated later": (derived.declares(5, 2.5, 2.0), DIVIDENDS, "annual", "2022-12-31", 3.0),
    "another amount is stated later": (derived.declares(5, 2.5, 0.5), DIVIDENDS, "annual", "2022-12-31", None),
    "the year has the special dividend": (
        derived.declares(5, states_years=True),
        DIVIDENDS,
        "ttm",
        "2023-03-31",
        3.0,
    ),
    "investing activities leave what was spent": (
        derived.spends_under_an_own_element(),
        FREE_CASH_FLOW,
        "annual",
        "2022-12-31",
        4 * 26e6,
    ),
    "the years before and after are stated later": (
        derived.spends_under_an_own_element_at_first(),
        FREE_CASH_FLOW,
        "ttm",
        "2023-06-30",
        4 * 26e6,
    ),
    "and the year before leaves something": (
        derived.spends_under_an_own_element_at_first(1),
        FREE_CASH_FLOW,
        "ttm",
        "2022-06-30",
        None,
    ),
    "the report after leaves something, too": (
        derived.spends_under_an_own_element(1),
        FREE_CASH_FLOW,
        "annual",
        "2022-12-31",
        None,
    ),
    "a loss": (derived.loses(), DILUTED, "annual", "2023-12-31", 10e6),
    "a loss with other diluted earnings": (derived.loses(-0.9), DILUTED, "annual", "2023-12-31", None),
    "equal earnings": (derived.earns_alike(), DILUTED, "annual", "2023-12-31", 10e6),
    "an adjustment of nothing": (derived.adjusts_by_nothing(), DILUTED, "ttm", "2023-09-30", 10e6),
    "an adjustment of some shares": (derived.adjusts_by_nothing(1e5), DILUTED, "annual", "2023-12-31", 10.1e6),
    "equal earnings under IFRS": (under_ifrs(derived.earns_alike()), DILUTED, "annual", "2023-12-31", 10e6),
    "other earnings under IFRS": (under_ifrs(derived.earns_alike(), 2.9), DILUTED, "annual", "2023-12-31", None),
    "equal earnings of cents": (derived.earns_alike(0.1), DILUTED, "annual", "2023-12-31", None),
    "a year of a bank less than its nine months": (derived.loses_on_securities(), "revenue", "ttm", "2023-03-31", 29e6),
    "a year of a bank less than its nine months, without a loss": (
        derived.loses_on_securities(net_income=3.0),
        "revenue",
        "ttm",
        "2023-03-31",
        None,
    ),
    "common stock alone": (derived.has_common_stock_alone(), DILUTED, "ttm", "2023-09-30", 10e6),
    "share-based pay": (derived.has_common_stock_alone("ShareBasedCompensation"), DILUTED, "ttm", "2023-09-30", None),
    "a loss of the last quarter": (
        derived.loses_in_the_last_quarter(),
        DILUTED,
        "ttm",
        "2023-06-30",
        pytest.approx((11e6 * 273 + 10e6 * 92) / 365, rel=1e-6),
    ),
    "no loss of the last quarter": (derived.loses_in_the_last_quarter(10.0), DILUTED, "ttm", "2023-06-30", None),
    "no mean with a quarter before the first shares": (derived.offers_shares(), SHARES, "ttm", "2023-03-31", None),
    "nor where the year begins before them": (derived.offers_shares(), SHARES, "ttm", "2022-09-30", None),
    "no average of a time without shares": (derived.offers_shares(), SHARES, "annual", "2021-12-31", None),
    "shares are offered, and the days since count": (
        derived.offers_shares(10.0, 10.0),
        SHARES,
        "ttm",
        "2023-03-31",
        10e6,
    ),
    "the year of the offering has another average than the next": (
        derived.offers_shares(10.0, 9.8),
        SHARES,
        "ttm",
        "2023-03-31",
        None,
    ),
    "earnings per share of the time before": (
        [*derived.offers_shares(), fact(EPS, 0.5, "2022-01-01", "2022-03-31", form="10-Q", filed="2022-05-09")],
        SHARES,
        "ttm",
        "2023-03-31",
        None,
    ),
    "a fourth quarter between equal rates is off by less than another rate": (
        derived.declares(last=2.6),
        DIVIDENDS,
        "annual",
        "2022-12-31",
        1.0,
    ),
    "earnings per share prove shares": (derived.earns_per_share(), SHARES, "ttm", "2023-06-30", 10e6),
    "earnings per share of another income": (derived.earns_per_share(0.9), SHARES, "ttm", "2023-06-30", None),
    "a first quarter": (derived.begins_in_the_second_quarter(), SHARES, "ttm", "2023-03-31", 10e6),
    "a half year less than its quarters": (
        derived.begins_in_the_second_quarter("2023-06-30", 9.0),
        SHARES,
        "ttm",
        "2023-06-30",
        10e6,
    ),
}


@pytest.fixture(scope="module")
def found() -> Today:
    """All cases in one batch."""
    return standardized(raw(*(of_company(case[0], cik_of(number)) for number, case in enumerate(CASES.values()))))


def cik_of(number: int) -> str:
    return str(int(CIK) + number)


@pytest.mark.parametrize("case", CASES)
def test_an_amount_is_served_where_the_statements_prove_it(found, case):
    """No amount is served where they do not."""
    _, item, kind, end, value = CASES[case]
    assert value_of(found, item, kind, end, cik_of(list(CASES).index(case))) == value
