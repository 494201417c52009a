"""Leases in a real Redis: of a step, of a run; what a leader finds lost; a Redis that is away or comes back empty."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines import broker, leases
from pipelines.broker import BrokerError
from pipelines.errors import StepError
from pipelines.patience import Patience
from tests.scale import redis
from tests.scale.conftest import Finder
from tests.scale.redis import Redis

LOST_AFTER = 3


@pytest.fixture
def server(tmp_path: Path, installed: Finder, monkeypatch: pytest.MonkeyPatch) -> Iterator[Redis]:
    pytest.importorskip("celery", reason="celery is not installed: run `make scale`")
    with redis.running(installed("redis-server"), tmp_path) as found:
        monkeypatch.setattr(leases, "address", lambda: found.url)
        monkeypatch.setattr(leases, "PATIENCE", Patience(broker.lost_after))
        monkeypatch.setenv("FUNDAMENTALS_LOST_AFTER", str(LOST_AFTER))
        yield found


def test_a_step_is_done_by_one_worker_at_a_time(server):
    """A lease is held for as long as its worker lives, however long the step is; also if Redis loses it meanwhile."""
    with leases.leased("step") as is_first, leases.leased("another step") as is_free:
        assert (is_first, is_free) == (True, True)
        time.sleep(LOST_AFTER + 1)
        with leases.leased("step") as is_second:
            assert not is_second
        server.stop()
        server.start()
        time.sleep(LOST_AFTER / leases.RENEWALS + 1)
        with leases.leased("step") as is_second:
            assert not is_second
    with leases.leased("step") as is_free_again:
        assert is_free_again


def test_a_step_that_loses_its_workers_is_not_given_out_for_ever(server):
    for _ in range(leases.ATTEMPTS):
        leases.begin("step")
    leases.begin("another step")
    with pytest.raises(StepError, match=r"3 workers were lost .* FUNDAMENTALS_BATCH"):
        leases.begin("step")


@pytest.mark.long
def test_a_run_is_lost_when_the_lease_on_it_has_ended(server):
    """A leader that lives is never lost, and a run that nobody leads is not lost at the first look."""
    leaders = leases.Leaders()
    with leases.led("run"):
        time.sleep(LOST_AFTER + 1)
        assert not leaders.is_lost("run")
        assert not leases.is_over("run")
    assert leases.is_over("run")
    assert not leaders.is_lost("run")
    time.sleep(LOST_AFTER / 2 + 0.1)
    assert leaders.is_lost("run")


@pytest.mark.long
@pytest.mark.parametrize("place", ["this machine", "another machine"])
def test_a_run_is_lost_when_its_leader_was_killed(place, server, monkeypatch):
    """On the same machine at once, because the process is gone; on another one when the lease has ended."""
    code = (
        "import sys\nfrom pipelines import leases\nleases.address = lambda: sys.argv[1]\n"
        "with leases.led('run'):\n    print(flush=True)\n    input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, server.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(os.environ)
    ) as leader:
        assert leader.stdout
        leader.stdout.readline()
        if place == "another machine":
            monkeypatch.setattr(leases, "_place", lambda: place)
        leaders = leases.Leaders()
        assert not leaders.is_lost("run")
        leader.send_signal(signal.SIGKILL)
    assert leaders.is_lost("run") == (place == "this machine")
    deadline = time.monotonic() + 3 * LOST_AFTER
    while not leaders.is_lost("run"):
        assert time.monotonic() < deadline
        time.sleep(0.2)


@pytest.mark.long
def test_a_redis_that_does_not_come_back_is_named_with_what_to_do(server):
    assert not leases.is_over("run")
    server.stop()
    began = time.monotonic()
    with pytest.raises(BrokerError, match=r"the broker, Redis, does not answer .*; check FUNDAMENTALS_BROKER"):
        leases.is_over("run")
    assert time.monotonic() - began >= LOST_AFTER
    server.start()
    assert not leases.is_over("run")


def test_steps_that_redis_has_lost_are_found(server):
    """Those that wait, that a worker has taken, or on which one has a lease, are not; each is named once."""
    from pipelines.executor import IN_HAND, Ledger

    ended = False
    ledger = Ledger(lambda: ended)
    ledger.out = {"waits", "is taken", "is leased", "is lost"}

    def look() -> set[str]:
        ledger._looked_at = float("-inf")
        return {step for step in sorted(ledger.out) if ledger.has_lost(step)}

    leases.answer(lambda redis: redis.lpush(broker.QUEUES[1], b'{"id": "waits"}'))
    leases.answer(lambda redis: redis.hset(IN_HAND, "tag", b'{"id": "is taken"}'))
    with leases.leased("is leased"):
        found = look(), look()
    assert found == (set(), {"is lost"})
    ledger.out = {"waits"}
    ended = True
    with pytest.raises(StepError, match="was ended in Dagster's record"):
        look()
