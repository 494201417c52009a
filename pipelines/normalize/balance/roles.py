"""What a line of a balance sheet is, where its element says another: one name stands for two amounts in practice.

Belongs here: which line stands in for which, and which is beside another and no part of it. Does not: which elements
state a line (concepts), how lines add up (balances).

The sheets are those of balances.balance_sheets: `<field>_<line>` for each of FIELDS.
"""

import polars as pl

from pipelines.normalize.balance.footing import within_current_assets, within_noncurrent_liabilities
from pipelines.normalize.balance.instruments import SAME

FIELDS = ("value", "vintage", "grain", "signature")

TOTAL = 0.01
"""A total that is further from its parts than this contradicts them."""

SECURITIES, ANY_TERM = "short_term_investments", "securities_of_any_term"
SHORT, TOLD, NOTES = "debt_short_term", "debt_short_term_told", "debt_notes_current"
NONCURRENT, WHOLE, ALL_NOTES = "debt_noncurrent", "debt_long_term", "debt_notes"
PRINCIPAL = "debt_principal"
BESIDE, DUE, DUE_BESIDE = "debt_noncurrent_beside", "debt_current_maturities", "debt_current_beside"


def in_their_roles(sheets: pl.DataFrame) -> pl.DataFrame:
    """The sheets, with each line that stands in for another in its place."""
    sheets = _standing_in(sheets, _are_current(ANY_TERM), ANY_TERM, SECURITIES)
    sheets = _standing_in(sheets, _short_term_has_what_is_due(), TOLD, SHORT)
    sheets = _standing_in(sheets, _notes_are_short_term(), NOTES, SHORT)
    sheets = _standing_in(sheets, _is_noncurrent(ALL_NOTES) & value(WHOLE).is_null(), ALL_NOTES, NONCURRENT)
    sheets = _standing_in(sheets, _is_whole(ALL_NOTES), ALL_NOTES, WHOLE)
    return _standing_in(sheets, _is_noncurrent(WHOLE), WHOLE, NONCURRENT)


def with_lines_beside(lines: pl.Expr) -> pl.Expr:
    """The lines that add up, with those beside long-term debt and beside its maturities."""
    for line, other, holds in ((BESIDE, NONCURRENT, _is_beside()), (DUE_BESIDE, DUE, _is_due_beside())):
        adds = holds & lines.list.contains(other)
        lines = pl.when(adds).then(pl.concat_list(lines, pl.lit([line]))).otherwise(lines)
    return lines


def value(line: str) -> pl.Expr:
    """The amount of a line, null where it is not there."""
    return pl.col(f"value_{line}")


def or_nothing(line: str) -> pl.Expr:
    """The amount of a line, zero where it is not there."""
    return value(line).fill_null(0.0)


def same(one: pl.Expr, other: pl.Expr, within: float = SAME) -> pl.Expr:
    """Whether two amounts are the same money; false where one is not there."""
    return ((one - other).abs() <= within * other.abs()).fill_null(value=False)


def _standing_in(sheets: pl.DataFrame, holds: pl.Expr, line: str, other: str) -> pl.DataFrame:
    """The sheets where a line is another one than its element says."""
    marked = sheets.with_columns(stands_in=holds.fill_null(value=False))
    return marked.with_columns(
        pl.when("stands_in").then(f"{field}_{line}").otherwise(f"{field}_{other}").alias(f"{field}_{other}")
        for field in FIELDS
    ).drop("stands_in")


def _are_current(line: str) -> pl.Expr:
    """Whether securities of any term are the current line beside the cash, as the current assets foot."""
    foots = within_current_assets(value("cash") + value(line)) & ~within_current_assets(value("cash"))
    return value(SECURITIES).is_null() & foots


def _short_term_has_what_is_due() -> pl.Expr:
    """Whether short-term borrowings are all that is due: the maturities, and what the notes tell by instrument."""
    return (value(DUE) > 0) & same(value(SHORT), value(DUE) + value(TOLD))


def _notes_are_short_term() -> pl.Expr:
    """Whether current notes payable are a line beside the maturities, and no less than other short-term borrowings.

    Filers show commercial paper and bank loans as notes payable; others tag their maturities so, or name them twice.
    """
    notes, maturities = value(NOTES), value("debt_current_maturities")
    are_maturities = pl.col("signature_debt_current_maturities").str.contains("NotesPayableCurrent", literal=True)
    return ~are_maturities & ~same(notes, maturities, TOTAL) & (notes > or_nothing(SHORT))


def _is_noncurrent(line: str) -> pl.Expr:
    """Whether what should be all long-term debt leaves out the maturities, as it is the line beneath them.

    The liabilities that are not current foot with it, and not with what they leave of it; or, where they do not tell,
    it is less than they are, or lacks them of its principal.
    """
    within = within_noncurrent_liabilities(value(line))
    lacks = ((value(line) < due()) | _lacks_what_is_due()) if line == WHOLE else pl.lit(value=False)
    has_them = within_noncurrent_liabilities(value(line) - due())
    return value(NONCURRENT).is_null() & (due() > 0) & ~has_them & (within | lacks)


def _lacks_what_is_due() -> pl.Expr:
    """Whether all long-term debt misses its principal by what is due, and discounts and costs that are less."""
    missed = value(PRINCIPAL) - value(WHOLE)
    return (missed >= due()) & (missed < 2 * due())


def _is_whole(line: str) -> pl.Expr:
    """Whether a line is all long-term debt with its maturities, as the liabilities that are not current foot."""
    foots = within_noncurrent_liabilities(value(line) - due()) & ~within_noncurrent_liabilities(value(line))
    return value(NONCURRENT).is_null() & value(WHOLE).is_null() & (due() > 0) & foots


def _is_beside() -> pl.Expr:
    """Whether an instrument is a line beside long-term debt and no part of it.

    It is more, or the filer's total is the sum of both, or the liabilities that are not current foot with both alone.
    """
    debt, beside, whole = value(NONCURRENT), value(BESIDE), value(WHOLE)
    is_total = pl.col(f"signature_{NONCURRENT}").str.contains("LongTermDebt", literal=True)
    is_all = same(whole, debt + due().fill_null(0.0), TOTAL) | same(whole, debt, TOTAL)
    adds_up = same(whole, debt + beside + due().fill_null(0.0)) | same(whole, debt + beside)
    foots = within_noncurrent_liabilities(debt + beside) & ~within_noncurrent_liabilities(debt)
    return is_total & (beside > 0) & ~is_all & ((beside > debt * (1 + TOTAL)) | adds_up | foots).fill_null(value=False)


def _is_due_beside() -> pl.Expr:
    """Whether an instrument that is due is a line beside the maturities: it is more than they are, and no other line.

    Where the filer's total is long-term debt with the maturities alone, there is nothing beside them.
    """
    beside, maturities = value(DUE_BESIDE), value(DUE)
    is_total = pl.col(f"signature_{DUE}").str.contains("LongTermDebt", literal=True)
    is_more = (beside > maturities * (1 + TOTAL)) & ~same(beside, value(SHORT), TOTAL)
    is_all = same(value(WHOLE), value(NONCURRENT) + maturities, TOTAL)
    return (is_total & is_more & ~is_all).fill_null(value=False)


def due() -> pl.Expr:
    """Debt that is due within a year, of long term where that is told."""
    return pl.coalesce(value("debt_current_maturities"), value("debt_current"))
