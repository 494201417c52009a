"""Parts: leaves out figures that the same line's figures of other fiscal periods contradict.

Belongs here: a year that repeats the figure of a quarter, a period that is less than one of its parts, a balance that
repeats an earlier one. Does not: figures that differ from earlier statements of their own period (contexts), sums of
parts (ttm).

Only the same filing and earlier ones are used. Where a figure is left out, the period has the value of another filing,
or no value.
"""

import numpy as np
import polars as pl

from pipelines.normalize.arrays import (
    NOTHING,
    QUARTER_BITS,
    Flags,
    Floats,
    Ints,
    Timeline,
    floats,
    ints,
    key_of,
    picked,
)
from pipelines.normalize.corrections.contexts import FOUR_DIGITS, UNITS_OF_SUM
from pipelines.normalize.corrections.figures import RESTATED
from pipelines.normalize.corrections.ledger import withheld
from pipelines.normalize.elements import BY_NAME, NUMBER_OF
from pipelines.normalize.frames import CHOSE, PROOFS, WITHHELD_OUTCOME, counted
from pipelines.normalize.powers import EXACTLY
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.known import COMPANY_BITS, CONCEPT_BITS, QUARTERS_A_YEAR, SLOT, SPAN_BITS
from pipelines.normalize.ttm.windows import of_items

FIVE_DIGITS = 1e4
"""Two amounts of five digits in one filing are not equal by chance; a balance of five digits or more hardly ever equals
one of four earlier ones: 4 in 10,000 at most."""
EARNED = tuple(NUMBER_OF[name] for name in ("revenue", "net_income_parent", "net_income_common"))
"""Lines that are not zero in any quarter once a company has started its business."""
ROOM_OF_REVENUE = 1.0
"""Revenue is contradicted only by a part of its period that is more than twice as much: a bank's revenue is net of
losses on securities, so that revenue of a quarter can be negative."""
LARGEST_SPLIT = 50
"""A dividend per share that is a whole multiple of another one, up to fifty, may be on the share basis before a
split."""
OUTLIER = 3.0
"""A part is itself in doubt if its amount per quarter is more than three times the highest one of all other parts."""

REPEATS_QUARTER = Rule(
    "correction.parts.repeats-quarter",
    "A figure of several quarters that equals one of these quarters to the digit is left out as the quarter's, if "
    "another quarter has an amount too, or the same filing states an earlier quarter's revenue or net income so.",
    "Measured on 101 companies: of 46,375 filed figures of two to four quarters, only 17 repeat a quarter beside other "
    "quarters; all are dividends per share of a quarter in the context of a longer period",
    "withhold",
)
BELOW_PART = Rule(
    "correction.parts.below-part",
    "An amount that cannot be negative and is less than the amount of a part of its period is left out, unless it "
    "restates an earlier amount, the part is itself out of line, or two annual reports state it.",
    "Measured on 101 companies: about 40 of 46,375 filed figures of two to four quarters are below one of their parts; "
    "most are fiscal years of one company without the software that its quarters include in capital expenditure",
    "withhold",
)
REPEATS_BALANCE = Rule(
    "correction.parts.repeats-balance",
    "Cash of five digits or more that is stated for the first time is left out if it equals, to the digit, cash at "
    "one of the four quarter ends before, although total assets of the two dates differ.",
    "Measured on 101 companies: none of 11,798 filed figures of cash does so",
    "withhold",
)
OTHER_DAY = Rule(
    "correction.parts.other-day",
    "A balance of four digits or more that differs from the first statement of its date, and equals the balance of "
    "another quarter end within a year to the digit, belongs to that other date, and is left out.",
    "Measured on 101 companies: 31 of 90,000 filed balances do so, all of them errors of context",
    "withhold",
)

NET_SOURCES = tuple(
    rank
    for rank, source in enumerate(BY_NAME["capital_expenditure"].sources)
    if source.reservation == "net_of_disposals"
)
"""Ranks of the sources of capital expenditure that subtract disposals."""
_CAN_BE_NEGATIVE = np.array([concept.can_be_negative for concept in BY_NAME.values()])


class _Lines:
    """Figures on the fiscal grid as arrays, with look-ups of other periods as known after a filing."""

    def __init__(self, placed: pl.DataFrame) -> None:
        self.concept, self.q, self.n, self.seq, self.rank = (
            ints(placed, name) for name in ("concept", "q", "n", "seq", "rank")
        )
        self.value, self.grain = (floats(placed, name) for name in ("value", "grain"))
        self.company = np.unique(ints(placed, "cik"), return_inverse=True)[1]
        slot = self.slot(np.arange(placed.height), self.q, self.n, self.concept)
        self.timeline = Timeline(slot, self.seq)
        self.first = self.timeline.since(slot, np.zeros_like(self.seq))
        """For each figure, the row of the first statement of its period."""

    def slot(self, at: Ints, q: Ints, n: Ints, concept: Ints) -> Ints:
        """Keys of periods for look-ups: company of each given figure, concept, last quarter, number of quarters."""
        return key_of((self.company[at], COMPANY_BITS), (concept, CONCEPT_BITS), (q, QUARTER_BITS), (n, SPAN_BITS))

    def row(self, at: Ints, q: Ints, n: Ints | int, concept: int | None = None, *, is_before: bool = False) -> Ints:
        """For each given figure, the row of another period as known after its filing; NOTHING if there is none.

        Args:
            at: rows of the figures.
            q, n: the quarter in which the other period ends, and its quarters; nothing is found for n below zero.
            concept: number of the line in elements.AMOUNT; the figure's own by default.
            is_before: look up what was known before the filing.
        """
        line = self.concept[at] if concept is None else np.full(len(at), concept)
        slot = self.slot(at, q, np.broadcast_to(n, q.shape), line)
        return self.timeline.after(slot, self.seq[at] - is_before)

    def known(self, at: Ints, q: Ints, n: Ints | int, concept: int | None = None) -> Floats:
        """For each given figure, the amount of another period as known after its filing; NaN if there is none."""
        return picked(self.value, self.row(at, q, n, concept))


def without_contradicted(placed: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Leave out figures that the same line's figures of other periods contradict.

    Args:
        placed: of periods.calendar.on_grid: `cik`, `concept`, `q`, `n`, `seq`, `value`, `grain`, `measure_sign`.

    Returns:
        placed: without these figures.
        withheld: frames.WITHHELD: the items that may have no value for this reason.
        proofs: frames.PROOFS: `left_side` is the figure, `right_side` the amount that contradicts it.
        decisions: frames.DECISIONS.
    """
    lines = _Lines(placed)
    found = [*_contradicted_flows(lines, ints(placed, "measure_sign")), *_repeated_balances(lines)]
    cik = ints(placed, "cik")
    decisions = counted([(rule, cik[at]) for rule, at, _ in found])
    left_out = pl.concat(
        placed[at].select(*SLOT, "seq", left_side="value", right_side=pl.Series(by), rule=pl.lit(rule.id))
        for rule, at, by in found
    )
    left_out = of_items(left_out).with_columns(reason=pl.lit("contradicted_by_parts"))
    sound = placed.filter(~np.isin(np.arange(placed.height), np.concatenate([at for _, at, _ in found])))
    windows = withheld(left_out, pl.col("n") == 0)
    return sound, windows, _proofs(left_out, sound.select(*SLOT, "seq")), decisions


def _proofs(left_out: pl.DataFrame, sound: pl.DataFrame) -> pl.DataFrame:
    """Proofs of the figures that are left out; each ends when a later filing states a sound figure of the period."""
    of_figure = [*SLOT, "seq"]
    other = pl.col("seq_sound")
    bounds = (
        left_out.join(sound, on=SLOT, suffix="_sound")
        .group_by(of_figure)
        .agg(has_earlier=(other < pl.col("seq")).any(), next=other.filter(other > pl.col("seq")).min())
    )
    wrong = left_out.join(bounds, on=of_figure, how="left", maintain_order="left").with_columns(
        outcome=pl.when("has_earlier").then(pl.lit(CHOSE)).otherwise(pl.lit(WITHHELD_OUTCOME))
    )
    ends = wrong.drop_nulls("next").select(*SLOT, "item", "rule", seq="next")
    return (
        pl.concat([wrong, ends], how="diagonal")
        .sort("outcome", nulls_last=True, maintain_order=True)
        .unique(["cik", "q", "item", "seq", "rule"], keep="first", maintain_order=True)
        .select(PROOFS.names())
    )


def _contradicted_flows(lines: _Lines, measure_sign: Ints) -> list[tuple[Rule, Ints, Floats]]:
    """Figures that repeat one of their quarters or are below a part: rule, rows and contradicting amounts."""
    is_longer = (lines.n > 1) & (measure_sign <= 0) & (lines.value != 0)
    # only a figure that equals some quarter's figure can repeat it
    is_asked = np.isin(lines.value, lines.value[lines.n == 1]) | ~_CAN_BE_NEGATIVE[lines.concept]
    longer = np.flatnonzero(is_longer & is_asked)
    q, n = lines.q[longer], lines.n[longer]
    quarters = np.array(
        [lines.known(longer, q - back, np.where(n > back, 1, NOTHING)) for back in range(QUARTERS_A_YEAR)]
    )
    by = _repeated_quarter(lines, longer, quarters)
    repeats = REPEATS_QUARTER.where(~np.isnan(by))
    part = _larger_part(lines, longer[~repeats], quarters[:, ~repeats])
    below = BELOW_PART.where(~np.isnan(part))
    return [
        (REPEATS_QUARTER, longer[repeats], by[repeats]),
        (BELOW_PART, longer[~repeats][below], part[below]),
    ]


def _repeated_quarter(lines: _Lines, longer: Ints, quarters: Floats) -> Floats:
    """For figures that repeat one of their quarters, the amount of another quarter as proof; NaN for other figures."""
    found = np.full(len(longer), np.nan)
    for back, quarter in enumerate(quarters):
        asked = np.flatnonzero(_equal(quarter, lines.value[longer]))
        at = longer[asked]
        value, grain, n = lines.value[at], lines.grain[at], lines.n[at]
        # revenue and income of the other quarters are not all zero, unless the newest quarter is the company's first
        # one
        is_earned = np.isin(lines.concept[at], EARNED) & (np.abs(value) >= FIVE_DIGITS * grain) & (back > 0)
        is_of_filing = picked(lines.seq, lines.row(at, lines.q[at] - back, 1)) == lines.seq[at]
        found[asked] = np.where(is_earned & is_of_filing, value, found[asked])
        before = n - 1 - back
        to_date = lines.known(at, lines.q[at] - back - 1, np.where(before > 0, before, NOTHING))
        # the year to date and the last quarter are the whole period, which cannot equal the last quarter if the year to
        # date has an amount
        is_rest = (np.abs(to_date) > UNITS_OF_SUM * grain) & (back == 0)
        has_digits = (np.abs(value) >= FOUR_DIGITS * grain) | is_rest
        for rate in (*np.delete(quarters, back, axis=0)[:, asked], to_date / np.maximum(before, 1)):
            is_other_amount = has_digits | (~_CAN_BE_NEGATIVE[lines.concept[at]] & (rate > 0))
            # otherwise the quarter is wrong, which states the figure of the longer period
            is_of_quarter = np.abs(value - rate) < np.abs(value / n - rate)
            found[asked] = np.where((rate != 0) & is_other_amount & is_of_quarter, rate, found[asked])
    return found


def _larger_part(lines: _Lines, longer: Ints, quarters: Floats) -> Floats:
    """For figures that are less than a part of their period, the largest part; NaN for other figures."""
    concept, q, n, first = (column[longer] for column in (lines.concept, lines.q, lines.n, lines.first))
    value = lines.value[longer]
    is_first_amount = np.abs(value - lines.value[first]) <= RESTATED * np.abs(lines.value[first])
    is_capex = concept == NUMBER_OF["capital_expenditure"]
    # payments net of disposals may be less in a longer period
    is_net = is_capex & np.isin(lines.rank[longer], NET_SOURCES)
    # a second annual report with the same amount confirms a fiscal year: its quarters follow another definition
    is_confirmed = (n == QUARTERS_A_YEAR) & (first != longer)
    is_asked = ~_CAN_BE_NEGATIVE[concept] & is_first_amount & ~is_net & ~is_confirmed
    spans = np.array([1] * QUARTERS_A_YEAR + [2, 3])[:, None]
    to_date = [lines.known(longer, q - n + span, np.where(n > span, span, NOTHING)) for span in (2, 3)]
    parts = np.concatenate([quarters, to_date])
    # operating cash flow of the period, of its fiscal year, and of the year before
    year = np.full(len(n), QUARTERS_A_YEAR)
    periods = ((q, n), (q - n + year, year), (q - n, year))
    flows = [lines.known(longer, end, span, NUMBER_OF["operating_cash_flow"]) for end, span in periods]
    share = np.where(concept == NUMBER_OF["revenue"], ROOM_OF_REVENUE, RESTATED)
    room = np.maximum(UNITS_OF_SUM * lines.grain[longer], share * np.abs(value))
    # a difference is small if it changes free cash flow by less than this share of operating cash flow
    room = np.maximum(room, is_capex * RESTATED * np.abs(np.nan_to_num(flows)).max(axis=0))
    is_above, parts = parts > value + room, np.nan_to_num(parts)
    highest, of_others = (np.where(holds, parts / spans, 0).max(axis=0) for holds in (is_above, ~is_above))
    is_in_doubt = (is_above.sum(axis=0) == 1) & (of_others > 0) & (highest > OUTLIER * of_others)
    # dividends of the parts may be on the share basis before a split that nothing else shows
    largest = parts.max(axis=0)
    times = largest / value
    is_split = (concept == NUMBER_OF["dividends_per_share"]) & (times < LARGEST_SPLIT)
    is_split &= np.abs(times - np.rint(times)) < RESTATED * times
    return np.where(is_asked & is_above.any(axis=0) & ~is_in_doubt & ~is_split, largest, np.nan)


def _repeated_balances(lines: _Lines) -> list[tuple[Rule, Ints, Floats]]:
    """Cash that repeats the cash of an earlier quarter end, and restated balances of another quarter end."""
    is_first = lines.first == np.arange(len(lines.first))
    is_restated = np.abs(lines.value - lines.value[lines.first]) > RESTATED * np.abs(lines.value[lines.first])
    size = np.abs(lines.value) / lines.grain
    is_cash = lines.concept == NUMBER_OF["cash"]
    cash = np.flatnonzero((lines.n == 0) & is_cash & is_first & (size >= FIVE_DIGITS))
    restated = np.flatnonzero((lines.n == 0) & is_restated & (size >= FOUR_DIGITS))
    repeats, repeats_other = (np.zeros(len(rows), dtype=np.bool_) for rows in (cash, restated))
    assets = lines.known(cash, lines.q[cash], 0, NUMBER_OF["total_assets"])
    for back in range(1, QUARTERS_A_YEAR + 1):
        earlier = picked(lines.value, lines.row(cash, lines.q[cash] - back, 0, is_before=True))
        assets_then = lines.known(cash, lines.q[cash] - back, 0, NUMBER_OF["total_assets"])
        repeats |= _equal(earlier, lines.value[cash]) & ~_equal(assets_then, assets)
        for other in (-back, back):
            repeats_other |= _equal(lines.known(restated, lines.q[restated] + other, 0), lines.value[restated])
    repeating, of_other = cash[REPEATS_BALANCE.where(repeats)], restated[OTHER_DAY.where(repeats_other)]
    return [
        (REPEATS_BALANCE, repeating, lines.value[repeating]),
        (OTHER_DAY, of_other, lines.value[lines.first[of_other]]),
    ]


def _equal(one: Floats, other: Floats) -> Flags:
    """Whether two amounts are equal to the digit; false if one of them is missing."""
    return abs(one - other) <= EXACTLY * abs(other)
