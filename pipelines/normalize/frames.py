"""The frames that pass between the steps of the pipeline: their columns, types, units and keys.

Belongs here: the columns, the frames, the check of a frame against its declaration, and the rows in which all steps
record what their rules did. Does not: making other frames (the steps), the rules (next to the code that decides).

One name has one meaning and one type in all frames. After the name of a column, `*` says that it is part of the key,
`?` that a value may be missing, `!` that values are unique.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from pipelines.normalize.elements import AMOUNT
from pipelines.normalize.rule import Rule


class FrameError(Exception):
    """A step returned a frame that differs from its declaration; the message names step, frame and column."""


def with_ten_digits(table: pl.DataFrame) -> pl.DataFrame:
    """A table with `cik` as published, text of ten digits; between the steps it is a number."""
    return table.with_columns(pl.col("cik").cast(pl.String).str.zfill(10))


# --- Columns ----------------------------------------------------------------------------------------------------

FLAGS_OF_WINDOWS = "weeks_53 other_element before_recast recast ways_disagree"
FLAGS_OF_VALUES = """
    attributable_to_parent derived issuance apart_from_net_income derived_operating_income contradicted_operating_income
    derived_line includes_finance_leases includes_financed_premiums may_be_principal may_include_restricted_cash
    may_lack_interest_bearing_deposits net_of_disposals total_contradicts_parts purchasing_power scale_repaired
    sign_repaired figure_repaired first_seen_as_comparative
"""
LEG = """
    role weight split_factor tag unit start? end value accession form filed concept:text rule source member? label?
"""

DataType = pl.DataType | type[pl.DataType]

COLUMNS: dict[str, tuple[DataType, str]] = {
    "accepted_at": (pl.Datetime("us", "UTC"), "when EDGAR accepted the filing"),
    "accession": (pl.String, "accession number of the filing"),
    "adds_up": (pl.Boolean, "whether the lines of the section add up to the total, in all columns"),
    "amended": (pl.Boolean, "whether the filing is an amendment"),
    "amount": (pl.Float64, "units of the currency, additive: an average of shares is multiplied by its days"),
    "balance": (pl.UInt32, "row of the balances"),
    "basis": (pl.String, "accession number of the newest filing on the newest share basis"),
    "excess": (pl.Float64, "of shares: the excess of the part that no filing states, as a share of the amount"),
    "capital_expenditure_end": (pl.Date, "end of its newest period"),
    "cause": (pl.String, "why the version differs from the one before"),
    "cik": (pl.Int64, "the SEC's Central Index Key as a number"),
    "class_member": (pl.String, "class of stock of the series; the empty text: the series of the company"),
    "class": (pl.String, "one of elements.lines.CLASSES, or total"),
    "coefficient": (pl.Float64, "factor of the fact in the vintage: 1 or -1; 0 for a total without a rest"),
    "compared": (pl.Float64, "the amount of the day of comparison"),
    "compared_day": (pl.Date, "the day of comparison"),
    "concept": (AMOUNT, "an amount that filings state, or that is composed of what they state"),
    "concept:text": (pl.String, "the same, as published"),
    "corrected_by": (pl.String, "the rule that corrected or derived the value"),
    "currency": (pl.String, "ISO 4217; null for shares"),
    "customer_funds_end": (pl.Date, "end of their newest period"),
    "day": (pl.Date, "the filing's own day"),
    "days": (pl.Int64, "days between the ends on the calendar; null for an instant"),
    "effective_after": (pl.Date, "the split was after this day"),
    "effective_by": (pl.Date, "the split was on this day or before"),
    "effective_seq": (pl.Int32, "the first filing on the new basis"),
    "element": (pl.String, "of the line, or what the total is"),
    "end": (pl.Date, "last day of a duration, or the instant"),
    "entity": (pl.Int32, "the same number for filings of one economic entity"),
    "evidence": (pl.String, "what proves it, in words"),
    "fact": (pl.UInt32, "row of the facts"),
    "factor": (pl.Float64, "shares on the newest basis for one share of the filing's basis"),
    "figures": (pl.UInt32, "number of figures, windows or filings"),
    "filed": (pl.Date, "filing date"),
    "filed_value": (pl.Float64, "the value before the correction"),
    "fiscal_quarter": (pl.Int32, "1 to 4; 0 for the day before the first fiscal year"),
    "fiscal_year": (pl.Int32, "as the company names it"),
    "fiscal_year_end_month": (pl.Int32, "of the last day before the newest fiscal year"),
    "filed_tag": (pl.String, "element as filed, where the rules know it by another name"),
    "flags": (pl.String, "comma-separated, as published"),
    "flow": (pl.UInt32, "row of the flows"),
    "foots": (pl.Boolean, "whether an identity of its statement holds with the value"),
    "form": (pl.String, "form type"),
    "form_family": (pl.String, "form type without the suffix of amendments"),
    "fy": (pl.Int32, "fiscal year of the filing, not of the fact"),
    "grain": (pl.Float64, "the power of ten to which the value, or its coarsest leg, is rounded"),
    "gross": (pl.Float64, "the sum of the legs without their signs"),
    "has_diluted": (pl.Boolean, "whether the company states diluted shares"),
    "industry": (pl.String, "of the filer"),
    "is_derived": (pl.Boolean, "whether no filing states a leg, but other figures prove it"),
    "is_ifrs": (pl.Boolean, "whether most facts of the filing are of IFRS"),
    "is_revised": (pl.Boolean, "whether another amount was known before"),
    "is_year_end": (pl.Boolean, "whether a fiscal year ends with the quarter"),
    "item": (pl.String, "line item"),
    "is_repriced": (pl.Boolean, "whether the filing restates earlier figures by a price index"),
    "kind": (pl.String, "of a correction: scale, sign, context, total or doubt; of a break: entity or standards"),
    "lacks": (pl.String, "the amount that is missing, as in elements.AMOUNT"),
    "label": (pl.String, "the filer's words for the line of a statement"),
    "left_side": (pl.Float64, "what the identity says, in the unit of the item or of its parts"),
    "measure": (pl.Enum(["money", "per_share", "shares"]), "what the unit measures"),
    "measure_sign": (pl.Int8, "money 0, shares 1, amounts per share -1"),
    "member": (pl.String, "dimensions of the fact; null: the company as a whole"),
    "method": (pl.String, "as published in table versions; null for a withdrawn value"),
    "n": (pl.Int32, "quarters spanned; 0 for an instant"),
    "net_income": (pl.Float64, "units of the reporting currency, of the same period"),
    "newest_currency": (pl.String, "of the newest filing"),
    "operating_cash_flow_end": (pl.Date, "end of its newest period"),
    "other_source": (pl.Boolean, "whether the source is, for this company, another amount than the best source"),
    "outcome": (pl.String, "one of frames.OUTCOMES; null if the identity can no longer be compared"),
    "own_spread": (pl.Float64, "the spread of the method that counts"),
    "period_end": (pl.Date, "the quarter end"),
    "periodic": (pl.Boolean, "whether the filing is a periodic report"),
    "place": (pl.Int16, "order of the leg"),
    "previous_end": (pl.Date, "end of the quarter before; null if that is missing"),
    "q": (pl.Int32, "number of a quarter on its company's fiscal calendar"),
    "rank": (pl.Int16, "place of the source among those of the concept"),
    "ratio": (pl.Float64, "new shares for one old share"),
    "reason": (pl.String, "why there is no value: a code of the vocabulary"),
    "regime": (pl.Int32, "the same number for filings whose figures may be added up"),
    "repair": (pl.Float64, "factor that corrected an error of scale or sign; 1 without error"),
    "reservation": (pl.String, "flag of the source or line"),
    "right_side": (pl.Float64, "what the filing states"),
    "role": (pl.String, "role of the leg: sum, mean, dividend, divisor and so on"),
    "rule": (pl.String, "the rule that decided"),
    "section": (pl.String, "one of elements.lines.SECTIONS"),
    "seq": (pl.Int32, "place of a filing among its company's filings"),
    "shares_basic": (pl.Float64, "weighted average"),
    "shares_diluted": (pl.Float64, "weighted average"),
    "since": (pl.Int32, "seq of the first filing with this amount"),
    "source": (pl.String, "companyfacts, data set or filing"),
    "split_factor": (pl.Float64, "converts the fact to the newest share basis, and includes the repair"),
    "spread": (pl.Float64, "the largest daily amount of a leg divided by the smallest"),
    "start": (pl.Date, "first day of a duration; null for an instant"),
    "tag": (pl.String, "element name, with its taxonomy where no column has that"),
    "taxonomy": (pl.String, "us-gaap or ifrs-full"),
    "times": (pl.Float64, "factor of its own legs"),
    "unit": (pl.String, "as filed: a currency, shares, or a currency per share"),
    "used": (pl.Int64, "the source and its present elements (facts.matching.elements_of)"),
    "value": (pl.Float64, "units of the currency, shares, currency per share, or a ratio; null: nothing is known"),
    "version": (pl.UInt32, "row of the values"),
    "vintage": (pl.UInt32, "an amount as one filing states it; composed ones are numbered after stated ones"),
    "weight": (pl.Float64, "factor of a leg; of a known amount: the days of an average of shares, else 1"),
    "year_before": (pl.Int32, "q of the fiscal year end before"),
    **dict.fromkeys(f"{FLAGS_OF_WINDOWS} {FLAGS_OF_VALUES}".split(), (pl.Boolean, "a flag of table versions")),
}
"""The type and the meaning of each column."""

LIMITS: dict[str, pl.Expr] = {
    "figures": pl.col("figures") >= 1,
    "fiscal_quarter": pl.col("fiscal_quarter").is_between(0, 4),
    "measure_sign": pl.col("measure_sign").is_in([-1, 0, 1]),
    "n": pl.col("n").is_between(0, 4),
    "q": pl.col("q") >= 0,
    "ratio": pl.col("ratio") > 0,
    "seq": pl.col("seq") >= 0,
}
"""Limits of a column's values, beyond its type."""


def _types(words: Iterable[str]) -> dict[str, DataType]:
    """The type of each column, by name; the words are names of columns with marks."""
    names = [word.rstrip("*?!") for word in words]
    return {name.partition(":")[0]: COLUMNS[name][0] for name in names}


COLUMNS["legs"] = pl.List(pl.Struct(_types(LEG.split()))), "the facts of the value"


# --- Frames -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Declared:
    """The declaration of a frame, and the check of a frame against it.

    name: its name in the steps.
    row: the meaning of one row.
    columns: the names of the columns in order, with marks.
    """

    name: str
    row: str
    columns: str

    @cached_property
    def types(self) -> pl.Schema:
        """The columns and their types."""
        return pl.Schema(_types(self.columns.split()))

    @cached_property
    def empty(self) -> pl.DataFrame:
        """The frame without rows."""
        return pl.DataFrame(schema=self.types)

    @cached_property
    def conditions(self) -> dict[str, pl.Expr]:
        """The conditions on rows, by name, each an expression that counts the rows for which it does not hold."""
        marks = {word.rstrip("*?!").partition(":")[0]: word for word in self.columns.split()}
        found = {f"{name} is missing": pl.col(name).null_count() for name, word in marks.items() if "?" not in word}
        found |= {f"{name} is repeated": pl.col(name).is_duplicated().sum() for name in marks if "!" in marks[name]}
        found |= {f"{name} is beyond its limits": (~LIMITS[name]).sum() for name in marks if name in LIMITS}
        if key := [name for name, word in marks.items() if "*" in word]:
            found[f"the key ({', '.join(key)}) is repeated"] = pl.struct(key).is_duplicated().sum()
        return found

    def checked(self, frame: pl.DataFrame, step: str, *, validate: bool = False) -> pl.DataFrame:
        """Check a frame, and return it with its columns in the declared order.

        Args:
            frame: the frame that a step returned.
            step: the name of the step, for the message.
            validate: also check keys and missing values.

        Raises:
            FrameError: a column is missing, has another type, or is not declared; a key is not unique; a required value
                is missing.
        """
        # comparing lists takes a third of the time of comparing schemas
        if (frame.columns, frame.dtypes) != (self.types.names(), self.types.dtypes()):
            types = dict(frame.schema)
            wrong = [
                f"{name} is {types.get(name, 'missing')}, expected {expected}"
                for name, expected in self.types.items()
                if types.get(name) != expected
            ]
            wrong += [f"{name} is not declared" for name in types if name not in self.types]
            if wrong:
                raise FrameError(f"step {step!r} made {self.name!r}: {'; '.join(wrong)}")
            frame = frame.select(self.types.names())
        if validate:
            failing = frame.select(**self.conditions).row(0, named=True)
            if wrong := [f"{name} in {rows} rows" for name, rows in failing.items() if rows]:
                raise FrameError(f"step {step!r} made {self.name!r}: {'; '.join(wrong)}")
        return frame


REPORTS = """
    cik taxonomy tag unit start? end value accession fy? form filed source filed_tag? member? label?
    amended form_family currency? measure
"""
STATED = "vintage* cik seq start? end concept rank value grain filed periodic amended used other_source measure_sign"
SOUND = f"{STATED} repair corrected_by? foots"
VINTAGES = f"{SOUND} regime"
STATED_FACTS = "vintage tag fact coefficient"
IN_ORDER = "cik* accession* form filed seq accepted_at?"
KNOWN = """
    cik* concept* q* n* seq* days? regime amount? weight vintage rank? grain? other_source since is_revised
"""
WITHHELD_ITEM = "cik q item reason rule"
FLOWS = f"""
    flow* cik concept q seq amount? days? rule {FLAGS_OF_WINDOWS}
    regime? grain? spread? own_spread? gross? excess? is_derived
"""
FLOW_LEGS = "flow* place* vintage weight"
VALUES = f"version* cik q seq item entity? value? rule method? {FLAGS_OF_WINDOWS} {FLAGS_OF_VALUES}"
VALUE_LEGS = "version* place* role times flow? balance?"
ITEM_GAPS = "cik* q* item* reason"
LINEAGE = f"version {LEG} repair reservation?"
REPLAYED_VERSIONS = """
    cik class_member period_end n item value? accession form filed cause method? rule flags fiscal_year
    fiscal_quarter is_year_end basis legs q seq
"""
GAPS = "cik* period_end* item* reason rule"

FRAMES: dict[str, Declared] = {
    name: Declared(name, row, columns)
    for name, row, columns in (
        # facts
        ("reports", "a fact of a periodic or current report, as filed", REPORTS),
        ("currencies", "a company: the currency of its books", "cik* currency"),
        ("in_currency", "a fact in the reporting currency or in shares", REPORTS),
        ("facts", "the same, in the order of filing", f"{REPORTS} seq"),
        ("industries", "a filing: the industry of the filer, and the rule that found it", "cik* seq* industry rule"),
        ("stated", "a filing, concept and period: the amount of its best source", STATED),
        ("stated_facts", "a filed fact of a vintage", STATED_FACTS),
        ("left_out", "an amount of a filing and period that a rule leaves out", "cik concept start? end rule"),
        ("statements", "a vintage that counts", STATED),
        # corrections
        ("sound", "a vintage after the correction of errors of scale, sign and context", SOUND),
        ("complete_facts", "a filed fact of such a vintage", STATED_FACTS),
        (
            "corrections",
            "a figure that was corrected, or left out (`value` is null)",
            "cik seq concept start? end kind filed_value value? evidence rule",
        ),
        (
            "footings",
            "a statement of a filing and period that an identity, the rule, judged by the figure of an item",
            "cik seq start end item rule outcome left_side right_side",
        ),
        # periods and shares
        (
            "regimes",
            "a filing: the entity whose figures it shows, and its accounting standards",
            "cik* seq* is_ifrs is_repriced regime entity",
        ),
        ("vintages", "such a vintage or an amount that other figures prove, with the regime of its filing", VINTAGES),
        (
            "grid",
            "a quarter end of a company; the first is the day before its first fiscal year, which is not a period",
            "cik* q* period_end previous_end? fiscal_year fiscal_quarter is_year_end year_before",
        ),
        ("splits", "a share split", "cik* ratio effective_seq* effective_by effective_after evidence rule"),
        ("in_order", "a filing", IN_ORDER),
        ("filings", "a filing, with its share basis", f"{IN_ORDER} factor"),
        ("on_basis", "a vintage on the newest share basis", VINTAGES),
        ("on_calendar", "such a vintage that is a fiscal period or a quarter end", f"{VINTAGES} q n days?"),
        ("placed", "such a vintage that figures of other periods do not contradict", f"{VINTAGES} q n days?"),
        # balances and flows
        (
            "composed",
            "total debt or cash of a balance sheet that counts, composed of its lines",
            "cik* concept* q* seq* filed amended regime value? grain? rule vintage! n measure_sign",
        ),
        (
            "lines_of_balances",
            "a fact of a composed balance: one of its lines, or what proves that there are none",
            "vintage fact coefficient rule reservation? repair cik seq concept",
        ),
        (
            "section_lines",
            "a line of a section of a balance sheet, or its total, in both columns of the filing",
            "cik* seq* section* element* class adds_up day compared_day? amount? compared?",
        ),
        ("missed", "a balance without a value because one of its lines is no longer stated", WITHHELD_ITEM),
        ("known_flows", "a concept, period and filing that states it: the amount known after that filing", KNOWN),
        (
            "balances",
            "a change of a balance, with the rule that composed it (null for a single line)",
            f"{KNOWN} rule?",
        ),
        (
            "flows",
            "a change of the twelve months of a concept to a quarter end, by the method that the rule names",
            FLOWS,
        ),
        (
            "flow_legs",
            "a leg of a flow: a vintage; its weight is negative if it is subtracted",
            FLOW_LEGS,
        ),
        ("withheld_windows", "an item of a quarter end whose twelve months a rule withholds", WITHHELD_ITEM),
        ("quarter_flows", "the same of a change of one quarter of a concept", FLOWS),
        ("quarter_flow_legs", "a leg of such a flow", FLOW_LEGS),
        ("withheld_quarters", "an item of a quarter whose parts a rule forbids to subtract", WITHHELD_ITEM),
        # items
        (
            "values",
            "a version of a line item (`value` is null if it is withdrawn), with one column for each flag",
            VALUES,
        ),
        (
            "value_legs",
            "a leg of a version: a row of flows or of balances",
            VALUE_LEGS,
        ),
        ("item_gaps", "an item without a value today: the first reason that it gives itself", ITEM_GAPS),
        (
            "filed_facts",
            "a filed fact of a vintage that is a leg, stated or composed, with the rule that chose or corrected it",
            """
            vintage tag unit start? end value coefficient accession form filed cik seq concept repair rule reservation?
            source member? label?
            """,
        ),
        ("lineage", "a filed fact of a version, in the order of the legs", LINEAGE),
        (
            "versions",
            "a version in the form of the log (history.versions.REPLAYED), with its quarter and filing",
            REPLAYED_VERSIONS,
        ),
        # frames that are published in addition to the versions
        (
            "withheld",
            "an item of a quarter end that a rule withholds after the newest filing",
            WITHHELD_ITEM,
        ),
        ("decisions", "a company and rule: how much the rule decided in a step", "cik* rule* figures"),
        (
            "proofs",
            "a judgement of an item of a quarter end by an identity, from a filing on",
            "cik* q* item* seq* rule* outcome? left_side? right_side?",
        ),
        (
            "balance_sheet_lines",
            "a line of a section that is published, with the accession number of the filing",
            "cik accession section element member? class adds_up day compared_day? amount? compared?",
        ),
        (
            "breaks",
            "a filing after which the figures are another company's, or follow other standards",
            "cik* accession* filed kind rule",
        ),
        ("gaps", "a period that has some value and lacks an item", GAPS),
        # the same for quarters
        ("quarter_values", "a version of a line item of one quarter", VALUES),
        ("quarter_value_legs", "a leg of such a version: a row of quarter_flows", VALUE_LEGS),
        ("quarter_item_gaps", "an item of a quarter without a value today: the first reason that it gives", ITEM_GAPS),
        ("withheld_quarter_items", "an item of a quarter that a rule withholds", WITHHELD_ITEM),
        ("quarter_lineage", "a filed fact of such a version, in the order of the legs", LINEAGE),
        ("quarter_versions", "a version of a quarter in the form of the log", REPLAYED_VERSIONS),
        ("quarter_gaps", "a quarter that has some value, or a balance at its end, and lacks an item", GAPS),
        (
            "repairs",
            "a correction as published",
            "cik concept:text start? end kind filed_value value? evidence rule accession",
        ),
        (
            "latest_shares",
            "a company: the newest quarter's average shares, by the method quarter, difference or year_to_date",
            "cik* period_end shares_basic? shares_diluted? net_income? method has_diluted",
        ),
        (
            "evidence",
            "a company: facts that decide whether a cash flow model fits it",
            "cik* newest_currency? operating_cash_flow_end? capital_expenditure_end? customer_funds_end?",
        ),
        (
            "periods",
            "a period end of the fiscal calendar",
            "cik* period_end* fiscal_year fiscal_quarter is_year_end",
        ),
        ("profiles", "a company", "cik* currency industry fiscal_year_end_month?"),
    )
}
"""Every frame that a step makes, by name, with the meaning of one row and the columns."""


# --- Decisions --------------------------------------------------------------------------------------------------

DECISIONS = FRAMES["decisions"].types
"""Columns of the frame of decisions: how often each rule of a step decided, by company."""

WITHHELD = FRAMES["withheld"].types
"""Columns of the frame of items that a rule withholds at a quarter end."""

PROOFS = FRAMES["proofs"].types
"""Columns of the frame of judgements of an item at a quarter end by an identity; each holds from filing `seq` until the
rule's next judgement."""

HOLDS, CHOSE, CORRECTED, WITHHELD_OUTCOME = OUTCOMES = ("holds", "chose", "corrected", "withheld")
"""holds: the value satisfies the identity; chose: the value was chosen because it satisfies the identity; corrected:
the identity proved a filed figure wrong, and the figure was corrected; withheld: the identity contradicts the value,
which is therefore not served."""


def counted(decided: Iterable[tuple[Rule, npt.NDArray[Any]]]) -> pl.DataFrame:
    """Count the decisions of a step: columns of DECISIONS.

    Args:
        decided: each rule with the CIK of every figure, window or filing that it decided; a rule may occur several
            times.
    """
    figures: Counter[tuple[int, str]] = Counter()
    for rule, ciks in decided:
        for cik, number in zip(*np.unique(ciks, return_counts=True), strict=True):
            figures[int(cik), rule.id] += int(number)
    return pl.DataFrame([(*key, number) for key, number in figures.items()], schema=DECISIONS, orient="row")
