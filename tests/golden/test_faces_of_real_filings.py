"""Values from the faces of real filings, without companyfacts: judged values of 125 packages, and Berkshire's blocks.

Belongs here: how many of the judged values of `faces.csv` are right. Does not: rows of the packages themselves
(test_packages_of_real_filings), the rules on small documents (unit/test_faces).
"""

import csv
from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import date, timedelta

import polars as pl
import polars.selectors as cs
import pytest

from pipelines.edgar.decode.data_sets import read_data_set
from pipelines.normalize.elements import wanted_elements
from pipelines.normalize.faces.facts import FACT_COLUMNS, LINE_COLUMNS, Filed
from pipelines.normalize.facts.raw import RAW_SCHEMA
from pipelines.normalize.pipeline import Standardized, standardize
from pipelines.stages.filed.filed_digests import FACTS, LINES
from pipelines.stages.filed.filed_rows import of_data_set, of_packages
from tests.golden.test_data_sets_of_real_quarters import BERKSHIRE, quarter
from tests.golden.test_packages_of_real_filings import FILINGS

pytestmark = pytest.mark.skipif(not FILINGS.is_dir(), reason="real filings are missing: ../shared/filings")

LEAST = {
    "total_debt": 0.99,
    "cash_and_equivalents": 0.99,
    "eps_basic": 0.99,
    "shares_basic": 0.99,
    "shares_diluted": 0.99,
    "revenue": 0.99,
    "net_income": 0.99,
}
"""The least share of the judged values of each item that is right."""
AMOUNTS, CENT = ("total_debt", "cash_and_equivalents"), 0.011


def standardized(rows: Mapping[str, pl.DataFrame], filings: pl.DataFrame) -> Standardized:
    """The values to which filings alone lead."""
    facts, lines = (rows[name].with_columns(cs.categorical().cast(pl.String)) for name in (FACTS, LINES))
    used = [tag for tags in wanted_elements().values() for tag in tags]
    whole = facts.filter(~pl.col("own"), pl.col("member").is_null(), pl.col("element").is_in(used))
    filed = Filed(whole.select(FACT_COLUMNS), lines.select(LINE_COLUMNS), filings)
    return standardize(RAW_SCHEMA.to_frame(), filed=filed)


@pytest.fixture(scope="module")
def judged() -> list[dict[str, str]]:
    """The judged values of filings that have a package, of the company as a whole and of twelve months."""
    with (FILINGS / "faces.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["package"] == "yes" and not row["class_member"]]
    return [row for row in rows if row["item"] in AMOUNTS or "months=12" in row["note"]]


@pytest.fixture(scope="module")
def found(judged, packages) -> dict[tuple[str, str], list[tuple[date, float]]]:
    """The values of each company without splits, and item; each filing is of two months after its newest period."""
    ends = {row["folder"]: row for row in sorted(judged, key=lambda row: row["period_end"])}
    packages = {name: package for name, package in packages.items() if name in ends}
    filings = pl.DataFrame(
        [
            (
                package.cik,
                f"{package.cik}-{package.accession}",
                ends[name]["form"].replace("?", "10-K"),
                date.fromisoformat(ends[name]["period_end"]) + timedelta(60),
            )
            for name, package in packages.items()
        ],
        schema={"cik": pl.String, "accession": pl.String, "form": pl.String, "filed": pl.Date},
        orient="row",
    )
    values = defaultdict(list)
    # the name of a folder is no accession number: several companies have the same
    of_each = [of_packages([package]) for package in packages.values()]
    named = pl.concat_str("cik", pl.lit("-"), pl.col("accession").cast(pl.String)).alias("accession")
    rows = {name: pl.concat(rows[name] for rows in of_each).with_columns(named) for name in (FACTS, LINES)}
    of_all = standardized(rows, filings)
    # values before a split are on the basis of after it
    stated = of_all.versions.join(of_all.splits, on="cik", how="anti").drop_nulls("value")
    for cik, item, end, value in stated.select("cik", "item", "period_end", "value").iter_rows():
        values[cik, item].append((end, value))
    return values


def test_judged_values_of_faces_are_right(judged, found):
    """Without companyfacts and other filings of the company, by item."""
    rows, right = Counter(), Counter()
    items = {row["item"] for row in judged}
    days = {(cik, end) for (cik, item), values in found.items() if item in items for end, _ in values}
    for row in judged:
        of_company = found.get((row["cik"], row["item"]), [])
        if (row["cik"], date.fromisoformat(row["period_end"])) not in days:
            continue  # of no fiscal period
        end, truth = date.fromisoformat(row["period_end"]), float(row["value"])
        most = max(0.005 * abs(truth), CENT if row["item"] == "eps_basic" else 0)
        rows[row["item"]] += 1
        right[row["item"]] += any(
            abs((day - end).days) <= 10 and abs(value - truth) <= most for day, value in of_company
        )
    shares = {item: right[item] / rows[item] for item in LEAST}
    assert {item: share for item, share in shares.items() if share < LEAST[item]} == {}, (shares, rows)


def test_blocks_of_a_balance_sheet_add_up():
    """Berkshire at the end of 2009: notes payable of three blocks, and the cash of all."""
    data = read_data_set(quarter("2010q1"), "2010q1", [BERKSHIRE])
    filings = data.filings.select(pl.col("cik", "accession", "form").cast(pl.String), "filed")
    values = standardized(of_data_set(data), filings).versions
    of_year = values.filter(pl.col("period_end") == date(2009, 12, 31))
    known = dict(of_year.select("item", pl.col("value") / 1e6).iter_rows())
    assert (known["total_debt"], known["cash_and_equivalents"]) == (37_909, 30_558)
