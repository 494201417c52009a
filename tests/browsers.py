"""A browser without a window: cookies, forms with what they hide, and the headers by which browsers tell where from.

Belongs here: what a person with a browser does on the pages. Does not: any test, a real browser (tests/e2e).
"""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import httpx


@dataclass
class Form:
    """A form of a page: where it goes, and what it sends when its button is pressed."""

    action: str
    values: dict[str, str] = field(default_factory=dict)


class Document(HTMLParser):
    """What tests look at in a page: its text, its forms, its elements."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text = ""
        self.forms: list[Form] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note an element, and what forms send."""
        known = dict(attributes)
        self.elements.append((tag, known))
        if tag == "form":
            self.forms.append(Form(known["action"] or ""))
        elif tag in ("input", "button") and known.get("name"):
            self.forms[-1].values[known["name"] or ""] = known["value"] or ""

    def handle_data(self, data: str) -> None:
        """Note the text."""
        self.text += data

    def form(self, **holding: str) -> Form:
        """The first form that holds these values."""
        return next(form for form in self.forms if holding.items() <= form.values.items())


class Browser:
    """One browser, with cookies of its own."""

    def __init__(self, address: str) -> None:
        """Open it at a service's address, without the version segment."""
        self.address = address
        self.client = httpx.Client(base_url=address, headers={"Accept": "text/html,application/xhtml+xml"})

    def get(self, path: str) -> httpx.Response:
        """Go to a path, or to an address of the service as its public name has it."""
        return self.client.get("/" + path.partition("://")[2].partition("/")[2] if "://" in path else path)

    def post(self, path: str, values: dict[str, str], origin: str | None = "") -> httpx.Response:
        """Send values as a form of this origin: the service's own where none is given, none at all for None."""
        headers = {} if origin is None else {"Origin": origin or self.address}
        return self.client.post(path, data=values, headers=headers)

    def press(self, page: httpx.Response, **holding: str) -> httpx.Response:
        """Send the form of a page that holds these values, and go where that leads."""
        form = Document(page.text).form(**holding)
        response = self.post(form.action, form.values)
        return self.client.get(response.headers["location"]) if response.is_redirect else response

    def sign_in(self, link: str) -> httpx.Response:
        """Open a link and press its button."""
        return self.press(self.get(link))

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: Any) -> None:
        self.client.close()
