"""Doubts about the SEC's list of companies: companies that are missing all at once, symbols of two companies.

Belongs here: finding them, and when they count as confirmed. Does not: reading the list (stages), holding back a build
(checks).

A list that was cut off on its way looks like a list of fewer companies. So the build is held back until a setting
confirms the list, or it still says the same half a day later.
"""

from datetime import datetime, timedelta

import polars as pl

TABLE = "doubts"
MISSING, CONTESTED = "missing", "contested"
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
"""A list that says the same so long after the first time counts as confirmed: the synchronization of the next day."""

LARGEST_SHARE, FEW, HALF = 0.01, 3, 0.5
"""Companies leave the list every day, some ten of 8,000. More than a hundredth at once are an error of the list; so is
half of a short list, but not a few companies of it."""

KEY = ["kind", "cik", "symbol"]


def found(listed: pl.DataFrame, before: pl.DataFrame, known: pl.DataFrame, now: datetime) -> pl.DataFrame:
    """The doubts about a list: columns of DOUBTS.

    Args:
        listed: all rows of the list: `cik`, `symbol`, `name`.
        before: the companies that were listed before, in the same columns.
        known: the doubts of the synchronization before, whose `since` and `is_settled` are kept.
        now: the time of this synchronization.
    """
    names = ["cik", "symbol", "name"]
    open_ones = known.filter(pl.col("kind") == MISSING, ~pl.col("is_settled")).select(names)
    missing = pl.concat([before.select(names), open_ones]).join(listed, on="cik", how="anti")
    contested = listed.select(names).filter(pl.col("cik").n_unique().over("symbol") > 1)
    rows = pl.concat(
        [
            missing.select(pl.lit(MISSING).alias("kind"), *names),
            contested.select(pl.lit(CONTESTED).alias("kind"), *names),
        ]
    ).unique(KEY, maintain_order=True)
    doubted = rows.join(known.select(*KEY, "since", "is_settled"), on=KEY, how="left")
    # not after now: when the clock was ahead, a doubt would stay until that time
    since, was_settled = pl.min_horizontal("since", pl.lit(now)), pl.col("is_settled").fill_null(value=False)
    is_settled = was_settled | (now - since >= ANOTHER_DAY)
    return doubted.with_columns(since.dt.cast_time_unit("us"), is_settled).select(DOUBTS.names()).cast(DOUBTS)


def settled(doubts: pl.DataFrame) -> pl.DataFrame:
    """The doubts after a build was published: settled."""
    return doubts.with_columns(is_settled=pl.lit(value=True))


def holding_back(doubts: pl.DataFrame, listed: int) -> pl.DataFrame:
    """The doubts that hold back a build; none if only a few companies are missing.

    Args:
        doubts: the doubts about the list.
        listed: the number of companies that are listed now.
    """
    fresh = doubts.filter(~pl.col("is_settled"))
    missing = fresh.filter(pl.col("kind") == MISSING)
    gone = missing["cik"].n_unique()
    share = gone / (listed + gone) if gone else 0.0
    is_much = (gone > FEW and share > LARGEST_SHARE) or (gone > 1 and share >= HALF)
    return fresh if is_much else fresh.filter(pl.col("kind") == CONTESTED)


def in_words(rows: pl.DataFrame, shown: int = FEW) -> str:
    """What the doubts are, with numbers and the first names."""
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
    return "; ".join(parts)
