"""A rehearsal: runs the fake SEC as a process that files reports and carries out orders, until Ctrl-C.

Belongs here: starting the server, carrying out orders, output. Does not: EDGAR's documents (edgar), the reports
(reports), faults (faults), the form of orders (orders).
"""

import signal
import threading
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from pipelines.edgar.decode.newest import FORMS, newest_url
from pipelines.errors import PipelineError
from pipelines.fake_sec.edgar import FakeEdgar, at_most
from pipelines.fake_sec.faults import FAULTS, PARTS, Fault, Faults
from pipelines.fake_sec.orders import PATH, REFUSED, Begin, FakeSecError, File, Order
from pipelines.fake_sec.reports import Reports, ReportsError
from pipelines.fake_sec.server import EdgarServer, Reply, running_server
from pipelines.run import stopping
from pipelines.sample import sample_filers
from pipelines.sample.edgar import bulk
from pipelines.sources import open_source

USER_AGENT = "Rehearsal rehearsal@example.org"
HOME = ".data/rehearsal"
SAMPLE = "sample"


@dataclass(frozen=True)
class Companies:
    """The fictional companies, and the reports that they file."""

    edgar: FakeEdgar
    reports: Reports

    def file(self, symbol: str, number: int) -> str:
        """File the next reports, of any company or of the given one; return a message that names them.

        Raises:
            ReportsError: fewer reports are left.
        """
        filed = self.reports.file(_now(), symbol, number)
        for filer, report in filed:
            self.edgar.accept(filer, report)
        return "\n".join(
            f"filed: {filer.symbols[0]} {report.form} {report.accession} for {report.report_date}"
            for filer, report in filed
        )


class Rehearsal:
    """The running fake SEC, which carries out orders.

    Args:
        faults: the faults.
        companies: the companies that file; None for a mirror, which files nothing.
    """

    def __init__(self, faults: Faults, companies: Companies | None) -> None:
        self._faults, self._companies, self._one_at_a_time = faults, companies, threading.Lock()

    def carry_out(self, order: Order) -> str:
        """Carry out an order; return the result in words.

        Raises:
            FakeSecError, ReportsError: the order cannot be carried out.
        """
        if isinstance(order, File):
            if not self._companies:
                raise FakeSecError("a mirror files no reports: serve the sample to file some")
            with self._one_at_a_time:
                return self._companies.file(order.symbol, order.number)
        if isinstance(order, Begin):
            for given, known in ((order.fault, FAULTS), (order.part, PARTS)):
                if given not in known:
                    raise FakeSecError(f"there is no {given!r}, expected {', '.join(known)}")
            ends = None if order.seconds is None else _now() + timedelta(seconds=order.seconds)
            fault = Fault(order.fault, order.part, _now(), ends, order.share)
            self._faults.begin(fault)
            return f"fault: {fault}"
        self._faults.mend()
        return "all faults are mended"

    def answer(self, path: str, body: bytes) -> Reply:
        """Answer an order."""
        try:
            if path != PATH:
                return Reply(404)
            done = self.carry_out(msgspec.json.decode(body, type=Order))
        except (PipelineError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            return Reply(REFUSED, str(error).encode())
        _tell(done)
        return Reply(body=done.encode())


def serve(
    source: str, port: int, *, every: timedelta | None, lag: timedelta, held_back: int, remember: Path | None
) -> int:
    """Serve until Ctrl-C or SIGTERM.

    Args:
        source: `sample`, or the path of a mirror.
        port: the port of this machine; 0: a free port.
        every: the time between two reports that are filed automatically; None: no automatic filing.
        lag: the longest time until companyfacts and submissions have a report.
        held_back: the number of reports of each company that are held back, to be filed.
        remember: a file that stores the filed reports for the next start.

    Returns:
        the exit status, stopping.STATUS.

    Raises:
        PipelineError: the source cannot be opened, the file is damaged, or the port is taken.
    """
    ended, faults = threading.Event(), Faults(_now)
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, lambda *_: ended.set())
    companies = _sample(faults, lag, held_back, remember) if source == SAMPLE else None
    if not companies:
        open_source(source).client.close()  # a wrong path is reported at once
    try:
        with running_server(port) as server:
            rehearsal = Rehearsal(faults, companies)
            server.changed, server.control = faults.changed, rehearsal.answer
            if companies:
                server.transport = companies.edgar
            else:
                _serve_mirror(server, Path(source))
            _introduce(server.url, f"{len(companies.reports)} reports to file" if companies else f"the mirror {source}")
            _wait(ended, rehearsal, every)
    except OSError as error:
        raise FakeSecError(f"port {port} cannot be used: {error}; give another one with --port") from error
    return stopping.STATUS


def _sample(faults: Faults, lag: timedelta, held_back: int, remember: Path | None) -> Companies:
    filers = sample_filers()
    reports = Reports(filers, held_back, remember)
    edgar = FakeEdgar(filers, reports.held_back, now=_now, faults=faults, delay=at_most(lag))
    for filer, report in reports.remembered():
        edgar.accept(filer, report)
    return Companies(edgar, reports)


def _serve_mirror(server: EdgarServer, folder: Path) -> None:
    """Serve the files of a mirror, and a feed without reports."""
    server.folder = folder
    for form in FORMS:
        server.on(newest_url(form, 0), Reply(body=bulk.newest((), form)))


def _introduce(url: str, what: str) -> None:
    """Print the address, and the environment variables for commands that use it."""
    _tell(f"the fake SEC is on {url}, with {what}; in another terminal:")
    settings = {"EDGAR_BASE_URL": url, "EDGAR_USER_AGENT": USER_AGENT, "FUNDAMENTALS_HOME": HOME}
    for name, value in settings.items():
        print(f'export {name}="{value}"')
    print("fundamentals sync --source live  # or: fundamentals follow", flush=True)


def _wait(ended: threading.Event, rehearsal: Rehearsal, every: timedelta | None) -> None:
    """Wait until the end; file a report from time to time, as long as reports are left."""
    while every and not ended.wait(every.total_seconds()):
        try:
            _tell(rehearsal.carry_out(File()))
        except (FakeSecError, ReportsError) as error:
            _tell(str(error))
            break
    ended.wait()


def _now() -> datetime:
    return datetime.now(UTC)


def _tell(text: str) -> None:
    """Print lines with the time."""
    for line in text.splitlines():
        print(f"{_now():%Y-%m-%d %H:%M:%SZ}  {line}", flush=True)
