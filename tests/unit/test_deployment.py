"""The files for several machines: Compose, the image, nginx. Their names, commands, variables and paths exist."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import fundamentals
from tests.unit.test_docs import COMMANDS, column

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OWN = {name: service for name, service in SERVICES.items() if service.get("image") == "fundamentals"}
OF_OTHERS = re.compile(r"AWS_[A-Z_]+|POSTGRES_[A-Z]+|MINIO_[A-Z_]+|MC_HOST_own")
VERSION = re.compile(r"[a-z/]+:(\d+\.\d+(\.\d+)?|RELEASE\.[0-9TZ-]+)")

each_service = pytest.mark.parametrize("service", SERVICES.values(), ids=SERVICES)


@each_service
def test_every_image_has_an_exact_version(service: dict[str, Any]) -> None:
    assert service["image"] == "fundamentals" or VERSION.fullmatch(service["image"])


@pytest.mark.parametrize("service", OWN.values(), ids=OWN)
def test_the_commands_of_containers_are_those_of_the_program(service: dict[str, Any]) -> None:
    if "entrypoint" in service:
        program, *words = service["command"]
        assert program in ("dagster-daemon", "dagster-webserver")
        assert (ROOT / words[words.index("--workspace") + 1]).exists()
        [copied] = re.findall(r"install -D -m 0600 (\S+)", service["entrypoint"][2])
        assert (ROOT / copied).exists()
    else:
        fundamentals._parser().parse_args(service["command"])


@each_service
def test_the_variables_of_containers_exist(service: dict[str, Any]) -> None:
    known = set(re.findall(r"`([A-Z_]+)`", " ".join(column("environment"))))
    given = {name for name in service.get("environment", {}) if not OF_OTHERS.fullmatch(name)}
    assert given <= known
    assert "FUNDAMENTALS_STORE" in known


@each_service
def test_what_containers_mount_exists(service: dict[str, Any]) -> None:
    for mounted in service.get("volumes", ()):
        source = mounted.partition(":")[0]
        assert (DEPLOY / source).exists() if source.startswith("./") else source in COMPOSE["volumes"]


def test_each_container_of_the_program_has_a_home_of_its_own() -> None:
    homes = [mounted for service in OWN.values() for mounted in service["volumes"]]
    assert len({*homes}) == len(homes) == len(OWN) == 6


def test_nginx_balances_the_replicas_that_there_are() -> None:
    """The rest of the file is that of other installations; the replicas believe nginx's network, and no other."""
    servers = re.compile(r"server ([\w.-]+):(\d+) ")
    here, there = ((DEPLOY / folder / "replicas.conf").read_text(encoding="utf-8") for folder in ("compose", "nginx"))
    replicas = {name for name in SERVICES if name.startswith("replica-")}
    assert {name for name, _ in servers.findall(here)} == replicas
    for name, port in servers.findall(here):
        assert fundamentals._parser().parse_args(SERVICES[name]["command"]).port == int(port)
        [network] = COMPOSE["networks"]["default"]["ipam"]["config"]
        assert SERVICES[name]["environment"]["FUNDAMENTALS_TRUSTED_PROXY"] == network["subnet"]
    [one, other] = ([servers.sub("", line) for line in text.splitlines()[1:]] for text in (here, there))
    assert one == other


def test_the_image_has_what_the_program_needs() -> None:
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    [version] = re.findall(r"^FROM python:(3\.\d+)\.\d+-slim$", text, re.MULTILINE)
    assert version in ("3.11", "3.12", "3.13", "3.14")
    copied = [word for line in re.findall(r"^COPY (.*) \S+$", text, re.MULTILINE) for word in line.split()]
    assert {"pipelines", "warehouse", "serve", "deploy/dagster", "deploy/scale.lock", "fundamentals.py"} <= {*copied}
    sent = re.findall(r"^!(.*)$", (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8"), re.MULTILINE)
    assert {*copied} == {*sent}
    assert all((ROOT / path).exists() for path in copied)
    assert all("--require-hashes" in line or "--editable ." in line for line in re.findall(r"pip install.*", text))


ALONE = """
import os, sys
from pathlib import Path
import fundamentals, pipelines.definitions, pipelines.synchronize
from pipelines.home import Home
from serve.app import create_app
from serve.settings import Settings

home = Home(Path(sys.argv[1]))
home.prepare()
create_app(Settings(home.root))
os.environ["FUNDAMENTALS_BROKER"] = "redis://redis:6379/1"
home.prepare()
print(fundamentals.__file__)
"""
"""Loads the pipeline, prepares a home for one machine and for several, and makes the service."""


def test_the_program_runs_with_the_files_of_the_image_alone(tmp_path: Path) -> None:
    for line in re.findall(r"^COPY (.*)$", (DEPLOY / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE):
        *sources, to = line.split()
        for source in sources:
            place = tmp_path / (Path(source).name if to == "./" else to)
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, place, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / source, place)
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(tmp_path / "home")],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, f"{tmp_path / 'fundamentals.py'}\n"), done.stderr


def test_the_front_and_the_service_have_the_same_names() -> None:
    text = (DEPLOY / "nginx" / "fundamentals.conf").read_text(encoding="utf-8")
    assert "/v1/status" in text
    assert "X-Forwarded-For $remote_addr" in text
    codes = set(re.findall(r'"code":"(\w+)"', text))
    assert codes == {"invalid_parameter", "not_found", "method_not_allowed", "rate_limited", "server_error"}
    assert "`FUNDAMENTALS_TRUSTED_PROXY`" in COMMANDS
