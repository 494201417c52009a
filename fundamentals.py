"""The command line `fundamentals`.

Belongs here: parsing arguments, printing errors, exit statuses. Does not: the commands (dagster_app.synchronize, admin,
serve.cli.commands). These are imported only when needed, so that serving does not load Dagster, and synchronizing does
not load a web server.
"""

import argparse
import gc
import os
import re
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from typing import NoReturn

from serve.cli import output
from serve.http.errors import CommandError
from warehouse.files import OTHERS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: command-line arguments; default: those of the process.

    Returns:
        The exit status: 0 on success; 1 on an error, with one line on standard error; for `doctor` the worst state
        that it found (warehouse.contract.findings). Wrong usage exits with 2.
    """
    parser = _parser()
    given = parser.parse_args(arguments)
    if given.command is None:
        parser.print_help()
        return 0
    try:
        return _run(given)
    except CommandError as error:
        print(f"fundamentals: {error}", file=sys.stderr)
        return 1


def _run(given: argparse.Namespace) -> int:
    if given.command == "sync":
        from pipelines.errors import PipelineError
        from pipelines.loading import collect_seldom, loading

        try:
            with loading():
                from pipelines.dagster_app import synchronize
        except PipelineError as error:  # a setting that the job needs is wrong
            raise CommandError(str(error)) from error
        usual = gc.get_threshold()
        collect_seldom()
        try:
            return synchronize.main(given.source, given.symbols, given.full)
        finally:
            gc.set_threshold(*usual)
            gc.unfreeze()

    if given.command == "sample":
        return _next_day()

    if given.command == "follow":
        from pipelines.errors import PipelineError

        try:
            from pipelines.dagster_app import follow
        except PipelineError as error:
            raise CommandError(str(error)) from error
        return follow.main(given.symbols)

    if given.command == "fake-sec":
        return _fake_sec(given)

    if given.command in ("scheduler", "worker"):
        from pipelines.errors import PipelineError
        from pipelines.shared import cluster

        try:
            return cluster.schedule(given.host) if given.command == "scheduler" else cluster.work(given.processes)
        except (PipelineError, OSError) as error:
            raise CommandError(str(error)) from error

    if given.command == "builds":
        from pipelines.admin import builds
        from pipelines.errors import PipelineError

        try:
            print(builds.main(given.action))
        except PipelineError as error:
            raise CommandError(str(error)) from error
        return 0

    if given.command == "accept":
        from pipelines.admin import acceptance
        from pipelines.errors import PipelineError

        try:
            print(acceptance.accept(given.cik))
        except PipelineError as error:
            raise CommandError(str(error)) from error
        return 0

    if given.command == "doctor":
        return _doctor(given)

    if given.command in ("backup", "restore"):
        from pipelines.admin import backup, restore
        from pipelines.errors import PipelineError
        from serve.cli.commands import without_services

        try:
            if given.command == "backup":
                print(backup.main(given.path))
            else:
                # accounts in PostgreSQL are not restored, so nothing has to keep away from them
                with nullcontext() if given.accounts else without_services():
                    print(restore.main(given.path, replace=given.replace, only_accounts=given.accounts))
        except PipelineError as error:
            raise CommandError(str(error)) from error
        return 0

    from serve.cli import commands

    match given.command, getattr(given, "action", None):
        case "serve", _:
            commands.serve(given.host, given.port, given.workers)
        case "explain", _:
            commands.explain(given.symbol, given.item, given.period, given.json, given.all)
        case "accounts", "invite":
            commands.invite(given.email)
        case "accounts", "copy":
            commands.copy_accounts(given.source or given.target, is_source=given.source is not None)
        case "keys", "create":
            commands.create_key(given.email)
        case "keys", "list":
            commands.list_keys(given.email, given.json)
        case "keys", "revoke":
            commands.revoke_key(given.key_id)
        case "subscriptions", "set":
            commands.set_subscription(given.email, given.status)
    return 0


def _next_day() -> int:
    """Synchronize the next day of the sample, and print what to look at, with addresses of the service of the home."""
    from pipelines.errors import PipelineError
    from serve.settings import from_environment
    from warehouse.record import service_place

    try:
        from pipelines.dagster_app import next_day

        settings = from_environment()
        settings = from_environment(*(service_place.of_service(settings.home) or ()))
        return next_day.main(settings.pages, settings.base_url)
    except PipelineError as error:
        raise CommandError(str(error)) from error


def _fake_sec(given: argparse.Namespace) -> int:
    """Serve as the fake SEC, or send it an order."""
    from pipelines.errors import PipelineError
    from pipelines.fake_sec import orders, rehearsal

    try:
        if given.action == "serve":
            return rehearsal.serve(
                given.source,
                given.port,
                every=given.every,
                lag=given.lag,
                held_back=given.held_back,
                remember=given.remember,
            )
        if given.action == "file":
            order: orders.Order = orders.File(given.symbol, given.number)
        elif given.action == "fault":
            seconds = given.seconds.total_seconds() if given.seconds else None
            order = orders.Begin(given.fault, given.part, seconds, given.share)
        else:
            order = orders.Mend()
        print(orders.send(order, given.port))
    except PipelineError as error:
        raise CommandError(str(error)) from error
    return 0


def _doctor(given: argparse.Namespace) -> int:
    """Examine the data with the checks of the pipeline, and the rest with those of the service."""
    from pipelines.admin import doctor
    from pipelines.errors import PipelineError
    from serve.cli import health

    of_service = [("accounts", health.accounts), ("redis", health.redis)]
    try:
        return doctor.main(of_service, source_name=given.source, quick=given.quick, repair=given.repair)
    except PipelineError as error:
        raise CommandError(str(error)) from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="fundamentals", description="Standardized fundamentals from SEC EDGAR.")
    parser.add_argument("--version", action=_Version, help="show the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    sync = commands.add_parser("sync", help="synchronize with a source and publish a build")
    sync.add_argument(
        "--source",
        default=os.environ.get("FUNDAMENTALS_SOURCE") or "sample",
        metavar="sample|live|PATH",
        help="source of documents: fictional filers, the SEC, a mirror or companyfacts.zip (default: %(default)s)",
    )
    _add_symbols(sync, "update only these symbols and keep the rest (default: all)")
    sync.add_argument("--full", action="store_true", help="process every company again, even if unchanged")

    sample = commands.add_parser("sample", help="let the companies of the sample file the reports of a further day")
    sample.add_argument(
        "--next-day", action="store_true", required=True, help="synchronize the next day, and say what to look at"
    )

    follow = commands.add_parser("follow", help="synchronize companies minutes after they filed with the SEC")
    _add_symbols(follow, "follow only these symbols (default: all that are listed)")

    accept = commands.add_parser("accept", help="accept the document of a company in quarantine, whatever it lacks")
    accept.add_argument("cik", type=_cik, metavar="CIK")

    scheduler = commands.add_parser(
        "scheduler", help="give out batches of synchronizations to the workers of a cluster"
    )
    scheduler.add_argument("--host", default="0.0.0.0", help="address to listen on with tls:// (default: %(default)s)")
    worker = commands.add_parser("worker", help="do batches of synchronizations that several machines share")
    worker.add_argument(
        "--processes", type=_processes, default=0, metavar="N", help="batches at a time (default: one for each core)"
    )

    serve = commands.add_parser("serve", help="serve the published build over HTTP")
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    serve.add_argument("--port", type=_port, default=8000, help="port to listen on (default: %(default)s)")
    serve.add_argument(
        "--workers", type=int, default=1, help="worker processes (default: %(default)s); more than one needs REDIS_URL"
    )

    explain = commands.add_parser("explain", help="show where a value comes from: formula, filed facts, versions")
    explain.add_argument("symbol", metavar="SYMBOL")
    explain.add_argument("item", metavar="ITEM", help="a line item, such as free_cash_flow")
    explain.add_argument("period", metavar="PERIOD", help="a label (2026Q1, FY2025) or the last day of the period")
    explain.add_argument("--json", action="store_true", help="print JSON")
    explain.add_argument("--all", action="store_true", help="also list the company's rules, and show all statements")

    doctor = commands.add_parser("doctor", help="examine the home, and say what is wrong and what to do")
    doctor.add_argument("--quick", action="store_true", help="do not read documents and tables")
    doctor.add_argument("--repair", action="store_true", help="repair what can be repaired safely")
    doctor.add_argument(
        "--source",
        default=os.environ.get("FUNDAMENTALS_SOURCE") or "",
        metavar="sample|live|PATH",
        help="source to examine (default: FUNDAMENTALS_SOURCE, or that of the last synchronization)",
    )

    backup = commands.add_parser("backup", help="copy the home into a folder, while everything runs")
    backup.add_argument("path", type=Path, metavar="PATH", help="a new folder")

    restore = commands.add_parser("restore", help="restore a home from a backup")
    restore.add_argument("path", type=Path, metavar="PATH", help="the folder of the backup")
    restore.add_argument("--replace", action="store_true", help="replace a home that is not empty")
    restore.add_argument("--accounts", action="store_true", help="replace only the accounts; stop the service before")

    builds = commands.add_parser("builds", help="manage the published builds").add_subparsers(
        dest="action", required=True, metavar="ACTION"
    )
    builds.add_parser("list", help="list the kept builds, and whether their files are as they were published")
    builds.add_parser("rollback", help="serve the previous build until the next synchronization")
    builds.add_parser("prune", help="remove the previous build")

    accounts = commands.add_parser("accounts", help="manage accounts").add_subparsers(
        dest="action", required=True, metavar="ACTION"
    )
    invite = accounts.add_parser(
        "invite", help="print a one-time sign-in link, valid for 30 minutes; create the account if it does not exist"
    )
    invite.add_argument("email", metavar="EMAIL")

    copy = accounts.add_parser("copy", help="copy all accounts, with keys and sign-ins, into an empty database")
    places = copy.add_mutually_exclusive_group(required=True)
    places.add_argument(
        "--from", dest="source", type=Path, metavar="FILE", help="the file to copy into the database that is in use"
    )
    places.add_argument("--to", dest="target", type=Path, metavar="FILE", help="a new file for a copy of that database")

    keys = commands.add_parser("keys", help="manage API keys").add_subparsers(
        dest="action", required=True, metavar="ACTION"
    )
    create = keys.add_parser("create", help="create a key and print it; create the account if it does not exist")
    create.add_argument("email", metavar="EMAIL")
    listing = keys.add_parser("list", help="list the keys of an account")
    listing.add_argument("email", metavar="EMAIL")
    listing.add_argument("--json", action="store_true", help="print JSON")
    revoke = keys.add_parser("revoke", help="revoke a key")
    revoke.add_argument("key_id", metavar="KEY_ID")

    _add_fake_sec(commands.add_parser("fake-sec", help="stand in for the SEC in rehearsals, with faults on demand"))

    subscriptions = commands.add_parser("subscriptions", help="manage subscriptions").add_subparsers(
        dest="action", required=True, metavar="ACTION"
    )
    change = subscriptions.add_parser("set", help="make the subscription of an account active or inactive")
    change.add_argument("email", metavar="EMAIL")
    change.add_argument("status", choices=("active", "inactive"))
    return parser


def _add_fake_sec(parser: argparse.ArgumentParser) -> None:
    """The fake SEC, and the orders to it; what faults and parts there are, it says itself."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    serve = actions.add_parser("serve", help="serve until Ctrl-C; print the environment of the commands that use it")
    serve.add_argument(
        "--source",
        default="sample",
        metavar="sample|PATH",
        help="what it has: fictional filers, or a mirror, which files nothing (default: %(default)s)",
    )
    serve.add_argument(
        "--every", type=_duration, metavar="TIME", help="file a report every 5m, say (default: on demand only)"
    )
    serve.add_argument(
        "--lag",
        type=_duration,
        default="1m",
        metavar="TIME",
        help="companyfacts and submissions have a report after this at the latest (default: %(default)s)",
    )
    serve.add_argument(
        "--held-back",
        type=_count,
        default=4,
        metavar="N",
        help="reports of each company that are left to be filed (default: %(default)s)",
    )
    serve.add_argument("--remember", type=Path, metavar="FILE", help="remember in a file what was filed")
    file = actions.add_parser("file", help="file the next report")
    file.add_argument("symbol", nargs="?", default="", metavar="SYMBOL", help="of this company (default: of any)")
    file.add_argument("--number", type=_count, default=1, metavar="N", help="file so many (default: %(default)s)")
    fault = actions.add_parser("fault", help="begin a fault")
    fault.add_argument("fault", metavar="FAULT", help="a fault of the table in docs/commands.md, such as 503")
    fault.add_argument(
        "--on", dest="part", default="all", metavar="PART", help="of this part, such as feed (default: %(default)s)"
    )
    fault.add_argument(
        "--for", dest="seconds", type=_duration, metavar="TIME", help="end it after 2m, say (default: with mend)"
    )
    fault.add_argument(
        "--share", type=_share, default=1.0, metavar="SHARE", help="of the requests, such as 0.1 (default: all)"
    )
    actions.add_parser("mend", help="end all faults")
    for action in actions.choices.values():
        action.add_argument("--port", type=_port, default=8010, help="port of the fake SEC (default: %(default)s)")


class _Version(argparse.Action):
    """Prints the release."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from pipelines.release import RELEASE

        print(f"{parser.prog} {RELEASE}")
        parser.exit()


def _add_symbols(parser: argparse.ArgumentParser, help: str) -> None:
    """Let a command take symbols; the default is FUNDAMENTALS_SYMBOLS."""
    default = os.environ.get("FUNDAMENTALS_SYMBOLS") or ()
    parser.add_argument("--symbols", type=_symbols, default=default, metavar="A,B", help=help)


def _symbols(text: str) -> tuple[str, ...]:
    symbols = tuple(symbol.strip() for symbol in text.split(","))
    if not all(symbols):
        raise argparse.ArgumentTypeError(f"{text!r} has an empty symbol, expected something like AAPL,MSFT")
    return symbols


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port, expected 0 to 65535")
    return int(text)


def _cik(text: str) -> str:
    if not (text.isascii() and text.isdigit() and len(text) <= 10):
        raise argparse.ArgumentTypeError(f"{text!r} is not a CIK, expected a number of at most ten digits")
    return text.zfill(10)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 4 and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number, expected 1 to 9999")
    return int(text)


def _duration(text: str) -> timedelta:
    found = re.fullmatch(r"(\d{1,6})([smh])", text, re.ASCII)
    if not found or not int(found[1]):
        raise argparse.ArgumentTypeError(f"{text!r} is not a duration, expected something like 30s, 2m or 1h")
    return int(found[1]) * {"s": timedelta(seconds=1), "m": timedelta(minutes=1), "h": timedelta(hours=1)}[found[2]]


def _share(text: str) -> float:
    if not re.fullmatch(r"0?\.\d{1,6}|1(\.0*)?", text, re.ASCII) or not float(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a share, expected a number above 0, at most 1")
    return float(text)


def _processes(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 4 and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes, expected 1 or more")
    return int(text)


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
