"""The page `/companies`: the list of covered companies, searched, filtered and sorted.

Belongs here: the form and the links of the list. Does not: its columns (columns), finding and sorting companies
(directory), the text (templates/companies.md), one company's page (company_page).
"""

import re
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from urllib.parse import urlencode

from starlette.requests import Request

from serve.errors import NotFound
from serve.site.account import watchlist
from serve.site.company.columns import columns_of_list
from serve.site.frame.directory import BY_AMOUNT, BY_TEXT, IN_CURRENCY, Bounds, Directory
from serve.site.text.markdown import Bound, Choice, Document, Markdown, Search, write
from warehouse.contract.fictional import is_fictional
from warehouse.queries.company_queries import Listed

PAGE = 50  # companies on a page of the list
PATH = "/companies"
LONGEST = 100  # characters of a search text


LIMITS = {
    "net_margin": ("Net margin, %", Decimal("0.01")),
    "operating_margin": ("Operating margin, %", Decimal("0.01")),
    "gross_margin": ("Gross margin, %", Decimal("0.01")),
    "growth": ("Growth of revenue, %", Decimal("0.01")),
    "roic": ("Return on invested capital, %", Decimal("0.01")),
    "debt_to_fcf": ("Debt to free cash flow, years", Decimal(1)),
    **{
        name: (f"{title}, millions", Decimal(1_000_000))
        for name, title in (("revenue", "Revenue"), ("net_income", "Net income"), ("free_cash_flow", "Free cash flow"))
    },
}
"""The figures by which the list can be filtered: the label, and the unit of the bounds.

Amounts are in the currency of each company.
"""
BOUNDS = {name: (f"{name}_min", f"{name}_max") for name in LIMITS}
"""The parameters of the smallest and the largest value of each figure."""
NUMBER = re.compile(r"-?\d{1,12}(\.\d{1,12})?")
ENDS = tuple(end for ends in BOUNDS.values() for end in ends)
ASKED = ("search", "exchange", "industry", "sort", watchlist.WATCHED, *ENDS)
"""The query parameters of the list."""
ONLY_WATCHED = (watchlist.YES, "Watched only")
SORTS = frozenset(sign + name for name in (*BY_TEXT, *BY_AMOUNT) for sign in ("", "-"))


def asked_for(request: Request) -> dict[str, str]:
    """The query parameters of a request for the list, by the names of ASKED; empty text if not given.

    Raises:
        NotFound: the list cannot be sorted so, a bound is not a number, or `watched` has another value than yes.
    """
    asked = {name: request.query_params.get(name, "").strip() for name in ASKED}
    asked["search"] = text_of(request, "search")
    watchlist.is_asked_for(request)
    if asked["sort"] not in ("", *SORTS):
        raise NotFound(f"The list can be sorted by one of {', '.join(sorted(SORTS))}.")
    for name in ENDS:
        if asked[name] and not NUMBER.fullmatch(asked[name]):
            raise NotFound(f"{name} must be a number, such as 12.5.")
    return asked


def text_of(request: Request, parameter: str = "text") -> str:
    """The search text of a request, with single spaces.

    Raises:
        NotFound: it is longer than LONGEST.
    """
    text = " ".join(request.query_params.get(parameter, "").split())
    if len(text) > LONGEST:
        raise NotFound(f"The search text is longer than {LONGEST} characters.")
    return text


def chosen(of: Directory, asked: Mapping[str, str], watched: Collection[str] = ()) -> list[Listed]:
    """The companies of the list for the given parameters; `watched` are the CIKs of the reader's watchlist."""
    bounds: dict[str, Bounds] = {}
    for figure, ends in BOUNDS.items():
        least, most = (float(Decimal(asked[end]) * LIMITS[figure][1]) if asked[end] else None for end in ends)
        if least is not None or most is not None:
            bounds[figure] = least, most
    rows = of.chosen(asked["search"], asked["exchange"], asked["industry"], asked["sort"], bounds)
    return [row for row in rows if row.cik in watched] if asked[watchlist.WATCHED] else rows


def document(
    of: Directory,
    rows: Sequence[Listed],
    near: Sequence[Listed],
    asked: Mapping[str, str],
    page: int,
    watched: Collection[str] | None = None,
) -> Document:
    """A page of the list.

    Args:
        of: all companies, whose exchanges and industries can be chosen.
        rows: the companies that were chosen, on all pages.
        near: companies to show if no company was found.
        asked: the parameters of the list (see asked_for).
        page: number of this page, from 1.
        watched: the CIKs of the reader's watchlist; None for a program, which has no forms.
    """
    last = last_page(rows)
    name, is_descending = asked["sort"].removeprefix("-"), asked["sort"].startswith("-")
    turns = [("First page", 1, page > 2), ("Previous page", page - 1, page > 1)]
    turns += [("Next page", page + 1, page < last), ("Last page", last, page < last - 1)]
    used = {name, *(figure for figure, ends in BOUNDS.items() if any(asked[end] for end in ends))}
    shown = rows[(page - 1) * PAGE : page * PAGE] or near
    text = write(
        "companies.md",
        rows=shown,
        has_stars=watched is not None,
        star=watchlist.place,
        total=len(rows),
        companies=len({row.cik for row in rows}),
        asked=asked,
        is_bounded=any(asked[end] for end in ENDS),
        unknown_exchange=asked["exchange"] not in ("", *of.exchanges),
        exchanges=sorted(of.exchanges, key=str.casefold),
        page=page,
        file=_address(asked).replace(PATH, f"{PATH}.csv", 1),
        last=last,
        columns=columns_of_list(used),
        arrow={name: Markdown("\u00a0↓" if is_descending else "\u00a0↑")},  # no line break before the arrow
        address=lambda column: _address(asked, sort=column.sorted_by(asked["sort"])),
        is_fictional=any(is_fictional(row.cik) for row in of.rows[:1]),
        is_by_amount=name in IN_CURRENCY,
        turns=[(text, _address(asked, page=str(to))) for text, to, is_there in turns if is_there],
    )
    choices = (
        Choice("Exchange", "exchange", asked["exchange"], "All exchanges", _counted(of.exchanges)),
        Choice("Industry", "industry", asked["industry"], "All industries", _counted(of.industries)),
        Choice("Watchlist", watchlist.WATCHED, asked[watchlist.WATCHED], "All companies", (ONLY_WATCHED,)),
    )
    bounds = tuple(
        Bound(label, BOUNDS[name], (asked[BOUNDS[name][0]], asked[BOUNDS[name][1]]))
        for name, (label, _) in LIMITS.items()
    )
    kept = (("sort", asked["sort"]),)
    form = Search("Symbol, name or CIK", "search", asked["search"], "Show", choices, bounds, kept)
    stars = () if watched is None else watchlist.stars([(row.symbol, row.cik) for row in shown], watched)
    return Document(text, search=form, drawings=stars, watch=None if watched is None else ("", ""))


def last_page(rows: Sequence[Listed]) -> int:
    """The number of the last page of a list."""
    return max(1, -(-len(rows) // PAGE))


def _counted(names: Mapping[str, int]) -> tuple[tuple[str, str], ...]:
    """Each name, and its text with the number of companies."""
    return tuple((name, f"{name} ({names[name]:,})") for name in sorted(names, key=str.casefold))


def _address(asked: Mapping[str, str], **more: str) -> str:
    """The address of the list with these parameters; `more` overrides them."""
    query = urlencode({name: value for name, value in {**asked, **more}.items() if value})
    return f"{PATH}?{query}" if query else PATH
