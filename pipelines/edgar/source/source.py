"""An opened source of documents, and how fast documents may be requested from it.

Belongs here: what all sources have in common. Does not: opening them (pipelines.sources), requests (client, mirror,
bulk_folder), which documents are requested (extract).
"""

import os
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, Self

from pipelines.edgar.answers import Client

# The SEC allows ten requests a second. It counts arrivals, which are less regular than the times of sending: at this
# pace, no second has more than ten even if a request arrives a tenth of a second late.
REQUESTS_A_SECOND = 9.0


@dataclass(frozen=True, slots=True)
class Source:
    """An opened source.

    Attributes:
        name: `live`, `mirror` or `sample`.
        kind: `edgar` for real data, `sample` for fictional data; a home never has both.
        client: requests documents.
        threads: number of parallel requests.
        absence_lasts: how long a 404 is remembered before the document is requested again.
    """

    name: Literal["live", "mirror", "sample"]
    kind: Literal["edgar", "sample"]
    client: Client
    threads: int = 1
    absence_lasts: timedelta = timedelta(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()


def archive_threads() -> int:
    """The number of members of an archive that are read at the same time; each may be as large as the largest
    document."""
    return min(os.cpu_count() or 1, 4)
