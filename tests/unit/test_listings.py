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


def test_the_first_common_symbol_is_primary():
    """The list has a company's main symbol first, but a unit or a warrant may precede it."""
    assert kinds(("XMPL-UN", "NYSE"), ("XMPL", "NYSE"), ("XMPL-WT", "NYSE")) == {
        "XMPL-UN": "unit",
        "XMPL": "COMMON",
        "XMPL-WT": "warrant",
    }


def test_a_company_without_common_equity_keeps_its_first_symbol():
    assert kinds(("XMPL-PA", "NYSE"), ("XMPL-PB", "NYSE")) == {"XMPL-PA": "COMMON", "XMPL-PB": "preferred"}


def test_the_fifth_letter_of_a_companys_only_symbol_has_no_meaning():
    assert kinds(("XMPLW", "Nasdaq")) == {"XMPLW": "COMMON"}


def test_a_symbol_without_exchange_is_classified_by_its_letters():
    assert kinds(("XMPL", None), ("XMPLF", None)) == {"XMPL": "COMMON", "XMPLF": "common"}


def test_companies_are_separate_and_rows_keep_their_order():
    listing = pl.DataFrame(
        {"cik": ["1", "2", "1"], "symbol": ["AAA", "BBB", "AAA-WT"], "exchange": ["NYSE", None, "NYSE"]}
    )

    assert classified(listing).select("symbol", "kind", "is_primary").rows() == [
        ("AAA", "common", True),
        ("BBB", "common", True),
        ("AAA-WT", "warrant", False),
    ]
