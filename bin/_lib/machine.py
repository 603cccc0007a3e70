"""The system's package manager: programs that neither pip nor npm brings."""

import ctypes.util
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

from bin._lib.console import Console, Step, run_logged, shown
from bin._lib.layout import SETUP

LOG = SETUP / "system.log"
APT_LISTS = Path("/var/lib/apt/lists")
MANAGERS = {
    # A machine that was just started installs its own updates: wait for that one's lock
    "apt-get": ["apt-get", "-o", "DPkg::Lock::Timeout=120", "install", "--yes", "--no-install-recommends"],
    "dnf": ["dnf", "install", "--assumeyes"],
    "apk": ["apk", "add"],
}
# The same Chromium without a window to draw; where it is packaged, a new page costs a quarter of the processor time
BROWSER_PACKAGES = ("chromium-headless-shell", "chromium")
BROWSERS = (*BROWSER_PACKAGES, "chromium-browser", "google-chrome")
ATOMIC = {
    "apt-get": "libatomic1",
    "dnf": "libatomic",
    "apk": "libatomic",
}  # what the Node.js of the browser's driver needs
MKFS = {"mkfs.xfs": "xfsprogs", "mkfs.btrfs": "btrfs-progs"}  # and the package of Debian, Fedora and Alpine


def is_root() -> bool:
    return os.geteuid() == 0


def manager() -> str | None:
    return next((name for name in MANAGERS if shutil.which(name)), None)


def how_to_install(package: str) -> str:
    """Return the command a person types."""
    name = manager()
    if name is None:
        return f"install {package} with your system's package manager"
    command = f"{name} {'add' if name == 'apk' else 'install'} {package}"
    if name == "apt-get" and not any(APT_LISTS.glob("*_Packages*")):
        command = f"apt-get update && {command}"
    if is_root():
        return command
    return command_of_root(command)


def command_of_root(command: str) -> str:
    """Return the command as root's: a small Debian has no sudo, and there su asks for root's password."""
    if not shutil.which("sudo"):
        return f"su - -c '{command}'"
    return " && ".join(f"sudo {part}" for part in command.split(" && "))


def way_out(package: str) -> str:
    """Return what root has tried already for a package that is still absent, and the command."""
    tried = f"installing it failed (check the network; the output is in {shown(LOG)}); " if may_install() else ""
    return f"{tried}to have it: {how_to_install(package)}"


def lacking(*, tests: bool) -> list[str]:
    """Return the names of the system's packages that are missing here: for `bin/up`, or for the tests as well."""
    found = (
        (python_package("venv"), importlib.util.find_spec("ensurepip") is None),
        ("fio", shutil.which("fio") is None),
        ("chromium", tests and not any(map(shutil.which, BROWSERS))),
        (ATOMIC.get(manager() or "", "libatomic"), tests and ctypes.util.find_library("atomic") is None),
    )
    return [package for package, missing in found if missing]


def python_package(part: str) -> str:
    """Return the name of a package that Debian and Ubuntu split off from Python."""
    return f"python{sys.version_info.major}.{sys.version_info.minor}-{part}"


def announce_lacking(console: Console, *, tests: bool) -> None:
    """Name everything that only root may install in one sentence, before the first of it is in the way."""
    if not may_install() and (packages := lacking(tests=tests)):
        console.say(
            f"Missing on this machine: {', '.join(packages)}. To have all of it: {how_to_install(' '.join(packages))}"
        )


def may_install() -> bool:
    return is_root() and manager() is not None


def install(package: str, step: Step | None = None) -> bool:
    """Install a system package if this may be done here; True when it worked. The output is in var/setup/system.log."""
    name = manager()
    if not is_root() or name is None:
        return False
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    # One that is cut short leaves a system on which nothing can be installed until somebody repairs it
    status, _ = run_logged([*MANAGERS[name], package], LOG, env=env, step=step, whole=True)
    if status and name == "apt-get":  # a fresh machine has no package lists yet
        run_logged(["apt-get", "update"], LOG, env=env, step=step)
        status, _ = run_logged([*MANAGERS[name], package], LOG, env=env, step=step, whole=True)
    return status == 0


def ensure_fio(step: Step) -> bool:
    """Return whether fio is there, installed now where that may be done.

    The step's note names the version or the way out.
    """
    if not shutil.which("fio"):
        install("fio", step)
    version = version_of("fio")
    step.note = version or f"absent, so no demo run; {way_out('fio')}"
    return version is not None


def ensure_mkfs(step: Step) -> None:
    """Install what makes the filesystems that tests compare on loop devices, where that may be done.

    The step's note names what is there; a test that lacks one takes another filesystem.
    """
    for program, package in MKFS.items():
        if not shutil.which(program):
            install(package, step)
    step.note = ", ".join(program for program in MKFS if shutil.which(program)) or "none"


def version_of(program: str) -> str | None:
    """Return the first line of `program --version`, or None where it is absent or does not run."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip().partition("\n")[0] if done.returncode == 0 else None


def memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def certificates() -> Path | None:
    """Return the system's own list of certificate authorities (a company's proxy is in there, not in a program's own list)."""
    places = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")
    return next((Path(place) for place in places if Path(place).is_file()), None)
