"""Plans by REST: each field with a value of each type of JSON is taken as it is or refused by its name, and never a 500."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from apps.inventory.models import Target
from apps.studies.models import Plan, Study
from tests.api.conftest import Script, script
from tests.api.wrong_types import VALUES, Fields, cases
from tests.sampling import for_each

__all__ = ["script"]
Scripts = Callable[[str], Script]
POINT = {
    "name": "one", "tool": "fio", "file_size": 1 << 30, "block_size": 4096, "job": {"rw": "read", "ioengine": "libaio"},
}  # fmt: skip
TEXTS = None, "", "x", "false"
POINT_FIELDS: Fields = {
    "name": ("x", "false"), "label": TEXTS, "tool": (), "command": TEXTS, "file_size": (None,), "ram_multiple": (None,),
    "block_size": (), "threads": (None, 5), "iodepth": (None, 5), "operations": (None, [], ["x"]),
    "labels": (None, {}, {"a": 1}, {"a": []}), "job": (),
}  # fmt: skip
GUARD_FIELDS: Fields = {
    "kind": (), "required": (True, False), "is_required": (True, False), "note": TEXTS, "wait_s": (0, 5, 1.5),
    "factor": (),
}  # fmt: skip
FIELDS: Fields = {
    "title": ("x", "false"), "study": (), "targets": (), "preset": (), "repeats": (), "is_scaled": (True, False, 0, "false"),
    "points": (), "stopping": (), "guards": ([],), "preparations": ([],), "order": (), "seed": (0, 5),
    "notes": ("", "x", "false"), "time_limit": (None, 5), "nonsense": (), "options": ({},), "saved_workload": (), "run": (),
    "workload": (), "job_file": (),
}  # fmt: skip


def body(**changes: Any) -> dict[str, Any]:
    targets = list(Target.objects.values_list("pk", flat=True))
    return {"title": "Own", "targets": targets, "points": [POINT], **changes}


def check(client: Script, wanted: dict[str, Any], name: str, value: Any, is_right: bool) -> str:
    """Return what is wrong with the answer to a body in which a field has this value; empty where nothing is."""
    answer = client("POST", "plans/estimate/", wanted)
    expected = 200 if is_right else 400
    text = answer.content.decode()
    if answer.status_code != expected:
        return f"{name}={value!r}: {answer.status_code}, not {expected}: {text[:300]}"
    return "" if is_right or name in text else f"{name}={value!r} is not named: {text[:300]}"


@pytest.mark.usefixtures("study")
def test_each_field_of_a_plan(script: Scripts) -> None:
    client = script("run")
    problems = [check(client, body(**{name: value}), name, value, right) for name, value, right in cases(FIELDS)]
    # two things that a plan is made of are refused together
    assert not [problem for problem in problems if problem and not problem.startswith("repeats=")]
    assert not Plan.objects.exists()


@pytest.mark.usefixtures("study")
def test_each_field_of_a_point(script: Scripts) -> None:
    client = script("run")
    problems = [
        check(client, body(points=[{**POINT, name: value}]), name, value, right)
        for name, value, right in cases(POINT_FIELDS)
    ]
    assert not list(filter(None, problems))


@pytest.mark.usefixtures("study")
def test_each_field_of_a_guard(script: Scripts) -> None:
    client = script("run")
    problems = [
        check(client, body(guards=[{"kind": "idle", name: value}]), name, value, right)
        for name, value, right in cases(GUARD_FIELDS)
    ]
    assert not list(filter(None, problems))


@pytest.mark.usefixtures("study")
def test_what_is_written_is_refused_alike(script: Scripts) -> None:
    client = script("run")
    for point in ({"labels": ["x"]}, {"operations": 5}, {"job": None}):
        assert client("POST", "plans/", body(points=[{**POINT, **point}])).status_code == 400, point
    assert not Plan.objects.exists()
    assert Study.objects.count() == 1


@pytest.mark.usefixtures("study")
def test_the_answer_says_what_was_found_and_what_was_expected_where(script: Scripts) -> None:
    answer = script("run")("POST", "plans/", body(guards=[{"kind": "idle", "required": "false"}])).json()
    assert (answer["field"], answer["found"], answer["expected"]) == (
        "plan.guards[0].required", "false", "true or false",
    )  # fmt: skip


@pytest.mark.parametrize("word", ["required", "is_required"])
@pytest.mark.usefixtures("study")
def test_a_guard_is_posted_as_it_is_read_or_as_plans_are_written(script: Scripts, word: str) -> None:
    client = script("run")
    guards = [{"kind": "idle", word: False}, {"kind": "space", word: True}]
    answer = client("POST", "plans/", body(guards=guards))
    assert answer.status_code == 201, answer.content
    read = client.get(f"plans/{answer.json()['id']}/").json()["guards"]
    assert [(guard["kind"], guard["is_required"]) for guard in read] == [("idle", False), ("space", True)]
    assert client("POST", "plans/estimate/", body(guards=guards)).status_code == 200
    both = client("POST", "plans/", body(guards=[{"kind": "idle", "required": True, "is_required": True}]))
    assert (both.status_code, both.json()["expected"]) == (400, "required or is_required, not both")


@for_each(
    "changed, field, found",
    [
        ({"preset": "queue-depth", "iodepths": "1..100000000"}, "iodepths", 8192),
        ({"preset": "queue-depth", "file_sizes": 16}, "file_sizes", 16),
        ({"preset": "queue-depth", "file_sizes": "1000x RAM"}, "file_sizes", 1000.0),
        ({"preset": "matrix", "block_sizes": "4097"}, "block_sizes", 4097),
        ({"preset": "matrix", "numjobs": "1,1000"}, "numjobs", 1000),
        ({"preset": "matrix", "block_sizes": "4k..1m", "iodepths": "1,2,3..60"}, "iodepths", None),
        ({"points": [POINT], "iodepths": "1,2"}, "iodepths", "1,2"),
        ({"points": [{**POINT, "job": {"rw": "read", "runtime": "5 s"}}]}, "plan.points[0].job.runtime", "5 s"),
    ],
)
@pytest.mark.usefixtures("study")
def test_the_list_that_does_not_fit_is_named(script: Scripts, changed: dict[str, Any], field: str, found: Any) -> None:
    wanted = body(**changed)
    if "preset" in changed:
        del wanted["points"]
    answer = script("run")("POST", "plans/", wanted)
    assert (answer.status_code, answer.json()["field"]) == (400, field), answer.content
    assert found is None or answer.json()["found"] == found


@pytest.mark.usefixtures("study")
def test_a_points_job_takes_values_as_people_write_them(script: Scripts) -> None:
    job = {"rw": "read", "runtime": "1m", "rate": 1000000, "ramp_time": "5s"}
    answer = script("run")("POST", "plans/", body(points=[{**POINT, "job": job}]))
    assert answer.status_code == 201, answer.content
    stored = Plan.objects.get().points.get().job
    assert (stored["runtime"], stored["rate"], stored["ramp_time"]) == (60, [1000000], 5)


@for_each("act", ["pause", "resume", "cancel", "retry", "schedule/pause", "schedule/resume"], taken_back=True)
def test_an_act_takes_no_body(script: Scripts, write_plan: Callable[..., Plan], act: str) -> None:
    client, address = script("run"), f"plans/{write_plan().pk}/{act}/"
    for sent in VALUES:
        answer = client("POST", address, json.dumps(sent))
        # what is nothing is refused by the plan's state alone
        assert answer.status_code == (409 if sent == {} else 400), (sent, answer.content)
    assert client("POST", address).status_code == client("POST", address, "").status_code == 409
    named = client("POST", address, {"reson": "quiet"}).json()
    assert (named["field"], named["found"]) == ("reson", '"quiet"')
    listed = client("POST", address, ["x"]).json()
    assert (listed["field"], listed["found"]) == ("body", '["x"]')
    assert client("POST", "plans/1000000/pause/", ["x"]).status_code == 404


@for_each(
    "changed, status, name",
    [
        ({"kind": "weekly", "at": "02:30", "weekdays": [1], "cron": "x"}, 400, "cron"),
        ({"kind": "nightly", "at": "02:30", "weekdays": [1]}, 400, "weekdays"),
        ({"kind": "cron", "cron": "30 2 * * *", "at": "02:30"}, 400, "at"),
        ({"kind": "cron", "cron": 5}, 400, "cron"),
        ({"kind": "nightly", "at": "02:30", "time_zone": 5}, 400, "time_zone"),
        ({"kind": "weekly", "at": "02:30", "weekdays": [1]}, 200, ""),
    ],
    taken_back=True,
)
def test_a_schedule_takes_the_times_of_its_kind(script: Scripts, write_plan, changed, status: int, name: str) -> None:
    wanted = {"time_zone": "UTC", **changed}
    answer = script("run")("PUT", f"plans/{write_plan().pk}/schedule/", wanted)
    assert answer.status_code == status, answer.content
    assert status == 200 or f"{name}: found" in answer.json()["detail"]


@pytest.mark.usefixtures("study")
@for_each("base", ["saved_workload", "run", "workload", "job_file"])
def test_what_a_plan_is_made_of_has_its_type(script: Scripts, base: str) -> None:
    client = script("run")
    for value in VALUES:
        wanted = body(**{base: value})
        del wanted["points"]
        answer = client("POST", "plans/estimate/", wanted)
        assert answer.status_code in (400, 404), (base, value, answer.content)
        assert base in answer.content.decode() or "jobs[0].rw" in answer.content.decode(), (base, value, answer.content)
