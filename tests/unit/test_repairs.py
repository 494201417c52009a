"""The corrections of a company's facts: their order, and the published table of repairs."""

from datetime import date

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.normalize.corrections import scale, signs
from pipelines.normalize.corrections.ledger import corrected
from tests.factories import (
    CAPITAL_SPENDING,
    CASH_FLOW,
    EPS,
    NET_INCOME,
    REVENUE,
    SHARES,
    fact,
    of_companies,
    raw,
    signed,
)
from tests.strategies import not_the_simplest

FIELDS = ["seq", "concept", "start", "end", "kind", "filed_value", "value", "evidence"]
DIGITS = 9
MINUS_SIGNS = "the filing shows every figure of this outflow with a minus sign"


def half_year(year, income=583e6, filed=None, **other):
    """A report of six months and of their second quarter."""
    filed = filed or f"{year}-08-20"
    half, quarter = (f"{year}-01-01", f"{year}-06-30"), (f"{year}-04-01", f"{year}-06-30")
    figures = {
        NET_INCOME: (1_091e6, income),
        REVENUE: (4_167e6, 2_230e6),
        EPS: (1.83, 0.98),
        SHARES: (596_175e3, 594_898e3),
        CASH_FLOW: (987e6,),
        CAPITAL_SPENDING: (109e6,),
    }
    figures |= other
    return [
        fact(tag, value, *period, form="10-Q", filed=filed)
        for tag, values in figures.items()
        for value, period in zip(values, (half, quarter), strict=False)
    ]


def table(*rows):
    """The repairs, without the company."""
    return by_name(corrected(signed(raw(*rows)))[1])


def by_name(repairs):
    """The rows of a table of repairs, in the order of filing and name."""
    return repairs.with_columns(pl.col("concept").cast(pl.String)).sort("seq", "concept", "end").select(FIELDS).rows()


HALF = (date(2017, 1, 1), date(2017, 6, 30))


def test_without_errors_the_table_is_empty():
    sound, repairs, *_ = corrected(signed(raw(half_year(2017))))

    assert repairs.is_empty()
    assert repairs.columns == ["cik", *FIELDS, "rule"]
    assert set(sound["repair"]) == {1.0}


def test_an_error_of_scale_is_recorded():
    """The filed value, the corrected value and the evidence; correct figures are not listed."""
    rows = half_year(2017, **{SHARES: (596_175, 594_898e3)})

    assert table(rows) == [(0, "shares_basic", *HALF, "scale", 596_175.0, pytest.approx(596_175e3), scale.BY_EARNINGS)]


def test_an_error_of_scale_found_by_earlier_filings_is_recorded():
    rows = [half_year(year) for year in range(2014, 2018)]
    again = [
        fact(REVENUE, value, "2017-01-01", "2017-06-30", form="10-Q", filed="2018-08-20") for value in (4_167e6 / 1e3,)
    ]

    assert table(*rows, again) == [
        (4, "revenue", *HALF, "scale", 4_167e3, pytest.approx(4_167e6), scale.BY_FILINGS_AND_LEVEL)
    ]


def test_an_error_of_sign_is_recorded():
    """Found by the figures of the line for another period, or by the minus sign of the whole line."""
    again = fact(CASH_FLOW, -987e6, "2017-01-01", "2017-06-30", form="10-Q", filed="2018-08-20")
    spent = fact(CAPITAL_SPENDING, -109e6, "2017-01-01", "2017-06-30", form="10-Q", filed="2018-08-20")

    assert table(half_year(2016), half_year(2017), again, spent) == [
        (2, "capital_expenditure", *HALF, "sign", -109e6, 109e6, MINUS_SIGNS),
        (2, "operating_cash_flow", *HALF, "sign", -987e6, 987e6, signs.BY_LINE),
    ]


def test_a_figure_in_the_wrong_context_is_left_out_and_recorded():
    """It has no corrected value for its filed period, and is not used."""
    wrong = [
        fact(tag, value, "2017-01-01", "2017-06-30", filed="2018-02-28")
        for tag, value in ((REVENUE, 2_230e6), (NET_INCOME, 583e6), (CASH_FLOW, 987e6))
    ]

    sound, repairs, *_ = corrected(signed(raw(half_year(2017), wrong)))

    assert by_name(repairs.filter(pl.col("seq") == 1)) == [
        (
            1,
            concept,
            *HALF,
            "context",
            filed,
            None,
            "it is the figure of 2017-04-01 to 2017-06-30, and filings so far say otherwise of this period",
        )
        for concept, filed in (("net_income_parent", 583e6), ("revenue", 2_230e6))
    ]
    assert sound.filter(pl.col("seq") == 1)["concept"].to_list() == ["operating_cash_flow"]


def test_errors_of_scale_are_corrected_before_errors_of_context():
    """A quarter's sales in thousands, filed for six months: only in units is the wrong context recognized."""
    before = [half_year(year) for year in range(2014, 2018)]
    told_in_thousands = [
        fact(REVENUE, value, f"{year}-01-01", f"{year}-06-30", form="10-Q", filed="2018-08-20")
        for year, value in ((2016, 4_167e3), (2017, 2_230e3))
    ]
    net_income = fact(NET_INCOME, 583e6, "2017-01-01", "2017-06-30", form="10-Q", filed="2018-08-20")

    found = table(*before, told_in_thousands, net_income)

    assert [(concept, f"{end:%Y}", kind, filed) for _, concept, _, end, kind, filed, _, _ in found] == [
        ("net_income_parent", "2017", "context", 583e6),
        ("revenue", "2016", "scale", pytest.approx(4_167e3)),
        ("revenue", "2017", "context", pytest.approx(2_230e3)),
    ]


def test_a_figure_with_two_errors_is_corrected_twice():
    """Payments in thousands and with a negative sign: two errors of one figure, one row."""
    before = [half_year(year) for year in range(2014, 2018)]
    wrong = fact(CAPITAL_SPENDING, -109e3, "2017-01-01", "2017-06-30", form="10-Q", filed="2018-08-20")

    found = table(*before, wrong)

    assert [(row[1], row[4], row[5], round(row[6])) for row in found] == [
        ("capital_expenditure", "scale", -109e3, 109_000_000)
    ]


def test_each_correction_names_its_rule_and_is_counted():
    """An error of scale of a count, and of sign of payments: one figure each."""
    wrong = half_year(2018, **{SHARES: (596_175, 594_898e3), CAPITAL_SPENDING: (-109e6,)})

    _, repairs, _, decisions = corrected(signed(raw(half_year(2017), wrong)))

    rules = ["correction.scale.income-earnings-and-shares", "correction.sign.outflow"]
    assert sorted(repairs["rule"]) == rules
    assert decisions.sort("rule").rows() == [(9990000901, rule, 1) for rule in rules]


def test_companies_are_corrected_by_their_own_filings():
    """Two companies in one batch: the error of one has no effect on the other."""
    rows = [
        *half_year(2017),
        *({**row, "cik": "9990000902"} for row in half_year(2017, **{SHARES: (596_175, 594_898)})),
    ]

    _, repairs, *_ = corrected(signed(raw(rows)))

    assert set(repairs["cik"]) == {9990000902}


mistakes = st.sampled_from(
    [
        {},
        {SHARES: (596_175, 594_898)},
        {EPS: (1_830.0, 980.0)},
        {CASH_FLOW: (-987e6,)},
        {CAPITAL_SPENDING: (-109e6,)},
        {REVENUE: (2_230e6, 2_230e6), NET_INCOME: (583e6, 583e6)},
        {REVENUE: (4_167e3, 2_230e3)},
        {NET_INCOME: (-1_091e6, -583e6)},
        {REVENUE: (4_321e6, 2_345e6)},
    ]
)


six_reports = st.lists(st.tuples(st.integers(0, 1), mistakes), min_size=6, max_size=6)


@settings(max_examples=1, deadline=None)
@given(drawn=not_the_simplest(st.lists(st.tuples(six_reports, st.integers(1, 5)), min_size=40, max_size=40)))
def test_repairs_after_a_filing_do_not_depend_on_later_ones(drawn):
    """For any figures in six reports of two years, later reports change no repair of earlier ones."""
    filed = {
        str(number): [
            half_year(2016 + year, filed=f"{2018 + n}-08-20", **errors) for n, (year, errors) in enumerate(told)
        ]
        for number, (told, _) in enumerate(drawn)
    }
    known = {name: number for name, (_, number) in zip(filed, drawn, strict=True)}

    def until(last):
        facts, ciks = of_companies({name: raw(*reports[: last[name]]) for name, reports in filed.items()})
        sound, repairs, *_ = corrected(signed(facts))
        is_known = pl.col("seq") < pl.col("cik").replace_strict(
            {int(ciks[name]): number for name, number in known.items()}
        )
        kept = sound.select("cik", "seq", "concept", "start", "end", pl.col("value").round_sig_figs(DIGITS))
        return set(kept.filter(is_known).rows()), set(repairs.filter(is_known).select("cik", *FIELDS[:5]).rows())

    assert until(dict.fromkeys(filed, 6)) == until(known)


@pytest.mark.parametrize(
    ("filed", "corrected_in"),
    [([4e10] + [4e7] * 11, {2011}), ([4e10] * 3 + [4e7] * 2 + [4e10], {2013, 2014})],
    ids=["the first filing is wrong", "two filings are in thousands"],
)
def test_a_corrected_count_is_never_the_proof_of_a_correction(filed, corrected_in):
    """Counts as filed prove, and only while more filings have them than are corrected by them."""
    rows = [
        fact(tag, value, f"{year}-01-01", f"{year}-12-31", filed=f"{year + 1}-02-20")
        for year, count in enumerate(filed, start=2010)
        for tag, value in ((SHARES, count), (REVENUE, 9e9))
    ]

    _, repairs, *_ = corrected(signed(raw(*rows)))

    assert {start.year for start in repairs["start"]} == corrected_in
