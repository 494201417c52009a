"""The files for several machines: Compose, the image, nginx. Their names, commands, variables and paths exist."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from redis import AuthenticationError, Redis

from pipelines.shared import cluster
from tests.command_lines import parsed
from tests.servers import accepts, free_port, wait_until
from tests.unit.test_docs import COMMANDS, column
from warehouse.record import follower

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OWN = {name: service for name, service in SERVICES.items() if service.get("image") == "fundamentals"}
OF_OTHERS = re.compile(r"AWS_[A-Z_]+|POSTGRES_[A-Z_]+|MINIO_[A-Z_]+|MC_CONFIG_DIR|PUBLIC")
VERSION = re.compile(r"([a-z/]+):(\d+\.\d+(\.\d+)?|RELEASE\.[0-9TZ-]+)(-slim)?(@sha256:[0-9a-f]{64})?")
SECRETS = ("postgres_password", "redis_password", "store_password")
PROGRAMS = ("fundamentals", "dagster-daemon", "dagster-webserver")
WITHOUT_DIGEST = ("nginx", "redis")
"""Images with digests that nobody publishes together with the version."""

each_service = pytest.mark.parametrize("service", SERVICES.values(), ids=SERVICES)


def test_compose_reads_the_file(program: Callable[[str, str], str], tmp_path: Path) -> None:
    """Its own command, which needs no engine for that, knows all keys and refuses others; all variables are named."""
    executable = program("docker-compose", "docker-compose")
    text = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    head, _, text = text.partition("\nname: fundamentals\n")  # a key that the command of Debian 12 does not know
    needed = dict.fromkeys(re.findall(r"\$\{(\w+):\?", text), "/value")
    assert all(name in head for name in needed)

    def read(text: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "compose.yaml").write_text(text, encoding="utf-8")
        command = [executable, "--file", str(tmp_path / "compose.yaml"), "config"]
        return subprocess.run(
            command, env={"PATH": os.environ["PATH"], **needed}, capture_output=True, text=True, check=False
        )

    done = read(text)
    assert done.returncode == 0, done.stderr
    assert yaml.safe_load(done.stdout)["services"].keys() == SERVICES.keys()
    assert "mem_limt" in read(text.replace("mem_limit", "mem_limt", 1)).stderr


@each_service
def test_every_image_has_an_exact_version_and_a_digest(service: dict[str, Any]) -> None:
    if service["image"] == "fundamentals":
        [image] = re.findall(r"^FROM (\S+)$", (DEPLOY / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    else:
        image = service["image"]
    named = VERSION.fullmatch(image)
    assert named
    assert bool(named[5]) == (named[1] not in WITHOUT_DIGEST)


def entered(service: dict[str, Any], folder: Path, *more: str) -> "subprocess.CompletedProcess[str]":
    """Run the entrypoint and the command of a service here, with secrets and files for a while in a folder."""
    (secrets := folder / "secrets").mkdir(exist_ok=True)
    for name in SECRETS:
        (secrets / name).write_text(f"the-{name}\n")
    (programs := folder / "programs").mkdir(exist_ok=True)
    for name in PROGRAMS:
        (programs / name).write_text('#!/bin/sh\necho "$0" "$@"; env\n')
        (programs / name).chmod(0o755)
    words = [word.replace("$$", "$").replace("/run/secrets", str(secrets)) for word in service["entrypoint"]]
    return subprocess.run(
        [*words, *service.get("command", ()), *more],
        cwd=ROOT,
        env={"PATH": f"{programs}:{os.environ['PATH']}", "DAGSTER_HOME": str(folder / "dagster")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("service", OWN.values(), ids=OWN)
def test_the_commands_of_containers_are_those_of_the_program(service: dict[str, Any], tmp_path: Path) -> None:
    """Containers with secrets read them from files, and only then start the program, which replaces the shell."""
    command = service["command"]
    if "entrypoint" in service:
        done = entered(service, tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        began, *variables = done.stdout.splitlines()
        program, *command = shlex.split(began.removeprefix(f"{tmp_path}/programs/"))
        given = dict(variable.partition("=")[::2] for variable in variables)
        assert given["AWS_SECRET_ACCESS_KEY"] == "the-store_password"
        if "postgres_password" in service["secrets"]:
            assert given["FUNDAMENTALS_ACCOUNTS_URL"].endswith(
                "://fundamentals:the-postgres_password@postgres/fundamentals"
            )
            assert given["REDIS_URL"] == "redis://:the-redis_password@redis:6379/0"
        if program != "fundamentals":
            assert program in ("dagster-daemon", "dagster-webserver")
            assert (ROOT / command[command.index("--workspace") + 1]).exists()
            assert (tmp_path / "dagster" / "dagster.yaml").read_bytes() == (ROOT / "dagster.yaml").read_bytes()
            return
    parsed(command)


def test_redis_gets_its_password_from_a_file_and_shows_it_nobody(
    program: Callable[[str, str], str], tmp_path: Path
) -> None:
    executable, port = program("redis-server", "redis-server"), free_port()
    service = SERVICES["redis"]
    (tmp_path / "redis_password").write_text("sesame\n")
    words = [
        word.replace("$$", "$").replace("/run/secrets", str(tmp_path)).replace("/tmp/redis", f"{tmp_path}/redis")
        for word in service["entrypoint"]
    ]
    with subprocess.Popen(
        [*words, "--port", str(port), "--dir", str(tmp_path)],
        env={"PATH": f"{Path(executable).parent}:{os.environ['PATH']}"},
        stdout=subprocess.DEVNULL,
    ) as running:
        try:
            wait_until(lambda: accepts(port))
            assert b"sesame" not in Path(f"/proc/{running.pid}/cmdline").read_bytes()
            with Redis(port=port) as stranger, pytest.raises(AuthenticationError):
                stranger.ping()
            with Redis(port=port, password="sesame") as known:
                assert known.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
        finally:
            running.kill()
    assert (tmp_path / "redis.conf").stat().st_mode & 0o077 == 0


@each_service
def test_no_container_can_change_its_image_or_gain_privileges(service: dict[str, Any]) -> None:
    """Each has limits, and says whether it is well."""
    wanted = {"read_only": True, "cap_drop": ["ALL"], "security_opt": ["no-new-privileges:true"]}
    assert service.items() >= wanted.items()
    assert {*service.get("cap_add", ())} <= {"CHOWN", "NET_BIND_SERVICE", "SETGID", "SETUID"}
    assert "/tmp" in service["tmpfs"]
    assert {"mem_limit", "cpus"} <= service.keys()
    assert "healthcheck" in service or service["image"].startswith("minio/mc:"), "one that ends"


def test_secrets_are_files_that_only_those_who_need_them_see() -> None:
    text = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    assert not re.search(r"\$\{\w*PASSWORD", text)
    assert COMPOSE["secrets"] == {name: {"file": f"${{SECRETS:?}}/{name}"} for name in SECRETS}
    for name, service in SERVICES.items():
        used = {*re.findall("|".join(SECRETS), str({key: service[key] for key in service if key != "secrets"}))}
        assert used == {*service.get("secrets", ())}, name


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
        if mounted.startswith("${CERTIFICATES"):
            continue
        assert (DEPLOY / source).exists() if source.startswith("./") else source in COMPOSE["volumes"]


def test_each_container_of_the_program_has_a_home_of_its_own() -> None:
    """Two exceptions: the UI shows the record of runs in the home of the daemon, and the follower records its runs
    there.
    """
    sharing = ("webserver", "follow")
    homes = {name: service["volumes"][0] for name, service in OWN.items() if name not in sharing}
    assert len({*homes.values()}) == len(homes) == len(OWN) - 2 == 6
    assert all(OWN[name]["volumes"] == OWN["daemon"]["volumes"] for name in sharing)


def test_the_follower_is_well_while_it_gives_signs_of_life(tmp_path: Path) -> None:
    """No other process starts the daily synchronization: two of them would disturb each other."""
    kind, check = OWN["follow"]["healthcheck"]["test"]
    assert (kind, OWN["follow"]["command"]) == ("CMD-SHELL", ["follow"])
    assert "FUNDAMENTALS_SCHEDULE" not in OWN["daemon"]["environment"]

    def is_well() -> bool:
        return (
            subprocess.run(check.replace("/var/lib/fundamentals", str(tmp_path)), shell=True, check=False).returncode
            == 0
        )

    assert not is_well()
    follower.write(tmp_path, follower.Heartbeat(datetime.now(UTC)))
    assert is_well()
    os.utime(tmp_path / follower.FILE, (0, 0))
    assert not is_well()


def test_the_ports_of_the_cluster_are_not_published() -> None:
    """Anyone who reaches one could run code, so the ports need certificates, too."""
    published = {port for service in SERVICES.values() for port in service.get("ports", ())}
    assert published == {"80:80", "127.0.0.1:3000:3000"}
    for name in ("scheduler", "worker-1", "worker-2", "follow", "daemon", "webserver"):
        assert SERVICES[name]["environment"]["FUNDAMENTALS_CLUSTER"] == "tls://scheduler:8786"
        [mounted] = [each for each in SERVICES[name]["volumes"] if each.startswith("${CERTIFICATES")]
        assert mounted.endswith(f":{SERVICES[name]['environment']['FUNDAMENTALS_TLS']}:ro")
    assert f":{cluster.METRICS_PORT}/health" in str(SERVICES["scheduler"]["healthcheck"])
    assert cluster.PORTS.partition(":")[0] in str(SERVICES["worker-1"]["healthcheck"])


def test_certificates_are_made_for_each_name(tmp_path: Path) -> None:
    subprocess.run(["sh", DEPLOY / "certificates.sh", tmp_path, "scheduler", "worker"], check=True)
    for name in ("scheduler", "worker"):
        assert {path.name for path in (tmp_path / name).iterdir()} == {*cluster.FILES}
        assert {path.stat().st_mode & 0o077 for path in (tmp_path / name).iterdir()} == {0}
    keys = {(tmp_path / name / "key.pem").read_bytes() for name in ("scheduler", "worker")}
    assert len(keys) == 2


def test_the_front_in_a_container_has_the_public_address_and_logs_to_its_output() -> None:
    [_, _, script] = SERVICES["nginx"]["entrypoint"]
    text = (DEPLOY / "nginx" / "fundamentals.conf").read_text(encoding="utf-8")
    for before in re.findall(r"s\|([^|]+)\|", script):
        assert before in text, before
    assert SERVICES["nginx"]["environment"]["PUBLIC"] == "${PUBLIC:-http://localhost}"
    assert SERVICES["replica-1"]["environment"]["FUNDAMENTALS_BASE_URL"] == "${PUBLIC:-http://localhost}/v1"


def test_the_image_has_the_same_packages_without_those_of_tests() -> None:
    def pins(name: str) -> set[str]:
        text = (ROOT / name).read_text(encoding="utf-8")
        return {re.sub(r"\[.*?\]", "", pin) for pin in re.findall(r"^[\w.-]+(?:\[.*?\])?==\S+", text, re.MULTILINE)}

    image = pins("deploy/image.lock")
    assert image <= pins("requirements.lock") | pins("deploy/scale.lock")
    names = {pin.partition("==")[0] for pin in image}
    assert {"distributed", "obstore", "dagster", "starlette", "polars"} <= names
    assert names.isdisjoint({"pytest", "playwright", "mypy", "ruff", "hypothesis"})


def test_nginx_balances_the_replicas_that_there_are() -> None:
    """The rest of the file is the same as for other installations; the replicas trust nginx's network, and no other."""
    servers = re.compile(r"server ([\w.-]+):(\d+) ")
    here, there = ((DEPLOY / folder / "replicas.conf").read_text(encoding="utf-8") for folder in ("compose", "nginx"))
    replicas = {name for name in SERVICES if name.startswith("replica-")}
    assert {name for name, _ in servers.findall(here)} == replicas
    for name, port in servers.findall(here):
        assert parsed(SERVICES[name]["command"]).params["port"] == int(port)
        [network] = COMPOSE["networks"]["default"]["ipam"]["config"]
        assert SERVICES[name]["environment"]["FUNDAMENTALS_TRUSTED_PROXY"] == network["subnet"]
    [one, other] = ([servers.sub("", line) for line in text.splitlines()[1:]] for text in (here, there))
    assert one == other


def test_the_image_has_what_the_program_needs() -> None:
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    [version] = re.findall(r"^FROM python:(3\.\d+)\.\d+-slim@", text, re.MULTILINE)
    assert version in ("3.11", "3.12", "3.13", "3.14")
    copied = [word for line in re.findall(r"^COPY (.*) \S+$", text, re.MULTILINE) for word in line.split()]
    assert {"pipelines", "warehouse", "serve", "deploy/image.lock", "fundamentals.py", "dagster.yaml"} <= {*copied}
    sent = re.findall(r"^!(.*)$", (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8"), re.MULTILINE)
    assert {*copied} == {*sent}
    assert all((ROOT / path).exists() for path in copied)
    assert all("--require-hashes" in line or "--editable ." in line for line in re.findall(r"pip install.*", text))


ALONE = """
import os, sys
from pathlib import Path
import fundamentals, pipelines.dagster_app.definitions, pipelines.dagster_app.synchronize
from pipelines.storage.home import Home
from serve.app import create_app
from serve.settings import Settings

home = Home(Path(sys.argv[1]))
home.prepare()
create_app(Settings(home.root))
print(fundamentals.__file__)
"""
"""Loads the pipeline, prepares a home, and makes the service."""


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
