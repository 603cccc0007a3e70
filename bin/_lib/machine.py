"""The system's package manager: programs that neither pip nor npm brings."""

import os
import shutil
import subprocess
from pathlib import Path

from bin._lib.console import Step, run_logged
from bin._lib.layout import SETUP

MANAGERS = {
    "apt-get": ["apt-get", "install", "--yes", "--no-install-recommends"],
    "dnf": ["dnf", "install", "--assumeyes"],
    "apk": ["apk", "add"],
}


def is_root() -> bool:
    return os.geteuid() == 0


def manager() -> str | None:
    return next((name for name in MANAGERS if shutil.which(name)), None)


def how_to_install(package: str) -> str:
    """The command a person types."""
    name = manager()
    return (
        f"sudo {name} {MANAGERS[name][1]} {package}"
        if name
        else f"install {package} with your system's package manager"
    )


def install(package: str, step: Step | None = None) -> bool:
    """Install a system package if this may be done here; True when it worked. The output is in var/setup/system.log."""
    name = manager()
    if not is_root() or name is None:
        return False
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    log = SETUP / "system.log"
    status, _ = run_logged([*MANAGERS[name], package], log, env=env, step=step)
    if status and name == "apt-get":  # a fresh machine has no package lists yet
        run_logged(["apt-get", "update"], log, env=env, step=step)
        status, _ = run_logged([*MANAGERS[name], package], log, env=env, step=step)
    return status == 0


def version_of(program: str) -> str | None:
    """First line of `program --version`, or None where it is absent or does not run."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip().partition("\n")[0] if done.returncode == 0 else None


def memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def certificates() -> Path | None:
    """The system's own list of certificate authorities (a company's proxy is in there, not in a program's own list)."""
    places = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")
    return next((Path(place) for place in places if Path(place).is_file()), None)
