"""All samples, flat: in pages, or streamed whole in constant memory."""

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.labs.isolation import lab_scope
from apps.runs.models import Point, Run, Sample
from apps.wiki import dialects, sample_rows
from tests.api.conftest import Script, content
from tests.benchmarks.figures import LONG
from tests.comparison.factories import MIB, measured, run, sample
from tests.conftest import Cast
from tests.sampling import for_each


def body(response: Any) -> str:
    return content(response).decode()


@pytest.fixture
def many(cast: Cast) -> list[Run]:
    with lab_scope(cast.lab.pk):
        return measured(cast.lab, "alpha", [float(n) for n in range(1, 8)], raid_level="5", disk_count=12)


def test_pages_lead_to_each_other_and_lose_nothing(reader: Script, many: list[Run]) -> None:
    seen, address = [], "samples/?limit=3"
    while address:
        found = reader.get(address).json()
        seen += [row["value"] for row in found["results"]]
        address = (found["next"] or "").removeprefix("http://testserver")
    assert seen == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("", 8),
        ("host=alpha", 7),
        ("host=alpha&host=beta", 8),
        ("raid_level=5", 7),
        ("disk_count=12", 7),
        ("metric=bandwidth", 7),
        ("operation=read", 1),
        ("file_size=268435456", 7),
        ("kernel=unknown", 8),
        ("study=none-such", 0),
    ],
)
def test_filters(reader: Script, cast: Cast, many: list[Run], query: str, count: int) -> None:
    with lab_scope(cast.lab.pk):
        from tests.comparison.factories import target

        sample(run(cast.lab, target(cast.lab, "beta")), 1.0, "read", "iops", file_size=MIB)
    assert len(reader.get(f"samples/?{query}").json()["results"]) == count
    assert len(body(reader.get(f"samples/?{query}&format=ndjson")).splitlines()) == count


def test_a_filter_nobody_has_is_an_error(reader: Script, many: list[Run]) -> None:
    response = reader.get("samples/?raid_levle=5")
    assert response.status_code == 400
    assert response.json()["field"] == "raid_levle"


@pytest.mark.parametrize("form", ["json", "ndjson", "csv"])
def test_a_sample_tells_how_its_run_ended(reader: Script, many: list[Run], form: str) -> None:
    with lab_scope(many[0].lab_id):
        Run.objects.filter(pk=many[0].pk).update(state="cancelled")

    def states(query: str) -> list[str]:
        found = body(reader.get(f"samples/?{query}&format={form}"))
        if form == "json":
            return [row["run_state"] for row in json.loads(found)["results"]]
        if form == "ndjson":
            return [json.loads(line)["run_state"] for line in found.splitlines()]
        return [row["run_state"] for row in csv.DictReader(io.StringIO(found))]

    assert states("") == ["cancelled", *["finished"] * 6]
    assert states("run_state=finished&host=alpha") == ["finished"] * 6
    assert states("run_state=finished&run_state=cancelled") == states("")
    assert states("run_state=failed") == []


def test_a_state_that_no_run_has_is_an_error(reader: Script, many: list[Run]) -> None:
    problem = reader.get("samples/?run_state=good").json()
    assert (problem["status"], problem["field"]) == (400, "run_state")


def test_csv_has_the_facts_as_columns(reader: Script, many: list[Run]) -> None:
    found = list(csv.DictReader(io.StringIO(body(reader.get("samples/?format=csv")))))
    assert len(found) == 7
    assert (found[0]["value"], found[0]["host"], found[0]["raid_level"], found[0]["disk_count"]) == (
        "1",
        "alpha",
        "5",
        "12",
    )
    assert json.loads(found[0]["other_facts"]) == {}


def test_csv_text_is_never_a_formula(reader: Script, cast: Cast) -> None:
    with lab_scope(cast.lab.pk):
        sample(run(cast.lab, facts={"raid_level": "=1+1"}), -5.0, printed="@SUM(A1)")
    (found,) = csv.DictReader(io.StringIO(body(reader.get("samples.csv"))))
    assert (found["raid_level"], found["printed"], found["value"]) == ("'=1+1", "'@SUM(A1)", "-5")


def test_each_line_of_csv_ends_with_the_facts_of_its_own_run(reader: Script, cast: Cast, many: list[Run]) -> None:
    with lab_scope(cast.lab.pk):
        odd = run(cast.lab, facts={"raid_level": "=1+1", "kernel": 'a "b",\nc', "mine": {"ü": [1]}})
        for one in (odd, many[0], odd):
            sample(one, 1e17, "read", "iops", printed="-x", file_size=Sample.objects.count())
        expected = dialects.csv.lines(
            [sample_rows.header(), *map(sample_rows.flat, sample_rows.all_rows(Sample.objects.all()))]
        )
    assert body(reader.get("samples.csv")) == expected
    assert [line["kernel"] for line in csv.DictReader(io.StringIO(expected, newline=""))][7:] == [
        'a "b",\nc',
        "",
        'a "b",\nc',
    ]


def test_a_run_that_goes_while_its_samples_are_sent_is_left_out(
    reader: Script, many: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = sample_rows._runs

    def without_the_first(ids: set[int]) -> dict[int, dict[str, Any]]:
        return found(ids - {many[0].pk})

    monkeypatch.setattr(sample_rows, "BATCH", 1)
    monkeypatch.setattr(sample_rows, "_runs", without_the_first)
    lines = body(reader.get("samples.ndjson")).splitlines()
    assert [json.loads(line)["value"] for line in lines] == [2.0, 3.0, 4.0, 5.0, 6.0, 7.0]


def test_ndjson_and_json_have_the_same_rows(reader: Script, many: list[Run]) -> None:
    lines = [json.loads(line) for line in body(reader.get("samples.ndjson")).splitlines()]
    assert lines == reader.get("samples/").json()["results"]


def test_a_stream_is_whole_over_many_batches(reader: Script, many: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample_rows, "BATCH", 2)
    values = [json.loads(line)["value"] for line in body(reader.get("samples.ndjson")).splitlines()]
    assert values == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]


def test_the_number_of_queries_of_a_page_does_not_grow(reader: Script, many: list[Run]) -> None:
    def queries(address: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            reader.get(address)
        return len(captured)

    reader.get("samples/")
    assert queries("samples/?limit=1") == queries("samples/?limit=7")
    assert queries("runs/?limit=1") == queries("runs/?limit=7") <= 8


def many_samples(run: Run, count: int) -> None:
    """By COPY, as imports do."""
    some = Sample.objects.filter(run=run).get()
    sizes = [Point(file_size=MIB, block_size=number) for number in range(1, 2 + count // 30_000)]
    points = [point.pk for point in Point.objects.bulk_create(sizes)]
    columns = "run_id, measure_id, point_id, section, value"
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY {Sample._meta.db_table} ({columns}) FROM STDIN") as copy,
    ):
        for number in range(count):
            copy.write_row((run.pk, some.measure_id, points[number // 30_000], number % 30_000, float(number)))


def exported(reader: Script, address: str) -> tuple[int, int]:
    """Lines of the export, and by how many bytes the process was larger than before, at most."""
    before, most, lines = resident(), 0, 0
    for piece in reader.get(address).streaming_content:
        lines += piece.count(b"\n")
        most = max(most, resident() - before)
    return lines, most


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux tells a process's size there")
@pytest.mark.parametrize(
    "few",
    [4_000, pytest.param(20_000, marks=pytest.mark.skipif(not LONG, reason="takes half a minute; bin/test --long"))],
)
def test_ten_times_the_rows_take_no_more_memory(reader: Script, cast: Cast, many: list[Run], few: int) -> None:
    """All rows at once would take some 3 kB each: 120 MB, 600 in the long form."""
    with lab_scope(cast.lab.pk):
        many_samples(many[0], few)
        Point.objects.filter(file_size=MIB).update(file_size=2 * MIB)  # of each point there is one
        many_samples(many[1], 10 * few)
    exported(reader, f"samples.csv?run={many[1].pk}")  # the first one of a process brings modules in
    short, low = exported(reader, f"samples.csv?run={many[0].pk}")
    long, high = exported(reader, f"samples.csv?run={many[1].pk}")
    assert (short, long) == (few + 2, 10 * few + 2)  # with the header and the run's own
    assert max(low, high) < 30e6


@for_each("query", ["host=%00", "run=1e3", "run=99999999999999999999", "%3Cb%3E=1", "cursor=nonsense"])
@for_each("path", ["samples/", "runs/"])
def test_odd_addresses_are_answered_and_never_break(reader: Script, many: list[Run], path: str, query: str) -> None:
    assert reader.get(f"{path}?{query}").status_code in (200, 400, 404)


@for_each("value", ["NaN", "Infinity", "1e999", "[[[", "{}", "null", "true", "9" * 400])
def test_odd_values_of_facts_find_nothing(reader: Script, many: list[Run], value: str) -> None:
    assert reader.get(f"samples/?raid_level={value}").json()["results"] == []
    assert reader.get(f"runs/?raid_level={value}").json()["results"] == []


@pytest.mark.parametrize(
    "path", ["runs/99999999999999999999999/", "runs/1/artefacts/a%00b", "hosts/99999999999999999999/topology/"]
)
def test_odd_names_are_not_there(reader: Script, path: str) -> None:
    assert reader.get(path).status_code == 404
