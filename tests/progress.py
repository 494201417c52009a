"""The terminal output of a test run: one line of progress, and the name of a failure as soon as it occurs.

Belongs here: the output while tests run, in one process or several. Does not: any test.
"""

import hashlib
import time
from collections import Counter
from collections.abc import Generator, Sequence
from typing import Any

import pytest

STEP = 10
"""Per cent of the tests between two numbers of the line."""


MINUTES = {("tests/property", "tests/golden", "tests/contract", "tests/unit"): 7, ("tests/e2e",): 6}
"""About how long make test and make test-whole take on two idle cores, by the folders of their tests."""


def expected(folders: Sequence[str]) -> str:
    """About how long tests take that have not been run here before, if they are all of a command."""
    minutes = MINUTES.get(tuple(folders))
    return f"about {minutes} minutes on two idle cores" if minutes else "how long is known after the first run"


def duration(seconds: float) -> str:
    """A duration in words."""
    return f"{seconds:.0f} seconds" if seconds < 100 else f"{seconds / 60:.0f} minutes"


class Progress:
    """Counts the finished tests; pytest's own letters are not printed."""

    def __init__(self, config: pytest.Config) -> None:
        """Create the progress for the terminal of a run."""
        self.config = config
        self.cache = getattr(config, "cache", None)  # a run without pytest's cache has none
        self.total = 0
        self.ended: set[str] = set()
        self.told = 0
        self.began = time.monotonic()
        # a digest, because a file of the cache is named by it, and a list of many tests would be too long a name
        self.key = f"fundamentals/seconds-{hashlib.sha256(' '.join(config.args).encode()).hexdigest()[:16]}"

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Print which tests run, and how long they took the last time; print nothing when a process starts.

        A process that crashes is a failure of the test that it ran.
        """
        self.config.pluginmanager.unregister(name="terminaldistreporter")
        seconds = self.cache.get(self.key, None) if self.cache else None
        before = f"the last run took {duration(seconds)}" if seconds else expected(self.config.args)
        folders = ", ".join(self.config.args)
        self.write(f"Tests of {folders}: {before}. The first are collected within seconds.\n")

    def pytest_sessionfinish(self) -> None:
        """Keep how long it took, for the next run."""
        if self.cache:
            self.cache.set(self.key, time.monotonic() - self.began)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Name each reason for which tests were skipped, once."""
        reports = terminalreporter.stats.get("skipped", [])
        reasons = Counter(str(report.longrepr[2]).removeprefix("Skipped: ") for report in reports)
        for reason, count in reasons.most_common():
            terminalreporter.write_line(f"SKIPPED {count} {'test' if count == 1 else 'tests'}: {reason}")

    def write(self, text: str, **markup: bool) -> None:
        """Write to the terminal, and flush."""
        terminal = self.config.pluginmanager.get_plugin("terminalreporter")
        if terminal:
            terminal.write(text, flush=True, **markup)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Take the number of tests, with one process."""
        self.total = len(session.items)

    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Take the number of tests, with several processes: each has collected all."""
        self.total = len(ids)

    @pytest.hookimpl(wrapper=True)
    def pytest_report_teststatus(self) -> Generator[None, Any, Any]:
        """Print no letter per test; its result is counted and failures are named."""
        told = yield
        return told and (told[0], "", told[2])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Name a failed test, and write the progress of the run."""
        if report.failed:
            self.write(f"\n{'FAILED' if report.when == 'call' else 'ERROR'} {report.nodeid}\n", red=True)
        if report.when == "teardown":
            self.ended.add(report.nodeid)
            percent = 100 * len(self.ended) // max(self.total, len(self.ended))
            if percent >= self.told + STEP:
                self.told = percent - percent % STEP
                self.write(f" {self.told}%")
