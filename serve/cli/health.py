"""Checks of the service beyond the builds: accounts, and Redis.

Belongs here: their findings for `fundamentals doctor`. Does not: the checks of the data (pipelines.health).
"""

from collections.abc import Iterable, Iterator
from contextlib import closing

from redis import Redis, RedisError

from serve.access.database import DAMAGED, at
from serve.errors import CommandError
from serve.settings import Settings, from_environment
from warehouse.contract.findings import DAMAGE, WARNING, WELL, Finding
from warehouse.files import SERVING_LOCK, locked
from warehouse.record import sqlite

TIMEOUT = 2.0
"""Seconds to wait for an answer of Redis."""


def accounts() -> Iterable[Finding]:
    """Check that the database of accounts is intact."""
    settings = _settings()
    if isinstance(settings, Finding):
        return [settings]
    if isinstance(settings.accounts, str):
        return [_at(settings.accounts)]
    if not settings.accounts.exists():
        return [_missing(settings)]
    if said := sqlite.damage(settings.accounts, refers=True):
        return [Finding("accounts", DAMAGE, f"{settings.accounts}: {said}", DAMAGED)]
    return [Finding("accounts", WELL, str(settings.accounts))]


def _missing(settings: Settings) -> Finding:
    """The finding for a missing file of accounts: damage if a service is running, because it has made one."""
    served = settings.home / SERVING_LOCK
    if served.exists():
        with locked(served) as is_free:
            if not is_free:
                return Finding("accounts", DAMAGE, f"{settings.accounts} was removed while a service uses it", DAMAGED)
    return Finding("accounts", WELL, "no account yet")


def _at(address: str) -> Finding:
    """Check that the database at an address answers; nothing is created in it."""
    try:
        with closing(at(address)) as database:
            missing = database.missing()
    except CommandError as error:
        return Finding("accounts", DAMAGE, str(error), "correct FUNDAMENTALS_ACCOUNTS_URL, or start PostgreSQL")
    return Finding("accounts", WELL, f"{database.name} {'has no tables yet' if missing else 'answers'}")


def redis() -> Iterator[Finding]:
    """Check that the Redis server that counts requests answers, if REDIS_URL names one."""
    settings = _settings()
    if isinstance(settings, Finding):
        return  # reported by the check of the accounts
    if not settings.redis_url:
        yield Finding("redis", WELL, "not used: REDIS_URL is not set")
        return
    try:
        with Redis.from_url(
            settings.redis_url, socket_connect_timeout=TIMEOUT, socket_timeout=TIMEOUT, retry=None
        ) as server:
            server.ping()
    except ValueError:
        yield Finding("redis", DAMAGE, "REDIS_URL is not the address of a Redis server", "correct REDIS_URL")
    except RedisError as error:
        advice = "start Redis; until then each worker counts requests by itself"
        yield Finding("redis", WARNING, f"the server of REDIS_URL does not answer: {type(error).__name__}", advice)
    else:
        yield Finding("redis", WELL, "answers")


def _settings() -> Settings | Finding:
    try:
        return from_environment()
    except CommandError as error:
        return Finding("settings", DAMAGE, str(error), "correct the environment variable")
