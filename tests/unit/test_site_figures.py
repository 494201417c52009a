"""How the pages write numbers."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serve.site.figures import glance, in_units, per_cent, short
from warehouse.schema import ITEM_NAMES


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (per_cent(-0.0004), "0.0 %"),
        (per_cent(-0.0006), "-0.1 %"),
        (per_cent(12.5), "1,250 %"),
        (in_units("net_income", -12_000.0, 1e6), "0.0"),
        (in_units("net_income", -60_000.0, 1e6), "-0.1"),
        (in_units("eps_basic", -0.00002), "-0.00002"),
        (in_units("eps_basic", 0.0), "0.00"),
        (glance("eps_basic", 0.0123), "0.0123"),
        (glance("revenue", 999_600.0), "1 M"),
        (glance("revenue", 0.00002), "0.00002"),
        (short("roic", 9.9999), "1,000 %"),
        (short("roic", 0.025), "2.5 %"),
    ],
)
def test_numbers_are_written_for_people(written, expected):
    assert written == expected


@given(item=st.sampled_from(ITEM_NAMES), value=st.floats(-1e15, 1e15))
def test_no_number_has_an_exponent_and_no_zero_a_sign(item, value):
    """Neither in a table nor alone nor on the scale of a chart; few values are exactly zero, or nearly."""
    value = value * 0.0 if abs(value) < 1e-9 else value
    for written in (in_units(item, value), in_units(item, value, 1e6), glance(item, value), short(item, value)):
        assert re.fullmatch(r"-?[\d,]+(\.\d+)?( [TBMK%])?", written), written
        assert not re.fullmatch(r"-0(\.0+)?( .)?", written), written
