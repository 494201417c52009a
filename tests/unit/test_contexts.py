"""Figures that a filing states in the context of another period."""

import re

import pytest

from pipelines.normalize.corrections.figures import CONTEXT
from pipelines.normalize.corrections.ledger import corrected
from tests.factories import DIVIDENDS, EPS, NET_INCOME, REVENUE, SHARES, fact, raw, signed

FIRST, SECOND, THIRD, FOURTH = (
    ("{}-01-01", "{}-03-31"),
    ("{}-04-01", "{}-06-30"),
    ("{}-07-01", "{}-09-30"),
    ("{}-10-01", "{}-12-31"),
)
HALF, YEAR = ("{}-01-01", "{}-06-30"), ("{}-01-01", "{}-12-31")
IN = 2012
FILED = {FIRST: "-05-01", SECOND: "-08-01", THIRD: "-11-01", HALF: "-08-01"}


def stretch(quarter, year):
    return tuple(text.format(year) for text in quarter)


def own(tag, amounts, year=IN):
    """The figures of a year's quarterly reports, in millions."""
    return [
        fact(tag, amount * 1e6, *stretch(quarter, year), form="10-Q", filed=f"{year}{FILED[quarter]}")
        for quarter, amount in amounts.items()
    ]


def later(tag, quarter, value, year=IN, filed=f"{IN + 1}-01-30"):
    """The figures of the annual report."""
    return fact(tag, value, *stretch(quarter, year), filed=filed)


def found_in(*rows):
    """Figures that are recognized as another period's, with the date of the filing that states them."""
    vintages = signed(raw(*rows))
    filed = vintages.select("cik", "seq", "filed").unique()
    corrections = corrected(vintages)[1].join(filed, on=["cik", "seq"])
    return corrections.filter(kind=CONTEXT).sort("concept", "start", "end").rows(named=True)


def left_out(*rows):
    """The true period of each figure that is left out, by concept, start and end."""
    return {
        (row["concept"], str(row["start"]), str(row["end"])): tuple(re.findall(r"\d{4}-\d{2}-\d{2}", row["evidence"]))
        for row in found_in(*rows)
    }


SALES = {FIRST: 13_185, SECOND: 12_834, THIRD: 13_806}
SALES_BEFORE = {FIRST: 9_857, SECOND: 9_913, THIRD: 10_876}
INCOME = {FIRST: 130, SECOND: 7, THIRD: -274}
INCOME_BEFORE = {FIRST: 201, SECOND: 191, THIRD: 63}


# --- The same period of another year


def test_quarters_of_the_year_before_in_the_contexts_of_this_year():
    """An annual report with the quarters of both years exchanged, and a fourth quarter that no report stated before."""
    rows = [
        *own(REVENUE, SALES),
        *own(REVENUE, SALES_BEFORE, IN - 1),
        *own(NET_INCOME, INCOME),
        *own(NET_INCOME, INCOME_BEFORE, IN - 1),
        later(NET_INCOME, FOURTH, 177e6, IN - 1, f"{IN}-02-01"),
        later(REVENUE, FOURTH, 17_431e6, IN - 1, f"{IN}-02-01"),
        *(later(REVENUE, quarter, amount * 1e6) for quarter, amount in SALES_BEFORE.items()),
        *(later(NET_INCOME, quarter, amount * 1e6) for quarter, amount in INCOME_BEFORE.items()),
        later(REVENUE, FOURTH, 17_431e6),
        later(NET_INCOME, FOURTH, 177e6),
    ]

    found = left_out(*rows)

    assert set(found) == {
        (concept, *stretch(quarter, IN))
        for concept in ("revenue", "net_income_parent")
        for quarter in (FIRST, SECOND, THIRD, FOURTH)
    }
    assert all(start.startswith(str(IN - 1)) for start, _ in found.values())


def test_the_right_figures_of_the_year_after_are_kept():
    """The next year's report repeats the true quarters, and is the first to state a fourth quarter of 97 million."""
    wrong, right = f"{IN + 1}-01-30", f"{IN + 2}-01-31"
    rows = [
        *own(NET_INCOME, INCOME),
        *own(NET_INCOME, INCOME_BEFORE, IN - 1),
        *(later(NET_INCOME, quarter, amount * 1e6, filed=wrong) for quarter, amount in INCOME_BEFORE.items()),
        *(later(REVENUE, quarter, amount * 1e6, filed=wrong) for quarter, amount in SALES_BEFORE.items()),
        *own(REVENUE, SALES),
        *own(REVENUE, SALES_BEFORE, IN - 1),
        *(later(NET_INCOME, quarter, amount * 1e6, filed=right) for quarter, amount in INCOME.items()),
        *(later(REVENUE, quarter, amount * 1e6, filed=right) for quarter, amount in SALES.items()),
        later(NET_INCOME, FOURTH, 97e6, filed=right),
    ]

    found = found_in(*rows)

    assert {str(row["filed"]) for row in found} == {wrong}
    assert len(found) == 6


OF_HALF = own(REVENUE, {SECOND: 2_234, HALF: 4_167})
NINE_MONTHS = ("{}-01-01", "{}-09-30")


def in_last_quarter(tag, part, whole, filed=f"{IN}-11-01"):
    """The figure of a year, stated for its last quarter too, and the nine months before."""
    nine_months = fact(tag, part, *stretch(NINE_MONTHS, IN), form="10-Q", filed=filed)
    return [*own(REVENUE, SALES), nine_months, later(tag, YEAR, whole), later(tag, FOURTH, whole)]


def of_two_lines(sales, income):
    """The first quarter, restated to the figures of the year before."""
    return [
        *own(REVENUE, {FIRST: 90}),
        *own(REVENUE, {FIRST: sales}, IN - 1),
        *own(NET_INCOME, {FIRST: 50}),
        *own(NET_INCOME, {FIRST: income}, IN - 1),
        later(REVENUE, FIRST, sales * 1e6),
        later(NET_INCOME, FIRST, income * 1e6),
    ]


KEPT = {
    # a figure that differs from the earlier one and does not belong to another period is a restatement
    "a restated quarter": [*own(REVENUE, SALES), later(REVENUE, SECOND, 12_900e6)],
    # two years with the same sales, repeated in a later report
    "a repetition of the period's own figure": [
        *own(REVENUE, SALES),
        *own(REVENUE, {SECOND: 12_834}, IN - 1),
        later(REVENUE, SECOND, 12_834e6),
    ],
    # amounts per share have few digits, and six months may be restated to the quarter's figure by chance
    "amounts per share alone": [
        *own(REVENUE, SALES),
        *own(EPS, {SECOND: 0.98e-6, HALF: 1.83e-6}),
        later(EPS, HALF, 0.98),
    ],
    # among the quarters of many companies, some are restated to a figure of the year before by chance
    **{
        f"few digits of another year, {amount}": [
            *own(REVENUE, SALES),
            *own(NET_INCOME, {SECOND: 601}),
            *own(NET_INCOME, {SECOND: amount}, IN - 1),
            later(NET_INCOME, SECOND, amount * 1e6),
        ]
        for amount in (583, 20, 2_200)
    },
    # two amounts of two digits each: among many small companies, some match both by chance
    "two round amounts": of_two_lines(60, 20),
    "two amounts of two digits": of_two_lines(62, 21),
    # a restatement does not make the reports after it wrong
    "a figure that a later report states for another period": [
        *own(REVENUE, SALES),
        later(REVENUE, SECOND, 9_913e6),
        later(REVENUE, SECOND, 9_913e6, IN - 1, "2014-01-30"),
    ],
    # a company that began in its last quarter has the same figures for the quarter and the year
    "the first statement of a period": [later(REVENUE, FOURTH, 1_234e6), later(REVENUE, YEAR, 1_234e6)],
    # balances may be equal at several dates without being wrong
    "balances": [
        fact("Assets", 1_234e6, None, "2012-06-30", form="10-Q", filed="2012-08-01"),
        fact("Assets", 2_345e6, None, "2011-06-30", form="10-Q", filed="2011-08-01"),
        fact("Assets", 2_345e6, None, "2012-06-30", filed="2013-01-30"),
    ],
    "dividends declared at the end of the year": in_last_quarter(DIVIDENDS, 0.0, 0.34),
    "what came before is lost in the rounding of the year": in_last_quarter(NET_INCOME, 1e6, 900e6),
    # they contradict each other, and no figure is likelier than another
    "three equal figures": in_last_quarter(DIVIDENDS, 0.34, 0.34),
    "averages, which are no sums": in_last_quarter(SHARES, 500e6, 510e6),
    # values known after the annual report do not depend on the comparatives of the year after
    "nine months stated later": in_last_quarter(DIVIDENDS, 0.255, 0.34, f"{IN + 1}-11-01"),
}


@pytest.mark.parametrize("rows", KEPT.values(), ids=KEPT)
def test_figures_are_kept(rows):
    assert left_out(*rows) == {}


LEFT_OUT = {
    # revenue of 2,230 and income of 583 million belong to the second quarter; the six months had 4,167 and 1,091
    "a quarter's figures in the six months": (
        [
            *own(REVENUE, {SECOND: 2_230, HALF: 4_167}),
            *own(NET_INCOME, {SECOND: 583, HALF: 1_091}),
            *own(EPS, {SECOND: 0.98e-6, HALF: 1.83e-6}),
            later(REVENUE, HALF, 2_230e6),
            later(NET_INCOME, HALF, 583e6),
            later(EPS, HALF, 0.98),
        ],
        dict.fromkeys(("revenue", "net_income_parent", "eps_basic"), (HALF, SECOND)),
    ),
    "one amount of four digits": ([*OF_HALF, later(REVENUE, HALF, 2_234e6)], {"revenue": (HALF, SECOND)}),
    # six months of 60 that become 20, the figure of their second quarter: this restatement is implausible
    **{
        f"an amount of {quarter} in a longer period": (
            [*own(NET_INCOME, {SECOND: quarter, HALF: half}), later(NET_INCOME, HALF, quarter * 1e6)],
            {"net_income_parent": (HALF, SECOND)},
        )
        for quarter, half in ((583, 1_091), (20, 60))
    },
    # 0.34 for the year and for its last quarter, though the nine months had 0.255: the quarter had the rest
    **{
        f"a year's figure of {concept} in the last quarter": (
            in_last_quarter(tag, part, whole),
            {concept: (FOURTH, YEAR)},
        )
        for tag, concept, part, whole in (
            (DIVIDENDS, "dividends_per_share", 0.255, 0.34),
            (REVENUE, "revenue", 28_369e6, 39_506e6),
            (NET_INCOME, "net_income_parent", -16.7e6, -36.3e6),
        )
    },
}
"""What is filed, and by concept the period of the figure that is left out, and its true period."""


@pytest.mark.parametrize(("rows", "expected"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_figures_are_left_out(rows, expected):
    assert left_out(*rows) == {
        (concept, *stretch(stated, IN)): stretch(true, IN) for concept, (stated, true) in expected.items()
    }


def test_a_restated_year_that_was_filed_for_a_quarter_before_is_kept():
    """39,831 million, restated to 39,383; an earlier report had stated 39,383 in the fourth quarter's context."""
    rows = [
        later(REVENUE, YEAR, 39_831e6),
        later(REVENUE, FOURTH, 39_383e6),
        later(REVENUE, YEAR, 39_383e6, filed=f"{IN + 2}-01-30"),
    ]

    assert ("revenue", *stretch(YEAR, IN)) not in left_out(*rows)


def test_later_filings_change_no_earlier_decision():
    """The figures left out after a filing are the same whatever is filed later."""
    early = [*own(REVENUE, {SECOND: 2_234, HALF: 4_167}), later(REVENUE, HALF, 2_234e6)]
    after = [later(REVENUE, quarter, 4_167e6, filed=f"{IN + 2}-01-30") for quarter in (SECOND, HALF)]

    assert left_out(*early).items() <= left_out(*early, *after).items()


QUARTERS = (FIRST, SECOND, THIRD, FOURTH)


@pytest.mark.parametrize(
    ("amounts", "year_before", "own_year", "shifted"),
    [
        ((18_319e3, 17_484e3, 17_860e3, 19_391e3), 73_054e3, 68_681e3, True),
        ((18_319e3, 17_484e3, 17_860e3, 19_391e3), 73_054e3, 73_054e3, False),  # two equal years
        ((18_319e3, 17_484e3, 17_860e3, 19_391e3), 73_064e3, 68_681e3, False),
        ((25e6, 25e6, 25e6, 25e6), 100e6, 105e6, False),  # a level amount proves nothing
    ],
)
def test_quarters_that_add_up_to_the_year_before(amounts, year_before, own_year, shifted):
    """Westwood: the quarterly data of an annual report are dated a year late; all lines of its contexts are."""
    years = later(REVENUE, YEAR, year_before, IN - 1), later(REVENUE, YEAR, own_year)
    quarters = [later(REVENUE, quarter, amount) for quarter, amount in zip(QUARTERS, amounts, strict=True)]
    per_share = [later(EPS, quarter, 0.1) for quarter in QUARTERS]

    found = left_out(*years, *quarters, *per_share)

    concepts = ("eps_basic", "revenue") if shifted else ()
    assert set(found) == {(concept, *stretch(quarter, IN)) for concept in concepts for quarter in QUARTERS}
    assert {start[:4] for start, _ in found.values()} == ({f"{IN - 1}"} if shifted else set())


@pytest.mark.parametrize(
    ("amount", "lines", "is_wrong"),
    [(-15_437e3, True, True), (-15_437e3, False, False), (-12_667e3, True, False)],
)
def test_a_year_before_the_statements_that_repeats_the_next_one(amount, lines, is_wrong):
    """Riot Platforms: the statement of equity begins a year early, with the loss of the first year of the others."""
    others = {REVENUE: 213e6, EPS: -0.17, SHARES: 91e6} if lines else {}
    in_next_report = [later(line, YEAR, value) for line, value in others.items()]
    figures = [later("ProfitLoss", YEAR, amount, IN - 1), later("ProfitLoss", YEAR, -15_437e3)]

    found = left_out(*figures, *in_next_report)

    assert {period[1:] for period in found} == ({stretch(YEAR, IN - 1)} if is_wrong else set())
    assert set(found.values()) == ({stretch(YEAR, IN)} if is_wrong else set())


@pytest.mark.parametrize(
    ("mean", "of_year", "is_wrong"),
    [(5_799_496, 5_799_496, True), (5_799_496, 6_652_979, False), (0, 0, False)],
)
def test_a_mean_of_the_year_before_in_an_interim_report_that_is_the_quarters(mean, of_year, is_wrong):
    """MainStreet: the first quarter of 2018 in the context of 2018, in which shares were issued."""
    report = {"form": "10-Q", "filed": f"{IN}{FILED[FIRST]}"}
    before = {FIRST: mean, YEAR: of_year}
    figures = [fact(SHARES, value, *stretch(period, IN - 1), **report) for period, value in before.items()]

    found = left_out(*own(SHARES, {FIRST: 8.243}), *figures, *own(REVENUE, SALES))

    assert found == ({("shares_basic", *stretch(YEAR, IN - 1)): stretch(FIRST, IN - 1)} if is_wrong else {})


def test_a_mean_of_the_year_that_is_that_of_a_quarter_in_an_annual_report():
    """A company with a constant number of shares."""
    years = [later(SHARES, period, 5_799_496, year) for year in (IN - 1, IN) for period in (FIRST, YEAR)]

    assert left_out(*own(REVENUE, SALES), *years) == {}
