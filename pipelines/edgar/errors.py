"""What can go wrong between EDGAR and the raw zone.

    PipelineError
    └── EdgarError
        ├── SourceError             a source cannot be opened, or answers nothing at all: the run stops
        │   └── RefusedError        EDGAR keeps answering 403 or 429: asking for others would prolong the block
        ├── FetchError              one document could not be had: the company keeps what it had
        ├── DocumentError           a document is not what it should be: its company is quarantined
        └── RawStoreError           the raw zone cannot be read or written
            └── CorruptError        a stored document is not what its name says

Belongs here: the classes. Does not: who raises them, or what the run makes of them.
"""

from pipelines.errors import PipelineError


class EdgarError(PipelineError):
    """The base of the extract side."""


class SourceError(EdgarError):
    """A source that cannot be opened or answers nothing; the message says what to give instead."""


class RefusedError(SourceError):
    """EDGAR answers 403 or 429 whatever is asked: the address or the User-Agent is blocked."""


class FetchError(EdgarError):
    """One document could not be had, after the retries that its failure allows."""


class DocumentError(EdgarError):
    """A document that cannot be trusted.

    Attributes:
        reason: what was wrong, with what value: `'units' of us-gaap/Revenues is a list, expected an object`.
        place: which document and where in it: `companyfacts of CIK 0000320193, facts/us-gaap/Revenues/units`.
    """

    def __init__(self, reason: str, place: str) -> None:
        super().__init__(f"{place}: {reason}")
        self.reason = reason
        self.place = place


class RawStoreError(EdgarError):
    """The raw zone cannot be read or written; the message names the file and what to do."""


class CorruptError(RawStoreError):
    """A stored document whose bytes are not those its name was made from."""
