"""Decoding filings and data sets: the rows of both, repeated decoding, documents that cannot be read, the files."""

import os
from collections.abc import Callable
from datetime import date
from pathlib import Path

import polars as pl
import pyarrow.parquet
import pytest

from pipelines.edgar.fetch.raw_store import RawStore
from pipelines.health.tables import mend
from pipelines.normalize.facts.raw import RAW_SCHEMA
from pipelines.run.plan import run_all
from pipelines.run.synchronization import Synchronization
from pipelines.stages.batch import schemas
from pipelines.stages.filed import filed_rows, statements, statements_of_share
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake
from pipelines.tables import filed_files
from tests import data_sets, filed
from tests import filing_packages as packages
from tests.filing_packages import ACCESSION, CIK, YEAR, context, fact, label, link, member, packed, zipped
from tests.mirrors import Mirror
from warehouse.build import publish
from warehouse.contract import filed as declared

OTHER = "0000000102"
LATER = "0000000101-25-000002"
AXIS = "us-gaap:StatementClassOfStockAxis"
CLASS_A = f"{AXIS}=us-gaap:CommonClassAMember"
EARNINGS = "EarningsPerShareBasic"
SHEET = packed(packages.SHEET, packages.SUMS, packages.TITLE, label("us-gaap:Assets", "Total assets"))
BROKEN = {
    "a page instead of a zip": {"a-xbrl.zip": b"<html>Not found</html>"},
    "a cut zip": {"a-xbrl.zip": zipped(SHEET)[:-30]},
    "entities": {"a.xml": b"<!DOCTYPE x [<!ENTITY a 'b'>]>" + SHEET[f"{packages.NAME}_htm.xml"]},
    "no instance": {"a.xsd": SHEET[f"{packages.NAME}.xsd"]},
}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home with one listed company, and one fact of companyfacts: the total of the small balance sheet."""
    home = Home(tmp_path / "home")
    home.prepare()
    lake = Lake(home.tables)
    listed(lake, CIK)
    row = (CIK, "us-gaap", "Assets", "USD", None, "2024-12-31", 100.0, ACCESSION, 2024, "10-K", "2025-02-01")
    lake.replace_companies("facts", [pl.DataFrame([row], schema=RAW_SCHEMA, orient="row")], {CIK: "first"})
    return home


def listed(lake: Lake, *ciks: str) -> None:
    lake.write("listings", pl.DataFrame({"cik": ciks}))


def decoded(home: Home) -> dict[str, int]:
    return statements.update(RawStore(home.root), Lake(home.tables))


def rows(home: Home, table: str, *columns: str) -> list[tuple[object, ...]]:
    return Lake(home.tables).read(table).select(columns).cast({pl.Categorical: pl.String}).rows()


def written(home: Home, table: str, *columns: str) -> list[tuple[object, ...]]:
    """Rows of a file for analysts."""
    filed_files.write(Lake(home.tables), home.published)
    return pl.read_parquet(home.published / "statements" / f"{table}.parquet").select(columns).rows()


def unread(home: Home) -> dict[str, str]:
    read = Lake(home.tables).read(statements.UNREAD).select(pl.coalesce("name", "accession"), "reason")
    return dict(read.iter_rows())


def accessions(home: Home, table: str = "filed_facts") -> set[str]:
    """The filings with rows."""
    return {str(accession) for (accession,) in rows(home, table, "accession")}


# --- Rows -------------------------------------------------------------------------------------------------------------


def test_a_line_of_a_filing_has_the_values_of_all_its_members_and_periods(home):
    """An income statement with two classes of stock: headings have no value, and other facts no line."""
    lines = (
        ("us-gaap:IncomeAbstract", f"us-gaap:{EARNINGS}"),
        (f"us-gaap:{EARNINGS}", AXIS),
        (AXIS, "us-gaap:CommonClassAMember"),
        ("us-gaap:IncomeAbstract", "us-gaap:NetIncomeLoss"),
    )
    before = ("2023-01-01", "2023-12-31")
    parts = (
        context("before", before),
        context("a", YEAR, member(AXIS, "us-gaap:CommonClassAMember")),
        context("b", YEAR, member(AXIS, "us-gaap:CommonClassBMember")),
        fact("us-gaap:NetIncomeLoss", 9, of="year"),
        fact("us-gaap:NetIncomeLoss", 8, of="before", decimals="INF"),
        fact(f"us-gaap:{EARNINGS}", 3, of="a"),
        fact(f"us-gaap:{EARNINGS}", 1, of="b"),
        fact("alfa:Vines", 40),
    )
    title = packages.role_type("Income", "0000004 - Statement - CONSOLIDATED STATEMENTS OF INCOME")
    files = packed(link("presentation", "Income", lines), title, label("us-gaap:NetIncomeLoss", "Profit"), facts=parts)
    filed.fetched(home, {(CIK, ACCESSION): {"a-xbrl.zip": zipped(files)}})
    decoded(home)

    shown = rows(home, "statement_lines", "statement", "line", "element", "abstract", "member", "start", "end", "value")
    year, earlier = (tuple(map(date.fromisoformat, dates)) for dates in (YEAR, before))
    assert shown == [
        ("IS", 0, "IncomeAbstract", True, None, None, None, None),
        ("IS", 1, EARNINGS, False, CLASS_A, *year, 3.0),
        ("IS", 4, "NetIncomeLoss", False, None, *year, 9.0),
        ("IS", 4, "NetIncomeLoss", False, None, *earlier, 8.0),
    ]
    facts = rows(home, "filed_facts", "source", "taxonomy", "element", "own", "decimals", "member", "label", "value")
    assert facts == [
        ("filing", "us-gaap", "NetIncomeLoss", False, -3.0, None, "Profit", 9.0),
        ("filing", "us-gaap", "NetIncomeLoss", False, float("inf"), None, "Profit", 8.0),
        ("filing", "us-gaap", EARNINGS, False, -3.0, CLASS_A, None, 3.0),
        ("filing", "us-gaap", EARNINGS, False, -3.0, CLASS_A.replace("ClassA", "ClassB"), None, 1.0),
        ("filing", None, "Vines", True, -3.0, None, None, 40.0),
    ]


def test_lines_have_totals_and_facts_of_companyfacts_are_marked(home):
    """By accession, element and value: the total stays companyfacts'. An own element has no taxonomy."""
    filed.fetched(home, {(CIK, ACCESSION): SHEET})
    decoded(home)

    shown = rows(home, "statement_lines", "element", "own", "label", "parent", "weight", "value")
    assert shown[2:5] == [
        ("AssetsCurrent", False, None, "Assets", 1.0, 60.0),
        ("Vines", True, None, "Assets", 1.0, 40.0),
        ("Assets", False, "Total assets", None, None, 100.0),
    ]
    marked = written(home, "filed_facts", "element", "in_companyfacts")
    assert [element for element, in_companyfacts in marked if in_companyfacts] == ["Assets"]
    assert len(marked) == 4


def test_a_line_of_a_data_set_has_all_members_of_its_element(home):
    """And a co-registrant is a member, too. There is no first day, but the number of quarters."""
    numbers = [
        data_sets.fact(adsh=ACCESSION, value="100.0000"),
        data_sets.fact(adsh=ACCESSION, segments="ClassOfStock=CommonClassA;", value="100.0000"),
        data_sets.fact(adsh=ACCESSION, coreg="AlfaFinance", value="100.0000"),
        data_sets.fact(adsh=ACCESSION, tag="Vines", version=ACCESSION, qtrs="4", value="7.0000"),
    ]
    tables = data_sets.members(
        sub=[data_sets.filing(adsh=ACCESSION, cik="101")],
        num=numbers,
        pre=[data_sets.line(adsh=ACCESSION), data_sets.line(adsh=ACCESSION, line="2", tag="Goodwill", negating="1")],
    )
    filed.fetched(home, data_sets={"2010q1": data_sets.zipped(tables)})
    decoded(home)

    columns = ("report", "line", "element", "label", "negated", "member", "end", "value")
    day, members = date(2009, 12, 31), (None, "ClassOfStock=CommonClassA;", "LegalEntity=AlfaFinance;")
    assert rows(home, "statement_lines_2010q1", *columns) == [
        *((2, 1, "Assets", "Total assets", False, each, day, 100.0) for each in members),
        (2, 2, "Goodwill", "Total assets", True, None, None, None),
    ]
    facts = written(home, "filed_facts", "taxonomy", "own", "start", "quarters", "member", "in_companyfacts")
    assert facts == [
        ("us-gaap", False, None, 0, members[0], True),
        ("us-gaap", False, None, 0, members[1], False),
        ("us-gaap", False, None, 0, members[2], False),
        (None, True, None, 4, None, False),
    ]


# --- Repeated decoding --------------------------------------------------------------------------------------------


def test_a_filing_is_decoded_once(home, monkeypatch):
    """Another filing of its company, and another document of companyfacts, do not decode it again; other code does."""
    other = packed(packages.SHEET, packages.TITLE, facts=[])
    of_other = {name: content.replace(CIK.encode(), OTHER.encode()) for name, content in other.items()}
    names = {(CIK, ACCESSION): SHEET, (OTHER, "0000000102-25-000001"): of_other}
    filed.fetched(home, names)
    assert [decoded(home)["filings_decoded"] for _ in range(2)] == [2, 0]
    filed.fetched(home, {**names, (CIK, LATER): SHEET})
    assert decoded(home)["filings_decoded"] == 1
    assert accessions(home) == {ACCESSION, LATER}
    lake = Lake(home.tables)
    lake.replace_companies("facts", [lake.of_companies("facts", [CIK])], {CIK: "second"})
    assert decoded(home)["filings_decoded"] == 0
    before = {name: lake.read(name) for name in ("filed_facts", "statement_lines")}
    monkeypatch.setattr(statements, "code_of_packages", lambda: "other code")
    monkeypatch.setattr(statements, "TOGETHER", 1)
    assert decoded(home)["filings_decoded"] == 3
    assert all(lake.read(name).equals(held) for name, held in before.items())


def test_a_run_that_is_stopped_between_two_tables_decodes_again(home, monkeypatch):
    """The rows of a filing count only if both tables have them."""
    filed.fetched(home, {(CIK, ACCESSION): SHEET})
    decoded(home)
    filed.fetched(home, {(CIK, ACCESSION): SHEET, (CIK, LATER): SHEET})
    replace = Lake.replace_companies

    def stopped(lake: Lake, name: str, *rest: object) -> None:
        if name == "statement_lines":
            raise KeyboardInterrupt
        replace(lake, name, *rest)

    with monkeypatch.context() as stopping:
        stopping.setattr(Lake, "replace_companies", stopped)
        with pytest.raises(KeyboardInterrupt):
            decoded(home)
    assert decoded(home)["filings_decoded"] == 2
    assert len(rows(home, "filed_facts", "accession")) == 8
    assert accessions(home, "statement_lines") == {ACCESSION, LATER}


def test_a_run_that_is_killed_goes_on_where_it_was(home, monkeypatch):
    """Decoded rows are put into the tables after some tasks, with the reasons of unreadable documents."""
    names = {(f"{number:010}", f"{number:010}-25-000001"): {"a.xml": b"<a/>"} for number in range(1, 5)}
    filed.fetched(home, names)
    monkeypatch.setattr(statements, "TOGETHER", 1)
    monkeypatch.setattr(statements, "PUT", 2)
    work = statements.work

    def killed(folder: Path, lake: Lake, share: statements.Share) -> object:
        if "0000000004" in share.filings:
            raise KeyboardInterrupt
        return work(folder, lake, share)

    with monkeypatch.context() as killing:
        killing.setattr(statements, "work", killed)
        with pytest.raises(KeyboardInterrupt):
            decoded(home)
    assert len(unread(home)) == 2
    assert decoded(home) == {"quarters": 0, "filings_decoded": 2, "unread": 4}


def test_a_fact_that_companyfacts_has_later_is_marked(home):
    """Of a data set, too; nothing is decoded again for it."""
    raw = data_sets.zipped(data_sets.members(num=[data_sets.fact(adsh=data_sets.A, value="7.0000")]))
    filed.fetched(home, {(CIK, LATER): SHEET}, {"2010q1": raw})
    decoded(home)

    def marked() -> list[tuple[object, ...]]:
        return [row[:2] for row in written(home, "filed_facts", "accession", "element", "in_companyfacts") if row[2]]

    assert marked() == []
    lake = Lake(home.tables)
    new = pl.DataFrame({"accession": [LATER, data_sets.A], "value": [100.0, 7.0]})
    lake.replace_companies("facts", [pl.concat([lake.read("facts")] * 2).with_columns(new)], {CIK: "second"})
    assert decoded(home) == {"quarters": 0, "filings_decoded": 0, "unread": 0}
    assert marked() == [(data_sets.A, "Assets"), (LATER, "Assets")]


def test_a_quarter_is_decoded_again_for_a_company_of_it_that_is_new_on_the_list(home, monkeypatch):
    """Only listed companies are read, and companies that have facts."""
    sub = [data_sets.filing(), data_sets.filing(adsh=data_sets.B, cik="102")]
    num = [data_sets.fact(), data_sets.fact(adsh=data_sets.B)]
    pre = [data_sets.line(), data_sets.line(adsh=data_sets.B)]
    filed.fetched(home, data_sets={"2010q1": data_sets.zipped(data_sets.members(sub=sub, num=num, pre=pre))})
    lake = Lake(home.tables)
    quarters = []
    for ciks in ((CIK,), (CIK,), (CIK, "0000000999"), (CIK, OTHER), (CIK, OTHER)):
        listed(lake, *ciks)
        quarters.append((decoded(home)["quarters"], lake.companies("filed_facts_2010q1")))
    assert quarters == [(1, 1), (0, 1), (0, 1), (1, 2), (0, 2)]
    before = lake.read("statement_lines_2010q1")
    assert before["accession"].cast(pl.String).to_list() == [data_sets.A, data_sets.B]
    monkeypatch.setattr(statements, "code_of_data_sets", lambda: "other code")
    monkeypatch.setattr(filed_rows, "TOGETHER", 1)
    assert decoded(home)["quarters"] == 1
    assert lake.read("statement_lines_2010q1").equals(before)


@pytest.mark.parametrize("table", ["filed_facts", "statement_lines", "filed_facts_2010q1", "statement_lines_2010q1"])
def test_rows_that_are_damaged_are_made_again(home, table):
    filed.fetched(home, {(CIK, ACCESSION): SHEET}, {"2010q1": data_sets.zipped(data_sets.members())})
    decoded(home)
    lake = Lake(home.tables)
    before = lake.read(table)
    [part] = (lake.folder / table).glob("*.parquet")
    part.write_bytes(b"damaged")
    assert [*mend(home)] == [f"removed what was damaged of {table}; the next synchronization makes it again"]
    decoded(home)
    assert lake.read(table).equals(before)


# --- Documents that cannot be read ------------------------------------------------------------------------------------


@pytest.mark.parametrize("files", BROKEN.values(), ids=BROKEN)
def test_a_broken_filing_costs_its_own_rows_only(home, files):
    """The other filings of its company are read. The reason is kept, and the filing is not read again. Once it was
    read, its rows stay."""
    filed.fetched(home, {(CIK, ACCESSION): files, (CIK, LATER): SHEET})
    assert decoded(home)["unread"] == 1
    assert (accessions(home), list(unread(home))) == ({LATER}, [ACCESSION])
    assert f"filing {ACCESSION} of CIK {CIK}" in unread(home)[ACCESSION]
    assert decoded(home) == {"quarters": 0, "filings_decoded": 0, "unread": 1}

    for of_accession, unread_after in ((SHEET, 0), (files, 1)):
        filed.fetched(home, {(CIK, ACCESSION): of_accession, (CIK, LATER): SHEET})
        assert decoded(home)["unread"] == unread_after
        assert [accessions(home, table) for table in ("filed_facts", "statement_lines")] == [{ACCESSION, LATER}] * 2


def test_an_error_of_the_program_costs_one_filing_and_one_of_the_machine_ends_the_run(home, monkeypatch):
    def failing(error: Exception) -> Callable[..., object]:
        def read(files: object, cik: str, accession: str) -> object:
            if accession == ACCESSION:
                raise error
            return read_package(files, cik, accession)

        return read

    read_package = statements_of_share.read_package
    filed.fetched(home, {(CIK, ACCESSION): SHEET, (CIK, LATER): SHEET})
    with monkeypatch.context() as broken:
        broken.setattr(statements_of_share, "read_package", failing(OSError("No space left on device")))
        with pytest.raises(OSError, match="No space"):
            decoded(home)
        broken.setattr(statements_of_share, "read_package", failing(ZeroDivisionError("by zero")))
        assert decoded(home)["unread"] == 1
    assert unread(home)[ACCESSION].endswith("by zero; this is an error of the service, please report it")
    assert accessions(home) == {LATER}


def test_a_document_that_is_missing_in_the_raw_zone_is_tried_again(home):
    """A filing as well as a quarter; the other filings of the company are read."""
    raw = {"2010q1": data_sets.zipped(data_sets.members())}
    both = {(CIK, ACCESSION): {"a-xbrl.zip": zipped(SHEET)}, (CIK, LATER): SHEET}
    filed.fetched(home, both, raw)
    lake, store = Lake(home.tables), RawStore(home.root)
    zips = lake.read("packages").filter(pl.col("accession") == ACCESSION)["digest"]
    for digest in (*zips, *lake.read("data_sets")["digest"]):
        store.path(digest).unlink()
    assert decoded(home) == {"quarters": 0, "filings_decoded": 2, "unread": 2}
    assert accessions(home) == {LATER}
    filed.fetched(home, both, raw)
    assert decoded(home) == {"quarters": 1, "filings_decoded": 1, "unread": 0}


def test_a_broken_quarter_costs_nothing_but_itself(home):
    """Its earlier rows stay, and it is not read again until its zip file has changed."""
    whole = data_sets.zipped(data_sets.members())
    filed.fetched(home, data_sets={"2010q1": whole, "2010q2": whole[:-40]})
    assert decoded(home) == {"quarters": 1, "filings_decoded": 0, "unread": 1}
    filed.fetched(home, data_sets={"2010q1": b"<html>", "2010q2": whole})
    assert decoded(home) == {"quarters": 1, "filings_decoded": 0, "unread": 1}
    assert list(unread(home)) == ["2010q1"]
    assert rows(home, "filed_facts_2010q1", "element") == rows(home, "filed_facts_2010q2", "element") == [("Assets",)]
    assert decoded(home) == {"quarters": 0, "filings_decoded": 0, "unread": 1}
    assert statements.update(RawStore(home.root), Lake(home.tables), all_quarters=True)["quarters"] == 1


# --- The files --------------------------------------------------------------------------------------------------------


def test_the_files_have_the_columns_that_are_declared(home):
    """Also without any filing, and with the description of each column in its field."""
    assert [*schemas.FILED_FACTS, "in_companyfacts"] == [*declared.FILED_FACTS.names]
    assert [*schemas.STATEMENT_LINES] == [*declared.STATEMENT_LINES.names]
    decoded(home)
    assert filed_files.write(Lake(home.tables), home.published) == 2
    for table in declared.FILES:
        held = pyarrow.parquet.read_schema(home.published / "statements" / f"{table.name}.parquet")
        assert held.names == list(table.names)
        assert [field.metadata[b"description"].decode() for field in held] == [c.description for c in table.columns]


def test_a_filing_whose_documents_are_read_has_no_rows_of_a_data_set(home):
    """The files are written again if a table has changed, and not otherwise."""
    sub = [data_sets.filing(adsh=ACCESSION), data_sets.filing()]
    num = [data_sets.fact(adsh=ACCESSION), data_sets.fact()]
    quarter = {"2010q1": data_sets.zipped(data_sets.members(sub=sub, num=num))}
    lake, path = Lake(home.tables), home.published / "statements" / "filed_facts.parquet"
    for filings, source in (({}, "data set"), ({(CIK, ACCESSION): SHEET}, "filing")):
        filed.fetched(home, filings, quarter)
        decoded(home)
        sources = {*written(home, "filed_facts", "accession", "source")}
        assert sources == {(ACCESSION, source), (data_sets.A, "data set")}
    assert filed_files.write(lake, home.published) == 0
    path.write_bytes(b"damaged")
    assert filed_files.write(lake, home.published) == 1
    assert {each.name for each in path.parent.iterdir()} == {"filed_facts.parquet", "statement_lines.parquet"}


@pytest.mark.parametrize("written_at", [0, 2**32], ids=["long ago", "ahead"])
def test_a_large_file_is_written_for_all_companies(home, monkeypatch, written_at):
    """Not for some of them, until it is old, or if the clock was ahead when it was written; a small one is."""

    def write(**more: bool) -> int:
        return filed_files.write(Lake(home.tables), home.published, **more)

    decoded(home)
    write(of_some=True)
    filed.fetched(home, {(CIK, ACCESSION): SHEET})
    decoded(home)
    with monkeypatch.context() as large:
        large.setattr(filed_files, "LARGE", 1)
        assert write(of_some=True) == 0
        os.utime(home.published / "statements" / "filed_facts.parquet", (written_at, written_at))
        assert (write(of_some=True), write()) == (1, 1)
    filed.fetched(home, {(CIK, ACCESSION): SHEET, (CIK, LATER): SHEET})
    decoded(home)
    assert (write(of_some=True), write(of_some=True)) == (2, 0)


def test_a_file_that_cannot_be_written_is_named(home):
    decoded(home)
    (home.published / "statements").write_text("no folder")
    with pytest.raises(filed_files.FiledFilesError, match="statements cannot be written"):
        filed_files.write(Lake(home.tables), home.published)


def test_the_step_changes_no_table_of_the_build(synchronized: Home, same_mirror: Mirror, caplog):
    """It warns of each document that cannot be read."""
    before = publish.current(synchronized.published)
    filed.fetched(synchronized, {(CIK, ACCESSION): SHEET}, {"2010q1": b"<html>"})
    outcome = run_all(Synchronization(synchronized, str(same_mirror.folder)))
    after = publish.current(synchronized.published)
    assert (after.build, after.content_hash, after.sums) == (before.build, before.content_hash, before.sums)
    assert (outcome.counts["statement_lines"], outcome.counts["filed_facts"]) == (6, 4)
    assert "1 filings or data sets cannot be read:\n2010q1: data set 2010q1: is not a whole zip file" in caplog.text
