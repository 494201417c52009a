"""The pipeline finds the true values of simulated filers: whatever their traits, and on any day of their history.

`pytest tests/property/test_truth.py -k shares` holds the traits of one kind alone against the truth.
"""

import itertools
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.sample import (
    NEXT_DAY,
    Filer,
    FiscalCalendar,
    Offering,
    RevisedBy,
    Revision,
    next_day_filers,
    sample_filers,
)
from pipelines.sample.business.books import keep_books
from pipelines.sample.business.schedule import known_from, report_filed
from tests.property.histories import listed, simulated, truth
from tests.property.truths import Found, Key, found, is_across_a_break, is_silent, missed, of_books, touched, untrue
from tests.strategies import (
    CONTRADICTED,
    LAST_DAY,
    TRAITS,
    UNCONTRADICTED,
    Trait,
    different_days,
    examples,
    filers,
    filers_with,
    not_the_simplest,
    plain,
    together,
)

MISSING, OFFERING = "missing_quarters", "offering"
EACH, MORE = 4, {MISSING: 12, OFFERING: 12}
"""Filers with each trait of a kind, and with traits of which more is required."""
A_WEEK, A_YEAR, CENTS, SHARE = timedelta(days=7), timedelta(days=350), 0.02, 0.02
OTHER_ELEMENT = "other_element"
"""The remainder of a total that is no longer stated is published, with this reservation."""


def unfound(filer: Filer, told: Found, but: set[Key] | None = None) -> list[object]:
    """Errors of the result: true values that are missing, and values that are not true; empty if all is well."""
    rows = truth(filer)
    wrong = [
        (key, *what)
        for key, *what in untrue(filer, told.values, rows)
        if not is_silent(filer, key) and OTHER_ELEMENT not in told.flags[key]
    ]
    left_out = (but or set()) | {key for key, reason in told.gaps.items() if is_across_a_break(filer, key, reason)}
    return [*missed(told.values, rows, left_out), *(one for one in wrong if one[0] not in left_out)]


def with_a_split_that_shows(filer: Filer) -> Filer:
    """Only splits after the second annual report, which may have been amended, each with a report of its own.

    A split shows in a period that is stated before and after it. So two splits between the same statements cannot be
    told apart, and in the first years of a filer some reports restate nothing.
    """
    if not filer.splits:
        return filer
    reports = [filing for filing in simulated(filer).filings if filing.is_periodic]
    annual = [filing.filed for filing in reports if filing.fiscal_period == "FY"]
    since, shown = max(annual[:3], default=LAST_DAY), []
    for split in sorted(filer.splits, key=lambda split: split.effective):
        if split.effective > since:
            shown.append(split)
            since = min((filing.filed for filing in reports if filing.filed >= split.effective), default=LAST_DAY)
    return replace(filer, splits=tuple(shown))


LISTED = [filer for filer in sample_filers() if listed(filer)]


@pytest.fixture(scope="module")
def sample() -> Found:
    """The result for all filers of the sample."""
    return found(*LISTED)


@pytest.mark.parametrize("filer", LISTED, ids=lambda filer: filer.name)
def test_the_sample_is_found_whole(filer, sample):
    """Every true value, and no value that the filings do not support."""
    assert unfound(filer, sample.of(filer)) == []


def test_the_next_day_of_the_sample_is_found_whole():
    """Also restated values, and earlier values on the basis of the split; counts that were filed in thousands are
    corrected, and have no more digits than thousands.
    """
    filers = [filer for filer in next_day_filers() if filer.last_filed == NEXT_DAY]
    told = found(*filers)
    missing = {filer.symbols[0]: unfound(filer, told.of(filer)) for filer in filers}
    in_thousands = missing.pop("XQSLH")
    assert missing == {symbol: [] for symbol in ("XQHBR", "XQWHC", "XQLNT", "XQKST")}
    assert {row.item for row, _ in in_thousands} == {"shares_basic", "shares_diluted"}
    assert all(abs(row.value - value) <= 500 for row, value in in_thousands)


class Drawn(dict[str, list[Filer]]):
    """Filers by trait; a failure names the one filer, instead of all of them."""

    def __repr__(self) -> str:
        return f"some filers with each of {', '.join(self)}"


@st.composite
def some_of_each(draw: st.DrawFn, traits: Mapping[str, Trait]) -> Drawn:
    """Some filers with each of some traits, by its name."""
    drawn = {
        name: draw(together(filers_with(trait).map(with_a_split_that_shows), MORE.get(name, EACH)))
        for name, trait in traits.items()
    }
    numbers = itertools.count(100)
    of_trait = {
        name: [replace(filer, cik=f"{9990000000 + next(numbers)}", business=filer.cik) for filer in several]
        for name, several in drawn.items()
    }
    return Drawn(of_trait)


def told_of_each(drawn: Drawn) -> list[tuple[str, Filer, Found]]:
    """The result for the filers with each trait."""
    names = [name for name, several in drawn.items() for _ in several]
    told = of_each([filer for several in drawn.values() for filer in several])
    return [(name, *each) for name, each in zip(names, told, strict=True)]


def of_each(filers: list[Filer], filed_by: list[date] | None = None) -> list[tuple[Filer, Found]]:
    """The result for each of several filers, which one call of the pipeline reads."""
    told = found(*filers, filed_by=filed_by)
    return [(filer, told.of(filer)) for filer in filers]


@pytest.mark.parametrize("kind", TRAITS)
def test_the_truth_is_found_with(kind):
    """Every true value of otherwise plain filers with a trait of the kind; where there is no true value, no other
    value.
    """

    each = some_of_each(TRAITS[kind])

    @examples(1)
    @given(drawn=not_the_simplest(each) if MISSING in TRAITS[kind] else each)  # the simplest lack one third quarter
    def holds(drawn):
        for trait, filer, told in told_of_each(drawn):
            assert unfound(filer, told) == [], (trait, filer)
            if trait == MISSING:
                assert_gaps_have_their_reasons(filer, told)
            if trait == OFFERING:
                assert_earnings_per_share_are_as_filed_or_flagged(filer, told)

    holds()


@examples(1)
@given(drawn=some_of_each(UNCONTRADICTED))
def test_no_other_value_is_harmed_by_an_uncontradicted_error(drawn):
    """An error that nothing contradicts may be believed; all values that do not contain it stay true."""
    for trait, filer, told in told_of_each(drawn):
        keys = {*told.values, *((row.cik, row.period_end, row.item) for row in truth(filer))}
        assert unfound(filer, told, touched(filer, keys)) == [], (trait, filer)


@examples(1)
@given(drawn=together(filers().map(with_a_split_that_shows), 24))
def test_whatever_the_traits_the_truth_is_found(drawn):
    for filer, told in of_each(drawn):
        assert unfound(filer, told) == [], filer


@examples(1)
@given(drawn=together(filers(without=CONTRADICTED).map(with_a_split_that_shows), 32), days=different_days(32))
def test_on_any_day_the_truth_of_that_day_is_found(drawn, days):
    """The values known from the filings of that day: no value has to wait until a later report repeats it."""
    for (filer, told), day in zip(of_each(drawn, days), days, strict=True):
        assert missed(told.values, truth(filer, day)) == [], (filer, day)


def assert_gaps_have_their_reasons(filer: Filer, told: Found) -> None:
    """Each item that lacks a value in a period with others says why: a missing quarter or year, or no balance sheet."""
    periods = {end for _, end, _ in told.values}
    items = {item for _, _, item in told.values}
    wanted = {(filer.cik, end, item) for end in periods for item in items} - told.values.keys()
    balances = {key for key in wanted if key[2] in ("total_debt", "cash_and_equivalents")}

    assert wanted <= told.gaps.keys(), filer
    assert {told.gaps[key] for key in balances} <= {"not_on_balance_sheet"}, filer
    assert {told.gaps[key] for key in wanted - balances} <= {"missing_quarter", "year_not_stated"}, filer


def assert_earnings_per_share_are_as_filed_or_flagged(filer: Filer, told: Found) -> None:
    """Over an offering the few shares of before mislead the sum of quarters: earnings per share are as filed for fiscal
    years, else income over shares, flagged.
    """
    books = keep_books(filer)
    true = {(row.cik, row.period_end, row.item) for row in truth(filer)}
    after_it = {
        key: value
        for key, value in told.values.items()
        if key[2] == "eps_basic" and key not in true and key[1] >= filer.offering.day
    }
    expected = {key: of_books(books, key) for key in after_it}
    apart = {
        key: (value, expected[key])
        for key, value in after_it.items()
        if abs(value - expected[key]) > max(CENTS, SHARE * abs(expected[key]))
    }
    # the last days of a period hardly change its average
    over_it = [key for key in after_it if A_WEEK < key[1] - filer.offering.day < A_YEAR]

    assert apart == {}, filer
    assert [key for key in over_it if not told.flags[key]] == [], filer


moved = st.lists(st.tuples(plain, st.dates(date(2022, 6, 1), date(2024, 6, 1))), min_size=8, max_size=8)


@examples(1)
@given(drawn=not_the_simplest(moved))
def test_a_predecessor_and_its_successor_tell_one_history(drawn):
    """One business under two CIKs: each has its own truth, and further values of the successor are true as well."""
    both = []
    for number, (traits, day) in enumerate(drawn):
        cik, of = f"{9990000300 + 2 * number}", f"moved {number}"
        whole = Filer(cik=cik, name="Example Moved Inc", first_year=2021, business=of, **traits)
        both += [replace(whole, last_filed=day), replace(whole, cik=f"{9990000301 + 2 * number}", since=day)]

    for filer, told in of_each(both):
        assert unfound(filer, told) == []


def late(cik: str, month: int) -> Filer:
    """A filer whose annual report of 2023 is missing."""
    calendar, missing = FiscalCalendar(month=month), frozenset({(2023, 4)})
    return Filer(cik=cik, name="Example Late Inc", first_year=2021, calendar=calendar, missing=missing)


BALANCES = ("total_debt", "cash_and_equivalents")
KNOWN_WITH: dict[str, tuple[Filer, tuple[int, int], tuple[str, ...], tuple[tuple[int, int], ...]]] = {
    # the amendment restates the year, the next report its first quarter: these are on one basis
    "an amended year, and the quarter after it": (
        Filer(
            cik="9990000101",
            name="Example Amended Inc",
            first_year=2021,
            revisions=(Revision(year=2024, by=RevisedBy.AMENDMENT),),
        ),
        *((2025, 1), ("revenue", "net_income"), ((2025, 1),)),
    ),
    # after an offering the comparative column is the only statement of the quarter a year before, and is enough
    "twelve months after the first year": (
        Filer(
            cik="9990000102",
            name="Example Offered Inc",
            first_year=2024,
            offering=Offering(day=date(2024, 12, 16)),
        ),
        *((2025, 1), ("revenue", "net_income", "free_cash_flow"), ((2025, 1),)),
    ),
    # interim reports after a missing annual one state the balances at their ends
    "balances after a missing report, September": (late("9990000103", 9), (2024, 2), BALANCES, ((2024, 1), (2024, 2))),
    "balances after a missing report, December": (late("9990000104", 12), (2024, 2), BALANCES, ((2024, 1), (2024, 2))),
}
"""Filers, each with a report, and items that are known with it for the ends of some quarters."""


@pytest.fixture(scope="module")
def with_the_report() -> Found:
    """The values of these filers on the days of their reports."""
    days = [report_filed(filer, *report) for filer, report, *_ in KNOWN_WITH.values()]
    return found(*(filer for filer, *_ in KNOWN_WITH.values()), filed_by=days)


@pytest.mark.parametrize(("filer", "report", "items", "quarters"), KNOWN_WITH.values(), ids=KNOWN_WITH)
def test_values_are_known_with_the_report(filer, report, items, quarters, with_the_report):
    day = report_filed(filer, *report)
    rows = truth(filer, day)
    ends = {filer.calendar.year(year).quarters[quarter - 1].end for year, quarter in quarters}

    assert all(known_from(filer, revision) < day for revision in filer.revisions)
    assert {(item, end) for item in items for end in ends} <= {(row.item, row.period_end) for row in rows}
    assert missed(with_the_report.of(filer).values, rows) == []
