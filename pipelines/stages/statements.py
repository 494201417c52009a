"""The statements: what quarters of data sets and packages of filings state, as tables of the lake.

Belongs here: which documents are decoded again, those that cannot be read, and putting rows into the tables. Does not:
fetching the documents, which tables `data_sets` and `packages` name; their format (edgar.data_sets, edgar.package); the
columns of the rows (filed_rows).

A data set is a task of its own, and so are the packages of some companies. A quarter is decoded once; again if its zip
file is another one, the code has changed, or a company of it was not listed before. The packages of a company are
decoded again if it has another one, or another document of companyfacts.

A document that cannot be read costs its own rows only: those of an earlier document of the same filing or quarter stay.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

import msgspec
import polars as pl

from pipelines.code_digest import digest_of
from pipelines.edgar.data_sets import companies_of, read_data_set
from pipelines.edgar.errors import CorruptError, DocumentError
from pipelines.edgar.package import Package, open_package, read_package
from pipelines.edgar.raw_store import Documents, RawStore
from pipelines.progress import report
from pipelines.stages import filed_rows, schemas
from pipelines.stages.batches import elements_digest, in_batches, joined
from pipelines.stages.filed_rows import FACTS, LINES, Tables
from pipelines.stages.isolation import OF_THE_MACHINE, described
from pipelines.storage.lake import Batches, Lake
from pipelines.workers import ALONE, Workers

Decoded = TypeVar("Decoded")

UNREAD = "unread_filings"
STAGE = "statements"
QUARTER = ""
"""The key of a quarter itself among the digests of its companies. A company whose digest is empty was left out."""


class File(msgspec.Struct, frozen=True):
    """A file of a filing, and the digest of the raw document."""

    accession: str
    name: str
    digest: str


class Share(msgspec.Struct, frozen=True):
    """Documents that are decoded together: one quarter, or the packages of some companies.

    Attributes:
        ciks: the companies of the packages.
        packages: the files of their filings.
        quarter, digest: the data set; empty: packages.
    """

    ciks: tuple[str, ...] = ()
    packages: dict[str, list[File]] = {}
    quarter: str = ""
    digest: str = ""


Unread = tuple[str | None, str | None, str | None, str, str]
"""A row of schemas.UNREAD_FILINGS: name, accession, cik, reason, digest."""
Notes = tuple[list[Unread], list[str]]
"""What the work on a share reports: what cannot be read, and the companies of a quarter, wanted or not."""


class Plan(msgspec.Struct, frozen=True):
    """The shares, and the digest of the documents of each company whose packages are decoded."""

    shares: list[Share]
    to_do: dict[str, str]


def update(store: RawStore, lake: Lake, again: Iterable[str] = (), workers: Workers = ALONE) -> dict[str, int]:
    """Decode new documents into tables `filed_facts` and `statement_lines`, those of quarters, and `unread_filings`.

    Args:
        store: the raw zone.
        lake: the tables.
        again: companies whose packages are decoded even if nothing is new.
        workers: the processes that share the work.

    Returns:
        counts: `quarters` and `companies_with_filings` that were decoded, and `unread` documents of all runs.
    """
    planned = plan(lake, again)
    with lake.gathering(STAGE) as output:
        filled = output.fill(workers, partial(work, store.home, lake), planned.shares)
        return collect(lake, planned, output, filled)


def plan(lake: Lake, again: Iterable[str] = ()) -> Plan:
    """The quarters and packages that are new. The empty share of a plan without packages gives tables their columns."""
    files: dict[str, list[File]] = defaultdict(list)
    for cik, *file in _named(lake, "packages").select("cik", "accession", "file", "digest").sort("*").iter_rows():
        files[cik].append(File(*file))
    code, facts, named = code_of_packages(), lake.inputs("facts"), {*again}
    known = [lake.inputs(name) for name in (FACTS, LINES)]
    digests = {
        cik: joined(code, facts.get(cik, ""), *(f"{each.accession} {each.name} {each.digest}" for each in of_company))
        for cik, of_company in files.items()
    }
    to_do = {
        cik: digest for cik, digest in digests.items() if cik in named or any(held.get(cik) != digest for held in known)
    }
    packages = [Share(ciks, {cik: files[cik] for cik in ciks}) for ciks in in_batches(sorted(to_do))]
    return Plan([*_new_quarters(lake), *packages], to_do)


def _new_quarters(lake: Lake) -> Iterator[Share]:
    """The data sets that are not decoded yet, newest first."""
    wanted, unread = wanted_companies(lake), _unread(lake)
    failed = {*unread.drop_nulls("name").select("name", "digest").iter_rows()}
    for name, digest in _named(lake, "data_sets").select("name", "digest").sort("name", descending=True).iter_rows():
        facts, lines = (lake.inputs(of_quarter(table, name)) for table in (FACTS, LINES))
        made_from = joined(digest, code_of_data_sets())
        left_out = (cik in wanted for cik, of_company in lines.items() if not of_company)
        is_new = {facts.get(QUARTER), lines.get(QUARTER)} != {made_from} or any(left_out)
        if is_new and (name, made_from) not in failed:
            yield Share(quarter=name, digest=digest)


def work(home: Path, lake: Lake, share: Share) -> tuple[Tables, Notes]:
    """The rows of a share; and what cannot be read."""
    store = Documents(home)
    return _work_on_quarter(store, lake, share) if share.quarter else _work_on_packages(store, lake, share)


def _work_on_quarter(store: Documents, lake: Lake, share: Share) -> tuple[Tables, Notes]:
    wanted = wanted_companies(lake)

    def decoded() -> tuple[Tables, list[str]]:
        raw = store.get(share.digest)
        companies = companies_of(raw, share.quarter)
        data = read_data_set(raw, share.quarter, wanted.intersection(companies))
        rows = filed_rows.of_data_set(data, _known(lake, accessions=data.filings["accession"].cast(pl.String)))
        return {of_quarter(name, share.quarter): frame for name, frame in rows.items()}, companies

    found, reason, tried = _read(decoded, joined(share.digest, code_of_data_sets()))
    return (found[0], ([], found[1])) if found else ({}, ([(share.quarter, None, None, reason, tried)], []))


def _work_on_packages(store: Documents, lake: Lake, share: Share) -> tuple[Tables, Notes]:
    """The rows of the packages of some companies, with the earlier rows of filings that are not read now."""
    packages: list[Package] = []
    unread: list[Unread] = []
    for cik, files in share.packages.items():
        by_filing: dict[str, list[File]] = defaultdict(list)
        for file in files:
            by_filing[file.accession].append(file)
        for accession, of_filing in by_filing.items():
            digest = joined(*(file.digest for file in of_filing))
            read, reason, tried = _read(partial(_package, store, cik, accession, of_filing), digest)
            if read:
                packages.append(read)
            else:
                unread.append((None, accession, cik, reason, tried))
    rows = filed_rows.of_packages(packages, _known(lake, share.ciks))
    read_now = [package.accession for package in packages]
    for name, frame in rows.items():
        if lake.holds(name) and share.ciks:
            held = lake.of_companies(name, share.ciks).filter(~pl.col("accession").is_in(read_now))
            rows[name] = pl.concat([held, frame]) if held.schema == frame.schema else frame
    return rows, (unread, [])


def _package(store: Documents, cik: str, accession: str, files: Iterable[File]) -> Package:
    """A filing, read from its zip file and its single files."""
    contents: dict[str, bytes] = {}
    for file in files:
        raw = store.get(file.digest)
        if file.name.lower().endswith(".zip"):
            contents |= open_package(raw, f"filing {accession} of CIK {cik}, {file.name}")
        else:
            contents[file.name] = raw
    return read_package(contents, cik, accession)


def _read(decode: Callable[[], Decoded], tried: str) -> tuple[Decoded | None, str, str]:
    """What a document states; if it cannot be read, the reason and the digest of what was tried.

    The digest is empty if the raw zone is at fault: the document is tried again. An error of the machine ends the run.
    """
    try:
        return decode(), "", ""
    except (Exception, pl.exceptions.PanicException) as error:
        if isinstance(error, CorruptError):
            return None, str(error), ""
        if isinstance(error, DocumentError):
            return None, str(error), tried
        if isinstance(error, OF_THE_MACHINE):
            raise
        return None, described(error), tried


def collect(lake: Lake, planned: Plan, output: Batches, filled: Iterable[Notes]) -> dict[str, int]:
    """Put the rows into their tables: those of a quarter as soon as it is decoded, those of packages at the end.

    Args:
        filled: the notes on each share, each when its rows are in `output`.

    Returns:
        counts, as `update` does.
    """
    unread: list[Unread] = []
    quarters, wanted = 0, wanted_companies(lake)
    total = len(planned.shares) if planned.to_do else len(planned.shares) - 1  # the last one may be empty
    if total:
        report(STAGE, 0, total)
    for done, (share, (found, companies)) in enumerate(zip(planned.shares, filled, strict=True), 1):
        unread += found
        if share.quarter and not found:
            quarters += 1
            _put_quarter(lake, share, output, {cik for cik in companies if cik in wanted}, companies)
        if done <= total:
            report(STAGE, done, total)
    again = {cik for _, _, cik, _, tried in unread if not tried}
    made_from = {cik: "" if cik in again else digest for cik, digest in planned.to_do.items()}
    for name in (FACTS, LINES):
        lake.replace_companies(name, output.of(name), made_from)
    return {
        "quarters": quarters,
        "companies_with_filings": len(planned.to_do),
        "unread": _note_unread(lake, planned, unread),
    }


def _put_quarter(lake: Lake, share: Share, output: Batches, read: set[str], companies: Iterable[str]) -> None:
    """Replace the rows of a quarter."""
    digest = joined(share.digest, code_of_data_sets())
    for name in (of_quarter(FACTS, share.quarter), of_quarter(LINES, share.quarter)):
        held = dict.fromkeys([*lake.inputs(name), *companies], "")  # a company that left the quarter loses its rows
        lake.replace_companies(name, output.of(name), held | dict.fromkeys([*read, QUARTER], digest))


def _note_unread(lake: Lake, planned: Plan, found: list[Unread]) -> int:
    """Write table `unread_filings`: what was found, and what is known of documents that were not read again."""
    tried = [share.quarter for share in planned.shares if share.quarter]
    before = _unread(lake).filter(
        ~pl.col("name").is_in(tried).fill_null(value=False),
        ~pl.col("cik").is_in([*planned.to_do]).fill_null(value=False),
    )
    rows = pl.concat([before, pl.DataFrame(found, schema=schemas.UNREAD_FILINGS, orient="row")])
    if not lake.holds(UNREAD) or not rows.equals(_unread(lake)):
        lake.write(UNREAD, rows)
    return rows.height


def wanted_companies(lake: Lake) -> set[str]:
    """The companies whose filings of data sets are read: those that are listed or have facts."""
    listed = lake.read("listings", ["cik"])["cik"] if lake.holds("listings") else ()
    return {*listed, *lake.inputs("facts")}


def quarters_of(lake: Lake) -> list[str]:
    """The names of the quarters that are decoded, oldest first."""
    return sorted(path.name.removeprefix(f"{LINES}_") for path in lake.folder.glob(f"{LINES}_????q?"))


def of_quarter(table: str, quarter: str) -> str:
    """The name of a table of a quarter: `filed_facts_2010q1`."""
    return f"{table}_{quarter}"


@cache
def code_of_data_sets() -> str:
    """A digest of what decides the rows of data sets."""
    return joined(elements_digest(), digest_of("pipelines.edgar.data_sets", "pipelines.stages.filed_rows"))


@cache
def code_of_packages() -> str:
    """A digest of what decides the rows of packages."""
    return joined(elements_digest(), digest_of("pipelines.edgar.package", "pipelines.stages.filed_rows"))


def code_digest() -> str:
    """A digest of what decides the rows of both."""
    return joined(code_of_data_sets(), code_of_packages())


def _named(lake: Lake, table: str) -> pl.DataFrame:
    """The documents that a table of fetched documents names; none if there is no such table."""
    schema: Mapping[str, pl.Schema] = {"data_sets": schemas.DATA_SETS, "packages": schemas.PACKAGES}
    return lake.read(table).drop_nulls("digest") if lake.holds(table) else schema[table].to_frame()


def _unread(lake: Lake) -> pl.DataFrame:
    return lake.read(UNREAD) if lake.holds(UNREAD) else schemas.UNREAD_FILINGS.to_frame()


def _known(lake: Lake, ciks: Iterable[str] | None = None, accessions: pl.Series | None = None) -> pl.DataFrame:
    """The facts of companyfacts in the lake, of some companies or filings: those of elements that the rules read."""
    columns = ["accession", "tag", "value"]
    if not lake.holds("facts"):
        return pl.DataFrame(schema={"accession": pl.String, "tag": pl.String, "value": pl.Float64})
    rows = lake.scan("facts", ciks).select(columns)
    if accessions is not None:
        rows = rows.join(pl.LazyFrame({"accession": accessions}), on="accession", how="semi")
    return rows.collect(engine="streaming")
