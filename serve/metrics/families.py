"""The metrics as data: name, type and meaning of each.

Belongs here: the list of metrics for operators. Does not: the numbers (counts, exposition). docs/operations.md explains
each metric; a test compares.
"""

from dataclasses import dataclass

from serve.metrics.counts import CONNECTIONS, DEGRADED, LOOKUPS, REFUSALS, RESTARTS, UNREADABLE

COUNTER, GAUGE, HISTOGRAM = "counter", "gauge", "histogram"
WORKERS, RESPONSIVE = "fundamentals_workers", "fundamentals_responsive_workers"
REQUESTS, SECONDS = "fundamentals_requests", "fundamentals_request_seconds"
BUILD_AGE, FILING_AGE = "fundamentals_build_age_seconds", "fundamentals_newest_filing_age_seconds"
DELAY = "fundamentals_filing_delay_seconds"
WAIT, WORK = "fundamentals_filing_wait_seconds", "fundamentals_filing_work_seconds"
COMPANIES, QUARANTINED, FAILED = (
    "fundamentals_companies",
    "fundamentals_quarantined_companies",
    "fundamentals_failed_companies",
)
RUNS, RUN_AGE, RUN_SECONDS = (
    "fundamentals_synchronizations",
    "fundamentals_synchronization_age_seconds",
    "fundamentals_synchronization_seconds",
)
DAEMON_AGE = "fundamentals_daemon_heartbeat_age_seconds"
FOLLOWER_AGE, FEED_AGE = "fundamentals_follower_heartbeat_age_seconds", "fundamentals_feed_age_seconds"
REPORTS, REPORT_AGE = "fundamentals_waiting_reports", "fundamentals_waiting_report_age_seconds"
REFUSED = "fundamentals_refused_code_age_seconds"
STORE, LAG, LEASE = "fundamentals_store_answers", "fundamentals_replica_lag_seconds", "fundamentals_lease_seconds"


@dataclass(frozen=True, slots=True)
class Family:
    """A metric: its name without the suffix of counters, its type, its meaning, and the names of its labels."""

    name: str
    type: str
    meaning: str
    labels: tuple[str, ...] = ()

    @property
    def exposed(self) -> str:
        """The name of its samples; the samples of a histogram have further suffixes."""
        return f"{self.name}_total" if self.type == COUNTER else self.name


FAMILIES = (
    Family(REQUESTS, COUNTER, "Requests, by path template and status of the response.", ("path", "status")),
    Family(SECONDS, HISTOGRAM, "Seconds from the head of a request to the end of its response.", ("path",)),
    Family(REFUSALS, COUNTER, "Requests answered with 429, by limit, and refused connections.", ("limit",)),
    Family(LOOKUPS, COUNTER, "Responses found in the cache (hit) or made (miss).", ("result",)),
    Family(CONNECTIONS, GAUGE, "Open connections."),
    Family(DEGRADED, GAUGE, "Workers whose status is degraded."),
    Family(UNREADABLE, GAUGE, "Workers that cannot read the newest build, and serve an earlier one or none."),
    Family(WORKERS, GAUGE, "Workers."),
    Family(RESPONSIVE, GAUGE, "Workers whose event loop has answered in the last ten seconds."),
    Family(RESTARTS, COUNTER, "Workers that ended and were started again."),
    Family(BUILD_AGE, GAUGE, "Seconds since the current build was published."),
    Family(FILING_AGE, GAUGE, "Seconds since the filing date of the newest filing in the build (00:00 UTC)."),
    Family(
        DELAY, HISTOGRAM, "Seconds from the acceptance of a filing to the publication of the first build that has it."
    ),
    Family(WAIT, HISTOGRAM, "The SEC's part of it: until EDGAR had the documents of which values are made."),
    Family(WORK, HISTOGRAM, "The service's part of it: from then to the publication."),
    Family(COMPANIES, GAUGE, "Companies that the current build covers."),
    Family(RUNS, COUNTER, "Synchronizations, by result.", ("result",)),
    Family(RUN_AGE, GAUGE, "Seconds since the last synchronization with a result ended.", ("result",)),
    Family(RUN_SECONDS, GAUGE, "Duration of the last synchronization with a result.", ("result",)),
    Family(QUARANTINED, GAUGE, "Companies in quarantine after the last synchronization."),
    Family(FAILED, GAUGE, "Companies whose documents the last synchronization could not fetch."),
    Family(DAEMON_AGE, GAUGE, "Seconds since the last sign of life of Dagster's daemon in this home."),
    Family(FOLLOWER_AGE, GAUGE, "Seconds since the last sign of life of what follows the SEC's newest filings."),
    Family(FEED_AGE, GAUGE, "Seconds since the SEC's feed of newest filings was read well."),
    Family(REPORTS, GAUGE, "Reports of followed companies that the feed named and that are not served yet."),
    Family(REPORT_AGE, GAUGE, "Seconds since the SEC accepted the oldest of these reports; 0: there is none."),
    Family(STORE, GAUGE, "Whether the store answers (1) or not (0)."),
    Family(
        LAG, GAUGE, "Seconds since a commit whose build this replica does not serve yet; 0: it serves the newest one."
    ),
    Family(
        LEASE,
        GAUGE,
        "Seconds since a process that lives took the lease on the store, to lead a run; 0: nobody has.",
    ),
    Family(
        REFUSED, GAUGE, "Seconds since a run was refused because its code may be older than the store's.", ("code",)
    ),
)
"""The metrics, in the order of the exposition."""
