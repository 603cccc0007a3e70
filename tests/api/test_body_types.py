"""Bodies of runs, saved workloads and the queue: each field with a value of each type of JSON, taken or refused, never a 500."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.inventory.models import Target
from apps.labs.isolation import all_labs, lab_scope
from apps.runs.models import Run, SavedWorkload
from tests.api.conftest import Script
from tests.api.wrong_types import VALUES, Fields, cases
from tests.comparison.factories import MIB, target
from tests.conftest import Cast
from tests.sampling import for_each

Scripts = Callable[[str], Script]
JOB = {"rw": "write", "block_size": MIB, "file_size": 16 * MIB}
START_FIELDS: Fields = {
    "target": (), "targets": (), "workload": (), "job_file": (), "repetitions": (5,), "priority": (),
    "time_limit": (None, 5), "labels": ({}, {"a": 1}), "note": ("", "x", "false"), "guards": ([],), "study": (), "configuration": (),
    "options": ({},), "saved_workload": (),
}  # fmt: skip
GUARD_FIELDS: Fields = {"guard": (), "is_required": (True, False), "wait_s": (0, 5, 1.5), "required": (True, False)}
NAME_FIELDS: Fields = {"name": ("x", "false"), "nonsense": ()}
REASON_FIELDS: Fields = {"reason": ("x", "false")}
NAMED = {
    "configuration": "study",
    "workload": "rw",
}  # a configuration is one of a study, an empty job lacks its pattern


@pytest.fixture
def place(cast: Cast) -> Target:
    with lab_scope(cast.lab.pk):
        return target(cast.lab)


def check(answer: Any, name: str, value: Any, right: tuple[int, ...]) -> str:
    """Return what is wrong with an answer; empty where it has one of the right states, or is a 400 or 404 in their place."""
    expected = right or (400, 404)
    if answer.status_code not in expected:
        return f"{name}={value!r}: {answer.status_code}, not {expected}: {answer.content.decode()[:300]}"
    text = answer.content.decode()
    return "" if right or name in text or NAMED.get(name, name) in text else f"{name}={value!r} is not named"


@pytest.mark.slow
def test_each_field_of_a_run(script: Scripts, place: Target) -> None:
    client, problems = script("run"), []
    for name, value, is_right in cases(START_FIELDS):
        instead = {"targets": "target", "job_file": "workload", "saved_workload": "workload"}
        if name in instead:
            wanted = {"target": place.pk, "workload": JOB}
            del wanted[instead[name]]
        else:
            wanted = {"target": place.pk, "workload": JOB}
        answer = client("POST", "runs/", {**wanted, name: value})
        problems.append(check(answer, name, value, (201,) if is_right else ()))
    assert not list(filter(None, problems))


@pytest.mark.slow
def test_each_field_of_a_runs_guard(script: Scripts, place: Target) -> None:
    client, problems = script("run"), []
    for name, value, is_right in cases(GUARD_FIELDS):
        wanted = {"target": place.pk, "workload": JOB, "guards": [{"guard": "idle", name: value}]}
        problems.append(check(client("POST", "runs/", wanted), name, value, (201,) if is_right else ()))
    assert not list(filter(None, problems))
    with all_labs():
        assert Run.objects.count() == sum(len(right) for right in GUARD_FIELDS.values())


@pytest.mark.usefixtures("cast")
def test_each_field_of_a_saved_workload(script: Scripts) -> None:
    client, problems = script("run"), []
    for name, value, is_right in cases(NAME_FIELDS):
        answer = client("POST", "saved-workloads/", {"name": "usual", "workload": JOB, name: value})
        problems.append(check(answer, name, value, (201,) if is_right else ()))
    assert not list(filter(None, problems))
    with all_labs():
        assert set(SavedWorkload.objects.values_list("name", flat=True)) == {"x", "false"}


def test_each_field_of_a_run_that_is_given_up(script: Scripts, own_runs: list[Run]) -> None:
    client, problems = script("run"), []
    for name, value, is_right in cases(REASON_FIELDS):
        answer = client("POST", f"runs/{own_runs[0].pk}/abandon/", {name: value})
        problems.append(check(answer, name, value, (409,) if is_right else ()))
    assert not list(filter(None, problems))


@pytest.mark.parametrize("act", ["cancel", "read-again"])
def test_what_takes_no_body_refuses_one(script: Scripts, own_runs: list[Run], act: str) -> None:
    client, address = script("run"), f"runs/{own_runs[0].pk}/{act}/"
    assert client("POST", address).status_code == client("POST", address, {}).status_code == 409, "it has ended"
    for sent in ({"why": "x"}, ["x"], "[]", "5", "null"):
        assert client("POST", address, sent).status_code == 400, sent
    assert client("POST", address, {"why": "x"}).json()["field"] == "why"


def test_a_body_that_is_no_object_is_quoted(script: Scripts, place: Target) -> None:
    answer = script("run")("POST", "runs/", [place.pk])
    assert (answer.status_code, answer.json()["field"], answer.json()["found"]) == (400, "body", f"[{place.pk}]")


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ({"rate": 1000000}, {"rate": [1000000]}),
        ({"rate": "1m"}, {"rate": [MIB]}),
        ({"rate_iops": 500}, {"rate_iops": [500]}),
        ({"cpus_allowed": 3}, {"cpus_allowed": [3]}),
        ({"runtime": "5s"}, {"runtime": 5}),
        ({"runtime": "2m", "ramp_time": "10"}, {"runtime": 120, "ramp_time": 10}),
    ],
)
def test_values_are_taken_as_people_write_them(script: Scripts, place: Target, written: Any, stored: Any) -> None:
    wanted = {"target": place.pk, "workload": {"tool": "fio", "jobs": [{**JOB, **written}]}}
    answer = script("run")("POST", "runs/", wanted)
    assert answer.status_code == 201, answer.content
    with all_labs():
        (job,) = Run.objects.select_related("workload").get().workload.jobs
    assert {name: job[name] for name in stored} == stored


@for_each("written", [{"rate": True}, {"rate": -1}, {"rate": 1.5}, {"runtime": "5 s"}, {"runtime": ""}])
def test_what_is_no_such_value_is_refused(script: Scripts, place: Target, written: Any) -> None:
    wanted = {"target": place.pk, "workload": {"tool": "fio", "jobs": [{**JOB, **written}]}}
    answer = script("run")("POST", "runs/", wanted)
    (name,) = written
    assert (answer.status_code, answer.json()["field"]) == (400, f"jobs[0].{name}"), answer.content


@pytest.mark.slow
def test_each_option_of_a_job(script: Scripts, place: Target) -> None:
    """Whether an option takes a value is for its table to say; here no value of any type is an error of the server."""
    client = script("run")
    for name in ("rw", "runtime", "rate", "cpus_allowed", "bssplit", "random_distribution", "direct", "iodepth"):
        for value in VALUES:
            answer = client("POST", "runs/", {"target": place.pk, "workload": {**JOB, name: value}})
            assert answer.status_code in (201, 400), (name, value, answer.content)
