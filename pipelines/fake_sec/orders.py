"""Orders to the fake SEC while it runs: file reports, begin a fault, end all faults.

Belongs here: their form, and sending one. Does not: carrying them out (rehearsal).
"""

import httpx
import msgspec

from pipelines.errors import PipelineError
from pipelines.fake_sec.faults import ALL

PATH = "/fake-sec"
"""Where orders are sent to."""
REFUSED = 400
"""The status of the answer to an order that cannot be carried out."""
PATIENCE = 60.0
"""Seconds until an order counts as not carried out."""


class FakeSecError(PipelineError):
    """The fake SEC cannot start, is not there, or cannot carry out an order."""


class File(msgspec.Struct, tag=True):
    """File the next reports, or the next ones of a company."""

    symbol: str = ""
    number: int = 1


class Begin(msgspec.Struct, tag=True):
    """Begin a fault of a part, for some seconds (None: until it is mended) and a share of the replies."""

    fault: str
    part: str = ALL
    seconds: float | None = None
    share: float = 1.0


class Mend(msgspec.Struct, tag=True):
    """End all faults."""


Order = File | Begin | Mend


def send(order: Order, port: int) -> str:
    """Send an order to the fake SEC of this machine; what it did, in words.

    Raises:
        FakeSecError: there is none on this port, or it cannot carry out the order.
    """
    url = f"http://127.0.0.1:{port}"
    try:
        answer = httpx.post(url + PATH, content=msgspec.json.encode(order), timeout=PATIENCE)
    except httpx.TransportError as error:
        raise FakeSecError(f"no fake SEC on {url}: {error}; start it with `fundamentals fake-sec serve`") from error
    if answer.is_success:
        return answer.text
    what = answer.text if answer.status_code == REFUSED else f"{url} answers {answer.status_code}, as no fake SEC does"
    raise FakeSecError(what)
