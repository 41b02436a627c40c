"""A real browser for the pages: the Chromium of the machine, started once."""

import os
import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
#: A busy machine may take this long for anything, in milliseconds.
PATIENCE = 120_000


@dataclass
class Noticed:
    """What a page did besides being shown."""

    requests: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)


@pytest.fixture(scope="package")
def browser():
    """Start the browser; its profile is new and empty.

    It ends with this package: as long as it runs, no other test may start a loop of asyncio.
    """
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        assert not os.environ.get("CI"), "no Chromium: install Debian's package chromium"
        pytest.skip("there is no Chromium here; install Debian's package chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=FLAGS, timeout=PATIENCE)
        yield started
        started.close()


@pytest.fixture
def opened(browser):
    """Open a page in a window of its own; return it, and what it does besides being shown."""

    @contextmanager
    def open_page(address, *, width=1280, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        context.set_default_timeout(PATIENCE)
        page, noticed = context.new_page(), Noticed()
        page.on("request", lambda request: noticed.requests.append(request.url))
        page.on("console", lambda message: noticed.messages.append(message.text))
        page.on("pageerror", lambda error: noticed.messages.append(str(error)))
        page.on("dialog", lambda dialog: noticed.messages.append(dialog.message))
        try:
            page.goto(address)
            yield page, noticed
        finally:
            context.close()

    return open_page
