"""The environment of all that `bin/up` starts, kept in <data>/env.json while it runs, for `./manage.py` beside it."""

import fcntl
import json
import os
import secrets
import sys
from pathlib import Path

from bin._lib.layout import PYTHON, DataFolder, write_private


def load(data: Path) -> dict[str, str]:
    """Return what a running `bin/up` with this data folder gives its children; empty when none runs."""
    folder = DataFolder(data)
    try:
        found: dict[str, str] = json.loads(folder.environment.read_text()) if is_running(data) else {}
    except FileNotFoundError:
        return {}
    except PermissionError:
        sys.exit(f"manage.py: this account may not read {folder.environment}; run as the one that runs bin/up.")
    return found


def is_running(data: Path) -> bool:
    """Return whether a `bin/up` holds the data folder's lock; a file left behind by kill -9 does not count."""
    try:
        with DataFolder(data).lock.open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False
    return False


def not_running(data: Path) -> str:
    """Return the sentence for a command that needs the database when there is none."""
    return (
        f"No database to talk to: no bin/up runs with the data folder {data}. Start it (bin/up --data {data}), "
        "name its folder with --data DIR, or set DATABASE_URL and REDIS_URL."
    )


def use_checkout_python() -> None:
    """Start again in the checkout's environment, so that `./manage.py` works without activating anything."""
    if PYTHON.exists() and Path(sys.prefix).resolve() != PYTHON.parents[1].resolve():
        os.execv(PYTHON, [str(PYTHON), *sys.argv])


def secret_key(data: DataFolder) -> str:
    """Return the key, made once for each data folder, unless SPINDLE_SECRET_KEY_FILE or SPINDLE_SECRET_KEY is set."""
    if path := os.environ.get("SPINDLE_SECRET_KEY_FILE"):
        return Path(path).read_text().strip()
    if given := os.environ.get("SPINDLE_SECRET_KEY"):
        return given
    if not data.secret.exists():
        write_private(data.secret, secrets.token_urlsafe(64))
    return data.secret.read_text().strip()


def for_children(data: DataFolder, database_url: str, redis_url: str, site_url: str) -> dict[str, str]:
    """Return what Spindle adds to the environment, and nothing else."""
    return {
        "DJANGO_SETTINGS_MODULE": "apps.settings",
        "SPINDLE_DATA": str(data.path),
        "SPINDLE_URL": site_url,
        "SPINDLE_SECRET_KEY": secret_key(data),
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
    }


def publish(data: DataFolder, added: dict[str, str]) -> None:
    write_private(data.environment, json.dumps(added, indent=1))
