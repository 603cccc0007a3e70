"""The agent's program and its installer, handed out to hosts. They hold no secret."""

import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

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
def security(request: HttpRequest) -> HttpResponse:
    """Send the text that tells a host's administrator what the agent does there."""
    text = (Path(settings.BASE_DIR) / "docs/reference/agent-security.md").read_text()
    return HttpResponse(text, content_type="text/plain; charset=utf-8")
