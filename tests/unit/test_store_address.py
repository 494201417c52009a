"""The address of a store, and the message if the package for it is missing."""

import sys

import pytest

from serve.settings import from_environment
from tests.e2e.homes import run
from warehouse.shared.store import StoreError, opened


@pytest.mark.parametrize("address", ["", "bucket", "s3://", "s3:///prefix", "https://bucket/prefix", "file:///x"])
def test_other_addresses_are_refused(address: str) -> None:
    with pytest.raises(StoreError, match="expected an address like s3://bucket/prefix"):
        opened(address)


def test_credentials_in_the_address_are_refused_and_not_repeated() -> None:
    with pytest.raises(StoreError, match="AWS_SECRET_ACCESS_KEY") as raised:
        opened("s3://key:secret@bucket/prefix")
    assert "key:secret" not in str(raised.value)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore.exceptions", None)
    with pytest.raises(StoreError, match="needs the package obstore; install it with `make scale`"):
        opened("s3://bucket/prefix")


@pytest.mark.parametrize(
    "command",
    [("sync", "--source", "sample"), ("serve", "--port", "0"), ("builds", "list")],
    ids=lambda words: words[0],
)
def test_commands_say_so_in_one_line(command: tuple[str, ...], tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore.exceptions", None)
    done = run(tmp_path, *command, FUNDAMENTALS_STORE="s3://bucket/prefix")
    assert done.returncode == 1
    assert done.stderr.endswith("FUNDAMENTALS_STORE needs the package obstore; install it with `make scale`\n")
    assert done.stderr.count("\n") == 1


def test_an_empty_variable_counts_as_not_set() -> None:
    assert from_environment(environment={"FUNDAMENTALS_STORE": ""}).store is None
    assert from_environment(environment={"FUNDAMENTALS_STORE": "s3://bucket"}).store == "s3://bucket"
