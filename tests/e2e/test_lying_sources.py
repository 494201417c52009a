"""`fundamentals sync --source live` against a server that lies, drips, refuses, or sends nonsense.

The server is a real one on a loopback port. It serves a small mirror directory as the SEC's hosts would.
"""

import json
import os
import shutil
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from pipelines import sources
from pipelines.edgar.answers import TICKERS_URL, facts_url, submissions_url
from pipelines.edgar.decode import listing_checks
from pipelines.edgar.fetch.download_plan import BULK_URLS
from pipelines.edgar.source.client import REFUSALS_IN_A_ROW
from pipelines.fake_sec.server import EdgarServer, Reply, running_server
from pipelines.storage.home import PROJECT, Home
from pipelines.storage.lake import Lake
from tests.e2e.homes import USER_AGENT, command, ended, environment, published, query, sync_live
from tests.mirrors import ALFA, BRAVO, CARGO, Filer, Mirror

FILERS = (ALFA, BRAVO, CARGO, Filer(104, "DELT", 400))


@pytest.fixture
def mirror(tmp_path: Path, server: EdgarServer) -> Mirror:
    """The documents that the server serves; a test may change them."""
    server.folder = tmp_path / "mirror"
    return Mirror(server.folder, *FILERS)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home after the first synchronization with a server without faults; tests do not change it."""
    folder = tmp_path_factory.mktemp("first")
    with running_server() as faultless:
        faultless.folder = folder / "mirror"
        Mirror(faultless.folder, *FILERS)
        ended(sync_live(folder / "home", faultless))
    return folder / "home"


@pytest.fixture
def held(first: Path, home: Path) -> Path:
    """A copy of that home for one test, with a server that starts with the same documents."""
    return shutil.copytree(first, home, symlinks=True)


def asked(server: EdgarServer) -> int:
    """The number of documents that were requested."""
    return sum("/CIK" in path for path, _ in server.asked)


def test_404_for_every_document_is_a_failure_of_the_source(server, mirror, held):
    """Nothing is remembered: neither that the companies were synchronized, nor that they have no documents."""
    home = held
    before = published(home).pointer
    documents = server.folder / "data.sec.gov"
    documents.rename(server.folder / "hidden")

    done = ended(sync_live(home, server), 1)
    assert "the source answers 404 for 2 of 4 companies whose documents it had before" in done.stderr
    assert published(home).pointer == before
    (server.folder / "hidden").rename(documents)
    server.asked.clear()
    ended(sync_live(home, server))
    assert asked(server) == 8


def test_a_document_that_was_held_is_requested_again(server, mirror, held):
    server.on(facts_url(BRAVO.cik), Reply(404))
    for _ in range(2):
        server.asked.clear()
        ended(sync_live(held, server))
        assert asked(server) == 7
    assert query(held, "SELECT count(*) FROM financials WHERE symbol = 'BRVO'") != [(0,)]


def test_a_short_list_of_companies_is_held_back_until_it_is_confirmed(server, mirror, held):
    home = held
    before = published(home).pointer
    mirror.list(ALFA)

    done = ended(sync_live(home, server), 1)
    assert (
        "ticker_list_is_complete: 3 companies are missing in the SEC's list at once, such as BRVO (BRVO)" in done.stderr
    )
    assert "set FUNDAMENTALS_CONFIRM_SHRINK=yes, or synchronize again tomorrow" in done.stderr
    assert published(home).pointer == before
    ended(sync_live(home, server), 1)

    ended(sync_live(home, server, FUNDAMENTALS_CONFIRM_SHRINK="yes"))
    assert query(home, "SELECT symbol FROM companies WHERE is_listed") == [("ALFA",)]
    ended(sync_live(home, server))

    mirror.list(*FILERS)
    ended(sync_live(home, server))
    assert query(home, "SELECT count(*) FROM companies WHERE is_listed") == [(4,)]


def test_how_many_companies_may_leave_the_list_at_once(server, mirror, home):
    """A few, or half of a list less one; more are held back until the list says the same on another day."""
    named = ("--symbols", "ALFA")
    filers = [ALFA, *(Filer(number, f"F{number}") for number in range(200, 599))]
    for listed, status in ((400, 0), (397, 0), (392, 1), (4, 1)):
        mirror.list(*filers[:listed])
        done = ended(sync_live(home, server, *named), status)
        assert ("companies are missing in the SEC's list at once" in done.stderr) == bool(status)
    assert "ticker_list_is_complete: 393 companies are missing" in done.stderr

    lake = Lake(home / "tables")
    lake.write(
        listing_checks.TABLE, lake.read(listing_checks.TABLE).with_columns(pl.col("since") - listing_checks.ANOTHER_DAY)
    )
    ended(sync_live(home, server, *named))
    mirror.list(*filers[:2])
    assert "2 companies are missing" in sync_live(home, server, *named).stderr


def test_malformed_rows_of_the_list_are_skipped_and_named(server, mirror, held):
    """The other companies are synchronized, and listed companies stay listed.

    If many rows are malformed, the list is doubted.
    """
    document = json.loads(mirror.tickers.read_bytes())
    document["data"][1] = [None, "BRAVO", "BRVO", "Nasdaq"]
    mirror.tickers.write_text(json.dumps(document))
    grown = replace(CARGO, scale=400)
    mirror.hold(grown)

    done = ended(sync_live(held, server, "--full"))
    assert done.stderr.splitlines()[-2:] == [
        "skipped: tickers file, data[1]: the cik is None, expected a number of at most ten digits: "
        "[None, 'BRAVO', 'BRVO', 'Nasdaq']",
        "fundamentals sync: 1 rows of the SEC's list are malformed and were skipped; what was listed before stays "
        "listed",
    ]
    assert query(held, "SELECT symbol FROM companies WHERE is_listed ORDER BY symbol") == [
        (filer.symbol,) for filer in FILERS
    ]
    [(revenue,)] = query(held, "SELECT revenue FROM financials WHERE symbol = 'CRGO' AND period = 'FY2024'")
    assert revenue == grown.trailing(2024, 4)

    before = published(held).pointer
    document["data"] += [[None, f"F{number}", None, None] for number in range(4)]
    mirror.tickers.write_text(json.dumps(document))
    done = ended(sync_live(held, server), 1)
    assert (
        "ticker_list_is_complete: 4 rows of the SEC's list are malformed, such as tickers file, data[4]" in done.stderr
    )
    assert published(held).pointer == before
    ended(sync_live(held, server, FUNDAMENTALS_CONFIRM_SHRINK="yes"))
    assert query(held, "SELECT count(*) FROM companies WHERE is_listed") == [(4,)]


def test_a_symbol_of_two_companies_is_held_back(server, mirror, home):
    """Also in the first synchronization of a home."""
    mirror.list(*FILERS, Filer(105, "ALFA"))
    done = ended(sync_live(home, server), 1)
    assert "nothing was published: ticker_list_is_complete: 1 symbols belong to two companies" in done.stderr
    assert ": ALFA; if the list is right" in done.stderr
    mirror.list(*FILERS)
    ended(sync_live(home, server))


def test_a_refused_document_is_the_failure_of_its_company(server, mirror, home):
    """The company facts or the submissions. The last line says so, and the exit status is a special one."""
    server.on(facts_url(BRAVO.cik), Reply(403, b"<p>No access to this one</p>"))
    server.on(submissions_url(CARGO.cik), Reply(418))
    done = ended(sync_live(home, server), 3)
    lines = done.stderr.splitlines()
    assert any('answers 403 ("No access to this one")' in line for line in lines[:-1])
    assert any("answers 418" in line for line in lines[:-1])
    assert lines[-1] == (
        "fundamentals sync: 2 of 4 companies failed and keep their previous values; synchronize again later"
    )
    assert query(home, "SELECT symbol FROM companies ORDER BY symbol") == [("ALFA",), ("CRGO",), ("DELT",)]


def test_a_source_that_refuses_everything_is_left_after_a_few_requests(server, mirror, home, monkeypatch):
    tickers = mirror.tickers.read_bytes()
    server.on(TICKERS_URL, Reply(body=tickers))
    server.folder = None
    server.otherwise = Reply(403, b"<h1>Your Request Originates from an Undeclared Automated Tool</h1>")
    # slower than the answers of a busy machine: no request is under way when the last refusal arrives
    monkeypatch.setattr(sources, "REQUESTS_A_SECOND", 1)
    done = ended(sync_live(home, server), 1)
    assert "Your Request Originates from an Undeclared Automated Tool" in done.stderr
    assert len(server.asked) == 1 + REFUSALS_IN_A_ROW, server.asked


PAGE = b"<!DOCTYPE html><html><h1>Your Request Originates from an Undeclared Automated Tool</h1></html>"


def test_the_page_of_a_refusal_with_status_200_is_a_refusal(server, mirror, held, monkeypatch):
    """For one document its company fails, for all documents the run ends: nothing is quarantined, and no time
    advances.
    """
    before, tables = published(held).pointer, Lake(held / "tables").read("documents")
    server.replies, server.otherwise = {}, Reply(body=PAGE)
    server.on(TICKERS_URL, Reply(body=mirror.tickers.read_bytes()))
    folder, server.folder = server.folder, None
    with monkeypatch.context() as slowly:
        slowly.setattr(sources, "REQUESTS_A_SECOND", 1)
        done = sync_live(held, server, "--symbols", ",".join(filer.symbol for filer in FILERS))
    assert done.returncode == 1
    [line] = [line for line in done.stderr.splitlines() if "Undeclared" in line]
    assert line.startswith("fundamentals sync: https://data.sec.gov/")
    assert line.endswith(
        "as do the 2 documents before it; the address or the User-Agent is blocked: wait ten minutes, check "
        "EDGAR_USER_AGENT"
    )
    assert len(server.asked) == 1 + REFUSALS_IN_A_ROW, server.asked
    assert (published(held).pointer, Lake(held / "tables").read("documents").equals(tables)) == (before, True)

    server.folder, server.otherwise = folder, Reply(404)
    server.on(facts_url(BRAVO.cik), Reply(body=PAGE))
    done = ended(sync_live(held, server), 3)
    assert f"failed: CIK {BRAVO.cik}: {facts_url(BRAVO.cik)}: answers 200 with a web page in place" in done.stderr
    documents = Lake(held / "tables").read("documents").filter(cik=BRAVO.cik)
    assert documents.drop("failure").equals(
        tables.filter(cik=BRAVO.cik).drop("failure").with_columns(status=pl.lit("failed"))
    )
    assert query(held, "SELECT * FROM quarantine") == []

    server.on(TICKERS_URL, Reply(body=PAGE))
    done = sync_live(held, server)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "Undeclared Automated Tool" in done.stderr


def test_the_same_bad_bytes_for_both_documents_of_a_company(server, mirror, home):
    """One row of table `quarantine` with both places; the other companies are published."""
    for url in (facts_url(BRAVO.cik), submissions_url(BRAVO.cik)):
        server.on(url, Reply(body=b"Maintenance"))
    ended(sync_live(home, server))
    assert query(home, "SELECT cik, place FROM quarantine") == [
        (BRAVO.cik, f"companyfacts of CIK {BRAVO.cik}; submissions of CIK {BRAVO.cik}")
    ]
    assert query(home, "SELECT count(*) FROM companies") == [(3,)]


OUTSIDE = {
    BRAVO: ('"fy": 2023', f'"fy": {1 << 31}', "'fy' is out of range, expected a number <= 2147483647"),
    CARGO: ('"fy": 2023', f'"fy": {-(1 << 80)}', "'fy' is out of range, expected a number >= -2147483648"),
    FILERS[3]: ('"val": 5000000000', '"val": 1e+308', "'val' is out of range, expected a number <= 1e+30"),
}
"""Filers, each with a value that is too large for its type."""


def test_a_value_outside_its_type_quarantines_its_company(server, mirror, home):
    """The other companies are published."""
    for filer, (old, new, _) in OUTSIDE.items():
        text = mirror.facts(filer).read_text()
        assert old in text
        mirror.facts(filer).write_text(text.replace(old, new, 1))

    done = ended(sync_live(home, server))
    for filer, (_, _, reason) in OUTSIDE.items():
        [told] = [line for line in done.stderr.splitlines() if line.startswith(f"quarantined: CIK {filer.cik}")]
        assert reason in told
    assert query(home, "SELECT cik FROM quarantine ORDER BY cik") == [(filer.cik,) for filer in OUTSIDE]
    assert query(home, "SELECT symbol FROM companies") == [("ALFA",)]


@pytest.mark.parametrize("url", [facts_url(BRAVO.cik), BULK_URLS["companyfacts.zip"]], ids=["document", "bulk file"])
def test_sigint_ends_a_synchronization_that_waits_for_a_drip(server, mirror, home, url):
    """As a process, as a shell sends it: within five seconds, in one line, and the home is free again."""
    server.on(url, Reply(body=b" " * 1000, drip=2.0))
    settings = environment(home, EDGAR_USER_AGENT=USER_AGENT, EDGAR_BASE_URL=server.url)
    with subprocess.Popen(
        command("sync", "--source", "live"), cwd=PROJECT, env=settings, stderr=subprocess.PIPE, text=True
    ) as running:
        path = url.removeprefix("https:/")
        while running.poll() is None and path not in [path for path, _ in server.asked]:
            time.sleep(0.02)
        time.sleep(0.3)
        began = time.monotonic()
        os.kill(running.pid, signal.SIGINT)
        try:
            told = running.communicate(timeout=30)[1]
        finally:
            running.kill()
        assert time.monotonic() - began < 5
    assert running.returncode == 130, told
    assert told.splitlines()[-1] == ("fundamentals sync: stopped; nothing was published, and what was fetched is kept")
    assert "Traceback" not in told
    with Home(home).writing():
        pass  # raises nothing
