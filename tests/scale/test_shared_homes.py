"""Synchronizations of several homes with one store: two publishers, killed writers, moving, errors, commands."""

import contextlib
import functools
import json
import os
import random
import shutil
import signal
import subprocess
import threading
import time
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from pipelines.edgar.decode.filing_list import XbrlFiling
from pipelines.edgar.fetch.filing_documents import ARCHIVES, DATA_SETS, FilingDocuments
from pipelines.edgar.fetch.raw_store import RawStore
from pipelines.edgar.source.mirror import file_of
from pipelines.fake_sec.server import Reply, running_server
from pipelines.run.plan import run_all, run_step
from pipelines.run.synchronization import Synchronization
from pipelines.stages.filed import filing_requests
from pipelines.storage.home import PROJECT, Home
from pipelines.storage.lake import Lake
from tests import filing_packages
from tests.e2e.homes import PATIENCE, command, debris, ended, environment, published, query, run, sync, sync_unrecorded
from tests.mirrors import ALFA, BRAVO, LAST_YEAR, Mirror, write
from tests.scale.objects import Objects
from tests.servers import away, wait_until
from tests.torture.days import Days
from warehouse.build.pointer import current
from warehouse.shared.checkout import STAMPS

KILLS, SILENT = 4, 3
WAITS = "this run waits for it, 600 seconds at most"
SEED = 3
COLUMNS = {"COLUMNS": "400"}


@pytest.fixture(scope="module")
def days(tmp_path_factory: pytest.TempPathFactory, objects: Objects) -> Days:
    """A source of two days, and a store with the build of the first."""
    found = Days(tmp_path_factory.mktemp("days"))
    home = tmp_path_factory.mktemp("first") / "home"
    ended(sync_unrecorded(home, found.folder, **at(objects, "first")))
    found.turn(1)
    return found


def at(objects: Objects, prefix: str) -> dict[str, str]:
    """The environment of a process that uses one of the stores."""
    return {**objects.access, "FUNDAMENTALS_STORE": objects.address(prefix), **COLUMNS}


def copied(objects: Objects, prefix: str) -> dict[str, str]:
    """The environment for a copy of the store with the build of the first day."""
    objects.copy("first", prefix)
    return at(objects, prefix)


def shared(home: Path) -> dict[str, bytes]:
    """The shared files of a home."""
    paths = [path for folder in ("tables", "log", "published") for path in (home / folder).rglob("*")]
    files = {path.relative_to(home).as_posix(): path.read_bytes() for path in paths if path.is_file()}
    return files | {"seen": (home / "raw/seen.jsonl").read_bytes(), "kind": (home / "home.json").read_bytes()}


def head(objects: Objects, prefix: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(objects.read(f"{prefix}/HEAD"))
    return found


def start(home: Path, source: Path, more: dict[str, str]) -> subprocess.Popen[str]:
    """Start `fundamentals sync`."""
    return subprocess.Popen(
        command("sync", "--source", source),
        cwd=PROJECT,
        env=environment(home, **more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    """Wait until a process has written a file."""
    wait_until(lambda: path.exists() or process.poll() is not None, 0.002)
    assert path.exists(), process.communicate()


@pytest.mark.long
def test_another_home_continues_from_the_store(objects: Objects, days: Days, tmp_path: Path) -> None:
    """It makes the same build as the home that began, and fetches from the store the files that it reads again."""
    env = copied(objects, "another")
    before = head(objects, "another")["run"]
    ended(sync(tmp_path / "home", days.folder, **env))
    pointer = published(tmp_path / "home").pointer
    assert pointer.previous == f"warehouse-{before}.duckdb"
    assert len(pointer.log) == 2
    assert debris(tmp_path / "home") == []
    ended(sync(tmp_path / "alone", days.folder))
    financials = f"SELECT * FROM financials WHERE period_end = '{LAST_YEAR}-12-31' ORDER BY ALL"
    assert query(tmp_path / "home", financials) == query(tmp_path / "alone", financials)
    ended(sync(tmp_path / "home", days.folder, "--full", **env))
    assert published(tmp_path / "home").pointer.build == pointer.build


@pytest.mark.long
def test_filings_of_a_mirror_are_committed_with_the_build(objects: Objects, days: Days, tmp_path: Path) -> None:
    """The record of them and their documents, in one commit."""
    source = shutil.copytree(days.folder, tmp_path / "mirror")
    data_set = file_of(source, f"{DATA_SETS}2024q1.zip")
    data_set.parent.mkdir(parents=True)
    with zipfile.ZipFile(data_set, "w") as archive:
        archive.writestr("sub.txt", "")
    env, home = at(objects, "filings"), tmp_path / "home"
    with pytest.MonkeyPatch.context() as settings:
        for name, value in env.items():
            settings.setenv(name, value)
        lines = [committed_by(home, source), committed_by(home, source)]
    assert [len(each) for each in lines] == [1, 1]
    assert "tables/data_sets.parquet" in head(objects, "filings")["files"]  # type: ignore[operator]
    [document] = home.glob("raw/filings/??/*")
    assert [key for key in objects.keys("filings/raw/") if document.name.partition(".")[0] in key]


@pytest.mark.long
def test_another_machine_goes_on_with_the_filings(
    objects: Objects, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a stop in the fetch, it requests the uncommitted documents, and decodes all that the store has."""
    mirror = Mirror(tmp_path / "mirror", ALFA, BRAVO)
    submissions = json.loads(mirror.submissions(ALFA).read_bytes())
    recent, number = submissions["filings"]["recent"], len(submissions["filings"]["recent"]["form"])
    days = [f"{datetime.now(UTC) - timedelta(number):%Y-%m-%d}" for number in range(number)]
    recent |= {"isXBRL": [1] * number, "isInlineXBRL": [0] * number, "filingDate": days}
    write(mirror.submissions(ALFA), submissions)
    body = filing_packages.zipped(filing_packages.packed(filing_packages.SHEET, filing_packages.TITLE))
    for limit in ("CHECKPOINT_SECONDS", "COMMIT_SECONDS"):
        monkeypatch.setattr(filing_requests, limit, 0.0)
    monkeypatch.setattr(filing_requests, "AT_A_TIME", 1)
    package, packages = FilingDocuments.package, [0]

    def stopped(self: FilingDocuments, filing: XbrlFiling) -> object:
        packages[0] += 1
        if packages[0] == 3:
            raise KeyboardInterrupt
        return package(self, filing)

    with running_server() as server:
        server.folder = mirror.folder
        for accession in recent["accessionNumber"]:
            folder = f"{ARCHIVES}{int(ALFA.cik)}/{accession.replace('-', '')}/"
            server.on(f"{folder}{accession}-xbrl.zip", Reply(body=body))
        settings = {"EDGAR_USER_AGENT": "Name mail@example.org", "EDGAR_BASE_URL": server.url}
        for name, value in (at(objects, "machines") | settings).items():
            monkeypatch.setenv(name, value)
        with monkeypatch.context() as stopping:
            stopping.setattr(FilingDocuments, "package", stopped)
            with pytest.raises(KeyboardInterrupt):
                run_all(Synchronization(Home(tmp_path / "lost"), "live", symbols="ALFA"))
        counts = run_all(Synchronization(Home(tmp_path / "other"), "live", symbols="ALFA")).counts
        asked = [path for path, _ in server.asked if path.endswith("-xbrl.zip")]
    assert number > 3
    assert len(asked) == len({*asked}) == counts["filings_decoded"] == number
    assert counts["unread"] == 0


@pytest.mark.long
def test_a_home_that_had_filings_before_it_has_a_store(objects: Objects, days: Days, tmp_path: Path) -> None:
    """Its documents of filings are in the store, too."""
    home = tmp_path / "home"
    ended(sync(home, days.folder))
    store = RawStore(home)
    digest = store.put_filing(b"a filing")
    store.name_documents()
    ended(sync(home, days.folder, **at(objects, "had-filings")))
    assert [key for key in objects.keys("had-filings/raw/") if digest in key]


def committed_by(home: Path, source: Path) -> list[str]:
    """The lines about commits of a synchronization."""
    lines: list[str] = []
    log = SimpleNamespace(info=lines.append, warning=lines.append)
    run_all(Synchronization(Home(home), str(source)), functools.partial(run_step, log=log))
    return [line for line in lines if line.startswith("committed to")]


def of_two_days(days: Days, folder: Path) -> Path:
    """A home that was synchronized on both days, without a store."""
    for day in (0, 1):
        days.turn(day)
        ended(sync(folder / "home", days.folder))
    return folder / "home"


@pytest.mark.long
def test_a_home_that_has_data_moves_to_an_empty_store(objects: Objects, days: Days, tmp_path: Path) -> None:
    """The first synchronization stores everything, including documents that newer ones replaced."""
    home, elsewhere = of_two_days(days, tmp_path), tmp_path / "elsewhere"
    before = published(home)
    env = at(objects, "moved")
    ended(sync(home, days.folder, **env))
    assert published(home).pointer.build == before.pointer.build
    documents = {path.name for path in home.glob("raw/??/*")}
    assert {key.rpartition("/")[2] for key in objects.keys("moved/raw/")} == documents
    ended(run(elsewhere, "builds", "list", **env))
    assert published(elsewhere).content_hash == before.content_hash


@pytest.mark.long
def test_a_rollback_before_the_first_commit_loses_nothing(objects: Objects, days: Days, tmp_path: Path) -> None:
    """The store stays empty: with builds alone, the next synchronization would remove the tables and the log here."""
    home, env = of_two_days(days, tmp_path), at(objects, "rolled-back")
    log = {path.name for path in (home / "log").glob("*.parquet")}
    assert len(log) == 2
    ended(run(home, "builds", "rollback", **env))
    assert not objects.keys("rolled-back/HEAD")
    ended(sync(home, days.folder, **env))
    assert {path.name for path in (home / "log").glob("*.parquet")} == log
    assert {f"log/{name}" for name in log} <= set(head(objects, "rolled-back")["files"])  # type: ignore[call-overload]


def test_a_home_with_a_log_of_its_own_is_not_overwritten(objects: Objects, days: Days, tmp_path: Path) -> None:
    """Its recorded versions cannot be made again; a home that was shared before takes over the store as usual."""
    home, env = tmp_path / "home", copied(objects, "own")
    ended(sync_unrecorded(home, days.folder))
    before = shared(home)
    for words in (("sync", "--source", days.folder), ("builds", "list")):
        refused = ended(run(home, *words, **env), 1)
        assert f"{home} has a version log of its own, which {env['FUNDAMENTALS_STORE']} lacks" in refused.stderr
        assert "FUNDAMENTALS_HOME to another folder" in refused.stderr
    assert shared(home) == before


def test_of_two_publishers_the_second_one_says_who_is_first(objects: Objects, days: Days, tmp_path: Path) -> None:
    """It ends with status 1, before it has changed anything; when the first one has ended, it works."""
    env = {**copied(objects, "two"), "FUNDAMENTALS_LEASE": "12"}  # a sign of life every two seconds
    homes = [tmp_path / "a", tmp_path / "b"]
    first = start(homes[0], days.folder, env)
    wait_for(homes[0] / "raw" / "incoming", first)
    second = sync(homes[1], days.folder, **env)
    told = first.communicate(timeout=PATIENCE)[1]
    if second.returncode:  # else the first one was faster than the second one could look twice
        line = second.stderr.splitlines()[-1]
        assert line.startswith(
            f"fundamentals sync: the lease on {env['FUNDAMENTALS_STORE']} is held by process {first.pid} of "
        )
        assert line.endswith("another synchronization is running; wait for it to end, or stop it")
        assert not (homes[1] / "tables" / "listings.parquet").exists()
    assert first.returncode == 0, told
    ended(sync(homes[1], days.folder, **env))
    assert shared(homes[0])["published/CURRENT.json"] is not None
    assert published(homes[1]).pointer.build == published(homes[0]).pointer.build


@pytest.mark.long
def test_a_writer_killed_at_random_moments_leaves_a_complete_state(
    objects: Objects, days: Days, tmp_path: Path
) -> None:
    env = {**copied(objects, "killed"), "FUNDAMENTALS_LEASE": str(SILENT)}
    old = head(objects, "killed")["run"]
    whole = tmp_path / "whole"
    began = time.monotonic()
    ended(sync(whole, days.folder, **copied(objects, "measured")))
    seconds = time.monotonic() - began
    drawn = random.Random(SEED)
    home = tmp_path / "home"
    for number in range(KILLS):
        process = start(home, days.folder, env)
        wait_for(home / "tables", process)
        time.sleep(drawn.uniform(0, seconds) + (SILENT if number else 0))  # until the lease of the one before is over
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        seen = tmp_path / f"seen-{number}"
        ended(run(seen, "builds", "list", **env))
        state = published(seen)
        assert state.is_whole
        assert state.pointer.build == old or len(state.pointer.log) == 2
        examined = run(seen, "doctor", "--source", days.folder, **env)
        assert "objects that HEAD names are missing" not in examined.stdout
    ended(sync(home, days.folder, **env))
    assert debris(home) == []
    assert query(home, "SELECT count(*) FROM versions") == query(whole, "SELECT count(*) FROM versions")
    assert published(home).rows == published(whole).rows


@pytest.mark.long
def test_a_list_that_is_doubted_is_confirmed_by_another_home_on_another_day(
    objects: Objects, days: Days, tmp_path: Path
) -> None:
    """A run that is held back publishes nothing, but its doubts are committed."""
    env = copied(objects, "doubted")
    before = head(objects, "doubted")["files"]
    short = Days(tmp_path / "short")
    short.mirror.list(*short.filers[:3])
    doubted = ended(sync(tmp_path / "home", short.folder, **env), 1)
    assert "nothing was published: ticker_list_is_complete" in doubted.stderr
    state = head(objects, "doubted")
    assert str(state["run"]).endswith(", held back")
    assert state["files"]["published/CURRENT.json"] == before["published/CURRENT.json"]  # type: ignore[index]
    ended(sync(tmp_path / "elsewhere", short.folder, **env), 1)
    doubts = [Lake(tmp_path / name / "tables").read("doubts")["since"].to_list() for name in ("home", "elsewhere")]
    assert doubts[0] == doubts[1] != []


@pytest.mark.long
def test_replaced_builds_and_rollbacks_reach_other_homes(objects: Objects, days: Days, tmp_path: Path) -> None:
    env = copied(objects, "commands")
    home, office = tmp_path / "home", tmp_path / "office"
    ended(sync(home, days.folder, **env))
    newest = published(home).pointer
    listed = ended(run(office, "builds", "list", **env))
    assert listed.stdout.startswith(f"* {newest.build} ")
    assert "damaged" not in listed.stdout
    ended(run(office, "builds", "rollback", **env))
    assert not (office / "tables/listings.parquet").exists()
    shown = run(home, "builds", "list", **env)
    assert shown.stdout.splitlines()[1].split()[0] == newest.build
    ended(sync(home, days.folder, **env))
    assert query(home, "SELECT count(*) FROM versions") == [(newest.rows["versions"],)]
    ended(run(office, "builds", "prune", **env))
    assert [path for path in head(objects, "commands")["files"] if path.endswith(".duckdb")] == [  # type: ignore[attr-defined]
        f"published/{published(office).pointer.file}"
    ]
    ended(run(home, "builds", "rollback", **env), 1)


@pytest.mark.long
def test_a_document_is_accepted_for_all_machines(objects: Objects, days: Days, tmp_path: Path) -> None:
    """By a home that has taken over nothing yet; another one takes over the document with its next run."""
    store, filer = copied(objects, "accepted"), days.filers[0]
    source = tmp_path / "source"
    shutil.copytree(days.folder, source)
    facts = source / days.mirror.facts(filer).relative_to(days.folder)
    document = json.loads(facts.read_text())
    facts.write_text(json.dumps({**document, "facts": {"dei": {}}}))
    assert "fundamentals accept" in sync(tmp_path / "one", source, **store).stderr
    before = head(objects, "accepted")["files"]
    done = run(tmp_path / "new", "accept", filer.cik, **store)
    assert (done.returncode, done.stdout.partition(";")[0]) == (0, f"accepted the document of CIK {filer.cik}")
    after = head(objects, "accepted")["files"]
    changed = [path for path in {*before, *after} if before.get(path) != after.get(path)]
    assert sorted(changed) == ["tables/accepted.parquet", "tables/digests.json"]
    assert "fundamentals accept" not in sync(tmp_path / "other", source, **store).stderr


@pytest.mark.long
def test_the_doctor_finds_and_mends_what_the_store_lacks(objects: Objects, days: Days, tmp_path: Path) -> None:
    env = copied(objects, "doctor")
    home = tmp_path / "home"
    ended(sync(home, days.folder, **env))
    ended(run(home, "doctor", "--source", days.folder, **env))
    files = head(objects, "doctor")["files"]
    digest = files["published/CURRENT.json"][0]  # type: ignore[index]
    document = json.loads((home / "raw/seen.jsonl").read_text().splitlines()[1])["digest"]
    objects.remove(f"doctor/objects/{digest[:2]}/{digest}")
    objects.remove(f"doctor/raw/{document[:2]}/{document}.json.zst")
    shutil.rmtree(tmp_path / "none", ignore_errors=True)
    without = ended(run(tmp_path / "none", "builds", "list", **env), 1)
    assert f"doctor/objects/{digest[:2]}/{digest} is missing; `fundamentals doctor --repair`" in without.stderr
    damaged = ended(run(home, "doctor", "--source", days.folder, **env), 2)
    assert f"1 objects that HEAD names are missing or have another size, such as {digest}" in damaged.stdout
    assert f"1 documents in use are not in the store, such as {document}" in damaged.stdout
    mended = run(home, "doctor", "--repair", "--source", days.folder, **env)
    assert "store: stored 1 of 1 objects again" in mended.stdout
    ended(run(home, "doctor", "--source", days.folder, **env))
    ended(run(tmp_path / "none", "builds", "list", **env))


@pytest.mark.long
def test_a_store_of_the_other_kind_is_refused(objects: Objects, days: Days, tmp_path: Path) -> None:
    home = tmp_path / "home"
    ended(sync(home, "sample"))
    before = shared(home)
    refused = ended(sync(home, "sample", **copied(objects, "kinds")), 1)
    assert "holds fictional data, and s3://fundamentals/kinds real: the two are never mixed" in refused.stderr
    assert shared(home) == before


def test_a_run_goes_on_after_an_outage_of_the_store(objects: Objects, tmp_path: Path) -> None:
    """One line says that it waits, although it is away for longer than a silent holder keeps the lease."""
    env = {**objects.access, "FUNDAMENTALS_STORE": objects.address("outage"), "FUNDAMENTALS_LEASE": "3"}
    log = tmp_path / "log"
    with (
        log.open("wb") as said,
        subprocess.Popen(
            command("sync", "--source", Mirror(tmp_path / "mirror", ALFA, BRAVO).folder),
            cwd=PROJECT,
            env=environment(tmp_path / "home", **env),
            stderr=said,
        ) as running,
    ):
        wait_until(lambda: "outage/LEASE" in objects.keys("outage"))
        with away(objects.stop, objects.start):
            wait_until(lambda: WAITS in log.read_text())
            time.sleep(4)
        assert running.wait(PATIENCE) == 0, log.read_text()
    assert [line.endswith(WAITS) for line in log.read_text().splitlines() if "answer" in line] == [True]
    assert "outage/HEAD" in objects.keys("outage")


@pytest.mark.long
def test_a_store_that_is_away_or_damaged_costs_nothing(objects: Objects, days: Days, tmp_path: Path) -> None:
    """One line says what to do, and the home stays as it was."""
    env = copied(objects, "away")
    home = tmp_path / "home"
    ended(sync(home, days.folder, **env))
    before = shared(home)
    with away(objects.stop, objects.start):
        waits, ends = ended(sync(home, days.folder, **env, FUNDAMENTALS_STORE_PATIENCE="20"), 1).stderr.splitlines()
    assert waits.endswith("; this run waits for it, 20 seconds at most")
    assert ends.startswith("fundamentals sync: s3://fundamentals/away/LEASE: the store does not answer (")
    assert shared(home) == before
    for wrong, said in {
        "s3://nowhere/x": "s3://nowhere: there is no such bucket",
        "s3://nowhere": "there is no such bucket",
        "http://x/y": "expected an address like s3://bucket/prefix",
    }.items():
        refused = ended(sync(home, days.folder, **{**env, "FUNDAMENTALS_STORE": wrong}), 1)
        assert said.replace("s3://nowhere:", f"{wrong}:") in refused.stderr
        assert refused.stderr.count("\n") == 1
    assert shared(home) == before
    pointer = current(home / "published")
    assert pointer
    digest = head(objects, "away")["files"][f"published/{pointer.file}"][0]  # type: ignore[index]
    key = f"away/objects/{digest[:2]}/{digest}"
    objects.flip(key)
    elsewhere = ended(sync(tmp_path / "elsewhere", days.folder, **env), 1)
    assert f"{key} is damaged: its content has another SHA-256; `fundamentals doctor --repair`" in elsewhere.stderr
    assert not (tmp_path / "elsewhere/tables/listings.parquet").exists()
    ended(sync(home, days.folder, **env))  # which has the file
    objects.remove(key)
    ended(run(home, "doctor", "--repair", "--source", days.folder, **env))
    ended(sync(tmp_path / "elsewhere", days.folder, **env))
    assert (tmp_path / "elsewhere" / STAMPS).exists()


def test_a_refused_request_says_so(days: Days, tmp_path: Path) -> None:
    with forbidding() as address:
        env = {
            "AWS_ENDPOINT_URL": address,
            "AWS_ACCESS_KEY_ID": "someone",
            "AWS_SECRET_ACCESS_KEY": "wrong",
            "FUNDAMENTALS_STORE": "s3://fundamentals/home",
        }
        refused = sync(tmp_path / "home", days.folder, **env)
    assert refused.returncode == 1
    assert refused.stderr.startswith(
        "fundamentals sync: s3://fundamentals/home/LEASE: access was refused (SignatureDoesNotMatch); check the cred"
    )
    assert "wrong" not in refused.stderr


@contextlib.contextmanager
def forbidding() -> Iterator[str]:
    """A storage that refuses everything."""

    class Refusing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = b"<Error><Code>SignatureDoesNotMatch</Code><Message>no</Message></Error>"
            self.send_response(403)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Refusing) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
