"""One simulated company: its filings, the documents that EDGAR would serve for it, and its true values.

Belongs here: the entry point of the simulation. Does not: making filings, documents and true values.
"""

from dataclasses import dataclass
from datetime import date

from pipelines.sample.business.books import keep_books
from pipelines.sample.business.errors import as_filed
from pipelines.sample.business.filings import Filing, make_filings
from pipelines.sample.business.truth import TruthRow, true_values
from pipelines.sample.edgar import documents
from pipelines.sample.edgar.documents import Document
from pipelines.sample.filer.traits import Filer, Served


@dataclass(frozen=True)
class Company:
    """A filer with all its filings, without errors in them; each method can be limited to filings up to a day."""

    filer: Filer
    filings: tuple[Filing, ...]

    def companyfacts(self, filed_by: date | None = None) -> Document:
        """The companyfacts document, errors included."""
        return documents.companyfacts(self.filer, as_filed(self.filer, self._filed(filed_by)))

    def submissions(self, filed_by: date | None = None) -> Document:
        """The submissions document: its first page."""
        return documents.submissions(self.filer, self._filed(filed_by))

    def submissions_pages(self, filed_by: date | None = None) -> dict[str, Document]:
        """The further pages of the submissions, by file name."""
        return documents.submissions_pages(self.filer, self._filed(filed_by))

    def truth(self, filed_by: date | None = None) -> list[TruthRow]:
        """The true values that the filings support, on the share basis of the newest report; see `truth`.

        Empty if EDGAR has no companyfacts document of the filer.
        """
        if Served.FACTS not in self.filer.served:
            return []
        return true_values(self.filer, self._filed(filed_by))

    def _filed(self, filed_by: date | None) -> tuple[Filing, ...]:
        return tuple(filing for filing in self.filings if filed_by is None or filing.filed <= filed_by)


def simulate(filer: Filer) -> Company:
    """Simulate the business and the filings of a filer; the same filer always gives identical documents."""
    return Company(filer, make_filings(filer, keep_books(filer)))
