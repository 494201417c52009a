"""The tables of the published warehouse, assembled from the tables of the stages.

Belongs here: joining values with listings, one frame for each table of warehouse.contract.schema.
Does not: any rule of accounting (normalize), the file that is published (warehouse.build.publish).
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import partial

import duckdb
import polars as pl

from pipelines.normalize.classes import symbols
from pipelines.normalize.classes.members import plain
from pipelines.normalize.classes.series import CLASS, COMPANY
from pipelines.normalize.classes.symbols import SERIES_MEMBER
from pipelines.normalize.elements import describe_sources
from pipelines.normalize.forms import ANNUAL_FORMS
from pipelines.normalize.frames import WITHHELD_OUTCOME as WITHHELD
from pipelines.normalize.history.log import ONE_QUARTER, TWELVE_MONTHS, with_later_columns
from pipelines.normalize.industry.sic import MAJOR_GROUPS
from pipelines.normalize.items.earnings import ONE_CLASS_REASON
from pipelines.normalize.items.item import SUM
from pipelines.normalize.items.line_items import served
from pipelines.normalize.rules import FILES, REGISTRY
from pipelines.stages import held_back
from pipelines.stages.batches import in_batches
from pipelines.stages.isolation import Fault, ciks_of, isolated
from pipelines.stages.predecessors import held_predecessors
from pipelines.stages.schemas import APPENDED, REPLAYED, UNREAD_REPORTS
from pipelines.storage.lake import Lake, LimitedLake
from pipelines.tables import newest_statements, row_gates, rule_table
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
from pipelines.valuation.table import projections, valuations
from pipelines.workers import ALONE, Workers
from warehouse.build.newest_filing import NEWEST_FILING
from warehouse.contract import schema
from warehouse.contract.line_items import ITEM_NAMES, LINE_ITEMS, SERVED_NAMES, items_of
from warehouse.contract.vocabulary import NOT_IN_COMPANYFACTS

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
FILING_URL = "https://www.sec.gov/Archives/edgar/data/{}/{}/{}-index.htm"
ITEM = ["cik", CLASS, "period_kind", "period_end", "item"]
IS_SERVED = pl.col("item").is_in(SERVED_NAMES)
OF_SYMBOL = ("symbol", "exchange", "is_listed", "is_primary", CLASS, SERIES_MEMBER)
"""The columns of table `companies` that differ between the symbols of one company."""
OF_QUARTERS = items_of("flow", "balance")
"""The items with values of quarters."""
OF_PERIODS = ("financials", schema.QUARTERS)
"""Tables with a row for each symbol and period."""
IN_ORDER = ("versions", "lineage", schema.of_quarters("versions"), schema.of_quarters("lineage"))
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
    newest_filing = _newest_filing(lake)
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
            parts = [lake.limited_to(batch) for batch in in_batches(sorted(to_do.keys() - left_out))]
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
        "filings": filing_addresses(lake),
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


def _newest_filing(lake: Lake) -> date:
    """The newest day of filing of a filing with facts, as published (warehouse.build.newest_filing)."""
    rows = _filings(lake).select("cik", "filed", "accepted_at")
    with duckdb.connect() as connection:
        connection.register("filings", rows.with_columns(pl.col("accepted_at").dt.replace_time_zone(None)))
        newest: date | None = connection.execute(NEWEST_FILING).fetchall()[0][0]
    return newest or date.min


def _with_age(made_from: str, stale_after: date | None, newest_filing: date) -> str:
    """The digest, with a mark if the company's valuation is stale, which depends on the newest filing of all
    companies."""
    return f"{made_from} stale" if stale_after and newest_filing > stale_after else made_from


def _of_companies(
    newest_filing: date, quarters: Sequence[str], part: LimitedLake
) -> tuple[dict[str, pl.DataFrame], Notes]:
    """The rows of a batch of companies in each table; the notes are the ages of their valuations and the faults."""
    periods = part.read("periods").unique(["cik", "period_end"], keep="first", maintain_order=True)
    with_legs = _with_rules(_labelled(part, periods), part)
    logged, legs = _without_legs(with_legs), with_legs["legs"]
    is_quarter, is_held = pl.col("n") == ONE_QUARTER, pl.col("is_current") & pl.col("value").is_not_null()
    versions, of_quarters = _by_kind(logged.filter(~is_quarter)), _as_quarters(logged.filter(is_quarter))
    current, quarterly = versions.filter(is_held), of_quarters.filter(is_held)
    held, held_of_quarters = with_legs.filter(is_held, ~is_quarter), with_legs.filter(is_held, is_quarter)
    companies = _companies(part, current)
    series = symbols.series_of(companies, part.read("classes"), current)
    companies = companies.join(series, on=["cik", "symbol"], maintain_order="left")
    gaps, quarter_gaps = _gaps(part, periods, current, series), _quarter_gaps(part, periods, quarterly, series)
    found = {"splits": _splits(part), "breaks": part.read("breaks"), "repairs": part.read("repairs")}
    decisions = rule_table.decisions(part.read("decisions"), *found.values())
    values = _valuations(part, versions, current, newest_filing, series)
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
        "newest_statements": newest_statements.of_values(part, held, quarters),
        "valuations": values,
        "projections": projections(values),
        schema.QUARTERS: _financials(_with_balances(quarterly, current), companies, OF_QUARTERS),
        schema.of_quarters("versions"): _versions(part, of_quarters),
        schema.of_quarters("lineage"): lineage(of_quarters, legs),
        schema.of_quarters("gaps"): quarter_gaps,
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
    return _by_kind(with_later_columns(appended).filter("is_current", of_years)).select(
        *ITEM, served("before").alias("before"), served("value").alias("after"), "cause"
    )


def _by_kind(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows by period kind: each row as `ttm`, and at fiscal year ends as `annual` too.

    Sorted by company and period kind; otherwise the rows keep their order.
    """
    year, quarter = pl.col("fiscal_year").cast(pl.String), pl.col("fiscal_quarter").cast(pl.String)
    ttm = rows.with_columns(period_kind=pl.lit("ttm"), period=pl.concat_str(year, pl.lit("Q"), quarter))
    annual = rows.filter("is_year_end").with_columns(
        period_kind=pl.lit("annual"), period=pl.concat_str(pl.lit("FY"), year)
    )
    return pl.concat([annual, ttm]).sort("cik", maintain_order=True)


def _as_quarters(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of one quarter with their period kind and label, sorted by company; otherwise they keep their order."""
    year, quarter = pl.col("fiscal_year").cast(pl.String), pl.col("fiscal_quarter").cast(pl.String)
    label = pl.concat_str(pl.lit("FY"), year, pl.lit("Q"), quarter)
    return rows.with_columns(period_kind=pl.lit(schema.QUARTER), period=label).sort("cik", maintain_order=True)


def _with_balances(quarterly: pl.DataFrame, current: pl.DataFrame) -> pl.DataFrame:
    """Current values of quarters, and the balances of the companies with values of quarters."""
    is_balance = pl.col("item").is_in(items_of("balance")) & (pl.col("period_kind") == schema.PERIOD_KINDS[0])
    balances = current.filter(is_balance).join(quarterly, on="cik", how="semi", maintain_order="left")
    return pl.concat([quarterly, _as_quarters(balances)])


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


def _gaps(part: LimitedLake, periods: pl.DataFrame, current: pl.DataFrame, series: pl.DataFrame) -> pl.DataFrame:
    """Table `gaps`: reasons of periods without a value, unless the log still has a current value."""
    found = pl.concat([_held_gaps(part, TWELVE_MONTHS), symbols.not_stated(series, periods)], how="diagonal")
    labelled = _by_kind(found.join(periods, on=["cik", "period_end"]))
    rows = pl.concat([_of_unread(part), labelled], how="diagonal_relaxed")
    return rows.unique(ITEM, keep="first", maintain_order=True).join(current.select(ITEM), on=ITEM, how="anti")


def _held_gaps(part: LimitedLake, n: int) -> pl.DataFrame:
    """The gaps that the rules found, for periods of `n` quarters."""
    return with_later_columns(part.read("gaps")).filter(pl.col("n") == n).drop("n")


def _quarter_gaps(
    part: LimitedLake, periods: pl.DataFrame, quarterly: pl.DataFrame, series: pl.DataFrame
) -> pl.DataFrame:
    """Table `quarter_gaps`: as `gaps`, for the flows of companies with values of quarters."""
    held = _held_gaps(part, ONE_QUARTER)
    not_stated = symbols.not_stated(series, held.select("cik", "period_end"))
    labelled = _as_quarters(pl.concat([held, not_stated], how="diagonal").join(periods, on=["cik", "period_end"]))
    is_flow = (pl.col("period_kind") == schema.PERIOD_KINDS[0]) & pl.col("item").is_in(items_of("flow"))
    unread = _of_unread(part).filter(is_flow).join(quarterly, on="cik", how="semi")
    rows = [unread.with_columns(period_kind=pl.lit(schema.QUARTER)), labelled]
    found = pl.concat(rows, how="diagonal_relaxed").unique(ITEM, keep="first", maintain_order=True)
    return found.join(quarterly.select(ITEM), on=ITEM, how="anti")


def _of_unread(part: LimitedLake) -> pl.DataFrame:
    """The gaps of periods with an unread report, for all items of the company's series."""
    reports = part.read(UNREAD_REPORTS).drop_nulls("report_date")
    annual = reports.filter(pl.col("form").is_in(ANNUAL_FORMS)).with_columns(period_kind=pl.lit("annual"))
    of_kinds = pl.concat([reports.with_columns(period_kind=pl.lit("ttm")), annual])
    items = pl.DataFrame({"item": ITEM_NAMES})
    rows = of_kinds.select("cik", "period_kind", period_end="report_date").unique().join(items, how="cross")
    return rows.with_columns(
        pl.lit(COMPANY).alias(CLASS), reason=pl.lit(NOT_IN_COMPANYFACTS), rule=pl.lit(None, pl.String)
    )


def _proofs(part: LimitedLake, periods: pl.DataFrame, current: pl.DataFrame, gaps: pl.DataFrame) -> pl.DataFrame:
    """Table `proofs`: the identities that current values satisfy, and the identities that withhold a value."""
    labelled = _by_kind(with_later_columns(part.read("proofs")).join(periods, on=["cik", "period_end"]))
    values = current.select(ITEM)
    is_withheld = pl.col("outcome") == WITHHELD
    of_gaps = labelled.filter(is_withheld).join(gaps.select(ITEM), on=ITEM, how="semi")
    return pl.concat([labelled.filter(~is_withheld).join(values, on=ITEM, how="semi"), of_gaps])


def _valuations(
    part: LimitedLake, versions: pl.DataFrame, current: pl.DataFrame, newest_filing: date, series: pl.DataFrame
) -> pl.DataFrame:
    """Table `valuations`: the fair value of each series with a symbol, or the reasons why it is missing."""
    of_symbols = series.select("cik", SERIES_MEMBER).unique(maintain_order=True)
    others = current.select("cik").unique(maintain_order=True).join(of_symbols, on="cik", how="anti")
    valued = pl.concat([of_symbols, others.with_columns(pl.lit(COMPANY).alias(SERIES_MEMBER))])
    row = ["cik", "period_kind", "period_end"]
    newest = pl.col("period_end") == pl.col("period_end").max().over("cik", "period_kind")
    narrow = current.filter(IS_SERVED).select(*row, CLASS, "period", "item", "value", "tag")
    of_items = symbols.rows_of_series(narrow, valued)
    ends = of_items.select(*row, SERIES_MEMBER, "period", "item", "tag", value=served("value")).filter(
        (pl.col("period_kind") == "annual") | newest
    )
    of_revenue = pl.col("item") == "revenue", pl.col("value").is_not_null()
    revenues = versions.select(*row, "item", "version", "cause", value=served("value")).filter(*of_revenue)
    revenues = revenues.join(ends, on=row, how="semi")
    profiles, evidence, filings, revenues = (
        _numbered(rows.join(valued, on="cik", maintain_order="left"))
        for rows in (part.read("profiles"), part.read("evidence"), part.read("filings"), revenues)
    )
    of_one_class = _of_one_class(part)
    shares = (
        with_later_columns(part.read("latest_shares"))
        .filter(~pl.col("cik").is_in(of_one_class))
        .rename({CLASS: SERIES_MEMBER})
        .join(valued, on=["cik", SERIES_MEMBER], how="semi")
    )
    evidence, shares = (rows.drop(CLASS) for rows in (evidence, _numbered(shares)))
    found = valuations(_numbered(ends), revenues, profiles, evidence, shares, filings, newest_filing)
    place = pl.col("cik").str.split(" ")
    return found.with_columns(place.list.get(1).alias(CLASS), cik=place.list.first())


def _of_one_class(part: LimitedLake) -> list[str]:
    """The companies whose newest share count covers only one of several classes; no fair value is divided by it."""
    gaps = _held_gaps(part, TWELVE_MONTHS).filter(pl.col("reason") == ONE_CLASS_REASON, pl.col(CLASS) == COMPANY)
    newest = (
        gaps.group_by("cik")
        .agg(pl.col("period_end").max())
        .join(
            part.read("periods").group_by("cik").agg(pl.col("period_end").max()), on=["cik", "period_end"], how="semi"
        )
    )
    return newest["cik"].to_list()


def _numbered(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with a name of each series in place of the CIK, because the valuation model treats a series as a company."""
    return rows.with_columns(cik=pl.concat_str("cik", SERIES_MEMBER, separator=" ")).rename({SERIES_MEMBER: CLASS})


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
            *(pl.col("filed").filter(pl.col("item") == item).first().alias(schema.filed_of(item)) for item in items),
        )
    )
    return _of_symbols(wide, companies)


def _of_symbols(periods: pl.DataFrame, companies: pl.DataFrame) -> pl.DataFrame:
    """The periods of each series once for each of its symbols."""
    of_symbols = companies.select("cik", SERIES_MEMBER, "symbol", "is_primary", "currency")
    return periods.join(of_symbols, on=["cik", SERIES_MEMBER], nulls_equal=True)


def filing_addresses(lake: Lake) -> pl.DataFrame:
    """Table `filings`: the filings with facts and the unread reports, each with its `url` at the SEC."""
    accession = pl.col("accession")
    url = pl.format(
        FILING_URL,
        pl.coalesce("filer", "cik").str.strip_chars_start("0"),
        accession.str.replace_all("-", "", literal=True),
        accession,
    )
    # the URL of a predecessor's filing has the predecessor's CIK
    predecessors = [cik for chain in held_predecessors(lake).values() for cik in chain]
    filers = lake.of_companies("facts", predecessors).select("accession", filer="cik").unique("accession")
    return (
        _filings(lake)
        .join(filers, on="accession", how="left", maintain_order="left")
        .with_columns(url=url, share_basis="factor")
    )


def _filings(lake: Lake) -> pl.DataFrame:
    """The filings with facts and the unread reports, one row a filing.

    Co-registrants file under one accession number, which is listed under the first of them.
    """
    unread = lake.read(UNREAD_REPORTS).drop("report_date").with_columns(in_companyfacts=pl.lit(value=False))
    filings = pl.concat([lake.read("filings"), unread], how="diagonal")
    return filings.sort("accession", "cik").unique("accession", keep="first", maintain_order=True)
