"""A plan whose points are a product of options is shown as grids: one option by another, for each configuration."""

from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client

from apps.comparison.charts.palette import RAMP, ink_on
from apps.plans import services
from apps.plans.execution_page import ExecutionPage, MatrixView, read_view
from apps.plans.grid.axes import find_shapes
from apps.runs.models import Run
from apps.studies.models import Plan
from bin._lib.layout import ROOT
from tests.page_text import page_text
from tests.plans.conftest import JOB, MIB, advance_all, end, end_all
from tests.statements import statements

SignIn = Callable[[str], Client]
WritePlan = Callable[..., Plan]
KIB = 1024
FILES, BLOCKS, PATTERNS = (MIB, 4 * MIB, 64 * MIB), (4 * KIB, 64 * KIB, 16 * MIB), ("write", "read")


@pytest.fixture(autouse=True)
def fresh_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.plans.views.FRESH_S", 0)
    monkeypatch.setattr("apps.plans.views.FRESH_FOR", 0)


def point(name: str, **changes: Any) -> dict[str, Any]:
    return {"name": name, "tool": "fio", "file_size": MIB, "block_size": 4 * KIB, "job": JOB, **changes}


def matrix(files: Any = FILES, blocks: Any = BLOCKS, patterns: Any = PATTERNS) -> list[dict[str, Any]]:
    """Return the points of IOzone's matrix: no record is larger than its file."""
    return [
        point(f"{rw}-{file}-{block}", file_size=file, block_size=block, job={**JOB, "rw": rw})
        for rw in patterns
        for file in files
        for block in blocks
        if block <= file
    ]


def page_of(plan: Plan, **view: str) -> ExecutionPage:
    return ExecutionPage(Plan.objects.whole().prefetch_related("preparations").get(pk=plan.pk), MatrixView(**view))


def shapes_of(plan: Plan) -> list[tuple[str, int]]:
    return [(shape.name, len(shape.groups)) for shape in find_shapes(list(plan.points.all()))]


def test_a_matrix_of_files_and_records_has_a_grid_for_each_pattern(write_plan: WritePlan) -> None:
    plan = write_plan(points=matrix())
    assert shapes_of(plan)[0] == ("file_size-block_size", 2)
    grid = page_of(plan, grid="file_size-block_size").grid
    assert grid is not None
    assert [(table.row.name, table.words) for table in grid.tables] == [
        ("alpha", "write"), ("alpha", "read"), ("beta", "write"), ("beta", "read")
    ]  # fmt: skip
    first = grid.tables[0]
    assert [column.words.replace("\u00a0", " ") for column in grid.columns] == ["4 KiB", "64 KiB", "16 MiB"]
    assert [words.replace("\u00a0", " ") for words, _ in first.lines] == ["1 MiB", "4 MiB", "64 MiB"]
    assert [[cell is not None for cell in cells] for _, cells in first.lines] == [
        [True, True, False], [True, True, False], [True, True, True]
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("points", "shapes"),
    [
        (
            [
                point(f"{b}-{d}", block_size=b, iodepth=d, job={**JOB, "ioengine": "libaio"})
                for b in (4096, 8192)
                for d in (1, 8, 64)
            ],
            [("iodepth-block_size", 1)],
        ),
        (
            [
                point(f"x{m:g}-{b}".replace(".", "-"), file_size=None, ram_multiple=m, block_size=b)
                for m in (0.5, 4.0)
                for b in (4096, 8192)
            ],
            [("file_size-block_size", 1)],
        ),
        (
            [
                point(f"{e}-{b}", block_size=b, job={**JOB, "ioengine": e})
                for e in ("psync", "sync")
                for b in (4096, 8192)
            ],
            [("block_size-ioengine", 1)],
        ),
        (
            [
                point(f"{n}-{e}-{rw}", block_size=4096 * n, file_size=MIB * n, job={**JOB, "ioengine": e, "rw": rw})
                for n in range(1, 4)
                for e in ("psync", "sync")
                for rw in ("read", "write")
            ],
            [("rw-ioengine", 3)],
        ),
        ([point(f"{b}", block_size=b) for b in (4096, 8192)], []),
        ([point("a"), point("b")], []),
        ([point(f"{n}", block_size=4096 * n, file_size=MIB * n) for n in range(1, 9)], []),
    ],
    ids=[
        "block × iodepth",
        "multiples of RAM",
        "an option of the job",
        "no two numbers",
        "one option",
        "the same twice",
        "a diagonal",
    ],
)
def test_which_plans_have_a_grid(write_plan: WritePlan, points: Any, shapes: Any) -> None:
    assert shapes_of(write_plan(points=points)) == shapes


def test_values_that_are_lists_are_spelled_as_in_a_job(write_plan: WritePlan) -> None:
    points = [point(f"{b}-{n}", block_size=b, job={**JOB, "rate_iops": [n]}) for b in (4096, 8192) for n in (100, 2000)]
    [shape] = find_shapes(list(write_plan(points=points).points.all()))
    [rates] = [axis for axis in (shape.rows, shape.columns) if axis.name == "rate_iops"]
    assert [value.words for value in rates.values] == ["100", "2000"]


def test_back_gets_the_whole_page(write_plan: WritePlan, sign_in: SignIn) -> None:
    plan = write_plan(points=matrix())
    headers = {"HX-Request": "true", "HX-History-Restore-Request": "true"}
    shown = sign_in("viewer").get(f"/plans/{plan.pk}/?grid=file_size-block_size", headers=headers).content.decode()
    assert shown.startswith("<!doctype html>")
    assert cells_in(shown)


def test_several_options_can_be_rows_and_columns(write_plan: WritePlan) -> None:
    job = {**JOB, "ioengine": "libaio"}
    points = [
        point(f"{b}-{d}-{n}", block_size=b, iodepth=d, threads=n, job=job)
        for b in (4096, 8192) for d in (1, 8, 64) for n in (1, 2)
    ]  # fmt: skip
    assert shapes_of(write_plan(points=points)) == [
        ("iodepth-block_size", 2), ("iodepth-threads", 2), ("block_size-threads", 3)
    ]  # fmt: skip


def test_numbers_have_one_unit_and_a_shade_by_factors_where_they_are_far_apart(write_plan: WritePlan) -> None:
    plan = write_plan(points=matrix(patterns=("read",)), stopping={"kind": "fixed", "rounds": 1})
    services.start_plan(plan, actor="eve")
    for value in (1e6, 1e7, 1e8, 1e9):
        advance_all(plan)
        end(Run.objects.open().select_related("workload").get(host__name="alpha"), value=value)
    page = page_of(plan, grid="file_size-block_size")
    assert page.grid
    cells = [cell for table in page.grid.tables for _, line in table.lines for cell in line if cell]
    measured = [(cell.number, cell.shade) for cell in cells if cell.number]
    assert measured == [("1.00", 0), ("10.0", 3), ("100", 6), ("1\u202f000", 9)]
    assert page.grid.unit.label == "MB/s"
    assert page.grid.legend == ("1.00\u00a0MB/s", "1.00\u00a0GB/s", True)
    assert {cell.note for cell in cells} == {"", "queued", "waiting"}


class _Cells(HTMLParser):
    """The buttons of cells: value, whether it is the chosen one."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "button" and given.get("name") == "cell":
            self.cells.append((given["value"] or "", "aria-current" in given))


def cells_in(html: str) -> list[tuple[str, bool]]:
    cells = _Cells()
    cells.feed(html)
    return cells.cells


def test_the_address_keeps_the_grid_and_the_chosen_cell_also_live(write_plan: WritePlan, sign_in: SignIn) -> None:
    plan = write_plan(points=matrix())
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    client, address = sign_in("engineer"), f"/plans/{plan.pk}/"
    table = client.get(address).content.decode()
    assert "plan-layout-file_size-block_size" in table
    assert cells_in(table) == []
    point = plan.points.first()
    row = plan.rows.first()
    query = f"?metric=iops&amp;grid=file_size-block_size&amp;cell={row.pk}-{point.pk}"
    shown = client.get(f"{address}{query.replace('&amp;', '&')}").content.decode()
    assert len(cells_in(shown)) == 28
    assert [value for value, is_chosen in cells_in(shown) if is_chosen] == [f"{row.pk}-{point.pk}"]
    assert f'hx-get="{address}{query}"' in shown, "the live part asks for the same"
    assert f'{address}?grid=file_size-block_size&amp;cell={row.pk}-{point.pk}"' in shown, "the other metric keeps it"
    assert "alpha, 1 MiB, 4 KiB: running" in page_text(shown) or f"alpha, {point}: running" in page_text(shown)
    assert f'href="/plans/{plan.pk}/cell/?row=alpha' in shown, "with what can be done with it"
    live = client.get(f"{address}{query.replace('&amp;', '&')}", headers={"HX-Request": "true"}).content.decode()
    assert cells_in(live) == cells_in(shown)
    assert cells_in(client.get(f"{address}?grid=nonsense&cell=1").content.decode()) == []
    assert read_view({"cell": "1-2;", "grid": "x" * 99, "page": "2"}) == MatrixView("2", "bandwidth", "x" * 80, "")


def test_a_grid_of_a_large_plan_comes_in_parts_and_costs_the_same_statements(
    write_plan: WritePlan, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.plans.execution_page.MOST_GRID_CELLS", 14)
    client = sign_in("viewer")
    small, large = write_plan(points=matrix((MIB, 64 * MIB))), write_plan(name="large", points=matrix())
    page = client.get(f"/plans/{large.pk}/?grid=file_size-block_size&page=2").content.decode()
    assert "Page 2 of 2" in page
    assert len(cells_in(page)) == 14
    assert "Grid of beta, write" in page
    counts = []
    for plan in (small, large):
        address = f"/plans/{plan.pk}/?grid=file_size-block_size"
        counts.append(len(statements(lambda address=address: client.get(address))))
    assert counts[0] == counts[1]


def test_the_states_of_cells_are_said(write_plan: WritePlan, sign_in: SignIn) -> None:
    plan = write_plan(points=matrix(), cells=[{"row": "beta", "point": "write-1048576-4096", "reason": "no"}])
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    end_all("failed")
    text = page_text(sign_in("viewer").get(f"/plans/{plan.pk}/?grid=file_size-block_size").content.decode())
    for state in ("failed", "not run", "waiting"):
        assert state in text.partition("Choose a cell")[0].partition("Grid:")[2]


def test_the_colours_of_the_grid_are_those_of_heat_maps() -> None:
    css = (ROOT / "static/css/plans.css").read_text(encoding="utf-8")
    for number, colour in enumerate(RAMP):
        ink = {"#000000": "#000", "#ffffff": "#fff"}[ink_on(colour)]
        assert f"table.plan-grid tbody tr td.heat-{number} {{ background: {colour}; color: {ink}; }}" in css
