"""Loads modules that not every run needs.

Belongs here: importing them, and the frequency of Python's garbage collection. Does not: the list of these modules
(each is imported where it is used, with a reason).

Most synchronizations of a day find no changes. Such a run loads neither the rules of accounting nor the modules that
make tables, because these imports would take a fifth of its time. So the work on a batch of companies is in separate
modules (stages.values_of_batch and others), which are imported with the first batch.
"""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

NEW_OBJECTS = 50_000
"""The number of new objects after which Python collects garbage. With its default of 700, this takes a twentieth of the
time of a run without changes, and more during the rules."""


def collect_seldom() -> None:
    """Let Python collect garbage only after NEW_OBJECTS, in this process."""
    gc.set_threshold(NEW_OBJECTS, *gc.get_threshold()[1:])


@contextmanager
def loading() -> Iterator[None]:
    """Import modules in the `with` block without garbage collection, and exclude them from later collections.

    Modules are never garbage. Scanning them would take a fifth of the time of the imports, and later a fifth of the
    time of the rules.
    """
    loaded = len(sys.modules)
    gc.disable()
    try:
        yield
        if len(sys.modules) > loaded:
            gc.freeze()
    finally:
        gc.enable()
