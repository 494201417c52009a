"""The elements of the taxonomies from which each amount is taken, in order of preference: tables, not code.

Belongs here: all concepts, and tables that other steps derive from them. Does not: the sources of a concept (income,
cash_flow, per_share, cash, totals), how a source is chosen in a filing (facts), the lines of the balance sheet (lines),
how concepts combine into line items (items, balance).

The value of a concept in a filing comes from the first source of the filer's industry whose elements are all reported
in the filing for the same period. `minus` elements are required too and subtracted; `where` elements are required but
not counted; `plus` elements are added and `less` elements subtracted if present. If an `at_least` element is present
and the sum is smaller, the source is only a part and the next source is tried. Each source is a rule.
"""

import polars as pl

from pipelines.normalize.elements.cash import CASH, CASH_OF_FLOWS
from pipelines.normalize.elements.cash_flow import (
    CAPITAL_EXPENDITURE,
    CHANGE_IN_CASH,
    CUSTOMER_FUNDS,
    EXCHANGE_EFFECT,
    FINANCING_CASH_FLOW,
    INVESTING_CASH_FLOW,
    INVESTING_WITHOUT_PAYMENTS,
    OPERATING_CASH_FLOW,
    PLANT_BESIDE_LEASED,
)
from pipelines.normalize.elements.income import (
    COST_OF_REVENUE_TOTAL,
    EARNINGS_NUMERATOR,
    GROSS_PROFIT,
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
from pipelines.normalize.elements.lines import BORROWING, CASH_AND_SECURITIES, ELEMENTS, IFRS_PREFIX, LINES
from pipelines.normalize.elements.per_share import DIVIDENDS_PER_SHARE, EPS_BASIC, SHARES_BASIC, SHARES_DILUTED
from pipelines.normalize.elements.proving import ELEMENTS as PROVING
from pipelines.normalize.elements.sources import IFRS, US_GAAP, Concept, Source, rule_of_source, validity
from pipelines.normalize.elements.totals import ASSETS, EQUITY, LIABILITIES
from pipelines.normalize.elements.witnesses import WITNESSES_OF_INCOME
from pipelines.normalize.industry.indicators import IFRS_ONLY
from pipelines.normalize.industry.names import Industry
from pipelines.normalize.industry.table import INDICATORS
from pipelines.normalize.rule import Rule
from warehouse.schema import LINE_ITEMS

WITNESSES: tuple[Concept, ...] = (
    INVESTING_CASH_FLOW,
    INVESTING_WITHOUT_PAYMENTS,
    PLANT_BESIDE_LEASED,
    FINANCING_CASH_FLOW,
    EXCHANGE_EFFECT,
    CHANGE_IN_CASH,
    GROSS_PROFIT,
    COST_OF_REVENUE_TOTAL,
    *WITNESSES_OF_INCOME,
)
"""Amounts that only prove other amounts: totals and parts of the statements. No value contains them."""

CONCEPTS: tuple[Concept, ...] = (
    REVENUE,
    NET_INCOME_COMMON,
    NET_INCOME_PARENT,
    PREFERRED_DIVIDENDS,
    EPS_BASIC,
    EARNINGS_NUMERATOR,
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
    CASH,
    CASH_OF_FLOWS,
    LIABILITIES,
    *WITNESSES,
)
BY_NAME: dict[str, Concept] = {concept.name: concept for concept in CONCEPTS}

OPTIONS, OPTION_PRICE = (
    f"ShareBasedCompensationArrangementByShareBasedPaymentAwardOptionsOutstanding{what}"
    for what in ("Number", "WeightedAverageExercisePrice")
)
"""The options on the company's shares at an instant, which prove splits (shares.options)."""

MEASURE_SIGN = {"money": 0, "per_share": -1, "shares": 1}

COMPOSED = ("total_debt", "cash_and_equivalents")
"""Amounts that are composed of the lines of one balance sheet."""

AMOUNT = pl.Enum([*BY_NAME, *COMPOSED])
"""The type of column `concept`: every amount that filings state, or that is composed of such amounts."""

RESERVATIONS = pl.DataFrame(
    [
        {"concept": concept.name, "rank": rank, "reservation": source.reservation}
        for concept in CONCEPTS
        for rank, source in enumerate(concept.sources)
        if source.reservation
    ],
    schema_overrides={"concept": AMOUNT, "rank": pl.Int16},
)
"""The flag of amounts from a source: `concept`, `rank` (of the source), `reservation`."""

RULES: tuple[Rule, ...] = tuple(rule_of_source(source) for concept in CONCEPTS for source in concept.sources)
"""The rule of each source, in the order of the concepts and their sources."""

RULE_OF_RANK = pl.DataFrame(
    [
        {"concept": concept.name, "rank": rank, "rule": source.rule}
        for concept in CONCEPTS
        for rank, source in enumerate(concept.sources)
    ],
    schema_overrides={"concept": AMOUNT, "rank": pl.Int16},
)
"""The rule of a source: `concept`, `rank` (of the source), `rule`."""

OF_SOURCE = RULE_OF_RANK.join(RESERVATIONS, on=["concept", "rank"], how="left", maintain_order="left")
"""The rule and the flag of each source: `concept`, `rank`, `rule`, and `reservation` (a flag, or null)."""

MEASURE_SIGNS = pl.DataFrame(
    {"concept": list(BY_NAME), "measure_sign": [MEASURE_SIGN[concept.measure] for concept in CONCEPTS]},
    schema={"concept": AMOUNT, "measure_sign": pl.Int8},
)
"""How a share basis changes a concept: `concept`, `measure_sign` (money 0, shares 1, amounts per share -1)."""

ITEM_CONCEPTS: dict[str, tuple[Concept, ...]] = {
    "revenue": (REVENUE,),
    "net_income": (NET_INCOME_COMMON, NET_INCOME_PARENT, PREFERRED_DIVIDENDS),
    "eps_basic": (EPS_BASIC, EARNINGS_NUMERATOR),
    "dividends_per_share": (DIVIDENDS_PER_SHARE,),
    "free_cash_flow": (OPERATING_CASH_FLOW, CAPITAL_EXPENDITURE),
    "shares_basic": (SHARES_BASIC,),
    "shares_diluted": (SHARES_DILUTED,),
    "total_debt": (),
    "cash_and_equivalents": (),
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
} | {item.name: (BY_NAME[item.name],) for item in LINE_ITEMS if not item.is_served}
"""The concepts of each line item, in the order of the specification; those of COMPOSED are lines of the balance sheet.

Only the valuation uses CUSTOMER_FUNDS."""

CLASSES = {"total_debt": (BORROWING,), "cash_and_equivalents": CASH_AND_SECURITIES}
"""The classes of lines of the balance sheet that each of COMPOSED consists of."""


def wanted_elements() -> dict[str, frozenset[str]]:
    """The elements that rules use, by taxonomy; only these are decoded from a companyfacts document."""
    of_ifrs = {name.removeprefix(IFRS_PREFIX) for name in ELEMENTS if name.startswith(IFRS_PREFIX)}
    of_us_gaap = {*INDICATORS, *ELEMENTS, *PROVING, OPTIONS, OPTION_PRICE} - set(IFRS_ONLY)
    of_us_gaap = {name for name in of_us_gaap if not name.startswith(IFRS_PREFIX)}
    wanted: dict[str, set[str]] = {US_GAAP: of_us_gaap, IFRS: {*IFRS_ONLY, *of_ifrs}}
    for concept in CONCEPTS:
        for source in concept.sources:
            wanted[source.taxonomy].update(
                source.elements, source.plus, source.minus, source.less, source.at_least, source.where
            )
            wanted[source.taxonomy].update(source.footing.elements if source.footing else ())
    return {taxonomy: frozenset(elements) for taxonomy, elements in wanted.items()}


def sources_of(item: str, industry: Industry) -> list[tuple[Concept, Source]]:
    """The concepts of a line item with their sources for an industry, in order of preference."""
    return [
        (concept, source)
        for concept in ITEM_CONCEPTS[item]
        for source in concept.sources
        if industry in source.industries
    ]


def combination(source: Source) -> str:
    """The elements of a source as a sum: `us-gaap:A + B - C [+ D]`; elements in brackets count if present."""
    parts = [f" + {element}" for element in source.elements]
    parts += [f" - {element}" for element in source.minus]
    parts += [f" [+ {element}]" for element in source.plus]
    parts += [f" [- {element}]" for element in source.less]
    parts += [f" [no less than {element}]" for element in source.at_least]
    parts += [f" [where {element} is reported]" for element in source.where]
    parts += [f" [where it adds up to {' or '.join(source.footing.totals)}]"] if source.footing else []
    return f"{source.taxonomy}:{''.join(parts).removeprefix(' + ').lstrip()}"


def describe_sources(item: str) -> str:
    """The sources of a line item, one line for each concept, best source first: `sources` of table `line_items`.

    Of debt and cash each line is a section of the balance sheet with the elements that can be its lines.
    Otherwise each line is `name: source | source`. A source is its combination with, in brackets, its industries, and
    the id and the statement of its rule.
    """
    lines = []
    for section, table in LINES.items() if item in COMPOSED else ():
        names = [f"us-gaap:{name}".replace(f"us-gaap:{IFRS_PREFIX}", IFRS_PREFIX) for name in table]
        counted = [name for name, line in zip(names, table.values(), strict=True) if line.kind in CLASSES[item]]
        lines += [f"{section}: " + " | ".join(counted)] if counted else []
    for concept in ITEM_CONCEPTS[item]:
        stated = [
            f"{combination(source)} ({validity(source)}; {source.rule}: {source.statement})"
            for source in concept.sources
        ]
        lines.append(f"{concept.name}: " + " | ".join(stated))
    return "\n".join(lines)
