"""Progress of long work: the stages report it, and a listener shows it.

Belongs here: the connection between the stages and the listener. Does not: a terminal (dagster_app.synchronize), a log
(run.run_log).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, int], object]

_listener: ContextVar[Listener | None] = ContextVar("progress_listener", default=None)


def report(stage: str, done: int, total: int) -> None:
    """Report the number of companies that a stage has processed, and the number of all companies."""
    if total and (listener := _listener.get()):
        listener(stage, done, total)


@contextmanager
def progress_to(listener: Listener) -> Iterator[None]:
    """Send the reports of the `with` block to a listener, in addition to the listeners of surrounding blocks."""
    around = _listener.get()

    def both(stage: str, done: int, total: int) -> None:
        if around:
            around(stage, done, total)
        listener(stage, done, total)

    token = _listener.set(both)
    try:
        yield
    finally:
        _listener.reset(token)
