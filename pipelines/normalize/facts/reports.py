"""Reports: the facts of periodic and current reports, with dates and measures.

Belongs here: the columns of filed facts, and which forms and units count. Does not: the reporting currency (currency),
the order of filings (order), which concept a fact states (stated).
"""

import re

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Ints, ints
from pipelines.normalize.decisions import counted
from pipelines.normalize.rule import Rule

PERIODIC_FORMS = ("10-K", "10-Q", "10-KT", "10-QT", "20-F", "40-F")
CURRENT_FORMS = ("8-K", "6-K")
"""Current reports: recasts after a change of segments or a disposal, and interim reports of foreign issuers."""
ANNUAL_FORMS = ("10-K", "10-KT", "20-F", "40-F")
AMENDMENT = "/A"

MEASURES = ("money", "per_share", "shares")
MEASURE = pl.Enum(MEASURES)
"""The type of column `measure`: money, money per share, or shares."""

RAW_SCHEMA = pl.Schema(
    {
        "cik": pl.String,
        "taxonomy": pl.String,
        "tag": pl.String,
        "unit": pl.String,
        "start": pl.String,
        "end": pl.String,
        "value": pl.Float64,
        "accession": pl.String,
        "fy": pl.Int32,
        "form": pl.String,
        "filed": pl.String,
    }
)
"""One row a fact as filed: the columns of the decoder of companyfacts."""


FORMS = Rule(
    "report.forms",
    "Only annual and quarterly reports (10-K, 10-Q, 20-F, 40-F and transition reports) and current reports (8-K, 6-K) "
    "count, because proxies and prospectuses round and restate freely.",
    "Exchange Act Rules 13a-1, 13a-11, 13a-13 and 13a-16: annual, current and quarterly reports",
    "select",
)
UNITS = Rule(
    "report.units",
    "Only amounts in a currency, in a currency per share, or in shares count, because no line item has another unit.",
    "EDGAR Filer Manual: units of iso4217 currencies and shares",
    "select",
)
AFTER_FILING = Rule(
    "report.period-ends-after-filing",
    "A fact whose period ends after its filing is left out, because it is from a cover page or a subsequent event.",
    "ASC 855-10-50: events after the balance sheet date are disclosed, not recognized in it",
    "withhold",
)
FILED_TWICE = Rule(
    "report.filed-twice",
    "If one filing states a fact twice, the last one counts.",
    "taxonomy definitions of the elements: a filer has one amount of an element for a period and unit",
    "select",
)
RULES = (FORMS, UNITS, AFTER_FILING, FILED_TWICE)

_COUNTED_FORMS = frozenset((*PERIODIC_FORMS, *CURRENT_FORMS))
_UNIT = re.compile(r"([A-Z]{3})(/shares)?")
_IDENTITY = ("cik", "taxonomy", "tag", "unit", "start", "end", "accession")


def typed(raw: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Facts of periodic and current reports, with dates and the measure of their unit.

    Args:
        raw: facts as filed, columns of RAW_SCHEMA.

    Returns:
        facts: the same with `cik` as a number, `start` (null for an instant), `end`, `filed` as dates, `form_family`
            (the form without its amendment mark), `amended`, `measure` (MEASURE), `currency` (null for shares).
        decisions: decisions.DECISIONS.
    """
    forms, of_form = _texts(raw["form"])
    units, of_unit = _texts(raw["unit"])
    families = [form.removesuffix(AMENDMENT) for form in forms]
    measures = [_measure(unit) for unit in units]
    form_counts = np.array([*(family in _COUNTED_FORMS for family in families), False])[of_form]
    unit_counts = np.array([*(measure >= 0 for measure, _ in measures), False])[of_unit]
    kept = form_counts & unit_counts
    form, unit = of_form[kept], of_unit[kept]
    facts = raw.filter(kept).with_columns(
        pl.col("cik").cast(pl.Int64),
        pl.col("start", "end", "filed").str.to_date("%Y-%m-%d"),
        amended=pl.Series(np.array([text.endswith(AMENDMENT) for text in forms], dtype=np.bool_)[form]),
        form_family=pl.Series(families, dtype=pl.String)[form],
        currency=pl.Series([name for _, name in measures], dtype=pl.String)[unit],
        measure=pl.Series(np.array([number for number, _ in measures], dtype=np.int64)[unit].astype(np.uint8)).cat.to(
            MEASURE
        ),
    )
    in_time = (facts["end"] <= facts["filed"]).to_numpy()
    late = ints(facts, "cik")[~in_time]
    facts = facts.filter(in_time)
    once = _once(facts)
    cik = raw["cik"].cast(pl.Int64).to_numpy()
    decided = [
        (FORMS, cik[~form_counts]),
        (UNITS, cik[form_counts & ~unit_counts]),
        (AFTER_FILING, late),
        (FILED_TWICE, _missing(ints(facts, "cik"), ints(once, "cik"))),
    ]
    return once, counted(decided)


def _texts(column: pl.Series) -> tuple[list[str], Ints]:
    """The distinct texts of a column, and for each row the number of its text; null has the number after the last."""
    texts = column.drop_nulls().unique().sort().to_list()
    numbers = column.cast(pl.Enum(texts)).to_physical().cast(pl.Int64).fill_null(len(texts))
    return texts, numbers.to_numpy()


def _measure(unit: str) -> tuple[int, str | None]:
    """The number of a unit's measure in MEASURES, -1 for other units; and its currency."""
    if unit == "shares":
        return MEASURES.index("shares"), None
    of_currency = _UNIT.fullmatch(unit)
    if not of_currency:
        return -1, None
    return MEASURES.index("per_share" if of_currency[2] else "money"), of_currency[1]


def _once(facts: pl.DataFrame) -> pl.DataFrame:
    """Each fact of a filing once: the last one if the filing states it twice."""
    # if all rows have different hashes, no fact is stated twice
    if facts.select(_IDENTITY).hash_rows().n_unique() == facts.height:
        return facts
    return facts.unique(_IDENTITY, keep="last", maintain_order=True)


def _missing(all_of: Ints, left: Ints) -> Ints:
    """The CIK of each row that was left out, once for each row."""
    companies, rows = np.unique(all_of, return_counts=True)
    remaining = np.bincount(np.searchsorted(companies, left), minlength=len(companies))
    return np.repeat(companies, rows - remaining)
