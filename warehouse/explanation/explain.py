"""The provenance of a value: its amounts, arithmetic, versions and rules, from rows of a build.

Belongs here: grouping the legs of a value into the amounts of its formula, recomputing the value from them, and listing
the rules that decided the value and other rules that concern its company; pure functions.
Does not: the SQL queries (explain_queries), printing an explanation (serve.cli.explanation), the rules that compute
values (pipelines.normalize; a test checks that both compute the same value).
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Literal

import msgspec

from warehouse.contract.line_items import LineItem
from warehouse.contract.vocabulary import CAUSES, FLAGS, GAPS, METHODS, OUTCOMES
from warehouse.explanation.balance_sheet import BalanceSheet
from warehouse.explanation.statements import Statement
from warehouse.queries.explain_queries import Gap, Holder, Leg, Proof, Repair, Rule, Span, ValueVersion
from warehouse.read.unread import UnreadReport

SUM = "sum"
OF_SUM = ("add", "subtract")
AVERAGES = ("mean", "divisor_mean")
PLAIN = (*OF_SUM, "mean")
"""Operations of legs of a value that is not calculated from other items."""
SUBTRACTED = (
    "capital_expenditure",
    "cash_and_equivalents",
    "cost_of_revenue",
    "investment_income",
    "net_interest",
    "preferred_dividends",
)
"""The amounts that the formulas of other items subtract."""
ELEMENTS = "pipelines/normalize/elements/"
"""The folder of the rules that choose taxonomy elements; the legs of a value name the rules that chose them."""
STATUTORY_TAX_RATE, HIGHEST_TAX_RATE = 0.21, 0.35


class Meaning(msgspec.Struct, frozen=True):
    """A code with its meaning."""

    code: str
    meaning: str


class FormulaPart(msgspec.Struct, frozen=True):
    """One amount of the formula: the sum of its legs, each multiplied by split factor and weight.

    `sign` is 1 if the amount is added and -1 if it is subtracted; `value` has the sign of the filed amount. For an
    average, `value` is the sum over `days`.
    """

    name: str
    role: str
    sign: int
    legs: tuple[Leg, ...]
    value: float
    days: float | None = None

    def share(self, leg: Leg) -> float:
        """The contribution of a leg to the amount."""
        return self.sign * amount(leg)


class Step(msgspec.Struct, frozen=True):
    """One line of arithmetic: the formula in words, the figure of each name in it, and the result."""

    name: str
    formula: str
    figures: dict[str, float]
    value: float


class Decision(msgspec.Struct, frozen=True):
    """The decision of one rule.

    about: `fact` (the filed facts that state an amount), `repair` (the correction of an erroneous figure), `window`
        (how twelve months were composed), `value` (the computation of the value), `flag` (a reservation about it) or
        `gap` (the reason for a missing value).
    name: the amount, the item, or the code of the method, flag or reason.
    legs: numbers of the legs that the rule decided.
    rule: the rule; only its id if the build has no table `rules`.
    evidence: for a repair: the value as filed, the corrected value and the proof.
    """

    about: Literal["fact", "repair", "window", "value", "flag", "gap"]
    name: str
    legs: tuple[int, ...]
    rule: Rule
    evidence: tuple[str, ...] = ()


class Judgement(msgspec.Struct, frozen=True):
    """An accounting identity that was checked for the value, and both of its sides.

    rule: the identity; only its id if the build has no table `rules`.
    outcome: `holds`, `chose`, `corrected` or `withheld`, as in table `proofs`.
    """

    rule: Rule
    outcome: Meaning
    left_side: float | None
    right_side: float | None


class CompanyRule(msgspec.Struct, frozen=True):
    """A rule that decided something for the company, and the number of figures, filings, windows ... that it decided.

    rule: the rule; only its id where the build has no statement of it.
    figures: as in table `decisions`.
    """

    rule: Rule
    figures: int

    @property
    def says(self) -> str:
        """The first sentence of the rule's statement; empty where the build has none."""
        first, end, _ = (self.rule.statement or "").partition(". ")
        return first + end.rstrip()


class Version(msgspec.Struct, frozen=True):
    """One version of the value, with the meaning of its cause."""

    recorded: ValueVersion = msgspec.field(name="told")  # the name in the JSON of the command `explain`
    cause: Meaning


class Explanation(msgspec.Struct, frozen=True):
    """The complete provenance of a value, or the reason why it is missing.

    `value` is as served, `recomputed` the unrounded result of the steps. `namesakes` are the last days of other periods
    with the same label. `decisions` are the rules that decided the value, in the order in which they apply; empty for
    values recorded before rules had ids. `judgements` are the identities that were checked for it, by id.
    `company_rules` are the other rules that decided something for the company, by id; empty for builds without table
    `decisions`. `sheet` is the balance sheet behind total debt or cash; None for other items and builds without table
    `balance_sheet_lines`. `statements` are the filed statements that contain the facts, as far as the build has them.
    `unread` are reports of the company that the SEC lists, but no source has their facts yet.
    """

    symbol: str
    name: str | None
    cik: str
    item: str
    unit: str
    meaning: str
    formula: str
    kind: str
    period: str
    period_end: str
    namesakes: tuple[str, ...]
    value: float | None
    recomputed: float | None
    reason: Meaning | None
    method: Meaning | None
    flags: tuple[Meaning, ...]
    parts: tuple[FormulaPart, ...]
    steps: tuple[Step, ...]
    versions: tuple[Version, ...]
    decisions: tuple[Decision, ...]
    company_rules: tuple[CompanyRule, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    sheet: BalanceSheet | None = None
    statements: tuple[Statement, ...] = ()
    unread: tuple[UnreadReport, ...] = ()


def explanation(
    holder: Holder,
    item: LineItem,
    span: Span,
    namesakes: Sequence[Span],
    versions: Sequence[ValueVersion],
    legs: Sequence[Leg],
    gap: Gap | None,
    repairs: Sequence[Repair],
    rules: Mapping[str, Rule],
    inputs: Mapping[str, str] | None = None,
    figures: Mapping[str, int] | None = None,
    proofs: Sequence[Proof] = (),
    sheet: BalanceSheet | None = None,
    statements: Sequence[Statement] = (),
    unread: Sequence[UnreadReport] = (),
) -> Explanation:
    """Compose an explanation.

    Args:
        holder: the company.
        item: the line item.
        span: the period.
        namesakes: other periods with the same label.
        versions: all versions of the value, oldest first; empty if there was never a value.
        legs: the facts behind the newest version.
        gap: the reason for a missing value, as in table `gaps`.
        repairs: corrected errors of the legs' filings, as in table `repairs`.
        rules: rules by id, as in table `rules`.
        inputs: for items that this one may be calculated from: the id of the rule that computed the item's value of
            this period, by item.
        figures: the number of figures that each rule decided for the company, by id, as in table `decisions`; without
            rules of gaps.
        proofs: the identities that were checked for the value, as in table `proofs`.
        sheet: the balance sheet behind the value.
        statements: the filed statements that contain the facts.
        unread: the unread reports of the company.
    """
    newest = versions[-1] if versions else None
    parts = tuple(_parts(item, legs))
    steps = tuple(_steps(item, parts))
    decisions = tuple(_decisions(item, newest, legs, gap, repairs, rules, inputs or {}))
    return Explanation(
        symbol=holder.symbol,
        name=holder.name,
        cik=holder.cik,
        item=item.name,
        unit=item.unit.replace("currency", holder.currency),
        meaning=item.meaning,
        formula=item.formula,
        kind=span.kind,
        period=span.period,
        period_end=span.period_end,
        namesakes=tuple(other.period_end for other in namesakes),
        value=newest.value if newest else None,
        recomputed=steps[-1].value if steps else None,
        reason=_meaning({code: of.meaning for code, of in GAPS.items()}, gap.reason) if gap else None,
        method=_meaning(METHODS, newest.method) if newest and newest.method else None,
        flags=tuple(_meaning(FLAGS, flag) for flag in ((newest.flags if newest else None) or "").split(",") if flag),
        parts=parts,
        steps=steps,
        versions=tuple(Version(recorded, _meaning(CAUSES, recorded.cause or "unexplained")) for recorded in versions),
        decisions=decisions,
        company_rules=tuple(_company_rules(decisions, rules, figures or {})),
        judgements=tuple(
            Judgement(
                rules.get(proof.rule, Rule(proof.rule)),
                _meaning(OUTCOMES, proof.outcome),
                proof.left_side,
                proof.right_side,
            )
            for proof in proofs
        ),
        sheet=sheet,
        statements=tuple(statements),
        unread=tuple(unread),
    )


def amount(leg: Leg) -> float:
    """The contribution of a leg: the filed value on the newest share basis, times its weight."""
    return leg.value * leg.split_factor * leg.weight


def days(leg: Leg) -> int:
    """Days that a fact covers, including its first and last day; 1 for an instant."""
    return 1 if leg.start is None else (date.fromisoformat(leg.end) - date.fromisoformat(leg.start)).days + 1


def _meaning(meanings: Mapping[str, str], code: str) -> Meaning:
    return Meaning(code, meanings.get(code, _plain(code)))


def _plain(code: str) -> str:
    return code.replace("_", " ")


def _name(leg: Leg) -> str:
    """The name of the amount that a leg states; its element if the leg was recorded without an amount."""
    return _plain(leg.concept) if leg.concept else leg.tag


def _decisions(
    item: LineItem,
    newest: ValueVersion | None,
    legs: Sequence[Leg],
    gap: Gap | None,
    repairs: Sequence[Repair],
    rules: Mapping[str, Rule],
    inputs: Mapping[str, str],
) -> Iterator[Decision]:
    """The rules that decided a value or its absence: about facts, repairs, the value, its flags, or its gap."""
    repair_of = {(of.accession, of.concept, of.start, of.end): of for of in repairs}
    repaired = {leg.leg: repair_of.get((leg.accession or "", leg.concept or "", leg.start, leg.end)) for leg in legs}
    chosen: dict[tuple[str, str], list[Leg]] = {}
    corrected: dict[tuple[str, str], list[Leg]] = {}
    for leg in legs:
        repair = repaired[leg.leg]
        if leg.rule and (repair is None or repair.rule != leg.rule):
            chosen.setdefault((_name(leg), leg.rule), []).append(leg)
        if repair and repair.rule:
            corrected.setdefault((_name(leg), repair.rule), []).append(leg)
    for (name, rule), of in chosen.items():
        yield Decision("fact", name, _numbers(of), rules.get(rule, Rule(rule)))
    for (name, rule), of in corrected.items():
        proofs = {_proof(repair): None for leg in of if (repair := repaired[leg.leg])}
        yield Decision("repair", name, _numbers(of), rules.get(rule, Rule(rule)), tuple(proofs))
    if newest and newest.value is not None:
        for rule_of_window in _writers(rules, newest.method, legs, newest):
            if rule_of_window.id != newest.rule:
                yield Decision("window", newest.method or "", (), rule_of_window)
        if any(leg.operation not in PLAIN for leg in legs):
            yield from (
                Decision("value", _plain(name), (), rules.get(rule, Rule(rule))) for name, rule in inputs.items()
            )
        if newest.rule:
            yield Decision("value", _plain(item.name), (), rules.get(newest.rule, Rule(newest.rule)))
        for flag in (newest.flags or "").split(","):
            yield from (Decision("flag", flag, (), setter) for setter in _writers(rules, flag, legs, newest))
    if gap and gap.rule:
        yield Decision("gap", gap.reason, (), rules.get(gap.rule, Rule(gap.rule)))


def _company_rules(
    decisions: Sequence[Decision], rules: Mapping[str, Rule], figures: Mapping[str, int]
) -> Iterator[CompanyRule]:
    """The other rules that decided something for the company, without rules of the value and of elements."""
    named = {decision.rule.id for decision in decisions}
    for rule in sorted(figures.keys() - named):
        known = rules.get(rule, Rule(rule))
        if not (known.file or "").startswith(ELEMENTS):
            yield CompanyRule(known, figures[rule])


def _writers(rules: Mapping[str, Rule], code: str | None, legs: Sequence[Leg], newest: ValueVersion) -> list[Rule]:
    """The rules that write a code; if several do, only the rules about the amounts of this value."""
    writers = [rule for rule in rules.values() if code and rule.code == code]
    subjects = {_subject(rule) for rule in (newest.rule, *(leg.rule for leg in legs)) if rule}
    return [rule for rule in writers if _subject(rule.id) in subjects] or writers


def _subject(rule: str) -> str:
    """The subject of a rule: the first part of its id."""
    return rule.partition(".")[0]


def _numbers(legs: Sequence[Leg]) -> tuple[int, ...]:
    return tuple(leg.leg for leg in legs)


def _proof(repair: Repair) -> str:
    """Text with the value as filed, the corrected value and the evidence."""
    correction = "left out" if repair.value is None else f"corrected to {repair.value:,.12g}"
    return f"filed as {repair.filed_value:,.12g}, {correction}: {repair.evidence}"


def _parts(item: LineItem, legs: Sequence[Leg]) -> Iterator[FormulaPart]:
    """The amounts of the formula, in the order of their first legs."""
    groups: dict[tuple[str, str], list[Leg]] = {}
    for leg in legs:
        role = SUM if leg.operation in OF_SUM else leg.operation
        groups.setdefault((role, _name(leg)), []).append(leg)
    for (role, name), group in groups.items():
        total = sum(amount(leg) for leg in group)
        if role in AVERAGES:
            yield FormulaPart(name, role, 1, tuple(group), total, sum(leg.weight for leg in group))
        else:
            sign = -1 if group[0].concept in SUBTRACTED and group[0].concept != item.name else 1
            yield FormulaPart(name, role, sign, tuple(group), sign * total)


def _steps(item: LineItem, parts: Sequence[FormulaPart]) -> Iterator[Step]:
    """The arithmetic from the amounts to the value; empty if there are no amounts."""
    by_role: dict[str, list[FormulaPart]] = {}
    for part in parts:
        by_role.setdefault(part.role, []).append(part)
    if SUM in by_role:
        yield _sum(_plain(item.name), by_role[SUM])
    elif "mean" in by_role:
        yield _mean(_plain(item.name), by_role["mean"])
    elif "dividend" in by_role:
        yield from _quotient(item, by_role)
    elif by_role:
        yield from _return_on_capital(item, by_role)


def _sum(name: str, parts: Sequence[FormulaPart]) -> Step:
    signed = "".join(f"{' - ' if part.sign < 0 else ' + '}{part.name}" for part in parts)
    formula = signed.removeprefix(" + ").removeprefix(" ")
    return Step(name, formula, {part.name: part.value for part in parts}, sum(part.sign * part.value for part in parts))


def _mean(name: str, parts: Sequence[FormulaPart]) -> Step:
    total, length = sum(part.value for part in parts), sum(part.days or 0 for part in parts)
    return Step(name, "sum over days / days", {"sum over days": total, "days": length}, total / length)


def _quotient(item: LineItem, by_role: Mapping[str, Sequence[FormulaPart]]) -> Iterator[Step]:
    """The steps of a quotient: the dividend, the divisor (which may be a mean), and the division."""
    upper, lower = _plain(item.numerator), _plain(item.denominator)
    dividend = _sum(upper, by_role["dividend"])
    divisor = _sum(lower, by_role["divisor"]) if "divisor" in by_role else _mean(lower, by_role["divisor_mean"])
    yield dividend
    yield divisor
    figures = {upper: dividend.value, lower: divisor.value}
    yield Step(_plain(item.name), f"{upper} / {lower}", figures, dividend.value / divisor.value)


def _return_on_capital(item: LineItem, by_role: Mapping[str, Sequence[FormulaPart]]) -> Iterator[Step]:
    """Operating income after tax, divided by the mean of invested capital now and a year before."""
    income = _sum("operating income", by_role["operating_income"])
    yield income
    totals = {role: _sum(_plain(role), by_role[role]) for role in ("pretax_income", "income_tax") if role in by_role}
    yield from totals.values()
    rate = _tax_rate(income.value, **{role: step.value for role, step in totals.items()})
    yield rate
    now, before = _sum("capital", by_role["capital"]), _sum("capital a year before", by_role["capital_before"])
    yield now
    yield before
    figures = {step.name: step.value for step in (income, rate, now, before)}
    value = income.value * (1 - rate.value) / ((now.value + before.value) / 2)
    formula = "operating income x (1 - tax rate) / ((capital + capital a year before) / 2)"
    yield Step(_plain(item.name), formula, figures, value)


def _tax_rate(operating_income: float, pretax_income: float | None = None, income_tax: float | None = None) -> Step:
    """The tax rate on operating income: as filed, within bounds; the statutory rate without positive pretax income."""
    if pretax_income is not None and income_tax is not None and pretax_income > 0:
        figures = {"income tax": income_tax, "pretax income": pretax_income}
        value = min(max(income_tax / pretax_income, 0.0), HIGHEST_TAX_RATE)
        return Step(
            "tax rate", f"income tax / pretax income, at least 0 and at most {HIGHEST_TAX_RATE}", figures, value
        )
    if operating_income > 0:
        return Step("tax rate", "the statutory rate, because income before tax is not positive", {}, STATUTORY_TAX_RATE)
    return Step("tax rate", "0, because neither income before tax nor operating income is positive", {}, 0.0)
