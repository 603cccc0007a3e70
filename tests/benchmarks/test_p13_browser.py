"""P13: in headless Chromium, from navigation to the last chart drawn, against the server's answer and a bare Chart.js drawing the same arrays."""

import json
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
from tests.comparison.factories import run
from tests.conftest import Cast
from tests.faults.stack import ROOT, Stack

pytestmark = [pytest.mark.benchmark]
CHART_JS = Path(__file__).parents[2] / "static" / "vendor" / "chart.umd.min.js"
POINTS = 1_000_000
DRAWN = """() => new Promise((done, fail) => {
  const end = performance.now() + 30000;
  const look = () => {
    const charts = [...document.querySelectorAll("canvas")].map((one) => window.Chart?.getChart(one));
    if (charts.length && charts.every((one) => one && !one.animating && one.chartArea)) done(performance.now());
    else if (performance.now() > end) fail(new Error(`${charts.length} canvases, of which ${charts.filter(Boolean).length} with a chart`));
    else requestAnimationFrame(look);
  };
  look();
})"""
BARE = """(sets) => new Promise((done) => {
  document.body.innerHTML = "<div style='width:1200px;height:460px'><canvas></canvas></div>";
  const begin = performance.now();
  const chart = new Chart(document.querySelector("canvas"), {type: "line", data: {datasets: sets}, options: {
    animation: false, parsing: false, normalized: true, maintainAspectRatio: false, scales: {x: {type: "linear"}},
    elements: {point: {radius: 0}}}});
  requestAnimationFrame(() => done(performance.now() - begin));
})"""
REDRAW = """() => { const chart = Chart.getChart(document.querySelector("canvas")); const begin = performance.now();
  for (let i = 0; i < 10; i++) chart.update("none"); return (performance.now() - begin) / 10; }"""
DATASETS = """() => Chart.getChart(document.querySelector("canvas")).data.datasets.map((set) => ({
  data: set.data.map((point, index) => (typeof point === "object" && point ? {x: index, y: point.y ?? null} : {x: index, y: point}))}))"""


class Served(Stack):
    """With files as a server in use sends them: named by their content, and kept by the browser."""

    def env(self) -> dict[str, str]:
        return super().env() | {"SPINDLE_PLAIN_STATIC": "", "SPINDLE_STATIC_ROOT": str(self.folder / "static")}

    def collect(self) -> None:
        command = [sys.executable, "manage.py", "collectstatic", "--no-input", "-v0"]
        subprocess.run(command, cwd=ROOT, env=self.env(), check=True)


@pytest.fixture
def stack(transactional_db: None, cast: Cast, tmp_path: Path) -> Iterator[Stack]:
    made = Served(tmp_path, cast.lab)
    try:
        made.collect()
        made.start_web()
        yield made
    finally:
        made.down()


@pytest.fixture
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    from tests.e2e.conftest import CHROMIUM

    if not Path(CHROMIUM).exists() or not CHART_JS.exists():
        pytest.skip("neither Chromium nor the browser assets are here; bin/test sets them up")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def _signed_in(chromium: Any, stack: Stack, cookie: str) -> Any:
    context = chromium.new_context(base_url=stack.url, viewport={"width": 1400, "height": 900}, reduced_motion="reduce")
    cookies = [pair.split("=", 1) for pair in cookie.split("; ")]
    context.add_cookies([{"name": name, "value": value, "url": stack.url} for name, value in cookies])
    return context.new_page()


def _bare_page(chromium: Any) -> Any:
    page = chromium.new_context(viewport={"width": 1400, "height": 900}).new_page()
    page.set_content("<body></body>")
    page.add_script_tag(path=str(CHART_JS))
    return page


def test_p13_from_navigation_to_the_last_chart(stack: Stack, cast: Cast, chromium: Any) -> None:
    with lab_scope(cast.lab.pk):
        places = targets(cast.lab, 8)
        fill(cast.lab, places, 8 * 40 * 10)
    path = "/compare/?metric=bandwidth&operation=write&x=time&series=target,host"
    http = Http(stack, cast)
    page, bare = _signed_in(chromium, stack, http.cookie), _bare_page(chromium)
    product, floor = [], []
    for number in range(pairs(8, 40) + 2):
        page.goto(path, wait_until="commit")
        ours = page.evaluate(DRAWN)
        sets = page.evaluate(DATASETS)
        http.connection.close()
        server = http.ms(path, "chart-data")
        least = server + bare.evaluate(BARE, sets)
        if number >= 2:  # the first ones fill the caches
            product.append(ours)
            floor.append(least)
    assert sum(len(one["data"]) for one in sets) >= 80
    report("P13", "floor: the server's answer and a bare Chart.js", floor, "the floor", "ms")
    report("P13", "product: navigation → last chart drawn", product, "the same, with the whole page", "ms")
    ratio = statistics.median(product) / statistics.median(floor)
    print(f"P13 ratio {ratio:.2f} × (target ≤ 1.5)", flush=True)
    assert ratio < 6


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
    page, bare = _signed_in(chromium, stack, http.cookie), _bare_page(chromium)
    answer = page.goto(path)
    assert answer.status == 200
    page.evaluate(DRAWN)
    found = re.search(r'<script[^>]*id="chart-data"[^>]*>(.*?)</script>', page.content(), re.DOTALL)
    assert found
    sent = sum(
        len(one.get("points") or one.get("overview") or one.get("buckets") or ())
        for one in json.loads(found[1])["series"]
    )
    drawn = max(len(one["data"]) for one in page.evaluate(DATASETS))
    assert 100 <= drawn <= 4000
    bare.evaluate(BARE, [{"data": [{"x": x, "y": 2e8 + x % 17 * 1e6} for x in range(1000)]}])
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
