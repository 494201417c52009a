"""What changed in the HTTP interface, newest last, with the fingerprint of its description after each change.

Belongs here: one entry a change that a client can see. Does not: changes of the project (CHANGELOG.md).

A change of the description needs an entry: its number is part of the description, so that the fingerprint of what is
served is always that of the last one. `python -m serve.openapi --fingerprint` prints it.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """One change of v1 while it is in beta.

    `fingerprint` is the SHA-256 of the canonical description (see serve.openapi); None where none was served yet.
    """

    released: str
    changes: tuple[str, ...]
    fingerprint: str | None


ENTRIES: tuple[Entry, ...] = (
    Entry(
        "2026-11-21",
        (
            "First release: companies, profile, financials, revisions, valuation and status; eleven line items; "
            "periods ttm and annual; authentication by a key in a header; limits per minute and day.",
        ),
        None,
    ),
    Entry(
        "2026-11-21",
        (
            "Every endpoint rejects undocumented query parameters with 422.",
            "The description is served at /openapi.json: response objects are closed, fields that are always present "
            "are required, and the 422 response is documented for every endpoint.",
        ),
        "afee80d55b0ea1efd36cbad116775af96be83c7ff8b151d194c41144e251b42f",
    ),
    Entry(
        "2026-11-21",
        (
            "Every company has a fair value per share or reasons why it has none; the reason `not_yet_valued` is gone.",
            "A valuation without a value tells its base period too: `period` and `period_end`.",
            "`assumptions` has `base_is_normalized` and `reported_free_cash_flow`.",
        ),
        "b9962070aad6824ce2e654e7e3c06772e27c69e6c2d34cbccf78fe6329812e1d",
    ),
)
VERSION = f"1.0.0-beta.{len(ENTRIES)}"
