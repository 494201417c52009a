"""The settings of a cluster: what is missing, wrong or of an earlier release is one line."""

import sys

import pytest

import fundamentals
from pipelines import cluster
from pipelines.cluster import ClusterError

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
    for command in ("scheduler", "worker"):
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


@pytest.mark.parametrize("number", ["0", "-3", "many", "1.5"])
def test_a_wrong_number_of_processes_is_wrong_usage(number, whole, capsys):
    with pytest.raises(SystemExit) as raised:
        fundamentals.main(["worker", "--processes", number])
    assert raised.value.code == 2
    assert f"{number!r} is not a number of processes, expected 1 or more" in capsys.readouterr().err
