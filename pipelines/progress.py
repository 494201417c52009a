"""Progress of long work: who works tells, who watches decides how to show it.

Belongs here: the one channel between the stages and a terminal. Does not: any drawing (synchronize).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, int], object]

_listener: ContextVar[Listener | None] = ContextVar("progress_listener", default=None)


def report(stage: str, done: int, total: int) -> None:
    """Say how many of how many companies a stage is done with."""
    if total and (listener := _listener.get()):
        listener(stage, done, total)


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Send what is reported inside to a listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
