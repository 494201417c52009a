"""Late reports: versions that are recorded again because a report, or more of it, was read after newer reports.

Belongs here: which reports are late, and which versions are recorded a second time because of them. Does not: the other
versions that a synchronization appends (versions).

The log is append-only. Therefore all versions of a period and item are recorded a second time, with the versions of the
late report at their places in the order of filing, and the last recording counts. It contains all values that were
served, with the times at which they were first recorded.
"""

from collections.abc import Collection, Iterator, Sequence

import polars as pl

from pipelines.normalize.history.log import CORRECTION, LOG, REPLAYED, SERIES_KEY, SOURCE, VERSION_OF
from pipelines.normalize.history.replay import is_same
from pipelines.normalize.history.versions import SOURCE_READ

FILING = ["cik", "accession"]
COMPARED_COLUMNS = [name for name in REPLAYED if name not in (*VERSION_OF, "basis", "cause")]
"""The columns, besides the cause, in which two versions of a period and item can differ."""
Recording = tuple[int | None, int | None, bool, bool]
"""A version that is recorded again: its row numbers in the replay and in the log (None: not there), whether it is the
first version of its period and item, and whether it follows a served value that the replay does not have."""


def in_force(log: pl.DataFrame) -> pl.DataFrame:
    """The rows of the log that count: only the last recording of a period and item that was recorded again."""
    if not log["starts_anew"].any():
        return log
    recording = pl.col("starts_anew").fill_null(value=False).cum_sum().over(VERSION_OF)
    recordings = log.with_columns(recording=recording)
    return recordings.filter(pl.col("recording") == pl.col("recording").max().over(VERSION_OF)).drop("recording")


def recorded_again(
    log: pl.DataFrame, replayed: pl.DataFrame, order: pl.DataFrame, rules: str, reread: Collection[str] = ()
) -> pl.DataFrame:
    """The versions that a synchronization records a second time because reports, or more of them, were read late.

    Args:
        log: the rows in force of some companies, on today's share basis: columns of LOG.
        replayed: the versions to which their filings lead today: columns of REPLAYED, in the order of filing.
        order: `cik`, `accession`, `seq`: the filings known today in their order.
        rules: the digest of the rules that made `replayed`.
        reread: the companies for which other data is read from the filings than before.

    Returns:
        rows for the log, for each period and item whose versions in the log differ from the replay: the replayed
        versions that to_append does not add, with the times at which their values were recorded; and, in their order,
        the served values that the replay does not have. Versions that other rules made are not recorded again. A period
        and item without a version today, of which no value was served, gets one row without value.
    """
    late = {*_with_late_reports(log, replayed, order), *reread}
    if not late:
        return log.clear()
    of_company = pl.col("cik").is_in([*late])
    of_log = log.with_row_index("logged").filter(of_company, (pl.col("rules") == rules).all().over(VERSION_OF))
    newest = of_log.join(order, on=FILING).group_by(VERSION_OF).agg(newest=pl.col("seq").max())
    is_newest = pl.int_range(pl.len()).over(VERSION_OF) == pl.len().over(VERSION_OF) - 1
    of_replay = (
        replayed.with_row_index("replayed_row")
        .with_columns(is_newest=is_newest)
        .join(order, on=FILING, maintain_order="left")
        .join(newest, on=VERSION_OF, maintain_order="left")
        .with_columns(is_appended=pl.col("is_newest") | (pl.col("seq") > pl.col("newest")))
    )
    recordings = pl.DataFrame(
        [row for found in _changed(of_log, of_replay) for row in found],
        {"replayed_row": pl.UInt32, "logged": pl.UInt32, "starts_anew": pl.Boolean, "corrects": pl.Boolean},
        orient="row",
    )
    basis = replayed.select(*SERIES_KEY, "basis").unique(SERIES_KEY)
    served = log.drop("basis").with_row_index("logged").join(basis, on=SERIES_KEY, how="left", maintain_order="left")
    versions = pl.concat(rows.select(REPLAYED.names()) for rows in (replayed, served)).with_row_index("row")
    recorded = (
        recordings.with_columns(row=pl.coalesce("replayed_row", pl.col("logged") + replayed.height))
        .join(versions, on="row", maintain_order="left")
        .join(served.select("logged", "recorded_at"), on="logged", how="left", maintain_order="left")
        .with_columns(cause=pl.when("corrects").then(pl.lit(CORRECTION)).otherwise("cause"), rules=pl.lit(rules))
        .select(LOG.names())
    )
    return pl.concat([recorded, _never_valued(of_log.filter(pl.col("cik").is_in([*reread])), replayed)])


def _never_valued(of_log: pl.DataFrame, replayed: pl.DataFrame) -> pl.DataFrame:
    """One row without value for each period and item that has no version today, and of which no value was served."""
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
    """The companies with a late filing.

    A filing is late if it leads to versions and is older than the newest filing in the log, but neither a logged
    version nor a leg of one is from it.
    """
    named = log.select(FILING).unique()
    newest = named.join(order, on=FILING).group_by("cik").agg(newest=pl.col("seq").max())
    unnamed = replayed.select(FILING).unique().join(named, on=FILING, how="anti").join(order, on=FILING)
    older = unnamed.join(newest, on="cik").filter(pl.col("seq") < pl.col("newest"))
    of_company = log.filter(pl.col("cik").is_in(older["cik"].implode()))
    legs = of_company.select("cik", pl.col("legs").list.eval(pl.element().struct.field("accession"))).explode("legs")
    return older.join(legs, left_on=FILING, right_on=["cik", "legs"], how="anti")["cik"].unique()


def _changed(of_log: pl.DataFrame, of_replay: pl.DataFrame) -> Iterator[list[Recording]]:
    """The versions of each period and item that is recorded again."""
    pairs = of_log.join(of_replay, on=VERSION_OF, suffix="_replayed").filter(is_same("value", "value_replayed"))
    is_equal = [pl.col(name).eq_missing(pl.col(f"{name}_replayed")) for name in COMPARED_COLUMNS]
    same, alike, equal = (
        set(pairs.filter(are).select("logged", "replayed_row").iter_rows())
        for are in (pl.lit(value=True), is_equal, [*is_equal, pl.col("cause").eq_missing(pl.col("cause_replayed"))])
    )
    is_served = pl.col("recorded_at").is_not_null()
    logged = of_log.group_by(VERSION_OF, maintain_order=True).agg("logged", served=pl.col("logged").filter(is_served))
    replays = of_replay.group_by(VERSION_OF).agg("replayed_row", appended=pl.col("replayed_row").filter("is_appended"))
    both = logged.join(replays, on=VERSION_OF, maintain_order="left").select(
        "logged", "served", "replayed_row", "appended"
    )
    for of_item, served, candidates, appended in both.iter_rows():
        found = _with_served(served, candidates, same)
        while found and found[-1][1] is None and found[-1][0] in appended:
            found.pop()  # to_append adds it
        lacks = [row is None for row, _ in found]
        # causes are not compared if a served value is missing in the replay, because they then differ
        equal_rows = alike if any(lacks) else equal
        is_unchanged = [
            row == kept if new is None else (row, new) in equal_rows
            for row, (new, kept) in zip(of_item, found, strict=False)
        ]
        if len(of_item) != len(found) or not all(is_unchanged):
            yield [(new, kept, n == 0, n > 0 and lacks[n - 1] and not lacks[n]) for n, (new, kept) in enumerate(found)]


def _with_served(
    served: Sequence[int], replayed_rows: Sequence[int], same: Collection[tuple[int, int]]
) -> list[tuple[int | None, int | None]]:
    """Combine the versions of the replay with the served versions of the log, in order.

    Args:
        served: rows of the log whose values were served.
        replayed_rows: rows of the replay.
        same: pairs of a row of the log and a row of the replay with the same value.

    Returns:
        pairs of a row of the replay and a row of the log. A version of the replay that was never served has no row of
        the log. A served version that the replay does not have comes directly after the served version before it, and
        has no row of the replay.
    """
    places: dict[int, int] = {}
    upto = len(replayed_rows)
    for logged in reversed(served):
        place = next((n for n in reversed(range(upto)) if (logged, replayed_rows[n]) in same), None)
        if place is not None:
            places[logged] = upto = place
    found: list[tuple[int | None, int | None]] = []
    done = 0
    for logged in served:
        place = places.get(logged)
        if place is None:
            found.append((None, logged))
        else:
            found += [*((row, None) for row in replayed_rows[done:place]), (replayed_rows[place], logged)]
            done = place + 1
    return [*found, *((row, None) for row in replayed_rows[done:])]
