"""The balance sheet behind debt and cash: its published lines, and the output of the command `explain`."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

import fundamentals
from pipelines.normalize.balance.values import OF_FACE, OF_LINES
from pipelines.normalize.elements.lines import SECTIONS
from pipelines.run.plan import run_all
from pipelines.run.synchronization import Synchronization
from pipelines.storage.home import Home
from tests.factories import Row, raw, standardized
from tests.mirrors import Filer, Mirror, document, write
from tests.unit.test_footing_of_columns import BEFORE, DAY, USUAL, YEAR_BEFORE, report
from warehouse.contract import sections
from warehouse.explanation import balance_sheet
from warehouse.queries.explain_queries import Leg, SheetRow

Lines = Mapping[str, tuple[float | None, float | None]]
ZERO: Lines = {
    **{tag: amounts for tag, amounts in USUAL.items() if "Debt" not in tag},
    "LiabilitiesCurrent": (11.019, 10.404),
    "Liabilities": (20.138, 19.781),
}
INSIDE: Lines = {**USUAL, "LiabilitiesCurrent": (11.019, 10.404), "Liabilities": (60.889, 65.782)}
GONE: Lines = {
    **{tag: amounts for tag, amounts in USUAL.items() if tag != "LongTermDebtCurrent"},
    "LiabilitiesCurrent": (21.519, 15.704),
    "Liabilities": (71.389, 71.082),
}
"""Maturities are not stated; the other current liabilities leave 10.5 and 5.3 million, not 5.25 as a year ago."""
OF_OPEN = ("AccountsPayableCurrent", "LongTermDebtCurrent", "LiabilitiesCurrent", "LongTermDebtNoncurrent")
OPEN: Lines = {tag: USUAL[tag] for tag in (*OF_OPEN, "Liabilities", "Assets")}
"""No cash is stated, and no other line of the non-current liabilities."""


OF_2022 = {
    ("CashAndCashEquivalentsAtCarryingValue", BEFORE): 18.671e6,
    ("AccountsReceivableNetCurrent", BEFORE): 29.213e6,
}
"""The statement of the report of the year before, which the next report restates."""

CASES: dict[str, Sequence[Row]] = {
    "PROV": report(USUAL),
    "ZERO": report(dict(ZERO)),
    "INSD": report(dict(INSIDE)),
    "GONE": [
        *({**row, "value": OF_2022.get((row["tag"], row["end"]), row["value"])} for row in YEAR_BEFORE),
        *report(dict(GONE)),
    ],
    "OPEN": report(dict(OPEN)),
    "REST": report(USUAL | {"LongTermDebtNoncurrent": (None, 46.001)}),
}
"""The filings of each company by its symbol."""


# --- The table ----------------------------------------------------------------------------------------------------


def published(rows: Sequence[Row], section: str, day: str = DAY) -> dict[str, tuple[Any, ...]]:
    """Class, both amounts in millions, and whether the section adds up, of each line of a section of a day."""
    found = standardized(raw(list(rows))).found.balance_sheet_lines
    return {
        row["element"]: (
            row["class"],
            *(row[name] and row[name] / 1e6 for name in ("amount", "compared")),
            row["adds_up"],
        )
        for row in found.to_dicts()
        if (row["section"], str(row["day"])) == (section, day)
    }


def test_the_lines_of_a_proved_value_are_published_with_their_total():
    """In both columns; the total has the name of the element from which it is taken."""
    assert published(CASES["PROV"], "current liabilities") == {
        "AccountsPayableCurrent": ("payable", 11.019, 10.404, True),
        "LongTermDebtCurrent": ("borrowing", 5.25, 5.25, True),
        "LiabilitiesCurrent": ("total", 16.269, 15.654, True),
    }
    assert published(CASES["PROV"], "noncurrent liabilities") == {
        "LongTermDebtNoncurrent": ("borrowing", 40.751, 46.001, True),
        "OtherLiabilitiesNoncurrent": ("other", 9.119, 9.377, True),
        "liabilities less current liabilities": ("total", 49.87, 55.378, True),
    }


def test_a_missing_value_has_the_lines_that_do_not_add_up():
    """With the line of debt that the balance sheet before had, and the filing does not state."""
    assert published(CASES["GONE"], "current liabilities") == {
        "AccountsPayableCurrent": ("payable", 11.019, 10.404, False),
        "LongTermDebtCurrent": ("borrowing", None, None, False),
        "LiabilitiesCurrent": ("total", 21.519, 15.704, False),
    }
    assert published(CASES["GONE"], "noncurrent liabilities")["LongTermDebtNoncurrent"][-1] is True


def test_only_balance_sheets_behind_current_values_are_published():
    """The cash of the year before is proved again by the later filing; a value without cash has no section of it."""
    found = standardized(raw(list(CASES["GONE"]))).found
    of_cash = found.balance_sheet_lines.filter(section="current assets")
    assert of_cash["accession"].unique().to_list() == [CASES["GONE"][-1]["accession"]]
    assert published(CASES["OPEN"], "current assets") == {}
    assert published(CASES["OPEN"], "noncurrent liabilities")["LongTermDebtNoncurrent"][-1] is False


def test_the_warehouse_names_all_sections_and_the_rule_of_lines():
    assert {name for names in sections.SECTIONS.values() for name in names} == set(SECTIONS)
    assert (OF_LINES.id, OF_FACE.id) == balance_sheet.LINES


def test_a_balance_sheet_stands_only_behind_a_value_that_consists_of_its_lines():
    """Not behind a value that other rules made of the same filing; a section of it need not add up."""
    columns = ("current assets", True, DAY, None)
    rows = [
        SheetRow("A", "10-K", DAY, None, *columns, *line, None)
        for line in (("Cash", "cash", 5.0), ("AssetsCurrent", "total", 5.0))
    ]
    fact = Leg(1, "add", 1.0, 1.0, 5.0, "us-gaap:Cash", "USD", None, DAY, "10-K", DAY, "A", None, "cash", OF_LINES.id)

    def sections(rows: list[SheetRow], fact: Leg) -> tuple[balance_sheet.Section, ...]:
        return balance_sheet.balance_sheet(rows, ("current assets",), DAY, [fact]).sections

    [section] = sections(rows, fact)
    assert (section.added, section.total.amount, section.lines[0].leg) == (5.0, 5.0, 1)
    assert sections(rows, msgspec.structs.replace(fact, rule="cash.alone")) == ()
    assert not sections([msgspec.structs.replace(row, adds_up=False) for row in rows], fact)[0].adds_up


# --- Printed output ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def published_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a build of all cases."""
    folder = tmp_path_factory.mktemp("balance-sheets")
    mirror = Mirror(folder / "mirror")
    filers = [Filer(number, symbol) for number, symbol in enumerate(CASES, start=101)]
    mirror.list(*filers)
    for filer in filers:
        write(mirror.facts(filer), document(filer, CASES[filer.symbol]))
    home = Home(folder / "home")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("FUNDAMENTALS_HOME", str(home.root))
        home.prepare()
        run_all(Synchronization(home, str(mirror.folder)))
    return home.root


@pytest.fixture
def printed(published_home, monkeypatch, capsys) -> Callable[..., str]:
    """The output of `explain` about a balance sheet at a width of the terminal."""

    def run(symbol: str, item: str, period: str = DAY, width: int = 80) -> str:
        monkeypatch.setenv("FUNDAMENTALS_HOME", str(published_home))
        monkeypatch.setenv("COLUMNS", str(width))
        assert fundamentals.main(["explain", symbol, item, period]) == 0
        blocks = capsys.readouterr().out.split("\n\n")
        first = next(place for place, block in enumerate(blocks) if block.startswith("Balance sheet"))
        last = next(place for place, block in enumerate(blocks) if block.startswith(("Filings", "Rules")))
        return "\n\n".join(blocks[first:last]) + "\n"

    return run


PRINTED = {
    # the lines that count have the number of their fact, and come first
    "a proved value, with all lines beside the totals": (
        "PROV",
        "total_debt",
        """\
Balance sheet
  10-K of 2024-02-20, 9990000901-10-K-2024-02-20, in thousands of USD
  The lines add up to the totals in both columns. Those with the number of a
  fact above are the value.

      current liabilities                   class      2023-12-31  2022-12-31
  [1] LongTermDebtCurrent                   borrowing       5,250       5,250
      AccountsPayableCurrent                payable        11,019      10,404
      sum of these lines                                   16,269      15,654
      LiabilitiesCurrent                    total          16,269      15,654

      noncurrent liabilities                class      2023-12-31  2022-12-31
  [2] LongTermDebtNoncurrent                borrowing      40,751      46,001
      OtherLiabilitiesNoncurrent            other           9,119       9,377
      sum of these lines                                   49,870      55,378
      liabilities less current liabilities  total          49,870      55,378
""",
    ),
    "a proved zero, with the lines that are not borrowed": (
        "ZERO",
        "total_debt",
        """\
Balance sheet
  10-K of 2024-02-20, 9990000901-10-K-2024-02-20, in thousands of USD
  The lines add up to the totals in both columns, and nothing of 2023-12-31 is
  borrowed, so debt is zero.

      current liabilities                   class    2023-12-31  2022-12-31
  [1] AccountsPayableCurrent                payable      11,019      10,404
      sum of these lines                                 11,019      10,404
      LiabilitiesCurrent                    total        11,019      10,404

      noncurrent liabilities                class    2023-12-31  2022-12-31
  [3] OtherLiabilitiesNoncurrent            other         9,119       9,377
      sum of these lines                                  9,119       9,377
      liabilities less current liabilities  total         9,119       9,377
""",
    ),
    # the total and the other lines have the numbers of their facts
    "a line that is not stated, beside those that leave it": (
        "REST",
        "total_debt",
        """\
Balance sheet
  10-K of 2024-02-20, 9990000901-10-K-2024-02-20, in thousands of USD
  The lines add up to the totals in both columns. Those with the number of a
  fact above are what the value is computed from: one of its lines is not
  stated.

      current liabilities                   class      2023-12-31  2022-12-31
  [3] LongTermDebtCurrent                   borrowing       5,250       5,250
      AccountsPayableCurrent                payable        11,019      10,404
      sum of these lines                                   16,269      15,654
  [2] LiabilitiesCurrent                    total          16,269      15,654

      noncurrent liabilities                class      2023-12-31  2022-12-31
  [4] OtherLiabilitiesNoncurrent            other           9,119       9,377
      LongTermDebtNoncurrent                borrowing      40,751      46,001
      sum of these lines                                   49,870      55,378
      liabilities less current liabilities  total          49,870      55,378
""",
    ),
    # by how much a total is missed, which line is not stated, and the rule that leaves the value out
    "a missing value, with what is unknown": (
        "GONE",
        "total_debt",
        """\
Balance sheet
  10-K of 2024-02-20, 9990000901-10-K-2024-02-20, in thousands of USD
  Unknown: the lines of the current liabilities of 2023-12-31 add up to 10,500
  less than their total.
  Not stated, but a line of the filer's last current liabilities that added up:
  LongTermDebtCurrent (borrowing).
  The value is left out by balance.withheld.line-not-shown.

      current liabilities                   class      2023-12-31  2022-12-31
      AccountsPayableCurrent                payable        11,019      10,404
      sum of these lines                                   11,019      10,404
      LiabilitiesCurrent                    total          21,519      15,704
      without a line                                       10,500       5,300

      noncurrent liabilities                class      2023-12-31  2022-12-31
      LongTermDebtNoncurrent                borrowing      40,751      46,001
      OtherLiabilitiesNoncurrent            other           9,119       9,377
      sum of these lines                                   49,870      55,378
      liabilities less current liabilities  total          49,870      55,378
""",
    ),
    "cash that no filing states": (
        "OPEN",
        "cash_and_equivalents",
        """\
Balance sheet
  No filing states both lines and the total of the current assets of 2023-12-31.
""",
    ),
}
"""The symbol, the item, and all that is printed about its balance sheet."""
ENDS = {
    "a proved value of another item": (
        "PROV",
        "cash_and_equivalents",
        """
      current assets                         class  2023-12-31  2022-12-31
  [1] CashAndCashEquivalentsAtCarryingValue  cash       20,123      18,771
      AccountsReceivableNetCurrent           other      31,507      29,113
      sum of these lines                                51,630      47,884
      AssetsCurrent                          total      51,630      47,884
""",
    ),
    "debt inside another line, apart": (
        "INSD",
        "total_debt",
        """
      inside one of the lines               class      2023-12-31  2022-12-31
  [1] LongTermDebtCurrent                   borrowing       5,250           -
""",
    ),
}
"""The symbol, the item, and the last lines of what is printed."""


@pytest.mark.parametrize(("symbol", "item", "text"), PRINTED.values(), ids=PRINTED)
def test_a_balance_sheet_is_printed(printed, symbol, item, text):
    assert printed(symbol, item) == text


@pytest.mark.parametrize(("symbol", "item", "text"), ENDS.values(), ids=ENDS)
def test_a_balance_sheet_is_printed_to_its_last_line(printed, symbol, item, text):
    assert printed(symbol, item).endswith(text)


def test_a_value_of_the_day_of_comparison_says_so(printed):
    """The later filing proves the cash of the year before, too."""
    shown = printed("GONE", "cash_and_equivalents", "2022-12-31")
    assert "  The value is that of 2022-12-31, the day of comparison.\n" in shown
    assert "  [1] CashAndCashEquivalentsAtCarryingValue  cash       20,123      18,771\n" in shown


def test_without_a_proof_a_sentence_says_so(printed):
    """And by how much the usual lines miss the total."""
    shown = printed("OPEN", "total_debt")
    assert "  Those with the number of a fact above are the value: the usual lines that no\n" in shown
    assert "  Not proved: the lines of the noncurrent liabilities of 2023-12-31 add up to\n  9,119 less" in shown


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal(printed, width):
    """The figures of an element that is too long stand on the next line."""
    shown = [line for symbol in CASES for line in printed(symbol, "total_debt", width=width).splitlines()]
    assert max(map(len, shown)) <= width
    on_two = "\n      liabilities less current liabilities\n"
    assert (on_two in printed("PROV", "total_debt", width=width)) == (width < 80)


def test_the_same_is_in_the_json_and_other_items_have_no_balance_sheet(published_home, monkeypatch, capsys):
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(published_home))
    assert fundamentals.main(["explain", "PROV", "revenue", DAY]) == 0
    assert "\nBalance sheet\n" not in capsys.readouterr().out
    assert fundamentals.main(["explain", "PROV", "total_debt", DAY, "--json"]) == 0
    sheet = json.loads(capsys.readouterr().out)["sheet"]
    assert [(section["name"], section["added"], section["total"]["amount"]) for section in sheet["sections"]] == [
        ("current liabilities", 16.269e6, 16.269e6),
        ("noncurrent liabilities", 49.87e6, 49.87e6),
    ]
    assert sheet["sections"][0]["lines"][0] == {
        "element": "LongTermDebtCurrent",
        "kind": "borrowing",
        "amount": 5.25e6,
        "compared": 5.25e6,
        "leg": 1,
        "member": None,
    }
