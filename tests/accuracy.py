"""The comparison of the published values with a data vendor's: `make accuracy`.

Belongs here: matching a published build with a file of vendor values, counting, and listing the differences.
Does not: deciding who is right; the vendor is a second opinion, and differences are to be looked up in the filings.

The file has `symbol`, `period_kind`, `period_end`, `item`, `value` (reporting currency, units) and `answerable`: 1 if
the company's filed facts are known to lead to the vendor's value.
"""

import argparse
import sys
from pathlib import Path

import duckdb
import polars as pl

from pipelines.quality.text import show
from pipelines.storage.home import Home
from tests.conftest import PROJECT, SHARED
from warehouse.build import publish
from warehouse.contract.line_items import ITEM_NAMES

VENDOR = SHARED / "truth" / "vendor_statements.csv"
WITHIN = 0.005
"""Largest difference, as a share of the vendor's value: both values may be rounded."""

SAME_PERIOD = "10d"
"""The vendor moves period ends to the end of the month; years of 52 or 53 weeks end on a weekday near it."""

VALUE = ["cik", "period_kind", "period_end", "item"]
NO_PERIOD = "no such period"
LISTED = ["item", "period_kind", "symbol", "period_end", "ours", "value", "ratio", "answerable", "method", "flags"]

MISSING = """\
Nothing was compared: {why}.
This command compares the published values with those of a data vendor, as a second opinion. Vendors do not allow their
values to be passed on, so they are not part of this project. With values of your own, run

    make accuracy SOURCE=PATH VENDOR=FILE.csv

The columns are symbol, period_kind (ttm, annual), period_end, item, value and answerable (0 or 1). Without a second
opinion, `make quality` checks the values against each other and against what the filers state."""


def read_vendor(path: Path) -> pl.DataFrame:
    """The vendor's values: `symbol`, `period_kind`, `period_end` (date), `item`, `value`, `answerable` (boolean)."""
    return pl.read_csv(path, schema_overrides={"period_end": pl.Date, "value": pl.Float64}).select(
        "symbol", "period_kind", "period_end", "item", "value", pl.col("answerable") == 1
    )


def compared(vendor: pl.DataFrame, financials: pl.DataFrame) -> pl.DataFrame:
    """The vendor's rows with our value of the nearest period of the same kind within ten days.

    Args:
        vendor: the result of `read_vendor`.
        financials: the published table.

    Returns:
        The vendor's columns, `ours` (null: no value), `cik`, `our_end`, `ratio` (ours divided by the vendor's) and
        `within` (whether they differ by at most 0.5 %).
    """
    long = financials.unpivot(
        [item for item in ITEM_NAMES if item in financials.columns],
        index=["symbol", "cik", "period_kind", "period_end"],
        variable_name="item",
        value_name="ours",
    ).rename({"period_end": "our_end"})
    near = vendor.sort("period_end").join_asof(
        long.sort("our_end"),
        left_on="period_end",
        right_on="our_end",
        by=["symbol", "period_kind", "item"],
        strategy="nearest",
        tolerance=SAME_PERIOD,
        check_sortedness=False,
    )
    difference = (pl.col("ours") - pl.col("value")).abs()
    return near.with_columns(
        ratio=pl.col("ours") / pl.col("value"),
        within=(difference <= WITHIN * pl.col("value").abs()).fill_null(value=False),
    )


def counted(rows: pl.DataFrame) -> pl.DataFrame:
    """Counts by item and kind and in total: compared, answerable, and of these with a value and within 0.5 %."""
    answerable = pl.col("answerable")
    counts = {
        "asked": pl.len(),
        "answerable": answerable.sum(),
        "answered": (answerable & pl.col("ours").is_not_null()).sum(),
        "within": (answerable & pl.col("within")).sum(),
        "others_answered": (~answerable & pl.col("ours").is_not_null()).sum(),
        "others_within": (~answerable & pl.col("within")).sum(),
    }
    order = pl.col("item").replace_strict({name: n for n, name in enumerate(ITEM_NAMES)}, default=None)
    by_item = rows.group_by("item", "period_kind").agg(**counts).sort(order, "period_kind")
    total = rows.select(item=pl.lit("all"), period_kind=pl.lit(""), **counts).head(1)
    return pl.concat([by_item, total]).with_columns(share=pl.col("within") / pl.col("answerable"))


def differences(rows: pl.DataFrame, versions: pl.DataFrame, lineage: pl.DataFrame, gaps: pl.DataFrame) -> pl.DataFrame:
    """The values that differ by more than 0.5 %, with the origin of ours: its legs' tags, or the reason of its gap.

    Answerable ones come first.

    Args:
        rows: the result of `compared`.
        versions, lineage, gaps: the published tables.
    """
    current = versions.filter("is_current").select(*VALUE, "version", "method", "flags")
    tags = (
        lineage.join(current.select(*VALUE, "version"), on=[*VALUE, "version"])
        .group_by(VALUE)
        .agg(tags=pl.concat_str("operation", pl.lit(" "), "tag").unique().sort().str.join("; "))
    )
    known = current.join(tags, on=VALUE, how="full", coalesce=True).join(gaps, on=VALUE, how="full", coalesce=True)
    return (
        rows.filter(~pl.col("within"))
        .join(known.rename({"period_end": "our_end"}), on=["cik", "period_kind", "our_end", "item"], how="left")
        .sort("answerable", "item", "period_kind", "symbol", "period_end", descending=[True, *[False] * 4])
        .select(*LISTED, pl.coalesce("tags", "reason", pl.lit(NO_PERIOD)).alias("tags or reason"))
    )


def main(arguments: list[str] | None = None) -> int:
    """Print the table, and the list if requested; return 1 if there is nothing to compare."""
    parser = argparse.ArgumentParser(prog="make accuracy", description=str(__doc__).partition("\n")[0])
    parser.add_argument("--vendor", type=Path, default=VENDOR, help="the file of the vendor's values")
    parser.add_argument("--list", action="store_true", help="list every difference, with how our value came about")
    given = parser.parse_args(arguments)
    published = Home.from_environment().published
    pointer = publish.current(published)
    if not given.vendor.exists():
        why = "no file was given" if given.vendor == VENDOR else f"there is no file {_shown(given.vendor)}"
        print(MISSING.format(why=why), file=sys.stderr)
        return 1
    if pointer is None:
        print(f"nothing is published in {_shown(published)}; synchronize first: make sync SOURCE=PATH", file=sys.stderr)
        return 1
    with duckdb.connect(str(published / pointer.file), read_only=True) as connection:
        tables = {name: connection.sql(f"FROM {name}").pl() for name in ("financials", "versions", "lineage", "gaps")}
    rows = compared(read_vendor(given.vendor), tables["financials"])
    if rows["ours"].is_null().all():
        print(f"{_shown(published)} holds none of the companies that were asked for", file=sys.stderr)
        return 1
    if given.list:
        listed = differences(rows, tables["versions"], tables["lineage"], tables["gaps"])
        show(listed, f"{listed.height} values are not the vendor's, build {pointer.build}")
    show(counted(rows), f"Within {WITHIN:.1%} of the vendor's values, build {pointer.build}")
    return 0


def _shown(path: Path) -> Path:
    """A path relative to the project, for messages."""
    return path.relative_to(PROJECT.parent) if path.is_relative_to(PROJECT.parent) else path


if __name__ == "__main__":
    sys.exit(main())
