"""A simulated browser: cookies, forms with their hidden fields, and the headers that state a request's origin.

Belongs here: the actions of a person with a browser on the pages. Does not: any test, a real browser (tests/e2e).
"""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import httpx


@dataclass
class Form:
    """A form of a page: its target, and the values that it sends when its button is pressed."""

    action: str
    values: dict[str, str] = field(default_factory=dict)


class Document(HTMLParser):
    """A parsed page: its text, its forms that change something, the forms that search, and its elements."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text = ""
        self.forms: list[Form] = []
        self.searches: list[Form] = []
        self._within = Form("")
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Collect an element and the fields of forms."""
        known = dict(attributes)
        self.elements.append((tag, known))
        if tag == "form":
            self._within = Form(known["action"] or "")
            (self.forms if known["method"] == "post" else self.searches).append(self._within)
        elif tag in ("input", "button") and known.get("name"):
            self._within.values[known["name"] or ""] = known.get("value") or ""

    def handle_data(self, data: str) -> None:
        """Collect text."""
        self.text += data

    def form(self, **holding: str) -> Form:
        """The first form that contains these values."""
        return next(form for form in self.forms if holding.items() <= form.values.items())


class Browser:
    """A browser with its own cookies."""

    def __init__(self, address: str) -> None:
        """Open a browser at a service's address, without the version segment."""
        self.address = address
        self.client = httpx.Client(base_url=address, headers={"Accept": "text/html,application/xhtml+xml"})

    def get(self, path: str) -> httpx.Response:
        """Request a path, or a public address of the service."""
        return self.client.get("/" + path.partition("://")[2].partition("/")[2] if "://" in path else path)

    def post(self, path: str, values: dict[str, str], origin: str | None = "") -> httpx.Response:
        """Send values as a form with this origin: the service's own by default; None: without an Origin header."""
        headers = {} if origin is None else {"Origin": origin or self.address}
        return self.client.post(path, data=values, headers=headers)

    def press(self, page: httpx.Response, **holding: str) -> httpx.Response:
        """Send the form of a page that contains these values, and follow the redirect."""
        form = Document(page.text).form(**holding)
        response = self.post(form.action, form.values)
        return self.client.get(response.headers["location"]) if response.is_redirect else response

    def sign_in(self, link: str) -> httpx.Response:
        """Open a sign-in link and press its button."""
        return self.press(self.get(link))

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: Any) -> None:
        self.client.close()
