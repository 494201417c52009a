"""Output of a cluster's scheduler and workers: metrics, notices about their code, and Dask's errors in one line.

Belongs here: messages for operators, and the metric of workers by code. Does not: starting scheduler or workers
(cluster). Dask loads this module into the scheduler as a preload.
"""

import logging
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pipelines.shared.code_in_force import version
from pipelines.waiting import on_terminal
from warehouse.shared.store import ONCE, StoreError, opened

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

RESOURCE = "code-"
"""The beginning of the name of the Dask resource that identifies a worker's code."""
METRIC = "fundamentals_cluster_workers"
EVERY = 60.0
"""Seconds between two checks of the version in force."""
SILENT = ("distributed.client", "distributed.worker")
"""Loggers of Dask whose errors this program already reports itself, such as waiting for the scheduler."""


class OneLine(logging.Formatter):
    """Formats a message as its first line, without the traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """The time and the message."""
        return f"{self.formatTime(record)} {record.name}: {record.getMessage().strip().partition(os.linesep)[0]}"


def speak_in_one_line() -> None:
    """Print each warning and error of Dask in one line, and silence the loggers in SILENT."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(OneLine())
    of_dask = logging.getLogger("distributed")
    of_dask.handlers = [handler]
    of_dask.setLevel(logging.WARNING)
    for name in SILENT:
        logging.getLogger(name).setLevel(logging.CRITICAL)


class Members:
    """The metric of workers by code; more than one code means that some workers get no batches."""

    def __init__(self, scheduler: Any) -> None:
        """Store the Dask scheduler whose workers are counted."""
        self._scheduler = scheduler

    def collect(self) -> "Iterator[Metric]":
        """The number of workers that have joined, by code."""
        from prometheus_client.metrics_core import GaugeMetricFamily

        metric = GaugeMetricFamily(METRIC, "Workers that have joined, by code, rules and packages.", labels=["code"])
        names = (name for worker in self._scheduler.workers.values() for name in worker.resources)
        for code, number in Counter(names).items():
            metric.add_metric([code.removeprefix(RESOURCE)], number)
        yield metric


def dask_setup(scheduler: Any) -> None:
    """Called by Dask when the scheduler listens."""
    from prometheus_client import REGISTRY  # imported here, because all synchronizations import this module

    REGISTRY.register(Members(scheduler))
    shown = scheduler.http_server
    on_terminal(
        f"the scheduler is at {scheduler.address}, its metrics are on http://{shown.address}:{shown.port}/metrics"
    )


def tell_if_idle() -> None:
    """Start a thread that prints a notice, once for each version, if another version than this worker's is in force in
    the store."""
    store = opened(os.environ["FUNDAMENTALS_STORE"], ONCE)

    def look() -> None:
        told = ""
        while True:
            with suppress(StoreError):
                held = store.head()
                in_force = held.head.codes[-1] if held and held.head.codes else version()
                if in_force not in (version(), told):
                    on_terminal(
                        f"this worker has {version()}, and {in_force} is in force: it gets no batches; update it"
                    )
                told = in_force
            time.sleep(EVERY)

    threading.Thread(target=look, name="version", daemon=True).start()
