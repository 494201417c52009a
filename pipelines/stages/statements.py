"""The statements: what quarters of data sets and packages of filings state, as tables of the lake.

Belongs here: which documents are decoded again, those that cannot be read, and putting rows into the tables. Does not:
fetching the documents, which tables `data_sets` and `packages` name; their format (edgar.data_sets, edgar.package); the
columns of the rows (filed_rows).

A data set is a task of its own, and so are the filings of some companies. A quarter is decoded once; again if its zip
file is another one, the code has changed, or a company of it was not listed before. A filing is decoded once; again if
it has other files, or the code has changed. The other filings of its company keep their rows. Table `decoded_filings`
has the digest of each filing that was tried; it counts if both tables of rows have the same digest of the company.

A document that cannot be read costs its own rows only: those of an earlier document of the same filing or quarter stay.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path

import polars as pl

from pipelines.code_digest import digest_of
from pipelines.edgar.raw_store import RawStore
from pipelines.loading import loading
from pipelines.progress import report
from pipelines.stages import schemas
from pipelines.stages.batches import joined
from pipelines.stages.filed import FACTS, LINES, Tables
from pipelines.stages.schemas import COVER_SYMBOLS
from pipelines.stages.shares import (
    DECODED,
    UNREAD,
    Filing,
    Notes,
    Share,
    Unread,
    code_of_data_sets,
    of_quarter,
    wanted_companies,
)
from pipelines.storage.lake import Batches, Lake, rows_of
from pipelines.workers import ALONE, Workers

STAGE = "statements"
TOGETHER = 100
"""Filings whose rows a task makes or keeps at most, unless a single company has more: some 200,000 rows."""
PUT = 20
"""Tasks after which their rows are put into the tables: a run that is killed goes on there."""
QUARTER = ""
"""The key of a quarter itself among the digests of its companies. A company whose digest is empty was left out."""


def update(
    store: RawStore,
    lake: Lake,
    again: Collection[str] = (),
    workers: Workers = ALONE,
    *,
    all_quarters: bool = False,
) -> dict[str, int]:
    """Decode new documents into tables `filed_facts` and `statement_lines`, those of quarters, and `unread_filings`.

    Args:
        store: the raw zone.
        lake: the tables.
        again: companies whose filings are all decoded, even if none is new.
        workers: the processes that share the work.
        all_quarters: whether all quarters are decoded, even if none is new.

    Returns:
        counts: `quarters` and `filings_decoded`, and `unread` documents of all runs.
    """
    shares = [*_quarters(lake, all_quarters=all_quarters), *_shares(lake, again)]
    with lake.gathering(STAGE) as output:
        filled = output.fill(workers, partial(work, store.home, lake), shares)
        return _collected(lake, shares, output, filled)


def _shares(lake: Lake, again: Collection[str]) -> Iterator[Share]:
    """The filings that are new, by company; if there is none, an empty share, which gives tables their columns."""
    wanted, known = _filings(lake), _decoded(lake)
    filings: dict[str, list[Filing]] = {}
    size = 0
    for cik, of_company in wanted.items():
        held = {} if cik in again else known.get(cik, {})
        new = [filing for filing in of_company if held.get(filing.accession) != filing.digest]
        if new and filings and size + len(of_company) > TOGETHER:
            yield Share(filings)
            filings, size = {}, 0
        if new:
            filings[cik] = new
            size += len(of_company)  # rows that stay are written again, too
    yield Share(filings)


def _filings(lake: Lake) -> dict[str, list[Filing]]:
    """The filings of each company that are in the raw zone."""
    files: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for cik, accession, name, digest in (
        _named(lake, "packages").select("cik", "accession", "file", "digest").sort("*").iter_rows()
    ):
        files[cik, accession][name] = digest
    code, found = code_of_packages(), defaultdict(list)
    for (cik, accession), of_filing in files.items():
        digest = joined(code, *(f"{name} {each}" for name, each in of_filing.items()))
        found[cik].append(Filing(accession, of_filing, digest))
    return found


def _decoded(lake: Lake) -> dict[str, dict[str, str]]:
    """The digest of each filing that was decoded, by company; of those whose rows are all there."""
    if not lake.holds(DECODED):
        return {}
    known: dict[str, dict[str, str]] = defaultdict(dict)
    for cik, accession, digest in lake.read(DECODED).iter_rows():
        known[cik][accession] = digest
    of_tables = [lake.inputs(name) for name in (FACTS, LINES, COVER_SYMBOLS)]
    return {
        cik: held for cik, held in known.items() if {_of_company(held)} == {of_table.get(cik) for of_table in of_tables}
    }


def _of_company(filings: Mapping[str, str]) -> str:
    """The digest of the rows of a company, from those of its filings."""
    return joined(*(f"{accession} {digest}" for accession, digest in sorted(filings.items())))


def _quarters(lake: Lake, *, all_quarters: bool) -> Iterator[Share]:
    """The data sets that are not decoded yet, or all, newest first."""
    wanted, unread = wanted_companies(lake), _unread(lake)
    failed = {*unread.drop_nulls("name").select("name", "digest").iter_rows()}
    for name, digest in _named(lake, "data_sets").select("name", "digest").sort("name", descending=True).iter_rows():
        facts, lines = (lake.inputs(of_quarter(table, name)) for table in (FACTS, LINES))
        made_from = joined(digest, code_of_data_sets())
        left_out = (cik in wanted for cik, of_company in lines.items() if not of_company)
        is_new = {facts.get(QUARTER), lines.get(QUARTER)} != {made_from} or any(left_out)
        if all_quarters or (is_new and (name, made_from) not in failed):
            yield Share(quarter=name, digest=digest)


def work(home: Path, lake: Lake, share: Share) -> tuple[Tables, Notes]:
    """The rows of a share; and what cannot be read (statements_of_share)."""
    with loading():
        from pipelines.stages import statements_of_share
    return statements_of_share.work(home, lake, share)


def _collected(lake: Lake, shares: list[Share], output: Batches, filled: Iterable[Notes]) -> dict[str, int]:
    """Put the rows into their tables: those of a quarter as soon as it is decoded, those of filings after some tasks.

    Args:
        filled: the notes on each share, each when its rows are in `output`.

    Returns:
        counts, as `update` does.
    """
    unread: list[Unread] = []
    ready: list[Share] = []
    quarters, wanted = 0, wanted_companies(lake)
    total = len(shares) if shares[-1].filings else len(shares) - 1
    if total:
        report(STAGE, 0, total)
    for done, (share, (found, companies)) in enumerate(zip(shares, filled, strict=True), 1):
        unread += found
        ready.append(share)
        if share.quarter and not found:
            quarters += 1
            _put_quarter(lake, share, output, {cik for cik in companies if cik in wanted}, companies)
        if done <= total:
            report(STAGE, done, total)
        if len(ready) == PUT or done == len(shares):
            _put_filings(lake, ready, output)
            _note_unread(lake, ready, unread)
            ready, unread = [], []
    decoded = sum(len(filings) for share in shares for filings in share.filings.values())
    return {"quarters": quarters, "filings_decoded": decoded, "unread": lake.height(UNREAD)}


def _put_filings(lake: Lake, shares: Iterable[Share], output: Batches) -> None:
    """Replace the rows of the companies whose filings were decoded."""
    parts = {name: output.taken(name) for name in (FACTS, LINES, COVER_SYMBOLS, DECODED)}
    if not parts[DECODED]:
        return  # quarters only
    decoded: dict[str, dict[str, str]] = {cik: {} for share in shares for cik in share.filings}
    for part in parts[DECODED]:
        for cik, accession, digest in rows_of(part).collect().iter_rows():
            decoded[cik][accession] = digest
    made_from = {cik: _of_company(of_company) for cik, of_company in decoded.items()}
    for name, of_table in parts.items():
        lake.replace_companies(name, of_table, made_from)


def _put_quarter(lake: Lake, share: Share, output: Batches, read: set[str], companies: Iterable[str]) -> None:
    """Replace the rows of a quarter."""
    digest = joined(share.digest, code_of_data_sets())
    for name in (of_quarter(FACTS, share.quarter), of_quarter(LINES, share.quarter)):
        held = dict.fromkeys([*lake.inputs(name), *companies], "")  # a company that left the quarter loses its rows
        lake.replace_companies(name, output.of(name), held | dict.fromkeys([*read, QUARTER], digest))


def _note_unread(lake: Lake, shares: Iterable[Share], found: list[Unread]) -> None:
    """Write table `unread_filings`: what was found, and what is known of documents that were not read again."""
    quarters = [share.quarter for share in shares]
    accessions = [filing.accession for share in shares for each in share.filings.values() for filing in each]
    before = _unread(lake).filter(
        ~pl.col("name").is_in(quarters).fill_null(value=False),
        ~pl.col("accession").is_in(accessions).fill_null(value=False),
    )
    rows = pl.concat([before, pl.DataFrame(found, schema=schemas.UNREAD_FILINGS, orient="row")])
    if not lake.holds(UNREAD) or not rows.equals(_unread(lake)):
        lake.write(UNREAD, rows)


def quarters_of(lake: Lake) -> list[str]:
    """The names of the quarters that are decoded, oldest first."""
    return sorted(path.name.removeprefix(f"{LINES}_") for path in lake.folder.glob(f"{LINES}_????q?"))


@cache
def code_of_packages() -> str:
    """A digest of what decides the rows of packages."""
    return digest_of("pipelines.edgar.package", "pipelines.stages.filed_rows")


def code_digest() -> str:
    """A digest of what decides the rows of both."""
    return joined(code_of_data_sets(), code_of_packages())


def _named(lake: Lake, table: str) -> pl.DataFrame:
    """The documents that a table of fetched documents names; none if there is no such table."""
    schema: Mapping[str, pl.Schema] = {"data_sets": schemas.DATA_SETS, "packages": schemas.PACKAGES}
    return lake.read(table).drop_nulls("digest") if lake.holds(table) else schema[table].to_frame()


def _unread(lake: Lake) -> pl.DataFrame:
    return lake.read(UNREAD) if lake.holds(UNREAD) else schemas.UNREAD_FILINGS.to_frame()
