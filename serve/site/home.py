"""The front page: what the service is, for whom, and how fresh its data is.

Belongs here: the status and the example that are shown. Does not: the text (templates/index.md).
"""

from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from serve.api import examples
from serve.api.condition import what_is_amiss, without_data
from serve.api.endpoints import Question, show_status
from serve.api.models import Status
from serve.site.live import ASKED, live
from serve.site.markdown import Document, write
from serve.site.pages import Pages
from warehouse.errors import WarehouseError
from warehouse.reader import OpenBuild
from warehouse.schema import LINE_ITEMS

ENDPOINT = "listFinancials"
"""The endpoint of the example."""
STYLES = (("fresh", "figures"), ("whom", "cards"), ("items", "terms"), ("begin", "steps"))
"""How the list under each heading looks in a browser."""


def document(pages: Pages) -> Document:
    """The page, with the status of this moment."""
    try:
        with pages.warehouse.build() as build:
            amiss = what_is_amiss(pages.warehouse, pages.limits)
            state, shown = _status(pages, build, amiss), live(build, pages.settings.base_url)
    except WarehouseError as error:
        state, shown = _status(pages, None, without_data(error)), None
    answer: Any = shown.answers[ENDPOINT] if shown else examples.ANSWERS[ENDPOINT]["year"]
    query = urlencode(shown.asked[ENDPOINT] if shown else ASKED[ENDPOINT], safe=",")
    symbol = quote(shown.company.symbol, safe="") if shown else examples.SYMBOL
    text = write(
        "index.md",
        state=state,
        is_fictional=bool(shown and shown.is_fictional),
        name=shown.name if shown else None,
        line_items=LINE_ITEMS,
        base_url=pages.settings.base_url,
        example=f"/companies/{symbol}/financials?{query}",
        answer=msgspec.json.format(msgspec.json.encode({"data": answer["data"]}), indent=2).decode(),
    )
    return Document(text, styles=STYLES)


def _status(pages: Pages, build: OpenBuild | None, amiss: str | None) -> Status:
    """The status as /v1/status returns it."""
    status, _ = show_status(Question(build, amiss, pages.settings.base_url, "", {}, pages.clock()))
    return msgspec.convert(status, Status)
