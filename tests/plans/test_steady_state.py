"""The plot of a steady-state plan: the rounds, the window that is judged, and its lines; the judge is the rule's own."""

from collections.abc import Callable
from itertools import pairwise

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from apps.plans import services
from apps.plans.results.charts import steady_state_chart
from apps.plans.results.steady_state import steady_cells
from apps.runs.models import Run
from apps.studies.models import Plan
from apps.studies.plans.plan_page import PlanPage
from apps.studies.plans.run_assignment import runs_of
from apps.studies.plans.stopping_rule import is_steady, steady_window
from tests.api.conftest import Script, script
from tests.plans.conftest import advance_all, end

__all__ = ["script"]
Scripts = Callable[[str], Script]
SignIn = Callable[[str], Client]
WritePlan = Callable[..., Plan]
RULE = {"kind": "steady_state", "window": 5, "range_percent": 20, "slope_percent": 10, "at_most": 12}
FRESH_DISK = [900.0, 500.0, 220.0, 108.0, 102.0, 99.0, 101.0, 98.0]  # MB/s: fast while it is empty


def run_rounds(plan: Plan, values: list[float]) -> None:
    services.start_plan(plan, actor="eve")
    for value in values:
        advance_all(plan)
        for run in Run.objects.open().filter(host__name="alpha"):
            end(run, value=value * 1e6)


def page_of(plan: Plan) -> PlanPage:
    return PlanPage(Plan.objects.whole().get(pk=plan.pk), runs_of(plan.study))


@pytest.fixture
def plan(write_plan: WritePlan) -> Plan:
    points = [{"name": "small", "tool": "fio", "file_size": 1 << 30, "block_size": 1 << 20,
               "job": {"rw": "read", "direct": True, "sync": "none", "time_based": False}}]  # fmt: skip
    return write_plan(points=points, stopping=RULE, configurations=[{"configuration": "alpha"}])


def test_rounds_go_on_until_the_window_is_steady_and_the_plot_shows_which(
    plan: Plan, script: Scripts, sign_in: SignIn
) -> None:
    run_rounds(plan, FRESH_DISK)
    assert not Run.objects.open().exists(), "the rule has ended the cell"
    [steady] = steady_cells(page_of(plan))
    assert len(steady.rounds) == 8
    window = steady.window
    assert window is not None
    assert (window.first, window.last, window.is_steady) == (4, 8, True)
    assert window.mean == pytest.approx(101.6e6)
    assert window.spread == pytest.approx(10 / 101.6)
    assert steady.has_ended is False
    chart = steady_state_chart(steady)
    rounds, average, fit = chart.series
    assert [point.value for point in rounds.points] == [value * 1e6 for value in FRESH_DISK]
    assert [point.value for point in average.points] == [None] * 3 + [window.mean] * 5
    slopes = [later.value - earlier.value for earlier, later in pairwise(fit.points[3:])]
    assert slopes == [pytest.approx(slopes[0])] * 4
    assert [line.at for line in chart.lines] == [pytest.approx(window.mean * 1.1), pytest.approx(window.mean * 0.9)]
    assert "Steady state in rounds 4 to 8: average 102\u00a0MB/s" in chart.description
    answer = script("read").get(f"plans/{plan.pk}/steady-state/").json()["results"][0]
    assert answer["window"]["is_steady"] is True
    assert answer["window"]["slope"] == pytest.approx(abs(window.end - window.start) / window.mean)
    assert [entry["value"] for entry in answer["rounds"]] == [value * 1e6 for value in FRESH_DISK]
    for form, beginning in (("svg", b"<?xml"), ("png", b"\x89PNG"), ("csv", b"x,series")):
        address = f"plans/{plan.pk}/steady-state/?configuration=alpha&point=small&format={form}"
        picture = script("read").get(address)
        assert (picture.status_code, picture.content[: len(beginning)]) == (200, beginning), form
    assert script("read").get(f"plans/{plan.pk}/steady-state/?point=none&format=svg").status_code == 404
    text = sign_in("viewer").get(f"/plans/{plan.pk}/").content.decode()
    assert "Steady state in rounds 4 to 8" in text
    assert 'data-plan-chart="chart-steady-1-data"' in text


def test_before_the_window_is_full_nothing_is_judged(plan: Plan) -> None:
    run_rounds(plan, FRESH_DISK[:3])
    [steady] = steady_cells(page_of(plan))
    assert steady.window is None
    assert steady.statement == "3 of the 5 rounds that a window has are measured."
    assert len(steady_state_chart(steady).series) == 1


def test_a_disk_that_never_settles_says_so(plan: Plan) -> None:
    run_rounds(plan, [100.0, 200.0] * 6)
    [steady] = steady_cells(page_of(plan))
    assert len(steady.rounds) == 12
    assert steady.has_ended
    assert steady.statement.startswith(
        "No steady state after 12 rounds, the most that the plan makes: rounds 8 to 12 have"
    )


def test_the_page_is_asked_again_and_sent_only_when_something_is_new(plan: Plan, sign_in: SignIn) -> None:
    run_rounds(plan, FRESH_DISK[:2])
    client = sign_in("viewer")
    text = client.get(f"/plans/{plan.pk}/results/").content.decode()
    have = text.split("?have=")[1][:16]
    assert client.get(f"/plans/{plan.pk}/results/?have={have}").status_code == 204
    for run in Run.objects.open():
        end(run, value=3e8)
    newer = client.get(f"/plans/{plan.pk}/results/?have={have}")
    assert (newer.status_code, "300\u00a0MB/s" in newer.content.decode()) == (200, True)


@given(st.lists(st.floats(1, 1000), min_size=5, max_size=30))
def test_the_plot_and_the_rule_never_disagree(values: list[float]) -> None:
    window = steady_window(values, RULE)
    assert window is not None
    assert window.is_steady == is_steady(values, RULE)
    last = values[-5:]
    assert window.spread == pytest.approx((max(last) - min(last)) / window.mean)
    assert (window.start + window.end) / 2 == pytest.approx(window.mean)
