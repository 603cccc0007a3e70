"""Saved workloads: from the form, a run and REST; chosen in the start form and in a new plan; renamed and removed."""

from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse

from apps.labs.isolation import lab_scope
from apps.labs.models import AuditEvent
from apps.runs.models import Run, SavedWorkload
from apps.runs.start.job_file import read_job_file
from apps.runs.start.saved_workloads import save_workload
from apps.studies.models import Plan
from tests.api.conftest import Script
from tests.conftest import Cast
from tests.runs.test_job_file import GOOD, form
from tests.shared_world import cast, furnished

__all__ = ["cast", "furnished"]

pytestmark = pytest.mark.django_db
SIDE_BY_SIDE = "[a]\nrw=read\nsize=1m\n[b]\nrw=write\nsize=1m\n"


@pytest.fixture
def saved(furnished) -> SavedWorkload:
    with lab_scope(furnished.lab.pk):
        return save_workload(furnished.lab, "nightly", read_job_file(GOOD), "somebody")


def names(lab) -> list[str]:
    with lab_scope(lab.pk):
        return list(SavedWorkload.objects.values_list("name", flat=True))


def test_the_form_saves_its_jobs_and_starts_nothing(furnished, sign_in) -> None:
    person, more = (
        sign_in("engineer"),
        {"act": "save", "saved_name": " mine ", "jobs-0-rate": "5m", "jobs-0-direct": "on"},
    )
    more |= {"jobs-0-iodepth": 1, "jobs-0-numjobs": 1, "jobs-0-ioengine": "psync", "jobs-0-sync": "none"}
    with lab_scope(furnished.lab.pk):
        before = Run.objects.count()
    page = person.post(reverse("run-new"), form(furnished, **more))
    assert page.status_code == 200, page.context["jobs"].errors
    assert "saved as mine" in page.content.decode()
    with lab_scope(furnished.lab.pk):
        assert SavedWorkload.objects.get().jobs[0]["rate"] == [5 << 20]
        assert Run.objects.count() == before
        assert AuditEvent.objects.filter(act="workload saved").exists()
    again = person.post(reverse("run-new"), form(furnished, **more))
    assert again.status_code == 422
    assert "a name that no saved workload of the lab has" in again.content.decode()


def test_a_run_saves_its_workload(furnished, sign_in) -> None:
    answer = sign_in("engineer").post(reverse("run-save-workload", args=[furnished.finished.pk]), {"name": "of a run"})
    assert answer.status_code == 302
    with lab_scope(furnished.lab.pk):
        assert SavedWorkload.objects.get().workload == furnished.finished.workload
    assert sign_in("viewer").post(reverse("run-save-workload", args=[furnished.finished.pk])).status_code == 403


def test_the_start_form_takes_over_a_saved_workload(furnished, saved, sign_in) -> None:
    person = sign_in("engineer")
    page = person.post(reverse("run-new"), form(furnished, act="use", saved=saved.pk))
    first = person.get(reverse("run-new"), {"saved": saved.pk})
    for found in (page, first):
        assert found.status_code == 200
        assert [job["rw"].value() for job in found.context["jobs"]] == ["write", "randrw"]
        assert 'value="4k/60:64k/40"' in found.content.decode()


def test_it_is_renamed_and_removed_and_runs_stay(furnished, saved, sign_in) -> None:
    person = sign_in("engineer")
    assert "bssplit=4k/60:64k/40" in person.get(reverse("saved-workloads")).content.decode()
    person.post(reverse("saved-workload-rename", args=[saved.pk]), {"name": "weekly"})
    assert names(furnished.lab) == ["weekly"]
    person.post(reverse("saved-workload-rename", args=[saved.pk]), {"name": "\n"})
    assert names(furnished.lab) == ["weekly"]
    person.post(reverse("saved-workload-remove", args=[saved.pk]))
    assert names(furnished.lab) == []
    assert sign_in("viewer").get(reverse("saved-workloads")).status_code == 200


def plan_form(furnished, saved) -> dict[str, Any]:
    return {
        "title": "with a saved workload", "targets": [furnished.target.pk], "preset": f"workload-{saved.pk}",
        "kind": "usual", "rounds": 5, "percent": 2, "order": "interleaved", "guards": [],
    }  # fmt: skip


def test_a_plan_has_a_point_for_each_of_its_jobs_with_all_options(furnished, saved, sign_in) -> None:
    person = sign_in("engineer")
    page = person.get(reverse("plan-make"), {"procedure": f"workload-{saved.pk}"})
    assert "nightly" in page.content.decode()
    answer = person.post(reverse("plan-make"), plan_form(furnished, saved))
    assert answer.status_code == 302, answer.context["form"].errors
    with lab_scope(furnished.lab.pk):
        points = list(Plan.objects.get(title="with a saved workload").points.all())
        assert [(point.block_size, point.job["rw"]) for point in points] == [(1 << 20, "write"), (4096, "randrw")]
        assert points[1].job["bssplit"] == [[[4096, 60], [65536, 40]]]
        assert points[1].job["rate"] == [10 << 20]


def test_jobs_side_by_side_are_one_point_of_a_plan(furnished, sign_in) -> None:
    with lab_scope(furnished.lab.pk):
        saved = save_workload(furnished.lab, "beside", read_job_file(SIDE_BY_SIDE), "somebody")
    answer = sign_in("engineer").post(reverse("plan-make"), plan_form(furnished, saved))
    assert answer.status_code == 302
    with lab_scope(furnished.lab.pk):
        [point] = Plan.objects.latest("pk").points.all()
    assert [job["rw"] for job in point.jobs] == [job["rw"] for job in saved.workload.spec["jobs"]]


def test_rest_saves_reads_renames_and_removes(token: Callable[[str], str], cast: Cast) -> None:
    script = Script(token("run"))
    made = script("POST", "saved-workloads/", {"name": "nightly", "job_file": GOOD})
    assert made.status_code == 201, made.content
    body = made.json()
    assert body["workload"] == read_job_file(GOOD)
    assert "bssplit=4k/60:64k/40" in body["job_file"]
    assert script("POST", "saved-workloads/", {"name": "nightly", "job_file": GOOD}).json()["field"] == "name"
    refused = script("POST", "saved-workloads/", {"name": "x", "job_file": "[a]\nrw=read\nsize=1m\nuid=0\n"})
    assert (refused.status_code, refused.json()["problems"][0]["line"]) == (400, 4)
    assert script("POST", "saved-workloads/", {"name": "x"}).status_code == 400
    address = f"saved-workloads/{body['id']}/"
    assert script("PATCH", address, {"name": "weekly"}).json()["name"] == "weekly"
    assert [row["name"] for row in Script(token("read")).get("saved-workloads/").json()["results"]] == ["weekly"]
    assert Script(token("read"))("DELETE", address, {}).status_code == 403
    assert script("DELETE", address, {}).status_code == 204
    assert names(cast.lab) == []
