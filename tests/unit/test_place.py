"""Where the service of a home listens: recorded while it runs, as an address that a browser can open."""

import socket

import pytest

from serve.cli.place import announced
from warehouse.record.service_place import NAME, of_service, pages_of


@pytest.mark.parametrize(("host", "asked"), [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1")])
def test_the_place_is_told_while_the_service_runs(tmp_path, host, asked):
    """A killed service leaves the file; nothing answers there any more."""
    with socket.create_server((host, 0)) as listening:
        port = listening.getsockname()[1]
        with announced(tmp_path, host, port):
            assert of_service(tmp_path) == (asked, port)
            left = (tmp_path / NAME).read_text()
        assert of_service(tmp_path) is None
        assert not (tmp_path / NAME).exists()
    (tmp_path / NAME).write_text(left)
    assert of_service(tmp_path) is None


def test_links_lead_to_the_public_address_else_to_the_service_that_runs(tmp_path, monkeypatch):
    monkeypatch.delenv("FUNDAMENTALS_BASE_URL", raising=False)
    assert pages_of(tmp_path) == "http://127.0.0.1:8000"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        with announced(tmp_path, "127.0.0.1", port):
            assert pages_of(tmp_path) == f"http://127.0.0.1:{port}"
            monkeypatch.setenv("FUNDAMENTALS_BASE_URL", "https://data.example.org/v1/")
            assert pages_of(tmp_path) == "https://data.example.org"
