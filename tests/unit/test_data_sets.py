"""The reader of the Financial Statement Data Sets: facts that it reads and leaves out, and zip files that it refuses.

Belongs here: small zip files with one trap each. Does not: real quarters (golden/test_data_sets_of_real_quarters).
"""

import struct
import zipfile
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

import polars as pl
import pytest

from pipelines.edgar.decode import zipped_tables
from pipelines.edgar.decode.data_sets import FACTS, FILINGS, LINES, DataSet, read_data_set
from pipelines.edgar.errors import DocumentError
from tests.data_sets import FACT, FILING, LINE, NUM, A, B, fact, filing, line, members, zipped


def read(*ciks: str, **rows: list[list[str]]) -> DataSet:
    return read_data_set(zipped(members(**rows)), "2010q1", ciks or None)


def test_the_filings_facts_and_lines_of_a_quarter(tmp_path):
    path = tmp_path / "2010q1.zip"
    path.write_bytes(zipped(members()))

    data = read_data_set(path, "2010q1")

    assert (data.filings.schema, data.facts.schema, data.lines.schema) == (FILINGS, FACTS, LINES)
    assert data.facts.rows() == [
        (A, "0000000101", "Assets", False, "us-gaap", "USD", date(2009, 12, 31), 0, None, None, 5.0)
    ]
    assert data.lines.rows() == [(A, "0000000101", "BS", 2, 1, "Assets", False, "us-gaap", "Total assets", False, "H")]
    assert not data.ignored


def test_a_quarter_may_have_headings_only():
    """2009q1 has no filing."""
    data = read(sub=[], tag=[], num=[], pre=[])
    assert (data.filings.schema, data.facts.schema, data.lines.schema) == (FILINGS, FACTS, LINES)
    assert data.filings.height == data.facts.height == data.lines.height == 0


def test_filings_of_other_companies_are_left_out():
    both = {"sub": [FILING, filing(adsh=B, cik="102")], "num": [FACT, fact(adsh=B)], "pre": [LINE, line(adsh=B)]}
    for data in (read("0000000102", **both), read(**both | {"sub": [filing(adsh=B, cik="102")]})):
        for frame in (data.filings, data.facts, data.lines):
            assert frame["accession"].to_list() == [B]
    assert read(**both).facts["cik"].to_list() == ["0000000101", "0000000102"]


def test_acceptance_is_converted_from_new_york_to_utc():
    times = {
        "2010-02-26 17:26:00.0": datetime(2010, 2, 26, 22, 26, tzinfo=UTC),
        "2010-07-01 06:02:00": datetime(2010, 7, 1, 10, 2, tzinfo=UTC),
        "2010-02-30 06:02:00.0": None,
        "": None,
    }
    data = read(sub=[filing(adsh=f"{A[:-1]}{n}", accepted=text) for n, text in enumerate(times)])
    assert data.filings["accepted_at"].to_list() == list(times.values())


def test_co_registrants_have_ten_digits():
    assert read(sub=[filing(aciks="78100 1039101")]).filings["co_registrants"].to_list() == [
        ["0000078100", "0001039101"]
    ]


def test_elements_have_their_taxonomy_and_unit():
    """The tables name IFRS `ifrs`, and have the currency as the unit of amounts per share."""
    stated = {
        ("EarningsPerShareBasic", "us-gaap/2009", "USD"): (False, "us-gaap", "USD/shares"),
        ("EarningsPerShareBasic", "us-gaap/2009", "pure"): (False, "us-gaap", "pure"),
        ("EarningsPerShareBasic", "us-gaap/2024", "USD"): (False, "us-gaap", "USD"),  # not in this tag.txt
        ("Equity", "ifrs/2021", "EUR"): (False, "ifrs-full", "EUR"),
        ("Price", A, "USD"): (True, None, "USD/shares"),
        ("Price", B, "USD"): (True, None, "USD"),
    }
    rows = [fact(tag=tag, version=version, uom=unit) for tag, version, unit in stated]
    assert read(num=rows).facts.select("own", "taxonomy", "unit").rows() == list(stated.values())
    assert read(pre=[line(tag="Price", version=A)]).lines.select("own", "taxonomy").rows() == [(True, None)]


def test_a_quote_is_data():
    label, member = 'Cash, "restricted', 'ClassOfStock="A;'
    data = read(num=[fact(segments=member, footnote='"'), fact(value="6")], pre=[line(plabel=label), line(line="2")])
    assert data.facts.select("segments", "value").rows() == [(member, 5.0), (None, 6.0)]
    assert data.lines["label"].to_list() == [label, "Total assets"]


def test_the_layout_before_segments_has_facts_without_dimensions():
    old = ["adsh", "tag", "version", "coreg", "ddate", "qtrs", "uom", "value", "footnote"]
    rows = [old, [dict(zip(NUM, fact(coreg="Parent"), strict=True))[heading] for heading in old]]
    tables = dict(members()) | {"num.txt": "".join("\t".join(row) + "\n" for row in rows).encode()}
    facts = read_data_set(zipped(list(tables.items())), "2010q1").facts
    assert facts.select("segments", "coreg", "value").rows() == [(None, "Parent", 5.0)]


@pytest.mark.parametrize(
    ("column", "texts", "reason"),
    [
        ("value", ["", "n/a", "1e400", "-1e31", "nan", "inf"], "value"),
        ("ddate", ["", "20100231", "2010033", " 2010033", "00000101", "22000101"], "ddate"),
        ("qtrs", ["", "x", "70000"], "qtrs"),
        ("uom", [""], "unit"),
        ("tag", [""], "element"),
        ("version", [""], "own"),
    ],
)
def test_facts_with_an_invalid_value_are_left_out_and_counted(column, texts, reason):
    data = read(num=[*(fact(**{column: text}) for text in texts), FACT])
    assert data.facts.rows() == read().facts.rows()
    assert data.ignored == {f"num.txt: {reason}": len(texts)}


def test_filings_and_lines_with_an_invalid_value_are_left_out_and_counted():
    changes = ({"adsh": "1"}, {"cik": "x"}, {"cik": "12345678901"}, {"filed": "20100231"}, {"form": ""})
    data = read(sub=[*(filing(**change) for change in changes), FILING], pre=[line(line="x"), line(report=""), LINE])
    assert (data.filings.rows(), data.lines.rows()) == (read().filings.rows(), read().lines.rows())
    of_filings = {"sub.txt: accession": 1, "sub.txt: cik": 2, "sub.txt: form": 1, "sub.txt: filed": 1}
    assert data.ignored == {**of_filings, "pre.txt: report": 1, "pre.txt: line": 1}


def test_equal_rows_are_one_and_different_values_are_all_kept():
    numbers = [fact(value=value, footnote=note) for note in ("", "again") for value in ("5", "6")]
    data = read(sub=[FILING, FILING], num=[*numbers, fact(value="7")], pre=[LINE, LINE])
    assert sorted(data.facts["value"]) == [5.0, 6.0, 7.0]
    assert data.filings.height == data.lines.height == 1


def test_lines_are_those_of_three_statements_in_their_order_without_parentheticals():
    places = [("BS", "3", "10", "0"), ("BS", "3", "9", "0"), ("BS", "3", "2", "1"), ("EQ", "7", "1", "0")]
    places += [("IS", "2", "4", "0"), ("CF", "5", "1", "0"), ("CI", "4", "1", "0")]
    rows = [line(stmt=kind, report=report, line=at, inpth=brackets) for kind, report, at, brackets in places]
    lines = read(pre=[*rows, line(stmt="IS", report="2", line="5", negating="1")]).lines
    placed = [("IS", 2, 4, False), ("IS", 2, 5, True), ("BS", 3, 9, False), ("BS", 3, 10, False), ("CF", 5, 1, False)]
    assert lines.select("statement", "report", "line", "negating").rows() == placed


def test_rows_are_whole_wherever_a_block_ends(monkeypatch):
    rows = {
        "num": [fact(value=str(n), tag=f"Element{n * 7919 % 1000}") for n in range(200)],
        "pre": [line(line=str(n), plabel="ü" * (n % 50)) for n in range(200)],
    }
    whole = read(**rows)
    monkeypatch.setattr(zipped_tables, "BLOCK", 501)
    split = read(**rows)
    assert split.facts.rows() == whole.facts.rows()
    assert split.lines.rows() == whole.lines.rows()
    assert len(split.facts) == len(split.lines) == 200


def test_the_last_line_may_lack_its_end(monkeypatch):
    tables = [(name, text.rstrip(b"\n")) for name, text in members()]
    for size in (120, 130, 140, 4096):  # the last line begins and ends in different blocks, or in one
        monkeypatch.setattr(zipped_tables, "BLOCK", size)
        data = read_data_set(zipped(tables), "2010q1")
        assert (len(data.filings), len(data.facts), len(data.lines)) == (1, 1, 1)


def changed(name: str, change: Callable[[bytes], bytes]) -> bytes:
    return zipped([(member, change(text) if member == name else text) for member, text in members()])


def stating(size: int) -> bytes:
    """A directory that states another size of `num.txt`."""
    made = bytearray(zipped(members()))
    at = made.rindex(b"num.txt") - 46  # of the entry in the directory
    struct.pack_into("<L", made, at + 24, size)
    return bytes(made)


def flagged(raw: bytes) -> bytes:
    """The same with a directory that calls `num.txt` encrypted."""
    made = bytearray(raw)
    made[made.rindex(b"num.txt") - 46 + 8] |= 1
    return bytes(made)


def with_locator(raw: bytes) -> bytes:
    """The same with a mark that its sizes are elsewhere, in 64 bits."""
    end = raw.rindex(b"PK\5\6")
    return raw[:end] + b"PK\6\7".ljust(20, b"\0") + raw[end:]


def damaged(raw: bytes) -> bytes:
    """The same with another byte in the text of `num.txt`, which is stored."""
    at = raw.index(b"5.0000")
    return raw[:at] + b"6" + raw[at + 1 :]


NUM_SIZE = len(dict(members())["num.txt"])
REFUSED = {
    "nothing": (b"", "is not a whole zip file: its end is missing, and it begins with b''"),
    "a page": (b"<!DOCTYPE html><html>" * 100, "its end is missing, and it begins with b'<!DOCTYPE html>"),
    "a cut zip": (zipped(members())[:-30], "its end is missing"),
    "a zip cut at its beginning": (zipped(members())[200:], "sub.txt: cannot be read"),
    "a damaged text": (damaged(zipped(members(), zipfile.ZIP_STORED)), "num.txt: cannot be read: Bad CRC-32"),
    "an encrypted table": (flagged(zipped(members())), "num.txt: cannot be read: .* encrypted"),
    "another method": (zipped(members(), zipfile.ZIP_BZIP2), "sub.txt: is packed with method 12"),
    "a size that is too small": (stating(NUM_SIZE - 1), "num.txt: cannot be read: Bad CRC-32"),
    "a size that is too large": (stating(NUM_SIZE + 1), f"num.txt: has {NUM_SIZE} bytes, but the directory states"),
    "a bomb": (changed("num.txt", lambda text: text + b"\n" * 1_000_000), "num.txt: has 1,000,.* for one"),
    "a missing table": (zipped([each for each in members() if each[0] != "tag.txt"]), "tag.txt: is missing"),
    "tables in a folder": (zipped([(f"../{name}", text) for name, text in members()]), "sub.txt: is missing"),
    "a table twice": (zipped([*members(), members()[2]]), "has several members named 'num.txt'"),
    "64-bit sizes": (with_locator(zipped(members())), "has 64-bit sizes"),
    "many members": (
        zipped([(f"{n:0999}", b"") for n in range(70)]),
        "has a directory of 73,150 bytes, expected at most 65,536",
    ),
    "an empty table": (changed("pre.txt", lambda text: b""), "pre.txt: lacks the column 'adsh'"),
    "a missing column": (changed("num.txt", lambda text: text.replace(b"uom", b"unit")), "num.txt: lacks .* 'uom'"),
    "a column twice": (changed("num.txt", lambda text: text.replace(b"footnote", b"value")), "columns of one name"),
    "a short row": (changed("num.txt", lambda text: text + b"a\tb\n"), "num.txt, line 3: has 2 fields, expected 10"),
    "a long row": (changed("num.txt", lambda text: text + b"\t" * 11), "num.txt, line 3: has 12 fields, expected 10"),
    "a row that was broken in two": (
        changed("num.txt", lambda text: text + b"\t" * 7 + b"\n" + b"\t" * 11),
        "num.txt, line 3: has 8 fields, expected 10",
    ),
    "an empty row": (changed("pre.txt", lambda text: text + b"\n"), "pre.txt, line 3: has 1 fields, expected 10"),
    "another encoding": (
        changed("pre.txt", lambda text: text + text.splitlines(True)[1].replace(b"Total", b"Soci\xe9t\xe9")),
        "pre.txt, line 3: is not UTF-8",
    ),
    "UTF-16": (changed("num.txt", lambda text: text.decode().encode("utf-16")), "num.txt: has a NUL byte"),
    "a NUL byte": (changed("num.txt", lambda text: text.replace(b"Assets", b"As\0ets")), "num.txt: has a NUL byte"),
    "a filing twice": (zipped(members(sub=[FILING, filing(form="8-K")])), f"sub.txt: has several rows of filing {A}"),
}


@pytest.mark.parametrize(("raw", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_a_malformed_zip_file_is_an_error_of_its_quarter(raw, reason):
    with pytest.raises(DocumentError, match=reason) as refused:
        read_data_set(raw, "2010q1")
    assert str(refused.value).startswith("data set 2010q1")
    assert "\n" not in str(refused.value)


def test_a_file_that_is_missing_is_an_error_of_its_quarter(tmp_path):
    with pytest.raises(DocumentError, match="data set 2010q1: cannot be read"):
        read_data_set(Path(tmp_path / "none.zip"), "2010q1")


@pytest.mark.parametrize(
    ("limit", "value", "reason"),
    [
        ("MOST_ROWS", 50, "num.txt: has more than 50 rows"),
        ("LARGEST_TABLE", 3000, "num.txt: has .* expected at most 3,000 and"),
        ("BLOCK", 300, "pre.txt: has a line of more than 300 bytes"),
    ],
)
def test_a_table_has_a_largest_size(monkeypatch, limit, value, reason):
    raw = zipped(members(num=[fact(value=str(n)) for n in range(100)], pre=[line(plabel="x" * 1000)]))
    assert read_data_set(raw, "2010q1").facts.height == 100
    monkeypatch.setattr(zipped_tables, limit, value)
    with pytest.raises(DocumentError, match=reason):
        read_data_set(raw, "2010q1")


def test_a_bomb_is_refused_before_it_is_inflated(monkeypatch):
    inflated = []
    opened = zipfile.ZipFile.open
    monkeypatch.setattr(
        zipfile.ZipFile, "open", lambda self, name: inflated.append(name.filename) or opened(self, name)
    )
    with pytest.raises(DocumentError):
        read_data_set(REFUSED["a bomb"][0], "2010q1")
    assert inflated == ["sub.txt", "tag.txt"]


def test_names_of_a_quarter_join_those_of_others():
    """Each reading has names of its own; frames of several are one type."""
    facts = pl.concat([read().facts, read(sub=[filing(adsh=B)], num=[fact(adsh=B, tag="Cash")]).facts])
    assert facts.join(read().filings, on="accession")["element"].to_list() == ["Assets"]
