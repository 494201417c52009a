"""Balance sheet amounts, composed within one filing so that nothing counts twice.

Belongs here: how the lines of one balance sheet make total debt and cash, and which later filing may restate it.
Does not: which elements state a line (concepts), or where an instant lies on the grid (calendar).
"""

import polars as pl

SAME = 0.001
"""Two lines within a tenth of a per cent are the same money under two tags."""

DEBT_LINES = (
    "debt_noncurrent",
    "debt_current_maturities",
    "debt_short_term",
    "debt_current",
    "debt_long_term",
    "debt_all",
)
CASH_LINES = ("cash_total", "cash", "short_term_investments")
SHEET = ["cik", "q", "seq"]


def balance_sheets(placed: pl.DataFrame) -> pl.DataFrame:
    """One row a filing and instant (`cik`, `q`, `seq`), with the value, vintage, grain and elements of each line.

    Args:
        placed: instants on the grid (calendar.on_grid).
    """
    lines = placed.filter(pl.col("n") == 0).sort(*SHEET, "concept", "rank", "end")
    return lines.group_by(SHEET, maintain_order=True).agg(
        pl.col("filed", "amended").first(),
        *(
            pl.col(field).filter(pl.col("concept") == line).first().alias(f"{field}_{line}")
            for line in (*DEBT_LINES, *CASH_LINES)
            for field in ("value", "vintage", "grain", "signature")
        ),
    )


def _value(line: str) -> pl.Expr:
    return pl.col(f"value_{line}")


def _or_nothing(line: str) -> pl.Expr:
    return _value(line).fill_null(0.0)


def _same(one: pl.Expr, other: pl.Expr) -> pl.Expr:
    return ((one - other).abs() <= SAME * other.abs()).fill_null(value=False)


def total_debt(sheets: pl.DataFrame) -> pl.DataFrame:
    """Interest-bearing borrowings of each balance sheet: `cik`, `q`, `seq`, `value`, `lines` (concepts used).

    Non-current debt, current maturities and short-term borrowings; a line that repeats another's amount is left
    out. Totals that include current maturities stand in where the parts are not shown. Operating leases, deposits,
    repurchase agreements and trade payables are never in.
    """
    maturities, short, current = _value("debt_current_maturities"), _value("debt_short_term"), _value("debt_current")
    short_is_maturities = _same(short, maturities)
    current_is_maturities = _same(current, maturities)
    current_covers = current.is_not_null() & (current >= _or_nothing("debt_current_maturities") * (1 - SAME))
    whole, part = _value("debt_long_term"), _value("debt_noncurrent")
    whole_has_maturities = whole.is_not_null() & maturities.is_null() & current.is_null() & (whole > part * (1 + SAME))
    short_is_rest = _same(short, whole - part)
    rules: list[tuple[pl.Expr, list[str]]] = [
        (part.is_not_null() & whole_has_maturities & short_is_rest, ["debt_long_term"]),
        (part.is_not_null() & whole_has_maturities, ["debt_long_term", "debt_short_term"]),
        (
            part.is_not_null() & current_covers & current_is_maturities & ~short_is_maturities,
            ["debt_noncurrent", "debt_current", "debt_short_term"],
        ),
        (part.is_not_null() & current_covers, ["debt_noncurrent", "debt_current"]),
        (part.is_not_null() & short_is_maturities, ["debt_noncurrent", "debt_current_maturities"]),
        (part.is_not_null(), ["debt_noncurrent", "debt_current_maturities", "debt_short_term"]),
        (whole.is_not_null() & short_is_maturities, ["debt_long_term"]),
        (whole.is_not_null(), ["debt_long_term", "debt_short_term"]),
        (_value("debt_all").is_not_null(), ["debt_all"]),
        (current_covers, ["debt_current"]),
        (short_is_maturities, ["debt_current_maturities"]),
        (maturities.is_not_null() | short.is_not_null(), ["debt_current_maturities", "debt_short_term"]),
    ]
    return _composed(sheets, "total_debt", rules)


def cash_and_equivalents(sheets: pl.DataFrame) -> pl.DataFrame:
    """Cash, cash equivalents and short-term investments: `cik`, `q`, `seq`, `value`, `lines`.

    The filer's own total where it is no less than its cash; else cash and the current securities beside it.
    """
    total, cash = _value("cash_total"), _value("cash")
    rules: list[tuple[pl.Expr, list[str]]] = [
        (total.is_not_null() & (total >= _or_nothing("cash") * (1 - SAME)), ["cash_total"]),
        (cash.is_not_null(), ["cash", "short_term_investments"]),
    ]
    return _composed(sheets, "cash_and_equivalents", rules)


def _composed(sheets: pl.DataFrame, concept: str, rules: list[tuple[pl.Expr, list[str]]]) -> pl.DataFrame:
    """The first rule that holds says which lines add up."""
    chosen = pl.lit(None, pl.Int32)
    for number, (holds, _) in reversed(list(enumerate(rules))):
        chosen = pl.when(holds).then(pl.lit(number, pl.Int32)).otherwise(chosen)
    parts = [
        sheets.with_columns(rule=chosen)
        .filter(pl.col("rule") == number)
        .select(
            *SHEET,
            "filed",
            "amended",
            value=pl.sum_horizontal(_value(line) for line in lines),
            grain=pl.max_horizontal(pl.col(f"grain_{line}") for line in lines),
            legs=pl.concat_list(pl.col(f"vintage_{line}") for line in lines).list.drop_nulls(),
            signature=pl.concat_str([pl.col(f"signature_{line}") for line in lines], separator="+", ignore_nulls=True),
        )
        for number, (_, lines) in enumerate(rules)
    ]
    return pl.concat(parts).with_columns(concept=pl.lit(concept)).sort(*SHEET)


def as_first_shown(balances: pl.DataFrame) -> pl.DataFrame:
    """The balances that count as statements of their instant: the first, amendments, and those with the same lines.

    A later filing repeats fewer lines of an old balance sheet than the filing that it belongs to; what it lacks is
    no restatement.
    """
    slot = ["cik", "concept", "q"]
    ordered = balances.sort(*slot, "seq")
    first_lines = pl.col("signature").first().over(slot)
    return ordered.filter(
        (pl.col("seq") == pl.col("seq").min().over(slot)) | pl.col("amended") | (pl.col("signature") == first_lines)
    )
