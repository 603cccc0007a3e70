"""Spindle's own processes: web, worker, dispatcher, beat and this machine's agent."""

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bin._lib import commands, django, health
from bin._lib.console import Trouble, gist, shown, tail
from bin._lib.layout import PYTHON, ROOT, DataFolder
from bin._lib.process import Command
from bin._lib.supervisor import Supervisor

WEB_PATIENCE = 60  # seconds until the first answer
WORKER_PATIENCE = 60
NODES = {"worker": "celery", "dispatcher": "dispatcher"}  # as Celery calls them, before the host's name


@dataclass(frozen=True)
class Programs:
    data: DataFolder
    env: Mapping[str, str]
    supervisor: Supervisor
    host: str
    port: int
    web_workers: int = 1

    @property
    def local_host(self) -> str:
        """Return the address where this machine itself reaches the web process."""
        return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)

    @property
    def local_url(self) -> str:
        host = f"[{self.local_host}]" if ":" in self.local_host else self.local_host
        return f"http://{host}:{self.port}"

    def start_web(self) -> None:
        """Start the web processes and wait for the first answer of any."""
        self._start("web", commands.web(str(PYTHON), self.host, self.port, self.web_workers))
        end = time.monotonic() + WEB_PATIENCE
        while not self.web_answers():
            if time.monotonic() > end:
                log = self.data.logs / "web.log"
                raise Trouble(f"The web process does not answer ({gist(tail(log))}); its log is {shown(log)}.")
            self.supervisor.wait(0.1)

    def web_answers(self) -> bool:
        return (health.web_status(self.local_host, self.port) or 599) < 500

    def web_processes_answer(self) -> bool:
        """Ask until each web process has answered; which of them takes a connection is chance."""
        answered = set()
        for _ in range(50 * self.web_workers):
            status, process = health.ask_web(self.local_host, self.port)
            if (status or 599) >= 500:
                return False
            answered.add(process)
            if len(answered) >= self.web_workers:
                return True
            time.sleep(0.01)
        return False

    def start_workers(self) -> None:
        python = str(PYTHON)
        self._start("worker", commands.worker(python))
        self._start("dispatcher", commands.dispatcher(python))
        self._start("beat", commands.beat(python, self.schedule))

    @property
    def schedule(self) -> Path:
        return self.data.path / "beat-schedule"

    def silent(self) -> list[str]:
        """Ask every process until it answers; return a sentence for each that does not."""
        questions: dict[str, Callable[[], bool]] = {
            "web": self.web_processes_answer,
            "beat": lambda: self.supervisor.is_alive("beat") and health.schedule_is_fresh(self.schedule),
            "agent": lambda: self.supervisor.is_alive("agent"),  # whether it has reached the server is told before
        }
        end = time.monotonic() + WORKER_PATIENCE
        missing = ["web", *NODES, "beat", "agent"]
        while True:
            nodes = self.silent_nodes([name for name in missing if name in NODES])
            missing = [name for name in missing if name in nodes or (name in questions and not questions[name]())]
            if not missing or time.monotonic() > end:
                break
            self.supervisor.wait(0.5)
        several = {"web": f"one of {self.web_workers} web processes"} if self.web_workers > 1 else {}
        return [
            f"{several.get(name, name)} does not answer; its log is {shown(self.data.logs / f'{name}.log')}."
            for name in missing
        ]

    def silent_nodes(self, names: Sequence[str]) -> set[str]:
        """Ask these workers at once, for each question starts a program; return those that do not answer."""
        nodes = {name: f"{NODES[name]}@{socket.gethostname()}" for name in names}
        if not nodes:
            return set()
        done = subprocess.run(
            commands.worker_health(str(PYTHON), ",".join(nodes.values())), cwd=ROOT, env={**os.environ, **self.env},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        return {name for name, node in nodes.items() if f"{node}: OK" not in done.stdout}

    def start_agent(self, token: str | None) -> None:
        """Build the agent's program as other hosts get it, enrol it once, start it."""
        program, state = self.data.agent / "agent.pyz", self.data.agent
        django.call(self.data, self.env, commands.build_agent(str(PYTHON), program))
        if token:  # none when the server knows this agent
            put_aside(state / "identity.json")
            env = {**agent_environment(), "SPINDLE_ENROL_TOKEN": token}
            django.call(self.data, env, commands.enrol(str(PYTHON), program, self.local_url, state))
        self._start(
            "agent", commands.agent(str(PYTHON), program, self.local_url, state), agent_environment(), cwd=state
        )

    def _start(self, name: str, argv: list[str], env: Mapping[str, str] | None = None, cwd: Path = ROOT) -> None:
        whole = {**os.environ, **self.env} if env is None else env
        self.supervisor.start(
            Command(name, argv, self.data.logs / f"{name}.log", whole, cwd, stop_signal=signal.SIGTERM)
        )


def agent_environment() -> dict[str, str]:
    """Return the agent's environment, without the server's secrets: on this machine too it is just another host's program."""
    secret = ("DATABASE_URL", "REDIS_URL", "SPINDLE_", "POSTGRES_", "DJANGO_")
    rest = {name: value for name, value in os.environ.items() if not name.startswith(secret)}
    return {**rest, "AGENT_FOLDERS_ABOVE": "warn"}  # root may start Spindle in somebody's checkout


def known_agent(data: DataFolder) -> list[str]:
    """Return `--agent ID` for manage.py once this machine's agent has enrolled."""
    try:
        identity = json.loads((data.agent / "identity.json").read_text())
    except FileNotFoundError:
        return []
    return ["--agent", str(identity["agent"])]


def put_aside(identity: Path) -> None:
    """Let an agent enrol anew that the database does not know, since another one was named; keep its old identity."""
    if identity.exists():
        identity.replace(identity.with_suffix(f".{int(time.time())}.json"))


def running_fio(folder: Path) -> list[int]:
    """Return, for each run under way below the agent's folder, the fio process that the run's others come from."""
    parents = {}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
            inside = (process / "cwd").resolve().is_relative_to(folder) or any(
                word.startswith(f"{folder}/") for word in words
            )
            if (process / "comm").read_text().strip() == "fio" and inside:
                parents[int(process.name)] = parent_of(process)
    return [pid for pid, parent in parents.items() if parent not in parents]


def parent_of(process: Path) -> int:
    """Return the number of the parent process.

    After the name, which may hold blanks and brackets, /proc/PID/stat has the state and then the parent.
    """
    return int((process / "stat").read_text().rpartition(")")[2].split()[1])
