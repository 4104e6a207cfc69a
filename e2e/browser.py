"""The system's Chromium, driven by playwright, and a folder served to it; nothing is fetched."""

import shutil
import sys
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
QUIET = "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync"


def chromium_path():
    "Where Chromium is, or an exit that says how to get it"
    for name in NAMES:
        if path := shutil.which(name):
            return path
    sys.exit(
        f"no Chromium: none of {', '.join(NAMES)} is on the path (Debian, Ubuntu: sudo apt install chromium)"
    )


@contextmanager
def chromium():
    "A browser without a window"
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        sys.exit("playwright is not installed: pip install -e '.[book]'")
    with sync_playwright() as play:
        arguments = [*QUIET.split(), "--no-first-run"]
        browser = play.chromium.launch(executable_path=chromium_path(), args=arguments)
        try:
            yield browser
        finally:
            browser.close()


class Silent(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextmanager
def served(folder):
    "The address under which a browser of this machine finds `folder`"
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
