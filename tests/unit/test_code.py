"""The digest of the rules: which edits of their files change it, and which do not."""

import ast
import tomllib
from pathlib import Path

import pytest

from pipelines import normalize, rules_digest
from pipelines.rules_digest import code_of, digest_of, rows_of

SOURCE = '''"""What belongs here."""

LIMIT = 0.9
"""Why it is so many."""

FLAW = Rule("scale.flaw", "A figure is wrong.", source="Regulation S-X", action="correct")


def decided(rows):  # a comment
    """What it decides."""
    return rows.filter(pl.col("value") > LIMIT, source="statement")
'''


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# a comment", "# another comment, far longer"),
        ("What belongs here.", "What does not."),
        ("Why it is so many.", "A measurement."),
        ("What it decides.", "What it really decides."),
        ("LIMIT = 0.9\n", "LIMIT  =  0.9\n\n\n"),
        ("def decided(rows):", "def decided(\n    rows,\n):"),
        ("A figure is wrong.", "A figure is a thousand times too large."),
        ("Regulation S-X", "ASC 220 and others"),
    ],
)
def test_comments_and_docstrings_do_not_count(old, new):
    assert old in SOURCE
    assert code_of(SOURCE.replace(old, new).encode()) == code_of(SOURCE.encode())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0.9", "0.8"),
        ("scale.flaw", "scale.error"),
        ("correct", "withhold"),
        (">", ">="),
        ('"value"', '"amount"'),
        ('source="statement"', 'source="note"'),
        ("rows.filter", "rows.remove"),
        ("return rows", "rows = rows; return rows"),
    ],
)
def test_code_that_may_change_a_value_counts(old, new):
    assert old in SOURCE
    assert code_of(SOURCE.replace(old, new).encode()) != code_of(SOURCE.encode())


TABLE = """
# The first source that is stated counts.
[revenue]
item = "revenue"

[[revenue.sources]]
rule = "revenue.total"
elements = ["Revenues", "OtherRevenues"]
source = "Regulation S-X"
statement = "The total."

[[revenue.sources]]
rule = "revenue.net-sales"
elements = ["SalesRevenueNet"]
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# The first source that is stated counts.\n", ""),
        ("Regulation S-X", "ASC 606"),
        ('source = "Regulation S-X"\n', ""),
        ("The total.", "The total on the face of the income statement."),
        ('elements = ["Revenues", "OtherRevenues"]', 'elements = [\n    "Revenues",\n    "OtherRevenues",\n]'),
    ],
)
def test_the_words_of_a_table_do_not_count(old, new):
    assert old in TABLE
    assert rows_of(TABLE.replace(old, new).encode()) == rows_of(TABLE.encode())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SalesRevenueNet", "SalesRevenue"),
        ('["Revenues", "OtherRevenues"]', '["OtherRevenues", "Revenues"]'),
        ("revenue.net-sales", "revenue.sales"),
        ('item = "revenue"', 'item = "revenue"\ninstant = true'),
        ('[[revenue.sources]]\nrule = "revenue.n', '[income]\n[[income.sources]]\nrule = "revenue.n'),
    ],
)
def test_data_that_may_change_a_value_count(old, new):
    """Elements, their order, ids, and what an amount is."""
    assert old in TABLE
    assert rows_of(TABLE.replace(old, new).encode()) != rows_of(TABLE.encode())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "debt").mkdir()
    (tmp_path / "debt/lines.py").write_text(SOURCE)
    (tmp_path / "pairs.csv").write_text("successor,predecessor\n1,2\n")
    (tmp_path / "sources.toml").write_text(TABLE)
    (tmp_path / "notes.md").write_text("Not read.")
    return tmp_path


def test_files_of_code_and_data_count(folder):
    before = digest_of(folder)
    (folder / "notes.md").write_text("Read by nobody.")
    (folder / "debt/lines.py").write_text(SOURCE + "# at the end\n")
    (folder / "sources.toml").write_text(TABLE.replace("The total.", "All of it."))
    assert digest_of(folder) == before

    (folder / "pairs.csv").write_text("successor,predecessor\n1,3\n")
    assert (other := digest_of(folder)) != before
    (folder / "sources.toml").write_text(TABLE.replace("Revenues", "Revenue"))
    assert digest_of(folder) not in (before, other)
    other = digest_of(folder)
    (folder / "debt/lines.py").rename(folder / "debt/more.py")
    assert digest_of(folder) not in (before, other)


def test_the_digest_is_cached_for_the_next_process(folder, monkeypatch):
    digest = digest_of(folder)
    monkeypatch.setattr(rules_digest, "COUNTED", {".py": pytest.fail, ".toml": pytest.fail, ".csv": pytest.fail})
    assert digest_of(folder) == digest


@pytest.mark.parametrize("content", ["", "no digest", "a b c", "a" * 64 + " " + "b" * 64])
def test_a_cached_digest_of_changed_files_is_computed_again(folder, content):
    digest = digest_of(folder)
    (folder / rules_digest.KEPT).write_text(content)
    assert digest_of(folder) == digest


def test_a_folder_that_cannot_be_written_has_a_digest(folder):
    (folder / "__pycache__").write_text("no folder")
    first = digest_of(folder)
    (folder / "__pycache__").unlink()
    assert digest_of(folder) == first


def test_the_tables_of_the_rules_are_installed():
    """Each is a file of its package in pyproject.toml; an installation without it could not start."""
    root = Path(normalize.__file__).parent
    project = tomllib.loads((root.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]
    tables = [path for path in root.rglob("*") if path.suffix in {*rules_digest.COUNTED} - {".py"}]

    def is_installed(path: Path) -> bool:
        package = ".".join(path.parent.relative_to(root.parents[1]).parts)
        return any(path.match(pattern) for pattern in patterns.get(package, []))

    assert {"sources.toml", "industries.toml", "balance_sheet.csv", "retired.csv"} <= {path.name for path in tables}
    assert [path for path in tables if not is_installed(path)] == []


def test_formatting_does_not_count():
    for path in Path(normalize.__file__).parent.rglob("*.py"):
        source = path.read_bytes()
        assert code_of(source) == code_of(ast.unparse(ast.parse(source)).encode()), path
