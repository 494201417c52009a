"""Companies with splits of each kind, and with the newest share count found in each way.

Belongs here: share counts and earnings per share, each report on the basis of its date. Does not: the resulting values
(unit.test_splits, test_latest_shares).
"""

from collections.abc import Sequence

from tests.factories import DILUTED, EPS, NET_INCOME, REVENUE, SHARES, Filer, Row, fact, month_ends
from tests.shapes import Shape

FIRST_YEAR, QUARTERS = 2015, 16
SPLIT = "2017-05-01"
"""The day on which a split took effect."""


def on_basis_of_its_day(rows: Sequence[Row], ratio: float, effective: str = SPLIT) -> list[Row]:
    """The facts, with counts on the basis before the split: reports after it are put on its basis."""
    return [
        {**row, "value": round(row["value"] * {"shares": ratio, "USD/shares": 1 / ratio}.get(row["unit"], 1.0), 6)}
        if row["filed"] >= effective
        else row
        for row in rows
    ]


def company() -> list[Row]:
    """Four years of a nearly constant count."""
    counts = [400e6 * 1.002**number for number in range(QUARTERS)]
    money = {REVENUE: [1e9] * QUARTERS, NET_INCOME: [1e8] * QUARTERS}
    return Filer(month_ends(FIRST_YEAR, QUARTERS), money, {SHARES: counts, DILUTED: counts}).rows()


def split(ratio: float) -> list[Row]:
    return on_basis_of_its_day(company(), ratio)


def amended_after_split() -> list[Row]:
    """The annual report filed before the split, amended after it with the same counts."""
    rows = split(2.0)
    amended = [
        {**row, "form": "10-K/A", "filed": "2017-06-01", "accession": "amended"}
        for row in rows
        if row["filed"] == "2017-03-01"
    ]
    return [*rows, *amended]


def restated_a_year_later() -> list[Row]:
    """After a split of 2:1 quarterly reports state their own counts only; the annual report restates a count."""
    reports = (
        ("10-K", "2016-02-20", "2015-01-01", "2015-12-31", 400_000_000),
        ("10-K", "2017-02-20", "2016-01-01", "2016-12-31", 402_000_000),
        ("10-Q", "2017-05-10", "2017-01-01", "2017-03-31", 806_000_000),
        ("10-Q", "2017-08-10", "2017-04-01", "2017-06-30", 808_000_000),
        ("10-K", "2018-02-20", "2016-01-01", "2016-12-31", 804_000_000),
        ("10-K", "2018-02-20", "2017-01-01", "2017-12-31", 810_000_000),
    )
    return [
        fact(tag, amount, start, end, form=form, filed=filed)
        for form, filed, start, end, count in reports
        for tag, amount in ((SHARES, count), (DILUTED, count * 1.01), (REVENUE, 1e9), (NET_INCOME, 1e8))
    ]


def counted(quarters: int, last: float = 100e6) -> list[Row]:
    """A company with this number of shares in the newest quarter and a hundred million in the others."""
    counts = [100e6] * (quarters - 1) + [last]
    money = {REVENUE: [1e8] * quarters, NET_INCOME: [1e7] * quarters}
    ends = month_ends(2023, quarters)
    return Filer(ends, money, {SHARES: counts, DILUTED: counts}).rows()


IN_IFRS = {
    REVENUE: "Revenue",
    NET_INCOME: "ProfitLoss",
    SHARES: "WeightedAverageShares",
    DILUTED: "AdjustedWeightedAverageShares",
}


def other_standards() -> list[Row]:
    """Twice as many shares in the reports from 2018 on, which follow IFRS."""
    return [
        {**row, "tag": IN_IFRS[row["tag"]], "taxonomy": "ifrs-full"} if row["filed"] >= "2018" else row
        for row in on_basis_of_its_day(company(), 2.0, "2018-01-01")
    ]


def diluted_alone() -> list[Row]:
    """Reports after the day have a fifth more diluted shares, and the same basic ones."""
    return [
        {**row, "value": row["value"] * 1.2} if row["tag"] == DILUTED and row["filed"] >= SPLIT else row
        for row in company()
    ]


OPTIONS, OPTION_PRICE = (
    f"ShareBasedCompensationArrangementByShareBasedPaymentAwardOptionsOutstanding{what}"
    for what in ("Number", "WeightedAverageExercisePrice")
)


def with_options(count: float = 10_065_726, price: float = 215.5, shares: float = 675_115_000) -> list[Row]:
    """Google's annual report of 2013, and the report after its dividend of a share for each share, with these figures.

    The two filings state no share count of a common period.
    """
    before, quarter = {"filed": "2014-02-27"}, {"form": "10-Q", "filed": "2014-08-07"}
    return [
        *(
            fact(tag, amount, "2013-01-01", "2013-12-31", **before)
            for tag, amount in ((NET_INCOME, 12_920e6), (EPS, 38.82))
        ),
        fact(OPTIONS, 5_032_863, None, "2013-12-31", unit="shares", **before),
        fact(OPTION_PRICE, 431.0, None, "2013-12-31", unit="USD/shares", **before),
        fact(OPTIONS, count, None, "2013-12-31", unit="shares", **quarter),
        fact(OPTION_PRICE, price, None, "2013-12-31", unit="USD/shares", **quarter),
        *(
            fact(tag, amount, f"{year}-01-01", f"{year}-06-30", **quarter)
            for year, income, each in ((2014, 6_874e6, 10.2), (2013, 6_574e6, 9.92))
            for tag, amount in ((NET_INCOME, income), (EPS, each))
        ),
        fact(SHARES, shares, "2014-04-01", "2014-06-30", **quarter),
    ]


COUNTS: dict[str, list[Row]] = {
    "split.usual-ratio": split(2.004),
    "split.small-ratio": split(1.1),
    "split.odd-ratio": split(2.0473),
    "split.exact-ratio": [
        *(
            fact(DILUTED, count, f"{year}-01-01", f"{year}-12-31", filed=filed)
            for year, count, filed in (
                (2021, 127_364_735, "2022-02-16"),
                (2021, 1_273_647_350, "2023-02-16"),
                (2022, 1_266_268_155, "2023-02-16"),
            )
        ),
        *(fact(REVENUE, 1e9, f"{year}-01-01", f"{year}-12-31", filed=f"{year + 1}-02-16") for year in (2021, 2022)),
    ],
    "split.filing.own-count": restated_a_year_later(),
    "split.no-mixed-regimes": other_standards(),
    "split.diluted-alone": diluted_alone(),
    "share-basis.newest": split(2.0),
    "share-basis.amendment": amended_after_split(),
    "shares.latest.quarter": counted(9),
    "shares.latest.difference": counted(12),
    "shares.latest.year-to-date": counted(12, last=200e6),
}

SHAPES = tuple(Shape(rule, rows) for rule, rows in COUNTS.items())
