"""The composition of a synchronization: the same steps, conditions and result with and without Dagster."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from pipelines import stages
from pipelines.edgar.decode.newest import NewFiling
from pipelines.edgar.errors import SourceError
from pipelines.run import plan
from pipelines.run.filing_queue import Queue, Waiting
from pipelines.run.plan import run_all
from pipelines.run.synchronization import Synchronization
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake
from pipelines.tables.stored import assembled, files
from tests.dagster_records import run_by_dagster
from tests.mirrors import ABSENT, ALFA, BRAVO, CARGO, Mirror, submissions, write
from warehouse.build import runs


def test_it_has_the_result_of_the_job(synchronized: Home, same_mirror: Mirror, tmp_path, monkeypatch, caplog):
    """The rows of all tables except the times of the run; and the log has the result of each step."""
    by_dagster = Home(tmp_path / "by-dagster")
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(by_dagster.root))
    by_dagster.prepare()
    assert run_by_dagster(by_dagster, source=str(same_mirror.folder)).success

    lakes = [Lake(home.tables) for home in (synchronized, by_dagster)]
    assert list(files(lakes[0])) == list(files(lakes[1]))
    for name in set(files(lakes[0])) - {"syncs", "changes"}:
        of_run = ["data_updated_at"] if name == "companies" else ["recorded_at"] if name.endswith("versions") else []
        one, other = (lake.read(assembled(name)).drop(of_run) for lake in lakes)
        assert one.equals(other), name
    with caplog.at_level("INFO", plan.LOG.name):
        assert run_all(Synchronization(synchronized, str(same_mirror.folder))).counts["published"] == 0
    assert len([line for line in caplog.messages if line.endswith(" seconds")]) == len(plan.STEPS)


@pytest.mark.parametrize(
    ("filings", "readers"), [("off", {"pipelines.edgar.filing.package", "lxml.etree"}), ("recent", set())]
)
def test_a_run_with_nothing_new_loads_no_rules(filings, readers, synchronized: Home, same_mirror: Mirror, monkeypatch):
    """Nor modules that make tables and compare values, and without filings not the modules that read these."""
    monkeypatch.setenv("FUNDAMENTALS_FILINGS", filings)
    code = "; ".join(
        [
            "import sys",
            "from pipelines.dagster_app.synchronize import main",
            "main(sys.argv[1], (), False)",
            "print(*sys.modules)",
        ]
    )
    command = [sys.executable, "-c", code, str(same_mirror.folder)]
    subprocess.run(command, check=True, capture_output=True)  # rows that are new with the other setting are made once
    run = subprocess.run(command, check=True, capture_output=True, text=True)

    assert "unchanged" in run.stdout
    loaded = {*run.stdout.splitlines()[-1].split()}
    assert "pipelines.stages.values" in loaded
    making = {
        *("pipelines.normalize.rule", "pipelines.normalize.elements", "pipelines.tables.build_tables"),
        *("pipelines.quality.reading", "numpy"),
    }
    assert loaded & (making | readers) == set()


def test_a_page_of_older_filings_that_is_missing_is_named(synchronized: Home, same_mirror: Mirror, caplog):
    (page,) = same_mirror.page(ALFA, 4, 8)
    page.unlink()
    assert run_all(Synchronization(synchronized, str(same_mirror.folder))).counts["unread_pages"] == 1
    url = f"https://data.sec.gov/submissions/{page.name}"
    (named,) = [message for message in caplog.messages if url in message]
    assert named.splitlines()[1] == f"CIK {ALFA.cik}: {url}: answers 404, although it is listed"


def test_the_delay_of_a_new_filing_is_recorded_once(synchronized: Home, same_mirror: Mirror):
    """Neither the filings of the first build count, nor filings of earlier years of a new company.

    The queue of the follower says when EDGAR had its documents: the time until then is not the service's delay.
    """
    assert runs.read(synchronized.published).delays == runs.Delays()
    document = submissions(CARGO)
    accepted = datetime.now(UTC) - timedelta(minutes=11)
    document["filings"]["recent"]["acceptanceDateTime"][0] = f"{accepted:%Y-%m-%dT%H:%M:%S}.000Z"
    same_mirror.list(ALFA, BRAVO, ABSENT, CARGO)
    same_mirror.hold(CARGO)
    write(same_mirror.submissions(CARGO), document)
    filing = NewFiling(CARGO.cik, "10-K", document["filings"]["recent"]["accessionNumber"][0], accepted)
    stated = Waiting(filing, due_at=accepted, stated_at=accepted + timedelta(minutes=10))
    Queue(waiting=[stated]).save(synchronized.root)

    of_cargo = partial(Synchronization, synchronized, str(same_mirror.folder), CARGO.symbol)
    results = [run_all(of_cargo()).counts["published"] for _ in range(2)]

    assert results == [1, 0]
    recorded = runs.read(synchronized.published)
    assert recorded.delays.by_bound == {"1200.0": 1}
    assert recorded.waits.seconds == pytest.approx(600, abs=1)
    assert recorded.delays.seconds == pytest.approx(recorded.waits.seconds + recorded.works.seconds)
    assert recorded.works.seconds < 600


def test_an_error_of_a_step_is_raised_and_recorded(synchronized: Home, same_mirror: Mirror, monkeypatch):
    def refused(*_: object) -> None:
        raise SourceError("does not answer")

    monkeypatch.setattr(stages.documents, "update_listings", refused)
    with pytest.raises(SourceError, match="does not answer"):
        run_all(Synchronization(synchronized, str(same_mirror.folder)))
    assert runs.read(synchronized.published).by_result[runs.FAILED].number == 1
