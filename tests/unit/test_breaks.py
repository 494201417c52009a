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
    raw,
    row_of,
    signed,
    value_of,
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


def found_in(*rows):
    """Filing date and kind of the breaks."""
    return [(filed, kind) for filed, kind, _ in breaks_in(*rows)]


def breaks_in(*rows):
    """Filing date, kind and rule of the breaks."""
    facts, vintages = ordered_facts(raw(*rows)), signed(raw(*rows))
    filings = facts.select("cik", "seq", "accession", "filed").unique(["cik", "seq"])
    found = breaks.breaks(breaks.regimes(facts, vintages), filings)
    return [(str(filed), kind, rule) for filed, kind, rule in found.select("filed", "kind", "rule").rows()]


# --- Another company


def test_a_reverse_merger_is_one_break():
    """The first report after the merger shows another company's years; later reports show more of them."""
    shell = annual_reports(2018, 2019, scale=0.01)
    company = annual_reports(2020, 2021, years=3)

    assert found_in(shell, company) == [("2021-02-20", "entity")]


def test_other_statements_without_a_balance_sheet_are_another_company():
    """Revenue, income and cash flow of two years, all restated to a hundred times."""
    flows = [row for row in annual_report(2019, scale=100, filed="2020-12-20") if row["tag"] in FIGURES]

    assert found_in(annual_report(2019), flows) == [("2020-12-20", "entity")]


def test_reports_that_show_more_of_the_other_history_are_no_further_break():
    """The 10-Q after the merger shows a quarter of the company that a 10-Q of the shell had shown before."""
    quarter = ("2019-01-01", "2019-03-31")

    def quarterly(scale, filed):
        return [
            fact(tag, value * scale, None if tag in BALANCES else quarter[0], quarter[1], form="10-Q", filed=filed)
            for tag, value in {**FIGURES, **BALANCES}.items()
        ]

    shell = [*annual_report(2018, scale=0.01), *quarterly(0.0025, "2019-05-10")]
    company = [*annual_report(2019, years=3), *quarterly(0.25, "2020-05-10")]

    assert found_in(shell, company) == [("2020-02-20", "entity")]


def test_another_balance_sheet_is_another_company():
    """A report that repeats few figures, among them total assets and cash, both larger by more than half."""
    first = annual_report(2008, years=1)
    merged = [row for row in annual_report(2009, scale=1.7) if row["tag"] in BALANCES or row["end"] == "2009-12-31"]
    assets_only = [row for row in merged if row["tag"] != CASH]

    assert found_in(first, merged) == [("2010-02-20", "entity")]
    assert found_in(first, assets_only) == []


def test_a_balance_sheet_in_thousands_is_no_break():
    """All figures of the year before a thousand times smaller: the same company in another scale."""
    assert found_in(annual_report(2008), annual_report(2009, scale=0.001)) == []


def test_a_restatement_is_no_break():
    """All figures are restated, but no figure by more than half."""
    assert found_in(annual_report(2019), annual_report(2019, scale=0.7, filed="2020-08-20", form="10-K/A")) == []


def test_a_discontinued_operation_is_no_break():
    """Revenue of earlier years falls by more than half; income, cash and total assets stay."""
    sold = [
        {**row, "value": row["value"] * (0.3 if row["tag"] in (REVENUE, CASH_FLOW) else 1)}
        for row in annual_report(2020, years=3)
    ]

    assert found_in(annual_report(2018), annual_report(2019), sold) == []


def test_an_error_of_scale_is_no_break():
    """Shares in thousands do not affect the amounts of money; one figure in thousands does not affect the others."""
    counted = [fact(SHARES, 10e6, f"{year}-01-01", f"{year}-12-31", filed="2020-02-20") for year in (2018, 2019)]
    wrong = [{**row, "value": row["value"] / 1e3, "filed": "2021-02-20", "accession": "later"} for row in counted]
    income = [
        {**row, "value": row["value"] / (1e3 if row["tag"] == NET_INCOME else 1)}
        for row in annual_report(2020, years=3)
    ]

    assert found_in(annual_report(2019), counted, wrong, income) == []


def test_a_few_figures_are_not_enough():
    """Three figures that differ may have other causes."""
    few = [row for row in annual_report(2020, scale=20, years=2) if row["tag"] in (REVENUE, NET_INCOME, CASH)]

    assert found_in(annual_report(2019), few) == []


def test_a_second_merger_years_later_is_a_second_break():
    first = annual_reports(2015, 2016, scale=0.01)
    second = annual_reports(2017, 2018, scale=1, years=3)
    third = annual_reports(2019, 2020, scale=30, years=3)

    assert found_in(first, second, third) == [("2018-02-20", "entity"), ("2020-02-20", "entity")]


def test_companies_break_by_themselves():
    shell = annual_reports(2018, 2019, scale=0.01)
    company = annual_report(2020, years=3)
    other = [{**row, "cik": "9990000902"} for row in (*annual_report(2019), *annual_report(2020))]

    assert found_in(shell, company, other) == [("2021-02-20", "entity")]


# --- Other standards


def test_a_change_of_standards_is_a_break():
    """Form 20-F under IFRS until 2020, 10-K under US-GAAP after it."""
    before = annual_reports(2019, 2020, form="20-F", taxonomy="ifrs-full", names=IN_IFRS)

    assert found_in(before, annual_report(2021), annual_report(2022)) == [("2022-02-20", "standards")]


def test_a_few_elements_of_other_standards_are_no_change():
    """The standards of a filing are the standards of most of its facts."""
    beside = fact("Revenue", 1e6, "2021-01-01", "2021-12-31", filed="2022-02-20", taxonomy="ifrs-full")

    assert found_in(annual_report(2020), annual_report(2021), beside) == []


# --- The rules


@in_one_call
def test_each_break_names_its_rule():
    """Nearly all figures, a whole balance sheet, other standards; and twelve months across a break."""
    flows = [row for row in annual_report(2019, scale=100, filed="2020-12-20") if row["tag"] in FIGURES]
    merged = [row for row in annual_report(2009, scale=1.7) if row["tag"] in BALANCES or row["end"] == "2009-12-31"]
    foreign = annual_report(2020, form="20-F", taxonomy="ifrs-full", names=IN_IFRS)
    found = [
        *breaks_in(annual_report(2019), flows),
        *breaks_in(annual_report(2008, years=1), merged),
        *breaks_in(foreign, annual_report(2021)),
    ]
    today = yield merged_shell()
    across = today.found.gaps.filter(reason="basis_break")

    company, standards = breaks.ANOTHER_COMPANY.id, breaks.OTHER_STANDARDS.id
    assert [rule for _, _, rule in found] == [company, company, standards]
    assert not across.is_empty()


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
    rows = [row for row in reports_of(before) if row["filed"] < at] + [
        row for row in reports_of(after) if row["filed"] >= at
    ]
    return raw(rows)


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

    values = found.values.filter(item="revenue", period_kind="ttm")
    assert set(values["value"]) <= {4e6, 400e6}
    assert value_of(found, "revenue", "annual", "2020-12-31") == 400e6
    assert value_of(found, "revenue", "annual", "2019-12-31") == 400e6
    assert value_of(found, "revenue", "ttm", "2019-09-30") == 4e6
    assert value_of(found, "revenue", "ttm", "2020-03-31") == 400e6
    assert value_of(found, "revenue", "ttm", "2020-06-30") == 400e6


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
    names = {REVENUE: "Revenue", NET_INCOME: "ProfitLoss", CASH_FLOW: IN_IFRS[CASH_FLOW], CASH: IN_IFRS[CASH]}
    before = [
        {**row, "tag": names.get(row["tag"], row["tag"]), "taxonomy": "ifrs-full", "form": "20-F"}
        for row in reports_of([amount * 1.1 for amount in COMPANY])
        if row["filed"] < "2020-04-01" and row["form"] == "10-K"
    ]
    after = [row for row in reports_of(COMPANY) if row["filed"] >= "2020-04-01"]

    today = yield raw(before, after)
    found = today.found.versions.filter(item=item).rows(named=True)

    assert all(len({leg["tag"].partition(":")[0] for leg in row["legs"]}) == 1 for row in found)
    assert {round(row["value"]) for row in found} == {round(year), round(year * 1.1)}
    told = {row["period_end"]: row["filed"] for row in found}
    assert told[date(2020, 3, 31)] == told[date(2020, 12, 31)] == date(2021, 3, 1)


def test_the_standards_of_a_filing_do_not_depend_on_later_ones():
    """The standards and the entity of a filing do not depend on later filings."""
    reports = [annual_report(year, scale=0.01) for year in (2018, 2019)]
    reports += [annual_report(year, years=3) for year in (2020, 2021)]

    def regimes(known):
        rows = raw(*reports[:known])
        return breaks.regimes(ordered_facts(rows), signed(rows)).sort("seq")["regime"].to_list()

    assert [regimes(known) for known in range(1, 5)] == [regimes(4)[:known] for known in range(1, 5)]
    assert regimes(4) == [0, 0, 2, 2]


@in_one_call
def test_the_company_that_takes_over_may_have_no_debt():
    """Its first balance sheet states no debt for the day of the shell's, and so fewer lines."""
    of_shell = fact("LongTermDebtNoncurrent", 4e6, None, "2019-12-31", filed="2020-02-20")
    of_company = fact("LongTermDebt", 0, None, "2019-12-31", filed="2021-02-20")
    shell = [*annual_report(2018, scale=0.01), *annual_report(2019, scale=0.01), of_shell]
    found = yield raw(shell, annual_report(2020, years=3), of_company)

    versions = found.found.versions.filter(pl.col("item") == "total_debt", pl.col("period_end") == day("2019-12-31"))
    assert versions.select("value", "cause").rows() == [(4e6, "initial"), (0.0, "entity_change")]


@in_one_call
def test_a_period_has_the_figures_of_one_company_only():
    """Debt of the shell stays until a filing shows the company's cash flows of the period, and is then withdrawn."""
    debt = fact("LongTermDebtNoncurrent", 4e6, None, "2019-12-31", filed="2020-02-20")
    shell = [*annual_report(2018, scale=0.01), *annual_report(2019, scale=0.01), debt]
    found = yield raw(shell, annual_report(2020, years=3))

    versions = found.found.versions.filter(pl.col("item") == "total_debt", pl.col("period_end") == day("2019-12-31"))
    assert versions.select("value", "cause", "rule").rows()[-1] == (None, "withdrawn", "break.one-company-a-period")
    assert versions["value"].to_list()[0] == 4e6
    assert row_of(found.gaps, "total_debt", "annual", "2019-12-31")["reason"] == "basis_break"
    assert value_of(found, "cash_and_equivalents", "annual", "2019-12-31") == 88e6


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
    changed = {REVENUE: 0.8, CASH_FLOW: 0.8, NET_INCOME: 0.9}
    later = [
        {**row, "value": row["value"] * changed.get(row["tag"], 1.0)} if row["end"] < "2022" else row
        for row in annual_report(2022, years=3)
    ]
    found = standardize(raw(annual_report(2021, years=3), later))

    assert found.breaks.is_empty()
    assert "purchasing_power" not in found.versions["cause"].to_list()
