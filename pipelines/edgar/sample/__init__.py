"""The sample source: a filing simulator of fictional filers whose true values are known.

Belongs here: everything that makes up filers, lets them file as real ones do, and serves the documents in EDGAR's
shape. Does not: any rule of normalization, which this is made to test; the two share no code.

The way through it: a `Filer` is a set of traits (`traits`, `filers`); its `books` hold true quarters in double entry
by its fiscal `calendar`; its `filings` report them with the columns, comparatives and forms of their `schedule`, in the
lines of `statements` and `industries`; `errors` misstates some of it; `documents` gives these EDGAR's JSON, `transport`
its addresses; `truth` tells what the filings support.
"""

from pipelines.edgar.sample.calendar import FiscalCalendar, NewYearEnd
from pipelines.edgar.sample.company import Company, simulate
from pipelines.edgar.sample.filers import sample_filers
from pipelines.edgar.sample.traits import (
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
from pipelines.edgar.sample.transport import SampleTransport
from pipelines.edgar.sample.truth import TruthRow

__all__ = [
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
    "RevisedBy",
    "Revision",
    "SampleTransport",
    "Served",
    "Split",
    "TruthRow",
    "sample_filers",
    "simulate",
]
