"""Database and broker: embedded ones under the data folder, or the external ones that the environment names."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from bin._lib import account, binaries, postgres, valkey
from bin._lib.account import Account
from bin._lib.console import Trouble, gist
from bin._lib.layout import PYTHON, DataFolder
from bin._lib.machine import is_root
from bin._lib.process import Process

LONGEST_SOCKET_PATH = 107  # bytes, by the kernel
PLAIN_PATH = re.compile(r"[A-Za-z0-9/._+-]+")  # the others mean something in a URL or in a list of folders
POSTGRES_VERSION = (
    "import os, psycopg; print(psycopg.connect(os.environ['URL'], connect_timeout=5).info.server_version)"
)
REDIS_VERSION = (
    "import os, redis; print(redis.from_url(os.environ['URL'], socket_timeout=5).info('server')['redis_version'])"
)


@dataclass(frozen=True)
class Services:
    database_url: str
    redis_url: str
    processes: tuple[Process, ...]

    def environment(self) -> dict[str, str]:
        return {"DATABASE_URL": self.database_url, "REDIS_URL": self.redis_url}


@contextmanager
def start_embedded(data: Path, *, durable: bool) -> Iterator[Services]:
    """Run both servers under a folder; `durable=False` for tests (quicker, a power cut may lose the data)."""
    folder = DataFolder(data)
    folder.create()
    try:
        with embedded_postgres(folder, durable=durable) as database, embedded_valkey(folder) as broker:
            yield Services(database[0], broker[0], (database[1], broker[1]))
    finally:
        release_sockets(folder)


@contextmanager
def embedded_postgres(data: DataFolder, *, durable: bool) -> Iterator[tuple[str, Process]]:
    """Run PostgreSQL; yield its address and its process."""
    runs_as = account.for_servers(data.postgres)
    server = postgres.prepare(data, socket_folder(data, runs_as), runs_as, binaries.find(runs_as), durable=durable)
    with postgres.running(server) as process:
        yield server.url, process


@contextmanager
def embedded_valkey(data: DataFolder) -> Iterator[tuple[str, Process]]:
    """Run Valkey; yield its address and its process."""
    runs_as = account.for_servers(data.postgres)
    sockets = socket_folder(data, runs_as)
    with valkey.running(valkey.command(data, sockets, runs_as, binaries.find(runs_as))) as process:
        yield valkey.url(sockets), process


def socket_folder(data: DataFolder, runs_as: Account) -> Path:
    """Return `run` in the data folder, or a short private folder that `run` then points to."""
    link = data.sockets
    if is_private(link, runs_as):
        return link.resolve()
    if link.is_symlink():
        link.unlink()
    longest = os.fsencode(link.resolve() / f"{postgres.SOCKET}.lock")
    if (
        len(longest) <= LONGEST_SOCKET_PATH
        and PLAIN_PATH.fullmatch(str(link.resolve()))
        and runs_as.may_enter(data.path)
    ):
        if link.exists():
            raise Trouble(f"{link} belongs to another account; remove it, or run as its owner.")
        runs_as.own_folder(link)
        return link.resolve()
    short = Path(tempfile.mkdtemp(prefix="spindle-", dir="/run" if is_root() and Path("/run").is_dir() else "/tmp"))
    os.chown(short, runs_as.uid, runs_as.gid)
    link.symlink_to(short)
    return short


def placed(data: DataFolder) -> str:
    """Return where the database is, when that is not the data folder."""
    place = data.postgres.resolve()
    return "" if place.is_relative_to(data.path) else f"in {place.parent}, since its account may not enter {data.path}"


def release_sockets(data: DataFolder) -> None:
    """Leave nothing outside the data folder after a clean stop."""
    if data.sockets.is_symlink():
        shutil.rmtree(data.sockets.resolve(), ignore_errors=True)
        data.sockets.unlink()


def is_private(folder: Path, owner: Account) -> bool:
    """Return whether the account owns the folder and nobody else may enter it.

    After a restart /tmp may hold somebody else's.
    """
    try:
        found = folder.resolve(strict=True).stat()
    except OSError:
        return False
    return found.st_uid == owner.uid and found.st_mode & 0o077 == 0 and folder.is_dir()


def external_version(program: str, script: str, url: str) -> str:
    """Connect once, from the checkout's environment, and say what answers."""
    done = subprocess.run(
        [str(PYTHON), "-c", script], capture_output=True, text=True, env={**os.environ, "URL": url}, check=False
    )
    if done.returncode:
        raise Trouble(
            f"No {program} answers at {without_password(url)} ({gist(done.stderr)}); start it, or unset its variable."
        )
    return done.stdout.strip()


def check_database(url: str) -> str:
    version = int(external_version("PostgreSQL (DATABASE_URL)", POSTGRES_VERSION, url))
    if version < 150000:
        raise Trouble(f"The PostgreSQL of DATABASE_URL has version {version // 10000}, and Spindle needs 15 or later.")
    return f"PostgreSQL {version // 10000}.{version % 10000} at {without_password(url)}"


def check_broker(url: str) -> str:
    version = external_version("Redis (REDIS_URL)", REDIS_VERSION, url)
    if int(version.split(".")[0]) < 7:
        raise Trouble(f"The Redis of REDIS_URL has version {version}, and Spindle needs 7 or later.")
    return f"Redis {version} at {without_password(url)}"


def without_password(url: str) -> str:
    parts = urlsplit(url)
    return url.replace(f":{parts.password}@", ":…@") if parts.password else url
