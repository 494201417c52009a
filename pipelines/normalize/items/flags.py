"""Flags: marks on served values that a reader should know.

Belongs here: every flag, in the order in which column `flags` of table `versions` publishes them. Does not: when a flag
is set (the rules that set it), its meaning in words (warehouse.contract.vocabulary).
"""

import polars as pl

from pipelines.normalize.balance import values
from pipelines.normalize.elements import OF_SOURCE
from pipelines.normalize.items.earnings import APART, DERIVED, ISSUED
from pipelines.normalize.items.line_items import ATTRIBUTABLE_TO_PARENT
from pipelines.normalize.items.returns import CONTRADICTED_OPERATING_INCOME, DERIVED_OPERATING_INCOME
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.windows import WINDOW_FLAGS

FIRST_SEEN_AS_COMPARATIVE = Rule(
    "flag.first-seen-as-comparative",
    "The first known filing with the value states it as a comparative of a later period, so it was published earlier.",
    "Regulation S-X Rule 3-02: statements show comparative periods",
    "flag",
)
SCALE_REPAIRED = Rule(
    "flag.scale-repaired",
    "A figure from which the value is computed was filed a thousand or a million times too large or too small; table "
    "lineage has the filed amount.",
    "Table repairs has the proof",
    "flag",
)
SIGN_REPAIRED = Rule(
    "flag.sign-repaired",
    "A figure from which the value is computed was filed with the wrong sign; table lineage has the filed amount.",
    "Table repairs has the proof",
    "flag",
)
FIGURE_REPAIRED = Rule(
    "flag.figure-repaired",
    "A figure from which the value is computed was replaced by another figure of its filing; table lineage has the "
    "filed amount.",
    "Table repairs has the proof",
    "flag",
)
PURCHASING_POWER = Rule(
    "flag.purchasing-power",
    "The filing of the value restates earlier periods by a price index: the value is in the purchasing power at the "
    "filing's own date, and cannot be compared with values of other filings.",
    "IAS 29.8 and 29.34",
    "flag",
)
LINE_DERIVED = Rule(
    "flag.derived-line",
    "A line from which the value is computed is not stated: it is the total of its statement less all other lines.",
    "Table lineage has the total and the lines",
    "flag",
)

OF_SOURCES = tuple(sorted({*values.FLAGS, *OF_SOURCE["reservation"].drop_nulls()}))
"""Flags of elements with an uncertain meaning, and of debt and cash."""

FLAGS: dict[str, Rule | None] = {
    **WINDOW_FLAGS,
    "attributable_to_parent": ATTRIBUTABLE_TO_PARENT,
    "derived": DERIVED,
    "issuance": ISSUED,
    "apart_from_net_income": APART,
    "derived_operating_income": DERIVED_OPERATING_INCOME,
    "contradicted_operating_income": CONTRADICTED_OPERATING_INCOME,
    **dict.fromkeys(OF_SOURCES),
    values.DERIVED_LINE: LINE_DERIVED,
    "purchasing_power": PURCHASING_POWER,
    "scale_repaired": SCALE_REPAIRED,
    "sign_repaired": SIGN_REPAIRED,
    "figure_repaired": FIGURE_REPAIRED,
    "first_seen_as_comparative": FIRST_SEEN_AS_COMPARATIVE,
}
"""The flags in the order in which they are published, and their rules; flags without a rule come with a source."""


def published(rows: pl.DataFrame) -> pl.Series:
    """The flags of each row as one text, comma-separated: column `flags` of table `versions`.

    Args:
        rows: one boolean column for each of FLAGS.
    """
    names = (
        pl.when(rule.where(pl.col(name)) if rule else pl.col(name)).then(pl.lit(name)) for name, rule in FLAGS.items()
    )
    return rows.select(flags=pl.concat_str(names, separator=",", ignore_nulls=True)).to_series()
