"""Provenance: finds the filed facts behind each value by row numbers.

Belongs here: following the legs of a value to the facts as filed. Does not: which legs a value has (line_items, ttm),
how facts are chosen (facts, balance).

A value has legs (rows of flows or balances), a flow has legs (vintages), and a vintage consists of filed facts. Each
level refers to the next by row number; the columns of facts are added once, at the end.
"""

import polars as pl

from pipelines.normalize.arrays import floats
from pipelines.normalize.items.flags import OF_SOURCES
from pipelines.normalize.powers import is_power_of_ten

LINEAGE = [
    "role",
    "weight",
    "split_factor",
    "tag",
    "unit",
    "start",
    "end",
    "value",
    "accession",
    "form",
    "filed",
    "concept",
    "rule",
    "source",
    "member",
    "label",
]

SHARES = ("shares_basic", "shares_diluted")
OWN = "own"
"""The prefix of elements of the filer's own, in place of a taxonomy."""
WITHOUT_CURRENCY = ("shares", "pure")
"""Units, or first parts of units, that name no currency."""


def lineage(
    legs: pl.DataFrame, flow_legs: pl.DataFrame, balances: pl.DataFrame, facts: pl.DataFrame, filings: pl.DataFrame
) -> pl.DataFrame:
    """The filed facts behind each version, in the order in which they enter the value.

    Args:
        legs: `version`, `place`, `role`, `times`, and `flow` or `balance`: a row number.
        flow_legs: `flow`, `place`, `vintage`, `weight`, sorted by the first two.
        balances: `vintage`, one row a balance.
        facts: the facts of each vintage, sorted by `vintage`, `tag`: these, `coefficient`, `repair` (the factor that
            corrected an error of scale or sign), `cik`, `seq`, and the fact as filed.
        filings: `cik`, `seq`, `factor` (new shares for one share of the filing's basis).

    Returns:
        `version`, sorted, the columns of LINEAGE, `repair`, and the flags `reservation` (of the source) and `flag` (of
        the balance). A fact is multiplied by `split_factor`, which converts it to the newest share basis and includes
        the repair, and then by `weight`.
    """
    vintages = balances.select(balance=pl.int_range(pl.len(), dtype=pl.UInt32), vintage="vintage")
    amounts = pl.concat(
        [
            legs.join(flow_legs.select("flow", "vintage", "weight"), on="flow", maintain_order="left_right"),
            legs.join(vintages, on="balance", maintain_order="left").with_columns(weight=1.0),
        ],
        how="diagonal",
    ).sort("version", "place", maintain_order=True)
    behind = amounts.join(facts, on="vintage", maintain_order="left_right").join(
        filings.select("cik", "seq", "factor"), on=["cik", "seq"], how="left", maintain_order="left"
    )
    unit = pl.col("unit")
    # income and earnings per share from which an average of shares is computed count as shares
    basis = (
        pl.when((unit == "shares") | pl.col("concept").cast(pl.String).is_in(SHARES))
        .then("factor")
        .when(unit.str.ends_with("/shares"))
        .then(1 / pl.col("factor"))
        .otherwise(1.0)
    )
    return behind.with_columns(
        weight=pl.col("times") * pl.col("weight") * pl.col("coefficient"),
        split_factor=pl.col("repair") * basis,
        concept=pl.col("concept").cast(pl.String),
    ).select("version", *LINEAGE, "repair", "reservation")


def summaries(found: pl.DataFrame, versions: int) -> pl.DataFrame:
    """Flags and fingerprints of each version, from its facts.

    Args:
        found: of `lineage`.
        versions: number of versions.

    Returns:
        one row a version: whether it has each flag of repaired legs and OF_SOURCES; `elements`, `standards` and
        `currency`, numbers that are equal for two versions with the same elements, taxonomies or currencies; 0: without
        currency, or with elements of the filer's own alone.
    """
    repair = pl.col("repair")
    is_scale = pl.lit(pl.Series(is_power_of_ten(floats(found, "repair"))))
    marks = {
        "scale_repaired": (repair.abs() != 1) & is_scale,
        "sign_repaired": repair < 0,
        "figure_repaired": ~is_scale,
        **{name: pl.col("reservation").eq_missing(pl.lit(name)) for name in OF_SOURCES},
    }
    currency = pl.col("unit").str.split("/").list.first()
    summed = (
        found.with_columns(**marks, currency=currency, standards=pl.col("tag").str.split(":").list.first())
        .group_by("version")
        .agg(
            pl.col(*marks).any(),
            elements=_fingerprint(pl.col("tag")),
            standards=_fingerprint(pl.col("standards").filter(pl.col("standards") != OWN)),
            currency=_fingerprint(pl.col("currency").filter(~pl.col("currency").is_in(WITHOUT_CURRENCY))),
        )
    )
    every = pl.DataFrame({"version": pl.int_range(versions, dtype=pl.UInt32, eager=True)})
    described = every.join(summed, on="version", how="left", maintain_order="left").drop("version")
    return described.with_columns(pl.col(*marks).fill_null(value=False), pl.exclude(*marks).fill_null(0))


def _fingerprint(names: pl.Expr) -> pl.Expr:
    """A number for the set of names of each version: the sum of one number for each distinct name."""
    return (names.hash() % (1 << 40)).unique().sum()
