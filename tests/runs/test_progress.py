"""Progress out of fio's status documents, live and at the end."""

import json
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from apps.parsers.core.models import ParseError
from apps.runs.series import progress
from tests.pace import within

STONEWALL = (Path(__file__).parents[1] / "parsers" / "fixtures" / "fio_json" / "stonewall.json").read_bytes()
POINTS = list(progress.iterate_points(STONEWALL))


def document(at_s: float, *jobs: dict[str, Any], elapsed: int = 1) -> bytes:
    listed = [{"jobname": f"job{number}", "elapsed": elapsed, **job} for number, job in enumerate(jobs)]
    return json.dumps(
        {"fio version": "fio-3.33", "timestamp_ms": at_s * 1000, "global options": {"bs": "4k"}, "jobs": listed}
    ).encode()


def job(rw: str = "read", ios: int = 0, ran: int = 0, mean: float = 0, **options: str) -> dict[str, Any]:
    latency = {"mean": mean, "N": ios}
    direction = {"io_bytes": ios * 4096, "total_ios": ios, "runtime": ran, "lat_ns": latency, "clat_ns": latency}
    return {"job options": {"rw": rw, **options}, rw.removeprefix("rand"): direction}


def between(first: bytes | None, second: bytes) -> list[progress.Interval]:
    return progress.difference(progress.from_document(first) if first else None, progress.from_document(second))


def test_an_interval_is_the_difference_of_two_running_totals() -> None:
    (one,) = between(
        document(100, job(ios=100, ran=1000, mean=10)), document(101, job(ios=400, ran=2000, mean=25), elapsed=2)
    )
    assert one.values == {
        "bandwidth": 300 * 4096,
        "iops": 300,
        "latency_mean": pytest.approx(30),
        "clat_mean": pytest.approx(30),
    }


def unified(ios: int, ran: int, *beside: str) -> dict[str, Any]:
    direction = job(ios=ios, ran=ran)["read"]
    return {"job options": {"rw": "randrw"}, "mixed": direction, **dict.fromkeys(beside, direction)}


@pytest.mark.parametrize(("beside", "names"), [((), ["mixed"]), (("read", "write"), ["randread", "randwrite"])])
def test_the_sum_of_all_directions_is_followed_where_it_stands_alone(beside: tuple[str, ...], names: list[str]) -> None:
    found = between(document(100, unified(100, 1000, *beside)), document(101, unified(400, 2000, *beside), elapsed=2))
    assert [(one.operation, one.values["iops"]) for one in found] == [(name, 300) for name in names]


def test_the_first_document_counts_from_the_start() -> None:
    (one,) = between(None, document(100, job(ios=500, ran=500)))
    assert one.values["iops"] == 1000


def test_a_job_behind_a_stonewall_waits_and_a_finished_one_rests() -> None:
    (finished, begun) = between(
        document(100, job(ios=100, ran=1000), job("write")),
        document(101, job(ios=100, ran=1000), job("write", ios=50, ran=500)),
    )
    assert set(finished.values.values()) == {None}
    assert begun.values["iops"] == 100
    shape = progress.live(None, progress.from_document(document(100, job(ios=100, ran=1000), job("randwrite"))))
    assert shape["jobs"][1] == {
        "name": "job1", "operation": "randwrite", "bandwidth": None, "iops": None, "latency_mean": None, "done": 0.0,
    }  # fmt: skip


def test_a_stalled_job_has_zeros_and_no_latency() -> None:
    (one,) = between(document(100, job(ios=100, ran=1000)), document(101, job(ios=100, ran=2000)))
    assert one.values == {"bandwidth": 0, "iops": 0, "latency_mean": None, "clat_mean": None}


def test_totals_that_go_backwards_begin_again() -> None:
    (one,) = between(document(100, job(ios=1000, ran=5000)), document(101, job(ios=300, ran=1000)))
    assert one.values["iops"] == 300


def test_two_documents_of_one_moment_say_nothing() -> None:
    same = document(100, job(ios=100, ran=1000))
    assert set(between(same, same)[0].values.values()) == {None}


def test_first_bytes_after_a_stall_belong_to_the_interval_they_came_in() -> None:
    (one,) = between(document(100, job()), document(101, job(ios=100, ran=9000)))
    assert one.values["iops"] == 100


@pytest.mark.parametrize(
    ("options", "ios", "ran", "done"),
    [
        ({"runtime": "10", "time_based": "1"}, 1, 2500, 0.25),
        ({"size": "4m"}, 512, 1000, 0.5),
        ({"size": "4m", "numjobs": "2"}, 512, 1000, 0.25),
        ({"size": "4m", "runtime": "2"}, 256, 1000, 0.5),
        ({"runtime": "1"}, 1, 5000, 1.0),
    ],
)
def test_a_job_is_done_by_its_time_or_by_its_bytes(options: dict[str, str], ios: int, ran: int, done: float) -> None:
    point = progress.from_document(document(100, job(ios=ios, ran=ran, **options)))
    assert point.done == pytest.approx(done)


def test_the_whole_is_weighed_by_planned_time() -> None:
    finished, waiting = job(ios=1, ran=30_000, runtime="30"), job("write", runtime="10")
    point = progress.from_document(document(100, finished, waiting))
    assert point.done == pytest.approx(0.75)


def test_progress_of_a_real_run_only_grows_and_ends_at_one() -> None:
    done = [point.done for point in POINTS]
    assert done == sorted(done)
    assert done[-1] == pytest.approx(1, abs=0.01)
    assert done[0] == pytest.approx(0.25, abs=0.1)


def test_the_live_shape_is_what_the_page_reads() -> None:
    before, now = POINTS[1], POINTS[2]
    shape = progress.live(before, now, started_at=(POINTS[0].at_ms or 0) / 1000 - 1)
    assert set(shape) == {"t", "jobs", "bandwidth", "iops", "progress"}
    assert shape["t"] == pytest.approx(3, abs=0.1)
    assert [entry["operation"] for entry in shape["jobs"]] == ["randread", "write"]
    assert shape["iops"]["read"] == pytest.approx(400, rel=0.1)
    assert shape["iops"]["write"] == pytest.approx(300, rel=0.1)
    assert shape["jobs"][1]["bandwidth"] == shape["bandwidth"]["write"]
    assert json.loads(json.dumps(shape)) == shape


def test_a_host_whose_clock_was_set_still_has_a_time() -> None:
    assert progress.live(None, POINTS[0], started_at=12.0)["t"] == POINTS[0].elapsed_s


def test_a_chunk_gives_its_newest_two_whole_documents() -> None:
    assert progress.last_points(STONEWALL) == POINTS[-2:]
    half = STONEWALL[: len(STONEWALL) // 2]
    assert progress.latest_point(half) == POINTS[1]
    assert progress.last_points(b"{ half a docu", before=half) == POINTS[:2]
    assert progress.last_points(b"not json") == []


def test_a_point_survives_being_kept() -> None:
    assert progress.unpack_point(progress.pack_point(POINTS[2])) == POINTS[2]
    assert progress.unpack_point(b"something else") is None


def test_bytes_that_are_no_document_are_refused() -> None:
    with pytest.raises(ParseError, match="no whole status document"):
        progress.from_document(b'{"fio version": ')


def test_a_document_takes_less_than_a_millisecond() -> None:
    one = STONEWALL[STONEWALL.rindex(b"\n{\n") + 1 :]
    times = []
    for _ in range(50):
        before = time.perf_counter()
        progress.live(POINTS[2], progress.from_document(one))
        times.append(time.perf_counter() - before)
    assert within(sorted(times)[25], 0.001)


@pytest.mark.slow
@pytest.mark.fio
def test_a_growing_file_of_real_fio_shows_its_rate(tmp_path: Path) -> None:
    shape = ["--ioengine=null", "--size=1g", "--rate_iops=2000", "--runtime=2", "--time_based=1"]
    report = ["--output-format=json+", "--status-interval=1", f"--output={tmp_path / 'out'}", "--eta=never"]
    command = ["fio", "--name=a", *shape, *report]
    subprocess.run(command, check=True, timeout=60)
    found = list(progress.iterate_points((tmp_path / "out").read_bytes()))
    (moved,) = progress.difference(found[0], found[1])
    assert moved.values["iops"] == pytest.approx(2000, rel=0.1)


@pytest.mark.parametrize(
    ("ahead_s", "seconds"),
    [
        (59.0, 59.0 + 3.0),  # the host's clock tells the time to the millisecond
        (61.0, 3.0),  # more than a minute away from what fio says: the clock was set meanwhile
        (-3.5, 3.0),  # before the start: so was it here
        (-3.0, 0.0),
    ],
)
def test_the_hosts_clock_counts_where_fio_does_not_contradict_it(ahead_s: float, seconds: float) -> None:
    point = replace(POINTS[2], at_ms=1_000_000_000_000, elapsed_s=3.0)
    assert progress.live(None, point, started_at=1_000_000_000 - 3.0 - ahead_s)["t"] == pytest.approx(seconds)
