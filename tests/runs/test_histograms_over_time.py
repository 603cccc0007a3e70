"""fio's histogram logs from the upload to the run's page and the REST interface."""

import csv
import io
from typing import Any

import numpy as np
import pytest

from apps.comparison.charts.chart import ChartKind
from apps.comparison.queries.run_charts import heat_charts
from apps.labs.isolation import lab_scope
from apps.parsers.core.models import ParsedHistogram, ParsedHistory
from apps.parsers.core.source_text import SourceText
from apps.runs.models import Histogram, Run
from apps.runs.samples import save_histograms
from apps.runs.series.intervals import pack_intervals, unpack_intervals
from apps.uploads.file_reader import FileReading, read_file
from apps.uploads.reparse.differences import differences_read
from apps.uploads.save_runs import write_values
from tests.dashboard import world

BINS = 1856 >> 6


def row(time_ms: int, counts: dict[int, int], direction: int = 0) -> str:
    return f"{time_ms}, {direction}, 4096, " + ", ".join(str(counts.get(n, 0)) for n in range(BINS)) + "\n"


LOG = row(1000, {2: 5, 9: 1}) + row(1000, {4: 7}, 1) + row(2000, {2: 6}) + row(3000, {9: 2, 10: 3})


def read(text: str = LOG) -> FileReading:
    return read_file(SourceText(text, "jobs/a_clat_hist.1.log"))


def test_intervals_come_back_as_they_were_packed() -> None:
    table = unpack_intervals(pack_intervals([0.5, 1.25], [10, 20, 40], [[1, 0, 2**40], [0, 3, 0]]))
    assert table.rows() == [(0.5, [[10, 1], [40, 2**40]]), (1.25, [[20, 3]])]
    with pytest.raises(ValueError, match="2 intervals and 1 bins"):
        pack_intervals([1.0, 2.0], [10], [[1]])


def test_only_runs_with_a_history_have_another_digest_for_it() -> None:
    (item,) = read().runs
    changed = row(1000, {2: 6, 9: 1}) + row(1000, {4: 7}, 1) + row(2000, {2: 5}) + row(3000, {9: 2, 10: 3})
    (other,) = read(changed).runs
    assert item.run == other.run  # the sums are the same
    assert item.digest != other.digest
    assert "read clat histogram over time: other counts" in differences_read(item, other)


@pytest.fixture
def stored(lab: Any, settings: Any, tmp_path: Any) -> Any:
    settings.ARTEFACT_DIR = tmp_path
    furnished = world.furnish(lab)
    with lab_scope(lab.pk):
        run = furnished.finished
        Histogram.objects.filter(run=run).delete()
        write_values([(run.pk, None, read().runs[0])])
    return furnished


@pytest.mark.django_db
def test_the_rest_interface_has_the_counts_of_each_interval(stored: Any, sign_in: Any) -> None:
    client, address = sign_in("viewer"), f"/api/v1/runs/{stored.finished.pk}/histograms/"
    read_bins, write_bins = client.get(f"{address}?over_time=1&format=json").json()["results"]
    assert (read_bins["operation"], write_bins["operation"]) == ("read", "write")
    at = [ns for ns, _ in read_bins["bins"]]
    assert read_bins["intervals"] == [
        [1.0, [[at[0], 5], [at[1], 1]]], [2.0, [[at[0], 6]]], [3.0, [[at[1], 2], [at[2], 3]]],
    ]  # fmt: skip
    assert client.get(f"{address}?format=json").json()["results"][0]["intervals"] is None
    lines = b"".join(client.get(f"{address}?over_time=1&format=csv").streaming_content).decode()
    rows = list(csv.DictReader(io.StringIO(lines)))
    assert [(one["operation"], float(one["seconds"]), int(one["count"])) for one in rows] == [
        ("read", 1.0, 5), ("read", 1.0, 1), ("read", 2.0, 6), ("read", 3.0, 2), ("read", 3.0, 3), ("write", 1.0, 7),
    ]  # fmt: skip


@pytest.mark.django_db
def test_the_runs_page_has_a_heat_map_of_each_operation(stored: Any, sign_in: Any) -> None:
    client, run = sign_in("viewer"), stored.finished
    page = client.get(run.get_absolute_url())
    assert [one["operation"] for one in page.context["chart"]["heat"]] == ["read", "write"]
    text = page.content.decode()
    for operation in ("read", "write"):
        assert f'id="chart-heat-{operation}"' in text
        assert f"/api/v1/runs/{run.pk}/histograms/?chart=heat&amp;operation={operation}&amp;format=svg" in text
    assert "vendor/chartjs-chart-matrix.min" in text, "what draws the heat map"
    address = f"/api/v1/runs/{run.pk}/histograms/?chart=heat&operation=write"
    chart = client.get(f"{address}&format=json").json()["chart"]
    assert (chart["kind"], [tile["v"] for tile in chart["tiles"]]) == ("heat", [7.0])
    assert client.get(f"{address}&format=svg").content.startswith(b"<?xml")
    assert client.get(f"/api/v1/runs/{run.pk}/histograms/?chart=heat&operation=trim&format=json").status_code == 400


@pytest.mark.django_db
def test_a_long_log_fits_into_the_heat_map(stored: Any) -> None:
    run: Run = stored.finished
    seconds, bins = tuple(float(n) for n in range(1, 1001)), tuple(1000 * 2**n for n in range(40))
    counts = np.ones((1000, 40), dtype=np.int64)
    with lab_scope(run.lab_id):
        Histogram.objects.filter(run=run).delete()
        pairs = tuple((ns, 1000) for ns in bins)
        history = ParsedHistory("read", "clat", 0, seconds, bins, counts)
        save_histograms(run, [ParsedHistogram("read", "clat", 0, pairs)], [history])
        ((operation, chart),) = heat_charts(run)
    assert (operation, chart.kind, len(chart.x.labels), len(chart.y.labels)) == ("read", ChartKind.HEAT, 59, 24)
    assert sum(tile.value or 0 for tile in chart.tiles) == 40_000
    assert "40\u202f000" in chart.description or "40 000" in chart.description.replace("\xa0", " ")


@pytest.mark.django_db
def test_runs_without_a_log_have_none(stored: Any, sign_in: Any) -> None:
    run: Run = stored.finished
    with lab_scope(run.lab_id):
        Histogram.objects.filter(run=run).update(intervals=None)
    client = sign_in("viewer")
    assert client.get(run.get_absolute_url()).context["chart"]["heat"] == []
    answer = client.get(f"/api/v1/runs/{run.pk}/histograms/?over_time=1&format=json").json()["results"]
    assert [one["intervals"] for one in answer] == [None, None]
