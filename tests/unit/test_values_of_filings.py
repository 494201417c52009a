"""Values that filings themselves state: read with the documents or later, or not at all, and from two batches."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from pipelines.dagster_app.recorder import run_recorded
from pipelines.edgar.fetch.filing_documents import ARCHIVES
from pipelines.edgar.source.mirror import file_of
from pipelines.fake_sec.server import EdgarServer, running_server
from pipelines.normalize.history.log import TWELVE_MONTHS, VERSION_OF
from pipelines.run.plan import run_all
from pipelines.run.synchronization import Synchronization
from pipelines.stages.batch import batches
from pipelines.stages.batch.schemas import VALUE_TABLES, VERSIONS
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake
from pipelines.tables.stored import assembled
from tests.filing_packages import CIK, fact, packed, zipped
from tests.mirrors import ABSENT, ALFA, BRAVO, CARGO, INCOME, REVENUE, Filer, Mirror, changed
from warehouse.build import runs

NET = "RevenuesNetOfInterestExpense"
"""An element that counts before the one of companyfacts."""
STATED = {
    ALFA: {NET: 450_000_000},
    BRAVO: {INCOME: BRAVO.trailing(2024, 4) // 10 + 1_000},
    CARGO: {REVENUE: 500, INCOME: 50},
}
"""The facts of the newest annual report of a company for its year, in its package.

Companyfacts have the income of BRVO, rounded otherwise, and no document of CRGO.
"""


def add_packages(mirror: Mirror) -> None:
    """Let the mirror have the packages."""
    for filer, facts in STATED.items():
        accession = f"{filer.cik}-25-000004"
        path = file_of(mirror.folder, f"{ARCHIVES}{filer.number}/{accession.replace('-', '')}/{accession}-xbrl.zip")
        path.parent.mkdir(parents=True)
        files = packed(facts=[fact(f"us-gaap:{tag}", value, of="year") for tag, value in facts.items()])
        own = {name: content.replace(CIK.encode(), filer.cik.encode()) for name, content in files.items()}
        path.write_bytes(zipped(own))


@pytest.fixture
def mirror(tmp_path: Path) -> Mirror:
    """Three companies without packages; one has no companyfacts."""
    mirror = Mirror(tmp_path / "mirror", ALFA, BRAVO, CARGO, ABSENT)
    mirror.facts(CARGO).unlink()
    return mirror


@pytest.fixture
def synchronize(mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Home]:
    """Synchronizes a home with the mirror, and returns the home."""

    def run(name: str, wanted: str = "recent", source: str = "") -> Home:
        monkeypatch.setenv("FUNDAMENTALS_FILINGS", wanted)
        home = Home(tmp_path / name)
        assert run_all(Synchronization(home, source or str(mirror.folder))).held_back_by == []
        return home

    return run


@contextmanager
def sec_of(mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> Iterator[EdgarServer]:
    """The SEC of source live, with the documents of a mirror."""
    with running_server() as server:
        server.folder = mirror.folder
        monkeypatch.setenv("EDGAR_USER_AGENT", "Name mail@example.org")
        monkeypatch.setenv("EDGAR_BASE_URL", server.url)
        yield server


def versions(home: Home) -> pl.DataFrame:
    """All versions, without their times."""
    return Lake(home.tables).read(VERSIONS).drop("recorded_at", "starts_anew")


def current(home: Home) -> list[tuple[object, ...]]:
    """The current values, sorted."""
    return versions(home).filter("is_current").drop_nulls("value").select(*VERSION_OF, "value").sort("*").rows()


def of_year(home: Home, filer: Filer, item: str = "revenue") -> list[tuple[float | None, str]]:
    """Value and cause of each version of the year that the packages state."""
    of = pl.col("period_end").cast(pl.String) == "2024-12-31"
    return versions(home).filter(of, cik=filer.cik, item=item, n=TWELVE_MONTHS).select("value", "cause").rows()


def test_values_see_what_filings_state(mirror, synchronize):
    """Facts that companyfacts lack, also of a company without a document; companyfacts' own facts stay."""
    add_packages(mirror)
    home = synchronize("home")
    assert of_year(home, ALFA) == [(450e6, "initial")]
    assert of_year(home, BRAVO, "net_income") == [(BRAVO.trailing(2024, 4) // 10, "initial")]
    assert of_year(home, CARGO) == [(500.0, "initial")]
    assert Lake(home.tables).read(assembled("companies"))["symbol"].to_list() == ["ALFA", "BRVO", "CRGO"]


def test_filings_that_are_read_later_lead_to_the_same_values(mirror, synchronize):
    """The logs differ in versions with the cause `source`, which no list of changes has; nothing is held back."""
    synchronize("later", "off")
    add_packages(mirror)
    later, at_once = synchronize("later"), synchronize("at once")

    assert current(later) == current(at_once)
    by_source = versions(later).filter(cause="source")
    assert of_year(later, ALFA) == [(ALFA.trailing(2024, 4), "initial"), (450e6, "source")]
    assert versions(at_once).filter(cause="source").is_empty()
    apart = [versions(home).join(by_source, on=VERSION_OF, how="anti") for home in (later, at_once)]
    assert apart[0].equals(apart[1])
    assert Lake(later.tables).read(assembled("changes")).is_empty()


def test_without_filings_values_are_those_of_companyfacts(mirror, synchronize):
    """Whatever the home has read before; companies without companyfacts have no values."""
    add_packages(mirror)
    synchronize("home")
    home, other = synchronize("home", "off"), synchronize("other", "off")
    assert current(home) == current(other)
    assert [cause for _, cause in of_year(home, CARGO)] == ["initial", "source"]
    assert Lake(home.tables).read("quarantine").is_empty()
    assert current(synchronize("home")) == current(synchronize("third"))


def test_nothing_new_of_filings_computes_nothing(mirror, synchronize, monkeypatch):
    add_packages(mirror)
    home = synchronize("home")
    counts = run_all(Synchronization(home, str(mirror.folder))).counts
    assert (counts["standardized"], counts["published"]) == (0, 0)


def test_batches_do_not_change_what_filings_state(mirror, synchronize, monkeypatch):
    add_packages(mirror)
    home = synchronize("home")
    monkeypatch.setattr(batches, "BATCH", 1)
    other = synchronize("other")
    for name in VALUE_TABLES:
        assert Lake(home.tables).read(name).equals(Lake(other.tables).read(name)), name


def test_the_sec_is_published_before_its_filings_and_once_more_with_them(mirror, synchronize, monkeypatch):
    """A single run publishes both builds; table `changes` compares the second with the build before the run."""
    with sec_of(mirror, monkeypatch):
        home = synchronize("home", "off", "live")
        grown = replace(ALFA, scale=101)
        mirror.hold(grown)
        with changed(mirror.submissions(ALFA)) as document:
            recent = document["filings"]["recent"]
            recent["isXBRL"] = [1] * len(recent["form"])
        add_packages(mirror)
        monkeypatch.setenv("FUNDAMENTALS_FILINGS", "all")
        counts = run_all(Synchronization(home, "live", symbols="ALFA")).counts
        again = run_all(Synchronization(home, "live", symbols="ALFA")).counts
    assert (counts["published"], again["published"]) == (1, 0)
    lake, former, new = Lake(home.tables), ALFA.trailing(2024, 4), grown.trailing(2024, 4)
    assert of_year(home, ALFA) == [(former, "initial"), (new, "correction"), (450e6, "source")]
    assert lake.height(assembled("syncs")) == 3
    changes = lake.read(assembled("changes")).filter(period_kind="annual", item="revenue")
    newest = changes.sort("period_end").select("before", "after", "cause").rows()[-1]
    assert newest == (former, 450e6, "correction")
    assert runs.read(home.published).by_result[runs.PUBLISHED].number == 3


def test_a_condition_holds_back_the_first_build_too(mirror, synchronize, monkeypatch):
    """No filing of the SEC is asked for then."""
    with sec_of(mirror, monkeypatch) as server:
        home = synchronize("home", "off", "live")
        for filer in (ALFA, BRAVO):
            mirror.facts(filer).write_text("{")
        add_packages(mirror)
        monkeypatch.setenv("FUNDAMENTALS_FILINGS", "all")
        monkeypatch.setenv("FUNDAMENTALS_HOME", str(home.root))
        outcome = run_recorded(home, "live", "ALFA,BRVO")
        asked = [path for path, _ in server.asked if "/Archives/edgar/data/" in path]
    assert outcome.held_back_by == ["few_are_quarantined: 2 of 2 companies with documents are quarantined"]
    assert asked == []
