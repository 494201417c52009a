"""Bulk archives for tests: the documents of a mirror directory as EDGAR's zip files.

Belongs here: making companyfacts.zip and submissions.zip. Does not: hostile archives (test_archive).
"""

import shutil
import zipfile
from pathlib import Path

from tests.mirrors import Mirror


def zipped(mirror: Mirror, folder: Path) -> Path:
    """Write the bulk files of a mirror directory to a folder, and return the path of companyfacts.zip."""
    folder.mkdir(exist_ok=True)
    documents = mirror.folder / "data.sec.gov"
    for name, below in (("companyfacts", "api/xbrl/companyfacts"), ("submissions", "submissions")):
        with zipfile.ZipFile(folder / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted((documents / below).glob("*.json")):
                archive.write(file, file.name)
    shutil.copyfile(mirror.tickers, folder / "company_tickers_exchange.json")
    return folder / "companyfacts.zip"
