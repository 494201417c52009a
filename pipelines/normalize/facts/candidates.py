"""Candidates: the possible amounts of a filing for a concept and period, one for each source in the filing.

Belongs here: which sources of a concept are complete in a filing, and their sums; which candidates are another amount
(a part, a repetition, an amount of a note, an amount of the other owners). Does not: which candidate is chosen
(stated), figures that differ from others by an error (corrections), repetitions on another share basis (shares).

Only the same filing and earlier ones are used, so that what was known on a day does not depend on later filings.
"""

import polars as pl

from pipelines.normalize.elements import AMOUNT
from pipelines.normalize.facts.matching import SOURCES
from pipelines.normalize.facts.precision import SMALLEST_ROUNDING, scale_of_filing
from pipelines.normalize.facts.reports import FILED_TWICE
from pipelines.normalize.industry.classification import LOOKS_BACK_DAYS
from pipelines.normalize.periods.calendar import INTERIM_DAYS
from pipelines.normalize.rule import Rule

NO_LESS_THAN_PART = Rule(
    "source.no-less-than-part",
    "If the sum of a source is less, by more than 0.5 %, than a part or total of the line in the same filing, the "
    "source itself is only a part, and the next source counts.",
    "taxonomy definitions of the elements: a total is no less than an amount that it includes",
    "select",
)

FOOTS_WITHIN = 1.0
"""Lines add up to a total exactly if they differ from it by at most one unit of the currency."""
FEWEST_UNITS = 100
"""A total of fewer rounding units of its lines may equal their sum by chance. More units are enough, because only one
sum is compared with a total."""

SAME_WHEN_ROUNDED = 0.005
"""Amounts that differ by at most half a percent are the same amount, rounded differently."""

OF_FIRST = ["slot", "cik", "seq", "start", "end", "filed", "fact"]
"""Columns that a candidate has from its first fact."""
ANNUAL_NOTE = Rule(
    "fact.annual-note",
    "An annual amount whose element no interim report of the last 400 days uses is from a note; a line of the "
    "statements replaces it if the line has more than half of the amount.",
    "Regulation S-X Rule 10-01(a): interim statements may be condensed and omit notes",
    "withhold",
    "income before tax and capital expenditure of all filers",
)

LARGE_PART = 0.5
"""A line of at most half of a note's amount is a part of it, and does not replace it."""

REVENUE_THAT_FOOTS = Rule(
    "source.revenue-that-foots",
    "If a filing states several amounts of revenue, the first that foots with gross profit or operating income "
    "counts, otherwise the first that is not below cost of revenue, operating income, or revenue of a part of the "
    "period.",
    "Regulation S-X Rule 5-03: the income statement leads from revenue to income",
    "select",
)
_OF_INCOME = ("cost_of_revenue", "gross_profit", "operating_costs", "operating_income")

SOURCE = ["cik", "concept", "rank"]
OF_WHOLE_ALREADY = Rule(
    "fact.noncontrolling-interests-already",
    "Noncontrolling interests are not added to equity that already equals assets less liabilities, nor subtracted "
    "from net income if, in most periods so far, only the undivided income agrees with earnings per share times "
    "shares.",
    "ASC 810-10-45-16: noncontrolling interests are part of equity; ASC 260-10-45-11A: earnings per share leave out "
    "the income of noncontrolling interests",
    "select",
)

NEAR_NET_ASSETS = 0.1
"""Assets less liabilities are the equity if both differ by less than a tenth of the noncontrolling interests."""

_LESS, _WHOLE = "net-income.parent.less-noncontrolling-interests", "net-income.parent.consolidated"
_PRODUCTS = (("eps_basic", "shares_basic"), ("eps_diluted", "shares_diluted"))
LESSER_SOURCE = Rule(
    "fact.lesser-source-repeats",
    "A later filing that states a period only under a source of lower rank does not restate it, if earlier filings "
    "of the company stated both sources for the same periods and the amounts mostly differed.",
    "ASC 810-10-50-1A: income of the parent and consolidated income are two amounts",
    "withhold",
)
OTHER_SOURCE = Rule(
    "fact.other-source",
    "A value is flagged if it is from a source whose amounts, for this company, mostly differ from those of the best "
    "source used so far.",
    "ASC 810-10-50-1A: income of the parent and consolidated income are two amounts",
    "flag",
)

MOSTLY = 0.5
"""Two sources are different amounts if they differed in more than half of the periods that have both."""
RECENT = 8
"""The number of newest filings in which two sources are compared: differences from before a class of owners left, or a
line moved, show nothing about today."""


LINE_OF_STATEMENT = Rule(
    "source.line-of-statement",
    "A line of the income or cash flow statement has priority over an element of the notes, if each alone is the "
    "whole amount and the line is not a part of a total of the statement.",
    "Regulation S-X Rule 5-03.1; ASC 230-10-45; ASC 260-10-45-2 (amounts on the face of the statements)",
    "select",
)
OF_STATEMENTS = (
    "revenue",
    "capital_expenditure",
    "operating_cash_flow",
    "shares_basic",
    "shares_diluted",
)
"""Concepts with sources that all state the same amount, as a line of the income or the cash flow statement."""

SERIES = ["cik", "concept"]


def complete(pairs: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """The complete sources of each filing and period, and amounts of sources that do not count.

    Args:
        pairs: of matching.matched, without repetitions.

    Returns:
        found: the candidates, by filing, period and source: sources with all required elements that meet their
            conditions (some have to be zero, some have to add up to a total, some exclude elements of their filing).
            Columns of SOURCES and of the facts, and `value` (the sum), `grain` (the power of ten to which it is
            rounded), `is_scaled` (whether this is the scale of its filing), `used` (the bits of its elements that
            count), `fact` (its first fact), `amount` (number of the filing, period and concept).
        parts: the candidates that NO_LESS_THAN_PART leaves out.
        above: candidates of sources that have to be less than other amounts, but are not, or the other amounts are not
            stated.
    """
    counts = pl.col("coefficient") != 0
    money = pl.when("is_money", pl.col("value") != 0).then("value")
    of_pairs = pairs.with_columns(scale=scale_of_filing(money)).select(
        "candidate",
        "source",
        "is_needed",
        row=pl.int_range(pl.len()),
        is_added=pl.col("is_needed") & counts,
        value=pl.col("value") * pl.col("coefficient"),
        grain=pl.when(counts).then(pl.max_horizontal("own_grain", "scale")),
        is_scaled=counts & (pl.col("scale") > pl.col("own_grain")),
        used=pl.when(counts).then("bit"),
        floor=pl.when(pl.col("role") == "at_least").then("value"),
        ceiling=pl.when(pl.col("role") == "less_than").then("value"),
    )
    sums = of_pairs.group_by("candidate", maintain_order=True).agg(
        pl.col("source", "row").first(),
        pl.col("value", "used", "is_needed", "is_added").sum(),
        pl.col("grain", "is_scaled", "floor").max(),
        # null for a source without a ceiling
        pl.when(pl.col("ceiling").is_not_null().any()).then(pl.col("ceiling").sum()),
    )
    sums = sums.hstack(SOURCES.select("needed", "needed_below", "only_zero", "footing")[sums["source"]])
    filings = pairs.select("cik", "seq")
    unless = pairs.filter(pl.col("role") == "unless").select("cik", "seq", "source")
    found = sums.filter(
        pl.col("is_needed") == pl.col("needed"),
        ~pl.col("only_zero") | (pl.col("value") == 0),
        (pl.col("value") < pl.col("ceiling") * (1 - SAME_WHEN_ROUNDED)).fill_null(value=True),
    )
    found = found.hstack(filings[found["row"]]).join(unless, on=["cik", "seq", "source"], how="anti")
    above = sums.filter(pl.col("is_added") == pl.col("needed_below")).join(found, on="candidate", how="anti")
    footed = found.filter((pl.col("footing") == 0) | pl.col("candidate").is_in(_footing(pairs, found).implode())).sort(
        "candidate"
    )
    footed, above = (_with_columns_of_first(rows, pairs) for rows in (footed, above))
    is_less = pl.col("value") < pl.col("floor") * (1 - SAME_WHEN_ROUNDED)
    is_part = NO_LESS_THAN_PART.where(is_less.fill_null(value=False))
    return footed.filter(~is_part), footed.filter(is_part), above


def _with_columns_of_first(sums: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """The sums with the columns of their first fact (in row `row` of the pairs) and of their source, and `amount`."""
    of_source = SOURCES.select("concept", "rank", "rule", "measure_sign", "in_notes")[sums["source"]]
    return (
        sums.select("candidate", "source", "value", "used", "grain", "is_scaled", "floor", "needed")
        .hstack(pairs.select(OF_FIRST)[sums["row"]])
        .hstack(of_source)
        .with_columns(amount=pl.col("slot").cast(pl.Int64) * len(AMOUNT.categories) + pl.col("concept").to_physical())
    )


def _footing(pairs: pl.DataFrame, found: pl.DataFrame) -> pl.Series:
    """The candidates of sources that need a total and add up to it, alone or as an outflow with other lines."""
    needing = found.filter(pl.col("footing") != 0).select("candidate", "grain", "footing")
    added = pl.col("footing").first() * (pl.col("value") * pl.col("foots")).sum()
    is_total = (pl.col("role") == "totals") & (pl.col("value").abs() >= FEWEST_UNITS * pl.col("grain"))
    return (
        pairs.join(needing, on="candidate")
        .group_by("candidate")
        .agg(foots=(is_total & ((pl.col("value") - added).abs() <= FOOTS_WITHIN)).any())
        .filter("foots")["candidate"]
    )


def annual_note_amounts(candidates: pl.DataFrame) -> pl.DataFrame:
    """Annual amounts of notes that a line of the statements replaces, because it has more than half of the amount.

    A source is a line of the statements if an interim report of the last 400 days shows it.

    Args:
        candidates: in the order of filing.
    """
    is_annual = (pl.col("end") - pl.col("start")).dt.total_days() >= INTERIM_DAYS[1]
    shown = pl.when((~is_annual).any().over(*SOURCE, "seq")).then("filed").forward_fill().over(SOURCE)
    is_line = (pl.col("filed") - shown).dt.total_days() <= LOOKS_BACK_DAYS
    size = pl.col("value").abs()
    lines = candidates.filter("in_notes").with_columns(is_line=is_line.fill_null(value=False))
    line = size.filter(pl.col("is_line")).max().over("amount")
    return lines.filter(ANNUAL_NOTE.where(is_annual), ~pl.col("is_line"), line > LARGE_PART * size).drop("is_line")


def replaced_by_statement_lines(lines: pl.DataFrame, pairs: pl.DataFrame, shown: pl.DataFrame) -> pl.DataFrame:
    """The candidates of notes that a line of the statement replaces: `candidate`, `cik`; no row without faces.

    Args:
        lines: the candidates, the best of each amount first.
        pairs: of matching.matched.
        shown: `cik`, `seq`, `tag`, `is_part`: the lines of the income and cash flow statements of filings.
    """
    if not shown.height:
        return lines.select("candidate", "cik").clear()
    alone = pairs.filter("is_needed").filter(pl.len().over("candidate") == 1)
    singles = lines.filter(pl.col("concept").cast(pl.String).is_in(OF_STATEMENTS)).join(
        alone.select("candidate", pl.col("tag").cast(pl.String)), on="candidate", maintain_order="left"
    )
    with_face = singles.join(shown.select("cik", "seq").unique(), on=["cik", "seq"], how="semi", maintain_order="left")
    placed = with_face.join(shown, on=["cik", "seq", "tag"], how="left", maintain_order="left")
    is_line = ~pl.col("is_part").fill_null(value=True)
    has_line = is_line.any().over("amount")
    first_line = pl.col("value").filter(is_line).first().over("amount")
    before = pl.col("is_part").is_null() & has_line & (is_line.cum_sum().over("amount") == 0)
    differs = (pl.col("value") - first_line).abs() > SAME_WHEN_ROUNDED * first_line.abs()
    return placed.filter(LINE_OF_STATEMENT.where(before & differs)).select("candidate", "cik")


def interests_already_in_equity(pairs: pl.DataFrame) -> pl.DataFrame:
    """Noncontrolling interests that are not added to equity, because it is assets less liabilities already.

    Args:
        pairs: of matching.matched.
    """
    added = pairs.filter(pl.col("tag") == "MinorityInterest", pl.col("role") == "plus")
    of_sheets = pairs.join(added, on="slot", how="semi", maintain_order="left")
    assets, liabilities = (pl.col("value").filter(pl.col("tag") == tag).first() for tag in ("Assets", "Liabilities"))
    net_assets = of_sheets.group_by("slot").agg(net_assets=assets - liabilities)
    parents = of_sheets.filter(pl.col("role") == "elements").select("candidate", of_parent="value")
    # exact: an equity without the noncontrolling interests differs from net assets by their full amount
    off = (pl.col("net_assets") - pl.col("of_parent")).abs()
    compared = added.join(net_assets, on="slot").join(parents, on="candidate")
    return compared.filter(OF_WHOLE_ALREADY.where(off < NEAR_NET_ASSETS * pl.col("value").abs()))


def of_income_statement(candidates: pl.DataFrame) -> pl.DataFrame:
    """The amounts of revenue that do not count, because another amount of the same filing and period does.

    Args:
        candidates: in the order of filing, the best of each amount first.

    Returns:
        the candidates that REVENUE_THAT_FOOTS leaves out, with the columns that decide: the lines of _OF_INCOME, `part`
        (the largest revenue of a part of the period), `foots`, `is_above` and `counts`.
    """
    of_revenue = (pl.col("concept") == "revenue") & (pl.col("needed") == 1)
    several = candidates.filter(of_revenue).filter(pl.col("value").n_unique().over("amount") > 1)
    lines = (
        candidates.join(several, on="slot", how="semi", maintain_order="left")
        .group_by("slot")
        .agg(pl.col("value").filter(pl.col("concept") == name).first().alias(name) for name in _OF_INCOME)
    )
    parts = candidates.filter(pl.col("concept") == "revenue").unique("amount", keep="first", maintain_order=True)
    largest = (
        several.select("amount", "cik", "seq", "start", "end")
        .unique("amount")
        .join(parts.select("cik", "start", part="value", of="seq", until="end"), on=["cik", "start"])
        .filter(pl.col("until") < pl.col("end"), pl.col("of") <= pl.col("seq"))
        .group_by("amount")
        .agg(pl.col("part").max())
    )
    cost, gross_profit, costs, income = (pl.col(name) for name in _OF_INCOME)
    value, within = pl.col("value"), pl.col("grain")
    foots = ((cost + gross_profit - value).abs() <= within).fill_null(value=False)
    foots |= ((costs + income - value).abs() <= within).fill_null(value=False)
    floor = pl.max_horizontal(cost, income, "part")
    is_above = (value >= floor * (1 - SAME_WHEN_ROUNDED)).fill_null(value=True)
    counts = pl.when(pl.col("foots").any().over("amount")).then("foots").otherwise("is_above")
    compared = several.join(lines, on="slot", how="left", maintain_order="left").join(
        largest, on="amount", how="left", maintain_order="left"
    )
    judged = compared.with_columns(foots=foots, is_above=is_above).with_columns(counts=counts)
    return judged.filter(REVENUE_THAT_FOOTS.where(~pl.col("counts") & pl.col("counts").any().over("amount")))


def of_net_income(candidates: pl.DataFrame) -> pl.DataFrame:
    """Differences of consolidated net income and noncontrolling interests that are not the parent's net income.

    Args:
        candidates: in the order of filing.

    Returns:
        the differences where their filing and earlier ones show that consolidated net income is the parent's.
    """
    differences = candidates.filter(pl.col("rule") == _LESS)
    names = [name for product in _PRODUCTS for name in product]
    figures = (
        candidates.join(differences, on="slot", how="semi", maintain_order="left")
        .group_by("slot")
        .agg(
            pl.col("value").filter(pl.col("rule") == _WHOLE).first().alias("whole"),
            *(pl.col("value").filter(pl.col("concept") == name).first().alias(name) for name in names),
            *(pl.col("grain").filter(pl.col("concept") == name).first().alias(f"{name}_grain") for name in names),
        )
    )
    shows_whole = _is_allowed("whole").cast(pl.Int64) - _is_allowed("value").cast(pl.Int64)
    with_figures = differences.join(figures, on="slot", maintain_order="left")
    so_far = with_figures.with_columns(shown=shows_whole.cum_sum().over("cik"))
    return so_far.filter(OF_WHOLE_ALREADY.where(pl.col("shown").last().over("cik", "seq") > 0))


def _is_allowed(income: str) -> pl.Expr:
    """Whether all known products of earnings per share and shares equal an income, within the rounding of all."""
    allowed = pl.lit(value=True)
    for each, count in _PRODUCTS:
        half, halves = pl.min_horizontal(f"{each}_grain", SMALLEST_ROUNDING) / 2, pl.col(f"{count}_grain") / 2
        slack = pl.col("grain") / 2 + half * pl.col(count) + halves * pl.col(each).abs() + half * halves
        off = (pl.col(each) * pl.col(count) - pl.col(income)).abs()
        allowed &= (off <= slack).fill_null(value=True)
    return allowed


def repeated_parts(pairs: pl.DataFrame) -> pl.DataFrame:
    """Pairs of optional parts that repeat another amount of their source (rule reports.FILED_TWICE).

    Args:
        pairs: of matching.matched.
    """
    optional = pl.col("role") == "plus"
    amount = pl.struct("candidate", "value")
    sums = pairs.filter(pl.col("source").is_in(pairs.filter(optional)["source"].unique().implode()))
    added = sums.filter(pl.col("coefficient") > 0, pl.col("value") != 0).sort(optional, maintain_order=True)
    return added.filter(FILED_TWICE.where(~amount.is_first_distinct()), optional)


def differences(candidates: pl.DataFrame) -> pl.DataFrame:
    """Whether two sources of a concept are different amounts, judged by the newest filings so far that state both.

    Args:
        candidates: in the order of filing, period and rank.

    Returns:
        `cik`, `concept`, `rank`, `better` (rank of the other source), `seq`, and `differs`: whether the two mostly
        differed in the periods that this filing and the ones before it (RECENT in all) state; sorted by `seq`.
    """
    best = pl.col("value", "rank").first().over("amount").name.prefix("best_")
    several = candidates.filter(pl.col("amount").is_duplicated()).with_columns(best)
    differs = (pl.col("value") - pl.col("best_value")).abs() > SAME_WHEN_ROUNDED * pl.col("best_value").abs()
    pair = [*SERIES, "rank", "better"]
    return (
        several.filter(pl.col("rank") > pl.col("best_rank"))
        .select(*SERIES, "rank", "seq", better="best_rank", differs=differs)
        .group_by(*pair, "seq", maintain_order=True)
        .agg(pl.len(), pl.col("differs").sum())
        .with_columns(pl.col("len", "differs").rolling_sum(RECENT, min_samples=1).over(pair))
        .select(*pair, "seq", differs=pl.col("differs") > MOSTLY * pl.col("len"))
        .sort("seq")
    )


def of_lesser_sources(
    best: pl.DataFrame, compared: pl.DataFrame, noted: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Amounts of a later filing from a source of lower rank that is a different amount for this company.

    If earlier filings stated both sources and they mostly differed (net income with and without minorities, sales with
    and without membership fees), the source of lower rank alone restates nothing.

    Args:
        best: the best candidate of each filing, period and concept, in the order of filing.
        compared: of differences.
        noted: candidates of notes; the line that replaces one also replaces earlier amounts of the note.

    Returns:
        the amounts that restate nothing; and, of the other amounts, the ones from a source that is a different amount
        than the best source that the company has used for the concept so far.
    """
    ranked = best.join(compared.filter("differs"), on=SERIES, how="semi").sort("seq", "slot")
    before = pl.col("rank").cum_min().shift().over(*SERIES, "start", "end")
    lesser = _different(LESSER_SOURCE, ranked.with_columns(better=before), compared).join(
        noted, on="amount", how="anti"
    )
    kept = ranked.join(lesser, on="amount", how="anti", maintain_order="left")
    return lesser, _different(OTHER_SOURCE, kept.with_columns(better=pl.col("rank").cum_min().over(SERIES)), compared)


def _different(rule: Rule, ranked: pl.DataFrame, compared: pl.DataFrame) -> pl.DataFrame:
    """The candidates from a source that, up to their filing, mostly differed from the source of rank `better`."""
    return (
        ranked.join_asof(compared, on="seq", by=[*SERIES, "rank", "better"], check_sortedness=False)
        .filter(rule.where(pl.col("differs")))
        .select("cik", "amount")
    )
