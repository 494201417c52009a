"""Versions: adds filing, period, cause, flags and lineage to each, and finds which ones are appended to the log.

Belongs here: combining the results of the steps for each version, comparing the log with the replayed versions, and
converting it to the newest share basis. Does not: the columns of the log (log), which values are versions (replay), why
a value changed (causes), any arithmetic of values (ttm, items).

The log is append-only. Its values are on the share basis of the filing that was the newest when they were recorded. A
split rescales them when they are read, and adds no version.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import NamedTuple

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Ints, ints
from pipelines.normalize.faces.sources import FILING
from pipelines.normalize.forms import AMENDMENT
from pipelines.normalize.history.causes import COMPARED, classified
from pipelines.normalize.history.log import (
    CORRECTION,
    FACT,
    LOG,
    REPLAYED,
    SERIES_KEY,
    SOURCE,
    TWELVE_MONTHS,
    VERSION_OF,
)
from pipelines.normalize.history.replay import is_same
from pipelines.normalize.items import flags, provenance
from pipelines.normalize.items.line_items import SHARES
from pipelines.normalize.periods.calendar import YEAR_DAYS
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.known import NOISE_OF_SUMS
from warehouse.contract.line_items import items_of

RULES_CHANGED = Rule(
    "version.withdrawn.rules-changed",
    "A value that was recorded by other rules is withdrawn if today's rules no longer find it in any filing.",
    "The log is append-only: a value that is no longer supported is followed by an empty version",
    "withhold",
)
CURRENCY_LEFT = Rule(
    "version.withdrawn.currency-left",
    "A value in a former reporting currency of the company is withdrawn if no filing states it in the new currency.",
    "All values of a company are in one currency (rule currency.reporting), so that they can be compared",
    "withhold",
)
FACTS_CHANGED = Rule(
    "version.withdrawn.facts-changed",
    "A value that today's rules recorded is withdrawn if its facts are still in EDGAR but no longer lead to it, "
    "because EDGAR has other figures for known filings; so is a ratio if one of its amounts changed.",
    "A contradicted value is not served, and a ratio is only as good as each amount",
    "withhold",
)
SOURCE_READ = Rule(
    "version.withdrawn.source-read",
    "A value that today's rules recorded is withdrawn if they no longer find it because other data are now read from "
    "the filings, while companyfacts have its facts as before.",
    "The sources of a filing are one report: what all of them state together counts",
    "withhold",
)
FACT_DROPPED = Rule(
    "version.kept.fact-dropped",
    "A value that no filing supports any more stays if today's rules recorded it and one of its facts is missing, or "
    "if the company now has no values at all: only a later EDGAR document lacks the facts.",
    "A filing remains valid even if a later document lacks its facts",
    "select",
)

FACT_OF = ["tag", "unit", "start", "end", "accession"]
AS_STATED = [*FACT_OF, "value"]
CAUSE_OF = {
    RULES_CHANGED.id: "method",
    CURRENCY_LEFT.id: "basis_change",
    SOURCE_READ.id: SOURCE,
    FACTS_CHANGED.id: CORRECTION,
}
"""The cause of a version that withdraws a value, by its rule."""
INPUTS = pl.DataFrame(
    {
        "item": ["debt_to_fcf", "debt_to_fcf", "roic", "roic"],
        "input": ["total_debt", "free_cash_flow", "total_debt", "cash_and_equivalents"],
    }
)
"""The items from which each ratio is computed."""


class ReadDifferently(NamedTuple):
    """The companies for which the same rules now read other data from the filings than before.

    Attributes:
        ciks: all of these companies.
        same_documents: the ones whose companyfacts and submissions documents have not changed.
        in_companyfacts: the filings, by accession number, that were read from packages and are in companyfacts now.
    """

    ciks: Collection[str] = ()
    same_documents: Collection[str] = ()
    in_companyfacts: Collection[str] = ()


NONE_REREAD = ReadDifferently()


def published(
    values: pl.DataFrame,
    lineage: pl.DataFrame,
    filings: pl.DataFrame,
    grid: pl.DataFrame,
    breaks: pl.DataFrame,
    n: int = TWELVE_MONTHS,
) -> pl.DataFrame:
    """The versions of all values: columns of REPLAYED, `q` and `seq`, in the order of filing.

    Args:
        values: of replay.item_versions.
        lineage: of provenance.lineage.
        filings: with `factor`, the share basis.
        grid: of periods.calendar.fiscal_grid.
        breaks: of periods.breaks.breaks.
        n: how many quarters each value covers.
    """
    repriced = breaks.filter(kind="purchasing_power").select("cik", "accession", repriced=True)
    is_repriced = pl.col("repriced").fill_null(value=False) & ~pl.col("item").is_in([*SHARES, *items_of("ratio")])
    # the day before the first fiscal year ends no period: only its balance sheet is known, as a comparative
    periods = grid.filter(pl.col("fiscal_quarter") > 0).select(
        "cik", "q", "period_end", "fiscal_year", "fiscal_quarter", "is_year_end"
    )
    of_filing = filings.select(
        "cik", "seq", "accession", "form", "filed", is_amended=pl.col("form").str.ends_with(AMENDMENT)
    )
    # the newest filing may be an amendment that repeats a report on a former basis
    newest = (
        filings.filter((pl.col("factor") - 1).abs() < NOISE_OF_SUMS)
        .sort("cik", "seq")
        .group_by("cik", maintain_order=True)
        .agg(basis=pl.col("accession").last())
    )
    described = (
        values.with_columns(provenance.summaries(lineage, values.height))
        .join(periods, on=["cik", "q"])
        .join(of_filing, on=["cik", "seq"])
        .join(newest, on="cik")
        .join(repriced, on=["cik", "accession"], how="left", maintain_order="left")
        .with_columns(purchasing_power=is_repriced & pl.col("value").is_not_null())
    )
    facts = lineage.select("version", *COMPARED).join(described.select("version"), on="version", how="semi")
    compared = classified(described, facts)
    first_shown = pl.col("filed") - pl.col("period_end") > pl.duration(days=YEAR_DAYS[0])
    flagged = compared.with_columns(first_seen_as_comparative=(pl.col("cause") == "initial") & first_shown)
    legs = lineage.group_by("version", maintain_order=True).agg(legs=pl.struct(provenance.LINEAGE))
    without = (
        flagged.select("version").join(legs, on="version", how="anti").with_columns(legs=pl.lit([], legs["legs"].dtype))
    )
    return (
        flagged.with_columns(flags=flags.published(flagged), class_member=pl.lit(""), n=pl.lit(n, pl.Int32))
        .sort("cik", "period_end", "item", "seq")
        .join(pl.concat([legs, without], rechunk=True), on="version", maintain_order="left")
        .select(*REPLAYED.names(), "q", "seq")
    )


def to_append(
    log: pl.DataFrame,
    replayed: pl.DataFrame,
    order: pl.DataFrame,
    rules: str,
    currencies: pl.DataFrame | None = None,
    facts: Callable[[], pl.DataFrame] | None = None,
    reread: ReadDifferently = NONE_REREAD,
) -> pl.DataFrame:
    """The versions that a synchronization appends to the log.

    Args:
        log: the rows in force of these companies (late.in_force), with values on today's share basis: columns of LOG.
        replayed: the versions to which their filings lead today: columns of REPLAYED, in the order of filing.
        order: `cik`, `accession`, `seq`: the filings known today in their order.
        rules: the digest of the rules that made `replayed`.
        currencies: `cik`, `currency`: today's reporting currency of each company; None if it is not known.
        facts: reads `tag`, `unit`, `start`, `end`, `accession`, `value` of today's facts of all sources, in the form of
            the legs; it is only called if a value has lost its support. None: all facts are missing.
        reread: the companies whose values may differ because other data is read from their filings.

    Returns:
        rows with the columns of REPLAYED. For a period and item that the log does not have, all versions. Otherwise

        - the versions of filings after the last logged one;
        - then the newest value if it still differs from the logged one, with the cause `method` if the rules changed,
          `source` if other data is read from the filings while the logged facts are unchanged, otherwise `correction`;
        - a null value, with the rule that withdraws the value, if the changed rules, sources or facts no longer support
          it, or if it is in a former currency of the company.

        If a fact is only missing in a later document, its values stay, except ratios of an amount that changed.
    """
    found = _with_logged_values(log, replayed, order)
    fresh = _named_by_source(_of_new_filings(found), log, order, reread)
    corrected = _corrected(found, fresh, rules)
    corrected = corrected.with_columns(cause=_cause_of_correction(corrected, log, facts, reread))
    lacking = unsupported(log, replayed, rules, currencies, facts, reread)
    left = lacking.filter(pl.col("decided_by") != FACT_DROPPED.id)
    changed = pl.concat(
        [frame.select(*SERIES_KEY, "period_end", "n", input="item") for frame in (fresh, corrected, left)]
    )
    of_changed = lacking.join(INPUTS, on="item").join(changed, on=[*SERIES_KEY, "period_end", "n", "input"], how="semi")
    is_reread = pl.col("cik").is_in([*reread.same_documents])
    by = pl.when(is_reread).then(pl.lit(SOURCE_READ.id)).otherwise(pl.lit(FACTS_CHANGED.id))
    stale = of_changed.unique(VERSION_OF).select(*VERSION_OF, decided_by=by)
    withdrawn = (
        log.join(pl.concat([left, stale]).unique(VERSION_OF, keep="first"), on=VERSION_OF, maintain_order="left")
        .group_by(VERSION_OF, maintain_order=True)
        .last()
        .with_columns(
            value=pl.lit(None, pl.Float64),
            rule=pl.col("decided_by"),
            cause=pl.col("decided_by").replace_strict(CAUSE_OF, return_dtype=pl.String),
            flags=pl.lit(""),
            legs=pl.lit([], pl.List(FACT)),
        )
    )
    kept = [_rows(replayed, ints(rows, "row")).with_columns(rows["cause"]) for rows in (fresh, corrected)]
    return pl.concat([frame.select(REPLAYED.names()) for frame in (*kept, withdrawn)])


def _rows(frame: pl.DataFrame, numbers: Ints) -> pl.DataFrame:
    """Some rows of a frame by number; all of them, as for a new company, or none, are not copied."""
    if not numbers.size:
        return frame.clear()
    return frame if np.array_equal(numbers, np.arange(frame.height)) else frame[numbers]


def _with_logged_values(log: pl.DataFrame, replayed: pl.DataFrame, order: pl.DataFrame) -> pl.DataFrame:
    """The replayed versions, each with the logged value of its period and item.

    Returns:
        `row` (of `replayed`), its columns, `seq` (place of its filing; null if the filing is no longer in the
        documents, and then only the newest value is compared), `is_known` (whether there is a logged version), and from
        the log `logged` (the newest value), `logged_seq` (the last filing) and `logged_rules`.
    """
    place = order.select("cik", "accession", "seq")
    last = (
        log.drop("legs")
        .join(place, on=["cik", "accession"], how="left", maintain_order="left")
        .group_by(VERSION_OF, maintain_order=True)
        .agg(
            logged=pl.col("value").last(),
            logged_seq=pl.col("seq").max(),
            logged_rules=pl.col("rules").last(),
            is_known=pl.lit(value=True),
        )
    )
    return (
        replayed.drop("legs")
        .with_row_index("row")
        .join(place, on=["cik", "accession"], how="left", maintain_order="left")
        .join(last, on=VERSION_OF, how="left", maintain_order="left")
        .with_columns(pl.col("is_known").fill_null(value=False))
    )


def _of_new_filings(found: pl.DataFrame) -> pl.DataFrame:
    """Versions that change a value, from filings after the last logged one or of periods without a logged value."""
    later = found.filter(~pl.col("is_known") | (pl.col("seq") > pl.col("logged_seq")))
    places = _places(later)
    earlier, is_first = places["earlier"], pl.lit(places["place"] == 1)
    before = pl.when(is_first).then("logged").otherwise(later["value"].gather(earlier))
    return later.with_columns(before=before).filter(~is_same("value", "before") | (is_first & ~pl.col("is_known")))


def _places(versions: pl.DataFrame) -> pl.DataFrame:
    """The place of each version among the versions of its period and item, in their order.

    Returns:
        a row for each version, in the order of `versions`: `place` (from 1), `is_last`, and `earlier` (the row number
        of the version before; null for the first). With five key columns this takes a third of the time of `over`.
    """
    row = pl.col("row")
    return (
        versions.select(VERSION_OF)
        .with_row_index("row")
        .group_by(VERSION_OF)
        .agg("row")
        .select("row", place=pl.int_ranges(1, row.list.len() + 1, dtype=pl.Int32), last=row.list.last())
        .explode("row", "place")
        .with_columns(earlier=pl.when(pl.col("place") > 1).then(row.shift()))
        .sort("row")
        .select("place", "earlier", is_last=row == pl.col("last"))
    )


def _named_by_source(
    fresh: pl.DataFrame, log: pl.DataFrame, order: pl.DataFrame, reread: ReadDifferently
) -> pl.DataFrame:
    """Set the cause `source` for fresh versions of a logged period and item whose filing is not newer than the log.

    This applies to the companies and filings of `reread`.
    """
    filing = ["cik", "accession"]
    newest = log.select(filing).unique().join(order, on=filing).group_by("cik").agg(newest=pl.col("seq").max())
    is_reread = pl.col("cik").is_in([*reread.ciks]) | pl.col("accession").is_in([*reread.in_companyfacts])
    is_by_source = pl.col("is_known") & is_reread & (pl.col("seq") <= pl.col("newest"))
    return fresh.join(newest, on="cik", how="left", maintain_order="left").with_columns(
        cause=pl.when(is_by_source).then(pl.lit(SOURCE)).otherwise("cause")
    )


def _corrected(found: pl.DataFrame, fresh: pl.DataFrame, rules: str) -> pl.DataFrame:
    """The newest values that differ from the last value in the log, with the fresh versions appended."""
    known, fresh_of_known = found.filter("is_known"), fresh.filter("is_known")
    added = fresh_of_known.group_by(VERSION_OF).agg(added=pl.col("value").last(), adds=pl.lit(value=True))
    newest = known.group_by(VERSION_OF, maintain_order=True).last()
    stands = pl.when("adds").then("added").otherwise("logged")
    return (
        newest.join(added, on=VERSION_OF, how="left", maintain_order="left")
        .with_columns(stands=stands, is_by_rules=pl.col("logged_rules") != rules)
        .filter(~is_same("value", "stands"))
    )


def _cause_of_correction(
    corrected: pl.DataFrame, log: pl.DataFrame, facts: Callable[[], pl.DataFrame] | None, reread: ReadDifferently
) -> pl.Series:
    """The cause of each newest value that differs from the logged one: `method`, `source` or `correction`."""
    of_corrected = log.join(corrected, on=VERSION_OF, how="semi", maintain_order="left")
    logged = of_corrected.group_by(VERSION_OF, maintain_order=True).agg(pl.col("legs").last())
    with_legs = corrected.join(logged, on=VERSION_OF, how="left", maintain_order="left")
    is_by_source = _is_by_source(with_legs, facts, reread)
    return corrected.select(
        cause=pl.when("is_by_rules")
        .then(pl.lit("method"))
        .when(is_by_source)
        .then(pl.lit(SOURCE))
        .otherwise(pl.lit(CORRECTION))
    ).to_series()


def _is_by_source(values: pl.DataFrame, facts: Callable[[], pl.DataFrame] | None, reread: ReadDifferently) -> pl.Series:
    """Whether logged values (facts in column `legs`) are not found because other data is read from the filings.

    This is the case if the documents of the company are unchanged, or if the facts of the value are still stated with
    the same amounts. It is also the case if a fact was read from the package of a filing, and companyfacts, which now
    have the filing, state another amount.
    """
    of_package = (pl.element().struct.field("source") == FILING) & pl.element().struct.field("accession").is_in(
        [*reread.in_companyfacts]
    )
    read_early = values.with_columns(pl.col("legs").list.filter(of_package))
    is_early = read_early["legs"].list.len() > 0
    same = values["cik"].is_in([*reread.same_documents])
    asked = (values["cik"].is_in([*reread.ciks]) | is_early) & ~same
    if facts is None or not asked.any():
        return same
    is_stated = ~_lack_facts(values, facts, AS_STATED)
    return same | (asked & is_stated) | (is_early & _lack_facts(read_early, facts, AS_STATED))


def unsupported(
    log: pl.DataFrame,
    replayed: pl.DataFrame,
    rules: str,
    currencies: pl.DataFrame | None = None,
    facts: Callable[[], pl.DataFrame] | None = None,
    reread: ReadDifferently = NONE_REREAD,
) -> pl.DataFrame:
    """The newest values of the log that the filings no longer support, and the rule that withdraws or keeps each.

    Args:
        log, replayed, rules, currencies, facts, reread: as for to_append.

    Returns:
        `cik`, `period_end`, `item`, and `decided_by`: the id of the rule that withdraws or keeps the value.
    """
    if currencies is None:
        currencies = pl.DataFrame(schema={"cik": pl.String, "currency": pl.String})
    has_values = pl.col("cik").is_in(replayed["cik"].unique().implode())
    has_left = (pl.col("logged_currency") != pl.col("currency")).fill_null(value=False)
    found = (
        log.join(replayed, on=VERSION_OF, how="anti", maintain_order="left")
        .group_by(VERSION_OF, maintain_order=True)
        .agg(pl.col("value", "rules", "legs").last(), logged_currency=_currency(pl.col("legs").last()))
        .drop_nulls("value")
        .join(currencies, on="cik", how="left", maintain_order="left")
    )
    is_by_source = (found["rules"] == rules) & _is_by_source(found, facts, reread)
    lacks = _lack_facts(found, None if is_by_source.all() else facts)
    return found.select(
        *VERSION_OF,
        decided_by=pl.when(CURRENCY_LEFT.where(has_values & has_left))
        .then(pl.lit(CURRENCY_LEFT.id))
        .when(RULES_CHANGED.where(has_values & (pl.col("rules") != rules)))
        .then(pl.lit(RULES_CHANGED.id))
        .when(SOURCE_READ.where(pl.lit(is_by_source)))
        .then(pl.lit(SOURCE_READ.id))
        .when(FACTS_CHANGED.where(has_values & ~lacks))
        .then(pl.lit(FACTS_CHANGED.id))
        .when(FACT_DROPPED.where(pl.lit(value=True)))
        .then(pl.lit(FACT_DROPPED.id)),
    )


def _lack_facts(
    values: pl.DataFrame, facts: Callable[[], pl.DataFrame] | None, same: Sequence[str] = FACT_OF
) -> pl.Series:
    """Whether a fact of each value (column `legs`) is missing: no fact of today is equal to it in columns `same`."""
    if facts is None or values.is_empty():
        return pl.repeat(value=True, n=values.height, eager=True)
    legs = values.select("legs").with_row_index("row").explode("legs").unnest("legs")
    lacking = legs.join(facts(), on=list(same), how="anti", nulls_equal=True)
    return pl.int_range(values.height, eager=True).is_in(lacking["row"].unique().implode())


def _currency(legs: pl.Expr) -> pl.Expr:
    """The currency of a version: the currency of its first leg in money or per share; null for counts."""
    units = legs.list.eval(pl.element().struct.field("unit").str.extract(r"^([A-Z]{3})(?:/shares)?$"))
    return units.list.drop_nulls().list.first()


def on_basis_of_today(log: pl.DataFrame, factors: pl.DataFrame, signs: dict[str, int]) -> pl.DataFrame:
    """The log with values and legs on the newest share basis.

    Args:
        log: columns of LOG.
        factors: `cik`, `class_member`, `accession`, `factor`: new shares for one share of that filing's basis.
        signs: 1 for each item in shares, -1 for each item per share; other items are left out.
    """
    sign = pl.col("item").replace_strict(signs, default=0, return_dtype=pl.Int8)
    scale = pl.col("factor").fill_null(1.0)
    factor = pl.when(sign > 0).then(scale).when(sign < 0).then(1 / scale).otherwise(1.0)
    key = [*SERIES_KEY, "basis"]
    of_rows = log.select(key).join(factors.rename({"accession": "basis"}), on=key, how="left", maintain_order="left")
    if not of_rows.select((pl.col("factor") != 1.0).any()).item():
        return log  # no split since, as on most days
    scaled = log.with_columns(of_rows["factor"]).with_columns(pl.col("value") * factor)
    return scaled.with_columns(legs=_legs_rescaled(scaled)).select(log.columns)


def recorded(appended: pl.DataFrame, at: datetime, rules: str) -> pl.DataFrame:
    """Rows for the log: `recorded_at` is the time `at` for current values, null for values already superseded."""
    is_last = pl.struct(VERSION_OF).is_last_distinct()
    return appended.with_columns(
        recorded_at=pl.when(is_last).then(pl.lit(at, pl.Datetime("us", "UTC"))),
        rules=pl.lit(rules),
        starts_anew=pl.lit(value=False),
    ).select(LOG.names())


def numbered(log: pl.DataFrame) -> pl.DataFrame:
    """Add `version`, counting from 1 for each period and item in the order of recording, and `is_current`."""
    places = _places(log)
    return log.with_columns(places["place"].alias("version"), places["is_last"].alias("is_current"))


def _legs_rescaled(scaled: pl.DataFrame) -> pl.Series:
    """The legs with their split factors multiplied by later splits; unchanged without later splits."""
    rows = scaled.with_row_index("row")
    unit = pl.col("unit")
    factor = (
        pl.when(unit == "shares")
        .then("factor")
        .when(unit.str.ends_with("/shares"))
        .then(1 / pl.col("factor"))
        .otherwise(1.0)
    )
    again = (
        rows.filter(pl.col("factor").fill_null(1.0) != 1.0)
        .select("row", "factor", "legs")
        .explode("legs")
        .unnest("legs")
        .with_columns(split_factor=pl.col("split_factor") * factor)
        .group_by("row", maintain_order=True)
        .agg(moved_legs=pl.struct([field.name for field in FACT.fields]))
    )
    moved = rows.join(again, on="row", how="left", maintain_order="left")
    return moved.select(pl.coalesce("moved_legs", "legs")).to_series()
