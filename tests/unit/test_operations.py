"""Files for operators: units of systemd, rules of Prometheus, and a page that explains each alarm and log line."""

import ast
import importlib
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from pipelines.dagster_app import synchronize
from pipelines.run import stopping
from pipelines.run.gates import GATES
from pipelines.shared.cluster_members import METRIC
from pipelines.tables import row_gates
from serve.access.accounts import Accounts
from serve.access.sign_ins import SignIns
from serve.metrics.families import FAMILIES, HISTOGRAM
from tests.command_lines import parsed
from tests.scale.fleet import OF_DASK
from tests.unit.test_docs import variables_listed
from warehouse.record.schedule import AT, TIME_ZONE

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.*er*"))
SERVICES = [path for path in UNITS if path.suffix == ".service"]
INSTALLED = "/opt/fundamentals/"
PROGRAMS = ("fundamentals", "dagster", "dagster-daemon", "dagster-webserver")
OF_OTHER_PROGRAMS = {"DAGSTER_HOME", "POLARS_SKIP_CPU_CHECK", "PYTHONDONTWRITEBYTECODE"}
LARGEST_EXPOSURE = 15  # of 100: what systemd-analyze calls OK
REFUSE_WRITABLE_CODE = 65  # prctl: what MemoryDenyWriteExecute= does

each_unit = pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
each_service = pytest.mark.parametrize("unit", SERVICES, ids=lambda path: path.name)


def settings(unit: Path) -> list[tuple[str, str]]:
    """The settings of a unit in their order; a name can occur several times."""
    lines = unit.read_text(encoding="utf-8").splitlines()
    return [(name, value) for name, mark, value in (line.partition("=") for line in lines if line[:1] != "#") if mark]


def commands(unit: Path) -> list[list[str]]:
    """The commands of a unit, as words."""
    return [shlex.split(value) for name, value in settings(unit) if name.startswith("ExecStart")]


# --- Units -----------------------------------------------------------------------------------------------------------


@each_service
def test_commands_and_files_of_units_exist(unit: Path) -> None:
    for program, *arguments in commands(unit):
        name = program.removeprefix(f"{INSTALLED}.venv/bin/")
        if name == "/bin/sh":
            _, name, *arguments = shlex.split(arguments[-1].replace(".venv/bin/", ""))
        assert name in (*PROGRAMS, "/usr/bin/install", "/usr/bin/find")
        if name == "fundamentals":
            parsed(arguments)
        assert all((ROOT / word).exists() for word in arguments if word.endswith(".yaml") and "/" not in word)


@each_service
def test_variables_of_units_exist(unit: Path) -> None:
    given = {
        word.partition("=")[0] for name, value in settings(unit) if name == "Environment" for word in value.split()
    }
    examples = re.findall(r"^#?([A-Z_]+)=", (DEPLOY / "systemd" / "environment").read_text(), re.MULTILINE)
    known = {*variables_listed()}
    assert given - OF_OTHER_PROGRAMS <= known
    assert set(examples) <= known
    assert len(examples) > 3


def test_all_services_are_confined_alike() -> None:
    def confinement(unit: Path) -> str:
        text = unit.read_text(encoding="utf-8").partition("# Nothing of the system")[2]
        return text.partition("\n\n[")[0].strip()

    assert len({confinement(unit) for unit in SERVICES}) == 1
    assert confinement(SERVICES[0]).count("\n") > 20


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("sync.timer", {"OnCalendar": f"*-*-* {AT:%H:%M:%S} {TIME_ZONE}"}),
        # what ends with an error is started again: a synchronization three times, later each time, or the alarm of
        # failed units would never be raised
        (
            "sync.service",
            {
                "SuccessExitStatus": f"{synchronize.SOME_FAILED} {stopping.STATUS}",
                "Restart": "on-failure",
                "StartLimitBurst": "4",
            },
        ),
        (
            "follow.service",
            {"SuccessExitStatus": str(stopping.STATUS), "Restart": "on-failure", "StartLimitBurst": None},
        ),
    ],
)
def test_times_and_exit_statuses_of_units_are_those_of_the_program(unit: str, expected: dict[str, str | None]) -> None:
    held = dict(settings(DEPLOY / "systemd" / f"fundamentals-{unit}"))
    assert {name: held.get(name) for name in expected} == expected


@each_unit
def test_systemd_accepts_the_units(unit: Path, tmp_path: Path, program: Callable[[str, str], str]) -> None:
    """The programs are not installed at their final place, so other programs replace them."""
    analyze = program("systemd-analyze", "systemd")
    for path in UNITS:
        text = path.read_text(encoding="utf-8")
        (tmp_path / path.name).write_text(
            re.sub(rf"={INSTALLED}.venv/bin/({'|'.join(PROGRAMS)})\b[\w-]*", "=/bin/true", text)
        )
    checks = [["verify", "--man=no", str(tmp_path / unit.name)]]
    if unit in SERVICES:
        checks += [["security", "--offline=true", f"--threshold={LARGEST_EXPOSURE}", str(tmp_path / unit.name)]]
    for check in checks:
        done = subprocess.run([analyze, *check], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout[-200:]


def test_systemd_accepts_the_user(program: Callable[[str, str], str]) -> None:
    user = DEPLOY / "systemd" / "fundamentals.conf"
    command = [program("systemd-sysusers", "systemd"), "--dry-run", str(user)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    users = {value for unit in SERVICES for name, value in settings(unit) if name == "User"}
    assert users == {user.read_text().splitlines()[-1].split()[1]}


def test_polars_and_duckdb_need_no_memory_that_is_writable_and_executable() -> None:
    code = (
        "import ctypes, sys\n"
        f"if ctypes.CDLL(None).prctl({REFUSE_WRITABLE_CODE}, 1, 0, 0, 0): sys.exit('not supported')\n"
        "import duckdb, polars\n"
        "print(polars.DataFrame({'a': [3, 4]})['a'].sum(), duckdb.sql('SELECT 7').fetchall())"
    )
    given = {name: "1" for name in OF_OTHER_PROGRAMS if name.startswith("POLARS")}
    done = subprocess.run([sys.executable, "-c", code], env=given, capture_output=True, text=True, check=False)
    if done.stderr == "not supported\n":
        pytest.skip("the kernel cannot refuse it (Linux 6.3 can)")
    assert (done.stdout, done.stderr) == ("7 [(7,)]\n", "")


def test_the_page_names_the_files_of_the_reverse_proxy() -> None:
    [line] = [line for line in PAGE.splitlines() if "reverse proxy" in line]
    [named] = re.findall(r"`(deploy/\w+/)`", line)
    assert {path.name for path in (ROOT / named).iterdir()} >= {"fundamentals.conf"}


# --- Commands of the page ---------------------------------------------------------------------------------------------

BLOCKS = re.findall(r"^```bash\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def test_the_commands_of_the_page_are_whole() -> None:
    assert len(BLOCKS) > 4
    done = subprocess.run(["bash", "-n"], input="\n".join(BLOCKS), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    for arguments in re.findall(r"^fds (.*?)(?:\s+#.*)?$", "\n".join(BLOCKS), re.MULTILINE):
        parsed(shlex.split(arguments))


def test_the_secret_of_the_cookies_is_replaced_as_the_page_says(tmp_path: Path) -> None:
    [block] = [block for block in BLOCKS if "secrets" in block]
    file, python = tmp_path / "accounts.sqlite", shlex.quote(sys.executable)
    before = secret_in(file)
    command = block.partition("systemctl")[0].replace("/var/lib/fundamentals/accounts.sqlite", str(file))
    subprocess.run(["sh", "-ec", command.replace("runuser -u fundamentals -- python3", python)], check=True)
    assert secret_in(file) != before


def secret_in(file: Path) -> bytes:
    with closing(Accounts(file)) as accounts:
        secret = SignIns(accounts).secret()
        assert SignIns(accounts).secret() == secret
    return secret


# --- Alarms ----------------------------------------------------------------------------------------------------------

RULES = [
    rule
    for group in yaml.safe_load((DEPLOY / "prometheus" / "rules.yml").read_text())["groups"]
    for rule in group["rules"]
]


def test_every_alarm_uses_metrics_that_exist_with_their_labels() -> None:
    known = {family.exposed: {*family.labels, "instance", "job"} for family in FAMILIES} | {METRIC: {"code"}}
    known |= {f"{family.name}_bucket": {*family.labels, "le"} for family in FAMILIES if family.type == HISTOGRAM}
    for rule in RULES:
        used = re.findall(r"\b(fundamentals_\w+)(?:\{(\w+)[=!])?", rule["expr"])
        assert used or re.search(r"(up|node_systemd_unit_state|dask_scheduler_tasks)\{", rule["expr"])
        for name, label in used:
            assert name in known, rule["alert"]
            assert not label or label in known[name], rule["alert"]


def test_the_dashboard_shows_metrics_that_exist() -> None:
    board = json.loads((DEPLOY / "grafana" / "fundamentals.json").read_text(encoding="utf-8"))
    known = {family.exposed for family in FAMILIES} | OF_DASK | {"node_systemd_unit_state"}
    known |= {f"{family.name}_bucket" for family in FAMILIES if family.type == HISTOGRAM}
    asked = " ".join(target["expr"] for panel in board["panels"] for target in panel["targets"])
    used = {*re.findall(r"\b((?:fundamentals|dask|node)_\w+)", asked)}
    assert used <= known
    assert OF_DASK | {"fundamentals_lease_seconds", "fundamentals_replica_lag_seconds"} <= used
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])


def test_every_alarm_says_what_to_do() -> None:
    sections = re.findall(r"^### (Fundamentals\w+)\n\n(.+)", PAGE, re.MULTILINE)
    assert [name for name, _ in sections] == [rule["alert"] for rule in RULES]
    assert {rule["labels"]["severity"] for rule in RULES} == {"page", "ticket"}


def test_every_check_that_holds_back_a_build_says_what_to_do() -> None:
    section = PAGE.partition("\n### FundamentalsBuildHeldBack\n")[2].partition("\n### ")[0]
    named = {
        name for row in re.findall(r"^\| (`.*?) \| ", section, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    }
    assert named == {condition.__name__ for conditions in GATES.values() for condition in conditions}


def test_every_gate_that_holds_back_a_company_is_explained() -> None:
    section = PAGE.partition("\n### FundamentalsQuarantine\n")[2].partition("\n### ")[0]
    named = re.findall(r"^\| `(\w+)` \| ", section, re.MULTILINE)
    assert named == [gate.__name__ for gate in row_gates.GATES]


# --- Log -------------------------------------------------------------------------------------------------------------

SOURCES = {
    path: (ROOT / path).read_text(encoding="utf-8")
    for path in (
        Path("fundamentals.py"),
        *(
            path.relative_to(ROOT)
            for side in ("pipelines", "serve", "warehouse")
            for path in (ROOT / side).rglob("*.py")
        ),
    )
}
FOR_DEVELOPERS = {Path("serve/cli/demo.py"), Path("pipelines/quality/__main__.py")}
LEVELS = {"info", "warning", "error", "exception"}
HOLE = "…"
LINES = [line for _, line in re.findall(r"^\| (`+) ?(.+?) ?\1 \| ", PAGE.partition("\n## Log\n")[2], re.MULTILINE)]


def written(path: Path, text: str) -> Iterator[str]:
    """The lines that a module writes to the log or to standard error, with HOLE for values that are filled in."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Call(func=ast.Attribute(value=log, attr=level), args=[message, *_]) if level in LEVELS:
                if "log" in ast.unparse(log):
                    yield text_of(message, path)
            case ast.Call(func=ast.Name(id="print"), args=[message, *_], keywords=[*given]):
                if any(each.arg == "file" for each in given):
                    yield text_of(message, path)


def text_of(message: ast.expr, path: Path) -> str:
    match message:
        case ast.Constant(value=str(text)):
            return re.sub(r"%[sd]", HOLE, text)
        case ast.JoinedStr(values=parts):
            return "".join(text_of(part, path) for part in parts)
        case ast.Attribute(value=ast.Name(), attr=name) | ast.Name(id=name):
            module = importlib.import_module(".".join(path.with_suffix("").parts))
            found = getattr(module, name, HOLE)
            return found if isinstance(found, str) and name.isupper() else HOLE
    return HOLE


def test_every_line_of_the_log_is_explained() -> None:
    writing = {path: text for path, text in SOURCES.items() if re.search(r"log\.|sys\.stderr", text)}
    lines = {line for path, text in writing.items() if path not in FOR_DEVELOPERS for line in written(path, text)}
    lines = {line for line in lines if re.search(r"\w{3}", line)}  # others are the text of an error
    assert {"Redis is back: requests are counted there", "request … failed"} <= lines
    assert lines - set(LINES) == set()


def texts(path: Path, text: str) -> Iterator[str]:
    """All texts of a module except its docstrings, with HOLE for values that are filled in."""
    tree = ast.parse(text)
    documented = [each.value for each in ast.walk(tree) if isinstance(each, ast.Expr)]
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and node not in documented):
            yield text_of(node, path)


def test_every_line_that_is_explained_is_written() -> None:
    """By code: docstrings do not count."""
    source = "\n".join(each for path, text in SOURCES.items() for each in texts(path, text))
    assert [line for line in LINES if max(line.split(HOLE), key=len).strip() not in source] == []
    assert len(LINES) > 20
