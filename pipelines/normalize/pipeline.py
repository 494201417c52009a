"""The pipeline from filed facts to the versions of standardized values: the ordered list of steps.

Belongs here: the order of the steps, the frames that each takes and makes, and running them. Does not: any rule.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from time import perf_counter

import numpy as np
import polars as pl

from pipelines.normalize.arrays import ints
from pipelines.normalize.balance import balances, sections, statements
from pipelines.normalize.balance.values import DERIVED_LINE
from pipelines.normalize.classes.series import CLASS, COMPANY, classes_of, with_classes
from pipelines.normalize.corrections import ledger, parts
from pipelines.normalize.derived import amounts
from pipelines.normalize.derived.remainders import RESIDUAL
from pipelines.normalize.elements import OF_SOURCE
from pipelines.normalize.faces.facts import FILINGS, Filed, with_filed
from pipelines.normalize.faces.sources import COVERS
from pipelines.normalize.facts import reports, stated
from pipelines.normalize.frames import FRAMES
from pipelines.normalize.history import replay, versions
from pipelines.normalize.history.log import ONE_QUARTER
from pipelines.normalize.industry import classification
from pipelines.normalize.items import evidence, gaps, item, line_items, provenance
from pipelines.normalize.items.points import Points
from pipelines.normalize.periods import breaks, calendar
from pipelines.normalize.shares import latest, splits
from pipelines.normalize.ttm import discrete, known, windows
from pipelines.normalize.ttm.lookups import Windows
from pipelines.one_thread import in_one_thread
from warehouse.contract.line_items import ITEMS_BY_CLASS, LINE_ITEMS, items_of

ITEM_SIGNS = {item.name: 1 if item.unit == "shares" else -1 for item in LINE_ITEMS if item.name in ITEMS_BY_CLASS}
"""How a share basis changes an item: a split multiplies shares (1) and divides amounts per share (-1)."""

Frame = pl.DataFrame

Observer = Callable[[str, int, float], object]
"""Called after each step with its name, the number of rows of its first frame, and its seconds."""


GATHERED = ("decisions", "proofs", "withheld")
"""Frames to which several steps add rows, in the order of the steps."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step: a function from frames to frames.

    takes: the frames that the function takes, in the order of its arguments.
    makes: the frames that it returns, in order; frames of GATHERED are appended to the rows of earlier steps.
    of: the frames whose rows it processes; if all of them are empty, the step is skipped, and its frames are empty.
    """

    name: str
    run: Callable[..., Frame | tuple[Frame, ...]]
    takes: tuple[str, ...]
    makes: tuple[str, ...]
    of: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Standardized:
    """The result for a batch of companies; `cik` is text of ten digits.

    The tables of OF_CLASSES have a column `class_member`: the class of stock of the series, or the empty text for the
    company's series. All other tables are of companies.

    versions: every value that followed from a filing, in the order of filing (versions.REPLAYED), on the newest share
        basis.
    periods: `cik`, `period_end`, `fiscal_year`, `fiscal_quarter`, `is_year_end`: the fiscal calendar.
    gaps: `cik`, `period_end`, `item`, `reason`, `rule`: after the newest filing.
    splits: of shares.splits.infer_splits.
    breaks: of periods.breaks.breaks.
    repairs: of corrections.ledger.corrected, with `accession` in place of `seq`.
    filings: `cik`, `accession`, `form`, `filed`, `accepted_at`, `seq` (order of filing) and `factor` (new shares for
        one share of its basis).
    latest_shares: of shares.latest.latest_shares.
    evidence: of items.evidence.evidence.
    decisions: `cik`, `rule`, `figures`: the number of decisions of each rule in the steps.
    proofs: of corrections.ledger.standing: the identities by which the newest value or gap of an item was judged.
    balance_sheet_lines: of balance.sections.published.
    profiles: `cik`, `currency`, `fiscal_year_end_month`, `industry`.
    share_bases: `cik`, `accession`, `factor` of each series.
    classes: of classes.series.classes_of.
    quarter_versions, quarter_gaps: the same as versions and gaps, for the flows of one quarter.
    """

    versions: Frame
    periods: Frame
    gaps: Frame
    splits: Frame
    breaks: Frame
    repairs: Frame
    filings: Frame
    latest_shares: Frame
    evidence: Frame
    decisions: Frame
    proofs: Frame
    balance_sheet_lines: Frame
    profiles: Frame
    share_bases: Frame
    classes: Frame
    quarter_versions: Frame
    quarter_gaps: Frame


OF_CLASSES = (
    "versions",
    "quarter_versions",
    "gaps",
    "quarter_gaps",
    "splits",
    "latest_shares",
    "proofs",
    "share_bases",
)
"""The tables that also have rows of classes of stock."""


@in_one_thread
def standardize(
    raw: Frame,
    accepted: Frame | None = None,
    registrants: Frame | None = None,
    observe: Observer | None = None,
    *,
    filed: Filed | None = None,
    validate: bool = False,
) -> Standardized:
    """Standardize the facts of a batch of companies.

    Args:
        raw: facts of companyfacts, columns of raw.RAW_SCHEMA.
        accepted: `cik`, `accession`, `accepted_at` (UTC), as far as the submissions of the company have them.
        registrants: `cik`, `sic`, `succeeded` (gaps.successions), as far as the submissions have them.
        observe: called after each step.
        filed: facts from data sets and packages of filings; None: companyfacts alone.
        validate: also check the keys and the missing values of every frame, not only its columns and types.

    Returns:
        the tables of Standardized; a company whose facts support no value has no rows.

    Raises:
        FrameError: a step made a frame that differs from its declaration in frames.FRAMES.
    """
    facts, faces, shown, by_class = with_filed(raw, filed)
    series = with_classes(facts, by_class)
    of_filers = {"shown": shown, "accepted": accepted, "registrants": registrants}
    numbered = {name: series.numbered(rows) for name, rows in of_filers.items()}
    keep = {"grid", *(field.name for field in fields(Standardized))}
    frames = run(STEPS, {"raw": series.facts, "faces": faces, **numbered}, observe, keep=keep, validate=validate)
    frames["proofs"] = ledger.standing(frames["proofs"], frames["grid"])
    frames["share_bases"] = frames["filings"].select("cik", "accession", "factor")
    covers = (filed.covers, filed.filings) if filed else (COVERS.to_frame(), FILINGS.to_frame())
    tables = {"classes": classes_of(series, *covers)}
    for field in fields(Standardized):
        if field.name in OF_CLASSES:
            tables[field.name] = series.of_class(frames[field.name])
        elif field.name not in tables:
            tables[field.name] = series.of_company(frames[field.name])
    for name in ("versions", "quarter_versions", "gaps", "quarter_gaps", "proofs"):
        is_own = (pl.col(CLASS) == COMPANY) | pl.col("item").is_in(ITEMS_BY_CLASS)
        tables[name] = tables[name].filter(is_own)
    return Standardized(**tables)


def run(
    steps: Sequence[Step],
    given: dict[str, Frame | None],
    observe: Observer | None = None,
    *,
    keep: Collection[str] | None = None,
    validate: bool = False,
) -> dict[str, Frame]:
    """Run steps one after the other.

    Args:
        steps: the steps.
        given: the frames that no step makes; also the frames of earlier steps, if `steps` is only a part.
        observe: as in standardize.
        keep: the frames to return besides GATHERED; other frames are dropped after the last step that takes them, to
            free their memory. None: all frames are returned.
        validate: as in standardize.

    Returns:
        the frames that the steps made, by name; `decisions` and `proofs` are of all steps together.

    Raises:
        FrameError: a step made a frame that differs from its declaration in frames.FRAMES.
    """
    frames: dict[str, Frame] = {name: FRAMES[name].empty for name in GATHERED}
    last_step = {name: number for number, step in enumerate(steps) for name in (*step.makes, *step.takes, *step.of)}
    for number, step in enumerate(steps):
        began = perf_counter()
        made = _made(step, {**given, **frames}, validate)
        if observe:
            observe(step.name, made[step.makes[0]].height, perf_counter() - began)
        frames |= {name: pl.concat([frames[name], made.pop(name)]) for name in GATHERED if name in made}
        frames |= made
        if keep is not None:
            wanted = {*keep, *GATHERED, *(name for name, last in last_step.items() if last > number)}
            frames = {name: frame for name, frame in frames.items() if name in wanted}
    of_rules = frames["decisions"].group_by("cik", "rule").agg(pl.col("figures").sum())
    return {**frames, "decisions": of_rules.sort("cik", "rule")}


def _made(step: Step, frames: Mapping[str, Frame | None], validate: bool) -> dict[str, Frame]:
    """The frames that a step makes, by name; they are empty if the step has nothing to process."""
    of = [frame for name in step.of if (frame := frames.get(name)) is not None]
    if of and not any(frame.height for frame in of):
        return {name: FRAMES[name].empty for name in step.makes}
    result = step.run(*(frames.get(name) for name in step.takes))
    named = zip(step.makes, result if isinstance(result, tuple) else (result,), strict=True)
    return {name: FRAMES[name].checked(frame, step.name, validate=validate) for name, frame in named}


def _known_amounts(placed: Frame, composed: Frame) -> tuple[Frame, Frame, Frame]:
    """The amounts known after each filing: of durations, and of balances (single lines and composed); and decisions."""
    plain, restated = statements.single_lines(placed)
    stated = pl.concat([placed.filter(pl.col("n") > 0), plain, composed.drop("rule")], how="diagonal")
    found, repeated = known.known_amounts(stated)
    of_rule = composed.select("vintage", "rule")
    changes = known.amount_changes(found.filter(pl.col("n") == 0))
    balances = changes.join(of_rule, on="vintage", how="left", maintain_order="left")
    return found.filter(pl.col("n") > 0), balances, pl.concat([restated, repeated])


def _flows(known_flows: Frame, grid: Frame) -> tuple[Frame, ...]:
    """The twelve months and the quarter that end with each quarter end, after each filing that changed them."""
    to_compute = Windows(known_flows, grid)
    *of_years, decisions = windows.flow_versions(to_compute)
    *of_quarters, others = discrete.quarter_versions(to_compute)
    return (*of_years, pl.concat([decisions, others]), *of_quarters)


def _values(
    flows: Frame, quarter_flows: Frame, balances: Frame, filings: Frame, industries: Frame
) -> tuple[Frame, ...]:
    """The versions of the items, their legs, reasons of missing values, withheld items, proofs and decisions.

    After these, the first four frames again, for single quarters.
    """
    points = Points(flows, balances, filings)
    items = line_items.line_items(points)
    values, legs, withheld, decisions = replay.item_versions(points, items, industries)
    of_year = values, legs, gaps.of_items(points, items), withheld, item.proofs(points, items), decisions
    quarterly = Points(quarter_flows, FRAMES["balances"].empty, filings)
    of_quarter = line_items.quarterly_items(quarterly, points, items)
    values, legs, withheld, _ = replay.item_versions(quarterly, of_quarter, industries)
    return (*of_year, values, legs, gaps.of_items(quarterly, of_quarter), withheld)


def _filed_facts(
    facts: Frame,
    stated_facts: Frame,
    vintages: Frame,
    lines_of_balances: Frame,
    flow_legs: Frame,
    quarter_flow_legs: Frame,
    balances: Frame,
) -> Frame:
    """The filed facts of each vintage that is a leg, including composed balances, with the rule that chose each fact.

    If a correction changed a fact, the rule is the correction's.
    """
    legs = np.concatenate([ints(frame, "vintage") for frame in (flow_legs, quarter_flow_legs, balances)])
    of_legs, used = (frame[np.flatnonzero(np.isin(ints(frame, "vintage"), legs))] for frame in (stated_facts, vintages))
    of_vintage = (
        used.select("vintage", "cik", "seq", "concept", "rank", "repair", "corrected_by")
        .join(OF_SOURCE, on=["concept", "rank"], how="left", maintain_order="left")
        .with_columns(
            rule=pl.coalesce("corrected_by", "rule"),
            reservation=pl.coalesce(
                "reservation", pl.when(pl.col("corrected_by") == RESIDUAL.id).then(pl.lit(DERIVED_LINE))
            ),
        )
        .drop("rank", "corrected_by")
    )
    tag = pl.coalesce("filed_tag", pl.concat_str("taxonomy", pl.lit(":"), "tag")).alias("tag")
    as_filed = facts.select(
        tag, "unit", "start", "end", "value", "accession", "form", "filed", "source", "member", "label"
    )
    rows = pl.concat(
        [of_legs.drop("tag").join(of_vintage, on="vintage", maintain_order="left"), lines_of_balances], how="diagonal"
    )
    return rows.hstack(as_filed[ints(rows, "fact")]).drop("fact").sort("vintage", "tag", maintain_order=True)


def _gaps(
    versions: Frame,
    placed: Frame,
    composed: Frame,
    industries: Frame,
    item_gaps: Frame,
    missed: Frame,
    withheld: Frame,
    withheld_windows: Frame,
    found_breaks: Frame,
    left_out: Frame,
    grid: Frame,
    registrants: Frame | None,
    filings: Frame,
) -> Frame:
    """The reasons why items of a period have no value after the newest filing."""
    stated = pl.concat([placed.select("cik", "concept"), composed.select("cik", "concept")])
    of_windows = [
        breaks.twelve_months_across_breaks(found_breaks, grid),
        withheld_windows,
        gaps.of_left_out(left_out, grid),
    ]
    without = pl.concat([missed, withheld, *of_windows]).unique(["cik", "q", "item"], keep="first", maintain_order=True)
    succeeded = gaps.successions(registrants, filings)
    return gaps.gaps(versions, stated, classification.newest(industries), without, item_gaps, grid, succeeded)


def _quarter_gaps(
    versions: Frame,
    of_quarters: Frame,
    placed: Frame,
    industries: Frame,
    item_gaps: Frame,
    withheld: Frame,
    withheld_quarters: Frame,
    grid: Frame,
    registrants: Frame | None,
    filings: Frame,
) -> Frame:
    """The reasons why flows of a quarter have no value after the newest filing."""
    balances = versions.filter(pl.col("item").is_in(items_of("balance"))).join(of_quarters, on="cik", how="semi")
    held = pl.concat([of_quarters, balances])
    without = pl.concat([withheld, withheld_quarters]).unique(["cik", "q", "item"], keep="first", maintain_order=True)
    succeeded = gaps.successions(registrants, filings)
    stated, industry = placed.select("cik", "concept"), classification.newest(industries)
    return gaps.gaps(held, stated, industry, without, item_gaps, grid, succeeded, gaps.OF_QUARTERS)


def _repairs(corrections: Frame, filings: Frame) -> Frame:
    """The ledger of corrections, as table `repairs` publishes it."""
    of_filing = filings.select("cik", "seq", "accession")
    named = corrections.join(of_filing, on=["cik", "seq"], maintain_order="left").drop("seq")
    return named.with_columns(pl.col("concept").cast(pl.String))


def _profiles(currencies: Frame, grid: Frame, industries: Frame) -> Frame:
    """One row per company: currency, industry, and the month in which the year before its newest fiscal year ends."""
    newest = grid.sort("cik", "q").unique("cik", keep="last").select("cik", q="year_before")
    month = calendar.nominal_month(pl.col("period_end")).cast(pl.Int32)
    months = grid.join(newest, on=["cik", "q"]).select("cik", fiscal_year_end_month=month)
    return currencies.join(classification.newest(industries), on="cik").join(months, on="cik", how="left")


def _periods(grid: Frame) -> Frame:
    """The fiscal calendar, without the day before the first fiscal year, which is not a period."""
    return grid.filter(pl.col("fiscal_quarter") > 0).select(
        "cik", "period_end", "fiscal_year", "fiscal_quarter", "is_year_end"
    )


STEPS: tuple[Step, ...] = (
    Step("reports", reports.typed, ("raw",), ("reports", "decisions")),
    Step("currency", reports.reporting_currency, ("reports",), ("currencies",)),
    Step("facts in currency", reports.in_currency, ("reports", "currencies"), ("in_currency", "decisions")),
    Step("filing order", reports.in_filing_order, ("in_currency", "accepted"), ("facts", "in_order", "decisions")),
    Step("industries", classification.industries, ("facts", "registrants"), ("industries", "decisions")),
    Step(
        "stated concepts",
        stated.stated_concepts,
        ("facts", "industries", "shown"),
        ("stated", "stated_facts", "left_out", "decisions"),
    ),
    Step("recasts", stated.without_partial_recasts, ("stated",), ("statements", "decisions"), of=("stated",)),
    Step(
        "corrections",
        ledger.corrected,
        ("statements",),
        ("sound", "corrections", "footings", "decisions"),
        of=("statements",),
    ),
    Step("regimes", breaks.regimes, ("facts", "sound"), ("regimes",)),
    Step(
        "derived amounts",
        amounts.with_derived,
        ("facts", "stated_facts", "sound", "regimes"),
        ("vintages", "complete_facts", "decisions"),
        of=("sound",),
    ),
    Step("fiscal calendar", calendar.fiscal_grid, ("facts",), ("grid", "decisions")),
    Step("splits", splits.infer_splits, ("vintages", "facts"), ("splits", "decisions")),
    Step("basis of filings", splits.share_factors, ("in_order", "vintages", "splits"), ("filings", "decisions")),
    Step("share basis", splits.on_newest_basis, ("vintages", "filings"), ("on_basis",)),
    Step("fiscal periods", calendar.on_grid, ("on_basis", "grid"), ("on_calendar", "decisions")),
    Step("judged corrections", ledger.of_corrections, ("corrections", "grid"), ("withheld", "proofs")),
    Step(
        "other periods",
        parts.without_contradicted,
        ("on_calendar",),
        ("placed", "withheld", "proofs", "decisions"),
        of=("on_calendar",),
    ),
    Step("footings", ledger.proofs_of_statements, ("footings", "grid"), ("proofs", "withheld"), of=("footings",)),
    Step(
        "balance sheets",
        balances.balances,
        ("facts", "placed", "complete_facts", "industries", "faces"),
        ("composed", "lines_of_balances", "missed", "proofs", "decisions", "section_lines"),
        of=("placed",),
    ),
    Step(
        "known amounts",
        _known_amounts,
        ("placed", "composed"),
        ("known_flows", "balances", "decisions"),
        of=("placed",),
    ),
    Step(
        "twelve months",
        _flows,
        ("known_flows", "grid"),
        (
            *("flows", "flow_legs", "withheld_windows", "proofs", "decisions"),
            *("quarter_flows", "quarter_flow_legs", "withheld_quarters"),
        ),
        of=("known_flows",),
    ),
    Step(
        "line items",
        _values,
        ("flows", "quarter_flows", "balances", "filings", "industries"),
        (
            *("values", "value_legs", "item_gaps", "withheld", "proofs", "decisions"),
            *("quarter_values", "quarter_value_legs", "quarter_item_gaps", "withheld_quarter_items"),
        ),
        of=("flows", "balances", "quarter_flows"),
    ),
    Step(
        "filed facts",
        _filed_facts,
        (
            *("facts", "complete_facts", "vintages", "lines_of_balances"),
            *("flow_legs", "quarter_flow_legs", "balances"),
        ),
        ("filed_facts",),
    ),
    Step(
        "lineage",
        provenance.lineage,
        ("value_legs", "flow_legs", "balances", "filed_facts", "filings"),
        ("lineage",),
        of=("value_legs",),
    ),
    Step(
        "lineage of quarters",
        provenance.lineage,
        ("quarter_value_legs", "quarter_flow_legs", "balances", "filed_facts", "filings"),
        ("quarter_lineage",),
        of=("quarter_value_legs",),
    ),
    Step("breaks", breaks.breaks, ("regimes", "filings"), ("breaks",)),
    Step(
        "versions",
        versions.published,
        ("values", "lineage", "filings", "grid", "breaks"),
        ("versions",),
        of=("values",),
    ),
    Step(
        "versions of quarters",
        partial(versions.published, n=ONE_QUARTER),
        ("quarter_values", "quarter_lineage", "filings", "grid", "breaks"),
        ("quarter_versions",),
        of=("quarter_values",),
    ),
    Step(
        "gaps",
        _gaps,
        (
            "versions",
            "placed",
            "composed",
            "industries",
            "item_gaps",
            "missed",
            "withheld",
            "withheld_windows",
            "breaks",
            "left_out",
            "grid",
            "registrants",
            "filings",
        ),
        ("gaps",),
        of=("grid",),
    ),
    Step(
        "gaps of quarters",
        _quarter_gaps,
        (
            *("versions", "quarter_versions", "placed", "industries", "quarter_item_gaps"),
            *("withheld_quarter_items", "withheld_quarters", "grid", "registrants", "filings"),
        ),
        ("quarter_gaps",),
        of=("quarter_versions",),
    ),
    Step(
        "lines of balance sheets",
        sections.published,
        ("section_lines", "versions", "gaps", "filings", "facts"),
        ("balance_sheet_lines",),
        of=("section_lines",),
    ),
    Step("repairs", _repairs, ("corrections", "filings"), ("repairs",), of=("corrections",)),
    Step(
        "newest shares",
        latest.latest_shares,
        ("known_flows", "grid"),
        ("latest_shares", "decisions"),
        of=("known_flows",),
    ),
    Step("evidence", evidence.evidence, ("reports", "vintages"), ("evidence",)),
    Step("periods", _periods, ("grid",), ("periods",), of=("grid",)),
    Step("profiles", _profiles, ("currencies", "grid", "industries"), ("profiles",)),
)
"""All steps, in order. Data flows one way: a step takes only frames that earlier steps made."""
