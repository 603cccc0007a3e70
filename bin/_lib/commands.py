"""The commands of Spindle's processes, written once.

The supervisor runs them, docker-compose.yml repeats them, and tests/docker/test_compose.py compares the two.
"""

from pathlib import Path

PORT = 8000
WORKER_PROCESSES = 2
WEB_PROCESSES = 2  # in containers; bin/up has --web-workers


def web(python: str, host: str, port: int, processes: int = WEB_PROCESSES) -> list[str]:
    """Return the command of the web processes, which share one socket.

    uvicorn starts one again that ends, or that is silent for half a minute. Open pages have three seconds at the end:
    event streams would hold it for ever. The protocol limits what a connection may keep waiting; what proxies report of
    clients is Spindle's own matter (SPINDLE_PROXIES).
    """
    limits = ["--http", "apps.core.server.connections:Connection", "--ws", "none"]
    limits += ["--timeout-graceful-shutdown", "3", "--timeout-worker-healthcheck", "30"]
    limits += ["--no-access-log", "--no-proxy-headers"]
    return [
        python,
        "-m",
        "uvicorn",
        "apps.asgi:application",
        "--host",
        host,
        "--port",
        str(port),
        "--workers",
        str(processes),
        *limits,
    ]


def worker(python: str) -> list[str]:
    quick = ["--without-gossip", "--without-mingle"]
    return [python, "-m", "celery", "-A", "worker.celery", "worker", "--concurrency", str(WORKER_PROCESSES), *quick]


def dispatcher(python: str) -> list[str]:
    """Return the command of the worker for the short tasks that offer runs to hosts.

    It never waits behind a result that is being read.
    """
    queue = ["--queues", "dispatch", "--hostname", "dispatcher@%h", "--pool", "solo"]
    return [python, "-m", "celery", "-A", "worker.celery", "worker", *queue, "--without-gossip", "--without-mingle"]


def beat(python: str, schedule: Path) -> list[str]:
    """Return the command of the scheduler.

    It has no pid file: one left by kill -9 would keep it from starting.
    """
    return [python, "-m", "celery", "-A", "worker.beat", "beat", "--schedule", str(schedule), "--pidfile="]


def web_health(python: str, port: int) -> list[str]:
    return [python, "-m", "bin._lib.health", "web", str(port)]


def worker_health(python: str, name: str) -> list[str]:
    return [python, "-m", "celery", "-A", "worker.celery", "inspect", "ping", "--timeout", "5", "--destination", name]


def beat_health(python: str, schedule: Path) -> list[str]:
    return [python, "-m", "bin._lib.health", "beat", str(schedule)]


def build_agent(python: str, target: Path) -> list[str]:
    return [python, "worker/build_agent.py", str(target)]


def enrol(python: str, program: Path, server: str, state: Path) -> list[str]:
    """Return the command that enrols the agent.

    The token goes into the environment: every account of the machine can read a command line.
    """
    return [python, str(program), "enrol", "--server", server, "--state", str(state), "--again"]


def agent(python: str, program: Path, server: str, state: Path) -> list[str]:
    """Return the agent's command; it names the address each time, for another start may use another port."""
    return [python, str(program), "run", "--server", server, "--state", str(state)]
