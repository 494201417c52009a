"""Synchronizations with batches on a cluster: real schedulers, workers and leaders, killed and frozen in the middle.

Each time the build has the content hash of a build of one machine, or the run ends with one line that says what to do.
"""

import re
import shutil
import signal
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from pipelines.storage.home import PROJECT
from pipelines.storage.lake import Lake
from tests.e2e.homes import PATIENCE, ended, published, sync_unrecorded
from tests.scale import fleet as machines
from tests.scale.fleet import OF_DASK, Fleet, Machine, until
from tests.servers import away

SOURCE = ("sample", "--symbols", "XQORC,XQHBR,XQWHC,XQLNT,XQWLW,XQCPF,XQMDW,XQRDG")
BATCH = 3
"""Companies, so that the source has several batches."""


@pytest.fixture
def fleet(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Fleet]:
    pytest.importorskip("distributed", reason="distributed is not installed: run `make scale`")
    with machines.running(tmp_path, BATCH, getattr(request, "param", 2)) as found:
        yield found


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The content hash of the build that one machine makes of the source."""
    home = tmp_path_factory.mktemp("alone") / "home"
    ended(sync_unrecorded(home, *SOURCE, FUNDAMENTALS_PROCESSES="1"))
    return published(home).content_hash


def ends_with(leading: Machine, *words: str) -> None:
    """The run fails, and its last line says this."""
    status, line = leading.ended()
    assert status == 1
    assert all(word in line for word in words), line


def with_a_frozen_worker(fleet: Fleet) -> Machine:
    """A machine that leads a run, of which a worker was frozen in a batch."""
    leading = fleet.sync(*SOURCE)
    fleet.frozen_in_a_batch(fleet.machines[1], leading)
    return leading


def made_as_alone(leading: Machine, alone: str) -> None:
    """The run ends well, and its build equals the build of one machine; the filings are decoded, too."""
    assert leading.ended() == (0, ""), leading.log
    made = published(leading.home)
    assert made.is_whole
    assert made.content_hash == alone
    lake = Lake(leading.home / "tables")
    assert lake.height("decoded_filings") > 0
    assert (lake.companies("statement_lines"), lake.height("unread_filings")) == (lake.companies("decoded_filings"), 0)


@pytest.mark.parametrize("fleet", [0], indirect=True)
def test_a_killed_worker_and_one_with_other_rules_change_nothing(fleet, alone, tmp_path):
    """A line says that only a worker with other rules is there, which gets no batch; the lost batch is repeated.

    Nobody without a certificate can join or send requests. A synchronization with nothing new needs no cluster at all.
    """
    refused_without_a_certificate(fleet)
    leading = fleet.sync(*SOURCE)
    until(lambda: "no worker with code" in leading.log, leading)
    # now its code is in force, at which the other one looks when it starts
    other = fleet.start("worker", "worker", "--processes", "1", **with_other_rules(tmp_path / "other"))
    until(lambda: "1 with other code" in leading.log, leading)
    until(lambda: "is in force: it gets no batches; update it" in other.log, leading)
    killed, _ = fleet.add(), fleet.add()
    fleet.frozen_in_a_batch(killed, leading)
    killed.kill()
    made_as_alone(leading, alone)
    assert not [*other.home.glob("cache/objects/*")]
    assert {*OF_DASK} <= {*re.findall(r"^(\w+)\{", metrics_of(fleet), re.MULTILINE)}
    assert len(re.findall(r"^fundamentals_cluster_workers\{", metrics_of(fleet), re.MULTILINE)) == 2
    assert fleet.machines[0].log.count("\n") <= 5, "handshakes without a certificate, and where it is"
    doctor = fleet.start("leader", "doctor", "--quick", home="lead")
    until(
        lambda: re.search(r"cluster +│ warning +│ 1 workers with .*, 1 with others, which get no batch", doctor.log),
        doctor,
    )
    for machine in fleet.machines:
        machine.kill()
    made_as_alone(fleet.sync(*SOURCE), alone)


def with_other_rules(folder: Path) -> dict[str, Any]:
    """How to start a command with a copy of the program that has other rules."""
    for name in ("pipelines", "warehouse", "serve"):
        shutil.copytree(PROJECT / name, folder / name)  # bytecode, too: compiling takes longer than all else
    for name in ("fundamentals.py", "dagster.yaml"):
        shutil.copy(PROJECT / name, folder)
    with (folder / "pipelines" / "tables" / "build_tables.py").open("a") as file:
        file.write("OLDER = True\n")
    return {"cwd": folder, "PYTHONPATH": str(folder)}


@pytest.mark.long
def test_a_worker_that_is_frozen_changes_nothing(fleet, alone):
    """It is lost after a while, and its batch is done by the other one."""
    made_as_alone(with_a_frozen_worker(fleet), alone)


def metrics_of(fleet: Fleet) -> str:
    """The scheduler's answer to Prometheus, on loopback; there is no other page."""
    ports = re.findall(r"its metrics are on http://127\.0\.0\.1:(\d+)/metrics$", fleet.machines[0].log, re.MULTILINE)
    address = f"http://127.0.0.1:{ports[0]}"
    for path in ("/status", "/info/main/workers.html", "/json/counts.json"):
        assert httpx.get(f"{address}{path}").status_code == 404
    return httpx.get(f"{address}/metrics").text


def refused_without_a_certificate(fleet: Fleet) -> None:
    """Neither without TLS, nor without a certificate, nor with one of another authority."""
    own, foreign = fleet.folder / "tls" / "leader", fleet.folder / "foreign"
    subprocess.run(["sh", PROJECT / "deploy" / "certificates.sh", foreign, "leader"], check=True, stdout=-3)
    of_another = foreign / "leader" / "cert.pem", foreign / "leader" / "key.pem"
    assert admits(fleet.port, own / "ca.pem", own / "cert.pem", own / "key.pem")
    assert not admits(fleet.port)
    assert not admits(fleet.port, own / "ca.pem")
    assert not admits(fleet.port, own / "ca.pem", *of_another)


def admits(port: int, authority: Path | None = None, *shown: Path) -> bool:
    """Whether a scheduler accepts a connection: with TLS if there is an authority, with or without a certificate.

    A scheduler sends a greeting on a connection that it accepts.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False  # as Dask does: the authority is private
    if authority:
        context.load_verify_locations(authority)
    if shown:
        context.load_cert_chain(*shown)
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as plain:
        try:
            if authority:
                with context.wrap_socket(plain) as connection:
                    return connection.recv(1) != b""
            plain.sendall(bytes(64))
            return plain.recv(1) != b""
        except (ssl.SSLError, ConnectionError):
            return False


@pytest.mark.long
def test_a_scheduler_that_is_killed_and_started_again(fleet, alone):
    """The leader gives the batches out again that are missing; workers join again by themselves."""
    scheduler, worker = fleet.machines[:2]
    leading = with_a_frozen_worker(fleet)
    scheduler.kill()
    worker.signal(signal.SIGCONT)
    time.sleep(13)
    fleet.schedule()
    made_as_alone(leading, alone)
    for machine in fleet.machines:
        assert "Traceback" not in machine.log
    assert len(re.findall("^waiting for the scheduler", leading.log, re.MULTILINE)) == 1, leading.log
    said = worker.log.splitlines()
    assert said[0].startswith("this worker ends: ")
    assert all(line.startswith(("this worker ends: ", "fundamentals: the scheduler at ")) for line in said), worker.log


@pytest.mark.long
def test_a_scheduler_that_is_away_ends_the_run_with_a_line(fleet):
    fleet.machines[0].kill()
    leading = fleet.sync(*SOURCE)
    until(lambda: "waiting for the scheduler at tls://127.0.0.1" in leading.log, leading)
    ends_with(leading, "does not answer", "and start `fundamentals scheduler` there")


@pytest.mark.long
def test_a_scheduler_that_is_frozen_ends_the_run_with_a_line(fleet):
    leading = with_a_frozen_worker(fleet)
    fleet.machines[0].signal(signal.SIGSTOP)
    until(lambda: "waiting for the scheduler at tls://127.0.0.1" in leading.log, leading)
    ends_with(leading, "does not answer")


@pytest.mark.long
def test_a_leader_that_is_killed_is_followed_by_another_machine(fleet, alone):
    """Its lease ends, and the next run goes on from the committed state."""
    with_a_frozen_worker(fleet).kill()
    fleet.machines[1].signal(signal.SIGCONT)
    # as on another machine, where nobody knows its processes
    made_as_alone(fleet.sync(*SOURCE, home="lead-2"), alone)


@pytest.mark.long
def test_a_leader_that_is_frozen_cannot_publish_when_it_wakes_up(fleet, alone):
    """Another one has taken the lease meanwhile; of two leaders that live, the second one leaves."""
    first = with_a_frozen_worker(fleet)
    refused = fleet.sync(*SOURCE, home="lead-3")
    ends_with(refused, "the lease on s3://fundamentals/home is held by process", "another synchronization is running")
    first.signal(signal.SIGSTOP)
    fleet.machines[1].signal(signal.SIGCONT)
    made_as_alone(fleet.sync(*SOURCE, home="lead-2"), alone)
    head = fleet.objects.read("home/HEAD")
    first.signal(signal.SIGCONT)
    ends_with(first, "the lease was taken by")
    assert fleet.objects.read("home/HEAD") == head
    made_as_alone(fleet.sync(*SOURCE), alone)


@pytest.mark.long
def test_a_store_that_goes_away_ends_the_run_with_a_line(fleet, alone):
    leading = with_a_frozen_worker(fleet)
    with away(fleet.objects.stop, fleet.objects.start):
        fleet.machines[1].signal(signal.SIGCONT)
        ends_with(leading, "the store does not answer")
    made_as_alone(fleet.sync(*SOURCE), alone)


@pytest.mark.long
@pytest.mark.parametrize("fleet", [0], indirect=True)
def test_a_batch_of_which_three_workers_die_is_named(fleet):
    leading = fleet.sync(*SOURCE, FUNDAMENTALS_BATCH="12")
    for _ in range(3):
        worker = fleet.add()
        fleet.frozen_in_a_batch(worker, leading)
        worker.kill()
    fleet.add()
    ends_with(leading, "3 worker processes were killed by one batch", "CIK 999")
