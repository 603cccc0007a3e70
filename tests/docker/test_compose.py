"""docker-compose.yml and Dockerfile are read, and their commands are started without Docker on the servers of the tests."""

import http.client
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.db import connection

from bin._lib import account, binaries, commands, postgres, room, valkey
from bin._lib.layout import PYTHON, ROOT
from tests.bin.launcher import wait_for
from tests.faults.stack import database_url

VALUES = {
    "POSTGRES_PASSWORD": "p" * 64,
    "REDIS_PASSWORD": "r" * 64,
    "SPINDLE_SECRET_KEY": "k" * 64,
    "SPINDLE_URL": "https://spindle.example.org",
    "SPINDLE_ALLOWED_HOSTS": "spindle.example.org",
}
VARIABLE = re.compile(r"\$\{(?P<name>\w+)(?P<kind>:[?-])?(?P<rest>[^}]*)\}|\$\$")
OURS = ("web", "worker", "dispatcher", "beat", "migrate")
BEAT_SCHEDULE = "/tmp/beat-schedule"


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return found


def filled(value: Any) -> Any:
    """`${NAME:?…}`, `${NAME:-default}` and `$$` as Compose fills them in."""
    if isinstance(value, dict):
        return {key: filled(part) for key, part in value.items()}
    if isinstance(value, list):
        return [filled(part) for part in value]
    if not isinstance(value, str):
        return value
    return VARIABLE.sub(lambda found: "$" if found[0] == "$$" else VALUES.get(found["name"], found["rest"]), value)


SERVICES: dict[str, Any] = filled(compose()["services"])


def test_the_commands_are_those_of_the_supervisor() -> None:
    assert SERVICES["web"]["command"] == commands.web("python", "0.0.0.0", commands.PORT)
    assert SERVICES["worker"]["command"] == commands.worker("python")
    assert SERVICES["beat"]["command"] == commands.beat("python", Path(BEAT_SCHEDULE))
    assert SERVICES["web"]["healthcheck"]["test"] == ["CMD", *commands.web_health("python", commands.PORT)]
    assert SERVICES["dispatcher"]["command"] == commands.dispatcher("python")
    for service, node in (("worker", "celery"), ("dispatcher", "dispatcher")):
        health = shlex.split(SERVICES[service]["healthcheck"]["test"][1])
        assert health == commands.worker_health("python", f"{node}@$HOSTNAME")
    assert SERVICES["beat"]["healthcheck"]["test"] == ["CMD", *commands.beat_health("python", Path(BEAT_SCHEDULE))]


def test_database_and_broker_are_set_as_the_embedded_ones() -> None:
    words = [word for word in SERVICES["postgres"]["command"][1:] if word != "-c"]
    assert words == [*postgres.SETTINGS, "shared_buffers=256MB"]
    assert tuple(SERVICES["postgres"]["environment"]["POSTGRES_INITDB_ARGS"].split()) == postgres.INITDB
    assert SERVICES["redis"]["command"] == [
        "valkey-server",
        *valkey.SETTINGS,
        "--requirepass",
        VALUES["REDIS_PASSWORD"],
    ]


def test_nothing_secret_has_a_default() -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    for found in VARIABLE.finditer(text):
        if found["name"] and re.search("PASSWORD|SECRET", found["name"]):
            assert found["kind"] == ":?", f"{found[0]} must stop Compose when it is not set"
    for service in compose()["services"].values():
        for name, value in service.get("environment", {}).items():
            if re.search("PASSWORD|SECRET|AUTH", name):
                assert value.startswith("${"), f"{name} must come from outside"


def test_the_instructions_set_all_that_compose_demands() -> None:
    demanded = {
        found["name"] for found in VARIABLE.finditer((ROOT / "docker-compose.yml").read_text()) if found["kind"] == ":?"
    }
    told = re.findall(r"^    (\w+)=", (ROOT / "docs/how-to/administration.md").read_text(), re.MULTILINE)
    assert demanded <= set(told)


def test_every_service_that_stays_has_a_health_check() -> None:
    assert [name for name, service in SERVICES.items() if "healthcheck" not in service] == ["migrate"]


def test_the_image_is_locked_built_with_assets_and_runs_without_rights() -> None:
    lines = (ROOT / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    instructions = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    runs = " ".join(rest for word, rest in instructions if word == "RUN")
    assert "--require-hashes" in runs
    assert "-m bin._lib.assets" in runs
    assert "collectstatic" in runs
    assert [rest for word, rest in instructions if word == "USER"] == ["spindle"]
    command = next(rest for word, rest in instructions if word == "CMD")
    assert json.loads(command) == SERVICES["web"]["command"]
    copied = [
        source for word, rest in instructions if word == "COPY" and "--from" not in rest for source in rest.split()[:-1]
    ]
    assert [source for source in copied if not (ROOT / source).exists()] == []
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {".env", "var", ".venv"} <= set(ignored)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="spindle-test-", dir="/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture(scope="module")
def database(django_db_setup: None, django_db_blocker: Any) -> Iterator[str]:
    """Yield the address of a database that is migrated already, for all migrations take longer than all else here."""
    own = connection.settings_dict["NAME"]
    source, name = os.environ.get("SPINDLE_TEST_TEMPLATE") or own, f"{own}_compose"
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        cursor.execute(f'CREATE DATABASE "{name}" TEMPLATE "{source}"')
    yield database_url(name)
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


class Containers:
    """Starts the services' commands with the services' environment; only addresses and places are this machine's."""

    def __init__(self, folder: Path, database: str) -> None:
        self.port = room.free_port("127.0.0.1", 0)
        self.places = {
            str(commands.PORT): str(self.port),
            "0.0.0.0": "127.0.0.1",
            BEAT_SCHEDULE: str(folder / "beat-schedule"),
            "python": str(PYTHON),
        }
        local = {"SPINDLE_DATA": str(folder / "data"), "HOSTNAME": socket.gethostname(), "SPINDLE_PLAIN_STATIC": "1"}
        path = f"{PYTHON.parent}:{os.environ['PATH']}"
        broker = {"REDIS_URL": settings.REDIS_URL, "SPINDLE_REDIS_PREFIX": f"{settings.REDIS_PREFIX}compose:"}
        self.env = {**SERVICES["web"]["environment"], "DATABASE_URL": database, **broker, **local, "PATH": path}
        self.folder = folder
        self.started: list[subprocess.Popen[bytes]] = []

    def here(self, words: list[str]) -> list[str]:
        return [self.places.get(word, word) for word in words]

    def start(self, name: str) -> subprocess.Popen[bytes]:
        log = (self.folder / f"{name}.log").open("wb")
        command = self.here(SERVICES[name]["command"])
        process = subprocess.Popen(command, cwd=ROOT, env=self.env, stdout=log, stderr=log, start_new_session=True)
        self.started.append(process)
        return process

    def healthy(self, name: str) -> bool:
        kind, *test = SERVICES[name]["healthcheck"]["test"]
        argv = ["/bin/sh", "-c", test[0]] if kind == "CMD-SHELL" else self.here(test)
        return subprocess.run(argv, cwd=ROOT, env=self.env, capture_output=True, check=False).returncode == 0

    def stop(self) -> None:
        for process in self.started:
            process.send_signal(signal.SIGTERM)
        for process in self.started:
            try:
                process.wait(10)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def containers(folder: Path, database: str) -> Iterator[Containers]:
    running = Containers(folder, database)
    assert running.start("migrate").wait(120) == 0, (folder / "migrate.log").read_text()[-2000:]
    assert not running.healthy("web")
    for name in ("web", "worker", "dispatcher", "beat"):
        running.start(name)
    yield running
    running.stop()


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("name", ["web", "beat", "worker", "dispatcher"])
def test_the_service_starts_and_its_health_check_succeeds(containers: Containers, name: str) -> None:
    assert wait_for(lambda: containers.healthy(name)), (containers.folder / f"{name}.log").read_text()[-2000:]


PAGE, ENROL = "/accounts/login/", "/agent/v1/enrol/"


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        (PAGE, {"X-Forwarded-Proto": "https"}, 200),
        (PAGE, {}, 301),
        (ENROL, {"X-Forwarded-Proto": "http"}, 301),
        (ENROL, {"X-Forwarded-For": "192.0.2.7"}, 301),
        (ENROL, {}, 405),  # this machine's own agent; the view wants a POST
    ],
    ids=["through the proxy", "past it", "an agent without TLS", "an agent through a bad proxy", "the agent beside it"],
)
def test_with_an_https_address_only_this_machines_agent_is_served_without(
    containers: Containers, path: str, headers: dict[str, str], status: int
) -> None:
    assert wait_for(lambda: containers.healthy("web"))
    answer = asked(containers.port, path, headers)
    assert answer.status == status
    if status == 301:
        assert answer.getheader("Location", "").startswith("https://")
    if status == 200:
        assert answer.getheader("Strict-Transport-Security", "").startswith("max-age=31536000")
        assert "Secure" in answer.getheader("Set-Cookie", "")


def asked(port: int, path: str, headers: dict[str, str]) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


def test_the_database_health_check_succeeds(folder: Path) -> None:
    _, program, *rest = SERVICES["postgres"]["healthcheck"]["test"]
    path = binaries.find(account.for_servers(folder / "data" / "postgres")).postgres(program)
    place = {"127.0.0.1": connection.settings_dict["HOST"] or "127.0.0.1"}
    port = ["-p", str(connection.settings_dict["PORT"] or 5432)]
    words = [place.get(word, word) for word in rest]
    assert subprocess.run([str(path), *words, *port], capture_output=True, check=False).returncode == 0


@pytest.mark.slow
def test_the_broker_starts_with_its_password_and_says_pong(folder: Path) -> None:
    """The health check's own program comes with the image only; this says the same PING."""
    program, *rest = SERVICES["redis"]["command"]
    binary = binaries.find(account.for_servers(folder / "data" / "postgres")).valkey
    assert binary.name == program
    port = room.free_port("127.0.0.1", 0)
    process = subprocess.Popen(
        [str(binary), "--port", str(port), "--bind", "127.0.0.1", *rest], stdout=subprocess.DEVNULL
    )
    try:
        assert wait_for(lambda: said(port, f"AUTH {VALUES['REDIS_PASSWORD']}", "PING") == ["+OK", "+PONG"])
        assert said(port, "PING")[0].startswith("-NOAUTH")
    finally:
        process.terminate()
        process.wait(10)


def said(port: int, *lines: str) -> list[str]:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as client, client.makefile("rwb") as stream:
            answers = []
            for line in lines:
                stream.write(f"{line}\r\n".encode())
                stream.flush()
                answers.append(stream.readline().decode().strip())
            return answers
    except OSError:
        return []
