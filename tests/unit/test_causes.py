"""Causes of versions: one small example per row of the table of causes, and the precedence of the rows."""

from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest

from pipelines.normalize.history.causes import CAUSES, classified
from pipelines.normalize.history.log import FACT
from tests.factories import day

CIK = 9990000901
REVENUE, INCOME, SHARES, CAPITAL = "us-gaap:Revenues", "us-gaap:NetIncomeLoss", "us-gaap:Shares", "us-gaap:Payments"
YEAR, NINE_MONTHS = ("2022-01-01", "2022-12-31"), ("2022-01-01", "2022-09-30")

Leg = dict[str, Any]
Version = dict[str, Any]


def leg(value: float, tag: str = REVENUE, period: tuple[str, str] = YEAR, **more: Any) -> Leg:
    """A filed fact behind a value."""
    start, end = (day(text) for text in period)
    told = {"accession": "a", "form": "10-K", "filed": day("2023-02-01"), "unit": "USD"}
    return {"role": "sum", "weight": 1.0, "split_factor": 1.0, **told, **more} | {
        "tag": tag,
        "start": start,
        "end": end,
        "value": float(value),
    }


def version(
    item: str, seq: int, value: float, *, q: int = 8, legs: Sequence[Leg] | None = None, **more: Any
) -> Version:
    """A value after a filing, composed of one fact unless others are given."""
    legs = [leg(value)] if legs is None else list(legs)
    told = {"method": "fiscal_year", "flags": "", "is_amended": False, "tags": REVENUE, "standards": "us-gaap USD"}
    told["purchasing_power"] = False
    told |= {"entity": 0}
    return {"cik": CIK, "q": q, "item": item, "seq": seq, "value": float(value), **told, **more, "legs": legs}


def withdrawal(item: str, seq: int) -> Version:
    """A version without value."""
    return version(item, seq, 0.0, legs=[]) | {"value": None}


def causes(*versions: Version) -> list[str]:
    """The cause of each version, in the given order."""
    return classified(*frames(versions)).sort("version")["cause"].to_list()


def frames(versions: Sequence[Version]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The versions, numbered in the given order, and the facts behind them."""
    rows = pl.DataFrame(list(versions), schema_overrides={"legs": pl.List(FACT)}).with_row_index("version")
    found = rows.with_columns(
        elements=pl.col("tags").rank("dense"),
        standards=pl.col("standards").str.split(" ").list.first().rank("dense"),
        currency=pl.col("standards").str.split(" ").list.get(1, null_on_oob=True).rank("dense").fill_null(0),
    )
    return found.drop("legs"), rows.select("version", "legs").explode("legs").unnest("legs")


def last_cause(*versions: Version) -> str:
    return causes(*versions)[-1]


def income(seq: int, *values: float) -> list[Version]:
    """Net income of a year and of the years before it, after a filing."""
    return [
        version("net_income", seq, value, q=8 - 4 * back, legs=[leg(value, INCOME)])
        for back, value in enumerate(values)
    ]


CASES = {
    "withdrawn": [version("revenue", 1, 100e6), withdrawal("revenue", 2)],
    "reinstated": [version("revenue", 1, 100e6), withdrawal("revenue", 2), version("revenue", 3, 100e6)],
    "initial": [version("revenue", 1, 100e6)],
    "precision": [version("revenue", 1, 123e6), version("revenue", 2, 122_956_000)],
    "scale_fix": [version("shares_basic", 1, 20_500, legs=[leg(20_500)]), version("shares_basic", 2, 20.5e6)],
    "sign_fix": [version("free_cash_flow", 1, -42e6), version("free_cash_flow", 2, 42e6)],
    "context_fix": [version("revenue", seq, value) for seq, value in enumerate((100e6, 26e6, 100e6))],
    "basis_change": [
        version("revenue", 1, 100e6, standards="us-gaap USD"),
        version("revenue", 2, 90e6, standards="ifrs-full EUR", tags="ifrs-full:Revenue"),
    ],
    "entity_change": [version("revenue", 1, 4e6), version("revenue", 2, 4_431e6, entity=1)],
    "purchasing_power": [version("revenue", 1, 100e6), version("revenue", 2, 151e6, purchasing_power=True)],
    "restatement": [version("revenue", 1, 100e6), version("revenue", 2, 96e6, is_amended=True)],
    "lines_changed": [version("revenue", 1, 100e6), version("revenue", 2, 96e6, tags="us-gaap:SalesRevenueNet")],
    "other_columns": [
        version("revenue", 1, 100e6, legs=[leg(100e6, period=YEAR)]),
        version(
            "revenue", 2, 96e6, legs=[leg(70e6, period=NINE_MONTHS), leg(26e6, period=("2022-10-01", "2022-12-31"))]
        ),
    ],
    "reclassification": [*income(1, 10e6), version("revenue", 1, 100e6), version("revenue", 2, 96e6)],
    "accounting_change": [*income(1, 10e6, 8e6), *income(2, 11e6, 9e6)],
    "share_count_revised": [version("shares_diluted", 1, 51.3e6), version("shares_diluted", 2, 50.1e6)],
    "input_changed": [
        version("roic", 1, 0.10, legs=[leg(25e6, role="operating_income")]),
        version("roic", 2, 0.11, legs=[leg(26e6, role="operating_income")]),
    ],
}


@pytest.mark.parametrize(("cause", "versions"), CASES.items(), ids=CASES)
def test_each_cause_has_its_example(cause, versions):
    assert last_cause(*versions) == cause


def test_every_row_of_the_table_is_reached():
    """Except the last, which has no condition."""
    assert {cause.name for cause in CAUSES} - set(CASES) == {"unexplained"}
    assert all(cause.meaning for cause in CAUSES)


def test_a_value_after_a_withdrawal_is_compared_with_the_value_before_it():
    withdrawn = [version("shares_basic", 1, 20_500, legs=[leg(20_500)]), withdrawal("shares_basic", 2)]
    assert causes(*withdrawn, version("shares_basic", 3, 20.5e6)) == ["initial", "withdrawn", "scale_fix"]


def test_an_average_of_shares_that_money_proves_is_in_no_other_currency():
    """Net income over earnings per share has a currency; an average of shares that a filing states has no currency."""
    proved, stated = (
        version("shares_basic", seq, 50e6 + seq, standards="us-gaap" + " USD" * (2 - seq)) for seq in (1, 2)
    )
    assert last_cause(proved, stated) != "basis_change"


def test_a_change_without_a_known_cause_is_unexplained():
    assert last_cause(version("goodwill", 1, 100.0), version("goodwill", 2, 96.0)) == "unexplained"


def test_one_restated_period_is_a_restatement():
    """Net income of one year alone is restated; for several years, or with revenue, it is an accounting change."""
    alone = [*income(1, 10e6, 8e6), *income(2, 11e6, 8e6)[:1]]
    with_revenue = [version("revenue", 1, 100e6), version("revenue", 2, 96e6)]

    assert last_cause(*alone) == "restatement"
    assert last_cause(*alone, *with_revenue) == "restatement"
    assert last_cause(*income(1, 10e6, 8e6), *income(2, 11e6, 9e6), *with_revenue) == "accounting_change"


def test_net_income_of_another_window_is_not_considered():
    """A filing restates last year's net income; this year's revenue was only reclassified."""
    versions = [*income(1, 10e6, 8e6), version("revenue", 1, 100e6), *income(2, 10e6, 9e6)[1:]]

    assert last_cause(*versions, version("revenue", 2, 96e6)) == "reclassification"


# --- Precision ----------------------------------------------------------------------------------------------------


def sums(*values: float, **more: Any) -> list[Leg]:
    """A year, plus nine months of the next year, less nine months of the year."""
    periods = [YEAR, ("2023-01-01", "2023-09-30"), NINE_MONTHS]
    return [leg(value, period=period, **more) for value, period in zip(values, periods, strict=True)]


def test_sums_of_rounded_figures_differ_by_their_rounding():
    """Three legs in millions, then in thousands: each changed by less than half a million, and so did the sum."""
    before = sums(400e6, 330e6, -290e6)
    after = sums(400_410_000, 330_420_000, -289_610_000)

    found = last_cause(version("revenue", 1, 440e6, legs=before), version("revenue", 2, 441_220_000, legs=after))

    assert found == "precision"


def test_a_figure_that_changes_by_more_than_its_rounding_is_restated():
    """Even if the sum changes by less than the combined rounding of its legs."""
    before, after = sums(400e6, 330e6, -290e6), sums(401e6, 330e6, -290e6)

    found = last_cause(version("revenue", 1, 440e6, legs=before), version("revenue", 2, 441e6, legs=after))

    assert found == "reclassification"


def test_a_round_number_is_not_a_rounding_of_another():
    """1,123 million become 1,120 million: capital expenditure was restated, and the result happens to be round."""
    before, after = sums(1_400e6, 130e6, -407e6), sums(1_400e6, 130e6, -410e6)

    found = last_cause(
        version("free_cash_flow", 1, 1_123e6, legs=before), version("free_cash_flow", 2, 1_120e6, legs=after)
    )

    assert found == "reclassification"


def test_averages_change_by_the_rounding_of_their_weighted_legs():
    """A split turns counts in millions into tens of millions; later they are stated in millions again."""
    before = [leg(126e6, SHARES, role="mean", weight=365.0, split_factor=10.0, unit="shares")]
    after = [leg(1_258e6, SHARES, role="mean", weight=365.0, unit="shares")]

    found = last_cause(
        version("shares_basic", 1, 1_260e6, legs=before), version("shares_basic", 2, 1_258e6, legs=after)
    )

    assert found == "precision"


# --- Facts behind the value ---------------------------------------------------------------------------------------


def test_a_leg_in_thousands_is_an_error_of_scale():
    """One quarter of an average filed in thousands does not change the average by a power of ten."""
    before = [leg(2_239, SHARES, NINE_MONTHS, role="mean", weight=181.0), leg(3e6, SHARES, role="mean", weight=184.0)]
    after = [leg(2_239_000, SHARES, NINE_MONTHS, role="mean", weight=181.0), *before[1:]]

    found = last_cause(version("shares_basic", 1, 1.5e6, legs=before), version("shares_basic", 2, 2.6e6, legs=after))

    assert found == "scale_fix"


def test_a_leg_with_the_opposite_sign_is_an_error_of_sign():
    """A tax of 7,139 million becomes a benefit of 7,156 million, and the return on capital rises by half."""
    before, after = [leg(7_139e6, role="income_tax")], [leg(-7_156e6, role="income_tax")]

    assert last_cause(version("roic", 1, 0.165, legs=before), version("roic", 2, 0.245, legs=after)) == "sign_fix"


def test_another_companys_value_follows_a_withdrawn_one():
    """A break withdraws earnings per share, and a later filing states the earnings per share of the other company."""
    before, after = version("eps_basic", 1, 2.7), version("eps_basic", 3, 4.57, entity=1)

    assert last_cause(before, withdrawal("eps_basic", 2), after) == "entity_change"


def test_a_large_restatement_within_a_company_is_no_change_of_entity():
    before = [*income(1, 10e6), version("revenue", 1, 100e6)]

    assert last_cause(*before, version("revenue", 2, 296e6), *income(2, -30e6)) == "restatement"


def test_companies_items_and_periods_are_independent():
    """The first value of each has the cause `initial`, whatever other values there are."""
    others = [
        version("revenue", 1, 50e6, q=9),
        version("net_income", 1, 7e6),
        version("revenue", 1, 3e6) | {"cik": 1},
    ]

    assert causes(version("revenue", 1, 100e6), *others) == ["initial"] * 4


def test_no_versions_give_no_causes():
    versions, legs = frames([version("revenue", 1, 1)])

    assert classified(versions.clear(), legs.clear()).is_empty()
