"""No error that another fact contradicts is served wrong: neither on the day of the error nor after all filings.

`make mutations` draws forty times as many filers, and counts errors without a witness and needless nulls too.
"""

from tests.property.errors import WITNESSED, counted

FILERS = 50


def test_no_error_with_a_witness_is_served_wrong():
    found = counted(WITNESSED, FILERS)

    assert sum(counts["filers"] for counts in found.values()) == FILERS
    assert {name: counts for name, counts in found.items() if counts["wrong"] + counts["wrong_of_day"]} == {}
