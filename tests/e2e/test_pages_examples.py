"""The example programs of the reference and the changelog work unchanged."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

import fundamentals
from serve.api.changelog import ENTRIES
from serve.api.endpoints import ENDPOINTS
from tests.conftest import PROJECT
from tests.e2e.homes import PATIENCE, query
from tests.servers import active_key
from tests.sites import Site
from warehouse.contract import vocabulary

README = (PROJECT / "README.md").read_text(encoding="utf-8")
COMMANDS = (PROJECT / "docs/commands.md").read_text(encoding="utf-8")
each_endpoint = pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.name)


@pytest.fixture(scope="module")
def key(sample_site: Site) -> str:
    """A key for all examples."""
    return active_key(sample_site.home)


def programs(site: Site, path: str, language: str) -> list[str]:
    """The programs of a page in a language, from its Markdown, except the programs for all endpoints."""
    text = re.sub("^> ?", "", httpx.get(f"{site.address}{path}").raise_for_status().text, flags=re.MULTILINE)
    of_endpoints = text.split("\n## All pages, ")[0]
    return re.findall(rf"^```{language}\n(.*?)^```", of_endpoints, re.DOTALL | re.MULTILINE)


def run(command: list[str], key: str, folder: Path) -> str:
    """The output of a program, in an environment with only the key and the PATH."""
    done = subprocess.run(
        command,
        env={"PATH": os.environ["PATH"], "API_KEY": key},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def of_endpoint(found: list[str], number: int) -> str:
    """The program of an endpoint: there is one for each, in their order."""
    assert len(found) == len(ENDPOINTS)
    return found[number]


@each_endpoint
def test_the_curl_command_gets_a_response(sample_site, key, program, tmp_path, endpoint):
    """The very response that is printed below it, but for the times."""
    program("curl", "curl")
    command = of_endpoint(programs(sample_site, "/reference.md", "sh"), ENDPOINTS.index(endpoint))
    answer = json.loads(run(["sh", "-c", command.replace("curl ", "curl --silent --fail ", 1)], key, tmp_path))
    printed = json.loads(of_endpoint(programs(sample_site, "/reference.md", "json"), ENDPOINTS.index(endpoint)))
    for each in (answer, printed):
        del each["meta"]["generated_at"]
        if endpoint.name == "getStatus":
            del each["data"]["age_seconds"], each["data"]["next_synchronization_at"]
    assert answer == printed
    assert answer["data"] or endpoint.name == "listRevisions"


def test_the_requests_of_the_readme_are_answered_as_it_says(sample_site, key, program, tmp_path):
    """Pasted together, with this service and key; the last answer has the values that the README shows."""
    program("curl", "curl")
    [lines] = [
        block for block in re.findall(r"^```bash\n(.*?)^```", README, re.DOTALL | re.MULTILINE) if "curl" in block
    ]
    [shown] = map(json.loads, re.findall(r"^```json\n(.*?)^```", README, re.DOTALL | re.MULTILINE))
    script = lines.replace("http://127.0.0.1:8000", sample_site.address).replace(
        "curl ", "curl --silent --fail -w '\\n' "
    )
    script = re.sub(r"^KEY=.*$", "KEY=$API_KEY", script, flags=re.MULTILINE)
    answers = list(map(json.loads, run(["sh", "-ec", script], key, tmp_path).splitlines()))
    assert [answer["data"] != [] for answer in answers] == [True] * 3
    [period], [said] = answers[-1]["data"], shown["data"]
    assert {**period, "values": None} == {**said, "values": None}
    assert said["values"].items() <= period["values"].items()
    assert shown["meta"].items() <= answers[-1]["meta"].items()


def test_readme_and_commands_explain_values_of_the_sample(sample_site, capsys, monkeypatch):
    """Each of its commands prints the value."""
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(sample_site.home))
    found = set(re.findall(r"\.venv/bin/fundamentals (explain [^#\n]*)", README + COMMANDS))
    assert len(found) == 2
    for command in found:
        assert fundamentals.main(command.split()) == 0
        assert "XQORC" in capsys.readouterr().out


@each_endpoint
def test_the_python_program_prints_the_data(sample_site, key, tmp_path, endpoint):
    """With the standard library only: no package of this project is on its path."""
    text = of_endpoint(programs(sample_site, "/reference.md", "python"), ENDPOINTS.index(endpoint))
    data = json.loads(run([sys.executable, "-I", "-S", "-c", text], key, tmp_path))
    assert data or endpoint.name == "listRevisions"


@each_endpoint
def test_the_javascript_program_prints_the_same(
    sample_site: Site, key: str, program: Callable[[str, str], str], tmp_path: Path, endpoint: object
) -> None:
    """As a module for Node.js."""
    node = program("node", "nodejs")
    number = ENDPOINTS.index(endpoint)
    script = tmp_path / "example.mjs"
    script.write_text(of_endpoint(programs(sample_site, "/reference.md", "js"), number), encoding="utf-8")
    python = of_endpoint(programs(sample_site, "/reference.md", "python"), number)
    printed = json.loads(run([node, str(script)], key, tmp_path))
    again = json.loads(run([sys.executable, "-I", "-S", "-c", python], key, tmp_path))
    if endpoint.name == "getStatus":
        printed["age_seconds"] = again["age_seconds"] = 0
    assert printed == again


def test_the_fingerprint_of_the_served_description_is_in_the_changelog(sample_site, tmp_path):
    """Computed by the program on the page."""
    [text] = programs(sample_site, "/changelog.md", "python")
    assert run([sys.executable, "-I", "-S", "-c", text], "", tmp_path).strip() == ENTRIES[-1].fingerprint


@pytest.mark.parametrize(
    ("sql", "known"),
    [
        ("SELECT DISTINCT reason FROM gaps", vocabulary.GAPS),
        ("SELECT DISTINCT cause FROM versions", vocabulary.CAUSES),
        ("SELECT DISTINCT method FROM versions WHERE value IS NOT NULL", vocabulary.METHODS),
        ("SELECT DISTINCT unnest(string_split(flags, ',')) FROM versions WHERE flags <> ''", vocabulary.FLAGS),
    ],
    ids=["reasons", "causes", "methods", "flags"],
)
def test_every_code_of_the_sample_is_explained(sample_site, sql, known):
    """Every code on a page is in the dictionary."""
    assert {code for (code,) in query(sample_site.home, sql)} <= set(known)


def test_reasons_of_gaps_belong_to_their_items(sample_site):
    """The dictionary names the items of each reason; the sample has the reason for no other item."""
    for item, reason in query(sample_site.home, "SELECT DISTINCT item, reason FROM gaps"):
        assert item in vocabulary.GAPS[reason].items
