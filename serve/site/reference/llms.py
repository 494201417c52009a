"""The file `/llms.txt`: the list of pages for language models (llmstxt.org).

Belongs here: the listed pages, with a description of each. Does not: the pages.
"""

from starlette.requests import Request
from starlette.responses import Response

from serve.site.frame import transfer
from serve.site.frame.pages import DISCLAIMER, Access, PageRoute, Pages
from serve.site.lists import rules_page
from serve.site.reference import changelog_page, dictionary_page, errors_page, reference

TEXT = """\
# Fundamentals Data Service

> Standardized fundamentals of listed US companies, built from the SEC's public filings: eleven line items, trailing
> twelve months and fiscal years, every version of every value. A read-only JSON interface below {address}.
> {disclaimer}

Every request except the status needs a key in the header `X-Api-Key`, never in the URL. An item without a value is left
out of a response: it is missing, not zero.

## Pages

{pages}
## For programs

- [OpenAPI 3.1]({address}/openapi.json): the description that clients can be generated from
- [Status]({address}/status): whether the interface is up, and how fresh the data is
"""
PAGES = (
    ("Front page", "/index.md", "What this is, for whom, and how fresh the data is."),
    ("Interface reference", "/reference.md", reference.SUMMARY),
    ("Errors", "/errors.md", errors_page.SUMMARY),
    ("Data dictionary", "/dictionary.md", dictionary_page.SUMMARY),
    ("Rules", "/rules.md", rules_page.SUMMARY),
    ("Changelog of the interface", "/changelog.md", changelog_page.SUMMARY),
)


def show(pages: Pages, request: Request) -> Response:
    """The list, as Markdown with the media type of plain text."""
    site = pages.settings.pages
    listed = "".join(f"- [{name}]({site}{path}): {about}\n" for name, path, about in PAGES)
    text = TEXT.format(address=pages.settings.base_url, disclaimer=DISCLAIMER, pages=listed)
    return transfer.shared(Response(text, media_type="text/plain; charset=utf-8"), request)


ROUTES: tuple[PageRoute, ...] = (("/llms.txt", show, Access.PUBLIC),)
