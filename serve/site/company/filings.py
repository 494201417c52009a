"""The pages `/companies/SYMBOL/filings` and `/filings/ACCESSION`: the filings of a company, and the facts of one.

Belongs here: the content of these pages. Does not: the queries (warehouse.queries.filing_queries), access control
(mount).

Filings of fictional companies are only shown here; filings of real companies are at the SEC, and the list links to
both.
"""

from collections.abc import Collection, Sequence

from serve.provenance import number
from serve.site.text.markdown import Document, link, write
from serve.site.text.paths import company_path, statements_path
from warehouse.contract.fictional import FILINGS, is_fictional
from warehouse.contract.served import Company
from warehouse.queries.filing_queries import Fact, Filing


def listed(company: Company, filings: Sequence[Filing], stated: Collection[str]) -> Document:
    """The list of a company's filings, newest first; `stated` are the filings whose statements are in the data."""
    text = write(
        "filings.md",
        company=company,
        to=company_path(company.symbol),
        fictional=is_fictional(company.cik),
        filings=[(filing, f"{FILINGS}{filing.accession}", _statements(company, filing, stated)) for filing in filings],
    )
    return Document(text)


def _statements(company: Company, filing: Filing, stated: Collection[str]) -> str:
    return link("Statements", statements_path(company.symbol, filing.accession)) if filing.accession in stated else "–"


def document(filing: Filing, company: Company, facts: Sequence[Fact]) -> Document:
    """The page of one filing."""
    text = write(
        "filing.md",
        filing=filing,
        company=company,
        to=company_path(company.symbol),
        fictional=is_fictional(company.cik),
        facts=facts,
        number=number,
    )
    return Document(text)
