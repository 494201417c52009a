"""The reader's choices on a company's page: the years, the kind of periods, the scale of the charts.

Belongs here: the query parameters and the links that change them. Does not: the values (history), drawing (charts).
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple
from urllib.parse import urlencode

from serve.errors import NotFound
from serve.site.text.paths import company_path


class Choice(NamedTuple):
    """A choice: the name of its parameter and field, its title, and its values with their texts."""

    name: str
    title: str
    texts: Mapping[str, str]


PERIODS = "periods"
CHOICES = (
    Choice(PERIODS, "Periods", {"annual": "Fiscal years", "ttm": "TTM by quarter", "quarter": "Quarters"}),
    Choice("years", "Range", {"5": "5 years", "10": "10 years", "all": "All years"}),
    Choice("scale", "Charts", {"linear": "Linear", "log": "Logarithmic"}),
)


@dataclass(frozen=True, slots=True)
class View:
    """The choices of a request."""

    periods: str = "annual"
    years: str = "10"
    scale: str = "linear"

    @property
    def reach(self) -> int | None:
        """The number of years shown; None for all."""
        return None if self.years == "all" else int(self.years)

    def links(self, symbol: str, kinds: Collection[str]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """Each choice: its title, and the texts of its values with their addresses.

        The address of the chosen value is empty.

        Args:
            symbol: the company.
            kinds: the kinds of periods that it has; with only one, there is no choice of periods.
        """
        for choice in CHOICES if len(kinds) > 1 else CHOICES[1:]:
            chosen = getattr(self, choice.name)
            texts = {value: text for value, text in choice.texts.items() if choice.name != PERIODS or value in kinds}
            yield (
                choice.title,
                [
                    (text, "" if value == chosen else replace(self, **{choice.name: value}).address(symbol))
                    for value, text in texts.items()
                ],
            )

    def address(self, symbol: str) -> str:
        """The address of the page with these choices, at its figures."""
        chosen = {choice.name: getattr(self, choice.name) for choice in CHOICES}
        query = urlencode({name: value for name, value in chosen.items() if value != getattr(DEFAULT, name)})
        return f"{company_path(symbol)}{'?' if query else ''}{query}#figures"


DEFAULT = View()


def asked(query: Mapping[str, str]) -> View:
    """The choices in a query; other parameters are ignored.

    Raises:
        NotFound: a choice has no such value.
    """
    for choice in CHOICES:
        if query.get(choice.name, getattr(DEFAULT, choice.name)) not in choice.texts:
            raise NotFound(f"The page of a company has no such choice of {choice.name}: {', '.join(choice.texts)}.")
    return View(**{choice.name: query[choice.name] for choice in CHOICES if choice.name in query})
