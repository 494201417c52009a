"""The data dictionary for whoever reads the values: items, sources, gaps, splits, revisions.

Belongs here: how these are laid out, and what a reader must know about splits and revisions. Does not: what items and
codes mean (warehouse.schema, vocabulary, reasons), the elements (table `line_items` of the build).
"""

from collections.abc import Iterator, Mapping

from serve.site.content import Block, Document, Folded, Grid, Heading, Paragraph, Points, plain
from serve.site.figures import TITLES
from warehouse.reasons import NO_FAIR_VALUE
from warehouse.schema import LINE_ITEMS, LineItem
from warehouse.vocabulary import CAUSES, FLAGS, GAPS, METHODS

SUMMARY = "What each number is, how it is made from filings, and why one may be missing or change."
CONVENTIONS = (
    "Amounts are in the company's reporting currency and in units, not thousands.",
    "An item without a value is left out. It is not zero: zero is told only where it is filed, or proved by the totals "
    "of the same filing. Nothing is carried forward, interpolated or estimated.",
    "Flows are those of twelve months: of a fiscal year, or trailing twelve months (TTM) at a quarter end. Balances "
    "are those of the period's last day.",
    "At the end of a fiscal year the TTM value is the annual value.",
    "A period is its first and last day. Labels such as 2026Q1 follow the company's own fiscal calendar.",
)
RULES = (
    "Each decision behind a value is a rule with an id: [the rules](/rules) lists what each says, its source, and how "
    "many values it decided."
)
SOURCES = (
    "The elements that state each amount, in order of preference: a filing's value is the first line of which every "
    "element is in that filing for that period. `[+ …]` is added and `[- …]` taken off where present."
)
SPLITS = (
    "Values per share and numbers of shares are on the share basis of the newest report that is held, the whole series "
    "through: after a split of four for one all older earnings per share are divided by four, and all older numbers of "
    "shares multiplied by four. So a series has no cliff where a split was.",
    "Splits are found in the filings: the first report after one states the shares of older periods anew (ASC "
    "260-10-55-12). A split rescales every version of a value, and is no revision.",
    "Table `splits` of the published file lists them; table `lineage` keeps what each filing said, beside the factor.",
)
REVISIONS = (
    "Every value that the filings ever led to is kept. Whenever a filing changes anything that a value is made of, the "
    "value is computed again from all that was known by then, and a result that differs is a new version. Versions are "
    "numbered from 1; [the endpoint of revisions](/reference#listRevisions) lists every period and item that has more "
    "than one, and [a company's page](/companies) marks them.",
    "`recorded_at` is when this service recorded a version, not when it was filed. It is null where a version was "
    "superseded before this service first read the company's filings. A later filing that merely lacks a figure "
    "withdraws nothing.",
)


def document(sources: Mapping[str, str]) -> Document:
    """The page; `sources` by item, as in table `line_items`."""
    overview = tuple((f"[{TITLES[item.name]}](#{item.name})", f"`{item.name}`", item.unit) for item in LINE_ITEMS)
    blocks = (
        Points(CONVENTIONS),
        Paragraph(RULES),
        Heading("The eleven items", "items"),
        Grid("Line items", ("Item", "Name", "Unit"), overview),
        *(block for item in LINE_ITEMS for block in _item(item, sources.get(item.name, ""))),
        Heading("Why a value is missing", "gaps"),
        Paragraph("Each reason by its code in table `gaps` of the published file."),
        _codes("Reasons of gaps", "gap", {code: gap.meaning for code, gap in GAPS.items()}),
        Heading("How a split rescales a series", "splits"),
        *map(Paragraph, SPLITS),
        Heading("What a revision is", "revisions"),
        *map(Paragraph, REVISIONS),
        _codes("Why a value changed: `cause` of table `versions`", "cause", CAUSES),
        _codes("How a value was computed: `method`", "method", METHODS),
        _codes("Reservations: `flags`", "flag", FLAGS),
        Heading("Why there is no fair value", "no-fair-value"),
        Paragraph("The codes that [the valuation](/reference#getValuation) gives instead of a value."),
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
    """One row a source: its place, its elements, the industries that it holds for, and why it is read."""
    rows = []
    for place, source in enumerate(stated.split(" | "), 1):
        elements, _, told = source.partition(" (")
        industries, _, why = told.removesuffix(")").partition("; ")
        rows.append((str(place), f"`{elements}`", plain(industries), plain(why)))
    return tuple(rows)


def _codes(caption: str, kind: str, meanings: Mapping[str, str]) -> Grid:
    rows = tuple((f"`{code}`", meaning) for code, meaning in meanings.items())
    return Grid(caption, ("Code", "Meaning"), rows, anchors=tuple(f"{kind}-{code}" for code in meanings))
