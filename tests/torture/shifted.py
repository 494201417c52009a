"""`fundamentals sync` with the clock set forward or back: python -m tests.torture.shifted DAYS SOURCE.

Belongs here: `time.time`, and the `datetime` of this project's modules. Does not: the times of files, which come from
the system; any judgement.
"""

import os
import sys
import time
from collections.abc import Callable
from datetime import datetime, timedelta, tzinfo
from typing import Any

import fundamentals
from pipelines.dagster_app import synchronize
from warehouse.files import OTHERS

REAL_TIME = time.time


class _OfReal(type):
    """Real times are instances, too."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, datetime)


def shifted(shift: Callable[[], timedelta]) -> type:
    """A `datetime` with a shifted `now`; the results of its methods are real `datetime` objects."""

    class Shifted(datetime, metaclass=_OfReal):
        def __new__(cls, *given: Any, **named: Any) -> datetime:  # type: ignore[misc]
            return datetime(*given, **named)  # noqa: DTZ001 - the zone is given or not, as by the caller

        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + shift()

    return Shifted


def set_clock(shift: Callable[[], timedelta]) -> None:
    """Set the clock of this process forward or back by the current result of `shift`."""
    time.time = lambda: REAL_TIME() + shift().total_seconds()
    clock = shifted(shift)
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in ("pipelines", "warehouse") and vars(module).get("datetime") is datetime:
            vars(module)["datetime"] = clock


if __name__ == "__main__":
    assert synchronize, "imported, so that its clock is set"
    set_clock(lambda: timedelta(days=float(sys.argv[1])))
    os.umask(OTHERS)
    sys.exit(fundamentals.main(["sync", "--source", sys.argv[2]]))
