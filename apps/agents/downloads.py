"""The agent's program and its installer, handed out to hosts. They hold no secret."""

import hashlib
import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_GET

from apps.core.http import attachment

WORKER = Path(settings.BASE_DIR) / "worker"


@lru_cache(maxsize=1)
def _program() -> bytes:
    """Build agent.pyz with `worker/build_agent.py`, once per process, and return its bytes."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "agent.pyz"
        subprocess.run([sys.executable, str(WORKER / "build_agent.py"), str(path)], check=True, timeout=60)
        return path.read_bytes()


@lru_cache(maxsize=1)
def current_version() -> str:
    """Return the version of the agent's program that this server hands out."""
    text = (WORKER / "agent" / "__init__.py").read_text()
    match = re.search(r'^VERSION = "([0-9.]{1,20})"$', text, re.MULTILINE)
    assert match, "worker/agent/__init__.py has no VERSION"
    return match[1]


def is_older(version: str) -> bool:
    """Return whether an agent of this version could be replaced by the one that this server hands out."""
    return _numbers(version) < _numbers(current_version()) if re.fullmatch(r"[0-9]+(\.[0-9]+)*", version) else False


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def describe_release() -> dict[str, str | int]:
    """Return what an agent is told of the program that this server hands out: its version, SHA-256 and size in bytes."""
    content = _program()
    return {"version": current_version(), "sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}


def release_news(version: str) -> dict[str, Any]:
    """Return the part of an answer that tells an older agent of a newer program; empty for any other agent."""
    return {"release": describe_release()} if is_older(version) else {}


@require_GET
def program(request: HttpRequest) -> HttpResponseBase:
    """Send the agent's program, agent.pyz."""
    content = _program()
    return attachment([content], "agent.pyz", len(content))


def _filled(name: str) -> HttpResponse:
    """Return a file of the folder `worker` as text, with this server's address in place of `{{ server }}`."""
    text = (WORKER / name).read_text().replace("{{ server }}", settings.SITE_URL)
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


@require_GET
def install_script(request: HttpRequest) -> HttpResponse:
    """Send the script that installs the agent on a host."""
    return _filled("install.sh")


@require_GET
def service(request: HttpRequest) -> HttpResponse:
    """Send the systemd unit of the agent."""
    return _filled("agent.service")


@require_GET
def probe_units(request: HttpRequest, name: str) -> HttpResponse:
    """Send one of the systemd units of the root probe, which an administrator installs or does not."""
    return _filled(name)


@require_GET
def security(request: HttpRequest) -> HttpResponse:
    """Send the text that tells a host's administrator what the agent does there."""
    text = (Path(settings.BASE_DIR) / "docs/reference/agent-security.md").read_text()
    return HttpResponse(text, content_type="text/plain; charset=utf-8")
