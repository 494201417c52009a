"""How the pages write numbers."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serve.site.text.figures import READ, decimals, in_units, per_cent, same_decimals, short, standalone, typeset
from warehouse.contract.line_items import ITEM_NAMES


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (per_cent(-0.0004), "0.0%"),
        (per_cent(-0.0006), "-0.1%"),
        (per_cent(12.5), "1,250%"),
        (in_units("net_income", -12_000.0, 1e6), "0.0"),
        (in_units("net_income", -60_000.0, 1e6), "-0.1"),
        (in_units("eps_basic", -0.00002), "-0.00002"),
        (in_units("eps_basic", 0.0), "0.00"),
        (standalone("eps_basic", 0.0123), "0.0123"),
        (standalone("revenue", 999_600.0), "1.00M"),
        (standalone("revenue", 29e9), "29.0B"),
        (short("revenue", 29e9), "29B"),
        (
            typeset("-5.2 % of -$12.6B on 2024-12-31"),
            "−5.2\N{NO-BREAK SPACE}% of −$12.6B on 2024-12-31",
        ),
        (typeset("10-K, 0000320193-24-000123, us-gaap, 5 Banks"), "10-K, 0000320193-24-000123, us-gaap, 5 Banks"),
        (standalone("revenue", 0.00002), "0.00002"),
        (short("roic", 9.9999), "1,000%"),
        (short("roic", 0.025), "2.5%"),
    ],
)
def test_numbers_are_written_for_people(written, expected):
    assert written == expected


@given(item=st.sampled_from(ITEM_NAMES), value=st.floats(-1e15, 1e15))
def test_no_number_has_an_exponent_and_no_zero_a_sign(item, value):
    """Neither in a table nor alone nor on the scale of a chart; few values are exactly zero, or nearly."""
    value = value * 0.0 if abs(value) < 1e-9 else value
    for written in (in_units(item, value), in_units(item, value, 1e6), standalone(item, value), short(item, value)):
        assert re.fullmatch(r"-?[\d,]+(\.\d+)?[TBMK%]?", written), written
        assert not re.fullmatch(r"-0(\.0+)?( .)?", written), written


@pytest.mark.parametrize(
    ("item", "values", "expected"),
    [
        ("dividends_per_share", [0.034, 0.04], ["0.034", "0.040"]),
        ("eps_basic", [7.9, -0.5, 12.0], ["7.90", "-0.50", "12.00"]),
        ("eps_basic", [8.2, 0.05, -0.06], ["8.20", "0.05", "-0.06"]),
        ("eps_basic", [14_900.0, 25_000.0], ["14,900", "25,000"]),
        ("revenue", [9.5e6, 1234e6], ["9.5", "1,234.0"]),
        ("revenue", [12e6, 0.0], ["12", "0"]),
    ],
)
def test_all_numbers_of_a_row_have_the_same_decimals(item, values, expected):
    divisor = 1e6 if item == "revenue" else 1.0
    shown = decimals(item, values, divisor)
    assert [in_units(item, value, divisor, decimals=shown) for value in values] == expected


def test_numbers_beside_each_other_have_the_same_digits():
    """Also where they have letters for their size, and where a reader points at them."""
    assert [same_decimals("dividends_per_share", [0.034, 0.04])(value) for value in (0.034, 0.04)] == ["0.034", "0.040"]
    assert [same_decimals("revenue", [29e9, 12.6e9])(value) for value in (29e9, 12.6e9)] == ["29.0B", "12.6B"]
    assert [same_decimals("revenue", [29e9], READ)(value) for value in (29e9, 12.6e9)] == ["29.00B", "12.60B"]
    assert same_decimals("debt_to_fcf", [])(3.0) == "3.0"
