"""Pictures in the REST interface: by Accept or ?format=, with tags, within limits, and only of what one may read."""

import csv
import io
from xml.etree import ElementTree

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.parsers.core.models import ParsedSeries
from apps.runs.models import Run
from apps.runs.samples import save_series
from tests.api.conftest import Script
from tests.comparison.factories import histogram, measured
from tests.conftest import Cast
from tests.sampling import for_each

COMPARE = "compare/?host=alpha"
PNG = b"\x89PNG\r\n"


@pytest.fixture
def detailed(cast: Cast, own_runs: list[Run]) -> Run:
    """One run with latency bins and values over time."""
    with lab_scope(cast.lab.pk):
        histogram(own_runs[0], [(1000, 90), (10_000, 10)])
        seconds = tuple(float(n) for n in range(6000))
        values = tuple(1e6 + n for n in seconds)
        save_series(own_runs[0], [ParsedSeries("write", "bandwidth", 0, "fio_log", seconds, values)])
    return own_runs[0]


@pytest.mark.parametrize("headers", [{"Accept": "image/svg+xml"}, {"Accept": "image/png;q=0.4, image/*;q=0.5"}])
def test_a_comparison_is_a_picture_for_who_accepts_one(
    reader: Script, own_runs: list[Run], headers: dict[str, str]
) -> None:
    response = reader.get(COMPARE, **headers)
    assert response.headers["Content-Type"] == "image/svg+xml"
    assert ElementTree.fromstring(response.content).tag.endswith("svg")


def test_the_address_decides_before_accept(reader: Script, own_runs: list[Run]) -> None:
    response = reader.get(f"{COMPARE}&format=png&width=500&height=300&theme=dark", Accept="text/csv")
    assert (response.headers["Content-Type"], response.content[:6]) == ("image/png", PNG)
    assert reader.get("compare.svg?host=alpha").headers["Content-Type"] == "image/svg+xml"


@pytest.mark.slow
def test_a_bot_that_asks_again_gets_304(reader: Script, own_runs: list[Run], cast: Cast) -> None:
    first = reader.get(f"{COMPARE}&format=svg")
    tag = first.headers["ETag"]
    assert not tag.startswith("W/")  # the same chart is the same file
    again = reader.get(f"{COMPARE}&format=svg", **{"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    for other in ("&format=png", "&format=svg&theme=dark", "&format=svg&width=800", "&format=svg&base=1024"):
        assert reader.get(f"{COMPARE}{other}", **{"If-None-Match": tag}).status_code == 200
    with lab_scope(cast.lab.pk):
        measured(cast.lab, "alpha", [1.0])
    assert reader.get(f"{COMPARE}&format=svg", **{"If-None-Match": tag}).status_code == 200


def test_a_picture_does_nothing_when_it_is_opened(reader: Script, own_runs: list[Run]) -> None:
    headers = reader.get(f"{COMPARE}&format=svg").headers
    assert headers["Content-Security-Policy"] == "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "/compare/?metric=bandwidth" in headers["Link"]


@for_each(
    "more, field, expected",
    [
        ("width=12", "width", "a whole number of pixels, 320 to 2400"),
        ("height=many", "height", "a whole number of pixels, 240 to 1600"),
        ("theme=neon", "theme", "one of: light, dark"),
        ("chart=pie", "chart", "one of: line, bar, paired, box, heat, matrix"),
        ("axis=curved", "axis", "one of: even, linear, log"),
    ],
)
def test_a_look_that_there_is_not_says_what_there_is(
    reader: Script, own_runs: list[Run], more: str, field: str, expected: str
) -> None:
    response = reader.get(f"{COMPARE}&format=svg&{more}")
    problem = response.json()
    assert (response.status_code, problem["field"], problem["expected"]) == (400, field, expected)


def test_a_picture_asked_for_by_name_is_that_or_an_error(reader: Script, own_runs: list[Run]) -> None:
    response = reader.get(f"{COMPARE}&format=svg&chart=heat")
    assert response.status_code == 400
    assert "A heat map needs sizes" in response.json()["detail"]
    assert reader.get(f"{COMPARE}&format=json&chart=heat").status_code == 200  # the data are the same, however drawn


@pytest.mark.slow
def test_a_runs_bins_and_values_over_time_are_pictures(reader: Script, detailed: Run) -> None:
    titles = {}
    for address in ("histograms/?chart=histogram", "histograms/?chart=curve", "series/?metric=bandwidth"):
        svg = reader.get(f"runs/{detailed.pk}/{address}&format=svg").content
        titles[address] = ElementTree.fromstring(svg).findtext("{http://www.w3.org/2000/svg}title")
    assert list(titles.values()) == [
        f"Latency of run {detailed.pk}: share of completions",
        f"Latency of run {detailed.pk} by percentile",
        f"Bandwidth of run {detailed.pk} over time",
    ]
    part = reader.get(f"runs/{detailed.pk}/series/?start=10&end=20&format=svg").content
    assert "from 10.0\u00a0s to 20.0\u00a0s" in part.decode()
    assert reader.get(f"runs/{detailed.pk}/histograms/", Accept="image/png").content[:6] == PNG


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("histograms/?chart=pie", 400), ("series/?metric=iops", 400), ("series/?metric=nonsense", 400),
        ("series/?start=soon", 400),
    ],
)  # fmt: skip
def test_what_a_run_has_not_measured_is_not_drawn(reader: Script, detailed: Run, address: str, status: int) -> None:
    assert reader.get(f"runs/{detailed.pk}/{address}&format=svg").status_code == status


def test_a_run_without_bins_or_values_over_time_has_nothing_to_draw(reader: Script, own_runs: list[Run]) -> None:
    for address in ("histograms", "series"):
        response = reader.get(f"runs/{own_runs[0].pk}/{address}/?format=svg")
        assert response.status_code == 404
        assert "there is nothing to draw" in response.json()["detail"]


def test_bins_and_points_come_as_csv(reader: Script, detailed: Run) -> None:
    bins = b"".join(reader.get(f"runs/{detailed.pk}/histograms/?format=csv").streaming_content).decode()
    assert list(csv.reader(io.StringIO(bins))) == [
        ["operation", "kind", "section", "ns", "count"],
        ["randread", "clat", "0", "1000", "90"],
        ["randread", "clat", "0", "10000", "10"],
    ]
    every = b"".join(reader.get(f"runs/{detailed.pk}/series/?format=csv&full=1").streaming_content).decode()
    rows = list(csv.DictReader(io.StringIO(every)))
    assert len(rows) == 6000
    assert (rows[5999]["seconds"], rows[5999]["value"], rows[5999]["unit"]) == ("5999", "1005999", "B/s")
    overview = b"".join(reader.get(f"runs/{detailed.pk}/series/?format=csv").streaming_content).decode()
    assert len(overview.splitlines()) == 1001


def test_another_labs_run_has_no_picture(reader: Script, secret_run: Run) -> None:
    for address in ("histograms/?format=svg", "series/?format=png"):
        assert reader.get(f"runs/{secret_run.pk}/{address}").status_code == 404
    hidden = reader.get("compare/?host=hidden&format=svg").content
    assert b"0 places" in hidden
    assert b"hidden" not in hidden


def test_a_published_report_is_drawn_for_every_lab(reader: Script, report: Lab) -> None:
    svg = reader.get("compare/?study=paper&format=svg").content.decode()
    assert "SATA | RAID 5 {{x}} at 100" in svg


def test_the_number_of_queries_of_a_picture_does_not_grow(reader: Script, own_runs: list[Run], cast: Cast) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert reader.get("compare/?format=png").status_code == 200
        return len(captured)

    queries()
    few = queries()
    with lab_scope(cast.lab.pk):
        for number in range(5):
            measured(cast.lab, f"host-{number}", [1e8, 2e8])
    assert queries() == few <= 9
