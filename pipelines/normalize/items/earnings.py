"""Earnings per share and share counts: as filed, or as computed from net income and other figures.

Belongs here: earnings per share against net income divided by average shares, diluted shares against basic shares. Does
not: net income and the other items (line_items), figures of one filing (corrections.agreement).
"""

from dataclasses import replace

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Flags, Floats, any_of, before, floats, largest, picked, starts
from pipelines.normalize.items.item import DIVIDEND, DIVISOR_MEAN, MEAN, Candidate, Item, Proof, flow
from pipelines.normalize.items.points import SHARES_OF, Leg, Points
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.bases import LARGEST_EXCESS
from pipelines.normalize.ttm.known import CENTS, NOISE_OF_SUMS, QUARTERS_A_YEAR
from pipelines.normalize.ttm.methods import METHOD_NAMES, METHODS, SINGLE_FIGURES

ROUNDINGS = 2
"""Largest difference, in units, between the sum of quarters and net income divided by shares: four roundings of half a
cent."""
COARSER = 1.5
"""A unit of more than so many cents is a cent from before a reverse split."""
HALF_A_UNIT, ROUNDED_AWAY = 0.5, 0.05
"""A sum of quarters is not the rounded quotient of the twelve months if it differs by more than half a unit. The
difference matters if it is more than ROUNDED_AWAY of the quotient: a reverse split of 1:5 made five cents of each cent
of BK Technologies."""
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
OTHER_YEARS = 0.04
"""Earnings per share of a fiscal year that differ by more than this share from net income over shares are not computed
from them: Bradesco's are half of the quotient, because its net income belongs to a second class of shares, too.
Participating securities take less (AAR 2011: 3 %)."""
RARELY_DIFFERS = 9
"""Net income over shares proves a sum of quarters wrong if it agrees with filed earnings in at least so many fiscal
years for each fiscal year in which it differs."""
OTHER_COUNT = 1.25
"""Where no shares of a window are known, earnings per share that imply so many times more or fewer shares than the last
average are a sum of quarters on different counts: Kraft Heinz after its merger has 0.14 for 0.48."""
BELOW_BASIC = 0.995
"""Rounding can make diluted shares lower than basic shares, but not lower than this share of them."""

OTHER_BASIS = 100
"""Issues of shares hardly ever make the averages of two legs differ by more than this factor: Applied Optoelectronics
had 52 times as many shares after its offering, AI Era 4,200 times as many before a reverse split of 1:2000."""

FEWEST_YEARS = 2
"""A count is withheld only if at least so many fiscal years show that net income belongs to OTHER_COUNT times more or
fewer shares. Preferred dividends and participating securities take less of it (Shinhan 2007: 11 %)."""

EPS_AS_FILED = Rule(
    "eps.as-filed",
    "Earnings per share are as filed for a fiscal year, and otherwise twelve months of filed quarters.",
    "ASC 260-10-45-10: income available to common over the weighted average of shares",
    "select",
)
EPS_OF_INCOME = Rule(
    "eps.income-over-shares",
    "If filings state no earnings per share for twelve months, or only quarterly ones for a fiscal year, they are "
    "computed: the stated numerator of earnings per share, otherwise net income, divided by average shares.",
    "ASC 260-10-45-10: income available to common over the weighted average of shares; ASC 260-10-45-11",
    "compose",
)
EPS_ISSUANCE = Rule(
    "eps.net-income-over-shares.issuance",
    "Earnings per share are net income divided by average shares if the sum of the quarters differs from this "
    f"quotient and the share count changed by more than {ISSUANCE - 1:.0%} in or before the twelve months.",
    "ASC 260-10-45-10; ASC 260-10-55-3: a weighted average of the year to date, not a sum of quarters",
    "compose",
)
TIMES_SHARES = Rule(
    "identity.earnings-per-share.times-shares",
    "A sum of quarterly earnings per share that, beyond rounding and changing counts, differs from net income over "
    "average shares is replaced by this quotient (hundredfold: withheld), if nearly all fiscal years agree or it "
    f"differs by {FAR_APART:.0%}.",
    "ASC 260-10-45-10: income available to common over the weighted average of shares",
    "correct",
)
EPS_ROUNDINGS = Rule(
    "eps.net-income-over-shares.roundings",
    f"Filed earnings per share that differ by more than {ROUNDED_AWAY:.0%} from net income over shares, but only "
    "because quarters, or cents before a reverse split, are rounded, are replaced by this quotient, if nearly all "
    "fiscal years agree.",
    "ASC 260-10-45-10; ASC 260-10-55-12: a reverse split is applied to the earnings per share of all periods shown",
    "correct",
)
OTHER_SHARES = Rule(
    "eps.withheld.other-shares",
    "Net income is not divided by shares if filed earnings per share differ from this quotient by more than "
    f"{OTHER_YEARS:.0%} in at least as many of the company's fiscal years as they agree with it.",
    "ASC 260-10-45-59A and 260-10-45-60B: with several classes of shares, each class has its part of the earnings",
    "withhold",
)
OF_ONE_CLASS = Rule(
    "shares.withheld.of-one-class",
    "Share counts are withheld if net income is more than 1.25 times, or less than 0.8 times, filed earnings per "
    "share times shares in all fiscal years (at least two): the counts are of one of several classes.",
    "ASC 260-10-45-59A and 260-10-45-60B: with several classes of shares, each class has its part of the earnings",
    "withhold",
)
DERIVED = Rule("flag.derived", "The value is calculated because filings state none.", EPS_OF_INCOME.source, "flag")
ISSUED = Rule(
    "flag.issuance",
    "So many shares were issued or retired in or before the twelve months that quarterly earnings per share do not "
    "add up.",
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
    "Weighted average shares of twelve months, or of a quarter by difference, are the mean of the averages they are "
    "computed from, weighted by days.",
    "ASC 260-10-45-10: a weighted average of shares outstanding during the period",
    "compose",
)
ONE_SHARE_BASIS = Rule(
    "shares.withheld.other-basis",
    "Twelve months of shares, and of earnings per share, are withheld if one of the averages added up is more than "
    f"{OTHER_BASIS} times another: one is from before a split that no filing shows, or in other units.",
    "ASC 260-10-55-12: a split is applied to all periods shown; earlier filings are on the former basis",
    "withhold",
)
MEAN_AS_QUARTERS = Rule(
    "identity.shares.mean-like-quarters",
    "Average shares of twelve months or of a quarter, and earnings per share on this count, are withheld if the part "
    f"that no filing states lies outside the averages around it and moves the mean by more than {LARGEST_EXCESS:.0%}.",
    "ASC 260-10-45-10 and 260-10-55-2: a weighted average over the year is the mean of its parts",
    "withhold",
)
NOT_BELOW_BASIC = Rule(
    "identity.shares.diluted-not-below-basic",
    "If a computed average of diluted shares is below basic shares, the basic average is taken in a period with a "
    "loss, because potential shares would then reduce the loss per share; otherwise diluted shares are withheld.",
    "ASC 260-10-45-17: potential shares are left out where they are antidilutive; 260-10-45-19: in a year with a loss",
    "correct",
)

BASIC = "eps_basic"
"""The earnings per share with the numerator `earnings_numerator`; diluted ones may have another numerator."""
OTHER_SHARES_REASON, CONTRADICTED_REASON, MIXED_REASON = "eps_of_other_shares", "contradicted_by_filing", "mixed_basis"
ONE_CLASS_REASON = "shares_of_one_class"


def average_shares(points: Points, name: str, takes_other: Flags | bool = False) -> Item:
    """Average shares of a fiscal year or quarter as filed, or the mean of the legs, weighted by days.

    A mean that does not fit the averages of the quarters is withheld.

    Args:
        points: the points.
        name: the concept.
        takes_other: the points at which another item takes the place of a mean.
    """
    is_year = points.is_figure(name)
    mean, excess = points.of(name) / points.of(name, "days"), points.of(name, "excess")
    is_mixed = (points.of(name, "own_spread") > OTHER_BASIS) & ~is_year
    is_compared = ~is_year & ~is_mixed & np.logical_not(takes_other)
    is_excessive = is_compared & (abs(excess) > LARGEST_EXCESS)
    is_shown, outcome = is_compared & ~np.isnan(mean * excess), np.where(is_excessive, 2, 0)
    legs = (points.leg(name, MEAN),)
    found = replace(
        flow(points, name),
        methods=(*METHOD_NAMES.values(), "day_weighted_mean"),
        method=np.where(is_year, points.method(name), len(METHODS)),
        flags={**points.flags(name), "derived": points.of(name, "is_derived") > 0},
        proofs=(Proof(MEAN_AS_QUARTERS, is_shown, outcome, mean, mean * (1 - excess)),),
    )
    return found.choosing(
        *_figures(points, name, mean, legs), Candidate(MEAN_OF_QUARTERS, ~is_year, mean, legs)
    ).withholding((MIXED_REASON, ONE_SHARE_BASIS, is_mixed), (MIXED_REASON, MEAN_AS_QUARTERS, is_excessive))


def _figures(points: Points, name: str, value: Floats, legs: tuple[Leg, ...]) -> list[Candidate]:
    """Candidates for values that are a single filed figure, one for each rule."""
    method = points.method(name)
    return [Candidate(rule, method == METHODS.index(rule), value, legs) for rule in SINGLE_FIGURES]


def diluted_shares(points: Points, basic: Item, income: Item) -> Item:
    """Diluted shares; a mean below basic shares is replaced by them in a loss, and otherwise withheld.

    Means of quarters with and without dilution may be below basic shares.
    """
    name = "shares_diluted"
    grain = largest(points.of(name, "grain"), points.of("shares_basic", "grain"))
    rounding = np.fmin((1 - BELOW_BASIC) * basic.value, ROUNDINGS * grain)
    is_mean = ~points.is_figure(name)
    is_below = NOT_BELOW_BASIC.where(is_mean & (points.of(name) / points.of(name, "days") < basic.value - rounding))
    takes_basic = is_below & (income.value < 0)
    found = average_shares(points, name, takes_basic)
    takes_basic &= ~np.isnan(found.value)
    contradicted = is_below & ~np.isnan(found.value) & ~takes_basic
    is_shown = ~np.isnan(found.value * basic.value) & (is_mean | (found.value >= BELOW_BASIC * basic.value))
    outcome = np.select([takes_basic, contradicted], [1, 2], 0)
    proof = Proof(NOT_BELOW_BASIC, is_shown, outcome, found.value, basic.value)
    return (
        replace(found, proofs=(*found.proofs, proof))
        .choosing(
            Candidate(NOT_BELOW_BASIC, takes_basic, basic.value, basic.legs),
            *_figures(points, name, found.value, found.legs),
            Candidate(MEAN_OF_QUARTERS, is_mean, found.value, found.legs),
        )
        .withholding((CONTRADICTED_REASON, NOT_BELOW_BASIC, contradicted))
    )


def earnings_per_share(points: Points, name: str, income: Item, shares: Item) -> tuple[Item, Flags]:
    """Earnings per share as filed, or net income divided by average shares in their place.

    Args:
        points: the points.
        name: `eps_basic` or `eps_diluted`.
        income: net income.
        shares: the averages that belong to these earnings.

    Returns:
        the item, and for each point whether the counts are of one class of several (OF_ONE_CLASS).
    """
    compared = _Comparison(points, name, income, shares)
    filed = flow(points, name)
    numerator = points.of("earnings_numerator") if name == BASIC else np.full(len(points), np.nan)
    divisor = tuple(leg.recast(DIVISOR_MEAN) for leg in shares.legs)
    legs = (
        points.leg("net_income_common", DIVIDEND).where(compared.is_common),
        *(leg.recast(DIVIDEND).where(~compared.is_common) for leg in income.legs),
        *divisor,
    )
    replaced = [
        Candidate(
            EPS_OF_INCOME,
            compared.is_derived & ~compared.is_of_others & ~np.isnan(numerator),
            numerator / shares.value,
            (points.leg("earnings_numerator", DIVIDEND), *divisor),
        ),
        *(Candidate(rule, holds, compared.quotient, legs) for rule, holds in compared.replaced),
    ]
    is_replaced = any_of([each.holds for each in replaced])
    as_filed = replace(filed, value=compared.filed).withholding(*compared.withheld)
    found = replace(
        as_filed,
        methods=(*filed.methods, "net_income_over_shares"),
        method=np.where(is_replaced, len(METHODS), filed.method),
        flags={
            **{name: holds & ~np.isnan(compared.filed) for name, holds in filed.flags.items()},
            "derived": compared.is_derived,
            "issuance": compared.is_issuance,
            "apart_from_net_income": compared.is_unexplained,
        },
        proofs=(compared.proof(is_replaced, income, shares),),
    ).choosing(*replaced, Candidate(EPS_AS_FILED, ~np.isnan(as_filed.value), as_filed.value, filed.legs))
    return found, compared.is_of_one_class


def _of_one_class(points: Points, is_year: Flags, times: Floats) -> Flags:
    """Whether earnings per share times shares differ from net income in all fiscal years, at least two.

    Args:
        times: net income over this product; 1 if they differ by rounding.
    """
    is_apart = (times > OTHER_COUNT) | (times < 1 / OTHER_COUNT)
    differing, agreeing = (_fiscal_years(points, is_year & one) for one in (is_apart, ~(is_apart | np.isnan(times))))
    return OF_ONE_CLASS.where((differing >= FEWEST_YEARS) & (agreeing == 0))


def of_all_classes(shares: Item, is_of_one_class: Flags) -> Item:
    """A count of shares, withheld where it covers only one of several classes."""
    return shares.withholding((ONE_CLASS_REASON, OF_ONE_CLASS, is_of_one_class))


class _Comparison:
    """Earnings per share as filed, compared with net income divided by average shares.

    The quotient is used if no earnings per share are filed for a window, and if the sum of quarters differs from it
    while the share count changes much within or before the window (an offering), because earnings per share on
    different counts do not add up. It is also used if they differ for another reason than rounding and changes of the
    count, or if roundings of several quarters, or of cents before a reverse split, are larger than a twentieth of it.
    If a company's filed earnings of fiscal years are another amount, it is never used: the filed amounts count, or
    there is no value.

    replaced: the rules by which the quotient is used, with their points. withheld: as in an item.
    Source: ASC 260-10-45-10; ASC 260-10-55-3 (weighted averages of the year to date).
    """

    def __init__(self, points: Points, name: str, income: Item, shares: Item) -> None:
        """Compare them at each point."""
        count = SHARES_OF[name]
        filed, grain = points.of(name), points.of(name, "grain")
        self.filed = filed = np.where(abs(filed) < NOISE_OF_SUMS, 0.0, filed)
        self.is_year = is_year = points.is_figure(name)
        of_income, of_common = income.value / shares.value, points.of("net_income_common") / shares.value
        self.is_common = income.flags["attributable_to_parent"] & ~np.isnan(of_common)
        self.quotient = quotient = np.where(self.is_common, of_common, of_income)
        self.off = off = np.fmin(abs(filed - of_income), abs(filed - of_common))
        self.rounding = rounding = ROUNDINGS * grain
        size = np.abs(quotient)
        self.is_of_others, is_proved = self._agreement(points, income, size)
        apart = (off > rounding) & (off > SHARE_APART * size) & ~is_year
        self.drift = np.fmax((points.of(count, "spread") - 1) * points.of(name, "gross"), 0.0)
        self.is_issuance = EPS_ISSUANCE.where(apart & (_change_of_count(points, count) > ISSUANCE) & ~self.is_of_others)
        self.is_unexplained = apart & (off > rounding + self.drift) & ~self.is_issuance
        is_hundredfold = abs(np.log10(abs(filed / quotient))) >= HUNDREDFOLD
        times = np.where(off > rounding, income.value / (filed * shares.value), np.where(np.isnan(off), np.nan, 1.0))
        self.is_of_one_class = _of_one_class(points, is_year, times)
        is_proved_or_far = is_proved | ((off > FAR_APART * size) & ~self.is_of_others)
        is_rounded = is_proved & (off > ROUNDED_AWAY * size)
        is_of_roundings = (off > HALF_A_UNIT * grain) & (off <= rounding + np.fmin(self.drift, rounding))
        is_coarse_year = is_rounded & is_year & (grain * points.factor > COARSER * CENTS) & (off <= rounding)
        is_of_year = points.is_figure(count) & ~is_year & (off <= largest(rounding, SHARE_APART * size))
        self.is_derived = (np.isnan(filed) | is_of_year) & ~np.isnan(quotient)
        self.replaced = (
            (EPS_OF_INCOME, self.is_derived & ~self.is_of_others),
            (EPS_ISSUANCE, self.is_issuance),
            (TIMES_SHARES, self.is_unexplained & ~is_hundredfold & is_proved_or_far),
            (EPS_ROUNDINGS, (is_rounded & ~is_year & is_of_roundings) | is_coarse_year),
        )
        contradicts_counts = _contradicts_counts(points, name, shares, income, filed, is_year)
        is_mixed = (points.of(count, "own_spread") > OTHER_BASIS) & ~is_year & ~np.isnan(filed)
        self.is_contradicted = np.where(
            np.isnan(quotient),
            contradicts_counts & ~is_year & ~self.is_of_others,
            self.is_unexplained & is_proved & is_hundredfold,
        )
        self.withheld = (
            (OTHER_SHARES_REASON, OTHER_SHARES, self.is_derived & self.is_of_others),
            (MIXED_REASON, ONE_SHARE_BASIS, is_mixed),
            (CONTRADICTED_REASON, TIMES_SHARES, self.is_contradicted),
            (MIXED_REASON, MEAN_AS_QUARTERS, _is_of_other_count(points, count, income, filed, rounding) & ~is_year),
        )

    def _agreement(self, points: Points, income: Item, size: Floats) -> tuple[Flags, Flags]:
        """Whether filed earnings are not net income over shares, and whether fiscal years prove that they are."""
        differs = self.off > largest(self.rounding, OTHER_YEARS * largest(size, abs(self.filed)))
        agrees = ~differs & ~np.isnan(self.off)
        differing, agreeing = (_fiscal_years(points, self.is_year & holds) for holds in (differs, agrees))
        # participating securities take little: they cannot turn a profit into a loss, or double the amount
        may_agree = ~income.flags["attributable_to_parent"] | self.is_common | (self.off > size)
        is_proved = may_agree & (agreeing > 0) & (agreeing >= RARELY_DIFFERS * differing)
        return OTHER_SHARES.where((differing > 0) & (differing >= agreeing)), is_proved

    def proof(self, is_replaced: Flags, income: Item, shares: Item) -> Proof:
        """The proof that earnings per share times shares are net income."""
        share = np.where(self.is_year, OTHER_YEARS, SHARE_APART) * abs(self.quotient)
        agrees = self.off <= largest(self.rounding, share) + np.where(self.is_year, 0.0, self.drift)
        is_shown = agrees | self.is_contradicted | any_of([holds for _, holds in self.replaced[1:3]])
        outcome = np.select([self.is_contradicted, is_replaced], [2, 1], 0)
        return Proof(TIMES_SHARES, is_shown & ~self.is_of_others, outcome, self.filed * shares.value, income.value)


def _is_of_other_count(points: Points, count: str, income: Item, filed: Floats, rounding: Floats) -> Flags:
    """Whether the mean of shares does not fit its quarters' averages, and earnings per share do not fit them either."""
    excess = points.of(count, "excess")
    expected = income.value / (points.of(count) / points.of(count, "days") * (1 - excess))
    is_apart = abs(filed - expected) > largest(rounding, OTHER_YEARS * abs(expected))
    return (abs(excess) > LARGEST_EXCESS) & is_apart


def _contradicts_counts(points: Points, name: str, shares: Item, income: Item, filed: Floats, is_year: Flags) -> Flags:
    """Whether net income over earnings per share is another number than the averages of shares known around the window.

    It is compared with the last average of the four quarter ends before and, if known by then, the first average of the
    three after: averages hardly ever change by more than OTHER_COUNT within a year. For a fiscal year without an
    average, net income over its earnings per share is used.
    """
    known = np.where(np.isnan(shares.value) & is_year, income.value / filed, shares.value)
    stands = points.changes.of_rows(~np.isnan(known))
    rounding = OTHER_COUNT * ROUNDINGS * points.of(name, "grain")

    def is_apart(quarters: range) -> tuple[Flags, Flags]:
        """Whether the first known average of the quarters so far before contradicts, and whether there is none."""
        counts = [picked(known, points.earlier(stands, back)) for back in quarters]
        expected = income.value / np.select([~np.isnan(count) for count in counts], counts, np.nan)
        times = filed / expected
        differs = ((times > OTHER_COUNT) | (times < 1 / OTHER_COUNT)) & (abs(filed - expected) > rounding)
        return differs, np.isnan(expected)

    is_apart_before, _ = is_apart(range(1, QUARTERS_A_YEAR + 1))
    is_apart_after, is_unknown = is_apart(range(-1, -QUARTERS_A_YEAR, -1))
    return is_apart_before & (is_apart_after | is_unknown)


def _change_of_count(points: Points, count: str) -> Floats:
    """The change of the share count around a window: the largest `spread` of the window and of the three before it."""
    own = points.of(count, "spread")
    stands = points.changes.of_rows(points.rows[count] >= 0)
    return largest(own, *(picked(own, points.earlier(stands, back)) for back in range(1, QUARTERS_A_YEAR)))


def _fiscal_years(points: Points, holds: Flags) -> Floats:
    """The number of the company's fiscal years for which a condition holds, as known after each filing.

    Args:
        points: the points.
        holds: the points of fiscal years at which it holds; a fiscal year counts as known after its newest filing.
    """
    marks = holds.astype(np.float64)
    change = marks - np.nan_to_num(before(marks, starts(points.window)))
    of_filing = points.frame.with_columns(years=change).group_by("cik", "seq").agg(pl.col("years").sum())
    so_far = of_filing.sort("cik", "seq").with_columns(pl.col("years").cum_sum().over("cik"))
    return floats(points.frame.join(so_far, on=["cik", "seq"], how="left", maintain_order="left"), "years")
