"""Listings: which symbols of a company are its common equity."""

import polars as pl
import pytest

from pipelines.normalize.listings import classified


def kinds(*symbols: tuple[str, str | None]) -> dict[str, str]:
    """Kind by symbol, for the symbols of one company in the order of the list; the primary one in capitals."""
    listing = pl.DataFrame(
        [("9990000901", symbol, exchange) for symbol, exchange in symbols],
        schema={"cik": pl.String, "symbol": pl.String, "exchange": pl.String},
        orient="row",
    )
    found = classified(listing)
    assert found["is_primary"].sum() == 1
    return {row["symbol"]: row["kind"].upper() if row["is_primary"] else row["kind"] for row in found.to_dicts()}


@pytest.mark.parametrize(
    ("symbol", "exchange", "kind"),
    [
        ("XMPL-B", "NYSE", "common"),
        ("XMPL-PA", "NYSE", "preferred"),
        ("XMPL-P", "NYSE", "preferred"),
        ("XMPL-WT", "NYSE", "warrant"),
        ("XMPL-WS", "NYSE", "warrant"),
        ("XMPL-UN", "NYSE", "unit"),
        ("XMPL-RI", "NYSE", "right"),
        ("XMPLP", "Nasdaq", "preferred"),
        ("XMPLW", "Nasdaq", "warrant"),
        ("XMPLU", "Nasdaq", "unit"),
        ("XMPLR", "Nasdaq", "right"),
        ("XMPLZ", "Nasdaq", "note"),
        ("XMPLB", "Nasdaq", "common"),
        ("XMPA", "OTC", "common"),
        ("XMPX", "NYSE", "other"),
        ("QQQQ", "Nasdaq", "other"),
        ("XMABCD", "Nasdaq", "other"),
    ],
)
def test_the_kind_of_a_symbol_after_the_companys_first(symbol, exchange, kind):
    assert kinds(("XMPL", exchange), (symbol, exchange)) == {"XMPL": "COMMON", symbol: kind}


@pytest.mark.parametrize(
    "of_symbols",
    [
        # the list has a company's main symbol first, but a unit or a warrant may precede it
        {("XMPL-UN", "NYSE"): "unit", ("XMPL", "NYSE"): "COMMON", ("XMPL-WT", "NYSE"): "warrant"},
        {("XMPL-PA", "NYSE"): "COMMON", ("XMPL-PB", "NYSE"): "preferred"},
        {("XMPLW", "Nasdaq"): "COMMON"},
        {("XMPL", None): "COMMON", ("XMPLF", None): "common"},
    ],
    ids=[
        "the first common symbol is primary",
        "a company without common equity keeps its first symbol",
        "the fifth letter of a company's only symbol has no meaning",
        "a symbol without exchange is classified by its letters",
    ],
)
def test_the_kinds_of_the_symbols_of_a_company(of_symbols):
    assert kinds(*of_symbols) == {symbol: kind for (symbol, _), kind in of_symbols.items()}


def test_companies_are_separate_and_rows_keep_their_order():
    listing = pl.DataFrame(
        {"cik": ["1", "2", "1"], "symbol": ["AAA", "BBB", "AAA-WT"], "exchange": ["NYSE", None, "NYSE"]}
    )

    assert classified(listing).select("symbol", "kind", "is_primary").rows() == [
        ("AAA", "common", True),
        ("BBB", "common", True),
        ("AAA-WT", "warrant", False),
    ]
