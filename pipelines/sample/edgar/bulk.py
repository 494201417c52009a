"""The filings of simulated filers as EDGAR's bulk files: archives of documents, the daily index, the newest filings.

Belongs here: addresses and formats, as EDGAR serves them. Does not: documents of single companies (documents).
"""

import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from html import escape
from io import BytesIO
from zoneinfo import ZoneInfo

from pipelines.sample.business.filings import Filing
from pipelines.sample.filer.traits import Filer

ARCHIVES = "https://www.sec.gov/Archives/edgar/daily-index/"
FACTS_ZIP, SUBMISSIONS_ZIP = ARCHIVES + "xbrl/companyfacts.zip", ARCHIVES + "bulkdata/submissions.zip"
NEWEST = "https://www.sec.gov/cgi-bin/browse-edgar?action=getcurrent"
NEWEST_SHOWN = 100
NEW_YORK = ZoneInfo("America/New_York")
MADE = (2020, 1, 1, 0, 0, 0)  # one time for all members, so that the bytes are always the same

Filed = Sequence[tuple[Filer, Filing]]

INDEX_HEAD = """Description:           Daily Index of EDGAR Dissemination Feed
Last Data Received:    {day:%b} {day.day}, {day.year}
Comments:              webmaster@sec.gov
Anonymous FTP:         ftp://ftp.sec.gov/edgar/

CIK|Company Name|Form Type|Date Filed|File Name
--------------------------------------------------------------------------------
"""
FEED_HEAD = """<?xml version="1.0" encoding="ISO-8859-1" ?>
<feed xmlns="http://www.w3.org/2005/Atom">
<title>Latest Filings</title>
<author><name>Webmaster</name><email>webmaster@sec.gov</email></author>
"""
ENTRY = """<entry>
<title>{form} - {name} ({cik}) (Filer)</title>
<link rel="alternate" type="text/html" href="https://www.sec.gov/Archives/{folder}/{accession}-index.htm"/>
<summary type="html">
 &lt;b&gt;Filed:&lt;/b&gt; {filed} &lt;b&gt;AccNo:&lt;/b&gt; {accession} &lt;b&gt;Size:&lt;/b&gt; 5 MB
</summary>
<updated>{accepted}</updated>
<category scheme="https://www.sec.gov/" label="form type" term="{form}"/>
<id>urn:tag:sec.gov,2008:accession-number={accession}</id>
</entry>
"""


def archive(members: Mapping[str, bytes]) -> bytes:
    """A zip file of documents by file name."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as written:
        for name, content in sorted(members.items()):
            written.writestr(zipfile.ZipInfo(name, MADE), content, zipfile.ZIP_DEFLATED)
    return file.getvalue()


def listing(days: Iterable[date], folder: str) -> bytes:
    """The listing of a folder of the daily index: four files for each day."""
    names = [f"{kind}.{day:%Y%m%d}.idx" for day in sorted(days) for kind in ("company", "crawler", "form", "master")]
    items = [{"last-modified": "", "name": name, "type": "file", "href": name, "size": "1 KB"} for name in names]
    return json.dumps({"directory": {"item": items, "name": f"daily-index/{folder}/", "parent-dir": "../"}}).encode()


def index(day: date, filed: Filed) -> bytes:
    """The daily index of a day: `master.YYYYMMDD.idx`."""
    rows = [
        f"{int(filer.cik)}|{filer.name}|{filing.form}|{day:%Y%m%d}|{_folder(filer)}/{filing.accession}.txt\n"
        for filer, filing in filed
    ]
    return (INDEX_HEAD.format(day=day) + "".join(rows)).encode("latin-1", "replace")


def newest(
    filed: Filed, forms: str, first: int = 0, number: int = NEWEST_SHOWN, ahead: timedelta = timedelta(0)
) -> bytes:
    """A page of the feed of the newest filings whose form begins with a text, newest first.

    Args:
        filed: all filings.
        forms: the beginning of the form.
        first, number: the position of the first entry, and the most entries of the page.
        ahead: the time by which EDGAR's clock, which the feed shows, is ahead.
    """
    wanted = [(filer, filing) for filer, filing in filed if filing.form.startswith(forms)]
    entries = [
        ENTRY.format(
            form=filing.form,
            name=escape(filer.name),
            cik=filer.cik,
            folder=_folder(filer),
            accession=filing.accession,
            filed=filing.filed,
            accepted=(filing.accepted + ahead).astimezone(NEW_YORK).isoformat(timespec="seconds"),
        )
        for filer, filing in sorted(wanted, key=lambda row: row[1].accepted, reverse=True)[first : first + number]
    ]
    return (FEED_HEAD + "".join(entries) + "</feed>\n").encode("latin-1", "replace")


def _folder(filer: Filer) -> str:
    return f"edgar/data/{int(filer.cik)}"
