"""Settings of the service, read from environment variables."""

import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from serve.addresses import Network
from serve.errors import CommandError

HOST = "127.0.0.1"
PORT = 8000
HOME = Path(".data/edgar")
CONNECTION_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Settings:
    """The home folder, the public address (with the version segment), and options of the service.

    redis_url: the Redis server that counts rate limits, which may contain a password; None: the process counts them.
    cache: whether the response cache is on.
    connection_share: the part of a worker's connections that one client address may have.
    proxies: the proxies whose header X-Forwarded-For names the client.
    metrics_port: the port of the metrics, 0: a free one; None: no metrics. metrics_host: their address.
    store: the address of the object storage whose builds are served; None: the builds of the home are served.
    accounts_url: the PostgreSQL database of the accounts, which may contain a password; None: a file in the home.
    """

    home: Path = HOME
    base_url: str = f"http://{HOST}:{PORT}/v1"
    redis_url: str | None = field(default=None, repr=False)
    cache: bool = True
    connection_share: float = CONNECTION_SHARE
    proxies: tuple[Network, ...] = ()
    metrics_port: int | None = None
    metrics_host: str = HOST
    store: str | None = None
    accounts_url: str | None = field(default=None, repr=False)

    @property
    def published(self) -> Path:
        """The folder of builds."""
        return self.home / "published"

    @property
    def accounts(self) -> Path | str:
        """The database of accounts, subscriptions and keys: a file, or an address, which may contain a password."""
        return self.accounts_url or self.home / "accounts.sqlite"

    @property
    def pages(self) -> str:
        """The public address without the version segment: pages are not part of a version of the interface."""
        return self.base_url.removesuffix("/v1")


def from_environment(host: str = HOST, port: int = PORT, environment: Mapping[str, str] | None = None) -> Settings:
    """Read the environment variables of the service; an empty one counts as not set.

    Args:
        host: host that the service listens on, for the default public address.
        port: port that the service listens on, for the default public address.
        environment: variables by name; default: the environment of the process.

    Raises:
        CommandError: a variable has an invalid value.
    """
    environment = os.environ if environment is None else environment
    home = environment.get("FUNDAMENTALS_HOME") or HOME
    authority = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    base_url = (environment.get("FUNDAMENTALS_BASE_URL") or f"http://{authority}/v1").rstrip("/")
    if not _is_web_address(base_url):
        raise CommandError(
            f"FUNDAMENTALS_BASE_URL is {base_url!r}, expected an address like https://data.example.org/v1"
        )
    cache = environment.get("FUNDAMENTALS_CACHE") or "on"
    if cache not in ("on", "off"):
        raise CommandError(f"FUNDAMENTALS_CACHE is {cache!r}, expected on or off")
    share = _share(environment.get("FUNDAMENTALS_CONNECTION_SHARE") or str(CONNECTION_SHARE))
    proxies = _networks(environment.get("FUNDAMENTALS_TRUSTED_PROXY") or "")
    metrics_port = _port(environment.get("FUNDAMENTALS_METRICS_PORT") or "")
    redis_url = environment.get("REDIS_URL") or None
    store = environment.get("FUNDAMENTALS_STORE") or None
    accounts_url = environment.get("FUNDAMENTALS_ACCOUNTS_URL") or None
    metrics_host = environment.get("FUNDAMENTALS_METRICS_HOST") or HOST
    return Settings(
        Path(home),
        base_url,
        redis_url,
        cache == "on",
        share,
        proxies,
        metrics_port,
        metrics_host,
        store,
        accounts_url,
    )


def _share(text: str) -> float:
    if re.fullmatch(r"[01]|[01]?\.[0-9]{1,9}|1\.0*", text) and 0 < float(text) <= 1:
        return float(text)
    raise CommandError(f"FUNDAMENTALS_CONNECTION_SHARE is {text!r}, expected a number above 0 and up to 1, like 0.5")


def _port(text: str) -> int | None:
    if text and not (re.fullmatch(r"[0-9]{1,5}", text) and int(text) < 65536):
        raise CommandError(f"FUNDAMENTALS_METRICS_PORT is {text!r}, expected a port from 1 to 65535, like 9464")
    return int(text) if text else None


def _networks(text: str) -> tuple[Network, ...]:
    try:
        return tuple(ipaddress.ip_network(each.strip()) for each in text.split(",") if each.strip())
    except ValueError as error:
        raise CommandError(
            f"FUNDAMENTALS_TRUSTED_PROXY is {text!r}, expected addresses like 10.0.0.5 or 10.0.0.0/8"
        ) from error


def _is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not (parts.query or parts.fragment)
