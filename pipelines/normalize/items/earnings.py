"""Earnings per share and shares: as filed, or as net income and the other figures prove them.

Belongs here: basic earnings per share against net income divided by average shares, diluted shares against basic
shares. Does not: net income and the other items (line_items), figures of one filing (corrections.agreement).
"""

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Flags, Floats, Ints, Timeline, largest, numbers, picked
from pipelines.normalize.decisions import CHOSE, HOLDS, PROOFS, WITHHELD_OUTCOME
from pipelines.normalize.items.item import DIVIDEND, DIVISOR_MEAN, MEAN, SUM, Item, ids
from pipelines.normalize.items.points import Points, newest_of_windows
from pipelines.normalize.keys import packed
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.bases import BEYOND
from pipelines.normalize.ttm.known import CENTS, QUARTERS_A_YEAR
from pipelines.normalize.ttm.windows import FISCAL_YEAR, METHOD_NAMES, METHODS

NOTHING_PER_SHARE = 1e-9
"""Sums of earnings per share below this are zero; sums of cents have binary fractions."""

ROUNDINGS = 2
"""Largest difference, in units, between the sum of quarters and net income divided by shares: four roundings of half a
cent."""
COARSER = 1.5
"""A unit of so many cents is one of cents before a reverse split."""
HALF_A_UNIT, ROUNDED_AWAY = 0.5, 0.05
"""A sum of quarters is not the rounded quotient of the twelve months if it is off by more than half a unit. It matters
if that is more than this share, as with BK Technologies, whose cents a reverse split of 1:5 made five."""
SHARE_APART = 0.02
"""Earnings per share and net income divided by shares agree if they differ by at most this share."""
FAR_APART = 0.5
"""If the sum of quarters differs by more than this share, the quarters are not comparable, whatever the reason."""
HUNDREDFOLD = 2
"""In powers of ten: if the difference is a hundredfold or more, the share count is the error, not the sum of
quarters."""
ISSUANCE = 1.1
"""If the share count changes by more than a tenth within a window, the quarters' earnings per share are on different
counts."""
OTHER_YEARS = 0.1
"""Earnings per share of a fiscal year that differ by more than this share from net income over shares are not computed
from these: Bradesco's are half of it, because its net income belongs to a second class of shares, too. Participating
securities take less (AAR 2011: 3 %)."""
RARELY_DIFFERS = 9
"""Net income over shares proves a sum of quarters wrong if the earnings of so many times more fiscal years agree with
it as differ from it."""
OTHER_COUNT = 1.25
"""Where no shares of a window are known, earnings per share that mean so many times more or fewer shares than the last
average are a sum of quarters on different counts: Kraft Heinz after its merger has 0.14 for 0.48."""
LEAST_EARNINGS = 0.1
"""Earnings per share of at least so much show the number of shares to within a twentieth."""
OF_YEARS = 0.04
"""Filed earnings of a fiscal year differ by less than this share, because participating securities take little."""
BELOW_BASIC = 0.995
"""Diluted shares are not below basic shares but for rounding, at most by so much."""

OTHER_BASIS = 100
"""Averages of shares of two legs hardly ever differ so many times by issues: Applied Optoelectronics had 52 times as
many after its offering, AI Era 4,200 times as many before a reverse split of 1:2000."""

EPS_AS_FILED = Rule(
    "eps.as-filed",
    "Basic earnings per share are as filed for a fiscal year, and otherwise twelve months of filed quarters.",
    "ASC 260-10-45-10: income available to common over the weighted average of shares",
    "select",
)
EPS_NOT_FILED = Rule(
    "eps.net-income-over-shares.not-filed",
    "If filings state neither earnings per share for a window nor the income that they are computed from, they are net "
    "income divided by weighted average shares.",
    "ASC 260-10-45-10: income available to common over the weighted average of shares",
    "compose",
)
EPS_OF_NUMERATOR = Rule(
    "eps.stated-numerator-over-shares",
    "If filings state no earnings per share for a window, but the income that these are computed from, they are that "
    "income divided by weighted average shares, not net income, which it may differ from.",
    "ASC 260-10-45-10: income available to common over the weighted average of shares; ASC 260-10-45-11",
    "compose",
)
EPS_ISSUANCE = Rule(
    "eps.net-income-over-shares.issuance",
    "Earnings per share are net income divided by average shares if the sum of quarters differs from it and the share "
    f"count changed by more than {ISSUANCE - 1:.0%} in or before the window.",
    "ASC 260-10-45-10; ASC 260-10-55-3: a weighted average of the year to date, not a sum of quarters",
    "compose",
)
EPS_FAR_APART = Rule(
    "eps.net-income-over-shares.far-apart",
    f"A sum of quarters that differs by more than {FAR_APART:.0%} from net income divided by average shares is "
    "replaced by it.",
    "ASC 260-10-45-10; quarters on different counts do not add up",
    "correct",
)
TIMES_SHARES = Rule(
    "identity.earnings-per-share.times-shares",
    "Basic earnings per share times average shares are net income: a sum of filed earnings that differs by more than "
    "rounding and the changes of the share count explain is replaced by net income over shares, or left out where it "
    "differs a hundredfold, if the filed earnings of nearly all fiscal years agree.",
    "ASC 260-10-45-10: income available to common over the weighted average of shares",
    "correct",
)
EPS_OF_SPLIT = Rule(
    "eps.net-income-over-shares.cents-before-split",
    "From the first filing after a reverse split on, earlier earnings per share of a fiscal year, in cents that the "
    f"split made coarser, are net income over average shares if they differ from it by more than {ROUNDED_AWAY:.0%} "
    "and by no more than their rounding, if the filed earnings of nearly all fiscal years agree with it.",
    "ASC 260-10-55-12: a reverse split is applied to the earnings per share of all periods shown; those of earlier "
    "reports are rounded to cents of the former shares",
    "correct",
)
EPS_ROUNDED = Rule(
    "eps.net-income-over-shares.rounded-quarters",
    f"A sum of quarters that differs by more than half a unit and by more than {ROUNDED_AWAY:.0%} from net income over "
    f"average shares, but by at most {2 * ROUNDINGS} units, is replaced by this quotient, if the filed earnings of "
    "nearly all fiscal years agree with it: roundings add up.",
    "ASC 260-10-45-10: income available to common over the weighted average of shares of the period",
    "correct",
)
OTHER_SHARES = Rule(
    "eps.withheld.other-shares",
    "Net income is not divided by shares where the earnings per share that filings state for as many or more fiscal "
    f"years of the company differ from this quotient by more than {OTHER_YEARS:.0%} as agree with it.",
    "ASC 260-10-45-59A and 260-10-45-60B: with several classes of shares, each class has its part of the earnings",
    "withhold",
)
DERIVED = Rule("flag.derived", "The value is calculated because filings state none.", EPS_NOT_FILED.source, "flag")
ISSUED = Rule(
    "flag.issuance",
    "So many shares were issued or retired around the window that quarterly earnings per share do not add up.",
    EPS_ISSUANCE.source,
    "flag",
)
APART = Rule(
    "flag.apart-from-net-income",
    "The sum of quarterly earnings per share differs from net income divided by average shares, for an unknown reason.",
    "ASC 260-10-45-10",
    "flag",
)
MEAN_OF_QUARTERS = Rule(
    "shares.day-weighted-mean",
    "Weighted average shares of twelve months are the mean of their legs, weighted by days.",
    "ASC 260-10-45-10: a weighted average of shares outstanding during the period",
    "compose",
)
ONE_SHARE_BASIS = Rule(
    "shares.withheld.other-basis",
    f"Twelve months of shares, and of earnings per share, are withheld if the average of one leg is more than "
    f"{OTHER_BASIS} times that of another one, because one is before a split that no filing shows, or in other units.",
    "ASC 260-10-55-12: a split is applied to all periods shown; earlier filings are on the former basis",
    "withhold",
)
MEAN_AS_QUARTERS = Rule(
    "identity.shares.mean-like-quarters",
    "Average shares of twelve months are withheld if the part of them that no filing states, a year less its other "
    "quarters, lies above or below all averages from the quarter before it to the quarter after it, so far that the "
    f"mean moves by more than {BEYOND:.0%}: the year is on another basis. So are earnings per share that are not of a "
    "count like these averages.",
    "ASC 260-10-45-10 and 260-10-55-2: a weighted average over the year is the mean of its parts",
    "withhold",
)
NOT_BELOW_BASIC = Rule(
    "identity.shares.diluted-not-below-basic",
    "Diluted shares are not fewer than basic shares: a mean that is so is that of basic shares in twelve months with a "
    "loss, because potential shares would then reduce it, and is otherwise left out.",
    "ASC 260-10-45-17: potential shares are left out where they are antidilutive; 260-10-45-19: in a year with a loss",
    "correct",
)
RULES = (
    EPS_AS_FILED,
    EPS_NOT_FILED,
    EPS_OF_NUMERATOR,
    EPS_ISSUANCE,
    EPS_FAR_APART,
    TIMES_SHARES,
    EPS_ROUNDED,
    EPS_OF_SPLIT,
    OTHER_SHARES,
    DERIVED,
    ISSUED,
    APART,
    MEAN_OF_QUARTERS,
    ONE_SHARE_BASIS,
    MEAN_AS_QUARTERS,
    NOT_BELOW_BASIC,
)

OTHER_SHARES_REASON, CONTRADICTED_REASON, MIXED_REASON = "eps_of_other_shares", "contradicted_by_filing", "mixed_basis"


class PerShare:
    """The items of shares, and the identities that they satisfy.

    income: the item of net income.
    basic, diluted: the items of shares.
    earnings: the item of basic earnings per share.
    proofs: decisions.PROOFS: the judgements that count today.
    """

    def __init__(self, points: Points, income: Item) -> None:
        """Judge the figures per share at each point.

        Args:
            points: the amounts known at each quarter end after each filing.
            income: net income available to common shareholders.
        """
        self.income = income
        self.basic, of_basic = _shares(points, "shares_basic", np.zeros(len(points), dtype=np.bool_))
        diluted, of_mean = _shares(points, "shares_diluted", _is_below_basic(points, self.basic) & (income.value < 0))
        self.diluted, of_diluted = _not_below_basic(points, diluted, self.basic, income)
        self.earnings, of_earnings = _earnings_per_share(points, income, self.basic)
        self.proofs = pl.concat([of_earnings, of_basic, of_mean, of_diluted])


def _shares(points: Points, name: str, takes_other: Flags) -> tuple[Item, pl.DataFrame]:
    """The average of a fiscal year as filed, or the mean of its legs by days, which is like those of the quarters.

    Args:
        points: the points.
        name: the concept.
        takes_other: the points at which another item takes the place of a mean.
    """
    is_year = points.way(name) == METHODS.index(FISCAL_YEAR)
    how = np.where(is_year, 0, 1)
    mean, excess = points.of(name) / points.of(name, "days"), points.of(name, "beyond")
    mean = np.where(mean > 0, mean, np.nan)  # a company has no average before its first shares
    is_mixed = _mixes_bases(points, name) & ~is_year
    is_beyond = (np.abs(excess) > BEYOND) & ~is_year & ~is_mixed & ~takes_other
    found = Item(
        name,
        np.where(is_mixed | is_beyond, np.nan, mean),
        rules=ids(FISCAL_YEAR, MEAN_OF_QUARTERS, NOT_BELOW_BASIC),
        rule=how,
        methods=(METHOD_NAMES[FISCAL_YEAR], "day_weighted_mean"),
        method=how,
        flags={**points.flags(name), "derived": points.of(name, "is_derived") > 0},
        legs=(points.leg(name, MEAN),),
        withheld=((MIXED_REASON, ONE_SHARE_BASIS, is_mixed), (MIXED_REASON, MEAN_AS_QUARTERS, is_beyond)),
    )
    judged = ~is_year & ~is_mixed & ~takes_other & ~np.isnan(mean * excess)
    sides = (mean, mean * (1 - excess))
    return found, proofs(points, found, MEAN_AS_QUARTERS, judged, np.where(is_beyond, 2, 0), sides)


def _mixes_bases(points: Points, name: str) -> Flags:
    """Whether the averages of shares of the legs differ by more than issues of shares explain."""
    found: Flags = points.of(name, "own_spread") > OTHER_BASIS
    return found


def _is_below_basic(points: Points, basic: Item) -> Flags:
    """Whether a mean of diluted shares is below basic shares by more than rounding."""
    name = "shares_diluted"
    is_mean = points.way(name) != METHODS.index(FISCAL_YEAR)
    grain = largest(points.of(name, "grain"), points.of("shares_basic", "grain"))
    rounding = np.fmin((1 - BELOW_BASIC) * basic.value, ROUNDINGS * grain)
    is_below: Flags = is_mean & (points.of(name) / points.of(name, "days") < basic.value - rounding)
    return is_below


def _not_below_basic(points: Points, diluted: Item, basic: Item, income: Item) -> tuple[Item, pl.DataFrame]:
    """Diluted shares where they are not below basic ones; means of quarters with and without dilution may be."""
    is_mean = diluted.method > 0
    is_below = _is_below_basic(points, basic) & ~np.isnan(diluted.value)
    takes_basic = is_below & (income.value < 0)
    contradicted = is_below & ~takes_basic
    value = np.select([takes_basic, contradicted], [basic.value, np.nan], diluted.value)
    outcome = np.select([takes_basic, contradicted], [1, 2], 0)
    judged = ~np.isnan(diluted.value * basic.value) & (is_mean | (diluted.value >= BELOW_BASIC * basic.value))
    found = Item(
        diluted.name,
        value,
        rules=diluted.rules,
        rule=np.where(takes_basic, 2, diluted.rule),
        methods=diluted.methods,
        method=diluted.method,
        flags=diluted.flags,
        legs=(*(leg.where(~takes_basic) for leg in diluted.legs), *(leg.where(takes_basic) for leg in basic.legs)),
        withheld=(*diluted.withheld, (CONTRADICTED_REASON, NOT_BELOW_BASIC, contradicted)),
    )
    return found, proofs(points, found, NOT_BELOW_BASIC, judged, outcome, (diluted.value, basic.value))


def _earnings_per_share(points: Points, income: Item, shares: Item) -> tuple[Item, pl.DataFrame]:
    """Basic earnings per share as filed, compared with net income divided by average shares.

    Net income divided by average shares is used if no earnings per share are filed for a window (the income that these
    are computed from, if it is stated), and if the sum of
    quarters differs from it while the share count changes much within or before the window (an offering), because
    earnings per share on different counts do not add up. It is also used if they differ for another reason than
    rounding and changes of the count, or if roundings of several quarters, or of cents before a reverse split, are
    larger than a twentieth of it. A company whose filed earnings of fiscal years are not this quotient has none of
    it: its filed amounts count, or nothing.

    Source: ASC 260-10-45-10; ASC 260-10-55-3 (weighted averages of the year to date).
    """
    filed = points.of("eps_basic")
    filed = np.where(np.abs(filed) < NOTHING_PER_SHARE, 0.0, filed)
    with np.errstate(divide="ignore", invalid="ignore"):
        of_income, of_common = income.value / shares.value, points.of("net_income_common") / shares.value
        is_common = income.flags["attributable_to_parent"] & ~np.isnan(of_common)
        control = np.where(shares.value > 0, np.where(is_common, of_common, of_income), np.nan)
        scale = np.abs(np.log10(np.abs(filed / control)))
    off = np.fmin(np.abs(filed - of_income), np.abs(filed - of_common))
    way = points.way("eps_basic")
    is_year = way == METHODS.index(FISCAL_YEAR)
    grain = points.of("eps_basic", "grain")
    rounding = ROUNDINGS * grain
    differs = off > largest(rounding, OTHER_YEARS * largest(np.abs(control), np.abs(filed)))
    differing, agreeing = (_fiscal_years(points, holds & is_year & ~np.isnan(off)) for holds in (differs, ~differs))
    is_of_others = (differing > 0) & (differing >= agreeing)
    is_proved = (agreeing > 0) & (agreeing >= RARELY_DIFFERS * differing)
    # participating securities take little: they cannot make a loss of a profit, nor twice the amount
    is_proved &= ~income.flags["attributable_to_parent"] | is_common | (off > np.abs(control))
    apart = (off > rounding) & (off > SHARE_APART * np.abs(control)) & ~is_year
    drift = np.fmax((points.of("shares_basic", "spread") - 1) * points.of("eps_basic", "gross"), 0.0)
    is_issuance = apart & (_change_of_count(points) > ISSUANCE) & ~is_of_others
    is_unexplained = apart & (off > rounding + drift) & ~is_issuance
    is_far = is_unexplained & (off > FAR_APART * np.abs(control)) & (scale < HUNDREDFOLD) & ~is_of_others
    is_contradicted = is_unexplained & is_proved & (scale < HUNDREDFOLD) & ~is_far
    adds_roundings = is_proved & ~is_year & ~is_of_others & (off <= rounding + np.fmin(drift, rounding))
    adds_roundings &= (off > HALF_A_UNIT * grain) & (off > ROUNDED_AWAY * np.abs(control))
    is_coarse_year = is_proved & is_year & ~is_of_others & (grain * points.factor > COARSER * CENTS)
    is_coarse_year &= (off <= rounding) & (off > ROUNDED_AWAY * np.abs(control))
    is_withheld = is_unexplained & is_proved & (scale >= HUNDREDFOLD)
    is_withheld |= (
        np.isnan(control) & ~is_year & ~is_of_others & _contradicts_counts(points, shares, income, filed, is_year)
    )
    is_mixed = _mixes_bases(points, "shares_basic") & ~is_year & ~np.isnan(filed)
    is_of_other_count = _is_of_other_count(points, income, filed, rounding) & ~is_year & ~is_mixed
    is_derived = np.isnan(filed) & ~np.isnan(control)
    takes_control = (is_derived & ~is_of_others) | is_issuance | is_far | is_contradicted | adds_roundings
    takes_control |= is_coarse_year
    of_numerator = points.of("earnings_numerator") / np.where(shares.value > 0, shares.value, np.nan)
    has_numerator = takes_control & is_derived & ~np.isnan(of_numerator)
    takes_income = takes_control & ~has_numerator
    as_filed = {name: holds & ~np.isnan(filed) for name, holds in points.flags("eps_basic").items()}
    found = Item(
        "eps_basic",
        np.select(
            [has_numerator, takes_control, is_withheld | is_mixed | is_of_other_count],
            [of_numerator, control, np.nan],
            filed,
        ),
        rules=ids(
            *(EPS_AS_FILED, EPS_OF_NUMERATOR, EPS_NOT_FILED, EPS_ISSUANCE),
            *(EPS_FAR_APART, TIMES_SHARES, EPS_ROUNDED, EPS_OF_SPLIT),
        ),
        rule=np.select(
            [has_numerator, is_derived, is_issuance, is_far, is_contradicted, adds_roundings, is_coarse_year],
            range(1, 8),
            0,
        ),
        methods=(*METHOD_NAMES.values(), "net_income_over_shares"),
        method=np.where(takes_control, len(METHODS), way),
        flags={
            **as_filed,
            "derived": is_derived,
            "issuance": is_issuance,
            "apart_from_net_income": is_unexplained,
        },
        legs=(
            points.leg("eps_basic", SUM).where(~takes_control),
            points.leg("earnings_numerator", DIVIDEND).where(has_numerator),
            points.leg("net_income_common", DIVIDEND).where(takes_income & is_common),
            *(leg.recast(DIVIDEND).where(takes_income & ~is_common) for leg in income.legs),
            *(leg.recast(DIVISOR_MEAN).where(takes_control) for leg in shares.legs),
        ),
        withheld=(
            (OTHER_SHARES_REASON, OTHER_SHARES, is_derived & is_of_others),
            (MIXED_REASON, ONE_SHARE_BASIS, is_mixed),
            (CONTRADICTED_REASON, TIMES_SHARES, is_withheld),
            (MIXED_REASON, MEAN_AS_QUARTERS, is_of_other_count),
        ),
    )
    agrees = off <= largest(rounding, np.where(is_year, OF_YEARS, SHARE_APART) * np.abs(control)) + np.where(
        is_year, 0.0, drift
    )
    judged = ~is_of_others & (agrees | is_issuance | is_far | is_contradicted | is_withheld)
    outcome = np.select([is_withheld, takes_control], [2, 1], 0)
    return found, proofs(points, found, TIMES_SHARES, judged, outcome, (filed * shares.value, income.value))


def _is_of_other_count(points: Points, income: Item, filed: Floats, rounding: Floats) -> Flags:
    """Whether the mean of shares is not like its quarters, and earnings per share are not of a count like theirs."""
    excess = points.of("shares_basic", "beyond")
    with np.errstate(divide="ignore", invalid="ignore"):
        count = points.of("shares_basic") / points.of("shares_basic", "days") * (1 - excess)
        expected = income.value / count
    off = np.abs(filed - expected)
    found: Flags = (np.abs(excess) > BEYOND) & (off > largest(rounding, OTHER_YEARS * np.abs(expected)))
    return found


def _contradicts_counts(points: Points, shares: Item, income: Item, filed: Floats, is_year: Flags) -> Flags:
    """Whether net income over earnings per share is another number than the averages of shares known around the window.

    The last one of the four quarter ends before, and the first of the three after it, if one is known by then: averages
    hardly ever change by more than OTHER_COUNT within a year. A fiscal year without one shows it by its earnings.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        of_earnings = np.where(is_year & (np.abs(filed) >= LEAST_EARNINGS), income.value / filed, np.nan)
        known = np.where(np.isnan(shares.value), of_earnings, shares.value)
        stands = points.timeline(~np.isnan(known))
        rounding = OTHER_COUNT * ROUNDINGS * points.of("eps_basic", "grain")
        before, after = (
            _expected(points, income, known, stands, quarters)
            for quarters in (range(1, QUARTERS_A_YEAR + 1), range(-1, -QUARTERS_A_YEAR, -1))
        )
        is_apart = [
            ((filed / other > OTHER_COUNT) | (filed / other < 1 / OTHER_COUNT)) & (np.abs(filed - other) > rounding)
            for other in (before, after)
        ]
    contradicts: Flags = is_apart[0] & (is_apart[1] | np.isnan(after))
    return contradicts


def _expected(points: Points, income: Item, known: Floats, stands: tuple[Timeline, Ints], quarters: range) -> Floats:
    """Net income over the first known average of shares so many quarters before."""
    count = np.full(len(points), np.nan)
    for back in quarters:
        count = np.where(np.isnan(count), picked(known, points.earlier(stands, back)), count)
    expected: Floats = income.value / count
    return expected


def _change_of_count(points: Points) -> Floats:
    """The change of the share count around a window: the largest `spread` of the window and of the three before it."""
    own = points.of("shares_basic", "spread")
    stands = points.timeline(points.rows["shares_basic"] >= 0)
    earlier = [picked(own, points.earlier(stands, back)) for back in range(1, QUARTERS_A_YEAR)]
    return largest(own, *earlier)


def _fiscal_years(points: Points, holds: Flags) -> Ints:
    """The number of the company's fiscal years for which a condition holds, as known after each filing.

    Args:
        points: the points.
        holds: the points at which it holds; a fiscal year counts as after its newest filing.
    """
    filing = packed(points.company, points.seq)
    order = np.argsort(filing, kind="stable")
    change = holds.astype(np.int64)
    change[1:] -= np.where(points.window[1:] == points.window[:-1], holds[:-1], 0)
    total = np.append(0, np.cumsum(change[order]))
    last = np.searchsorted(filing[order], filing, side="right")
    first = np.searchsorted(points.company[order], points.company)
    count: Ints = total[last] - total[first]
    return count


def proofs(
    points: Points, item: Item, rule: Rule, judged: Flags, outcome: Ints, sides: tuple[Floats, Floats]
) -> pl.DataFrame:
    """The judgements of an item at the newest points: decisions.PROOFS; `outcome` 0 holds, 1 chose, 2 withheld."""
    rows = np.flatnonzero(judged & newest_of_windows(points))
    return (
        points.frame[rows]
        .select(
            "cik",
            "q",
            "seq",
            item=pl.lit(item.name, pl.String),
            rule=pl.lit(rule.id, pl.String),
            outcome=pl.Series([HOLDS, CHOSE, WITHHELD_OUTCOME]).gather(outcome[rows]),
            left_side=numbers(sides[0][rows]),
            right_side=numbers(sides[1][rows]),
        )
        .select(PROOFS.names())
    )
