"""A company's results do not depend on the other companies of the call, nor on any order of rows."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from polars.lazyframe.group_by import LazyGroupBy

from pipelines.normalize.pipeline import standardize
from pipelines.sample import Filer
from pipelines.stages.batch.schemas import UNREAD_REPORTS, VALUE_TABLES
from pipelines.stages.values_of_batch import of_all_lengths
from pipelines.storage.lake import Lake
from tests.property.histories import acceptances, decoded, listed, simulated
from tests.strategies import examples, filers, together

Tables = dict[str, pl.DataFrame]
Company = tuple[str, str]
"""A table, and the CIK of a company in it."""

OF_RULES = [name for name in VALUE_TABLES if name != UNREAD_REPORTS]
"""The tables that the rules make."""
HALF = 50
ALONE = ("0000909832", "0000097476", "0000002186")  # Costco, Texas Instruments, Barnwell Industries


def tables_of(*frames: pl.DataFrame) -> Tables:
    """All tables of the facts, acceptances and registrants of some companies."""
    found = standardize(*frames)
    of_all = of_all_lengths(found)
    return {name: of_all[name] if name in of_all else getattr(found, name) for name in OF_RULES}


def by_company(tables: Iterable[Tables]) -> dict[Company, list[tuple[Any, ...]]]:
    """The rows of each company in each table, in order."""
    return {
        (name, cik): rows.rows()
        for each in tables
        for name, table in each.items()
        for (cik,), rows in table.partition_by("cik", as_dict=True, maintain_order=True).items()
    }


def different(one: Iterable[Tables], other: Iterable[Tables]) -> set[Company]:
    """The companies with rows in a table that are not the same, in the same order."""
    ones, others = by_company(one), by_company(other)
    return {key for key in ones.keys() | others.keys() if ones.get(key) != others.get(key)}


def shuffled(frame: pl.DataFrame, random: Random) -> pl.DataFrame:
    return frame.sample(fraction=1, shuffle=True, seed=random.getrandbits(32))


def in_batches(size: int, random: Random, *frames: pl.DataFrame) -> Iterator[Tables]:
    """The tables of the companies in batches of a size, drawn as their rows are, and in whatever order Polars may take.

    Args:
        size: companies of a batch.
        random: draws the order.
        frames: facts, acceptances and registrants.
    """
    ciks = frames[0]["cik"].unique().sort().to_list()
    random.shuffle(ciks)
    for first in range(0, len(ciks), size):
        of_batch = pl.col("cik").is_in(ciks[first : first + size])
        with in_any_order(random):
            yield tables_of(*(shuffled(frame.filter(of_batch), random) for frame in frames))


@contextmanager
def in_any_order(random: Random) -> Iterator[None]:
    """Shuffle the rows where Polars promises no order: rows of joins, groups and distinct, and equal rows of sorts."""
    join, sort, unique, group_by = (getattr(pl.LazyFrame, name) for name in ("join", "sort", "unique", "group_by"))
    agg = LazyGroupBy.agg

    def mixed(frame: pl.LazyFrame) -> pl.LazyFrame:
        return frame.select(pl.all().shuffle(random.getrandbits(32)))

    def joined(self: pl.LazyFrame, other: pl.LazyFrame, *args: Any, **how: Any) -> pl.LazyFrame:
        found = join(self, mixed(other) if how.get("maintain_order") in {None, "none", "left"} else other, *args, **how)
        return mixed(found) if how.get("maintain_order") in {None, "none"} else found

    def ordered(self: pl.LazyFrame, *by: Any, maintain_order: bool = False, **how: Any) -> pl.LazyFrame:
        return sort(self if maintain_order else mixed(self), *by, maintain_order=maintain_order, **how)

    def distinct(self: pl.LazyFrame, *of: Any, maintain_order: bool = False, **how: Any) -> pl.LazyFrame:
        is_any = how.get("keep", "any") == "any" and not maintain_order
        found = unique(mixed(self) if is_any else self, *of, maintain_order=True, **how)
        return found if maintain_order else mixed(found)

    def grouped(self: pl.LazyFrame, *by: Any, maintain_order: bool = False, **named: Any) -> LazyGroupBy:
        found = group_by(self, *by, maintain_order=True, **named)
        found.in_any_order = not maintain_order
        return found

    def aggregated(self: LazyGroupBy, *aggs: Any, **named: Any) -> pl.LazyFrame:
        found = agg(self, *aggs, **named)
        return mixed(found) if self.in_any_order else found

    with pytest.MonkeyPatch.context() as patch:
        for name, method in {"join": joined, "sort": ordered, "unique": distinct, "group_by": grouped}.items():
            patch.setattr(pl.LazyFrame, name, method)
        patch.setattr(LazyGroupBy, "agg", aggregated)
        yield


def registrants(facts: pl.DataFrame) -> pl.DataFrame:
    """Companies of one industry; no company succeeds another one."""
    return facts.select("cik", sic=pl.lit("3571"), succeeded=pl.lit(None, pl.Date)).unique()


@examples(1)
@given(mixed=together(filers()))
def test_drawn_filers(mixed: list[Filer]) -> None:
    companies = [simulated(filer) for filer in mixed if listed(filer)]
    facts = decoded(companies, [None] * len(companies))
    frames = facts, acceptances(companies), registrants(facts)

    expected = [tables_of(*frames)]

    for size in (1, len(mixed)):
        assert different(in_batches(size, Random(size), *frames), expected) == set()


def test_real_companies(synchronized_mirror: Path) -> None:
    """All companies of the mirror were synchronized in one batch; here half of them are in another, and three alone."""
    lake = Lake(synchronized_mirror / "tables")
    frames = tuple(lake.read(name) for name in ("facts", "acceptances", "registrants"))
    expected = {name: lake.read(name) for name in OF_RULES}
    expected["filings"] = expected["filings"].drop("in_companyfacts")
    half = Random(1).sample(frames[0]["cik"].unique().sort().to_list(), HALF)

    for ciks, size in ((half, HALF), (ALONE, 1)):
        some = pl.col("cik").is_in(ciks)
        batches = in_batches(size, Random(1), *(frame.filter(some) for frame in frames))
        assert different(batches, [{name: table.filter(some) for name, table in expected.items()}]) == set()
