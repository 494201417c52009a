"""The command `fundamentals sample --next-day`: synchronizes the next day of the sample, and prints where to see the
changes.

Belongs here: output on the terminal. Does not: the filings of that day (sample.filer.next_day), the synchronization
(synchronize).
"""

from collections.abc import Iterator

from pipelines.dagster_app import synchronize
from pipelines.errors import PipelineError
from pipelines.sample import EVENTS, NEXT_DAY
from pipelines.sources import SAMPLE_NEXT_DAY
from pipelines.storage.home import Home
from warehouse.build.publish import readable

REVISIONS = "/companies/XQHBR/financials/revisions?items=revenue,net_income&limit=2"


class NextDayError(PipelineError):
    """The home has no build of the sample's first day yet."""


def main(pages: str, interface: str) -> int:
    """Synchronize the next day of the sample, and print its events.

    Args:
        pages: the address of the pages of the service.
        interface: the address of its interface.

    Returns:
        the exit status of the synchronization.

    Raises:
        NextDayError: the home has no build with which the next build could be compared.
    """
    before = _build()
    status = synchronize.main(SAMPLE_NEXT_DAY, (), full=False)
    if status == 0:
        print("\n".join(_what_happened(pages, interface, is_new=_build() != before)))
    return status


def _build() -> str:
    """The id of the published build."""
    home = Home.from_environment()
    pointer = readable(home.published)
    if pointer is None:
        raise NextDayError(
            f"{home.root}: nothing is published; synchronize the sample first, as `make run` does, "
            "and let FUNDAMENTALS_HOME name its home, such as .data/sample"
        )
    return pointer.build


def _what_happened(pages: str, interface: str, *, is_new: bool) -> Iterator[str]:
    """The lines of the report: the event of each company, and the page that shows it."""
    yield f"\nThe next day of the sample, {NEXT_DAY}{'' if is_new else ', was there already'}:\n"
    for event in EVENTS:
        yield f"  {event.symbol}  {event.what}"
        yield f"         {event.shows}: {pages}/companies/{event.symbol}{event.page}"
    yield f"\nNew and restated values, and new companies: {pages}/changes"
    yield "Marks of new values, `fundamentals follow` and the alarms: docs/commands.md, A filing of now"
    yield "\nIn a program, with the key that `make run` printed:\n"
    yield f"  curl -H \"X-Api-Key: $KEY\" '{interface}{REVISIONS}'"
