"""A plan's page that stays open all day: its round, what runs do now, metrics, RAM beside files, and one time left."""

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.core import pubsub
from apps.inventory.models import Host
from apps.parsers.core.models import ParsedSample
from apps.plans import services
from apps.plans.execution_page import ExecutionPage
from apps.runs.models import Attempt, Run
from apps.runs.samples import save_samples
from apps.runs.series.progress import live_figures
from apps.runs.states import State
from apps.studies.models import Plan
from apps.studies.plans.services import set_cell
from tests.api.conftest import script
from tests.page_text import page_text
from tests.plans.conftest import GIB, JOB, MIB, advance_all, end
from tests.statements import statements

__all__ = ["script"]
SignIn = Callable[[str], Client]
WritePlan = Callable[..., Plan]


@pytest.fixture(autouse=True)
def fresh_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.plans.views.FRESH_S", 0)
    monkeypatch.setattr("apps.plans.views.FRESH_FOR", 0)


def loaded(plan: Plan) -> Plan:
    return Plan.objects.whole().prefetch_related("preparations").get(pk=plan.pk)  # type: ignore[no-any-return]


def run_of(host: str) -> Run:
    return Run.objects.open().select_related("workload").get(host__name=host)


def let_run(run: Run, *, seconds_ago: float = 0.0, **figures: float) -> None:
    """Let a run be under way, with the figures that its host sent last."""
    now = timezone.now()
    Attempt.objects.create(
        lab_id=run.lab_id, run=run, host_id=run.host_id, number=1, state=State.RUNNING, offered_at=now, started_at=now
    )
    Run.objects.filter(pk=run.pk).update(state=State.RUNNING, started_at=now, progress=0.5)
    job = {
        "name": "j",
        "operation": "read",
        "bandwidth": None,
        "iops": None,
        "latency_mean": None,
        "done": 0.5,
        **figures,
    }
    message = {"t": 3.0, "progress": 0.5, "jobs": [job], "at": time.time() - seconds_ago}
    pubsub.remember(f"run:{run.pk}", message, 10, 60)


@pytest.fixture
def started(write_plan: WritePlan) -> Plan:
    plan = write_plan()
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    return plan


def live_text(client: Client, plan: Plan, query: str = "") -> str:
    return client.get(f"/plans/{plan.pk}/{query}", headers={"HX-Request": "true"}).content.decode()


def test_the_round_is_that_of_what_runs_or_is_next(started: Plan, sign_in: SignIn) -> None:
    assert "<strong>Round 1 of 2</strong> · 0 of 8 runs" in live_text(sign_in("viewer"), started)
    for _ in range(2):  # alpha's first round is done, and beta's first step is still under way
        end(run_of("alpha"))
        advance_all(started)
    assert ExecutionPage(loaded(started)).round_words == "Round 1–2 of 2"


def test_a_plan_in_sequence_or_of_one_round_has_no_round_of_its_own(write_plan: WritePlan) -> None:
    for name, changes in (("a", {"order": "sequential"}), ("b", {"stopping": {"kind": "fixed", "rounds": 1}})):
        plan = write_plan(name=name, **changes)
        services.start_plan(plan, actor="eve")
        assert ExecutionPage(loaded(plan)).round_words == ""


def test_a_running_cell_says_what_it_does_now_and_how_long_it_takes(started: Plan, sign_in: SignIn) -> None:
    let_run(run_of("alpha"), bandwidth=183e6, iops=700.0, latency_mean=2e6)
    let_run(run_of("beta"), seconds_ago=90, bandwidth=50e6)
    client = sign_in("viewer")
    text = page_text(live_text(client, started))
    assert "183 MB/s now" in text
    assert "50.0 MB/s 1 min 30 s ago" in text, "what has gone quiet is not said to be now"
    assert text.count("round 1") >= 2
    assert "700 /s now" in page_text(live_text(client, started, "?metric=iops"))
    assert "2.00 ms now" in page_text(live_text(client, started, "?metric=latency_mean"))
    assert " now" not in page_text(live_text(client, started, "?metric=clat_p99")), "fio tells it at the end"


def test_the_figure_of_several_jobs_is_their_sum_and_of_latencies_their_mean() -> None:
    jobs = [
        {"name": "a", "operation": "read", "bandwidth": 100.0, "iops": 3.0, "latency_mean": 10.0, "done": 0.1},
        {"name": "b", "operation": "read", "bandwidth": 20.0, "iops": 1.0, "latency_mean": 50.0, "done": 0.1},
        {"name": "a", "operation": "write", "bandwidth": 7.0, "iops": 9.0, "latency_mean": 90.0, "done": 0.1},
        {"name": "c", "operation": "", "bandwidth": None, "iops": None, "latency_mean": None, "done": 0.0},
    ]
    pubsub.remember("run:987654", {"t": 1.0, "jobs": jobs, "at": time.time()}, 10, 60)
    figures = {metric: live_figures([987654, 987655], metric) for metric in ("bandwidth", "iops", "latency_mean")}
    found = {metric: {one.operation: one.value for one in of_run[987654]} for metric, of_run in figures.items()}
    assert found == {
        "bandwidth": {"read": 120.0, "write": 7.0}, "iops": {"read": 4.0, "write": 9.0},
        "latency_mean": {"read": 20.0, "write": 90.0},
    }  # fmt: skip
    assert all(987655 not in of_run for of_run in figures.values())
    assert live_figures([987654], "clat_p99") == {}


def finish(run: Run, **values: float) -> None:
    end(run, value=values.pop("bandwidth", 1e8))
    job = run.workload.jobs[0]  # type: ignore[union-attr]
    sizes = {"file_size": job["file_size"], "block_size": job["block_size"], "threads": 1, "iodepth": 1}
    save_samples(run, [ParsedSample("read", metric, value, **sizes) for metric, value in values.items()], None)


@pytest.mark.slow
def test_the_matrix_shows_the_metric_of_the_address_and_so_does_its_live_part(started: Plan, sign_in: SignIn) -> None:
    client, address = sign_in("viewer"), f"/plans/{started.pk}/"
    text = client.get(address).content.decode()
    assert 'id="plan-metric-iops"' in text
    assert "plan-metric-clat_p99" not in text, "no run has told it yet"
    finish(run_of("alpha"), bandwidth=2e8, iops=1234.0, latency_mean=3e6, clat_p99=9e6)
    for metric, words in (("bandwidth", "200\u00a0MB/s"), ("iops", "1.23\u00a0k/s"), ("latency_mean", "3.00\u00a0ms"),
                          ("clat_p99", "9.00\u00a0ms")):  # fmt: skip
        query = "" if metric == "bandwidth" else f"?metric={metric}"
        whole, live = client.get(f"{address}{query}").content.decode(), live_text(client, started, query)
        for part in (whole, live):
            assert f"<strong>{words}</strong>" in part, metric
            assert f'hx-get="{address}{query}"' in part
            assert re.search(f'id="plan-metric-{metric}" href="[^"]+" aria-current="true"', part)
    assert "<strong>200\u00a0MB/s</strong>" in live_text(client, started, "?metric=nonsense")


def test_a_percentile_of_two_sections_is_the_higher_one(started: Plan) -> None:
    run = run_of("alpha")
    end(run)
    options = {"rw": "read", "direct": "1", "bs": "1m", "size": "1g"}
    sections = {str(number): {"name": name, "options": options} for number, name in enumerate("ab")}
    Run.objects.filter(pk=run.pk).update(sections=sections)
    sizes = {"file_size": GIB, "block_size": MIB, "threads": 1, "iodepth": 1}
    for section, value in enumerate((4e6, 8e6)):
        save_samples(run, [ParsedSample("read", "clat_p99", value, section=section, **sizes)], None)
    of_runs = [of_cell.get(run.pk) for of_cell in ExecutionPage(loaded(started)).matrix.assignment.values.values()]
    assert [measured.of("read", "clat_p99") for measured in of_runs if measured] == [8e6]


def test_files_stand_beside_the_ram_where_it_is_known(write_plan: WritePlan) -> None:
    points = [
        {"name": "in-bytes", "tool": "fio", "file_size": 256 * MIB, "block_size": MIB, "job": JOB},
        {"name": "in-ram", "tool": "fio", "ram_multiple": 2, "block_size": MIB, "job": JOB},
    ]
    plan = write_plan(points=points)

    def heads() -> list[str]:
        return [head.file_size for head in ExecutionPage(loaded(plan)).columns]

    assert heads() == ["0.25\u00a0× RAM", "2\u00a0GiB"]
    Host.objects.filter(name="beta").update(ram_bytes=4 * GIB)
    assert heads() == ["0.06–0.25\u00a0× RAM", "2\u00a0GiB–8\u00a0GiB"]
    Host.objects.filter(name="beta").update(ram_bytes=None)
    assert heads() == ["0.25\u00a0× RAM where RAM is known", "2\u00a0GiB where RAM is known"]
    Host.objects.update(ram_bytes=None)
    assert heads() == ["", ""]


def test_what_fits_into_the_page_cache_is_marked(write_plan: WritePlan, sign_in: SignIn) -> None:
    buffered = {**JOB, "direct": False}
    points = [
        {"name": "small", "tool": "fio", "file_size": GIB, "block_size": MIB, "job": buffered},
        {"name": "large", "tool": "fio", "file_size": 2 * GIB, "block_size": MIB, "job": buffered},
        {"name": "jobs", "tool": "fio", "file_size": GIB, "block_size": MIB, "threads": 2, "job": buffered},
        {"name": "direct", "tool": "fio", "file_size": GIB, "block_size": MIB, "job": JOB},
    ]
    plan = write_plan(points=points)
    Host.objects.filter(name="beta").update(ram_bytes=None)
    cached = {
        (cell.cell.row.name, cell.cell.point.name)
        for row in ExecutionPage(loaded(plan)).rows
        for cell in row.cells
        if cell.is_cached
    }
    assert cached == {("alpha", "small")}
    assert live_text(sign_in("viewer"), plan).count(">cache</span>") == 1


def test_the_subtitle_counts_hosts_and_a_skipped_cell_says_why(write_plan: WritePlan, sign_in: SignIn) -> None:
    plan = write_plan()
    client = sign_in("viewer")
    assert "2 configurations × 2 points × 2 rounds, interleaved · 2 hosts in parallel" in page_text(
        live_text(client, plan)
    )
    beta, small = plan.rows.get(name="beta"), plan.points.get(name="small")
    reason = (
        "Its filesystem has room for 41 GiB, and the users of this machine need all of that until the end of November."
    )
    set_cell(plan, beta, small, reason=reason, actor="me")
    text = live_text(client, plan)
    assert f'title="{reason}"' in text
    assert ">Its filesystem has room for 41 GiB, and the users of this…</a>" in text.replace(
        "why: </span>", "why: </span>>"
    )
    set_cell(plan, beta, plan.points.get(name="large"), reason="no room", actor="me")
    assert "· 1 host ·" in page_text(live_text(client, plan))


def test_a_failed_cell_names_its_round(started: Plan, sign_in: SignIn) -> None:
    end(run_of("alpha"), State.FAILED)
    assert "failed round 1" in page_text(live_text(sign_in("viewer"), started))


def test_the_time_left_is_told_once(write_plan: WritePlan, sign_in: SignIn) -> None:
    plan = write_plan()
    client, address = sign_in("engineer"), f"/plans/{plan.pk}/"
    before = page_text(client.get(address).content.decode())
    assert "left" not in before.split("Matrix")[0], "the estimate below says it"
    estimate = re.search("About ([^:]+): 8 runs", before)
    assert estimate
    services.start_plan(plan, actor="eve")
    running = page_text(client.get(address).content.decode())
    assert f"about {estimate[1]} left (8 runs guessed)" in running, "the same, and not that nothing is known"
    assert "unknown" not in running


def test_while_a_host_waits_nobody_knows_when_the_plan_ends(write_plan: WritePlan, sign_in: SignIn) -> None:
    plan = write_plan()
    services.start_plan(plan, actor="eve")
    Host.objects.filter(name="alpha").update(is_in_maintenance=True)
    advance_all(plan)
    waiting = page_text(sign_in("viewer").get(f"/plans/{plan.pk}/").content.decode())
    assert "alpha is in maintenance." in waiting
    assert " left" in waiting
    assert "· ends " not in waiting
    Host.objects.filter(name="alpha").update(is_in_maintenance=False)
    advance_all(plan)
    assert "· ends " in page_text(sign_in("viewer").get(f"/plans/{plan.pk}/").content.decode())


def test_a_look_at_the_live_part_costs_the_same_statements_for_more_cells(
    write_plan: WritePlan, sign_in: SignIn
) -> None:
    client = sign_in("viewer")
    counts = []
    for name, number in (("few", 1), ("many", 12)):
        points = [
            {"name": f"p{at}", "tool": "fio", "file_size": (at + 1) * MIB, "block_size": MIB, "job": JOB}
            for at in range(number)
        ]
        plan = write_plan(name=name, points=points)
        services.start_plan(plan, actor="eve")
        advance_all(plan)
        counts.append(len(statements(lambda plan=plan: live_text(client, plan))))  # type: ignore[misc]
    assert counts[0] == counts[1]


def test_by_rest_cells_have_the_values_of_their_runs(started: Plan, script: Any) -> None:
    finish(run_of("alpha"), bandwidth=2e8, iops=1234.0)
    body = script("read")("GET", f"plans/{started.pk}/").json()
    cell = next(cell for cell in body["cells"] if cell["runs"] and cell["state"] == "partly")
    assert cell["values"]["bandwidth"] == {"mean": 2e8, "half_width": None, "n": 1}
    assert cell["values"]["iops"]["mean"] == 1234.0
