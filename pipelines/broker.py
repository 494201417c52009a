"""The broker: steps of a run wait in Redis until a worker process, on whatever machine, takes one.

Belongs here: the settings of Celery, and the command `fundamentals worker`. Does not: leases (leases), what a step does
(distributed), which steps there are (definitions). Polars is not imported: Celery forks its processes, and a fork would
copy the locks of Polars' threads.

A step stays in Redis until it is done. If its worker vanishes, Redis gives it to another one after a while. A worker
that lives holds a lease on its step and renews it, so a long step is not done twice.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy.engine import make_url

from pipelines.errors import PipelineError

LOST_AFTER = 60
"""Seconds after which a step whose worker is silent is given to another worker."""
WAIT = 2.0
"""Seconds before a step that another worker holds is put back."""
KEPT = 7 * 24 * 3600
"""Seconds after which Redis forgets what a step handed on."""
CONNECTED = 10
"""Seconds in which Redis has to accept a connection."""
QUEUE = "dagster"
QUEUES = (QUEUE, *(f"{QUEUE}\x06\x16{priority}" for priority in (3, 6, 9)))
"""The lists in which Celery keeps what waits, by priority."""
RECORD = "postgresql+psycopg2://"
"""How the address of Dagster's record begins: without a driver SQLAlchemy would take one that Dagster does not know."""
NEEDED = ("FUNDAMENTALS_STORE", "FUNDAMENTALS_DAGSTER_URL")


_leads: ContextVar[bool] = ContextVar("leads", default=False)


class BrokerError(PipelineError):
    """The settings of a run on several machines are incomplete or wrong."""


def address() -> str:
    """The address of the broker; empty: this process does all steps.

    Raises:
        BrokerError: it is no address of Redis, or the other settings that it needs are missing.
    """
    found = os.environ.get("FUNDAMENTALS_BROKER", "")
    if not found:
        return ""
    if not found.startswith(("redis://", "rediss://")):
        raise BrokerError(
            f"FUNDAMENTALS_BROKER is {_without_password(found)!r}, expected an address like redis://host/0"
        )
    with _hiding_passwords("FUNDAMENTALS_BROKER"):
        _ = urlsplit(found).port
    given = (os.environ.get("FUNDAMENTALS_STORE"), os.environ.get("FUNDAMENTALS_DAGSTER_URL"))
    if missing := [name for name, value in zip(NEEDED, given, strict=True) if not value]:
        raise BrokerError(f"FUNDAMENTALS_BROKER needs {' and '.join(missing)}, too: see docs/scaling.md")
    if not str(given[1]).startswith(RECORD):
        raise BrokerError(f"FUNDAMENTALS_DAGSTER_URL does not begin with {RECORD}, the driver that Dagster knows")
    with _hiding_passwords("FUNDAMENTALS_DAGSTER_URL"):
        make_url(str(given[1]))
    try:
        import dagster_celery  # noqa: F401
        import dagster_postgres  # noqa: F401
    except ImportError as error:
        raise BrokerError(
            f"FUNDAMENTALS_BROKER needs the package {error.name}; install it with `make scale`"
        ) from error
    return found


def lost_after() -> int:
    """Seconds after which a step whose worker is silent is given to another worker.

    Raises:
        BrokerError: the setting is not a number from 3 on.
    """
    setting = os.environ.get("FUNDAMENTALS_LOST_AFTER", "")
    if setting and not (setting.isascii() and setting.isdigit() and int(setting) >= 3):
        raise BrokerError(f"FUNDAMENTALS_LOST_AFTER is {setting!r}, expected seconds, 3 or more")
    return int(setting) if setting else LOST_AFTER


@contextmanager
def leading() -> Iterator[None]:
    """Note for the `with` block that this process leads a run, whose log is on the terminals of the workers."""
    token = _leads.set(True)
    try:
        yield
    finally:
        _leads.reset(token)


def leads() -> bool:
    """Whether this process leads a run."""
    return _leads.get()


def configuration() -> dict[str, Any]:
    """The configuration of Dagster's executor, and of the workers: both must have the same."""
    seconds = lost_after()
    return {
        "broker": address(),
        "backend": address(),
        "config_source": {
            "task_acks_late": True,
            "task_reject_on_worker_lost": True,
            "worker_prefetch_multiplier": 1,
            "result_expires": KEPT,
            "broker_connection_retry_on_startup": True,
            "broker_connection_max_retries": None,
            "worker_redirect_stdouts": False,
            "redis_socket_connect_timeout": CONNECTED,
            "redis_socket_keepalive": True,
            "result_backend_transport_options": {"retry_policy": {"max_retries": seconds}},
            "broker_transport_options": {
                "socket_connect_timeout": CONNECTED,
                "socket_keepalive": True,
                "visibility_timeout": seconds,
                "unacked_restore_interval": max(1, seconds // 6),
                "unacked_restore_throttle": 1,
            },
        },
    }


def work(processes: int) -> int:
    """Work on steps until a signal arrives: the first one lets the step in hand end, the second one gives it back.

    Args:
        processes: the number of steps at a time; 0: one for each core that this process may use.

    Raises:
        BrokerError: the settings are incomplete or wrong.
    """
    if not address():
        raise BrokerError("FUNDAMENTALS_BROKER is not set; a worker takes its steps from there: redis://host/0")
    from pipelines import record

    record.wait_for_postgresql(at_first=True)
    name, number = f"{os.getpid()}@%h", processes or len(os.sched_getaffinity(0))
    app = _app()
    app.worker_main(
        [
            "worker",
            "--pool=prefork",
            f"--concurrency={number}",
            "-Q",
            QUEUE,
            "-n",
            name,
            "--loglevel=WARNING",
        ]
    )
    return 0


def _app() -> Any:
    """The Celery application of a worker, with the task that does a step."""
    import celery
    from celery.exceptions import Ignore, Reject
    from celery.signals import worker_process_init
    from celery.states import READY_STATES
    from dagster._grpc.types import ExecuteStepArgs
    from dagster._serdes import unpack_value
    from dagster_celery.executor import CeleryExecutor
    from dagster_celery.make_app import make_app
    from dagster_celery.tasks import create_task

    from pipelines import leases

    leases.PATIENCE.at_first = True

    class Once(celery.Task):  # type: ignore[misc,unused-ignore]
        """A step that one worker at a time does, if its run is not over."""

        def __call__(self, *given: Any, **named: Any) -> Any:
            step, run = self.request.id, unpack_value(named["execute_step_args_packed"], as_type=ExecuteStepArgs).run_id
            with leases.leased(step) as is_free:
                if not is_free:
                    time.sleep(WAIT)
                    raise Reject(f"step {step} is in the hands of another worker", requeue=True)
                if leases.is_over(run) or leases.patient(lambda: self.backend.get_state(step)) in READY_STATES:
                    raise Ignore
                leases.begin(step)
                return super().__call__(*given, **named)

    app = make_app(CeleryExecutor.for_cli(**configuration()).app_args())
    create_task(app, base=Once)
    worker_process_init.connect(_leave_interrupts_to_the_worker, weak=False)
    return app


def _leave_interrupts_to_the_worker(**_: object) -> None:
    """Let no SIGINT reach a process that does steps: Ctrl-C, and systemd, send it to all processes of a worker.

    It is blocked, because Dagster handles it in a step as the end of the run, whatever handler was there before.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


@contextmanager
def _hiding_passwords(name: str) -> Iterator[None]:
    """Say which variable is wrong, and not what the library says, which repeats parts of a password.

    Raises:
        BrokerError: the address cannot be read.
    """
    try:
        yield
    except ValueError:
        raise BrokerError(
            f"{name} cannot be read, perhaps because of its password: write @ : / ? # there as %40 %3A %2F %3F %23"
        ) from None


def _without_password(address: str) -> str:
    scheme, _, place = address.rpartition("://")
    return f"{scheme}://{place.rpartition('@')[2]}" if scheme else place.rpartition("@")[2]
