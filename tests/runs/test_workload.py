"""The typed workload: what may be asked, what is refused and by which words, and how fio would spell it."""

import json
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.runs import workload
from apps.runs.fio_options import ENGINES
from apps.runs.workload import GIB, KIB, MIB, WorkloadError, checked, job_file, planned_seconds, status_interval
from tests.sampling import for_each

PLAIN = {"rw": "randread", "block_size": 4096, "file_size": 1048576}


def _one(**changes: object) -> dict[str, object]:
    return {"tool": "fio", "jobs": [{**PLAIN, **changes}]}


def test_defaults_are_filled_in() -> None:
    [job] = checked(_one())["jobs"]
    assert set(job) == {"name", *(option.name for option in workload.OPTIONS if not option.is_rare)}
    assert (job["name"], job["iodepth"], job["direct"]) == ("job0", 1, True)


def test_a_checked_workload_is_its_own_check() -> None:
    assert checked(checked(_one())) == checked(_one())


def test_a_persons_job_name_never_travels() -> None:
    assert checked(_one(name="../../etc/passwd"))["jobs"][0]["name"] == "job0"


@for_each(
    "spec, field",
    [
        ([], "workload"),
        ({"jobs": []}, "jobs"),
        ({"jobs": [PLAIN] * 17}, "jobs"),
        ({"jobs": ["x"]}, "jobs[0]"),
        ({"jobs": [PLAIN], "exec_prerun": "id"}, "exec_prerun"),
        ({"jobs": [PLAIN], "tool": "dd"}, "tool"),
        (_one(filename="/dev/sda"), "jobs[0].filename"),
        (_one(exec_prerun="id"), "jobs[0].exec_prerun"),
        (_one(rw="trim"), "jobs[0].rw"),
        (_one(rw=None), "jobs[0].rw"),
        (_one(block_size="4k"), "jobs[0].block_size"),
        (_one(block_size=True), "jobs[0].block_size"),
        (_one(block_size=1000), "jobs[0].block_size"),
        (_one(block_size=32 * MIB), "jobs[0].block_size"),
        (_one(file_size=1), "jobs[0].file_size"),
        (_one(block_size=2 * MIB), "jobs[0].block_size"),
        (_one(iodepth=8), "jobs[0].iodepth"),
        (_one(iodepth=5000, ioengine="libaio"), "jobs[0].iodepth"),
        (_one(numjobs=0), "jobs[0].numjobs"),
        (_one(ioengine="/tmp/x.so"), "jobs[0].ioengine"),
        (_one(ioengine="mmap"), "jobs[0].direct"),
        (_one(direct=1), "jobs[0].direct"),
        (_one(time_based=True), "jobs[0].time_based"),
        (_one(runtime=31 * 86400 + 1), "jobs[0].runtime"),
        (_one(bs=4096), "jobs[0].bs"),
        (_one(verify="md5"), "jobs[0].verify"),
        (_one(nrfiles=3), "jobs[0].file_size"),
        (_one(hipri=True), "jobs[0].hipri"),
        (_one(log_avg_msec=99), "jobs[0].log_avg_msec"),
        (_one(thinktime_spin=5), "jobs[0].thinktime_spin"),
        ({"jobs": [{**PLAIN, "numjobs": 200, "nrfiles": 256}] * 2}, "jobs[0].nrfiles"),
        (_one(rwmixread=50), "jobs[0].rwmixread"),
        (_one(fsync_every=8), "jobs[0].fsync_every"),
        ({"jobs": [{"rw": "read", "block_size": 512}]}, "jobs[0].file_size"),
    ],
)
def test_what_may_not_be_asked_is_refused_by_its_field(spec: object, field: str) -> None:
    with pytest.raises(WorkloadError) as refused:
        checked(spec)
    assert refused.value.field == field
    assert (
        "expected" in str(refused.value)
        or "such option; there are" in str(refused.value)
        or "cannot have" in str(refused.value)
    )


def test_a_rare_option_at_its_default_is_the_same_workload() -> None:
    given = _one(scramble_buffers=True, nrfiles=1, rate=None, fallocate="native", offset=0)
    assert checked(given) == checked(_one())
    assert workload.digest(checked(given)) == workload.digest(checked(_one()))


def test_rare_options_are_written_as_fio_reads_them() -> None:
    spec = checked(
        workload.read_values(
            _one(
                rw="randrw", rw_step=8, write_block_size="64k", rate="10m,5m", random_distribution="zipf:1.2",
                nrfiles=4, cpus_allowed="0-2,7", sync_file_range="write,wait_before:8",
                ignore_error="EIO:ENOSPC", latency_target="10ms", scramble_buffers=False,
            )
        )
    )  # fmt: skip
    assert spec["jobs"][0] | {"latency_target": 10_000, "cpus_allowed": [0, 1, 2, 7]} == spec["jobs"][0]
    assert set(job_file(spec).split("\n")) >= {
        "rw=randrw:8", "bs=4k,64k", "rate=10m,5m", "random_distribution=zipf:1.2", "nrfiles=4",
        "cpus_allowed=0,1,2,7", "sync_file_range=wait_before,write:8", "ignore_error=5:28", "latency_target=10000",
        "scramble_buffers=0",
    }  # fmt: skip


def test_a_slow_rate_gives_a_run_the_time_that_it_takes() -> None:
    plain, slow = (workload.limit_seconds(checked(_one(file_size=GIB, **more))) for more in ({}, {"rate": [MIB]}))
    assert workload.expected_seconds(checked(_one(file_size=GIB, rate_iops=[10]))) >= GIB / 4096 / 10
    assert slow >= 3 * 1024
    assert plain > 0


def test_files_of_several_names_and_offsets_are_counted() -> None:
    def size(**more: object) -> int:
        return workload.files_bytes(checked(_one(file_size=64 * MIB, **more)))

    assert size(nrfiles=8) == 64 * MIB
    assert size(nrfiles=8, size_per_file=16 * MIB) == 128 * MIB
    assert size(numjobs=2, offset=MIB, offset_increment=MIB) == (65 + 66) * MIB
    assert size(rw="write", file_append=True) == 128 * MIB
    assert size(ioengine="null") == 0


@given(
    st.dictionaries(
        st.sampled_from([*workload.BY_NAME, "filename", "name"]),
        st.none() | st.integers() | st.text(max_size=9) | st.booleans(),
    )
)
def test_junk_is_refused_or_becomes_only_numbers_and_listed_words(job: dict[str, object]) -> None:
    try:
        spec = checked({"jobs": [{**PLAIN, **job}]})
    except WorkloadError:
        return
    words = {*workload.RW, *ENGINES, *workload.SYNC, "job0"}
    for name, value in spec["jobs"][0].items():
        rare = name in workload.BY_NAME and workload.BY_NAME[name].is_rare
        assert (
            value is None
            or isinstance(value, int)
            or value in words
            or (rare and workload.BY_NAME[name].kind.accepts(value))
        )


def test_fios_spelling() -> None:
    spec = checked(
        _one(
            rw="randrw",
            rwmixread=0,
            file_size=2 * GIB,
            block_size=64 * KIB,
            runtime=5,
            time_based=True,
            sync="fsync",
            fsync_every=8,
        )
    )
    assert job_file(spec).split("\n") == [
        "[job0]", "rw=randrw", "bs=64k", "size=2g", "ioengine=psync", "iodepth=1", "numjobs=1", "direct=1", "runtime=5", "rwmixread=0",
        "time_based=1", "group_reporting=1", "fsync=8", "stonewall", "",
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.fio
@pytest.mark.skipif(not shutil.which("fio"), reason="fio is not installed")
@pytest.mark.parametrize("sync", workload.SYNC)
def test_fio_understands_the_spelling(sync: str, tmp_path) -> None:
    spec = checked(_one(rw="randwrite", ioengine="null", sync=sync, direct=False, randseed=7))
    (tmp_path / "job.fio").write_text(job_file(spec))
    argv = [str(shutil.which("fio")), "--output-format=json", "--warnings-fatal", "job.fio"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    options = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]["job options"]
    assert (options["bs"], options["size"], options["randseed"]) == ("4k", "1m", "7")


def test_planned_seconds_and_progress_interval() -> None:
    two = checked({"jobs": [{**PLAIN, "runtime": 3000, "ramp_time": 5}, {**PLAIN, "runtime": 600}]})
    assert planned_seconds(two) == 3605
    assert status_interval(two) == 6
    assert planned_seconds(checked(_one())) is None
    assert status_interval(checked(_one(runtime=10))) == 1
