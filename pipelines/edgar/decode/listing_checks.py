"""Doubts about the SEC's list of companies: many companies missing at once, symbols of two companies, malformed rows.

Belongs here: finding doubts, deciding when they count as confirmed, and the earlier listings that replace malformed
rows. Does not: reading the list (documents), holding back a build (gates).

A list that was cut off during transfer looks like a list of fewer companies. So the build is held back until a setting
confirms the list, or the list is still the same half a day later.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

import polars as pl

from pipelines.edgar.decode.documents import MalformedRow

TABLE = "doubts"
MISSING, CONTESTED, MALFORMED = "missing", "contested", "malformed"
DOUBTS = pl.Schema(
    {
        "kind": pl.String(),
        "cik": pl.String(),
        "symbol": pl.String(),
        "name": pl.String(),
        "since": pl.Datetime("us", "UTC"),
        "is_settled": pl.Boolean(),
    }
)

ANOTHER_DAY = timedelta(hours=12)
"""A doubt that is unchanged after this time counts as confirmed: usually at the synchronization of the next day."""

LARGEST_SHARE, FEW, HALF = 0.01, 3, 0.5
"""About ten of 8,000 companies leave the list every day. More than a hundredth at once is an error of the list. Of a
short list, half is an error, and FEW companies are not. The same holds for malformed rows."""

KEY = ["kind", "cik", "symbol"]


def kept(malformed: Sequence[MalformedRow], before: pl.DataFrame, listed: pl.DataFrame) -> pl.DataFrame:
    """The earlier listings that are kept, because their rows are malformed now.

    A malformed row stands for the missing listings with its symbol, otherwise with its CIK, otherwise with its name. A
    row without any match and without a CIK may stand for any missing listing, so all of them are kept.

    Args:
        malformed: the malformed rows.
        before: the listings of the synchronization before.
        listed: the rows of the list that can be read.

    Returns:
        rows of `before`, with the `position` of their malformed row.
    """
    missing = before.join(listed, on="symbol", how="anti")
    stay = [missing.clear()]
    for row in malformed:
        named = [missing.filter(pl.col(column).is_in(list(row.values))) for column in ("symbol", "cik", "name")]
        of_row = next((rows for rows in named if rows.height), missing.clear() if row.has_cik else missing)
        stay.append(of_row.with_columns(position=pl.lit(row.position, pl.Int32)))
    return pl.concat(stay).unique("symbol", keep="first", maintain_order=True)


def found(
    listed: pl.DataFrame,
    before: pl.DataFrame,
    known: pl.DataFrame,
    now: datetime,
    malformed: Sequence[MalformedRow] = (),
) -> pl.DataFrame:
    """The doubts about a list, with the columns of DOUBTS. For a malformed row, `symbol` is its text and `name` its
    flaw.

    Args:
        listed: the rows of the list that can be read: `cik`, `symbol`, `name`.
        before: the companies that were listed before, in the same columns.
        known: the doubts of the synchronization before, whose `since` and `is_settled` are kept.
        now: the time of this synchronization.
        malformed: the other rows of the list.
    """
    names = ["cik", "symbol", "name"]
    open_ones = known.filter(pl.col("kind") == MISSING, ~pl.col("is_settled")).select(names)
    missing = pl.concat([before.select(names), open_ones]).join(listed, on="cik", how="anti")
    contested = listed.select(names).filter(pl.col("cik").n_unique().over("symbol") > 1)
    wrong = pl.DataFrame(
        [("", row.text, row.reason) for row in malformed], schema=dict.fromkeys(names, pl.String), orient="row"
    )
    nth = pl.int_range(1, pl.len() + 1).over("symbol")  # rows may be the same
    rows = pl.concat(
        [
            missing.select(pl.lit(MISSING).alias("kind"), *names),
            contested.select(pl.lit(CONTESTED).alias("kind"), *names),
            wrong.with_columns(pl.format("{} ({})", "symbol", nth)).select(pl.lit(MALFORMED).alias("kind"), *names),
        ]
    ).unique(KEY, maintain_order=True)
    doubted = rows.join(known.select(*KEY, "since", "is_settled"), on=KEY, how="left")
    # not after now: otherwise a doubt from a clock that was ahead would last until that time
    since, was_settled = pl.min_horizontal("since", pl.lit(now)), pl.col("is_settled").fill_null(value=False)
    is_settled = was_settled | (now - since >= ANOTHER_DAY)
    return doubted.with_columns(since.dt.cast_time_unit("us"), is_settled).select(DOUBTS.names()).cast(DOUBTS)


def settled(doubts: pl.DataFrame) -> pl.DataFrame:
    """Mark the doubts as settled, after a build was published."""
    return doubts.with_columns(is_settled=pl.lit(value=True))


def holding_back(doubts: pl.DataFrame, listed: int) -> pl.DataFrame:
    """The doubts that hold back a build; empty if only a few companies are missing and a few rows are malformed.

    Args:
        doubts: the doubts about the list.
        listed: the number of companies that are listed now.
    """
    fresh = doubts.filter(~pl.col("is_settled"))
    held = [CONTESTED]
    for kind, counted in ((MISSING, "cik"), (MALFORMED, "symbol")):
        wrong = fresh.filter(pl.col("kind") == kind)[counted].n_unique()
        share = wrong / (listed + wrong) if wrong else 0.0
        if (wrong > FEW and share > LARGEST_SHARE) or (wrong > 1 and share >= HALF):
            held.append(kind)
    return fresh.filter(pl.col("kind").is_in(held))


def skipped(doubts: pl.DataFrame) -> list[str]:
    """The flaws of the malformed rows, which were skipped."""
    return doubts.filter(pl.col("kind") == MALFORMED)["name"].to_list()


def in_words(rows: pl.DataFrame, shown: int = FEW) -> str:
    """Describe the doubts in words, with numbers and the first names."""
    missing = rows.filter(pl.col("kind") == MISSING).unique("cik", maintain_order=True)
    contested = rows.filter(pl.col("kind") == CONTESTED)
    parts = []
    if missing.height:
        names = ", ".join(f"{name} ({symbol})" for name, symbol in missing.select("name", "symbol").head(shown).rows())
        parts.append(f"{missing.height:,} companies are missing in the SEC's list at once, such as {names}")
    if contested.height:
        symbols = contested["symbol"].unique(maintain_order=True)
        named = ", ".join(symbols.head(shown))
        parts.append(f"{len(symbols):,} symbols belong to two companies in the SEC's list: {named}")
    if malformed := skipped(rows):
        parts.append(f"{len(malformed):,} rows of the SEC's list are malformed, such as {malformed[0]}")
    return "; ".join(parts)
