"""`fundamentals sample --next-day`: the running service shows the reports that the companies file then."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from pipelines.sample import EVENTS, Filer, next_day_filers, simulate
from tests.e2e.homes import ended, query, run, sync
from tests.servers import ONCE_IN_A_WHILE, active_key, wait_until
from tests.sites import Site, installed

ADDRESS = re.compile(r"http://\S+[^\s':]")


@dataclass(frozen=True)
class Day:
    """The next day, as the service has it."""

    site: Site
    key: str
    before: dict[str, Any]
    done: subprocess.CompletedProcess[str]

    def asked(self, path: str) -> httpx.Response:
        """The answer of the interface."""
        return httpx.get(f"{self.site.address}/v1{path}", headers={"X-Api-Key": self.key})

    def years(self, symbol: str) -> dict[str, dict[str, float | None]]:
        """The values of fiscal years by period."""
        rows = self.asked(f"/companies/{symbol}/financials?period=annual").json()["data"]
        return {row["period"]: row["values"] for row in rows}


@pytest.fixture(scope="module")
def day(synchronized_sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Day]:
    """The command was run while a service served the sample."""
    home = shutil.copytree(synchronized_sample, tmp_path_factory.mktemp("next-day") / "home", symlinks=True)
    with installed(home) as site:
        first = Day(site, active_key(home), {}, subprocess.CompletedProcess([], 0))
        before = {"split": first.years("XQWHC"), "listed": first.asked("/companies/XQKST").status_code}
        build = first.asked("/status").json()["data"]["build"]
        done = ended(run(home, "sample", "--next-day"))
        wait_until(lambda: first.asked("/status").json()["data"]["build"] != build, ONCE_IN_A_WHILE)
        yield Day(site, first.key, before, done)


def of_symbol(symbol: str) -> Filer:
    return next(filer for filer in next_day_filers() if symbol in filer.symbols)


def test_the_addresses_that_are_printed_show_what_each_company_did(day):
    addresses = ADDRESS.findall(day.done.stdout)
    assert all(one.startswith(day.site.address) for one in addresses)
    *pages, changes, revisions = [one.removeprefix(day.site.address) for one in addresses]
    assert pages == [f"/companies/{event.symbol}{event.page}" for event in EVENTS]
    shown = {"XQLNT": "10-Q of 2025-12-15", "XQHBR": "10-K/A of 2025-12-15", "XQWHC": " / 2 |", "XQSLH": " x 1,000 x "}
    with day.site.signed_in() as client:
        for event, page in zip(EVENTS, pages, strict=True):
            assert shown.get(event.symbol, "10-K of 2025-12-15") in client.get(f"{page}.md").raise_for_status().text
        listed = client.get(f"{changes}.md").text
    rows = [[cell.strip() for cell in line.split("|")] for line in listed.splitlines() if line.startswith("| [XQ")]
    assert {(re.search(r"XQ\w+", row[1])[0], row[6]) for row in rows} == {
        ("XQLNT", "initial"),
        ("XQWHC", "initial"),
        ("XQHBR", "restatement"),
    }
    assert re.search(r"^New companies.*XQKST Example Kestrel Robotics Inc\].*XQSLH", listed, re.MULTILINE)
    assert day.asked(revisions.removeprefix("/v1")).json()["meta"]["count"] == 2


def test_both_versions_of_what_is_restated_are_kept(day):
    [restated] = [
        row
        for row in day.asked("/companies/XQHBR/financials/revisions?items=revenue&limit=100").json()["data"]
        if row["period"] == "FY2025"
    ]
    true = {row.item: row.value for row in simulate(of_symbol("XQHBR")).truth() if f"{row.period_end}" == "2025-09-27"}
    first, second = restated["versions"]
    assert first["value"] > second["value"] == restated["current_value"] == true["revenue"]
    assert first["recorded_at"] < second["recorded_at"]


def test_a_split_puts_earlier_values_on_the_new_share_basis(day):
    now, before = day.years("XQWHC"), day.before["split"]
    assert now.keys() == before.keys()
    for period, values in now.items():
        assert values["eps_basic"] == pytest.approx(before[period]["eps_basic"] / 2)
        assert values["shares_basic"] == pytest.approx(before[period]["shares_basic"] * 2, rel=1e-7)
        assert values["net_income"] == before[period]["net_income"]
    assert query(day.site.home, "SELECT ratio, effective_by FROM splits WHERE cik = '9990000003'")[0][0] == 2


def test_a_company_that_is_listed_has_the_values_of_its_first_report(day):
    assert day.before["listed"] == 404
    true = {row.item: row.value for row in simulate(of_symbol("XQKST")).truth() if row.period_end.year == 2025}
    assert day.years("XQKST")["FY2025"]["revenue"] == true["revenue"]


def test_an_error_is_corrected_and_has_its_proof(day):
    erring = of_symbol("XQSLH")
    true = {row.item: row.value for row in simulate(erring).truth() if row.period_end.year == 2025}
    filed = query(
        day.site.home,
        f"SELECT filed_value, value, evidence FROM repairs WHERE cik = '{erring.cik}' AND concept = 'shares_basic' "
        'ORDER BY "end" DESC LIMIT 1',
    )
    thousands = round(true["shares_basic"] / 1_000)
    assert filed == [(thousands, thousands * 1_000, "net income over earnings per share of the same filing")]
    assert day.years("XQSLH")["FY2025"]["shares_basic"] == thousands * 1_000


def test_the_day_stays_and_the_command_can_be_repeated(day):
    """A synchronization with the sample does not go back to the day before."""
    build = day.asked("/status").json()["data"]["build"]
    assert ", was there already:" not in day.done.stdout
    again = run(day.site.home, "sample", "--next-day")
    assert (again.returncode, ", was there already:" in again.stdout) == (0, True)
    ended(sync(day.site.home, "sample"))
    assert day.asked("/status").json()["data"]["build"] == build
    assert day.asked("/companies/XQKST").status_code == 200


def test_without_a_build_the_command_says_what_to_do_first(tmp_path):
    refused = run(tmp_path / "home", "sample", "--next-day")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "nothing is published; synchronize the sample first" in refused.stderr
