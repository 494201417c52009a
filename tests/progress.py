"""How a test run is told: one line of progress, and the name of a failure as soon as it happens.

Belongs here: what the terminal shows while tests run, with one process or with several. Does not: any test.
"""

from collections.abc import Generator
from typing import Any

import pytest

STEP = 10
"""Percent of the tests between two words of the line."""


class Progress:
    """Counts the tests that have ended; pytest's own letters are left out."""

    def __init__(self, config: pytest.Config) -> None:
        """Write to the terminal of a run."""
        self.config = config
        self.total = 0
        self.ended: set[str] = set()
        self.told = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """The start of each process is no news; one that dies is a failure of the test that it ran."""
        self.config.pluginmanager.unregister(name="terminaldistreporter")

    def write(self, text: str, **markup: bool) -> None:
        """Write to the terminal, and show it at once."""
        terminal = self.config.pluginmanager.get_plugin("terminalreporter")
        if terminal:
            terminal.write(text, flush=True, **markup)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """How many tests there are, with one process."""
        self.total = len(session.items)

    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """How many tests there are, with several: each process has collected all."""
        self.total = len(ids)

    @pytest.hookimpl(wrapper=True)
    def pytest_report_teststatus(self) -> Generator[None, Any, Any]:
        """No letter a test; what became of it is counted and named all the same."""
        told = yield
        return told and (told[0], "", told[2])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Name what failed, and write how far the run has come."""
        if report.failed:
            self.write(f"\n{'FAILED' if report.when == 'call' else 'ERROR'} {report.nodeid}\n", red=True)
        if report.when == "teardown":
            self.ended.add(report.nodeid)
            percent = 100 * len(self.ended) // max(self.total, len(self.ended))
            if percent >= self.told + STEP:
                self.told = percent - percent % STEP
                self.write(f" {self.told}%")
