"""How long a process waits for a server that is away: all its calls together, and not for one that never answered."""

import itertools
from types import SimpleNamespace

import pytest

from pipelines import patience, record
from pipelines.patience import Patience


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self):
        self.now = 1000.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


class Server:
    """Is away between two times."""

    def __init__(self, clock, away, back):
        self.clock, self.away, self.back = clock, away, back

    def __call__(self):
        if self.away <= self.clock.now < self.back:
            raise ConnectionRefusedError
        return "answer"


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(patience, "time", clock)
    return clock


def test_a_server_that_comes_back_in_time_is_waited_for(clock):
    waiting = Patience(lambda: 60)
    server = Server(clock, 1001, 1050)
    assert waiting.answer(server, (OSError,)) == "answer"
    clock.now = 1001
    assert waiting.answer(server, (OSError,)) == "answer"
    assert 1050 <= clock.now < 1051


def test_a_server_that_stays_away_is_waited_for_once_not_by_each_call(clock):
    waiting = Patience(lambda: 60)
    server = Server(clock, 1001, 9000)
    waiting.answer(server, (OSError,))
    clock.now = 1001
    with pytest.raises(ConnectionRefusedError):
        waiting.answer(server, (OSError,))
    assert 1061 <= clock.now < 1062
    for _ in range(5):
        with pytest.raises(ConnectionRefusedError):
            waiting.answer(server, (OSError,))
    assert clock.now < 1062


def test_a_server_that_was_away_long_ago_is_waited_for_again(clock):
    waiting = Patience(lambda: 60)
    waiting.answer(Server(clock, 0, 0), (OSError,))
    with pytest.raises(ConnectionRefusedError):
        waiting.answer(Server(clock, 0, 2000), (OSError,))
    clock.now = 3000
    assert waiting.answer(Server(clock, 3000, 3030), (OSError,)) == "answer"


def test_a_server_that_never_answered_is_waited_for_only_if_asked_to(clock):
    """The address may be wrong."""
    with pytest.raises(ConnectionRefusedError):
        Patience(lambda: 60).answer(Server(clock, 0, 1030), (OSError,))
    assert clock.now == 1000
    assert Patience(lambda: 60, at_first=True).answer(Server(clock, 0, 1030), (OSError,)) == "answer"
    assert clock.now == 1030


def test_another_error_is_raised_at_once(clock):
    calls = itertools.count()

    def ask():
        next(calls)
        raise ValueError

    with pytest.raises(ValueError):
        Patience(lambda: 60, at_first=True).answer(ask, (OSError,))
    assert next(calls) == 1


def test_connections_to_the_accounts_are_left_alone():
    """They say themselves what is wrong, and do not wait."""
    assert record._connected(SimpleNamespace(name="postgresql", driver="psycopg"), None, [], {}) is None
    assert record._connected(SimpleNamespace(name="sqlite", driver="pysqlite"), None, [], {}) is None
