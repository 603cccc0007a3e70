"""`bin/up`: from a fresh checkout to a running dashboard, step by step; safe to run again."""

import argparse
import faulthandler
import os
import re
import signal
import socket
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import urljoin, urlsplit

from bin._lib import assets, django, environment, machine, packages, production, room, services, translations
from bin._lib.console import Console, Trouble, fail, shown
from bin._lib.demo import Demo, Status
from bin._lib.layout import ROOT, DataFolder
from bin._lib.process import STOPPING
from bin._lib.programs import Programs, known_agent, running_fio
from bin._lib.supervisor import Supervisor

STEPS = 14
MOST_WEB_WORKERS = 64
LOOPBACK = ("127.0.0.1", "localhost", "::1")
PAGES = {
    "overview": "Start page",
    "host": "This host",
    "run": "Demo run",
    "compare": "Comparison, writing",
    "comparisons": "Comparisons",
    "compare_read": "Comparison, reading",
}
DESCRIPTION = """Set everything up and start Spindle: web, worker, dispatcher, beat and this machine's agent.
Safe to run again: it goes on where it was and keeps the data. Ctrl-C stops it.
Started in the background by a script (bin/up &) it ignores SIGINT, as the shell asks; kill PID (SIGTERM) stops it."""
EPILOG = """environment:
  DATABASE_URL   an external PostgreSQL >= 15 in place of the embedded one, e.g. postgresql://user:password@host/spindle
  REDIS_URL      an external Redis >= 7 or Valkey in place of the embedded one, e.g. redis://host:6379/0
  SPINDLE_URL    the address that people type, when it is not the one that is served here (behind a proxy)"""


class Stopped(BaseException):
    """Ctrl-C or another signal, whose number it carries; not an error, so no handler of errors may swallow it."""


@dataclass
class SignIn:
    """The first owner's password is shown once; this makes sure that it is shown at all."""

    email: str = ""
    password: str | None = None

    def line(self) -> str:
        password, self.password = self.password, None
        if password:
            return f"Sign in as {self.email} with the password  {password}  (shown this once, kept nowhere in clear)."
        return f"Sign in as {self.email}." if self.email else ""


def parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bin/up", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--port", type=int, default=8000, help="port of the pages (default 8000; 0 takes a free one)")
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to serve (default 127.0.0.1; 0.0.0.0 for the whole network)"
    )
    parser.add_argument(
        "--data", type=Path, default=None, metavar="DIR", help="data folder (default: var in the checkout)"
    )
    parser.add_argument(
        "--lab",
        metavar="NAME",
        help="name of the first lab, when it is made (default: My lab); renamed on its page later",
    )
    parser.add_argument(
        "--owner",
        metavar="ADDRESS",
        help="e-mail address of the first lab's owner, when it is made (default: owner@spindle.local)",
    )
    parser.add_argument(
        "--web-workers",
        type=int,
        default=1,
        metavar="N",
        help=f"processes that answer pages, scripts and agents (default 1; at most {MOST_WEB_WORKERS})",
    )
    parser.add_argument("--no-demo-run", action="store_true", help="do not run fio on this machine")
    parser.add_argument(
        "--production",
        action="store_true",
        help="refuse to start with settings unfit for production (docs/how-to/administration.md)",
    )
    options = parser.parse_args(argv)
    if not 0 <= options.port <= 65535:
        parser.error(f"--port {options.port} is not a port number (0 to 65535)")
    if not 1 <= options.web_workers <= MOST_WEB_WORKERS:
        parser.error(f"--web-workers {options.web_workers} is not a number from 1 to {MOST_WEB_WORKERS}")
    if options.lab is not None and not 1 <= len(options.lab.strip()) <= 120:
        parser.error(f"--lab has {len(options.lab.strip())} characters; a lab's name has 1 to 120")
    if options.owner is not None and not re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", options.owner.strip()):
        parser.error(f"--owner {options.owner!r} is not an e-mail address such as you@example.org")
    return options


def main(argv: list[str]) -> int:
    options = parse(argv)
    faulthandler.register(signal.SIGUSR1)  # `kill -USR1` tells where it is
    console = Console(STEPS - options.no_demo_run + options.production)
    heed_signals()
    up = Up(options, console)
    try:
        with up.stack:
            up.start()
        return 0
    except Trouble as trouble:
        return fail("bin/up", str(trouble))
    except Stopped:
        console.say("Stopped." if up.serving else "Stopped before it was ready; run bin/up again to go on.")
        return 0 if up.serving else 130
    except OSError as error:
        return fail(
            "bin/up", f"{error.strerror}: {error.filename or 'no file named'}; put that right and run bin/up again."
        )


def heed_signals() -> None:
    """Handle the signals that stop, except those that the caller wants ignored, as nohup does."""
    for number in STOPPING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, stop_once)


def how_to_stop() -> str:
    """Return what stops this program: a shell without a terminal starts it in the background with SIGINT ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        return f"kill {os.getpid()} stops it; Ctrl-C and SIGINT are ignored, as the shell that started it asks."
    return "Ctrl-C stops it."


def stop_once(number: int, _frame: FrameType | None) -> None:
    """Stop in order at the first signal; further ones do not cut that short."""
    for each in STOPPING:
        signal.signal(each, signal.SIG_IGN)
    raise Stopped(number)


class Up:
    def __init__(self, options: argparse.Namespace, console: Console) -> None:
        self.options, self.console = options, console
        folder = options.data or Path(os.environ.get("SPINDLE_DATA") or ROOT / "var")
        self.data = DataFolder(folder.resolve())
        self.supervisor = Supervisor(console.say)
        self.sign_in = SignIn()
        self.stack = ExitStack()
        self.env: dict[str, str] = {}
        self.serving = False

    def start(self) -> None:
        is_new = not os.path.exists(self.data.lock)
        if is_new:  # then nobody serves from it: what is in the way is said before anything is made
            self.check_room()
        self.data.create()
        self.stack.enter_context(room.held(self.data))
        if not is_new:
            self.check_room()
        has_fio = self.install()
        self.start_services()
        token = self.prepare()
        options = self.options
        programs = Programs(self.data, self.env, self.supervisor, options.host, options.port, options.web_workers)
        with self.console.step("Web"):
            programs.start_web()
        self.console.say(f"The pages answer at {self.site_url()}/. {self.sign_in.line()}")
        with self.console.step("Worker, dispatcher and beat"):
            programs.start_workers()
        with self.console.step("This machine's agent"):
            programs.start_agent(token)
        status = self.first_host(has_fio)
        with self.console.step("Every process answers") as step:
            silent = programs.silent()
            step.note = " ".join(silent)
        self.serving = True
        self.console.say(self.closing(status, silent))
        while True:
            self.supervisor.wait(3600)

    def check_room(self) -> None:
        room.check_disk(self.data.path)
        killed_before = os.path.exists(self.data.environment)
        self.options.port = room.free_port(self.options.host, self.options.port, patience=6 if killed_before else 0)

    def install(self) -> bool:
        """Install everything from outside; return whether fio is there."""
        machine.announce_lacking(self.console, tests=False)
        with self.console.step("Python packages") as step:
            packages.ensure("run", step)
        with self.console.step("Browser assets") as step:
            assets.ensure(step)
        with self.console.step("Translations") as step:
            translations.ensure(step)
        with self.console.step("fio") as step:
            return machine.ensure_fio(step)

    def start_services(self) -> None:
        """Start database and broker; from here on everything is stopped in order when this ends."""
        database, broker = os.environ.get("DATABASE_URL"), os.environ.get("REDIS_URL")
        self.stack.callback(services.release_sockets, self.data)
        with self.console.step("Database") as step:
            if database:
                step.note = services.check_database(database)
            else:
                database, process = self.stack.enter_context(services.embedded_postgres(self.data, durable=True))
                self.supervisor.adopt(process)
                step.note = services.placed(self.data)
        with self.console.step("Broker") as step:
            if broker:
                step.note = services.check_broker(broker)
            else:
                broker, process = self.stack.enter_context(services.embedded_valkey(self.data))
                self.supervisor.adopt(process)
        self.env = environment.for_children(self.data, database, broker, self.site_url())
        self.env["SPINDLE_ALLOWED_HOSTS"] = ",".join(self.allowed_hosts())
        environment.publish(self.data, self.env)
        self.stack.callback(self.data.environment.unlink, missing_ok=True)
        self.stack.callback(self.stop)

    def prepare(self) -> str | None:
        """Prepare tables, first lab, owner, published reports and static files.

        Returns:
            The agent's enrolment token if it needs one.
        """
        if self.options.production:
            with self.console.step("Production checks"):
                production.check(self.data, self.env)
        with self.console.step("Tables, first lab, published reports") as step:
            made = django.ask(self.data, self.env, "prepare", *self.first_lab(), *known_agent(self.data))
            self.sign_in.email, self.sign_in.password = made["email"], made["password"]
            step.note = f"migrations and published rows: {len(made['changed'])}" if made["changed"] else "unchanged"
        self.tell_of_first_lab(made)
        with self.console.step("Static files") as step:
            django.collect_static(self.data, self.env, step)
        token: str | None = made["enrol_token"]
        return token

    def first_lab(self) -> list[str]:
        """Return the arguments of `prepare` for the first lab's name and owner, which count when it is made."""
        given = {"--lab": self.options.lab, "--owner": self.options.owner}
        return [part for name, value in given.items() if value is not None for part in (name, value.strip())]

    def tell_of_first_lab(self, made: Mapping[str, Any]) -> None:
        """Report that the names that were asked for came too late."""
        if made["password"]:
            return
        for option, asked, there in (("--lab", self.options.lab, "lab"), ("--owner", self.options.owner, "email")):
            if asked is not None and asked.strip().lower() != str(made.get(there, "")).lower():
                self.console.say(f"{option} counts only when the first lab is made; it is there: {made[there]}.")

    def first_host(self, has_fio: bool) -> Status:
        """Start discovery and the demo run.

        The dashboard is of use without them, so a failure here is reported and not fatal.
        """
        demo = Demo(self.data, self.env, self.supervisor)
        status: Status = {"urls": {}}
        try:
            with self.console.step("Discovery of this machine") as step:
                status = demo.discover(step)
            if not self.options.no_demo_run:
                with self.console.step("Demo run") as step:
                    step.note = "left out, there is no fio"
                    status = demo.run(status, step) if has_fio else status
        except Trouble as trouble:
            self.console.say(f"{trouble} Going on without it.")
        return status

    def site_url(self) -> str:
        if given := os.environ.get("SPINDLE_URL"):
            return given.rstrip("/")
        host = self.options.host
        host = room.outside_address() if host in ("0.0.0.0", "::") else host
        return f"http://[{host}]:{self.options.port}" if ":" in host else f"http://{host}:{self.options.port}"

    def allowed_hosts(self) -> list[str]:
        """Return the names under which the pages may be asked for.

        Those by which this machine's agent and health check ask are among them.
        """
        names = {"127.0.0.1", "localhost", "[::1]", urlsplit(self.site_url()).hostname or ""}
        names |= {name.strip() for name in os.environ.get("SPINDLE_ALLOWED_HOSTS", "").split(",")}
        names |= {f"[{self.options.host}]" if ":" in self.options.host else self.options.host}
        if self.options.host in ("0.0.0.0", "::"):
            names |= {socket.gethostname(), socket.getfqdn(), room.outside_address()}
        return sorted(names - {"", "0.0.0.0", "[::]"})

    def closing(self, status: Status, silent: list[str]) -> str:
        site, pages = self.site_url(), {"overview": "/", **status.get("urls", {})}
        addresses = [(title, urljoin(site, pages[name])) for name, title in PAGES.items() if pages.get(name)]
        head = "Spindle is running, but not all of it:" if silent else "Spindle is running:"
        lines = ["", head, *silent, "", *(f"  {title:<22}{address}" for title, address in addresses), ""]
        if os.environ.get("SPINDLE_URL"):
            lines.append(f"Served here on {self.options.host}:{self.options.port}.")
        elif self.options.host in LOOPBACK:
            lines.append("Only this machine reaches it; for other hosts and people of the lab: bin/up --host 0.0.0.0")
        lines.append(self.sign_in.line())
        lines.append(f"Data and logs are in {shown(self.data.path)}. {how_to_stop()}")
        return "\n".join(lines)

    def stop(self) -> None:
        if self.sign_in.password:
            self.console.say(self.sign_in.line())
        self.console.say("Stopping …")
        self.supervisor.stop_all()
        for pid in running_fio(self.data.agent):
            self.console.say(
                f"A fio run goes on (process {pid}); its results are kept and the next bin/up collects them."
            )
