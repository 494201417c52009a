"""The industry of a filer at each filing, and the line items that have no meaning in an industry.

Belongs here: applying the table of industries to each filing; items without meaning. Does not: the table (table), which
elements are the sources of an item in an industry (elements).

The SIC code of the filer decides, together with the elements of the filing and of its filings in the year before. Later
filings change nothing. EDGAR keeps no history of SIC codes, so the code is today's.
"""

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Flags, Ints, first_row, ints, starts
from pipelines.normalize.frames import DECISIONS
from pipelines.normalize.industry.table import BY_ID, INDICATORS, TABLE, IndustryRow
from pipelines.normalize.rule import Rule
from warehouse.contract.line_items import items_of

LOOKS_BACK_DAYS = 400
"""The time between two annual reports. Elements of earlier filings within it also count for a filing, and every line of
the statements occurs in an interim report within it."""
LARGEST_CODE = 9999

FINANCIAL = Rule(
    "industry.withhold.financial-company",
    "Return on invested capital and debt to free cash flow are withheld for banks, brokers, insurers, other financial "
    "companies and investment companies, because they trade in capital.",
    "Regulation S-X Articles 6, 7 and 9: these statements have no operating income and no classified balance sheet",
    "withhold",
    "industries: bank, broker, insurer, financial, investment company",
)
FINANCE_ARM = Rule(
    "industry.withhold.finance-arm",
    "Debt to free cash flow is withheld for a company that owns the lender to its buyers, because most of its debt "
    "funds receivables.",
    "definition of the item: the years of free cash flow that repay the debt",
    "withhold",
    "industries: captive finance",
)
SHELL = Rule(
    "industry.withhold.shell",
    "Return on invested capital and debt to free cash flow are withheld for shells, because they have no business to "
    "measure.",
    "definition of the items: both measure an operating business",
    "withhold",
    "industries: shell",
)

NO_COST_OF_REVENUE = Rule(
    "industry.withhold.gross-profit",
    "Gross profit is withheld for banks, brokers, insurers, other financial companies and investment companies, whose "
    "revenue has no cost of goods or services.",
    "Regulation S-X Articles 6, 7 and 9: these statements have no cost of revenue",
    "withhold",
    FINANCIAL.applies,
)

RATIOS = items_of("ratio")
FINANCIAL_INDUSTRIES = ("bank", "broker", "insurer", "financial", "investment_company")
NO_MEANING: tuple[tuple[tuple[str, ...], tuple[str, ...], str, Rule], ...] = (
    (FINANCIAL_INDUSTRIES, RATIOS, "financial_company", FINANCIAL),
    (FINANCIAL_INDUSTRIES, ("gross_profit",), "no_gross_profit", NO_COST_OF_REVENUE),
    (("captive_finance",), ("debt_to_fcf",), "finance_arm", FINANCE_ARM),
    (("shell",), RATIOS, "shell", SHELL),
)
"""Industries, the items that have no meaning in them, the reason of the gap (warehouse.contract.vocabulary), and the
rule."""
WITHOUT_MEANING = pl.DataFrame(
    [
        {"industry": industry, "item": item, "reason": reason, "rule": rule.id}
        for industries, items, reason, rule in NO_MEANING
        for industry in industries
        for item in items
    ]
)
"""The rows of NO_MEANING, one for each industry and item: `industry`, `item`, `reason`, `rule`."""


def without_meaning() -> pl.DataFrame:
    """The rows of WITHOUT_MEANING, without the rows of switched-off rules."""
    decided = [rule.where(pl.col("rule") == rule.id) for *_, rule in NO_MEANING]
    return WITHOUT_MEANING.filter(pl.any_horizontal(decided))


def industries(facts: pl.DataFrame, registrants: pl.DataFrame | None = None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Find the industry of the filer at each filing.

    Args:
        facts: typed facts in the order of filing (reports.in_filing_order).
        registrants: `cik`, `sic` (four digits, empty if EDGAR has none); None without submissions.

    Returns:
        `cik`, `seq`, `industry`, `rule`, sorted by `cik` and `seq`; and the filings that each rule decided
        (frames.DECISIONS).
    """
    filings, row = deciding_rows(facts, registrants)
    found = filings.select("cik", "seq").hstack(_ROWS[row])
    return found, found.group_by("cik", "rule").agg(figures=pl.len()).cast(DECISIONS)


def deciding_rows(facts: pl.DataFrame, registrants: pl.DataFrame | None) -> tuple[pl.DataFrame, Ints]:
    """The filings, and for each of them the number of the first row of the table that applies to it."""
    filings = facts.select("cik", "seq", "filed").unique(["cik", "seq"], keep="first").sort("cik", "seq")
    used = _used(facts, filings).astype(np.float32)
    holds = _BY_CODE[_codes(filings, registrants)] & [BY_ID[row.rule].where(condition=True) for row in TABLE]
    holds &= used @ _USES >= _AT_LEAST
    holds &= used @ _UNLESS == 0
    return filings, holds.argmax(axis=1)


def newest(of_industry: pl.DataFrame) -> pl.DataFrame:
    """The industry at the newest filing: `cik`, `industry`."""
    return of_industry.sort("cik", "seq").group_by("cik", maintain_order=True).agg(pl.col("industry").last())


_TAGS = tuple(name.rpartition(":")[2] for name in INDICATORS)
_ROWS = pl.DataFrame({"industry": [row.industry for row in TABLE], "rule": [row.rule for row in TABLE]})
_AT_LEAST = np.array([row.at_least for row in TABLE])


def _members(groups: list[tuple[str, ...]]) -> np.ndarray:
    """A matrix of indicators by groups: 1 where the indicator is in the group."""
    return np.array([[name in group for group in groups] for name in INDICATORS], dtype=np.float32)


_USES, _UNLESS = _members([row.uses for row in TABLE]), _members([row.unless for row in TABLE])


def _by_code(row: IndustryRow) -> Flags:
    """For each SIC code, whether a row of the table applies to it."""
    found = np.zeros(LARGEST_CODE + 1, dtype=np.bool_)
    for span in row.codes:
        low, _, high = span.partition("-")
        found[int(low) : int(high or low) + 1] = True
    return found


_BY_CODE: Flags = np.stack([_by_code(row) for row in TABLE], axis=1)


def _used(facts: pl.DataFrame, filings: pl.DataFrame) -> Flags:
    """A matrix of filings by indicators: whether the filing, or one of the year before it, uses the indicator."""
    places = filings.select("cik", "seq").with_row_index("row")
    shown = facts.filter(pl.col("tag").is_in(_TAGS)).join(places, on=["cik", "seq"])
    row = ints(shown, "row")
    newest = np.full((filings.height, len(_TAGS)), -1)
    newest[row, shown["tag"].cast(pl.Enum(_TAGS)).to_physical().to_numpy()] = row
    # the newest filing so far that uses an indicator; it may be another company's, which is excluded below
    newest = np.maximum.accumulate(newest, axis=0)
    is_own = newest >= first_row(starts(ints(filings, "cik")))[:, None]
    filed = filings["filed"].to_physical().to_numpy()
    is_recent: Flags = filed[:, None] - filed[newest] <= LOOKS_BACK_DAYS
    return is_own & is_recent


def _codes(filings: pl.DataFrame, registrants: pl.DataFrame | None) -> Ints:
    """The SIC code of each filing's filer; 0 if it is not known."""
    if registrants is None:
        return np.zeros(filings.height, dtype=np.int64)
    codes = registrants.select(pl.col("cik").cast(pl.Int64), code=pl.col("sic").cast(pl.Int32, strict=False))
    of_filing = filings.join(codes.unique("cik"), on="cik", how="left", maintain_order="left")
    return ints(of_filing.with_columns(pl.col("code").clip(0, LARGEST_CODE).fill_null(0)), "code")
