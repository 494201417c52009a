"""Balance sheet amounts, composed within one filing so that nothing counts twice.

Belongs here: how the lines of one balance sheet make total debt and cash, and which later filing may restate it.
Does not: which elements state a line (concepts), debt by instrument (borrowings), lines that are missed (vanished), or
where an instant lies on the grid (calendar).
"""

import polars as pl

from pipelines.normalize import borrowings
from pipelines.normalize.borrowings import SAME, SHEET
from pipelines.normalize.concepts import ITEM_CONCEPTS
from pipelines.normalize.footing import within_current_assets, within_noncurrent_liabilities

DEBT_LINES, CASH_LINES = (
    tuple(concept.name for concept in ITEM_CONCEPTS[item]) for item in ("total_debt", "cash_and_equivalents")
)

TOTAL = 0.01
"""A total that is further from its parts than this contradicts them."""
CONTRADICTED = "total_contradicts_parts"

SECURITIES, ANY_TERM = "short_term_investments", "securities_of_any_term"
SHORT, NOTES = "debt_short_term", "debt_notes_current"
NONCURRENT, WHOLE, ALL_NOTES = "debt_noncurrent", "debt_long_term", "debt_notes"
BESIDE, DUE, DUE_BESIDE = "debt_noncurrent_beside", "debt_current_maturities", "debt_current_beside"
SHORT_DEBT = [SHORT, "debt_current", DUE, DUE_BESIDE]
FIELDS = ("value", "vintage", "grain", "signature")


def balance_sheets(placed: pl.DataFrame) -> pl.DataFrame:
    """One row a filing and instant (`cik`, `q`, `seq`), with FIELDS of each line as `<field>_<line>`.

    Args:
        placed: instants on the grid (calendar.on_grid).
    """
    lines = placed.filter(pl.col("n") == 0).sort(*SHEET, "concept", "rank", "end")
    sheets = lines.group_by(SHEET, maintain_order=True).agg(
        pl.col("filed", "amended", "regime").first(),
        *(
            pl.col(field).filter(pl.col("concept") == line).first().alias(f"{field}_{line}")
            for line in (*DEBT_LINES, *CASH_LINES)
            for field in FIELDS
        ),
    )
    sheets = _standing_in(sheets, _are_current(ANY_TERM), ANY_TERM, SECURITIES)
    sheets = _standing_in(sheets, _notes_are_short_term(), NOTES, SHORT)
    sheets = _standing_in(sheets, _is_noncurrent(ALL_NOTES) & _value(WHOLE).is_null(), ALL_NOTES, NONCURRENT)
    sheets = _standing_in(sheets, _is_whole(ALL_NOTES), ALL_NOTES, WHOLE)
    return _standing_in(sheets, _is_noncurrent(WHOLE), WHOLE, NONCURRENT)


def _standing_in(sheets: pl.DataFrame, holds: pl.Expr, line: str, other: str) -> pl.DataFrame:
    """The sheets where a line is another one than its element says."""
    marked = sheets.with_columns(stands_in=holds.fill_null(value=False))
    return marked.with_columns(
        pl.when("stands_in").then(f"{field}_{line}").otherwise(f"{field}_{other}").alias(f"{field}_{other}")
        for field in FIELDS
    ).drop("stands_in")


def _are_current(line: str) -> pl.Expr:
    """Whether securities of any term are the current line beside the cash, as the current assets foot."""
    foots = within_current_assets(_value("cash") + _value(line)) & ~within_current_assets(_value("cash"))
    return _value(SECURITIES).is_null() & foots


def _notes_are_short_term() -> pl.Expr:
    """Whether current notes payable are a line beside the maturities, and no less than other short-term borrowings.

    Filers show commercial paper and bank loans as notes payable; others tag their maturities so, or name them twice.
    """
    notes, maturities = _value(NOTES), _value("debt_current_maturities")
    are_maturities = pl.col("signature_debt_current_maturities").str.contains("NotesPayableCurrent", literal=True)
    return ~are_maturities & ~_same(notes, maturities, TOTAL) & (notes > _or_nothing(SHORT))


def _is_noncurrent(line: str) -> pl.Expr:
    """Whether what should be all long-term debt leaves out the maturities, as it is the line beneath them.

    It is less than they are, or the liabilities that are not current foot with it and not with what they leave of it.
    """
    foots = within_noncurrent_liabilities(_value(line)) & ~within_noncurrent_liabilities(_value(line) - _due())
    is_less = (_value(line) < _due()) if line == WHOLE else pl.lit(value=False)
    return _value(NONCURRENT).is_null() & (_due() > 0) & (is_less | foots)


def _is_whole(line: str) -> pl.Expr:
    """Whether a line is all long-term debt with its maturities, as the liabilities that are not current foot."""
    foots = within_noncurrent_liabilities(_value(line) - _due()) & ~within_noncurrent_liabilities(_value(line))
    return _value(NONCURRENT).is_null() & _value(WHOLE).is_null() & (_due() > 0) & foots


def _is_beside() -> pl.Expr:
    """Whether an instrument is a line beside long-term debt and no part of it.

    It is more, or the filer's total is the sum of both, or the liabilities that are not current foot with both alone.
    """
    debt, beside, whole = _value(NONCURRENT), _value(BESIDE), _value(WHOLE)
    is_total = pl.col(f"signature_{NONCURRENT}").str.contains("LongTermDebt", literal=True)
    is_all = _same(whole, debt + _due().fill_null(0.0), TOTAL) | _same(whole, debt, TOTAL)
    adds_up = _same(whole, debt + beside + _due().fill_null(0.0)) | _same(whole, debt + beside)
    foots = within_noncurrent_liabilities(debt + beside) & ~within_noncurrent_liabilities(debt)
    return is_total & (beside > 0) & ~is_all & ((beside > debt * (1 + TOTAL)) | adds_up | foots).fill_null(value=False)


def _is_due_beside() -> pl.Expr:
    """Whether an instrument that is due is a line beside the maturities: it is more than they are, and no other line.

    Where the filer's total is long-term debt with the maturities alone, there is nothing beside them.
    """
    beside, maturities = _value(DUE_BESIDE), _value(DUE)
    is_total = pl.col(f"signature_{DUE}").str.contains("LongTermDebt", literal=True)
    is_more = (beside > maturities * (1 + TOTAL)) & ~_same(beside, _value(SHORT), TOTAL)
    is_all = _same(_value(WHOLE), _value(NONCURRENT) + maturities, TOTAL)
    return (is_total & is_more & ~is_all).fill_null(value=False)


def _due() -> pl.Expr:
    """Debt that is due within a year, of long term where that is told."""
    return pl.coalesce(_value("debt_current_maturities"), _value("debt_current"))


def _value(line: str) -> pl.Expr:
    return pl.col(f"value_{line}")


def _or_nothing(line: str) -> pl.Expr:
    return _value(line).fill_null(0.0)


def _same(one: pl.Expr, other: pl.Expr, within: float = SAME) -> pl.Expr:
    return ((one - other).abs() <= within * other.abs()).fill_null(value=False)


def total_debt(sheets: pl.DataFrame) -> pl.DataFrame:
    """Interest-bearing borrowings of each balance sheet: `cik`, `q`, `seq`, `value`, `legs` (vintages) and
    `reservation`.

    Non-current debt, current maturities and short-term borrowings; a line that repeats another's amount is left
    out. Totals that include current maturities stand in where the parts are not shown; what is due alone is no debt
    beside notes that are more and may be due later. Where the balance sheet has no
    current and non-current parts, the instruments that its liabilities tell (borrowings). Operating leases, deposits,
    repurchase agreements and trade payables are never in.
    """
    parts = ("debt_noncurrent", "debt_current_maturities", "debt_current")
    is_classified = pl.any_horizontal(_value(line).is_not_null() for line in parts)
    long_term = (_value(line) for line in (NONCURRENT, WHOLE, "debt_all"))
    hides_notes = pl.all_horizontal(line.is_null() for line in long_term) & (_value(ALL_NOTES) > _due())
    tells = ~hides_notes.fill_null(value=False)
    lines = _lines_of_classified()
    for line, other, holds in ((BESIDE, NONCURRENT, _is_beside()), (DUE_BESIDE, DUE, _is_due_beside())):
        adds = holds & lines.list.contains(other)
        lines = pl.when(adds).then(pl.concat_list(lines, pl.lit([line]))).otherwise(lines)
    classified = sheets.filter(is_classified).with_columns(lines=pl.when(tells).then(lines))
    others = sheets.filter(~is_classified)
    told = others.join(borrowings.instruments(others), on=SHEET, how="left", maintain_order="left").with_columns(
        pl.coalesce("lines", pl.when(_value("debt_all").is_not_null()).then(pl.lit(["debt_all"])))
    )
    return _composed(pl.concat([classified, told]), "total_debt", DEBT_LINES, _debt_is_contradicted())


def _lines_of_classified() -> pl.Expr:
    """The lines that add up where current and non-current debt are told apart."""
    maturities, short, current = _value("debt_current_maturities"), _value("debt_short_term"), _value("debt_current")
    short_is_maturities = _same(short, maturities)
    current_is_maturities = _same(current, maturities)
    current_covers = current.is_not_null() & (current >= _or_nothing("debt_current_maturities") * (1 - SAME))
    whole, part = _value("debt_long_term"), _value("debt_noncurrent")
    whole_has_maturities = whole.is_not_null() & maturities.is_null() & current.is_null() & (whole > part * (1 + SAME))
    short_is_rest = _same(short, whole - part)
    rules: tuple[tuple[pl.Expr, list[str]], ...] = (
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
        (maturities.is_not_null(), ["debt_current_maturities", "debt_short_term"]),
    )
    return _first_that_holds(rules)


def cash_and_equivalents(sheets: pl.DataFrame) -> pl.DataFrame:
    """Cash, cash equivalents and short-term investments: columns of total_debt.

    The filer's own total where it is no less than its cash; else cash and the current securities beside it. Where the
    current assets foot without the securities and never with them, they are a part of the cash or of another line.
    """
    total, cash = _value("cash_total"), _value("cash")
    within = within_current_assets(cash) & ~within_current_assets(cash + _value(SECURITIES))
    lines = _first_that_holds(
        (
            (total.is_not_null() & (total >= _or_nothing("cash") * (1 - SAME)), ["cash_total"]),
            (within, ["cash"]),
            (cash.is_not_null(), ["cash", SECURITIES]),
        )
    )
    return _composed(sheets.with_columns(lines=lines), "cash_and_equivalents", CASH_LINES, _cash_is_contradicted())


def _first_that_holds(rules: tuple[tuple[pl.Expr, list[str]], ...]) -> pl.Expr:
    lines = pl.lit(None, pl.List(pl.String))
    for holds, chosen in reversed(rules):
        lines = pl.when(holds).then(pl.lit(chosen)).otherwise(lines)
    return lines


def _composed(sheets: pl.DataFrame, concept: str, lines: tuple[str, ...], is_contradicted: pl.Expr) -> pl.DataFrame:
    """The sum of the `lines` of each sheet, for those that have any; flagged where a total says otherwise."""

    def chosen(field: str) -> list[pl.Expr]:
        return [pl.when(pl.col("lines").list.contains(line)).then(pl.col(f"{field}_{line}")) for line in lines]

    return (
        sheets.drop_nulls("lines")
        .with_columns(value=pl.sum_horizontal(chosen("value")))
        .select(
            *SHEET,
            "filed",
            "amended",
            "regime",
            "value",
            grain=pl.sum_horizontal(chosen("grain")),
            legs=pl.concat_list(chosen("vintage")).list.drop_nulls(),
            signature=pl.concat_str(chosen("signature"), separator="+", ignore_nulls=True),
            reservation=pl.when(is_contradicted).then(pl.lit(CONTRADICTED)),
            concept=pl.lit(concept),
            partial=pl.col("lines").list.set_difference(SHORT_DEBT).list.len() == 0,
        )
        .sort(*SHEET)
    )


def _apart(total: pl.Expr, *told: pl.Expr) -> pl.Expr:
    """Whether a total is there and is none of what the lines tell."""
    return total.is_not_null() & ~pl.any_horizontal(_same(total, each, TOTAL) for each in told)


def _debt_is_contradicted() -> pl.Expr:
    """Whether one of the filer's own totals is neither the debt nor a part of it that is told."""
    value, noncurrent, short = pl.col("value"), _value("debt_noncurrent"), _or_nothing("debt_short_term")
    maturities = _value("debt_current_maturities")
    is_part = pl.col("lines").list.contains("debt_long_term")
    long_term = _apart(_value("debt_long_term"), value, value - short, noncurrent) & ~is_part
    everything = _apart(_value("debt_all"), value, value - short)
    current = _apart(_value("debt_current"), maturities, _value("debt_short_term"), maturities + short)
    return (value != 0) & (long_term | everything | (current & maturities.is_not_null()))


def _cash_is_contradicted() -> pl.Expr:
    cash, securities = _value("cash"), _value(SECURITIES)
    return _apart(_value("cash_total"), cash, cash + securities) & cash.is_not_null() & securities.is_not_null()


def as_first_shown(balances: pl.DataFrame) -> pl.DataFrame:
    """The balances that count as statements of their instant: the first, amendments, and those with the same lines.

    A later filing repeats fewer lines of an old balance sheet than the filing that it belongs to; what it lacks is
    no restatement. Where the first shows short-term debt alone (`partial`), one with long-term debt tells more.
    """
    slot = ["cik", "concept", "q"]
    ordered = balances.sort(*slot, "seq")
    whole = pl.col("signature").filter(~pl.col("partial")).first().over(slot)
    first_lines = pl.coalesce(whole, pl.col("signature").first().over(slot))
    return ordered.filter(
        (pl.col("seq") == pl.col("seq").min().over(slot)) | pl.col("amended") | (pl.col("signature") == first_lines)
    )
