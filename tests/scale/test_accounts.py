"""Accounts in PostgreSQL: the same answers as from SQLite, whoever asks at the same time, and whatever the server does.

The tests of accounts, keys, sign-ins and limits that are not about a file run here again.
"""

import asyncio
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fundamentals
from serve.access import holders as holders_module
from serve.access import keys
from serve.access.accounts import Accounts, TooManyKeys
from serve.access.database import DatabaseError, at
from serve.access.holders import Holder, Holders
from serve.access.sign_ins import SignIns
from serve.cli import health
from serve.errors import CommandError
from serve.settings import Settings
from serve.shared.server_holders import ServerHolders
from tests import builds
from tests.browsers import Browser
from tests.e2e.homes import run_as_process
from tests.scale.postgres import PASSWORD, Postgres, running
from tests.servers import NOON, ONCE_IN_A_WHILE, as_process, away, in_process, until, wait_until
from tests.unit import test_access, test_copied_accounts, test_site_sign_ins
from tests.unit.test_access import accounts
from tests.unit.test_copied_accounts import file, in_use, used
from tests.unit.test_site_sign_ins import sign_ins
from warehouse.contract.findings import DAMAGE, WELL

EMAIL = "reader@example.org"
SOON = 5.0  # seconds within which a change takes effect
TICK = 0.01  # seconds between two looks at the event loop
OF_FILES = {
    "test_of_a_key_only_hash_prefix_and_last_four_are_stored",
    "test_readers_do_not_wait_for_a_writer",
    "test_a_file_that_is_not_a_database_is_an_error",
    "test_a_changed_state_of_a_subscription_is_damage",
    "test_the_database_has_nothing_that_signs_in",
}
"""Tests of properties that only a file of SQLite has."""
OPENED = {"path", "accounts", "sign_ins", "used"}
"""Fixtures of a test that opens a database."""
__all__ = ["accounts", "file", "in_use", "sign_ins", "used"]

for module in (test_access, test_site_sign_ins, test_copied_accounts):
    for name, function in vars(module).items():
        if name.startswith("test_") and name not in OF_FILES and OPENED & set(function.__annotations__):
            globals()[name] = function


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    with running(tmp_path_factory.mktemp("postgres")) as server:
        yield server


@pytest.fixture
def path(postgres: Postgres) -> str:
    """The address of an empty database, in place of a file."""
    return postgres.emptied()


@pytest.fixture
def opened(path: str) -> Iterator[Callable[[], Accounts]]:
    """Opens the accounts of one more replica."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(closing(Accounts(path)))


@pytest.fixture
def key(accounts: Accounts) -> bytes:
    """A key of an active subscription."""
    made = accounts.create_key(EMAIL, time.time()).encode()
    accounts.set_subscription(EMAIL, "active", time.time())
    return made


# --- at the same time


def at_once(*functions: Callable[[], object]) -> list[object]:
    """The results, or errors, of functions that run at the same time."""
    results: list[object] = []

    def run(function: Callable[[], object]) -> None:
        try:
            results.append(function())
        except CommandError as error:
            results.append(error)

    threads = [threading.Thread(target=run, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_replicas_that_start_at_once_create_the_tables_once(opened: Callable[[], Accounts]) -> None:
    replicas = at_once(*[opened] * 8)
    assert [type(each) for each in replicas] == [Accounts] * 8
    assert all(each.database.missing() == set() for each in replicas if isinstance(each, Accounts))


def test_the_most_keys_of_an_account_hold_for_all_replicas_together(opened: Callable[[], Accounts]) -> None:
    replicas = [opened() for _ in range(3)]
    made = at_once(*[lambda each=each: each.create_key(EMAIL, NOON) for each in replicas for _ in range(7)])
    assert Counter(map(type, made)) == {str: 10, TooManyKeys: 11}


def test_what_replicas_count_and_note_is_added_up_without_a_deadlock(opened: Callable[[], Accounts]) -> None:
    """Each of four writes 40 times to the same 200 keys, in an order of its own."""
    replicas, names = [opened() for _ in range(4)], [f"key_{number}" for number in range(200)]
    for name in names[::25]:
        replicas[0].create_key(EMAIL, NOON, name)

    def write(accounts: Accounts, drawn: random.Random) -> None:
        for turn in range(40):
            order = drawn.sample(names, len(names))
            accounts.add_day_counts(0, dict.fromkeys(order, 1))
            accounts.note_uses(dict.fromkeys(order, NOON + turn), 0)

    done = at_once(*[lambda each=each: write(each, random.Random(id(each))) for each in replicas])
    assert done == [None] * 4
    assert replicas[0].day_counts(0) == dict.fromkeys(names, 160)
    assert {each.last_used_at for each in replicas[0].keys_of(EMAIL)} == {"2026-03-02T12:00:39Z"}


# --- the same as SQLite

EMAILS = st.sampled_from(["a@example.org", "B@example.org", "b@example.org", "no address", "nobody@example.org"])
NUMBERS = st.integers(0, 5)
ACTS = st.one_of(
    st.tuples(st.just("create_key"), EMAILS, NUMBERS),
    st.tuples(st.just("keys_of"), EMAILS),
    st.tuples(st.just("revoke_key"), NUMBERS),
    st.tuples(st.just("set_subscription"), EMAILS, st.sampled_from(["active", "inactive"])),
    st.tuples(st.just("add_day_counts"), st.integers(0, 2), st.dictionaries(NUMBERS, st.integers(-1, 3), max_size=4)),
    st.tuples(st.just("day_counts"), st.integers(0, 2)),
    st.tuples(st.just("note_uses"), st.dictionaries(NUMBERS, st.integers(0, 200), max_size=4)),
    st.tuples(st.just("invite"), EMAILS),
    st.tuples(st.just("invited"), NUMBERS),
    st.tuples(st.just("sign_in"), NUMBERS),
    st.tuples(st.just("session"), NUMBERS),
    st.tuples(st.just("sign_out"), NUMBERS),
    st.tuples(st.just("later"), st.sampled_from([1, 60, 1799, 86_400, 14 * 86_400])),
)


class Told:
    """The answers of a database to the same calls; random values are replaced by numbers."""

    def __init__(self, place: Path | str) -> None:
        self.accounts = Accounts(place)
        self.sign_ins = SignIns(self.accounts)
        self.now = NOON
        self.tokens: list[str] = []
        self.sessions: list[str] = []

    def answer(self, act: tuple[Any, ...]) -> object:
        """The answer to a call, and the state of all keys after it."""
        name, *given = act
        try:
            said = getattr(self, name)(*given)
        except CommandError as error:
            said = f"{type(error).__name__}: {error}"
        with self.accounts.database.reading() as connection:
            held = holders_module.held(connection.execute(holders_module.ALL)).values()
            number = connection.scalar(holders_module.NUMBER)
        return said, sorted((each.key_id, each.is_active) for each in held), number and number > 0

    def create_key(self, email: str, number: int) -> object:
        return keys.is_well_formed(self.accounts.create_key(email, self.now, f"key_{number}").encode())

    def keys_of(self, email: str) -> object:
        return [(each.id, each.created_at, each.last_used_at, each.revoked_at) for each in self.accounts.keys_of(email)]

    def revoke_key(self, number: int) -> object:
        return self.accounts.revoke_key(f"key_{number}", self.now)

    def set_subscription(self, email: str, status: Any) -> object:
        return self.accounts.set_subscription(email, status, self.now)

    def add_day_counts(self, day: int, counts: dict[int, int]) -> object:
        return self.accounts.add_day_counts(86_400 * day, {f"key_{number}": count for number, count in counts.items()})

    def day_counts(self, day: int) -> object:
        return self.accounts.day_counts(86_400 * day)

    def note_uses(self, uses: dict[int, int]) -> object:
        return self.accounts.note_uses({f"key_{number}": NOON + after for number, after in uses.items()}, 60)

    def invite(self, email: str) -> object:
        self.tokens.append(self.sign_ins.invite(email, self.now))
        return len(self.tokens)

    def invited(self, number: int) -> object:
        return self.sign_ins.invited(nth(self.tokens, number), self.now)

    def sign_in(self, number: int) -> object:
        if begun := self.sign_ins.sign_in(nth(self.tokens, number), self.now):
            self.sessions.append(begun)
        return bool(begun)

    def session(self, number: int) -> object:
        return self.sign_ins.session(nth(self.sessions, number), self.now)

    def sign_out(self, number: int) -> object:
        return self.sign_ins.sign_out(nth(self.sessions, number))

    def later(self, seconds: int) -> object:
        self.now += seconds
        return None


def nth(texts: list[str], number: int) -> str:
    return texts[number] if number < len(texts) else "unknown"


@pytest.mark.long
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=st.lists(ACTS, min_size=5, max_size=40))
def test_postgresql_answers_as_sqlite_does(
    postgres: Postgres, tmp_path_factory: pytest.TempPathFactory, acts: list[tuple[Any, ...]]
) -> None:
    one = Told(tmp_path_factory.mktemp("sqlite") / "accounts.sqlite")
    other = Told(postgres.database())
    with closing(one.accounts), closing(other.accounts):
        for act in acts:
            assert other.answer(act) == one.answer(act), act


# --- two replicas, and a server that goes away


def with_replicas(url: str, number: int, act: Callable[..., Any]) -> None:
    """Run a coroutine with the look-ups of keys of running replicas, and require that the event loop is never blocked
    meanwhile.
    """

    async def run() -> None:
        longest = [0.0]
        async with asyncio.timeout(120), AsyncExitStack() as running:
            replicas: list[Holders] = []
            for _ in range(number):
                accounts = running.enter_context(closing(Accounts(url)))
                replicas.append(ServerHolders(accounts, time.time))
                await running.enter_async_context(replicas[-1].running())
            watching = asyncio.create_task(watch(longest))
            running.callback(watching.cancel)
            await act(*replicas)
        assert longest[0] < 1, f"the event loop was blocked for {longest[0]:.2f} s"

    asyncio.run(run())


async def watch(longest: list[float]) -> None:
    """Measure the longest pause of the event loop by the ticks of a thread, which a busy machine delays as well."""
    ticks, ends = [0], threading.Event()

    def tick() -> None:
        while not ends.wait(TICK):
            ticks[0] += 1

    threading.Thread(target=tick, daemon=True).start()
    try:
        while True:
            before = ticks[0]
            await asyncio.sleep(TICK)
            longest[0] = max(longest[0], (ticks[0] - before) * TICK)
    finally:
        ends.set()


async def soon(state: Callable[[], object]) -> float:
    """The seconds until a state is reached; at most the seconds that a change may take."""
    began = time.monotonic()
    await until(state)
    taken = time.monotonic() - began
    assert taken < SOON
    return taken


def test_a_change_by_any_process_takes_effect_within_five_seconds_in_each_replica(
    path: str, accounts: Accounts, key: bytes, tmp_path: Path
) -> None:
    """The commands run as processes of their own; a key that is new is found at its first request."""
    [held] = accounts.keys_of(EMAIL)

    def command(*arguments: str) -> str:
        done = run_as_process(tmp_path / "none", *arguments, FUNDAMENTALS_ACCOUNTS_URL=path)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.strip()

    async def act(one: Holders, other: Holders) -> None:
        assert one.find_by_key(key) == other.find_by_key(key) == Holder(held.id, is_active=True)
        await asyncio.to_thread(command, "subscriptions", "set", EMAIL, "inactive")
        inactive = Holder(held.id, is_active=False)
        await soon(lambda: one.find_by_key(key) == other.find_by_key(key) == inactive)
        fresh = (await asyncio.to_thread(command, "keys", "create", EMAIL)).encode()
        for each in (one, other):
            assert each.find_by_key(fresh) is None
            assert await each.look_up(fresh) == each.find_by_key(fresh) != None  # noqa: E711
            assert await each.look_up(keys.new_key().encode()) is None
        await asyncio.to_thread(command, "keys", "revoke", held.id)
        await soon(lambda: one.find_by_key(key) is other.find_by_key(key) is None)
        assert await one.look_up(key) is await other.look_up(key) is None

    with_replicas(path, 2, act)


@pytest.mark.parametrize(("leave", "come_back"), [("kill", "start"), ("stop", "start"), ("freeze", "thaw")])
def test_known_keys_are_valid_while_the_server_is_away_and_changes_apply_when_it_is_back(
    postgres: Postgres,
    path: str,
    accounts: Accounts,
    key: bytes,
    leave: str,
    come_back: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """No look-up waits for a server that is away, and neither does the event loop."""
    [held] = accounts.keys_of(EMAIL)
    unknown = keys.new_key().encode()

    async def act(one: Holders) -> None:
        assert one.find_by_key(key)
        await asyncio.to_thread(getattr(postgres, leave))
        try:
            await soon(lambda: one.find_by_key(key) and one.outdated)
            began = time.monotonic()
            for _ in range(100):
                assert one.find_by_key(key)
                with pytest.raises(DatabaseError, match="does not answer"):
                    await one.look_up(unknown)
            assert time.monotonic() - began < 1
            assert await one.look_up(b"malformed") is None
        finally:
            await asyncio.to_thread(getattr(postgres, come_back))
        await soon(lambda: not one.outdated)
        assert await one.look_up(unknown) is None
        await asyncio.to_thread(accounts.revoke_key, held.id, time.time())
        await soon(lambda: one.find_by_key(key) is None)

    with_replicas(path, 1, act)
    assert caplog.text.count("changes of keys and subscriptions cannot be read") == 1
    assert PASSWORD not in caplog.text


def test_a_key_that_is_revoked_while_it_is_looked_up_does_not_stay_known(
    path: str, accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = threading.Event()

    async def act(one: ServerHolders) -> None:
        key = accounts.create_key(EMAIL, NOON).encode()
        find = one._found

        def slowly(hashed: bytes) -> dict[bytes, Holder]:
            found = find(hashed)
            assert late.wait(SOON)
            return found

        monkeypatch.setattr(one, "_found", slowly)
        looking = asyncio.create_task(one.look_up(key))
        await asyncio.sleep(0.2)
        before = one._changes
        await asyncio.to_thread(accounts.revoke_key, accounts.keys_of(EMAIL)[0].id, NOON)
        await soon(lambda: one._changes != before)
        late.set()
        await looking
        assert one.find_by_key(key) is None

    with_replicas(path, 1, act)


@pytest.mark.parametrize(("leave", "come_back"), [("kill", "start"), ("freeze", "thaw")])
def test_a_replica_answers_as_written_while_the_accounts_are_away(
    postgres: Postgres,
    path: str,
    accounts: Accounts,
    key: bytes,
    leave: str,
    come_back: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Known keys are served, other keys and pages of accounts get an error at once, public pages are served.

    A page that waited for a frozen server would wait until the server goes on.
    """
    builds.small(tmp_path / "published")
    settings = Settings(tmp_path, "http://data.example.org/v1", accounts_url=path)
    assert PASSWORD not in repr(settings)
    with in_process(settings, time.time) as address, Browser(address) as browser:  # type: ignore[arg-type]
        browser.sign_in(f"/sign-in?token={SignIns(accounts).invite(EMAIL, time.time())}")

        def ask(sent: bytes) -> httpx.Response:
            return httpx.get(f"{address}/v1/companies", headers={"X-Api-Key": sent.decode()}, timeout=30)

        def status() -> Any:
            return httpx.get(f"{address}/v1/status", timeout=30).json()["data"]["status"]

        unknown = keys.new_key().encode()
        assert [ask(each).status_code for each in (key, unknown, b"garbage")] == [200, 401, 401]
        with away(getattr(postgres, leave), getattr(postgres, come_back)):
            wait_until(lambda: status() == "degraded", ONCE_IN_A_WHILE)
            assert [ask(each).status_code for each in (key, unknown, b"garbage")] == [200, 500, 401]
            error = ask(unknown).json()["error"]
            said = "This key cannot be checked at the moment; try again in a minute."
            assert (error["code"], error["message"]) == ("server_error", said)
            assert httpx.get(f"{address}/v1/status", headers={"X-Api-Key": unknown.decode()}).status_code == 200
            began = time.monotonic()
            page = browser.get("/profile")
            assert (page.status_code, "Accounts are not available" in page.text) == (503, True)
            assert browser.get("/reference").status_code == 200
            assert time.monotonic() - began < 2
        wait_until(lambda: status() == "up", ONCE_IN_A_WHILE)
        assert [ask(each).status_code for each in (key, unknown)] == [200, 401]
        assert "API keys" in browser.get("/profile").text
    assert PASSWORD not in caplog.text
    assert not [record for record in caplog.records if record.exc_info]


def test_nothing_is_restored_while_a_service_uses_the_accounts(
    postgres: Postgres, path: str, accounts: Accounts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """Whatever the machine and the home of the service, and also after PostgreSQL was started again."""
    (tmp_path / "backup").mkdir()
    (served := tmp_path / "served").mkdir()
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("FUNDAMENTALS_ACCOUNTS_URL", path)

    def restored() -> str:
        """The message of the command; if the lock is free, it says that there is no backup."""
        assert fundamentals.main(["restore", str(tmp_path / "backup")]) == 1
        return str(capsys.readouterr().err)

    refused = f"{accounts.database.name} is used by a service; stop all services, and restore then"
    assert "no complete backup" in restored()
    with as_process(served, FUNDAMENTALS_ACCOUNTS_URL=path):
        assert restored() == f"fundamentals: {refused}\n"
        postgres.kill()
        postgres.start()
        wait_until(lambda: refused in restored(), ONCE_IN_A_WHILE)
    assert "no complete backup" in restored()


def test_a_service_uses_no_accounts_while_a_backup_is_restored(path: str, accounts: Accounts, key: bytes) -> None:
    """It does not know the keys meanwhile; afterwards it reads them by itself."""

    async def act(one: Holders) -> None:
        assert one.outdated
        assert one.find_by_key(key) is None
        held.close()
        await soon(lambda: one.find_by_key(key))
        assert not one.outdated

    held = ExitStack()
    with held:
        held.enter_context(accounts.database.unused())
        with_replicas(path, 1, act)


# --- errors


def test_a_user_who_may_not_create_tables_is_told_so_and_one_who_may_write_them_is_served(
    postgres: Postgres, path: str
) -> None:
    """The tables can be created by an administrator."""
    postgres.execute("DROP ROLE IF EXISTS replica")
    postgres.execute(f"CREATE ROLE replica LOGIN PASSWORD '{PASSWORD}'")
    of_replica = path.replace("//fundamentals:", "//replica:")
    with pytest.raises(DatabaseError, match=r"permission denied for schema public.*lets this user create and write"):
        Accounts(of_replica)
    Accounts(path).close()
    rights = ["SELECT, INSERT, UPDATE, DELETE ON ALL TABLES", "USAGE ON ALL SEQUENCES"]
    for right in rights:
        postgres.execute(f"GRANT {right} IN SCHEMA public TO replica", path)
    with closing(Accounts(of_replica)) as accounts:
        accounts.create_key(EMAIL, NOON)
        accounts.revoke_key(accounts.keys_of(EMAIL)[0].id, NOON)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (("new_", "missing_"), 'database "missing_'),
        (("//fundamentals:", "//fundamentals:wrong"), "password authentication failed"),
        (("127.0.0.1:", "127.0.0.1:1"), "port"),
    ],
)
def test_what_is_wrong_with_the_address_is_said_without_the_password(
    path: str, changed: tuple[str, str], said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FUNDAMENTALS_ACCOUNTS_URL", path.replace(*changed))
    with pytest.raises(CommandError, match=said) as raised:
        Accounts(path.replace(*changed))
    assert PASSWORD not in str(raised.value)
    assert "check FUNDAMENTALS_ACCOUNTS_URL" in str(raised.value)
    [finding] = health.accounts()
    assert (finding.state, PASSWORD in finding.text) == (DAMAGE, False)


def test_a_message_that_quotes_the_password_is_shown_without_it(path: str) -> None:
    with closing(at(path)) as database, pytest.raises(DatabaseError) as raised, database.errors():
        raise OSError(f"wrong password {PASSWORD!r}")
    assert "wrong password '***'" in str(raised.value)


def test_doctor_asks_the_server_and_creates_nothing(
    path: str, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FUNDAMENTALS_ACCOUNTS_URL", path)
    [finding] = health.accounts()
    assert (finding.state, finding.text.partition(" ")[2]) == (WELL, "has no tables yet")
    assert postgres.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", path) == [(0,)]
    Accounts(path).close()
    [finding] = health.accounts()
    assert (finding.state, finding.text.partition(" ")[2]) == (WELL, "answers")
