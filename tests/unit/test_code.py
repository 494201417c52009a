"""The digests of code: which modules and data files each covers, and which edits of them change it."""

import ast
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from pipelines import code_digest, normalize
from pipelines.code_digest import FOLDERS, PROJECT, code_of, digest_of, files_of, kept_for, reached, rows_of

SOURCE = '''"""What belongs here."""

LIMIT = 0.9
"""Why it is so many."""

FLAW = Rule("scale.flaw", "A figure is wrong.", source="Regulation S-X", action="correct")


def decided(rows):  # a comment
    """What it decides."""
    return rows.filter(pl.col("value") > LIMIT, source="statement")
'''


WORDS = [
    ("# a comment", "# another comment, far longer"),
    ("What belongs here.", "What does not."),
    ("Why it is so many.", "A measurement."),
    ("What it decides.", "What it really decides."),
    ("LIMIT = 0.9\n", "LIMIT  =  0.9\n\n\n"),
    ("def decided(rows):", "def decided(\n    rows,\n):"),
    ("A figure is wrong.", "A figure is a thousand times too large."),
    ("Regulation S-X", "ASC 220 and others"),
]
"""Comments and docstrings of code do not count, nor do its form and the texts of rules."""
CODE = [
    ("0.9", "0.8"),
    ("scale.flaw", "scale.error"),
    ("correct", "withhold"),
    (">", ">="),
    ('"value"', '"amount"'),
    ('source="statement"', 'source="note"'),
    ("rows.filter", "rows.remove"),
    ("return rows", "rows = rows; return rows"),
]
"""Code that may change a value counts."""
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
WORDS_OF_TABLE = [
    ("# The first source that is stated counts.\n", ""),
    ("Regulation S-X", "ASC 606"),
    ('source = "Regulation S-X"\n', ""),
    ("The total.", "The total on the face of the income statement."),
    ('elements = ["Revenues", "OtherRevenues"]', 'elements = [\n    "Revenues",\n    "OtherRevenues",\n]'),
]
"""The words of a table do not count."""
DATA = [
    ("SalesRevenueNet", "SalesRevenue"),
    ('["Revenues", "OtherRevenues"]', '["OtherRevenues", "Revenues"]'),
    ("revenue.net-sales", "revenue.sales"),
    ('item = "revenue"', 'item = "revenue"\ninstant = true'),
    ('[[revenue.sources]]\nrule = "revenue.n', '[income]\n[[income.sources]]\nrule = "revenue.n'),
]
"""Data that may change a value count: elements, their order, ids, and the meaning of an amount."""
EDITS = [
    *((code_of, SOURCE, *edit, False) for edit in WORDS),
    *((code_of, SOURCE, *edit, True) for edit in CODE),
    *((rows_of, TABLE, *edit, False) for edit in WORDS_OF_TABLE),
    *((rows_of, TABLE, *edit, True) for edit in DATA),
]


@pytest.mark.parametrize(("digest", "text", "old", "new", "counts"), EDITS)
def test_what_may_change_a_value_counts(digest, text, old, new, counts):
    assert old in text
    assert (digest(text.replace(old, new).encode()) != digest(text.encode())) is counts


REACHED = {
    "pipelines/__init__.py": "THREADS = 1\n",
    "pipelines/rules/__init__.py": "",
    "pipelines/rules/first.py": "import numpy, pipelines.rules.debt.lines\n",
    "pipelines/rules/debt/__init__.py": "",
    "pipelines/rules/debt/lines.py": f"{SOURCE}\n\nROWS = Path(__file__).with_suffix('.toml')\n",
    "pipelines/rules/debt/lines.toml": TABLE,
    "pipelines/rules/last.py": "def later():\n    from warehouse.items import ITEMS\n",
    "warehouse/__init__.py": "",
    "warehouse/items.py": "from . import units\n\nITEMS = 'items.csv'\n",
    "warehouse/items.csv": "name\nrevenue\n",
    "warehouse/units/__init__.py": "from ..units import table as names\n",
    "warehouse/units/table.py": "",
}
"""The files of a project that its rules reach."""
OTHERS = {
    "pipelines/rules/debt/notes.md": "",
    "pipelines/rules/debt/lines.csv": "",
    "pipelines/client.py": "from pipelines.rules import first\n",
    "warehouse/contract/views.py": "MACROS = 'macros.sql'\n",
    "warehouse/contract/macros.sql": "",
}
MORE = {".py": "MORE = 1\n", ".toml": "[more]\nitem = 1\n", ".csv": "more\n", ".sql": "SELECT 1;\n", ".md": "More.\n"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in (REACHED | OTHERS).items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def digest_in(project: Path) -> str:
    return digest_of("pipelines.rules", files=files_of(project))


@pytest.mark.parametrize("name", [*REACHED, *OTHERS])
def test_what_the_rules_reach_counts_and_nothing_else(project, name):
    """Modules that they import at any distance, packages in which these are, and the data files that these name."""
    before = digest_in(project)
    with (project / name).open("a") as file:
        file.write(MORE[Path(name).suffix])
    assert (digest_in(project) != before) is (name in REACHED)


@pytest.mark.parametrize(
    ("name", "old", "new", "of_words"),
    [
        ("lines.py", "# a comment", "# another", False),
        ("lines.py", "A figure is wrong.", "A figure is far too large.", True),
        ("lines.toml", "The total.", "All of it.", True),
    ],
)
def test_words_count_only_where_they_are_published(project, name, old, new, of_words):
    before = [digest_of("pipelines.rules", files=files_of(project), with_words=each) for each in (False, True)]
    path = project / "pipelines/rules/debt" / name
    path.write_text(path.read_text().replace(old, new))
    after = [digest_of("pipelines.rules", files=files_of(project), with_words=each) for each in (False, True)]
    assert [one != other for one, other in zip(before, after, strict=True)] == [False, of_words]


def test_the_path_of_a_module_counts(project):
    before = digest_in(project)
    (project / "pipelines/rules/last.py").rename(project / "pipelines/rules/latest.py")
    assert digest_in(project) != before


def test_a_text_is_kept_as_long_as_its_package_is_the_same(project, monkeypatch):
    monkeypatch.setattr(code_digest, "PROJECT", project)
    monkeypatch.setattr(code_digest, "_files_of_this_project", lambda: files_of(project))
    assert kept_for("pipelines.rules", lambda: "first") == "first"
    assert kept_for("pipelines.rules", pytest.fail) == "first"
    with (project / "pipelines/rules/first.py").open("a") as file:
        file.write("MORE = 1\n")
    assert kept_for("pipelines.rules", lambda: "second") == "second"


def test_a_module_that_does_not_exist_has_no_digest(project):
    with pytest.raises(ValueError, match=r"no such module: pipelines\.rule$"):
        digest_of("pipelines.rules", "pipelines.rule", files=files_of(project))


OF_RULES = {"normalize", "contract"}
OF_TABLES = {*OF_RULES, "stages", "storage", "tables", "valuation", "build"}


@pytest.mark.parametrize(
    ("name", "folders"), [("pipelines.normalize.rules", OF_RULES), ("pipelines.tables.build_tables", OF_TABLES)]
)
def test_the_digests_of_rules_and_tables_cover_what_python_loads(name, folders):
    """`normalize.rules` imports all rules. Modules that fetch documents or run steps do not make tables again."""
    code = f"import sys, {name}\nfor module in list(sys.modules.values()): print(getattr(module, '__file__', None))"
    printed = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    paths = (Path(line) for line in printed.stdout.splitlines())
    loaded = {path.relative_to(PROJECT).as_posix() for path in paths if path.is_relative_to(PROJECT)}
    covered = {path for path in reached(files_of(PROJECT), name, "pipelines.normalize") if path.endswith(".py")}
    assert covered == {path for path in loaded if path.startswith(FOLDERS)}
    assert {path.split("/")[1] for path in covered if path.count("/") > 1} == folders


def test_each_data_file_belongs_to_a_module():
    files = files_of(PROJECT)
    assert files.keys() - reached(files, *FOLDERS) == set()


def test_what_is_known_of_files_is_kept_for_the_next_process(project, monkeypatch):
    before = files_of(project)
    monkeypatch.setattr(code_digest, "COUNTED", dict.fromkeys(code_digest.COUNTED, pytest.fail))
    assert files_of(project) == before


def test_files_are_parsed_again_if_what_is_kept_is_damaged_or_of_other_code(project):
    before, kept = files_of(project), project / code_digest.KEPT
    wrong = {path: {"content": file.content, "counted": "wrong"} for path, file in before.items()}
    for content in ("", "a b", "[]", json.dumps({"known_by": "other code", "files": wrong})):
        kept.write_text(content)
        assert files_of(project) == before


def test_a_project_that_cannot_be_written_has_a_digest(project):
    (project / "pipelines/__pycache__").write_text("no folder")
    before = digest_in(project)
    (project / "pipelines/__pycache__").unlink()
    assert digest_in(project) == before


def test_the_tables_of_the_rules_are_installed():
    """Each is a file of its package in pyproject.toml; an installation without it could not start."""
    root = Path(normalize.__file__).parent
    project = tomllib.loads((root.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]
    tables = [path for path in root.rglob("*") if path.suffix in {*code_digest.COUNTED} - {".py"}]

    def is_installed(path: Path) -> bool:
        package = ".".join(path.parent.relative_to(root.parents[1]).parts)
        return any(path.match(pattern) for pattern in patterns.get(package, []))

    assert {"sources.toml", "industries.toml", "balance_sheet.csv", "retired.csv"} <= {path.name for path in tables}
    assert [path for path in tables if not is_installed(path)] == []


def test_formatting_does_not_count():
    for path in Path(normalize.__file__).parent.rglob("*.py"):
        source = path.read_bytes()
        assert code_of(source) == code_of(ast.unparse(ast.parse(source)).encode()), path
