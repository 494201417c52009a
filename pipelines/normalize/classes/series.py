"""The series of a company with several classes of stock: its own, and one for each class that earns differently.

Belongs here: using facts by class as facts of the company or of a class, and the numbers under which the rules see a
class. Does not: which member is a class (members), any rule of values: the rules treat a class as a company that has
the amounts per share and the share counts of the class.

Classes that earn the same per share are one series, the company's, and their counts are added. Classes that earn
differently keep their own counts as filed (ASC 260-10-45-59A and 260-10-45-60B, the two-class method).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from pipelines.normalize.classes.members import class_of, class_of_title, plain
from pipelines.normalize.elements import CONCEPTS
from pipelines.normalize.forms import AMENDMENT, PERIODIC_FORMS

COMPANY = ""
"""The class of the series of the company."""
CLASS = "class_member"
DIGITS = 10
"""Digits of a CIK; the number of a class is written before them."""

PER_SHARE, SHARES = "/shares", "shares"
"""How the unit of an amount per share ends, and the unit of a share count."""
EARNINGS = ("EarningsPerShareBasic", "EarningsPerShareBasicAndDiluted")
COUNTS = ("WeightedAverageNumberOfSharesOutstandingBasic", "WeightedAverageNumberOfShareOutstandingBasicAndDiluted")
DILUTED = "Diluted"
TWO_CLASS = {
    "EarningsPerShareBasic": ("EarningsPerShareBasicDistributed", "EarningsPerShareBasicUndistributed"),
    "EarningsPerShareDiluted": ("EarningsPerShareDilutedDistributed", "EarningsPerShareDilutedUndistributed"),
}
"""Earnings per share of a class may be stated in two parts, distributed and undistributed, which add up to them."""
INCOME = frozenset(
    element
    for concept in CONCEPTS
    if concept.name in ("net_income_common", "net_income_parent", "preferred_dividends", "earnings_numerator")
    for source in concept.sources
    for element in source.named
)
"""The income that earnings per share are computed from."""
BY_CLASS = frozenset(
    {
        *(
            name
            for concept in CONCEPTS
            if concept.measure != "money"
            for each in concept.sources
            for name in each.named
        ),
        *(part for parts in TWO_CLASS.values() for part in parts),
        *INCOME,
    }
)
"""The elements whose facts by class are read."""

ROUNDED, SAME = 0.011, 0.005
"""Earnings per share of classes are the same if they differ by rounding of cents, or by half a per cent."""
SHARE_OF_NEARLY_ALL_PERIODS, SHARE_OF_MOST_PERIODS = 0.9, 0.5
"""A condition holds for a company if it holds in this share of the periods."""
INCOME_TOLERANCE = 0.02
"""Earnings per share times a count equal net income if they differ by at most this share, because participating
securities get a small part."""
INCLUDES = 0.995
"""A diluted count of a senior class includes the other classes if it is about all basic shares or more."""

Row = dict[str, Any]
Period = tuple[str, str | None, str]
"""The accession of a filing, and the first and last day of a period."""


class Series(NamedTuple):
    """The facts of companies and of their classes.

    members: the classes by number, counted from 1.
    classes: `cik`, `class_member`, `has_series` of each class that has a series, and of each class of a company that
        states earnings per share only by class.
    """

    facts: pl.DataFrame
    members: tuple[str, ...]
    classes: pl.DataFrame

    def numbered(self, rows: pl.DataFrame | None) -> pl.DataFrame | None:
        """Add to rows of companies a copy for each of their classes, with the number of the class as `cik`."""
        if rows is None or not self.members:
            return rows
        own = self.facts.select("cik").unique().filter(pl.col("cik").str.len_chars() > DIGITS)
        classes = own.select(company=pl.col("cik").str.tail(DIGITS), number="cik")
        as_text = rows.with_columns(company=pl.col("cik").cast(pl.String).str.zfill(DIGITS))
        again = as_text.join(classes, on="company").with_columns(cik=pl.col("number").cast(rows.schema["cik"]))
        return pl.concat([rows, again.select(rows.columns)])

    def of_company(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows of companies only, without rows of classes, with `cik` as published (text of ten digits)."""
        return rows.filter(pl.col("cik") < 10**DIGITS).with_columns(_ten_digits())

    def of_class(self, rows: pl.DataFrame) -> pl.DataFrame:
        """All rows, with `cik` as published and `class_member`, which is COMPANY for the company's series."""
        names = dict(enumerate((COMPANY, *self.members)))
        member = (pl.col("cik") // 10**DIGITS).replace_strict(names, return_dtype=pl.String)
        return rows.with_columns(member.alias(CLASS), _ten_digits())


def classes_of(series: Series, covers: pl.DataFrame, filings: pl.DataFrame) -> pl.DataFrame:
    """The classes of companies: classes that have a series, and classes of the symbols on the newest cover.

    Args:
        covers: the symbols on covers, with dimensions and titles (faces.facts.COVERS). If a company has one symbol, the
            cover has no dimensions, and the title names the class.
        filings: `cik`, `accession`, `form`, `filed` of filings.

    Returns:
        `cik`, `class_member`, `symbol` (without marks; null if no cover names it), `has_series`; also the classes of
        companies that state earnings per share only by class.

    Source: Form 10-K, 10-Q and 20-F, cover page: title, symbol and exchange of each class.
    """
    family = pl.col("form").str.strip_suffix(AMENDMENT)
    periodic = filings.filter(family.is_in(PERIODIC_FORMS)).select("cik", "accession", "filed")
    named = covers.join(periodic, on=["cik", "accession"]).with_columns(
        pl.col("symbol").map_elements(plain, return_dtype=pl.String),
        pl.coalesce(
            pl.col("title").map_elements(class_of_title, return_dtype=pl.String),
            pl.col("member").map_elements(class_of, return_dtype=pl.String),
        ).alias(CLASS),
    )
    in_order = named.drop_nulls(CLASS).sort("cik", "filed", "accession")
    is_newest = pl.col("accession") == pl.col("accession").last().over("cik")
    newest = in_order.filter(is_newest).select("cik", CLASS, "symbol").unique()
    both = newest.join(series.classes, on=["cik", CLASS], how="full", coalesce=True)
    return both.with_columns(pl.col("has_series").fill_null(value=False)).sort("cik", CLASS, "symbol")


def _ten_digits() -> pl.Expr:
    digits: pl.Expr = (pl.col("cik") % 10**DIGITS).cast(pl.String).str.zfill(DIGITS)
    return digits


@dataclass(frozen=True, slots=True)
class _Stated:
    """The facts that filings of one company state by class: rows by period, element and class."""

    rows: Mapping[tuple[Period, str], Mapping[str, Row]]

    def of(self, elements: Iterable[str], period: Period) -> dict[str, float]:
        """For each class, its amount in a period under the first of the elements that it has."""
        found: dict[str, float] = {}
        for element in elements:
            for member, row in self.rows.get((period, element), {}).items():
                found.setdefault(member, row["value"])
        return found

    @property
    def periods(self) -> set[Period]:
        """The periods with earnings per share or average counts of a class."""
        return {period for period, element in self.rows if element in (*EARNINGS, *COUNTS)}


def with_classes(facts: pl.DataFrame, by_class: pl.DataFrame) -> Series:
    """Add facts by class: to the company's facts if the classes earn the same per share, else as a series of the class.

    Args:
        facts: all facts of companies (faces.facts.ALL_RAW).
        by_class: facts of BY_CLASS with dimensions, the same columns.

    Returns:
        all facts, including the series of classes; in these, `cik` is the number of the class followed by the CIK.
    """
    named = by_class.with_columns(
        pl.col("member").map_elements(class_of, return_dtype=pl.String).alias(CLASS)
    ).drop_nulls(CLASS)
    added: list[Row] = []
    own: list[tuple[str, str, list[Row]]] = []
    for (cik,), rows in named.group_by("cik", maintain_order=True):
        stated = _stated(rows)
        if not stated.periods:
            continue
        if _earn_the_same(stated):
            added += _of_all_classes(stated)
            continue
        for member in sorted({member for held in stated.rows.values() for member in held}):
            of_member = [held[member] for held in stated.rows.values() if member in held]
            if any(row["tag"] in EARNINGS for row in of_member):
                own.append((str(cik), member, of_member))
    members = tuple(dict.fromkeys(member for _, member, _ in own))
    new = _missing(_frame(added, facts), facts)
    by_class_only = new.filter(pl.col("tag").is_in(EARNINGS))["cik"].unique()
    parts = [facts, new]
    for cik, member, of_member in own:
        of_company = facts.filter(pl.col("cik") == cik)
        number = pl.lit(f"{members.index(member) + 1}{cik}")
        parts.append(_of_member(of_company, _frame(of_member, facts)).with_columns(cik=number))
    found = pl.DataFrame([each[:2] for each in own], {"cik": pl.String, CLASS: pl.String}, orient="row")
    others = named.filter(pl.col("cik").is_in(by_class_only.implode())).select("cik", CLASS).unique()
    classes = [rows.with_columns(has_series=pl.lit(value)) for rows, value in ((found, True), (others, False))]
    return Series(pl.concat(parts), members, pl.concat(classes))


def _frame(rows: list[Row], like: pl.DataFrame) -> pl.DataFrame:
    return pl.DataFrame([{name: row[name] for name in like.columns} for row in rows], schema=like.schema)


def _stated(rows: pl.DataFrame) -> _Stated:
    """Collect the facts of a company by class; adds distributed and undistributed earnings as their sum."""
    found: dict[tuple[Period, str], dict[str, Row]] = defaultdict(dict)
    for row in rows.iter_rows(named=True):
        found[(row["accession"], row["start"], row["end"]), row["tag"]].setdefault(row[CLASS], row)
    for element, parts in TWO_CLASS.items():
        for period in {period for period, tag in found if tag in parts}:
            held = [found[period, part] for part in parts if (period, part) in found]
            for member in set.intersection(*map(set, held)) if len(held) == len(parts) else ():
                total = sum(of_part[member]["value"] for of_part in held)
                found[period, element].setdefault(member, {**held[0][member], "tag": element, "value": total})
    return _Stated(found)


def _are_same(amounts: Iterable[float]) -> bool:
    """Whether amounts per share are the same except for rounding."""
    amounts = [*amounts]
    return max(amounts) - min(amounts) <= max(ROUNDED, SAME * max(map(abs, amounts)))


def _earn_the_same(stated: _Stated) -> bool:
    """Whether the classes earn the same per share in nearly all periods; true if only one class states earnings."""
    compared = [earned for period in stated.periods if len(earned := stated.of(EARNINGS, period)) > 1]
    same = sum(_are_same(earned.values()) for earned in compared)
    return same >= SHARE_OF_NEARLY_ALL_PERIODS * len(compared)


def _of_all_classes(stated: _Stated) -> Iterator[Row]:
    """Make facts of the company from facts of its classes: the common amount per share, and the sum of the counts.

    An amount per share is left out if the classes differ. A diluted count that includes the other classes (INCLUDES)
    takes the place of the sum.
    """
    for (period, element), held in stated.rows.items():
        unit = next(iter(held.values()))["unit"]
        first = {**min(held.values(), key=lambda row: row["member"])}
        first["member"] = " + ".join(sorted(row["member"] for row in held.values()))
        amounts = {member: row["value"] for member, row in held.items()}
        if unit.endswith(PER_SHARE):
            if _are_same(amounts.values()):
                yield first
        elif unit == SHARES and _are_all(amounts, stated.of(EARNINGS, period)):
            basic, largest = stated.of(COUNTS, period), max(amounts.values())
            is_senior = DILUTED in element and len(amounts) > 1 and largest >= INCLUDES * sum(basic.values())
            yield {**first, "value": largest if is_senior else sum(amounts.values())}


def _are_all(counts: Mapping[str, float], earned: Mapping[str, float]) -> bool:
    """Whether all classes have a count: each class with earnings, or at least two if no earnings name a class."""
    return counts.keys() >= earned.keys() if earned else len(counts) > 1


def _missing(added: pl.DataFrame, facts: pl.DataFrame) -> pl.DataFrame:
    """The added facts that the filing does not already state without a class."""
    key = ["cik", "accession", "tag", "start", "end"]
    of_companies = facts.select(key).filter(pl.col("cik").is_in(added["cik"].unique().implode()))
    return added.join(of_companies, on=key, how="anti", nulls_equal=True, maintain_order="left")


def _of_member(company: pl.DataFrame, own: pl.DataFrame) -> pl.DataFrame:
    """Combine the facts of a class: the company's facts, with amounts per share, counts and income of the class.

    Facts without a class belong to this class if they equal its facts where filings state both. The income is the
    company's if earnings per share times the count equal it: then the count is of all shares, in units of the class (as
    converted).
    """
    is_per_share, is_count = pl.col("unit").str.ends_with(PER_SHARE), pl.col("unit") == SHARES
    of_shares, others = company.filter(is_per_share | is_count), company.filter(~(is_per_share | is_count))
    takes_earnings = _are_of_class(own, of_shares, EARNINGS)
    takes_counts = _are_of_class(own, of_shares, COUNTS) if own.filter(is_count).height else takes_earnings
    taken = (is_per_share & takes_earnings) | (is_count & takes_counts)
    own = pl.concat([own, _missing(of_shares.filter(taken), own)])
    is_income = pl.col("tag").is_in([*INCOME])
    if _is_of_all_shares(own, others):
        return pl.concat([others, own.filter(~is_income)])
    return pl.concat([others.filter(~is_income), own])


def _are_of_class(own: pl.DataFrame, whole: pl.DataFrame, elements: Sequence[str]) -> bool:
    """Whether facts without a class nearly always equal the facts of a class, where filings state both.

    False if no filing states both.
    """
    key = ["tag", "start", "end"]
    both = own.filter(pl.col("tag").is_in(elements)).join(whole, on=key, nulls_equal=True, suffix="_whole")
    off = (pl.col("value") - pl.col("value_whole")).abs()
    rounding = pl.when(pl.col("unit") == SHARES).then(0.0).otherwise(ROUNDED)
    is_same = off <= pl.max_horizontal(rounding, SAME * pl.col("value").abs())
    found: list[bool] = both.group_by("accession", *key).agg(same=is_same.any())["same"].to_list()
    return bool(found) and sum(found) >= SHARE_OF_NEARLY_ALL_PERIODS * len(found)


def _is_of_all_shares(own: pl.DataFrame, company: pl.DataFrame) -> bool:
    """Whether earnings per share of a class times its count equal the company's net income in most periods.

    True if there is nothing to compare.
    """
    key = ["accession", "start", "end"]
    earned = own.filter(pl.col("tag").is_in(EARNINGS)).select(*key, earned="value")
    counts = own.filter(pl.col("tag").is_in(COUNTS)).select(*key, count="value")
    income = company.filter(pl.col("tag").is_in([*INCOME]), pl.col("value") != 0).select(*key, income="value")
    both = earned.join(counts, on=key, nulls_equal=True)
    found = both.join(income, on=key, nulls_equal=True).with_columns(
        off=((pl.col("earned") * pl.col("count") / pl.col("income")) - 1).abs()
    )
    if both.is_empty() or found.is_empty():
        return True
    nearest: list[float] = found.group_by(key).agg(pl.col("off").min())["off"].to_list()
    return sum(off <= INCOME_TOLERANCE for off in nearest) >= SHARE_OF_MOST_PERIODS * len(nearest)
