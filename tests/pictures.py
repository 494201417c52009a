"""Takes the pictures of the README, and screenshots of pages: `make pictures`, which synchronizes the sample first.

Belongs here: which pages are shown, and their size. Does not: the text of the pages, tests.

Screenshots at three widths, light and dark, are in build/screens: of COMPANIES that the home has, and of other pages.
With real companies: `make pictures SOURCE=PATH`, which takes only these.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Any

import httpx
from PIL import Image
from playwright.sync_api import Page, Playwright, sync_playwright

from pipelines.storage.home import Home
from tests import sites
from tests.conftest import PROJECT
from tests.servers import PATIENCE

FOLDER = PROJECT / "docs" / "pictures"
SYMBOL, PERIOD = "XQORC", "FY2024"
COLORS = 64
"""Enough for text and lines; a picture has a third of the bytes of one with all colors."""

GROUPS = ("extract", "normalize", "publish")
GRAPH = {"x": 390, "y": 240, "width": 1460, "height": 320}
"""Where the graph is in a window of 1900 x 760 pixels."""

TERMINAL = """<body style="margin:0"><pre style="margin:0;padding:20px 24px;background:#1b1f24;color:#e6e6e6;
font:13px/1.45 'DejaVu Sans Mono',monospace">{}</pre></body>"""


COMPANIES = ("AAPL", "JPM", "GE", "TSM", "BBD", "VRT", "OSBK", "SNOW", "BRK-B", SYMBOL)
SCREENS = {
    **{"front": "/", "companies": "/companies?net_margin_min=10", "downloads": "/downloads", "quality": "/quality"},
    **{"reference": "/reference", "rules": "/rules", "changes": "/changes"},
    "statements": f"/companies/{SYMBOL}/statements",
}
WIDTHS, HEIGHT = (390, 1280, 1920), 1000


def main() -> None:
    """Take all pictures, or the named ones."""
    home = Home.from_environment().root.resolve()
    wanted = sys.argv[1:] or ["screens", *(PICTURES if home.name == "sample" else ())]
    if "screens" in wanted:
        wanted.remove("screens")
        _screens(home)
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright, _page(playwright) as page:
        for name in wanted:
            taken = PICTURES[name](page, home)
            picture = Image.open(taken).convert("RGB").quantize(COLORS, dither=Image.Dither.NONE)
            file = FOLDER / f"{name}.png"
            picture.save(file, optimize=True)
            print(f"{file.relative_to(PROJECT)}: {picture.width} x {picture.height}, {file.stat().st_size:,} bytes")


@contextmanager
def _page(playwright: Playwright) -> Iterator[Page]:
    browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
    yield browser.new_page(color_scheme="light", viewport={"width": 1120, "height": 900})
    browser.close()


def _screens(home: Path) -> None:
    """Screenshots of whole pages, each at WIDTHS, light and dark."""
    folder = PROJECT / "build" / "screens"
    folder.mkdir(parents=True, exist_ok=True)
    with sites.installed(home) as site, site.signed_in() as reader, sync_playwright() as playwright:
        held = [symbol for symbol in COMPANIES if reader.get(f"/companies/{symbol}").status_code == 200]
        chosen = {
            "comparison": f"/compare?symbols={','.join(held[:3])}&charts=indexed",
            "value": f"/companies/{held[0]}/free_cash_flow/FY2023",
        }
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        cookies = [{"name": name, "value": value, "url": site.address} for name, value in reader.cookies.items()]
        for scheme in ("light", "dark"):
            context = browser.new_context(base_url=site.address, color_scheme=scheme)
            context.add_cookies(cookies)
            page = context.new_page()
            for name, path in {**SCREENS, **chosen, **{each: f"/companies/{each}" for each in held}}.items():
                for width in WIDTHS:
                    page.set_viewport_size({"width": width, "height": HEIGHT})
                    page.goto(path)
                    page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)
        browser.close()
    print(f"{folder.relative_to(PROJECT)}: {len(list(folder.iterdir()))} screenshots")


def _company(page: Page, home: Path) -> Path:
    """The first screen of a company's page."""
    with sites.installed(home) as site:
        page.set_viewport_size({"width": 1280, "height": 1860})
        page.goto(site.link("demo@example.org"))
        page.locator("main form button").first.click()
        page.goto(f"{site.address}/companies/{SYMBOL}")
        page.wait_for_load_state("networkidle")
        return _taken(page)


def _explain(page: Page, home: Path) -> Path:
    """The output of the command for a value."""
    command = [sys.executable, "-m", "fundamentals", "explain", SYMBOL, "free_cash_flow", PERIOD]
    environment = {**os.environ, "FUNDAMENTALS_HOME": str(home), "COLUMNS": "110"}
    told = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=True).stdout
    prompt = f"$ fundamentals explain {SYMBOL} free_cash_flow {PERIOD}\n\n"
    page.set_viewport_size({"width": 960, "height": 100})
    page.goto("about:blank")  # a page of the service would not allow the style
    page.set_content(TERMINAL.format(escape(prompt + told.rstrip())))
    return _taken(page, full_page=True)


def _graph(page: Page, home: Path) -> Path:
    """The graph of assets in the Dagster UI."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {**os.environ, "FUNDAMENTALS_HOME": str(home)}
    ui = subprocess.Popen(["make", "ui", f"UI_PORT={port}"], cwd=PROJECT, env=environment, start_new_session=True)
    try:
        address = f"http://127.0.0.1:{port}"
        while not _answers(address):
            if ui.poll() is not None:
                raise SystemExit("the Dagster UI has ended")
            time.sleep(0.2)
        page.set_viewport_size({"width": 1900, "height": 760})
        opened = "%2C".join(f"global%40global%3A{group}" for group in GROUPS)
        page.goto(f"{address}/asset-groups?expanded={opened}")
        page.get_by_text("quality_report", exact=True).first.wait_for(timeout=PATIENCE * 1000)
        page.get_by_text("Hide navigation").click()
        page.get_by_placeholder("Jump to…").locator("xpath=following::button[1]").click()
        page.reload()  # fits the graph to the room that it now has
        page.get_by_text("quality_report", exact=True).first.wait_for(timeout=PATIENCE * 1000)
        page.wait_for_timeout(3000)  # the graph is drawn again when the state of each asset is known
        return _taken(page, clip=GRAPH)
    finally:
        os.killpg(ui.pid, signal.SIGINT)
        ui.wait(PATIENCE)


def _answers(address: str) -> bool:
    try:
        return httpx.get(f"{address}/server_info").is_success
    except httpx.HTTPError:
        return False


def _taken(page: Page, **options: Any) -> Path:
    file = Path(tempfile.mkdtemp()) / "picture.png"
    page.screenshot(path=file, **options)
    return file


PICTURES = {"company": _company, "explain": _explain, "graph": _graph}

if __name__ == "__main__":
    main()
