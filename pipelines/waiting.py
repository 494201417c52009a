"""Announces long waits: after some seconds, a line says what the process waits for.

Belongs here: the line. Does not: the duration of waits (the callers).
"""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

AFTER = 5.0
"""Seconds after which a wait is announced."""

Tell = Callable[[str], object]


def on_terminal(text: str) -> None:
    """Print a line on standard error."""
    print(text, file=sys.stderr, flush=True)


@contextmanager
def announced(what: str, tell: Tell = on_terminal) -> Iterator[None]:
    """Print a line, once, if the `with` block takes longer than some seconds."""
    timer = threading.Timer(AFTER, tell, [f"waiting for {what}"])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
