"""Settings: what the environment says about where data lies and how the service is reached."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from serve.errors import CommandError

HOST = "127.0.0.1"
PORT = 8000
HOME = Path(".data/edgar")


@dataclass(frozen=True, slots=True)
class Settings:
    """Where everything mutable lies, and the public address, which ends with the version segment."""

    home: Path = HOME
    base_url: str = f"http://{HOST}:{PORT}/v1"

    @property
    def published(self) -> Path:
        """The folder of builds."""
        return self.home / "published"

    @property
    def accounts(self) -> Path:
        """The database of accounts, subscriptions and keys."""
        return self.home / "accounts.sqlite"

    @property
    def pages(self) -> str:
        """The public address without the version segment: pages are not part of a version of the interface."""
        return self.base_url.removesuffix("/v1")


def from_environment(host: str = HOST, port: int = PORT, environment: Mapping[str, str] | None = None) -> Settings:
    """Settings from FUNDAMENTALS_HOME and FUNDAMENTALS_BASE_URL; an empty variable counts as none.

    Args:
        host: where the service listens, for the default address.
        port: likewise.
        environment: the process's own where it is not given.

    Raises:
        CommandError: FUNDAMENTALS_BASE_URL is no web address.
    """
    environment = os.environ if environment is None else environment
    home = environment.get("FUNDAMENTALS_HOME") or HOME
    authority = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    base_url = (environment.get("FUNDAMENTALS_BASE_URL") or f"http://{authority}/v1").rstrip("/")
    if not _is_web_address(base_url):
        raise CommandError(
            f"FUNDAMENTALS_BASE_URL is {base_url!r}, expected an address like https://data.example.org/v1"
        )
    return Settings(Path(home), base_url)


def _is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not (parts.query or parts.fragment)
