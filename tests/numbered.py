"""Builds with their number in everything that a response can contain, so that a response of two builds is noticed.

Belongs here: publishing them, and the numbers in a response. Does not: requests while they are published
(e2e/test_serving_builds, bench/soak).
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests import builds
from warehouse.build import overlay
from warehouse.build.overlay import Renewal
from warehouse.build.pointer import current
from warehouse.build.publish import build

PERIODS = 8
MADE_AT = builds.MADE_AT.replace(tzinfo=UTC)
PATHS = ("/companies", "/companies/LNTR", "/companies/LNTR/financials?period=annual")


def publish(published: Path, number: int, *, overlaid: bool = False) -> None:
    """Publish a build with its number in everything that a response can contain; with an overlay, if there is a build
    before.
    """
    company = builds.company("LNTR", 1, name=f"Lantern {number}", exchange="Nasdaq", sic="3571")
    periods = [
        builds.period(company, "annual", builds.date(2000 + year, 12, 31), 4, revenue=float(number), roic=number + 0.5)
        for year in range(PERIODS)
    ]
    for row in periods:
        for name in set(row) - {column.name for column in builds.schema.BY_NAME["financials"].columns}:
            del row[name]
    moment = (MADE_AT + timedelta(seconds=number)).isoformat()
    filed = builds.write(published.parent / "tables", {"companies": [company], "financials": periods})
    before, cik = current(published), company["cik"]
    renewal = Renewal(before, frozenset({cik}), {"financials": filed["financials"]}) if overlaid and before else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(overlay, "MIN_FILE_SIZE", 0)
        made = build(published, filed, f"b{number}", renewal)
    assert (made.base != made.build_id) == (renewal is not None)
    builds.point(published, made, {cik: moment}, sync_id=f"s{number}", finished_at=moment)


def numbers_in(path: str, body: dict[str, Any]) -> set[float]:
    """The numbers of all builds in a response."""
    data = body["data"]
    if path.endswith("/status"):
        return {float(data["build"][1:]), _seconds(data["last_synchronized_at"])}
    if "financials" in path:
        assert len(data) == PERIODS
        return {value for row in data for value in (row["values"]["revenue"], row["values"]["roic"] - 0.5)}
    companies = data if isinstance(data, list) else [data]
    return {
        number
        for company in companies
        for number in (float(company["name"].split()[1]), _seconds(company["data_updated_at"]))
    }


def _seconds(time: str) -> float:
    return (datetime.fromisoformat(time) - MADE_AT).total_seconds()
