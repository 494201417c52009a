"""Findings: the results of an examination of a home, with advice.

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

    part: the name of the part.
    state: WELL, WARNING (it works, but not for long or not as meant) or DAMAGE (something does not work or is lost).
    text: the result of the check.
    advice: instructions for the operator; empty if nothing needs to be done.
    repair: makes the safe repairs and returns a description of them; None: nothing can be repaired safely.
    """

    part: str
    state: int
    text: str
    advice: str = ""
    repair: Callable[[], str] | None = None
