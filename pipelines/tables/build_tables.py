"""The tables of the published warehouse, assembled from the tables of the stages.

Belongs here: joining values with listings, one frame for each table of warehouse.contract.schema.
Does not: the tables that take more than a few lines (gaps, quarters, fair_values, filings, newest_statements), any rule
of accounting (normalize), the file that is published (warehouse.build.publish).
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import partial

import polars as pl

from pipelines.normalize.classes import symbols
from pipelines.normalize.classes.members import plain
from pipelines.normalize.classes.series import CLASS, COMPANY
from pipelines.normalize.classes.symbols import SERIES_MEMBER
from pipelines.normalize.elements import describe_sources
from pipelines.normalize.frames import WITHHELD_OUTCOME as WITHHELD
from pipelines.normalize.history.log import ONE_QUARTER, TWELVE_MONTHS, with_later_columns
from pipelines.normalize.industry.sic import MAJOR_GROUPS
from pipelines.normalize.items.item import SUM
from pipelines.normalize.items.line_items import served
from pipelines.normalize.rules import FILES, REGISTRY
from pipelines.one_thread import in_one_thread
from pipelines.stages.batch import held_back
from pipelines.stages.batch.batches import in_batches
from pipelines.stages.batch.isolation import Fault, ciks_of, isolated
from pipelines.stages.batch.schemas import APPENDED, REPLAYED
from pipelines.storage.lake import Lake, LimitedLake
from pipelines.tables import fair_values, filings, newest_statements, row_gates, rule_table
from pipelines.tables.gaps import gaps_of_periods
from pipelines.tables.period_kinds import ITEM, as_quarters, by_kind
from pipelines.tables.quarters import OF_QUARTERS, gaps_of_quarters, with_balances
from pipelines.tables.stored import (
    AGES,
    CHANGED,
    CONTENT,
    CONTENTS,
    COUNTED,
    LAST,
    MADE_FROM,
    NEWEST,
    OF_COMPANIES,
    SYMBOLS,
    assembled,
    digest,
    made_from_all,
    made_from_by_company,
)
from pipelines.valuation.table import projections
from pipelines.workers import ALONE, Workers
from warehouse.contract import quarters, schema
from warehouse.contract.line_items import ITEM_NAMES, LINE_ITEMS, SERVED_NAMES
from warehouse.contract.table import filed_of

POLARS_TYPES: dict[str, pl.DataType] = {
    "VARCHAR": pl.String(),
    "DATE": pl.Date(),
    "TIMESTAMP": pl.Datetime("us"),
    "INTEGER": pl.Int32(),
    "BIGINT": pl.Int64(),
    "DOUBLE": pl.Float64(),
    "BOOLEAN": pl.Boolean(),
    "VARCHAR[]": pl.List(pl.String()),
}
IS_SERVED = pl.col("item").is_in(SERVED_NAMES)
OF_SYMBOL = ("symbol", "exchange", "is_listed", "is_primary", CLASS, SERIES_MEMBER)
"""The columns of table `companies` that differ between the symbols of one company."""
OF_PERIODS = ("financials", quarters.QUARTERS)
"""Tables with a row for each symbol and period."""
IN_ORDER = ("versions", "lineage", quarters.of_quarters("versions"), quarters.of_quarters("lineage"))
"""Tables that are already in their order, because the log is sorted."""
Notes = tuple[dict[str, date | None], list[Fault]]
"""The notes on a batch: the day after which the valuation of each company is stale, and the companies that fail."""


def assemble_companies(lake: Lake, workers: Workers = ALONE, again: Collection[str] = ()) -> list[Fault]:
    """Write the tables of companies, with the columns and the order of the schema.

    The rows of a company are made again only if their inputs have changed. Companies are processed in batches; each
    process has one batch at a time. A company whose rows fail a row gate, or that another stage could not process,
    keeps its earlier rows.

    Args:
        lake: tables of the stages.
        workers: the processes that share the batches.
        again: companies whose rows are made again even if their inputs are unchanged.

    Returns:
        the companies that are held back here, with the reasons.
    """
    newest_filing = filings.newest_day(lake)
    made_from, known, named = made_from_by_company(lake), lake.inputs(CONTENTS), {*again}
    ages = dict(lake.read(AGES).iter_rows()) if lake.holds(AGES) else {}
    to_do = {
        cik: digest
        for cik, digest in made_from.items()
        if known.get(cik) != _with_age(digest, ages.get(cik), newest_filing) or cik in named
    }
    faults: list[Fault] = []
    if to_do or not known:
        left_out = held_back.not_compared(lake)
        with lake.gathering("warehouse") as output:
            companies = sorted(to_do.keys() - left_out)
            parts = [lake.limited_to(batch) for batch in in_batches(companies, lake.rows_by_company("facts"))]
            task = partial(
                isolated, "stage tables", partial(_of_companies, newest_filing, newest_statements.quarters_of(lake))
            )
            for notes, found in output.fill(workers, task, parts):
                faults += found
                for new_ages, contradicted in notes:
                    faults += contradicted
                    to_do |= {cik: _with_age(to_do[cik], new_ages[cik], newest_filing) for cik in new_ages}
            left_out |= ciks_of(faults)
            done = {cik: digest for cik, digest in to_do.items() if cik not in left_out}
            for name in _tables_of_companies():  # the last table marks all rows of a company as made
                lake.replace_companies(name, output.of(name), done, left_out)
        _under_symbols_of_today(lake, left_out & to_do.keys() & known.keys())
    gone = known.keys() - made_from.keys()
    for name in _tables_of_companies():
        lake.remove_companies(name, gone)
    return faults


def assemble_others(lake: Lake, synchronizations: pl.DataFrame) -> None:
    """Write the other tables; the last table has the digest of all inputs.

    Args:
        lake: tables of the stages and of the companies.
        synchronizations: rows of table `syncs`.
    """
    of_all = {
        "companies": _with_times(lake.read(SYMBOLS), lake.read("documents")),
        "filings": filings.with_addresses(lake),
        "rules": rule_table.table(REGISTRY, FILES, lake.read(COUNTED)),
        "securities": _securities(lake),
        "line_items": line_items(),
        CHANGED: _changes(lake.read(APPENDED)),
        "quarantine": lake.read("quarantine"),
        LAST: synchronizations,
    }
    made_from = made_from_all(lake, made_from_by_company(lake))
    of_last = {MADE_FROM: made_from, NEWEST: str(synchronizations["build"].last())}
    for name, frame in of_all.items():
        rows = conformed(name, frame)
        digests = {CONTENT: content_of(name, rows)}
        lake.write(assembled(name), rows, digests | of_last if name == LAST else digests)


def _under_symbols_of_today(lake: Lake, ciks: Collection[str]) -> None:
    """Move the kept rows of companies to their symbols of today, because a former symbol may belong to another company
    now."""
    tables = {"companies": SYMBOLS, **{name: assembled(name) for name in OF_PERIODS}}
    before = {name: lake.of_companies(table, ciks) for name, table in tables.items()}
    of_company = before["companies"].drop(OF_SYMBOL).unique("cik", keep="first", maintain_order=True)
    series = before["companies"].select("cik", "symbol", CLASS, SERIES_MEMBER)
    listed = _of_equity(lake.read("listings")).select("cik", *OF_SYMBOL[:-2])
    companies = of_company.join(listed, on="cik").join(series, on=["cik", "symbol"], how="left")
    now = {"companies": companies}
    for name in OF_PERIODS:
        of_series = before[name].join(series, on=["cik", "symbol"]).drop("symbol", "is_primary", "currency", CLASS)
        key = {"cik", SERIES_MEMBER, *schema.BY_NAME[name].key} - {"symbol"}
        now[name] = _of_symbols(of_series.unique(sorted(key)), companies)
    known = lake.inputs(CONTENTS)
    digests = {cik: known[cik] for cik in ciks}
    for name, rows in now.items():
        if not (rows := conformed(name, rows)).equals(conformed(name, before[name])):
            others = lake.of_companies(CONTENTS, ciks).filter(pl.col("table") != name)
            # first: if the run is killed in between, the rows still differ, and the next run replaces them
            lake.replace_companies(CONTENTS, [pl.concat([others, _contents(name, rows)])], digests)
            lake.replace_companies(tables[name], [rows], digests)


def _tables_of_companies() -> Iterator[str]:
    """The tables of the lake that are made in batches of companies."""
    yield from map(assembled, OF_COMPANIES)
    yield from (SYMBOLS, COUNTED, AGES, CONTENTS)


def _with_age(made_from: str, stale_after: date | None, newest_filing: date) -> str:
    """The digest, with a mark if the company's valuation is stale, which depends on the newest filing of all
    companies."""
    return f"{made_from} stale" if stale_after and newest_filing > stale_after else made_from


@in_one_thread
def _of_companies(
    newest_filing: date, newest_quarters: Sequence[str], part: LimitedLake
) -> tuple[dict[str, pl.DataFrame], Notes]:
    """The rows of a batch of companies in each table; the notes are the ages of their valuations and the faults."""
    periods = part.read("periods").unique(["cik", "period_end"], keep="first", maintain_order=True)
    with_legs = _with_rules(_labelled(part, periods), part)
    logged, legs = _without_legs(with_legs), with_legs["legs"]
    is_quarter, is_held = pl.col("n") == ONE_QUARTER, pl.col("is_current") & pl.col("value").is_not_null()
    versions, of_quarters = by_kind(logged.filter(~is_quarter)), as_quarters(logged.filter(is_quarter))
    current, quarterly = versions.filter(is_held), of_quarters.filter(is_held)
    held, held_of_quarters = with_legs.filter(is_held, ~is_quarter), with_legs.filter(is_held, is_quarter)
    companies = _companies(part, current)
    series = symbols.series_of(companies, part.read("classes"), current)
    companies = companies.join(series, on=["cik", "symbol"], maintain_order="left")
    gaps = gaps_of_periods(part, periods, current, series)
    quarter_gaps = gaps_of_quarters(part, periods, quarterly, series)
    found = {"splits": _splits(part), "breaks": part.read("breaks"), "repairs": part.read("repairs")}
    decisions = rule_table.decisions(part.read("decisions"), *found.values())
    values = fair_values.of_series(part, versions, current, newest_filing, series)
    frames = {
        "companies": companies,
        "financials": _financials(current, companies),
        "versions": _versions(part, versions),
        "lineage": lineage(versions, legs),
        "gaps": gaps,
        "proofs": _proofs(part, periods, current, gaps),
        "decisions": decisions,
        **found,
        "balance_sheet_lines": part.read("balance_sheet_lines"),
        "newest_statements": newest_statements.of_values(part, held, newest_quarters),
        "valuations": values,
        "projections": projections(values),
        quarters.QUARTERS: _financials(with_balances(quarterly, current), companies, OF_QUARTERS),
        quarters.of_quarters("versions"): _versions(part, of_quarters),
        quarters.of_quarters("lineage"): lineage(of_quarters, legs),
        quarters.of_quarters("gaps"): quarter_gaps,
    }
    conforming = {name: conformed(name, frame) for name, frame in frames.items()}
    faults = row_gates.failing(conforming)
    ages = values.group_by("cik", maintain_order=True).agg(pl.col("stale_after").min())
    tables = {
        **{assembled(name): conforming[name] for name in OF_COMPANIES},
        SYMBOLS: conforming["companies"],
        COUNTED: _counted(
            pl.concat([held, held_of_quarters]), pl.concat([gaps, quarter_gaps], how="diagonal"), decisions
        ),
        AGES: ages,
        CONTENTS: pl.concat(_contents(name, rows) for name, rows in conforming.items()),
    }
    return tables, (dict.fromkeys(part.ciks) | dict(ages.iter_rows()), faults)


def conformed(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """A frame with the columns of its table in their order and types, sorted in the table's order."""
    table = schema.BY_NAME[name]
    columns = [pl.col(column.name).cast(POLARS_TYPES[column.type]) for column in table.columns]
    of_company = [pl.col(name).replace(COMPANY, None) for name in (CLASS, SERIES_MEMBER) if name in table.names]
    typed = frame.select(columns).with_columns(of_company)
    return typed if name in IN_ORDER else typed.sort(*table.order)


def line_items() -> pl.DataFrame:
    """Table `line_items`: the line items, with the elements that are their sources."""
    return pl.DataFrame(
        [
            {
                "name": item.name,
                "unit": item.unit,
                "meaning": item.meaning,
                "formula": item.formula,
                "sources": describe_sources(item.name) or None,
            }
            for item in LINE_ITEMS
        ]
    )


def synchronization(
    sync_id: str, started_at: str, source: str, counts: Mapping[str, int], build: str | None
) -> pl.DataFrame:
    """The row of table `syncs` for a synchronization that ends with the build; times in ISO 8601 UTC."""
    row = {
        "sync_id": sync_id,
        "started_at": started_at,
        "finished_at": datetime.now(UTC).isoformat(),
        "source": source,
        "counts": json.dumps(dict(sorted(counts.items()))),
        "build": build,
    }
    times = pl.col("started_at", "finished_at").str.to_datetime(time_unit="us", time_zone="UTC")
    return pl.DataFrame([row], schema_overrides={"build": pl.String}).with_columns(times)


def content_of(name: str, rows: pl.DataFrame) -> str:
    """A digest of the contents of a table without times, independent of the order; fast, and comparable only with
    digests of this function."""
    return _summed(_hashed(name, rows).select(*SUMS)) if schema.BY_NAME[name].content_names else ""


SUMS = (
    pl.len().cast(pl.UInt64).alias("rows"),
    pl.col("hashed").sum().alias("total"),
    pl.col("hashed").bitwise_xor().alias("xor"),
)
"""Two sums of the hashes of rows, which do not depend on the order of the rows."""


def _hashed(name: str, rows: pl.DataFrame) -> pl.DataFrame:
    return rows.select(hashed=rows.select(schema.BY_NAME[name].content_names).hash_rows(seed=0))


def _summed(sums: pl.DataFrame) -> str:
    return digest(*sums.row(0)) if sums.height else digest(0, 0, 0)


def _contents(name: str, rows: pl.DataFrame) -> pl.DataFrame:
    """Table `contents`: the sums of the rows of each company in a table."""
    of_companies = _hashed(name, rows).with_columns(rows["cik"], table=pl.lit(name))
    return of_companies.group_by("cik", "table").agg(*SUMS)


def _companies(part: LimitedLake, current: pl.DataFrame) -> pl.DataFrame:
    """One row for each symbol of common equity of a company with a value of the specification's items."""
    covered = (
        current.filter(IS_SERVED)
        .group_by("cik")
        .agg(first_period_end=pl.col("period_end").min(), last_period_end=pl.col("period_end").max())
    )
    registrants = part.read("registrants").rename({"name": "registered_name"})
    groups = pl.DataFrame(
        {"major_group": list(MAJOR_GROUPS), "sic_description": list(MAJOR_GROUPS.values())},
        schema={"major_group": pl.String, "sic_description": pl.String},
    )
    return (
        _of_equity(part.read("listings"))
        .join(covered, on="cik")
        .join(part.read("profiles"), on="cik")
        .join(registrants, on="cik", how="left")
        .with_columns(
            sic=pl.when(pl.col("sic").str.contains(r"^\d{1,4}$")).then(pl.col("sic").str.zfill(4)),
            name=pl.coalesce("registered_name", "name"),
        )
        .with_columns(major_group=pl.col("sic").str.slice(0, 2))
        .join(groups, on="major_group", how="left")
        .with_columns(
            fiscal_year_end_month=pl.coalesce("fiscal_year_end_month", pl.col("last_period_end").dt.month()),
            data_updated_at=pl.lit(None),
            rule_industry="industry",
            industry=pl.coalesce("sic_description", pl.col("industry").str.replace_all("_", " ")),
        )
    )


def _of_equity(listings: pl.DataFrame) -> pl.DataFrame:
    """The symbols under which the data of companies are published."""
    return listings.filter((pl.col("kind") == "common") | pl.col("is_primary"))


def _with_times(companies: pl.DataFrame, documents: pl.DataFrame) -> pl.DataFrame:
    """Table `companies` with the time of each company's last synchronization."""
    times = documents.select("cik", data_updated_at="synchronized_at")
    return companies.drop("data_updated_at").join(times, on="cik", how="left")


def _securities(lake: Lake) -> pl.DataFrame:
    """Table `securities`: listed symbols that are not common equity, with their class if a cover names it."""
    others = lake.read("listings").filter("is_listed", pl.col("kind") != "common")
    of_covers = lake.read("classes").drop_nulls("symbol").unique(["cik", "symbol"], keep="first", maintain_order=True)
    named = others.with_columns(on_cover=pl.col("symbol").map_elements(plain, return_dtype=pl.String))
    return named.join(
        of_covers, left_on=["cik", "on_cover"], right_on=["cik", "symbol"], how="left", maintain_order="left"
    )


def _labelled(part: LimitedLake, periods: pl.DataFrame) -> pl.DataFrame:
    """All versions with labels of today's fiscal calendar; periods outside of it keep their recorded labels."""
    names = ["fiscal_year", "fiscal_quarter", "is_year_end"]
    labelled = with_later_columns(part.read("versions")).join(
        periods, on=["cik", "period_end"], how="left", suffix="_today", maintain_order="left"
    )
    return labelled.with_columns(pl.coalesce(f"{name}_today", name).alias(name) for name in names)


def _with_rules(logged: pl.DataFrame, part: LimitedLake) -> pl.DataFrame:
    """All versions with their rules, including versions that were recorded before rules had ids."""
    if rule_table.unnamed(logged).height:
        logged = rule_table.with_rules_of_today(logged, with_later_columns(part.read(REPLAYED)))
    return logged


def _without_legs(logged: pl.DataFrame) -> pl.DataFrame:
    """The versions with what the tables show of their legs in place of the legs, which take much longer to copy.

    Added are `row` (the row number in `logged`), `number` (of legs), `first` and `last` (days of filing of legs), and
    `tag` (of the first leg).
    """
    legs = pl.col("legs")
    filed = legs.list.eval(pl.element().struct.field("filed"))
    return (
        logged.with_columns(
            number=legs.list.len(),
            first=filed.list.min(),
            last=filed.list.max(),
            tag=legs.list.first().struct.field("tag"),
        )
        .drop("legs")
        .with_row_index("row")
    )


def _counted(current: pl.DataFrame, gaps: pl.DataFrame, decisions: pl.DataFrame) -> pl.DataFrame:
    """The number of decisions of each rule; a gap of a fiscal year end is published twice but counts once."""
    missing = gaps.filter(pl.col("period_kind") != schema.PERIOD_KINDS[1])
    return rule_table.counts(REGISTRY, current, missing, decisions)


def _splits(part: LimitedLake) -> pl.DataFrame:
    """Table `splits`: one row for each series and day."""
    return with_later_columns(part.read("splits")).unique(
        ["cik", CLASS, "effective_by"], keep="first", maintain_order=True
    )


def _changes(appended: pl.DataFrame) -> pl.DataFrame:
    """Table `changes`: current values that are new since the previous build, with their earlier values."""
    of_years = pl.col("n") == TWELVE_MONTHS
    return by_kind(with_later_columns(appended).filter("is_current", of_years)).select(
        *ITEM, served("before").alias("before"), served("value").alias("after"), "cause"
    )


def _versions(part: LimitedLake, versions: pl.DataFrame) -> pl.DataFrame:
    accepted = part.read("filings").select("cik", "accession", known_at="accepted_at")
    return versions.join(accepted, on=["cik", "accession"], how="left").with_columns(value=served("value"))


def lineage(versions: pl.DataFrame, legs: pl.Series) -> pl.DataFrame:
    """Table `lineage`: the legs of versions, numbered from 1; a leg of a sum is added or subtracted (`operation`).

    Args:
        versions: with `row` and `number` of _without_legs.
        legs: the legs by row.
    """
    key = [*ITEM, "version"]
    summed = pl.when(pl.col("weight") < 0).then(pl.lit("subtract")).otherwise(pl.lit("add"))
    with_legs = versions.filter(pl.col("number") > 0)
    return (
        with_legs.select(*key, leg=pl.int_ranges(1, pl.col("number") + 1, dtype=pl.Int32))
        .with_columns(legs.gather(with_legs["row"]))
        .explode("legs", "leg")
        .unnest("legs")
        .with_columns(operation=pl.when(pl.col("role") == SUM).then(summed).otherwise(pl.col("role")))
    )


def _proofs(part: LimitedLake, periods: pl.DataFrame, current: pl.DataFrame, gaps: pl.DataFrame) -> pl.DataFrame:
    """Table `proofs`: the identities that current values satisfy, and the identities that withhold a value."""
    labelled = by_kind(with_later_columns(part.read("proofs")).join(periods, on=["cik", "period_end"]))
    values = current.select(ITEM)
    is_withheld = pl.col("outcome") == WITHHELD
    of_gaps = labelled.filter(is_withheld).join(gaps.select(ITEM), on=ITEM, how="semi")
    return pl.concat([labelled.filter(~is_withheld).join(values, on=ITEM, how="semi"), of_gaps])


def _financials(current: pl.DataFrame, companies: pl.DataFrame, items: Sequence[str] = ITEM_NAMES) -> pl.DataFrame:
    """Table `financials`, or `quarters`: one row a symbol, period kind and period end, with the items as columns."""
    row = ["cik", SERIES_MEMBER, "period_kind", "period_end", "period", "fiscal_year", "fiscal_quarter"]
    of_class = [CLASS if name == SERIES_MEMBER else name for name in row]
    narrow = current.select(*of_class, "item", "filed", "first", "last", value=served("value"))
    wide = (
        symbols.rows_of_series(narrow, companies)
        .group_by(row)
        .agg(
            pl.col("first").min().alias("first_filed"),
            pl.col("last").max().alias("last_filed"),
            *(pl.col("value").filter(pl.col("item") == item).first().alias(item) for item in items),
            *(pl.col("filed").filter(pl.col("item") == item).first().alias(filed_of(item)) for item in items),
        )
    )
    return _of_symbols(wide, companies)


def _of_symbols(periods: pl.DataFrame, companies: pl.DataFrame) -> pl.DataFrame:
    """The periods of each series once for each of its symbols."""
    of_symbols = companies.select("cik", SERIES_MEMBER, "symbol", "is_primary", "currency")
    return periods.join(of_symbols, on=["cik", SERIES_MEMBER], nulls_equal=True)
