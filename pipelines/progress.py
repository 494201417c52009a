"""Progress of long work: the stages report it, and a listener shows it.

Belongs here: the connection between the stages and a terminal. Does not: the display (synchronize).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, int], object]

_listener: ContextVar[Listener | None] = ContextVar("progress_listener", default=None)


def report(stage: str, done: int, total: int) -> None:
    """Report how many of how many companies a stage has processed."""
    if total and (listener := _listener.get()):
        listener(stage, done, total)


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Send the reports of the `with` block to a listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
