"""Which taxonomy elements feed which amount, in which order: data, not code.

Belongs here: the elements of us-gaap (FASB) and ifrs-full (IFRS Foundation), what each concept prefers and why.
Does not: how a source is chosen in a filing (facts), or how concepts combine into line items (items, balances).

A filing's value for a concept is its first source, among those of the filer's industry, of which every element is
there, in the same filing and for the same period; `minus` elements are needed too, and taken off; `where` elements are
needed, and not counted; `plus` ones are added and `less` ones taken off where present. Where an `at_least` element is
present, a smaller sum is a part of it and no total, and the next source is asked.
"""

import polars as pl

from pipelines.normalize.elements.cash import CASH, CASH_TOTAL, FOOTING, SHORT_TERM_INVESTMENTS
from pipelines.normalize.elements.cash_flow import CAPITAL_EXPENDITURE, CUSTOMER_FUNDS, OPERATING_CASH_FLOW
from pipelines.normalize.elements.debt import (
    DEBT_ALL,
    DEBT_CURRENT,
    DEBT_CURRENT_BESIDE,
    DEBT_CURRENT_MATURITIES,
    DEBT_LONG_TERM,
    DEBT_NONCURRENT,
    DEBT_NONCURRENT_BESIDE,
    DEBT_NOTES_CURRENT,
    DEBT_SHORT_TERM,
    DEBT_SHORT_TERM_TOLD,
)
from pipelines.normalize.elements.income import (
    INCOME_TAX,
    INTEREST_EXPENSE,
    INVESTMENT_INCOME,
    NET_INCOME_COMMON,
    NET_INCOME_PARENT,
    NET_INTEREST,
    OPERATING_COSTS,
    OPERATING_INCOME,
    PREFERRED_DIVIDENDS,
    PRETAX_INCOME,
    REVENUE,
)
from pipelines.normalize.elements.loans import LOANS, PROOF
from pipelines.normalize.elements.per_share import DIVIDENDS_PER_SHARE, EPS_BASIC, SHARES_BASIC, SHARES_DILUTED
from pipelines.normalize.elements.sources import IFRS, US_GAAP, Concept, Source
from pipelines.normalize.elements.totals import ASSETS, EQUITY
from pipelines.normalize.industry.classification import EVIDENCE, INDUSTRIES, LENDING_IFRS, Industry

CONCEPTS: tuple[Concept, ...] = (
    REVENUE,
    NET_INCOME_COMMON,
    NET_INCOME_PARENT,
    PREFERRED_DIVIDENDS,
    EPS_BASIC,
    DIVIDENDS_PER_SHARE,
    OPERATING_CASH_FLOW,
    CAPITAL_EXPENDITURE,
    SHARES_BASIC,
    SHARES_DILUTED,
    OPERATING_INCOME,
    OPERATING_COSTS,
    PRETAX_INCOME,
    INCOME_TAX,
    INTEREST_EXPENSE,
    INVESTMENT_INCOME,
    NET_INTEREST,
    CUSTOMER_FUNDS,
    EQUITY,
    ASSETS,
    CASH_TOTAL,
    CASH,
    SHORT_TERM_INVESTMENTS,
    *FOOTING,
    DEBT_NONCURRENT,
    DEBT_NONCURRENT_BESIDE,
    DEBT_CURRENT_MATURITIES,
    DEBT_CURRENT_BESIDE,
    DEBT_SHORT_TERM,
    DEBT_SHORT_TERM_TOLD,
    DEBT_NOTES_CURRENT,
    DEBT_CURRENT,
    DEBT_LONG_TERM,
    DEBT_ALL,
    *LOANS,
    *PROOF,
)
BY_NAME: dict[str, Concept] = {concept.name: concept for concept in CONCEPTS}

COMPOSED = ("total_debt", "cash_and_equivalents")
"""Amounts that are composed of the lines of one balance sheet."""

AMOUNT = pl.Enum([*BY_NAME, *COMPOSED])
"""The type of column `concept`: every amount that filings state or that is composed of what they state."""

RESERVATIONS = pl.DataFrame(
    [
        {"concept": concept.name, "rank": rank, "reservation": source.reservation}
        for concept in CONCEPTS
        for rank, source in enumerate(concept.sources)
        if source.reservation
    ],
    schema_overrides={"concept": AMOUNT, "rank": pl.Int16},
)
"""The flag of what comes from a source: `concept`, `rank` (of the source), `reservation`."""

ITEM_CONCEPTS: dict[str, tuple[Concept, ...]] = {
    "revenue": (REVENUE,),
    "net_income": (NET_INCOME_COMMON, NET_INCOME_PARENT, PREFERRED_DIVIDENDS),
    "eps_basic": (EPS_BASIC,),
    "dividends_per_share": (DIVIDENDS_PER_SHARE,),
    "free_cash_flow": (OPERATING_CASH_FLOW, CAPITAL_EXPENDITURE),
    "shares_basic": (SHARES_BASIC,),
    "shares_diluted": (SHARES_DILUTED,),
    "total_debt": (
        DEBT_NONCURRENT,
        DEBT_NONCURRENT_BESIDE,
        DEBT_CURRENT_MATURITIES,
        DEBT_CURRENT_BESIDE,
        DEBT_SHORT_TERM,
        DEBT_SHORT_TERM_TOLD,
        DEBT_NOTES_CURRENT,
        DEBT_CURRENT,
        DEBT_LONG_TERM,
        DEBT_ALL,
        *LOANS,
        *PROOF,
    ),
    "cash_and_equivalents": (CASH_TOTAL, CASH, SHORT_TERM_INVESTMENTS, *FOOTING),
    "roic": (
        OPERATING_INCOME,
        OPERATING_COSTS,
        PRETAX_INCOME,
        INTEREST_EXPENSE,
        INVESTMENT_INCOME,
        NET_INTEREST,
        INCOME_TAX,
        EQUITY,
        ASSETS,
    ),
    "debt_to_fcf": (),
}
"""The concepts of each line item, in the order of the specification; CUSTOMER_FUNDS is for the valuation alone."""


def wanted_elements() -> dict[str, frozenset[str]]:
    """Taxonomy -> elements that any rule reads: what is decoded from a companyfacts document."""
    wanted: dict[str, set[str]] = {US_GAAP: set(EVIDENCE - set(LENDING_IFRS)), IFRS: set(LENDING_IFRS)}
    for concept in CONCEPTS:
        for source in concept.sources:
            wanted[source.taxonomy].update(
                source.elements, source.plus, source.minus, source.less, source.at_least, source.where
            )
    return {taxonomy: frozenset(elements) for taxonomy, elements in wanted.items()}


def sources_of(item: str, industry: Industry) -> list[tuple[Concept, Source]]:
    """The concepts of a line item with their sources for an industry, in the order in which they are asked."""
    return [
        (concept, source)
        for concept in ITEM_CONCEPTS[item]
        for source in concept.sources
        if industry in source.industries
    ]


def combination(source: Source) -> str:
    """The elements of a source as a sum: `us-gaap:A + B - C [+ D]`; in brackets what counts where present."""
    parts = [f" + {element}" for element in source.elements]
    parts += [f" - {element}" for element in source.minus]
    parts += [f" [+ {element}]" for element in source.plus]
    parts += [f" [- {element}]" for element in source.less]
    parts += [f" [no less than {element}]" for element in source.at_least]
    parts += [f" [where {element} is told]" for element in source.where]
    return f"{source.taxonomy}:{''.join(parts).removeprefix(' + ').lstrip()}"


def validity(source: Source) -> str:
    """The industries that a source holds for, in words."""
    others = [industry for industry in INDUSTRIES if industry not in source.industries]
    if not others:
        return "all"
    shown = source.industries if len(source.industries) <= len(others) else others
    words = ", ".join(industry.replace("_", " ") for industry in shown)
    return words if shown is source.industries else f"all but {words}"


def describe_sources(item: str) -> str:
    """The elements that feed a line item, one concept a line, best first: the `sources` of table `line_items`.

    `name: source | source`, where a source is a combination and, in brackets, the industries that it holds for and the
    reason for it.
    """
    lines = []
    for concept in ITEM_CONCEPTS[item]:
        stated = [f"{combination(source)} ({validity(source)}; {source.why})" for source in concept.sources]
        lines.append(f"{concept.name}: " + " | ".join(stated))
    return "\n".join(lines)
