"""Predecessors: joins the filings of companies that file under another CIK since a reorganization.

Belongs here: the proof that one CIK continues another. Does not: candidates for a predecessor (successions), several
companies under one CIK (breaks).
"""

from collections.abc import Mapping, Sequence

import polars as pl

from pipelines.normalize.forms import AMENDMENT, PERIODIC_FORMS
from pipelines.normalize.rule import Rule

CONTINUED = Rule(
    id="period.predecessor.continues-the-figures",
    statement="A company's history begins with the filings of its predecessor CIK if its own first reports repeat the "
    "predecessor's figures for the periods that both report.",
    source="Exchange Act Rule 12g-3 (successor issuers); predecessors.csv lists the candidates",
    action="select",
    applies="companies that were reorganized under another CIK",
)


PERIOD = ["taxonomy", "tag", "unit", "start", "end"]

FEWEST_COMMON_FIGURES = 20
"""Two filers count as one company only if both report at least this many figures for the same periods; fewer may agree
by chance."""

EQUAL_PART = 0.9
"""At least this share of the common figures must be equal; a successor may restate a few of them."""

DECISIONS = pl.Schema({"cik": pl.String(), "rule": pl.String(), "figures": pl.UInt32()})


def stitched(raw: pl.DataFrame, predecessors: Mapping[str, Sequence[str]]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The facts of companies and of their proven predecessors, all under the company's own CIK.

    A predecessor's filings count until the successor first reports a period that both have reported.

    Args:
        raw: facts as filed of the companies and of their possible predecessors, columns of raw.RAW_SCHEMA.
        predecessors: of `successions.chains`.

    Returns:
        the same columns, without the facts of predecessors that are not proven; and the decisions: `cik` (ten digits),
        `rule`, `figures` (facts taken over).
    """
    taken_over: list[tuple[str, str, int]] = []
    all_of_them = [cik for chain in predecessors.values() for cik in chain]
    parts = [raw.filter(~pl.col("cik").is_in(all_of_them))]
    for cik, chain in predecessors.items():
        nearest = raw.filter(pl.col("cik") == cik)
        for predecessor in chain:
            earlier = _until_taken_over(raw.filter(pl.col("cik") == predecessor), nearest)
            if not CONTINUED.where(is_continued(earlier, nearest)):
                break
            parts.append(earlier.with_columns(cik=pl.lit(cik)))
            taken_over.append((cik, CONTINUED.id, earlier.height))
            nearest = earlier
    return pl.concat(parts), pl.DataFrame(taken_over, schema=DECISIONS, orient="row")


def under_successors(rows: pl.DataFrame, predecessors: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """Put the rows of possible predecessors under the company's own CIK.

    Args:
        rows: rows of the companies and of their possible predecessors.
        predecessors: of `successions.chains`.
    """
    successor = {earlier: cik for cik, chain in predecessors.items() for earlier in chain}
    return rows.with_columns(pl.col("cik").replace(successor))


def _until_taken_over(predecessor: pl.DataFrame, successor: pl.DataFrame) -> pl.DataFrame:
    """The predecessor's filings before the successor's first periodic report with a period that both have reported."""
    periodic = successor.filter(pl.col("form").str.strip_suffix(AMENDMENT).is_in(PERIODIC_FORMS))
    common = periodic.join(predecessor.select(PERIOD).unique(), on=PERIOD, how="semi", nulls_equal=True)
    return predecessor.filter(pl.col("filed") < common.get_column("filed").min())


def is_continued(predecessor: pl.DataFrame, successor: pl.DataFrame) -> bool:
    """Whether the successor's first figures for common periods equal the predecessor's.

    Args:
        predecessor: facts as filed of one CIK.
        successor: facts as filed of the other.
    """
    first = successor.sort("filed", "accession", "value").unique(PERIOD, keep="first", maintain_order=True)
    compared = (
        first.join(predecessor.select(*PERIOD, reported="value").unique(), on=PERIOD, nulls_equal=True)
        .group_by(PERIOD)
        .agg(equal=(pl.col("reported") == pl.col("value")).any())
    )
    return compared.height >= FEWEST_COMMON_FIGURES and bool(compared["equal"].sum() >= EQUAL_PART * compared.height)
