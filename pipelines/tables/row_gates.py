"""Row gates: conditions that the assembled rows of each company have to meet before they are published.

Belongs here: one function for each condition, from the rows of companies to the failing rows. Does not: conditions of
the source as a whole (run.gates), holding a company back (build_tables, quarantine), checks of values that only warn
(pipelines.quality).
"""

from collections.abc import Callable, Iterator, Mapping

import polars as pl

from pipelines.normalize.history.replay import SAME_RATIO
from pipelines.normalize.items.line_items import recomputed
from pipelines.normalize.rules import REGISTRY
from pipelines.stages.batch.isolation import Fault
from warehouse.contract import schema
from warehouse.contract.line_items import ITEM_NAMES

Rows = Mapping[str, pl.DataFrame]
"""The rows of a batch of companies, by published table."""

PERIOD = ["cik", "period_kind", "period_end"]


def keys_are_unique(rows: Rows) -> pl.DataFrame:
    """The key of each table names one row."""
    found = [pl.DataFrame(schema={"cik": pl.String, "table": pl.String, "key": pl.String})]
    for name, frame in rows.items():
        key = schema.BY_NAME[name].key
        # the order of a table begins with its key
        repeats = frame.filter(pl.all_horizontal(pl.col(column).eq_missing(pl.col(column).shift()) for column in key))
        in_words = pl.concat_str(pl.col(key).cast(pl.String).fill_null("null"), separator=" ")
        found.append(repeats.select("cik", table=pl.lit(name), key=in_words))
    return pl.concat(found)


def annual_equals_ttm_at_year_end(rows: Rows) -> pl.DataFrame:
    """At a fiscal year end the trailing twelve months are the fiscal year."""
    of_kind = [
        rows["financials"].filter(pl.col("period_kind") == kind).select("cik", "symbol", "period_end", *ITEM_NAMES)
        for kind in schema.PERIOD_KINDS
    ]
    both = of_kind[1].join(of_kind[0], on=["cik", "symbol", "period_end"], how="left", suffix="_ttm")
    apart = [pl.when(pl.col(item).ne_missing(pl.col(f"{item}_ttm"))).then(pl.lit(item)) for item in ITEM_NAMES]
    return both.select("cik", "period_end", item=pl.coalesce(apart)).drop_nulls("item")


def rules_are_listed(rows: Rows) -> pl.DataFrame:
    """Each rule that a row names is in table `rules`, which has its statement.

    The version log keeps the rules of old versions, so a rule stays in the registry even if it decides nothing any
    more.
    """
    is_listed = pl.col(schema.RULE).is_in([*REGISTRY])
    unknown = [
        frame.select("cik", schema.RULE).filter(~is_listed).drop_nulls()
        for name, frame in rows.items()
        if schema.RULE in schema.BY_NAME[name].names and frame.height
    ]
    none = pl.DataFrame(schema={"cik": pl.String, schema.RULE: pl.String})
    return pl.concat([none, *unknown]).unique().sort("cik", schema.RULE)


def ratios_follow_their_inputs(rows: Rows) -> pl.DataFrame:
    """Debt to free cash flow and return on capital are what today's inputs give, and missing where one is missing.

    Debt to free cash flow is computed from the row; return on capital from its legs, where the row has debt and cash.
    """
    of_ttm = pl.col("period_kind") == schema.PERIOD_KINDS[0]
    financials = rows["financials"].filter(of_ttm, "is_primary")
    debt, flow, served = pl.col("total_debt"), pl.col("free_cash_flow"), pl.col("debt_to_fcf")
    expected = pl.when(flow > 0).then(debt / flow)
    is_apart = served.is_not_null() & ~_near(served, expected).fill_null(value=False)
    stale = financials.filter(is_apart).select(*PERIOD, item=pl.lit("debt_to_fcf"), served=served, expected=expected)
    current = rows["versions"].filter(pl.col("item") == "roic", of_ttm, "is_current")
    legs = rows["lineage"].join(current, on=[*PERIOD, "item", "version"], how="semi")
    returns = recomputed(legs.rename({"operation": "role"}), PERIOD)
    capital = financials.filter(pl.col("roic").is_not_null()).join(returns, on=PERIOD, how="left")
    has_inputs = debt.is_not_null() & pl.col("cash_and_equivalents").is_not_null()
    is_right = _near(pl.col("roic"), pl.col("recomputed")).fill_null(value=False) & has_inputs
    wrong = capital.filter(~is_right).select(*PERIOD, item=pl.lit("roic"), served="roic", expected="recomputed")
    return pl.concat([stale, wrong])


def _near(served: pl.Expr, expected: pl.Expr) -> pl.Expr:
    """Whether two ratios agree in the served digits."""
    return (served - expected).abs() <= SAME_RATIO * expected.abs()


Gate = Callable[[Rows], pl.DataFrame]
"""A function from the rows of a batch of companies to the failing rows, with column `cik`."""

GATES: tuple[Gate, ...] = (
    keys_are_unique,
    annual_equals_ttm_at_year_end,
    rules_are_listed,
    ratios_follow_their_inputs,
)


def failing(rows: Rows) -> list[Fault]:
    """The companies with failing rows, one fault for each gate, with its first failing row."""
    return [fault for gate in GATES for fault in _faults(gate, gate(rows))]


def _faults(gate: Gate, rows: pl.DataFrame) -> Iterator[Fault]:
    meaning = (gate.__doc__ or "").partition("\n")[0].rstrip(".")
    for (cik,), of_company in rows.group_by("cik", maintain_order=True):
        first = ", ".join(f"{name} {value}" for name, value in of_company.drop("cik").row(0, named=True).items())
        reason = f"{of_company.height:,} rows contradict “{meaning}”, the first: {first}"
        yield Fault(str(cik), f"gate {gate.__name__}", f"{reason}; this is an error of the service, please report it")
