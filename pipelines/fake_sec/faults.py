"""Faults of the fake SEC: the change of replies, the part of EDGAR, and the duration of each.

Belongs here: the tables of parts and faults, and the active faults at a given time. Does not: sending replies (server),
replies without faults (edgar).
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from random import Random
from threading import Lock
from typing import NamedTuple

from pipelines.fake_sec.server import Reply

ALL = "all"
PARTS: Mapping[str, str] = {
    ALL: "/",
    "list": r"/www\.sec\.gov/files/company_tickers_exchange\.json",
    "feed": r"/www\.sec\.gov/cgi-bin/browse-edgar\?",
    "index": r"/www\.sec\.gov/Archives/edgar/daily-index/\d",
    "bulk": r"/www\.sec\.gov/Archives/edgar/daily-index/[a-z]",
    "companyfacts": r"/data\.sec\.gov/api/xbrl/companyfacts/",
    "submissions": r"/data\.sec\.gov/submissions/",
    "filings": r"/www\.sec\.gov/Archives/edgar/data/",
    "data-sets": r"/www\.sec\.gov/(data-research|files/dera)/",
}
"""The parts of EDGAR, with the beginnings of their addresses below the fake SEC's."""

REFUSAL = b"""<!DOCTYPE html>
<html><head><title>SEC.gov | Request Rate Threshold Exceeded</title></head>
<body><h1>Your Request Originates from an Undeclared Automated Tool</h1></body></html>
"""


class Kind(NamedTuple):
    """A kind of fault: its meaning, and the function that changes a reply."""

    meaning: str
    changed: Callable[[Reply], Reply] = lambda reply: reply


def _half(reply: Reply) -> Reply:
    """The first half of a document, without an entity tag, because it is a different document."""
    return Reply(reply.status, reply.body[: len(reply.body) // 2])


def _half_of_list(reply: Reply) -> Reply:
    """Half of the list of companies, with every second row; other documents are unchanged."""
    try:
        document = json.loads(reply.body)
    except ValueError:
        return reply
    rows = document.get("data")
    return Reply(body=json.dumps(document | {"data": rows[::2]}).encode()) if rows else reply


FAULTS: Mapping[str, Kind] = {
    "429": Kind("answers 429", lambda _: Reply(429, headers={"Retry-After": "1"})),
    "403": Kind("answers 403 with the SEC's page of a refusal", lambda _: Reply(403, REFUSAL)),
    "404": Kind("answers 404", lambda _: Reply(404)),
    "503": Kind("answers 503", lambda _: Reply(503)),
    "page": Kind("answers 200 with a web page in place of the document", lambda _: Reply(body=REFUSAL)),
    "cut": Kind("ends the connection within each document", lambda reply: replace(reply, cut=len(reply.body) // 2)),
    "slow": Kind("sends a byte a second", lambda reply: replace(reply, drip=1.0)),
    "malformed": Kind("sends half of each document, as if it were whole", _half),
    "half": Kind("leaves out every second company of the list of companies", _half_of_list),
    "late": Kind("adds no new report to companyfacts and submissions, nor its package"),
    "clock": Kind("has a clock that is a day ahead, which the feed shows"),
}


@dataclass(frozen=True)
class Fault:
    """A fault of a part, from `begins` until `ends` (None: until it is mended), for a share of the replies."""

    kind: str
    part: str = ALL
    begins: datetime | None = None
    ends: datetime | None = None
    share: float = 1.0

    def __str__(self) -> str:
        share = f" for {self.share:.0%} of the replies" if self.share < 1 else ""
        until = f" until {self.ends:%H:%M:%SZ}" if self.ends else " until it is mended"
        return f"{self.part}: {FAULTS[self.kind].meaning}{share}{until}"


class Faults:
    """The planned and active faults; safe to use from several threads.

    Args:
        now: the time, in UTC.
        planned: the first faults.
    """

    def __init__(self, now: Callable[[], datetime], planned: Iterable[Fault] = ()) -> None:
        self._now, self._faults = now, [*planned]
        self._draws, self._lock = Random(0), Lock()

    def begin(self, fault: Fault) -> None:
        """Begin a fault, in addition to the active faults."""
        self._faults.append(fault)

    def mend(self) -> None:
        """End all faults."""
        self._faults.clear()

    def of(self, kind: str, part: str) -> Fault | None:
        """An active fault of this kind and part, or None."""
        return next((one for one in self._current() if one.kind == kind and one.part in (ALL, part)), None)

    def changed(self, path: str, reply: Reply) -> Reply:
        """Apply the active faults to the reply to a path."""
        for fault in self._current():
            if re.match(PARTS[fault.part], path):
                with self._lock:
                    is_hit = fault.share >= 1 or self._draws.random() < fault.share
                reply = FAULTS[fault.kind].changed(reply) if is_hit else reply
        return reply

    def _current(self) -> list[Fault]:
        now = self._now()
        return [
            one for one in self._faults if (not one.begins or one.begins <= now) and (not one.ends or now < one.ends)
        ]
