"""The pipeline finds what simulated filers earned: whatever their traits, and on any day of their history."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given

from pipelines.edgar.sample import Filer, Offering, RevisedBy, Revision, TruthRow, sample_filers, simulate
from pipelines.edgar.sample.schedule import known_from, report_filed
from tests.property.histories import current, listed, replayed
from tests.strategies import LAST_DAY, days, examples, filers

Key = tuple[str, date, str]

ROUNDED = {"eps_basic": 1e-5, "dividends_per_share": 1e-5, "shares_basic": 1e-7, "shares_diluted": 1e-7}
"""What differs by less than is served is one value: six significant digits, whole shares; money is exact."""

BEYOND = ("roic", "debt_to_fcf")
"""Items that the truth does not tell."""


def with_a_split_that_shows(filer: Filer) -> Filer:
    """One split at most, after the second annual report, which may have been amended.

    A split is told by a period that is stated on both sides of it, so two between the same statements leave no trace
    of their own, and in the first years of a filer there are reports that restate nothing.
    """
    annual = [filing.filed for filing in simulate(filer).filings if filing.fiscal_period == "FY"]
    after = [split for split in filer.splits if split.effective > max(annual[:3], default=LAST_DAY)]
    return replace(filer, splits=tuple(after[:1]))


def found_values(filer: Filer, filed_by: date | None = None) -> dict[Key, float]:
    rows = current(replayed(filer, filed_by=filed_by)).select("cik", "period_end", "item", "value")
    return {(cik, end, item): value for cik, end, item, value in rows.iter_rows() if item not in BEYOND}


def missed(values: dict[Key, float], rows: Sequence[TruthRow]) -> list[tuple[TruthRow, float | None]]:
    """True values that were not found, with what was found instead; none where all were."""

    def is_met(row: TruthRow, value: float | None) -> bool:
        slack = 1.000001 * row.tolerance + ROUNDED.get(row.item, 1e-12) * abs(row.value)
        return value is not None and abs(value - row.value) <= slack

    found = [(row, values.get((row.cik, row.period_end, row.item))) for row in rows]
    return [(row, value) for row, value in found if not is_met(row, value)]


def beyond(values: dict[Key, float], rows: Sequence[TruthRow]) -> list[Key]:
    """Values of which the truth knows nothing."""
    return sorted(values.keys() - {(row.cik, row.period_end, row.item) for row in rows})


def is_silent(filer: Filer, key: Key) -> bool:
    """Whether the truth keeps silent for a reason, and not because there is nothing to know.

    Twelve months within revised years, some leg of which was never shown again; the sum of quarterly earnings per
    share that spans an offering; earnings per share that are never tagged, but follow from what is; and debt, of which
    no other fact betrays that the filer leaves a part untagged.
    """
    _, end, item = key
    within = any(
        filer.calendar.year(min(revision.years)).start < end < filer.calendar.year_end(max(revision.years) + 1)
        for revision in filer.revisions
    )
    offered = filer.offering is not None and (end - filer.offering.day).days < 2 * 366
    is_beyond_telling = {
        "eps_basic": offered or "eps_basic" in filer.untagged,
        "total_debt": "debt_current" in filer.untagged,
    }
    return within or is_beyond_telling.get(item, False)


@pytest.mark.parametrize("filer", [f for f in sample_filers() if listed(f)], ids=lambda filer: filer.name)
def test_the_sample_is_found_whole(filer):
    """Every true value, and nothing that the filings do not tell."""
    values, rows = found_values(filer), simulate(filer).truth()

    assert missed(values, rows) == []
    assert [key for key in beyond(values, rows) if not is_silent(filer, key)] == []


@examples(20)
@given(filer=filers().map(with_a_split_that_shows))
def test_whatever_the_traits_the_truth_is_found(filer):
    values, rows = found_values(filer), simulate(filer).truth()

    assert missed(values, rows) == []
    assert [key for key in beyond(values, rows) if not is_silent(filer, key)] == []


@examples(25)
@given(filer=filers().map(with_a_split_that_shows), day=days)
def test_on_any_day_the_truth_of_that_day_is_found(filer, day):
    """What the filings told by then: nobody has to wait for a later report to repeat it."""
    assert missed(found_values(filer, day), simulate(filer).truth(day)) == []


def test_an_amended_year_meets_the_comparatives_of_the_quarters_after_it():
    """The amendment restates the year, the next report its first quarter: these are on one basis."""
    revision = Revision(year=2024, by=RevisedBy.AMENDMENT)
    filer = Filer(cik="9990000101", name="Example Amended Inc", first_year=2021, revisions=(revision,))
    after = report_filed(filer, 2025, 1)
    assert known_from(filer, revision) < after

    rows = [row for row in simulate(filer).truth(after) if row.item in ("revenue", "net_income")]

    assert missed(found_values(filer, after), rows) == []
    assert filer.calendar.year(2025).quarters[0].end in {row.period_end for row in rows}


def test_twelve_months_are_known_with_the_first_quarterly_report_after_the_first_year():
    """After an offering its comparative column is the only statement of the quarter a year before, and is enough."""
    offering = Offering(day=date(2024, 12, 16))
    filer = Filer(cik="9990000102", name="Example Offered Inc", first_year=2024, offering=offering)
    after = report_filed(filer, 2025, 1)
    with_report = [row for row in simulate(filer).truth(after) if row.period_end > filer.calendar.year_end(2024)]

    assert {"revenue", "net_income", "free_cash_flow"} <= {row.item for row in with_report}
    assert missed(found_values(filer, after), with_report) == []
