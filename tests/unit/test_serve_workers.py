"""Worker processes and their supervisor."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest

import fundamentals
from serve.app import PATHS
from serve.cli import workers
from serve.cli.workers import Workers
from serve.metrics.counts import RESTARTS, Counts, shared
from serve.settings import Settings
from tests.servers import PATIENCE, PROJECT

READY = "print('ready', flush=True); import time; time.sleep(600)"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {READY}"


@pytest.fixture(autouse=True)
def sigterm_ends() -> Iterator[None]:
    """Restore the default action of SIGTERM: tests with Dagster change it in this process, and workers inherit it."""
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGTERM, before)


def starting(code: str) -> Callable[[int], "subprocess.Popen[bytes]"]:
    """Starts a program in place of a worker, and waits until it is ready."""

    def start(_: int) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        assert process.stdout
        with process.stdout:
            assert process.stdout.readline() == b"ready\n"
        return process

    return start


def test_only_ended_workers_are_restarted_and_not_too_soon(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(workers, "SHORTEST_LIFE", 3600)
    counts = [Counts(()), Counts(())]
    group = Workers(counts, starting(READY))
    first, second = (worker for worker, _ in group._workers)
    first.kill()
    first.wait()
    group.restart_ended()
    assert [worker for worker, _ in group._workers] == [first, second], "it died young, and may die again"
    monkeypatch.setattr(workers, "SHORTEST_LIFE", 0)
    group.restart_ended()
    (third, _), (other, _) = group._workers
    assert (third.poll(), other) == (None, second)
    assert [each.of(RESTARTS) for each in counts] == [{"": 1}, {"": 0}]
    group.end()
    assert [third.returncode, second.returncode] == [-signal.SIGTERM] * 2
    assert capsys.readouterr().err == f"worker {first.pid} ended with status -9; restarted\n"


def test_a_worker_lets_no_thread_delay_requests_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its garbage collection does not examine imported objects again."""
    calls: list[str] = []
    collector = SimpleNamespace(freeze=lambda: calls.append("freeze"), unfreeze=lambda: calls.append("unfreeze"))
    monkeypatch.setattr(workers, "gc", collector)
    before = sys.getswitchinterval()
    with workers._undelayed():
        assert sys.getswitchinterval() == pytest.approx(workers.SWITCHED_EVERY)
        assert sys.getswitchinterval() < before / 10
        assert calls == ["freeze"]
    assert sys.getswitchinterval() == before
    assert calls == ["freeze", "unfreeze"]


def test_a_worker_that_does_not_stop_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "SHUTDOWN", -5)
    group = Workers([Counts(())], starting(STUBBORN))
    group.end()
    assert group._workers[0][0].returncode == -signal.SIGKILL


def test_workers_serve_on_one_socket_until_a_signal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The previous signal handlers are restored afterwards."""
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(tmp_path))
    before = [signal.getsignal(number) for number in workers.ENDS]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        answers = []

        def ask_and_stop() -> None:
            response = httpx.get(f"http://127.0.0.1:{listener.getsockname()[1]}/v1/status", timeout=PATIENCE)
            answers.append(response.status_code)
            os.kill(os.getpid(), signal.SIGTERM)

        client = threading.Thread(target=ask_and_stop)
        client.start()
        workers.supervise(Settings(tmp_path), 2, "127.0.0.1", listener)
        client.join()
    assert answers == [200]
    assert [signal.getsignal(number) for number in workers.ENDS] == before


SIGNALS = """
import signal, sys
from serve.cli import workers

with workers._stop_signals() as stop_requested:
    assert not stop_requested(0.0)
    sys.setprofile(lambda *_: signal.raise_signal(signal.SIGTERM))
    stop_requested(0.01)
    sys.setprofile(None)
    assert stop_requested(0.0)
"""
"""Waits, with a signal at the begin and the end of each function."""


def test_a_signal_stops_the_supervisor_whatever_it_interrupts() -> None:
    """A handler that needs a lock would wait for ever if the signal comes while the lock is held."""
    subprocess.run([sys.executable, "-c", SIGNALS], cwd=PROJECT, timeout=PATIENCE, check=True)


def test_a_worker_ends_with_its_supervisor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its standard input closes; the worker runs in this process."""
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(tmp_path))
    reading, writing = os.pipe()
    read = os.read
    monkeypatch.setattr(os, "read", lambda number, size: read(reading if number == 0 else number, size))
    before = signal.getsignal(signal.SIGTERM)
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]

    def ask_and_close() -> None:
        assert httpx.get(f"http://127.0.0.1:{port}/v1/status", timeout=PATIENCE).status_code == 200
        os.close(writing)

    client = threading.Thread(target=ask_and_close)
    client.start()
    with shared(PATHS, 3) as (file, counts):
        assert workers.main([str(listener.detach()), str(file), "127.0.0.1", str(port), "1"]) == 0
        assert [list(each.requests()) for each in counts] == [[], [("/v1/status", "200", 1)], []]
    client.join()
    os.close(reading)
    assert signal.getsignal(signal.SIGTERM) is before


def test_several_workers_need_redis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    called = []
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(tmp_path))
    monkeypatch.setattr(workers, "supervise", lambda _, number, host, __: called.append((number, host)))
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    assert fundamentals.main(["serve", "--workers", "3", "--port", "0"]) == 0
    assert called == [(3, "127.0.0.1")]
    assert capsys.readouterr().err.endswith("stopped\n")
    monkeypatch.setenv("REDIS_URL", "redis://:secret@127.0.0.1:port")
    assert fundamentals.main(["serve", "--workers", "3", "--port", "0"]) == 1
    printed = capsys.readouterr().err
    assert "REDIS_URL is not the address of a Redis server" in printed
    assert "secret" not in printed
    assert fundamentals.main(["serve", "--workers", "0", "--port", "0"]) == 1
    assert "at least 1 is needed" in capsys.readouterr().err
    monkeypatch.delenv("REDIS_URL")
    assert fundamentals.main(["serve", "--workers", "2", "--port", "0"]) == 1
    assert "each worker counts the rate limits on its own" in capsys.readouterr().err
    monkeypatch.setenv("FUNDAMENTALS_CACHE", "perhaps")
    assert fundamentals.main(["serve", "--port", "0"]) == 1
    assert "FUNDAMENTALS_CACHE is 'perhaps', expected on or off" in capsys.readouterr().err
