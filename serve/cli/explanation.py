"""The command `fundamentals explain`: finds the requested value, and prints its provenance.

Belongs here: finding symbol, item and period, suggestions for misspelled ones, and the text of an explanation. Does
not: the arithmetic (warehouse.explain), the SQL (warehouse.explain_queries), parsing arguments (fundamentals.py).
"""

import re
import textwrap
from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from difflib import get_close_matches
from typing import NoReturn

from serve.http.errors import CommandError
from warehouse import explain_queries
from warehouse.explain import Decision, Explanation, Judgement, Part, Step, days, explanation
from warehouse.explain_queries import Holder, Leg, Span, ValueVersion
from warehouse.reader import OpenBuild
from warehouse.schema import ITEM_NAMES, LINE_ITEMS

LABEL = re.compile(r"\d{4}Q[1-4]|FY\d{4}")
KINDS = {"ttm": "trailing twelve months to", "annual": "fiscal year to"}
BALANCES = ("total_debt", "cash_and_equivalents")
ROLES = {
    "capital": "in capital",
    "capital_before": "in capital a year before",
    "divisor": "divides",
    "mean": "averaged",
}
ROLES |= {"divisor_mean": "averaged, divides"}
REBASED = (
    "Facts are put on the share basis of the newest filing: multiplied or divided by the splits since they were filed. "
    "Figures that were filed a thousand or a million times too large or too small are corrected."
)
SIGNIFICANT = 12
WHERE_RULES_ARE = (
    'docs/rules.md lists every rule under its id; the file after "Code" has the rule next to the code that decides.'
)
NO_RULES = "No rule is named: the value was recorded, or the build published, before rules had ids."


def find(build: OpenBuild, symbol: str, item: str, period: str) -> Explanation:
    """Explain the current value of a symbol's item in a period.

    Args:
        build: the build to query.
        symbol: symbol of common equity in any case, of any share class, also if it is no longer listed.
        item: name of a line item.
        period: a label in any case, or the last day of a period; for a day, trailing twelve months take precedence.

    Raises:
        CommandError: the symbol, item or period does not exist; the message names what exists instead.
    """
    holder = explain_queries.holder(build, symbol) or _unknown_symbol(build, symbol)
    line = next((line for line in LINE_ITEMS if line.name == item.lower()), None) or _unknown_item(item)
    held, asked = explain_queries.spans(build, holder.cik), _asked(period)
    span, *namesakes = [span for span in held if asked in (span.period, span.period_end)] or _absent(
        holder, held, asked
    )
    versions = explain_queries.value_versions(build, holder.cik, span, line.name)
    newest = versions[-1].version if versions else 0
    legs = explain_queries.legs(build, holder.cik, span, line.name, newest)
    return explanation(
        holder,
        line,
        span,
        [other for other in namesakes if other.period == span.period],
        versions,
        legs,
        explain_queries.gap(build, holder.cik, span, line.name),
        explain_queries.repairs(build, holder.cik, {leg.accession for leg in legs if leg.accession}),
        explain_queries.rules(build),
        explain_queries.rules_of(build, holder.cik, span, line.inputs),
        explain_queries.decisions(build, holder.cik),
        explain_queries.proofs(build, holder.cik, span, line.name),
    )


def _asked(period: str) -> str:
    """The period as the tables write it: a label, or a day in ISO 8601."""
    label = period.strip().upper()
    if LABEL.fullmatch(label):
        return label
    try:
        return str(date.fromisoformat(label))
    except ValueError:
        raise CommandError(
            f"{period!r} is not a period; expected a label like 2026Q1 or FY2025, or the last day of a period, like "
            "2025-12-27"
        ) from None


def _unknown_symbol(build: OpenBuild, symbol: str) -> NoReturn:
    known = explain_queries.known_symbols(build)
    kind = known.get(symbol.upper())
    if kind:
        raise CommandError(
            f"{symbol.upper()} is not common equity ({kind}); use the symbol of the company's common shares"
        )
    near = get_close_matches(symbol.upper(), [name for name, of in known.items() if of == "common"], n=3)
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    fetch = f"`fundamentals sync --symbols {symbol.upper()}` fetches it if it is listed"
    raise CommandError(f"there are no values of symbol {symbol!r}{meant}; {fetch}")


def _unknown_item(item: str) -> NoReturn:
    near = get_close_matches(item.lower(), ITEM_NAMES, n=1, cutoff=0.5)
    meant = f"did you mean {near[0]}? " if near else ""
    raise CommandError(f"there is no line item {item!r}; {meant}the line items are {', '.join(ITEM_NAMES)}")


def _absent(holder: Holder, held: Sequence[Span], asked: str) -> NoReturn:
    labels = [span.period for span in held if span.period != span.period_end]
    labels = [label for label in labels if label.startswith("FY") == asked.startswith("FY")]
    if LABEL.fullmatch(asked):
        there = f"there are {labels[-1]} to {labels[0]}" if labels else "there is no period of this kind"
        raise CommandError(f"{holder.symbol} has no period {asked}; {there}")
    day = date.fromisoformat(asked)
    nearest = min(held, key=lambda span: abs(date.fromisoformat(span.period_end) - day), default=None)
    there = f"the nearest period ends {_day_and_label(nearest)}" if nearest else "there is no period"
    raise CommandError(f"{holder.symbol} has no period that ends {asked}; {there}")


def _day_and_label(span: Span) -> str:
    """The last day of a period, with its label; a period without any value has none."""
    return span.period_end if span.period == span.period_end else f"{span.period_end} ({span.period})"


# --- As text ----------------------------------------------------------------------------------------------------


def text(explained: Explanation, width: int) -> str:
    """The explanation as text, wrapped at `width` except for tags, figures and addresses."""
    blocks = [
        _head(explained, width),
        _arithmetic(explained, width),
        _decisions(explained, width),
        _judgements(explained, width),
        _company_rules(explained, width),
        _legs(explained.parts),
        _versions(explained, width),
        _filings(explained),
    ]
    return "\n\n".join("\n".join(lines) for lines in map(list, blocks) if lines) + "\n"


def _head(explained: Explanation, width: int) -> Iterator[str]:
    yield f"{explained.name or explained.symbol} ({explained.symbol}, CIK {explained.cik})"
    when = "balance sheet of" if explained.item in BALANCES else KINDS[explained.kind]
    yield f"{explained.item}, {when} {_day_and_label(Span(explained.kind, explained.period, explained.period_end))}"
    yield ""
    yield "  no value" if explained.value is None else f"  {number(explained.value)} {explained.unit}"
    yield ""
    about = [("meaning", explained.meaning), ("formula", explained.formula)]
    about += [("why not", f"{explained.reason.meaning} ({explained.reason.code})")] if explained.reason else []
    about += [("method", f"{explained.method.meaning} ({explained.method.code})")] if explained.method else []
    about += [("flag", f"{flag.meaning} ({flag.code})") for flag in explained.flags]
    if any(leg.split_factor != 1 for part in explained.parts for leg in part.legs):
        about.append(("note", REBASED))
    if explained.namesakes:
        ends = ", ".join(explained.namesakes)
        about.append(
            (
                "note",
                f"{explained.period} is also the label of the period that ends {ends}; ask for it by that day.",
            )
        )
    for name, words in about:
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


def _sums(part: Part) -> Iterator[str]:
    figures = [number(abs(part.share(leg))) for leg in part.legs]
    total = number(part.value)
    wide = max(map(len, [*figures, total]))
    for leg, figure in zip(part.legs, figures, strict=True):
        sign = "-" if part.share(leg) < 0 else "+"
        yield f"    {f'[{leg.leg}]':>4} {sign} {figure:>{wide}}  {_span(leg)}{_factors(part, leg)}"
    if len(part.legs) > 1:
        yield f"         = {total:>{wide}}"


def _factors(part: Part, leg: Leg) -> str:
    """The filed figure and its factors; empty if the figure is as filed."""
    factors = ""
    if leg.split_factor != 1:
        old_for_new = 1 / leg.split_factor
        is_divided = leg.split_factor < 1 and abs(old_for_new - round(old_for_new)) < 1e-9 * old_for_new
        factors += f" / {number(round(old_for_new))}" if is_divided else f" x {number(leg.split_factor)}"
    if part.days is not None:
        factors += f" x {number(abs(leg.weight))} days"
    elif abs(leg.weight) != 1:
        factors += f" x {number(abs(leg.weight))}"
    return f"  ({number(leg.value)}{factors})" if factors else ""


def _step(step: Step, width: int) -> Iterator[str]:
    """A formula in words, in figures, and its result; nothing if it only repeats an amount."""
    if step.formula in step.figures:
        return
    names = "|".join(re.escape(name) for name in sorted(step.figures, key=len, reverse=True))
    in_figures = re.sub(names, lambda found: number(step.figures[found[0]]), step.formula) if names else ""
    head = f"  {step.name} "
    for words in filter(None, (step.formula, in_figures, number(step.value))):
        yield from textwrap.wrap(f"= {words}", width, initial_indent=head, subsequent_indent=" " * (len(head) + 2))
        head = " " * len(head)


def _decisions(explained: Explanation, width: int) -> Iterator[str]:
    """The rules that decided the value or its absence, with their statements."""
    if explained.value is None and explained.reason is None:
        return
    yield "Rules that decided it"
    for decision in explained.decisions:
        yield from textwrap.wrap(
            f"{_about(decision)}: {decision.rule.id}",
            width,
            initial_indent="  ",
            subsequent_indent=" " * 7,
            # an id stays on one line, so that it can be searched for
            break_long_words=False,
            break_on_hyphens=False,
        )
        about = {"": decision.rule.statement, "Source: ": decision.rule.source, "Code: ": decision.rule.file}
        stated = (f"{name}{text}" for name, text in about.items() if text)
        for words in (*decision.evidence, *stated):
            yield from textwrap.wrap(words, width, initial_indent=" " * 7, subsequent_indent=" " * 7)
    yield from textwrap.wrap(
        WHERE_RULES_ARE if explained.decisions else NO_RULES, width, initial_indent="  ", subsequent_indent="  "
    )


def _judgements(explained: Explanation, width: int) -> Iterator[str]:
    """The identities by which the value was judged, with both sides and the statement."""
    if explained.judgements:
        yield "Identities that judged it"
    for judged in explained.judgements:
        sides = "" if judged.left_side is None or judged.right_side is None else f" ({_sides(judged)})"
        words = f"{judged.rule.id}: {judged.outcome.meaning}{sides}"
        yield from textwrap.wrap(
            words,
            width,
            initial_indent="  ",
            subsequent_indent=" " * 7,
            break_long_words=False,
            break_on_hyphens=False,
        )
        if judged.rule.statement:
            yield from textwrap.wrap(judged.rule.statement, width, initial_indent=" " * 7, subsequent_indent=" " * 7)


def _sides(judged: Judgement) -> str:
    return f"{number(judged.left_side or 0)} and {number(judged.right_side or 0)}"


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


def _about(decision: Decision) -> str:
    """The subject of a rule's decision, in words."""
    if decision.about in ("fact", "repair"):
        verb = "Repair of" if decision.about == "repair" else "Facts of"
        return f"{verb} {decision.name} {_ranges(decision.legs)}"
    return {
        "window": f"Twelve months ({decision.name})",
        "value": f"Value of {decision.name}",
        "flag": f"Flag {decision.name}",
        "gap": f"No value ({decision.name})",
    }[decision.about]


def _ranges(numbers: Sequence[int]) -> str:
    """Numbers in square brackets, consecutive ones as a range: [1-3] [5]."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return " ".join(f"[{run[0]}]" if len(run) == 1 else f"[{run[0]}-{run[-1]}]" for run in runs)


def _legs(parts: Sequence[Part]) -> Iterator[str]:
    legs = sorted((leg for part in parts for leg in part.legs), key=lambda leg: leg.leg)
    if legs:
        yield "Facts as filed"
    for leg in legs:
        yield f"  {f'[{leg.leg}]':>4} {leg.tag}"
        yield f"       {number(leg.value)} {leg.unit}, {_span(leg)}"
        yield f"       {_filing(leg.form, leg.filed, leg.accession)}"


def _versions(explained: Explanation, width: int) -> Iterator[str]:
    if explained.versions:
        yield "Versions"
    for version in explained.versions:
        of = version.told
        value = "withdrawn" if of.value is None else number(of.value)
        yield f"  {f'{of.version}.':>4} {value}, {_filing(of.form, of.filed, of.accession)}"
        recorded = f"; recorded {of.recorded_at}" if of.recorded_at else ""
        why = f"{version.cause.code}: {version.cause.meaning.rstrip('.')}{recorded}"
        yield from textwrap.wrap(why, width, initial_indent=" " * 7, subsequent_indent=" " * 7)


def _filings(explained: Explanation) -> Iterator[str]:
    legs: list[Leg | ValueVersion] = [leg for part in explained.parts for leg in part.legs]
    filed = legs + [version.told for version in explained.versions]
    addresses = {of.accession: of.url for of in filed if of.accession and of.url}
    if addresses:
        yield "Filings at the SEC"
    for accession, url in sorted(addresses.items()):
        yield f"  {accession}"
        yield f"  {url}"


def _filing(form: str | None, filed: str | None, accession: str | None) -> str:
    return f"{form or 'filing'} of {filed or 'an unknown day'}, {accession or 'without accession number'}"


def _span(leg: Leg) -> str:
    return f"on {leg.end}" if leg.start is None else f"{leg.start} to {leg.end}, {days(leg)} days"


def number(value: float) -> str:
    """A number in groups of three digits: all digits of a whole number, else twelve significant digits."""
    if value == round(value):
        return f"{value:,.0f}"
    return f"{Decimal(f'{value:.{SIGNIFICANT}g}'):,f}"
