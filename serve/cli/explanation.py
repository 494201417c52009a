"""The text that the command `fundamentals explain` prints.

Belongs here: its blocks and lines. Does not: finding the value and its wording (provenance), the arithmetic
(warehouse.explanation.explain), parsing arguments (fundamentals.py).
"""

import textwrap
from collections.abc import Iterator, Sequence

from serve import names
from serve.cli import balance_sheet, statements
from serve.provenance import (
    ROLES,
    about,
    day_and_label,
    factors,
    in_figures,
    not_read,
    number,
    of_members,
    read_in,
    sides,
    span,
)
from warehouse.contract.fictional import FILINGS, is_fictional
from warehouse.contract.vocabulary import BALANCES, NOT_IN_COMPANYFACTS
from warehouse.explanation.balance_sheet import BalanceSheet
from warehouse.explanation.explain import Explanation, FormulaPart, Step
from warehouse.queries.explain_queries import Leg, Span, ValueVersion

KINDS = {"ttm": "trailing twelve months to", "annual": "fiscal year to", "quarter": "fiscal quarter to"}
REBASED = (
    "Facts are put on the share basis of the newest filing: multiplied or divided by the splits since they were filed. "
    "Figures that were filed a thousand or a million times too large or too small are corrected."
)
WHERE_RULES_ARE = (
    'docs/rules.md lists every rule under its id; the file after "Code" has the rule next to the code that decides.'
)
NO_RULES = "No rule is named: the value was recorded, or the build published, before rules had ids."


# --- As text ----------------------------------------------------------------------------------------------------


def text(explained: Explanation, width: int, *, is_whole: bool = False) -> str:
    """The explanation as text, wrapped at `width` except for tags, figures and addresses.

    First the value with its facts, their balance sheet, the statement as filed and their filings, then the rules that
    decided it; with `is_whole` also further statements, and the rules about the company.
    """
    blocks = [
        _head(explained, width),
        _arithmetic(explained, width),
        _legs(explained.parts),
        balance_sheet.lines(explained, width),
        statements.lines(explained, width, is_whole=is_whole),
        _filings(explained),
        _decisions(explained, width),
        _judgements(explained, width),
        _versions(explained, width),
        _company_rules(explained, width) if is_whole else _further(explained),
    ]
    return "\n\n".join("\n".join(lines) for lines in map(list, blocks) if lines) + "\n"


def _head(explained: Explanation, width: int) -> Iterator[str]:
    yield f"{names.shown(explained.name or explained.symbol)} ({explained.symbol}, CIK {explained.cik})"
    when = "balance sheet of" if explained.item in BALANCES else KINDS[explained.kind]
    yield f"{explained.item}, {when} {day_and_label(Span(explained.kind, explained.period, explained.period_end))}"
    yield ""
    yield "  no value" if explained.value is None else f"  {number(explained.value)} {explained.unit}"
    yield ""
    notes = [("meaning", explained.meaning), ("formula", explained.formula)]
    notes += [("why not", f"{explained.reason.meaning} ({explained.reason.code})")] if explained.reason else []
    notes += [("method", f"{explained.method.meaning} ({explained.method.code})")] if explained.method else []
    notes += [("flag", f"{flag.meaning} ({flag.code})") for flag in explained.flags]
    notes += [("not read", f"{not_read(report)} ({report.accession})") for report in explained.unread]
    if any(leg.split_factor != 1 for part in explained.parts for leg in part.legs):
        notes.append(("note", REBASED))
    if explained.namesakes:
        ends = ", ".join(explained.namesakes)
        notes.append(
            (
                "note",
                f"{explained.period} is also the label of the period that ends {ends}; ask for it by that day.",
            )
        )
    for name, words in notes:
        yield from textwrap.wrap(words, width, initial_indent=f"{name:<9}", subsequent_indent=" " * 9)


def _arithmetic(explained: Explanation, width: int) -> Iterator[str]:
    """The calculation of each amount from its legs, then of the value from the amounts."""
    if explained.parts:
        yield "How it is calculated"
    for part in explained.parts:
        yield f"  {part.name}{f' ({ROLES[part.role]})' if part.role in ROLES else ''}"
        yield from _sums(part)
    for step in explained.steps:
        yield from _step(step, width)
    if explained.steps and explained.value is not None and number(explained.value) != number(explained.steps[-1].value):
        yield f"  served as {number(explained.value)}"


def _sums(part: FormulaPart) -> Iterator[str]:
    """The facts that add up to an amount, with their elements if they differ."""
    are_named = len({leg.tag for leg in part.legs}) > 1
    figures = [number(abs(part.share(leg))) for leg in part.legs]
    total = number(part.value)
    wide = max(map(len, [*figures, total]))
    for leg, figure in zip(part.legs, figures, strict=True):
        sign = "-" if part.share(leg) < 0 else "+"
        name = f"  {leg.tag.partition(':')[2]}" if are_named else ""
        yield f"    {f'[{leg.leg}]':>4} {sign} {figure:>{wide}}  {span(leg)}{_factored(part, leg)}{name}"
    if len(part.legs) > 1:
        yield f"         = {total:>{wide}}"


def _factored(part: FormulaPart, leg: Leg) -> str:
    text = factors(part, leg)
    return f"  ({text})" if text else ""


def _step(step: Step, width: int) -> Iterator[str]:
    """A formula in words, in figures, and its result; empty if it only repeats an amount."""
    if step.formula in step.figures:
        return
    head = f"  {step.name} "
    for words in filter(None, (step.formula, in_figures(step), number(step.value))):
        yield from textwrap.wrap(f"= {words}", width, initial_indent=head, subsequent_indent=" " * (len(head) + 2))
        head = " " * len(head)


def _decisions(explained: Explanation, width: int) -> Iterator[str]:
    """The rules that decided the value or its absence, with their statements."""
    is_unread = explained.reason is not None and explained.reason.code == NOT_IN_COMPANYFACTS
    if explained.value is None and (explained.reason is None or is_unread):
        return
    yield "Rules that decided it"
    for decision in explained.decisions:
        yield from textwrap.wrap(
            f"{about(decision)}: {decision.rule.id}",
            width,
            initial_indent="  ",
            subsequent_indent=" " * 7,
            # an id stays on one line, so that it can be searched for
            break_long_words=False,
            break_on_hyphens=False,
        )
        parts = {"": decision.rule.statement, "Source: ": decision.rule.source, "Code: ": decision.rule.file}
        stated = (f"{name}{text}" for name, text in parts.items() if text)
        for words in (*decision.evidence, *stated):
            yield from textwrap.wrap(words, width, initial_indent=" " * 7, subsequent_indent=" " * 7)
    yield from textwrap.wrap(
        WHERE_RULES_ARE if explained.decisions else NO_RULES, width, initial_indent="  ", subsequent_indent="  "
    )


def _judgements(explained: Explanation, width: int) -> Iterator[str]:
    """The identities that were checked for the value, with both sides and the statement."""
    if explained.judgements:
        yield "Identities that judged it"
    for judgement in explained.judgements:
        both = f" ({text})" if (text := sides(judgement)) else ""
        words = f"{judgement.rule.id}: {judgement.outcome.meaning}{both}"
        yield from textwrap.wrap(
            words,
            width,
            initial_indent="  ",
            subsequent_indent=" " * 7,
            break_long_words=False,
            break_on_hyphens=False,
        )
        if judgement.rule.statement:
            yield from textwrap.wrap(judgement.rule.statement, width, initial_indent=" " * 7, subsequent_indent=" " * 7)


def _company_rules(explained: Explanation, width: int) -> Iterator[str]:
    """The other rules that decided something for the company: id, number of figures, first sentence."""
    if explained.company_rules:
        yield "Rules about the company"
    for company in explained.company_rules:
        yield from textwrap.wrap(
            f"{company.rule.id} ({company.figures:,}): {company.says}".rstrip(": "),
            width,
            initial_indent="  ",
            subsequent_indent=" " * 7,
            break_long_words=False,
            break_on_hyphens=False,
        )


def _further(explained: Explanation) -> Iterator[str]:
    """The number of rules that are left out."""
    if count := len(explained.company_rules):
        yield f"{count} more {'rule' if count == 1 else 'rules'} decided something about the company; --all lists them."


def _legs(parts: Sequence[FormulaPart]) -> Iterator[str]:
    legs = sorted((leg for part in parts for leg in part.legs), key=lambda leg: leg.leg)
    if legs:
        yield "Facts as filed"
    for leg in legs:
        yield f"  {f'[{leg.leg}]':>4} {of_members(leg.tag, leg.member)}"
        yield f"       {number(leg.value)} {leg.unit}, {span(leg)}"
        yield f"       {_filing(leg.form, leg.filed, leg.accession)}"
        if where := read_in(leg):
            yield f"       {where}"


def _versions(explained: Explanation, width: int) -> Iterator[str]:
    if explained.versions:
        yield "Versions"
    for version in explained.versions:
        of = version.recorded
        value = "withdrawn" if of.value is None else number(of.value)
        yield f"  {f'{of.version}.':>4} {value}, {_filing(of.form, of.filed, of.accession)}"
        recorded = f"; recorded {of.recorded_at}" if of.recorded_at else ""
        why = f"{version.cause.code}: {version.cause.meaning.rstrip('.')}{recorded}"
        yield from textwrap.wrap(why, width, initial_indent=" " * 7, subsequent_indent=" " * 7)


def _filings(explained: Explanation) -> Iterator[str]:
    legs = [leg for part in explained.parts for leg in part.legs]
    filed: list[Leg | ValueVersion | BalanceSheet] = [*legs, *(version.recorded for version in explained.versions)]
    filed += [explained.sheet] if explained.sheet else []
    addresses = {of.accession: of.url for of in filed if of.accession and of.url}
    if addresses:
        yield "Filings" if is_fictional(explained.cik) else "Filings at the SEC"
    for accession, url in sorted(addresses.items()):
        yield f"  {accession}"
        yield f"  {f'fictional; the pages of the service show it: {url}' if url.startswith(FILINGS) else url}"


def _filing(form: str | None, filed: str | None, accession: str | None) -> str:
    return f"{form or 'filing'} of {filed or 'an unknown day'}, {accession or 'without accession number'}"
