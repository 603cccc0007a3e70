"""A broker and a database of a test's own, to be emptied, killed and started again; the machine's own are left alone."""

import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil
import psycopg
import redis
from django.db import connection

from bin._lib import account, binaries, postgres, services, valkey
from bin._lib.layout import DataFolder
from bin._lib.process import Process
from tests.faults.stack import database_url, until

NAME = postgres.NAME


@contextmanager
def make_folder() -> Iterator[DataFolder]:
    """Yield a data folder that the account of the servers may enter, wherever temporary folders of tests are."""
    path = Path(tempfile.mkdtemp(prefix="spindle-own-", dir="/tmp"))
    path.chmod(0o711)
    data = DataFolder(path)
    data.create()
    try:
        yield data
    finally:
        services.release_sockets(data)
        shutil.rmtree(path, ignore_errors=True)


class OwnBroker:
    """A Valkey that listens on a Unix socket, `path`."""

    def __init__(self, data: DataFolder) -> None:
        runs_as = account.for_servers(data.postgres)
        sockets = services.socket_folder(data, runs_as)
        self.path = str(sockets / "valkey.sock")
        self._command = valkey.command(data, sockets, runs_as, binaries.find(runs_as))
        self._sockets = sockets
        self.start()

    def start(self) -> None:
        Path(self.path).unlink(missing_ok=True)
        self._process = Process(self._command)
        until("the broker answers", 20, lambda: valkey.answers(self._sockets))

    def empty(self) -> None:
        redis.Redis(unix_socket_path=self.path).flushall()

    def kill(self) -> None:
        self._process.signal(signal.SIGKILL)
        self._process.wait(10)

    def stop(self) -> None:
        self._process.ask_to_stop()
        self._process.end(5)


@contextmanager
def own_broker() -> Iterator[OwnBroker]:
    with make_folder() as data:
        broker = OwnBroker(data)
        try:
            yield broker
        finally:
            broker.stop()


class OwnDatabase:
    """A PostgreSQL as production has it (fsync on), filled with what the test's own database holds when it is made."""

    def __init__(self, data: DataFolder) -> None:
        runs_as = account.for_servers(data.postgres)
        sockets = services.socket_folder(data, runs_as)
        self._server = postgres.prepare(data, sockets, runs_as, binaries.find(runs_as), durable=True)
        self.sockets = sockets
        self.start()
        self._fill(data.path / "dump")

    def start(self) -> None:
        self._process = Process(self._server.command())
        until("the database is ready", 60, lambda: postgres.is_ready(self._server, self._process))

    def _fill(self, dump: Path) -> None:
        with dump.open("w") as file:
            for line in self._ask("pg_dump", "--no-owner", "--no-privileges", database_url()).splitlines():
                if "(pg_attver=" not in line:  # an option that some builds of PostgreSQL 15 have and others refuse
                    file.write(f"{line}\n")
        self._ask("psql", "--no-psqlrc", "--quiet", "-v", "ON_ERROR_STOP=1", "-f", str(dump), self._server.url)

    def _ask(self, program: str, *arguments: str) -> str:
        argv = [str(self._server.programs.postgres(program)), *arguments]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def stop(self, how: signal.Signals) -> None:
        """End it: SIGINT is PostgreSQL's `fast`, SIGQUIT its `immediate`, SIGKILL ends every one of its processes."""
        parent = psutil.Process(self._process.pid)
        everybody = [parent, *parent.children(recursive=True)] if how == signal.SIGKILL else [parent]
        for process in everybody:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(how)
        assert self._process.wait(30), "PostgreSQL did not end"

    def occupy(self) -> list["psycopg.Connection[Any]"]:
        """Take every connection that it still gives to ordinary accounts."""
        held = []
        end = time.monotonic() + 30
        while time.monotonic() < end:
            try:
                held.append(psycopg.connect(self._server.url))
            except psycopg.OperationalError:
                return held
        raise AssertionError(f"{len(held)} connections, and no end")

    def settings(self) -> Mapping[str, str]:
        """Return how Django connects to it."""
        return {"NAME": NAME, "USER": NAME, "PASSWORD": "", "HOST": str(self.sockets), "PORT": ""}

    @property
    def url(self) -> str:
        return f"postgresql://{NAME}@/{NAME}?host={quote(str(self.sockets), safe='')}"

    def end(self) -> None:
        self._process.ask_to_stop()
        self._process.end(10)


@contextmanager
def own_database() -> Iterator[OwnDatabase]:
    """Let all statements of this thread go to a database of its own meanwhile."""
    with make_folder() as data:
        made = OwnDatabase(data)
        before = {name: connection.settings_dict[name] for name in made.settings()}
        connection.close()
        connection.settings_dict.update(made.settings())
        try:
            yield made
        finally:
            connection.close()
            connection.settings_dict.update(before)
            made.end()
