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

from pathlib import Path

import polars as pl

INVESTING, FINANCING = "investing", "financing"
SECTIONS = {
    INVESTING: "NetCashProvidedByUsedInInvestingActivities",
    FINANCING: "NetCashProvidedByUsedInFinancingActivities",
}
"""The sections of the table, and the element of each total."""

DIVIDEND, BORROWING, LINE = "dividend", "borrowing", "line"


_ROWS = pl.read_csv(Path(__file__).with_name("cash_flow_lines.csv"), infer_schema=False)
_IS_KNOWN = pl.all_horizontal(
    pl.col("section").is_in(list(SECTIONS)),
    pl.col("sign").is_in(["1", "-1"]),
    pl.col("class").is_in([DIVIDEND, BORROWING, LINE]),
).fill_null(value=False)
if _WRONG := _ROWS.filter(~_IS_KNOWN | pl.struct("section", "element").is_duplicated()).rows():
    raise ValueError(f"cash_flow_lines.csv: {_WRONG} come twice, or have an unknown section, sign or class")

LINES = _ROWS.select(
    "section",
    tag="element",
    sign=pl.col("sign").cast(pl.Float64),
    is_dividend=pl.col("class") == DIVIDEND,
    is_borrowing=pl.col("class") == BORROWING,
)
"""`section`, `tag`, `sign`, `is_dividend`, `is_borrowing`: one row a line."""

ELEMENTS: frozenset[str] = frozenset((*LINES["tag"], *SECTIONS.values()))
