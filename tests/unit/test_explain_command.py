"""The command `fundamentals explain`: values, gaps, and arguments that it does not know."""

import json
import re
import shutil
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest

import fundamentals
from tests import builds
from tests.explained import BANK, OPERATING, RULES, SCALE, TO_DATE_RULE
from warehouse.contract.line_items import ITEM_NAMES

GAPS = [
    ("9990000003", date(2024, 12, 31), "roic", "no_tag", "roic.no-capital"),
    ("9990000003", date(2019, 12, 31), "total_debt", "debt_not_footing", None),
]
DECISIONS = [
    ("9990000001", BANK.id),
    ("9990000001", OPERATING.id),
    ("9990000001", "roic.no-capital"),
    ("9990000001", "gap.no-tag"),
    ("9990000003", SCALE.id),
]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the small build, a preferred share, and a label of two periods."""
    home = tmp_path_factory.mktemp("home")
    rows = builds.tables()
    twice = builds.period({"symbol": "FJRD", "cik": "9990000003"}, "annual", date(2024, 6, 30), 4, revenue=3.0)
    rows["financials"].append({**twice, "currency": "EUR"})
    rows["versions"] += [builds.version(twice, "revenue", 1, *builds.history(twice, "revenue")[0], True)]
    rows |= {
        "versions": [row | {"rule": TO_DATE_RULE.id} for row in rows["versions"]],
        "lineage": [row | {"concept": "revenue", "rule": OPERATING.id} for row in rows["lineage"]],
        "gaps": [
            {"cik": cik, "period_kind": "annual", "period_end": end, "item": item, "reason": reason, "rule": rule}
            for cik, end, item, reason, rule in GAPS
        ],
        "rules": [
            {
                "rule": rule.id,
                "statement": rule.statement,
                "source": rule.source,
                "action": rule.action,
                "applies": "all filers",
                "file": "a.py",
                "code": rule.code,
                "values": 3,
                "companies": 1,
                "figures": 7,
            }
            for rule in (*RULES, BANK)
        ],
        "decisions": [{"cik": cik, "rule": rule, "figures": 7} for cik, rule in DECISIONS],
        "securities": [{"symbol": "LNTR-P", "cik": "9990000001", "kind": "preferred"}],
    }
    builds.publish_small(home / "published", rows=rows)
    return home


@pytest.fixture
def home(small: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(small))
    return small


def test_a_period_whose_only_value_is_withheld_has_a_reason(home, capsys) -> None:
    """It has no label, because no value of it was published."""
    assert fundamentals.main(["explain", "FJRD", "total_debt", "2019-12-31"]) == 0
    printed = capsys.readouterr().out
    assert "total_debt, balance sheet of 2019-12-31\n\n  no value\n" in printed
    assert "(debt_not_footing)" in printed


def as_json(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert fundamentals.main(["explain", *words, "--json"]) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


@pytest.fixture
def home_of_before(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home as published by a version of this service without rules."""
    shutil.copytree(small / "published", tmp_path / "published", symlinks=True)
    file = (tmp_path / "published" / "warehouse.duckdb").resolve()
    file.chmod(0o644)
    with duckdb.connect(file) as build:
        build.execute("DROP TABLE rules")
        build.execute("DROP TABLE decisions")
        for table in ("versions", "lineage", "gaps", "repairs", "splits", "breaks"):
            build.execute(f'ALTER TABLE "{table}" DROP COLUMN rule')
        build.execute("ALTER TABLE lineage DROP COLUMN concept")
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(tmp_path))
    return tmp_path


def test_json_has_the_rules(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The rules of the facts, of the value, and of a gap."""
    told = as_json(capsys, "LNTR", "revenue", "FY2024")
    assert [(one["about"], one["name"], one["legs"], one["rule"]["id"]) for one in told["decisions"]] == [
        ("fact", "revenue", [1, 2], OPERATING.id),
        ("value", "revenue", [], TO_DATE_RULE.id),
    ]
    assert told["decisions"][0]["rule"]["statement"] == OPERATING.statement
    # not rules that the value names, nor rules of gaps or of other companies
    assert [(one["rule"]["id"], one["figures"]) for one in told["company_rules"]] == [(BANK.id, 7)]
    assert told["company_rules"][0]["rule"]["statement"] == BANK.statement
    gap = as_json(capsys, "FJRD", "roic", "FY2024")
    assert [(one["about"], one["rule"]["id"]) for one in gap["decisions"]] == [("gap", "roic.no-capital")]


def test_a_build_of_an_earlier_version_is_explained_without_rules(
    home_of_before: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = as_json(capsys, "LNTR", "revenue", "FY2024")
    assert (told["value"], told["decisions"], told["company_rules"]) == (4000.0, [], [])
    assert [part["name"] for part in told["parts"]] == ["us-gaap/Revenues"]
    assert as_json(capsys, "FJRD", "roic", "FY2024")["reason"]["code"] == "no_tag"
    assert fundamentals.main(["explain", "LNTR", "revenue", "FY2024"]) == 0
    assert "before rules had ids" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("symbol", "item", "period", "kind", "value"),
    [
        ("LNTR", "revenue", "FY2024", "annual", 4000.0),
        ("lntr-b", "REVENUE", "fy2024", "annual", 4000.0),
        ("LNTR", "eps_basic", "2024Q4", "ttm", 1.25),
        ("LNTR", "eps_basic", "2024-12-31", "ttm", 1.25),
        ("LNTR", "eps_basic", "20241231", "ttm", 1.25),
        ("FJRD", "revenue", "2024-12-31", "annual", 7.0),
        ("GONE", "revenue", "2024Q1", "ttm", 5.0),
    ],
)
def test_symbol_item_and_period_are_found_in_any_case(
    home: Path, capsys: pytest.CaptureFixture[str], symbol: str, item: str, period: str, kind: str, value: float
) -> None:
    """Also symbols of other share classes and delisted symbols; for a day, twelve months precede the fiscal year."""
    told = as_json(capsys, symbol, item, period)
    assert (told["symbol"], told["item"], told["kind"], told["value"]) == (symbol.upper(), item.lower(), kind, value)
    assert told["recomputed"] == pytest.approx(value)


def test_versions_come_with_causes_and_addresses(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Withdrawn values have no legs."""
    told = as_json(capsys, "LNTR", "revenue", "FY2024")
    assert [(row["told"]["value"], row["cause"]["code"], row["told"]["recorded_at"]) for row in told["versions"]] == [
        (3900.5, "initial", None),
        (4100.0, "restatement", "2026-02-01T06:00:00Z"),
        (4000.0, "method", "2026-03-01T06:00:00Z"),
    ]
    assert told["versions"][2]["told"]["url"] == "/filings/9990000001-25-000002"
    assert [leg["accession"] for part in told["parts"] for leg in part["legs"]] == ["9990000001-25-000002"] * 2
    told = as_json(capsys, "LNTR", "roic", "FY2023")
    assert (told["value"], told["recomputed"], told["parts"]) == (None, None, [])
    assert [row["told"]["value"] for row in told["versions"]] == [0.2, None]


def test_a_gap_gives_its_reason(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """If two periods have the label, the gap of the newer one."""
    told = as_json(capsys, "FJRD", "roic", "FY2024")
    assert (told["value"], told["reason"]["code"]) == (None, "no_tag")
    assert told["reason"]["meaning"].startswith("The company's filings never state the item")
    assert (told["period_end"], told["namesakes"]) == ("2024-12-31", ["2024-06-30"])


def test_the_text_is_wrapped_at_the_width_of_the_terminal(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = {}
    for width in ("60", "120"):
        monkeypatch.setenv("COLUMNS", width)
        assert fundamentals.main(["explain", "LNTR", "total_debt", "FY2024"]) == 0
        printed[width] = capsys.readouterr().out
    assert "\ntotal_debt, balance sheet of 2024-12-31 (FY2024)\n\n  410,000,000,000 USD\n" in printed["60"]
    assert len(printed["60"].splitlines()) > len(printed["120"].splitlines())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("LNTX", "roic", "FY2024"), r"there are no values of symbol 'LNTX'; did you mean LNTR.*fundamentals sync"),
        (("ZZZZZ", "roic", "FY2024"), r"there are no values of symbol 'ZZZZZ'; `fundamentals sync --symbols ZZZZZ`"),
        (("lntr-p", "roic", "FY2024"), r"LNTR-P is not common equity \(preferred\); use the symbol of the"),
        (("LNTR", "rioc", "FY2024"), r"there is no line item 'rioc'; did you mean roic\? the line items are revenue, "),
        (("LNTR", "x", "FY2024"), r"there is no line item 'x'; the line items are revenue, .*debt_to_fcf"),
        (("LNTR", "roic", "FY1999"), r"LNTR has no period FY1999; there are FY2022 to FY2024"),
        (("LNTR", "roic", "2031q1"), r"LNTR has no period 2031Q1; there are 2024Q1 to 2024Q4"),
        (
            ("FJRD", "roic", "2024Q4"),
            r"FJRD has no period 2024Q4; there is no period of this kind; ask for .*, such as FY2024",
        ),
        (
            ("LNTR", "roic", "2024-12-30"),
            r"that ends 2024-12-30; the nearest period ends 2024-12-31 \(2024Q4\)",
        ),
        (("VOID", "roic", "2024-12-30"), r"VOID has no period that ends 2024-12-30; there is no period"),
        (
            ("LNTR", "roic", "2024-02-30"),
            r"'2024-02-30' is not a period; expected a label like 2026Q1",
        ),
        (("LNTR", "roic", "2024"), r"'2024' is not a period; expected a label like"),
    ],
)
def test_unknown_arguments_are_errors_that_suggest_existing_ones(
    home: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    assert fundamentals.main(["explain", *words]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert re.fullmatch(rf"fundamentals: .*{message}.*\n", printed.err)


def test_without_a_build_the_error_says_what_to_run(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the file of the current build is missing."""
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(tmp_path))
    for said in (
        f"home {tmp_path}: no data has been published yet; run `fundamentals sync`",
        "run `fundamentals sync`",
    ):
        assert fundamentals.main(["explain", "LNTR", "roic", "FY2024"]) == 1
        assert said in capsys.readouterr().err
        ignored = shutil.ignore_patterns("*.duckdb")
        shutil.copytree(home / "published", tmp_path / "published", ignore=ignored, dirs_exist_ok=True)


def test_every_item_can_be_asked_for(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for item in ITEM_NAMES:
        told = as_json(capsys, "LNTR", item, "FY2024")
        assert (told["value"] is None) == (not told["parts"])
