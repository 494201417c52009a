"""The lines of investing and financing activities in the cash flow statement: reviewed rows of cash_flow_lines.csv.

Belongs here: reading and checking the table. Does not: which of the lines a filing states (derived), the sources of
operating cash flow and capital expenditure (cash_flow).

Columns of the table:

- `section`: the total to which the line belongs, one of SECTIONS.
- `element`: of the US GAAP taxonomy.
- `sign`: 1 for a receipt and for a net amount that is positive when cash comes in, -1 for a payment.
- `class`: `dividend` for dividends on common stock, `borrowing` for debt that is taken up or repaid, and for its costs;
  otherwise `line`.
"""

import csv
from pathlib import Path

import polars as pl

INVESTING, FINANCING = "investing", "financing"
SECTIONS = {
    INVESTING: "NetCashProvidedByUsedInInvestingActivities",
    FINANCING: "NetCashProvidedByUsedInFinancingActivities",
}
"""The sections of the table, and the element of each total."""

DIVIDEND, BORROWING, LINE = "dividend", "borrowing", "line"


def _read() -> pl.DataFrame:
    with Path(__file__).with_name("cash_flow_lines.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    seen: set[tuple[str, str]] = set()
    for row in rows:
        if (
            row["section"] not in SECTIONS
            or row["sign"] not in ("1", "-1")
            or row["class"] not in (DIVIDEND, BORROWING, LINE)
        ):
            raise ValueError(f"cash_flow_lines.csv: {row} has an unknown section, sign or class")
        if (key := (row["section"], row["element"])) in seen:
            raise ValueError(f"cash_flow_lines.csv: {row['element']} comes twice among {row['section']}")
        seen.add(key)
    return pl.DataFrame(rows).select(
        "section",
        tag="element",
        sign=pl.col("sign").cast(pl.Float64),
        is_dividend=pl.col("class") == DIVIDEND,
        is_borrowing=pl.col("class") == BORROWING,
    )


LINES = _read()
"""`section`, `tag`, `sign`, `is_dividend`, `is_borrowing`: one row a line."""

ELEMENTS: frozenset[str] = frozenset((*LINES["tag"], *SECTIONS.values()))
