"""Peers: companies of the same industry, nearest in revenue; the pages and macro `peers` name the same ones."""

from pathlib import Path

from serve.site.frame.directory import Directory, directory
from tests.published import opened
from tests.sites import Read, published
from warehouse.queries.company_queries import Listed


def company(
    symbol: str, revenue: float | None, sic: str = "7372", *, currency: str = "USD", primary: bool = True
) -> Listed:
    """A company whose number is its symbol up to a hyphen."""
    figures = (revenue, None, None, None, sic, None, None)
    about = (symbol, None, None, "Business services", symbol.partition("-")[0], currency, "2025Q3", "2025-09-30")
    return Listed(*about, *figures, primary)


def test_peers_are_nearest_in_revenue_and_those_of_the_same_code_come_first() -> None:
    """Not another class of the company, nor another currency, nor a company without revenue; distant ones come last."""
    others = [
        *(company("OWN-B", 100.0, primary=False), company("EURO", 100.0, currency="EUR"), company("NONE", None)),
        *(company("SAME", 300.0), company("SMALL", 50.0), company("SMALL-B", 50.0, primary=False)),
        *(company("NEAR", 101.0, "7370"), company("FAR", 2_000.0), company("MORE", 400.0), company("LESS", 20.0)),
        company("LAST", 5_000.0, "7370"),
    ]
    found = Directory([company("OWN", 100.0), *others])
    assert [row.symbol for row in found.peers("own")] == ["SMALL", "SAME", "MORE", "LESS", "NEAR"]
    assert [row.symbol for row in found.peers("OWN-B")] == ["SMALL", "SAME", "MORE", "LESS", "NEAR"]
    assert found.peers("NONE") == found.peers("UNKNOWN") == []


def test_the_macro_and_the_page_name_the_same_companies(synchronized_sample: Path) -> None:
    """For every symbol of the sample; the page shows them with the company itself, and leads to their comparison."""
    with opened(synchronized_sample / "published") as build:
        of = directory(build)
        in_memory = {row.symbol: [peer.symbol for peer in of.peers(row.symbol)] for row in of.rows}
        asked = {
            symbol: build.rows("SELECT symbol FROM peers(lower($symbol))", {"symbol": symbol}) for symbol in in_memory
        }
    assert {symbol: [peer for (peer,) in rows] for symbol, rows in asked.items()} == in_memory
    symbol, peers = max(in_memory.items(), key=lambda each: len(each[1]))
    assert peers
    with published(synchronized_sample) as site, site.signed_in() as reader:
        page = Read(reader.get(f"/companies/{symbol}").text)
    assert f"/compare?symbols={','.join([symbol, *peers][:5])}" in page.links
    assert {f"/companies/{peer}" for peer in peers} <= {*page.links}
