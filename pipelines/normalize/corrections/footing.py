"""Footing: corrects or leaves out figures that the totals of their own statement contradict.

Belongs here: the identities between the lines of an income statement or a cash flow statement of one filing and period,
and the corrections where a statement fails an identity that the company's other statements satisfy. Does not: income
against earnings per share and tax (scale, signs), balance sheets (balance), other filings of the period (scale, signs,
contexts).

Only the same filing and earlier ones are used, so that what was known on a day does not depend on later filings.
"""

from dataclasses import dataclass, replace

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, Ints, picked
from pipelines.normalize.corrections.contexts import FOUR_DIGITS
from pipelines.normalize.corrections.figures import A_YEAR, FEWEST_OTHERS, Figures, PeriodRows, Proposal
from pipelines.normalize.elements import BY_NAME
from pipelines.normalize.powers import NEAR_STATED, power_of_thousand
from pipelines.normalize.rule import Rule

LARGE_LINE = 0.2
"""Lines of the filer's own between the terms (cash of businesses held for sale, an impairment, other revenue) are below
this share of operating cash flow or revenue, in companies whose other statements foot: UnitedHealth 2024 has 0.9 %,
Coca-Cola 2017 0.1 %, Procter & Gamble 2019 12 %."""
RARELY_FAILS = 0.9
"""An identity counts for a company if at least this share of its other statements satisfy it: statements of filers with
lines of their own fail again and again. Rounding changes a total by at most a unit of each line; measured on 3,440 cash
flow statements: 97 % foot within this, and all but 5 of the others are of two filers without any statement that
foots."""
FEWEST_UNITS = 10
"""If two sides differ in one digit alone, by at least so many units (such as 30 or 40,000), the digit is mistyped.
Measured: no such difference in 4,258 cash flow statements and 4,600 changes in cash of companies whose other statements
foot."""
UNEXPLAINED = 5
"""The part of an investing outflow that no element explains is large if it is more than this multiple of capital
expenditure, and more than LARGE_PART of the outflow."""
LARGE_PART = 0.5
"""The share of an investing outflow above which its unexplained part is large. Measured on 443 years of 228 companies:
three, Atlas Air's of 2011 to 2013, which paid for its aircraft under an element of its own. If UNEXPLAINED were one,
there would be eight more, three of them acquisitions under elements of the filer's own. Years only: two of the three
interim statements that would be left out have acquisitions or purchases of securities under elements of the filer's
own."""

STATEMENT_OF_CASH_FLOWS = (
    "ASC 230-10-45-24: the statement reports net cash of the three activities, and its effect on cash"
)
MULTIPLE_STEP = "Regulation S-X Rule 5-03: the income statement leads from revenue to income"

CASH_FLOW = Rule(
    "identity.cash-flow.activities-and-change-in-cash",
    "Operating, investing and financing cash flow and the effect of exchange rates add up to the change in cash; if "
    "a statement fails this although the company's other statements foot, operating cash flow is left out.",
    STATEMENT_OF_CASH_FLOWS,
    "withhold",
)
GROSS_PROFIT = Rule(
    "identity.revenue.cost-and-gross-profit",
    "Revenue less its cost is gross profit; if a statement fails this although the company's other statements foot, "
    "revenue is left out. So is revenue below gross profit, because no cost explains it.",
    MULTIPLE_STEP,
    "withhold",
)
COSTS = Rule(
    "identity.revenue.costs-and-operating-income",
    "Revenue less the total of costs and expenses is operating income; if a statement fails this although the "
    "company's other statements foot, revenue is left out.",
    MULTIPLE_STEP,
    "withhold",
)
BY_TOTAL = Rule(
    "correction.total.sign-and-scale",
    "If a statement does not foot, although the company's others do, operating cash flow or revenue is multiplied by "
    "a power of a thousand, or its sign reversed, so that it foots, unless another line could be corrected instead.",
    f"{STATEMENT_OF_CASH_FLOWS}; {MULTIPLE_STEP}",
    "correct",
)
CHANGE_IN_CASH = Rule(
    "identity.cash.change-in-period",
    "Cash at a period's end less cash at its beginning is the change in cash; cash that differs from this in one "
    "digit is left out if the company's other statements foot and no other line of cash does.",
    "ASC 230-10-45-4: the cash flow statement reconciles cash at the beginning and at the end of the period",
    "withhold",
)
INVESTING = Rule(
    "identity.cash-flow.investing-explained",
    "A year's capital expenditure is left out if the part of the investing outflow that neither it nor other stated "
    f"payments explain is more than {UNEXPLAINED} times as much, and more than {LARGE_PART:.0%} of the outflow.",
    "ASC 230-10-45-13 and 230-10-45-26: payments for productive assets are lines of investing activities",
    "withhold",
)
LEASED = Rule(
    "correction.total.plant-without-leased",
    "If payments for property, plant and equipment and the other payments for investing add up to investing cash "
    "flow, they alone are capital expenditure: payments for equipment leased to others are then not a further line.",
    STATEMENT_OF_CASH_FLOWS,
    "correct",
)


@dataclass(frozen=True, slots=True)
class Identity:
    """One identity between the lines of a statement: the signed sum of the terms is zero.

    rule: the rule that leaves out a figure which contradicts the identity.
    item: the line item of the judged figure, whose concept is the first term.
    reason: the reason of the gap where the figure is left out.
    terms: concepts and their signs; the last one is the total.
    by_digit: whether a difference in one digit alone is a contradiction, too.
    is_part: whether the total is a part of the judged figure, so that it is never larger. Measured: gross profit is not
        above revenue in any of 4,716 statements of 150 companies, and wrong in the three of 492 in which it is.
    composed: the source of the judged figure that computes it from the other lines.
    """

    rule: Rule
    item: str
    reason: str
    terms: dict[str, float]
    by_digit: bool = False
    is_part: bool = False
    composed: str = ""


EFFECT = "exchange_effect"
IDENTITIES = (
    Identity(
        CASH_FLOW,
        "free_cash_flow",
        "cash_flow_not_footing",
        {
            "operating_cash_flow": 1.0,
            "investing_cash_flow": 1.0,
            "financing_cash_flow": 1.0,
            EFFECT: 1.0,
            "change_in_cash": -1.0,
        },
        by_digit=True,
    ),
    Identity(
        GROSS_PROFIT,
        "revenue",
        "income_not_footing",
        {"revenue": 1.0, "cost_of_revenue": -1.0, "gross_profit": -1.0},
        is_part=True,
        composed="revenue.cost-and-gross-profit",
    ),
    Identity(
        COSTS,
        "revenue",
        "income_not_footing",
        {"revenue": 1.0, "operating_costs": -1.0, "operating_income": -1.0},
        composed="revenue.costs-and-operating-income",
    ),
)

CASH_AT_THE_END = ("cash_of_flows", "cash")
"""Concepts of cash at an instant: cash of the cash flow statement first, then the lines of the balance sheet."""
SPENDING, OUTFLOW, UNEXPLAINED_INVESTING, PLANT = (
    "capital_expenditure",
    "investing_cash_flow",
    "investing_without_payments",
    "plant_beside_leased",
)
BY_OUTFLOW = "investing cash flow of the same filing"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of one identity for the figures of an item, one row a filing and period.

    rule, item: of the identity.
    at: index of the judged figure in Figures.
    left, right: the two sides; NaN where a line is missing.
    holds: whether they are equal.
    factor: multiplied by it, the judged figure makes both sides equal; NaN if no factor is proven.
    contradicted: whether the judged figure is wrong, and no line of the statement explains it.
    """

    rule: Rule
    item: str
    at: Ints
    left: Floats
    right: Floats
    holds: Flags
    factor: Floats
    contradicted: Flags


def compare_statements(figures: Figures) -> list[Comparison]:
    """Compare all statements with each identity; a figure that satisfies one identity is contradicted by no other."""
    found = [compare_sides(figures, identity) for identity in IDENTITIES]
    proved = np.concatenate([each.at[each.holds] for each in found])
    return [replace(each, contradicted=each.contradicted & ~np.isin(each.at, proved)) for each in found]


def compare_sides(figures: Figures, identity: Identity) -> Comparison:
    """Compare both sides of an identity in each statement, and judge the figure that is its first term.

    A statement fails if its sides differ by more than rounding although those of the company's other statements are
    equal, or if the total exceeds a figure of which it is a part. If a factor of the judged figure, and of no other
    line, makes the sides equal, it is the correction. If no factor of any line does, and the difference is large, the
    figure is contradicted.

    Args:
        figures: all figures.
        identity: the identity. The effect of exchange rates counts as zero if it is not stated.

    Returns:
        one row a filing and period; nothing is judged where a line is missing.
    """
    names = tuple(identity.terms)
    rows = PeriodRows.of(figures, names)
    signs = np.array([*identity.terms.values()])[:, None]
    place = np.array([rows.index[name] for name in names])
    value, unit = np.array([rows[name] for name in names]), _unit(figures, place)
    # the effect of exchange rates counts as zero if it is not stated, and some totals leave it out
    of_effect = np.array(names) == EFFECT
    effect = np.nan_to_num(value[of_effect])
    value[of_effect] = effect
    # revenue that is computed from the other lines equals them by definition
    ranks = [rank for rank, source in enumerate(BY_NAME[names[0]].sources) if source.rule == identity.composed]
    value[0, rows.is_of(names[0], tuple(ranks))] = np.nan
    off, tolerance = (signs * value).sum(axis=0), unit * (place >= 0).sum(axis=0)
    known = identity.rule.where(~np.isnan(off))
    holds = known & ((np.abs(off) <= tolerance) | (np.abs(off - effect.sum(axis=0)) <= tolerance))
    factors = _factors(value, value - signs * off, tolerance)
    # the error may also be in another line, if another scale or sign of it makes the sides equal
    is_factor_of_others = (~np.isnan(factors[1:])).any(axis=0)
    is_usual = rows.usually_holds(known, holds, FEWEST_OTHERS, RARELY_FAILS)
    # only with a positive cost: a negative one has the wrong sign, which the rules of signs judge
    exceeds = identity.is_part & (value[-1] > value[0] + tolerance) & (value[:2] >= 0).all(axis=0)
    is_large = np.abs(off) > LARGE_LINE * np.abs(value[0])
    is_large |= _is_one_digit(off, unit) & identity.by_digit
    fails = known & ~holds & (is_usual | exceeds)
    factor = np.where(fails & ~is_factor_of_others, factors[0], np.nan)
    contradicted = fails & is_large & ~is_factor_of_others & np.isnan(factor)
    return Comparison(
        rule=identity.rule,
        item=identity.item,
        at=place[0],
        left=off + value[-1],
        right=value[-1],
        holds=holds,
        factor=factor,
        contradicted=contradicted,
    )


def _unit(figures: Figures, place: Ints) -> Floats:
    """The unit to which the most precise of the given figures is rounded, at least 1."""
    unit: Floats = np.fmax(np.fmin.reduce(picked(figures.grain, place)), 1.0)
    return unit


def _factors(value: Floats, needed: Floats, tolerance: Floats) -> Floats:
    """For each line, the factor (a sign or a power of a thousand) that makes the sides equal; NaN if there is none.

    Args:
        value: the amounts, one row a line.
        needed: for each line the amount that makes the sides equal.
        tolerance: the largest difference of equal sides.
    """
    turned = (np.abs(needed + value) <= tolerance) & (np.abs(value) > tolerance)
    power = power_of_thousand(needed / value, NEAR_STATED)
    return np.where(turned, -1.0, np.where(power == 0, np.nan, 10.0**power))


def _is_one_digit(off: Floats, unit: Floats) -> Flags:
    """Whether a difference has a single digit other than zero, and is too large to have it by chance."""
    units = np.abs(off) / unit
    digit = units / 10.0 ** np.floor(np.log10(units))
    found: Flags = (np.abs(digit - np.round(digit)) < 1 / FOUR_DIGITS) & (units >= FEWEST_UNITS)
    return found


def proposals(figures: Figures) -> list[Proposal]:
    """Corrections of sign and scale that totals of the statement prove; cash and spending that totals contradict."""
    found = [compare_sides(figures, identity) for identity in IDENTITIES]
    known = [(each, np.flatnonzero(~np.isnan(each.factor))) for each in found]
    by_total = [
        Proposal(BY_TOTAL, "the other lines of the statement", each.at[at], each.factor[at]) for each, at in known
    ]
    return [*by_total, *_proposals_for_cash(figures), *_proposals_for_capital_expenditure(figures)]


def _proposals_for_cash(figures: Figures) -> list[Proposal]:
    """Leave out cash that differs in one digit from cash at the beginning of the period plus the change in cash."""
    rows = PeriodRows.of(figures, ("change_in_cash",))
    found, is_rolled = [], np.zeros(len(rows.seq), dtype=np.bool_)
    for line in CASH_AT_THE_END:
        place = np.array(
            [rows.balance(line, rows.end), rows.balance(line, rows.start - 1), rows.index["change_in_cash"]]
        )
        end, begin, change = picked(figures.value, place)
        off, unit = end - begin - change, _unit(figures, place)
        off[(picked(figures.seq, place) != rows.seq).any(axis=0)] = np.nan
        holds = np.abs(off) <= unit * len(CASH_AT_THE_END)
        is_wrong = ~holds & rows.usually_holds(~np.isnan(off), holds, FEWEST_OTHERS, RARELY_FAILS)
        is_wrong &= _is_one_digit(off, unit) & ~is_rolled
        is_rolled |= holds
        evidence = "cash at the beginning of the period and the change in cash of the same filing"
        found.append(Proposal(CHANGE_IN_CASH, evidence, np.unique(place[0][is_wrong])))
    return found


def _proposals_for_capital_expenditure(figures: Figures) -> tuple[Proposal, Proposal]:
    """Leave out capital expenditure far below an unexplained outflow; do not add leased equipment to it twice."""
    rows = PeriodRows.of(figures, (SPENDING, OUTFLOW, UNEXPLAINED_INVESTING, PLANT))
    spent, plant, rest = np.abs(rows[SPENDING]), rows[PLANT], rows[UNEXPLAINED_INVESTING]
    is_year = rows.end - rows.start >= A_YEAR[0]
    holds = is_year & (-rest - spent > np.maximum(UNEXPLAINED * spent, -LARGE_PART * rows[OUTFLOW]))
    foots = (np.abs(rest + plant) <= 1) & (spent > plant + 1) & (plant > 0)
    return (
        rows.propose(INVESTING, f"{BY_OUTFLOW}, of which no element explains most", SPENDING, holds & ~foots, np.nan),
        rows.propose(LEASED, f"{BY_OUTFLOW}, to which the other lines add up", SPENDING, foots, plant / rows[SPENDING]),
    )
