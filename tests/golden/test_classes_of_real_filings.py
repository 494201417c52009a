"""Berkshire Hathaway's classes of stock, as its filings state them: the 10-K of 2009, and a 10-Q of 2026.

Belongs here: values by class from a real data set and from real facts of a filing. Does not: the shapes of other filers
(unit/test_classes).
"""

import csv
from datetime import date
from itertools import count

import polars as pl
import polars.selectors as cs
import pytest

from pipelines.edgar.decode.data_sets import read_data_set
from pipelines.edgar.filing.package import read_package
from pipelines.normalize.classes.series import BY_CLASS, CLASS
from pipelines.normalize.elements import wanted_elements
from pipelines.normalize.faces.facts import FACT_COLUMNS, LINE_COLUMNS, Filed
from pipelines.normalize.facts.raw import RAW_SCHEMA
from pipelines.normalize.pipeline import Standardized, standardize
from pipelines.stages.batch.schemas import COVER_SYMBOLS
from pipelines.stages.filed.filed_digests import FACTS, LINES, Tables
from pipelines.stages.filed.filed_rows import of_data_set, of_packages
from tests.filing_packages import context, document, element, member
from tests.golden.test_data_sets_of_real_quarters import BERKSHIRE, SHARED, quarter

CLASS_FACTS = SHARED / "filings" / "CIK0001067983" / "0001193125-26-341032" / "class-facts.tsv"
IN_A, IN_B = "CommonClassAMember", "CommonClassBMember"
UNITS = {
    "shares": element("xbrli:measure", "xbrli:shares"),
    "USD/shares": element(
        "xbrli:divide",
        element("xbrli:unitNumerator", element("xbrli:measure", "iso4217:USD")),
        element("xbrli:unitDenominator", element("xbrli:measure", "xbrli:shares")),
    ),
}
SYMBOLS = {"CommonClassAMember": "BRK.A", "CommonClassBMember": "BRK.B"}


def standardized(rows: Tables, filings: pl.DataFrame) -> Standardized:
    """The values to which filings alone lead."""
    facts, lines = (rows[name].with_columns(cs.categorical().cast(pl.String)) for name in (FACTS, LINES))
    used = [tag for tags in wanted_elements().values() for tag in tags]
    whole = facts.filter(~pl.col("own"), pl.col("member").is_null(), pl.col("element").is_in(used))
    by_class = facts.filter(~pl.col("own"), pl.col("member").is_not_null(), pl.col("element").is_in([*BY_CLASS]))
    covers = {"covers": rows[COVER_SYMBOLS]} if COVER_SYMBOLS in rows else {}
    facts_of = (whole.select(FACT_COLUMNS), lines.select(LINE_COLUMNS), filings, by_class.select(FACT_COLUMNS))
    return standardize(RAW_SCHEMA.to_frame(), filed=Filed(*facts_of, **covers))


def test_a_report_after_a_split_of_class_b_states_both_classes_on_the_new_basis() -> None:
    """The 10-K of 2009 was filed after the split of January 2010, which rescales neither class."""
    data = read_data_set(quarter("2010q1"), "2010q1", [BERKSHIRE])
    filings = data.filings.select(pl.col("cik", "accession", "form").cast(pl.String), "filed")
    found = standardized(of_data_set(data), filings)
    of_year = (pl.col("item") == "eps_basic") & (pl.col("period_end") == date(2009, 12, 31))
    earned = found.versions.filter(of_year, pl.col(CLASS) != "")
    assert dict(earned.select(CLASS, "value").iter_rows()) == {IN_A: 5193.0, IN_B: 3.46}
    assert found.splits.is_empty()


def instance() -> bytes:
    """The facts of the 10-Q by class, with the symbols of its cover."""
    numbers = count()
    parts = [element("xbrli:unit", UNITS[unit], id=unit.replace("/", "-")) for unit in UNITS]
    with CLASS_FACTS.open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            name = f"c{next(numbers)}"
            dates = (row["start"], row["end"]) if row["start"] else (row["end"],)
            taxonomy = "dei" if row["element"].startswith("Entity") else "us-gaap"
            of_class = member(f"us-gaap:{row['axis']}", f"us-gaap:{row['member']}")
            parts.append(context(name, dates, of_class, BERKSHIRE))
            unit = row["unit"].replace("/", "-")
            stated = {"contextRef": name, "unitRef": unit, "decimals": row["decimals"]}
            parts.append(element(f"{taxonomy}:{row['element']}", row["value"], **stated))
            if row["member"] in SYMBOLS:
                parts.append(element("dei:TradingSymbol", SYMBOLS[row["member"]], contextRef=name))
    return document("xbrli:xbrl", *parts)


@pytest.mark.skipif(not CLASS_FACTS.exists(), reason="real filings are missing: ../shared/filings")
def test_the_equivalents_of_each_class_are_its_counts() -> None:
    """Members of the cover and of the income statement are named differently; both say the letter of the class."""
    accession = CLASS_FACTS.parent.name
    package = read_package({"brk-20260630_htm.xml": instance()}, BERKSHIRE, accession)
    report = {"cik": [BERKSHIRE], "accession": [accession], "form": ["10-Q"], "filed": [date(2026, 8, 3)]}
    rows = of_packages([package])
    money = (
        rows[FACTS]
        .head(1)
        .with_columns(
            pl.lit("NetIncomeLoss").cast(pl.Categorical).alias("element"),
            pl.lit("USD").cast(pl.Categorical).alias("unit"),
            pl.lit(None, pl.Categorical).alias("member"),
            pl.lit(date(2026, 4, 1)).alias("start"),
            pl.lit(date(2026, 6, 30)).alias("end"),
            pl.lit(25_667e6).alias("value"),
            pl.lit("us-gaap").cast(pl.Categorical).alias("taxonomy"),
        )
    )
    found = standardized(rows | {FACTS: pl.concat([rows[FACTS], money])}, pl.DataFrame(report))
    counts = found.latest_shares.filter(pl.col(CLASS) != "").select(CLASS, "shares_basic")
    assert dict(counts.iter_rows()) == {IN_A: 1_436_443, IN_B: 2_154_664_073}
    assert set(found.classes.select(CLASS, "symbol").iter_rows()) == {(IN_A, "BRKA"), (IN_B, "BRKB")}
