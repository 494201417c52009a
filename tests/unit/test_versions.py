"""Versions: values that make a new version, rows that a synchronization appends to the log, and changes of share
basis.
"""

from datetime import UTC, datetime
from math import isnan
from typing import Any

import polars as pl
import pytest

from pipelines.normalize.elements import AMOUNT
from pipelines.normalize.history.late import in_force, recorded_again
from pipelines.normalize.history.log import FACT, LOG, REPLAYED
from pipelines.normalize.history.replay import _without_meaning, item_versions
from pipelines.normalize.history.versions import (
    AS_STATED,
    FACT_OF,
    ReadDifferently,
    numbered,
    on_basis_of_today,
    recorded,
    to_append,
    unsupported,
)
from pipelines.normalize.items.line_items import line_items, recomputed
from pipelines.normalize.items.points import Points
from pipelines.normalize.pipeline import ITEM_SIGNS
from pipelines.normalize.ttm.methods import FISCAL_YEAR
from pipelines.normalize.ttm.windows import WINDOW_FLAGS
from tests.factories import CIK, day
from warehouse.explanation.explain import SUBTRACTED

OTHER = "0000000002"
NOW, LATER = datetime(2026, 8, 1, 6, tzinfo=UTC), datetime(2026, 9, 1, 6, tzinfo=UTC)
FILINGS = ("10-K 2024", "10-K/A 2024", "10-Q 2025", "10-K 2025")
ORDER = pl.DataFrame(
    {"cik": [CIK] * 4, "accession": FILINGS, "seq": range(4)},
    schema={"cik": pl.String, "accession": pl.String, "seq": pl.Int32},
)

Row = dict[str, Any]


def leg(value: float, role: str = "sum", weight: float = 1.0, unit: str = "USD", split_factor: float = 1.0) -> Row:
    return {"role": role, "weight": weight, "unit": unit, "value": value, "split_factor": split_factor}


def version(value: float | None, accession: str = FILINGS[0], item: str = "revenue", **more: Any) -> Row:
    """A version of fiscal 2024."""
    row = {"cik": CIK, "class_member": "", "period_end": day("2024-12-31"), "n": 4}
    row |= {"item": item, "value": value, "accession": accession}
    filed = day("2025-02-01") if accession == FILINGS[0] else day("2025-03-01")
    return row | {"form": accession.split()[0], "filed": filed, "cause": "initial", "basis": FILINGS[0]} | more


def replayed(*rows: Row) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=REPLAYED)


def logged(*rows: Row, rules: str = "rules") -> pl.DataFrame:
    return pl.DataFrame([{"rules": rules, "recorded_at": NOW} | row for row in rows], schema=LOG)


def filed(accession: str, tag: str = "us-gaap:Revenues") -> Row:
    """A leg with the columns that identify its fact."""
    return leg(5.0) | {"tag": tag, "end": day("2024-12-31"), "accession": accession}


def unsupported_values() -> pl.DataFrame:
    """By which rule each value of a log that today's filings do not support is withdrawn, or stays."""
    there, missing = filed(FILINGS[0]), filed(FILINGS[0], "us-gaap:SalesRevenueNet")
    log = pl.concat(
        [
            logged(version(5.0, legs=[leg(5.0, unit="CHF")])),
            logged(version(7.0, item="net_income", legs=[there, missing])),
            logged(version(7.0, item="shares_basic", legs=[there])),
            logged(version(8.0, item="free_cash_flow", legs=[leg(8.0)]), rules="former rules"),
            logged(version(6.0, item="total_debt", cik=OTHER, legs=[missing])),
        ]
    )
    dollars = pl.DataFrame({"cik": [CIK], "currency": ["USD"]})
    facts = pl.DataFrame([there], schema=FACT.to_schema()).select(FACT_OF)
    today = replayed(version(9.0, FILINGS[1], period_end=day("2025-12-31"), legs=[leg(9.0)]))
    reread = ReadDifferently([OTHER], [OTHER])
    return unsupported(log, today, "rules", dollars, lambda: facts, reread).rename({"decided_by": "rule"})


def appended(log: pl.DataFrame, found: pl.DataFrame, rules: str = "rules") -> list[tuple[float | None, str, str]]:
    """The rows appended to a log: value, filing and cause of each version."""
    return to_append(log, found, ORDER, rules).select("value", "accession", "cause").rows()


# --- Appended rows -------------------------------------------------------------------------------------------


def test_versions_of_a_new_company_are_all_appended():
    """In the order of filing, including superseded values."""
    found = replayed(version(100.0), version(96.0, FILINGS[1], cause="restatement"))

    assert to_append(logged(), found, ORDER, "rules").equals(found)
    assert appended(logged(version(5.0, item="net_income")), found) == [
        (100.0, FILINGS[0], "initial"),
        (96.0, FILINGS[1], "restatement"),
    ]


INCOME = version(7.0, item="net_income")


RESTATED = version(96.0, FILINGS[1], cause="restatement")


LAST_RESTATED = version(99.0, FILINGS[3], cause="restatement")


WITHDRAWN = logged(version(100.0), version(None, cause="method"), rules="strict rules")


APPENDED = {
    # what the log has, what filings lead to, by which rules, and what is appended: value, filing and cause
    "versions in the log are not appended again": (
        logged(version(100.0), version(96.0, FILINGS[1])),
        [version(100.0), version(96.0, FILINGS[1])],
        "rules",
        [],
    ),
    "later filings are appended with their cause": (
        logged(version(100.0)),
        [version(100.0), RESTATED, version(97.0, FILINGS[3])],
        "rules",
        [(96.0, FILINGS[1], "restatement"), (97.0, FILINGS[3], "initial")],
    ),
    "a later filing that repeats the logged value adds nothing; the history starts with another value": (
        logged(version(100.0)),
        [version(90.0), version(100.0, FILINGS[1]), version(96.0, FILINGS[2], cause="restatement")],
        "rules",
        [(96.0, FILINGS[2], "restatement")],
    ),
    "another value of a logged filing by other rules": (
        logged(version(100.0)),
        [version(104.0)],
        "new rules",
        [(104.0, FILINGS[0], "method")],
    ),
    "another value of a logged filing by what later filings say of the company": (
        logged(version(100.0)),
        [version(104.0)],
        "rules",
        [(104.0, FILINGS[0], "correction")],
    ),
    "new rules append only where values differ": (
        logged(version(100.0), INCOME),
        [version(100.0), version(8.0, item="net_income")],
        "new rules",
        [(8.0, FILINGS[0], "method")],
    ),
    "new rules and a later filing at once: values that the filing changed have its cause": (
        logged(version(100.0)),
        [version(104.0), LAST_RESTATED],
        "new rules",
        [(99.0, FILINGS[3], "restatement")],
    ),
    "a withdrawn value comes back": (WITHDRAWN, [version(100.0)], "new rules", [(100.0, FILINGS[0], "method")]),
    "a fact missing from later documents withdraws nothing": (logged(version(100.0), INCOME), [INCOME], "rules", []),
    "no value is withdrawn even if a company has no facts left": (logged(version(100.0), INCOME), [], "new rules", []),
    "a version of a filing that is gone from the documents stays": (
        logged(version(100.0), version(96.0, "10-K/A that is gone")),
        [version(100.0), version(96.0, FILINGS[3])],
        "rules",
        [],
    ),
    "periods are apart": (
        logged(version(100.0)),
        [version(50.0, period_end=day("2023-12-31")), version(100.0)],
        "rules",
        [(50.0, FILINGS[0], "initial")],
    ),
}


@pytest.mark.parametrize(("log", "found", "rules", "expected"), APPENDED.values(), ids=APPENDED)
def test_what_is_appended_to_the_log(log, found, rules, expected):
    assert appended(log, replayed(*found), rules) == expected


@pytest.mark.parametrize(
    ("item", "value", "same", "other"),
    [
        ("revenue", 1e12, 1e12 + 100, 1e12 + 2_000),
        ("shares_basic", 1e9, 1e9 + 50, 1e9 + 200),
        ("eps_basic", 1.234567, 1.234570, 1.23461),
    ],
)
def test_floating_point_noise_makes_no_version(item, value, same, other):
    log, noise, change = (version(number, item=item) for number in (value, same, other))

    assert appended(logged(log), replayed(noise)) == []
    assert appended(logged(log), replayed(change)) == [(other, FILINGS[0], "correction")]


def test_values_in_a_former_currency_are_withdrawn():
    """The company changed from francs to dollars: a year that no filing states in dollars loses its value."""
    log = logged(
        version(5.0, legs=[leg(5.0, unit="CHF")]), version(7.0, item="shares_basic", legs=[leg(7.0, unit="shares")])
    )
    other_year = replayed(version(9.0, FILINGS[1], period_end=day("2025-12-31"), legs=[leg(9.0)]))
    dollars = pl.DataFrame({"cik": [CIK], "currency": ["USD"]})

    new = to_append(log, other_year, ORDER, "rules", dollars).select("item", "value", "cause").rows()

    assert new == [("revenue", 9.0, "initial"), ("revenue", None, "basis_change")]


def test_a_value_that_new_rules_no_longer_support_is_withdrawn_once():
    """The withdrawal has a null value, the filing of the version before it, and no legs."""
    log, found = logged(version(100.0, legs=[leg(100.0)], flags="weeks_53"), INCOME), replayed(INCOME)

    withdrawn = to_append(log, found, ORDER, "new rules")

    columns = ("item", "value", "cause", "flags", "accession", "legs", "rule")
    assert withdrawn.select(columns).rows() == [
        ("revenue", None, "method", "", FILINGS[0], [], "version.withdrawn.rules-changed")
    ]
    again = pl.concat([log, recorded(withdrawn, LATER, "new rules")])
    assert appended(again, found, "newest rules") == []


def test_each_value_without_support_names_the_rule_that_decides_about_it():
    assert unsupported_values().select("item", "rule").rows() == [
        ("revenue", "version.withdrawn.currency-left"),
        ("net_income", "version.kept.fact-dropped"),
        ("shares_basic", "version.withdrawn.facts-changed"),
        ("free_cash_flow", "version.withdrawn.rules-changed"),
        ("total_debt", "version.withdrawn.source-read"),
    ]


@pytest.mark.parametrize(
    ("reread", "stated", "cause"),
    [
        (ReadDifferently(), 5.0, "correction"),
        (ReadDifferently([CIK], [CIK]), 6.0, "source"),
        (ReadDifferently([CIK]), 5.0, "source"),
        (ReadDifferently([CIK]), 6.0, "correction"),
    ],
)
def test_a_value_that_another_source_changes_is_no_correction(reread, stated, cause):
    """Unless EDGAR's document is another one, too, and has another figure than the logged value was made of."""
    log = logged(version(5.0, legs=[filed(FILINGS[0])]), version(7.0, item="net_income", legs=[filed(FILINGS[0])]))
    facts = pl.DataFrame([filed(FILINGS[0]) | {"value": stated}], schema=FACT.to_schema()).select(AS_STATED)

    new = to_append(log, replayed(version(8.0)), ORDER, "rules", facts=lambda: facts, reread=reread)

    assert new.select("item", "value", "cause").rows() == [("revenue", 8.0, cause), ("net_income", None, cause)]


def test_a_value_that_changed_facts_contradict_is_withdrawn_as_a_correction():
    """EDGAR's document has other figures for known filings; the filing of the version is the one before."""
    log, found = logged(version(5.0, legs=[filed(FILINGS[0])])), replayed(version(7.0, item="net_income"))
    facts = pl.DataFrame([filed(FILINGS[0])], schema=FACT.to_schema()).select(FACT_OF)

    new = to_append(log, found, ORDER, "rules", facts=lambda: facts)

    assert new.select("item", "value", "cause", "accession").rows()[1:] == [("revenue", None, "correction", FILINGS[0])]


@pytest.mark.parametrize(("debt", "left"), [(100.0, []), (101.0, ["debt_to_fcf"])])
def test_a_ratio_that_lost_its_support_stays_only_with_its_amounts(debt, left):
    """Its free cash flow stays, because a fact is missing; another total debt would contradict the ratio."""
    log = logged(
        version(100.0, item="total_debt"), version(50.0, item="free_cash_flow"), version(2.0, item="debt_to_fcf")
    )

    new = to_append(log, replayed(version(debt, item="total_debt")), ORDER, "rules")

    assert new.filter(pl.col("value").is_null())["item"].to_list() == left


def test_values_withdrawn_and_reinstated_by_filings_are_appended_in_order():
    """A first synchronization takes all versions, a later one only versions of later filings, each null between two
    values.
    """
    first, later, third = (version(value, filing) for value, filing in zip((5.0, None, 5.0), FILINGS, strict=False))
    found = replayed(first, later | {"cause": "withdrawn"}, third | {"cause": "reinstated"})

    assert [value for value, *_ in appended(logged().head(0), found, "rules")] == [5.0, None, 5.0]
    assert [value for value, *_ in appended(logged(first), found, "rules")] == [None, 5.0]
    assert appended(logged(first, later, third), found, "rules") == []
    assert appended(logged(first), replayed(first, later), "rules") == [(None, FILINGS[1], "initial")]


# --- Values after each filing ----------------------------------------------------------------------------------


COMPANY = int(CIK)
GENERAL = pl.DataFrame({"cik": [COMPANY] * 9, "seq": range(9), "industry": ["general"] * 9})


FILED = pl.DataFrame({"cik": [COMPANY] * 9, "seq": range(9), "factor": 1.0}, schema_overrides={"seq": pl.Int32})


def flows(concept: str, *changes: tuple[int, int, float]) -> pl.DataFrame:
    """Twelve months of a concept: quarter, filing and amount of each change."""
    rows = [
        {
            "cik": COMPANY,
            "concept": concept,
            "q": q,
            "seq": seq,
            "amount": amount,
            "days": 365.0,
            "spread": 1.0,
            "own_spread": 1.0,
            "gross": amount,
            "excess": 0.0,
            "is_derived": False,
        }
        for q, seq, amount in changes
    ]
    found = pl.DataFrame(rows, schema_overrides={"concept": AMOUNT, "q": pl.Int32, "seq": pl.Int32})
    return found.with_columns(regime=0.0, grain=1.0, rule=pl.lit(FISCAL_YEAR.id), **dict.fromkeys(WINDOW_FLAGS, False))


def balances(concept: str, *changes: tuple[int, int, float]) -> pl.DataFrame:
    """A balance: quarter, filing and amount of each change."""
    return flows(concept, *changes).select(
        "cik", "concept", "q", "seq", "amount", "regime", rule=pl.lit(None, pl.String)
    )


def reasons_of_items() -> set[tuple[str, str]]:
    """Each reason that an item gives for having no value, and the item."""
    income, none = flows("revenue", (8, 0, 1.0)), balances("equity", (8, 0, 1.0))
    points = Points(income, none, FILED)
    return {(reason, item.name) for item in line_items(points) for reason, _ in item.gaps}


def test_explanations_know_which_amounts_items_subtract():
    points = Points(flows("revenue", (8, 0, 1.0)), balances("equity", (8, 0, 1.0)), FILED)
    legs = [leg for item in line_items(points) for leg in item.legs if leg.concept != item.name]

    assert {leg.concept for leg in legs if leg.times < 0} == set(SUBTRACTED)
    assert {leg.concept for leg in legs if leg.times > 0}.isdisjoint(SUBTRACTED)


def standing(flows: pl.DataFrame, balances: pl.DataFrame, concept: str) -> list[tuple[int, int, float]]:
    """Quarter, filing and amount of a concept after each filing."""
    points = Points(flows, balances, FILED)
    found = zip(points.q.tolist(), points.seq.tolist(), points.of(concept).tolist(), strict=True)
    return [point for point in found if not isnan(point[2])]


def test_a_version_is_a_value_that_differs_from_the_one_before():
    """The first value, each change, and a return to an earlier value are versions; a repetition is not."""
    changes = [(8, seq, value) for seq, value in enumerate((100.0, 100.0, 96.0, 96.0, 100.0))]
    found, none = flows("revenue", *changes).sample(fraction=1, shuffle=True, seed=3), balances("equity", (8, 0, 1.0))
    points = Points(found, none, FILED)

    versions, *_ = item_versions(points, line_items(points), GENERAL)

    assert versions.filter(item="revenue")["seq"].to_list() == [0, 2, 4]


def test_figures_that_a_filing_does_not_change_keep_their_values():
    """Flows change with one filing, balances with another: after each, both are known once each was filed."""
    revenue, equity = flows("revenue", (8, 0, 100.0), (8, 3, 96.0)), balances("equity", (8, 2, 40.0))

    assert standing(revenue, equity, "revenue") == [(8, 0, 100.0), (8, 2, 100.0), (8, 3, 96.0)]
    assert standing(revenue, equity, "equity") == [(8, 2, 40.0), (8, 3, 40.0)]


def test_the_balances_of_a_year_before_count_too():
    """A return on capital changes when the balance sheet of a year earlier is restated."""
    income = flows("operating_income", (8, 1, 9.0))
    equity = balances("equity", (4, 0, 3.0), (4, 5, 4.0), (8, 1, 5.0))

    assert [point for point in standing(income, equity, "operating_income") if point[0] == 8] == [
        (8, 1, 9.0),
        (8, 5, 9.0),
    ]


# --- Share bases ------------------------------------------------------------------------------------------------


def test_a_reverse_split_says_nothing_of_the_industry_of_earlier_periods():
    """General Electric had a finance arm until 2015, and a reverse split in 2021; a filing with amounts does say it."""
    filings = pl.DataFrame(
        {"cik": [COMPANY] * 3, "seq": [0, 5, 6], "factor": [0.125, 1.0, 1.0]}, schema_overrides={"seq": pl.Int32}
    )
    industries = pl.DataFrame(
        {"cik": [COMPANY] * 3, "seq": [0, 5, 6], "industry": ["captive_finance", "general", "general"]}
    )
    earnings = flows("eps_basic", (0, 0, 1.0), (1, 0, 1.0), (1, 6, 2.0))
    points = Points(earnings, balances("equity", (0, 0, 1.0)), filings)
    assert list(zip(points.q, points.seq, points.is_of_split, strict=True)) == [
        (0, 0, False),
        (0, 5, True),
        (1, 0, False),
        (1, 5, True),
        (1, 6, False),
    ]
    reasons = _without_meaning(points, industries)["debt_to_fcf"]["reason"].to_list()
    assert [reason is None for reason in reasons] == [False, False, False, False, True]


FACTORS = pl.DataFrame(
    {"cik": [CIK] * 4, "class_member": [""] * 4, "accession": FILINGS, "factor": [4.0, 4.0, 4.0, 1.0]}
)


def test_a_split_rescales_versions_recorded_before_it():
    """A four-for-one split: counts times four, amounts per share divided by four, money unchanged."""
    items = {"shares_basic": 10e6, "eps_basic": 8.0, "dividends_per_share": 2.0, "net_income": 80e6}
    log = logged(*(version(value, item=item) for item, value in items.items()))

    today = on_basis_of_today(log, FACTORS, ITEM_SIGNS)

    assert dict(today.select("item", "value").iter_rows()) == {
        "shares_basic": 40e6,
        "eps_basic": 2.0,
        "dividends_per_share": 0.5,
        "net_income": 80e6,
    }
    assert today.drop("value", "legs").equals(log.drop("value", "legs"))


def test_the_basis_is_the_newest_filing_at_the_recording():
    """The basis is not the basis of the value's filing: a version recorded after the split is already on the new
    basis.
    """
    log = logged(version(8.0, item="eps_basic", basis=FILINGS[2]), version(2.0, item="eps_basic", basis=FILINGS[3]))

    assert on_basis_of_today(log, FACTORS, ITEM_SIGNS)["value"].to_list() == [2.0, 2.0]


def test_legs_are_rescaled_with_their_value():
    """Each leg is rescaled by its unit; legs in money stay unchanged."""
    legs = [leg(80e6, "dividend"), leg(10e6, "divisor_mean", weight=365.0, unit="shares")]
    per_share = [leg(6.0, unit="USD/shares"), leg(2.0, unit="USD/shares", split_factor=0.5)]
    log = logged(
        version(8.0, item="eps_basic", legs=legs),
        version(7.0, item="eps_basic", legs=per_share, period_end=day("2023-12-31")),
        version(80e6, item="net_income", legs=[leg(80e6)]),
    )

    today = on_basis_of_today(log, FACTORS, ITEM_SIGNS).with_row_index("row")
    again = recomputed(today.select("row", "legs").explode("legs").unnest("legs"), ["row"]).sort("row")

    assert again["recomputed"].to_list() == pytest.approx([2.0, 7.0 / 4, 80e6])
    assert again["recomputed"].to_list() == pytest.approx(today["value"].to_list())


def test_without_splits_the_log_does_not_change():
    log = logged(
        version(8.0, item="eps_basic", legs=[leg(8.0, unit="USD/shares")]), version(None, item="roic", legs=[])
    )

    assert on_basis_of_today(log, FACTORS.with_columns(factor=pl.lit(1.0)), ITEM_SIGNS).equals(log)
    assert on_basis_of_today(log, FACTORS.clear(), ITEM_SIGNS).equals(log)
    assert on_basis_of_today(log.clear(), FACTORS, ITEM_SIGNS).equals(log.clear())


def test_a_withdrawal_has_no_share_basis():
    today = on_basis_of_today(logged(version(None, item="eps_basic", legs=[])), FACTORS, ITEM_SIGNS)

    assert today.select("value", "legs").rows() == [(None, [])]


# --- Recording and numbering --------------------------------------------------------------------------------------


def test_only_the_current_value_has_been_served():
    """A value that was superseded before the first synchronization has no time of recording."""
    result = recorded(replayed(version(100.0), INCOME, version(96.0, FILINGS[1])), NOW, "rules")

    assert result.select("recorded_at", "rules").rows() == [(None, "rules"), (NOW, "rules"), (NOW, "rules")]
    assert result.schema == LOG


LATE, NEWEST = FILINGS[1], FILINGS[3]
TOLD_ANEW = {
    # what the log has, and the replay: value and filing
    "of an older report": ([(100.0, NEWEST)], [(100.0, LATE)], [(100.0, LATE, NOW)]),
    "superseded before it arrived": (
        [(96.0, NEWEST)],
        [(100.0, LATE), (96.0, NEWEST)],
        [(100.0, LATE, None), (96.0, NEWEST, NOW)],
    ),
    "beside a value that the replay does not have": (
        [(97.0, NEWEST)],
        [(100.0, LATE), (96.0, NEWEST)],
        [(97.0, NEWEST, NOW), (100.0, LATE, None)],  # to_append adds the newest one
    ),
    "after a value that the replay does not have": (
        [(99.0, FILINGS[0]), (97.0, NEWEST), (96.0, NEWEST)],
        [(99.0, FILINGS[0]), (100.0, LATE), (96.0, NEWEST), (95.0, NEWEST)],
        [(99.0, FILINGS[0], NOW), (97.0, NEWEST, NOW), (100.0, LATE, None), (96.0, NEWEST, NOW)],
    ),
    "before a change": (
        [(96.0, NEWEST)],
        [(100.0, LATE), (96.0, NEWEST), (95.0, NEWEST)],
        [(100.0, LATE, None), (96.0, NEWEST, NOW)],
    ),
    "before a value that a newer report repeats": (
        [(96.0, FILINGS[2])],
        [(100.0, LATE), (96.0, NEWEST)],
        [(100.0, LATE, None), (96.0, NEWEST, NOW)],
    ),
    "of a report that is not late": ([(100.0, LATE)], [(100.0, LATE), (96.0, NEWEST)], []),
}


@pytest.mark.parametrize(("in_log", "found", "expected"), TOLD_ANEW.values(), ids=TOLD_ANEW)
def test_a_late_report_tells_its_versions_anew(in_log, found, expected):
    """At their places, with the times at which values were served; in the log, the rows recorded last count."""
    log, replay = logged(*(version(*one) for one in in_log)), replayed(*(version(*one) for one in found))

    again = recorded_again(log, replay, ORDER, "rules")
    now = in_force(pl.concat([log, again]))

    assert again.select("value", "accession", "recorded_at").rows() == expected
    assert now.equals(again if expected else log)
    assert recorded_again(now, replay, ORDER, "rules").is_empty()


def test_what_follows_a_served_value_to_which_no_filing_leads_corrects_it():
    """An item to which no filing leads any more is not recorded again."""
    found = replayed(version(99.0, FILINGS[0]), version(100.0, LATE, cause="restatement"), version(96.0, NEWEST))

    again = recorded_again(logged(version(97.0, NEWEST), version(7.0, item="net_income")), found, ORDER, "rules")

    assert again.select("value", "cause").rows() == [(97.0, "initial"), (99.0, "correction"), (100.0, "restatement")]


def test_a_report_that_the_log_names_is_not_late():
    """As the filing of a leg. Nor is anything recorded again that other rules made."""
    found = replayed(version(100.0, LATE))

    assert recorded_again(logged(version(100.0, NEWEST, legs=[filed(LATE)])), found, ORDER, "rules").is_empty()
    assert recorded_again(logged(version(100.0, NEWEST), rules="former rules"), found, ORDER, "rules").is_empty()


def test_versions_are_numbered_in_the_order_of_recording():
    log = logged(version(100.0), version(7.0, item="net_income"), version(96.0), version(None, cause="method"))

    result = numbered(log)

    assert (result["version"].to_list(), result["is_current"].to_list()) == ([1, 1, 2, 3], [False, True, False, True])
