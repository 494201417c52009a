"""Parsing query strings: any input is either parsed or refused."""

import difflib
import itertools
import string
from datetime import date
from urllib.parse import parse_qsl, quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serve.api import parameters
from serve.errors import InvalidParameter
from serve.http import edge, error_responses
from warehouse.contract.line_items import SERVED_NAMES

ENDPOINTS = st.sampled_from([(), parameters.COMPANIES, parameters.FINANCIALS, parameters.REVISIONS])
NAMES = st.sampled_from(["search", "exchange", "page", "per_page", "period", "items", "from", "to", "limit"])


def test_missing_parameters_have_defaults() -> None:
    assert parameters.read(b"", parameters.COMPANIES) == {"search": None, "exchange": None, "page": 1, "per_page": 50}
    assert parameters.read(b"&&", parameters.FINANCIALS) == {
        "period": "ttm",
        "items": SERVED_NAMES,
        "from": None,
        "to": None,
        "limit": 20,
    }


def test_revisions_have_the_parameters_of_financials_except_the_period() -> None:
    assert parameters.read(b"", parameters.REVISIONS) == {"items": SERVED_NAMES, "from": None, "to": None, "limit": 50}
    assert parameters.REVISIONS[:-1] == parameters.FINANCIALS[1:-1]


@given(query=st.text("ab=&%41+;#? ", max_size=30))
def test_names_and_values_are_those_of_the_standard_library(query: str) -> None:
    """Also for queries without an encoded character, which are not given to the library, because it takes long."""
    pairs = parse_qsl(query, keep_blank_values=True, errors="surrogateescape")
    assert parameters._pairs(query.encode()) == pairs


def test_values_are_parsed_strictly() -> None:
    query = b"period=annual&items=roic%2Crevenue&from=2024-02-29&to=2024-02-29&limit=040"
    assert parameters.read(query, parameters.FINANCIALS) == {
        "period": "annual",
        "items": ("roic", "revenue"),
        "from": date(2024, 2, 29),
        "to": date(2024, 2, 29),
        "limit": 40,
    }
    assert parameters.read(b"search=Fj%C3%B6rd+%26+Co", parameters.COMPANIES)["search"] == "Fjörd & Co"


@given(query=st.binary(max_size=60), accepted=ENDPOINTS)
def test_any_bytes_are_read_or_refused(query: bytes, accepted: tuple[parameters.Parameter, ...]) -> None:
    refused = None
    try:
        parameters.refuse_credentials(query)
        values = parameters.read(query, accepted)
    except InvalidParameter as error:
        refused = error
    if refused:
        assert refused.details
        str(refused).encode()
    else:
        assert values.keys() == {parameter.name for parameter in accepted}


@given(pairs=st.lists(st.tuples(NAMES | st.text(max_size=8), st.text(max_size=12)), max_size=4), accepted=ENDPOINTS)
def test_any_text_is_read_or_refused(pairs: list[tuple[str, str]], accepted: tuple[parameters.Parameter, ...]) -> None:
    query = urlencode(pairs, errors="surrogatepass").encode()
    wrong = {name for name, _ in pairs} - {parameter.name for parameter in accepted}
    refused = None
    try:
        parameters.read(query, accepted)
    except InvalidParameter as error:
        refused = error
    if refused:
        assert refused.details
        assert refused.details.keys() >= {parameters._cut(name) for name in wrong}
        str(refused).encode()
    else:
        assert not wrong
        assert len(pairs) == len({name for name, _ in pairs})


@given(number=st.integers(-(10**12), 10**12))
def test_an_integer_is_read_within_its_bounds_only(number: int) -> None:
    page = parameters.COMPANIES[2]
    if 1 <= number <= parameters.LARGEST:
        assert page.read(str(number)) == number
    else:
        with pytest.raises(ValueError, match="must be an integer from 1 to"):
            page.read(str(number))


@pytest.mark.parametrize("name", ["keyword", "monkey", "search", "tokens", "", "x", "author", "apikeys"])
def test_other_names_are_not_credentials(name: str) -> None:
    parameters.refuse_credentials(f"{name}=anything".encode())


@pytest.mark.parametrize("accepted", [(), parameters.FINANCIALS])
def test_thousands_of_unknown_parameters_have_an_entry_each_and_a_short_answer(
    accepted: tuple[parameters.Parameter, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten names get a suggestion, which takes long to find, and the accepted names are listed once."""
    searched = []
    search = difflib.get_close_matches
    monkeypatch.setattr(difflib, "get_close_matches", lambda *of, **named: searched.append(of) or search(*of, **named))
    letters = string.ascii_letters + string.digits + '"\\'
    names = ["limti", *map("".join, itertools.product(letters, repeat=2)), *letters]
    names.remove("to")  # which is a parameter
    query = "&".join(quote(name, safe='"\\') for name in names)[: edge.LARGEST_HEAD]
    with pytest.raises(InvalidParameter) as raised:
        parameters.read(query.encode(), accepted)
    details = raised.value.details
    assert details
    assert list(details) == names[: len(details)]
    assert len(details) > 4000
    assert len(searched) == 10
    assert ("did you mean 'limit'" in details["limti"]) == bool(accepted)
    answer = bytes(error_responses.failure(raised.value, "https://data.example.org").body)
    assert len(answer) < 100_000
    if accepted:
        assert sum("accepted are" in message for message in details.values()) == 1
        assert str(raised.value).count("accepted are period, items, from, to, limit.") == 1
    assert f" {len(details) - 10:,} more parameters are unknown." in str(raised.value)
