"""The table of checks: the meaning, the source and the threshold of each.

Belongs here: the table, and running the comparisons in batches of companies. Does not: the comparisons (identities,
windows, coverage), showing them (pipelines.dagster_app.checks in the Dagster UI, report, __main__).
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import polars as pl

from pipelines.code_digest import digest_of
from pipelines.loading import loading
from pipelines.one_thread import in_one_thread
from pipelines.quality import coverage, identities, windows
from pipelines.quality.evidence import FAILS, FLAGGED, FOUND, HOLDS, Evidence
from pipelines.stages.batch.batches import in_batches
from pipelines.storage.lake import Lake, LimitedLake
from pipelines.tables import stored
from pipelines.workers import ALONE, Workers

COVERAGE = "newest_periods_are_covered"
TABLE = "quality"


@dataclass(frozen=True, slots=True)
class Check:
    """A condition that correct values meet.

    threshold: the largest share of comparisons that may fail; a difference that a flag explains does not count as a
        failure.
    table: the published table whose values are compared.
    """

    name: str
    meaning: str
    source: str
    threshold: float
    find: Callable[[Evidence], pl.DataFrame]
    table: str = "financials"


CHECKS: tuple[Check, ...] = (
    Check(
        "quarters_add_to_the_year",
        "Four quarters as filed (the fourth as the year less nine months if not filed) add up to our fiscal year.",
        "Regulation S-X Rule 10-01(c); ASC 270-10-45",
        0.02,
        windows.quarters_of_years,
        "quarters",
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
        # 101 companies with complete documents lack 26.0 %, two thirds of it for items that they never had; 28 % are 23
        # values more, as if an item were lost for a quarter of the companies
        0.28,
        coverage.newest_period,
        "gaps",
    ),
    Check(
        "newest_periods_keep_their_items",
        "The newest period of a company has every item that one of its periods of the two years before has.",
        "specification, section 2.4",
        # the same companies lack 10.0 %, most for lines and quarters that newest reports do not state; 12 % are 17
        # values more, as if two companies lost all of theirs
        0.12,
        coverage.kept_items,
        "gaps",
    ),
)
BY_NAME: dict[str, Check] = {check.name: check for check in CHECKS}


def measured(lake: Lake, workers: Workers = ALONE) -> pl.DataFrame:
    """All comparisons of all checks over the assembled tables, by company: `check` and the columns of FOUND.

    The result is stored in table `quality`; only companies with changed tables or facts are compared again.

    Args:
        lake: the assembled tables and the facts.
        workers: the processes that share the batches.
    """
    wanted, known = _made_from(lake), lake.inputs(TABLE)
    to_do = {cik: digest for cik, digest in wanted.items() if known.get(cik) != digest}
    if to_do or not known:
        with lake.gathering(TABLE) as output:
            parts = [lake.limited_to(batch) for batch in in_batches(sorted(to_do))]
            for _ in output.fill(workers, _of_companies, parts):
                pass
            lake.replace_companies(TABLE, output.of(TABLE), to_do)
    lake.remove_companies(TABLE, known.keys() - wanted.keys())
    return lake.read(TABLE)


def found(lake: Lake) -> pl.DataFrame:
    """The result of `measured`, without reading or writing table `quality`."""
    return pl.concat(_of_companies(lake.limited_to(batch))[0][TABLE] for batch in in_batches(_made_from(lake)))


def in_check_order(rows: pl.DataFrame) -> pl.DataFrame:
    """The comparisons in the order of the page: by check, then by company."""
    numbers = {check.name: number for number, check in enumerate(CHECKS)}
    by_check = pl.col("check").replace_strict(numbers, return_dtype=pl.Int32)
    return rows.select("check", *FOUND).sort(by_check, "cik", "period_end", "subject", "other")


@in_one_thread
def _of_companies(part: LimitedLake) -> tuple[dict[str, pl.DataFrame], None]:
    """The comparisons of a batch of companies."""
    with loading():
        from pipelines.quality.reading import evidence_of
    evidence = evidence_of(part)
    rows = [check.find(evidence).select(pl.lit(check.name).alias("check"), *FOUND) for check in CHECKS]
    return {TABLE: pl.concat([pl.DataFrame(schema={"check": pl.String, **FOUND}), *rows])}, None


def _made_from(lake: Lake) -> dict[str, str]:
    """A digest, for each covered company, of the inputs of its comparisons: its tables, its facts, and the checks."""
    tables_of, facts = lake.inputs(stored.CONTENTS), lake.inputs("facts")
    return {
        cik: hashlib.sha256(f"{tables_of.get(cik)} {facts.get(cik)} {_code_digest()}".encode()).hexdigest()
        for cik in lake.read(stored.assembled("companies"), ["cik"])["cik"].unique().sort()
    }


@cache
def _code_digest() -> str:
    """A digest of the code of the checks."""
    return digest_of(__name__)


def tallied(rows: pl.DataFrame) -> pl.DataFrame:
    """One row a check: `check`, `compared`, `holds`, `flagged`, `fails`, `companies` (that fail), `failing` (share),
    `threshold`, `passed`.

    Args:
        rows: the result of `measured`.
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
