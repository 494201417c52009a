"""Provenance: finds the filed facts behind each value by row numbers.

Belongs here: following the legs of a value to the facts as filed. Does not: which legs a value has (line_items, ttm),
how facts are chosen (facts, balance).

A value has legs (rows of flows or balances), a flow has legs (vintages), and a vintage consists of filed facts. Each
level refers to the next by row number; the columns of facts are added once, at the end.
"""

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Ints, floats, ints
from pipelines.normalize.corrections.powers import is_power_of_ten
from pipelines.normalize.items.flags import OF_LEGS, OF_SOURCES

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
]

SHARES = ("shares_basic", "shares_diluted")
WITHOUT_CURRENCY = ("shares", "pure")
"""Units, or what they begin with, that name no currency."""


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
    ordered = legs.sort("version", "place")
    first, count = _groups(ints(flow_legs, "flow"))
    flows = len(first)
    first = np.concatenate([first, flow_legs.height + np.arange(balances.height)])
    count = np.concatenate([count, np.ones(balances.height, dtype=np.int64)])
    vintage = np.concatenate([ints(flow_legs, "vintage"), ints(balances, "vintage")])
    weight = np.concatenate([floats(flow_legs, "weight"), np.ones(balances.height)])
    is_flow = ordered["flow"].is_not_null().to_numpy()
    row = np.where(is_flow, floats(ordered, "flow"), floats(ordered, "balance") + flows).astype(np.int64)
    of_leg, amount = _expanded(first[row], count[row])

    first, count = _groups(ints(facts, "vintage"))
    of_amount, fact = _expanded(first[vintage[amount]], count[vintage[amount]])
    leg = of_leg[of_amount]
    behind = facts[fact].join(
        filings.select("cik", "seq", "factor"), on=["cik", "seq"], how="left", maintain_order="left"
    )
    unit = pl.col("unit")
    # income and earnings per share that prove an average of shares make up shares
    basis = (
        pl.when((unit == "shares") | pl.col("concept").cast(pl.String).is_in(SHARES))
        .then("factor")
        .when(unit.str.ends_with("/shares"))
        .then(1 / pl.col("factor"))
        .otherwise(1.0)
    )
    entering = floats(ordered, "times")[leg] * weight[amount][of_amount]
    return behind.with_columns(
        version=ordered["version"][leg],
        role=ordered["role"][leg],
        weight=pl.Series(entering) * pl.col("coefficient"),
        split_factor=pl.col("repair") * basis,
        concept=pl.col("concept").cast(pl.String),
    ).select("version", *LINEAGE, "repair", "reservation")


def _groups(key: Ints) -> tuple[Ints, Ints]:
    """For each number from 0 to the largest key: its first row among rows sorted by key, and its number of rows."""
    numbers = np.arange(int(key[-1]) + 1 if len(key) else 0)
    first = np.searchsorted(key, numbers, side="left")
    return first, np.searchsorted(key, numbers, side="right") - first


def _expanded(first: Ints, count: Ints) -> tuple[Ints, Ints]:
    """For each owner the rows `first`, `first` + 1 and so on, `count` of them: the numbers of owners, and the rows."""
    owner = np.repeat(np.arange(len(count)), count)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
    return owner, first[owner] + within


def summaries(found: pl.DataFrame, versions: int) -> pl.DataFrame:
    """Flags and fingerprints of each version, from its facts.

    Args:
        found: of `lineage`.
        versions: number of versions.

    Returns:
        one row a version: whether it has each flag of OF_LEGS and OF_SOURCES; `elements`, `standards` and `currency`,
        numbers that are equal for two versions with the same elements, taxonomies or currencies; 0: without currency.
    """
    version, repair = ints(found, "version"), floats(found, "repair")
    is_scale = is_power_of_ten(repair)
    of_leg = dict(zip(OF_LEGS, ((np.abs(repair) != 1) & is_scale, repair < 0, ~is_scale), strict=True))
    named = found["reservation"].fill_null("")
    for name in OF_SOURCES:
        of_leg[name] = (named == name).to_numpy()
    taxonomy = found["tag"].str.split(":").list.first()
    currency = found["unit"].str.split("/").list.first()
    has_currency = ~currency.is_in(list(WITHOUT_CURRENCY))
    return pl.DataFrame(
        {
            **{name: np.bincount(version[holds], minlength=versions) > 0 for name, holds in of_leg.items()},
            "elements": _fingerprints(version, found["tag"], versions),
            "standards": _fingerprints(version, taxonomy, versions),
            "currency": _fingerprints(version[has_currency.to_numpy()], currency.filter(has_currency), versions),
        }
    )


def _fingerprints(version: Ints, names: pl.Series, versions: int) -> np.ndarray:
    """A number for the set of names of each version: the sum of one random number for each distinct name."""
    code = names.cast(pl.Categorical).to_physical().to_numpy().astype(np.int64)
    several = int(code.max()) + 1 if len(code) else 1
    pairs = np.unique(version * several + code)
    random = np.random.default_rng(several).integers(1, 1 << 40, size=several, dtype=np.int64)
    found = np.zeros(versions, dtype=np.int64)
    np.add.at(found, pairs // several, random[pairs % several])
    return found
