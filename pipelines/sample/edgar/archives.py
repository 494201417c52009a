"""The files of simulated filings at EDGAR's addresses: their folders, and the data sets of the quarters.

Belongs here: choosing the filings with files, and making the files on request. Does not: the contents of files
(package, data_sets), the documents of companies (documents).

Only the filings of the last three years have a folder, and only the last eight quarters have a data set.
"""

import re
from collections.abc import Callable
from datetime import date, timedelta
from functools import cache, cached_property, lru_cache

from pipelines.sample.business.errors import as_filed
from pipelines.sample.business.filings import Filing
from pipelines.sample.edgar import data_sets, package
from pipelines.sample.edgar.company import Company
from pipelines.sample.filer.traits import Filer, Served

FILE = re.compile(r"https://www\.sec\.gov/Archives/edgar/data/(\d+)/(\d{18})/([^/]+)")
DATA_SET = re.compile(re.escape(f"https://www.sec.gov{data_sets.FOLDER}") + r"(\d{4})q([1-4])\.zip")
SERVED_FOR = timedelta(days=3 * 365)
KEPT = 8
"""The number of filings with files in the cache, because the files of a filing are requested one after the other."""


class Archives:
    """Makes the files of filings when they are requested.

    Args:
        filers: the filers, by their CIK.
        filed_by: filings after this day have no files; None: all filings have files.
        simulated: simulates the company of a filer.
    """

    def __init__(self, filers: dict[str, Filer], filed_by: date | None, simulated: Callable[[Filer], Company]) -> None:
        self._simulated = simulated
        self._filers = {cik: filer for cik, filer in filers.items() if Served.FACTS in filer.served}
        self._last = filed_by or max((filer.last_filed for filer in self._filers.values()), default=date.min)
        self._filings = cache(self._recent)
        self._folder = lru_cache(KEPT)(self._made)

    def body(self, address: str) -> bytes | None:
        """The content at an address; None if it is not the address of a file or data set."""
        if found := FILE.fullmatch(address):
            return self._folder(found[1].zfill(10), found[2]).get(found[3])
        if address == data_sets.PAGE:
            return data_sets.page(self._quarters)
        if found := DATA_SET.fullmatch(address):
            quarter = int(found[1]), int(found[2])
            return self._data_set(quarter) if quarter in self._quarters else None
        return None

    def filers_of(self, address: str) -> list[Filer]:
        """The filers whose filings determine the content at an address; empty for other addresses."""
        if found := FILE.fullmatch(address):
            filer = self._filers.get(found[1].zfill(10))
            return [filer] if filer else []
        return list(self._filers.values()) if address == data_sets.PAGE or DATA_SET.fullmatch(address) else []

    @cached_property
    def _quarters(self) -> list[data_sets.Quarter]:
        return data_sets.listed(self._last) if self._filers else []

    def _recent(self, cik: str) -> dict[str, Filing]:
        """The filings with files, as filed, by their accession numbers without dashes."""
        if cik not in self._filers:
            return {}
        filer, first = self._filers[cik], self._last - SERVED_FOR
        filings = self._simulated(filer).filings
        recent = [filing for filing in filings if first < filing.filed <= self._last and filing.facts]
        return {filing.accession.replace("-", ""): filing for filing in as_filed(filer, recent)}

    def _made(self, cik: str, accession: str) -> dict[str, bytes]:
        filing = self._filings(cik).get(accession)
        return package.folder(self._filers[cik], filing) if filing else {}

    def _data_set(self, quarter: data_sets.Quarter) -> bytes:
        filed, amended = [], set[str]()
        for cik, filer in self._filers.items():
            newest: dict[tuple[int | None, str | None], str] = {}
            for filing in self._filings(cik).values():
                report = filing.fiscal_year, filing.fiscal_period
                if filing.form.endswith("/A") and report in newest:
                    amended.add(newest[report])
                newest[report] = filing.accession
                if data_sets.quarter_of(filing.filed) == quarter:
                    filed.append((filer, filing))
        return data_sets.data_set(filed, frozenset(amended))
