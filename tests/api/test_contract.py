"""The field names that scripts rely on, written out: a change of this file is a change of the contract."""

from typing import Any

import pytest

from apps.api.resources import comparisons, parts, runs, snapshots
from apps.api.resources.samples import SampleSerializer
from apps.api.resources.series import HistogramSerializer
from apps.inventory.models import Snapshot
from apps.labs.isolation import lab_scope
from apps.runs.models import Run
from tests.api.conftest import Script
from tests.comparison.factories import GIB, MIB, histogram, run, sample, target
from tests.conftest import Cast

RUN = (
    "id tool tool_version state study host target labels facts workload started_at finished_at samples_url "
    "artefacts_url caveats"
)
SAMPLE = (
    "id run operation metric value unit printed quality missing_reason file_size block_size threads iodepth repetition "
    "cpu source_line facts"
)
COMPARISON = "metric operation x series baseline cells confounders caveats permalink"
CELL = "x series n mean median stdev ci_low ci_high ratio ratio_low ratio_high verdict runs"


def has(found: dict[str, Any], names: str, shape: Any) -> None:
    assert set(names.split()) <= set(found)
    assert set(found) == set(shape().fields), "the description and the answer differ"


def test_a_run(reader: Script, own_runs: list[Run]) -> None:
    found = reader.get(f"runs/{own_runs[0].pk}/").json()
    has(found, RUN, runs.RunSerializer)
    assert found["state"] == "finished"
    assert found["facts"] == {"ram": GIB, "sync": "direct", "raid_level": "1"}
    assert found["workload"]["rw"] == found["workload"]["jobs"][0]["rw"] == "write"
    assert found["samples_url"] == f"http://testserver/api/v1/runs/{own_runs[0].pk}/samples/"
    assert found["study"] is None


def test_a_run_of_a_study(reader: Script, report: Any) -> None:
    found = reader.get("runs/?study=paper").json()["results"]
    assert {one["study"] for one in found} == {"paper"}
    assert {caveat["rule"] for one in found for caveat in one["caveats"]} == {"ram_cache", "unsynced_write"}
    caveat = next(one for one in found if one["caveats"][0]["rule"] == "ram_cache")["caveats"][0]
    assert {"rule", "title", "text", "arithmetic"} <= set(caveat)


def test_a_sample(reader: Script, own_runs: list[Run]) -> None:
    found = reader.get(
        reader.get(f"runs/{own_runs[0].pk}/").json()["samples_url"].removeprefix("http://testserver")
    ).json()
    (one,) = found["results"]
    has(one, SAMPLE, SampleSerializer)
    assert (one["value"], one["unit"], one["quality"]) == (9.0e7, "B/s", "exact")
    assert (one["file_size"], one["block_size"], one["threads"], one["iodepth"]) == (100 * MIB, MIB, 1, 1)
    assert one["facts"]["host"] == "alpha"
    assert one["facts"]["raid_level"] == "1"


def test_a_null_value_says_why_or_has_a_bound(cast: Cast, reader: Script) -> None:
    with lab_scope(cast.lab.pk):
        one = run(cast.lab)
        sample(one, None, missing_reason="not recoverable", file_size=1)
        sample(one, None, low=2.0, high=2.6, file_size=2)
        sample(one, None, file_size=3)
    rows = reader.get(f"runs/{one.pk}/samples/").json()["results"]
    assert [(row["missing_reason"], row["low"]) for row in rows] == [
        ("not recoverable", None),
        (None, 2.0),
        ("unknown", None),
    ]


def test_units_name_the_base(cast: Cast, reader: Script) -> None:
    with lab_scope(cast.lab.pk):
        one = run(cast.lab)
        for metric in ("bandwidth", "iops", "clat_p99", "io_bytes", "cpu"):
            sample(one, 1.0, metric=metric)
    rows = reader.get(f"runs/{one.pk}/samples/").json()["results"]
    assert {row["metric"]: row["unit"] for row in rows} == {
        "bandwidth": "B/s", "iops": "1/s", "clat_p99": "ns", "io_bytes": "B", "cpu": "fraction",
    }  # fmt: skip


@pytest.mark.usefixtures("report")
def test_a_comparison(reader: Script, own_runs: list[Run]) -> None:
    found = reader.get("compare/?metric=bandwidth&operation=write&x=file_size").json()
    has(found, COMPARISON, comparisons.ComparisonSerializer)
    assert found["series"] == ["alpha · scratch", "SATA | RAID 5 {{x}}"]
    assert found["baseline"] == "alpha · scratch"
    ours, theirs = found["cells"][0], found["cells"][1]
    has(ours, CELL, comparisons.CellSerializer)
    assert (ours["x"], ours["n"], ours["runs"]) == (100 * MIB, 3, [one.pk for one in own_runs])
    assert (theirs["n"], theirs["ci_low"], theirs["verdict"]) == (1, None, None)
    assert (
        theirs["withheld"] == "other facts differ"
    )  # more runs would not help: their workloads are not known to be alike
    assert theirs["advice"] == "Not tested: block size, direct I/O, fsync at the end and 10 more differ too"
    assert found["cells"][2]["missing"] == "not measured"
    assert {one["fact"]: one["text"] for one in found["confounders"]}["raid_level"] == "RAID level 1 / 5"
    assert {one["rule"] for one in found["caveats"]} == {"ram_cache", "unsynced_write", "single_value"}
    assert found["permalink"].startswith(
        "http://testserver/compare/?metric=bandwidth&operation=write&x=file_size&series=label"
    )


def test_hosts_targets_and_snapshots(cast: Cast, reader: Script) -> None:
    with lab_scope(cast.lab.pk):
        place = target(cast.lab)
        frozen = Snapshot.objects.create(lab=cast.lab, sha256="a" * 64, content={"host": {}}, facts={"ram": 1})
    (host,) = reader.get("hosts/").json()["results"]
    has(host, "id name cpu_model ram_bytes os kernel", parts.HostSerializer)
    assert reader.get(f"hosts/{host['id']}/").json() == host
    assert reader.get(f"hosts/{host['id']}/topology/").json()["filesystems"] == []
    (found,) = reader.get("targets/").json()["results"]
    has(found, "id host name kind path", parts.TargetSerializer)
    assert found["id"] == place.pk
    has(reader.get(f"snapshots/{frozen.pk}/").json(), "id sha256 facts content", snapshots.SnapshotSerializer)


def test_histograms_keep_their_bins(cast: Cast, reader: Script) -> None:
    with lab_scope(cast.lab.pk):
        one = run(cast.lab)
        histogram(one, [(100, 5), (200, 7)])
    (found,) = reader.get(f"runs/{one.pk}/histograms/").json()["results"]
    has(found, "operation kind section bins", HistogramSerializer)
    assert found["bins"] == [[100, 5], [200, 7]]


def test_series_come_as_overview_and_in_full(cast: Cast, reader: Script) -> None:
    from apps.runs.models import Series
    from apps.runs.series.arrays import overview, pack

    with lab_scope(cast.lab.pk):
        one = run(cast.lab)
        times, values = [0.0, 1.0, 2.0], [1.0, 2.0, 3.0]
        Series.objects.create(
            run=one, operation="write", metric="bandwidth", source="progress", count=3,
            packed=pack(times, values), overview=overview(times, values),
        )  # fmt: skip
    (short,) = reader.get(f"runs/{one.pk}/series/").json()["results"]
    (full,) = reader.get(f"runs/{one.pk}/series/?full=1").json()["results"]
    assert (short["unit"], short["count"], len(short["overview"])) == ("B/s", 3, 3)
    assert full["points"] == [[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]]
    (part,) = reader.get(f"runs/{one.pk}/series/?start=0.5&end=1.5").json()["results"]
    assert part["window"] == [[1.0, 2.0, 2.0, 2.0, 1]]
    wrong = reader.get(f"runs/{one.pk}/series/?start=early")
    assert (wrong.status_code, wrong.json()["field"], wrong.json()["found"]) == (400, "start", "early")


def test_times_are_utc(reader: Script, own_runs: list[Run]) -> None:
    assert reader.get(f"runs/{own_runs[0].pk}/").json()["created_at"].endswith("Z")
