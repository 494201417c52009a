"""Where a value comes from, so that a person can follow the arithmetic: pure composition of rows of a build.

Belongs here: grouping the legs of a value into the amounts that its formula names, and computing it again from them.
Does not: the SQL that finds the rows (queries), how an explanation is printed (serve), the rules that made the value
(pipelines.normalize; that both compute the same is tested).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

import msgspec

from warehouse.explain_queries import Holder, Leg, Span, Told
from warehouse.schema import LineItem
from warehouse.vocabulary import CAUSES, FLAGS, GAPS, METHODS

SUM = "sum"
OF_SUM = ("add", "subtract")
AVERAGES = ("mean", "divisor_mean")
STATUTORY_TAX_RATE, HIGHEST_TAX_RATE = 0.21, 0.35
MADE_OF = {
    "eps_basic": ("net_income", "shares_basic"),
    "roic": ("total_debt", "cash_and_equivalents"),
    "debt_to_fcf": ("total_debt", "free_cash_flow"),
}
QUOTIENT = re.compile(r"(\w+) / (\w+)")
ELEMENT = re.compile(r"\b[A-Z]\w+")
NOT_FED = re.compile(r"\[no less than .*?\]| \(.*")  # what a source is compared with, and what is said of it


class Meaning(msgspec.Struct, frozen=True):
    """A code and what it says in plain words."""

    code: str
    meaning: str


class Part(msgspec.Struct, frozen=True):
    """One amount that the value is made of: the sum of its legs, each times split factor and weight.

    `sign` is 1 where it is added and -1 where it is taken off; `value` has the sign that the filings give the amount.
    Of an average, `value` is the sum over `days`.
    """

    name: str
    role: str
    sign: int
    legs: tuple[Leg, ...]
    value: float
    days: float | None = None

    def share(self, leg: Leg) -> float:
        """What a leg adds to the amount."""
        return self.sign * amount(leg)


class Step(msgspec.Struct, frozen=True):
    """One line of arithmetic: `formula` in words, the figure of each name in it, and what comes out."""

    name: str
    formula: str
    figures: dict[str, float]
    value: float


class Version(msgspec.Struct, frozen=True):
    """One version of the value, with what its cause means."""

    told: Told
    cause: Meaning


class Explanation(msgspec.Struct, frozen=True):
    """A value and all that is known of how it came about; no value, and why, where there is none.

    `value` is as served, `recomputed` what the steps come to before it is rounded. `namesakes` are the ends of other
    periods of the same label.
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
    parts: tuple[Part, ...]
    steps: tuple[Step, ...]
    versions: tuple[Version, ...]


def explanation(
    holder: Holder,
    item: LineItem,
    span: Span,
    namesakes: Sequence[Span],
    versions: Sequence[Told],
    legs: Sequence[Leg],
    reason: str | None,
    sources: Mapping[str, str],
) -> Explanation:
    """Put an explanation together.

    Args:
        holder: whose value it is.
        item: the line item.
        span: the period.
        namesakes: other periods of the same label.
        versions: all versions of the value, oldest first; none where it never had one.
        legs: the facts behind the newest version.
        reason: why there is no value, as in table `gaps`.
        sources: by item, as in column `sources` of table `line_items`; they name the amounts that legs belong to.
    """
    newest = versions[-1] if versions else None
    parts = tuple(_parts(legs, _names(item.name, sources)))
    steps = tuple(_steps(item, parts))
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
        reason=Meaning(reason, GAPS[reason].meaning if reason in GAPS else _plain(reason)) if reason else None,
        method=_meaning(METHODS, newest.method) if newest and newest.method else None,
        flags=tuple(_meaning(FLAGS, flag) for flag in ((newest.flags if newest else None) or "").split(",") if flag),
        parts=parts,
        steps=steps,
        versions=tuple(Version(told, _meaning(CAUSES, told.cause or "unexplained")) for told in versions),
    )


def amount(leg: Leg) -> float:
    """What a leg contributes: the filed value on today's share basis, times its weight."""
    return leg.value * leg.split_factor * leg.weight


def days(leg: Leg) -> int:
    """Days that a fact covers, its first and last included; 1 for an instant."""
    return 1 if leg.start is None else (date.fromisoformat(leg.end) - date.fromisoformat(leg.start)).days + 1


def _meaning(meanings: Mapping[str, str], code: str) -> Meaning:
    return Meaning(code, meanings.get(code, _plain(code)))


def _plain(code: str) -> str:
    return code.replace("_", " ")


def _names(item: str, sources: Mapping[str, str]) -> dict[str, list[str]]:
    """Tag -> the amounts that it states or is a part of: of the item itself, then of those that it is made of."""
    names: dict[str, list[str]] = {}
    for of in (item, *MADE_OF.get(item, ())):
        for line in sources.get(of, "").splitlines():
            name, _, described = line.partition(": ")
            for source in described.split(" | "):
                taxonomy, _, elements = source.partition(":")
                for element in ELEMENT.findall(NOT_FED.sub("", elements)):
                    names.setdefault(f"{taxonomy}:{element}", []).append(_plain(name))
    return names


def _name(leg: Leg, names: Mapping[str, Sequence[str]]) -> str:
    """The amount that a leg belongs to: the one that its role names, if it can be that."""
    found, role = names.get(leg.tag, [leg.tag]), _plain(leg.operation)
    return role if role in found else found[0]


def _parts(legs: Sequence[Leg], names: Mapping[str, Sequence[str]]) -> Iterator[Part]:
    """The amounts, in the order of their first legs."""
    groups: dict[tuple[str, str], list[Leg]] = {}
    for leg in legs:
        role = SUM if leg.operation in OF_SUM else leg.operation
        groups.setdefault((role, _name(leg, names)), []).append(leg)
    for (role, name), group in groups.items():
        total = sum(amount(leg) for leg in group)
        if role in AVERAGES:
            yield Part(name, role, 1, tuple(group), total, sum(leg.weight for leg in group))
        else:
            # twelve months of an amount outweigh the stretches that are taken off it: their sign is that of the whole
            window = sum((1 if leg.weight > 0 else -1) * days(leg) for leg in group)
            sign = -1 if window < 0 else 1
            yield Part(name, role, sign, tuple(group), sign * total)


def _steps(item: LineItem, parts: Sequence[Part]) -> Iterator[Step]:
    """The arithmetic from the amounts to the value; nothing where there is none."""
    by_role: dict[str, list[Part]] = {}
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


def _sum(name: str, parts: Sequence[Part]) -> Step:
    signed = "".join(f"{' - ' if part.sign < 0 else ' + '}{part.name}" for part in parts)
    formula = signed.removeprefix(" + ").removeprefix(" ")
    return Step(name, formula, {part.name: part.value for part in parts}, sum(part.sign * part.value for part in parts))


def _mean(name: str, parts: Sequence[Part]) -> Step:
    total, length = sum(part.value for part in parts), sum(part.days or 0 for part in parts)
    return Step(name, "sum over days / days", {"sum over days": total, "days": length}, total / length)


def _quotient(item: LineItem, by_role: Mapping[str, Sequence[Part]]) -> Iterator[Step]:
    """A dividend over a divisor, which may be a mean; the formula of the item names both."""
    upper, lower = (_plain(name) for name in QUOTIENT.findall(item.formula)[-1])
    dividend = _sum(upper, by_role["dividend"])
    divisor = _sum(lower, by_role["divisor"]) if "divisor" in by_role else _mean(lower, by_role["divisor_mean"])
    yield dividend
    yield divisor
    figures = {upper: dividend.value, lower: divisor.value}
    yield Step(_plain(item.name), f"{upper} / {lower}", figures, dividend.value / divisor.value)


def _return_on_capital(item: LineItem, by_role: Mapping[str, Sequence[Part]]) -> Iterator[Step]:
    """Operating income after tax over the mean of capital now and a year before."""
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
    """The rate on operating income: as filed, within bounds; the statutory one where a loss before tax tells none."""
    if pretax_income is not None and income_tax is not None and pretax_income > 0:
        figures = {"income tax": income_tax, "pretax income": pretax_income}
        value = min(max(income_tax / pretax_income, 0.0), HIGHEST_TAX_RATE)
        return Step(
            "tax rate", f"income tax / pretax income, at least 0 and at most {HIGHEST_TAX_RATE}", figures, value
        )
    if operating_income > 0:
        return Step("tax rate", "the statutory rate, for there is no income before tax", {}, STATUTORY_TAX_RATE)
    return Step("tax rate", "0, for there is neither income before tax nor operating income", {}, 0.0)
