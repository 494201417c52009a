"""Doubts about the SEC's list of companies: conditions that hold a build back, and confirmations of the list."""

from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from pipelines.edgar.decode.documents import MalformedRow
from pipelines.edgar.decode.listing_checks import ANOTHER_DAY, DOUBTS, found, holding_back, in_words, settled, skipped

NOW = datetime(2026, 8, 1, 6, tzinfo=UTC)
NOTHING = pl.DataFrame(schema=DOUBTS)


def rows(*symbols: str, cik: str = "") -> pl.DataFrame:
    """A list with one company for each symbol."""
    told = [(cik or f"cik {symbol}", symbol, f"{symbol} Inc") for symbol in symbols]
    return pl.DataFrame(told, schema=dict.fromkeys(("cik", "symbol", "name"), pl.String), orient="row")


def of(number: int) -> pl.DataFrame:
    return rows(*(f"S{n}" for n in range(number)))


@pytest.mark.parametrize(
    ("before", "now", "held"),
    [
        (0, 1000, 0),
        (1000, 1000, 0),
        (1000, 990, 0),  # a hundredth
        (1000, 989, 11),
        (1000, 1, 999),
        (40, 37, 0),  # a few
        (40, 36, 4),
        (4, 3, 0),
        (4, 2, 2),  # half
        (2, 1, 0),
        (3, 1, 2),
    ],
)
def test_many_missing_companies_hold_back(before, now, held):
    doubts = found(of(now), of(before), NOTHING, NOW)
    assert doubts.height == max(0, before - now)
    assert holding_back(doubts, now).height == held


def wrong(number: int) -> list[MalformedRow]:
    """So many malformed rows, all the same, each at another place of the file."""
    return [MalformedRow("null", f"tickers file, data[{n}]: null", frozenset(), n) for n in range(number)]


@pytest.mark.parametrize(("listed", "malformed", "held"), [(1000, 10, 0), (1000, 11, 11), (40, 3, 0), (2, 2, 2)])
def test_many_malformed_rows_hold_back(listed, malformed, held):
    """Also if no company is missing; until the list says the same on another day, at whatever places."""
    doubts = found(of(listed), rows(), NOTHING, NOW, wrong(malformed))
    assert len(skipped(doubts)) == malformed
    assert holding_back(doubts, listed).height == held
    assert not held or in_words(holding_back(doubts, listed)) == (
        f"{held} rows of the SEC's list are malformed, such as tickers file, data[0]: null"
    )
    later = found(of(listed), rows(), doubts, NOW + ANOTHER_DAY, wrong(malformed + 1)[1:])
    assert (later.height, holding_back(later, listed).height) == (malformed, 0)


def test_a_new_symbol_is_no_missing_company():
    before = rows("A", "B", cik="1")
    assert found(rows("C", cik="1"), before, NOTHING, NOW).is_empty()


def test_a_symbol_of_two_companies_holds_back():
    """Two classes of one company do not."""
    listed = pl.concat([rows("A", "B", cik="1"), rows("A", cik="2"), rows("C", "D", cik="3")])
    doubts = holding_back(found(listed, rows(), NOTHING, NOW), 3)
    assert doubts.select("kind", "cik", "symbol").rows() == [("contested", "1", "A"), ("contested", "2", "A")]
    assert in_words(doubts) == "1 symbols belong to two companies in the SEC's list: A"


def test_a_list_that_says_the_same_on_another_day_is_confirmed():
    listed = pl.concat([of(2), rows("S0", cik="other")])
    first = found(listed, of(8), NOTHING, NOW)
    assert holding_back(first, 2).height == 8
    again = found(listed, of(2), first, NOW + ANOTHER_DAY - timedelta(seconds=1))
    assert holding_back(again, 2).equals(holding_back(first, 2))
    next_day = found(listed, of(2), again, NOW + ANOTHER_DAY)
    assert holding_back(next_day, 2).is_empty()
    later = found(listed, of(2), next_day, NOW + 9 * ANOTHER_DAY)
    assert later["kind"].unique().to_list() == ["contested"]  # confirmed as long as it lasts; missing ones are gone
    assert holding_back(later, 2).is_empty()


def test_a_doubt_from_when_the_clock_was_ahead_is_confirmed_on_another_day():
    ahead = found(of(1), of(4), NOTHING, NOW + timedelta(days=400))
    again = found(of(1), of(4), ahead, NOW)
    assert holding_back(again, 1).height == 3
    assert holding_back(found(of(1), of(4), again, NOW + ANOTHER_DAY), 1).is_empty()


def test_companies_that_come_back_are_no_doubt():
    assert found(of(8), of(2), found(of(2), of(8), NOTHING, NOW), NOW).is_empty()


def test_a_published_list_is_settled():
    listed = pl.concat([of(2), rows("S0", cik="other")])
    published = settled(found(listed, of(8), NOTHING, NOW))
    assert holding_back(found(listed, of(2), published, NOW), 2).is_empty()
    more = pl.concat([of(2), rows("S1", cik="other")])
    assert holding_back(found(more, of(2), published, NOW), 2)["symbol"].to_list() == ["S1", "S1"]


def test_the_words_name_the_first_companies():
    doubts = found(of(1), of(1001), NOTHING, NOW)
    assert in_words(holding_back(doubts, 1)) == (
        "1,000 companies are missing in the SEC's list at once, such as S1 Inc (S1), S2 Inc (S2), S3 Inc (S3)"
    )
