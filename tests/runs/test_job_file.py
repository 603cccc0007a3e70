"""Job files in the start form and in REST: all of their lines are taken over, or each that is not is named with why."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from apps.labs.isolation import all_labs, lab_scope
from apps.runs.models import Run
from apps.runs.start.job_file import JobFileError, read_job_file
from apps.runs.workload import WorkloadError, checked
from tests.api.conftest import Script
from tests.comparison.factories import target
from tests.conftest import Cast
from tests.sampling import for_each
from tests.shared_world import cast, furnished
from worker.agent import policy

__all__ = ["cast", "furnished"]

GOOD = "[global]\nsize=64m\ndirect=1\n[fill]\nrw=write\nbs=1m\n[mixed]\nstonewall\nrw=randrw\nbssplit=4k/60:64k/40\nrate=10m\n"
HEAD, TAIL = "[global]\nsize=1m\n[a]\nrw=randwrite\n", ""
# What was found to run code, to read or write other files, or to destroy data, as a line of a job file and as a workload.
ATTACKS: list[tuple[str, dict[str, Any]]] = [
    ("bs=$pagesize*2", {"block_size": "$pagesize*2"}),
    ("iodepth=$ncpus+1", {"iodepth": "$ncpus+1"}),
    ("description=${TOKEN}", {"description": "${TOKEN}"}),
    ("bs=${SIZE}", {"block_size": "${SIZE}"}),
    ("include /etc/passwd", {"include": "/etc/passwd"}),
    ("include", {"include": ""}),
    ("filename=/dev/sda", {"filename": "/dev/sda"}),
    ("filename=a:b", {"filename": "a:b"}),
    ("filename=-", {"filename": "-"}),
    ("directory=/tmp", {"directory": "/tmp"}),
    ("opendir=/etc", {"opendir": "/etc"}),
    ("filename_format=../x", {"filename_format": "../x"}),
    ("verify_pattern='/etc/shadow'", {"verify_pattern": "'/etc/shadow'"}),
    ("buffer_pattern='/etc/shadow'", {"buffer_pattern": "'/etc/shadow'"}),
    ("buffer_pattern=\"abcd\"", {"buffer_pattern": '"abcd"'}),
    ("ioengine=/tmp/x.so", {"ioengine": "/tmp/x.so"}),
    ("ioengine=external:/tmp/x.so", {"ioengine": "external:/tmp/x.so"}),
    ("ioengine=exec", {"ioengine": "exec"}),
    ("exec_prerun=touch /tmp/x", {"exec_prerun": "touch /tmp/x"}),
    ("exec_prer=touch /tmp/x", {"exec_prer": "touch /tmp/x"}),
    ("  exec_postrun = touch /tmp/x", {"exec_postrun": "touch /tmp/x"}),
    ("profile=tiobench", {"profile": "tiobench"}),
    ("uid=0", {"uid": 0}),
    ("cgroup=x", {"cgroup": "x"}),
    ("mem=mmap:/etc/passwd", {"mem": "mmap:/etc/passwd"}),
    ("iomem=mmapshared:/tmp/x", {"mem": "mmapshared:/tmp/x"}),
    ("allow_file_create=0", {"allow_file_create": False}),
    ("allow_mounted_write=1", {"allow_mounted_write": True}),
    ("unlink=1", {"unlink": True}),
    ("fill_device=1", {"fill_device": True}),
    ("rw=trim", {"rw": "trim"}),
    ("rw=randtrim", {"rw": "randtrim"}),
    ("trim_percentage=10", {"trim_percentage": 10}),
    ("write_iolog=/tmp/x", {"write_iolog": "/tmp/x"}),
    ("read_iolog=/tmp/x", {"read_iolog": "/tmp/x"}),
    ("merge_blktrace_file=/tmp/x", {"merge_blktrace_file": "/tmp/x"}),
    ("write_bw_log=/etc/motd", {"write_bw_log": "/etc/motd"}),
    ("verify_state_load=1", {"verify_state_load": True}),
    ("verify_dump=1", {"verify_dump": True}),
    ("zonemode=zbd", {"zonemode": "zbd"}),
    ("sprandom=1", {"sprandom": True}),
    ("ioscheduler=none", {"ioscheduler": "none"}),
    ("numjobs=100000", {"numjobs": 100_000}),
    ("loops=100000", {"loops": 100_000}),
    ("nrfiles=100000", {"nrfiles": 100_000}),
    ("log_avg_msec=0", {"log_avg_msec": 0}),
    ("nice=-20", {"nice": -20}),
    ("prio=0", {"prio": 0}),
    ("lockmem=8g", {"lockmem": 8 << 30}),
    ("gtod_cpu=1", {"gtod_cpu": 1}),
    ("bs=4k`id`", {"block_size": "4k`id`"}),
    ("size=" + "9" * 5000, {"file_size": int("9" * 400)}),
]  # fmt: skip


@for_each("line, option", ATTACKS)
def test_no_attack_is_accepted_from_a_job_file_a_workload_or_by_a_host(line: str, option: dict[str, Any]) -> None:
    number = 5
    with pytest.raises(JobFileError) as caught:
        read_job_file(f"{HEAD}{line}\n{TAIL}")
    assert number in {problem.line for problem in caught.value.problems}, caught.value
    assert all(problem.expected for problem in caught.value.problems)
    job = {"rw": "randwrite", "block_size": 4096, "file_size": 1 << 20, **option}
    with pytest.raises(WorkloadError) as refused:
        checked({"jobs": [job]})
    assert refused.value.field == f"jobs[0].{next(iter(option))}"
    with pytest.raises(policy.Refused):
        policy.check({"tool": "fio", "jobs": [job]}, None)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["../esc/x", "a/../../b", "$(id)", "a;id", "a|b", "x\\y"])
def test_a_job_name_that_is_a_path_or_a_command_is_refused(name: str) -> None:
    with pytest.raises(JobFileError) as caught:
        read_job_file(f"[{name}]\nrw=read\nsize=1m\n")
    assert caught.value.problems[0].line == 1


@pytest.mark.parametrize(
    "text", ["", "hello", "[global]\nrw=read\n", "[a]\nsize=1m\n[b\nrw=read\n", "rw=read\n[a]\nsize=1m\nrw=read\n"]
)
def test_what_is_no_whole_job_file_is_refused(text: str) -> None:
    with pytest.raises(JobFileError):
        read_job_file(text)


def test_what_does_not_go_together_is_said_with_its_line() -> None:
    with pytest.raises(JobFileError) as caught:
        read_job_file("[global]\nsize=1m\n[a]\nrw=read\n[b]\nrw=read\nverify=md5\n")
    [problem] = caught.value.problems
    assert (problem.line, problem.option) == (7, "verify")
    with pytest.raises(JobFileError) as caught:
        read_job_file("[a]\nrw=read\nsize=1m\niodepth=4\n")
    assert "line 4: found iodepth=4, expected 1: psync has one" in str(caught.value)


def test_a_good_one_is_a_workload_with_all_of_it() -> None:
    fill, mixed = read_job_file(GOOD)["jobs"]
    assert (fill["rw"], fill["block_size"], fill["stonewall"], mixed["stonewall"]) == ("write", 1 << 20, False, True)
    assert (mixed["bssplit"], mixed["rate"]) == ([[[4096, 60], [65536, 40]]], [10 << 20])


def form(furnished, **more: Any) -> dict[str, Any]:
    return {
        "act": "import", "target": furnished.target.pk, "repetitions": 1, "jobs-TOTAL_FORMS": 1,
        "jobs-INITIAL_FORMS": 0, "jobs-0-rw": "read", "jobs-0-block_size": "4k", "jobs-0-file_size": "1g", **more,
    }  # fmt: skip


def start_of(furnished, page: Any) -> dict[str, Any]:
    """Return the form of a page, as its button `Start` sends it."""
    jobs = page.context["jobs"]
    posted = {
        f"{job.prefix}-{field.name}": "on" if field.value() is True else field.value()
        for job in jobs for field in job if field.value() not in (None, "", False)
    }  # fmt: skip
    return form(furnished) | {"act": "start", "jobs-TOTAL_FORMS": len(jobs), **posted}


@pytest.mark.django_db
def test_a_pasted_job_file_fills_the_form_and_starts_with_all_its_options(furnished, sign_in) -> None:
    person = sign_in("engineer")
    page = person.post(reverse("run-new"), form(furnished, job_text=GOOD))
    assert page.status_code == 200
    text = page.content.decode()
    assert "2 jobs" in text
    assert 'value="4k/60:64k/40"' in text
    started = person.post(reverse("run-new"), start_of(furnished, page), follow=True)
    assert started.status_code == 200
    with lab_scope(furnished.lab.pk):
        assert Run.objects.order_by("-pk")[0].workload.spec == read_job_file(GOOD)


@pytest.mark.django_db
def test_a_start_form_that_is_sent_twice_starts_its_runs_once(furnished, sign_in) -> None:
    person, address = sign_in("engineer"), reverse("run-new")
    page = person.post(address, form(furnished, job_text=GOOD))
    (key,) = re.findall('name="form_key" value="([^"]+)"', page.content.decode())
    with lab_scope(furnished.lab.pk):
        before = Run.objects.count()
    sent = start_of(furnished, page) | {"form_key": key, "repetitions": 2}
    assert person.post(address, sent | {"jobs-0-file_size": "none"}).status_code == 422
    first, second = (person.post(address, sent) for _ in range(2))
    assert (first.status_code, second.status_code) == (302, 302)
    assert first.headers["Location"] == second.headers["Location"] == reverse("runs")
    with lab_scope(furnished.lab.pk):
        assert Run.objects.count() == before + 2
    assert "The form was sent twice" in person.get(reverse("runs")).content.decode()


@pytest.mark.django_db
def test_a_chosen_file_with_a_refused_line_changes_no_job_and_names_it(furnished, sign_in) -> None:
    file = SimpleUploadedFile("a.fio", f"{GOOD}exec_prerun=id\nfilename=/dev/sda\nwhat=1\n".encode())
    page = sign_in("engineer").post(reverse("run-new"), form(furnished, job_upload=file))
    assert page.status_code == 422
    text = page.content.decode()
    for line, words in ((12, "it runs programs"), (13, "names and places of files"), (14, "there is no such option")):
        assert f"Line {line}:" in text
        assert words in text
    assert [job["rw"].value() for job in page.context["jobs"]] == ["read"]


@pytest.fixture
def place(cast: Cast) -> Any:
    with lab_scope(cast.lab.pk):
        return target(cast.lab)


@pytest.mark.django_db
def test_rest_starts_a_job_file(place: Any, token: Callable[[str], str], cast: Cast) -> None:
    answer = Script(token("run"))("POST", "runs/", {"target": place.pk, "job_file": GOOD})
    assert answer.status_code == 201, answer.content
    with lab_scope(cast.lab.pk):
        assert Run.objects.get(target=place).workload.spec == read_job_file(GOOD)


@pytest.mark.django_db
def test_rest_names_every_line_that_is_refused(place: Any, token: Callable[[str], str]) -> None:
    text = f"{HEAD}exec_prerun=id\nverify_pattern='/etc/shadow'\n"
    answer = Script(token("run"))("POST", "runs/", {"target": place.pk, "job_file": text})
    assert answer.status_code == 400
    problem = answer.json()
    assert problem["field"] == "job_file"
    assert [(entry["line"], entry["option"]) for entry in problem["problems"]] == [
        (5, "exec_prerun"),
        (6, "verify_pattern"),
    ]
    assert "line 5: found exec_prerun=id, expected nothing, because it runs programs" in problem["detail"]
    both = {"target": place.pk, "job_file": GOOD, "workload": {"jobs": []}}
    assert Script(token("run"))("POST", "runs/", both).status_code == 400
    with all_labs():
        assert not Run.objects.filter(target=place).exists()
