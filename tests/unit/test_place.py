"""Where the service of a home listens: told while it runs, and as an address that a browser can ask."""

import socket

import pytest

from serve.cli.place import NAME, announced, of_service


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
