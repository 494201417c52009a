"""Legs: the vintages that a value is made of, the parts that they play, and rows of items that carry them.

Belongs here: what every rule that makes an item of concepts needs to write down what it took. Does not: any such rule
(items, returns).
"""

import polars as pl

POINT = ["cik", "seq", "q"]
QUARTERS_A_YEAR = 4

LEG = pl.Struct({"vintage": pl.UInt32, "role": pl.String, "weight": pl.Float64})
"""A vintage that a value is made of, the part that it plays, and what its value is multiplied by."""

SUM = "sum"
"""The part of a leg that is simply added, times its weight."""
MEAN, DIVIDEND, DIVISOR, DIVISOR_MEAN = "mean", "dividend", "divisor", "divisor_mean"


def how(concept: str, field: str) -> pl.Expr:
    """A field (method, flags, legs) of how a concept's amount came about, in the wide frame of a point."""
    return pl.col(f"{concept}_how").struct.field(field)


def flags_of(*concepts: str) -> pl.Expr:
    """The flags of how several concepts' amounts came about, each once."""
    each = [how(concept, "flags").str.split(",") for concept in concepts]
    return pl.concat_list(*each).list.unique(maintain_order=True).list.join(",").str.strip_chars(",")


def legs_of(concept: str, role: str = SUM, times: float = 1.0) -> pl.Expr:
    """The legs of a concept, none where it has none; in a role, and times a factor."""
    return recast(how(concept, "legs"), role, times).fill_null(pl.lit([], pl.List(LEG)))


def recast(legs: pl.Expr, role: str, times: float = 1.0) -> pl.Expr:
    """Legs in another role, their weights multiplied."""
    leg = pl.element().struct
    return legs.list.eval(leg.with_fields(role=pl.lit(role), weight=leg.field("weight") * times))


def item(
    frame: pl.DataFrame, name: str, value: pl.Expr, method: pl.Expr, flags: pl.Expr, legs: pl.Expr
) -> pl.DataFrame:
    """Rows of a line item (`cik`, `seq`, `q`, `item`, `value`, `method`, `flags`, `legs`) where it has a value."""
    named = frame.select(*POINT, item=pl.lit(name), value=value, method=method, flags=flags.fill_null(""), legs=legs)
    return named.drop_nulls("value")
