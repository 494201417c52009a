"""Footing: figures of a statement that its own totals contradict.

Belongs here: the identities between the lines of an income statement or a cash flow statement of one filing and period,
and what follows where one fails that the company's other statements satisfy. Does not: income against earnings per
share and tax (identities), balance sheets (balance), other filings of the period (scale, signs, contexts).

Only the same filing and earlier ones are used, so that what was known on a day does not depend on later filings.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Flags, Floats, Ints
from pipelines.normalize.corrections.figures import Figures, Proposal
from pipelines.normalize.corrections.powers import power_of_thousand
from pipelines.normalize.corrections.side_by_side import SideBySide
from pipelines.normalize.elements import BY_NAME
from pipelines.normalize.frames import CORRECTED, HOLDS, WITHHELD_OUTCOME
from pipelines.normalize.keys import packed
from pipelines.normalize.rule import Rule

LARGE_LINE_OF_CASH_FLOW = 0.1
"""Lines of the filer's own between the activities and the change in cash (cash of businesses held for sale) are below
this share of operating cash flow where other statements foot: UnitedHealth 2024 has 0.9 %, Coca-Cola 2017 0.1 %."""
LARGE_LINE_OF_INCOME = 1 / 3
"""Lines of the filer's own between revenue and income (an impairment, other revenue) are below this share of revenue
where other statements foot: Procter & Gamble 2019 has 12 %."""
UNITS_APART = 1.0
"""Rounding changes a total by at most so many units of each line; measured on 3,440 cash flow statements: 97 % foot
within it, and of the others all but 5 are of two filers whose statements never foot."""
FEWEST_STATEMENTS = 2
"""The identity is one of the company's if at least so many other statements, of this filing and earlier ones, satisfy
it: no two statements foot by chance."""
RARELY_FAILS = 9
"""And if it held at least so many times as often as it failed: filers with lines of their own fail again and again."""
FEWEST_UNITS = 10
"""Sides that differ by one digit alone, such as 30 or 40,000 units, differ by a mistyped digit. Measured: none of 4,258
cash flow statements and 4,600 changes in cash of companies whose others foot."""
SAME_POWER = 1e-3
"""The largest distance of a quotient from a power of a thousand, in powers of ten: a line in another scale agrees to
the digits that the other lines have."""

STATEMENT_OF_CASH_FLOWS = (
    "ASC 230-10-45-24: the statement reports net cash of the three activities, and its effect on cash"
)
MULTIPLE_STEP = "Regulation S-X Rule 5-03: the income statement leads from revenue to income"

CASH_FLOW = Rule(
    "identity.cash-flow.activities-and-change-in-cash",
    "Operating, investing and financing cash flow and the effect of exchange rates add up to the change in cash; "
    "operating cash flow that contradicts this, in a statement of a company whose other statements foot, is left out.",
    STATEMENT_OF_CASH_FLOWS,
    "withhold",
)
CASH_FLOW_SIGN = Rule(
    "correction.sign.operating-cash-flow-by-change-in-cash",
    "The sign of operating cash flow is reversed if the activities then add up to the change in cash, and no other "
    "line explains why they do not.",
    STATEMENT_OF_CASH_FLOWS,
    "correct",
)
CASH_FLOW_SCALE = Rule(
    "correction.scale.operating-cash-flow-by-change-in-cash",
    "Operating cash flow in another scale is multiplied by the power of a thousand with which the activities add up to "
    "the change in cash, if no other line explains why they do not.",
    STATEMENT_OF_CASH_FLOWS,
    "correct",
)
CHANGE_IN_CASH = Rule(
    "identity.cash.change-in-period",
    "Cash at the end of a period less cash at its beginning is the change in cash; cash that misses this by one digit "
    "alone, in a filing of a company whose other statements satisfy it, is left out, unless the filing states the cash "
    "of its cash flow statement on another line that does.",
    "ASC 230-10-45-4: the cash flow statement reconciles cash at the beginning and at the end of the period",
    "withhold",
)
UNEXPLAINED = 5
"""What no element explains of an outflow is large if it is more than so many times the capital expenditure, and"""
LARGE_PART = 0.5
"""... more than this share of the outflow. Measured on 443 years of 228 companies: three, Atlas Air's of 2011 to 2013,
which paid for its aircraft under an element of its own. With a factor of one there are eight more, of which three are
acquisitions under such elements."""
DAYS_OF_YEAR = 350
"""Years only: of the three interim statements that would be left out, two have acquisitions or purchases of securities
under elements of the filer's own."""
INVESTING = Rule(
    "identity.cash-flow.investing-explained",
    "Capital expenditure of a year is left out if investing took much more than it and the payments that are stated "
    f"for businesses, securities and other assets: more than {UNEXPLAINED} times the capital expenditure, and more "
    f"than {LARGE_PART:.0%} of the outflow.",
    "ASC 230-10-45-13 and 230-10-45-26: payments for productive assets are lines of investing activities",
    "withhold",
)
LEASED = Rule(
    "correction.total.plant-without-leased",
    "Capital expenditure is payments for property, plant and equipment alone if they and the other payments for "
    "investing add up to investing cash flow: equipment leased to others is then no other line.",
    STATEMENT_OF_CASH_FLOWS,
    "correct",
)
GROSS_PROFIT = Rule(
    "identity.revenue.cost-and-gross-profit",
    "Revenue less its cost is gross profit; revenue that contradicts this, in a statement of a company whose other "
    "statements foot, is left out, and so is revenue below gross profit, which no cost explains.",
    MULTIPLE_STEP,
    "withhold",
)
GROSS_PROFIT_SIGN = Rule(
    "correction.sign.revenue-by-gross-profit",
    "The sign of revenue is reversed if revenue less its cost is then gross profit.",
    MULTIPLE_STEP,
    "correct",
)
GROSS_PROFIT_SCALE = Rule(
    "correction.scale.revenue-by-gross-profit",
    "Revenue in another scale is multiplied by the power of a thousand with which revenue less its cost is gross "
    "profit.",
    MULTIPLE_STEP,
    "correct",
)
COSTS = Rule(
    "identity.revenue.costs-and-operating-income",
    "Revenue less the total of costs and expenses is operating income; revenue that contradicts this, in a statement "
    "of a company whose other statements foot, is left out.",
    MULTIPLE_STEP,
    "withhold",
)
COSTS_SIGN = Rule(
    "correction.sign.revenue-by-operating-income",
    "The sign of revenue is reversed if revenue less the total of costs and expenses is then operating income.",
    MULTIPLE_STEP,
    "correct",
)
COSTS_SCALE = Rule(
    "correction.scale.revenue-by-operating-income",
    "Revenue in another scale is multiplied by the power of a thousand with which revenue less the total of costs and "
    "expenses is operating income.",
    MULTIPLE_STEP,
    "correct",
)


@dataclass(frozen=True, slots=True)
class Identity:
    """One identity between the lines of a statement: the sum of `left` equals `right`.

    rule: leaves out a figure that contradicts it. sign, scale: correct one.
    item: the line item whose figure is judged; its concept is the first of `left`.
    reason: the reason of gaps where the figure is left out.
    large: the share of the judged figure by which the sides must differ, because filers have lines of their own.
    by_digit: whether sides that differ by one digit alone contradict each other too.
    left: concepts and their signs. right: the total. may_lack: a concept of `left` that counts as zero if it is not
        stated, and that some totals leave out.
    evidence: the proof of a correction in words.
    is_part: whether the total is a part of the judged figure, so that it is never larger. Measured: gross profit is not
        above revenue in any of 4,716 statements of 150 companies, and wrong in the three of 492 in which it is.
    composed: ranks of the sources of the judged figure that compose it from the other lines.
    """

    rule: Rule
    sign: Rule
    scale: Rule
    item: str
    reason: str
    large: float
    left: tuple[tuple[str, float], ...]
    right: str
    evidence: str
    may_lack: str = ""
    by_digit: bool = False
    is_part: bool = False
    composed: tuple[int, ...] = ()


def _composed(*rules: str) -> tuple[int, ...]:
    """The ranks of the sources of revenue that compose it from the other lines of an identity."""
    return tuple(rank for rank, source in enumerate(BY_NAME["revenue"].sources) if source.rule in rules)


IDENTITIES = (
    Identity(
        CASH_FLOW,
        CASH_FLOW_SIGN,
        CASH_FLOW_SCALE,
        "free_cash_flow",
        "cash_flow_not_footing",
        LARGE_LINE_OF_CASH_FLOW,
        (
            ("operating_cash_flow", 1.0),
            ("investing_cash_flow", 1.0),
            ("financing_cash_flow", 1.0),
            ("exchange_effect", 1.0),
        ),
        "change_in_cash",
        "the activities of the cash flow statement and the change in cash",
        may_lack="exchange_effect",
        by_digit=True,
    ),
    Identity(
        GROSS_PROFIT,
        GROSS_PROFIT_SIGN,
        GROSS_PROFIT_SCALE,
        "revenue",
        "income_not_footing",
        LARGE_LINE_OF_INCOME,
        (("revenue", 1.0), ("cost_of_revenue", -1.0)),
        "gross_profit",
        "gross profit and the cost of revenue of the same filing",
        is_part=True,
        composed=_composed("revenue.cost-and-gross-profit"),
    ),
    Identity(
        COSTS,
        COSTS_SIGN,
        COSTS_SCALE,
        "revenue",
        "income_not_footing",
        LARGE_LINE_OF_INCOME,
        (("revenue", 1.0), ("operating_costs", -1.0)),
        "operating_income",
        "operating income and the total of costs of the same filing",
        composed=_composed("revenue.costs-and-operating-income"),
    ),
)
RULES = (*(rule for one in IDENTITIES for rule in (one.rule, one.sign, one.scale)), CHANGE_IN_CASH, INVESTING, LEASED)

CASH_AT_THE_END = ("cash_of_flows", "cash")
"""Cash at an instant: first that of the cash flow statement, then the lines of the balance sheet."""
SPENDING, OUTFLOW, REST, PLANT = (
    "capital_expenditure",
    "investing_cash_flow",
    "investing_without_payments",
    "plant_beside_leased",
)
BY_OUTFLOW = "investing cash flow of the same filing, of which no element explains most"
BY_OUTFLOW_ALONE = "investing cash flow of the same filing, to which the other lines add up"
BY_CHANGE = "cash at the beginning of the period and the change in cash of the same filing"


@dataclass(frozen=True, slots=True)
class Judged:
    """The statements of an identity, in the order of company, filing and period.

    at: place of the judged figure in Figures. left, right: the two sides.
    holds: whether they are equal. is_large: whether they differ by much, or by a mistyped digit.
    is_established: whether other statements of the company satisfy the identity, or no statement can fail it so.
    turned: whether the judged figure has the wrong sign. power: the power of ten by which it is too small, or NaN.
    elsewhere: whether another line explains why the sides differ.
    places: places of all figures of the statements in Figures.
    """

    identity: Identity
    at: Ints
    left: Floats
    right: Floats
    holds: Flags
    is_large: Flags
    is_established: Flags
    turned: Flags
    power: Floats
    elsewhere: Flags
    places: Ints

    @property
    def contradicted(self) -> Flags:
        """Whether the judged figure is contradicted, and no line of the statement explains it."""
        is_explained = self.elsewhere | self.turned | ~np.isnan(self.power)
        return ~self.holds & self.is_large & self.is_established & ~is_explained


def judged(figures: Figures, identity: Identity) -> Judged:
    """Compare both sides of an identity in each statement that has all of its lines."""
    names = (*(name for name, _ in identity.left), identity.right)
    signs = np.array([*(sign for _, sign in identity.left), -1.0])
    at = figures.of_concepts(names)
    at = at[~figures.is_instant[at]]
    key = packed(*(column[at] for column in (figures.company, figures.seq, figures.start, figures.end)))
    statement, of_figure = np.unique(key, return_inverse=True)
    place = np.full((len(statement), len(names)), -1)
    of_name = [np.isin(at, figures.of_concepts((name,))) for name in names]
    for column, holds in enumerate(of_name):
        place[of_figure[holds], column] = at[holds]
    needed = [column for column, name in enumerate(names) if name != identity.may_lack]
    place = place[(place[:, needed] >= 0).all(axis=1)]
    if identity.composed and len(place):  # equal by definition: this proves nothing
        place = place[~np.isin(figures.rank[place[:, 0]], identity.composed)]
    there = place >= 0
    value = np.where(there, figures.value[place], 0.0) if len(figures.value) else np.zeros(place.shape)
    grain = np.where(there, figures.grain[place], np.inf) if len(figures.value) else np.zeros(place.shape)
    unit = np.maximum(grain.min(axis=1, initial=np.inf), 1.0)
    tolerance = UNITS_APART * unit * there.sum(axis=1)
    parts = value * signs
    off = parts.sum(axis=1)
    holds = np.abs(off) <= tolerance
    if identity.may_lack:
        without = off - parts[:, names.index(identity.may_lack)]
        holds |= np.abs(without) <= tolerance
    turned, power = _explained(value, signs, off, tolerance)
    turned &= there
    power = np.where(there, power, np.nan)
    explains = turned | ~np.isnan(power) | _stated_before(figures, place, value - signs * off[:, None], tolerance)
    company, seq = (column[place[:, 0]] for column in (figures.company, figures.seq))
    # with a positive cost; a negative one has the wrong sign, which the rules of signs judge
    exceeds = (value[:, -1] > value[:, 0] + tolerance) & (value[:, 0] >= 0) & (value[:, 1] >= 0)
    return Judged(
        identity=identity,
        at=place[:, 0],
        left=parts[:, :-1].sum(axis=1),
        right=value[:, -1],
        holds=holds,
        is_large=(np.abs(off) > identity.large * np.abs(value[:, 0])) | (_is_one_digit(off, unit) & identity.by_digit),
        is_established=_established(company, seq, holds) | (exceeds & identity.is_part),
        turned=turned[:, 0] & ~explains[:, 1:].any(axis=1),
        power=np.where(explains[:, 1:].any(axis=1), np.nan, power[:, 0]),
        elsewhere=explains[:, 1:].any(axis=1) & ~explains[:, 0],
        places=place[there],
    )


def _explained(value: Floats, signs: Floats, off: Floats, tolerance: Floats) -> tuple[Flags, Floats]:
    """For each line: whether the sides are equal with its sign reversed; and the power of ten with which they are."""
    needed = value - signs * off[:, None]
    turned = (np.abs(needed + value) <= tolerance[:, None]) & (np.abs(value) > tolerance[:, None])
    with np.errstate(divide="ignore", invalid="ignore"):
        power = power_of_thousand(needed / value, SAME_POWER)
    return turned, np.where(power == 0, np.nan, power)


def _is_one_digit(off: Floats, unit: Floats) -> Flags:
    """Whether a difference has one digit other than zero, and enough digits for that not to be chance."""
    units = np.abs(off) / unit
    with np.errstate(divide="ignore", invalid="ignore"):
        digit = units / 10.0 ** np.floor(np.log10(units))
    found: Flags = (np.abs(digit - np.round(digit)) < SAME_POWER) & (units >= FEWEST_UNITS)
    return found


def _stated_before(figures: Figures, place: Ints, needed: Floats, tolerance: Floats) -> Flags:
    """For each line, whether an earlier filing states the amount with which the sides are equal."""
    first = figures.first[place]
    is_again = (place >= 0) & (first != place)
    found: Flags = is_again & (np.abs(figures.value[first] - needed) <= tolerance[:, None])
    return found


def _established(company: Ints, seq: Ints, holds: Flags) -> Flags:
    """For each statement, whether the company's others satisfy the identity: those of this filing all, and of earlier
    filings nearly all."""
    if not len(holds):
        return holds
    filing = packed(company, seq)
    last = np.searchsorted(filing, filing, side="right") - 1
    first = np.searchsorted(filing, filing, side="left")
    of_company = np.searchsorted(company, company, side="left")

    def count(of: Flags, since: Ints) -> Ints:
        total = np.concatenate([[0], np.cumsum(of)])
        found: Ints = total[last + 1] - total[since]
        return found

    held, failed = count(holds, of_company), count(~holds, of_company) - ~holds
    failed_here = count(~holds, first) - ~holds
    found: Flags = (failed_here == 0) & (held >= FEWEST_STATEMENTS) & (held >= RARELY_FAILS * failed)
    return found


def proposals(figures: Figures) -> list[Proposal]:
    """Corrections of signs and scales that the totals of the same statement prove."""
    found = []
    for identity in IDENTITIES:
        each = judged(figures, identity)
        fails = ~each.holds & each.is_established
        turned, power = fails & each.turned, np.where(fails, each.power, np.nan)
        scaled = ~np.isnan(power) & ~turned
        found.append(Proposal(identity.sign, identity.evidence, each.at[turned], np.full(turned.sum(), -1.0)))
        found.append(Proposal(identity.scale, identity.evidence, each.at[scaled], 10.0 ** power[scaled]))
    return [proposal for proposal in (*found, *_of_cash(figures), *_of_investing(figures)) if len(proposal.at)]


def _of_cash(figures: Figures) -> list[Proposal]:
    """Cash that differs by one digit from the cash at the beginning of the period and the change in cash."""
    change = figures.of_concepts(("change_in_cash",))
    change = change[np.argsort(packed(figures.company[change], figures.seq[change]), kind="stable")]
    lines = [figures.of_concepts((name,)) for name in CASH_AT_THE_END]
    of_filing = np.concatenate([change, change, *lines])
    day = np.concatenate([figures.end[change], figures.start[change] - 1, *(figures.end[line] for line in lines)])
    key = packed(figures.company[of_filing], figures.seq[of_filing], day)
    at_end, at_begin, *of_lines = np.split(key, np.cumsum([len(change), len(change), *map(len, lines)])[:-1])
    found = []
    is_rolled = np.zeros(len(change), dtype=np.bool_)
    for line, of_line in zip(lines, of_lines, strict=True):
        order = np.argsort(of_line)
        last, first = (_places(of_line[order], line[order], keys) for keys in (at_end, at_begin))
        both = np.flatnonzero((last >= 0) & (first >= 0))
        last, first, of_change = last[both], first[both], change[both]
        off = figures.value[last] - figures.value[first] - figures.value[of_change]
        unit = np.maximum(np.minimum.reduce([figures.grain[each] for each in (last, first, of_change)]), 1.0)
        holds = np.abs(off) <= UNITS_APART * unit * len(CASH_AT_THE_END)
        is_wrong = ~holds & _established(figures.company[of_change], figures.seq[of_change], holds)
        is_wrong &= _is_one_digit(off, unit) & ~is_rolled[both]
        is_wrong &= figures.value[figures.first[first]] == figures.value[first]
        is_rolled[both] |= holds
        at = np.unique(last[is_wrong])
        found.append(Proposal(CHANGE_IN_CASH, BY_CHANGE, at, np.full(len(at), np.nan)))
    return found


def _of_investing(figures: Figures) -> tuple[Proposal, Proposal]:
    """Capital expenditure that is a fraction of an outflow that nothing explains, or counts equipment that is in it."""
    beside = SideBySide.of(figures, (SPENDING, OUTFLOW, REST, PLANT))
    spent = np.abs(beside.value[SPENDING])
    left = -beside.value[REST] - spent
    is_year = beside.end - beside.start >= DAYS_OF_YEAR
    holds = is_year & (left > UNEXPLAINED * spent) & (left > -LARGE_PART * beside.value[OUTFLOW])
    plant = beside.value[PLANT]
    foots = (np.abs(beside.value[REST] + plant) <= UNITS_APART) & (spent > plant + UNITS_APART) & (plant > 0)
    return (
        beside.propose(INVESTING, BY_OUTFLOW, SPENDING, holds & ~foots, np.nan),
        beside.propose(LEASED, BY_OUTFLOW_ALONE, SPENDING, foots, plant / beside.value[SPENDING]),
    )


def _places(keys: Ints, places: Ints, wanted: Ints) -> Ints:
    """The place of each wanted key among sorted keys; -1 if it is not there."""
    if not len(keys):
        return np.full(len(wanted), -1)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, places[at], -1)


FOOTINGS = pl.Schema(
    {
        "cik": pl.Int64(),
        "seq": pl.Int32(),
        "start": pl.Date(),
        "end": pl.Date(),
        "item": pl.String(),
        "rule": pl.String(),
        "outcome": pl.String(),
        "left_side": pl.Float64(),
        "right_side": pl.Float64(),
    }
)
"""One row a statement that an identity judged: the filing, the period, the item, and both sides as corrected."""


@dataclass(frozen=True, slots=True)
class Footing:
    """The judgements of all identities.

    left_out: places of contradicted figures in Figures, each once. rule: the identity that leaves out each.
    witnesses: places of the figures that were compared. judged: the statements of each identity.
    """

    left_out: Ints
    rule: tuple[Rule, ...]
    witnesses: Ints
    judged: tuple[Judged, ...]


def judgements(figures: Figures) -> Footing:
    """Judge all statements; a figure that satisfies one identity is not contradicted by another."""
    found = tuple(judged(figures, identity) for identity in IDENTITIES)
    proved = np.concatenate([each.at[each.holds] for each in found])
    left_out: dict[int, Rule] = {}
    for each in found:
        for at in each.at[each.contradicted & ~np.isin(each.at, proved)]:
            left_out.setdefault(int(at), each.identity.rule)
    places = np.array(sorted(left_out), dtype=np.int64)
    witnesses = np.unique(np.concatenate([each.places for each in found]))
    return Footing(places, tuple(left_out[int(at)] for at in places), witnesses, found)


def rows(found: Footing, figures: Figures, vintages: pl.DataFrame, repair: Floats) -> pl.DataFrame:
    """The judgements as rows of FOOTINGS.

    Args:
        found: of judgements. figures: what was judged. vintages: the frame of the figures.
        repair: the factor by which each figure was corrected.
    """
    parts = [FOOTINGS.to_frame()]
    for each in found.judged:
        is_left_out = each.contradicted & np.isin(each.at, found.left_out)
        told = np.flatnonzero(each.holds | is_left_out)
        outcome = np.select([is_left_out[told], repair[each.at[told]] != 1], [2, 1], 0)
        names = pl.Series([HOLDS, CORRECTED, WITHHELD_OUTCOME])
        parts.append(
            vintages[figures.row[each.at[told]]].select(
                "cik",
                "seq",
                "start",
                "end",
                item=pl.lit(each.identity.item),
                rule=pl.lit(each.identity.rule.id),
                outcome=names[outcome],
                left_side=each.left[told],
                right_side=each.right[told],
            )
        )
    return pl.concat(parts)
