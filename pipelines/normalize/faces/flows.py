"""Lines of income and cash flow statements under the filer's own elements, as facts of standard elements.

Belongs here: which own element is earnings per share, a count of shares, revenue or capital expenditure, by its unit
and its words. Does not: balance sheets (sheets), which source of an amount counts (facts).
"""

from dataclasses import dataclass

import polars as pl

from pipelines.normalize.elements.sources import US_GAAP

INCOME, CASH_FLOWS = "IS", "CF"


@dataclass(frozen=True, slots=True)
class OwnLine:
    """What makes a line of a statement an amount.

    statement: IS or CF. unit: a pattern of the unit. words, not_words: patterns of the words of label and element.
    tags: standard elements that state the amount, the one that it is given first; a filing that states one of them for
        the period needs no other. is_outflow: the amount is what the statement shows in brackets.
    """

    statement: str
    unit: str
    words: str
    not_words: str
    tags: tuple[str, ...]
    is_outflow: bool = False


_PER_SHARE, _SHARES, _MONEY = r"^[A-Z]{3}/shares$", "^shares$", "^[A-Z]{3}$"
_EPS = ("EarningsPerShareBasicAndDiluted", "EarningsPerShareBasic")
_COUNTS = ("WeightedAverageNumberOfShareOutstandingBasicAndDiluted", "WeightedAverageNumberOfSharesOutstandingBasic")
_NO_EPS = r"continuing|discontinued|dividend|distribution|pro forma|class b|preferred|comprehensive|adjusted|effect|net asset value"

OWN_LINES = (
    OwnLine(INCOME, _PER_SHARE, r"(earnings?|income|loss|profit).*\bper\b.*(share|unit)|(share|unit).*(earnings?|income|loss)", _NO_EPS, _EPS),
    OwnLine(INCOME, _SHARES, r"weighted|average|outstanding", r"class b|preferred|effect|dilutive|issued|authorized", _COUNTS),
)  # fmt: skip


def of_flows(lines: pl.DataFrame, stated: pl.DataFrame) -> pl.DataFrame:
    """Own lines of income and cash flow statements as facts of the standard elements that they are.

    Args:
        lines: the lines of statements (facts.LINE_COLUMNS), dated.
        stated: `accession`, `tag`, `start`, `end` (text) of the facts under standard elements.

    Returns:
        rows like those of facts.ALL_RAW, without form and filing day.
    """
    own = lines.filter("own", pl.col("value").is_not_null(), pl.col("start").is_not_null(), pl.col("member").is_null())
    words = pl.concat_str(
        pl.col("label").fill_null(""),
        pl.lit(" "),
        pl.col("element").str.replace_all(r"([a-z0-9])([A-Z])", "$1 $2"),
    ).str.to_lowercase()
    found = []
    for one in OWN_LINES:
        rows = own.filter(
            pl.col("statement") == one.statement,
            pl.col("unit").str.contains(one.unit),
            words.str.contains(one.words),
            ~words.str.contains(one.not_words),
            words.str.contains("basic") | ~words.str.contains("diluted"),
        )
        known = stated.filter(pl.col("tag").is_in(one.tags)).select("accession", pl.col("start", "end").str.to_date("%Y-%m-%d", strict=False))
        rows = rows.join(known, on=["accession", "start", "end"], how="anti")
        # two own lines for one amount: the words do not decide
        rows = rows.filter(pl.col("element").n_unique().over("accession", "start", "end") == 1)
        found.append(rows.with_columns(tag=pl.lit(one.tags[0])))
    return (
        pl.concat(found)
        .with_columns(filed_tag=pl.concat_str(pl.lit("own:"), "element"), taxonomy=pl.lit(US_GAAP))
        .select("cik", "accession", "source", "member", "label", "unit", "start", "end", "taxonomy", "tag", "filed_tag", "value")
    )
