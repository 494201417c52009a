"""The page `/changelog`: the changes of the interface, with the fingerprint of its description after each.

Belongs here: the layout of the entries, and how a client checks a fingerprint. Does not: the entries
(serve.api.changelog).
"""

from collections.abc import Iterator

from serve.api.changelog import ENTRIES, VERSION, Entry
from serve.site.content import Block, Code, Document, Heading, Paragraph, Points

SUMMARY = "The changes of v1 during its beta, newest first."
ABOUT = (
    "A fingerprint is the SHA-256 of the [OpenAPI description]({address}/openapi.json) after the change: without "
    "`servers`, keys sorted, no white space outside of strings, in UTF-8. If the fingerprint that you compute differs "
    "from the newest one above, the interface has changed since you read this page. New fields may be added at any "
    "time: ignore fields that you do not know. After the beta, a change that breaks clients gets a new version, and v1 "
    "keeps working for an announced period."
)
CHECK = """\
import hashlib
import json
from urllib.request import urlopen

with urlopen("{address}/openapi.json") as response:
    description = json.load(response)

del description["servers"]
canonical = json.dumps(description, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
print(hashlib.sha256(canonical.encode()).hexdigest())"""


def document(address: str) -> Document:
    """The page; `address` is the public address of the interface, with the version segment."""
    numbered = reversed(list(enumerate(ENTRIES, 1)))
    blocks: tuple[Block, ...] = (
        Paragraph(f"Current version of the description: `{VERSION}`."),
        *(block for number, entry in numbered for block in _entry(number, entry)),
        Heading("Check a fingerprint", "fingerprint"),
        Paragraph(ABOUT.format(address=address)),
        Code("python", CHECK.format(address=address), "Python", "check"),
    )
    return Document("Changelog of the interface", SUMMARY, blocks)


def _entry(number: int, entry: Entry) -> Iterator[Block]:
    yield Heading(f"1.0.0-beta.{number}, {entry.released}", f"beta-{number}")
    yield Points(entry.changes)
    if entry.fingerprint:
        yield Paragraph(f"Fingerprint: `{entry.fingerprint}`")
    else:
        yield Paragraph("No fingerprint: no description was served yet.")
