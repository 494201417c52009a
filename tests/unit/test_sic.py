"""The names of the SIC major groups."""

import pytest

from pipelines.normalize.industry.sic import MAJOR_GROUPS


def test_codes_are_two_digits_in_order():
    assert all(len(code) == 2 and code.isdigit() for code in MAJOR_GROUPS)
    assert list(MAJOR_GROUPS) == sorted(MAJOR_GROUPS)


def test_each_group_has_a_different_name():
    assert len(set(MAJOR_GROUPS.values())) == len(MAJOR_GROUPS)


@pytest.mark.parametrize(
    ("code", "name"),
    [("28", "Chemicals and Allied Products"), ("60", "Depository Institutions"), ("73", "Business Services")],
)
def test_names_are_those_of_the_manual(code, name):
    assert MAJOR_GROUPS[code] == name
