"""The running product, started by `bin/up` as a person starts it, and the few ways in which people and scripts speak to it.

Nothing here or in the tests beside it imports the product's own code: they stay true whatever the product is made of inside.
"""

import html
import http.cookiejar
import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from email.message import Message
from pathlib import Path
from types import TracebackType
from typing import Any

import psutil

from tests.bin.launcher import Launcher, clean_environment

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 30  # seconds for one answer
START_PATIENCE = 400  # seconds until bin/up says that it runs, on a machine with much else to do
PROCESS_WORDS = {
    "web": "uvicorn",
    "worker": "worker.celery worker --concurrency",
    "dispatcher": "--queues dispatch",
    "beat": "beat",
    "agent": "agent.pyz",
    "valkey": "valkey-server",
    "postgres": "postgres",
}


PASSWORD = "three plain words for tests"


@dataclass(frozen=True)
class Answer:
    """What a server answered: status, headers and body."""

    status: int
    headers: Message
    body: bytes
    url: str

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        return json.loads(self.body)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


@dataclass
class Client:
    """Send requests to one product, with cookies as a browser keeps them, or with a token as a script sends it."""

    base: str
    token: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    cookies: http.cookiejar.CookieJar = field(default_factory=http.cookiejar.CookieJar)

    def request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        follow: bool = False,
    ) -> Answer:
        """Return the answer whatever its status; redirects are followed only when asked for."""
        url = urllib.parse.urljoin(self.base, path)
        sent = {**self.headers, **(headers or {})}
        if self.token:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        handlers: list[Any] = [urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(self.cookies)]
        opener = urllib.request.build_opener(*handlers, *([] if follow else [_NoRedirect()]))
        request = urllib.request.Request(url, data=body, headers=sent, method=method)
        try:
            with opener.open(request, timeout=PATIENCE) as answer:
                return Answer(answer.status, answer.headers, answer.read(), answer.url)
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, error.headers, error.read(), error.url or url)

    def get(self, path: str, *, follow: bool = True, **headers: str) -> Answer:
        return self.request("GET", path, headers=headers, follow=follow)

    def post(self, path: str, form: Mapping[str, Any] | None = None, *, follow: bool = True) -> Answer:
        """Submit a form as a browser does: with the CSRF token that the site gave, and with a Referer."""
        pairs = {**(form or {}), "csrfmiddlewaretoken": self.csrf_token()}
        body = urllib.parse.urlencode(pairs, doseq=True).encode()
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Referer": urllib.parse.urljoin(self.base, path),
        }
        return self.request("POST", path, body, headers, follow=follow)

    def csrf_token(self) -> str:
        for _ in range(2):
            for cookie in self.cookies:
                if cookie.name == "csrftoken":
                    return str(cookie.value)
            self.get("/accounts/login/")
        return ""

    def send(self, method: str, path: str, data: Any = None) -> Answer:
        """Send JSON, as a script does."""
        body = None if data is None else json.dumps(data).encode()
        headers = {"Content-Type": "application/json"} if body is not None else {}
        return self.request(method, path, body, headers)

    def upload(self, path: str, files: Mapping[str, bytes], fields: Mapping[str, str] | None = None) -> Answer:
        """Send files as multipart form data under the name `file`."""
        boundary = uuid.uuid4().hex
        parts = [
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
            for name, value in (fields or {}).items()
        ]
        for name, content in files.items():
            head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
            parts.append(f"{head}Content-Type: application/octet-stream\r\n\r\n".encode() + content + b"\r\n")
        body = b"".join(parts) + f"--{boundary}--\r\n".encode()
        return self.request("POST", path, body, {"Content-Type": f"multipart/form-data; boundary={boundary}"})

    def open_link(self, link: str) -> Answer:
        """Open a one-use link as a browser does: the page's script posts what stands behind the #."""
        address, _, code = link.partition("#")
        path = urllib.parse.urlsplit(address).path
        self.get(path)
        return self.post(path, {"code": code})

    def sign_in(self, email: str, password: str) -> Answer:
        return self.post("/accounts/login/", {"login": email, "password": password}, follow=False)


@dataclass(frozen=True)
class Lab:
    """A lab that a test has made, and the signed-in browser of its owner."""

    slug: str
    name: str
    email: str
    owner: Client

    def invite(self, email: str, role: str) -> str:
        """Invite somebody on the lab's page, and return the one-use link that the answer shows."""
        answer = self.owner.post("/lab/members/", {"email": email, "role": role})
        found = re.search(r'<code id="secret">([^<]+)</code>', answer.text)
        assert found, (answer.status, answer.text[:3000])
        return found[1]

    def make_token(self, scope: str) -> str:
        """Make a token of this lab on its page."""
        answer = self.owner.post("/lab/tokens/", {"name": f"{scope} for a test", "scope": scope, "days": ""})
        found = re.search(r"(spl_[\w-]+)</code>", answer.text)
        assert found, (answer.status, answer.text[:3000])
        return found[1]


class Product:
    """One `bin/up` with a data folder of its own. Use as a context manager."""

    def __init__(
        self, folder: Path, *options: str, env: Mapping[str, str] | None = None, like: "Product | None" = None
    ) -> None:
        """Start in `folder`; `like` names a stopped product whose data folder is copied, so that it need not be made anew."""
        self.folder = folder
        self.data = folder / "data"
        self.options = options
        self.env = dict(env or {})
        self.launcher = Launcher(ROOT, sys.executable)
        self.process: subprocess.Popen[str] | None = None
        self.email = self.password = self._admin = ""
        if like:
            subprocess.run(["cp", "-a", str(like.data), str(self.data)], check=True)
            self.email, self.password = like.email, like.password

    def __enter__(self) -> "Product":
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.launcher.__exit__(kind, error, trace)

    def start(self) -> None:
        """Start `bin/up` and wait until it says that it runs."""
        options = ["--data", str(self.data), "--port", "0", "--no-demo-run", *self.options]
        self.process = self.launcher.up(*options, env=self.env)
        self.launcher.read_until(self.process, "Ctrl-C stops it", START_PATIENCE)
        if shown := re.findall(r"Sign in as (\S+) with the password +(\S+)", self.launcher.output):
            self.email, self.password = shown[0]

    def stop(self) -> None:
        """Stop it in order, as Ctrl-C does; `start` goes on with the same data."""
        assert self.process
        self.launcher.stop(self.process)

    @property
    def url(self) -> str:
        return self.launcher.url

    @property
    def output(self) -> str:
        """Everything that `bin/up` has printed so far."""
        return self.launcher.output

    def client(self, token: str = "", **headers: str) -> Client:
        """Return a fresh client: a stranger's, or a script's with a token."""
        return Client(self.url, token, dict(headers))

    def owner(self) -> Client:
        """Return the signed-in browser of the first lab's owner."""
        client = self.client()
        answer = client.sign_in(self.email, self.password)
        assert answer.status == 302, (answer.status, answer.text[:2000])
        return client

    def manage(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run `./manage.py …` with this data folder, as an administrator does."""
        argv = [sys.executable, str(ROOT / "manage.py"), *arguments, "--data", str(self.data)]
        done = subprocess.run(
            argv,
            cwd=ROOT,
            env={**clean_environment(), **self.env},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert not check or done.returncode == 0, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def make_token(self, scope: str, lab: str = "my-lab", *more: str) -> str:
        return self.manage("create_token", "--lab", lab, "--scope", scope, *more).stdout.strip().splitlines()[-1]

    def make_lab(self, name: str, owner: str = "", *, by_command: bool = False) -> "Lab":
        """Make a lab of its own for a test, with an owner who has accepted and is signed in."""
        email = owner or f"owner-of-{name.lower().replace(' ', '-')}@example.org"
        if by_command:
            made = json.loads(self.manage("create_lab", "--name", name, "--owner", email, "--json").stdout)
            return Lab(made["lab"], made["name"], email, self.join(made["link"]))
        self._admin = self._admin or self.make_token("admin")  # a command takes longer than all the rest
        answer = self.client(self._admin).send("POST", "/api/v1/labs/", {"name": name, "owner": email})
        assert answer.status == 201, (answer.status, answer.text[:2000])
        return Lab(answer.json()["slug"], answer.json()["name"], email, self.join(answer.json()["invitation"]["link"]))

    def join(self, link: str, password: str = PASSWORD, client: Client | None = None) -> Client:
        """Accept an invitation as somebody new who chooses a password, and return their signed-in browser."""
        person = client or self.client()
        opened = person.open_link(link)
        assert opened.status == 200, (opened.status, opened.text[:2000])
        form = {"password": password, "again": password, **form_address(opened)}
        joined = person.post("/invitation/accept-as-new/", form, follow=False)
        assert joined.status == 302, (joined.status, joined.text[:3000])
        return person

    def pid(self, name: str) -> int:
        """Return the process id of `web`, `worker`, `dispatcher`, `beat`, `agent`, `valkey` or `postgres` of this product alone."""
        assert self.process
        for child in psutil.Process(self.process.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                if PROCESS_WORDS[name] in " ".join(child.cmdline()):
                    return child.pid
        raise AssertionError(f"no process {name} below bin/up:\n{self.output}")

    def log(self, name: str) -> str:
        """Return what a process has logged."""
        path = self.data / "log" / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def read_in(self, upload: str, client: Client, seconds: float = 60) -> dict[str, Any]:
        """Wait until an upload (its address in REST) is read, and return it."""

        def state() -> Any:
            found = client.get(upload).json()
            return found if found["state"] not in ("queued", "parsing") else None

        return dict(wait_until(f"{upload} is read", seconds, state))


def form_address(page: Answer) -> dict[str, str]:
    """Return the address that the page of an invitation proposes, as a browser sends it back; a mailed link asks for none."""
    found = re.search(
        r'<input[^>]*\bname="email"[^>]*\bvalue="([^"]*)"|<input[^>]*\bvalue="([^"]*)"[^>]*\bname="email"', page.text
    )
    return {"email": html.unescape(found[1] or found[2])} if found else {}


def wait_until(what: str, seconds: float, condition: Callable[[], Any], pause: float = 0.1) -> Any:
    """Return the first true value of a condition, or fail naming what was waited for."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(pause)
    raise AssertionError(f"not within {seconds} s: {what}")


def run_agent(program: Path, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    """Start the agent's program as a host does, with none of the server's environment."""
    env = {**clean_environment(), **options.pop("env", {})}
    return subprocess.Popen(
        [sys.executable, str(program), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=env,
        cwd=os.sep,
        **options,
    )
