"""P13: in headless Chromium, from navigation to the last chart drawn, against the server's answer and a bare Chart.js drawing the same arrays."""

import json
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apps.labs.isolation import lab_scope
from apps.runs.models import Run, Series
from apps.runs.packing import overview, pack
from tests.benchmarks.figures import pairs, report
from tests.benchmarks.many_samples import fill, targets
from tests.benchmarks.test_p9_side_by_side import Page as Http
from tests.benchmarks.warm import warmed
from tests.comparison.factories import run
from tests.conftest import Cast
from tests.faults.stack import ROOT, Stack

pytestmark = [pytest.mark.benchmark]
CHART_JS = Path(__file__).parents[2] / "static" / "vendor" / "chart.umd.min.js"
POINTS = 1_000_000
# It is in the page before the page is, so that no message to the browser is measured with it: the first frame that finds every chart drawn.
PROBE = """if (window === top) { const look = () => {
  const charts = [...document.querySelectorAll("canvas")].map((one) => window.Chart?.getChart(one));
  if (charts.length && charts.every((one) => one && !one.animating && one.chartArea)) window.drawn = performance.now();
  else requestAnimationFrame(look);
}; requestAnimationFrame(look); }"""
DRAWN = """() => new Promise((done, fail) => {
  const end = performance.now() + 30000;
  const look = () => {
    if (window.drawn) done({drawn, first: performance.getEntriesByType("navigation")[0].responseStart});
    else if (performance.now() > end) fail(new Error(`${document.querySelectorAll("canvas").length} canvases, and not every one with a chart`));
    else setTimeout(look, 10);
  };
  look();
})"""
BARE_PAGE = """<!doctype html><script src="/static/%s"></script><div style="width:1200px;height:460px"><canvas></canvas></div>
<script>new Chart(document.querySelector("canvas"), bare(sets))</script>"""
BARE_CHART = """window.bare = (sets) => ({type: "line", data: {datasets: sets}, options: {
  animation: false, parsing: false, normalized: true, maintainAspectRatio: false, scales: {x: {type: "linear"}},
  elements: {point: {radius: 0}}}});"""
DRAW_AGAIN = """(sets) => new Promise((done) => {
  document.body.innerHTML = "<div style='width:1200px;height:460px'><canvas></canvas></div>";
  const begin = performance.now();
  new Chart(document.querySelector("canvas"), bare(sets));
  requestAnimationFrame(() => done(performance.now() - begin));
})"""
REDRAW = """() => { const chart = Chart.getChart(document.querySelector("canvas")); const begin = performance.now();
  for (let i = 0; i < 10; i++) chart.update("none"); return (performance.now() - begin) / 10; }"""
DATASETS = """() => Chart.getChart(document.querySelector("canvas")).data.datasets.map((set) => ({
  data: set.data.map((point, index) => (typeof point === "object" && point ? {x: index, y: point.y ?? null} : {x: index, y: point}))}))"""


class Served(Stack):
    """With files as a server in use sends them: named by their content, compressed, and kept by the browser. Among them the floor's page."""

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
    chart_js = json.loads((folder / "staticfiles.json").read_text())["paths"]["vendor/chart.umd.min.js"]
    (folder / "bare.html").write_text(BARE_PAGE % chart_js)
    return folder


@pytest.fixture
def stack(transactional_db: None, cast: Cast, tmp_path: Path, static: Path) -> Iterator[Served]:
    served = Served(tmp_path, cast.lab)
    served.static = static
    with warmed(served) as made:
        yield made


def _visitor(chromium: Any, stack: Stack, cookie: str = "", sets: Any = ()) -> Any:
    """A page of a browser that has seen nothing yet; with the datasets that the floor's page draws."""
    context = chromium.new_context(base_url=stack.url, viewport={"width": 1400, "height": 900}, reduced_motion="reduce")
    cookies = [pair.split("=", 1) for pair in cookie.split("; ") if pair]
    context.add_cookies([{"name": name, "value": value, "url": stack.url} for name, value in cookies])
    context.add_init_script(f"{PROBE}; {BARE_CHART} window.sets = {json.dumps(sets)};")
    return context.new_page()


def _idle_page(chromium: Any) -> Any:
    page = chromium.new_context(viewport={"width": 1400, "height": 900}).new_page()
    page.set_content("<body></body>")
    page.add_script_tag(path=str(CHART_JS))
    page.add_script_tag(content=BARE_CHART)
    return page


def _drawn(page: Any, path: str) -> Any:
    """Milliseconds since the navigation: the answer's first byte, and every chart drawn."""
    page.goto(path, wait_until="commit")
    return page.evaluate(DRAWN)


def _after_first_byte(found: dict[str, float]) -> float:
    """The browser's part. That of the floor's page goes with the server's answer of the real page, because its own is a file."""
    return found["drawn"] - found["first"]


def test_p13_from_navigation_to_the_last_chart(stack: Stack, cast: Cast, chromium: Any) -> None:
    """The floor's Chart.js draws in a page that was just navigated to, as everybody's does: the browser changes pages, reads the code, and runs it
    for the first time. A page that stays and draws again takes a sixth of that, which no page that somebody opens can have: a page of nothing but
    Chart.js would miss the target against it. That ratio is printed too.
    """
    with lab_scope(cast.lab.pk):
        places = targets(cast.lab, 8)
        fill(cast.lab, places, 8 * 40 * 10)
    path = "/compare/?metric=bandwidth&operation=write&x=time&series=target,host"
    http = Http(stack, cast)
    page, idle = _visitor(chromium, stack, http.cookie), _idle_page(chromium)
    _drawn(page, path)
    sets = page.evaluate(DATASETS)
    assert sum(len(one["data"]) for one in sets) >= 80
    bare = _visitor(chromium, stack, sets=sets)
    warm, cold, browser = [], [], []
    for _ in range(pairs(8, 40) + 2):  # the first ones fill the caches
        ours, least = _drawn(page, path), _drawn(bare, "/static/bare.html")
        http.connection.close()
        server = http.ms(path, "chart-data")
        warm.append((ours["drawn"], server + _after_first_byte(least), server + idle.evaluate(DRAW_AGAIN, sets)))
        browser.append((_after_first_byte(ours), _after_first_byte(least)))
    for _ in range(pairs(3, 10)):
        strange, new = _visitor(chromium, stack, http.cookie), _visitor(chromium, stack, sets=sets)
        floor = _after_first_byte(_drawn(new, "/static/bare.html"))
        cold.append((_drawn(strange, path)["drawn"], http.ms(path, "chart-data") + floor))
        strange.context.close()
        new.context.close()
    ratio = _told("files in the browser's cache", warm[2:])
    _told("first visit, nothing in its cache", cold)
    alone = [statistics.median(one) for one in zip(*browser[2:], strict=True)]
    print(
        f"P13 the browser's part, from the first byte: {alone[0]:.1f} ms; of the bare page {alone[1]:.1f} ms",
        flush=True,
    )
    print(f"P13 ratio {ratio:.2f} × (target ≤ 1.5)", flush=True)
    assert ratio < 4


def _told(when: str, found: list[tuple[float, ...]]) -> float:
    product, *floors = zip(*found, strict=True)
    what = (
        "the server's answer and a bare page with Chart.js",
        "the server's answer and Chart.js that has drawn before",
    )
    report("P13", f"product: navigation → last chart drawn, {when}", product, "≤ 1.5 × the floor", "ms")
    for name, floor in zip(what, floors, strict=False):
        report("P13", f"floor: {name}", floor, "", "ms")
        print(f"P13 {statistics.median(product) / statistics.median(floor):.2f} × of {name}", flush=True)
    return statistics.median(product) / statistics.median(floors[0])


def _long_run(cast: Cast) -> Run:
    seconds = np.arange(POINTS, dtype=float) / 1000
    values = 2e8 * (1 + 0.1 * np.sin(seconds / 50)) + np.random.default_rng(7).normal(0, 2e6, POINTS)
    with lab_scope(cast.lab.pk):
        made = run(cast.lab, finished_at=datetime(2026, 1, 1, tzinfo=UTC))
        Series.objects.create(
            run=made, operation="write", metric="bandwidth", source="fio_log", count=POINTS,
            packed=pack(seconds, values), overview=overview(seconds, values),
        )  # fmt: skip
    return made


def test_p13_a_million_samples_send_few_points_and_draw_quickly(stack: Stack, cast: Cast, chromium: Any) -> None:
    path = _long_run(cast).get_absolute_url()
    http = Http(stack, cast)
    page, bare = _visitor(chromium, stack, http.cookie), _idle_page(chromium)
    _drawn(page, path)
    found = re.search(r'<script[^>]*id="chart-data"[^>]*>(.*?)</script>', page.content(), re.DOTALL)
    assert found
    sent = sum(
        len(one.get("points") or one.get("overview") or one.get("buckets") or ())
        for one in json.loads(found[1])["series"]
    )
    drawn = max(len(one["data"]) for one in page.evaluate(DATASETS))
    assert 100 <= drawn <= 4000
    bare.evaluate(DRAW_AGAIN, [{"data": [{"x": x, "y": 2e8 + x % 17 * 1e6} for x in range(1000)]}])
    ours, least = ([one.evaluate(REDRAW) for _ in range(10)] for one in (page, bare))
    report("P13", "floor: Chart.js draws 1,000 points", least, "the floor", "ms")
    report(
        "P13", "product: a run's chart of a million samples", ours, f"≤ 3 ×; {drawn} points drawn, {sent} sent", "ms"
    )
    ratio = statistics.median(ours) / statistics.median(least)
    print(
        f"P13 draw ratio {ratio:.2f} × (target ≤ 3); page of {len(page.content()) / 1024:.0f} KiB (target ≤ 4,000 points)",
        flush=True,
    )
    assert ratio < 12
