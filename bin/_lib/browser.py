"""A Chromium for the browser tests: the one of the system, installed where root may, else Playwright's own."""

import os
import shutil
import subprocess

from bin._lib import machine
from bin._lib.console import Step, gist, run_logged
from bin._lib.layout import PYTHON, SETUP

WHERE = "from playwright.sync_api import sync_playwright as start\nwith start() as p: print(p.chromium.executable_path)"


OPEN = """
import sys
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=sys.argv[1], args=["--no-sandbox"])
    page = browser.new_page()
    page.set_content("<title>opened</title>")
    print(page.title())
"""


def ensure(step: Step) -> str | None:
    """Return the path of a Chromium in which the tests' driver has just opened a page, None where there is none."""
    path = os.environ.get("SPINDLE_CHROMIUM") or of_system() or of_playwright()
    for package in machine.BROWSER_PACKAGES:
        if path is None and machine.install(package, step):
            path = of_system()
    if path is None and machine.is_root():  # Ubuntu's package of that name only points to a snap
        run_logged(
            [str(PYTHON), "-m", "playwright", "install", "--with-deps", "chromium"], SETUP / "system.log", step=step
        )
        path = of_playwright()
    if path is None:
        step.note = f"absent; {machine.way_out('chromium')}"
        return None
    trouble = open_page(path)
    if trouble and "libatomic" in trouble:
        package = machine.ATOMIC.get(machine.manager() or "", "libatomic")
        trouble = open_page(path) if machine.install(package, step) else f"{trouble}; {machine.way_out(package)}"
    step.note = f"does not open a page: {trouble}" if trouble else machine.version_of(path) or path
    return None if trouble else path


def open_page(path: str) -> str:
    """Open a page as the tests will; return what went wrong, or nothing."""
    try:
        done = subprocess.run([str(PYTHON), "-c", OPEN, path], capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return "no answer in 120 s"
    if done.stdout.strip() == "opened":
        return ""
    lines = [line for line in done.stderr.splitlines() if "error while loading" in line] or [gist(done.stderr)]
    return lines[0].strip() or f"status {done.returncode}"


def of_system() -> str | None:
    found = (shutil.which(name) for name in machine.BROWSERS)
    return next((path for path in found if path and machine.version_of(path)), None)


def of_playwright() -> str | None:
    done = subprocess.run([str(PYTHON), "-c", WHERE], capture_output=True, text=True, check=False)
    path = done.stdout.strip()
    return path if path and os.access(path, os.X_OK) else None
