"""The whole product as processes, on the test's own database: web, worker, dispatcher, and agents with real fio. What the fault tests kill."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil
from django.conf import settings
from django.db import connection

from apps.agents.models import Enrolment
from apps.inventory.models import Target
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.runs.models import Attempt, Run
from apps.runs.services import start_runs
from bin._lib import commands
from tests.faults.standing import NAMES, StandingServers

ROOT = Path(__file__).resolve().parents[2]
KIB, MIB = 1024, 1024**2


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def until(what: str | Callable[[], str], seconds: float, condition: Callable[[], Any]) -> Any:
    """Wait for it; an error that names it after so many seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.005)
    raise AssertionError(f"not within {seconds} s: {what if isinstance(what, str) else what()}")


def database_url(name: str = "") -> str:
    """The test database that this process uses, for the others; with `name` another one of the same server."""
    db = connection.settings_dict
    user = quote(db["USER"] or "", safe="")
    password = f":{quote(db['PASSWORD'], safe='')}" if db["PASSWORD"] else ""
    port = f":{db['PORT']}" if db["PORT"] else ""
    return f"postgresql://{user}{password}@{quote(db['HOST'], safe='')}{port}/{name or db['NAME']}"


@dataclass
class Stack:
    folder: Path
    lab: Lab
    port: int = field(default_factory=free_port)
    listen: str = "127.0.0.1"
    redis_url: str = ""  # of a broker of the test's own
    data: Path | None = None  # a data folder of the test's own
    agent_url: str = ""  # where the agent finds the server, if something stands between
    standing: StandingServers | None = None  # whose processes are used, as far as they live, and kept for the next test
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def state(self) -> Path:
        return self.folder / "agent"

    def env(self) -> dict[str, str]:
        return {
            **os.environ,
            "DATABASE_URL": database_url(),
            "REDIS_URL": self.redis_url or settings.REDIS_URL,
            "SPINDLE_REDIS_PREFIX": settings.REDIS_PREFIX,
            "SPINDLE_DATA": str(self.data or settings.DATA_DIR),
            "SPINDLE_SECRET_KEY": settings.SECRET_KEY,
            "SPINDLE_URL": self.url,
            "SPINDLE_ALLOWED_HOSTS": "127.0.0.1,localhost" if self.listen == "127.0.0.1" else "*",
            "SPINDLE_PLAIN_STATIC": "1",
            "SPINDLE_LOG_LEVEL": "INFO",
            "PYTHONPATH": str(ROOT),
        }

    def start(self, name: str, *argv: str) -> subprocess.Popen[bytes]:
        folder = self.standing.folder if self.standing and name in NAMES else self.folder
        log = (folder / f"{name}.log").open("ab")
        process = subprocess.Popen(
            [sys.executable, *argv], cwd=ROOT, env=self.env(), stdout=log, stderr=log, start_new_session=True
        )
        self.processes[name] = process
        return process

    def start_web(self, name: str = "web", port: int | None = None) -> None:
        """Another name and port for a second web process beside the first."""
        port = port or self.port
        uvicorn = ["-m", "uvicorn", "apps.asgi:application", "--host", self.listen, "--port", str(port)]
        self.start(name, *uvicorn, "--no-access-log", "--timeout-graceful-shutdown", "1")
        until(f"{name} answers", 30, lambda: self.answers(port))

    def start_webs(self, processes: int) -> None:
        """Start several web processes behind one socket, by the command of `bin/up`."""
        self.start("web", *commands.web(sys.executable, self.listen, self.port, processes)[1:])
        until("the web processes answer", 30, lambda: self.answers(self.port))

    def answers(self, port: int) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
            return True
        return False

    def start_worker(self) -> None:
        celery = ["-m", "celery", "-A", "worker.celery", "worker", "--without-gossip", "--without-mingle"]
        self.start("worker", *celery, "--concurrency", "1")

    def start_dispatcher(self) -> None:
        self.start("dispatcher", *commands.dispatcher(sys.executable)[1:])

    def start_beat(self, *, quick: bool = False) -> None:
        """Start the scheduler; `quick`: one that strikes ten times as often, where a test would wait for it."""
        command = commands.beat(sys.executable, self.folder / "beat-schedule")[1:]
        self.start(
            "beat", *("tests.faults.quick_beat" if quick and word == "worker.beat" else word for word in command)
        )

    def enrol(self) -> None:
        """The real program, enrolled as this machine's agent; approved by its trusted token."""
        with lab_scope(self.lab.pk):
            _, token = Enrolment.objects.issue(self.lab, "test", trusted=True)
        argv = [
            sys.executable,
            "-m",
            "worker.agent",
            "enrol",
            "--server",
            self.agent_url or self.url,
            "--token-file",
            "-",
            "--state",
            str(self.state),
        ]
        subprocess.run(argv, cwd=ROOT, check=True, capture_output=True, timeout=120, input=token.encode())

    def start_agent(self) -> None:
        self.start("agent", "-m", "worker.agent", "run", "--state", str(self.state))

    def start_servers(self) -> None:
        """Start web, worker and dispatcher, those that do not stand already."""
        if self.standing:
            self.processes |= self.standing.lend()
        for name, start in (
            ("worker", self.start_worker), ("dispatcher", self.start_dispatcher), ("web", self.start_web),
        ):  # fmt: skip
            if name not in self.processes:
                start()

    def up(self) -> None:
        self.start_servers()
        self.enrol()
        self.start_agent()
        until("the agent describes its host", 30, lambda: self.target())

    def target(self) -> Target | None:
        """Return the directory of this stack's own agent, once it has reported it; a benchmark enrols others beside."""
        with lab_scope(self.lab.pk):
            targets = Target.objects.filter(is_agents_own=True, path__startswith=str(self.state))
            return targets.select_related("host").first()

    def run(self, *, seconds: int = 4, rw: str = "randwrite", **job: Any) -> Run:
        """A short real run on this machine."""
        one = {
            "rw": rw,
            "block_size": 4 * KIB,
            "file_size": 4 * MIB,
            "runtime": seconds,
            "time_based": True,
            "direct": False,
            **job,
        }
        target = self.target()
        assert target
        with lab_scope(self.lab.pk):
            return start_runs(lab=self.lab, target=target, spec={"tool": "fio", "jobs": [one]}, who="test")[0]

    def now(self, run: Run) -> Run:
        with lab_scope(self.lab.pk):
            return Run.objects.get(pk=run.pk)

    def attempt(self, run: Run) -> Attempt:
        with lab_scope(self.lab.pk):
            return Attempt.objects.get(run=run)

    def wait_for(self, run: Run, state: str, seconds: float = 40) -> Run:
        def there() -> Run | None:
            found = self.now(run)
            assert found.state == state or not found.has_ended, f"{found.state}: {found.problem}\n{self.logs()}"
            return found if found.state == state else None

        return until(lambda: f"run {run.pk} is {state}; it is {self.now(run).state}\n{self.logs()}", seconds, there)

    def wait_until_read_in(self, run: Run) -> Run:
        until(lambda: f"the result is read in\n{self.logs()}", 60, lambda: self.attempt(run).ingested_at)
        return self.now(run)

    def kill(self, name: str, number: int = signal.SIGKILL) -> None:
        """Exactly the process that this test started, with its group (Celery's children)."""
        process = self.processes.pop(name)
        with suppress(ProcessLookupError):
            if name == "agent":
                os.kill(process.pid, number)  # the agent alone: its runner and fio must live on
            else:
                os.killpg(process.pid, number)
        process.wait(timeout=20)

    def fio_processes(self) -> list[psutil.Process]:
        """fio processes of this stack's own spool."""
        found = []
        for process in psutil.process_iter(["name", "cwd"]):
            if process.info["name"] == "fio" and str(process.info["cwd"] or "").startswith(str(self.folder)):
                found.append(process)
        return found

    def logs(self) -> str:
        parts = []
        folders = [self.folder, *([self.standing.folder] if self.standing else [])]
        for path in sorted(path for folder in folders for path in folder.glob("*.log")):
            parts.append(f"--- {path.name}\n" + path.read_text(errors="replace")[-1500:])
        return "\n".join(parts)

    def down(self) -> None:
        with ExitStack() as each:  # all of them, also where one does not end
            if self.standing:
                lent = {name: self.processes.pop(name) for name in NAMES if name in self.processes}
                each.callback(self.standing.take_back, {name: one for name, one in lent.items() if one.poll() is None})
            for name in sorted(self.processes):
                each.callback(self.kill, name)
        for process in self.fio_processes():
            with suppress(psutil.NoSuchProcess):
                process.kill()
