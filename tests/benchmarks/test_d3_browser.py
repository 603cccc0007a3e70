"""D3: what a person waits for in a browser on a machine a quarter as quick: headless Chromium, throttled."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.labs.isolation import lab_scope
from apps.runs.models import Run
from tests.benchmarks.figures import pairs, quantile, report
from tests.benchmarks.many_samples import fill, targets
from tests.benchmarks.servers import Page, with_web
from tests.conftest import Cast
from tests.faults.stack import ROOT, Stack

pytestmark = [pytest.mark.benchmark]
PAGES = ("/", "/runs/", "/hosts/", "/uploads/", "/studies/", "/trends/")  # and a comparison, and a run
COMPARISON = "/compare/?metric=bandwidth&operation=write&x=time&series=target,host"
SLOWER = 4
LCP_MS, TASK_MS, KIB = 1500, 200, 200
# In the page before the page is: the largest paint, the longest task, and what script and style took of the network.
PROBE = """window.seen = {paint: 0, task: 0};
new PerformanceObserver((list) => { for (const one of list.getEntries()) seen.paint = one.startTime; })
  .observe({type: "largest-contentful-paint", buffered: true});
new PerformanceObserver((list) => { for (const one of list.getEntries()) seen.task = Math.max(seen.task, one.duration); })
  .observe({type: "longtask", buffered: true});"""
SEEN = """() => ({...seen, bytes: performance.getEntriesByType("resource")
  .filter((one) => /\\.(js|css)(\\?|$)/.test(one.name)).reduce((sum, one) => sum + one.encodedBodySize, 0)})"""


class Served(Stack):
    """With files as a server in use sends them: named by their content, compressed, and kept by the browser."""

    static: Path

    def env(self) -> dict[str, str]:
        return super().env() | {"SPINDLE_PLAIN_STATIC": "", "SPINDLE_STATIC_ROOT": str(self.static)}


@pytest.fixture(scope="module")
def static(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Collected once for all."""
    folder = tmp_path_factory.mktemp("static")
    env = {**os.environ, "SPINDLE_PLAIN_STATIC": "", "SPINDLE_STATIC_ROOT": str(folder)}
    command = [sys.executable, "manage.py", "collectstatic", "--no-input", "-v0"]
    subprocess.run(command, cwd=ROOT, env=env, check=True)
    return folder


@pytest.fixture
def stack(transactional_db: None, cast: Cast, tmp_path: Path, static: Path) -> Iterator[Served]:
    served = Served(tmp_path, cast.lab)
    served.static = static
    with with_web(served) as made:
        yield made


def _visit(chromium: Any, stack: Stack, cookie: str, path: str) -> dict[str, float]:
    """Open a page in a browser that has seen nothing yet."""
    context = chromium.new_context(base_url=stack.url, viewport={"width": 1400, "height": 900})
    name, value = cookie.split("; ")[0].split("=", 1)
    context.add_cookies([{"name": name, "value": value, "url": stack.url}])
    context.add_init_script(PROBE)
    page = context.new_page()
    context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    page.goto(path, wait_until="load")
    page.wait_for_timeout(500)  # for what comes after
    seen: dict[str, float] = page.evaluate(SEEN)
    context.close()
    return seen


def test_d3_main_pages_in_a_slow_browser(stack: Stack, cast: Cast, chromium: Any) -> None:
    with lab_scope(cast.lab.pk):
        fill(cast.lab, targets(cast.lab, 8), 8 * 40 * 10)
        run = Run.objects.first()
    assert run
    cookie = Page(stack, cast).cookie
    for path in (*PAGES, COMPARISON, run.get_absolute_url()):
        visits = [_visit(chromium, stack, cookie, path) for _ in range(pairs(2, 10) + 1)][1:]
        name = path.partition("?")[0]
        paints = [visit["paint"] for visit in visits]
        paint = report("D3", f"largest contentful paint of {name}, {SLOWER} × throttled", paints, f"≤ {LCP_MS:,}", "ms")
        tasks = [visit["task"] for visit in visits]
        report("D3", f"longest task of {name}", [quantile(tasks, 0.5)], f"≤ {TASK_MS}", "ms")
        sent = report("D3", f"script and style of {name}", [visits[0]["bytes"] / 1024], f"≤ {KIB}", "KiB")
        assert 0 < paint < 10 * LCP_MS
        assert 0 < sent <= KIB
