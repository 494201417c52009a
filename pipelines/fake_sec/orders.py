"""Orders to the fake SEC while it runs: file reports, begin a fault, end all faults.

Belongs here: the form of orders, and sending an order. Does not: carrying them out (rehearsal).
"""

import httpx
import msgspec

from pipelines.errors import PipelineError
from pipelines.fake_sec.faults import ALL

PATH = "/fake-sec"
"""The path to which orders are sent."""
REFUSED = 400
"""The status of the answer to an order that cannot be carried out."""
PATIENCE = 60.0
"""Seconds to wait for the answer to an order."""


class FakeSecError(PipelineError):
    """The fake SEC cannot start, is not running, or cannot carry out an order."""


class File(msgspec.Struct, tag=True):
    """File the next reports, of any company or of the given one."""

    symbol: str = ""
    number: int = 1


class Begin(msgspec.Struct, tag=True):
    """Begin a fault of a part, for a number of seconds (None: until it is mended) and a share of the replies."""

    fault: str
    part: str = ALL
    seconds: float | None = None
    share: float = 1.0


class Mend(msgspec.Struct, tag=True):
    """End all faults."""


Order = File | Begin | Mend


def send(order: Order, port: int) -> str:
    """Send an order to the fake SEC of this machine; return its answer in words.

    Raises:
        FakeSecError: no fake SEC is running on this port, or it cannot carry out the order.
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
