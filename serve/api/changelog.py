"""The changelog of the HTTP interface, newest entry last, with the fingerprint of the OpenAPI description after each.

Belongs here: one entry per change that a client can see. Does not: changes of the project (CHANGELOG.md).

Every change of the description needs an entry. The number of entries is part of the description's version, and the
last entry has the fingerprint of the served description. `python -m serve.api.description --fingerprint` prints it.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """One change of v1 during its beta.

    `fingerprint` is the SHA-256 of the canonical description (see serve.api.description); None if none was served yet.
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
            "Every company has a fair value per share or reasons for having none; reason `not_yet_valued` is removed.",
            "A valuation without a value states its base period too: `period` and `period_end`.",
            "`assumptions` has `base_is_normalized` and `reported_free_cash_flow`.",
        ),
        "b9962070aad6824ce2e654e7e3c06772e27c69e6c2d34cbccf78fe6329812e1d",
    ),
    Entry(
        "2026-11-22",
        (
            "Requests without a valid key are limited by client address: after 60 in a minute they get 429 instead of "
            "401, and `GET /status` gets 429 after 120. A request with a valid key is never refused for its address.",
            "`GET /status` has `reason`, which says why the status is degraded; `next_synchronization_at` is null if "
            "none is scheduled.",
        ),
        "03a2a01e0ba71cd77210e0b529b7c6bb68eca9385c4ce32dd2aa71debcb16351",
    ),
    Entry(
        "2026-11-23",
        (
            "The description types the parameter `items` as a string with comma-separated names, so that generated "
            "clients send it in that form; before, as an array. Requests and responses are unchanged.",
        ),
        "275727a5003aa5b4a07861eaf81b5c0986f4330b15a892f592a29d7745114c24",
    ),
    Entry(
        "2026-11-28",
        ("`GET /status` has `quarantined`: the number of companies that keep earlier values.",),
        "2d2308bd8aadd39d60455a13874db261073bb22c24450d0aaa27057c4adfc462",
    ),
    Entry(
        "2026-11-29",
        (
            "Amounts per share, counts of shares and fair values are those of the symbol's class of stock. If the "
            "classes earn differently and that of a symbol is not known, these items have no value, and the valuation "
            "has the reason `class_of_stock_not_stated`.",
        ),
        "45954d9190323b84a191377aeea95cf5f062338dc98ae8c1d2d7812eefa4bb4f",
    ),
    Entry(
        "2026-12-01",
        (
            "A response that was kept from an earlier request says in the header `Age` how old it is, and `max-age` "
            "counts from `meta.generated_at`. It is kept for four hours at most; before, until the data changed.",
            "`name` is in title case where EDGAR has it in capitals, and without EDGAR's mark at its end (`/DE/`), as "
            "on the pages.",
            "The description says that `meta.total` of the list of companies counts symbols, as it always did.",
        ),
        "7bdf6383731ce035b21c891e3147eb48273c101e23ea9da165586d5477c9f222",
    ),
)
VERSION = f"1.0.0-beta.{len(ENTRIES)}"
