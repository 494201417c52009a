"""Loading modules that not every run needs.

Belongs here: how they are imported, and how often Python looks for garbage. Does not: which (each is imported where it
is used, with a reason).

Most synchronizations of a day find nothing new. Such a run loads neither the rules of accounting nor what makes
tables: these imports would take a fifth of its time. So the work on a batch of companies is in a module of its own
(stages.values_of_batch and others), which is imported with the first batch.
"""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

NEW_OBJECTS = 50_000
"""New objects after which Python looks for garbage. With 700, its default, this takes a twentieth of the time of a run
with nothing new, and more of the rules."""


def collect_seldom() -> None:
    """Let Python look for garbage after NEW_OBJECTS only, in this process."""
    gc.set_threshold(NEW_OBJECTS, *gc.get_threshold()[1:])


@contextmanager
def loading() -> Iterator[None]:
    """Import modules in the `with` block without a search for garbage, and leave them out of all later ones.

    Modules are never garbage. Searching them takes a fifth of the time of the imports, and later as much of the rules'.
    """
    loaded = len(sys.modules)
    gc.disable()
    try:
        yield
        if len(sys.modules) > loaded:
            gc.freeze()
    finally:
        gc.enable()
