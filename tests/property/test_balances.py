"""Debt and cash of a balance sheet count each amount once, however a filing tags it."""

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.sample import Economics, Extra, Filer
from tests.property.histories import simulated
from tests.property.truths import Found, found
from tests.strategies import examples

NONCURRENT, MATURITIES, SHORT = "debt_noncurrent", "debt_current", "short_term_debt"
LONG, ALL_CURRENT, EVERYTHING = (
    ((NONCURRENT, 1), (MATURITIES, 1)),
    ((MATURITIES, 1), (SHORT, 1)),
    ((NONCURRENT, 1), (MATURITIES, 1), (SHORT, 1)),
)
PLAIN = Filer(
    cik="9990000401",
    name="Example Borrower Inc",
    first_year=2023,
    economics=Economics(debt=3.0),
    business="borrower",  # an amount that the books of all drawn filers have
)


def again(tag: str, item: str) -> Extra:
    """The same amount under another tag."""
    return Extra(tag=tag, like=item)


def total(tag: str, *of: tuple[str, float], like: str = NONCURRENT) -> Extra:
    """A total of other lines, or a part of one."""
    return Extra(tag=tag, like=like, of=of)


DEBT = (
    total("LongTermDebt", *LONG),
    total("LongTermDebtAndCapitalLeaseObligationsIncludingCurrentMaturities", *LONG),
    total("DebtCurrent", *ALL_CURRENT),
    total("DebtLongtermAndShorttermCombinedAmount", *EVERYTHING),
    total("SeniorNotes", *LONG),
    again("LongTermDebtAndCapitalLeaseObligations", NONCURRENT),
    again("LongTermDebtAndCapitalLeaseObligationsCurrent", MATURITIES),
    again("NotesPayableCurrent", MATURITIES),
    again("ConvertibleDebtCurrent", MATURITIES),
    again("ShortTermBorrowings", SHORT),
    again("OtherShortTermBorrowings", SHORT),
    total("SeniorLongTermNotes", (NONCURRENT, 0.6)),
    total("ConvertibleDebtNoncurrent", (NONCURRENT, 0.4)),
    total("LongTermLineOfCredit", (NONCURRENT, 0.1)),
    total("SeniorNotesCurrent", (MATURITIES, 0.5)),
    total("LineOfCredit", (NONCURRENT, 0.1)),
    total("UnsecuredDebt", (NONCURRENT, 0.9), (MATURITIES, 0.9)),
)
CASH = (
    total("CashCashEquivalentsAndShortTermInvestments", ("cash", 1), ("short_term_investments", 1), like="cash"),
    total("CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents", ("cash", 1.1), like="cash"),
    again("Cash", "cash"),
    again("MarketableSecuritiesCurrent", "short_term_investments"),
    again("DebtSecuritiesCurrent", "short_term_investments"),
    total("AvailableForSaleSecuritiesDebtSecuritiesCurrent", ("short_term_investments", 0.7), like="cash"),
    total("HeldToMaturitySecuritiesCurrent", ("short_term_investments", 0.3), like="cash"),
    total("OtherShortTermInvestments", ("short_term_investments", 0.2), like="cash"),
)
PARTS = {"total_debt": (NONCURRENT, MATURITIES, SHORT), "cash_and_equivalents": ("cash", "short_term_investments")}
TOGETHER = 30
redundant = st.lists(st.sampled_from([*DEBT, *CASH]), unique=True, max_size=5).map(tuple)
line = st.sampled_from([part for parts in PARTS.values() for part in parts])


def some(one: st.SearchStrategy[object]) -> st.SearchStrategy[list[object]]:
    """The number of different filers that the pipeline processes together."""
    return st.lists(one, min_size=TOGETHER, max_size=TOGETHER, unique=True)


def borrower(number: int, **traits: object) -> Filer:
    """The plain filer, with another number."""
    return replace(PLAIN, cik=f"{int(PLAIN.cik) + number:010d}", **traits)


Balances = dict[tuple[date, str], float]


def balances(told: Found, filer: Filer) -> Balances:
    return {key[1:]: value for key, value in told.of(filer).values.items() if key[2] in PARTS}


@pytest.fixture(scope="module")
def with_a_redundant_tag() -> Found:
    """The result of the plain filer, and of filers with one redundant tag each."""
    return found(PLAIN, *REPEATING.values())


REPEATING = {extra.tag: borrower(number, extras=(extra,)) for number, extra in enumerate([*DEBT, *CASH], 1)}


@pytest.mark.parametrize("tag", REPEATING)
def test_a_redundant_tag_changes_nothing(tag, with_a_redundant_tag):
    """An amount stated again: as another name for a line, a total of lines or a part of one."""
    assert balances(with_a_redundant_tag, REPEATING[tag]) == balances(with_a_redundant_tag, PLAIN) != {}


@examples(1)
@given(drawn=some(redundant))
def test_redundant_tags_together_change_nothing(drawn):
    filers = [borrower(number, extras=extras) for number, extras in enumerate(drawn, 1)]
    told = found(PLAIN, *filers)

    for filer in filers:
        assert balances(told, filer) == balances(told, PLAIN) != {}, filer.extras


@examples(1)
@given(drawn=some(st.tuples(redundant, st.frozensets(line, max_size=3))))
def test_no_combination_of_tags_counts_an_amount_twice(drawn):
    """Whatever is left out and whatever is repeated, debt and cash are never more than the true amounts."""
    filers = [borrower(number, extras=extras, untagged=untagged) for number, (extras, untagged) in enumerate(drawn)]
    told = found(*filers)

    for filer in filers:
        assert counted_twice(filer, balances(told, filer)) == {}, (filer.extras, filer.untagged)


def counted_twice(filer: Filer, told: Balances) -> dict[tuple[date, str], tuple[float, float]]:
    """Values above the truth, with the truth; a total with restricted cash is one if cash alone is not stated."""
    true = {(row.period_end, row.item): row.value for row in simulated(PLAIN).truth()}
    restricted = any("Restricted" in extra.tag for extra in filer.extras) and "cash" in filer.untagged
    # without the line that includes them, instruments of any term are separate lines next to the others
    instruments = bool({"SeniorNotes", "UnsecuredDebt", "LineOfCredit"} & {extra.tag for extra in filer.extras})
    instruments = instruments and NONCURRENT in filer.untagged
    return {
        key: (value, true[key])
        for key, value in told.items()
        if value > true[key] * 1.001
        and not (restricted and key[1] == "cash_and_equivalents")
        and not (instruments and key[1] == "total_debt")
    }


@pytest.mark.parametrize(
    ("item", "tag", "parts"),
    [
        ("total_debt", "DebtLongtermAndShorttermCombinedAmount", EVERYTHING),
        ("total_debt", "DebtCurrent", ALL_CURRENT),
        ("total_debt", "LongTermDebt", LONG),
        ("cash_and_equivalents", CASH[0].tag, CASH[0].of),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_total_below_its_parts_is_flagged(item, tag, parts):
    """A total of 70 % of its parts contradicts them; more than the parts may be a line that is not stated."""
    wrong = total(tag, *((part, 0.7) for part, _ in parts), like=parts[0][0])
    told = found(replace(PLAIN, extras=(wrong,)))
    of_item = [key for key in told.values if key[2] == item]
    true = {(row.period_end, row.item): row.value for row in simulated(PLAIN).truth()}

    assert any(told.flags[key] for key in of_item)
    assert [key for key in of_item if not told.flags[key] and told.values[key] != pytest.approx(true[key[1:]])] == []
