"""The example clients in Python and TypeScript, with generated types, call a real service, and wait when it says so."""

import importlib.util
import json
import os
import subprocess
from collections.abc import Callable
from types import ModuleType

import httpx
import pytest

from tests.conftest import PROJECT
from tests.contract.conftest import Served, minute_of, only_here

EXAMPLES = PROJECT / "examples"
LISTED = ["ABCX", "FJRD", "LNTR", "LNTR-B", "ODDY"]
YEARS = ["FY2024", "FY2023", "FY2022"]


@pytest.fixture(scope="module")
def python(generated_client: str) -> ModuleType:
    """examples/client.py, which imports the package that is generated as it says."""
    spec = importlib.util.spec_from_file_location("example_client", EXAMPLES / "client.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def used_up(served: Served, key: str) -> Callable[[], None]:
    """Uses up the requests of the minute of the key, in the last second; returns the function that ends this second."""
    only_here("sets the clock of the service")
    served.clock.now = minute_of(served) + 59
    with httpx.Client(base_url=served.address, headers={"X-Api-Key": key}) as client:
        last = [client.get("/companies") for _ in range(61)][-1]
    assert (last.status_code, last.headers["Retry-After"]) == (429, "1")

    def end() -> None:
        served.clock.now += 1

    return end


def test_the_python_client_has_all_pages_tables_and_errors(python: ModuleType, served: Served, key: str) -> None:
    with python.connect(key, served.address) as client:
        assert [company.symbol for company in python.companies(client, per_page=2)] == LISTED
        table = python.table(python.financials(client, "LNTR", python.ListFinancialsPeriod.ANNUAL))
        assert table["period"].to_list() == YEARS[::-1]
        assert table["revenue"].to_list()[-1] == 4000
        with pytest.raises(RuntimeError, match="not_found: No company with this symbol is covered"):
            python.financials(client, "NOPE", python.ListFinancialsPeriod.TTM)


def test_the_python_client_waits_as_long_as_a_refusal_says(
    python: ModuleType, served: Served, key: str, used_up: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(python.time, "sleep", lambda seconds: (waited.append(seconds), used_up()))
    with python.connect(key, served.address) as client:
        assert len(list(python.companies(client))) == len(LISTED)
    assert waited == [1]


@pytest.fixture(scope="module")
def typescript(
    served: Served,
    program: Callable[[str, str], str],
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[..., str]:
    """Runs a program that imports examples/client.mts, compiled as it says, with strict types."""
    node = program("node", "nodejs")
    tools = [PROJECT / "node_modules" / ".bin" / name for name in ("openapi-typescript", "tsc")]
    if not all(tool.is_file() for tool in tools):
        missing = "TypeScript is missing: run `make linters` (Node.js and npm: the Debian packages nodejs and npm)"
        (pytest.fail if request.config.getoption("--strict-skips") else pytest.skip)(missing)
    folder = tmp_path_factory.mktemp("typescript")
    (folder / "client.mts").write_bytes((EXAMPLES / "client.mts").read_bytes())
    (folder / "openapi.json").write_bytes(httpx.get(f"{served.address}/openapi.json").content)
    options = "--strict --target es2022 --module nodenext --lib es2022,dom --outDir ."
    for command in (
        [str(tools[0]), "openapi.json", "--output", "fundamentals.d.mts"],
        [str(tools[1]), *options.split(), "client.mts"],
    ):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def run(key: str, code: str, waits: Callable[[], None] | None = None) -> str:
        """The output of the program; `waits` is called when the program waits for a line of input."""
        environment = {"PATH": os.environ["PATH"], "API_KEY": key, "FUNDAMENTALS_ADDRESS": served.address}
        imported = f'import * as client from "{(folder / "client.mjs").as_uri()}";\n{code}'
        command = [node, "--input-type=module", "--eval", imported]
        with subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as done:
            assert done.stdin
            assert done.stdout
            if waits:
                assert done.stdout.readline() == "waits\n"
                waits()
            printed, _ = done.communicate("goes on\n")
        assert done.returncode == 0
        return printed

    return run


def test_the_typescript_client_has_all_pages_and_errors(typescript: Callable[..., str], key: str) -> None:
    code = """
        const listed = [];
        for await (const company of client.companies(2)) listed.push(company.symbol);
        const years = await client.years("LNTR");
        const refused = await client.years("NOPE").catch((error) => [error.status, error.body.error.code]);
        console.log(JSON.stringify({ listed, years, refused }));
    """
    found = json.loads(typescript(key, code))
    assert (found["listed"], found["refused"]) == (LISTED, [404, "not_found"])
    assert [year["period"] for year in found["years"]] == YEARS
    assert found["years"][0]["values"]["revenue"] == 4000


def test_the_typescript_client_waits_as_long_as_a_refusal_says(
    typescript: Callable[..., str], key: str, used_up: Callable[[], None]
) -> None:
    code = """
        const { setTimeout } = globalThis;
        globalThis.setTimeout = (done, time, ...more) => {
            if (time !== 1000) return setTimeout(done, time, ...more);
            console.log("waits");
            process.stdin.once("data", () => { process.stdin.pause(); done(); });
        };
        console.log((await client.years("LNTR")).length);
    """
    assert typescript(key, code, used_up) == "3\n"
