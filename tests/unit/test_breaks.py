"""Breaks: filings at which a CIK's figures change to another company's or to other standards, and their effects."""

from datetime import date

import polars as pl
import pytest

from pipelines.normalize.periods import breaks
from pipelines.normalize.pipeline import standardize
from tests.factories import (
    ASSETS,
    CASH,
    CASH_FLOW,
    EPS,
    NET_INCOME,
    REVENUE,
    SHARES,
    Filer,
    day,
    fact,
    month_ends,
    ordered_facts,
    outcomes,
    raw,
    signed,
)
from tests.together import in_one_call

FIGURES = {REVENUE: 500e6, NET_INCOME: 50e6, CASH_FLOW: 70e6}
BALANCES = {ASSETS: 900e6, CASH: 80e6}


def annual_report(year, scale=1.0, years=2, filed=None, form="10-K", taxonomy="us-gaap", names=None):
    """An annual report with the year before as comparative; figures grow by a tenth per year."""
    filed = filed or f"{year + 1}-02-20"
    rows = []
    for back in range(years):
        growth = scale * 1.1 ** (year - back - 2018)
        of_year = (f"{year - back}-01-01", f"{year - back}-12-31")
        for tag, amount in {**FIGURES, **BALANCES}.items():
            start = None if tag in BALANCES else of_year[0]
            told = round(amount * growth, -3)
            tag = (names or {}).get(tag, tag)
            rows.append(fact(tag, told, start, of_year[1], form=form, filed=filed, taxonomy=taxonomy))
    return rows


def annual_reports(*years, **traits):
    return [row for year in years for row in annual_report(year, **traits)]


IN_IFRS = {
    REVENUE: "Revenue",
    NET_INCOME: "ProfitLoss",
    CASH_FLOW: "CashFlowsFromUsedInOperatingActivities",
    ASSETS: "Assets",
    CASH: "CashAndCashEquivalents",
}


def breaks_in(*rows):
    """Filing date, kind and rule of the breaks."""
    facts, vintages = ordered_facts(raw(*rows)), signed(raw(*rows))
    filings = facts.select("cik", "seq", "accession", "filed").unique(["cik", "seq"])
    found = breaks.breaks(breaks.regimes(facts, vintages), filings)
    return [(str(filed), kind, rule) for filed, kind, rule in found.select("filed", "kind", "rule").rows()]


# --- Another company


def quarterly_report(scale, filed):
    """The first quarter of 2019 in a 10-Q."""
    return [
        fact(tag, value * scale, None if tag in BALANCES else "2019-01-01", "2019-03-31", form="10-Q", filed=filed)
        for tag, value in {**FIGURES, **BALANCES}.items()
    ]


def times(rows, factors):
    """Facts with some elements multiplied."""
    return [{**row, "value": row["value"] * factors.get(row["tag"], 1)} for row in rows]


COUNTED = [fact(SHARES, 10e6, f"{year}-01-01", f"{year}-12-31", filed="2020-02-20") for year in (2018, 2019)]
OTHER_FLOWS = [row for row in annual_report(2019, scale=100, filed="2020-12-20") if row["tag"] in FIGURES]
OTHER_SHEET = [row for row in annual_report(2009, scale=1.7) if row["tag"] in BALANCES or row["end"] == "2009-12-31"]
BREAKS = {
    # the first report after the merger shows another company's years; later reports show more of them
    "a reverse merger is one break": (
        [*annual_reports(2018, 2019, scale=0.01), *annual_reports(2020, 2021, years=3)],
        [("2021-02-20", "entity")],
    ),
    # revenue, income and cash flow of two years, all restated to a hundred times
    "other statements without a balance sheet are another company": (
        [*annual_report(2019), *OTHER_FLOWS],
        [("2020-12-20", "entity")],
    ),
    # the 10-Q after the merger shows a quarter of the company that a 10-Q of the shell had shown before
    "reports that show more of the other history are no further break": (
        [
            *annual_report(2018, scale=0.01),
            *quarterly_report(0.0025, "2019-05-10"),
            *annual_report(2019, years=3),
            *quarterly_report(0.25, "2020-05-10"),
        ],
        [("2020-02-20", "entity")],
    ),
    # a report that repeats few figures, among them total assets and cash, both larger by more than half
    "another balance sheet is another company": (
        [*annual_report(2008, years=1), *OTHER_SHEET],
        [("2010-02-20", "entity")],
    ),
    "other total assets alone are not": (
        [*annual_report(2008, years=1), *(row for row in OTHER_SHEET if row["tag"] != CASH)],
        [],
    ),
    # all figures of the year before a thousand times smaller: the same company in another scale
    "a balance sheet in thousands is no break": ([*annual_report(2008), *annual_report(2009, scale=0.001)], []),
    # all figures are restated, but no figure by more than half
    "a restatement is no break": (
        [*annual_report(2019), *annual_report(2019, scale=0.7, filed="2020-08-20", form="10-K/A")],
        [],
    ),
    # revenue of earlier years falls by more than half; income, cash and total assets stay
    "a discontinued operation is no break": (
        [*annual_reports(2018, 2019), *times(annual_report(2020, years=3), {REVENUE: 0.3, CASH_FLOW: 0.3})],
        [],
    ),
    # shares in thousands do not affect the amounts of money; one figure in thousands does not affect the others
    "an error of scale is no break": (
        [
            *annual_report(2019),
            *COUNTED,
            *({**row, "value": row["value"] / 1e3, "filed": "2021-02-20", "accession": "later"} for row in COUNTED),
            *times(annual_report(2020, years=3), {NET_INCOME: 1e-3}),
        ],
        [],
    ),
    # three figures that differ may have other causes
    "a few figures are not enough": (
        [
            *annual_report(2019),
            *(row for row in annual_report(2020, scale=20) if row["tag"] in (REVENUE, NET_INCOME, CASH)),
        ],
        [],
    ),
    "a second merger years later is a second break": (
        [
            *annual_reports(2015, 2016, scale=0.01),
            *annual_reports(2017, 2018, years=3),
            *annual_reports(2019, 2020, scale=30, years=3),
        ],
        [("2018-02-20", "entity"), ("2020-02-20", "entity")],
    ),
    "companies break by themselves": (
        [
            *annual_reports(2018, 2019, scale=0.01),
            *annual_report(2020, years=3),
            *({**row, "cik": "9990000902"} for row in annual_reports(2019, 2020)),
        ],
        [("2021-02-20", "entity")],
    ),
    # Form 20-F under IFRS until 2020, 10-K under US-GAAP after it
    "a change of standards is a break": (
        [
            *annual_reports(2019, 2020, form="20-F", taxonomy="ifrs-full", names=IN_IFRS),
            *annual_reports(2021, 2022),
        ],
        [("2022-02-20", "standards")],
    ),
    # the standards of a filing are the standards of most of its facts
    "a few elements of other standards are no change": (
        [
            *annual_reports(2020, 2021),
            fact("Revenue", 1e6, "2021-01-01", "2021-12-31", filed="2022-02-20", taxonomy="ifrs-full"),
        ],
        [],
    ),
}
"""What is filed, and the breaks: filing date and kind."""


@pytest.mark.parametrize(("rows", "found"), BREAKS.values(), ids=BREAKS)
def test_breaks(rows, found):
    assert [(filed, kind) for filed, kind, _ in breaks_in(rows)] == found


# --- Other standards


# --- The rules


@in_one_call
def test_each_break_names_its_rule():
    """Nearly all figures, a whole balance sheet, other standards; and twelve months across a break."""
    foreign = annual_report(2020, form="20-F", taxonomy="ifrs-full", names=IN_IFRS)
    reports = [
        (annual_report(2019), OTHER_FLOWS),
        (annual_report(2008, years=1), OTHER_SHEET),
        (foreign, annual_report(2021)),
    ]
    today = yield merged_shell()

    assert [rule for several in reports for *_, rule in breaks_in(*several)] == [
        breaks.ANOTHER_COMPANY.id,
        breaks.ANOTHER_COMPANY.id,
        breaks.OTHER_STANDARDS.id,
    ]
    assert not today.found.gaps.filter(reason="basis_break").is_empty()


# --- Figures that are never mixed

SHELL, COMPANY = [1e6] * 12, [100e6] * 12


def reports_of(amounts):
    """The reports on quarters from 2018 on."""
    return Filer(
        month_ends(2018, len(amounts)),
        {
            REVENUE: amounts,
            NET_INCOME: [amount / 10 for amount in amounts],
            CASH_FLOW: [amount / 5 for amount in amounts],
            EPS: [round(amount / 100e6, 2) for amount in amounts],
        },
        balances={ASSETS: [amount * 8 for amount in amounts], CASH: [amount / 3 for amount in amounts]},
    ).rows()


def merged(before, after, at):
    """The filings of the shell before a day, and the filings of the company from then on."""
    return [
        *(row for row in reports_of(before) if row["filed"] < at),
        *(row for row in reports_of(after) if row["filed"] >= at),
    ]


def merged_shell():
    """A shell that merged between the second and the third quarter of 2020."""
    return merged(SHELL, COMPANY, at="2020-08-01")


@in_one_call
def test_twelve_months_never_mix_two_companies():
    """After a merger between two quarters, no sum combines the shell's and the company's quarters.

    The quarters that the company's own reports show as comparatives give its twelve months, also the twelve months to
    March 2020: the twelve months to June less the second quarter, plus the second quarter of 2019; other periods have
    no value or are the shell's.
    """
    found = yield merged_shell()

    assert set(found.values.filter(item="revenue", period_kind="ttm")["value"]) <= {4e6, 400e6}
    expected = {
        "annual 2020-12-31": {"revenue": 400e6},
        "annual 2019-12-31": {"revenue": 400e6},
        "ttm 2019-09-30": {"revenue": 4e6},
        "ttm 2020-03-31": {"revenue": 400e6},
        "ttm 2020-06-30": {"revenue": 400e6},
    }
    assert outcomes(found, expected) == expected


@in_one_call
def test_four_quarters_are_of_the_company_whose_reports_are_newer():
    """Earnings per share to March 2020: the shell's, and the company's when its report of May 2021 has that quarter.

    The quarters before are the comparatives of its earlier reports, and 2019 less nine months.
    """
    today = yield merged([1e6] * 16, [100e6] * 16, at="2020-08-01")
    found = today.found.versions.filter(item="eps_basic", period_end=date(2020, 3, 31))

    assert found.select("filed", pl.col("value").round(2), "flags", "cause").rows() == [
        (date(2020, 5, 10), 0.04, "", "initial"),
        (date(2021, 3, 1), None, "", "withdrawn"),
        (date(2021, 5, 10), 4.0, "", "entity_change"),
    ]
    assert [leg["value"] for leg in found["legs"].to_list()[-1]] == [1.0, 4.0, 3.0, 1.0, 1.0]


@in_one_call
def test_both_companies_stay_in_the_history():
    """The values of 2019 stated before and after the merger, with the cause."""
    found = yield merged_shell()

    told = found.found.versions.filter(item="net_income", period_end=date(2019, 12, 31)).select("value", "cause")
    assert told.rows() == [(0.4e6, "initial"), (40e6, "entity_change")]


@pytest.mark.parametrize(("item", "year"), [("revenue", 400e6), ("net_income", 40e6)])
@in_one_call
def test_twelve_months_never_mix_two_standards(item, year):
    """A year of 440 under IFRS and quarters of 100 under US-GAAP: no twelve months until the year is 400, too."""
    before = [
        {**row, "tag": IN_IFRS.get(row["tag"], row["tag"]), "taxonomy": "ifrs-full", "form": "20-F"}
        for row in reports_of([amount * 1.1 for amount in COMPANY])
        if row["filed"] < "2020-04-01" and row["form"] == "10-K"
    ]
    today = yield before + [row for row in reports_of(COMPANY) if row["filed"] >= "2020-04-01"]
    found = today.found.versions.filter(item=item).rows(named=True)

    assert all(len({leg["tag"].partition(":")[0] for leg in row["legs"]}) == 1 for row in found)
    assert {round(row["value"]) for row in found} == {round(year), round(year * 1.1)}
    told = {row["period_end"]: row["filed"] for row in found}
    assert told[date(2020, 3, 31)] == told[date(2020, 12, 31)] == date(2021, 3, 1)


def test_the_standards_of_a_filing_do_not_depend_on_later_ones():
    """The standards and the entity of a filing do not depend on later filings."""
    reports = [*(annual_report(year, scale=0.01) for year in (2018, 2019))]
    reports += [annual_report(year, years=3) for year in (2020, 2021)]
    known = [raw(*reports[:number]) for number in range(1, 5)]

    regimes = [breaks.regimes(ordered_facts(rows), signed(rows)).sort("seq")["regime"].to_list() for rows in known]

    assert regimes == [[0], [0, 0], [0, 0, 2], [0, 0, 2, 2]]


WITH_DEBT = [
    *annual_reports(2018, 2019, scale=0.01),
    fact("LongTermDebtNoncurrent", 4e6, None, "2019-12-31", filed="2020-02-20"),
    *annual_report(2020, years=3),
]
"""A shell with debt, and the first report of the company that takes over."""


@in_one_call
def test_the_company_that_takes_over_may_have_no_debt():
    """Its first balance sheet states no debt for the day of the shell's, and so fewer lines."""
    found = yield [*WITH_DEBT, fact("LongTermDebt", 0, None, "2019-12-31", filed="2021-02-20")]

    versions = found.found.versions.filter(item="total_debt", period_end=day("2019-12-31"))
    assert versions.select("value", "cause").rows() == [(4e6, "initial"), (0.0, "entity_change")]


@in_one_call
def test_a_period_has_the_figures_of_one_company_only():
    """Debt of the shell stays until a filing shows the company's cash flows of the period, and is then withdrawn."""
    found = yield WITH_DEBT

    versions = found.found.versions.filter(item="total_debt", period_end=day("2019-12-31"))
    assert versions["value"].to_list()[0] == 4e6
    assert versions.select("value", "cause", "rule").rows()[-1] == (None, "withdrawn", "break.one-company-a-period")
    expected = {"annual 2019-12-31": {"total_debt": "basis_break", "cash_and_equivalents": 88e6}}
    assert outcomes(found, expected) == expected


@pytest.mark.parametrize(
    ("power", "traits", "is_repriced"),
    [
        pytest.param(1.5, {"taxonomy": "ifrs-full", "names": IN_IFRS, "form": "20-F"}, True, id="IFRS"),
        pytest.param(3.11, {}, True, id="US GAAP, a price index that trebles"),
        pytest.param(1.07, {}, True, id="a price index that grows a little"),
        pytest.param(1.02, {}, False, id="a revision"),
        pytest.param(1000.0, {}, False, id="other units"),
    ],
)
def test_a_report_restates_by_a_price_index(power, traits, is_repriced):
    """Each annual report states two earlier years in the purchasing power of its own day."""
    reports = [annual_report(year, scale=power ** (year - 2020), years=3, **traits) for year in (2020, 2021, 2022)]
    found = standardize(raw(*reports))

    kinds = found.breaks.select("filed", "kind").rows()
    assert kinds == [(day(f"{year}-02-20"), "purchasing_power") for year in (2022, 2023) if is_repriced]
    told = found.versions.filter(item="revenue", period_end=date(2021, 12, 31), is_year_end=True)
    assert (told["cause"].to_list()[1:] == ["purchasing_power"]) == is_repriced
    flags = dict(told.select("filed", "flags").rows())
    assert ("purchasing_power" in flags[day("2022-02-20")]) == is_repriced


def test_a_restatement_by_several_factors_is_none_of_prices():
    """A disposal takes a fifth of revenue and cash flow, and a tenth of income; assets and cash stay."""
    later = annual_report(2022, years=3)
    changed = times([row for row in later if row["end"] < "2022"], {REVENUE: 0.8, CASH_FLOW: 0.8, NET_INCOME: 0.9})
    found = standardize(raw(annual_report(2021, years=3), changed, [row for row in later if row["end"] >= "2022"]))

    assert found.breaks.is_empty()
    assert "purchasing_power" not in found.versions["cause"].to_list()
