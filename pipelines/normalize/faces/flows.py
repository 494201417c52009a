"""Income and cash flow statements: lines with elements that no rule knows become facts under names that the rules know.

Belongs here: which element of the filer's own is earnings per share, a count of shares, revenue or capital expenditure,
by its unit, its place and its words; the lines of financing activities. Does not: balance sheets (sheets), which source
of an amount counts (facts).
"""

from dataclasses import dataclass

import polars as pl

from pipelines.normalize.elements import CONCEPTS, proving
from pipelines.normalize.elements.lines import BORROWING
from pipelines.normalize.elements.proving import FINANCING, INVESTING, LINE, SECTIONS
from pipelines.normalize.elements.sources import US_GAAP
from pipelines.normalize.faces.words import LIABILITIES_SIDE, kind_of

INCOME, CASH_FLOWS = "IS", "CF"
PERIOD = ["cik", "accession", "start", "end"]


def _named(*concepts: str) -> tuple[str, ...]:
    """The elements of the sources of the given concepts."""
    sources = [source for concept in CONCEPTS if concept.name in concepts for source in concept.sources]
    return tuple(dict.fromkeys(element for source in sources for element in source.elements))


@dataclass(frozen=True, slots=True)
class OwnLine:
    """The conditions under which a line of a statement is an amount of the rules.

    section: of the cash flow statement; empty: the line is of the income statement.
    unit: a pattern of the unit.
    words, not_words: patterns that the words of label and element must match, and must not match.
    basic, diluted: whether these two words must be among them; None: either way.
    tag: the standard element that states the amount.
    stated: if a filing states one of these elements for the period, it needs no other one.
    """

    section: str
    unit: str
    words: str
    not_words: str
    basic: bool | None
    diluted: bool
    tag: str
    stated: tuple[str, ...]


_PER_SHARE, _SHARES, _MONEY = r"^[A-Z]{3}/shares$", "^shares$", "^[A-Z]{3}$"
_EPS = r"(earnings?|income|loss|profit).*\bper\b.*(share|unit)|(share|unit).*(earnings?|income|loss)"
_NO_EPS = (
    "continuing|discontinued|dividend|distribution|pro forma|class b|preferred|comprehensive|adjusted|effect|"
    "net asset value"
)
_COUNT, _NO_COUNT = "weighted|average|outstanding", "class b|preferred|effect|dilutive|issued|authorized"
_REVENUE = r"^(total )?(net )?(operating )?(revenues?|sales)(,? net)?( total)?\b"
_NO_REVENUE = (
    "cost|expense|related part|other|deferred|interest|tax|marketing|gain|loss|discontinued|share|commission|returns|"
    "allowance|discount|rebate"
)
_CAPITAL = (
    r"capital expenditures?|(purchases?|acquisitions?|additions?|payments?|expenditures?|investments?)( \S+){0,4} "
    r"(property|plant|equipment|fixed assets|capital assets|vessels|aircraft|vehicles)"
)
_NO_CAPITAL = "business|subsidiar|proceeds|disposal|sale of|insurance|deposit|lease|held for sale|accru|payable"
_EPS_BOTH, _EPS_BASIC, _EPS_DILUTED = (f"EarningsPerShare{which}" for which in ("BasicAndDiluted", "Basic", "Diluted"))
_BOTH, _BASIC, _DILUTED = (
    "WeightedAverageNumberOfShareOutstandingBasicAndDiluted",
    "WeightedAverageNumberOfSharesOutstandingBasic",
    "WeightedAverageNumberOfDilutedSharesOutstanding",
)
_OF_REVENUE, _OF_CAPITAL = _named("revenue"), _named("capital_expenditure")

OWN_LINES = (
    # section, unit, words, not_words, basic, diluted, tag, stated
    OwnLine("", _PER_SHARE, _EPS, _NO_EPS, True, True, _EPS_BOTH, (_EPS_BOTH, _EPS_DILUTED)),
    OwnLine("", _PER_SHARE, _EPS, _NO_EPS, None, False, _EPS_BASIC, (_EPS_BOTH, _EPS_BASIC)),
    OwnLine("", _PER_SHARE, _EPS, _NO_EPS, False, True, _EPS_DILUTED, (_EPS_BOTH, _EPS_DILUTED)),
    OwnLine("", _SHARES, _COUNT, _NO_COUNT, True, True, _BOTH, (_BOTH, _DILUTED)),
    OwnLine("", _SHARES, _COUNT, _NO_COUNT, None, False, _BASIC, (_BOTH, _BASIC)),
    OwnLine("", _SHARES, _COUNT, _NO_COUNT, False, True, _DILUTED, (_BOTH, _DILUTED)),
    OwnLine("", _MONEY, _REVENUE, _NO_REVENUE, None, False, "Revenues", _OF_REVENUE),
    OwnLine(INVESTING, _MONEY, _CAPITAL, _NO_CAPITAL, None, False, _OF_CAPITAL[0], _OF_CAPITAL),
)
"""Earnings per share and counts of shares, where a line "basic and diluted" is both (ASC 260-10-45-2); revenue
(Regulation S-X Rule 5-03.1); capital expenditure (ASC 230-10-45-13)."""


def of_flows(lines: pl.DataFrame, stated: pl.DataFrame) -> pl.DataFrame:
    """Lines of income and cash flow statements as facts under the names that the rules know.

    Args:
        lines: the lines of statements (facts.LINE_COLUMNS), dated.
        stated: `cik`, `accession`, `tag`, `start`, `end` (text) of the facts under standard elements.

    Returns:
        the facts: columns of facts.ALL_RAW, without the form and the day of the filing.
    """
    words = pl.concat_str(
        pl.col("label").fill_null(""), pl.lit(" "), pl.col("element").str.replace_all(r"([a-z0-9])([A-Z])", "$1 $2")
    ).str.to_lowercase()
    of_periods = lines.filter(
        pl.col("statement").is_in([INCOME, CASH_FLOWS]),
        pl.col("value").is_not_null(),
        pl.col("start").is_not_null(),
        pl.col("member").is_null(),
    ).with_columns(words=words)
    flows = _with_sections(of_periods.filter(pl.col("statement") == CASH_FLOWS))
    income = of_periods.filter(pl.col("statement") == INCOME).with_columns(section=pl.lit(""))
    own = pl.concat([income, flows], how="diagonal").filter("own")
    # an element that is a part of the filer's own total does not state the amount of this total
    totals = own.select("cik", "accession", parent="element").unique()
    parts = of_periods.join(totals, on=["cik", "accession", "parent"], how="semi")
    others = stated.join(
        parts.select("cik", "accession", "start", tag="element").cast({"start": pl.String}),
        on=["cik", "accession", "start", "tag"],
        how="anti",
    )
    found = [_own_line(one, own, others) for one in OWN_LINES]
    return (
        pl.concat([*found, _financing(flows)], how="diagonal")
        .with_columns(
            filed_tag=filed_tag(),
            taxonomy=pl.lit(US_GAAP),
        )
        .select(
            "cik", "accession", "source", "member", "label", "unit", "start", "end", "taxonomy", "tag", "filed_tag",
            "value",
        )
    )  # fmt: skip


def filed_tag() -> pl.Expr:
    """The element of a line as filed, with its taxonomy as prefix, or `own` if the filer defines it."""
    of = pl.when("own").then(pl.lit("own")).otherwise(pl.col("taxonomy").fill_null(US_GAAP))
    return pl.concat_str(of, pl.lit(":"), "element")


def _with_sections(flows: pl.DataFrame) -> pl.DataFrame:
    """Lines of cash flow statements with their `section`; `value` is the amount that they add to its total."""
    statement = ["cik", "accession", "report"]
    flows = flows.with_columns(pl.col("report").fill_null(0))  # packages have no pages
    totals = flows.filter(
        pl.col("element").str.contains("^NetCashProvidedByUsedIn(Operating|Investing|Financing)Activities$")
    )
    place = totals.group_by(*statement, "element").agg(pl.col("line").min()).sort("line")
    of_sections = pl.DataFrame({"element": list(SECTIONS.values()), "section": list(SECTIONS)})
    after = flows.sort("line").join_asof(
        place.join(of_sections, on="element", how="left").select(*statement, "line", "section", total="line"),
        on="line",
        by=statement,
        strategy="forward",
        check_sortedness=False,
    )
    sign = pl.coalesce("weight", pl.when("negated").then(-1.0).otherwise(1.0))
    return after.filter(pl.col("line") < pl.col("total")).with_columns(value=pl.col("value") * sign).drop("total")


def _own_line(one: OwnLine, own: pl.DataFrame, stated: pl.DataFrame) -> pl.DataFrame:
    """The lines that meet the conditions of an amount, if lines of one element alone meet them."""
    words = pl.col("words").str
    of_words = [words.contains(one.words), ~words.contains(one.not_words), words.contains("diluted") == one.diluted]
    if one.basic is not None:
        of_words.append(words.contains("basic") == one.basic)
    known = stated.filter(pl.col("tag").is_in(one.stated)).select(
        "cik", "accession", pl.col("start", "end").str.to_date("%Y-%m-%d", strict=False)
    )
    rows = own.filter(pl.col("section") == one.section, pl.col("unit").str.contains(one.unit), *of_words)
    rows = rows.join(known, on=PERIOD, how="anti")
    is_total = words.contains("^total")
    rows = rows.filter(is_total | ~is_total.any().over(PERIOD)).filter(pl.col("element").n_unique().over(PERIOD) == 1)
    value = -pl.col("value") if one.section else pl.col("value")
    return rows.with_columns(tag=pl.lit(one.tag), value=value)


def _financing(flows: pl.DataFrame) -> pl.DataFrame:
    """Lines of financing activities without a row in the table of cash flow lines, except dividends on common stock."""
    known = proving.LINES.filter(pl.col("section") == FINANCING)["tag"].implode()
    words = pl.col("words").str
    of_others = words.contains("preferred|noncontrolling|non.controlling|minority")
    of_common = words.contains("common|ordinary|(^|[^d] )(share|stock)holders")
    is_dividend = words.contains("dividend|distribution|return of capital|payments? to (share|stock|unit)holders") & (
        ~of_others | of_common
    )
    is_subtotal = pl.col("element").str.contains("^NetCash|^CashProvidedByUsedIn(?:.*)Activities$")
    rows = flows.filter(pl.col("section") == FINANCING, ~pl.col("element").is_in(known), ~is_dividend, ~is_subtotal)
    parents = flows.select("cik", "accession", element="parent").drop_nulls()
    rows = rows.join(parents, on=["cik", "accession", "element"], how="anti", maintain_order="left")
    kinds = [_kind(*row) for row in rows.select("label", "element").iter_rows()]
    numbered = rows.with_columns(kind=pl.Series(kinds, dtype=pl.String)).with_columns(
        number=pl.col("element").rank("dense").over("cik", "kind").cast(pl.Int32) - 1
    )
    named = [
        pl.when(pl.col("kind") == kind, pl.col("number") < most).then(
            pl.concat_str(pl.lit(proving.face_line(kind, 0)[:-1]), "number")
        )
        for kind, most in proving.FACE_LINES.items()
    ]
    return numbered.with_columns(tag=pl.coalesce(named)).drop_nulls("tag").drop("kind", "number")


def _kind(label: str | None, element: str) -> str:
    return proving.BORROWING if kind_of(LIABILITIES_SIDE, label or "", element) == BORROWING else LINE
