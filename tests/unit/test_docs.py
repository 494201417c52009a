"""The documents match the code: variables, commands, endpoints, tables, examples; and their commands work."""

import ast
import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines.release import RELEASE, order
from pipelines.sample import sample_filers, simulate
from pipelines.tables import dictionary
from serve.api.endpoints import ENDPOINTS
from tests import builds
from tests.command_lines import all_commands, parsed
from warehouse.contract import views
from warehouse.contract.line_items import LINE_ITEMS
from warehouse.contract.table import Column, Table

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
SOURCES = [ROOT / "fundamentals.py", *(path for side in ("pipelines", "serve") for path in (ROOT / side).rglob("*.py"))]
OF_ANOTHER_PROGRAM = {"DAGSTER_HOME", "ARROW_DEFAULT_MEMORY_POOL", "OPENBLAS_NUM_THREADS", "_RJEM_MALLOC_CONF"}

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def fenced(text: str, language: str = "") -> list[str]:
    """The fenced code blocks of a page."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def code(text: str) -> str:
    """All code of a page, one line each: fenced and indented blocks, and spans."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return "\n".join([*blocks, *re.findall(r"^    .+", prose, re.MULTILINE), *re.findall(r"`([^`\n]+)`", prose)])


def column(first_head: str, number: int = 0) -> list[str]:
    """One column of the table with this first heading in docs/commands.md."""
    table = re.search(rf"^\| {first_head} \|.*\n\|-.*\n((?:\|.*\n)+)", COMMANDS, re.MULTILINE)
    assert table, f"docs/commands.md has no table {first_head!r}"
    return [row.strip("|").split(" | ")[number].strip(" |") for row in table[1].splitlines()]


def variables_listed() -> list[str]:
    """The variables of the table; a row may name several."""
    return [name for cell in column("environment") for name in re.findall(r"`(\w+)`", cell)]


# --- Variables and commands -----------------------------------------------------------------------------------------


def variables_read(tree: ast.AST) -> Iterator[str]:
    """Names that the code looks up in a variable called `environ` or `environment`."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=mapping), args=[ast.Constant(value=str(name)), *_]):
                pass
            case ast.Subscript(value=mapping, slice=ast.Constant(value=str(name))):
                pass
            case ast.Call(func=ast.Name(id="whole_number"), args=[ast.Constant(value=str(name)), *_]):
                yield name
                continue
            case _:
                continue
        called = getattr(mapping, "attr", getattr(mapping, "id", ""))
        if called in ("environ", "environment"):
            yield name


def test_the_docs_list_the_variables_that_the_code_reads() -> None:
    texts = [path.read_text(encoding="utf-8") for path in SOURCES]
    texts = [text for text in texts if "environ" in text or "whole_number(" in text]  # parsing takes long
    read = {name for text in texts for name in variables_read(ast.parse(text))}
    assert set(variables_listed()) == read - OF_ANOTHER_PROGRAM
    assert "FUNDAMENTALS_HOME" in read


MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))


@each_page
def test_make_targets_in_the_pages_exist(page: Path) -> None:
    said = code(page.read_text(encoding="utf-8"))
    assert set(re.findall(r"\bmake ([a-z-]+)", said)) <= TARGETS
    given = {name for line in re.findall(r"\bmake .*", said) for name in re.findall(r"\b([A-Z_]+)=", line)}
    known = {*re.findall(r"^([A-Z_]+) \?=", MAKEFILE, re.MULTILINE), *variables_listed()}
    assert given <= known


def test_make_test_runs_every_folder_of_tests_once() -> None:
    """pytest's settings must name every folder of tests, including subfolders, because the Makefile names no folder."""
    options = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
    [command] = re.findall(r"-m pytest (?:.*\\\n)*.*$", MAKEFILE, re.MULTILINE)
    assert "tests" not in command
    assert len(options["testpaths"]) == len({*options["testpaths"]})
    folders = {"/".join(path.relative_to(ROOT).parts[:2]) for path in ROOT.glob("tests/**/test_*.py")}
    assert folders - {*options["testpaths"]} == {"tests/e2e", "tests/scale"}
    assert {"test-whole", "test-scale"} <= TARGETS  # which run these


def test_make_quick_runs_files_that_there_are() -> None:
    printed = subprocess.run(
        ["make", "--dry-run", "quick"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    named = re.findall(r"tests/\S+", printed)
    assert len(named) > 30
    assert [path for path in named if not (ROOT / path).is_file()] == []


def test_the_docs_name_every_target_of_make() -> None:
    assert TARGETS - set(code(COMMANDS).split()) == set()


def test_the_docs_show_every_command_as_it_is() -> None:
    lines = re.findall(r"^\.venv/bin/fundamentals (.*)$", "\n".join(fenced(COMMANDS, "bash")), re.MULTILINE)
    shown = [shlex.split(line, comments=True) for line in lines]
    for arguments in shown:
        parsed(arguments)
    commands = {*all_commands()}
    assert {command for command in commands for words in shown if tuple(words[: len(command)]) == command} == commands


@each_page
def test_commands_in_prose_exist(page: Path) -> None:
    commands = {command[0] for command in all_commands()}
    assert set(re.findall(r"\bfundamentals ([a-z][a-z-]*)", code(page.read_text(encoding="utf-8")))) <= commands


# --- Endpoints and examples ------------------------------------------------------------------------------------------


def test_the_documentation_lists_the_first_endpoints_and_their_parameters() -> None:
    """The page /reference, which is made from ENDPOINTS, has all."""
    paths = [path.strip("`") for path in column("path below `/v1`")]
    assert paths == [endpoint.path for endpoint in ENDPOINTS][: len(paths)]
    for text, endpoint in zip(column("path below `/v1`", 2), ENDPOINTS, strict=False):
        named = re.findall(r"`(\w+)`", re.sub(r"\(.*?\)", "", text))
        assert named == [parameter.name for parameter in endpoint.parameters]


def test_the_response_in_the_readme_is_the_truth_of_the_sample() -> None:
    [answer] = [json.loads(block) for block in fenced(README, "json")]
    [shown] = answer["data"]
    [filer] = [filer for filer in sample_filers() if "XQORC" in filer.symbols]
    years = [row for row in simulate(filer).truth() if row.period_kind == "annual"]
    newest = max(row.period_end for row in years)
    true = {row.item: row for row in years if row.period_end == newest}
    assert (shown["period_end"], shown["period"]) == (str(newest), f"FY{newest.year}")
    assert shown["values"] == {
        item: pytest.approx(true[item].value, abs=true[item].tolerance or 0) for item in shown["values"]
    }


def test_the_analysts_code_runs_unchanged(tmp_path: Path) -> None:
    """In a folder that contains the home at the same path as the project does."""
    builds.small(tmp_path / ".data" / "sample" / "published")
    [lines] = [block for block in fenced(README, "bash") if "duckdb" in block]
    lines = lines.replace(".venv/bin/python", shlex.quote(sys.executable))
    ran = subprocess.run(["sh", "-ec", lines], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert re.search(r"LNTR .* FY2024 .* 4000\.0", ran.stdout)


# --- The data dictionary ----------------------------------------------------------------------------------------


def test_the_data_dictionary_is_generated_from_the_schema() -> None:
    held = dictionary.PAGE.read_text(encoding="utf-8")
    assert held == dictionary.page(), "stale: run python -m pipelines.tables.dictionary"


def test_the_data_dictionary_has_every_table_column_and_item() -> None:
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## )", dictionary.page(), re.DOTALL | re.MULTILINE))
    for table in views.PUBLISHED:
        assert re.findall(r"^\| `(\w+)`", sections[table.name], re.MULTILINE) == list(table.names)
        assert table.description in sections[table.name]
    for item in LINE_ITEMS:
        assert f"| `{item.name}` | {item.unit} | {item.meaning} |" in dictionary.page()
    assert "| 1 | `us-gaap:NetIncomeLossAvailableToCommonStockholdersBasic` | all |" in dictionary.page()


def test_the_data_dictionary_is_up_to_date(tmp_path: Path) -> None:
    dictionary.main(tmp_path)
    assert (tmp_path / "data-dictionary.md").read_text(encoding="utf-8") == dictionary.page()
    assert (tmp_path / "rules.md").read_text(encoding="utf-8") == dictionary.rules()


def test_bars_in_cells_are_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table("a", "b", ("c",), (Column("c", "DOUBLE", "this | that", "1|2"),))
    monkeypatch.setattr(views, "PUBLISHED", (table,))
    assert "| `c` | DOUBLE | 1\\|2 | yes | this \\| that |\n" in dictionary.page()


# --- Form -------------------------------------------------------------------------------------------------------


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@each_page
def test_links_lead_to_existing_pages_and_anchors(page: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    for link in (link for link in links if "://" not in link):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@each_page
def test_pages_mention_nothing_of_this_machine(page: Path) -> None:
    """No path of a machine, no package index host, no ticket."""
    foreign = r"/(?:work|tmp|home|root|Users)/|\.\./|/simple\b|\bissue #?\d|session|\bTODO\b"
    assert re.findall(foreign, page.read_text(encoding="utf-8"), re.IGNORECASE) == []


def test_the_readme_is_short_and_has_the_required_statements() -> None:
    assert len(README.splitlines()) <= 120
    assert "The data is provided as is and is not investment advice." in README
    assert "    make run " in README[:900]
    assert "    make test " in README[:900]


def test_program_package_changelog_and_docs_name_the_same_release() -> None:
    """The newest section of the changelog has the release; the upgrade checks out its tag, and backs up before."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    sections = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert project["version"] == sections[0] == RELEASE
    assert [*sections] == sorted(sections, key=order, reverse=True)
    upgrade = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8").partition("\n## Upgrade\n")[2]
    before, checkout, _ = upgrade.partition(f"git checkout v{RELEASE} ")
    assert checkout
    assert "fds backup" in before
    assert (ROOT / project["readme"]).exists()
