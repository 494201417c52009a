"""Facts of the income and cash flow statements of a filing that show something about its debt.

Belongs here: interest, and flows of borrowings, by the day on which their period ends. Does not: the debt of the day
(debt).
"""

import msgspec
import polars as pl

from pipelines.normalize.elements.lines import (
    INTEREST,
    INTEREST_BY_DEPOSIT,
    INTEREST_OF_CLASS,
    INTEREST_ON_DEBT,
    INTEREST_ON_DEPOSITS,
)
from pipelines.normalize.elements.proving import FINANCING, SECTIONS
from pipelines.normalize.elements.proving import LINES as FLOWS
from pipelines.normalize.elements.sources import US_GAAP

_DAY = ["cik", "seq", "end"]
_INTEREST_OF_BANKS = list(
    dict.fromkeys((INTEREST_ON_DEPOSITS, *INTEREST_BY_DEPOSIT, *(each for one in INTEREST for each in one)))
)
_ELEMENTS = [*{*_INTEREST_OF_BANKS, *INTEREST_OF_CLASS, *INTEREST_ON_DEBT, SECTIONS[FINANCING], *FLOWS["tag"]}]
"""All elements of durations that are used."""
_EXACT = 0.5
"""Amounts are whole currency units; sums of floats may differ by less than this."""


class Flows(msgspec.Struct, frozen=True, gc=False):
    """The flows of periods that end on one day.

    is_all_on_deposits: whether interest on deposits is all interest expense.
    interest: the elements of INTEREST_OF_CLASS that are not zero in the shortest period: zero debt was repaid before.
    without_borrowing: the fact rows of financing activities, of the longest period in which the stated lines are
        exactly the total and none is a borrowing; empty without such a period.
    pays_interest: whether interest on debt is stated for any period.
    borrowed: for each period with proceeds or repayments of borrowings: the day before it, their sum, and their rows.
    """

    is_all_on_deposits: bool = False
    interest: tuple[str, ...] = ()
    without_borrowing: tuple[int, ...] = ()
    pays_interest: bool = False
    borrowed: tuple[tuple[int, float, tuple[int, ...]], ...] = ()


def flows(facts: pl.DataFrame) -> dict[tuple[int, int, int], Flows]:
    """Collect the flows of each filing, by `cik`, `seq` and the day on which they end."""
    durations = (
        facts.select("cik", "seq", "taxonomy", "tag", "measure", "start", "end", "value")
        .with_row_index("fact")
        .filter(pl.col("start").is_not_null() & pl.col("tag").is_in(_ELEMENTS))
    )
    of_day = (
        _interest_on_deposits(durations)
        .join(_interest_by_class(durations), on=_DAY, how="full", coalesce=True)
        .join(_without_borrowing(durations), on=_DAY, how="full", coalesce=True)
        .join(_borrowed(durations), on=_DAY, how="full", coalesce=True)
    )
    rows = of_day.select(*_DAY, "is_all_on_deposits", "interest", "fact", "pays_interest", "borrowed").iter_rows()
    return {
        (cik, seq, day): Flows(
            bool(is_all),
            tuple(interest or ()),
            tuple(lines or ()),
            bool(pays),
            tuple((each["before"], each["net"], tuple(each["facts"])) for each in borrowed or ()),
        )
        for cik, seq, day, is_all, interest, lines, pays, borrowed in rows
    }


def _borrowed(durations: pl.DataFrame) -> pl.DataFrame:
    """Proceeds less repayments of borrowings for each period that ends on a day; issue costs are no repayments."""
    is_cost = pl.col("tag").str.contains("^PaymentsOf.*Costs$")
    lines = FLOWS.filter("is_borrowing", ~is_cost).select("tag", "sign")
    of_period = (
        durations.filter((pl.col("taxonomy") == US_GAAP) & (pl.col("measure") == "money"))
        .join(lines, on="tag", maintain_order="left")
        .group_by("cik", "seq", "start", pl.col("end").to_physical(), maintain_order=True)
        .agg(net=(pl.col("sign") * pl.col("value")).sum(), facts="fact")
        .with_columns(before=pl.col("start").to_physical() - 1)
    )
    return of_period.group_by(_DAY, maintain_order=True).agg(borrowed=pl.struct("before", "net", "facts"))


def _interest_on_deposits(durations: pl.DataFrame) -> pl.DataFrame:
    """Whether interest on deposits is all interest expense in every period that states it and ends on a day."""
    stated = durations.filter(pl.col("tag").is_in(_INTEREST_OF_BANKS) & (pl.col("taxonomy") == US_GAAP))
    amounts = stated.pivot(
        "tag", on_columns=_INTEREST_OF_BANKS, index=[*_DAY, "start"], values="value", aggregate_function="last"
    )
    by_deposit = pl.when(pl.any_horizontal(pl.col(*INTEREST_BY_DEPOSIT).is_not_null())).then(
        pl.sum_horizontal(INTEREST_BY_DEPOSIT)
    )
    on_deposits = pl.coalesce(INTEREST_ON_DEPOSITS, by_deposit)
    is_all = pl.any_horizontal(
        pl.sum_horizontal(first, *(-pl.col(name) for name in others), ignore_nulls=False) == on_deposits
        for first, *others in INTEREST
    )
    return (
        amounts.filter(on_deposits.is_not_null())
        .group_by("cik", "seq", pl.col("end").to_physical())
        .agg(is_all_on_deposits=is_all.fill_null(value=False).all())
    )


def _interest_by_class(durations: pl.DataFrame) -> pl.DataFrame:
    """The elements of INTEREST_OF_CLASS that are stated for the shortest period that ends on a day."""
    stated = durations.filter(pl.col("tag").is_in([*INTEREST_OF_CLASS]))
    newest = stated.filter(pl.col("start") == pl.col("start").max().over(*_DAY, "tag"), pl.col("value") != 0)
    return newest.group_by("cik", "seq", pl.col("end").to_physical(), maintain_order=True).agg(interest="tag")


def _without_borrowing(durations: pl.DataFrame) -> pl.DataFrame:
    """The longest period that ends on a day and has exactly the stated financing activities, without borrowings."""
    lines = FLOWS.filter(pl.col("section") == FINANCING).select("tag", "sign", "is_borrowing")
    total = SECTIONS[FINANCING]
    stated = durations.filter(
        pl.col("tag").is_in([total, *lines["tag"], *INTEREST_ON_DEBT]),
        (pl.col("taxonomy") == US_GAAP) & (pl.col("measure") == "money"),
    ).join(lines, on="tag", how="left", maintain_order="left")
    is_line, is_total = pl.col("sign").is_not_null(), pl.col("tag") == total
    of_period = stated.group_by(
        "cik", "seq", pl.col("start").to_physical(), pl.col("end").to_physical(), maintain_order=True
    ).agg(
        left=(pl.when(is_total).then("value").otherwise(-pl.col("sign") * pl.col("value"))).sum(),
        totals=is_total.sum(),
        borrows=(pl.col("is_borrowing").fill_null(value=False) & (pl.col("value") != 0)).any(),
        pays_interest=(~is_line & ~is_total & (pl.col("value") != 0)).any(),
        fact=pl.col("fact").filter(is_line | is_total),
    )
    of_day = of_period.with_columns(pl.col("borrows", "pays_interest").any().over(_DAY)).filter(
        (pl.col("totals") == 1) & (pl.col("left").abs() < _EXACT) & ~pl.col("borrows")
    )
    return of_day.sort(*_DAY, "start").unique(_DAY, keep="first", maintain_order=True)
