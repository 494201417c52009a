"""Facts: which filed facts count, the order of filings, and the source of a filing's value."""

from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.normalize.faces.facts import SHOWN_SCHEMA
from pipelines.normalize.facts.precision import granularity
from pipelines.normalize.facts.reports import in_currency, in_filing_order, reporting_currency, typed
from pipelines.normalize.facts.stated import stated_concepts, without_partial_recasts
from pipelines.normalize.industry.classification import industries
from pipelines.normalize.rules import FILES
from tests.factories import CASH, CIK, DILUTED, EPS, REVENUE, SHARES, Row, fact, raw, stated
from tests.shapes.faces import OF_FACES

YEAR = ("2023-01-01", "2023-12-31")


def values(rows: pl.DataFrame, concept: str) -> list[float]:
    """The values that filings state for a concept, in the order of filing."""
    return stated(rows)[0].filter(concept=concept).sort("seq")["value"].to_list()


# --- Which facts count


@pytest.mark.parametrize(
    ("form", "found"),
    [
        *((form, [(False, form)]) for form in ("10-K", "10-Q", "10-KT", "10-QT", "20-F", "40-F")),
        *((f"{form}/A", [(True, form)]) for form in ("10-K", "10-Q", "20-F")),
        *((form, []) for form in ("DEF 14A", "424B2", "S-1", "PRE 14A", "10-K405")),
    ],
)
def test_periodic_reports_feed_values(form, found):
    """Proxies round figures and prospectuses restate them: only periodic reports count."""
    assert typed(raw(fact(REVENUE, 5, *YEAR, form=form)))[0].select("amended", "form_family").rows() == found


def test_a_period_that_ends_after_its_filing_is_ignored():
    """Cover pages and subsequent events have facts with future dates."""
    rows = raw(fact(CASH, 1, None, "2024-02-21"), fact(CASH, 2, None, "2024-02-20"))

    assert typed(rows)[0]["value"].to_list() == [2.0]


@pytest.mark.parametrize(
    ("unit", "found"),
    [
        ("USD", [("money", "USD")]),
        ("CHF/shares", [("per_share", "CHF")]),
        ("shares", [("shares", None)]),
        *((unit, []) for unit in ("pure", "USD/oz", "usd", "shares/USD", "Y")),
    ],
)
def test_a_unit_makes_a_measure(unit, found):
    """Facts in other units are left out."""
    assert typed(raw(fact(REVENUE, 5, *YEAR, unit=unit)))[0].select("measure", "currency").rows() == found


# --- Currency


def in_years(years: range, unit: str) -> list[Row]:
    """Revenue of some years, in one currency."""
    return [
        fact(REVENUE, year, f"{year}-01-01", f"{year}-12-31", unit=unit, filed=f"{year + 1}-04-15") for year in years
    ]


IN_DOLLARS = {"unit": "USD", "filed": "2024-04-15"}
CURRENCIES = {
    # the dollar column of the newest year has fewer facts than the accounts of all years in their own currency
    "a convenience translation is no reporting currency": (
        [
            *in_years(range(2020, 2024), "TWD"),
            fact(REVENUE, 2023, *YEAR, **IN_DOLLARS),
            fact(EPS, 3, *YEAR, unit="USD/shares", filed="2024-04-15"),
            fact(SHARES, 100, *YEAR, filed="2024-04-15"),
        ],
        "TWD",
        {(REVENUE, "TWD"), (SHARES, "shares")},
    ),
    # ten years in francs and two in dollars: the newest years decide the currency, and the two are not mixed
    "a company that changed its currency is served in the new one": (
        [*in_years(range(2010, 2020), "CHF"), *in_years(range(2020, 2023), "USD")],
        "USD",
        {(REVENUE, "USD")},
    ),
    # the convenience translation of one year, even if the newest filing has no other facts
    "one filing in another currency changes nothing": (
        [*in_years(range(2019, 2023), "TWD"), fact(REVENUE, 7, "2022-01-01", "2022-12-31", form="6-K", **IN_DOLLARS)],
        "TWD",
        {(REVENUE, "TWD")},
    ),
}
"""Facts, the currency of the company, and the elements and units that are kept."""


@pytest.mark.parametrize(("rows", "currency", "kept"), CURRENCIES.values(), ids=CURRENCIES)
def test_the_reporting_currency(rows, currency, kept):
    found, _ = typed(raw(rows))
    currencies = reporting_currency(found)

    assert currencies.rows() == [(int(CIK), currency)]
    assert set(in_currency(found, currencies)[0].select("tag", "unit").rows()) == kept


# --- The order of filings


def sequence(rows: pl.DataFrame, accepted: pl.DataFrame | None = None) -> list[str]:
    found, *_ = in_filing_order(typed(rows)[0], accepted)
    return found.sort("seq")["accession"].unique(maintain_order=True).to_list()


def test_filings_follow_each_other_by_date_never_by_accession_number():
    """The year in an accession number is not a date."""
    rows = raw(
        fact(REVENUE, 2, *YEAR, filed="2024-06-01", accession="0000000001-20-000007"),
        fact(REVENUE, 1, *YEAR, filed="2024-02-01", accession="0000000001-24-000001"),
    )

    assert sequence(rows) == ["0000000001-24-000001", "0000000001-20-000007"]


def test_on_one_day_the_amendment_is_last_and_acceptance_decides():
    rows = raw(
        fact(REVENUE, 3, *YEAR, form="10-K/A", accession="a-amendment"),
        fact(REVENUE, 2, *YEAR, form="10-K", accession="b-evening"),
        fact(REVENUE, 1, *YEAR, form="10-Q", accession="c-morning"),
        fact(REVENUE, 4, *YEAR, form="10-Q", accession="d-unknown"),
    )
    accepted = pl.DataFrame(
        {
            "cik": [CIK, CIK, CIK, CIK, "0000000007"],
            "accession": ["a-amendment", "b-evening", "c-morning", "b-evening", "b-evening"],
            "accepted_at": [datetime(2024, 2, 20, hour, tzinfo=UTC) for hour in (9, 20, 10, 20, 8)],
        },
        schema_overrides={"accepted_at": pl.Datetime("us", "UTC")},
    )

    # submissions of another company state another time
    assert sequence(rows, accepted) == ["c-morning", "b-evening", "d-unknown", "a-amendment"]
    assert sequence(rows) == ["b-evening", "c-morning", "d-unknown", "a-amendment"]


# --- The source of a value


def with_and_without_minorities(filed, parent, consolidated):
    """A report that states net income with and without minorities."""
    year = (f"{filed - 1}-01-01", f"{filed - 1}-12-31")
    return [
        fact("NetIncomeLoss", parent, *year, filed=f"{filed}-02-20"),
        fact("ProfitLoss", consolidated, *year, filed=f"{filed}-02-20"),
    ]


def repeated(filed, year, consolidated):
    """A later report that states the year with minorities only."""
    return fact("ProfitLoss", consolidated, f"{year}-01-01", f"{year}-12-31", filed=f"{filed}-02-20")


QUARTER = ("2023-07-01", "2023-09-30")
CONTRACT, OLDER = "RevenueFromContractWithCustomerExcludingAssessedTax", "SalesRevenueNet"
FROM_A_NOTE = [
    fact("ProfitLoss", 80, *YEAR),
    fact("IncomeTaxExpenseBenefit", 20, *YEAR),
    fact("IncomeLossFromContinuingOperationsBeforeIncomeTaxesDomestic", 90, *YEAR),
]
WITH_INTERIM = [
    fact("ProfitLoss", 20, *QUARTER, form="10-Q", filed="2023-11-01"),
    fact("IncomeTaxExpenseBenefit", 5, *QUARTER, form="10-Q", filed="2023-11-01"),
    *FROM_A_NOTE,
]
SOURCES = {
    # cost of revenue plus gross profit are revenue only if a filing states both
    "a sum needs each of its elements in one filing": (
        [
            fact("CostOfRevenue", 60, *YEAR, filed="2024-02-01"),
            fact("GrossProfit", 40, *YEAR, filed="2025-02-01"),
            fact("CostOfRevenue", 61, *YEAR, filed="2026-02-01"),
            fact("GrossProfit", 41, *YEAR, filed="2026-02-01"),
        ],
        {"revenue": [102]},
    ),
    # total equity is the parent's equity plus minorities; the parent's net income is the total less their share
    "added and subtracted elements may be missing": (
        [
            fact("StockholdersEquity", 50, None, YEAR[1]),
            fact("MinorityInterest", 7, None, YEAR[1]),
            fact("ProfitLoss", 20, *YEAR),
            fact("NetIncomeLossAttributableToNoncontrollingInterest", 3, *YEAR),
            fact("StockholdersEquity", 50, None, YEAR[1], filed="2025-02-20"),
        ],
        {"equity": [57, 50], "net_income_parent": [17]},
    ),
    # one element may have facts over a period and at a date; a concept uses only facts of its kind
    "instants and durations are distinguished": (
        [fact("Assets", 5, *YEAR), fact("Assets", 6, None, YEAR[1]), fact(REVENUE, 7, None, YEAR[1])],
        {"total_assets": [6], "revenue": []},
    ),
    "the revenue of a bank is net of interest expense": (
        [
            fact("Deposits", 900, None, YEAR[1]),
            fact("InterestAndDividendIncomeOperating", 80, *YEAR),
            fact("InterestExpense", 30, *YEAR),
            fact("NoninterestIncome", 20, *YEAR),
        ],
        {"revenue": [70]},
    ),
    # `Revenues` below net sales of the same filing and period is a segment's; if equal, it is the total
    "a total is at least its part": ([fact("Revenues", 29, *YEAR), fact(OLDER, 82, *YEAR)], {"revenue": [82]}),
    "a total that equals its part": ([fact("Revenues", 82, *YEAR), fact(OLDER, 82, *YEAR)], {"revenue": [82]}),
    # the note leaves out associates; interim reports and years lead to the same figures
    "the income statement precedes income by country from a note": (WITH_INTERIM, {"pretax_income": [25, 100]}),
    "without interim reports the note counts": (FROM_A_NOTE, {"pretax_income": [90]}),
    "a less preferred source with another amount restates nothing": (
        [
            *with_and_without_minorities(2022, 90, 100),
            *with_and_without_minorities(2023, 95, 104),
            repeated(2024, 2022, 104),
        ],
        {"net_income_parent": [90, 95]},
    ),
    "a less preferred source with the same amount restates": (
        [
            *with_and_without_minorities(2022, 90, 90),
            *with_and_without_minorities(2023, 95, 95),
            repeated(2024, 2022, 96),
        ],
        {"net_income_parent": [90, 95, 96]},
    ),
    # a difference of the two sources in a later filing has no effect on earlier filings
    "the relation of two sources depends on earlier filings only": (
        [
            *with_and_without_minorities(2022, 90, 90),
            repeated(2023, 2021, 91),
            *with_and_without_minorities(2024, 90, 120),
            *with_and_without_minorities(2025, 90, 130),
        ],
        {"net_income_parent": [90, 91, 90, 90]},
    ),
    "zero is not used as an average number of shares": ([fact(SHARES, 0, *YEAR)], {"shares_basic": []}),
}
"""What is filed, and the values of concepts in the order of filing."""


@pytest.mark.parametrize(("rows", "expected"), SOURCES.values(), ids=SOURCES)
def test_the_source_of_a_value(rows, expected):
    assert {concept: values(raw(rows), concept) for concept in expected} == expected


def test_a_filing_states_its_best_source():
    """Revenues come before contract revenue, which is often only a part; the tag is chosen for each filing."""
    rows = raw(
        fact(OLDER, 90, *YEAR, filed="2024-02-01"),
        fact(CONTRACT, 95, *YEAR, filed="2024-02-01"),
        fact(CONTRACT, 95, *YEAR, filed="2025-02-01"),
        fact(REVENUE, 100, *YEAR, filed="2025-02-01"),
        fact(OLDER, 90, *YEAR, filed="2026-02-01"),
    )
    vintages, legs = stated(rows)

    of_revenue = vintages.filter(concept="revenue").join(legs, on="vintage").sort("seq")
    assert of_revenue.select("value", "tag").rows() == [
        (95, f"us-gaap:{CONTRACT}"),
        (100, f"us-gaap:{REVENUE}"),
        (90, f"us-gaap:{OLDER}"),
    ]


@pytest.mark.parametrize(
    ("value", "grain"),
    [
        (96_700_000_000, 1e8),
        (96_662_000_000, 1e6),
        (1_234_567, 1),
        (20_000_000, 1e5),  # 200 x 100,000: fewer digits are not rounding
        (6.13, 0.01),
        (-0.0827, 0.0001),
        (0, 0.01),
    ],
)
def test_a_figure_is_stated_to_a_power_of_ten(value, grain):
    assert pl.select(granularity(pl.lit(float(value)))).item() == pytest.approx(grain)


@given(digits=st.integers(100, 999), power=st.integers(0, 9))
def test_a_figure_is_a_whole_number_of_its_grains(digits, power):
    value = float(digits * 10**power)
    grain = pl.select(granularity(pl.lit(value))).item()

    assert value % grain == 0
    assert abs(value) / grain >= 100


OF_ALL_OWNERS = [
    fact("Assets", 4804279, None, "2023-12-31"),
    fact("Liabilities", 2637108, None, "2023-12-31"),
    fact("StockholdersEquity", 2167171, None, "2023-12-31"),
    fact("MinorityInterest", -1241325, None, "2023-12-31"),
]


@pytest.mark.parametrize(("liabilities", "equity"), [(2637108, 2167171), (2637108 + 1241325, 925846)])
def test_equity_adds_noncontrolling_interests_unless_it_foots_without(liabilities, equity):
    """Medinotec in 2024: assets less liabilities are the line of equity, though noncontrolling interests are stated."""
    rows = [{**row, "value": liabilities} if row["tag"] == "Liabilities" else row for row in OF_ALL_OWNERS]
    assert values(raw(rows), "equity") == [equity]


def of_owners(year=2024, **changed):
    """Mastercard's annual report of 2024: noncontrolling interests together with net income of the parent."""
    figures = {"ProfitLoss": 12_874e6, "NetIncomeLossAttributableToNoncontrollingInterest": 16e6}
    figures |= {EPS: 13.91, SHARES: 925e6, "EarningsPerShareDiluted": 13.89, DILUTED: 927e6, **changed}
    return [
        fact(tag, value, f"{year}-01-01", f"{year}-12-31", filed=f"{year + 1}-02-20")
        for tag, value in figures.items()
        if value is not None
    ]


@pytest.mark.parametrize(
    ("changed", "income"),
    [
        ({}, 12_874e6),
        ({"ProfitLoss": 12_890e6}, 12_874e6),
        ({"ProfitLoss": 13_100e6}, 13_084e6),
        ({"NetIncomeLossAttributableToNoncontrollingInterest": 1e6}, 12_873e6),
        ({EPS: None}, 12_874e6),
        ({EPS: None, "EarningsPerShareDiluted": None}, 12_858e6),
    ],
    ids=["of the parent", "of all owners", "neither", "too small to see", "diluted alone", "no earnings per share"],
)
def test_noncontrolling_interests_are_subtracted_unless_earnings_per_share_exclude_it(changed, income):
    """13.91 a share times 925 million shares is 12,855 to 12,879 million, 13.89 times 927 million 12,865 to 12,887."""
    assert values(raw(of_owners(**changed)), "net_income_parent") == [income]


def test_whose_net_income_is_filed_follows_from_the_same_and_earlier_filings():
    """A year without evidence follows the years before it, and no year follows a later year."""
    unclear = {"NetIncomeLossAttributableToNoncontrollingInterest": 1e6}

    def of_years(*changes):
        return values(raw(*(of_owners(2020 + n, **each) for n, each in enumerate(changes))), "net_income_parent")

    assert of_years(unclear, {}, unclear) == [12_873e6, 12_874e6, 12_874e6]
    assert of_years({"ProfitLoss": 12_890e6}, {}, unclear) == [12_874e6, 12_858e6, 12_873e6]


# --- Current reports, and currencies that change


@pytest.mark.parametrize("form", ["8-K", "6-K", "8-K/A", "6-K/A"])
def test_current_reports_are_read_apart_from_periodic_ones(form):
    """Recasts and interim reports of foreign issuers are read here; a later step decides which of them count."""
    vintages, _ = stated(raw(fact(REVENUE, 5, *YEAR, form=form), fact(REVENUE, 5, *YEAR, form="10-K")))

    assert vintages.sort("periodic")["periodic"].to_list() == [False, True]


@pytest.mark.parametrize(
    ("tag", "amounts", "counts"),
    [
        (REVENUE, (5, 5), 5),
        (REVENUE, (20.4e9, 20_392e6), 20_392e6),
        (REVENUE, (15.3e9, 15_342e6, 15_342.1e6), 15_342.1e6),
        (SHARES, (628e6, 627_912_345), 627_912_345),
        (REVENUE, (20.4e9, 20_110e6), 20.4e9),
        (REVENUE, (97e6, 98e6), 98e6),
    ],
    ids=["the same", "tenths of billions", "larger and finer", "shares in millions", "another amount", "no rounding"],
)
def test_of_two_amounts_of_an_element_the_finest_of_the_largest_counts(tag, amounts, counts):
    """A text states an amount in billions that the statement states in millions."""
    facts, _ = typed(raw([fact(tag, amount, *YEAR) for amount in amounts]))

    assert facts["value"].to_list() == [counts]


# --- Each rule decides about some report

DECIDED = {
    # rule: the facts of one company that it decides about
    "report.forms": [fact(REVENUE, 5, *YEAR), fact(REVENUE, 6, *YEAR, form="DEF 14A")],
    "report.units": [fact(REVENUE, 5, *YEAR), fact(REVENUE, 6, *YEAR, unit="pure")],
    "report.period-ends-after-filing": [fact(REVENUE, 5, *YEAR), fact(CASH, 1, None, "2024-03-01")],
    "report.period-ends-long-before-filing": [fact(REVENUE, 5, *YEAR), fact(REVENUE, 6, "0203-01-01", "0203-12-31")],
    "report.filed-twice": [fact(REVENUE, 5, *YEAR), fact(REVENUE, 6, *YEAR)],
    "currency.reporting": [
        *(fact(REVENUE, 30, f"{year}-01-01", f"{year}-12-31", unit="TWD") for year in (2022, 2023)),
        fact(REVENUE, 1, *YEAR, unit="USD"),
    ],
    "filing.order.same-day": [fact(REVENUE, 5, *YEAR), fact(REVENUE, 6, *YEAR, form="10-K/A")],
    "fact.zero-share-count": [fact(REVENUE, 5, *YEAR), fact(SHARES, 0, *YEAR)],
    "fact.per-share-without-shares": [fact(REVENUE, 5, *YEAR), fact(EPS, 0.4, *YEAR, unit="USD")],
    "source.no-less-than-part": [fact(REVENUE, 29, *YEAR), fact("SalesRevenueNet", 82, *YEAR)],
    "source.revenue-that-foots": [
        fact(REVENUE, 29, *YEAR),
        fact("RevenueFromContractWithCustomerExcludingAssessedTax", 82, *YEAR),
        fact("OperatingIncomeLoss", 40, *YEAR),
    ],
    "precision.scale-of-filing": [
        fact(REVENUE, 1e6 * (year - 1999), f"{year}-01-01", f"{year}-12-31") for year in range(2013, 2024)
    ],
    "fact.annual-note": WITH_INTERIM,
    "fact.part-of-other-element": [
        fact("LongTermNotesPayable", 70, None, "2023-12-31"),
        fact("SeniorLongTermNotes", 40, None, "2023-12-31"),
    ],
    "fact.noncontrolling-interests-already": OF_ALL_OWNERS,
    "fact.lesser-source-repeats": [
        *with_and_without_minorities(2022, 90, 100),
        *with_and_without_minorities(2023, 95, 104),
        repeated(2024, 2022, 104),
    ],
    "fact.other-source": [
        *with_and_without_minorities(2022, 90, 100),
        *with_and_without_minorities(2023, 95, 104),
        repeated(2024, 2023, 104),
        repeated(2025, 2024, 9),
    ],
    "recast.partial": [
        fact(REVENUE, 900e6, "2022-01-01", "2022-12-31", filed="2023-02-20"),
        fact(REVENUE, 800e6, "2022-01-01", "2022-12-31", form="8-K", filed="2023-04-25"),
    ],
}


@pytest.fixture(scope="module")
def decided():
    """Company and rule of every decision on these reports, one company each."""
    rows = [
        {**row, "cik": str(number), "accession": f"{number}-{row['accession']}"}
        for number, reports_of in enumerate(DECIDED.values(), start=1)
        for row in reports_of
    ]
    periodic, of_reports = typed(raw(rows))
    own, of_currency = in_currency(periodic, reporting_currency(periodic))
    ordered, _, of_order = in_filing_order(own)
    vintages, *_, of_sources = stated_concepts(ordered, industries(ordered)[0], SHOWN_SCHEMA.to_frame())
    _, of_recasts = without_partial_recasts(vintages)
    found = pl.concat([of_reports, of_currency, of_order, of_sources, of_recasts])
    assert (found["figures"] > 0).all()
    return set(found.select("cik", "rule").iter_rows())


@pytest.mark.parametrize(
    "rule", [rule for rule, file in FILES.items() if Path(file).parent.name == "facts" and rule not in OF_FACES]
)
def test_each_rule_about_facts_decides_about_a_report(decided, rule):
    """Each decision is counted; a rule that no report exercises would fail here."""
    assert (list(DECIDED).index(rule) + 1, rule) in decided
