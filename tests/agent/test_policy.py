"""Nothing but a valid workload is rendered, and nothing of a workload is rendered but integers and words from fixed lists."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.agent.host import job, workload
from tests.sampling import for_each
from worker.agent import policy, render
from worker.agent.conf import GIB, MIB, Conf, Mistake, create, load, parse


class Limits:
    quota_bytes = 8 * GIB
    free_bytes = 100 * GIB
    ram_bytes = 16 * GIB
    conf = Conf(
        {
            "directory": "/srv/spindle",
            "quota_bytes": str(8 * GIB),
            "max_runtime_s": "3600",
            "max_iodepth": "256",
            "max_numjobs": "8",
            "cpus": "",
            "fio": "",
        }
    )


LIMITS: Any = Limits()


def refusal(*jobs: dict[str, Any]) -> str:
    with pytest.raises(policy.Refused) as caught:
        policy.check(workload(*jobs), LIMITS)
    return str(caught.value)


def rendered(*jobs: dict[str, Any]) -> str:
    return render.job_file(policy.check(workload(*jobs), LIMITS), "")


GOLDEN = """\
[global]
clocksource=clock_gettime
randrepeat=1
invalidate=1
fallocate=native
nrfiles=1
thread=0
unlink=0
verify_state_save=0
disk_util=1
clat_percentiles=1
lat_percentiles=1
slat_percentiles=0
percentile_list=1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99:99.999

[job0]
rw=randrw
bs=4096
size=67108864
ioengine=libaio
iodepth=4
numjobs=2
direct=1
filename_format=data.0.$jobnum
runtime=2
rwmixread=0
randseed=7
ramp_time=1
fdatasync=4
time_based=1
end_fsync=1
group_reporting=1
stonewall=1
"""


def test_rendering_is_what_it_was() -> None:
    text = rendered(
        job(
            rw="randrw",
            ioengine="libaio",
            iodepth=4,
            numjobs=2,
            direct=True,
            file_size=64 * MIB,
            runtime=2,
            rwmixread=0,
            randseed=7,
            ramp_time=1,
            sync="fdatasync",
            fsync_every=4,
            time_based=True,
            end_fsync=True,
        )
    )
    assert text == GOLDEN


OUT_OF_BOUNDS = [
    ("rw", ["trim", "READ", "read ", "", None, 1, ["read"]]),
    ("block_size", [0, 511, 513, 32 * MIB, -4096, "4k", 4096.0, True, None]),
    ("file_size", [0, 1, 2**63, "1g", 1e9, None]),
    ("ioengine", ["exec", "external:/tmp/x.so", "/tmp/x.so", "net", "sg", "psync\n", None]),
    ("iodepth", [0, -1, 257, 4097, "1", True, None]),
    ("numjobs", [0, 9, 257, 1.0, False, None]),
    ("direct", [0, 1, "true", None]),
    ("runtime", [0, -1, "10", 3601, 10.0, True]),
    ("time_based", [1, None, "yes"]),
    ("ramp_time", [-1, 32 * 86400, None, "1"]),
    ("rwmixread", [-1, 101, "50", True]),
    ("sync", ["1", "syncfs", None, True]),
    ("fsync_every", [-1, 2000000, None, True]),
    ("end_fsync", [0, 1, None]),
    ("randseed", [0, -1, 2**31, "7"]),
    ("stonewall", [0, 1, None]),
    ("group_reporting", [1, None]),
    ("name", ["job1", "global", "../x", "a/b", "", None, 0, "job0\n[x]"]),
]


def test_every_key_has_its_cases() -> None:
    usual = {name for name, option in policy.OPTIONS.items() if not option.is_rare}
    assert {key for key, _ in OUT_OF_BOUNDS} == usual | {"name"}  # tests/runs/test_fio_options.py has the rare ones


@for_each("key, value", [(key, value) for key, values in OUT_OF_BOUNDS for value in values])
def test_value_out_of_bounds_is_refused_by_name(key: str, value: Any) -> None:
    given_workload = {"tool": "fio", "jobs": [{**job(), "name": "job0", key: value}]}
    with pytest.raises(policy.Refused, match=key):
        policy.check(given_workload, LIMITS)


@pytest.mark.parametrize("key", ["rw", "block_size", "file_size"])
def test_missing_key_is_named(key: str) -> None:
    short = job()
    del short[key]
    assert f"{key}: missing" in refusal(short)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"time_based": True}, "time_based"),
        ({"block_size": 8192, "file_size": 4096}, "block_size"),
        ({"rwmixread": 50}, "rwmixread"),
        ({"sync": "dsync", "fsync_every": 1}, "fsync_every"),
        ({"ioengine": "mmap", "direct": True}, "direct"),
        ({"ioengine": "psync", "file_size": 9 * GIB}, "quota"),
        ({"ioengine": "psync", "file_size": 5 * GIB, "numjobs": 2}, "quota"),
        ({"block_size": 16 * MIB, "file_size": GIB, "iodepth": 256, "numjobs": 2}, "memory"),
        (
            {
                "ioengine": "null",
                "rw": "write",
                "file_size": 64 * 1024 * GIB,
                "dedupe_percentage": 1,
                "dedupe_mode": "working_set",
                "dedupe_working_set_percentage": 99,
            },
            "memory",
        ),
        ({"runtime": 3600, "ramp_time": 1}, "runtime"),
    ],
)
def test_values_that_do_not_go_together_are_refused(changes: dict[str, Any], words: str) -> None:
    assert words in refusal(job(**changes))


def test_limits_hold_for_all_jobs_together() -> None:
    assert "quota" in refusal(*[job(ioengine="psync", file_size=3 * GIB)] * 3)
    assert "numjobs" in refusal(job(numjobs=5), job(numjobs=5, stonewall=False))
    assert rendered(job(numjobs=5), job(numjobs=5, stonewall=True))
    assert "runtime" in refusal(*[job(runtime=1000)] * 4)
    with pytest.raises(policy.Refused, match="jobs"):
        policy.check(workload(*[job()] * 17), LIMITS)


def test_free_space_counts() -> None:
    tight: Any = Limits()
    tight.free_bytes = GIB
    with pytest.raises(policy.Refused, match="do not fit"):
        policy.check(workload(job(ioengine="psync", file_size=2 * GIB)), tight)


ATTACKS = [
    "$ncpus*1",
    "${HOME}",
    "4k\ninclude /etc/passwd",
    "include /etc/passwd",
    "'/etc/shadow'",
    "a:b",
    "a\\:b",
    "-",
    "../x",
    "/dev/sda",
    "4k;exec_prerun=id",
    "psync\nexec_prerun=touch /tmp/x",
    "`id`",
    "$(id)",
    "\x00",
    "é",
    "x" * 5000,
    "external:/tmp/a.so",
    "job0]\n[x",
]
DANGEROUS = [
    "exec_prerun",
    "exec_postrun",
    "exec_prer",
    "filename",
    "directory",
    "opendir",
    "filename_format",
    "write_iolog",
    "read_iolog",
    "merge_blktrace_file",
    "profile",
    "uid",
    "gid",
    "cgroup",
    "ioscheduler",
    "allow_mounted_write",
    "allow_file_create",
    "unlink",
    "mem",
    "iomem",
    "verify_pattern",
    "buffer_pattern",
    "verify_dump",
    "verify_state_load",
    "write_bw_log",
    "description",
    "include",
    "thread",
    "clocksource",
    "cpus_allowed",
    "fill_device",
    "zonemode",
    "program",
    "hostname",
    "http_host",
    "nfs_url",
    "conf",
    " rw",
    "RW",
]


@for_each("attack", ATTACKS)
def test_no_attack_is_accepted_as_any_value_or_key(attack: str) -> None:
    accepted, said = 0, []
    for key in [*policy.OPTIONS, "name", *DANGEROUS, attack]:
        for value in (attack, [attack], {attack: attack}):
            try:
                policy.check({"tool": "fio", "jobs": [{**job(), key: value}]}, LIMITS)
                accepted += 1
            except policy.Refused as no:
                said.append(str(no))
    for whole in (
        {"tool": attack, "jobs": [job()]},
        {"tool": "fio", "jobs": attack},
        {"tool": "fio", "jobs": [attack]},
        attack,
        {"tool": "fio", "jobs": [job()], attack: 1},
        {"tool": "fio", "jobs": [job()], "profile": attack},
    ):
        with pytest.raises(policy.Refused):
            policy.check(whole, LIMITS)
    assert accepted == 0
    assert all(sentence.isprintable() for sentence in said)


def test_every_option_of_this_fio_is_rendered_by_us_or_refused() -> None:
    fio = Conf.fio_path(LIMITS.conf)
    if fio is None:
        pytest.skip("no fio here")
    lines = subprocess.run([fio, "--cmdhelp=all"], capture_output=True, text=True, check=True).stdout.splitlines()
    names = {line.split(":")[0].strip() for line in lines if ":" in line}
    assert len(names) > 150
    for name in sorted(names - set(policy.OPTIONS) - {"name"}):
        assert name in refusal({**job(), name: 1})
    usual = {policy.OPTIONS[name].fio_name for name in policy.OPTIONS if not policy.OPTIONS[name].is_rare}
    assert names >= usual | set(render.FROM_AGENT)  # of the rare ones each version of fio has some


VALUES: dict[str, st.SearchStrategy[Any]] = {
    "rw": st.sampled_from(["read", "write", "randread", "randwrite", "rw", "randrw"]),
    "block_size": st.integers(1, 64).map(lambda n: n * 512),
    "file_size": st.integers(4096, 2**34),
    "ioengine": st.sampled_from(["psync", "libaio", "io_uring", "null", "mmap"]),
    "iodepth": st.integers(1, 300),
    "numjobs": st.integers(1, 10),
    "direct": st.booleans(),
    "runtime": st.none() | st.integers(1, 4000),
    "time_based": st.booleans(),
    "ramp_time": st.integers(0, 100),
    "rwmixread": st.none() | st.integers(0, 100),
    "sync": st.sampled_from(["none", "fsync", "fdatasync", "dsync", "sync"]),
    "fsync_every": st.integers(0, 3),
    "end_fsync": st.booleans(),
    "randseed": st.none() | st.integers(1, 99),
    "stonewall": st.booleans(),
    "group_reporting": st.booleans(),
}
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(ATTACKS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
SOUND_LINE = re.compile(r"\[(global|job\d+)\]|[a-z_]+=(-?\d+|[a-z_0-9]+|data\.\d+\.\$jobnum|[0-9.:]+)|")


def says_yes(given_workload: Any) -> bool:
    """Whatever is accepted, is rendered to sound lines of known options only."""
    try:
        jobs = policy.check(given_workload, LIMITS)
    except policy.Refused:
        return False
    for line in render.job_file(jobs, "").splitlines():
        assert SOUND_LINE.fullmatch(line), line
        assert not line or line.startswith("[") or line.partition("=")[0] in render.OPTIONS
    assert all(re.fullmatch(r"data\.\d+\.\d+", name) for name, _ in render.files_to_fill(jobs))
    argv = render.command_line("/usr/bin/fio", "/spool/1", jobs, 1)
    assert ("--readonly" in argv) == all(each["rw"] in ("read", "randread") for each in jobs)
    return True


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.lists(st.fixed_dictionaries(VALUES), min_size=1, max_size=3))
def test_near_valid_workloads_are_rendered_soundly_or_refused(jobs: list[dict[str, Any]]) -> None:
    says_yes({"tool": "fio", "jobs": jobs})


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([*policy.OPTIONS, "name", "jobs", "tool"]), JUNK)
def test_junk_in_any_place_never_gets_through(key: str, junk: Any) -> None:
    says_yes({"tool": "fio", "jobs": [{**job(), key: junk}]})
    says_yes({"tool": "fio", "jobs": [job()], key: junk})
    says_yes(junk)


def test_configuration_that_others_can_write_stops_the_agent(tmp_path: Path) -> None:
    create(str(tmp_path / "state"))
    conf = tmp_path / "state" / "agent.conf"
    assert load(str(tmp_path / "state")).max_runtime_s == 86400
    for guarded in (conf, conf.parent):
        before = guarded.stat().st_mode
        for bit in (0o020, 0o002):
            guarded.chmod(before | bit)
            with pytest.raises(Mistake, match="can be written by others"):
                load(str(conf.parent))
        guarded.chmod(before)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("quota_bytes = 8G", "whole number"),
        ("quota_bytes = 0", "above 0"),
        ("directory = files", "absolute"),
        ("directory = /", "below /"),
        ("device = /dev/sda", "is not one of"),
        ("cpus = all", "such as 2-5,8"),
        ("fio = fio", "absolute"),
        ("gibberish", "is not one of"),
    ],
)
def test_mistakes_in_the_configuration_are_named(tmp_path: Path, line: str, words: str) -> None:
    create(str(tmp_path / "state"))
    text = (tmp_path / "state" / "agent.conf").read_text()
    key = line.partition(" =")[0]
    kept = [each for each in text.splitlines() if each.partition(" =")[0] != key]
    with pytest.raises(Mistake, match=re.escape(words)):
        Conf(parse("\n".join([*kept, line])))
