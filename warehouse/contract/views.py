"""The views of the published warehouse: joins of several tables for analysts.

Belongs here: the columns of a view with their meanings, and its SQL, both made from the line items. Does not: tables
(schema), queries with parameters (macros.sql), the queries of the interface (queries).

A view is computed when it is read; its Parquet copy is written once for each build.
"""

import re
from dataclasses import dataclass

from warehouse.contract import schema
from warehouse.contract.line_items import ITEM_NAMES, LINE_ITEMS, SERVED_NAMES
from warehouse.contract.schema import BY_NAME
from warehouse.contract.table import Column, Table, comments

GROWING = tuple(
    item.name
    for item in sorted(LINE_ITEMS, key=lambda item: (item.unit == "shares", item.kind == "balance"))
    if item.kind != "ratio"
)
"""The items with growth columns; growth is null if one of the two amounts is zero or negative."""

RECASTED = ("revenue", "free_cash_flow")
"""Items that are restated when a business is discontinued; net income includes it (ASC 205-20-45-3)."""

RECAST_BY = 1.05
"""A fiscal year that was restated by more than this factor is recast: it covers another scope of the business."""

SHORTEST_YEAR = 364
"""Fewest days of a fiscal year."""

SPANS = (1, 3, 5, 10)
"""Years of growth."""

MOST_DAYS_APART = 15
"""Tolerance in days between a quarter end and the same day years earlier: a fiscal year of 52 or 53 weeks ends up to a
week earlier or later.
"""

MARGINS = {
    "net_margin": "net_income",
    "free_cash_flow_margin": "free_cash_flow",
    "gross_margin": "gross_profit",
    "operating_margin": "operating_income",
}
KINDS = {"ttm": "newest twelve months", "annual": "newest fiscal year"}


@dataclass(frozen=True, slots=True)
class View(Table):
    """A view; its rows are sorted by the key."""

    sql: str = ""

    @property
    def reads(self) -> tuple[str, ...]:
        """The tables that it reads."""
        words = set(re.findall(r"\w+", self.sql))
        return tuple(name for name in BY_NAME if name in words)


NAMED = ("name", "exchange", "industry", "sic", "sic_description")
"""The columns that name and classify a company."""


def _named() -> tuple[Column, ...]:
    """The columns of table financials, with NAMED after the symbol."""
    held = {column.name: column for column in BY_NAME["companies"].columns}
    first, *others = BY_NAME["financials"].columns
    return (first, *(held[name] for name in NAMED), *others)


def _of_companies() -> tuple[Column, ...]:
    """The columns that describe a company, as in table companies."""
    wanted = ("symbol", "cik", *NAMED, "currency", "is_listed", "rule_industry")
    held = {column.name: column for column in BY_NAME["companies"].columns}
    return tuple(held[name] for name in wanted)


def _of_kind(kind: str, called: str) -> tuple[Column, ...]:
    """The columns for the newest period of a kind."""
    return (
        Column(f"{kind}_period", "VARCHAR", f"Label of the {called}."),
        Column(f"{kind}_period_end", "DATE", f"Last day of the {called}."),
        Column(f"{kind}_filed", "DATE", f"Latest filing date among the facts behind the {called}."),
        *(Column(f"{kind}_{item.name}", "DOUBLE", f"The {called}: {item.meaning}", item.unit) for item in LINE_ITEMS),
        *(
            Column(f"{kind}_{name}", "DOUBLE", f"The {called}: {item} / revenue, if revenue is positive.", "ratio")
            for name, item in MARGINS.items()
        ),
    )


RECAST_BETWEEN = ", or if a fiscal year between was recast after the earlier value was filed"


def _of_growth() -> tuple[Column, ...]:
    return tuple(
        Column(
            f"{item}_growth_{years}y",
            "DOUBLE",
            f"Growth a year of {item}, from the twelve months that ended {_before(years)} the newest ones. Null if "
            "either is missing or not positive, or if the company was another one or used other accounting standards "
            f"then{RECAST_BETWEEN if item in RECASTED else ''}.",
            "ratio",
        )
        for item in GROWING
        for years in SPANS
    )


def _before(years: int) -> str:
    return "a year before" if years == 1 else f"{years} years before"


VALUED = (
    *("meaningful", "fair_value_per_share", "lowest_fair_value_per_share", "highest_fair_value_per_share"),
    "reason_codes",
)
"""The columns taken from table valuations."""


def _of_valuation() -> tuple[Column, ...]:
    held = {column.name: column for column in BY_NAME["valuations"].columns}
    return tuple(Column(name, held[name].type, held[name].description, held[name].unit) for name in VALUED)


def _on_one_basis(item: str) -> str:
    """SQL condition: no fiscal year between two values was recast after the first and before the second was filed."""
    if item not in RECASTED:
        return ""
    return (
        f" AND coalesce(len(list_filter(recasts.{item}, lambda year: year.ended > past.period_end - {SHORTEST_YEAR} "
        f"AND year.ended <= now.period_end AND year.filed > past.{item}_filed AND year.filed <= now.{item}_filed)), 0) "
        "= 0"
    )


def _select() -> str:
    """The SQL of the screener. Tables are named without a database name, as in the macros."""
    growth = [
        f"CASE WHEN now.{item} > 0 AND past.{item} > 0{_on_one_basis(item)} "
        f"THEN (now.{item} / past.{item}) ^ (1 / years) - 1 END AS {item}"
        for item in GROWING
    ]
    of_spans = [
        f"max({item}) FILTER (years = {years}) AS {item}_growth_{years}y" for item in GROWING for years in SPANS
    ]
    columns = [f"companies.{column.name}" for column in _of_companies()]
    for kind in KINDS:
        columns += [f"{kind}.{name} AS {kind}_{name}" for name in ("period", "period_end")]
        columns += [f"{kind}.last_filed AS {kind}_filed"]
        columns += [f"{kind}.{name} AS {kind}_{name}" for name in ITEM_NAMES]
        columns += [
            f"CASE WHEN {kind}.revenue > 0 THEN {kind}.{item} / {kind}.revenue END AS {kind}_{name}"
            for name, item in MARGINS.items()
        ]
    columns += [f"growth.{column.name}" for column in _of_growth()]
    columns += [f"valuations.{name}" for name in VALUED]
    listed, grown, by_span = (",\n    ".join(each) for each in (columns, growth, of_spans))
    years = ", ".join(f"list(year) FILTER (item = '{item}') AS {item}" for item in RECASTED)
    return f"""
WITH newest AS MATERIALIZED (
    FROM financials
    WHERE is_primary AND coalesce({", ".join(SERVED_NAMES)}) IS NOT NULL
    QUALIFY period_end = max(period_end) OVER (PARTITION BY symbol, period_kind)
),
broken AS (SELECT cik, max(filed) AS broken_at FROM breaks GROUP BY cik),
recast AS (
    SELECT
        newest_version.cik,
        newest_version.item,
        {{'ended': newest_version.period_end, 'filed': newest_version.filed}} AS year
    FROM versions AS newest_version
    INNER JOIN versions AS first_version USING (cik, period_kind, period_end, item)
    WHERE
        newest_version.is_current
        AND first_version.version = 1
        AND newest_version.period_kind = 'annual'
        AND least(newest_version.value, first_version.value) > 0
        AND abs(ln(newest_version.value / first_version.value)) > ln({RECAST_BY})
),
recasts AS (
    SELECT
        cik,
        {years}
    FROM recast
    GROUP BY cik
),
-- the twelve months some years before the newest ones, if they are of the same company and accounting standards
compared AS (
    SELECT
        now.symbol,
        years,
        {grown}
    FROM newest AS now
    CROSS JOIN unnest({list(SPANS)}) AS spans(years)
    INNER JOIN financials AS past
        ON
            now.symbol = past.symbol
            AND now.period_kind = past.period_kind
            AND abs(date_diff('day', past.period_end, now.period_end - to_years(years))) <= {MOST_DAYS_APART}
    LEFT JOIN broken ON now.cik = broken.cik
    LEFT JOIN recasts ON now.cik = recasts.cik
    WHERE now.period_kind = 'ttm' AND (past.first_filed < broken_at) IS NOT TRUE
),
growth AS (
    SELECT
        symbol,
        {by_span}
    FROM compared
    GROUP BY symbol
)
SELECT
    {listed}
FROM companies
LEFT JOIN newest AS ttm ON companies.symbol = ttm.symbol AND ttm.period_kind = 'ttm'
LEFT JOIN newest AS annual ON companies.symbol = annual.symbol AND annual.period_kind = 'annual'
LEFT JOIN growth ON companies.symbol = growth.symbol
LEFT JOIN valuations
    ON companies.cik = valuations.cik AND companies.series_member IS NOT DISTINCT FROM valuations.class_member
WHERE companies.is_primary
ORDER BY companies.symbol
"""


SCREENER = View(
    "screener",
    "One row for each company: newest twelve months, newest fiscal year, margins, growth and fair value.",
    ("symbol",),
    (
        *_of_companies(),
        *(column for kind, called in KINDS.items() for column in _of_kind(kind, called)),
        *_of_growth(),
        *_of_valuation(),
    ),
    sql=_select(),
)
FINANCIALS_NAMED = View(
    "financials_named",
    "Table financials, with the name, the exchange and the industry of the company in each row.",
    BY_NAME["financials"].key,
    _named(),
    sql=f"""
SELECT {", ".join(f"{'companies' if column.name in NAMED else 'financials'}.{column.name}" for column in _named())}
FROM financials
INNER JOIN companies ON financials.symbol = companies.symbol
ORDER BY financials.symbol, financials.period_kind, financials.period_end
""",
)
NEARLY_WHOLE, CENTS, ROUNDED_SHARE = 4, 0.02, 0.0005
"""Tolerances for rounding between four quarters and a year: units of the year's rounding; currency per share; and a
share of the value for filers that state some figures in thousands and others in units.

Measured on 17 companies: the largest share is 0.0004.
"""
ADDED_UP = tuple(item.name for item in LINE_ITEMS if item.kind == "flow" and item.unit != "shares")
ADDED_UP_PER_SHARE = tuple(item.name for item in LINE_ITEMS if item.unit == "currency per share")
EARNINGS = tuple(name for name in ADDED_UP if name.startswith("eps_"))


def _listed(names: tuple[str, ...]) -> str:
    """Names as a list in SQL."""
    return "({})".format(", ".join(f"'{name}'" for name in names))


QUARTERS_OF_YEAR = View(
    "quarters_of_year",
    "The sum of the quarters of each fiscal year beside the value of the year, and the reason where they do not add "
    "up.",
    ("symbol", "period_end", "item"),
    (
        Column("symbol", "VARCHAR", "The company's first symbol.", required=True),
        schema.CIK,
        Column("fiscal_year", "INTEGER", "Fiscal year, as the company names it.", required=True),
        Column("period_end", "DATE", "Last day of the fiscal year.", required=True),
        Column("item", "VARCHAR", "Line item: an amount, or an amount per share, over the period.", required=True),
        Column("quarters", "BIGINT", "How many quarters of the year have a value."),
        Column("year_value", "DOUBLE", "Value of the fiscal year.", required=True),
        Column("sum_of_quarters", "DOUBLE", "Sum of the values of its quarters; null: not all four have one."),
        Column("difference", "DOUBLE", "The sum less the value of the year."),
        Column(
            "reason",
            "VARCHAR",
            "Why the quarters do not add up; null: they add up, except for rounding. quarter_missing: not all "
            "quarters have a value. earnings_per_share: the quarters have other numbers of shares than the year, so "
            "that their earnings per share do not add up. other_basis: net income of some periods is attributable to "
            "the parent, of others to common shareholders. year_restated: a later report restated the year, but not "
            "all of its quarters. quarter_restated: a later report restated a quarter, but not the year. "
            "not_explained: none of these.",
        ),
    ),
    sql=f"""
WITH years AS (
    SELECT cik, period_end, item, value, version, rule, CAST(substr(period, 3, 4) AS INTEGER) AS fiscal_year
    FROM versions
    WHERE
        period_kind = 'annual'
        AND is_current
        AND value IS NOT NULL
        AND class_member IS NULL
        AND item IN {_listed(ADDED_UP)}
),
parts AS (
    SELECT
        years.cik,
        years.period_end,
        years.item,
        count(quarter_versions.value) AS quarters,
        CASE WHEN quarters = 4 THEN sum(quarter_versions.value) END AS sum_of_quarters,
        max(quarter_versions.version) AS newest,
        bool_or(quarter_versions.rule <> years.rule) AS has_other_rule
    FROM years
    LEFT JOIN quarter_versions
        ON
            years.cik = quarter_versions.cik
            AND years.item = quarter_versions.item
            AND starts_with(quarter_versions.period, concat('FY', years.fiscal_year, 'Q'))
            AND quarter_versions.period_end BETWEEN years.period_end - 300 AND years.period_end
            AND quarter_versions.is_current
            AND quarter_versions.class_member IS NULL
    GROUP BY ALL
)
SELECT
    companies.symbol,
    years.cik,
    years.fiscal_year,
    years.period_end,
    years.item,
    quarters,
    years.value AS year_value,
    sum_of_quarters,
    sum_of_quarters - years.value AS difference,
    CASE
        WHEN quarters < 4 THEN 'quarter_missing'
        WHEN abs(difference) <= greatest(
            CASE
                WHEN years.item IN {_listed(ADDED_UP_PER_SHARE)} THEN {CENTS}
                WHEN years.value % 1e6 = 0 THEN {NEARLY_WHOLE}e6
                WHEN years.value % 1e3 = 0 THEN {NEARLY_WHOLE}e3
                ELSE {NEARLY_WHOLE}
            END,
            {ROUNDED_SHARE} * abs(years.value)
        ) THEN NULL
        WHEN years.item IN {_listed(EARNINGS)} THEN 'earnings_per_share'
        WHEN years.item = 'net_income' AND has_other_rule THEN 'other_basis'
        WHEN years.version > 1 THEN 'year_restated'
        WHEN newest > 1 THEN 'quarter_restated'
        ELSE 'not_explained'
    END AS reason
FROM years
INNER JOIN parts USING (cik, period_end, item)
INNER JOIN companies ON years.cik = companies.cik AND companies.is_primary
ORDER BY companies.symbol, years.period_end, years.item
""",
)
VIEWS: tuple[View, ...] = (SCREENER, FINANCIALS_NAMED, QUARTERS_OF_YEAR)
PUBLISHED: tuple[Table, ...] = (*schema.TABLES, *VIEWS)
"""The content of a build: the tables, and the views of them."""


def create(view: View) -> list[str]:
    """The statements that make a view with its comments in the database in use."""
    return [f'CREATE VIEW "{view.name}" AS {view.sql}', *comments(view, kind="VIEW")]
