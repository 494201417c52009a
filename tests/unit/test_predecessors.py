"""Predecessors: two CIKs are one company if the filings prove it."""

import re

import polars as pl
import pytest

from pipelines.normalize.periods.predecessors import CONTINUED, is_continued, stitched
from pipelines.normalize.periods.successions import SUCCESSIONS, chains
from tests.factories import (
    CASH_FLOW,
    CIK,
    MILLION,
    NET_INCOME,
    REVENUE,
    SHARES,
    Filer,
    month_ends,
    standardized,
    value_of,
)

PREDECESSOR = "9990000999"
SUCCEEDS = {CIK: [PREDECESSOR]}
ENDS = month_ends(2019, 16)
REORGANIZED = "2021-04-01"


def two_filers(restated: float = 1.0) -> pl.DataFrame:
    """Two years of one CIK, and two of another with the first one's figures, or multiples of them, as comparatives."""
    quarters = [(100.0 + n) * MILLION for n in range(len(ENDS))]
    flows = {
        REVENUE: quarters,
        NET_INCOME: [each / 10 for each in quarters],
        CASH_FLOW: [each / 5 for each in quarters],
    }
    facts = Filer(ENDS, flows, {SHARES: [5e6] * len(ENDS)}).facts()
    is_later = pl.col("filed") >= REORGANIZED
    return facts.with_columns(
        cik=pl.when(is_later).then(pl.lit(CIK)).otherwise(pl.lit(PREDECESSOR)),
        value=pl.when(is_later & (pl.col("end") < REORGANIZED)).then(pl.col("value") * restated).otherwise("value"),
    )


def test_a_successor_has_its_predecessors_history():
    """Its own comparatives cover one year; the predecessor's filings add the years before."""
    alone = standardized(two_filers().filter(pl.col("cik") == CIK))
    facts, decisions = stitched(two_filers(), SUCCEEDS)
    together = standardized(facts)

    assert together.values["cik"].unique().to_list() == [CIK]
    before, after = (
        [value_of(found, "revenue", "ttm", f"{year}-06-30") for found in (alone, together)] for year in (2020, 2021)
    )
    assert before == [None, sum(100 + n for n in range(2, 6)) * MILLION]
    assert after[0] == after[1]
    taken_over = two_filers().filter(pl.col("cik") == PREDECESSOR).height
    assert decisions.rows() == [(CIK, CONTINUED.id, taken_over)]


def test_a_predecessor_that_continues_to_file_is_a_subsidiary():
    """Apache files reports at the same time as its holding company: it is a subsidiary and not a predecessor."""
    as_subsidiary = two_filers().filter(pl.col("filed") > REORGANIZED)
    of_subsidiary = as_subsidiary.with_columns(
        cik=pl.lit(PREDECESSOR), value=pl.col("value") / 2, filed=pl.col("filed").str.replace("-1?[0-9]$", "-28")
    )

    together, _ = stitched(pl.concat([two_filers(), of_subsidiary]), SUCCEEDS)
    without, _ = stitched(two_filers(), SUCCEEDS)

    assert together.sort(together.columns).equals(without.sort(together.columns))


@pytest.mark.parametrize(
    ("facts", "candidates", "kept"),
    [
        # candidates that their filings do not prove are left out, and nothing else changes
        (two_filers(restated=1.1), SUCCEEDS, pl.col("cik") == CIK),
        (two_filers(), {}, pl.lit(True)),
    ],
    ids=["other figures", "no predecessors"],
)
def test_a_company_with_other_figures_is_not_a_successor(facts, candidates, kept):
    found, decisions = stitched(facts, candidates)

    assert decisions.is_empty()
    assert found.equals(facts.filter(kept))


@pytest.mark.parametrize(
    ("of_earlier", "is_one"), [(pl.lit(True), True), (pl.col("tag") == SHARES, False), (pl.lit(False), False)]
)
def test_few_figures_prove_nothing(of_earlier, is_one):
    facts = two_filers()
    earlier, later = (facts.filter(cik=cik) for cik in (PREDECESSOR, CIK))

    assert is_continued(earlier.filter(of_earlier), later) is is_one


def test_a_chain_ends_at_a_predecessor_that_is_listed():
    """Broadcom Inc. succeeds Broadcom Limited, which succeeds Avago; a listed company is not a predecessor."""
    now, between, first = "0001730168", "0001649338", "0001441634"

    assert chains([now], [now]) == {now: [between, first]}
    assert chains([now], [now, first]) == {now: [between]}
    assert chains([CIK], [CIK]) == {}


@pytest.mark.parametrize("candidate", SUCCESSIONS, ids=lambda candidate: candidate.successor)
def test_candidates_are_written_as_the_sec_writes_them(candidate):
    assert re.fullmatch(r"\d{10} \d{10}", f"{candidate.successor} {candidate.predecessor}")
    assert 2009 <= int(candidate.event[-4:]) <= 2100
    assert re.fullmatch(r"(\d{10}-\d\d-\d{6})?", candidate.source)


def test_the_list_of_candidates_is_complete():
    """Each successor has one predecessor; one pair is checked against its notice of succession."""
    assert len(SUCCESSIONS) == len({candidate.successor for candidate in SUCCESSIONS}) == 34
    assert any(candidate.source for candidate in SUCCESSIONS)
