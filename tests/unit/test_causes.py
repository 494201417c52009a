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
    return {
        "role": "sum",
        "weight": 1.0,
        "split_factor": 1.0,
        "accession": "a",
        "form": "10-K",
        "filed": day("2023-02-01"),
        "unit": "USD",
        **more,
        "tag": tag,
        "start": day(period[0]),
        "end": day(period[1]),
        "value": float(value),
    }


def version(
    item: str, seq: int, value: float, *, q: int = 8, legs: Sequence[Leg] | None = None, **more: Any
) -> Version:
    """A value after a filing, composed of one fact unless others are given."""
    return {
        "cik": CIK,
        "q": q,
        "item": item,
        "seq": seq,
        "value": float(value),
        "method": "fiscal_year",
        "flags": "",
        "is_amended": False,
        "tags": REVENUE,
        "standards": "us-gaap USD",
        "purchasing_power": False,
        "entity": 0,
        **more,
        "legs": [leg(value)] if legs is None else list(legs),
    }


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


def income(seq: int, *values: float) -> list[Version]:
    """Net income of a year and of the years before it, after a filing."""
    return [
        version("net_income", seq, value, q=8 - 4 * back, legs=[leg(value, INCOME)])
        for back, value in enumerate(values)
    ]


OF_REVENUE = [version("revenue", 1, 100e6), version("revenue", 2, 96e6)]


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


def sums(*values: float, **more: Any) -> list[Leg]:
    """A year, plus nine months of the next year, less nine months of the year."""
    periods = [YEAR, ("2023-01-01", "2023-09-30"), NINE_MONTHS]
    return [leg(value, period=period, **more) for value, period in zip(values, periods, strict=True)]


ALONE = [*income(1, 10e6, 8e6), *income(2, 11e6, 8e6)[:1]]
IN_THOUSANDS = leg(3e6, SHARES, role="mean", weight=184.0)
OF_WEIGHT = {"tag": SHARES, "role": "mean", "weight": 365.0, "unit": "shares"}
OTHERS = {
    "a change without a known cause": ("unexplained", [version("goodwill", 1, 100.0), version("goodwill", 2, 96.0)]),
    # net income of one year alone is restated; for several years, or with revenue, it is an accounting change
    "one restated period": ("restatement", ALONE),
    "one restated period, and revenue": ("restatement", [*ALONE, *OF_REVENUE]),
    "two restated periods, and revenue": (
        "accounting_change",
        [*income(1, 10e6, 8e6), *income(2, 11e6, 9e6), *OF_REVENUE],
    ),
    # a filing restates last year's net income; this year's revenue was only reclassified
    "net income of another window is not considered": (
        "reclassification",
        [*income(1, 10e6, 8e6), OF_REVENUE[0], *income(2, 10e6, 9e6)[1:], OF_REVENUE[1]],
    ),
    # three legs in millions, then in thousands: each changed by less than half a million, and so did the sum
    "sums of rounded figures": (
        "precision",
        [
            version("revenue", 1, 440e6, legs=sums(400e6, 330e6, -290e6)),
            version("revenue", 2, 441_220_000, legs=sums(400_410_000, 330_420_000, -289_610_000)),
        ],
    ),
    # even if the sum changes by less than the combined rounding of its legs
    "a figure that changes by more than its rounding": (
        "reclassification",
        [
            version("revenue", 1, 440e6, legs=sums(400e6, 330e6, -290e6)),
            version("revenue", 2, 441e6, legs=sums(401e6, 330e6, -290e6)),
        ],
    ),
    # 1,123 million become 1,120 million: capital expenditure was restated, and the result happens to be round
    "a round number is not a rounding of another": (
        "reclassification",
        [
            version("free_cash_flow", 1, 1_123e6, legs=sums(1_400e6, 130e6, -407e6)),
            version("free_cash_flow", 2, 1_120e6, legs=sums(1_400e6, 130e6, -410e6)),
        ],
    ),
    # a split turns counts in millions into tens of millions; later they are stated in millions again
    "averages change by the rounding of their weighted legs": (
        "precision",
        [
            version("shares_basic", 1, 1_260e6, legs=[leg(126e6, split_factor=10.0, **OF_WEIGHT)]),
            version("shares_basic", 2, 1_258e6, legs=[leg(1_258e6, **OF_WEIGHT)]),
        ],
    ),
    # one quarter of an average filed in thousands does not change the average by a power of ten
    "a leg in thousands": (
        "scale_fix",
        [
            version(
                "shares_basic",
                seq,
                average,
                legs=[leg(count, SHARES, NINE_MONTHS, role="mean", weight=181.0), IN_THOUSANDS],
            )
            for seq, average, count in ((1, 1.5e6, 2_239), (2, 2.6e6, 2_239_000))
        ],
    ),
    # a tax of 7,139 million becomes a benefit of 7,156 million, and the return on capital rises by half
    "a leg with the opposite sign": (
        "sign_fix",
        [
            version("roic", 1, 0.165, legs=[leg(7_139e6, role="income_tax")]),
            version("roic", 2, 0.245, legs=[leg(-7_156e6, role="income_tax")]),
        ],
    ),
    # a break withdraws earnings per share, and a later filing states the earnings per share of the other company
    "another company's value after a withdrawn one": (
        "entity_change",
        [version("eps_basic", 1, 2.7), withdrawal("eps_basic", 2), version("eps_basic", 3, 4.57, entity=1)],
    ),
    "a large restatement within a company": (
        "restatement",
        [*income(1, 10e6), version("revenue", 1, 100e6), version("revenue", 2, 296e6), *income(2, -30e6)],
    ),
}
"""The cause of the last one of several versions."""


@pytest.mark.parametrize(("cause", "versions"), [*CASES.items(), *OTHERS.values()], ids=[*CASES, *OTHERS])
def test_each_cause_has_its_examples(cause, versions):
    assert causes(*versions)[-1] == cause


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
    assert causes(proved, stated)[-1] != "basis_change"


def test_companies_items_and_periods_are_independent():
    """The first value of each has the cause `initial`, whatever other values there are."""
    of_another = version("revenue", 1, 3e6) | {"cik": 1}
    others = [version("revenue", 1, 50e6, q=9), version("net_income", 1, 7e6), of_another]

    assert causes(version("revenue", 1, 100e6), *others) == ["initial"] * 4


def test_no_versions_give_no_causes():
    versions, legs = frames([version("revenue", 1, 1)])

    assert classified(versions.clear(), legs.clear()).is_empty()
