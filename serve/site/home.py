"""The front page: what the service is, for whom, and how fresh its data is.

Belongs here: the status and the example that are shown. Does not: the text (templates/index.md).
"""

import msgspec

from serve.api import examples, responses
from serve.api.condition import what_is_amiss, without_data
from serve.api.endpoints import Question, show_status
from serve.api.models import Status
from serve.site.markdown import Document, write
from serve.site.pages import Pages
from warehouse.errors import WarehouseError
from warehouse.reader import OpenBuild
from warehouse.schema import LINE_ITEMS

FICTIONAL = "sample"  # the source with fictional filers
EXAMPLE = f"/companies/{examples.SYMBOL}/financials?period=annual&items=revenue,free_cash_flow&limit=1"


STYLES = (("fresh", "figures"), ("whom", "cards"), ("items", "terms"), ("begin", "steps"))
"""How the list under each heading looks in a browser."""


def document(pages: Pages) -> Document:
    """The page, with the status of this moment."""
    try:
        with pages.warehouse.build() as build:
            amiss = what_is_amiss(pages.warehouse, pages.limits)
            state, source = _status(pages, build, amiss), build.pointer.synchronization.source
    except WarehouseError as error:
        state, source = _status(pages, None, without_data(error)), None
    data = [responses.period(examples.YEAR, examples.ITEMS)]
    text = write(
        "index.md",
        state=state,
        is_fictional=source == FICTIONAL,
        line_items=LINE_ITEMS,
        base_url=pages.settings.base_url,
        example=EXAMPLE,
        answer=msgspec.json.format(msgspec.json.encode({"data": data}), indent=2).decode(),
    )
    return Document(text, styles=STYLES)


def _status(pages: Pages, build: OpenBuild | None, amiss: str | None) -> Status:
    """The status as /v1/status returns it."""
    status, _ = show_status(Question(build, amiss, pages.settings.base_url, "", {}, pages.clock()))
    return msgspec.convert(status, Status)
