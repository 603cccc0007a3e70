"""In a browser: series are moved and picked by keyboard, filters are searched, and a size axis has its true places."""

from typing import Any

import pytest

from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from tests.comparison.factories import GIB, MIB, measured, run, sample, target
from tests.comparison.test_chart_in_browser import CHART, EVERYTHING, page, until

__all__ = ["page"]  # the fixture
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
NAMES = f"{CHART}?.data.datasets.map((one) => one.label.split(' ')[0]).join()"


def test_a_series_is_moved_by_keyboard_and_takes_the_focus_along(page: Any) -> None:
    with lab_scope(Lab.objects.get().pk):
        measured(Lab.objects.get(), "gamma", [1e8], file_size=100 * MIB)
    page.goto(f"{page.site}/compare/?{EVERYTHING}")
    until(page, f"{NAMES} === 'alpha,beta,gamma'")
    page.locator("#series-list > summary").focus()
    page.keyboard.press("Enter")
    page.locator("[id^=earlier-]").last.focus()
    page.keyboard.press("Enter")
    until(page, f"{NAMES} === 'alpha,gamma,beta'")
    until(page, "location.search.includes('order=')")
    assert page.locator("#series-list").get_attribute("open") is not None
    assert "Move gamma · scratch up from place 2" in page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Enter")
    until(page, f"{NAMES} === 'gamma,alpha,beta'")
    assert "Move gamma · scratch down from place 1" in page.evaluate("document.activeElement.textContent")
    assert page.locator(".compare-table thead th").nth(1).inner_text().startswith("gamma")
    page.select_option("#ask-baseline", label="beta · scratch")
    until(page, f"{CHART}?.data.datasets[2]?.borderWidth === 3")
    assert page.evaluate(NAMES) == "gamma,alpha,beta"


def test_no_more_than_eight_can_be_picked(page: Any) -> None:
    with lab_scope(Lab.objects.get().pk):
        for number in range(18):
            measured(Lab.objects.get(), f"node{number:02}", [9.0e7 + number], file_size=100 * MIB)
    page.goto(f"{page.site}/compare/?{EVERYTHING}")
    until(page, f"{CHART}?.data.datasets.length === 8")
    page.click("#series-list > summary")
    boxes = page.locator("#series-list input[name=draw]")
    assert (boxes.count(), page.locator("#series-list input[name=draw]:disabled").count()) == (20, 12)
    assert page.locator("[data-all-drawn]").inner_text() == "8 series are drawn: take one out to draw another."
    page.locator("#series-list input[name=draw]:checked").first.uncheck()
    until(page, f"{CHART}?.data.datasets.length === 7")
    until(page, "document.querySelectorAll('#series-list input[name=draw]:disabled').length === 0")
    assert page.locator("[data-all-drawn]").is_hidden()
    boxes.last.check()
    until(page, f"{NAMES}.endsWith('node17')")
    looks = page.evaluate(
        f"(() => {{ const c = {CHART}; return c.legend.legendItems.map((one) => [one.fillStyle, one.pointStyle, one.rotation].join()); }})()"
    )
    assert len(set(looks)) == 8
    page.goto(f"{page.site}/compare/?{EVERYTHING}&chart=line&x=file_size")
    until(page, f"{CHART}?.data.datasets.length === 8")
    marks = page.evaluate(
        f"(() => {{ const c = {CHART}; return c.data.datasets.map((_, at) =>"
        " { const { pointStyle, rotation } = c.getDatasetMeta(at).data[0].options; return `${pointStyle} ${rotation}`; }); })()"
    )
    assert len(set(marks)) == 8, marks
    assert len(set(page.evaluate(f"{CHART}.data.datasets.map((one) => one.borderColor)"))) == 8


def test_filters_are_searched_as_one_types(page: Any) -> None:
    with lab_scope(Lab.objects.get().pk):
        for number in range(30):
            measured(
                Lab.objects.get(),
                f"node{number:02}",
                [9.0e7],
                file_size=100 * MIB,
                filesystem="ext4" if number % 2 else "xfs",
            )
    page.goto(f"{page.site}/compare/?{EVERYTHING}")
    page.click("#facets > summary")
    until(page, "document.querySelectorAll('#facet-choices input[name=host]').length === 32")
    search = page.locator("#facet-search")
    search.fill("NODE07")
    until(page, "document.querySelector('[data-facet-count]').textContent === '1 filter matches'")
    found = page.locator("#facet-choices label.check:visible")
    assert found.all_inner_texts() == ["node07 1"]
    box = found.bounding_box()
    assert box["height"] < 40 < box["width"]  # on one line, though what stood before it is hidden
    page.evaluate("addEventListener('submit', () => { window.sent = true; }, true)")
    search.press("Enter")  # does not send the form
    assert not page.evaluate("window.sent")
    assert page.locator("#facet-choices input[name=host]").count() == 32
    search.fill("filesys")
    assert page.locator("#facet-choices label.check:visible").count() == 3
    page.check("#facet-choices input[name=filesystem][value=xfs]")
    until(page, "document.querySelectorAll('.compare-table thead th').length === 16")
    assert search.input_value() == "filesys"
    assert page.locator("#facet-choices fieldset:visible").count() == 1
    search.press("Escape")
    assert page.locator("#facet-choices fieldset:visible").count() > 1


def test_sizes_stand_at_their_true_places_and_the_unknown_apart(page: Any) -> None:
    lab = Lab.objects.get()
    with lab_scope(lab.pk):
        for size in (MIB, 2 * MIB, GIB, None):
            sample(run(lab, target(lab, "gamma"), facts={"ram": GIB}), 1e8, file_size=size)
    page.goto(f"{page.site}/compare/?{EVERYTHING}&host=gamma")
    until(page, f"{CHART} !== undefined")
    at = page.evaluate(
        f"(() => {{ const c = {CHART}; const m = c.getDatasetMeta(0); return m.data.map((one) => one.x); }})()"
    )
    assert (at[2] - at[1]) / (at[1] - at[0]) == pytest.approx(9, rel=0.01)  # 2 MiB to 1 GiB is nine doublings
    assert (at[3] - at[2]) / (at[2] - at[0]) == pytest.approx(0.15, rel=0.01)
    labels = page.evaluate(f"{CHART}.scales.x.ticks.map((one) => one.label)")
    assert (labels[0], labels[-1]) == ("1\u00a0MiB", "unknown")
    colours = page.evaluate(
        f"(() => {{ const d = {CHART}.data.datasets[0]; return [0, 1, 2].map((n) => d.segment.borderColor({{p1DataIndex: n + 1}}) ?? ''); }})()"
    )
    assert colours == ["", "", "transparent"]
    page.locator("[data-compare-chart]").focus()
    page.keyboard.press("End")
    assert "unknown: 100" in page.locator(".chart-says").inner_text()


def test_save_share_and_export_are_reached_by_keyboard(page: Any) -> None:
    page.goto(f"{page.site}/compare/?{EVERYTHING}")
    until(page, f"{CHART} !== undefined")
    page.locator("#export-menu > summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "CSV"
    assert page.locator("#export-menu a").count() >= 7
    page.keyboard.press("Escape")
    assert page.locator("#export-menu").get_attribute("open") is None
    assert page.evaluate("document.activeElement.parentElement.id") == "export-menu"


def test_at_most_is_drawn_as_an_arrow_downwards(page: Any) -> None:
    lab = Lab.objects.get()
    with lab_scope(lab.pk):
        for size, bound in ((MIB, {"high": 5e7}), (GIB, {"low": 4e7})):
            sample(run(lab, target(lab, "gamma")), None, file_size=size, quality="bound", **bound)
    page.goto(f"{page.site}/compare/?{EVERYTHING}&host=gamma&chart=line")
    until(page, f"{CHART} !== undefined")
    marks = page.evaluate(
        f"{CHART}.getDatasetMeta(0).data.map(({{ options }}) => `${{options.pointStyle}} ${{options.rotation}}`)"
    )
    assert marks == ["triangle 180", "triangle 0"]
