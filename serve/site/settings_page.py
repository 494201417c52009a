"""The page of settings: what the environment may say to those who run the service.

Belongs here: the variables as data, with what they mean. Does not: reading them (serve.settings, pipelines.home).
"""

from serve.site.content import Document, Grid, Paragraph

SUMMARY = "What the environment may say to those who run the service."
RUN = (
    "A subscriber needs none of these. They are read when a command begins; an empty variable counts as none. With "
    "`--host`, `--port` and `--workers`, `fundamentals serve` is told where to listen, and how many processes answer."
)

SETTINGS: tuple[tuple[str, str, str], ...] = (
    (
        "FUNDAMENTALS_HOME",
        "Everything mutable lies below it: documents, tables, builds, accounts. It holds fictional data or real data, "
        "never both.",
        ".data/edgar",
    ),
    (
        "FUNDAMENTALS_SOURCE",
        "Source of a synchronization that is told none: sample, live, or a folder.",
        "sample",
    ),
    ("FUNDAMENTALS_SYMBOLS", "Likewise its symbols, comma-separated.", "all"),
    (
        "EDGAR_USER_AGENT",
        "Who asks the SEC: name and mail address. The live source needs it.",
        "none",
    ),
    (
        "EDGAR_BASE_URL",
        "Where the SEC's hosts are answered instead: a proxy that finds the host as the first segment of the path.",
        "the SEC",
    ),
    (
        "FUNDAMENTALS_BASE_URL",
        "Public address of the interface, in links. With https, cookies of the pages are secure and of this host only.",
        "http://HOST:PORT/v1",
    ),
    ("FUNDAMENTALS_CACHE", "on, or off: each answer is queried from the build anew.", "on"),
    (
        "REDIS_URL",
        "Where limits are counted for several workers or machines. More than one worker needs it.",
        "in this process",
    ),
)
"""Name, meaning and default of each variable."""


def document() -> Document:
    """The page, with an anchor for each variable."""
    rows = tuple((f"`{name}`", meaning, f"`{default}`") for name, meaning, default in SETTINGS)
    anchors = tuple(name for name, _, _ in SETTINGS)
    grid = Grid("Variables of the environment", ("Variable", "Meaning", "Default"), rows, anchors=anchors)
    return Document("Settings", SUMMARY, (Paragraph(RUN), grid))
