"""Figures a thousand or a million times too large or small, found by earlier filings and the level of their line."""

import pytest

from pipelines.normalize.corrections import scale, signs
from pipelines.normalize.corrections.scale import BY_FILINGS_AND_LEVEL
from tests.factories import (
    ASSETS,
    CASH_FLOW,
    DIVIDENDS,
    NET_INCOME,
    REVENUE,
    corrected_by,
    fact,
    raw,
    row_of,
    signed,
    standardized,
    value_of,
)

THOUSAND = 1000.0
QUARTERS = ["2021-03-31", "2021-06-30", "2021-09-30", "2021-12-31", "2022-03-31", "2022-06-30"]
SALES = [5.01e9, 5.12e9, 5.23e9, 5.34e9, 5.45e9, 5.56e9]
FILED = ["2021-05-05", "2021-08-05", "2021-11-05", "2022-02-05", "2022-05-05", "2022-08-05"]

ASSETS_IN_DOLLARS = fact(ASSETS, 9e9, None, QUARTERS[0], form="10-Q", filed=FILED[0])
"""Assets in dollars decide the company's currency."""


def quarter(number, value, filed=None, tag=REVENUE):
    """A quarterly report's figure for a quarter; `filed` names another report that states it."""
    year, month = QUARTERS[number][:4], int(QUARTERS[number][5:7])
    start = f"{year}-{month - 2:02d}-01"
    return fact(tag, value, start, QUARTERS[number], form="10-Q", filed=filed or FILED[number])


def reports(last=3, tag=REVENUE, scale=1.0):
    """The first quarterly reports, one figure each."""
    return [quarter(number, SALES[number] * scale, tag=tag) for number in range(last + 1)]


def digits(value):
    """A value rounded to remove floating point noise."""
    return float(f"{value:.9g}")


def corrected(*rows):
    """The stated figures, on one scale."""
    return corrected_by(
        signed(raw(*rows)), scale.proposals_for_shares, signs.proposals_for_tax_and_outflows, scale.proposals_by_filings
    )


def in_units(*rows):
    """Corrected value and kind of repair, by quarter and filing."""
    found = corrected(*rows)
    return {
        (str(row["end"]), str(row["filed"])): (digits(row["value"]), digits(row["repair"]))
        for row in found.rows(named=True)
        if row["concept"] != "total_assets"
    }


IN_THOUSANDS = quarter(0, SALES[0] / THOUSAND, filed=FILED[4])


LOSSES = [{**row, "value": -row["value"]} for row in reports(tag=NET_INCOME)]


CASES = {
    # what is filed, a quarter, the filing that states it, and what counts: the amount and what it was multiplied by
    **{
        f"a repetition times ten to the {power}: the earlier filing and the level agree": (
            [reports(), quarter(0, SALES[0] * 10**power, filed=FILED[4])],
            {(0, 4): (SALES[0], 10.0**-power), (0, 0): (SALES[0], 1.0)},
        )
        for power in (3, 6, -3)
    },
    # restatements, splits and other errors are handled elsewhere
    **{
        f"a ratio of {ratio} is no error of scale": (
            [reports(), quarter(0, SALES[0] * ratio, filed=FILED[4])],
            {(0, 4): (SALES[0] * ratio, 1.0)},
        )
        for ratio in (2.0, 10.0, 100.0, 1 / 8, 950.0)
    },
    "no earlier filing states the filing's own quarter; its comparative proves the scale of both": (
        [reports(), IN_THOUSANDS, quarter(4, SALES[4] / THOUSAND, filed=FILED[4])],
        {(4, 4): (SALES[4], THOUSAND)},
    ),
    "only figures as far from the level as the proven figure are corrected with it": (
        [reports(), IN_THOUSANDS, quarter(4, SALES[4])],
        {(4, 4): (SALES[4], 1.0)},
    ),
    "the first statement may be the wrong one: the repetition on the level of the line is kept": (
        [reports(), quarter(4, SALES[4] / THOUSAND), quarter(4, SALES[4], filed=FILED[5])],
        {(4, 5): (SALES[4], 1.0)},
    ),
    "a loss in thousands is corrected with its sign; zero stays zero": (
        [
            LOSSES,
            quarter(0, -SALES[0] / THOUSAND, filed=FILED[4], tag=NET_INCOME),
            quarter(1, 0.0, filed=FILED[4], tag=NET_INCOME),
        ],
        {(0, 4): (-SALES[0], THOUSAND), (1, 4): (0.0, 1.0)},
    ),
    "dividends of 0.25 per share, later stated as 250, have a level too": (
        [
            ASSETS_IN_DOLLARS,
            [quarter(number, 0.25, tag=DIVIDENDS) for number in range(4)],
            quarter(0, 250.0, filed=FILED[4], tag=DIVIDENDS),
        ],
        {(0, 4): (0.25, 0.001)},
    ),
}


@pytest.mark.parametrize(("rows", "expected"), CASES.values(), ids=CASES)
def test_figures_are_corrected_to_the_level_of_their_line(rows, expected):
    found = in_units(*rows)

    assert {(of, by): found[QUARTERS[of], FILED[by]] for of, by in expected} == expected


@pytest.mark.parametrize(
    "rows",
    [
        # of two filings with different scales either may be wrong, until enough filings show the level of the line
        [*reports(last=1), IN_THOUSANDS],
        [*reports(last=2), IN_THOUSANDS],
        # figures that no other filing contradicts stay: a start-up's first sales, a single gain
        [*reports(scale=1e-3), quarter(4, SALES[4])],
    ],
    ids=["two filings", "three filings", "a line that grows a thousandfold"],
)
def test_without_a_level_nothing_is_proven(rows):
    assert corrected(*rows)["repair"].to_list() == pytest.approx([1.0] * len(rows))


def test_other_lines_of_that_filing_stay():
    """One line of a filing may be in thousands while others are not."""
    other = reports(tag=CASH_FLOW), quarter(0, SALES[0], filed=FILED[4], tag=CASH_FLOW)
    found = corrected(reports(), *other, quarter(0, SALES[0] / THOUSAND, filed=FILED[4]))

    assert set(found.filter(concept="operating_cash_flow")["repair"]) == {1.0}
    assert set(found.filter(concept="revenue")["repair"]) == {1.0, THOUSAND}


@pytest.mark.parametrize(("newest", "expected"), [(100e9, None), (100e3, None), (900e6, 900e6)])
def test_a_first_statement_a_thousand_times_off_alone_is_left_out(newest, expected):
    """Nothing shows the amount, but the year before in the same report is as always; ninefold growth is no error."""
    rows = [
        fact(tag, value, f"{year}-01-01", f"{year}-12-31", filed=f"{filed}-02-20")
        for filed in range(2018, 2025)
        for year, value in ((filed - 2, 100e6), (filed - 1, newest if filed == 2024 else 100e6))
        for tag, value in ((REVENUE, value), (NET_INCOME, 9e6))
    ]
    found = standardized(raw(rows))

    assert value_of(found, "revenue", "annual", "2023-12-31") == expected
    assert expected or row_of(found.gaps, "revenue", "annual", "2023-12-31")["reason"] == "contradicted_by_filing"


def test_later_filings_change_no_earlier_repair():
    """The repairs of the first filings are the same whatever later filings state."""
    early = [*reports(), quarter(0, SALES[0] / THOUSAND, filed=FILED[4])]
    later = [quarter(1, SALES[1] * THOUSAND, filed=FILED[5]), quarter(4, SALES[4] / THOUSAND, filed=FILED[5])]

    whole, then = in_units(early, later), in_units(early)

    assert {key: whole[key] for key in then} == then


def test_the_evidence_is_recorded():
    found = corrected(reports(), quarter(0, SALES[0] / THOUSAND, filed=FILED[4]))

    assert found.filter(found["repair"] != 1)["evidence"].to_list() == [BY_FILINGS_AND_LEVEL]
