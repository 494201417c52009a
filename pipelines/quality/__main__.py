"""Prints the checks of a home's values: `make quality`.

Belongs here: output on the terminal. Does not: any comparison (checks).
"""

import argparse
import sys

import polars as pl

from pipelines.errors import PipelineError
from pipelines.quality import coverage, figures, missing
from pipelines.quality.checks import CHECKS, COVERAGE, found, in_check_order, tallied
from pipelines.quality.evidence import HOLDS
from pipelines.quality.report import symbols_of
from pipelines.quality.text import show
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake
from pipelines.tables.stored import assembled


def main(arguments: list[str] | None = None) -> int:
    """Print the comparisons and failures; the exit status is 1 if the home has no tables."""
    parser = argparse.ArgumentParser(prog="make quality", description=str(__doc__).partition("\n")[0])
    parser.add_argument("--list", action="store_true", help="list every comparison that does not hold")
    given = parser.parse_args(arguments)
    lake = Lake(Home.from_environment().tables)
    try:
        if not lake.holds(assembled("companies")):
            print(f"{lake.folder} holds no tables; synchronize first: make sync SOURCE=PATH", file=sys.stderr)
            return 1
        rows, symbols = in_check_order(found(lake)), symbols_of(lake)
    except PipelineError as error:
        print(f"make quality: {error}", file=sys.stderr)
        return 1
    if given.list:
        for check in CHECKS:
            listed = rows.filter(pl.col("check") == check.name, pl.col("outcome") != HOLDS).join(symbols, on="cik")
            show(_listed(listed), f"{check.name}: {check.meaning}")
    newest = coverage.by_industry(rows.filter(pl.col("check") == COVERAGE))
    show(coverage.across(newest), "Newest periods that have the item, by industry (companies)")
    periods = lake.read(assembled("financials")).filter(pl.col("period_kind") == "ttm", "is_primary")
    reasons = lake.read(assembled("gaps")).filter(pl.col("period_kind") == "ttm")
    show(missing.by_company(periods), "What is missing: the companies with most gaps")
    show(figures.gaps(reasons), "What is missing: twelve-month periods without the item, by reason")
    show(missing.by_item(periods, reasons), "What is missing: the share of twelve-month periods with a value")
    rules = lake.read(assembled("rules")) if lake.holds(assembled("rules")) else None
    if rules is not None:
        show(figures.idle(rules), "Rules that decided nothing in this build")
        show(figures.deciding(rules), "Rules by the number of values, figures and companies that they decided")
    show(tallied(rows), "Checks: comparisons, failures and thresholds")
    return 0


def _listed(rows: pl.DataFrame) -> pl.DataFrame:
    """The comparisons sorted by outcome, symbol and subject, with the ratio of the two values."""
    return rows.sort("outcome", "symbol", "subject", "period_end").select(
        "outcome",
        "symbol",
        "subject",
        "period_end",
        "ours",
        "other",
        ratio=pl.col("ours") / pl.col("other"),
        flags="flags",
    )


if __name__ == "__main__":
    sys.exit(main())
