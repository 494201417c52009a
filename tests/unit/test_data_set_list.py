"""The list of the Financial Statement Data Sets on the SEC's page."""

import pytest

from pipelines.edgar.decode.data_set_list import Quarter, decode_data_set_list
from pipelines.edgar.errors import DocumentError

FOLDER = "/files/dera/data/financial-statement-data-sets"


def page(*links: str) -> bytes:
    rows = "".join(f'<tr><td><a class="x" href="{link}">ZIP</a></td></tr>\n' for link in links)
    return f"<!DOCTYPE html><html><body><table>{rows}</table></body></html>".encode()


def test_quarters_are_sorted_newest_first_whatever_their_folder():
    """2020q1 was in another folder."""
    other = "/files/node/add/data_distribution/2020q1.zip"
    links = (f"{FOLDER}/2009q4.zip", other, f"https://www.sec.gov{FOLDER}/2020q2.zip", f"{FOLDER}/2010q1_0.zip")
    assert decode_data_set_list(page(*links)) == [
        Quarter("2020q2", f"https://www.sec.gov{FOLDER}/2020q2.zip"),
        Quarter("2020q1", f"https://www.sec.gov{other}"),
        Quarter("2010q1", f"https://www.sec.gov{FOLDER}/2010q1_0.zip"),
        Quarter("2009q4", f"https://www.sec.gov{FOLDER}/2009q4.zip"),
    ]


@pytest.mark.parametrize(
    "link",
    [
        "financial-statement-data-sets/2024Q4.ZIP",
        "../../data-research/sec-markets-data/financial-statement-data-sets/2024Q4.ZIP",
        "//sec.gov/data-research/sec-markets-data/financial-statement-data-sets/2024Q4.ZIP?download#top",
        " http://WWW.sec.gov/data-research/sec-markets-data/financial-statement-data-sets/2024Q4.ZIP\n",
    ],
)
def test_a_link_in_any_form_is_the_same_address(link):
    address = "https://www.sec.gov/data-research/sec-markets-data/financial-statement-data-sets/2024Q4.ZIP"
    assert decode_data_set_list(page(link)) == [Quarter("2024q4", address)]


def test_other_links_are_left_out():
    others = (
        *(f"{FOLDER}/2020q2_notes.zip", f"{FOLDER}/2020_01_notes.zip", f"{FOLDER}/2020q5.zip", "/files/aqfs.pdf"),
        *(
            "https://example.org/2020q2.zip",
            "https://www.sec.gov@example.org/2020q2.zip",
            "ftp://www.sec.gov/2020q2.zip",
        ),
        *("https://www.sec.gov:8080/2020q2.zip", "http://[", "mailto:a@b", "", "/2020q2.zip/x", "/x2020q2.zip"),
    )
    kept = f"{FOLDER}/2020q2.zip"
    raw = page(*others, kept, "/later/2020q2.zip").replace(b"<table>", b"<!-- <a href='/2021q1.zip'> --><a><table>\xff")
    assert decode_data_set_list(raw) == [Quarter("2020q2", f"https://www.sec.gov{kept}")]


@pytest.mark.parametrize("raw", [b"", b"\x00\xff" * 100, page("/files/aqfs.pdf"), b"<a href='2020q2.zip"])
def test_a_page_without_quarters_is_malformed(raw):
    with pytest.raises(DocumentError, match="list of data sets: has no link to the zip file of a quarter"):
        decode_data_set_list(raw)
