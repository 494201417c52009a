"""Waiting that is visible: after some seconds a line says for what.

Belongs here: that line. Does not: how long anything waits (the callers).
"""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

AFTER = 5.0
"""Seconds after which a line says for what a process waits."""

Tell = Callable[[str], object]


def on_terminal(text: str) -> None:
    """Print a line on standard error."""
    print(text, file=sys.stderr, flush=True)


@contextmanager
def announced(what: str, tell: Tell = on_terminal) -> Iterator[None]:
    """Tell once that the `with` block waits for something, if it takes longer than some seconds."""
    timer = threading.Timer(AFTER, tell, [f"waiting for {what}"])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
