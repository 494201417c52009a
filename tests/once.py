"""What is made once a run, however many worker processes share the tests.

Belongs here: the lock, and the folder that all workers of a run see. Does not: what is made (conftest).
"""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest


def made_once(temporary: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that the first worker to ask for it fills, and that all others wait for.

    Args:
        temporary: pytest's temporary folders.
        name: of the folder.
        make: fills the folder, which does not exist yet.

    Returns:
        the folder; all workers read it, none may change it.
    """
    own = temporary.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    folder, done = shared / name, shared / f"{name}.done"
    with (shared / f"{name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            make(folder)
            done.touch()
    return folder
