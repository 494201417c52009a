"""`make audit`: it fails where advisories could not be looked up. A program answers in place of pip-audit."""

import json
import re
import sys
from pathlib import Path

import pytest

from deploy import audit

ROOT = Path(__file__).parents[2]
ADVISORY = {"id": "PYSEC-1", "aliases": ["CVE-1"], "fix_versions": ["2.0"]}


@pytest.fixture
def run(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    """Runs an audit of a lock file; the arguments are the service's answers about the known package and about ours."""

    def audited(known: str, ours: str) -> tuple[int, str]:
        program = tmp_path / "pip-audit"
        program.write_text(
            f"#!{sys.executable}\nimport sys\nassert '--strict' in sys.argv\n"
            f"sys.exit({ours!r} if sys.argv[-1] == 'our.lock' else {known!r})\n".replace("sys.exit", "print")
        )
        program.chmod(0o700)
        status = audit.main(str(program), ["our.lock"])
        printed = capfd.readouterr()
        return status, printed.out + printed.err

    return audited


def answer(*advisories: object) -> str:
    return json.dumps({"dependencies": [{"name": "some", "version": "1.0", "vulns": advisories}]})


def test_no_advisory_applies(run) -> None:
    assert run(answer(ADVISORY), answer()) == (audit.NONE, "no advisory applies to the packages of our.lock\n")


def test_an_advisory_is_named_with_the_version_that_fixes_it(run) -> None:
    assert run(answer(ADVISORY), answer(ADVISORY)) == (
        audit.FOUND,
        "our.lock: some 1.0: PYSEC-1, CVE-1; fixed in 2.0\n",
    )


@pytest.mark.parametrize(
    ("known", "ours", "why"),
    [
        (answer(), answer(), r"the service knows no advisory for pyyaml==5\.3"),
        (answer(ADVISORY), "", "pip-audit has printed nothing"),
        (
            answer(ADVISORY),
            json.dumps({"dependencies": [{"name": "some", "skip_reason": "not found"}]}),
            "printed nothing",
        ),
    ],
    ids=["a service without advisories", "no answer", "a package is skipped"],
)
def test_without_a_look_up_it_fails(run, known: str, ours: str, why: str) -> None:
    status, printed = run(known, ours)
    assert status == audit.NOT_LOOKED_UP
    assert re.fullmatch(rf"advisories could not be looked up: .*{why}\n", printed)


def test_every_lock_file_has_hashes_and_no_address() -> None:
    """And make installs nothing without checking them."""
    locks = [lock for folder in (".", "deploy", "tests", "tests/bench") for lock in (ROOT / folder).glob("*.lock")]
    assert {lock.name for lock in locks} >= {"requirements.lock", "supply-chain.lock", "fastapi.lock"}
    for lock in locks:
        text = lock.read_text(encoding="utf-8")
        assert re.search(r"://|index-url", text) is None, lock
        pinned = re.findall(
            r"^[\w.\[\]-]+==[^\s;]+(?: ;[^\\]+)? \\\n    --hash=sha256:[0-9a-f]{64}", text, re.MULTILINE
        )
        assert len(pinned) == len(re.findall(r"^\w", text, re.MULTILINE)) > 0, lock
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    installs = re.findall(r"-m pip install .*", makefile)
    assert len(installs) > 4
    assert all("--require-hashes" in line or "--no-deps --no-build-isolation --editable ." in line for line in installs)
    assert '"install", "--disable-pip-version-check", "--no-deps", "--require-hashes"' in (
        ROOT / "deploy" / "packages.py"
    ).read_text(encoding="utf-8")


def versions(lock: str) -> dict[str, str]:
    """The pinned packages of a lock file."""
    return dict(re.findall(r"^([\w.-]+)(?:\[.*\])?==(\S+)", (ROOT / lock).read_text(encoding="utf-8"), re.MULTILINE))


def test_packages_for_several_machines_and_for_tests_are_not_installed_by_make_setup() -> None:
    """And they leave the versions of all others as they are."""
    always, tools, scale, tests = map(
        versions, ("requirements.lock", "tests/tools.lock", "deploy/scale.lock", "tests/scale.lock")
    )
    assert tools.keys() >= {"pytest", "ruff", "mypy", "playwright"}
    assert not tools.keys() & always.keys()
    assert scale.keys() >= {"obstore", "psycopg", "psycopg-binary", "distributed"}
    assert "moto" in tests
    # what Dagster needs on Windows only, in the same versions
    assert {name for name in scale if name in always} <= {"psutil", "pywin32"}
    assert all(always.get(name, pinned) == pinned for name, pinned in scale.items())
    assert not tests.keys() & (always | tools | scale).keys()


def test_the_integration_does_not_depend_on_advisories() -> None:
    """They change without a change here."""
    assert "audit" not in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_policy_says_how_to_report_a_vulnerability() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert "Report a vulnerability" in text
    assert "@" not in text, "the repository's private reporting, nobody's address"
