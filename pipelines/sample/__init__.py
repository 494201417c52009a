"""The sample source: a filing simulator of fictional filers whose true values are known.

Belongs here: inventing filers, making their filings as real companies do, and serving them as EDGAR's documents. Does
not: any rule of normalization. The simulator tests these rules, so the two share no code.

How the modules of `filer`, `business` and `edgar` work together:
- `traits`, `filers` and `next_day`: a `Filer` is a set of traits; some change on the next day;
- `books`: its true quarters, in double entry, on the dates of its fiscal `calendar`;
- `filings`: what it reports, with the columns, comparatives and forms of its `schedule` and the lines of `statements`
  and `industries`;
- `errors`: misstates some facts;
- `details` and `left_out`: what filings state and companyfacts leaves out, such as classes of stock;
- `faces`: the printed statements, with the `sums` of their lines;
- `package` and `data_sets`: the filings as XBRL packages and as the SEC's data sets, which `archives` makes on request;
- `documents`, `bulk` and `transport`: the filings as EDGAR's JSON, archives and indexes, at EDGAR's addresses;
- `truth`: the true values that the filings support.
"""

from pipelines.sample.business.truth import TruthRow
from pipelines.sample.edgar.company import Company, simulate
from pipelines.sample.edgar.transport import SampleTransport
from pipelines.sample.filer.calendar import FiscalCalendar, NewYearEnd
from pipelines.sample.filer.details import Block, OwnLine, Security
from pipelines.sample.filer.filers import sample_filers
from pipelines.sample.filer.next_day import EVENTS, has_next_day, next_day_filers
from pipelines.sample.filer.traits import (
    NEXT_DAY,
    Columns,
    Conversion,
    Dividend,
    Economics,
    Error,
    Extra,
    Filer,
    Kind,
    Moved,
    Offering,
    RevisedBy,
    Revision,
    Served,
    Split,
)

__all__ = [
    "EVENTS",
    "NEXT_DAY",
    "Block",
    "Columns",
    "Company",
    "Conversion",
    "Dividend",
    "Economics",
    "Error",
    "Extra",
    "Filer",
    "FiscalCalendar",
    "Kind",
    "Moved",
    "NewYearEnd",
    "Offering",
    "OwnLine",
    "RevisedBy",
    "Revision",
    "SampleTransport",
    "Security",
    "Served",
    "Split",
    "TruthRow",
    "has_next_day",
    "next_day_filers",
    "sample_filers",
    "simulate",
]
