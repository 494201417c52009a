"""Reports that the SEC lists and companyfacts lack: they are named, and their periods have a reason."""

import os
from datetime import date
from pathlib import Path

import polars as pl
import pytest

from pipelines.normalize.facts.unread import LISTED_REPORTS, unread_reports
from pipelines.run.plan import run_all
from pipelines.run.synchronization import Synchronization
from pipelines.stages.batch.schemas import UNREAD_REPORTS
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake
from serve.cli.explanation import text
from serve.provenance import find
from serve.site.company import company_page
from serve.site.frame import view
from tests.e2e.homes import query
from tests.mirrors import ALFA, Mirror, changed
from tests.published import opened
from tests.texts import lacking
from warehouse.contract import schema
from warehouse.contract.line_items import ITEM_NAMES

LACKING = "0000000101-25-000004"
"""The annual report of 2024: the newest one."""
FILINGS = "SELECT accession, in_companyfacts, share_basis FROM filings WHERE filed >= '2024-10-01' ORDER BY filed"


def without(mirror: Mirror, accession: str) -> None:
    """Let companyfacts lack a filing that the submissions list, with the last day of each period."""
    with changed(mirror.facts(ALFA)) as facts:
        for concept in facts["facts"]["us-gaap"].values():
            for unit, rows in concept["units"].items():
                concept["units"][unit] = [row for row in rows if row["accn"] != accession]
    with changed(mirror.submissions(ALFA)) as listed:
        recent = listed["filings"]["recent"]
        recent["reportDate"] = ["2024-12-31" if one == accession else "" for one in recent["accessionNumber"]]
    for path in (mirror.facts(ALFA), mirror.submissions(ALFA)):
        os.utime(path, (path.stat().st_mtime + 5,) * 2)


@pytest.fixture
def mirror(tmp_path: Path) -> Mirror:
    return Mirror(tmp_path / "mirror", ALFA)


@pytest.fixture
def home(tmp_path: Path, mirror: Mirror) -> Home:
    """A home that is synchronized while companyfacts lack the newest report."""
    without(mirror, LACKING)
    made = Home(tmp_path / "home")
    run_all(Synchronization(made, str(mirror.folder)))
    return made


def test_a_report_that_companyfacts_lack_is_listed_and_its_period_has_a_reason(home, mirror):
    """All items of twelve months and of the year have the reason; when companyfacts have the report, neither entry
    is left.
    """
    assert query(home.root, FILINGS)[-2:] == [("0000000101-24-000003", True, 1.0), (LACKING, False, None)]
    of_period = "SELECT period_kind, item FROM gaps WHERE period_end = '2024-12-31' AND reason = {} ORDER BY ALL"
    named = query(home.root, of_period.format("'filing_not_in_companyfacts'"))
    assert named == sorted((kind, item) for kind in schema.PERIOD_KINDS for item in ITEM_NAMES)
    assert named == query(home.root, of_period.format("reason"))

    mirror.hold(ALFA)
    run_all(Synchronization(home, str(mirror.folder)))
    assert query(home.root, FILINGS)[-1] == (LACKING, True, 1.0)
    assert query(home.root, of_period.format("'filing_not_in_companyfacts'")) == []


def test_the_page_of_the_company_and_explain_name_it(home):
    with opened(home.published) as build:
        explained, earlier = (find(build, "ALFA", "revenue", end) for end in ("2024-12-31", "2024-09-30"))
        company = build.memory.company("ALFA")
        assert company
        held = company_page.held(build, company)
    page = company_page.document(
        held, view.DEFAULT, filings_url="/", published_at="", updated_at=None, newest_filing="2025-02-28"
    )
    [(filed,)] = query(home.root, f"SELECT filed FROM filings WHERE accession = '{LACKING}'")
    told = f"The 10-K of {filed} is not in the SEC's companyfacts, and its XBRL package is not read."
    assert explained.reason
    assert (explained.reason.code, list(explained.namesakes)) == ("filing_not_in_companyfacts", [])
    for shown in (text(explained, 1000), text(earlier, 1000)):
        assert f"{told} ({LACKING})" in shown
    assert "No rule is named" not in text(explained, 1000)
    assert not lacking(str(page.text), told, LACKING)


def test_a_home_of_an_earlier_release_reads_the_lists_once(home, mirror):
    """Although no document is new."""
    lake = Lake(home.tables)
    lake.replace_companies("registrants", [lake.read("registrants")], {ALFA.cik: "of an earlier release"})
    lake.remove_companies("reports", [ALFA.cik])
    assert lake.height("reports") == 0
    run_all(Synchronization(home, str(mirror.folder)))
    assert (lake.height("reports"), lake.read(UNREAD_REPORTS)["accession"].to_list()) == (12, [LACKING])


def test_reports_from_before_xbrl_are_not_missing():
    """Reports filed before the first report in companyfacts; reports that are read from a package are not missing
    either.
    """
    days = [date(2020 + n, 3, 1) for n in range(4)]
    rows = [("1", f"{n}", "10-K", day, day) for n, day in enumerate(days)]
    listed = pl.DataFrame(rows, schema=LISTED_REPORTS, orient="row")
    facts = pl.DataFrame({"cik": ["1"], "accession": ["1"], "filed": ["2021-03-01"]})
    read = pl.DataFrame({"cik": ["1"], "accession": ["2"]})
    assert unread_reports(listed, facts, read)["accession"].to_list() == ["3"]
    assert unread_reports(listed, facts, read.clear())["accession"].to_list() == ["2", "3"]
