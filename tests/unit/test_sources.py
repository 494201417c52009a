"""Opening a source: the three kinds, and every error in opening one."""

from datetime import timedelta
from pathlib import Path

import pytest

from pipelines.edgar.answers import TICKERS_URL, Fetched, NotFound, Validators, facts_url
from pipelines.edgar.errors import FetchError, SourceError
from pipelines.edgar.source.mirror import MirrorFolder
from pipelines.edgar.source.source import REQUESTS_A_SECOND
from pipelines.fake_sec.server import Reply, running_server
from pipelines.sources import open_source

USER_AGENT = "Example Research mail@example.org"
TICKERS = b'{"fields":["cik","name","ticker","exchange"],"data":[[1234,"Example Tools","EXT","NYSE"]]}'
URL = facts_url("0000001234")


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    folder = tmp_path / "mirror"
    facts = folder / "data.sec.gov/api/xbrl/companyfacts/CIK0000001234.json"
    facts.parent.mkdir(parents=True)
    facts.write_bytes(b'{"cik":1234}')
    tickers = folder / "www.sec.gov/files/company_tickers_exchange.json"
    tickers.parent.mkdir(parents=True)
    tickers.write_bytes(TICKERS)
    return folder


# --- a mirror


def test_a_mirror_serves_its_files(mirror):
    with open_source(str(mirror)) as source:
        assert (source.name, source.kind, source.absence_lasts) == ("mirror", "edgar", timedelta(0))
        answers = {
            TICKERS_URL: Fetched(TICKERS, Validators()),
            URL: Fetched(b'{"cik":1234}', Validators()),
            facts_url("0000000007"): NotFound(),
            "https://data.sec.gov/api/xbrl/companyfacts/": NotFound(),
            f"{URL}/below-a-file": NotFound(),
            "https://data.sec.gov/%00.json": NotFound(),
        }
        assert {url: source.client.get(url) for url in answers} == answers


@pytest.mark.parametrize(
    "url",
    [
        "https://data.sec.gov/../../secret.json",
        "https://data.sec.gov/%2e%2e/%2e%2e/secret.json",
        "https://data.sec.gov/..%2f..%2fsecret.json",
        "https://data.sec.gov/x/%2E%2E/../..//../../secret.json",
        "https://../secret.json",
        "https://./../secret.json",
        "https://data.sec.gov/{secret}",  # an absolute path
    ],
)
def test_a_mirror_serves_nothing_outside_of_it(mirror, url):
    secret = mirror.parent / "secret.json"
    secret.write_text("not for you")
    (mirror / "data.sec.gov/x").mkdir()
    assert MirrorFolder(mirror).get(url.format(secret=secret)) == NotFound()


def test_a_symbolic_link_out_of_the_mirror_is_an_error(mirror):
    """Otherwise the company would look like one without facts."""
    secret = mirror.parent / "secret.json"
    secret.write_text("not for you")
    (mirror / "data.sec.gov/api/xbrl/companyfacts/CIK0000000007.json").symlink_to(secret)
    with open_source(str(mirror)) as source, pytest.raises(FetchError, match="leads out of the mirror directory"):
        source.client.get(facts_url("0000000007"))


def test_each_folder_of_a_mirror_is_listed_once(mirror, monkeypatch):
    """So that thousands of companies without a file need no disk access each."""
    listed: list[Path] = []
    monkeypatch.setattr(Path, "iterdir", lambda folder: listed.append(folder) or [])
    with open_source(str(mirror)) as source:
        assert {source.client.get(facts_url(f"{number:010}")) for number in range(100)} == {NotFound()}
    assert listed == [mirror / "data.sec.gov/api/xbrl/companyfacts"]


@pytest.mark.parametrize(
    ("method", "message"),
    [("read_bytes", "Input/output error"), ("iterdir", r"Input/output error.*again later")],
    ids=["file", "folder"],
)
def test_a_file_or_folder_that_cannot_be_read_is_an_error(mirror, monkeypatch, method, message):
    def refuse(_: Path) -> bytes:
        raise OSError(5, "Input/output error")

    with open_source(str(mirror)) as source:
        monkeypatch.setattr(Path, method, refuse)
        with pytest.raises(FetchError, match=message):
            source.client.get(URL)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("{folder}", "has no www.sec.gov/files/company_tickers_exchange.json, the list of companies"),
        ("{folder}/missing", "missing is not a directory"),
        ("{folder}/file.json", "file.json is not a directory"),
        ("a\0b", "cannot be read"),
        ("x" * 5000, "cannot be read: .*File name too long"),
        ("", "has no www.sec.gov"),
    ],
    ids=["no mirror", "missing", "a file", "a null byte", "too long", "empty"],
)
def test_a_path_without_a_mirror_is_an_error(tmp_path, path, reason):
    (tmp_path / "file.json").write_text("{}")
    with pytest.raises(SourceError, match=reason) as error:
        open_source(path.format(folder=tmp_path))
    assert "give live, sample, or a mirror directory" in str(error.value)
    assert "\n" not in str(error.value)


def test_an_unreadable_tickers_file_is_an_error(mirror):
    tickers = mirror / "www.sec.gov/files/company_tickers_exchange.json"
    tickers.unlink()
    tickers.mkdir()
    with pytest.raises(SourceError, match=r"cannot be read: .*Is a directory"):
        open_source(str(mirror))


EXAMPLE = 'EDGAR_USER_AGENT="Name mail@example.org"'


@pytest.mark.parametrize(
    ("settings", "reason", "example"),
    [
        ({"user_agent": None}, "source live needs EDGAR_USER_AGENT", EXAMPLE),
        ({"user_agent": ""}, "source live needs EDGAR_USER_AGENT", EXAMPLE),
        (
            {"user_agent": "Example Research"},
            "EDGAR_USER_AGENT is 'Example Research', without a mail address",
            EXAMPLE,
        ),
        ({"user_agent": "mail@"}, "without a mail address", EXAMPLE),
        ({"user_agent": "Bäckerei mail@example.org"}, "use plain ASCII", ""),
        ({"user_agent": "Example\nmail@example.org"}, "use plain ASCII", ""),
        *(
            ({"user_agent": USER_AGENT, "base_url": base_url}, "EDGAR_BASE_URL is", "")
            for base_url in ("127.0.0.1:9000", "ftp://example.org", "http://", "http://[::1", "http://a:99999")
        ),
    ],
)
def test_live_needs_a_user_agent_and_takes_an_address_of_the_web(settings, reason, example):
    with pytest.raises(SourceError, match=reason) as error:
        open_source("live", **settings)
    assert example in str(error.value)


# --- live


def test_live_uses_the_base_url():
    with (
        running_server() as server,
        open_source("live", user_agent=USER_AGENT, base_url=server.url + "/prefix/") as source,
    ):
        server.replies["/prefix/www.sec.gov/files/company_tickers_exchange.json"] = [Reply(body=TICKERS)]
        assert (source.name, source.kind, source.absence_lasts) == ("live", "edgar", timedelta(days=7))
        assert source.client.get(TICKERS_URL) == Fetched(TICKERS, Validators())
        assert server.asked[0][1]["User-Agent"] == USER_AGENT


def test_live_sends_at_most_ten_requests_per_second():
    with open_source("live", user_agent=USER_AGENT, base_url="") as source:
        assert source.client._base_url is None
        assert source.client._pace.interval == 1 / REQUESTS_A_SECOND > 0.11


# --- the sample


def test_the_sample_is_fictional_and_needs_no_settings():
    with open_source("sample") as source:
        assert (source.name, source.kind) == ("sample", "sample")
        assert isinstance(source.client.get(TICKERS_URL), Fetched)
        assert source.client.get(facts_url("0000320193")) == NotFound()
