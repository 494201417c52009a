"""Which lines of a balance sheet without current and non-current parts are its debt.

Belongs here: how the liabilities themselves tell which instruments add up, and what stands where they do not.
Does not: elements (concepts.loans), classified balance sheets (balances).

Banks, insurers, brokers and property companies show borrowings by instrument. One filer's `OtherBorrowings` is the sum
of the advances and notes that it tags as well, another's is a line beside them. The balance sheet foots, so the lines
that fill what deposits, payables and the like leave of the liabilities are the debt.
"""

from collections.abc import Iterable, Iterator, Sequence

import polars as pl

from pipelines.normalize.elements.loans import LIABILITIES_NOT_DEBT

SAME = 0.001
"""Two lines within a tenth of a per cent are the same money under two tags."""
UNITS = 3
"""Amounts that are each rounded to a unit may miss their total by a few."""
ROOM = 1.02
"""What the liabilities leave may be short of the debt by so much where a payable is stated twice."""

WHOLE, ADVANCES, SUBORDINATED, JUNIOR = "debt_long_term", "debt_advances", "debt_subordinated", "debt_junior"
NOTES, OTHER, SHORT, CREDIT_LINE = "debt_notes", "debt_other", "debt_short_term", "debt_credit_line"
SECURED, UNSECURED, BANK_LOANS, REVOLVER = "debt_secured", "debt_unsecured", "debt_bank_loans", "debt_revolver"
INSTRUMENTS = (ADVANCES, SUBORDINATED, JUNIOR, NOTES, SECURED, UNSECURED, BANK_LOANS, REVOLVER, OTHER)
LOANS = (WHOLE, *INSTRUMENTS, SHORT, CREDIT_LINE)
TOTALS = {OTHER: (ADVANCES, SUBORDINATED, JUNIOR, NOTES), NOTES: (SECURED, UNSECURED, BANK_LOANS, REVOLVER)}
"""Lines that some tag beside the lines that they are the sum of."""
HARDLY_ALL = (SUBORDINATED, JUNIOR, REVOLVER)
"""Notes that a bank issues for its capital, and what a property company draws between two mortgages."""

LIABILITIES, NOT_BORROWED = "liabilities", "not_borrowed"
OTHERS = tuple(concept.name for concept in LIABILITIES_NOT_DEBT)

SHEET = ["cik", "q", "seq"]


def instruments(sheets: pl.DataFrame) -> pl.DataFrame:
    """The lines that are the debt: `cik`, `q`, `seq`, `lines` (list of concepts); no row where nothing tells.

    First the lines that fill what is left of the liabilities, but for rounding: where nothing is left and no line is
    there, there is no debt.
    Else the largest sum of lines that are not the same money: no two of one amount, nothing beside a total that it is
    a part of, no more than the liabilities have room for; drawn credit lines only where the liabilities prove them.
    Else the lines that are filed as nothing.

    Args:
        sheets: of balances.balance_sheets.
    """
    values = sheets.select(
        *SHEET,
        *(_amount(line) for line in (*LOANS, LIABILITIES, NOT_BORROWED, *OTHERS)),
        left=pl.col(f"value_{LIABILITIES}") + pl.col(f"value_{NOT_BORROWED}").fill_null(0.0),
        unit=pl.min_horizontal(f"grain_{LIABILITIES}", f"grain_{NOT_BORROWED}"),
    )
    sums = _parts(values, LOANS).with_columns(
        largest_hard=pl.max_horizontal(pl.col(line) for line in LOANS if line != CREDIT_LINE).fill_null(0.0)
    )
    missed = (pl.col("sum") - pl.col("amount")).abs()
    proven = (
        sums.filter((pl.col("sum") > 0) | (pl.col("largest_hard") == 0))
        .sort("sum")
        .join_asof(
            _left(values), left_on="sum", right_on="amount", by=SHEET, strategy="nearest", check_sortedness=False
        )
        .filter(pl.when(pl.col("sum") > 0).then(missed <= UNITS * pl.col("unit")).otherwise(missed == 0))
        .with_columns(lines=pl.when(pl.col("sum") > 0).then("lines").otherwise("proof"), order=pl.lit(0))
    )
    likely = sums.filter(_adds_up()).with_columns(order=pl.lit(1))
    columns = [*SHEET, "lines", "sum", "order"]
    filed_as_nothing = _filed_as_nothing(values).with_columns(sum=pl.lit(0.0), order=pl.lit(2))
    found = pl.concat([frame.select(columns) for frame in (proven, likely, filed_as_nothing)])
    best = found.sort(*SHEET, "order", -pl.col("sum"), pl.col("lines").list.len(), pl.col("lines").list.join("+"))
    return best.unique(SHEET, keep="first", maintain_order=True).select(*SHEET, "lines")


def _amount(line: str) -> pl.Expr:
    return pl.col(f"value_{line}").alias(line)


def _parts(values: pl.DataFrame, lines: Sequence[str]) -> pl.DataFrame:
    """Each sheet with every part of its lines that are not nothing: `part` (bits), `lines`, `sum`."""
    present = pl.sum_horizontal(
        pl.when(pl.col(line).fill_null(0.0) != 0).then(1 << bit).otherwise(0) for bit, line in enumerate(lines)
    ).cast(pl.Int64)
    marked = values.with_columns(present=present)
    parts = _parts_of(marked["present"].unique().sort(), lines)
    total = pl.sum_horizontal(
        pl.when((pl.col("part") & (1 << bit)) != 0).then(pl.col(line)).otherwise(0.0) for bit, line in enumerate(lines)
    )
    return marked.join(parts, on="present", maintain_order="left").with_columns(sum=total)


def _parts_of(sets: Iterable[int], lines: Sequence[str]) -> pl.DataFrame:
    rows = [
        (chosen, part, [line for bit, line in enumerate(lines) if part & (1 << bit)])
        for chosen in sets
        for part in _subsets(chosen)
    ]
    return pl.DataFrame(rows, schema={"present": pl.Int64, "part": pl.Int64, "lines": pl.List(pl.String)}, orient="row")


def _subsets(chosen: int) -> Iterator[int]:
    """Every set of bits within `chosen`, the empty one last."""
    part = chosen
    while part:
        yield part
        part = (part - 1) & chosen
    yield 0


def _left(values: pl.DataFrame) -> pl.DataFrame:
    """What may be left of the liabilities: `cik`, `q`, `seq`, `amount`, and `proof`, the lines that leave it."""
    known = _parts(values.drop_nulls(["left", NOT_BORROWED]), OTHERS)
    return (
        known.select(
            *SHEET,
            amount=(pl.col("left") + pl.col("sum")).round(),
            proof=pl.concat_list(pl.lit([LIABILITIES, NOT_BORROWED]), "lines"),
        )
        .unique([*SHEET, "amount"], keep="last", maintain_order=True)
        .sort("amount")
    )


def _adds_up() -> pl.Expr:
    """Whether the lines of a part are different money, and all that is known of the debt."""

    def has(line: str) -> pl.Expr:
        return pl.col("lines").list.contains(line)

    def same(one: pl.Expr, other: pl.Expr) -> pl.Expr:
        return ((one - other).abs() <= SAME * other.abs()).fill_null(value=False)

    twice = [
        has(one) & has(other) & same(pl.col(one), pl.col(other))
        for number, one in enumerate(LOANS)
        for other in LOANS[number + 1 :]
    ]
    total_beside_parts = [
        has(total)
        & pl.any_horizontal(has(line) for line in part)
        & same(pl.col(total), pl.sum_horizontal(part, ignore_nulls=False))
        for total, lines in TOTALS.items()
        for part in (_named(subset, lines) for subset in _subsets((1 << len(lines)) - 1))
        if len(part) > 1
    ]
    within_whole = [has(WHOLE) & has(line) for line in INSTRUMENTS if line != ADVANCES]
    advances_within = has(WHOLE) & has(ADVANCES) & (pl.col(ADVANCES) <= pl.col(WHOLE))
    room = pl.when(pl.col("lines").list.len() > 1).then(pl.col("left") * ROOM).otherwise(pl.col(LIABILITIES))
    too_much = (pl.col("sum") > room).fill_null(value=False)
    is_hardly_all = pl.col("lines").list.eval(pl.element().is_in(HARDLY_ALL)).list.all()
    wrong = [*twice, *total_beside_parts, *within_whole, advances_within, too_much, is_hardly_all, has(CREDIT_LINE)]
    return (pl.col("part") != 0) & ~pl.any_horizontal(wrong)


def _named(part: int, lines: Sequence[str]) -> list[str]:
    return [line for bit, line in enumerate(lines) if part & (1 << bit)]


def _filed_as_nothing(values: pl.DataFrame) -> pl.DataFrame:
    """The sheets all of whose loans are filed as nothing: `cik`, `q`, `seq`, `lines`."""
    hard = [line for line in LOANS if line not in (CREDIT_LINE, *HARDLY_ALL)]
    nothing = pl.all_horizontal(pl.col(line).fill_null(0.0) == 0 for line in LOANS)
    zeros = pl.concat_list(pl.when(pl.col(line) == 0).then(pl.lit(line)) for line in hard).list.drop_nulls()
    return values.filter(nothing).select(*SHEET, lines=zeros).filter(pl.col("lines").list.len() > 0)
