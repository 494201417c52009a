"""Errors of fetching, reading and storing documents.

    PipelineError
    └── EdgarError
        ├── SourceError             a source cannot be opened, or does not answer: the run stops
        │   └── RefusedError        EDGAR keeps answering 403 or 429: more requests would prolong the block
        ├── FetchError              one document could not be fetched: the company keeps its previous values
        ├── DocumentError           a document is malformed: its company is quarantined
        └── RawStoreError           the raw zone cannot be read or written
            └── CorruptError        a stored document does not match the digest in its name

Belongs here: the classes. Does not: who raises them, or how the run handles them.
"""

from pipelines.errors import PipelineError


class EdgarError(PipelineError):
    """Base class of all errors of the extract stage.

    Attributes:
        passes_in: for an error that can pass by itself (a time-out, 5xx, 429), the seconds that the server asks to
            wait, 0 if it does not say; None: a retry would fail again.
    """

    def __init__(self, message: str, *, passes_in: float | None = None) -> None:
        super().__init__(message)
        self.passes_in = passes_in


class SourceError(EdgarError):
    """A source cannot be opened or does not answer; the message says which source to give instead."""


class UnopenedError(SourceError):
    """A source cannot be opened, because its name or its settings are wrong; nothing was requested."""


class RefusedError(SourceError):
    """EDGAR answers every request with 403 or 429: it blocks the address or the User-Agent."""


class FetchError(EdgarError):
    """One document could not be fetched after all retries."""


class DocumentError(EdgarError):
    """A document is malformed, or belongs to another company.

    Attributes:
        reason: the flaw, with the value: `'units' of us-gaap/Revenues is a list, expected an object`.
        place: the document and the path in it: `companyfacts of CIK 0000320193, facts/us-gaap/Revenues/units`.
    """

    def __init__(self, reason: str, place: str) -> None:
        super().__init__(f"{place}: {reason}")
        self.reason = reason
        self.place = place


class RawStoreError(EdgarError):
    """The raw zone cannot be read or written; the message names the file and what to do."""


class CorruptError(RawStoreError):
    """A stored document does not match the digest in its name."""
