"""Command lines of `fundamentals` that documents and units contain."""

from collections.abc import Iterator, Sequence

import click

import fundamentals


def parsed(arguments: Sequence[str], group: click.Group = fundamentals.cli) -> click.Context:
    """Parse arguments without running their command; the context has the values by name in `params`.

    Raises:
        click.ClickException: there is no such command, or its arguments are wrong.
    """
    name, command, rest = group.resolve_command(click.Context(group), [*arguments])
    assert command
    return parsed(rest, command) if isinstance(command, click.Group) else command.make_context(name, rest)


def all_commands(command: click.Command = fundamentals.cli, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The names of each command, such as `keys` and `create`."""
    if not isinstance(command, click.Group):
        yield before
        return
    for name, each in command.commands.items():
        yield from all_commands(each, (*before, name))
