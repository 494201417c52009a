"""The objects of the interface's answers about companies: their fields, meanings, and which fields may be null.

Belongs here: the types in which rows are read from a build, and from which answers are encoded and the OpenAPI
description is generated. Does not: reading them (warehouse.read), the other objects of responses (serve.api.models).

Every field is always present unless its description says otherwise. A field that is also a column of the warehouse
takes its description from there.
"""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from warehouse.contract import schema
from warehouse.contract.line_items import SERVED_NAMES
from warehouse.contract.reasons import NO_FAIR_VALUE

COVERED = "is_listed AND first_period_end IS NOT NULL"
"""SQL: whether the symbol of a row of table `companies` is covered."""
TEXT_OF_TIME = "strftime(make_timestamp(epoch_us({0})), '%Y-%m-%dT%H:%M:%SZ')"
"""SQL: a time as ISO 8601 in UTC."""

DATE = {"format": "date"}
TIME = {"format": "date-time"}
URL = {"format": "uri"}
LABEL = {"pattern": "^([0-9]{4}Q[1-4]|FY[0-9]{4})$"}

Number = int | float
EXACT = 2.0**53  # largest magnitude up to which a double represents every integer exactly


def json_number(value: float) -> Number:
    """A double as a number of JSON: an integer if it is whole. Published doubles are finite."""
    return int(value) if value.is_integer() and abs(value) <= EXACT else value


def column(table: str, name: str, **keywords: Any) -> Meta:
    """JSON Schema metadata with the description of a warehouse column."""
    [found] = [column for column in schema.BY_NAME[table].columns if column.name == name]
    return Meta(description=found.description, extra_json_schema=keywords)


def about(description: str, **keywords: Any) -> Meta:
    """JSON Schema metadata with a description."""
    return Meta(description=description, extra_json_schema=keywords)


Symbol = Annotated[str, column("companies", "symbol")]
Currency = Annotated[str, about("Reporting currency of every monetary value, ISO 4217.", pattern="^[A-Z]{3}$")]
Label = Annotated[str, about("Label in the company's own fiscal calendar: 2026Q1, FY2025.", **LABEL)]
PeriodEnd = Annotated[str, about("Last day of the period.", **DATE)]
ItemName = Annotated[str, about("Name of a line item.", enum=list(SERVED_NAMES))]
Items = Annotated[tuple[ItemName, ...], about("The line items returned, in the order asked for.")]
ReasonCode = Annotated[str, about("Stable code of a reason.", enum=list(NO_FAIR_VALUE))]


class Shape(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Base class of the objects in responses; unknown fields are not allowed."""


class Company(Shape, frozen=True):
    """A covered company, by one of its symbols."""

    symbol: Symbol
    name: Annotated[str | None, column("companies", "name")]
    exchange: Annotated[str | None, column("companies", "exchange")]
    cik: Annotated[str, about("The regulator's Central Index Key, ten digits.", pattern="^[0-9]{10}$")]
    sic: Annotated[str | None, column("companies", "sic")]
    sic_description: Annotated[str | None, column("companies", "sic_description")]
    currency: Currency
    first_period_end: Annotated[str | None, column("companies", "first_period_end", **DATE)]
    last_period_end: Annotated[str | None, column("companies", "last_period_end", **DATE)]
    data_updated_at: Annotated[
        str | None, about("Last synchronization of this company with the filing system.", **TIME)
    ]


class LabelledPeriod(Shape, frozen=True):
    """A period by label and end."""

    period: Label
    period_end: PeriodEnd


class Coverage(Shape, frozen=True):
    """What is held of a company."""

    first_period: Annotated[LabelledPeriod, about("The oldest period held.")]
    last_period: Annotated[LabelledPeriod, about("The latest period held.")]
    ttm_periods: Annotated[int, Meta(ge=0, description="Number of TTM periods held.")]
    annual_periods: Annotated[int, Meta(ge=0, description="Number of annual periods held.")]
    line_items: Annotated[tuple[ItemName, ...], about("Line items that have a value in some period.")]


class CompanyRow(Company, frozen=True):
    """A covered company as it is read from a build: with EDGAR's name, and the synchronization before the build."""

    fiscal_year_end_month: Annotated[int, Meta(ge=1, le=12, description="Month number of the fiscal year end.")]


class Values(dict[str, Number]):
    """Line items by name; an item without a value is omitted (it is not zero)."""


class FinancialPeriod(Shape, frozen=True):
    """The line items of one period."""

    period: Label
    period_end: PeriodEnd
    fiscal_year: Annotated[int, column("financials", "fiscal_year")]
    fiscal_quarter: Annotated[int, Meta(ge=1, le=4, description="Fiscal quarter; of annual rows the last of the year.")]
    values: Values


class Version(Shape, frozen=True):
    """A value that a period and item had."""

    version: Annotated[
        int, Meta(ge=1, description="Version number, counting from 1; missing where a value was withdrawn for a time.")
    ]
    value: Annotated[Number, about("Value in that version, on the newest share basis.")]
    current: Annotated[bool, about("True for the latest version.")]
    recorded_at: Annotated[
        str | None,
        about("When a synchronization recorded the value; null if it was superseded before the first one.", **TIME),
    ]


class Revision(Shape, frozen=True):
    """A period and item whose value changed after it was first recorded."""

    period: Label
    period_end: PeriodEnd
    item: ItemName
    current_value: Annotated[Number | None, about("Latest value; null where it was withdrawn.")]
    versions: Annotated[tuple[Version, ...], about("The values that it had, oldest first.")]


class Assumptions(Shape, frozen=True):
    """What the model takes as given."""

    required_return: Annotated[Number, about("Required return on equity, a year.", const=0.085)]
    perpetual_growth: Annotated[Number, about("Growth after the projected years.", const=0.025)]
    projection_years: Annotated[int, about("Number of projected years.", const=10)]
    base_free_cash_flow: Annotated[Number, about("Free cash flow that the projection starts from.")]
    base_is_normalized: Annotated[bool, about("True where the last twelve months are an outlier and are not used.")]
    base_method: Annotated[str, about("How the base was found: as reported, or normalized, and to what.")]
    reported_free_cash_flow: Annotated[Number, about("Free cash flow of the last twelve months, as reported.")]
    initial_growth: Annotated[Number, about("Growth of the first projected year.")]
    growth_method: Annotated[str, about("How the initial growth was found, and within which bounds.")]
    shares: Annotated[Number, about("Weighted average shares that the value is divided by.")]
    shares_method: Annotated[str, about("Which shares: diluted, or basic in a loss; and of which period.")]


class ProjectedYear(Shape, frozen=True):
    """One year of the projection."""

    year: Annotated[int, Meta(ge=1, le=10, description="Years after the base period.")]
    growth: Annotated[Number, about("Growth over the year before.")]
    free_cash_flow: Annotated[Number, about("That of the year before, times one and growth.")]
    discount_factor: Annotated[Number, about("What a unit of money at the end of this year is worth at the base.")]
    present_value: Annotated[Number, about("Free cash flow times discount factor.")]


class GridValue(Shape, frozen=True):
    """The fair value under other assumptions."""

    required_return: Annotated[Number, about("Required return of this point.")]
    perpetual_growth: Annotated[Number, about("Perpetual growth of this point.")]
    fair_value_per_share: Annotated[Number, about("Fair value per share at this point.")]


BasePeriod = Annotated[str, about("Label of the twelve months before the projection.", **LABEL)]
BasePeriodEnd = Annotated[str, about("Last day of the base period; years are discounted to it.", **DATE)]


class FairValue(Shape, frozen=True):
    """A fair value per share and the projection behind it."""

    symbol: Symbol
    currency: Currency
    period: BasePeriod
    period_end: BasePeriodEnd
    meaningful: Annotated[bool, about("The model fits.", const=True)]
    fair_value_per_share: Annotated[Number, about("Fair value per share: equity value by shares.")]
    assumptions: Assumptions
    projection: Annotated[tuple[ProjectedYear, ...], about("The projected years.", minItems=10, maxItems=10)]
    present_value_of_projection: Annotated[Number, about("Sum of the present values of the projected years.")]
    terminal_value: Annotated[Number, about("Value at the end of the projection of all years after it.")]
    present_value_of_terminal_value: Annotated[Number, about("Terminal value, discounted.")]
    terminal_share: Annotated[Number, about("Share of the discounted terminal value in the equity value, a fraction.")]
    equity_value: Annotated[Number, about("Value of all shares: projection and terminal value, discounted.")]
    net_debt: Annotated[Number | None, about("Total debt less cash, for information: it is not subtracted.")]
    sensitivity: Annotated[
        tuple[GridValue, ...], about("The value over required return and perpetual growth, the assumed among them.")
    ]


class Reason(Shape, frozen=True):
    """Why no value is given."""

    code: Annotated[ReasonCode, about("The reason that weighs most.")]
    message: Annotated[str, about("All reasons in plain words; may change.")]
    codes: Annotated[tuple[ReasonCode, ...], about("All reasons that apply.", minItems=1)]


class NoFairValue(Shape, frozen=True):
    """The model does not fit this company: no value is given."""

    symbol: Symbol
    currency: Currency
    period: BasePeriod
    period_end: BasePeriodEnd
    meaningful: Annotated[bool, about("The model does not fit.", const=False)]
    reason: Reason


class Security(msgspec.Struct, frozen=True):
    """A listed security that is not common equity, and the covered symbol of its issuer, if there is one."""

    kind: str
    common: str | None
