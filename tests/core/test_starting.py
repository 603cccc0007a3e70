"""What the processes import when they start: they all start at once, on machines with two cores."""

import json
import subprocess
import sys
from functools import cache

import pytest

from bin._lib.layout import ROOT
from worker.celery import app

SLOW = ("scipy", "matplotlib", "pandas", "ruptures", "jc")
WEB = "import apps.asgi; from django.urls import get_resolver; get_resolver().url_patterns"
WORKER = "import worker.celery; worker.celery.app.loader.init_worker()"
BEAT = "import worker.beat; worker.beat.app.loader.init_worker()"
PREPARE = "import django; django.setup(); import apps.dashboard.management.commands.prepare"


@cache
def imported(code: str) -> frozenset[str]:
    """Return the names of all modules that a process has after this."""
    asked = f"{code}\nimport json, sys; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", asked], cwd=ROOT, check=True, capture_output=True, text=True, timeout=60
    )
    return frozenset(json.loads(done.stdout.strip().rpartition("\n")[2]))


@pytest.mark.slow
@pytest.mark.parametrize("code", [WEB, WORKER, BEAT, PREPARE], ids=["web", "worker", "beat", "prepare"])
def test_no_process_starts_with_the_large_libraries(code: str) -> None:
    assert not {name for name in imported(code) if name in SLOW}


def test_the_scheduler_has_neither_models_nor_tasks() -> None:
    ours = {name for name in imported(BEAT) if name.startswith("apps.")}
    assert "apps.settings" in ours
    assert not {name for name in ours if name.endswith(("models", "tasks", "apps"))}


@pytest.mark.slow
def test_the_worker_has_no_pages() -> None:
    assert "apps.urls" not in imported(WORKER)


@pytest.mark.slow
def test_preparing_with_nothing_to_do_needs_neither_pages_nor_readers() -> None:
    assert not imported(PREPARE) & {"apps.urls", "apps.dashboard.published.load", "apps.uploads.pipeline"}


def test_what_the_scheduler_sends_by_name_the_worker_has() -> None:
    from worker.beat import app as beat

    app.loader.import_default_modules()
    wanted = {entry["task"] for entry in beat.conf.beat_schedule.values()}
    assert wanted
    assert wanted <= set(app.tasks)
    assert beat.conf.task_default_queue == app.conf.task_default_queue
    assert beat.conf.broker_url == app.conf.broker_url
