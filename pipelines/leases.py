"""Leases in Redis: which worker does a step, which process leads a run; and questions to Redis that wait for it.

Belongs here: keys of this program in Redis. Does not: the settings of Celery (broker), Dagster's record (leading).

A lease is a key that its holder renews and that vanishes with the holder, some time later. A Redis that lost its data
gets the leases again from those who hold them.
"""

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pipelines.broker import KEPT, BrokerError, address, lost_after
from pipelines.errors import StepError
from pipelines.launcher import process_named
from pipelines.patience import Patience

if TYPE_CHECKING:
    import redis

ATTEMPTS = 3
"""Workers that may be lost with the same step."""
RENEWALS = 3
"""Renewals of a lease in the time after which its holder counts as lost."""
TIMEOUT = 10.0
"""Seconds in which Redis connects, and answers."""
PATIENCE = Patience(lost_after)
LOST = "the process that leads it is gone: it gave no sign of life"
"""Why a run counts as failed."""

Answer = TypeVar("Answer")


def answer(ask: Callable[["redis.Redis"], Answer]) -> Answer:
    """What Redis answers; while it is away, this waits for as long as a worker may be silent.

    Args:
        ask: asks over a connection; may be called several times.

    Raises:
        BrokerError: Redis is away for longer, or has never answered.
    """
    import redis

    def once() -> Answer:
        with redis.Redis.from_url(address(), socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT) as connection:
            return ask(connection)

    return patient(once)


def patient(ask: Callable[[], Answer]) -> Answer:
    """The same, where Celery asks Redis."""
    from kombu.exceptions import OperationalError
    from redis.exceptions import ConnectionError as Away
    from redis.exceptions import TimeoutError as Silent

    try:
        return PATIENCE.answer(ask, (Away, Silent, OperationalError))
    except (Away, Silent, OperationalError) as error:
        raise BrokerError(
            f"the broker, Redis, does not answer ({' '.join(str(error).split())}); check FUNDAMENTALS_BROKER and the "
            "server, and synchronize again"
        ) from error


# --- Steps


def begin(step: str) -> None:
    """Count that a worker begins a step.

    Raises:
        StepError: so many workers began it before, and none ended it: it would be given out for ever.
    """
    key = f"fundamentals:begun:{step}"
    begun = int(answer(lambda redis: _counted(redis, key)))
    if begun > ATTEMPTS:
        raise StepError(
            f"{ATTEMPTS} workers were lost while they did the same step, perhaps because memory was short; give workers"
            " more memory, or less to do at a time with FUNDAMENTALS_BATCH, and synchronize again"
        )


def _counted(connection: "redis.Redis", key: str) -> Any:
    begun = connection.incr(key)
    connection.expire(key, KEPT)
    return begun


@contextmanager
def leased(step: str) -> Iterator[bool]:
    """Hold a lease on a step during the `with` block; False if another worker holds it."""
    key, holder = f"fundamentals:lease:{step}", _holder()
    if not answer(lambda redis: redis.set(key, holder, nx=True, px=lost_after() * 1000)):
        yield False
        return
    with _renewed(key, holder):
        yield True


def is_leased(connection: "redis.Redis", step: str) -> bool:
    """Whether a worker has a step in hand."""
    return bool(connection.exists(f"fundamentals:lease:{step}"))


# --- Runs


@contextmanager
def led(run: str) -> Iterator[None]:
    """Hold the lease on a run during the `with` block; then the run is over, and its steps are not done any more."""
    key, holder = f"fundamentals:leader:{run}", _holder()
    answer(lambda redis: redis.set(key, holder, px=lost_after() * 1000))
    try:
        with _renewed(key, holder):
            yield
    finally:
        with suppress(BrokerError):
            end(run)


def end(run: str) -> None:
    """Let workers leave out the steps of a run that are not begun."""
    answer(lambda redis: redis.set(f"fundamentals:over:{run}", 1, ex=KEPT))


def is_over(run: str) -> bool:
    """Whether a run has ended."""
    return bool(answer(lambda redis: redis.exists(f"fundamentals:over:{run}")))


class Leaders:
    """Tells which runs have lost the process that leads them."""

    def __init__(self) -> None:
        self._without: dict[str, float] = {}

    def is_lost(self, run: str) -> bool:
        """Whether the leader of a run is gone.

        That is certain if it was a process of this machine that is gone. Else it is so if nobody holds the lease twice,
        with more time in between than a leader needs to take it, or to renew it in a Redis that was away.

        Raises:
            BrokerError: Redis does not answer.
        """
        found = answer(lambda redis: redis.get(f"fundamentals:leader:{run}"))
        holder = found.decode() if isinstance(found, bytes) else ""
        if holder:
            self._without.pop(run, None)
            place, _, process = holder.partition(" ")
            number = process.partition("-")[0]
            return place == _place() and process_named(int(number)) != process
        first = self._without.setdefault(run, time.monotonic())
        return time.monotonic() - first > lost_after() / 2


def _place() -> str:
    """A name for the machine since its start, and for the container: where the number of a process has a meaning."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{socket.gethostname()}/{boot}/{Path('/proc/self/ns/pid').readlink()}"
    except OSError:  # not Linux: no other process knows this name
        return f"{socket.gethostname()}/{os.urandom(8).hex()}"


def _holder() -> str:
    """A name for this process."""
    return f"{_place()} {process_named(os.getpid())}"


@contextmanager
def _renewed(key: str, holder: str) -> Iterator[None]:
    """Renew a lease during the `with` block, also where Redis has lost it; then give it up."""
    import redis
    from redis.exceptions import RedisError

    milliseconds = lost_after() * 1000
    connection = redis.Redis.from_url(address(), socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT)
    over = threading.Event()

    def renew() -> None:
        while not over.wait(milliseconds / 1000 / RENEWALS):
            with suppress(RedisError):
                connection.set(key, holder, nx=True, px=milliseconds)
                if connection.get(key) == holder.encode():
                    connection.pexpire(key, milliseconds)

    thread = threading.Thread(target=renew, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        with suppress(RedisError):
            if connection.get(key) == holder.encode():
                connection.delete(key)
        connection.close()
