"""The page `/rules`: what each rule decides, its source, and how often it decided in the current build.

Belongs here: the layout. Does not: the rules and their statements (table `rules` of the build).
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from serve.site.content import Block, Document, Grid, Heading, Paragraph, Points, plain
from warehouse.page_queries import RuleCount

SUMMARY = "Each decision that can change a served value, with its source and how often it decided."
ABOUT = (
    "A rule has an id that never changes its meaning. `fundamentals explain SYMBOL ITEM PERIOD` names the rules behind "
    "a value, and column `rule` of the tables of the published file holds their ids.",
    "Each statement is followed by its source, its action, and the filers that the rule applies to. **select** chooses "
    "among filed facts, **compose** makes a value from several, **correct** repairs an error of a filing, **withhold** "
    "leaves a value out, **flag** marks a value that is served.",
    "**Values** counts the current values and gaps of the build that name the rule. **Figures** counts what it decided "
    "in the steps of the calculation: figures, windows, filings, quarter ends, splits or breaks. **Companies** counts "
    "the companies with either. Table `decisions` of the published file has the figures of each company.",
)
NONE_YET = "No build with rules is published yet; the next synchronization publishes one."
HEAD = ("Rule", "Values", "Figures", "Companies", "What it decides")


def document(rules: Sequence[RuleCount]) -> Document:
    """The page; `rules` as in table `rules`, in the order of their ids."""
    if not rules:
        return Document("Rules", SUMMARY, (Points(ABOUT), Paragraph(NONE_YET)))
    idle = sum(rule.values == 0 and rule.figures == 0 for rule in rules)
    counted = f"{len(rules):,} rules, of which {idle:,} decided nothing in this build."
    blocks = (Points(ABOUT), Paragraph(counted), *(block for block in _groups(rules)))
    return Document("Rules", SUMMARY, blocks, has_contents=True)


def _groups(rules: Sequence[RuleCount]) -> Iterator[Block]:
    """The rules grouped by the first part of their id, each group under a heading."""
    for subject, group in groupby(rules, key=lambda rule: rule.id.partition(".")[0]):
        held = tuple(group)
        name = subject.replace("-", " ").capitalize()
        yield Heading(name, subject)
        anchors = tuple(rule.id for rule in held)
        yield Grid(f"Rules of {name.lower()}", HEAD, tuple(map(_row, held)), frozenset({1, 2, 3}), anchors)


def _row(rule: RuleCount) -> tuple[str, ...]:
    about = f"Source: {plain(rule.source)}. Action: {plain(rule.action)}. Applies to: {plain(rule.applies)}."
    counts = (f"{count:,}" for count in (rule.values, rule.figures, rule.companies))
    return (f"`{rule.id}`", *counts, f"**{plain(rule.statement)}** {about}")
