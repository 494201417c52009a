"""The page `/changelog`: the changes of the interface, with the fingerprint of its description after each.

Belongs here: the order of the entries. Does not: the entries (serve.api.changelog).
"""

from serve.api.changelog import ENTRIES, VERSION
from serve.site.text.markdown import Document, write

SUMMARY = "The changes of v1 during its beta, newest first."


def document(address: str) -> Document:
    """The page; `address` is the public address of the interface, with the version segment."""
    numbered = list(reversed(list(enumerate(ENTRIES, 1))))
    return Document(write("changelog.md", summary=SUMMARY, version=VERSION, entries=numbered, address=address))
