"""Folders that are created once per run, although several worker processes run the tests.

Belongs here: the lock, and the folder that all workers share. Does not: the content of the folders (conftest).
"""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest


def made_once(temporary: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that the first worker fills while all others wait for it.

    Args:
        temporary: pytest's temporary folders.
        name: name of the folder.
        make: creates and fills the folder.

    Returns:
        The folder; workers read it and do not change it.
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
