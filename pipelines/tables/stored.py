"""The tables of the warehouse as stored in the lake: their names, the digests of their inputs, and their state in a
build.

Belongs here: the digests that show a synchronization which rows have changed. Does not: making rows (build_tables),
which loads all rules.
"""

import hashlib
from collections.abc import Collection, Mapping
from functools import cache

import polars as pl

from pipelines.code_digest import digest_of
from pipelines.stages.batch.schemas import VERSIONS
from pipelines.storage.lake import Lake
from warehouse.build.rows import Rows
from warehouse.contract import quarters, schema

LISTED = ("cik", "symbol", "name", "exchange", "is_listed", "kind", "is_primary")
"""The published columns of the SEC's list; a company's place in the list is not published."""
CONTENT = "content"
SEGMENTS = "segments"
COUNTED, CONTENTS, SYMBOLS, AGES, BUILT = "counted", "contents", "symbols", "ages", "built"
"""Tables of the lake, by company: the decisions of each rule; the sums of its rows in each published table; its rows in
table `companies` without times; the day after which its valuation is stale; the sums of its rows in the newest
build."""
CHANGED = "changes"
OF_COMPANIES = (
    *("financials", "versions", "lineage", "gaps", "proofs", "decisions", "splits", "breaks", "repairs"),
    *("balance_sheet_lines", "newest_statements", "valuations", "projections"),
    *(quarters.QUARTERS, *map(quarters.of_quarters, quarters.OF_QUARTERS)),
)
"""The published tables that are made in batches of companies; the other tables are small, and made as a whole."""
MADE_FROM = "made_from"
"""The key, in table `syncs`, of the digest of the inputs of all tables."""
NEWEST = "newest"
"""The key, in table `syncs`, of the synchronization that wrote it; the order of the rows does not show it, because it
depends on the clock."""
LAST = "syncs"
"""The table that is written last; it has the digest of the inputs of all tables."""
ALL_SUMS = (pl.col("rows").sum(), pl.col("total").sum(), pl.col("xor").bitwise_xor())
"""Expressions that combine the sums of several parts of a table."""


def assembled(name: str) -> str:
    """The name, in the lake, of a published table."""
    return f"warehouse_{name}"


def files(lake: Lake, ciks: Collection[str] | None = None) -> dict[str, Rows]:
    """The files of the lake with the rows of each published table; with `ciks`, tables of companies have only rows of
    these companies."""
    found = {}
    for table in schema.TABLES:
        name, is_by_company = assembled(table.name), table.name in OF_COMPANIES
        wanted = ciks if is_by_company else None
        if lake.holds(name):
            in_order = is_by_company and table.order[0] == "cik" and lake.is_in_order(name, wanted)
            found[table.name] = Rows(lake.files(name, wanted), in_order)
    return found


def made_from_by_company(lake: Lake) -> dict[str, str]:
    """A digest of the inputs of each company's rows, by company, without the times of synchronizations."""
    values, registrants, versions = (lake.inputs(name) for name in ("profiles", "registrants", VERSIONS))
    listed: dict[str, list[str]] = {}
    for row in lake.read("listings", LISTED).iter_rows():
        listed.setdefault(row[0], []).append(str(row))
    return {
        cik: digest(values.get(cik), registrants.get(cik), versions.get(cik), *listed.get(cik, ()), code_digest())
        for cik in sorted({*values, *versions})
    }


def are_published(lake: Lake, built_from: str) -> bool:
    """Whether the stored tables are the tables of a build, and their inputs have not changed since.

    Args:
        built_from: the digest of the inputs of the build.
    """
    return (
        lake.holds(CONTENTS)
        and built_from == inputs(lake)
        and lake.inputs(assembled(LAST)).get(MADE_FROM) == made_from_all(lake, made_from_by_company(lake))
    )


def made_from_all(lake: Lake, by_company: Mapping[str, str]) -> str:
    """A digest of the inputs of all tables, without the times of synchronizations, and of the code that makes the
    tables."""
    kept = [f"{name} {lake.digest(name)}" for name in ("listings", "quarantine")]
    return digest(*by_company.items(), *kept)


def digest(*parts: object) -> str:
    """A digest of values, by their text."""
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()


@cache
def code_digest() -> str:
    """A digest of the code that makes the tables, and of the rules' texts, which they publish."""
    return digest_of("pipelines.tables.build_tables", "pipelines.normalize", with_words=True)


def inputs(lake: Lake) -> str:
    """A digest of the inputs of a build; the same inputs need no new build.

    Table `changes` is left out: it lists changes since the previous build, and is empty after the next synchronization.
    """
    of_companies = lake.read(CONTENTS).group_by("table").agg(*ALL_SUMS).sort("table")
    others = [table.name for table in schema.TABLES if table.name not in (*OF_COMPANIES, "companies", CHANGED)]
    contents = [f"{name} {lake.inputs(assembled(name)).get(CONTENT, '')}" for name in sorted(others)]
    return digest(*of_companies.rows(), *contents)


def changed_since(lake: Lake, build: str) -> set[str] | None:
    """The companies whose rows differ from a build; None if the build was not made from these tables.

    Args:
        lake: the tables.
        build: the id of the build, remembered by `remember_built`.
    """
    known = lake.inputs(BUILT)
    if known.get(MADE_FROM) != _built_as(build):
        return None
    if known.get(CONTENTS) == digest(*lake.inputs(CONTENTS).items()):
        return set()
    both = lake.read(BUILT).join(_of_each(lake), on="cik", how="full", suffix="_now", coalesce=True)
    return set(both.filter(pl.col("content").ne_missing(pl.col("content_now")))["cik"])


def remember_built(lake: Lake, build: str) -> None:
    """Write table `built`: the contents of each company's rows in the newest build."""
    digests = {MADE_FROM: _built_as(build), CONTENTS: digest(*lake.inputs(CONTENTS).items())}
    lake.write(BUILT, _of_each(lake), digests)


def is_of_this_code(lake: Lake) -> bool:
    """Whether the present code made the tables.

    The inputs of companies may have changed since, as in a backup that was made during a synchronization.
    """
    known = lake.inputs(CONTENTS)
    return any(
        known.get(cik) in (made_from, f"{made_from} stale") for cik, made_from in made_from_by_company(lake).items()
    )


def _built_as(build: str) -> str:
    return digest(build, code_digest(), digest_of("warehouse.build.publish"))


def _of_each(lake: Lake) -> pl.DataFrame:
    """`cik`, `content`: the sums of all rows of each company in tables of companies."""
    sums = lake.read(CONTENTS).filter(pl.col("table").is_in(OF_COMPANIES)).sort("cik", "table")
    return sums.group_by("cik", maintain_order=True).agg(content=pl.struct(pl.exclude("cik")).hash(seed=0))
