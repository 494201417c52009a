"""How pages are transferred: compressed, and kept by caches only if they are the same for everyone."""

import gzip
import re
from pathlib import Path

import httpx
import pytest
import zstandard

from serve.site.documents import DOCUMENTS
from serve.site.frame.pages import Access

PUBLIC = [path.format(rule="ttm.four-quarters") for path, _, access in DOCUMENTS if access is Access.PUBLIC]
TOKEN = re.compile(rb'name="form_token" value="[0-9a-f]+"')
GZIP, PLAIN = {"Accept-Encoding": "gzip"}, {"Accept-Encoding": "identity"}


def raw(client: httpx.Client, url: str, headers: dict[str, str]) -> tuple[httpx.Response, bytes]:
    """A response with its body as it was transferred."""
    with client.stream("GET", url, headers=headers) as response:
        return response, b"".join(response.iter_raw())


@pytest.mark.parametrize("path", [*PUBLIC, "/index.md", "/reference.md", "/llms.txt", "/style.css", "/complete.js"])
def test_public_documents_and_files_are_compressed_and_cacheable(site, path):
    """A client that holds the current copy gets 304; the copy of a client is the same in any coding."""
    with httpx.Client(base_url=site.address) as client:
        plain, body = raw(client, path, PLAIN)
        coded, packed = raw(client, path, GZIP)
        newer, smallest = raw(client, path, {"Accept-Encoding": "gzip, zstd"})
        for response, length, coding in (
            (plain, len(body), None),
            (coded, len(packed), "gzip"),
            (newer, len(smallest), "zstd"),
        ):
            names = ("vary", "etag", "content-length", "set-cookie", "content-encoding")
            expected = ["Accept-Encoding", plain.headers["etag"], str(length), None, coding]
            assert [response.headers.get(name) for name in names] == expected
            assert response.headers["cache-control"].startswith("public, max-age=")
        assert gzip.decompress(packed) == zstandard.ZstdDecompressor().decompress(smallest) == body
        assert len(packed) < len(body)
        held = client.get(path, headers={"If-None-Match": f'"x", {plain.headers["etag"]}'})
        assert (held.status_code, held.content, held.headers["etag"]) == (304, b"", plain.headers["etag"])
        assert client.get(path, headers={"If-None-Match": 'W/"x"'}).status_code == 200


@pytest.mark.parametrize(
    "path",
    ["/companies", "/companies/LNTR", "/companies/LNTR.md", "/compare?symbols=LNTR", "/downloads", "/downloads.md"],
)
def test_pages_for_subscribers_are_compressed_and_not_cacheable(reader, path):
    response, body = raw(reader, path, GZIP)
    assert (response.headers["content-encoding"], response.headers["cache-control"]) == ("gzip", "no-store")
    assert "etag" not in response.headers
    pages = (gzip.decompress(body), reader.get(path, headers=PLAIN).content)
    first, second = (TOKEN.sub(b"", page) for page in pages)  # another token in each response
    assert first == second


@pytest.mark.parametrize("path", ["/profile", "/sign-in?token=x", "/sign-in", "/nothing"])
def test_pages_with_form_tokens_and_errors_are_neither(reader, path):
    """Some show a new key, which the length of a compressed page could give away."""
    response, _ = raw(reader, path, GZIP)
    assert "content-encoding" not in response.headers
    assert response.headers["cache-control"] == "no-store"


def test_the_quality_report_is_for_subscribers(site, reader):
    """It has the header of the site, its own styles, and scripts and files of this site only."""
    page = reader.get("/quality")
    assert (page.status_code, "This build has no quality report" in page.text) == (200, True)
    file: Path = site.home / "published" / "quality-b1.html"
    file.write_text("<head><style>p {}</style></head>\n<body>\n<main>All passed.</main></body>", encoding="utf-8")
    try:
        page = reader.get("/quality")
        assert '<main id="main" tabindex="-1">All passed.</main>' in page.text
        assert 'class="site-header"' in page.text.partition("<main")[0]
        assert httpx.get(f"{site.address}/quality", headers={"Accept": "text/html"}).status_code == 403
    finally:
        file.unlink()
    assert page.headers["cache-control"] == "no-store"
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self';")
