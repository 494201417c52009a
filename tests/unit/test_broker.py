"""The settings of runs on several machines: what is missing or wrong is one line; without them nothing changes."""

import sys

import pytest

import fundamentals
from pipelines import broker, home
from pipelines.broker import BrokerError
from pipelines.definitions import build_definitions
from pipelines.home import Home

WHOLE = {
    "FUNDAMENTALS_BROKER": "redis://:secret@127.0.0.1:6379/1",
    "FUNDAMENTALS_STORE": "s3://bucket/home",
    "FUNDAMENTALS_DAGSTER_URL": "postgresql+psycopg2://user:secret@127.0.0.1/dagster",
}


@pytest.fixture
def whole(monkeypatch):
    for name, value in WHOLE.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


def test_without_a_broker_one_process_does_all():
    assert broker.address() == ""
    definitions = build_definitions({})
    assert definitions.executor.name == "in_process"
    assert set(definitions.resources) == {"synchronization"}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"FUNDAMENTALS_BROKER": "amqp://user:secret@host"}, "'amqp://host', expected an address like redis://"),
        ({"FUNDAMENTALS_STORE": ""}, "needs FUNDAMENTALS_STORE, too"),
        ({"FUNDAMENTALS_STORE": "", "FUNDAMENTALS_DAGSTER_URL": ""}, "FUNDAMENTALS_STORE and FUNDAMENTALS_DAGSTER_URL"),
        (
            {"FUNDAMENTALS_DAGSTER_URL": "postgresql://user:secret@host/dagster"},
            "does not begin with postgresql",
        ),
        ({"FUNDAMENTALS_BROKER": "redis://:a/secret@host:6379/0"}, "FUNDAMENTALS_BROKER cannot be read, .* %2F"),
        (
            {"FUNDAMENTALS_DAGSTER_URL": "postgresql+psycopg2://user:a@secret:b@host/dagster"},
            "FUNDAMENTALS_DAGSTER_URL cannot be read",
        ),
    ],
)
def test_wrong_settings_are_named_without_passwords(whole, changed, said):
    for name, value in changed.items():
        whole.setenv(name, value)
    with pytest.raises(BrokerError, match=said) as raised:
        broker.address()
    assert "secret" not in str(raised.value)


def test_a_missing_package_is_named_with_the_command_that_installs_it(whole):
    whole.setitem(sys.modules, "dagster_celery", None)
    with pytest.raises(BrokerError, match="dagster_celery; install it with `make scale`"):
        broker.address()


@pytest.mark.parametrize(("setting", "seconds"), [("", broker.LOST_AFTER), ("3", 3), ("600", 600)])
def test_a_silent_worker_is_lost_after_a_while(setting, seconds, monkeypatch):
    monkeypatch.setenv("FUNDAMENTALS_LOST_AFTER", setting)
    assert broker.lost_after() == seconds
    transport = broker.configuration()["config_source"]["broker_transport_options"]
    assert transport["visibility_timeout"] == seconds
    assert 1 <= transport["unacked_restore_interval"] <= seconds / 3


@pytest.mark.parametrize("setting", ["2", "soon", "-5", "1.5"])
def test_a_wrong_time_is_an_error(setting, monkeypatch):
    monkeypatch.setenv("FUNDAMENTALS_LOST_AFTER", setting)
    with pytest.raises(BrokerError, match="expected seconds, 3 or more"):
        broker.lost_after()


def test_a_worker_without_a_broker_says_what_it_needs(capsys):
    assert fundamentals.main(["worker"]) == 1
    assert "FUNDAMENTALS_BROKER is not set" in capsys.readouterr().err


@pytest.mark.parametrize("number", ["0", "-3", "many", "1.5"])
def test_a_wrong_number_of_processes_is_wrong_usage(number, whole, capsys):
    with pytest.raises(SystemExit) as raised:
        fundamentals.main(["worker", "--processes", number])
    assert raised.value.code == 2
    assert f"{number!r} is not a number of processes, expected 1 or more" in capsys.readouterr().err


@pytest.mark.parametrize(("address", "settings"), [("", home.SETTINGS), ("redis://host/0", home.SETTINGS_APART)])
def test_the_home_has_the_settings_of_dagster_for_one_machine_or_several(address, settings, tmp_path, monkeypatch):
    monkeypatch.setenv("FUNDAMENTALS_BROKER", address)
    Home(tmp_path).prepare()
    assert (tmp_path / "dagster" / "dagster.yaml").read_text() == (home.PROJECT / settings).read_text()
