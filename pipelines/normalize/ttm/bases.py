"""Bases: for each window the fiscal year and the interim periods that follow one accounting basis.

Belongs here: which statement of a restated leg counts in a window. Does not: sums of the legs (windows), look-ups of
known amounts (lookups).

A leg that was restated has several amounts. A filing that states the year to date also states the same period of the
year before, and both are on the basis of that filing. The fiscal year is on this basis too if the period of the year
before is as it was known with the year, or if the year was restated as well.
"""

from dataclasses import dataclass

import numpy as np

from pipelines.normalize.arrays import NOTHING, Flags, Floats, Ints, largest, smallest
from pipelines.normalize.elements import BY_NAME
from pipelines.normalize.ttm.known import IS_ADDITIVE, QUARTERS_A_YEAR, RESTATED_ALONE
from pipelines.normalize.ttm.lookups import Windows

DISAGREEMENT = 0.005
"""Two ways to twelve months that differ by more than this share have legs on different accounting bases.

Measured: the two ways agree within it for 99.7 % of operating cash flow and 97.5 % of net income; nearly all others are
breaks of the accounting basis."""
ERROR_OF_YEAR = 3.0
"""A fiscal year that is restated alone, to less than a third or more than three times the amount or to the other sign,
was stated in error. Measured: recasts of one line alone change it by less (T-Mobile's operating cash flow of 2015 from
5,414 to 1,877 million)."""
SCALES = (1e3, 1e6)
"""Factors by which a figure is filed too large or too small."""
OTHER_SCALE = 100
"""If the same period of two years differs by this factor, one of them is in another scale."""
SAME_DIGITS = 0.001
"""Two figures have the same digits if they differ by at most this share, apart from their scale and sign."""
NUDGED = 0.1
"""A year that follows an interim period restated by little moves by at most this share. Measured: Mastercard's
operating cash flow of 2017 by a fiftieth; one that moved from 101 to 495 million left its interim periods alone."""
ALIKE = 3.0
"""A recast changes a year and an interim period of the next one by shares that differ by less than this factor: Bank of
America's revenue of 2024 by 3.9 % and of the first quarter of 2025 by 3.2 %."""
BEYOND = 0.01
"""Largest share by which the part of a mean of shares that no filing states moves the mean beyond the averages beside
it. Measured on 228 companies: 98 % of 3,500 means are within it; the others mix years before and after a conversion or
a split, or averages with and without potential shares."""
IS_COUNT = np.array([concept.measure == "shares" for concept in BY_NAME.values()])
"""For each code of a concept: whether it is an average of shares."""
REVENUE, NET_INCOME = (list(BY_NAME).index(name) for name in ("revenue", "net_income_parent"))
"""The codes of the concepts."""
NET_OF_BANK = [source.rule for source in BY_NAME["revenue"].sources].index(
    "revenue.bank.net-interest-and-noninterest-income"
)
"""The rank of a bank's revenue that has losses on securities in it: a year may be less than its nine months."""
LAST_DIGITS = 2
"""Twelve months of three rounded legs and the filer's own twelve months may differ by so many units."""


@dataclass(frozen=True)
class Years:
    """The legs of the way by years, for each window: rows of `known`.

    `holds`: whether they are on one basis. `is_recast`: whether the year is as restated along with the interim period
    of its year. `is_before`: whether the year or this year to date was recast later, without the others.
    `is_corrected`: whether this year to date is as corrected later. `is_doubtful`: whether the interim period of its
    year was restated by little, so that the year may be on another basis. `with_year`: this period as known with the
    year. `was_error`: whether the year is as a later filing corrects it.
    """

    year: Ints
    to_date: Ints
    prior: Ints
    holds: Flags
    is_recast: Flags
    is_before: Flags
    is_corrected: Flags
    is_doubtful: Flags
    is_newer: Flags
    with_year: Ints
    was_error: Flags

    def at(self, rows: Ints) -> "Years":
        """The legs of some windows."""
        return Years(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))

    def replace(self, rows: Ints, other: "Years") -> None:
        """Put the legs of some windows in the place of these."""
        for name in self.__dataclass_fields__:
            getattr(self, name)[rows] = getattr(other, name)


def years_on_one_basis(windows: Windows) -> Years:
    """The last fiscal year, this year to date and the same period of the year before, on one basis.

    They are taken as the newest filing shows them that states both interim periods; if the year is not known on its
    basis, as the first such filing does. Without such a filing they are as known with the first year to date.
    """
    q, quarter = windows.q, windows.quarter
    slot = windows.slot(q, quarter)
    known = windows.known
    newest = windows.beside(q, quarter)
    first_beside = known.with_year_before.since(slot, np.zeros_like(q))
    first_beside = np.where(windows.of("seq", first_beside) <= windows.seq, first_beside, NOTHING)
    first = np.where(first_beside >= 0, first_beside, windows.since(q, quarter, np.zeros_like(q)))
    of_first = windows.of("seq", first)
    of_newest = _legs_of(windows, np.where(np.isnan(newest), of_first, newest))
    rows = np.flatnonzero((newest > of_first) & ~of_newest.holds)
    if len(rows):
        of_newest.replace(rows, _legs_of(windows.at(rows), of_first[rows]))
    return of_newest


def restated(windows: Windows, one: Ints, other: Ints, size: Floats | float) -> Flags:
    """Whether two rows of known amounts differ by more than `size`, and by more than rounding explains."""
    of = windows.of
    rounding = LAST_DIGITS * largest(of("grain", one), of("grain", other)) * of("weight", one)
    return np.abs(of("amount", one) - of("amount", other)) > np.fmax(size, rounding)


def _legs_of(windows: Windows, seq: Floats) -> Years:
    """The legs on the basis of filing `seq`, which states the year to date."""
    find, of = windows.find, windows.of
    q, quarter, a_year_ago = windows.q, windows.quarter, windows.q - QUARTERS_A_YEAR
    to_date, is_corrected = settled(windows, q, quarter, seq)
    prior = windows.around(a_year_ago, quarter, seq)
    year = windows.around(windows.year_before, QUARTERS_A_YEAR, seq)
    newest_year = find(windows.year_before, QUARTERS_A_YEAR)
    is_error = _was_error(windows, year, newest_year, seq)
    is_error |= _corrects_average(windows, year, newest_year, to_date, prior)
    year = np.where(is_error, newest_year, year)
    later = windows.since(windows.year_before, QUARTERS_A_YEAR, seq)
    with_year = find(a_year_ago, quarter, of("seq", year))
    size = DISAGREEMENT * _scale(windows, of("amount", year) + of("amount", to_date) - of("amount", prior), year)

    def differ(one: Ints, other: Ints) -> Flags:
        return restated(windows, one, other, size)

    other_regime = np.abs(of("regime", prior) - of("regime", year)) > 0
    is_apart = (differ(prior, with_year) & ~_is_nearer(windows, year, prior, with_year)) | other_regime
    # the year was restated first, and the period of its own with the next report
    along = is_apart & ~other_regime & (of("seq", with_year) < of("revised", year))
    along &= of("rank", prior) == of("rank", year)
    # no filing after an amendment of the year states the period of the year before
    former = find(windows.year_before, QUARTERS_A_YEAR, of("revised", year) - 1)
    is_outdated = (of("seq", prior) < of("revised", year)) & differ(year, former) & ~is_error
    nine_months = find(windows.year_before - 1, QUARTERS_A_YEAR - 1, seq)
    least = largest(of("amount", prior), of("amount", nine_months))
    # noninterest income of a bank may be a loss in a quarter, in which net income falls, too
    income = windows.of_concept(NET_INCOME)
    amounts = [income.around(windows.year_before - back, QUARTERS_A_YEAR - back, seq) for back in (0, 1)]
    falls = income.of("amount", amounts[0]) < income.of("amount", amounts[1])
    falls &= (windows.concept == REVENUE) & (of("rank", year) == NET_OF_BANK)
    is_wrong = ~windows.can_be_negative & ~falls & (of("amount", year) < least)
    takes_later = (is_apart & ~along) | is_outdated
    is_restated = (of("since", later) > of("since", year)) | other_regime
    # the period of its own was restated by little, and the year then by more, but not this year to date
    is_nudged = restated(windows, prior, with_year, 0.0) & (of("since", prior) > of("since", with_year)) & ~is_apart
    is_nudged &= IS_ADDITIVE[windows.concept] & is_restated & (of("since", find(q, quarter)) <= of("since", to_date))
    is_nudged &= np.abs(of("amount", later) - of("amount", year)) <= NUDGED * np.abs(of("amount", year))
    is_recast = (takes_later & is_restated) | ((is_wrong | is_nudged) & differ(later, year))
    is_recast &= later >= 0
    # the year's definition is narrower than that of its interim periods
    is_below_parts = is_wrong & ~is_recast & (least - of("amount", year) > size)
    is_shifted = takes_later & (later >= 0) & ~is_recast
    asked = np.flatnonzero(is_shifted)
    is_shifted[asked] = _others_restated(windows.at(asked), seq[asked])
    asked = np.flatnonzero(is_apart & takes_later & ~(is_recast | is_shifted | other_regime | is_outdated))
    is_newer = np.zeros(len(is_apart), dtype=np.bool_)
    is_newer[asked] = _restates_year_before(windows.at(asked), year[asked], prior[asked], with_year[asked], size[asked])
    # the same period of the year before may be in the scale that was wrong
    is_out_of_scale = is_corrected & ~(np.abs(of("amount", prior)) * OTHER_SCALE >= np.abs(of("amount", to_date)))
    chosen = refined(windows, np.where(is_recast, later, year), newest_year)
    prior = refined(windows, prior, find(a_year_ago, quarter))
    return Years(
        year=chosen,
        to_date=to_date,
        prior=prior,
        holds=(~takes_later | is_recast | is_shifted | is_newer) & ~is_out_of_scale & ~is_below_parts,
        is_recast=is_recast | along,
        is_before=differ(newest_year, chosen) | differ(find(q, quarter), to_date),
        is_corrected=is_corrected,
        is_doubtful=~is_recast & (of("since", prior) > of("since", with_year)),
        is_newer=is_newer,
        with_year=with_year,
        was_error=is_error,
    )


def _restates_year_before(windows: Windows, year: Ints, prior: Ints, with_year: Ints, size: Floats) -> Flags:
    """Whether the filing that first states a year restates the one before it, as its interim period is restated later.

    Then the year is on the basis of the later filing: the change was made in its last quarter.
    """
    of, filing = windows.of, windows.of("since", year)
    before, former = (
        windows.find(windows.year_before - QUARTERS_A_YEAR, QUARTERS_A_YEAR, seq) for seq in (filing, filing - 1)
    )
    of_year, of_period = of("amount", before) - of("amount", former), of("amount", prior) - of("amount", with_year)
    is_first = np.isnan(of("revised", year)) & (of("since", prior) > filing) & IS_ADDITIVE[windows.concept]
    found: Flags = is_first & (of("revised", before) == filing) & (of_year * of_period > 0) & (np.abs(of_year) > size)
    with np.errstate(divide="ignore", invalid="ignore"):
        times = (of_period / of("amount", with_year)) / (of_year / of("amount", former))
    found &= windows.can_be_negative | ((times < ALIKE) & (times > 1 / ALIKE))
    return found


def _is_nearer(windows: Windows, year: Ints, prior: Ints, with_year: Ints) -> Flags:
    """Whether an average as restated is nearer to that of its year: the year was already stated on the new basis."""
    mean, restated_mean, former_mean = (
        windows.of("amount", row) / windows.of("days", row) for row in (year, prior, with_year)
    )
    is_average = windows.of("weight", prior) > 1
    return is_average & (np.abs(restated_mean - mean) < np.abs(former_mean - mean))


def _was_error(windows: Windows, year: Ints, newest: Ints, seq: Floats) -> Flags:
    """Whether the year as known with filing `seq` was an error: a later filing corrects it and hardly anything else."""
    of = windows.of
    times = of("amount", newest) / np.where(of("amount", year) == 0, np.nan, of("amount", year))
    is_gross = (times < 1 / ERROR_OF_YEAR) | (times > ERROR_OF_YEAR)
    return is_gross & (of("revised", newest) > seq) & (of("restated_along", newest) <= RESTATED_ALONE)


def _corrects_average(windows: Windows, year: Ints, newest: Ints, to_date: Ints, prior: Ints) -> Flags:
    """Whether only the newest average of the year is like those of its interim period and of this one.

    The rest of the year, without its interim period, lies between them then, as the mean of a year does, and so does
    what the quarters that filings state leave of it.
    """
    of = windows.of
    found = IS_COUNT[windows.concept] & (of("revised", newest) > of("since", year))
    rows = np.flatnonzero(found)
    if len(rows):
        some = windows.at(rows)
        beside = [of("amount", row[rows]) / of("days", row[rows]) for row in (to_date, prior)]

        def fits(shares: Floats, days: Floats) -> Flags:
            is_below = shares < days * smallest(*beside) * (1 - BEYOND)
            return ~is_below & (shares <= days * largest(*beside) * (1 + BEYOND))

        rests = [[of(name, row[rows]) - of(name, prior[rows]) for name in ("amount", "days")] for row in (year, newest)]
        shares, days = rests[1]
        for back in range(1, QUARTERS_A_YEAR):
            quarter = some.find(np.where(some.q - back <= some.year_before, some.q - back, np.nan), 1)
            shares, days = (
                rest - np.nan_to_num(of(name, quarter)) for rest, name in ((shares, "amount"), (days, "days"))
            )
        found[rows] = ~fits(*rests[0]) & fits(*rests[1]) & (fits(shares, days) | (days <= 0))
    return found


def _scale(windows: Windows, amount: Floats, year: Ints) -> Floats:
    """The amount to which differences are compared: twelve months, or the item that the concept is a part of."""
    partner = windows.of_partner()
    of_partner = np.where(
        partner.concept == windows.concept, NOTHING, partner.find(windows.year_before, QUARTERS_A_YEAR)
    )
    item = np.abs(windows.of("amount", year) - windows.of("amount", of_partner))
    return np.fmax(np.abs(amount), item)


def _others_restated(windows: Windows, seq: Floats) -> Flags:
    """Whether another interim period of last year was restated since filing `seq`: amounts moved within that year."""
    found = np.zeros(len(seq), dtype=np.bool_)
    for span in range(1, QUARTERS_A_YEAR):
        spans = np.where(windows.quarter == span, np.nan, span)
        other = windows.find(windows.q - windows.quarter - QUARTERS_A_YEAR + span, spans)
        found |= windows.of("revised", other) >= seq
    return found


def settled(windows: Windows, q: Ints, n: Floats, seq: Floats) -> tuple[Ints, Flags]:
    """The row of slot (q, n) as known after filing `seq`, or as restated later where that is on the same basis.

    A later restatement is on the basis of the other legs

    - if the fiscal year before was stated again since then with its former amount: the restatement leaves it as it was,
    - or if the other figures of its fiscal year, as known before, add up to it, and not to the former amount,
    - or if the former amount has the same digits with another sign or scale, and is farther from the same period of the
      year before,
    - or if it corrects this figure alone: another figure of its fiscal year was stated again since then, no other
      figure of this year or of the year before was restated, and its filing restates hardly anything else.

    Returns:
        the rows, and whether each is a later one.
    """
    of, find = windows.of, windows.find
    row, newest = windows.around(q, n, seq), find(q, n)
    again = of("revised", newest)
    asked = np.flatnonzero(again > seq)
    is_later = np.zeros(len(row), dtype=np.bool_)
    if len(asked):
        some, of_asked = windows.at(asked), (q[asked], n[asked], newest[asked], again[asked], seq[asked])
        is_later[asked] = (
            _leaves_year_before(some, *of_asked)
            | _is_alone(some, *of_asked)
            | _adds_up(some, q[asked], n[asked], row[asked], newest[asked], seq[asked])
            | _was_gross_error(some, q[asked], n[asked], row[asked], newest[asked])
        )
    return np.where(is_later, newest, refined(windows, row, newest)), is_later


def _leaves_year_before(windows: Windows, q: Ints, n: Floats, newest: Ints, again: Floats, seq: Floats) -> Flags:
    """Whether the fiscal year before was stated with its former amount since the restatement of a figure.

    A year to date is on its new basis as soon as the quarters that add up to it are.
    """
    of = windows.of
    quarters = [windows.find(q - ago, np.where(ago < n, 1, np.nan), again - 1) for ago in range(QUARTERS_A_YEAR - 1)]
    amount = np.nansum([of("amount", row) for row in quarters], axis=0)
    rounding = LAST_DIGITS * of("grain", newest) * of("weight", newest)
    adds_up = (n > 1) & (np.abs(amount - of("amount", newest)) <= rounding)
    since = np.where(adds_up, largest(*(of("since", row) for row in quarters)), again)
    year = windows.find(windows.year_before, QUARTERS_A_YEAR)
    of_partner = windows.of_partner().find(windows.year_before, QUARTERS_A_YEAR)
    is_as_before = (of("since", year) <= seq) & ((of_partner < 0) | (of("since", of_partner) <= seq))
    is_this_year = q > windows.q - windows.quarter
    return is_this_year & is_as_before & (of("seq", year) >= since)


def _is_alone(windows: Windows, q: Ints, n: Floats, newest: Ints, again: Floats, seq: Floats) -> Flags:
    """Whether no other figure of two fiscal years was restated since filing `seq`, and one was confirmed since."""
    of = windows.of
    quarter = windows.fiscal_quarter(q)
    confirmed = np.zeros(len(n), dtype=np.bool_)
    changed = of("restated_along", newest) > RESTATED_ALONE
    for span in range(1, QUARTERS_A_YEAR + 1):
        end = q - quarter + span
        other = windows.find(end, np.where(n == span, np.nan, span))
        confirmed |= (of("seq", other) >= again) & (of("since", other) < again)
        changed |= of("revised", other) >= again
        changed |= of("revised", windows.find(end - QUARTERS_A_YEAR, span)) > seq
    return confirmed & ~changed


def _adds_up(windows: Windows, q: Ints, n: Floats, row: Ints, newest: Ints, seq: Floats) -> Flags:
    """Whether other figures of the fiscal year, which were not restated, confirm the newest amount of a figure.

    A year to date is the sum of its quarters, and the next year to date less its last quarter; a quarter is the
    difference of two years to date. The next report counts only if it restates no figure of the year before, which
    must not be restated later either.
    """
    of, quarter = windows.of, windows.fiscal_quarter(q)
    is_to_date, is_quarter = n == quarter, (n == 1) & (quarter > 1)
    one = np.ones(len(q))

    def where(holds: Flags, values: Floats) -> Floats:
        return np.where(holds, values, np.nan)

    def amount(end: Ints, spans: Floats) -> Floats:
        found = windows.find(end, spans, of("revised", newest) - 1)
        return where(~(of("revised", found) > seq), of("amount", found))

    quarters = np.zeros(len(q))
    for ago in range(QUARTERS_A_YEAR - 1):
        needed = is_to_date & (quarter > 1) & (ago < quarter)
        quarters += np.where(needed, amount(q - ago, where(needed, one)), 0.0)
    a_year_before = [windows.find(q + 1 - QUARTERS_A_YEAR, where(is_to_date, spans)) for spans in (quarter + 1, one)]
    is_recast = np.any([of("revised", found) > seq for found in a_year_before], axis=0)
    next_to_date = is_to_date & ~is_recast
    sums = (
        where(is_to_date & (quarter > 1), quarters),
        amount(q + 1, where(next_to_date, quarter + 1)) - amount(q + 1, where(next_to_date, one)),
        amount(q, where(is_quarter, quarter)) - amount(q - 1, where(is_quarter, quarter - 1)),
    )
    rounding = LAST_DIGITS * largest(of("grain", row), of("grain", newest)) * of("weight", newest)
    confirmed = np.zeros(len(q), dtype=np.bool_)
    for total in sums:
        is_newest = np.abs(of("amount", newest) - total) <= rounding
        confirmed |= is_newest & (np.abs(of("amount", row) - total) > rounding)
    year = windows.find(windows.year_before, QUARTERS_A_YEAR)
    return confirmed & ~(of("revised", year) > seq)


def _was_gross_error(windows: Windows, q: Ints, n: Floats, row: Ints, newest: Ints) -> Flags:
    """Whether the former amount is the newest with another sign or scale, and farther from the year before."""
    former, latest = windows.of("amount", row), windows.of("amount", newest)
    year_before = windows.of("amount", windows.find(q - QUARTERS_A_YEAR, n))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = former / latest
        factors = [-1.0, *SCALES, *(1 / scale for scale in SCALES)]
        is_gross = np.any([np.abs(ratio / factor - 1) <= SAME_DIGITS for factor in factors], axis=0)
        off, off_latest = (
            np.abs(np.log(np.abs(amount / year_before))) + np.where(amount * year_before < 0, np.inf, 0.0)
            for amount in (former, latest)
        )
    found: Flags = is_gross & (off > off_latest)
    return found


def refined(windows: Windows, row: Ints, newest: Ints) -> Ints:
    """The newest row of a slot if it states the same amount, perhaps with more digits; otherwise the row itself."""
    return np.where(windows.of("since", newest) == windows.of("since", row), newest, row)


def filing_of_quarters(windows: Windows) -> tuple[Floats, Flags]:
    """The filing on whose basis the four quarters of each window are.

    Returns:
        as_of: the newest filing (`seq`) that states the last quarter, or the year to date, with the same period of the
            year before; otherwise the first one that states them.
        is_recast: whether it restates this period: the quarters of last year are then on its basis only if they were
            stated since.
    """
    of, find = windows.of, windows.find
    q, quarter, a_year_ago = windows.q, windows.quarter, windows.q - QUARTERS_A_YEAR
    one = np.ones(len(q))
    beside = largest(windows.beside(q, 1), windows.beside(q, quarter))
    first = smallest(*(of("seq", windows.since(q, n, np.zeros_like(q))) for n in (one, quarter)))
    as_of = np.where(np.isnan(beside), first, beside)
    is_recast = np.zeros(len(q), dtype=np.bool_)
    for n in (one, quarter):
        size = DISAGREEMENT * QUARTERS_A_YEAR / n * np.abs(of("amount", find(q, n, as_of)))
        is_recast |= restated(windows, find(a_year_ago, n, as_of), find(a_year_ago, n, as_of - 1), size)
    return as_of, is_recast


def on_basis_of_quarters(windows: Windows, years: Years, rows: Ints) -> tuple[Floats, Flags]:
    """Twelve months computed from the quarters that the filing of the year, or a later one, states.

    The four quarters of a fiscal year must add up to that year as stated along with them, so that a quarter in a wrong
    context proves nothing.

    Args:
        years: the legs of the way by years.
        rows: the windows to compute.

    Returns:
        the amount of each of these windows (NaN if a year to date is older than the year and the quarters do not add
        up), and whether a year to date is on an older basis than the quarters.
    """
    some, since = windows.at(rows), windows.of("since", years.year[rows])
    amount, is_behind = np.zeros(len(rows)), np.zeros(len(rows), dtype=np.bool_)
    for leg, ends, is_prior in (
        (years.to_date[rows], some.q, False),
        (years.prior[rows], some.q - QUARTERS_A_YEAR, True),
    ):
        first = ends - some.quarter + 1
        quarters = [some.since(first + number, 1, since) for number in range(QUARTERS_A_YEAR)]
        year = some.since(first + QUARTERS_A_YEAR - 1, QUARTERS_A_YEAR, since)
        amounts = np.array([some.of("amount", row) for row in quarters])
        of_year, of_leg = some.of("amount", year), some.of("amount", leg)
        rounding = QUARTERS_A_YEAR * LAST_DIGITS * largest(some.of("grain", year), some.of("grain", leg))
        adds_up = np.abs(amounts.sum(axis=0) - of_year) <= rounding
        to_date = np.where(np.arange(QUARTERS_A_YEAR)[:, None] < some.quarter, amounts, 0.0).sum(axis=0)
        is_older = adds_up & (np.abs(to_date - of_leg) > np.fmax(DISAGREEMENT * np.abs(of_year), rounding))
        is_newer = some.of("seq", leg) >= since
        to_date = np.where(adds_up, to_date, np.where(is_newer, of_leg, np.nan))
        of_year = np.where(adds_up, of_year, some.of("amount", years.year[rows]))
        amount += of_year - to_date if is_prior else to_date
        is_behind |= is_older
    return amount, is_behind
