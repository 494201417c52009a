"""Owners: equity of all owners and net income of the parent that filers state under elements of the other.

Belongs here: whether noncontrolling interests are added to equity, and subtracted from consolidated net income, as
other figures of the filings show. Does not: figures that differ from earnings per share by an error
(corrections.agreement).

Only the same filing and earlier ones are used, so that what was known on a day does not depend on later filings.
"""

import polars as pl

from pipelines.normalize.facts.precision import SMALLEST_ROUNDING
from pipelines.normalize.rule import Rule

OF_WHOLE_ALREADY = Rule(
    "fact.noncontrolling-interests-already",
    "Noncontrolling interests are not added to equity that is assets less liabilities already, nor subtracted from net "
    "income of which earnings per share times shares allow only the whole, in most periods so far.",
    "ASC 810-10-45-16: noncontrolling interests are part of equity; ASC 260-10-45-11A: earnings per share leave out "
    "the income of noncontrolling interests",
    "select",
)

ONE_OF = 0.1
"""Assets less liabilities are the equity if they differ by less than a tenth of the noncontrolling interests."""

_LESS, _WHOLE = "net-income.parent.less-noncontrolling-interests", "net-income.parent.consolidated"
_PRODUCTS = (("eps_basic", "shares_basic"), ("eps_diluted", "shares_diluted"))


def of_equity(pairs: pl.DataFrame) -> pl.DataFrame:
    """The noncontrolling interests that would be added to an equity that is assets less liabilities already.

    Args:
        pairs: of matching.matched.
    """
    added = pairs.filter(pl.col("tag") == "MinorityInterest", pl.col("role") == "plus")
    of_sheets = pairs.join(added, on="slot", how="semi")
    assets, liabilities = (pl.col("value").filter(pl.col("tag") == tag).first() for tag in ("Assets", "Liabilities"))
    net_assets = of_sheets.group_by("slot").agg(net_assets=assets - liabilities)
    parents = of_sheets.filter(pl.col("role") == "elements").select("candidate", of_parent="value")
    # exact: an equity that is not the whole differs from it by the noncontrolling interests
    off = (pl.col("net_assets") - pl.col("of_parent")).abs()
    judged = added.join(net_assets, on="slot").join(parents, on="candidate")
    return judged.filter(OF_WHOLE_ALREADY.where(off < ONE_OF * pl.col("value").abs()))


def of_net_income(candidates: pl.DataFrame) -> pl.DataFrame:
    """The differences of consolidated net income and noncontrolling interests that are not the parent's net income.

    Args:
        candidates: in the order of filing.

    Returns:
        such differences of which the whole is the parent's, as far as their filing and earlier ones show.
    """
    differences = candidates.filter(pl.col("rule") == _LESS)
    names = [name for product in _PRODUCTS for name in product]
    figures = (
        candidates.join(differences, on="slot", how="semi")
        .group_by("slot")
        .agg(
            pl.col("value").filter(pl.col("rule") == _WHOLE).first().alias("whole"),
            *(pl.col("value").filter(pl.col("concept") == name).first().alias(name) for name in names),
            *(pl.col("grain").filter(pl.col("concept") == name).first().alias(f"{name}_grain") for name in names),
        )
    )
    shows_whole = _is_allowed("whole").cast(pl.Int64) - _is_allowed("value").cast(pl.Int64)
    judged = differences.join(figures, on="slot", maintain_order="left")
    so_far = judged.with_columns(shown=shows_whole.cum_sum().over("cik"))
    return so_far.filter(OF_WHOLE_ALREADY.where(pl.col("shown").last().over("cik", "seq") > 0))


def _is_allowed(income: str) -> pl.Expr:
    """Whether no product of earnings per share and shares differs from an income by more than the rounding of all."""
    allowed = pl.lit(value=True)
    for each, count in _PRODUCTS:
        half, halves = pl.min_horizontal(f"{each}_grain", SMALLEST_ROUNDING) / 2, pl.col(f"{count}_grain") / 2
        slack = pl.col("grain") / 2 + half * pl.col(count) + halves * pl.col(each).abs() + half * halves
        off = (pl.col(each) * pl.col(count) - pl.col(income)).abs()
        allowed &= (off <= slack).fill_null(value=True)
    return allowed
