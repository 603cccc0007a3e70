"""The checkout's virtual environment, installed from a lock file with hashes.

`.venv/spindle-stamp.json` is written last and names the lock files that are installed; `.venv/spindle-making` is there
while an installation is under way, so that one which was cut short is seen and made again from nothing.
"""

import fcntl
import hashlib
import importlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bin._lib import machine
from bin._lib.console import Step, Trouble, run_logged, shown
from bin._lib.layout import PYTHON, ROOT, SETUP, VENV

STAMP = VENV / "spindle-stamp.json"
MAKING = VENV / "spindle-making"
LOG = SETUP / "packages.log"
SCRATCH = SETUP / "pip"  # where pip unpacks: /tmp may be small, and what a Ctrl-C leaves there would stay
NETWORK_WORDS = (
    "Max retries", "Temporary failure", "ProxyError", "Cannot connect to proxy", "timed out", "ConnectionError",
    "No route to host", "Connection refused", "NewConnectionError", "SSLError", "Could not find a version",
    "No matching distribution",
)  # fmt: skip


def lock_file(name: str) -> Path:
    return ROOT / "requirements" / f"{name}.txt"


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def python_version() -> str | None:
    """Return the version of the environment's Python, or None where it does not run."""
    try:
        asked = [str(PYTHON), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        return subprocess.run(asked, capture_output=True, text=True, timeout=30, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None


def is_ready(name: str) -> bool:
    """Return whether the lock file is installed; `dev` contains `run`."""
    if not STAMP.exists() or MAKING.exists():
        return False
    stamp = json.loads(STAMP.read_text())
    wanted = {"run": ("run", "dev"), "dev": ("dev",)}[name]
    return any(stamp.get(lock) == digest(lock_file(lock)) for lock in wanted) and stamp["python"] == python_version()


def ensure(name: str, step: Step) -> None:
    """Make the environment hold the packages of requirements/<name>.txt."""
    if is_ready(name):
        step.note = "already there"
        return
    try:
        with setup_lock():
            if not is_ready(name):
                make(name, step)
    except PermissionError as error:
        raise Trouble(
            f"This account may not write {error.filename}; run as the owner of {ROOT}, or clone it anew."
        ) from None


@contextmanager
def setup_lock() -> Iterator[None]:
    """Hold the lock that allows one installation at a time in one checkout."""
    SETUP.mkdir(parents=True, exist_ok=True)
    with (SETUP / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def fresh_folder(folder: Path) -> Iterator[None]:
    """Make an empty folder that goes however this ends."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def make(name: str, step: Step) -> None:
    LOG.unlink(missing_ok=True)
    if VENV.exists() and (MAKING.exists() or python_version() is None):
        shutil.rmtree(VENV)
    if VENV.exists():
        MAKING.touch()
        STAMP.unlink(missing_ok=True)
    else:
        create_environment(step)
    install = [
        str(PYTHON),
        "-m",
        "pip",
        "install",
        "--require-hashes",
        "--no-deps",
        "--requirement",
        str(lock_file(name)),
    ]
    quiet = ["--disable-pip-version-check", "--no-input", "--progress-bar", "off"]
    with fresh_folder(SCRATCH):
        env = {"PIP_RETRIES": "3", **os.environ, "TMPDIR": str(SCRATCH)}
        status, output = run_logged([*install, *quiet], LOG, env=env, step=step)
    if status:
        raise Trouble(why_pip_failed(output))
    STAMP.write_text(json.dumps({"python": python_version(), name: digest(lock_file(name))}))
    MAKING.unlink()


def create_environment(step: Step) -> None:
    need_ensurepip(step)
    VENV.mkdir()
    MAKING.touch()
    python = getattr(sys, "_base_executable", None) or sys.executable
    status, output = run_logged([python, "-m", "venv", str(VENV)], LOG, env=clean_environment(), step=step)
    if status:
        last = output.strip().rpartition("\n")[2]
        raise Trouble(f"python3 -m venv failed ({last}); the whole output is in {shown(LOG)}.")


def clean_environment() -> dict[str, str]:
    return {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONHOME", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")
    }


def need_ensurepip(step: Step) -> None:
    """Make sure that Python has ensurepip, which Debian and Ubuntu leave to a package of its own."""
    if importlib.util.find_spec("ensurepip") and importlib.util.find_spec("venv"):
        return
    package = machine.python_package("venv")
    if machine.manager() == "apt-get" and machine.install(package, step):
        importlib.invalidate_caches()
        if importlib.util.find_spec("ensurepip"):
            return
    raise Trouble(f"This Python has no venv module; {machine.way_out(package)}, then run this again.")


def why_pip_failed(output: str) -> str:
    where = f"The whole output is in {shown(LOG)}."
    if "No space left on device" in output:
        return f"The disk filled up while Python packages were installed; make room and run this again. {where}"
    if "DO NOT MATCH THE HASHES" in output:
        return f"The package index delivered a file that differs from the locked one, so nothing was installed. {where}"
    if any(word in output for word in NETWORK_WORDS):
        return (
            "The Python packages could not be fetched; check the network, or name your proxy in HTTPS_PROXY, your own "
            f"index in PIP_INDEX_URL and its certificates in PIP_CERT, then run this again. {where}"
        )
    errors = [line for line in output.splitlines() if line.startswith("ERROR")] or output.splitlines()[-1:]
    return f"pip failed: {' '.join(errors[:1])} {where}"
