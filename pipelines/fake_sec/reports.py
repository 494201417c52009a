"""The newest reports of fictional companies, which the fake SEC holds back until they are filed.

Belongs here: choosing the next report, and the file that records the filed reports. Does not: the time of filing
(rehearsal), the documents with a report (edgar).
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

import msgspec

from pipelines.errors import PipelineError
from pipelines.fake_sec.edgar import Filed, accepted
from pipelines.sample.edgar.company import simulate
from pipelines.sample.filer.traits import Filer, Served


class ReportsError(PipelineError):
    """No report is left to file, or the file of reports is damaged."""


class _Line(msgspec.Struct):
    """A filed report, as recorded in the file."""

    accession: str
    accepted_at: datetime


class Reports:
    """The newest reports of each company with documents at EDGAR; each company files its oldest report first.

    Args:
        filers: all filers.
        number: the number of reports of each filer that are held back.
        file: records the filed reports; None: they are not recorded.

    Raises:
        ReportsError: the file is damaged.
    """

    def __init__(self, filers: Iterable[Filer], number: int, file: Path | None) -> None:
        found = [
            (place, filer, filing)
            for filer in filers
            if filer.served == frozenset(Served) and filer.symbols
            for place, filing in enumerate([one for one in simulate(filer).filings if one.is_periodic][-number:])
        ]
        found.sort(key=lambda row: (row[0], row[2].filed))
        self._waiting = {filing.accession: (filer, filing) for _, filer, filing in found}
        self._file = file
        self.held_back = frozenset(self._waiting)

    def __len__(self) -> int:
        return len(self._waiting)

    def remembered(self) -> Iterator[Filed]:
        """File the recorded reports again.

        Raises:
            ReportsError: the file is damaged.
        """
        lines = self._file.read_bytes().splitlines() if self._file and self._file.exists() else []
        for line in lines:
            try:
                read = msgspec.json.decode(line, type=_Line)
                filer, filing = self._waiting.pop(read.accession)
            except (msgspec.MsgspecError, UnicodeDecodeError, KeyError) as error:
                raise ReportsError(
                    f"{self._file} has the line {line[:80]!r}: remove the file, and begin with an empty home"
                ) from error
            yield filer, accepted(filing, read.accepted_at)

    def file(self, at: datetime, symbol: str, number: int) -> list[Filed]:
        """File the next reports, of any company or of the given one, at a time in UTC.

        Raises:
            ReportsError: fewer reports are left.
        """
        of = {accession: each for accession, each in self._waiting.items() if not symbol or symbol in each[0].symbols}
        if len(of) < number:
            which = f"reports of {symbol}" if symbol else "reports"
            raise ReportsError(
                f"{len(of)} {which} are left to file; start with --held-back, and without what was filed"
            )
        filed = [(filer, accepted(filing, at)) for filer, filing in [*of.values()][:number]]
        for _, filing in filed:
            del self._waiting[filing.accession]
        if self._file:
            lines = [msgspec.json.encode(_Line(filing.accession, at)) + b"\n" for _, filing in filed]
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("ab") as stream:
                stream.writelines(lines)
        return filed
