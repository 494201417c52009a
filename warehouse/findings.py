"""Findings: what an examination of a home found, and what to do about it.

Belongs here: the form of a finding, which the checks of the pipeline and of the service share. Does not: any check
(pipelines.health, serve.cli.health), printing (pipelines.admin.doctor).
"""

from collections.abc import Callable
from typing import NamedTuple

WELL, WARNING, DAMAGE = 0, 1, 2
"""States of a part, in the order of severity; the exit status of an examination is the worst of them."""
NAMES = ("well", "warning", "damage")


class Finding(NamedTuple):
    """The state of one part of a home.

    part: what was examined.
    state: WELL, WARNING (it works, but not for long or not as meant) or DAMAGE (something does not work or is lost).
    text: what was found.
    advice: what to do; empty if nothing.
    repair: does what can be done safely, and returns what it did; None: nothing can be done safely.
    """

    part: str
    state: int
    text: str
    advice: str = ""
    repair: Callable[[], str] | None = None
