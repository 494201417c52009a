"""The filings themselves: tables `xbrl_filings`, `data_sets` and `packages`, and their documents in the raw zone.

Belongs here: choosing quarters and packages, and their order. Does not: fetching and recording them (filing_requests),
addresses (edgar.fetch.filing_documents), reading the documents (statements).

    sample, mirror    all documents that they have
    the SEC           `recent`: the newest data sets, the packages of filings after the newest data set, and all
                      packages of companies with several classes of stock; `all`: all
    named symbols     from the SEC: the packages of these companies; with `recent`, of two years
    the feed          the packages of reports that the feed named, for the given companies
    always            the packages of reports that companyfacts still lacks a day after filing
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path

import polars as pl

from pipelines.code_digest import digest_of
from pipelines.edgar.answers import DATA_SETS_URL, Fetched, submissions_url
from pipelines.edgar.decode.data_set_list import ZIP_FILE, Quarter, decode_data_set_list
from pipelines.edgar.decode.filing_list import XbrlFiling, decode_xbrl_filings, decode_xbrl_page
from pipelines.edgar.errors import CorruptError, DocumentError, FetchError
from pipelines.edgar.fetch.filing_documents import ARCHIVES, DATA_SETS
from pipelines.edgar.fetch.raw_store import RawStore
from pipelines.edgar.source.mirror import MirrorFolder, file_of
from pipelines.edgar.source.source import REQUESTS_A_SECOND, Source
from pipelines.normalize.forms import AMENDMENT, CURRENT_FORMS, PERIODIC_FORMS
from pipelines.progress import report
from pipelines.settings import FilingsWanted
from pipelines.stages.batch.batches import digests_of_outdated, in_batches, joined
from pipelines.stages.batch.schemas import FED, FEED_FILINGS, UNREAD_REPORTS, XBRL_FILINGS
from pipelines.stages.filed.filing_requests import KEY, Commit, Record, Requests, nothing_to_commit
from pipelines.storage.lake import Lake
from pipelines.waiting import on_terminal

QUARTERS = 8
"""The number of newest data sets that `recent` fetches: the reports of two years."""
RECENT = timedelta(days=730)
"""The age of the packages that `recent` fetches for named symbols: two years."""
BUDGET = {"recent": 5_000, "all": 100_000}
"""The most requests to the SEC for packages in one run: ten minutes, or three hours. The next run continues."""
USUAL_MEGABYTES = 80
"""The usual size of a data set; the data sets of 2025 and 2026 have 60 to 130 MB."""

REQUEST_MEGABYTES = 0.5
"""The usual size of a document of a filing: a package takes about 1 MB and two requests."""

FEW = 20
"""The packages of this number of filings take only some seconds, so they are announced in the log, and not on the
terminal of `fundamentals follow`."""

FILINGS = "xbrl_filings"
Tell = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class FilingSelection:
    """The filings that a run wants.

    Attributes:
        wanted: the setting FUNDAMENTALS_FILINGS: how much is requested from the SEC.
        ciks: the companies whose packages are wanted; None: all companies.
        now: the time of the run.
        full: whether recorded documents are requested again, except packages that the SEC has sent, which never change.
        newest: whether only packages of reports that the feed named (table `feed_filings`) are wanted.
    """

    wanted: FilingsWanted
    ciks: Collection[str] | None
    now: datetime
    full: bool = False
    newest: bool = False


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of documents: an opened source, or the folder of a mirror or of bulk files."""

    source: Source
    folder: Path | None = None

    @property
    def is_live(self) -> bool:
        """Whether the source is the SEC, which limits requests."""
        return self.source.name == "live"


def mirrored(folder: Path) -> Origin | None:
    """The documents of filings in a mirror, or in the folder of bulk files; None if it has no such documents, like most
    mirrors."""
    if any(file_of(folder, address).is_dir() for address in (ARCHIVES, DATA_SETS)):
        return Origin(Source("mirror", "edgar", MirrorFolder(folder)), folder)
    return None


def update(
    origin: Origin,
    store: RawStore,
    lake: Lake,
    asked: FilingSelection,
    info: Tell,
    warn: Tell,
    commit: Commit = nothing_to_commit,
) -> list[str]:
    """Bring tables `data_sets` and `packages` up to date: data sets before packages, each newest first.

    Args:
        origin: the origin of the documents.
        store: the raw zone.
        lake: the tables.
        asked: the filings that the run wants.
        info, warn: called with messages about requests to the SEC, and about documents that cannot be read.
        commit: called from time to time, after fetched documents are recorded.

    Returns:
        the documents that could not be fetched, with reasons; the next run requests them again.

    Raises:
        SourceError: the source refuses, or fails several times in a row; documents fetched so far are recorded.
        PipelineError: the raw zone or a table cannot be read or written.
    """
    store.sweep()
    record = Record(store, lake, asked.now, commit, full=asked.full, is_live=origin.is_live)
    listed = [] if origin.is_live and asked.ciks is not None else _listed(origin, warn)
    known = [*record.data_sets.drop_nulls("digest")["name"], *(quarter.name for quarter in listed)]
    after = _wanted_after(origin, asked, max(known, default=None))
    quarters = record.without_settled(listed[:QUARTERS] if origin.is_live and asked.wanted == "recent" else listed)
    if asked.newest and asked.ciks is not None:
        packages = _wanted_of_feed(lake, asked.ciks, record.settled)
    else:
        packages = [] if after is None else _packages(origin, store, lake, asked, after, record.settled, warn)
    requests = Requests(origin.source, record)
    if not origin.is_live:
        requests.data_sets(quarters)
        requests.packages(packages)
    elif quarters or packages:
        budget = BUDGET[asked.wanted]
        text = _announced(len(quarters), packages, budget)
        info(text)
        if quarters or len(packages) > FEW:
            on_terminal(text)
        requests.data_sets(quarters)
        requests.packages(packages, budget)
    return requests.failures


def _listed(origin: Origin, warn: Tell) -> list[Quarter]:
    """The quarters that the source has, newest first; empty if its list cannot be read."""
    if origin.folder:
        found = _quarters_in(file_of(origin.folder, DATA_SETS))
        return sorted(found, reverse=True)
    try:
        answer = origin.source.client.get(DATA_SETS_URL)
        if isinstance(answer, Fetched):
            return decode_data_set_list(answer.content)
        reason = f"{DATA_SETS_URL}: answers 404"
    except (FetchError, DocumentError) as error:
        reason = str(error)
    warn(f"the list of data sets cannot be read, so none is fetched: {reason}")
    return []


def _wanted_after(origin: Origin, asked: FilingSelection, newest: str | None) -> date | None:
    """The day after which packages of filings are wanted; None: no packages are wanted, because no data set is known.

    Args:
        newest: the newest quarter that is known.
    """
    if not origin.is_live or asked.wanted == "all":
        return date.min
    if asked.ciks is not None:
        return (asked.now - RECENT).date()
    return _last_day(newest) if newest else None


def _packages(
    origin: Origin, store: RawStore, lake: Lake, asked: FilingSelection, after: date, settled: pl.DataFrame, warn: Tell
) -> list[XbrlFiling]:
    """The filings after a day whose packages have to be fetched, newest first.

    In a mirror, these are all filings with a folder; otherwise, the periodic and current reports with XBRL according to
    the submissions.
    """
    documents = lake.read("documents", ["cik", "submissions_digest"])
    if asked.ciks is not None:
        documents = documents.filter(pl.col("cik").is_in([*asked.ciks]))
    folders = _folders_in(file_of(origin.folder, ARCHIVES)) if origin.folder else None
    if folders is not None:
        documents = _with_submissions(origin, store, documents.filter(pl.col("cik").is_in([*folders])))
    _list_filings(store, lake, documents, warn)
    is_report = pl.col("form").str.strip_suffix(AMENDMENT).is_in([*PERIODIC_FORMS, *CURRENT_FORMS])
    counts = pl.col("is_xbrl").fill_null(value=False) & is_report if folders is None else pl.lit(value=True)
    is_new = (pl.col("filed") > after) | pl.col("cik").is_in([*_companies_with_classes(lake)])
    is_new |= pl.col("accession").is_in([*_unread(lake, asked.now)])
    wanted = (
        lake.scan(FILINGS, documents["cik"])
        .filter(is_new, counts)
        .join(settled.lazy(), on=KEY, how="anti")
        .sort("filed", "accession", descending=True)
        .with_columns(pl.col("filed").cast(pl.String))
        .collect()
    )
    found = map(XbrlFiling._make, wanted.iter_rows())
    return [each for each in found if folders is None or each.accession.replace("-", "") in folders[each.cik]]


def _wanted_of_feed(lake: Lake, ciks: Collection[str], settled: pl.DataFrame) -> list[XbrlFiling]:
    """The reports of the feed whose packages have to be fetched, newest first.

    Packages are fetched before the submissions list the filing: the report is found in the zip file, and is assumed to
    be inline XBRL, which is mandatory since 2021 (Regulation S-T Rule 405).
    """
    of_feed = lake.read(FED) if lake.holds(FED) else FEED_FILINGS.to_frame()
    wanted = of_feed.filter(pl.col("cik").is_in([*ciks])).join(settled, on=KEY, how="anti")
    wanted = wanted.sort("accepted_at", "accession", descending=True).with_columns(pl.col("filed").cast(pl.String))
    return [
        XbrlFiling(cik, accession, form, filed, "", is_xbrl=True, is_inline=True)
        for cik, accession, form, filed in wanted.select(*KEY, "form", "filed").iter_rows()
    ]


def _unread(lake: Lake, now: datetime) -> list[str]:
    """The accession numbers of reports that companyfacts still lacks a day after filing."""
    if not lake.holds(UNREAD_REPORTS):
        return []
    late = lake.scan(UNREAD_REPORTS).filter(pl.col("filed") < (now - timedelta(days=1)).date())
    return late.select("accession").collect()["accession"].to_list()


def _companies_with_classes(lake: Lake) -> set[str]:
    """The companies with several symbols of common equity, or with earnings per share that are stated only by class."""
    several: set[str] = set()
    if lake.holds("listings"):
        listed = lake.read("listings").filter("is_listed", pl.col("kind") == "common")
        several = {*listed.group_by("cik").len().filter(pl.col("len") > 1)["cik"]}
    return several | ({*lake.read("classes")["cik"]} if lake.holds("classes") else set())


def _with_submissions(origin: Origin, store: RawStore, documents: pl.DataFrame) -> pl.DataFrame:
    """Add submissions of companies without companyfacts, which are not requested otherwise.

    Only for a mirror: these companies have no values, so no requests are sent to the SEC for them.
    """
    found = dict(documents.drop_nulls().iter_rows())
    for cik in documents.filter(pl.col("submissions_digest").is_null())["cik"]:
        with suppress(FetchError):
            answer = origin.source.client.get(submissions_url(cik))
            found |= {cik: store.put(answer.content)} if isinstance(answer, Fetched) else {}
    return pl.DataFrame(list(found.items()), schema=documents.schema, orient="row")


def _list_filings(store: RawStore, lake: Lake, documents: pl.DataFrame, warn: Tell) -> None:
    """Bring table `xbrl_filings` up to date, from new submissions and new pages of older filings."""
    code = digest_of("pipelines.edgar.decode.filing_list")
    new = digests_of_outdated(lake, FILINGS, documents, "submissions_digest", (), code)
    if not new and lake.holds(FILINGS):
        return
    broken: dict[str, str] = {}
    unread: list[str] = []
    done = 0
    with lake.gathering(FILINGS) as output:
        for ciks in in_batches(new):
            store.bring(digest for cik in ciks for digest in new[cik].split())
            rows: list[XbrlFiling] = []
            for cik in ciks:
                try:
                    rows += _filings_of(store, cik, new[cik], unread)
                except (DocumentError, CorruptError) as error:
                    broken[cik] = str(error)
            output.add(FILINGS, _frame(rows))
            done += len(ciks)
            report("lists of filings", done, len(new))
        read = {cik: joined(digest, code) for cik, digest in new.items() if cik not in broken}
        lake.replace_companies(FILINGS, output.of(FILINGS), read, broken)
    if broken:
        first = next(iter(broken.values()))
        warn(f"the filings of {len(broken):,} companies are not known, such as: {first}")
    if unread:
        warn(f"{len(unread):,} pages of older filings are left out, such as: {unread[0]}")


def _filings_of(store: RawStore, cik: str, digests: str, unread: list[str]) -> list[XbrlFiling]:
    """The filings of a company, each once, from its submissions and from the pages that were requested for its facts.

    Args:
        digests: the column of table `documents`.
        unread: receives the reason why a page is left out.
    """
    submissions, *pages = digests.split()
    listed = decode_xbrl_filings(store.get(submissions), cik, PERIODIC_FORMS, CURRENT_FORMS)
    for page in pages:
        try:
            listed += decode_xbrl_page(store.get(page), cik, PERIODIC_FORMS, CURRENT_FORMS)
        except DocumentError as error:
            unread.append(str(error))
    return [*{filing.accession: filing for filing in reversed(listed)}.values()]


def _frame(rows: Sequence[XbrlFiling]) -> pl.DataFrame:
    text = pl.DataFrame(rows, schema={**XBRL_FILINGS, "filed": pl.String}, orient="row")
    return text.with_columns(pl.col("filed").str.to_date("%Y-%m-%d"))


def _announced(quarters: int, filings: Sequence[XbrlFiling], budget: int) -> str:
    """A message with the number and size of requests to the SEC, and their duration."""
    wanted = sum(1 if filing.is_inline is False else 2 for filing in filings)
    asked = min(wanted, budget)
    gigabytes = (quarters * USUAL_MEGABYTES + asked * REQUEST_MEGABYTES) / 1000
    text = (
        f"the filings themselves (FUNDAMENTALS_FILINGS=off does without): {quarters} data sets and packages of "
        f"{len(filings):,} filings: {quarters + asked:,} requests, about {gigabytes:.1f} GB, at least "
        f"{asked / REQUESTS_A_SECOND / 60:.0f} minutes"
    )
    return text + (f"; {wanted - asked:,} requests are left for the next runs" if asked < wanted else "")


def _quarters_in(folder: Path) -> Iterator[Quarter]:
    """The data sets in the folder of a mirror."""
    for path in _entries(folder):
        if found := ZIP_FILE.fullmatch(f"/{path.name}"):
            yield Quarter(found["quarter"].lower(), DATA_SETS + path.name)


def _folders_in(archives: Path) -> dict[str, frozenset[str]]:
    """The folders of filings in a mirror, by company: accession numbers without dashes."""
    companies = (path for path in _entries(archives) if path.name.isascii() and path.name.isdigit())
    return {path.name.zfill(10): frozenset(each.name for each in _entries(path)) for path in companies}


def _entries(folder: Path) -> list[Path]:
    """The entries of a folder; empty if the folder does not exist."""
    return list(folder.iterdir()) if folder.is_dir() else []


def _last_day(quarter: str) -> date:
    """The last day of a quarter such as 2026q2."""
    year, number = int(quarter[:4]), int(quarter[5])
    return date(year + number // 4, number % 4 * 3 + 1, 1) - timedelta(days=1)
