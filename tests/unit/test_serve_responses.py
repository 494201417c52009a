"""Responses: numbers, links and times; and the settings."""

import pytest

from serve.api import responses
from serve.clock import seconds_since, timestamp
from serve.errors import CommandError
from serve.settings import Settings, from_environment
from warehouse.contract.served import CompanyRow, Coverage, LabelledPeriod, json_number


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (416161000000.0, "416161000000"),
        (7.49, "7.49"),
        (0.0, "0"),
        (-0.0, "0"),
        (-50.5, "-50.5"),
        (2.0**53, "9007199254740992"),
        (1e300, "1e300"),
        (0.1 + 0.2, "0.30000000000000004"),
    ],
)
def test_whole_doubles_are_integers_and_others_keep_every_digit(value: float, shown: str) -> None:
    assert responses.encoded(json_number(value)) == shown.encode()


def test_links_take_any_symbol() -> None:
    row = CompanyRow("A/B?", None, None, "9990000001", None, None, "USD", "2024-03-31", None, None, 12)
    quarter = LabelledPeriod("2024Q1", "2024-03-31")
    held = Coverage(quarter, quarter, 1, 0, ())
    links = responses.profile(row, None, held, None, "https://data.example.org/v1").links
    assert links.financials == "https://data.example.org/v1/companies/A%2FB%3F/financials"


def test_moments() -> None:
    assert timestamp(1_772_452_800.9) == "2026-03-02T12:00:00Z"
    assert seconds_since("2026-03-02T11:59:00Z", 1_772_452_800.9) == 60
    assert seconds_since("2026-03-02T12:59:00+00:00", 1_772_452_800.9) == 0


def test_settings_come_from_the_environment() -> None:
    assert from_environment(environment={}) == Settings()
    assert str(Settings().home) == ".data/edgar"
    assert from_environment("::1", 8080, {}).base_url == "http://[::1]:8080/v1"
    given = {"FUNDAMENTALS_HOME": "/srv/home", "FUNDAMENTALS_BASE_URL": "https://data.example.org/api/v1/"}
    settings = from_environment(environment=given)
    assert str(settings.published) == "/srv/home/published"
    assert str(settings.accounts) == "/srv/home/accounts.sqlite"
    assert (settings.base_url, settings.pages) == ("https://data.example.org/api/v1", "https://data.example.org/api")


def test_the_share_of_an_address_is_a_setting() -> None:
    def share(text: str) -> float:
        return from_environment(environment={"FUNDAMENTALS_CONNECTION_SHARE": text}).connection_share

    assert [share(text) for text in ("", "1", "0.25", ".5", "1.0")] == [0.5, 1, 0.25, 0.5, 1]
    for text in ("0", "0.0", "1.5", "-1", "half", "nan", "1e-3", "50%"):
        with pytest.raises(CommandError, match="FUNDAMENTALS_CONNECTION_SHARE is"):
            share(text)


@pytest.mark.parametrize(
    "address", ["data.example.org/v1", "ftp://data.example.org/v1", "https://", "http://[::1", "http://x/?y"]
)
def test_a_malformed_address_is_an_error(address: str) -> None:
    with pytest.raises(CommandError, match="FUNDAMENTALS_BASE_URL is"):
        from_environment(environment={"FUNDAMENTALS_BASE_URL": address})
