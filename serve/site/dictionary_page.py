"""The page `/dictionary`: the data dictionary for users of the values.

Belongs here: the layout, and the text about conventions, splits and revisions. Does not: the meanings of items and
codes (warehouse.schema, vocabulary, reasons), the elements (table `line_items` of the build).
"""

from collections.abc import Iterator, Mapping

from serve.site.content import Block, Document, Folded, Grid, Heading, Paragraph, Points, plain
from serve.site.figures import TITLES
from warehouse.reasons import NO_FAIR_VALUE
from warehouse.schema import LINE_ITEMS, LineItem
from warehouse.vocabulary import CAUSES, FLAGS, GAPS, METHODS

SUMMARY = "What each value means, how it is calculated from filings, and why it may be missing or change."
CONVENTIONS = (
    "Amounts are in the company's reporting currency and in units, not thousands.",
    "An item without a value is left out. It is missing, not zero: a value is zero only if a filing states zero, or if "
    "the totals of the same filing prove it. No value is carried forward, interpolated or estimated.",
    "Flows cover twelve months: a fiscal year, or trailing twelve months (TTM) to a quarter end. Balances are those of "
    "the period's last day.",
    "At the end of a fiscal year the TTM value is the annual value.",
    "A period is defined by its first and last day. Labels such as 2026Q1 follow the company's own fiscal calendar.",
)
RULES = (
    "Each decision behind a value is a rule with an id. [The page of rules](/rules) lists the statement and the source "
    "of each, and how many values it decided."
)
SOURCES = (
    "The elements that state each amount, in order of preference: a filing's value comes from the first line whose "
    "elements are all in that filing for that period. `[+ …]` is added and `[- …]` subtracted if present."
)
SPLITS = (
    "Values per share and numbers of shares are on the share basis of the company's newest report, in all periods: "
    "after a four-for-one split, all older earnings per share are divided by four, and all older numbers of shares are "
    "multiplied by four. A split therefore causes no jump in a series.",
    "Splits are inferred from the filings: the first report after a split restates the shares of older periods (ASC "
    "260-10-55-12). A split rescales every version of a value, and does not count as a revision.",
    "Table `splits` of the published file lists them; table `lineage` keeps each value as filed, with the factor.",
)
REVISIONS = (
    "All earlier values are kept. When a filing changes any figure that a value is calculated from, the value is "
    "calculated again from all filings up to then. If the result differs, it is a new version. Versions are numbered "
    "from 1; [the endpoint of revisions](/reference#listRevisions) lists every period and item with more than one "
    "version, and [the pages of companies](/companies) mark them.",
    "`recorded_at` is the time when this service recorded a version, not the time of the filing. It is null for a "
    "version that was superseded before this service first read the company's filings. A later filing that merely "
    "lacks a figure does not withdraw a value.",
)


def document(sources: Mapping[str, str]) -> Document:
    """The page; `sources` is the text of column `sources` of table `line_items`, by item."""
    overview = tuple((f"[{TITLES[item.name]}](#{item.name})", f"`{item.name}`", item.unit) for item in LINE_ITEMS)
    blocks = (
        Points(CONVENTIONS),
        Paragraph(RULES),
        Heading("The eleven items", "items"),
        Grid("Line items", ("Item", "Name", "Unit"), overview),
        *(block for item in LINE_ITEMS for block in _item(item, sources.get(item.name, ""))),
        Heading("Why a value is missing", "gaps"),
        Paragraph("The reasons, by their code in table `gaps` of the published file."),
        _codes("Reasons of gaps", "gap", {code: gap.meaning for code, gap in GAPS.items()}),
        Heading("Share splits", "splits"),
        *map(Paragraph, SPLITS),
        Heading("Revisions", "revisions"),
        *map(Paragraph, REVISIONS),
        _codes("Why a value changed: `cause` of table `versions`", "cause", CAUSES),
        _codes("How a value was computed: `method`", "method", METHODS),
        _codes("Reservations: `flags`", "flag", FLAGS),
        Heading("Why there is no fair value", "no-fair-value"),
        Paragraph("The codes that [the valuation](/reference#getValuation) returns instead of a value."),
        _codes("Reasons for no fair value", "reason", NO_FAIR_VALUE),
    )
    return Document("Data dictionary", SUMMARY, blocks, has_contents=True)


def _item(item: LineItem, sources: str) -> Iterator[Block]:
    yield Heading(TITLES[item.name], item.name, 3)
    yield Paragraph(f"{item.meaning} Field `{item.name}`, unit: {item.unit}.")
    yield Paragraph(f"**Formula:** {plain(item.formula)}.")
    reasons = [f"[{code}](#gap-{code})" for code, gap in GAPS.items() if item.name in gap.items]
    yield Paragraph(f"**May be missing because of:** {', '.join(reasons)}.")
    if sources:
        amounts = [line.split(": ", 1) for line in sources.splitlines()]
        tables = (
            Grid(_amount(name), ("#", "Elements", "Industries", "Why"), _lines(stated)) for name, stated in amounts
        )
        yield Folded(f"Elements that feed {TITLES[item.name].lower()}", (Paragraph(SOURCES), *tables))


def _amount(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _lines(stated: str) -> tuple[tuple[str, str, str, str], ...]:
    """One row per source: its rank, its elements, the industries that it applies to, and the reason for it."""
    rows = []
    for place, source in enumerate(stated.split(" | "), 1):
        elements, _, told = source.partition(" (")
        industries, _, why = told.removesuffix(")").partition("; ")
        rows.append((str(place), f"`{elements}`", plain(industries), plain(why)))
    return tuple(rows)


def _codes(caption: str, kind: str, meanings: Mapping[str, str]) -> Grid:
    rows = tuple((f"`{code}`", meaning) for code, meaning in meanings.items())
    return Grid(caption, ("Code", "Meaning"), rows, anchors=tuple(f"{kind}-{code}" for code in meanings))
