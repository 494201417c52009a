"""Late reports and sources: versions that are told anew because a report, or more of it, was read after newer ones.

Belongs here: which reports are late, and which versions are recorded a second time because of them. Does not: what a
synchronization appends otherwise (versions).

The log is append-only. So the versions of a period and item are recorded a second time, with those of the late report
at their places, and the last telling counts. It has all values that were served, with their times of recording.
"""

from collections.abc import Collection, Iterator, Sequence

import polars as pl

from pipelines.normalize.history.replay import is_same
from pipelines.normalize.history.versions import LOG, REPLAYED, SOURCE, SOURCE_READ, VERSION_OF

FILING = ["cik", "accession"]
TOLD = [name for name in REPLAYED if name not in (*VERSION_OF, "basis")]
"""The columns in which two versions of a period and item can differ."""


def in_force(log: pl.DataFrame) -> pl.DataFrame:
    """The rows of the log that count: of a period and item that was told anew, those of the last telling."""
    if not log["starts_anew"].any():
        return log
    telling = pl.col("starts_anew").fill_null(value=False).cum_sum().over(VERSION_OF)
    tellings = log.with_columns(telling=telling)
    return tellings.filter(pl.col("telling") == pl.col("telling").max().over(VERSION_OF)).drop("telling")


def told_anew(
    log: pl.DataFrame, replayed: pl.DataFrame, order: pl.DataFrame, rules: str, reread: Collection[str] = ()
) -> pl.DataFrame:
    """The versions that a synchronization records a second time, because reports or more of them were read later.

    Args:
        log: the rows in force of some companies, on today's share basis: columns of LOG.
        replayed: the versions to which their filings lead today: columns of REPLAYED, in the order of filing.
        order: `cik`, `accession`, `seq`: the filings known today in their order.
        rules: the digest of the rules that made `replayed`.
        reread: the companies of whose filings something else is read than before.

    Returns:
        rows for the log: the replayed versions of each period and item up to its newest logged value, if they are
        others than the logged ones and have all values that were served. What other rules recorded is not told anew.
        Where what is read now leaves no version, and no value was served, a row without value.
    """
    late = {*_with_late_reports(log, replayed, order), *reread}
    if not late:
        return log.clear()
    of_company = pl.col("cik").is_in([*late])
    of_log = log.with_row_index("logged").filter(of_company, (pl.col("rules") == rules).all().over(VERSION_OF))
    newest = of_log.join(order, on=FILING).group_by(VERSION_OF).agg(newest=pl.col("seq").max())
    of_replay = (
        replayed.with_row_index("told")
        .join(order, on=FILING, maintain_order="left")
        .join(newest, on=VERSION_OF, maintain_order="left")
        .filter(pl.col("seq") <= pl.col("newest"))
    )
    tellings = pl.DataFrame(
        [row for found in _changed(of_log, of_replay) for row in found],
        {"told": pl.UInt32, "logged": pl.UInt32, "starts_anew": pl.Boolean},
        orient="row",
    )
    times = log.select("recorded_at").with_row_index("logged")
    told = (
        tellings.join(replayed.with_row_index("told"), on="told", maintain_order="left")
        .join(times, on="logged", how="left", maintain_order="left")
        .select(pl.lit(rules).alias(name) if name == "rules" else name for name in LOG)
    )
    return pl.concat([told, _never_valued(of_log.filter(pl.col("cik").is_in([*reread])), replayed)])


def _never_valued(of_log: pl.DataFrame, replayed: pl.DataFrame) -> pl.DataFrame:
    """Of periods and items that no filing gives a value now, and for which none was served: one row without value."""
    was_served = pl.col("recorded_at").is_not_null() & pl.col("value").is_not_null()
    return (
        of_log.filter(~was_served.any().over(VERSION_OF), pl.len().over(VERSION_OF) > 1)
        .join(replayed, on=VERSION_OF, how="anti", maintain_order="left")
        .group_by(VERSION_OF, maintain_order=True)
        .last()
        .filter(pl.col("value").is_null())
        .with_columns(cause=pl.lit(SOURCE), rule=pl.lit(SOURCE_READ.id), starts_anew=pl.lit(value=True))
        .select(LOG.names())
    )


def _with_late_reports(log: pl.DataFrame, replayed: pl.DataFrame, order: pl.DataFrame) -> pl.Series:
    """The companies with a filing that leads to versions, is older than the newest logged one, and is not in the log.

    Neither a logged version nor one of its legs is from such a filing.
    """
    named = log.select(FILING).unique()
    newest = named.join(order, on=FILING).group_by("cik").agg(newest=pl.col("seq").max())
    unnamed = replayed.select(FILING).unique().join(named, on=FILING, how="anti").join(order, on=FILING)
    older = unnamed.join(newest, on="cik").filter(pl.col("seq") < pl.col("newest"))
    of_company = log.filter(pl.col("cik").is_in(older["cik"].implode()))
    legs = of_company.select("cik", pl.col("legs").list.eval(pl.element().struct.field("accession"))).explode("legs")
    return older.join(legs, left_on=FILING, right_on=["cik", "legs"], how="anti")["cik"].unique()


def _changed(of_log: pl.DataFrame, of_replay: pl.DataFrame) -> Iterator[list[tuple[int, int | None, bool]]]:
    """The versions of each period and item that is told anew: rows of the replay and of the log, and which is first."""
    pairs = of_log.join(of_replay, on=VERSION_OF, suffix="_told").filter(is_same("value", "value_told"))
    is_equal = pl.all_horizontal(pl.col(name).eq_missing(pl.col(f"{name}_told")) for name in TOLD)
    same, equal = (set(found.select("logged", "told").iter_rows()) for found in (pairs, pairs.filter(is_equal)))
    is_served = pl.col("recorded_at").is_not_null()
    logged = of_log.group_by(VERSION_OF, maintain_order=True).agg("logged", served=pl.col("logged").filter(is_served))
    told = of_replay.group_by(VERSION_OF, maintain_order=True).agg("told")
    both = logged.join(told, on=VERSION_OF, maintain_order="left").select("logged", "served", "told")
    for rows, served, candidates in both.iter_rows():
        at = _served(served, candidates, same)
        found = candidates[: candidates.index(max(at)) + 1] if at else []
        if found and not (len(found) == len(rows) and equal.issuperset(zip(rows, found, strict=True))):
            yield [(row, at.get(row), n == 0) for n, row in enumerate(found)]


def _served(served: Sequence[int], told: Sequence[int], same: Collection[tuple[int, int]]) -> dict[int, int]:
    """The logged row of each replayed one that was served; empty if the replay has not all served values, in order."""
    found: dict[int, int] = {}
    upto = len(told)
    for logged in reversed(served):
        upto = next((n for n in reversed(range(upto)) if (logged, told[n]) in same), -1)
        if upto < 0:
            return {}
        found[told[upto]] = logged
    return found
