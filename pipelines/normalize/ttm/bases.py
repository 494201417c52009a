"""Bases: finds for each window the fiscal year and the interim periods on one accounting basis.

Belongs here: which amount of a restated leg counts in a window. Does not: sums of the legs (recasts, methods), look-ups
of known amounts (lookups).

A leg that was restated has several amounts. A filing that states the year to date also states the same period of the
year before, and both are on the basis of that filing. The fiscal year is on this basis too if the period of the year
before has the amount that was known with the year, or if the year was restated as well.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pipelines.normalize.arrays import NOTHING, Flags, Floats, Ints, any_of, largest
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.known import IS_ADDITIVE, QUARTERS_A_YEAR, RESTATED_ALONE
from pipelines.normalize.ttm.lookups import AGO, CODES, IS_COUNT, Windows
from pipelines.normalize.ttm.methods import A_THOUSANDTH, DISAGREEMENT, RESTATED_BY

ALIKE = 3.0
"""Amounts or changes that differ by less than this factor are alike. A fiscal year that alone is restated by a larger
factor, or to the other sign, was stated in error; measured: recasts of one line alone change it by less (T-Mobile's
operating cash flow of 2015 from 5,414 to 1,877 million). A recast changes a year and an interim period of the next one
by shares that are alike: Bank of America's revenue of 2024 by 3.9 % and of the first quarter of 2025 by 3.2 %."""
LARGEST_EXCESS = 0.01
"""Largest share by which the part of an average share count that no filing states may move the average outside the
averages around that part. Measured on 228 companies: 98 % of 3,500 averages are within it; the others mix years before
and after a conversion or a split, or averages with and without potential shares."""
LAST_DIGITS = 2
"""Twelve months of three rounded legs and the filer's own twelve months may differ by this many units of rounding."""
SPANS = AGO[1 : QUARTERS_A_YEAR + 1]
"""Lengths in quarters of the periods of a fiscal year: 1 to 4."""

YEAR_BEFORE_RECAST = Rule(
    "ttm.year-before-recast",
    "If a fiscal year was recast and its interim period was not, the year counts as before the recast, also for its "
    "fourth quarter, unless the year would be less than the interim period and the amount cannot be negative.",
    "ASC 250-10-45-5: a change is applied to all periods presented; a recast year less an interim period on the former "
    "basis is on neither basis",
    "select",
)
NEWEST_COMPARATIVE = Rule(
    "ttm.newest-comparative",
    "The interim period that is subtracted is as in the newest filing that states it with this year to date; if this "
    "restates it, the fiscal year must be restated too, or its report have restated the year before alike.",
    "ASC 250-10-45-5 and 250-10-45-23: a change or a correction of an error is applied to all periods presented; one "
    "in the last quarter is in the interim comparatives of the next report",
    "select",
)
CORRECTED_YEAR = Rule(
    "ttm.year-as-corrected",
    "A later filing's figure for a fiscal year counts as a correction if it restates the year alone to another sign "
    "or size, or if only with it average shares lie between the averages of the interim periods.",
    "ASC 250-10-45-23: an error is corrected in all periods presented; ASC 260-10-45-10: a weighted average",
    "select",
)


class Years(NamedTuple):
    """The legs of the method by years, for each window: rows of `known`.

    `year`: the last fiscal year. `to_date`: this year to date. `prior`: the same period of the year before, which is
    subtracted. `with_year`: this period as known with the year.
    `holds`: whether the legs are on one basis.
    `is_recast`: whether the year counts as restated, because its interim period was restated too.
    `is_before`: whether the year or this year to date was recast later, and counts with its amount before the recast.
    `is_doubtful`: whether `prior` was restated after the filing of the year, which may then be on another basis.
    `is_newer`: whether the year was already first stated on the basis of this year to date.
    `was_error`: whether the year counts as a later filing corrects it.
    `is_across`: whether another period takes the place of the year (recasts.ACROSS_YEAR_ENDS).
    """

    year: Ints
    to_date: Ints
    prior: Ints
    holds: Flags
    is_recast: Flags
    is_before: Flags
    is_doubtful: Flags
    is_newer: Flags
    with_year: Ints
    was_error: Flags
    is_across: Flags

    def at(self, rows: Ints) -> "Years":
        """The legs of the windows at the given rows."""
        return Years._make(column[rows] for column in self)

    def total(self, windows: Windows, name: str) -> Floats:
        """The year, plus the year to date, less the year to date of the year before."""
        of_prior = np.where(self.is_across & (self.prior < 0), 0.0, windows.of(name, self.prior))
        return windows.of(name, self.year) + windows.of(name, self.to_date) - of_prior

    def replace(self, rows: Ints, other: "Years") -> None:
        """Replace the legs of the windows at `rows` by `other`."""
        for column, of_other in zip(self, other, strict=True):
            column[rows] = of_other


def years_on_one_basis(windows: Windows) -> Years:
    """The last fiscal year, this year to date and the same period of the year before, on one basis.

    The legs are on the basis of the newest filing that states both interim periods. If the year is not known on that
    basis, or no filing states both, the legs are as known after the first filing of the year to date.
    """
    q, quarter = windows.q, windows.quarter
    newest, first = windows.newest_with_year_before(q, quarter), windows.of("seq", windows.first(q, quarter))
    years = _years_of(windows, np.where(np.isnan(newest), first, newest))
    rows = np.flatnonzero((newest > first) & ~years.holds)
    if len(rows):
        years.replace(rows, _years_of(windows.subset(rows), first[rows]))
    return years


def restated(windows: Windows, one: Ints, other: Ints, size: Floats | float) -> Flags:
    """Whether two rows of known amounts differ by more than `size`, and by more than rounding explains."""
    of = windows.of
    rounding = LAST_DIGITS * largest(of("grain", one), of("grain", other)) * of("weight", one)
    return abs(of("amount", one) - of("amount", other)) > np.fmax(size, rounding)


@dataclass(frozen=True)
class _Legs:
    """The rows of known amounts from which the legs of each window are chosen, on the basis of a filing.

    year: the fiscal year as known after that filing, or as corrected later (`was_error`).
    later: the fiscal year as stated in that filing, or in the next one that states it.
    newest: the fiscal year as known after the filing of the window.
    to_date: this year to date. prior: the same period of the year before. with_year: `prior` as known with the year.
    size: the smallest difference that counts.
    """

    windows: Windows
    year: Ints
    later: Ints
    newest: Ints
    to_date: Ints
    prior: Ints
    with_year: Ints
    was_error: Flags
    size: Floats

    @classmethod
    def known_after(cls, windows: Windows, seq: Floats) -> "_Legs":
        """Look up the fiscal year, this year to date and the same period of the year before, as known after a filing.

        Two later restatements count, too: of this year to date, if it is on the accounting basis of that filing
        (row_on_basis_of_filing), and of the fiscal year, if it corrects an error (CORRECTED_YEAR).

        Args:
            windows: the windows.
            seq: the filing of each window; it states this year to date.
        """
        of, fiscal_year, a_year_ago = windows.of, (windows.year_before, QUARTERS_A_YEAR), windows.q - QUARTERS_A_YEAR
        to_date = row_on_basis_of_filing(windows, windows.q, windows.quarter, seq)
        prior = windows.find_or_first(a_year_ago, windows.quarter, seq)
        year, newest = windows.find_or_first(*fiscal_year, seq), windows.find(*fiscal_year)
        # the fiscal year as known after the filing, unless a later filing corrects an error in it
        is_restated_count = IS_COUNT[windows.concept] & (of("revised", newest) > of("since", year))
        years, interim = np.array([year, newest]), np.array([to_date, prior])
        is_corrected = windows.decide_for(is_restated_count, _corrects_average, years, interim)
        was_error = CORRECTED_YEAR.where(_was_error(windows, year, newest, seq) | is_corrected)
        year = np.where(YEAR_BEFORE_RECAST.where(~was_error), year, newest)
        later = windows.since(*fiscal_year, seq)
        with_year = windows.find(a_year_ago, windows.quarter, of("seq", year))
        prior = np.where(NEWEST_COMPARATIVE.where(prior >= 0), prior, with_year)
        twelve_months = of("amount", year) + of("amount", to_date) - of("amount", prior)
        size = DISAGREEMENT * _compared_amount(windows, twelve_months, year)
        return cls(windows, year, later, newest, to_date, prior, with_year, was_error, size)

    def differ(self, one: Ints, other: Ints) -> Flags:
        """Whether two rows differ by more than `size` and rounding."""
        return restated(self.windows, one, other, self.size)


def _years_of(windows: Windows, seq: Floats) -> Years:
    """Choose the fiscal year, this year to date and the same period of the year before, on the basis of one filing.

    Args:
        windows: the windows.
        seq: the filing of each window; it states the year to date.

    Returns:
        the legs; `holds` is false where they are not on one basis.
    """
    legs, of = _Legs.known_after(windows, seq), windows.of
    year, later, prior, with_year = legs.year, legs.later, legs.prior, legs.with_year
    interim = np.array([year, prior, with_year])
    other_standards = abs(of("regime", prior) - of("regime", year)) > 0
    is_apart = (legs.differ(prior, with_year) & ~_comes_nearer_to_year(windows, interim)) | other_standards
    # the year was restated first, and its interim period with the next report
    is_along = (
        is_apart
        & ~other_standards
        & (of("seq", with_year) < of("revised", year))
        & (of("rank", prior) == of("rank", year))
    )
    # the year was restated, and no filing since then states its interim period
    is_outdated = (of("seq", prior) < of("revised", year)) & ~legs.was_error
    takes_later = (is_apart & ~is_along) | is_outdated
    is_restated = (of("since", later) > of("since", year)) | other_standards
    shortfall = _shortfall_of_year(legs, seq)
    is_restated_slightly = _is_restated_slightly(legs) & ~is_apart
    is_changed = ((shortfall > 0) | is_restated_slightly) & legs.differ(
        later, year
    ) | is_restated_slightly & _is_restated_alike(legs)
    is_recast = ((takes_later & is_restated) | is_changed) & (later >= 0)
    # this year to date was corrected later, and the period of the year before may still be in the wrong scale
    times = abs(of("amount", legs.to_date)) / A_THOUSANDTH[0]
    is_off_scale = (of("since", legs.to_date) > seq) & ~(abs(of("amount", prior)) >= times)
    is_shifted = windows.decide_for(takes_later & (later >= 0), _others_restated, seq)
    is_newer = windows.decide_for(takes_later & ~is_recast, _restates_year_before, interim, legs.size)
    is_on_basis = ~takes_later | is_recast | is_shifted | is_newer
    chosen = refined(windows, np.where(is_recast, later, year), legs.newest)
    return Years(
        year=chosen,
        to_date=legs.to_date,
        prior=refined(windows, prior, windows.find(windows.q - QUARTERS_A_YEAR, windows.quarter)),
        # a year that is less than its interim periods may follow a narrower definition than they do
        holds=is_on_basis & ~is_off_scale & ~(~is_recast & (shortfall > legs.size)),
        is_recast=is_recast | is_along,
        is_before=legs.differ(legs.newest, chosen)
        | legs.differ(windows.find(windows.q, windows.quarter), legs.to_date),
        is_doubtful=of("since", prior) > of("since", with_year),
        is_newer=is_newer,
        with_year=with_year,
        was_error=legs.was_error,
        is_across=np.zeros_like(is_on_basis),
    )


def _shortfall_of_year(legs: _Legs, seq: Floats) -> Floats:
    """The amount by which the fiscal year is less than the larger one of two interim periods within it.

    The interim periods are `prior` and the first nine months.

    Returns:
        negative where the year is not less. NaN for amounts that can be negative, and for revenue if net income of the
        year is less than net income of its first nine months: noninterest income of a bank may be a loss in a quarter.
    """
    windows = legs.windows
    nine_months = windows.find(windows.year_before - 1, QUARTERS_A_YEAR - 1, seq)
    largest_interim = np.fmax.reduce(windows.of("amount", np.array([legs.prior, nine_months])))
    income, ago = windows.of_concept(CODES["net_income_parent"]), AGO[:2]
    of_year, of_nine_months = income.of(
        "amount", income.find_or_first(windows.year_before - ago, QUARTERS_A_YEAR - ago, seq)
    )
    may_be_less = windows.can_be_negative | ((windows.concept == CODES["revenue"]) & (of_year < of_nine_months))
    return np.where(may_be_less, np.nan, largest_interim - windows.of("amount", legs.year))


def _is_restated_slightly(legs: _Legs) -> Flags:
    """Whether the interim period of a year was restated, and its year later by little, but this year to date was not.

    By little means by at most RESTATED_BY. Only for amounts whose quarters add up to the year.
    """
    windows, of = legs.windows, legs.windows.of
    is_unchanged = of("since", windows.find(windows.q, windows.quarter)) <= of("since", legs.to_date)
    moves = abs(of("amount", legs.later) - of("amount", legs.year)) <= RESTATED_BY * abs(of("amount", legs.year))
    is_restated = restated(windows, legs.prior, legs.with_year, 0.0)
    return is_restated & is_unchanged & moves & IS_ADDITIVE[windows.concept]


def _is_restated_alike(legs: _Legs) -> Flags:
    """Whether the year was restated later by about the same share as its interim period (within factor ALIKE)."""
    of = legs.windows.of
    pairs = ((legs.prior, legs.with_year), (legs.later, legs.year))
    with np.errstate(divide="ignore", invalid="ignore"):
        of_period, of_year = (of("amount", after) / of("amount", before) - 1 for after, before in pairs)
        times = of_period / of_year
    is_alike: Flags = (times < ALIKE) & (times > 1 / ALIKE)
    return is_alike


def _restates_year_before(windows: Windows, legs: Ints, size: Floats) -> Flags:
    """Whether a fiscal year was already first stated on the basis on which a later filing restates its interim period.

    It was if the filing that first states the year restates the year before it by about the same share: the change was
    made in the last quarter of the year.

    Args:
        windows: the windows.
        legs: the rows of the year, of its interim period, and of its interim period as known with the year.
        size: the smallest difference that counts.
    """
    of, (year, prior, with_year) = windows.of, legs
    filing = of("since", year)
    before, former = (
        windows.find(windows.year_before - QUARTERS_A_YEAR, QUARTERS_A_YEAR, seq) for seq in (filing, filing - 1)
    )
    of_year, of_period = of("amount", before) - of("amount", former), of("amount", prior) - of("amount", with_year)
    is_first = np.isnan(of("revised", year)) & (of("since", prior) > filing) & IS_ADDITIVE[windows.concept]
    with np.errstate(divide="ignore", invalid="ignore"):
        times = (of_period / of("amount", with_year)) / (of_year / of("amount", former))
    is_alike = windows.can_be_negative | ((times < ALIKE) & (times > 1 / ALIKE))
    is_large = (of_year * of_period > 0) & (abs(of_year) > size)
    found: Flags = is_first & (of("revised", before) == filing) & is_large & is_alike
    return found


def _comes_nearer_to_year(windows: Windows, rows: Ints) -> Flags:
    """Whether an interim average share count came nearer to the average of its year by its restatement.

    The year was then already stated on the new basis.
    """
    mean, restated_mean, former_mean = windows.of("amount", rows) / windows.of("days", rows)
    found: Flags = IS_COUNT[windows.concept] & (abs(restated_mean - mean) < abs(former_mean - mean))
    return found


def _was_error(windows: Windows, year: Ints, newest: Ints, seq: Floats) -> Flags:
    """Whether the year as known with filing `seq` was an error: a later filing corrects it and hardly anything else."""
    of = windows.of
    times = of("amount", newest) / np.where(of("amount", year) == 0, np.nan, of("amount", year))
    is_gross = (times < 1 / ALIKE) | (times > ALIKE)
    return is_gross & (of("revised", newest) > seq) & (of("restated_along", newest) <= RESTATED_ALONE)


def _corrects_average(windows: Windows, years: Ints, interim: Ints) -> Flags:
    """Whether only the newest average share count of the year fits the averages of the two interim periods.

    It fits if the average of the rest of the year, without its interim period, lies between the two. After the quarters
    that filings state are also taken off, the remaining average must lie between them too.

    Args:
        windows: the windows.
        years: the rows of the year as known and as in the newest filing.
        interim: the rows of this year to date and of the same period of the year before.
    """
    of = windows.of
    averages = of("amount", interim) / of("days", interim)

    def fits(shares: Floats, days: Floats) -> Flags:
        is_below = shares < days * np.fmin.reduce(averages) * (1 - LARGEST_EXCESS)
        found: Flags = ~is_below & (shares <= days * largest(*averages) * (1 + LARGEST_EXCESS))
        return found

    ends = windows.q - AGO[1:QUARTERS_A_YEAR]
    quarters = windows.find(np.where(ends <= windows.year_before, ends, np.nan), 1)
    shares, days = (of(name, years) - of(name, interim[1]) for name in ("amount", "days"))
    left, left_days = (
        rest[1] - np.nansum(of(name, quarters), axis=0) for rest, name in ((shares, "amount"), (days, "days"))
    )
    found: Flags = ~fits(shares[0], days[0]) & fits(shares[1], days[1]) & (fits(left, left_days) | (left_days <= 0))
    return found


def _compared_amount(windows: Windows, amount: Floats, year: Ints) -> Floats:
    """The amount with which differences between legs are compared: twelve months, without the sign.

    For operating cash flow and capital expenditure it is free cash flow of the fiscal year, if this is larger.

    Args:
        windows: the windows.
        amount: twelve months.
        year: the row of the fiscal year.
    """
    partner = windows.of_partner()
    row = np.where(partner.concept == windows.concept, NOTHING, partner.find(windows.year_before, QUARTERS_A_YEAR))
    return np.fmax(abs(amount), abs(windows.of("amount", year) - windows.of("amount", row)))


def _others_restated(windows: Windows, seq: Floats) -> Flags:
    """Whether another interim period of last year was restated since filing `seq`: amounts moved within that year."""
    spans = AGO[1:QUARTERS_A_YEAR]
    others = windows.find(
        windows.q - windows.quarter - QUARTERS_A_YEAR + spans, np.where(windows.quarter == spans, np.nan, spans)
    )
    return any_of(windows.of("revised", others) >= seq)


def row_on_basis_of_filing(windows: Windows, q: Ints, n: Floats, seq: Floats) -> Ints:
    """Find the amount of a period on the accounting basis of a filing.

    It is the amount known after that filing. If the amount was restated later, it is the newest amount, provided that
    one of these shows that the restatement did not change the basis:

    - A filing since the restatement states the fiscal year before with its former amount.
    - The other figures of the fiscal year, as known before the restatement, add up to the new amount, and not to the
      former one.
    - The restatement corrects this figure alone: another figure of its fiscal year was then stated again with its
      former amount, no other figure of this year or of the year before was restated, and the restating filing restates
      hardly anything else.

    Args:
        windows: the windows.
        q, n: for each window, the quarter in which the period ends, and the number of its quarters.
        seq: the filing of each window.

    Returns:
        rows of `known`.
    """
    row, newest = windows.find_or_first(q, n, seq), windows.find(q, n)
    again = windows.of("revised", newest)
    is_same = windows.decide_for(again > seq, _is_on_same_basis, q, n, row, newest, seq)
    return np.where(is_same, newest, refined(windows, row, newest))


def _is_on_same_basis(windows: Windows, q: Ints, n: Floats, row: Ints, newest: Ints, seq: Floats) -> Flags:
    """Whether the newest amount of a figure that was restated after filing `seq` is on the basis of that filing."""
    found = _year_before_is_unchanged(windows, q, n, newest, seq) | _is_corrected_alone(windows, q, n, newest, seq)
    return found | _adds_up(windows, q, n, row, newest, seq)


def _year_before_is_unchanged(windows: Windows, q: Ints, n: Floats, newest: Ints, seq: Floats) -> Flags:
    """Whether a filing since the restatement of an interim figure states the fiscal year before with its former amount.

    If the quarters of a year to date already added up to its new amount before the restatement, filings since these
    quarters were stated count.

    Args:
        windows: the windows.
        q, n: the last quarter of the interim figure, and its number of quarters.
        newest: the row of its newest amount.
        seq: the filing on whose basis the other legs are; the former amount of the year is the one known after it.

    Returns:
        also false for a figure that is not of the current fiscal year.
    """
    of, again = windows.of, windows.of("revised", newest)
    ago = AGO[: QUARTERS_A_YEAR - 1]
    quarters = windows.find(q - ago, np.where(ago < n, 1, np.nan), again - 1)
    off = abs(np.nansum(of("amount", quarters), axis=0) - of("amount", newest))
    adds_up = (n > 1) & (off <= LAST_DIGITS * of("grain", newest) * of("weight", newest))
    since = np.where(adds_up, np.fmax.reduce(of("since", quarters)), again)
    year = windows.find(windows.year_before, QUARTERS_A_YEAR)
    of_partner = windows.of_partner().find(windows.year_before, QUARTERS_A_YEAR)
    is_as_before = (of("since", year) <= seq) & ((of_partner < 0) | (of("since", of_partner) <= seq))
    is_this_year = q > windows.q - windows.quarter
    return is_this_year & is_as_before & (of("seq", year) >= since)


def _is_corrected_alone(windows: Windows, q: Ints, n: Floats, newest: Ints, seq: Floats) -> Flags:
    """Whether a restatement corrects one figure alone, while another figure of its year is repeated unchanged.

    No other figure of the year and of the year before may have been restated.
    """
    of, again = windows.of, windows.of("revised", newest)
    ends = q - windows.fiscal_quarter(q) + SPANS
    others, before = (
        windows.find(ends, np.where(n == SPANS, np.nan, SPANS)),
        windows.find(ends - QUARTERS_A_YEAR, SPANS),
    )
    is_confirmed = any_of((of("seq", others) >= again) & (of("since", others) < again))
    changes = any_of((of("revised", others) >= again) | (of("revised", before) > seq))
    return is_confirmed & ~changes & (of("restated_along", newest) <= RESTATED_ALONE)


def _adds_up(windows: Windows, q: Ints, n: Floats, row: Ints, newest: Ints, seq: Floats) -> Flags:
    """Whether other figures of the fiscal year, which were not restated, confirm the newest amount of a figure.

    A year to date is the sum of its quarters, and the next year to date less its last quarter; a quarter is the
    difference of two years to date. The next year to date is used only if the same figures of the year before were not
    restated since filing `seq`. The fiscal year before must not have been restated since then either.
    """
    of, quarter = windows.of, windows.fiscal_quarter(q)
    is_to_date, is_quarter = n == quarter, (n == 1) & (quarter > 1)

    def where(holds: Flags, values: Floats | int) -> Floats:
        return np.where(holds, values, np.nan)

    def amount(end: Ints, spans: Floats) -> Floats:
        found = windows.find(end, spans, of("revised", newest) - 1)
        return where(~(of("revised", found) > seq), of("amount", found))

    ago = AGO[: QUARTERS_A_YEAR - 1]
    needed = is_to_date & (quarter > 1) & (ago < quarter)
    quarters = np.where(needed, amount(q - ago, where(needed, 1)), 0.0).sum(axis=0)
    spans = np.array([quarter + 1, np.ones(len(q))])
    is_recast = any_of(of("revised", windows.find(q + 1 - QUARTERS_A_YEAR, where(is_to_date, spans))) > seq)
    longer, last = amount(q + 1, where(is_to_date & ~is_recast, spans))
    totals = np.array(
        [
            where(is_to_date & (quarter > 1), quarters),
            longer - last,
            amount(q, where(is_quarter, quarter)) - amount(q - 1, where(is_quarter, quarter - 1)),
        ]
    )
    rounding = LAST_DIGITS * largest(of("grain", row), of("grain", newest)) * of("weight", newest)
    is_newest, is_former = (abs(of("amount", each) - totals) <= rounding for each in (newest, row))
    year = windows.find(windows.year_before, QUARTERS_A_YEAR)
    return any_of(is_newest & ~is_former) & ~(of("revised", year) > seq)


def refined(windows: Windows, row: Ints, newest: Ints) -> Ints:
    """The newest row of a slot if it states the same amount, perhaps with more digits; otherwise the row itself."""
    return np.where(windows.of("since", newest) == windows.of("since", row), newest, row)


def on_basis_of_quarters(windows: Windows, legs: Ints) -> tuple[Floats, Flags]:
    """Twelve months by years whose years to date are replaced by sums of quarters that newer filings state.

    The quarters are taken from the filing of the fiscal year, or a later one. The four quarters of a fiscal year must
    add up to that year as stated along with them, so that a quarter in a wrong context proves nothing. Otherwise the
    legs of this fiscal year stay as they are.

    Args:
        windows: the windows.
        legs: the rows of the last fiscal year, this year to date and the same period of the year before.

    Returns:
        the amount of each window (NaN if a year to date is older than the year and the quarters do not add up), and
        whether a year to date is on an older basis than the quarters.
    """
    of, since = windows.of, windows.of("since", legs[0])
    amount, is_behind = np.zeros(len(since)), np.zeros(len(since), dtype=np.bool_)
    for leg, end, is_prior in ((legs[1], windows.q, False), (legs[2], windows.q - QUARTERS_A_YEAR, True)):
        ends = end - windows.quarter + SPANS
        amounts = of("amount", windows.since(ends, 1, since))
        year = windows.since(ends[-1], QUARTERS_A_YEAR, since)
        of_year, of_leg = of("amount", year), of("amount", leg)
        rounding = QUARTERS_A_YEAR * LAST_DIGITS * largest(of("grain", year), of("grain", leg))
        adds_up = abs(amounts.sum(axis=0) - of_year) <= rounding
        to_date = np.where(windows.quarter >= SPANS, amounts, 0.0).sum(axis=0)
        is_behind |= adds_up & (abs(to_date - of_leg) > np.fmax(DISAGREEMENT * abs(of_year), rounding))
        to_date = np.where(adds_up, to_date, np.where(of("seq", leg) >= since, of_leg, np.nan))
        of_year = np.where(adds_up, of_year, of("amount", legs[0]))
        amount += of_year - to_date if is_prior else to_date
    return amount, is_behind
