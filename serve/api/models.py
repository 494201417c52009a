"""The other objects of responses: a company's profile, the status, `meta` and errors.

Belongs here: shapes that only the interface has. Does not: the objects that are read from a build
(warehouse.contract.served), filling them (responses), the endpoints that return them (endpoints).
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from serve.errors import ERRORS
from warehouse.contract import schema
from warehouse.contract.served import (
    DATE,
    TIME,
    URL,
    CompanyRow,
    Coverage,
    Currency,
    Items,
    Shape,
    Symbol,
    about,
)


class Links(Shape, frozen=True):
    """Where to go from a company."""

    sec_filings: Annotated[str, about("The regulator's list of the company's periodic filings.", **URL)]
    financials: Annotated[str, about("This company's financials endpoint.", **URL)]
    valuation: Annotated[str, about("This company's valuation endpoint.", **URL)]


class CompanyProfile(CompanyRow, frozen=True):
    """A company with what is held of it and where to find it."""

    coverage: Coverage
    links: Links


class Status(Shape, frozen=True):
    """Whether the interface is up, and how fresh the data is; null where nothing has been published yet."""

    status: Annotated[Literal["up", "degraded"], about("degraded: answers are given, and something is amiss.")]
    build: Annotated[str | None, about("Build that is served.")]
    last_synchronized_at: Annotated[str | None, about("When the last synchronization ended.", **TIME)]
    age_seconds: Annotated[int | None, about("Seconds since then.")]
    newest_filing: Annotated[str | None, about("Newest filing date held.", **DATE)]
    companies: Annotated[int | None, about("Number of companies covered, each of which has one symbol or more.")]
    quarantined: Annotated[
        int | None, about("Number of companies that keep earlier values, because their newest data cannot be right.")
    ]
    next_synchronization_at: Annotated[
        str | None, about("When the next synchronization is due; null if none is scheduled.", **TIME)
    ]
    reason: Annotated[str | None, about("Why the status is degraded; null if it is up.")]


class Common(Shape, frozen=True):
    """What `meta` of every success has."""

    source: Annotated[Literal["SEC EDGAR"], about("The regulator's filing system.")]
    api_version: Annotated[Literal["v1"], about("Version of the interface.")]
    generated_at: Annotated[str, about("When the response was generated.", **TIME)]


class PageMeta(Shape, frozen=True):
    """Which page of a list this is."""

    page: Annotated[int, Meta(ge=1, description="Page number.")]
    per_page: Annotated[int, Meta(ge=1, le=100, description="Companies per page.")]
    total: Annotated[int, Meta(ge=0, description="Symbols found; a company is listed under each of its symbols.")]
    last_page: Annotated[int, Meta(ge=1, description="Number of the last page.")]


class SymbolMeta(Shape, frozen=True):
    """Which company this is about."""

    symbol: Symbol


class FinancialsMeta(SymbolMeta, frozen=True):
    """What financials these are."""

    currency: Currency
    period: Annotated[str, about("Kind of period.", enum=list(schema.PERIOD_KINDS))]
    items: Items
    count: Annotated[int, Meta(ge=0, description="Number of periods returned.")]
    filings_url: Annotated[str | None, about("The regulator's list of the company's periodic filings.", **URL)]


class RevisionsMeta(SymbolMeta, frozen=True):
    """What revisions these are."""

    currency: Currency
    items: Items
    count: Annotated[int, Meta(ge=0, description="Number of revised period and item pairs returned.")]


class StatusMeta(Shape, frozen=True):
    """The status has no more than the common fields."""


class Failure(Shape, frozen=True):
    """What went wrong."""

    code: Annotated[str, about("Stable; branch on it.", enum=[error.code for error in ERRORS])]
    message: Annotated[str, about("For people; may change.")]
    docs: Annotated[str, about("The entry for the code on the page of errors.", **URL)]
    details: (
        Annotated[dict[str, str], about("Only on `invalid_parameter`: a message per parameter.")] | msgspec.UnsetType
    ) = msgspec.UNSET


class ErrorBody(Shape, frozen=True):
    """The one shape of every error."""

    error: Failure
