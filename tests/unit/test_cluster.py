"""The settings of a cluster: a missing, wrong or former setting is reported in one line. The size of its code."""

import ast
import sys
from pathlib import Path

import pytest

import fundamentals
import pipelines
from pipelines.shared import cluster
from pipelines.shared.cluster import ClusterError

WHOLE = {"FUNDAMENTALS_CLUSTER": "tcp://127.0.0.1:8786", "FUNDAMENTALS_STORE": "s3://bucket/home"}


@pytest.fixture
def whole(monkeypatch):
    for name, value in WHOLE.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


def test_without_a_cluster_this_machine_does_all():
    assert cluster.address() == ""


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"FUNDAMENTALS_CLUSTER": "tcp://192.0.2.1:8786"}, "beyond loopback it needs tls://"),
        ({"FUNDAMENTALS_CLUSTER": "redis://host/0"}, "is not an address like tls://host:8786"),
        ({"FUNDAMENTALS_CLUSTER": "tls://user:secret@host:8786"}, "is not an address like tls://host:8786"),
        ({"FUNDAMENTALS_CLUSTER": "tls://host:8786"}, "FUNDAMENTALS_TLS has to be a folder with ca.pem"),
        ({"FUNDAMENTALS_STORE": ""}, "needs FUNDAMENTALS_STORE, too"),
        ({"FUNDAMENTALS_BROKER": "redis://:secret@host/1"}, "set FUNDAMENTALS_CLUSTER=tls://HOST:8786"),
        ({"FUNDAMENTALS_LOST_AFTER": "60"}, "set FUNDAMENTALS_WORKER_TTL for the scheduler"),
        ({"FUNDAMENTALS_DAGSTER_URL": "postgresql+psycopg2://user:secret@host/dagster"}, "unset it"),
    ],
)
def test_wrong_and_former_settings_are_one_line(wrong, said, whole, capsys):
    for name, value in wrong.items():
        whole.setenv(name, value)
    with pytest.raises(ClusterError, match=said) as raised:
        cluster.address()
    assert "secret" not in str(raised.value)
    for command in ("scheduler", "worker")["FUNDAMENTALS_STORE" in wrong :]:  # the scheduler needs no store
        assert fundamentals.main([command]) == 1
        assert said in capsys.readouterr().err


def test_a_missing_package_is_named_with_the_command_that_installs_it(whole):
    whole.setitem(sys.modules, "dask", None)
    with pytest.raises(ClusterError, match="install it with `make scale`"):
        cluster.address()


@pytest.mark.parametrize("command", ["scheduler", "worker"])
def test_a_command_without_a_cluster_says_what_it_needs(command, capsys):
    assert fundamentals.main([command]) == 1
    assert "FUNDAMENTALS_CLUSTER is not set" in capsys.readouterr().err


def test_the_scheduler_needs_no_store(whole, monkeypatch):
    """It reads no files, so neither its address nor its credentials are on that machine."""
    whole.setenv("FUNDAMENTALS_STORE", "")
    pytest.importorskip("distributed", reason="distributed is not installed: run `make scale`")
    assert cluster.address(needs_store=False) == WHOLE["FUNDAMENTALS_CLUSTER"]
    with pytest.raises(ClusterError, match="needs FUNDAMENTALS_STORE, too"):
        cluster.address()


@pytest.mark.parametrize("number", ["0", "-3", "many", "1.5"])
def test_a_wrong_number_of_processes_is_wrong_usage(number, whole, capsys):
    assert fundamentals.main(["worker", "--processes", number]) == 2
    assert "Invalid value for '--processes'" in capsys.readouterr().err


SEVERAL_MACHINES = ("shared/cluster", "shared/cluster_members", "shared/lease", "shared/code_in_force")
"""The modules of the pipeline that only several machines need; messages about waiting are needed on one machine too."""


def test_the_code_for_several_machines_is_short_and_uses_public_names_only():
    """Only public names of Dagster and Dask, which do not change without notice, for the purpose they are made for."""
    sources = {name: (Path(pipelines.__file__).parent / f"{name}.py").read_text() for name in SEVERAL_MACHINES}
    assert sum(lines_of_code(source) for source in sources.values()) <= 390
    for name, source in sources.items():
        for node in ast.walk(ast.parse(source)):
            match node:
                case ast.Import():
                    parts = [part for each in node.names for part in each.name.split(".")]
                case ast.ImportFrom():
                    parts = [*str(node.module).split("."), *(each.name for each in node.names)]
                case ast.Attribute(value=ast.Name(id="self")):
                    continue
                case ast.Attribute():
                    parts = [node.attr]
                case _:
                    continue
            private = [part for part in parts if part.startswith("_") and not part.endswith("__")]
            assert not private, (name, ast.unparse(node))


def lines_of_code(source: str) -> int:
    """Lines without empty lines, comments and docstrings."""
    texts = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = [*ast.walk(ast.parse(source))]
    documented = [node.body[0] for node in nodes if isinstance(node, texts) and ast.get_docstring(node)]
    left = {*range(1, source.count("\n") + 1)}
    for each in documented:
        left -= {*range(each.lineno, (each.end_lineno or 0) + 1)}
    lines = source.splitlines()
    return sum(bool(line) and not line.startswith("#") for line in (lines[number - 1].strip() for number in left))
