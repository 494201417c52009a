"""nginx with the configuration of deploy/nginx, before services on this machine.

Belongs here: what of that configuration depends on the machine, starting nginx, reading its log. Does not: any test,
the services (cluster).
"""

import json
import os
import re
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.servers import PATIENCE, PROJECT

DEPLOYED = PROJECT / "deploy" / "nginx"
USER = "user root;" if os.geteuid() == 0 else ""  # the folders of tests belong to the user of the tests
MAIN = """
daemon off; worker_processes 2; pid {folder}/pid; error_log {folder}/errors crit; {user}
events {{ worker_connections 2048; }}
http {{
    include {folder}/site.conf;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
}}
"""


@dataclass(frozen=True, slots=True)
class Front:
    """A running nginx: its address, without the version segment, and its folder."""

    address: str
    folder: Path

    def requests(self) -> list[dict[str, Any]]:
        """The lines of its access log."""
        return [json.loads(line) for line in (self.folder / "access").read_text(errors="replace").splitlines()]


@contextmanager
def nginx(executable: str, folder: Path, replicas: Sequence[str]) -> Iterator[Front]:
    """Run nginx until the block ends.

    Args:
        executable: path of nginx.
        folder: a folder that is made.
        replicas: host and port of each service.
    """
    folder.mkdir(parents=True)
    port = free_port()
    site = _replaced((DEPLOYED / "fundamentals.conf").read_text(), {
        r"listen 80;": f"listen 127.0.0.1:{port};",
        r"include \S+/replicas.conf;": f"include {folder}/replicas.conf;",
        r"/var/cache/nginx/fundamentals": f"{folder}/cache",
        r"/var/log/nginx/fundamentals.log": f"{folder}/access",
        r"/var/log/nginx/fundamentals-error.log": f"{folder}/errors",
    })  # fmt: skip
    [shape] = set(re.findall(r"    server (?:10\.0\.0\.1\d:8000)(.*);\n", (DEPLOYED / "replicas.conf").read_text()))
    servers = "".join(f"    server {replica}{shape};\n" for replica in replicas)
    upstream = re.sub(r"(    server .*\n)+", servers, (DEPLOYED / "replicas.conf").read_text())
    (folder / "site.conf").write_text(site)
    (folder / "replicas.conf").write_text(upstream)
    (folder / "main.conf").write_text(MAIN.format(folder=folder, user=USER))
    with subprocess.Popen([executable, "-p", str(folder), "-e", f"{folder}/errors", "-c", "main.conf"]) as process:
        try:
            deadline = time.monotonic() + PATIENCE
            while not accepts(port):
                assert process.poll() is None, (folder / "errors").read_text()
                assert time.monotonic() < deadline
                time.sleep(0.02)
            yield Front(f"http://127.0.0.1:{port}", folder)
        finally:
            process.terminate()
            process.wait(PATIENCE)


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def accepts(port: int) -> bool:
    """Whether something listens on a port of this machine."""
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def _replaced(text: str, words: dict[str, str]) -> str:
    """A text with each of the patterns replaced; each must occur."""
    for pattern, word in words.items():
        text, count = re.subn(pattern, word.replace("\\", r"\\"), text)
        assert count, pattern
    return text
