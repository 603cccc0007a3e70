"""The agent's program and its installer, handed out to hosts. They hold no secret."""

import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_GET

from apps.lib.http import attachment

WORKER = Path(settings.BASE_DIR) / "worker"


@lru_cache(maxsize=1)
def _program() -> bytes:
    """agent.pyz, built once per process by the same script that people can run (`worker/build_agent.py`)."""
    path = Path(settings.DATA_DIR) / "agent.pyz.download"
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, str(WORKER / "build_agent.py"), str(path)], check=True, timeout=60)
    return path.read_bytes()


@require_GET
def program(request: HttpRequest) -> HttpResponseBase:
    content = _program()
    return attachment([content], "agent.pyz", len(content))


def _filled(name: str) -> HttpResponse:
    text = (WORKER / name).read_text().replace("{{ server }}", settings.SITE_URL)
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


@require_GET
def install_script(request: HttpRequest) -> HttpResponse:
    return _filled("install.sh")


@require_GET
def service(request: HttpRequest) -> HttpResponse:
    return _filled("agent.service")
