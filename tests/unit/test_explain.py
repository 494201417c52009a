"""The command `explain`: arithmetic, text for a terminal, and messages for missing values and wrong arguments."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.normalize import rules as registry
from pipelines.normalize.items import line_items as items
from pipelines.normalize.items import returns
from pipelines.normalize.items.item import SUM
from serve.cli.explanation import text
from tests.explained import BANK, BASIS, CAPEX, OPERATING, RULES, SCALE, TO_DATE_RULE
from warehouse.contract.line_items import LINE_ITEMS
from warehouse.explanation import explain
from warehouse.queries.explain_queries import Gap, Holder, Leg, Proof, Repair, Rule, Span, ValueVersion

LINES = {line.name: line for line in LINE_ITEMS}
HOLDER = Holder("LNTR", "Lantern Harbor Works, Inc.", "9990000001", "USD")
QUARTER = Span("ttm", "2024Q3", "2024-09-30")
YEAR, TO_DATE, PRIOR = ("2023-01-01", "2023-12-31"), ("2024-01-01", "2024-09-30"), ("2023-01-01", "2023-09-30")
CONCEPTS = {
    "Operating": "operating_cash_flow",
    "Continuing": "operating_cash_flow",
    "Capex": "capital_expenditure",
    "Income": "operating_income",
    "Before": "pretax_income",
    "After": "pretax_income",
    "Tax": "income_tax",
    "Equity": "equity",
    "Debt": "total_debt",
    "Cash": "cash_and_equivalents",
    "Earnings": "eps_basic",
}
"""The amount that each element of these tests states, unless a leg has another."""


def leg(number: int, tag: str, value: float, span: tuple[str, str] | str, weight: float = 1.0, **of: Any) -> Leg:
    """A filed fact of a period or a day."""
    start, end = (None, span) if isinstance(span, str) else span
    given = {
        "operation": "add" if weight > 0 else "subtract",
        "split_factor": 1.0,
        "unit": "USD",
        "concept": CONCEPTS.get(tag),
        "form": "10-Q",
        "filed": "2024-11-01",
        "accession": "9990000001-24-000001",
        "url": "https://sec.example/1",
        **of,
    }
    return Leg(leg=number, tag=f"us-gaap:{tag}", value=value, start=start, end=end, weight=weight, **given)


def told(value: float | None, number: int = 1, **of: Any) -> ValueVersion:
    """A version of a value."""
    filing = ("10-Q", "2024-11-01", "9990000001-24-000001", "https://sec.example/1")
    version = ValueVersion(number, value, True, "initial", "year_to_date", "", *filing, "2026-02-01T06:00:00Z")
    return ValueVersion(**{name: of.get(name, getattr(version, name)) for name in version.__struct_fields__})


def explained(
    item: str,
    value: float | None,
    *legs: Leg,
    gap: Gap | None = None,
    repairs: Sequence[Repair] = (),
    rules: Sequence[Rule] = (),
    inputs: Mapping[str, str] | None = None,
    figures: Mapping[str, int] | None = None,
    proofs: Sequence[Proof] = (),
    **of: Any,
) -> explain.Explanation:
    """An explanation of one version; of none, where there is a gap."""
    known = {rule.id: rule for rule in rules}
    versions = [] if gap else [told(value, **of)]
    return explain.explanation(
        HOLDER, LINES[item], QUARTER, [], versions, legs, gap, repairs, known, inputs, figures, proofs=proofs
    )


FREE_CASH_FLOW = (
    leg(1, "Operating", 1000.0, YEAR),
    leg(2, "Operating", 900.0, TO_DATE),
    leg(3, "Continuing", 700.0, PRIOR, -1.0),
    leg(4, "Capex", 100.0, YEAR, -1.0),
    leg(5, "Capex", 80.0, TO_DATE, -1.0),
    leg(6, "Capex", 60.0, PRIOR),
)


# --- The arithmetic ---------------------------------------------------------------------------------------------


OF_SHARES = {"operation": "mean", "unit": "shares"}


def test_free_cash_flow_is_shown_as_one_flow_less_another() -> None:
    """Each amount has its own sum, with the sign of the filed figures, whether it is added or subtracted."""
    of = explained("free_cash_flow", 1080.0, *FREE_CASH_FLOW)
    assert [(part.name, part.sign, part.value) for part in of.parts] == [
        ("operating cash flow", 1, 1200.0),
        ("capital expenditure", -1, 120.0),
    ]
    assert [part.share(one) for part in of.parts for one in part.legs] == [1000.0, 900.0, -700.0, 100.0, 80.0, -60.0]
    assert of.steps[0].figures == {"operating cash flow": 1200.0, "capital expenditure": 120.0}


@pytest.mark.parametrize("rest", [0.0, 20.0])
def test_what_lines_leave_of_a_total_is_added(rest: float) -> None:
    """Although more lines are subtracted than added, and with the name of each next to its amount."""
    facts = {"Liabilities": 880.0 + rest, "Deposits": -850.0, "OtherLiabilities": -30.0}
    legs = [
        leg(n, tag, abs(value), "2024-09-30", value / abs(value), concept="total_debt")
        for n, (tag, value) in enumerate(facts.items(), 1)
    ]
    of = explained("total_debt", rest, *legs)

    [part] = of.parts
    assert (part.sign, part.value, of.recomputed) == (1, rest, rest)
    assert [part.share(one) for one in part.legs] == [*facts.values()]
    assert "     [2] - 850  on 2024-09-30  Deposits\n" in text(of, 80)


def test_what_lines_leave_of_a_total_is_subtracted_with_the_amount() -> None:
    """As capital expenditure from operating cash flow, and cash from capital."""
    lines = (leg(2, "Investing", -300.0, YEAR), leg(3, "Acquisitions", 100.0, YEAR), leg(4, "Securities", 80.0, YEAR))
    spent = (msgspec.structs.replace(one, concept="capital_expenditure") for one in lines)
    [_, capex] = explained("free_cash_flow", 880.0, FREE_CASH_FLOW[0], *spent).parts
    assets = (leg(5, "AssetsCurrent", 90.0, "2024-09-30", -1.0), leg(6, "Inventory", 50.0, "2024-09-30"))
    held = [msgspec.structs.replace(one, concept="cash_and_equivalents", operation="capital") for one in assets]
    parts = explained("roic", 0.1, *return_legs(20.0, 10.0, 2.0), *held).parts
    cash = next(part for part in parts if held[0] in part.legs)

    assert [(part.sign, part.value) for part in (capex, cash)] == [(-1, 120.0), (-1, 80.0)]


STEPS: dict[str, tuple[str, list[Leg], list[tuple[str, str, float]]]] = {
    "free cash flow": (
        "free_cash_flow",
        [*FREE_CASH_FLOW],
        [("free cash flow", "operating cash flow - capital expenditure", 1080.0)],
    ),
    "an average by days on the newest share basis": (
        "shares_basic",
        [
            leg(1, "Shares", 10.0, YEAR, 365.0, split_factor=4.0, **OF_SHARES),
            leg(2, "Shares", 44.0, TO_DATE, 274.0, **OF_SHARES),
            leg(3, "Shares", 44.0, PRIOR, -273.0, **OF_SHARES),
        ],
        [("shares basic", "sum over days / days", (10 * 4 * 365 + 44) / 366)],
    ),
    "a quotient, with the names of its formula": (
        "debt_to_fcf",
        [
            leg(1, "Debt", 240.0, "2024-09-30", operation="dividend"),
            leg(2, "Operating", 100.0, YEAR, operation="divisor"),
            leg(3, "Capex", 20.0, YEAR, -1.0, operation="divisor"),
        ],
        [
            ("total debt", "total debt", 240.0),
            ("free cash flow", "operating cash flow - capital expenditure", 80.0),
            ("debt to fcf", "total debt / free cash flow", 3.0),
        ],
    ),
    "a quotient by an average": (
        "eps_basic",
        [
            leg(1, "Income", 60.0, YEAR, operation="dividend"),
            leg(2, "Shares", 30.0, YEAR, 365.0, operation="divisor_mean"),
        ],
        [
            ("net income", "operating income", 60.0),
            ("shares basic", "sum over days / days", 30.0),
            ("eps basic", "net income / shares basic", 2.0),
        ],
    ),
}
"""An item, the facts of its value, and the name, formula and value of each step."""


@pytest.mark.parametrize(("item", "legs", "steps"), STEPS.values(), ids=STEPS)
def test_the_steps_of_a_value(item: str, legs: list[Leg], steps: list[tuple[str, str, float]]) -> None:
    of = explained(item, steps[-1][2], *legs)

    assert [(step.name, step.formula, step.value) for step in of.steps] == steps
    assert of.recomputed == of.value


def return_legs(income: float, pretax: float | None, tax: float | None) -> list[Leg]:
    """Operating income, tax, and capital of 90 now and 110 a year before: debt and equity less cash."""
    flows = {"operating_income": income, "pretax_income": pretax, "income_tax": tax}
    legs = [leg(0, "Income", value, YEAR, operation=role) for role, value in flows.items() if value is not None]
    for role, equity, day in (("capital", 80.0, "2023-12-31"), ("capital_before", 100.0, "2022-12-31")):
        legs += [
            leg(0, "Debt", 50.0, day, operation=role),
            leg(0, "Equity", equity, day, operation=role),
            leg(0, "Cash", 40.0, day, -1.0, operation=role),
        ]
    return legs


@pytest.mark.parametrize(
    ("income", "pretax", "tax", "rate", "words"),
    [
        (20.0, 10.0, 2.0, 0.2, "income tax / pretax income"),
        (20.0, 10.0, 9.0, 0.35, "at most 0.35"),
        (20.0, 10.0, -1.0, 0.0, "at least 0"),
        (20.0, -5.0, 1.0, 0.21, "the statutory rate"),
        (20.0, None, None, 0.21, "the statutory rate"),
        (-20.0, -5.0, 1.0, 0.0, "neither income before tax nor operating income"),
    ],
)
def test_return_on_capital_shows_the_tax_rate_and_both_capitals(
    income: float, pretax: float | None, tax: float | None, rate: float, words: str
) -> None:
    of = explained("roic", 0.1, *return_legs(income, pretax, tax))
    steps = {step.name: step for step in of.steps}
    assert steps["tax rate"].value == pytest.approx(rate)
    assert words in steps["tax rate"].formula
    assert steps["capital"].formula == "total debt + equity - cash and equivalents"
    assert (steps["capital"].value, steps["capital a year before"].value) == (90.0, 110.0)
    assert of.recomputed == pytest.approx(income * (1 - rate) / 100)


def test_an_element_of_two_amounts_is_named_by_its_amount() -> None:
    """Income tax is an amount itself, and a part of income before tax if that is derived from net income."""
    legs = return_legs(20.0, None, None)
    before_tax = {"operation": "pretax_income", "concept": "pretax_income"}
    legs += [leg(0, tag, value, YEAR, **before_tax) for tag, value in (("After", 6.0), ("Tax", 4.0))]
    legs += [leg(0, "Tax", 4.0, YEAR, operation="income_tax")]
    of = explained("roic", 0.12, *legs)
    assert {part.name: part.value for part in of.parts if part.role in ("pretax_income", "income_tax")} == {
        "pretax income": 10.0,
        "income tax": 4.0,
    }
    assert of.recomputed == pytest.approx(20 * (1 - 0.35) / 100)


def test_the_bounds_of_the_tax_rate_are_those_of_the_rules() -> None:
    assert explain.STATUTORY_TAX_RATE == returns.STATUTORY_TAX_RATE
    assert explain.HIGHEST_TAX_RATE == returns.HIGHEST_TAX_RATE


amounts = st.integers(-(10**6), 10**6).map(float)
ITEM_OF_ROLES = {
    (SUM,): "free_cash_flow",
    ("mean",): "shares_basic",
    ("dividend", "divisor"): "debt_to_fcf",
    ("dividend", "divisor_mean"): "eps_basic",
    tuple(returns.RETURN_ON_CAPITAL): "roic",
}


@st.composite
def any_legs(draw: st.DrawFn) -> tuple[str, list[Leg]]:
    """Legs of all roles of one kind of value; the first of each role is positive and has the full length."""
    roles = draw(st.sampled_from(list(ITEM_OF_ROLES)))
    legs = []
    for role in roles:
        is_mean = role in explain.AVERAGES
        weight = 365.0 if is_mean else 1.0
        legs.append(leg(len(legs), "Operating", draw(st.integers(1, 10**6)), YEAR, weight, operation=role))
        for sign in draw(st.lists(st.sampled_from([1.0, -1.0]), max_size=2)):
            tag, span = draw(st.sampled_from([("Operating", TO_DATE), ("Capex", PRIOR), ("Cash", "2023-12-31")]))
            weight = sign * (91.0 if is_mean else 1.0)
            factor = draw(st.sampled_from([1.0, 0.25, 1000.0]))
            legs.append(leg(len(legs), tag, draw(amounts), span, weight, operation=role, split_factor=factor))
    return ITEM_OF_ROLES[roles], legs


def test_every_role_of_the_rules_is_explained() -> None:
    assert {role for roles in ITEM_OF_ROLES for role in roles} == set(items.ROLES)


@given(any_legs())
def test_an_explanation_computes_the_value_of_the_rules(given: tuple[str, list[Leg]]) -> None:
    """For any legs, the last step gives the result of `recomputed`, or both divide by zero."""
    item, legs = given
    columns = ("role", "weight", "split_factor", "value")
    rows = [(one.operation, one.weight, one.split_factor, one.value) for one in legs]
    frame = pl.DataFrame(rows, schema=columns, orient="row").with_columns(of=pl.lit(1))
    [again] = items.recomputed(frame, ["of"])["recomputed"]
    try:
        recomputed = explained(item, 0.0, *legs).recomputed
    except ZeroDivisionError:
        recomputed = None
    if recomputed is not None:
        assert recomputed == pytest.approx(again, rel=1e-9, abs=1e-6)


# --- Meanings and rules -------------------------------------------------------------------------------------------


def test_legs_without_a_known_amount_are_named_by_their_tag() -> None:
    """They were recorded before legs had amounts."""
    assert [part.name for part in explained("revenue", 1.0, leg(1, "Unheard", 1.0, YEAR)).parts] == ["us-gaap:Unheard"]
    of = explained(
        "roic", 0.1, leg(1, "Interest", 1.0, YEAR, operation="operating_income"), *return_legs(9.0, 1.0, 0.2)
    )
    assert [part.name for part in of.parts][:2] == ["us-gaap:Interest", "operating income"]


def test_codes_come_with_their_meaning_or_in_plain_words() -> None:
    of = explained("revenue", 1.0, leg(1, "R", 1.0, YEAR), flags="weeks_53,made_up_flag", cause="made_up", method=None)
    assert [(flag.code, flag.meaning) for flag in of.flags] == [
        ("weeks_53", "The twelve months have 53 weeks."),
        ("made_up_flag", "made up flag"),
    ]
    assert (of.versions[0].cause.meaning, of.method) == ("made up", None)


def test_no_value_comes_with_its_reason() -> None:
    of = explained("debt_to_fcf", None, gap=Gap("negative_fcf"))
    assert (of.value, of.recomputed, of.parts, of.steps, of.versions) == (None, None, (), (), ())
    assert of.reason == explain.Meaning(
        "negative_fcf", "Free cash flow is not positive, so that there is nothing to divide by."
    )
    assert "  no value\n" in text(of, 80)
    assert "why not  Free cash flow is not positive" in text(of, 80)


ONE_LEG = leg(1, "Operating", 5.0, YEAR)
IN_DEBT = leg(1, "Debt", 5.0, "2024-09-30")
APART = [Rule(f"{about}.apart", "Apart.", "measured", "flag", "apart") for about in ("cash", "debt")]
WITHHELD = Rule("debt-to-fcf.not-positive", "No ratio to a negative amount.", "arithmetic", "withhold")
INPUTS = {"total_debt": "debt.classified", "free_cash_flow": "fcf.difference"}
FILING = "9990000001-24-000001"
DECIDED: dict[str, tuple[explain.Explanation, list[tuple[Any, ...]], list[str]]] = {
    # the rule that chose the facts of each amount, repairs with their evidence, then the rules of value and flags
    "from the facts to the value": (
        explained(
            "free_cash_flow",
            1100.0,
            leg(1, "Operating", 1000.0, YEAR, rule=OPERATING.id),
            leg(2, "Operating", 0.9, TO_DATE, rule=SCALE.id, split_factor=1000.0),
            leg(3, "Operating", 700.0, PRIOR, -1.0, rule=OPERATING.id),
            leg(4, "Capex", 100.0, YEAR, -1.0, rule=CAPEX.id),
            repairs=[
                Repair(FILING, "operating_cash_flow", *TO_DATE, "scale", 0.9, 900.0, "the balance sheet", SCALE.id)
            ],
            rules=RULES,
            rule=TO_DATE_RULE.id,
            flags="mixed_basis,weeks_53",
        ),
        [
            ("fact", "operating cash flow", (1, 3), OPERATING.id),
            ("fact", "capital expenditure", (4,), CAPEX.id),
            ("repair", "operating cash flow", (2,), SCALE.id),
            ("value", "free cash flow", (), TO_DATE_RULE.id),
            ("flag", "mixed_basis", (), BASIS.id),
        ],
        [
            """
Rules that decided it
  Facts of operating cash flow [1] [3]: cash-flow.operating
       Net cash from operating activities as filed.
       Source: ASC 230-10-45-24
       Code: a.py
  Facts of capital expenditure [4]: cash-flow.capital-expenditure
""",
            "filed as 0.9, corrected to 900: the balance sheet",
            "  Value of free cash flow: ttm.year-to-date\n",
            "  Flag mixed_basis: ttm.mixed-basis\n",
            "docs/rules.md",
        ],
    ),
    # the leg names the rule that chose it and the repair another; the evidence says if a figure was left out
    "a corrected fact keeps the rule that chose it": (
        explained(
            "free_cash_flow",
            5.0,
            leg(1, "Operating", 5.0, YEAR, rule=OPERATING.id),
            repairs=[Repair(FILING, "operating_cash_flow", *YEAR, "context", 5.0, None, "the year", SCALE.id)],
            rules=RULES,
        ),
        [
            ("fact", "operating cash flow", (1,), OPERATING.id),
            ("repair", "operating cash flow", (1,), SCALE.id),
            ("window", "year_to_date", (), TO_DATE_RULE.id),
        ],
        ["filed as 5, left out: the year"],
    ),
    "the rule of twelve months is named before the rule of the value": (
        explained("free_cash_flow", 5.0, ONE_LEG, rules=RULES, rule="fcf.difference"),
        [
            ("window", "year_to_date", (), TO_DATE_RULE.id),
            ("value", "free cash flow", (), "fcf.difference"),
        ],
        ["  Twelve months (year_to_date): ttm.year-to-date\n"],
    ),
    "a ratio names the rules of the items that it is calculated from": (
        explained(
            "debt_to_fcf",
            3.0,
            leg(1, "Debt", 240.0, "2024-09-30", operation="dividend"),
            leg(2, "Operating", 80.0, YEAR, operation="divisor"),
            rule="debt-to-fcf.quotient",
            inputs=INPUTS,
        ),
        [
            ("value", "total debt", (), "debt.classified"),
            ("value", "free cash flow", (), "fcf.difference"),
            ("value", "debt to fcf", (), "debt-to-fcf.quotient"),
        ],
        [],
    ),
    "a sum is not calculated from other items": (
        explained("eps_basic", 5.6, leg(1, "Earnings", 5.6, YEAR), rule="eps.as-filed", inputs=INPUTS),
        [("value", "eps basic", (), "eps.as-filed")],
        [],
    ),
    "a flag of several rules names the rule of the same amount": (
        explained(
            "total_debt",
            5.0,
            leg(1, "Debt", 5.0, "2024-09-30", rule="debt.lines"),
            flags="apart",
            rules=APART,
        ),
        [("fact", "total debt", (1,), "debt.lines"), ("flag", "apart", (), "debt.apart")],
        [],
    ),
    "or of each": (
        explained("total_debt", 5.0, IN_DEBT, flags="apart", rules=APART),
        [("flag", "apart", (), "cash.apart"), ("flag", "apart", (), "debt.apart")],
        [],
    ),
    "a rule that is not in the build is named by its id": (
        explained("free_cash_flow", 5.0, leg(1, "Operating", 5.0, YEAR, rule="made.up"), rule="another.rule"),
        [
            ("fact", "operating cash flow", (1,), "made.up"),
            ("value", "free cash flow", (), "another.rule"),
        ],
        ["  Value of free cash flow: another.rule\n"],
    ),
    "a gap names the rule that leaves the value out": (
        explained("debt_to_fcf", None, gap=Gap("negative_fcf", WITHHELD.id), rules=[WITHHELD]),
        [("gap", "negative_fcf", (), WITHHELD.id)],
        ["  No value (negative_fcf): debt-to-fcf.not-positive\n"],
    ),
    "numbers of legs are shown as ranges": (
        explained(
            "free_cash_flow",
            5.0,
            *(leg(n, "Operating", 5.0, YEAR, rule=OPERATING.id) for n in (1, 2, 3, 5, 7, 8)),
        ),
        [("fact", "operating cash flow", (1, 2, 3, 5, 7, 8), OPERATING.id)],
        ["operating cash flow [1-3] [5] [7-8]: cash"],
    ),
}
"""An explanation; what was decided: about what, its name, its legs, and the rule; and what is printed."""


@pytest.mark.parametrize(("of", "decisions", "printed"), DECIDED.values(), ids=DECIDED)
def test_the_rules_that_decided(of: explain.Explanation, decisions: list[tuple[Any, ...]], printed: list[str]) -> None:
    assert [(one.about, one.name, one.legs, one.rule.id) for one in of.decisions] == decisions
    assert [part for part in printed if part not in text(of, 80)] == []


def test_the_identities_that_judged_a_value_are_shown_with_both_sides() -> None:
    identity = Rule(
        "identity.cash-flow", "The activities add up to the change in cash.", "ASC 230-10-45-24", "withhold"
    )
    proofs = [Proof(identity.id, "holds", 1500.0, 1500.0), Proof("unheard.of", "withheld", None, 3.0)]
    of = explained("free_cash_flow", 5.0, rules=[identity], proofs=proofs)
    assert [(one.rule.id, one.outcome.code) for one in of.judgements] == [
        (identity.id, "holds"),
        ("unheard.of", "withheld"),
    ]
    assert """
Identities that judged it
  identity.cash-flow: both sides agree (1,500 and 1,500)
       The activities add up to the change in cash.
  unheard.of: the sides contradict each other, so there is no value
""" in text(of, 80)


def test_other_rules_about_the_company_are_listed_by_id_with_their_first_sentence() -> None:
    """Neither rules that the value names nor rules that choose elements."""
    of_elements = Rule("revenue.total", "The filer's own total.", "S-X", "select", file=f"{explain.ELEMENTS}income.py")
    figures = {"unheard.of": 1, BANK.id: 1234, TO_DATE_RULE.id: 5, of_elements.id: 6}
    of = explained("revenue", 1.0, rules=[*RULES, BANK, of_elements], rule=TO_DATE_RULE.id, inputs={}, figures=figures)
    assert [(one.rule.id, one.figures) for one in of.company_rules] == [(BANK.id, 1234), ("unheard.of", 1)]
    assert """
Rules about the company
  industry.bank.interest-and-deposits (1,234): A filer that states interest and
       deposits is a bank.
  unheard.of (1)
""" in text(of, 80, is_whole=True)
    assert "2 more rules decided something about the company; --all lists them." in text(of, 80)
    assert "Rules about the company" not in text(of, 80)
    assert "Rules about the company" not in text(explained("revenue", 1.0, leg(1, "R", 1.0, YEAR)), 80)


def test_the_facts_and_their_filings_come_before_the_rules() -> None:
    """Then the rules that decided, and the versions."""
    fact = leg(1, "R", 1.0, YEAR, url="https://filings.example.org/1", accession="1")
    told_of = text(explained("revenue", 1.0, fact, rules=[TO_DATE_RULE], rule=TO_DATE_RULE.id), 80)
    heads = ("How it is calculated", "Facts as filed", "https://filings.example.org/1", TO_DATE_RULE.id, "Versions")
    assert sorted(heads, key=told_of.index) == list(heads)


def test_the_rules_of_elements_are_in_the_folder_of_elements() -> None:
    assert registry.FILES["revenue.total"].startswith(explain.ELEMENTS)


# --- As text ----------------------------------------------------------------------------------------------------


def test_the_text_has_the_value_its_arithmetic_facts_versions_and_addresses() -> None:
    assert text(explained("free_cash_flow", 1080.0, *FREE_CASH_FLOW[:2], FREE_CASH_FLOW[3]), 80) == (
        """\
Lantern Harbor Works, Inc. (LNTR, CIK 9990000001)
free_cash_flow, trailing twelve months to 2024-09-30 (2024Q3)

  1,080 USD

meaning  Free cash flow.
formula  operating cash flow - capital expenditure
method   The last fiscal year, plus this year to date, less the same months of
         the year before. (year_to_date)

How it is calculated
  operating cash flow
     [1] + 1,000  2023-01-01 to 2023-12-31, 365 days
     [2] +   900  2024-01-01 to 2024-09-30, 274 days
         = 1,900
  capital expenditure
     [4] + 100  2023-01-01 to 2023-12-31, 365 days
  free cash flow = operating cash flow - capital expenditure
                 = 1,900 - 100
                 = 1,800
  served as 1,080

Facts as filed
   [1] us-gaap:Operating
       1,000 USD, 2023-01-01 to 2023-12-31, 365 days
       10-Q of 2024-11-01, 9990000001-24-000001
   [2] us-gaap:Operating
       900 USD, 2024-01-01 to 2024-09-30, 274 days
       10-Q of 2024-11-01, 9990000001-24-000001
   [4] us-gaap:Capex
       100 USD, 2023-01-01 to 2023-12-31, 365 days
       10-Q of 2024-11-01, 9990000001-24-000001

Filings
  9990000001-24-000001
  https://sec.example/1

Rules that decided it
  No rule is named: the value was recorded, or the build published, before rules
  had ids.

Versions
    1. 1,080, 10-Q of 2024-11-01, 9990000001-24-000001
       initial: The first value; recorded 2026-02-01T06:00:00Z
"""
    )


@pytest.mark.parametrize("width", [70, 80, 120])
def test_sentences_and_formulas_keep_to_the_width(width: int) -> None:
    lines = text(explained("roic", 0.1, *return_legs(123456789012.0, 9.0, 2.0)), width).splitlines()
    assert max(map(len, lines)) <= width
    assert any("= total debt + equity - cash and equivalents" in line for line in lines)


@pytest.mark.parametrize(
    ("of", "shown"),
    [
        ({"split_factor": 1 / 28}, "(5.6 / 28)"),
        ({"split_factor": 1e-6}, "(5.6 / 1,000,000)"),
        ({"split_factor": 4.0}, "(5.6 x 4)"),
        ({"split_factor": 2 / 3}, "(5.6 x 0.666666666667)"),
        ({"weight": -2.0}, "(5.6 x 2)"),
        ({"weight": 91.0, "operation": "mean", "split_factor": 4.0}, "(5.6 x 4 x 91 days)"),
    ],
)
def test_the_filed_figure_is_shown_with_its_factors(of: dict[str, Any], shown: str) -> None:
    printed = text(explained("eps_basic", 1.0, leg(1, "Earnings", 5.6, YEAR, **of)), 80)
    assert f"  {shown}\n" in printed
    assert ("share basis of the newest filing" in printed) == ("split_factor" in of)


def test_withdrawn_versions_and_missing_filings_are_shown() -> None:
    nowhere = {"form": None, "filed": None, "accession": None, "url": None}
    of = explain.explanation(
        HOLDER,
        LINES["roic"],
        Span("annual", "FY2024", "2024-12-31"),
        [Span("annual", "FY2024", "2024-06-30")],
        [told(0.25, recorded_at=None), told(None, 2, cause="method", **nowhere)],
        [],
        None,
        [],
        {},
    )
    printed = text(of, 80)
    assert "    1. 0.25, 10-Q of 2024-11-01, 9990000001-24-000001\n       initial: The first value\n" in printed
    assert "    2. withdrawn, filing of an unknown day, without accession number\n       method: The rules" in printed
    assert "FY2024 is also the label of the period that ends 2024-06-30" in printed
    assert "roic, fiscal year to 2024-12-31 (FY2024)\n\n  no value\n" in printed
