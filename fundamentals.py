"""The command line `fundamentals`.

Belongs here: commands, their arguments and options, printing errors, exit statuses. Does not: the work of the commands
(dagster_app.synchronize, admin, serve.cli.commands). It is imported only when needed, so that serving does not load
Dagster, and synchronizing does not load a web server.
"""

import gc
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Literal, NoReturn

import click

from serve.cli import output
from serve.errors import CommandError
from warehouse.errors import WarehouseError
from warehouse.files import OTHERS

UNITS = {"s": timedelta(seconds=1), "m": timedelta(minutes=1), "h": timedelta(hours=1)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: command-line arguments; default: those of the process.

    Returns:
        The exit status: 0 on success; 1 on an error, with one line on standard error; 2 on wrong usage; for `doctor`
        the worst state that it found (warehouse.contract.findings).
    """
    try:
        # not cli.main, which would end without a word if a connection breaks, and takes Ctrl-C for an error
        with cli.make_context("fundamentals", [*(sys.argv[1:] if arguments is None else arguments)]) as context:
            return cli.invoke(context) or 0
    except click.exceptions.Exit as ended:  # after --help and --version
        return ended.exit_code
    except click.ClickException as wrong:
        wrong.show(sys.stderr)
        return wrong.exit_code
    except _reported() as error:
        print(f"fundamentals: {error}", file=sys.stderr)
        return 1


def _reported() -> tuple[type[Exception], ...]:
    """The errors that are printed in one line. `pipelines` is imported only after an error, because that import changes
    how its process allocates memory, also while it serves."""
    from pipelines.errors import PipelineError

    return CommandError, PipelineError, WarehouseError


# --- Values of arguments and options ---------------------------------------------------------------------------------


def _symbols(_: click.Context, __: click.Parameter, text: str | None) -> tuple[str, ...]:
    symbols = () if text is None else tuple(symbol.strip() for symbol in text.split(","))
    if not all(symbols):
        raise click.BadParameter(f"{text!r} has an empty symbol, expected something like AAPL,MSFT")
    return symbols


def _cik(text: str) -> str:
    if not re.fullmatch(r"[0-9]{1,10}", text):
        raise click.BadParameter(f"{text!r} is not a CIK, expected a number of at most ten digits")
    return text.zfill(10)


def _duration(text: str) -> timedelta:
    found = re.fullmatch(r"(\d{1,6})([smh])", text, re.ASCII)
    if not found or not int(found[1]):
        raise click.BadParameter(f"{text!r} is not a duration, expected something like 30s, 2m or 1h")
    return int(found[1]) * UNITS[found[2]]


def _share(text: str) -> float:
    if not re.fullmatch(r"0?\.\d{1,6}|1(\.0*)?", text, re.ASCII) or not float(text):
        raise click.BadParameter(f"{text!r} is not a share, expected a number above 0, at most 1")
    return float(text)


PORT, COUNT = click.IntRange(0, 65535), click.IntRange(1, 9999)

symbols_option = click.option(
    "--symbols",
    callback=_symbols,
    envvar="FUNDAMENTALS_SYMBOLS",
    metavar="A,B",
    help="only the companies of these symbols; the others stay as they are (default: all)",
)
json_option = click.option("--json", "as_json", is_flag=True, help="print JSON")
email_argument = click.argument("email", metavar="EMAIL")
path_argument = click.argument("path", type=Path, metavar="PATH")
fake_sec_port = click.option("--port", type=PORT, default=8010, help="port of the fake SEC")


@click.group(
    invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"], "show_default": True}
)
@click.option("--version", is_flag=True, help="Show the version and exit.")
@click.pass_context
def cli(context: click.Context, version: bool) -> None:
    """Standardized fundamentals from SEC EDGAR."""
    if version:
        from pipelines.release import RELEASE

        print(f"fundamentals {RELEASE}")
        context.exit()
    if context.invoked_subcommand is None:
        print(context.get_help())


# --- Synchronizing ---------------------------------------------------------------------------------------------------


@cli.command()
@click.option(
    "--source",
    envvar="FUNDAMENTALS_SOURCE",
    default="sample",
    metavar="sample|live|PATH",
    help="source of documents: fictional filers, the SEC, a mirror or companyfacts.zip",
)
@symbols_option
@click.option("--full", is_flag=True, help="process every company again, even if unchanged")
def sync(source: str, symbols: tuple[str, ...], full: bool) -> int:
    """Synchronize with a source and publish a build."""
    from pipelines.loading import collect_seldom, loading

    with loading():
        from pipelines.dagster_app import synchronize
    usual = gc.get_threshold()
    collect_seldom()
    try:
        return synchronize.main(source, symbols, full)
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()


@cli.command()
@click.option("--next-day", is_flag=True, required=True, help="synchronize the next day, and say what to look at")
def sample(next_day: bool) -> int:
    """Let companies of the sample file further reports.

    Prints what to look at, with addresses of the service of the home.
    """
    from pipelines.dagster_app import next_day as of_sample
    from serve.settings import from_environment
    from warehouse.record import service_place

    settings = from_environment()
    settings = from_environment(*(service_place.of_service(settings.home) or ()))
    return of_sample.main(settings.pages, settings.base_url)


@cli.command()
@symbols_option
def follow(symbols: tuple[str, ...]) -> int:
    """Synchronize companies minutes after they filed."""
    from pipelines.dagster_app import follow

    return follow.main(symbols)


@cli.command()
@click.option("--host", default="0.0.0.0", help="address to listen on with tls://")
def scheduler(host: str) -> int:
    """Give out batches to the workers of a cluster."""
    from pipelines.shared import cluster

    with _cluster_reached():
        return cluster.schedule(host)


@cli.command()
@click.option("--processes", type=COUNT, metavar="N", help="batches at a time (default: one for each core)")
def worker(processes: int | None) -> int:
    """Process batches that several machines share."""
    from pipelines.shared import cluster

    with _cluster_reached():
        return cluster.work(processes)


@contextmanager
def _cluster_reached() -> Iterator[None]:
    """Report in one line if an address or a file of the cluster cannot be used."""
    try:
        yield
    except OSError as error:
        raise CommandError(str(error)) from error


# --- Operating a home ------------------------------------------------------------------------------------------------


@cli.command()
@click.argument("cik", type=_cik, metavar="CIK")
def accept(cik: str) -> None:
    """Accept the document of a company in quarantine.

    The next synchronization takes it over, whatever it lacks.
    """
    from pipelines.admin import acceptance

    print(acceptance.accept(cik))


@cli.command()
@click.option("--quick", is_flag=True, help="do not read documents and tables")
@click.option("--repair", is_flag=True, help="repair what can be repaired safely")
@click.option(
    "--source",
    envvar="FUNDAMENTALS_SOURCE",
    default="",
    show_default=False,
    metavar="sample|live|PATH",
    help="source to examine (default: FUNDAMENTALS_SOURCE, or that of the last synchronization)",
)
def doctor(quick: bool, repair: bool, source: str) -> int:
    """Examine the home, and say what is wrong and what to do."""
    from pipelines.admin import doctor
    from serve.cli import health

    of_service = [("accounts", health.accounts), ("redis", health.redis)]
    return doctor.main(of_service, source_name=source, quick=quick, repair=repair)


@cli.command()
@path_argument
def backup(path: Path) -> None:
    """Copy the home into a new folder, while everything runs."""
    from pipelines.admin import backup

    print(backup.main(path))


@cli.command()
@path_argument
@click.option("--replace", is_flag=True, help="replace a home that is not empty")
@click.option("--accounts", "only_accounts", is_flag=True, help="replace only the accounts; stop the service before")
def restore(path: Path, replace: bool, only_accounts: bool) -> None:
    """Restore a home from the folder of a backup."""
    from pipelines.admin import restore
    from serve.cli.commands import without_services

    # accounts in PostgreSQL are not restored, so nothing has to keep away from them
    with nullcontext() if only_accounts else without_services():
        print(restore.main(path, replace=replace, only_accounts=only_accounts))


@cli.command()
@click.argument("action", type=click.Choice(["list", "rollback", "prune"]))
def builds(action: str) -> None:
    """Manage the published builds.

    \b
    list      list the kept builds, and whether their files are as they were published
    rollback  serve the previous build until the next synchronization
    prune     remove the previous build
    """
    from pipelines.admin import builds

    print(builds.main(action))


# --- The service and its accounts ------------------------------------------------------------------------------------


@cli.command()
@click.option("--host", default="127.0.0.1", help="address to listen on")
@click.option("--port", type=PORT, default=8000, help="port to listen on")
@click.option("--workers", type=int, default=1, help="worker processes; more than one needs REDIS_URL")
def serve(host: str, port: int, workers: int) -> None:
    """Serve the published build over HTTP."""
    from serve.cli import commands

    commands.serve(host, port, workers)


@cli.command()
@click.argument("symbol", metavar="SYMBOL")
@click.argument("item", metavar="ITEM")
@click.argument("period", metavar="PERIOD")
@json_option
@click.option("--all", "is_whole", is_flag=True, help="also list the company's rules, and show all statements")
def explain(symbol: str, item: str, period: str, as_json: bool, is_whole: bool) -> None:
    """Show the formula, filed facts and versions behind a value.

    ITEM is a line item, such as free_cash_flow, and PERIOD a label (2026Q1, FY2025) or the last day of the period.
    """
    from serve.cli import commands

    commands.explain(symbol, item, period, as_json, is_whole)


@cli.group()
def accounts() -> None:
    """Manage accounts."""


@accounts.command()
@email_argument
def invite(email: str) -> None:
    """Print a sign-in link that works once, within 30 minutes.

    The account is created if it does not exist.
    """
    from serve.cli import commands

    commands.invite(email)


@accounts.command()
@click.option("--from", "source", type=Path, metavar="FILE", help="the file to copy into the database that is in use")
@click.option("--to", "target", type=Path, metavar="FILE", help="a new file for a copy of that database")
def copy(source: Path | None, target: Path | None) -> None:
    """Copy all accounts, with keys and sign-ins, into an empty database."""
    from serve.cli import commands

    match source, target:
        case Path(), None:
            commands.copy_accounts(source, is_source=True)
        case None, Path():
            commands.copy_accounts(target, is_source=False)
        case _:
            raise click.UsageError("give one of --from FILE and --to FILE")


@cli.group()
def keys() -> None:
    """Manage API keys."""


@keys.command()
@email_argument
def create(email: str) -> None:
    """Create a key and print it.

    The account is created if it does not exist.
    """
    from serve.cli import commands

    commands.create_key(email)


@keys.command("list")
@email_argument
@json_option
def list_keys(email: str, as_json: bool) -> None:
    """List the keys of an account."""
    from serve.cli import commands

    commands.list_keys(email, as_json)


@keys.command()
@click.argument("key_id", metavar="KEY_ID")
def revoke(key_id: str) -> None:
    """Revoke a key."""
    from serve.cli import commands

    commands.revoke_key(key_id)


@cli.group()
def subscriptions() -> None:
    """Manage subscriptions."""


@subscriptions.command("set")
@email_argument
@click.argument("status", type=click.Choice(["active", "inactive"]))
def set_subscription(email: str, status: Literal["active", "inactive"]) -> None:
    """Make the subscription of an account active or inactive."""
    from serve.cli import commands

    commands.set_subscription(email, status)


# --- The fake SEC ----------------------------------------------------------------------------------------------------


@cli.group("fake-sec")
def fake_sec() -> None:
    """Stand in for the SEC in rehearsals, with faults on demand."""


@fake_sec.command("serve")
@click.option(
    "--source",
    default="sample",
    metavar="sample|PATH",
    help="what it has: fictional filers, or a mirror, which files nothing",
)
@click.option("--every", type=_duration, metavar="TIME", help="file a report every 5m, say (default: on demand only)")
@click.option(
    "--lag",
    type=_duration,
    default="1m",
    metavar="TIME",
    help="companyfacts and submissions have a report after this at the latest",
)
@click.option(
    "--held-back", type=COUNT, default=4, metavar="N", help="reports of each company that are left to be filed"
)
@click.option("--remember", type=Path, metavar="FILE", help="remember in a file what was filed")
@fake_sec_port
def serve_fake_sec(
    source: str, every: timedelta | None, lag: timedelta, held_back: int, remember: Path | None, port: int
) -> int:
    """Serve until Ctrl-C.

    Prints the environment of the commands that use it.
    """
    from pipelines.fake_sec import rehearsal

    return rehearsal.serve(source, port, every=every, lag=lag, held_back=held_back, remember=remember)


@fake_sec.command()
@click.argument("symbol", default="", metavar="[SYMBOL]")
@click.option("--number", type=COUNT, default=1, metavar="N", help="file so many")
@fake_sec_port
def file(symbol: str, number: int, port: int) -> None:
    """File the next report of a company, or of any."""
    from pipelines.fake_sec import orders

    print(orders.send(orders.File(symbol, number), port))


@fake_sec.command()
@click.argument("fault", metavar="FAULT")
@click.option("--on", "part", default="all", metavar="PART", help="of this part, such as feed")
@click.option(
    "--for", "lasting", type=_duration, metavar="TIME", help="end it after 2m, say (default: with `fake-sec mend`)"
)
@click.option("--share", type=_share, default="1", metavar="SHARE", help="of the requests, such as 0.1")
@fake_sec_port
def fault(fault: str, part: str, lasting: timedelta | None, share: float, port: int) -> None:
    """Begin a fault of the table in docs/commands.md, such as 503."""
    from pipelines.fake_sec import orders

    print(orders.send(orders.Begin(fault, part, lasting.total_seconds() if lasting else None, share), port))


@fake_sec.command()
@fake_sec_port
def mend(port: int) -> None:
    """End all faults."""
    from pipelines.fake_sec import orders

    print(orders.send(orders.Mend(), port))


def command() -> NoReturn:
    """The command as it is installed: `main`, and the end of the process.

    The files that it makes are readable by their owner only. A synchronization ends it at once, without taking down
    module by module what Dagster imported: 0.7 seconds.
    """
    os.umask(OTHERS)
    output.make_lenient()
    status = main()
    output.finish()
    if sys.argv[1:2] in (["sync"], ["sample"]):
        os._exit(status)
    sys.exit(status)


if __name__ == "__main__":
    command()
