"""A first and a daily synchronization with the SEC, through bulk files and the daily index.

The server is a real one on a loopback port; behind it is the simulator, which files day by day.
"""

from datetime import date

from pipelines.edgar.fetch.download_plan import BULK_URLS
from pipelines.fake_sec.server import EdgarServer, Reply
from pipelines.run.steps import FEEDING_FORMS
from pipelines.sample import SampleTransport, sample_filers
from tests.e2e.homes import ended, published, query, sync_live

FILERS = sample_filers()[:4]
FIRST, LATER = date(2024, 10, 31), date(2024, 11, 8)


def asked(server: EdgarServer) -> list[str]:
    """The documents that were requested last, without the listings."""
    paths = [path.rpartition("/")[2] for path, _ in server.asked if not path.endswith("index.json")]
    server.asked.clear()
    return paths


def test_a_first_and_a_daily_synchronization(server, tmp_path):
    """The build is the same as if all documents had been requested one by one."""
    server.transport = SampleTransport(FILERS, filed_by=FIRST)
    home = tmp_path / "home"

    first = ended(sync_live(home, server))
    assert first.stdout.startswith("Documents: bulk files: nothing was synchronized with the SEC before\n")
    assert "companyfacts.zip" in first.stderr  # its progress
    assert asked(server) == ["company_tickers_exchange.json", "companyfacts.zip", "submissions.zip"]
    assert list((home / "raw" / "bulk").iterdir()) == []

    server.transport = later = SampleTransport(FILERS, filed_by=LATER)
    new = [(filer.cik, filing) for filer, filing in later._filings if filing.filed >= FIRST]
    filed = {cik for cik, filing in new if filing.form.removesuffix("/A") in FEEDING_FORMS}
    days = sorted({filing.filed for _, filing in new})
    assert 0 < len(filed) < len(FILERS)

    daily = ended(sync_live(home, server))
    assert f"Documents: daily index: {len(days)} new days" in daily.stdout
    requested = asked(server)
    assert requested[: len(days) + 1] == [
        "company_tickers_exchange.json",
        *(f"master.{day:%Y%m%d}.idx" for day in days),
    ]
    assert {name[3:13] for name in requested[len(days) + 1 :]} == filed
    times = query(home, "SELECT DISTINCT data_updated_at FROM companies")
    assert len(times) == 1  # the index proves of the others that they are up to date

    again = sync_live(home, server)

    assert "Documents: daily index: 0 new days, 0 companies filed" in again.stdout
    assert asked(server) == ["company_tickers_exchange.json"]
    for name, url in BULK_URLS.items():
        server.on(url, Reply(404))
        assert name in url
    assert "Documents: one by one" in sync_live(tmp_path / "other", server).stdout
    assert query(tmp_path / "other", "FROM financials ORDER BY ALL") == query(home, "FROM financials ORDER BY ALL")
    assert published(home).is_whole


def test_named_symbols_are_requested_one_by_one(server, tmp_path):
    server.transport = SampleTransport(FILERS[:2], filed_by=FIRST)
    done = ended(sync_live(tmp_path / "home", server, "--symbols", FILERS[0].symbols[0]))
    assert done.stdout.startswith("Documents: one by one: symbols were named\n")
