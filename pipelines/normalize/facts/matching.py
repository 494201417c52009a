"""Matching: finds the sources and concepts that use each filed fact.

Belongs here: the sources of concepts (elements.CONCEPTS) as a table of their elements, and its join with the facts.
Does not: which source of a filing is chosen (stated).
"""

import polars as pl

from pipelines.normalize.elements import AMOUNT, CONCEPTS, MEASURE_SIGN
from pipelines.normalize.facts.precision import granularity
from pipelines.normalize.facts.reports import MEASURE
from pipelines.normalize.industry.table import INDUSTRIES
from pipelines.normalize.rule import SWITCHED_OFF, Rule

ZERO_COUNT = Rule(
    "fact.zero-share-count",
    "Average shares of zero or less are left out, because filers state zero if the number is missing.",
    "ASC 260-10-45-10: basic earnings per share are income divided by the weighted average number of shares",
    "withhold",
)
WITHOUT_SHARES = Rule(
    "fact.per-share-without-shares",
    "An amount of an element per share whose unit is only a currency counts as an amount per share, unless the "
    "filing also states it in a currency per share, or it is so large that it is a total.",
    "Taxonomy definitions: the elements have the type of amounts per share; EDGAR Filer Manual: their unit is a "
    "currency per share",
    "select",
)

LARGEST_PER_SHARE = 1e5
"""Larger amounts are not per share: Berkshire Hathaway earned 66,000 dollars per share in 2023."""

MOST_SETS = 1 << 32
"""Upper limit for the sets of elements of one source: every source has fewer than 32 elements."""

ROLES = pl.DataFrame(
    [
        ("elements", 1.0, True, 1.0),
        ("plus", 1.0, False, 1.0),
        ("minus", -1.0, True, -1.0),
        ("less", -1.0, False, -1.0),
        ("at_least", 0.0, False, 0.0),
        ("less_than", 0.0, True, 0.0),
        ("where", 0.0, True, 0.0),
        ("unless", 0.0, False, 0.0),
        ("totals", 0.0, False, 0.0),
        ("paid", 0.0, False, 1.0),
        ("received", 0.0, False, -1.0),
    ],
    schema=["role", "coefficient", "is_needed", "foots"],
    orient="row",
)
"""The role of an element in a source (the fields of Source): the factor with which it is added, whether the source
needs it, and its sign, as an outflow, in a sum of lines that adds up to a total."""

_SOURCES = [(concept, rank, source) for concept in CONCEPTS for rank, source in enumerate(concept.sources)]
PER_SHARE = frozenset(tag for _, _, source in _SOURCES if source.measure == "per_share" for tag in source.counted)
"""Elements of amounts per share."""
TAG = pl.Enum(sorted({tag for _, _, source in _SOURCES for tag in source.named}))
_ROLE = pl.Enum(ROLES["role"])

SOURCE_ELEMENTS = pl.DataFrame(
    [
        {
            "tag": tag,
            "taxonomy": source.taxonomy,
            "measure": source.measure,
            "is_money": source.measure == "money" and role != "unless",
            "is_instant": is_instant,
            "industry": list(source.industries),
            "source": number,
            "rule": source.rule,
            "role": role,
            "bit": 1 << place,
        }
        for number, (concept, _, source) in enumerate(_SOURCES)
        for place, (tag, role) in enumerate((tag, role) for role in _ROLE.categories for tag in getattr(source, role))
        for is_instant in ((True, False) if role == "unless" else (concept.instant,))
    ],
    schema_overrides={"tag": TAG, "measure": MEASURE, "role": _ROLE},
).join(ROLES.cast({"role": _ROLE}), on="role")
"""One row an element of a source: how its facts are found, its source, and its role in the source.

Sources are numbered by concept and rank; `bit` is the power of two that marks the element in sets of the source."""
SOURCES = pl.DataFrame(
    {
        "source": range(len(_SOURCES)),
        "concept": [concept.name for concept, _, _ in _SOURCES],
        "rank": [rank for _, rank, _ in _SOURCES],
        "rule": [source.rule for _, _, source in _SOURCES],
        "measure_sign": [MEASURE_SIGN[concept.measure] for concept, _, _ in _SOURCES],
        "in_notes": [concept.in_notes for concept, _, _ in _SOURCES],
        "only_zero": [source.only_zero for _, _, source in _SOURCES],
        "footing": [bool(source.totals) * (-1 if source.paid or source.received else 1) for _, _, source in _SOURCES],
        "needed": [
            len(source.elements) + len(source.minus) + len(source.less_than) + len(source.where)
            for _, _, source in _SOURCES
        ],
        "needed_below": [
            len(source.elements) + len(source.minus) if source.less_than else None for _, _, source in _SOURCES
        ],
    },
    schema_overrides={"concept": AMOUNT, "rank": pl.Int16, "measure_sign": pl.Int8, "footing": pl.Int8},
)
"""One row a source: its number, its concept, its rank among the sources of the concept, its rule, how a share basis
changes it, whether notes use it too, whether it counts only if it is zero, `footing` (the sign with which it has to add
up to a total; 0: no such condition), the number of elements that it needs, and `needed_below` (for a source that has to
be less than other amounts, the number of elements in its sum; otherwise null)."""
ALONE = (
    SOURCE_ELEMENTS.filter(role="elements")
    .join(SOURCES.filter(needed=1), on="source")
    .select("taxonomy", "tag", "concept")
    .unique(maintain_order=True)
)
"""The elements that form a source on their own, and the concept of this source."""

_KEYS = ["tag", "taxonomy", "measure", "is_instant", "industry"]
_IS_PER_SHARE = pl.col("tag").is_in(PER_SHARE) & (pl.col("measure") == "per_share")
ELEMENTS_BY_INDUSTRY = (
    pl.concat([SOURCE_ELEMENTS, SOURCE_ELEMENTS.filter(_IS_PER_SHARE).with_columns(measure=pl.lit("money", MEASURE))])
    .explode("industry")
    .with_columns(pl.col("industry").cast(pl.Enum(INDUSTRIES)))
)
"""SOURCE_ELEMENTS with one row an industry; elements per share also match amounts in a currency alone."""


def matched(facts: pl.DataFrame, of_industry: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """The facts that sources of the filer's industry use, one row for each fact and source.

    Args:
        facts: typed facts in filing order.
        of_industry: `cik`, `seq`, `industry` of every filing.

    Returns:
        pairs: by filing, start (instants first), end and element: `pair` (number), `fact` (its row), `cik`, `seq`,
            `start`, `end`, `filed`, `value`, `own_grain` (the power of ten to which it is rounded), columns of
            SOURCE_ELEMENTS, `slot` (number of the filing and period), `candidate` (number of filing, period and
            source); the facts that ZERO_COUNT leaves out; and the facts to which WITHOUT_SHARES applies.
    """
    of_amount = ["cik", "seq", "start", "end", "tag", "taxonomy"]
    known = (
        facts.select(*of_amount, "filed", "measure", "value")
        .with_columns(pl.col("tag").cast(TAG, strict=False))
        .with_row_index("fact")
        .filter(pl.col("tag").is_not_null())
    )
    is_zero_count = ZERO_COUNT.where((pl.col("measure") == "shares") & (pl.col("value") <= 0))
    is_without = (pl.col("measure") == "money") & pl.col("tag").is_in(PER_SHARE)
    without = known.filter(WITHOUT_SHARES.where(is_without), pl.col("value").abs() < LARGEST_PER_SHARE)
    stated_too = known.filter(pl.col("measure") == "per_share").select(of_amount)
    alone = without.join(stated_too, on=of_amount, how="anti", nulls_equal=True)
    pairs = (
        pl.concat([known.filter(~is_zero_count, ~is_without), alone])
        .sort("cik", "seq", "start", "end", "tag", "fact")
        .with_columns(
            slot=pl.struct("cik", "seq", "start", "end").rle_id(),
            is_instant=pl.col("start").is_null(),
            own_grain=granularity(pl.col("value")),
        )
        .join(of_industry.select("cik", "seq", pl.col("industry").cast(pl.Enum(INDUSTRIES))), on=["cik", "seq"])
        .join(
            ELEMENTS_BY_INDUSTRY.filter(~pl.col("rule").is_in(SWITCHED_OFF)).drop("rule"),
            on=_KEYS,
            maintain_order="left",
        )
        .drop("measure", "is_instant", "industry")
        .with_columns(candidate=pl.col("slot").cast(pl.Int64) * len(_SOURCES) + pl.col("source"))
        .with_row_index("pair")
    )
    return pairs, known.filter(is_zero_count), without
