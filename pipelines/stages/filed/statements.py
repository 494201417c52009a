"""Stage statements: decodes data sets and packages of filings into tables of facts and statement lines.

Belongs here: choosing the documents to decode, recording unreadable ones, and putting rows into the tables. Does not:
fetching the documents, which tables `data_sets` and `packages` name; their format (edgar.decode.data_sets,
edgar.filing.package); the columns of the rows (filed_rows).

Each data set is one task; the filings of several companies are one task. A quarter is decoded again if its zip file or
the code has changed, or if one of its companies was not listed before. A filing is decoded again if its files or the
code have changed; the other filings of its company keep their rows. Table `decoded_filings` has the digest of each
processed filing; it is valid if the tables of rows have the same digest of the company.

If a document cannot be read, the rows of an earlier document of the same filing or quarter are kept.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path

import polars as pl

from pipelines.code_digest import digest_of
from pipelines.edgar.fetch.raw_store import RawStore
from pipelines.loading import loading
from pipelines.progress import report
from pipelines.stages.batch import schemas
from pipelines.stages.batch.batches import joined
from pipelines.stages.batch.schemas import COVER_SYMBOLS
from pipelines.stages.filed.filed_digests import FACTS, LINES, Tables
from pipelines.stages.filed.shares import (
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
"""The most filings whose rows a task makes or keeps, unless a single company has more: about 200,000 rows."""
PUT = 20
"""The number of tasks after which their rows are put into the tables, so that a killed run can be continued."""
QUARTER = ""
"""The key of the quarter itself among the digests of its companies. Companies with an empty digest were left out."""


def update(
    store: RawStore,
    lake: Lake,
    again: Collection[str] = (),
    workers: Workers = ALONE,
    *,
    all_quarters: bool = False,
) -> dict[str, int]:
    """Decode new documents into tables `filed_facts` and `statement_lines`, the tables of quarters, and
    `unread_filings`.

    Args:
        store: the raw zone.
        lake: the tables.
        again: companies whose filings are all decoded again.
        workers: the processes that share the work.
        all_quarters: whether all quarters are decoded again.

    Returns:
        counts: `quarters` and `filings_decoded` of this run, and `unread` documents of all runs.
    """
    shares = [*_quarters(lake, all_quarters=all_quarters), *_shares(lake, again)]
    with lake.gathering(STAGE) as output:
        filled = output.fill(workers, partial(work, store.home, lake), shares)
        return _collected(lake, shares, output, filled)


def _shares(lake: Lake, again: Collection[str]) -> Iterator[Share]:
    """The new filings, by company; at least one share, which may be empty and gives tables their columns."""
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
            size += len(of_company)  # rows of unchanged filings are written again, too
    yield Share(filings)


def _filings(lake: Lake) -> dict[str, list[Filing]]:
    """The filings in the raw zone, by company."""
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
    """The digests of processed filings, by company; only companies whose rows are complete in all tables."""
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
    """The digest of a company's rows, from the digests of its filings."""
    return joined(*(f"{accession} {digest}" for accession, digest in sorted(filings.items())))


def _quarters(lake: Lake, *, all_quarters: bool) -> Iterator[Share]:
    """The data sets that have to be decoded, or all data sets, newest first."""
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
    """The rows of a share, and the documents that cannot be read (statements_of_share)."""
    with loading():
        from pipelines.stages.filed import statements_of_share
    return statements_of_share.work(home, lake, share)


def _collected(lake: Lake, shares: list[Share], output: Batches, filled: Iterable[Notes]) -> dict[str, int]:
    """Put the rows into their tables: rows of a quarter as soon as it is decoded, rows of filings after PUT tasks.

    Args:
        filled: the notes on each share, as soon as its rows are in `output`.

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
        held = dict.fromkeys([*lake.inputs(name), *companies], "")  # companies that left the quarter lose their rows
        lake.replace_companies(name, output.of(name), held | dict.fromkeys([*read, QUARTER], digest))


def _note_unread(lake: Lake, shares: Iterable[Share], found: list[Unread]) -> None:
    """Write table `unread_filings`: the documents found unreadable now, and earlier ones that were not read again."""
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
    """A digest of the code that makes the rows of packages."""
    return digest_of("pipelines.edgar.filing.package", "pipelines.stages.filed.filed_rows")


def code_digest() -> str:
    """A digest of the code that makes the rows of data sets and packages."""
    return joined(code_of_data_sets(), code_of_packages())


def _named(lake: Lake, table: str) -> pl.DataFrame:
    """The stored documents in a table of fetched documents; empty if the table does not exist."""
    schema: Mapping[str, pl.Schema] = {"data_sets": schemas.DATA_SETS, "packages": schemas.PACKAGES}
    return lake.read(table).drop_nulls("digest") if lake.holds(table) else schema[table].to_frame()


def _unread(lake: Lake) -> pl.DataFrame:
    return lake.read(UNREAD) if lake.holds(UNREAD) else schemas.UNREAD_FILINGS.to_frame()
