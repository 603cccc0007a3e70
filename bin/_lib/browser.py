"""A Chromium for the browser tests: the one of the system, installed where root may, else Playwright's own."""

import os
import shutil
import subprocess

from bin._lib import machine
from bin._lib.console import Step, run_logged
from bin._lib.layout import PYTHON, SETUP

NAMES = ("chromium", "chromium-browser", "google-chrome")
WHERE = "from playwright.sync_api import sync_playwright as start\nwith start() as p: print(p.chromium.executable_path)"


def ensure(step: Step) -> str | None:
    """Path of a Chromium that runs."""
    path = os.environ.get("SPINDLE_CHROMIUM") or of_system() or of_playwright()
    if path is None and machine.install("chromium", step):
        path = of_system()
    if path is None and machine.is_root():  # Ubuntu's package of that name only points to a snap
        run_logged(
            [str(PYTHON), "-m", "playwright", "install", "--with-deps", "chromium"], SETUP / "system.log", step=step
        )
        path = of_playwright()
    step.note = (machine.version_of(path) or path) if path else f"absent; {machine.way_out('chromium')}"
    return path


def of_system() -> str | None:
    found = (shutil.which(name) for name in NAMES)
    return next((path for path in found if path and machine.version_of(path)), None)


def of_playwright() -> str | None:
    done = subprocess.run([str(PYTHON), "-c", WHERE], capture_output=True, text=True, check=False)
    path = done.stdout.strip()
    return path if path and os.access(path, os.X_OK) else None
