"""nginx with the configuration of deploy/nginx, before services on this machine.

Belongs here: the parts of that configuration that depend on the machine, starting and killing nginx, reading its log.
Does not: any test, the services (cluster).
"""

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.servers import PATIENCE, PROJECT, accepts, free_port, wait_until

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


@dataclass
class Front:
    """nginx with its configuration in a folder, and the port that it listens on; in a process group of its own."""

    executable: str
    folder: Path
    port: int = field(default_factory=free_port)
    _process: "subprocess.Popen[bytes] | None" = None

    @property
    def address(self) -> str:
        """Where it listens, without the version segment."""
        return f"http://127.0.0.1:{self.port}"

    def requests(self) -> list[dict[str, Any]]:
        """The lines of its access log."""
        return [json.loads(line) for line in (self.folder / "access").read_text(errors="replace").splitlines()]

    def start(self) -> None:
        """Start it, and wait until it listens."""
        command = [self.executable, "-p", str(self.folder), "-e", f"{self.folder}/errors", "-c", "main.conf"]
        self._process = process = subprocess.Popen(command, start_new_session=True)
        wait_until(lambda: accepts(self.port) or process.poll() is not None)
        assert process.poll() is None, (self.folder / "errors").read_text()

    def reload(self) -> None:
        """Let new processes take over with the configuration as it is now, as `systemctl reload` does."""
        assert self._process
        self._process.send_signal(signal.SIGHUP)

    def kill(self) -> None:
        """Kill all its processes at once, as a machine that loses power."""
        assert self._process
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(PATIENCE)

    def stop(self) -> None:
        """Stop it in order."""
        if self._process and self._process.poll() is None:
            self._process.terminate()
            self._process.wait(PATIENCE)


@contextmanager
def nginx(
    executable: str, folder: Path, replicas: Sequence[str], port: int = 0, site: Path = DEPLOYED / "fundamentals.conf"
) -> Iterator[Front]:
    """Run nginx until the block ends.

    Args:
        executable: path of nginx.
        folder: a folder that is made.
        replicas: host and port of each service.
        port: where it listens; 0: any.
        site: the configuration.
    """
    folder.mkdir(parents=True)
    front = Front(executable, folder, port or free_port())
    text = _replaced(site.read_text(), {
        r"listen 80;": f"listen 127.0.0.1:{front.port};",
        r"include \S+/replicas.conf;": f"include {folder}/replicas.conf;",
        r"/var/cache/nginx/fundamentals": f"{folder}/cache",
        r"/var/log/nginx/fundamentals.log|/dev/stdout": f"{folder}/access",
        r"/var/log/nginx/fundamentals-error.log|/dev/stderr": f"{folder}/errors",
    })  # fmt: skip
    [shape] = set(re.findall(r"    server (?:10\.0\.0\.1\d:8000)(.*);\n", (DEPLOYED / "replicas.conf").read_text()))
    servers = "".join(f"    server {replica}{shape};\n" for replica in replicas)
    upstream = re.sub(r"(    server .*\n)+", servers, (DEPLOYED / "replicas.conf").read_text())
    (folder / "site.conf").write_text(text)
    (folder / "replicas.conf").write_text(upstream)
    (folder / "main.conf").write_text(MAIN.format(folder=folder, user=USER))
    try:
        front.start()
        yield front
    finally:
        front.stop()


def _replaced(text: str, words: dict[str, str]) -> str:
    """A text with each of the patterns replaced; each must occur."""
    for pattern, word in words.items():
        text, count = re.subn(pattern, word.replace("\\", r"\\"), text)
        assert count, pattern
    return text
