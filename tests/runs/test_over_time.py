"""Values over time as a table, and of a run that goes on: what has arrived so far, on pages and in every download."""

import csv
import io
from typing import Any
from xml.etree import ElementTree

import pytest
from django.test import Client

from apps.core.pubsub import forget, remember
from apps.labs.isolation import lab_scope
from apps.parsers.core.models import ParsedSeries
from apps.runs.models import Run
from apps.runs.samples import save_series
from apps.runs.series.progress import newest_attempt, series_so_far
from tests.dashboard import world
from tests.shared_world import cast, furnished
from tests.statements import statements
from tests.threads import wait_for_redis

__all__ = ["cast", "furnished"]

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _patient_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    wait_for_redis(monkeypatch)


@pytest.fixture
def running(furnished) -> Any:
    """A run of two jobs: the first has told three moments, the second waits."""
    run = furnished.queued
    world.attempt_at(run, world.State.RUNNING)
    for n, (t, bandwidth) in enumerate([(1.0, 1e8), (2.0, 3e8), (3.0, 2e8)]):
        jobs = [
            {"name": "job0", "operation": "randread", "bandwidth": bandwidth, "iops": bandwidth / 4096,
             "latency_mean": 2.5e5, "done": 0.1 * n},
            {"name": "job1", "operation": "write", "bandwidth": None, "iops": None, "latency_mean": None, "done": 0.0},
        ]  # fmt: skip
        remember(f"run:{run.pk}", {"n": n, "t": t, "progress": 0.1 * n, "jobs": jobs}, 1000, 60)
    yield run
    forget(f"run:{run.pk}")


def said(answer: Any) -> str:
    return " ".join(answer.content.decode().replace("\u00a0", " ").split())


def streamed(answer: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))


def test_what_has_arrived_is_series_by_job_and_metric(running: Run) -> None:
    found = series_so_far(running)
    assert [(one.section, one.operation, one.metric, one.count) for one in found] == [
        (0, "randread", "bandwidth", 3), (0, "randread", "iops", 3), (0, "randread", "latency_mean", 3),
    ]  # fmt: skip
    assert found[0].overview == [[1, 1e8, 1e8, 1e8, 1], [2, 3e8, 3e8, 3e8, 1], [3, 2e8, 2e8, 2e8, 1]]


def test_another_attempt_begins_anew_and_a_moment_told_twice_is_one() -> None:
    told = [{"t": t, "n": n} for n, t in enumerate([1.0, 2.0, 2.0, 0.5, 1.5])]
    assert [one["n"] for one in newest_attempt([*told, {"state": "running"}])] == [3, 4]


@pytest.mark.slow
def test_a_live_page_has_words_tables_and_downloads(running: Run, sign_in) -> None:
    client: Client = sign_in("viewer")
    page = said(client.get(running.get_absolute_url()))
    assert (
        "job0 randread: 3 values from 1.00 s to 3.00 s, mean 200 MB/s, 100 MB/s to 300 MB/s, begins at 100 MB/s" in page
    )
    for metric in ("bandwidth", "iops", "latency_mean"):
        assert f'href="/runs/{running.pk}/over-time/{metric}/"' in page
        for form in ("csv", "json", "svg", "png"):
            address = f"/api/v1/runs/{running.pk}/series/?metric={metric}&format={form}"
            assert address.replace("&", "&amp;") in page
            assert client.get(address).status_code == 200


def test_what_has_not_arrived_cannot_be_had(furnished: Any, sign_in: Any) -> None:
    page = said(sign_in("viewer").get(furnished.queued.get_absolute_url()))
    assert page.count('<p class="downloads" hidden>') == 3
    assert '<p class="downloads">' not in page


def test_the_downloads_of_a_live_run_have_what_has_arrived(running: Run, sign_in) -> None:
    client = sign_in("viewer")
    address = f"/api/v1/runs/{running.pk}/series/?metric=bandwidth"
    (one,) = client.get(f"{address}&format=json").json()["results"]
    assert (one["id"], one["count"], [row[2] for row in one["overview"]]) == (None, 3, [1e8, 3e8, 2e8])
    rows = streamed(client.get(f"{address}&format=csv"))
    assert [(row["seconds"], row["mean"], row["unit"]) for row in rows] == [
        ("1", "100000000", "B/s"), ("2", "300000000", "B/s"), ("3", "200000000", "B/s"),
    ]  # fmt: skip
    part = streamed(client.get(f"{address}&start=2&end=9&full=1&format=csv"))
    assert [row["value"] for row in part] == ["100000000", "300000000", "200000000"]
    svg = ElementTree.fromstring(client.get(f"{address}&format=svg").content)
    assert "mean 200\u00a0MB/s" in str(svg.findtext("{http://www.w3.org/2000/svg}desc"))


def test_the_table_of_a_live_run_grows_with_it(running: Run, sign_in) -> None:
    address = f"/runs/{running.pk}/over-time/bandwidth/"
    fragment = said(sign_in("viewer").get(address, headers={"HX-Request": "true"}))
    assert "<html" not in fragment
    assert '<th scope="row" class="num">2.00 s</th><td>job0 randread</td>' in fragment
    assert fragment.count("<tr>") == 4
    jobs = [{"name": "job0", "operation": "randread", "bandwidth": 5e8, "iops": 1.0, "latency_mean": 1.0}]
    remember(f"run:{running.pk}", {"n": 9, "t": 4.0, "progress": 0.4, "jobs": jobs}, 1000, 60)
    assert ">500 MB/s</td>" in said(sign_in("viewer").get(address))


def test_before_anything_has_arrived_a_live_page_says_so(furnished, sign_in) -> None:
    client = sign_in("viewer")
    world.attempt_at(furnished.queued, world.State.RUNNING)
    assert "Nothing has arrived yet." in said(client.get(f"/runs/{furnished.queued.pk}/over-time/iops/"))
    assert "Nothing has arrived yet." in said(client.get(furnished.queued.get_absolute_url()))
    assert client.get(f"/api/v1/runs/{furnished.queued.pk}/series/").json() == {"results": []}
    assert client.get(f"/api/v1/runs/{furnished.queued.pk}/series/?format=svg").status_code == 404


def test_a_long_series_is_summed_up_and_leads_to_every_value(furnished, sign_in) -> None:
    times = tuple(float(n) for n in range(3000))
    save_series(furnished.finished, [ParsedSeries("write", "rate", 0, "fio_log", times, tuple(5e3 + t for t in times))])
    client = sign_in("viewer")
    page = said(client.get(f"/runs/{furnished.finished.pk}/over-time/rate/"))
    assert page.count("<tr>") == 1001
    assert "Each row sums up the values of one moment" in page
    assert f'href="/api/v1/runs/{furnished.finished.pk}/series/?metric=rate&amp;full=1&amp;format=csv"' in page
    answer = client.get(f"/api/v1/runs/{furnished.finished.pk}/series/?metric=rate&full=1&format=csv")
    assert len(streamed(answer)) == 3000


def test_the_rows_are_those_of_the_chart(furnished, sign_in) -> None:
    answer = sign_in("viewer").get(f"/runs/{furnished.finished.pk}/over-time/bandwidth/")
    drawn = sign_in("viewer").get(furnished.finished.get_absolute_url()).context["chart"]["series"]
    sent = [tuple(row[:2]) for one in drawn if one["metric"] == "bandwidth" for row in one["points"]]
    assert [(point.place, point.value) for _, point in answer.context["chart"].points] == sent
    assert len(sent) == 6


def test_a_metric_that_there_is_not_and_a_run_of_another_lab_are_not_found(furnished, sign_in) -> None:
    assert sign_in("viewer").get(f"/runs/{furnished.finished.pk}/over-time/speed/").status_code == 404
    assert sign_in("stranger").get(f"/runs/{furnished.finished.pk}/over-time/iops/").status_code == 404


def test_more_points_cost_no_more_statements(furnished, sign_in) -> None:
    address = f"/runs/{furnished.finished.pk}/over-time/bandwidth/"
    client = sign_in("viewer")
    few = statements(lambda: client.get(address))
    with lab_scope(furnished.lab.pk):
        more = [ParsedSeries("read", "bandwidth", n, "fio_log", (1.0, 2.0), (1.0, 2.0)) for n in range(9)]
        save_series(furnished.finished, more)
    assert len(statements(lambda: client.get(address))) == len(few)


def test_the_curve_and_the_bars_are_tables_and_downloads_with_the_charts_numbers(furnished, sign_in) -> None:
    client = sign_in("viewer")
    page = client.get(furnished.finished.get_absolute_url())
    for drawn in page.context["chart"]["latency"]:
        address = f"/api/v1/runs/{furnished.finished.pk}/histograms/?chart={drawn['kind']}"
        rows = streamed(client.get(f"{address}&format=csv"))
        numbers = [point["y"] for one in drawn["series"] for point in one["points"]]
        factor = {"histogram": 0.01, "curve": {"µs": 1e3, "ms": 1e6}.get(drawn["unit"], 1)}[drawn["kind"]]
        assert [float(row["value"]) / factor for row in rows] == pytest.approx(numbers)
        answered = client.get(f"{address}&format=json").json()
        assert answered["chart"] == drawn
        assert len(answered["results"]) == 2
        assert f"{address}&format=csv".replace("&", "&amp;") in page.content.decode()
    assert "Percentile data" in page.content.decode()
