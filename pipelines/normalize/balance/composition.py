"""Balance sheet amounts, composed within one filing so that nothing counts twice.

Belongs here: how the lines of one balance sheet make total debt and cash, and which later filing may restate it.
Does not: which elements state a line (concepts), what a line is where its element misleads (roles), debt by instrument
(borrowings), lines that are missed (vanished), or where an instant lies on the grid (calendar).
"""

import polars as pl

from pipelines.normalize.balance import instruments as borrowings
from pipelines.normalize.balance.footing import within_current_assets
from pipelines.normalize.balance.instruments import SAME, SHEET
from pipelines.normalize.balance.roles import (
    ALL_NOTES,
    DUE,
    DUE_BESIDE,
    FIELDS,
    NONCURRENT,
    SECURITIES,
    SHORT,
    TOTAL,
    WHOLE,
    due,
    in_their_roles,
    or_nothing,
    same,
    value,
    with_lines_beside,
)
from pipelines.normalize.elements import AMOUNT, ITEM_CONCEPTS

DEBT_LINES, CASH_LINES = (
    tuple(concept.name for concept in ITEM_CONCEPTS[item]) for item in ("total_debt", "cash_and_equivalents")
)

CONTRADICTED = "total_contradicts_parts"

DISCOUNT = 0.03
"""Principal is more than what is carried by discounts and costs of issue, and hardly by more than this."""

SHORT_DEBT = [SHORT, "debt_current", DUE, DUE_BESIDE]


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
    return in_their_roles(sheets)


def total_debt(sheets: pl.DataFrame) -> pl.DataFrame:
    """Interest-bearing borrowings of each balance sheet: `cik`, `q`, `seq`, `value`, `legs` (vintages) and
    `reservation`.

    Non-current debt, current maturities and short-term borrowings; a line that repeats another's amount is left
    out. Totals that include current maturities stand in where the parts are not shown; what is due alone is no debt
    beside notes that are more and may be due later. Where the balance sheet has no current and non-current parts, the
    instruments that its liabilities tell (borrowings), or the filer's own total, where it has what these lack.
    Operating leases, deposits, repurchase agreements and trade payables are never in.
    """
    parts = ("debt_noncurrent", "debt_current_maturities", "debt_current")
    is_classified = pl.any_horizontal(value(line).is_not_null() for line in parts)
    long_term = (value(line) for line in (NONCURRENT, WHOLE, "debt_all"))
    hides_notes = pl.all_horizontal(line.is_null() for line in long_term) & (value(ALL_NOTES) > due())
    tells = ~hides_notes.fill_null(value=False)
    lines = with_lines_beside(_lines_of_classified())
    classified = sheets.filter(is_classified).with_columns(lines=pl.when(tells).then(lines))
    others = sheets.filter(~is_classified)
    told = others.join(borrowings.instruments(others), on=SHEET, how="left", maintain_order="left").with_columns(
        pl.coalesce("lines", pl.when(value("debt_all").is_not_null()).then(pl.lit(["debt_all"])))
    )
    composed = pl.concat([classified, told]).with_columns(
        lines=pl.when(_lack_debt(pl.col("lines"))).then(pl.lit(["debt_all"])).otherwise("lines")
    )
    return _composed(composed, "total_debt", DEBT_LINES, _debt_is_contradicted())


def _lack_debt(lines: pl.Expr) -> pl.Expr:
    """Whether lines from the notes lack debt that the filer's own total has, and the liabilities have room for.

    Where nothing is current on the balance sheet, what is due comes from the notes, without short-term borrowings that
    have no element. A total with leases is more for their sake.
    """
    told = pl.sum_horizontal(pl.when(lines.list.contains(line)).then(value(line)) for line in DEBT_LINES)
    everything, not_borrowed = value("debt_all"), or_nothing("not_borrowed") + or_nothing("not_borrowed_repos")
    has_room = everything <= value("liabilities") + not_borrowed
    from_notes = value("liabilities_current").is_null()
    return (from_notes & ~_has_leases() & (everything > told * (1 + DISCOUNT)) & has_room).fill_null(value=False)


def _has_leases() -> pl.Expr:
    return pl.col("signature_debt_all").str.contains("Lease", literal=True)


def _lines_of_classified() -> pl.Expr:
    """The lines that add up where current and non-current debt are told apart."""
    maturities, short, current = value("debt_current_maturities"), value("debt_short_term"), value("debt_current")
    short_is_maturities = same(short, maturities)
    current_is_maturities = same(current, maturities)
    current_covers = current.is_not_null() & (current >= or_nothing("debt_current_maturities") * (1 - SAME))
    whole, part = value("debt_long_term"), value("debt_noncurrent")
    whole_has_maturities = whole.is_not_null() & maturities.is_null() & current.is_null() & (whole > part * (1 + SAME))
    short_is_rest = same(short, whole - part)
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
        (value("debt_all").is_not_null(), ["debt_all"]),
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
    total, cash = value("cash_total"), value("cash")
    within = within_current_assets(cash) & ~within_current_assets(cash + value(SECURITIES))
    lines = _first_that_holds(
        (
            (total.is_not_null() & (total >= or_nothing("cash") * (1 - SAME)), ["cash_total"]),
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

    told = [(amount != 0).cast(pl.Int32) for amount in chosen("value")]

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
            concept=pl.lit(concept, AMOUNT),
            told=pl.sum_horizontal(told),
            partial=pl.col("lines").list.set_difference(SHORT_DEBT).list.len() == 0,
            tells_all=(pl.col("lines") == ["debt_all"]) & ~_has_leases(),
        )
        .sort(*SHEET)
    )


def _apart(total: pl.Expr, *told: pl.Expr) -> pl.Expr:
    """Whether a total is there and is none of what the lines tell."""
    return total.is_not_null() & ~pl.any_horizontal(same(total, each, TOTAL) for each in told)


def _debt_is_contradicted() -> pl.Expr:
    """Whether one of the filer's own totals is neither the debt nor a part of it that is told."""
    debt, noncurrent, short = pl.col("value"), value("debt_noncurrent"), or_nothing("debt_short_term")
    maturities = value("debt_current_maturities")
    is_part = pl.col("lines").list.contains("debt_long_term")
    long_term = _apart(value("debt_long_term"), debt, debt - short, noncurrent) & ~is_part
    everything = _apart(value("debt_all"), debt, debt - short)
    current = _apart(value("debt_current"), maturities, value("debt_short_term"), maturities + short)
    return (debt != 0) & (long_term | everything | (current & maturities.is_not_null()))


def _cash_is_contradicted() -> pl.Expr:
    cash, securities = value("cash"), value(SECURITIES)
    return _apart(value("cash_total"), cash, cash + securities) & cash.is_not_null() & securities.is_not_null()


def as_first_shown(balances: pl.DataFrame) -> pl.DataFrame:
    """The balances that count as statements of their instant: the first, amendments, and those with the same lines.

    A later filing repeats fewer lines of an old balance sheet than the filing that it belongs to; what it lacks is
    no restatement. Where the first shows short-term debt alone (`partial`), one with long-term debt tells more; so does
    one with the filer's own total (`tells_all`), where it is more than discounts explain; and one that states all its
    elements and more lines of money (`told`): an element of the filer's own hides a line until it is given one of the
    taxonomy. One that states fewer again restates nothing.
    """
    slot = ["cik", "concept", "q"]

    def of_first(name: str) -> pl.Expr:
        whole = pl.col(name).filter(~pl.col("partial")).first().over(slot)
        return pl.coalesce(whole, pl.col(name).first().over(slot))

    elements, first_elements = (lines.str.split("+") for lines in (pl.col("signature"), of_first("signature")))
    repeats = pl.col("signature") == of_first("signature")
    adds = (first_elements.list.set_difference(elements).list.len() == 0) & (pl.col("told") > of_first("told"))
    most = pl.when(adds).then("told").otherwise(0).cum_max().over(slot)
    lacked = pl.col("tells_all") & (pl.col("value") > pl.col("value").first().over(slot) * (1 + DISCOUNT))
    is_first = pl.col("seq") == pl.col("seq").min().over(slot)
    counts = is_first | pl.col("amended") | ((repeats | adds) & (pl.col("told") >= most)) | lacked
    return balances.sort(*slot, "seq").filter(counts)
