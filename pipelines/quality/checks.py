"""The table of checks: the meaning, the source and the threshold of each.

Belongs here: the table, and running the comparisons in batches of companies. Does not: the comparisons (identities,
windows, coverage), showing them (pipelines.checks in the Dagster UI, report, __main__).
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from pipelines import tables
from pipelines.lake import Lake
from pipelines.quality import coverage, identities, windows
from pipelines.quality.evidence import FAILS, FLAGGED, FOUND, HOLDS, Evidence

BATCH = 250
"""Companies that are checked together: enough rows for columnar operations to be fast, few enough to fit in memory."""

COVERAGE = "newest_periods_are_covered"
TABLE, MADE_FROM = "quality", "made_from"


@dataclass(frozen=True, slots=True)
class Check:
    """A condition that correct values meet.

    threshold: the largest share of comparisons that may fail; a difference that a flag explains does not count as a
        failure.
    """

    name: str
    meaning: str
    source: str
    threshold: float
    find: Callable[[Evidence], pl.DataFrame]


CHECKS: tuple[Check, ...] = (
    Check(
        "quarters_add_to_the_year",
        "Four quarters as filed (the fourth as the year less nine months if not filed) add up to our fiscal year.",
        "Regulation S-X Rule 10-01(c); ASC 270-10-45",
        0.02,
        windows.quarters_of_years,
    ),
    Check(
        "two_ways_to_twelve_months_agree",
        "Twelve months from the last year and the years to date equal the sum of four quarters, or are flagged.",
        "Regulation S-X Rule 10-01(c)",
        0.01,
        windows.two_ways,
    ),
    Check(
        "own_twelve_months_are_met",
        "Twelve months that a filer states in a 10-Q equal ours within two units of its last digit, or are flagged.",
        "the filer's own facts",
        0.0,
        windows.own_twelve_months,
    ),
    Check(
        "eps_times_shares_is_net_income",
        "Basic EPS times basic shares equals net income to common, within 2 % and the rounding of cents.",
        "ASC 260-10-45-10; IAS 33.10",
        0.02,
        identities.earnings_per_share,
    ),
    Check(
        "diluted_is_not_below_basic",
        "Diluted shares are at least basic shares.",
        "ASC 260-10-45-17; IAS 33.41",
        0.02,
        identities.diluted_shares,
    ),
    Check(
        "cash_is_within_assets",
        "Cash and short-term investments do not exceed total assets.",
        "Regulation S-X Rule 5-02; IAS 1.54",
        0.001,
        identities.cash_within_assets,
    ),
    Check(
        "debt_is_within_liabilities",
        "Total debt does not exceed total liabilities, or assets less equity.",
        "Regulation S-X Rule 5-02; IAS 1.54",
        0.0,
        identities.debt_within_liabilities,
    ),
    Check(
        "debt_is_as_filed",
        "Total debt added up from lines equals the filer's own combined total, within 2 %.",
        "us-gaap:DebtLongtermAndShorttermCombinedAmount; ifrs-full:Borrowings",
        0.1,
        identities.debt_as_filed,
    ),
    Check(
        COVERAGE,
        "The newest period of a company has every item that has a meaning there.",
        "specification, section 2.4",
        0.35,
        coverage.newest_period,
    ),
)
BY_NAME: dict[str, Check] = {check.name: check for check in CHECKS}


def found(lake: Lake) -> pl.DataFrame:
    """All comparisons of all checks over the assembled tables: `check` and the columns of FOUND, in check order."""
    ciks = lake.read(tables.assembled("companies"))["cik"].unique().sort().to_list()
    rows: dict[str, list[pl.DataFrame]] = {check.name: [pl.DataFrame(schema=FOUND)] for check in CHECKS}
    for start in range(0, len(ciks), BATCH):
        evidence = Evidence.of(lake, ciks[start : start + BATCH])
        for check in CHECKS:
            rows[check.name].append(check.find(evidence))
    ordered = {name: pl.concat(parts).sort("cik", "period_end", "subject", "other") for name, parts in rows.items()}
    return pl.concat([part.select(pl.lit(name).alias("check"), "*") for name, part in ordered.items()])


def measured(lake: Lake) -> pl.DataFrame:
    """The result of `found`, cached in table `quality` until the tables, the facts or the checks change."""
    digest = _digest(lake)
    if lake.inputs(TABLE).get(MADE_FROM) != digest:
        lake.write(TABLE, found(lake), {MADE_FROM: digest})
    return lake.read(TABLE)


def _digest(lake: Lake) -> str:
    """A digest of everything that the comparisons depend on."""
    code = [path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("*.py"))]
    facts = json.dumps(lake.inputs("facts"), sort_keys=True)
    return hashlib.sha256("\n".join([tables.inputs(lake), facts, *code]).encode()).hexdigest()


def tallied(rows: pl.DataFrame) -> pl.DataFrame:
    """One row a check: `check`, `compared`, `holds`, `flagged`, `fails`, `companies` (that fail), `failing` (share),
    `threshold`, `passed`.

    Args:
        rows: of `found`.
    """
    outcome = pl.col("outcome")
    counted = rows.group_by("check").agg(
        compared=pl.len(),
        **{name: (outcome == name).sum() for name in (HOLDS, FLAGGED, FAILS)},
        companies=pl.col("cik").filter(outcome == FAILS).n_unique(),
    )
    table = pl.DataFrame(
        {"check": [check.name for check in CHECKS], "threshold": [check.threshold for check in CHECKS]}
    )
    return (
        table.join(counted, on="check", how="left", maintain_order="left")
        .with_columns(pl.col("compared", HOLDS, FLAGGED, FAILS, "companies").fill_null(0))
        .with_columns(failing=(pl.col(FAILS) / pl.col("compared")).fill_nan(0.0))
        .with_columns(passed=pl.col("failing") <= pl.col("threshold"))
        .select("check", "compared", HOLDS, FLAGGED, FAILS, "companies", "failing", "threshold", "passed")
    )
