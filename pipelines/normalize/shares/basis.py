"""Share basis: converts the shares of a filing, and its amounts per share, to the newest share basis.

Belongs here: the basis of each filing, and converting its figures. Does not: which splits there were (splits).
"""

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Floats, Ints, first_row, flags, floats, ints, starts
from pipelines.normalize.frames import counted
from pipelines.normalize.keys import company_key, day_numbers, largest_of, packed, places_in
from pipelines.normalize.rule import Rule
from pipelines.normalize.shares.moves import SHARE_CONCEPTS, SNAP

NEWEST_BASIS = Rule(
    "share-basis.newest",
    "The share counts of a filing are multiplied, and its amounts per share divided, by the ratios of all splits that "
    "took effect after it.",
    "ASC 260-10-55-12: a split or a dividend in shares is applied to the earnings per share of all periods shown",
    "compose",
)
AMENDMENT = Rule(
    "share-basis.amendment",
    "An amendment that repeats the share counts of a report, to within 1 %, is on the share basis of that report, "
    "even if splits took effect between them.",
    "Exchange Act Rule 12b-15: an amendment sets forth the complete text of each item as amended",
    "select",
)
RULES = (NEWEST_BASIS, AMENDMENT)

SAME_BASIS = 1e-9
"""Factors that differ by less are the same basis: ratios such as 4/3 are not exact in binary."""

REPEATED = pl.Schema({"cik": pl.Int64(), "seq": pl.Int32(), "of_seq": pl.Int32()})


def repeated(vintages: pl.DataFrame) -> pl.DataFrame:
    """Amendments on the share basis of the report that they repeat: `cik`, `seq`, and `of_seq`, the report.

    A report that is amended after a split may show the share counts before the split, or restate them.

    Args:
        vintages: corrected amounts of filings, in units.
    """
    concept, value = ints(vintages, "concept"), floats(vintages, "value")
    row = np.flatnonzero((places_in(SHARE_CONCEPTS, concept) >= 0) & (value > 0))
    cik, seq = (ints(vintages, name)[row] for name in ("cik", "seq"))
    start, end = (day_numbers(vintages[name])[row] for name in ("start", "end"))
    _, period = np.unique(packed(_places(cik), concept[row], start, end), return_inverse=True)
    order = np.lexsort((seq, period))
    cik, seq, period = (column[order] for column in (cik, seq, period))
    value = value[row][order]
    is_amended = flags(vintages, "amended")[row][order]
    report = np.maximum.accumulate(np.where(is_amended, -1, np.arange(len(row))))
    has_report = report >= first_row(starts(period))
    at = np.flatnonzero(is_amended & has_report)
    at = at[np.abs(value[at] / value[report[at]] - 1) <= SNAP]
    _, first, filing = np.unique(packed(_places(cik[at]), seq[at]), return_index=True, return_inverse=True)
    of_seq = largest_of(filing, len(first), seq[report[at]])
    return pl.DataFrame({"cik": cik[at][first], "seq": seq[at][first], "of_seq": of_seq}, schema=REPEATED)


def _places(ciks: Ints) -> Ints:
    return np.searchsorted(np.unique(ciks), ciks)


def share_factors(
    filings: pl.DataFrame, splits: pl.DataFrame, repetitions: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The factor between the share basis of each filing and the newest one.

    Args:
        filings: with `cik` and `seq`.
        splits: of infer_splits.
        repetitions: of repeated.

    Returns:
        filings: the same with `factor`: new shares for one share of the filing's basis, the product of the splits that
            took effect after it.
        decisions: `cik`, `rule`, `figures` (filings).
    """
    cik = ints(filings, "cik")
    factor = _factors(cik, ints(filings, "seq"), splits, repetitions)
    is_older = np.abs(factor - 1) > SAME_BASIS
    decided = [(NEWEST_BASIS, cik[is_older]), (AMENDMENT, ints(repetitions, "cik"))]
    return filings.with_columns(factor=factor), counted(decided)


def on_newest_basis(
    vintages: pl.DataFrame, splits: pl.DataFrame, repetitions: pl.DataFrame | None = None
) -> pl.DataFrame:
    """Put shares and per-share values on the share basis of the company's newest filing.

    Args:
        vintages: with `measure_sign`: 1 for shares, -1 for per-share values, 0 for money.
        splits: of infer_splits.
        repetitions: of repeated, if any.

    Returns:
        the vintages with converted `value` and `grain`; a filing is on the basis after all splits effective by then.
    """
    of_seq = pl.DataFrame(schema=REPEATED) if repetitions is None else repetitions
    sign = ints(vintages, "measure_sign")
    factor = _factors(ints(vintages, "cik"), ints(vintages, "seq"), splits, of_seq)
    scale = np.select([sign > 0, sign < 0], [factor, 1 / factor], default=1.0)
    return vintages.with_columns(pl.col("value", "grain") * pl.Series(scale))


def _factors(cik: Ints, seq: Ints, splits: pl.DataFrame, repetitions: pl.DataFrame) -> Floats:
    """New shares for one share of the basis of each filing."""
    factor = np.ones(len(cik))
    ordered = splits.sort("cik", "effective_seq")
    companies = np.unique(ints(ordered, "cik"))
    has_split = np.isin(cik, companies)
    company, of_seq = np.searchsorted(companies, cik[has_split]), seq[has_split]
    amended = repetitions.filter(np.isin(ints(repetitions, "cik"), companies)).sort("cik", "seq")
    if amended.height:
        amendment = company_key(np.searchsorted(companies, ints(amended, "cik")), ints(amended, "seq"))
        place = np.minimum(np.searchsorted(amendment, company_key(company, of_seq)), len(amendment) - 1)
        repeats = amendment[place] == company_key(company, of_seq)
        of_seq = np.where(repeats, ints(amended, "of_seq")[place], of_seq)
    of_split = np.searchsorted(companies, ints(ordered, "cik"))
    # there are no splits after the last one of a company
    after = np.searchsorted(
        company_key(of_split, ints(ordered, "effective_seq")), company_key(company, of_seq), "right"
    )
    is_followed = np.append(of_split, -1)[after] == company
    factor[has_split] = np.where(is_followed, np.append(_products_to_come(of_split, ordered), 1.0)[after], 1.0)
    return factor


def _products_to_come(company: Ints, splits: pl.DataFrame) -> Floats:
    """For each split, the product of its ratio and those of all later splits of the company; sorted by both."""
    products = floats(splits, "ratio").copy()
    for place in range(len(products) - 2, -1, -1):
        if company[place] == company[place + 1]:
            products[place] *= products[place + 1]
    return products
