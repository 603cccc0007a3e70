"""fio's job files as workloads: what is taken over, and that nothing else is."""

import time
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.parsers.core.models import ParsedWorkload, ParseError
from apps.parsers.core.registry import RECOGNISED, recognise
from apps.parsers.core.source_text import SourceText
from apps.parsers.fio import job_file
from apps.runs.fio_options import BY_NAME
from apps.runs.workload import WorkloadError, checked
from tests.pace import within
from tests.sampling import for_each


def only(text: str) -> ParsedWorkload:
    (workload,) = job_file.parse(SourceText(text, "dir/nightly.fio")).workloads
    return workload


def refusals(text: str) -> dict[int | None, str]:
    return {one.line: one.found for one in only(text).refused}


def test_a_job_file_is_a_workload_that_may_be_run() -> None:
    text = "; nightly\n[global]\nioengine=libaio\nsize=1g\ndirect=1\n\n[a b]\nrw=randread\nbs=8k\niodepth=16\nruntime=1m\ntime_based\n"
    workload = only(text + "[w]\nstonewall\nreadwrite=rw\nrwmixwrite=30\nfdatasync=8\nnumjobs=4\ngroup_reporting=1\n")
    assert (workload.name, workload.line, workload.last_line, workload.refused) == ("nightly", 2, 19, ())
    first, second = checked({"jobs": list(workload.jobs)})["jobs"]
    assert workload.jobs[0]["name"] == "a b"
    assert {key: first[key] for key in ("rw", "block_size", "file_size", "iodepth", "ioengine", "direct", "runtime")} == {
        "rw": "randread", "block_size": 8192, "file_size": 2**30, "iodepth": 16, "ioengine": "libaio", "direct": True,
        "runtime": 60,
    }  # fmt: skip
    assert (first["time_based"], first["stonewall"], second["stonewall"]) == (True, False, True)
    assert {key: second[key] for key in ("rw", "block_size", "rwmixread", "sync", "fsync_every", "numjobs")} == {
        "rw": "rw", "block_size": 4096, "rwmixread": 70, "sync": "fdatasync", "fsync_every": 8, "numjobs": 4,
    }  # fmt: skip


def test_what_a_file_does_not_say_has_fios_default() -> None:
    (job,) = checked({"jobs": list(only("[a]\nsize=1m\nrw=write\n").jobs)})["jobs"]
    told = {
        key: job[key] for key in ("direct", "stonewall", "group_reporting", "ioengine", "iodepth", "numjobs", "sync")
    }
    assert told == {
        "direct": False, "stonewall": False, "group_reporting": False, "ioengine": "psync", "iodepth": 1, "numjobs": 1,
        "sync": "none",
    }  # fmt: skip


def test_a_later_global_section_changes_only_what_follows_it() -> None:
    workload = only("[global]\nbs=4k\nsize=1m\n[a]\n[globals]\nbs=8k\n[b]\n[c]\nbs=1k\n")
    assert [job["block_size"] for job in workload.jobs] == [4096, 8192, 1024]


@for_each("line", [
        "exec_prerun=rm -rf /", "include other.fio", "include", "filename=/dev/sda", "directory=/tmp", "read_iolog=x",
        "uid=0", "verify=md6", "rate=-1", "trim_percentage=5", "unknown_option=1", "verify_pattern='/etc/passwd'", "empty=",
    ])  # fmt: skip
def test_an_option_that_is_not_run_is_refused_with_its_line(line: str) -> None:
    text = f"[a]\nrw=read\n{line}\nsize=1m\n"
    assert set(refusals(text)) == {3}
    assert set(only(text).jobs[0]) <= {*BY_NAME, "name"}


@for_each("line", [
        "rw=randtrim", "rw=randread:x", "bs=4k,8k,8k,8k", "bs=${SIZE}", "bs=$pagesize*2", "ioengine=http", "size=20%", "runtime=1500ms",
        "bsrange=8k-4k", "blocksize_range=4k-4k,8k-8k,1k-1k", "bssplit=4k/50:8k/40", "bsrange=4k", "bsrange=4k-4k-4k-4k-8k",
        "bs= 4k", "bs = 4 k", "runtime = 5m", "size = 1g", "iodepth= 1k",
        "iodepth=deep", "sync=maybe", "direct=2", "numjobs", "rwmixread=x", "fsync=1-2", "size=" + "9" * 5000,
    ])  # fmt: skip
def test_a_value_that_is_not_taken_over_cannot_be_run_as_something_else(line: str) -> None:
    workload = only(f"[a]\nrw=read\nsize=1m\n{line}\n")
    assert [one.line for one in workload.refused] == [4]
    with pytest.raises(WorkloadError):
        checked({"jobs": list(workload.jobs)})


def test_blanks_around_the_equals_sign_do_no_harm_where_there_is_no_unit() -> None:
    workload = only("[a]\nrw = randread\nsize=1m\nioengine = libaio\niodepth = 16\nruntime = 60\nbs = 8192\n")
    (job,) = checked({"jobs": list(workload.jobs)})["jobs"]
    assert workload.refused == ()
    assert [job[key] for key in ("rw", "ioengine", "iodepth", "runtime", "block_size")] == [
        "randread",
        "libaio",
        16,
        60,
        8192,
    ]


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("line", "key", "value"),
    [("bsrange=4k-8k", "bsrange", [[4096, 8192]]), ("bssplit=4k/50:8k/50", "bssplit", [[[4096, 50], [8192, 50]]])],
)
def test_a_range_or_a_split_wins_over_a_block_size(line: str, key: str, value: object, order: int) -> None:
    shared, own = (line, "bs=16k,2k")[::order]
    workload = only(f"[global]\n{shared}\n[a]\nrw=read\nsize=1m\n{own}\n")
    (job,) = checked({"jobs": list(workload.jobs)})["jobs"]
    assert (job["block_size"], job[key], "write_block_size" in job, workload.refused) == (4096, value, False, ())


RARE = """
[global]
ioengine=io_uring
hipri
size=1g
nr_files=8
rw=randrw:4
bs=4k,64k
rate=10m,5m,
rate_process=poisson
thinktime=2ms
buffer_pattern=0xDEADBEEF
ss=iops_slope:0.3%
ss_dur=10m
random_distribution=zoned:60/10:40/90
cpus_allowed=0-3,6
numjobs=4
[a]
thread
exitall
ignore_error=EIO:ENOSPC
mem=mmap
"""


def test_rare_options_of_a_file_are_taken_over_by_the_same_table() -> None:
    workload = only(RARE)
    (job,) = checked({"jobs": list(workload.jobs)})["jobs"]
    assert workload.refused == ()
    assert job | {
        "hipri": True, "nrfiles": 8, "rw": "randrw", "rw_step": 4, "block_size": 4096, "write_block_size": 65536,
        "rate": [10 << 20, 5 << 20], "rate_process": "poisson", "thinktime": 2000, "buffer_pattern": "0xdeadbeef",
        "steadystate": ["iops_slope", 0.3, "%"], "steadystate_duration": 600, "thread": True,
        "random_distribution": ["zoned", [60, 10], [40, 90]], "cpus_allowed": [0, 1, 2, 3, 6], "exitall": True,
        "ignore_error": [[5, 28]], "mem": "mmap",
    } == job  # fmt: skip
    assert workload.job_lines[0] | {"": 18, "thread": 19, "nrfiles": 6, "file_size": 5} == workload.job_lines[0]


@pytest.mark.parametrize("name", ["../esc/x", "a/b", "a;id", "$(id)", "a`id`", "a|b", "..", "a\\b", 'a"b'])
def test_a_name_that_could_be_a_path_or_a_command_is_refused(name: str) -> None:
    assert refusals(f"[{name}]\nrw=read\nsize=1m\n")[1] == f"[{name}]"


@pytest.mark.parametrize("line", ["bsrange=8k-8k", "blocksize_range=8k-8192,8k-8k", "bsrange=8k-8k,8k-8k,8k-8k"])
def test_a_range_of_one_size_is_a_block_size(line: str) -> None:
    workload = only(f"[a]\nrw=read\nsize=1m\n{line}\nbs=4k\n")
    assert (workload.jobs[0]["block_size"], workload.refused) == (8192, ())


@pytest.mark.parametrize(
    ("above", "own", "key", "value"),
    [
        ("direct=1\nbuffered=0", "direct=0", "direct", False),
        ("direct=0\nbuffered=0\ndirect=0", "", "direct", False),
        ("rwmixread=70\nrwmixwrite=30", "rwmixread=50", "rwmixread", 50),
        ("fdatasync=8\nfsync=0", "sync=0", "sync", "fdatasync"),
        ("sync=1", "fsync=0", "sync", "sync"),
    ],
)  # fmt: skip
def test_of_options_that_mean_the_same_the_last_one_is_heeded(above: str, own: str, key: str, value: object) -> None:
    (job,) = checked({"jobs": list(only(f"[global]\nsize=1m\n{above}\n[a]\nrw=rw\n{own}\n").jobs)})["jobs"]
    assert job[key] == value


def test_two_ways_to_flush_are_told() -> None:
    workload = only("[a]\nrw=write\nsize=1m\nsync=1\nfsync=4\n")
    assert (workload.jobs[0]["sync"], workload.jobs[0]["fsync_every"]) == ("fsync", 4)
    assert [one.found for one in workload.refused] == ["sync=1"]


@pytest.mark.parametrize("before", ['echo "', '    fio = f"""', "printf '", "`"])
def test_a_first_section_behind_a_quote_is_read(before: str) -> None:
    workload = only(f'{before}[global]\ndirect=1\nbs=8k\nsize=1m\n[a]\nrw=read\n" > a.fio\n')
    assert [(job["direct"], job["block_size"]) for job in workload.jobs] == [(True, 8192)]


def test_the_word_that_ends_a_here_document_is_no_option() -> None:
    workload = only("cat > a.fio << EOF\n[a]\nrw=read\nsize=1m\nEOF\ndone\nRUNTIME=5\n")
    assert (workload.refused, workload.last_line) == ((), 4)


def test_kb_base_1000_is_heeded_and_told() -> None:
    workload = only("[a]\nkb_base=1000\nrw=read\nbs=64k\nsize=1m\n")
    assert (workload.jobs[0]["block_size"], workload.jobs[0]["file_size"]) == (64000, 10**6)
    assert [one.line for one in workload.refused] == [2]
    assert only("[a]\nkb_base=1024\nrw=read\nsize=1m\n").refused == ()


def test_kb_base_is_for_its_own_section_and_those_behind_a_global_one() -> None:
    jobs = only("[global]\nbs=4k\nsize=1m\n[a]\nkb_base=1000\nbs=64k\n[b]\nkb_base=1000\n[c]\nsize=2m\n").jobs
    assert [(job["block_size"], job["file_size"]) for job in jobs] == [
        (64000, 2**20), (4096, 2**20), (4096, 2**21),
    ]  # fmt: skip
    jobs = only("[global]\nbs=64k\nkb_base=1000\n[a]\nsize=1m\n[globals]\nbs=128k\n[b]\nsize=1m\n").jobs
    assert [(job["block_size"], job["file_size"]) for job in jobs] == [(64000, 10**6), (128000, 10**6)]


def test_a_job_without_a_size_is_told() -> None:
    (broken,) = only("size is not here\n[a]\nrw=read\n").refused
    assert (broken.line, broken.found, broken.expected) == (2, "no size", "size=…")


def test_comments_are_left_out_wherever_they_begin() -> None:
    text = "[a]  ; the job\n  # rw=write\n ; rw=trim\nrw=read\nsize=1m ; small\nioengine=libaio\t# fast\n"
    assert job_file.looks_like(SourceText(text)) == 0.9
    workload = only(text)
    assert not workload.refused
    (job,) = workload.jobs
    assert (job["name"], job["rw"], job["file_size"], job["ioengine"]) == ("a", "read", 2**20, "libaio")


@pytest.mark.parametrize("sign", [";", "; ", "#", "# "])
def test_jobs_that_were_commented_out_are_none(sign: str) -> None:
    old = "".join(
        f"{sign}{line}\n" for line in ("[old]", "rw=write", "bs=4k", "size=1m", "[older]", "rw=read", "size=2m")
    )
    (reading,) = recognise(SourceText(f"{old}\n[new]\nrw=read\n{old.replace('[', '')}size=4m\n", "a.fio"))
    (workload,) = reading.parsed.workloads if reading.parsed else ()
    assert [(job["name"], job["rw"], job["file_size"]) for job in workload.jobs] == [("new", "read", 4 * 2**20)]


@pytest.mark.parametrize("sizes", ["size=4m\nfilesize=1m\n", "filesize=1m\nsize=4m\n"])
def test_the_size_of_a_file_is_not_that_of_the_job(sizes: str) -> None:
    workload = only(f"[a]\nrw=read\n{sizes}")
    assert (workload.jobs[0]["file_size"], workload.jobs[0]["size_per_file"]) == (4 * 2**20, 2**20)
    with pytest.raises(WorkloadError, match="at most that of all files"):
        checked({"jobs": list(workload.jobs)})
    four = only(f"[a]\nrw=read\nnrfiles=4\n{sizes}").jobs[0]
    assert (four["file_size"], four["nrfiles"], "size_per_file" in four) == (4 * 2**20, 4, False)
    assert only("[a]\nrw=read\nfilesize=1m\n").jobs[0]["file_size"] == 2**20


@for_each(
    "line, above",
    product(
        ["{% if fast %}", "{{ more }}", "@OPTIONS@", "$OPTIONS", "${NAME}=1", "<% more %>", "%MORE%"],
        ["", "[global]\nrw=randread\n", "[global]\nsize=1m\nrw=randread\n[b]\n"],
    ),
)
def test_a_template_is_refused_as_a_whole_with_its_line(line: str, above: str) -> None:
    parsed = job_file.parse(SourceText(f"# {line}\n{above}{line}\n[a]\nbs=4k\nsize=1m\n@X@\n"))
    assert not parsed.workloads
    assert [(one.line, one.found) for one in parsed.broken] == [(above.count("\n") + 2, line)]
    assert job_file.parse(SourceText(f"[b]\nrw=read\nsize=1m\n$ fio b.fio\n{line}\nwords\n")).workloads


def test_options_for_all_jobs_without_a_job_are_told() -> None:
    (broken,) = job_file.parse(SourceText("[global]\nrw=read\nsize=1m\nsome words\n[a]\n")).broken
    assert (broken.line, broken.found) == (1, "[global]")


def test_a_job_file_in_a_log_ends_where_other_words_begin() -> None:
    parsed = job_file.parse(SourceText("$ cat a.fio\n[a]\nrw=read\nsize=1m\n$ fio a.fio\na: (g=0): rw=read, bs=4K\n"))
    (workload,) = parsed.workloads
    assert (workload.line, workload.last_line, len(workload.jobs)) == (2, 4, 1)


@pytest.mark.parametrize("text", ["", "[section]\nkey=value\n", "rw=read\nsize=1m\n", "[global]\nworkgroup = HOME\n"])
def test_what_is_no_job_file_is_refused(text: str) -> None:
    assert job_file.looks_like(SourceText(text)) < 0.5
    with pytest.raises(ParseError):
        job_file.parse(SourceText(text))


def test_more_sections_than_fio_has_jobs_are_told() -> None:
    workload = only("[a]\nrw=read\nsize=1m\n" * 5000)
    assert len(workload.jobs) == 4096
    assert workload.refused[-1].found == "5000 sections"


HOSTILE = {
    "sections": "[a]\nrw=read\n" * 80_000,
    "options": "[a]\n" + "rw=read\n" * 130_000,
    "globals and jobs": "[global]\n" + "".join(f"o{n}=1\n" for n in range(60_000)) + "[a]\nrw=read\n" * 20_000,
    "brackets": "[" * 1_000_000,
    "one line": "[a]\nrw=" + "x" * 1_000_000,
    "blanks": "[a]\nrw" + " " * 1_000_000 + "=read",
    "digits": "[a]\nrw=read\nsize=" + "9" * 1_000_000,
    "hexadecimal": "[a]\nrw=read\nbssplit=" + "1" * 100_000 + "\nbs=0x" + "a" * 900_000 + " !",
    "blanks behind digits": "[a]\nrw=read\nbs=1" + " " * 1_000_000 + "!",
}


@pytest.mark.slow
@for_each("name", HOSTILE, number=4)
def test_a_hostile_mebibyte_is_read_or_refused_within_two_seconds(name: str) -> None:
    before = time.process_time()
    text = SourceText(HOSTILE[name])
    job_file.looks_like(text)
    try:
        job_file.parse(text)
    except ParseError:
        pass
    assert within(time.process_time() - before, 2)


OPTIONS = st.sampled_from(
    ["rw", "bs", "size", "iodepth", "fsync", "runtime", "direct", "sync", "ioengine", "exec_prerun"]
)


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(st.tuples(OPTIONS, st.text(max_size=12)), max_size=12))
def test_any_values_are_taken_over_whole_or_refused(options: list[tuple[str, str]]) -> None:
    text = "[a]\nrw=read\n" + "".join(f"{name}={value}\n" for name, value in options)
    try:
        found = job_file.parse(SourceText(text)).workloads
    except ParseError:
        return
    assert all(set(job) <= {*BY_NAME, "name"} for workload in found for job in workload.jobs)


def test_a_line_in_brackets_and_an_option_elsewhere_are_no_job_file() -> None:
    text = SourceText("slower on the other pool:\n[r=160MiB/s]\nI asked for\n\nrw=read\nbs=4k\nand got less.\n")
    assert job_file.looks_like(text) < RECOGNISED


def test_options_below_a_section_are_a_job_file_whatever_stands_between() -> None:
    between = "; a remark\n\n# another\ntime_based\nruntime=10\n"
    for text in ("[a]\nrw=read\n", f"[global]\n{between}ioengine=libaio\n", f"  [a b]\r\n{between}bs = 4k\n"):
        assert job_file.looks_like(SourceText(text)) > RECOGNISED


def test_more_options_than_fio_has_are_told_and_left_out() -> None:
    before = time.process_time()
    (found,) = job_file.parse(SourceText("[a]\nrw=read\nsize=1m\n" + "ab\n" * 350_000)).workloads
    assert within(time.process_time() - before, 2)
    assert len(found.refused) < 1100
    told = [one for one in found.refused if "too many options" in one.message]
    assert [(one.line, one.found) for one in told] == [(1, "350002 options")]
