"""The page `/settings`: the environment variables for operators of the service.

Belongs here: the variables as data, with their meaning and default. Does not: reading them (serve.settings,
pipelines.home).
"""

from serve.site.markdown import Document, write

SUMMARY = "The environment variables for operators of the service; subscribers need none of them."
SETTINGS: tuple[tuple[str, str, str], ...] = (
    (
        "FUNDAMENTALS_HOME",
        "Folder of all data: documents, tables, builds, accounts. A home contains either fictional or real data, never "
        "both.",
        ".data/edgar",
    ),
    (
        "FUNDAMENTALS_SOURCE",
        "Source of a synchronization without `--source`: sample, live, or a folder.",
        "sample",
    ),
    ("FUNDAMENTALS_SYMBOLS", "Symbols of a synchronization without `--symbols`, comma-separated.", "all"),
    (
        "EDGAR_USER_AGENT",
        "User-Agent for requests to the SEC: your name and mail address. The live source needs it.",
        "none",
    ),
    (
        "EDGAR_BASE_URL",
        "Address of a proxy that is asked instead of the SEC, with the SEC's host as the first segment of the path.",
        "the SEC",
    ),
    (
        "FUNDAMENTALS_PROCESSES",
        "Number of processes that share the work of a synchronization of many companies.",
        "one for each core",
    ),
    (
        "FUNDAMENTALS_CONFIRM_SHRINK",
        "yes: publish although many companies vanished from the SEC's list, or a symbol belongs to two of them.",
        "off",
    ),
    (
        "FUNDAMENTALS_SCHEDULED",
        "yes: something other than Dagster, such as a timer of systemd, synchronizes every morning at six, New York "
        "time. `/v1/status` then promises the next synchronization.",
        "off",
    ),
    (
        "FUNDAMENTALS_BASE_URL",
        "Public address of the interface, for links. With https, cookies are sent over https and to this host only.",
        "http://HOST:PORT/v1",
    ),
    ("FUNDAMENTALS_CACHE", "on, or off: no response is cached, and each is queried from the build again.", "on"),
    (
        "FUNDAMENTALS_CONNECTION_SHARE",
        "Part of the connections of a worker that one client address may have, above 0 to 1.",
        "0.5",
    ),
    (
        "FUNDAMENTALS_PROXY",
        "Addresses or networks of your proxies, comma-separated. For connections from them, the last address in the "
        "header X-Forwarded-For is the client, and they may have all connections. From others the header is ignored.",
        "none",
    ),
    (
        "FUNDAMENTALS_METRICS_PORT",
        "Port of this machine on which Prometheus can read metrics, at 127.0.0.1 and the path /metrics.",
        "no metrics",
    ),
    (
        "REDIS_URL",
        "Address of a Redis server that counts the rate limits of several workers or machines. Needed with more than "
        "one worker.",
        "counted in the process",
    ),
)
"""Name, meaning and default of each variable."""


def document() -> Document:
    """The page, with one anchor per variable."""
    return Document(write("settings.md", summary=SUMMARY, settings=SETTINGS))
