"""A synchronization in a process that kills itself at a named point: python -m tests.e2e.dying POINT SOURCE.

It runs without Dagster, whose import takes longer than the work.

Belongs here: the points, and how the process is killed there. Does not: any test; the program itself has no such hook.
"""

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from pipelines import stages
from pipelines.run.plan import run_all
from pipelines.run.synchronization import Synchronization
from pipelines.storage import version_log
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake
from warehouse.build import pointer, publish


def die(*_: object) -> None:
    """End at once: no handler runs, nothing is flushed or cleaned up."""
    os.kill(os.getpid(), signal.SIGKILL)


def of_table(name: str) -> Callable[..., bool]:
    """Whether a call is about a table of the lake."""
    return lambda _, table, *__, **___: table == name


def of_pointer(path: Any, *_: object) -> bool:
    """Whether a call writes the pointer."""
    return bool(path.name == pointer.POINTER)


def always(*_: object, **__: object) -> bool:
    """True for any arguments."""
    return True


POINTS: dict[str, tuple[object, str, Callable[..., bool], bool]] = {
    # point: the owner and the name of a function, which of its calls, and whether to end before it
    "after the raw documents": (stages.documents, "update_documents", always, False),
    "after the facts": (stages.facts, "update", always, False),
    "between the tables of values": (Lake, "replace_companies", of_table("gaps"), True),
    "after the values": (stages.values, "update", always, False),
    "after the segment of the log": (stages.versions, "write", always, False),
    "within the build": (publish, "verify", always, True),
    "after the build": (publish, "build", always, False),
    "before the pointer moves": (publish, "_write", of_pointer, True),
    "after the pointer has moved": (publish, "_write", of_pointer, False),
    "before the log is told": (version_log, "committed", lambda _, segments: len(segments) > 1, True),
}
"""In the order in which a synchronization reaches them."""


def arm(point: str) -> None:
    """Replace the function of a point by one that kills the process before or after a call."""
    owner, name, concerns, is_before = POINTS[point]
    whole = getattr(owner, name)

    def deadly(*arguments: Any, **named: Any) -> Any:
        concerned = concerns(*arguments, **named)
        if concerned and is_before:
            die()
        result = whole(*arguments, **named)
        if concerned:
            die()
        return result

    setattr(owner, name, deadly)


if __name__ == "__main__":
    arm(sys.argv[1])
    run_all(Synchronization(Home.from_environment(), sys.argv[2]))
