"""The frames that pass between the steps of the pipeline: their columns, types, units and keys.

Belongs here: the declaration of each frame between two steps. Does not: how it is made (the steps).

One name has one meaning in all frames: `cik` is the SEC's Central Index Key as a number, `seq` the place of a filing
among its company's filings, `q` the number of a quarter on its company's fiscal calendar, `concept` an amount that
filings state or that is composed of what they state, `vintage` one such amount as one filing states it.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import dataframely as dy
import numpy as np
import numpy.typing as npt
import polars as pl

from pipelines.normalize.elements import AMOUNT
from pipelines.normalize.rule import Rule

CIK_DIGITS = 10


class FrameError(Exception):
    """A step made a frame that differs from its declaration; the message names the step, the frame and the column."""


def with_ten_digits(table: pl.DataFrame) -> pl.DataFrame:
    """A table with `cik` as published, text of ten digits; between the steps it is a number."""
    return table.with_columns(pl.col("cik").cast(pl.String).str.zfill(CIK_DIGITS))


DECISIONS = pl.Schema({"cik": pl.Int64(), "rule": pl.String(), "figures": pl.UInt32()})
"""The number of decisions of each rule of a step for a company; key `cik`, `rule`."""


WITHHELD = pl.Schema(
    {"cik": pl.Int64(), "q": pl.Int32(), "item": pl.String(), "reason": pl.String(), "rule": pl.String()}
)
"""Items of a quarter end that a rule withholds; key `cik`, `q`, `item`, `reason`."""


PROOFS = pl.Schema(
    {
        "cik": pl.Int64(),
        "q": pl.Int32(),
        "item": pl.String(),
        "seq": pl.Int32(),
        "rule": pl.String(),
        "outcome": pl.String(),
        "left_side": pl.Float64(),
        "right_side": pl.Float64(),
    }
)
"""Judgements of an item of a quarter end by an identity; each holds from filing `seq` until the rule's next one.

`outcome` is one of OUTCOMES, or null if the identity can no longer be compared."""

HOLDS, CHOSE, CORRECTED, WITHHELD_OUTCOME = OUTCOMES = ("holds", "chose", "corrected", "withheld")
"""holds: the value satisfies the identity; chose: it was chosen because it does; corrected: the identity proved a filed
figure wrong, and it was corrected; withheld: the identity contradicts the value, which is therefore not served."""


def counted(decided: Iterable[tuple[Rule, npt.NDArray[Any]]]) -> pl.DataFrame:
    """Decisions of a step: columns of DECISIONS.

    Args:
        decided: each rule with the CIK of every figure, window or filing that it decided; a rule may come up again.
    """
    of_rule: dict[str, list[npt.NDArray[Any]]] = {}
    for rule, ciks in decided:
        if len(ciks):
            of_rule.setdefault(rule.id, []).append(ciks)
    rows: list[tuple[int, str, int]] = []
    for name, parts in of_rule.items():
        companies, counts = np.unique(np.concatenate(parts), return_counts=True)
        rows += [(int(cik), name, int(count)) for cik, count in zip(companies, counts, strict=True)]
    return pl.DataFrame(rows, schema=DECISIONS, orient="row")


class Declared:
    """The declaration of a frame, and the check against it."""

    def __init__(self, name: str, schema: type[dy.Schema]) -> None:
        """Declare a frame.

        Args:
            name: its name in the steps.
            schema: its columns; the docstring says what one row is.
        """
        self.name = name
        self.schema = schema

    @cached_property
    def types(self) -> pl.Schema:
        """The columns and their types."""
        return self.schema.create_empty().schema

    @cached_property
    def empty(self) -> pl.DataFrame:
        """The frame without rows."""
        return self.types.to_frame()

    @cached_property
    def _columns(self) -> tuple[list[str], list[pl.DataType]]:
        """The types as a frame gives them; lists are compared in a tenth of the time of schemas."""
        return self.types.names(), self.types.dtypes()

    def checked(self, frame: pl.DataFrame, step: str, *, validate: bool = False) -> pl.DataFrame:
        """The frame with its columns in the declared order.

        Args:
            frame: what a step made.
            step: the name of the step, for the message.
            validate: also check keys and missing values.

        Raises:
            FrameError: a column is missing, has another type, or is not declared; a key is not unique; a required value
                is missing.
        """
        if (frame.columns, frame.dtypes) != self._columns:
            self._compare(dict(frame.schema), step)
            frame = frame.select(self.types.names())
        if validate:
            try:
                self.schema.validate(frame)
            except dy.exc.ValidationError as error:
                raise FrameError(f"step {step!r} made {self.name!r}: {error}") from error
        return frame

    def _compare(self, types: dict[str, pl.DataType], step: str) -> None:
        wrong = [
            f"{name} is {types.get(name, 'missing')}, expected {expected}"
            for name, expected in self.types.items()
            if types.get(name) != expected
        ]
        wrong += [f"{name} is not declared" for name in types if name not in self.types]
        if wrong:
            raise FrameError(f"step {step!r} made {self.name!r}: {'; '.join(wrong)}")


# --- Facts ------------------------------------------------------------------------------------------------------


class Reports(dy.Schema):
    """One row a fact of a periodic or current report, as filed."""

    cik = dy.Int64()
    taxonomy = dy.String(description="us-gaap or ifrs-full")
    tag = dy.String(description="element name")
    unit = dy.String(description="as filed: a currency, shares, or a currency per share")
    start = dy.Date(nullable=True, description="first day of a duration; null for an instant")
    end = dy.Date(description="last day of a duration, or the instant")
    value = dy.Float64(description="in the unit, unscaled")
    accession = dy.String(description="accession number of the filing")
    fy = dy.Int32(nullable=True, description="fiscal year of the filing, not of the fact")
    form = dy.String(description="form type")
    filed = dy.Date(description="filing date")
    amended = dy.Bool(description="whether the filing is an amendment")
    form_family = dy.String(description="form type without the suffix of amendments")
    currency = dy.String(nullable=True, description="ISO 4217; null for shares")
    measure = dy.Enum(["money", "per_share", "shares"])


class Currencies(dy.Schema):
    """One row a company: the currency of its books."""

    cik = dy.Int64(primary_key=True)
    currency = dy.String(description="ISO 4217")


class Facts(Reports):
    """One row a fact in the reporting currency or in shares, in the order of filing."""

    seq = dy.Int32(min=0)


class Industries(dy.Schema):
    """One row a filing: the industry of the filer, and the rule that found it."""

    cik = dy.Int64(primary_key=True)
    seq = dy.Int32(primary_key=True)
    industry = dy.String()
    rule = dy.String()


class Stated(dy.Schema):
    """One row a filing, concept and period: the amount of its best source."""

    vintage = dy.UInt32(primary_key=True)
    cik = dy.Int64()
    seq = dy.Int32()
    start = dy.Date(nullable=True)
    end = dy.Date()
    concept = dy.Enum(AMOUNT.categories)
    rank = dy.Int16(description="place of the source among those of the concept")
    value = dy.Float64(description="units of the currency, shares, or currency per share")
    grain = dy.Float64(description="the power of ten to which the value is rounded")
    filed = dy.Date()
    periodic = dy.Bool(description="whether the filing is a periodic report")
    amended = dy.Bool()
    used = dy.Int64(description="the source and its present elements (facts.matching.elements_of)")
    other_source = dy.Bool(description="whether the source is, for this company, another amount than the best source")


class StatedFacts(dy.Schema):
    """One row a filed fact of a vintage."""

    vintage = dy.UInt32()
    tag = dy.String(description="taxonomy and element")
    fact = dy.UInt32(description="row number of `facts`")
    coefficient = dy.Float64(description="factor of the fact in the vintage: 1 or -1")


class Statements(Stated):
    """The vintages that count, and whether a share basis multiplies or divides them."""

    measure_sign = dy.Int8(is_in=[-1, 0, 1], description="money 0, shares 1, amounts per share -1")


# --- Corrections ------------------------------------------------------------------------------------------------


class Sound(Statements):
    """The vintages after the correction of errors of scale, sign and context."""

    repair = dy.Float64(description="factor that corrected an error of scale or sign; 1 without error")
    corrected_by = dy.String(nullable=True, description="the rule that corrected or derived the value")
    foots = dy.Bool(description="whether an identity of its statement holds with the value")


class Corrections(dy.Schema):
    """One row a figure that was corrected or left out."""

    cik = dy.Int64()
    seq = dy.Int32()
    concept = dy.Enum(AMOUNT.categories)
    start = dy.Date(nullable=True)
    end = dy.Date()
    kind = dy.String(description="scale, sign, context, total or doubt")
    filed_value = dy.Float64()
    value = dy.Float64(nullable=True, description="the corrected value; null if the figure is left out")
    evidence = dy.String()
    rule = dy.String()


class Footings(dy.Schema):
    """One row a statement of a filing and period that an identity judged."""

    cik = dy.Int64()
    seq = dy.Int32()
    start = dy.Date()
    end = dy.Date()
    item = dy.String(description="the item whose figure is judged")
    rule = dy.String(description="the identity")
    outcome = dy.String(description="one of OUTCOMES")
    left_side = dy.Float64()
    right_side = dy.Float64()


class Repairs(dy.Schema):
    """The ledger of corrections as published: columns of Corrections, with the accession number of the filing."""

    cik = dy.Int64()
    concept = dy.String()
    start = dy.Date(nullable=True)
    end = dy.Date()
    kind = dy.String()
    filed_value = dy.Float64()
    value = dy.Float64(nullable=True)
    evidence = dy.String()
    rule = dy.String()
    accession = dy.String()


# --- Periods and shares -----------------------------------------------------------------------------------------


class Regimes(dy.Schema):
    """One row a filing: the entity whose figures it shows, and its accounting standards."""

    cik = dy.Int64(primary_key=True)
    seq = dy.Int32(primary_key=True)
    is_ifrs = dy.Bool(description="whether most of its facts are of IFRS")
    regime = dy.Int32(description="the same number for filings whose figures may be added up")
    entity = dy.Int32(description="the same number for filings of one economic entity")
    entity_rule = dy.String(nullable=True, description="the rule by which the filing shows another entity")


class Vintages(Sound):
    """The vintages with the regime of their filing."""

    regime = dy.Int32()


class Grid(dy.Schema):
    """One row a quarter end of a company; the first is the day before its first fiscal year, which is not a period."""

    cik = dy.Int64(primary_key=True)
    q = dy.Int32(primary_key=True, min=0)
    period_end = dy.Date()
    previous_end = dy.Date(nullable=True, description="end of the quarter before; null if that is missing")
    fiscal_year = dy.Int32(description="as the company names it")
    fiscal_quarter = dy.Int32(min=0, max=4, description="1 to 4; 0 for the day before the first fiscal year")
    is_year_end = dy.Bool()
    year_before = dy.Int32(description="q of the fiscal year end before")


class Splits(dy.Schema):
    """One row a share split."""

    cik = dy.Int64(primary_key=True)
    ratio = dy.Float64(min_exclusive=0, description="new shares for one old share")
    effective_seq = dy.Int32(primary_key=True, description="the first filing on the new basis")
    effective_by = dy.Date()
    effective_after = dy.Date()
    evidence = dy.String()
    rule = dy.String()


class Repetitions(dy.Schema):
    """One row an amendment that repeats the share counts of the report that it amends."""

    cik = dy.Int64(primary_key=True)
    seq = dy.Int32(primary_key=True)
    of_seq = dy.Int32(description="the report")


class Placed(Vintages):
    """The vintages that are fiscal periods or quarter ends, on the newest share basis."""

    q = dy.Int32(description="the quarter in which the period ends")
    n = dy.Int32(min=0, max=4, description="quarters spanned; 0 for an instant")
    days = dy.Int64(nullable=True, description="days between the ends on the calendar; null for an instant")


class InOrder(dy.Schema):
    """One row a filing."""

    cik = dy.Int64(primary_key=True)
    accession = dy.String(primary_key=True)
    form = dy.String()
    filed = dy.Date()
    seq = dy.Int32()
    accepted_at = dy.Datetime(nullable=True, time_zone="UTC", time_unit="us", description="when EDGAR accepted it")


class Filings(InOrder):
    """One row a filing, with its share basis."""

    factor = dy.Float64(description="shares on the newest basis for one share of the filing's basis")


# --- Balances and flows -----------------------------------------------------------------------------------------


class Composed(dy.Schema):
    """One row total debt or cash of a balance sheet that counts, composed of its lines."""

    cik = dy.Int64(primary_key=True)
    concept = dy.Enum(AMOUNT.categories, primary_key=True)
    q = dy.Int32(primary_key=True)
    seq = dy.Int32(primary_key=True)
    filed = dy.Date()
    amended = dy.Bool()
    regime = dy.Int32()
    value = dy.Float64(nullable=True, description="units of the reporting currency; null: nothing is known any more")
    grain = dy.Float64(nullable=True)
    rule = dy.String(description="the rule that chose the lines, or that withholds the balance")
    vintage = dy.UInt32(unique=True, description="numbered after the vintages that filings state")
    n = dy.Int32()
    measure_sign = dy.Int8()


class LinesOfBalances(dy.Schema):
    """One row a fact of a composed balance: its lines, or what proves that there are none."""

    vintage = dy.UInt32(description="vintage of the balance")
    fact = dy.UInt32(description="row of the facts")
    coefficient = dy.Float64(description="1 or -1; 0 for a total that only shows that nothing is left")
    rule = dy.String()
    reservation = dy.String(nullable=True, description="flag of the line")
    repair = dy.Float64(description="factor by which a correction changed the fact")
    cik = dy.Int64()
    seq = dy.Int32()
    concept = dy.Enum(AMOUNT.categories)


class SectionLines(dy.Schema):
    """One row a line of a section of a balance sheet, or its total, in both columns of the filing."""

    cik = dy.Int64(primary_key=True)
    seq = dy.Int32(primary_key=True)
    section = dy.String(primary_key=True, description="one of elements.lines.SECTIONS")
    element = dy.String(primary_key=True, description="of the line, or what the total is")
    class_ = dy.String(alias="class", description="one of elements.lines.CLASSES, or total")
    adds_up = dy.Bool(description="whether the lines of the section add up to the total, in all columns")
    day = dy.Date(description="the filing's own day")
    compared_day = dy.Date(nullable=True, description="the day of comparison")
    amount = dy.Float64(nullable=True, description="units of the currency; null: not stated")
    compared = dy.Float64(nullable=True, description="that of the day of comparison")


class Missed(dy.Schema):
    """One row a balance without a value because one of its lines is no longer stated."""

    cik = dy.Int64()
    q = dy.Int32()
    item = dy.String()
    reason = dy.String()
    rule = dy.String()


class Withheld(Missed):
    """One row an item of a quarter end that a rule withholds after the newest filing."""


class Known(dy.Schema):
    """One row a concept, period and filing that states it: the amount known after that filing."""

    cik = dy.Int64(primary_key=True)
    concept = dy.Enum(AMOUNT.categories, primary_key=True)
    q = dy.Int32(primary_key=True)
    n = dy.Int32(primary_key=True)
    seq = dy.Int32(primary_key=True)
    days = dy.Int64(nullable=True)
    regime = dy.Int32()
    amount = dy.Float64(nullable=True, description="additive: value times weight; null: nothing is known any more")
    weight = dy.Float64(description="the days of an average of shares; 1 for other amounts")
    vintage = dy.UInt32(description="the vintage from which the amount is taken")
    rank = dy.Int16(nullable=True, description="of the source within its concept")
    grain = dy.Float64(nullable=True)
    other_source = dy.Bool()
    since = dy.Int64(description="seq of the first filing with this amount")
    is_revised = dy.Bool(description="whether another amount was known before")


class Balances(Known):
    """One row a change of a balance, with the rule that composed it (null for a single line)."""

    rule = dy.String(nullable=True)


class Flows(dy.Schema):
    """One row a change of the twelve months of a concept to a quarter end."""

    flow = dy.UInt32(primary_key=True)
    cik = dy.Int64()
    concept = dy.Enum(AMOUNT.categories)
    q = dy.Int32()
    seq = dy.Int32()
    amount = dy.Float64(
        nullable=True, description="additive: shares are multiplied by days; null: nothing is known any more"
    )
    days = dy.Int64(nullable=True)
    rule = dy.String(description="the way to twelve months, or the rule that withholds them")
    weeks_53 = dy.Bool()
    other_element = dy.Bool()
    mixed_basis = dy.Bool()
    before_recast = dy.Bool()
    recast = dy.Bool()
    ways_disagree = dy.Bool()
    regime = dy.Int32(nullable=True)
    grain = dy.Float64(nullable=True, description="of the coarsest leg")
    spread = dy.Float64(nullable=True, description="the largest daily amount of a leg divided by the smallest")
    own_spread = dy.Float64(nullable=True, description="the same, of the way that counts")
    gross = dy.Float64(nullable=True, description="the sum of the legs without their signs")
    beyond = dy.Float64(
        nullable=True, description="of shares: the excess of the part that no filing states, as a share of the amount"
    )
    is_derived = dy.Bool(description="whether no filing states a leg, but other figures prove it")


class FlowLegs(dy.Schema):
    """One row a leg of a flow: a vintage."""

    flow = dy.UInt32(primary_key=True)
    place = dy.Int16(primary_key=True, description="order of the leg")
    vintage = dy.UInt32()
    weight = dy.Float64(description="factor of the vintage; negative if it is subtracted")


# --- Items ------------------------------------------------------------------------------------------------------


class Points(dy.Schema):
    """One row a quarter end after a filing that changed an amount of its items: the rows of the known amounts."""

    cik = dy.Int64(primary_key=True)
    q = dy.Int32(primary_key=True)
    seq = dy.Int32(primary_key=True)
    factor = dy.Float64(description="new shares for one share of the basis of the filing")
    is_of_split = dy.Bool(description="the filing changed no amount; it is the first one after a reverse split")
    revenue_row = dy.UInt32(nullable=True, description="row of flows, as all that follow down to net_interest_row")
    net_income_common_row = dy.UInt32(nullable=True)
    net_income_parent_row = dy.UInt32(nullable=True)
    preferred_dividends_row = dy.UInt32(nullable=True)
    eps_basic_row = dy.UInt32(nullable=True)
    earnings_numerator_row = dy.UInt32(nullable=True)
    dividends_per_share_row = dy.UInt32(nullable=True)
    dividends_paid_row = dy.UInt32(nullable=True)
    operating_cash_flow_row = dy.UInt32(nullable=True)
    capital_expenditure_row = dy.UInt32(nullable=True)
    shares_basic_row = dy.UInt32(nullable=True)
    shares_diluted_row = dy.UInt32(nullable=True)
    operating_income_row = dy.UInt32(nullable=True)
    operating_costs_row = dy.UInt32(nullable=True)
    pretax_income_row = dy.UInt32(nullable=True)
    income_tax_row = dy.UInt32(nullable=True)
    interest_expense_row = dy.UInt32(nullable=True)
    investment_income_row = dy.UInt32(nullable=True)
    net_interest_row = dy.UInt32(nullable=True)
    equity_row = dy.UInt32(nullable=True, description="row of balances, as those that follow")
    assets_row = dy.UInt32(nullable=True)
    total_debt_row = dy.UInt32(nullable=True)
    cash_and_equivalents_row = dy.UInt32(nullable=True)


class Values(dy.Schema):
    """One row a version of a line item, with one column for each flag."""

    version = dy.UInt32(primary_key=True)
    cik = dy.Int64()
    q = dy.Int32()
    seq = dy.Int32()
    item = dy.String()
    value = dy.Float64(
        nullable=True, description="units of the currency, shares, currency per share, or a ratio; null: withdrawn"
    )
    rule = dy.String(description="the rule that composed or withdrew the value")
    method = dy.String(nullable=True, description="as published in table versions; null for a withdrawn value")
    weeks_53 = dy.Bool()
    other_element = dy.Bool()
    mixed_basis = dy.Bool()
    before_recast = dy.Bool()
    recast = dy.Bool()
    ways_disagree = dy.Bool()
    attributable_to_parent = dy.Bool()
    derived = dy.Bool()
    issuance = dy.Bool()
    apart_from_net_income = dy.Bool()
    derived_operating_income = dy.Bool()
    contradicted_operating_income = dy.Bool()
    derived_line = dy.Bool()
    includes_finance_leases = dy.Bool()
    may_be_principal = dy.Bool()
    may_include_restricted_cash = dy.Bool()
    may_lack_interest_bearing_deposits = dy.Bool()
    net_of_disposals = dy.Bool()
    total_contradicts_parts = dy.Bool()
    scale_repaired = dy.Bool()
    sign_repaired = dy.Bool()
    figure_repaired = dy.Bool()
    first_seen_as_comparative = dy.Bool()


class ValueLegs(dy.Schema):
    """One row a leg of a version: a row of flows or of balances."""

    version = dy.UInt32(primary_key=True)
    place = dy.Int16(primary_key=True)
    role = dy.String(description="role of the leg: sum, mean, dividend, divisor and so on")
    times = dy.Float64(description="factor of its own legs")
    flow = dy.UInt32(nullable=True)
    balance = dy.UInt32(nullable=True)


class NoReturns(dy.Schema):
    """One row a quarter end without a return on capital today, and why."""

    cik = dy.Int64(primary_key=True)
    q = dy.Int32(primary_key=True)
    reason = dy.String()


class Lacking(dy.Schema):
    """One row an item of a quarter end that lacks one of its amounts today."""

    cik = dy.Int64(primary_key=True)
    q = dy.Int32(primary_key=True)
    item = dy.String(primary_key=True)
    lacks = dy.String(description="the amount, as in elements.AMOUNT")


class FiledFacts(dy.Schema):
    """One row a filed fact of a vintage that is a leg, stated or composed, with the rule that chose or corrected it."""

    vintage = dy.UInt32()
    tag = dy.String(description="taxonomy and element")
    unit = dy.String()
    start = dy.Date(nullable=True)
    end = dy.Date()
    value = dy.Float64(description="as filed")
    coefficient = dy.Float64(description="factor of the fact in the vintage: 1 or -1")
    accession = dy.String()
    form = dy.String()
    filed = dy.Date()
    cik = dy.Int64()
    seq = dy.Int32()
    concept = dy.Enum(AMOUNT.categories)
    repair = dy.Float64()
    rule = dy.String()
    reservation = dy.String(nullable=True, description="the flag of its source")


class Lineage(dy.Schema):
    """One row a filed fact of a version, in the order of the legs."""

    version = dy.UInt32()
    role = dy.String()
    weight = dy.Float64(description="factor of the fact, in addition to split_factor")
    split_factor = dy.Float64(description="converts the fact to the newest share basis, and includes the repair")
    tag = dy.String()
    unit = dy.String()
    start = dy.Date(nullable=True)
    end = dy.Date()
    value = dy.Float64(description="as filed")
    accession = dy.String()
    form = dy.String()
    filed = dy.Date()
    concept = dy.String()
    rule = dy.String()
    repair = dy.Float64()
    reservation = dy.String(nullable=True)


class Versions(dy.Schema):
    """One row a version in the form of the log (history.versions.REPLAYED), with its quarter and filing."""

    cik = dy.Int64()
    period_end = dy.Date()
    item = dy.String()
    value = dy.Float64(nullable=True, description="null: withdrawn")
    accession = dy.String()
    form = dy.String()
    filed = dy.Date()
    cause = dy.String()
    method = dy.String(nullable=True)
    rule = dy.String()
    flags = dy.String(description="comma-separated, as published")
    fiscal_year = dy.Int32()
    fiscal_quarter = dy.Int32()
    is_year_end = dy.Bool()
    basis = dy.String(description="accession number of the newest filing on the newest share basis")
    legs = dy.List(
        dy.Struct(
            {
                "role": dy.String(),
                "weight": dy.Float64(),
                "split_factor": dy.Float64(),
                "tag": dy.String(),
                "unit": dy.String(),
                "start": dy.Date(nullable=True),
                "end": dy.Date(),
                "value": dy.Float64(),
                "accession": dy.String(),
                "form": dy.String(),
                "filed": dy.Date(),
                "concept": dy.String(),
                "rule": dy.String(),
            }
        )
    )
    q = dy.Int32()
    seq = dy.Int32()


# --- What is published beside the versions ----------------------------------------------------------------------


class Decisions(dy.Schema):
    """One row a company and rule: the number of figures, windows or filings that the rule decided in a step."""

    cik = dy.Int64(primary_key=True)
    rule = dy.String(primary_key=True)
    figures = dy.UInt32(min=1)


class Proofs(dy.Schema):
    """One row a judgement of an item of a quarter end by an identity, from a filing on."""

    cik = dy.Int64(primary_key=True)
    q = dy.Int32(primary_key=True)
    item = dy.String(primary_key=True)
    seq = dy.Int32(primary_key=True)
    rule = dy.String(primary_key=True)
    outcome = dy.String(nullable=True, description="one of OUTCOMES; null if it can no longer be compared")
    left_side = dy.Float64(nullable=True, description="what the identity says, in the unit of the item or of its parts")
    right_side = dy.Float64(nullable=True, description="what the filing states")


class BalanceSheetLines(dy.Schema):
    """SectionLines of the sections that are published, with the accession number of the filing."""

    cik = dy.Int64(primary_key=True)
    accession = dy.String(primary_key=True)
    section = dy.String(primary_key=True)
    element = dy.String(primary_key=True)
    class_ = dy.String(alias="class")
    adds_up = dy.Bool()
    day = dy.Date()
    compared_day = dy.Date(nullable=True)
    amount = dy.Float64(nullable=True)
    compared = dy.Float64(nullable=True)


class Breaks(dy.Schema):
    """One row a filing after which the figures are another company's, or follow other standards."""

    cik = dy.Int64(primary_key=True)
    accession = dy.String(primary_key=True)
    filed = dy.Date()
    kind = dy.String(description="entity or standards")
    rule = dy.String()


class Gaps(dy.Schema):
    """One row a period that has some value and lacks an item."""

    cik = dy.Int64(primary_key=True)
    period_end = dy.Date(primary_key=True)
    item = dy.String(primary_key=True)
    reason = dy.String()
    rule = dy.String()


class LatestShares(dy.Schema):
    """One row a company: the newest quarter's average shares."""

    cik = dy.Int64(primary_key=True)
    period_end = dy.Date()
    shares_basic = dy.Float64(nullable=True)
    shares_diluted = dy.Float64(nullable=True)
    net_income = dy.Float64(nullable=True, description="units of the reporting currency, of the same period")
    method = dy.String(description="quarter, difference or year_to_date")
    has_diluted = dy.Bool()


class Evidence(dy.Schema):
    """One row a company: facts that decide whether a cash flow model fits it."""

    cik = dy.Int64(primary_key=True)
    newest_currency = dy.String(nullable=True)
    operating_cash_flow_end = dy.Date(nullable=True)
    capital_expenditure_end = dy.Date(nullable=True)
    customer_funds_end = dy.Date(nullable=True)


class Periods(dy.Schema):
    """One row a period end of the fiscal calendar."""

    cik = dy.Int64(primary_key=True)
    period_end = dy.Date(primary_key=True)
    fiscal_year = dy.Int32()
    fiscal_quarter = dy.Int32()
    is_year_end = dy.Bool()


class Profiles(dy.Schema):
    """One row a company."""

    cik = dy.Int64(primary_key=True)
    currency = dy.String()
    industry = dy.String()
    fiscal_year_end_month = dy.Int32(nullable=True)


FRAMES: dict[str, Declared] = {
    name: Declared(name, schema)
    for name, schema in {
        "reports": Reports,
        "currencies": Currencies,
        "in_currency": Reports,
        "facts": Facts,
        "industries": Industries,
        "stated": Stated,
        "stated_facts": StatedFacts,
        "statements": Statements,
        "sound": Sound,
        "complete": Sound,
        "complete_facts": StatedFacts,
        "corrections": Corrections,
        "footings": Footings,
        "not_footing": Withheld,
        "regimes": Regimes,
        "vintages": Vintages,
        "grid": Grid,
        "splits": Splits,
        "repetitions": Repetitions,
        "on_basis": Vintages,
        "placed": Placed,
        "in_order": InOrder,
        "filings": Filings,
        "composed": Composed,
        "lines_of_balances": LinesOfBalances,
        "section_lines": SectionLines,
        "missed": Missed,
        "contradicted": Withheld,
        "withheld_windows": Withheld,
        "withheld_values": Withheld,
        "known_flows": Known,
        "balances": Balances,
        "flows": Flows,
        "flow_legs": FlowLegs,
        "points": Points,
        "values": Values,
        "value_legs": ValueLegs,
        "no_returns": NoReturns,
        "lacking": Lacking,
        "filed_facts": FiledFacts,
        "lineage": Lineage,
        "versions": Versions,
        "decisions": Decisions,
        "proofs": Proofs,
        "balance_sheet_lines": BalanceSheetLines,
        "breaks": Breaks,
        "gaps": Gaps,
        "repairs": Repairs,
        "latest_shares": LatestShares,
        "evidence": Evidence,
        "periods": Periods,
        "profiles": Profiles,
    }.items()
}
"""Every frame that a step makes, by name."""
