"""The Dagster UI, as `make ui` starts it, in a real browser: materialize all assets, look at them, update one company.

Screenshots are in the test's folder, and in the one named by FUNDAMENTALS_SCREENSHOTS.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from pipelines.dagster_app.asset_specs import OF_FILINGS, UPSTREAM
from pipelines.dagster_app.checks import blocking, quality_of_values
from pipelines.dagster_app.definitions import JOB
from pipelines.run import plan
from pipelines.storage.home import LOCK, PROJECT
from tests.e2e.chromium import chromium
from tests.e2e.homes import PATIENCE, command, ended, environment, published, query, sync_as_process
from tests.mirrors import ABSENT, ALFA, BRAVO, CARGO, Mirror
from tests.servers import free_port
from warehouse.contract import views

# read when the module is imported, because tests do not see these variables
SCREENSHOTS = os.environ.get("FUNDAMENTALS_SCREENSHOTS")
STEPS = [
    *("documents", "facts", "first_build", "filings", "statements", "values", "versions", "tables", "warehouse"),
    "quality_report",
]
PUBLISHED = [f"warehouse/{table.name}" for table in views.PUBLISHED]
OUTSIDE = [*(f"sec/{name}" for name, *_ in (*UPSTREAM, *OF_FILINGS)), "http_interface"]
ASSETS = "{ assetNodes { assetKey { path } } }"
RUNS = "{ runsOrError(limit: 20) { ... on Runs { results { runId status } } } }"
CHECKED = """query ($run: ID!) { runOrError(runId: $run) { ... on Run {
    stepStats { stepKey status } assetChecks { name } assetMaterializations { assetKey { path } } } } }"""
LATEST = "query ($keys: [AssetKeyInput!]!) { assetsLatestInfo(assetKeys: $keys) { latestRun { status } } }"
LOG = """query ($run: ID!) { logsForRun(runId: $run) { ... on EventConnection {
    events { ... on MessageEvent { message } } } } }"""
LAUNCH = """mutation ($config: RunConfigData!, $job: String!) {
    launchRun(executionParams: {
        selector: {
            jobName: $job, repositoryLocationName: "pipelines.dagster_app.definitions", repositoryName: "__repository__"
        },
        runConfigData: $config
    }) { __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } } }"""


@dataclass(frozen=True, slots=True)
class Instance:
    """A running Dagster UI, its home and its source."""

    url: str
    home: Path
    mirror: Mirror

    def ask(self, query: str, **variables: Any) -> dict[str, Any]:
        """Send a query to the webserver, as the UI does."""
        answer = httpx.post(f"{self.url}/graphql", json={"query": query, "variables": variables}, timeout=PATIENCE)
        answer.raise_for_status()
        assert "errors" not in answer.json(), answer.text
        return answer.json()["data"]

    def runs(self) -> dict[str, str]:
        """The status of each run."""
        return {run["runId"]: run["status"] for run in self.ask(RUNS)["runsOrError"]["results"]}

    def ended(self, known: Collection[str]) -> tuple[str, str]:
        """The new run and its status, once it has ended."""
        return eventually(
            lambda: next(
                (
                    (run, status)
                    for run, status in self.runs().items()
                    if run not in known and status in ("SUCCESS", "FAILURE", "CANCELED")
                ),
                None,
            ),
            "a run ends",
        )


def eventually(look: Callable[[], Any], what: str) -> Any:
    """The result of a function as soon as there is one."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if found := look():
            return found
        time.sleep(0.1)
    raise TimeoutError(f"waited {PATIENCE} seconds until {what}")


@contextmanager
def dagster_ui(home: Path, source: Path, log: Path) -> Iterator[str]:
    """The Dagster UI of `make ui`; all its processes end with it."""
    port = free_port()
    installed = ["--old-file", ".venv/.ready", f"BIN={Path(sys.executable).parent}"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["make", *installed, "ui", f"UI_PORT={port}", f"SOURCE={source}"],
            cwd=PROJECT,
            env=environment(home),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        url = f"http://127.0.0.1:{port}"
        eventually(lambda: _answers(url) or process.poll() is not None, "the Dagster UI is up")
        assert process.poll() is None, log.read_text()
        yield url
    finally:
        _end(process)


@contextmanager
def synchronizing(instance: Instance) -> Iterator[subprocess.Popen[bytes]]:
    """The command, stopped in its work as soon as it has the home, and killed at the end."""
    words = command("sync", "--source", instance.mirror.folder)
    with subprocess.Popen(words, cwd=PROJECT, env=environment(instance.home), stderr=subprocess.DEVNULL) as process:
        try:
            lock = instance.home / LOCK
            while f"process {process.pid}," not in (lock.read_text() if lock.exists() else ""):
                assert process.poll() is None, "it has ended before it could be stopped"
            process.send_signal(signal.SIGSTOP)
            yield process
        finally:
            process.kill()


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/server_info", timeout=5).is_success
    except httpx.TransportError:
        return False


def _end(process: subprocess.Popen[bytes]) -> None:
    """Signal all its processes, as a terminal does; a shell may have started the tests with SIGINT turned off."""
    os.killpg(process.pid, signal.SIGTERM)
    try:
        eventually(lambda: not _has_processes(process), "all processes of the Dagster UI end")
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(30)


def _has_processes(group: subprocess.Popen[bytes]) -> bool:
    group.poll()  # else it stays in its group when it has ended
    try:
        os.killpg(group.pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture(scope="module")
def instance(program: Callable[[str, str], str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    program("chromium", "chromium")  # without it none of these tests runs
    folder = tmp_path_factory.mktemp("ui")
    mirror, home = Mirror(folder / "mirror", ALFA, BRAVO, CARGO, ABSENT), folder / "home"
    with dagster_ui(home, mirror.folder, folder / "dagster.log") as url:
        yield Instance(url, home, mirror)


@pytest.fixture(scope="module")
def page(program: Callable[[str, str], str], instance: Instance) -> Iterator[Page]:
    """One page of a real browser for all tests, which may reach only the Dagster UI."""
    asked: set[str] = set()
    with chromium(program("chromium", "chromium")) as browser:
        opened = browser.new_page(viewport={"width": 1600, "height": 1000})
        opened.set_default_timeout(PATIENCE * 1000)
        opened.on("request", lambda request: asked.add(httpx.URL(request.url).host))
        yield opened
    assert asked <= {"127.0.0.1", ""}


@pytest.fixture
def shoot(page: Page, tmp_path: Path) -> Callable[[str], None]:
    """Take a screenshot of the page."""

    def take(name: str) -> None:
        file = tmp_path / f"{name}.png"
        page.screenshot(path=file)
        assert file.stat().st_size > 10_000
        if SCREENSHOTS:
            Path(SCREENSHOTS).mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, Path(SCREENSHOTS) / file.name)

    return take


def test_all_assets_are_materialized_from_the_graph(instance, page, shoot, tmp_path):
    """The run succeeds with all its checks, and its build equals the build of the command."""
    page.goto(f"{instance.url}/asset-groups")
    materialize = page.get_by_role("button", name="Materialize all")
    expect(materialize).to_be_enabled(timeout=PATIENCE * 1000)
    page.keyboard.press("Alt+e")  # opens the groups
    for group in ("sec", "extract", "normalize", "publish", "warehouse", "interface"):
        expect(page.get_by_text(group, exact=True).first).to_be_visible(timeout=PATIENCE * 1000)
    shown = {"/".join(node["assetKey"]["path"]) for node in instance.ask(ASSETS)["assetNodes"]}
    assert shown == {*STEPS, *PUBLISHED, *OUTSIDE}
    shoot("graph-before")
    materialize.locator("xpath=following::button[1]").click()
    page.get_by_role("menuitem", name="Open launchpad").click()  # as README.md says
    for setting in ("full: false", 'symbols: ""'):
        expect(page.get_by_role("dialog").get_by_text(setting)).to_be_visible(timeout=PATIENCE * 1000)
    page.reload()
    materialize.click()

    run, status = instance.ended(known=set())

    assert status == "SUCCESS"
    told = instance.ask(CHECKED, run=run)["runOrError"]
    assert {"/".join(each["assetKey"]["path"]) for each in told["assetMaterializations"]} == {*STEPS, *PUBLISHED}
    checks = (*blocking(plan.STEPS), quality_of_values)
    assert {each["name"] for each in told["assetChecks"]} == {key.name for check in checks for key in check.check_keys}
    assert {step["status"] for step in told["stepStats"]} == {"SUCCESS"}

    build = published(instance.home)
    assert build.is_whole
    other = tmp_path / "home"
    ended(sync_as_process(other, instance.mirror.folder))
    assert published(other).content_hash == build.content_hash

    page.get_by_role("button", name="zoom_in").dblclick()  # zoomed out, an asset shows only its name
    shoot("graph")
    page.goto(f"{instance.url}/runs/{run}")
    expect(page.get_by_text("Success", exact=True).first).to_be_visible(timeout=PATIENCE * 1000)
    shoot("run")


@pytest.mark.parametrize("name", ["documents", "values", "warehouse"])  # a page takes some seconds
def test_each_asset_shows_its_rows(instance, page, shoot, name):
    """Rows and a small table, or the published build."""
    page.goto(f"{instance.url}/assets/{name}?view=overview")
    expect(page.get_by_text("Latest materialization")).to_be_visible(timeout=PATIENCE * 1000)
    told = page.locator("table", has_text="Timestamp").first
    for words in ("build", "content_hash", "published") if name == "warehouse" else ("companies", "sample"):
        expect(told.get_by_text(words, exact=True).first).to_be_visible(timeout=PATIENCE * 1000)
    if name != "warehouse":
        expect(told).to_contain_text(ALFA.cik)
    shoot(f"asset-{name}")


def test_a_published_table_shows_its_columns_and_its_rows(instance, page, shoot):
    page.goto(f"{instance.url}/assets/warehouse/financials?view=overview")
    for words in ("Latest materialization", "period_kind", "debt_to_fcf"):
        expect(page.get_by_text(words).first).to_be_visible(timeout=PATIENCE * 1000)
    shoot("table-financials")


@pytest.mark.parametrize("size", [(1280, 800), (1500, 900), (1920, 1000)])
def test_the_address_of_make_ui_opens_the_chain_in_the_window(instance, page, shoot, size):
    """All eight steps, in their order, and no step hidden behind the zoom control at the right edge."""
    told = subprocess.run(["make", "--dry-run", "ui"], cwd=PROJECT, capture_output=True, text=True, check=True).stdout
    [path] = set(re.findall(r"http://127\.0\.0\.1:\d+(/asset-groups\S*?)\"", told))
    width, height = size
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{instance.url}{path}")
    graph = page.locator("svg").filter(has=page.locator("foreignObject"))
    boxes = []
    for name in STEPS:
        step = graph.get_by_text(name, exact=True).last
        expect(step).to_be_in_viewport(timeout=PATIENCE * 1000)
        boxes.append(step.bounding_box())
    shoot(f"chain-{width}")
    lefts = [box["x"] for box in boxes]
    assert lefts == sorted(lefts)
    assert all(0.25 * height < box["y"] < 0.75 * height for box in boxes)
    assert lefts[-1] - lefts[0] > 0.35 * width


def test_one_company_is_processed_again_from_the_launchpad(instance, tmp_path):
    """The run waits while a command synchronizes, and begins when that was killed.

    The other company changes once the command is stopped: documents that it has read, the run would process, too.
    """
    before = instance.runs()
    grown = replace(BRAVO, scale=700)
    instance.mirror.hold(grown)
    with synchronizing(instance) as synchronization:
        instance.mirror.hold(replace(CARGO, scale=700))
        config = {"source": str(instance.mirror.folder), "symbols": "BRVO", "full": True}
        launched = instance.ask(LAUNCH, job=JOB, config=config)["launchRun"]
        assert launched["__typename"] == "LaunchRunSuccess", launched
        run = launched["run"]["runId"]
        waits = f"another synchronization is running (process {synchronization.pid}, since "
        eventually(lambda: waits in str(instance.ask(LOG, run=run)), "the run waits")
        synchronization.kill()

    assert instance.ended(before) == (run, "SUCCESS")
    assert published(instance.home).is_whole
    revenues = "SELECT revenue FROM financials WHERE period = 'FY2024' ORDER BY symbol"
    assert query(instance.home, revenues) == [(filer.trailing(2024, 4),) for filer in (ALFA, grown, CARGO)]


def test_a_refused_run_shows_why_in_the_ui_and_no_asset_has_failed(instance, page, shoot):
    known = instance.runs()
    before = published(instance.home).pointer
    config = {"source": str(instance.mirror.folder), "symbols": "ZZZZ"}
    instance.ask(LAUNCH, job=JOB, config=config)

    run, status = instance.ended(known)

    assert status == "CANCELED"
    assert published(instance.home).pointer == before
    page.goto(f"{instance.url}/runs/{run}")
    expect(page.get_by_text("no such symbol in the SEC's list of 4: ZZZZ").first).to_be_visible(timeout=PATIENCE * 1000)
    shoot("refused-run")
    latest = instance.ask(LATEST, keys=[{"path": [name]} for name in STEPS])["assetsLatestInfo"]
    assert {each["latestRun"]["status"] for each in latest} == {"SUCCESS"}
