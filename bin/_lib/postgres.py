"""The embedded PostgreSQL: a cluster under the data folder, on a Unix socket only, with peer authentication."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from bin._lib import binaries, machine
from bin._lib.account import Account
from bin._lib.console import Trouble, shown, tail
from bin._lib.layout import DataFolder, write_private
from bin._lib.process import Command, Process

NAME = "spindle"  # of the role and of the database
SOCKET = ".s.PGSQL.5432"
STOP = signal.SIGINT  # the "fast" shutdown: it does not wait for idle clients
INITDB = ("--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")
SETTINGS = ("jit=off", "work_mem=64MB", "random_page_cost=1.1", "max_connections=100")
WITHOUT_SAFETY = (
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
)  # for tests: quicker, lost by a power cut
PEER = "local all postgres,spindle peer map=spindle\n"
FIRST_SQL = f"CREATE ROLE {NAME} LOGIN CREATEDB;\nCREATE DATABASE {NAME} OWNER {NAME};\n"


@dataclass(frozen=True)
class Server:
    """What there is to know for starting it."""

    data: DataFolder
    cluster: Path
    sockets: Path
    account: Account
    programs: binaries.Binaries
    durable: bool

    @property
    def url(self) -> str:
        return f"postgresql://{NAME}@/{NAME}?host={quote(str(self.sockets), safe='')}"

    @property
    def log(self) -> Path:
        return self.data.logs / "postgres.log"

    def command(self) -> Command:
        settings = [
            *SETTINGS,
            f"shared_buffers={shared_buffers_mb()}MB",
            "listen_addresses=",
            "unix_socket_permissions=0700",
        ]
        settings += [f"unix_socket_directories={self.sockets}", "log_timezone=UTC", "timezone=UTC"]
        settings += [] if self.durable else WITHOUT_SAFETY
        options = [part for setting in settings for part in ("-c", setting)]
        argv = [str(self.programs.postgres("postgres")), "-D", str(self.cluster), *options]
        signals = (STOP, signal.SIGQUIT)  # SIGQUIT: at once; the next start recovers
        return Command("postgres", argv, self.log, plain_environment(), self.cluster, self.account, *signals, self.tidy)

    def tidy(self) -> None:
        """Clear up after kill -9: end what still runs on this cluster, then remove stale lock files.

        A lock file is stale that names a process long gone. The data folder's own lock is held, so nobody else is
        starting this cluster.
        """
        pid_file = self.cluster / "postmaster.pid"
        if not pid_file.exists():
            return
        pid = int(pid_file.read_text().split("\n")[0] or 0)
        if runs_in(pid, self.cluster):
            with suppress(ProcessLookupError):
                os.kill(pid, STOP)
            wait_until(lambda: not runs_in(pid, self.cluster), 20)
        if not runs_in(pid, self.cluster):
            for stale in (pid_file, self.sockets / SOCKET, self.sockets / f"{SOCKET}.lock"):
                stale.unlink(missing_ok=True)


def shared_buffers_mb() -> int:
    return max(16, min(256, machine.memory_bytes() // 8 // 2**20))


def plain_environment() -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}


def runs_in(pid: int, folder: Path) -> bool:
    """Return whether a live process has this working folder; a number alone may long belong to another program."""
    try:
        return pid > 0 and Path(f"/proc/{pid}/cwd").resolve(strict=True) == folder.resolve()
    except OSError:
        return False


def wait_until(done: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def prepare(data: DataFolder, sockets: Path, account: Account, programs: binaries.Binaries, *, durable: bool) -> Server:
    """Make the cluster if there is none yet, and let this account and root in."""
    if data.postgres.is_symlink() and not data.postgres.exists():
        raise Trouble(
            f"The database of this data folder was in {data.postgres.readlink()}, which is gone; bring it back, "
            f"or remove {data.postgres} to begin with an empty one."
        )
    cluster = (
        data.postgres.resolve() if data.postgres.exists() else new_cluster(data, account, programs, durable=durable)
    )
    programs = programs.fitting(cluster)
    check_version(cluster, programs)
    write_identities(cluster, account)
    return Server(data, cluster, sockets, account, programs, durable)


def check_version(cluster: Path, programs: binaries.Binaries) -> None:
    made_by = (cluster / "PG_VERSION").read_text().strip()
    brought = binaries.postgres_major(programs.postgres("postgres"))
    if made_by != str(brought):
        raise Trouble(
            f"This data folder's database was made by PostgreSQL {made_by} and this checkout brings {brought}; back it "
            "up with the checkout that made it and restore it with this one (docs/how-to/administration.md), or name a new folder with --data DIR."
        )


def new_cluster(data: DataFolder, account: Account, programs: binaries.Binaries, *, durable: bool) -> Path:
    """Make a cluster aside and put it in place whole.

    What is cut short leaves nothing. The log keeps the output.
    """
    place = data.postgres if account.may_enter(data.path) else elsewhere(data)
    making = place.with_name("postgres.making")
    shutil.rmtree(making, ignore_errors=True)
    try:
        fill_cluster(making, data, account, programs, durable=durable)
        making.rename(place)
    finally:
        shutil.rmtree(making, ignore_errors=True)
        if place != data.postgres and not place.exists():
            shutil.rmtree(place.parent, ignore_errors=True)
    if place != data.postgres:
        data.postgres.symlink_to(place)
    return place.resolve()


def fill_cluster(
    making: Path, data: DataFolder, account: Account, programs: binaries.Binaries, *, durable: bool
) -> None:
    account.own_folder(making)
    initdb = [str(programs.postgres("initdb")), "-D", str(making), "-U", "postgres", "--auth=reject", *INITDB]
    run_as(account, [*initdb, "--no-sync"], data)
    single = [str(programs.postgres("postgres")), "--single", "-D", str(making), "-c", "fsync=off", "postgres"]
    run_as(account, single, data, text=FIRST_SQL)
    (making / "pg_hba.conf").write_text(PEER)
    if durable:
        run_as(account, [*initdb[:3], "--sync-only"], data)


def elsewhere(data: DataFolder) -> Path:
    """Return a place for the cluster when its account may not enter the data folder, which stays as its owner made it."""
    binaries.open_folder(binaries.COPIES)
    folder = Path(tempfile.mkdtemp(prefix="data-", dir=binaries.COPIES))
    folder.chmod(0o711)
    (folder / "belongs-to").write_text(f"{data.path}\n")
    return folder / "postgres"


def run_as(account: Account, argv: list[str], data: DataFolder, text: str = "") -> None:
    log = data.logs / "postgres.log"
    with log.open("ab") as out:
        start = out.tell()
        done = subprocess.run(
            argv,
            input=text.encode(),
            stdout=out,
            stderr=out,
            env=plain_environment(),
            cwd="/",
            check=False,
            **account.popen(),
        )
    if done.returncode:
        last = tail(log, start).strip().rpartition("\n")[2]
        raise Trouble(f"The database could not be made ({last}); the whole output is in {shown(log)}.")


def write_identities(cluster: Path, account: Account) -> None:
    """Write pg_ident.conf: root, this account and the server's may connect, nobody else.

    There is no password to lose.
    """
    people = {"root", account.name, pwd.getpwuid(os.geteuid()).pw_name}
    lines = [f'spindle "{person}" {role}\n' for person in sorted(people) for role in ("postgres", NAME)]
    write_private(cluster / "pg_ident.conf", "".join(lines))
    if account.other:
        os.chown(cluster / "pg_ident.conf", account.uid, account.gid)


@contextmanager
def running(server: Server) -> Iterator[Process]:
    process = Process(server.command())
    try:
        if not wait_until(lambda: is_ready(server, process) or not process.alive(), 60) or not process.alive():
            last = tail(server.log).strip().rpartition("\n")[2]
            raise Trouble(f"The database did not start ({last}); the whole output is in {shown(server.log)}.")
        yield process
    finally:
        process.ask_to_stop()
        process.end(4)


def is_ready(server: Server, process: Process) -> bool:
    """Return whether PostgreSQL has written "ready" into line 8 of its lock file."""
    with suppress(OSError):
        lines = (server.cluster / "postmaster.pid").read_text().split("\n")
        return len(lines) > 7 and lines[0] == str(process.pid) and lines[7].strip() == "ready"
    return False
